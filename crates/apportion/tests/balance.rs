//! Balance, coverage and bounds: thousands of small problems against all labelings, in independent arithmetic.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use std::collections::HashMap;

use apportion::*;
use common::*;

/// Returns the largest sum of scores for every vector of counts (Uncoded last), by dynamic programming over the rows.
fn best_by_counts(scores: &[f64], k: usize, uncoded: bool) -> HashMap<Vec<u64>, f64> {
    let width = k + usize::from(uncoded);
    let mut best = HashMap::from([(vec![0; width], 0.0)]);
    for row in scores.chunks(k) {
        let mut next = HashMap::new();
        for (counts, value) in best {
            for class in 0..width {
                let mut counts: Vec<u64> = counts.clone();
                counts[class] += 1;
                let entry = next.entry(counts).or_insert(f64::NEG_INFINITY);
                *entry = f64::max(*entry, value + row.get(class).copied().unwrap_or(0.0));
            }
        }
        best = next;
    }
    best
}

fn distance(penalty: Penalty, counts: &[u64], shares: &[f64]) -> f64 {
    let people: u64 = counts.iter().sum();
    let pairs = counts.iter().zip(shares).map(|(&count, &share)| (count as f64 / people.max(1) as f64, share));
    match penalty {
        Penalty::L1 => pairs.map(|(m, p)| (m - p).abs()).sum(),
        Penalty::L2 => pairs.map(|(m, p)| (m - p).powi(2)).sum::<f64>().sqrt(),
        Penalty::L2Squared => pairs.map(|(m, p)| (m - p).powi(2)).sum(),
        Penalty::Kl => pairs.map(|(m, p)| if m == 0.0 { 0.0 } else { m * (m / p).ln() }).sum(),
    }
}

struct Case {
    k: usize,
    scores: Vec<f64>,
    chance: Chance,
}

fn case(seed: u64) -> Case {
    let mut chance = Chance::new(seed);
    let k = 1 + chance.below(4) as usize;
    let rows = 1 + chance.below(8) as usize;
    let scores = match chance.below(5) {
        0 | 1 => continuous(&mut chance, rows, k),
        2 => lumpy(&mut chance, 1, k, 4).repeat(rows),
        3 => lumpy(&mut chance, rows, k, 2),
        _ => lumpy(&mut chance, rows, k, 10),
    };
    Case { k, scores, chance }
}

fn posterior(scores: &[f64], k: usize) -> Vec<f64> {
    let total: f64 = scores.iter().sum();
    (0..k).map(|class| scores[class..].iter().step_by(k).sum::<f64>() / total).collect()
}

const TOLERANCE: f64 = 1e-9;

/// Draws γ from a grid that is finer near 1, where counts change most.
fn gamma(chance: &mut Chance) -> f64 {
    match chance.below(4) {
        0 => (1 + chance.below(99)) as f64 / 100.0,
        1 => 0.8 + chance.below(200) as f64 / 1000.0,
        2 => 0.95 + chance.below(49) as f64 / 1000.0,
        _ => 1.0,
    }
}

#[test]
fn balance_is_optimal_with_every_penalty() {
    for seed in 0..6000 {
        let Case { k, scores, mut chance } = case(seed);
        let penalty = [Penalty::L1, Penalty::L2Squared, Penalty::Kl][seed as usize % 3];
        let (gamma, reference, shares) = {
            let gamma = gamma(&mut chance);
            match chance.below(3) {
                0 => (gamma, Reference::Posterior, posterior(&scores, k)),
                1 => (gamma, Reference::Uniform, vec![1.0 / k as f64; k]),
                _ => {
                    let shares = lumpy(&mut chance, 1, k, 20);
                    (gamma, Reference::Shares(PerGroup::Overall(shares.clone())), shares)
                }
            }
        };
        let classes = classes(k);
        let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
        let rule = Rule::Balance(Balance::new(gamma, Match::overall(reference)).with_penalty(penalty));
        let settings = Settings { seed, ..Settings::default() };
        let labeled = rule.label(&table, &settings).unwrap();
        let what = format!("seed {seed}, γ {gamma}, {penalty:?}, {shares:?}, {scores:?}");

        let rows = scores.len() as f64 / k as f64;
        let value = |counts: &[u64], sum: f64| gamma * sum / rows - (1.0 - gamma) * distance(penalty, counts, &shares);
        let best = best_by_counts(&scores, k, false);
        let value = |counts: &Vec<u64>, sum: f64| if gamma == 1.0 { sum / rows } else { value(counts, sum) };
        let optimum = best.iter().map(|(counts, &sum)| value(counts, sum)).fold(f64::NEG_INFINITY, f64::max);
        let counts = labeled.labels.counts();
        let labels = labeled.labels.values();
        let sum: f64 = labels.iter().enumerate().map(|(row, &label)| scores[row * k + usize::from(label)]).sum();
        assert!((value(&counts, sum) - optimum).abs() < TOLERANCE, "{} of {optimum}: {what}", value(&counts, sum));
        if let Some(joint) = &labeled.joint {
            assert!(joint.certificate.is_closed(), "{what}");
            assert!((joint.gamma_objective.unwrap() - optimum).abs() < TOLERANCE, "{what}");
            assert!((gamma * joint.certificate.objective() / rows - optimum).abs() < TOLERANCE, "{what}");
            // The most faithful of all equally good counts.
            let far = |counts: &Vec<u64>| distance(Penalty::L1, counts, &shares);
            let good = best.iter().filter(|(counts, sum)| value(counts, **sum) > optimum - 1e-12);
            let nearest = good.map(|(counts, _)| far(counts)).fold(f64::INFINITY, f64::min);
            assert!(far(&counts) < nearest + TOLERANCE, "not the most faithful: {what}");
        }
        assert_eq!(labeled.decision.apply(&table).unwrap(), labeled.labels, "{what}");
        assert!(labeled.decision.certify(&table, &labeled.labels).unwrap().is_closed());
    }
}

/// The gap is 0, or the optimum over all labelings is within it.
#[test]
fn plain_l2_is_bounded() {
    let (mut closed, mut cases) = (0, 0);
    for seed in 20_000..22_000 {
        let Case { k, scores, mut chance } = case(seed);
        let gamma = gamma(&mut chance).min(0.999);
        let classes = classes(k);
        let rows = scores.len() / k;
        let codes: Vec<u32> = (0..rows).map(|_| chance.below(2) as u32).collect();
        let counts: Vec<u64> = (0..rows).map(|_| chance.below(3)).collect();
        let names = ["a", "b"].map(String::from);
        let by_group = chance.below(3) == 0;
        let mut table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
        table = table.with_groups(Groups { codes: &codes, names: &names }).unwrap();
        let people_of = |row: usize| if seed % 3 == 0 { counts[row] } else { 1 };
        if seed % 3 == 0 {
            table = table.with_counts(&counts).unwrap();
        }
        let aim = Match { by_group, ..Match::overall(Reference::Posterior) };
        let rule = Rule::Balance(Balance::new(gamma, aim).with_penalty(Penalty::L2));
        let joint = rule.allot(&table, &Settings::default()).unwrap().joint.unwrap();
        let rows_of = |group: u32| {
            let codes = &codes;
            let own = (0..rows).filter(move |&row| !by_group || codes[row] == group);
            own.flat_map(|row| std::iter::repeat_n(row, people_of(row) as usize))
                .flat_map(|row| scores[row * k..][..k].to_vec())
                .collect::<Vec<f64>>()
        };
        let parts: Vec<Vec<f64>> =
            (0..if by_group { 2 } else { 1 }).map(rows_of).filter(|part| !part.is_empty()).collect();
        let rows: f64 = parts.iter().map(|part| (part.len() / k) as f64).sum();
        if rows == 0.0 {
            continue;
        }
        // Groups are weighted by people.
        let best_of = |part: &Vec<f64>| {
            let (people, shares) = ((part.len() / k) as f64, posterior(part, k));
            let far = |counts: &[u64]| people * distance(Penalty::L2, counts, &shares);
            let all = best_by_counts(part, k, false);
            let values = all.iter().map(|(counts, &sum)| gamma * sum - (1.0 - gamma) * far(counts));
            values.fold(f64::NEG_INFINITY, f64::max)
        };
        let optimum = parts.iter().map(best_of).sum::<f64>() / rows;
        let (found, gap) = (joint.gamma_objective.unwrap(), joint.certificate.gap() * gamma / rows);
        let what = format!("{found} + {gap}, best {optimum}: seed {seed}, γ {gamma}, {scores:?}");
        assert!(found <= optimum + TOLERANCE && optimum <= found + gap + TOLERANCE, "{what}");
        closed += u32::from((optimum - found).abs() < TOLERANCE);
        cases += 1;
    }
    assert!(f64::from(closed) > 0.97 * f64::from(cases), "{closed} of {cases} are the optimum");
}
