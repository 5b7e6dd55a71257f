//! Thousands of small problems against all labelings, in independent exact arithmetic.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use apportion::*;
use common::*;

/// Returns all roundings of the quotas N·w/W that largest remainders allow.
fn roundings(weights: &[u128], rows: u128) -> Vec<Vec<u64>> {
    let total: u128 = weights.iter().sum();
    let k = weights.len();
    let whole: Vec<u128> = weights.iter().map(|w| w * rows / total).collect();
    let rest: Vec<u128> = weights.iter().map(|w| w * rows % total).collect();
    let left = (rows - whole.iter().sum::<u128>()) as u32;
    // Among all sets of `left` classes, those with the largest sum of remainders.
    let sets: Vec<u32> = (0u32..1 << k).filter(|set| set.count_ones() == left).collect();
    let sum = |set: u32| -> u128 { (0..k).filter(|y| set >> y & 1 == 1).map(|y| rest[y]).sum() };
    let best = sets.iter().map(|&set| sum(set)).max().unwrap();
    sets.into_iter()
        .filter(|&set| sum(set) == best)
        .map(|set| (0..k).map(|y| (whole[y] + u128::from(set >> y & 1)) as u64).collect())
        .collect()
}

/// Returns the largest value for every vector of counts, by dynamic programming over the rows.
fn best_by_counts(scores: &[i64], k: usize) -> std::collections::HashMap<Vec<u64>, i64> {
    let mut best = std::collections::HashMap::from([(vec![0; k], 0)]);
    for row in scores.chunks(k) {
        let mut next = std::collections::HashMap::new();
        for (counts, value) in best {
            for (class, score) in row.iter().enumerate() {
                let mut counts: Vec<u64> = counts.clone();
                counts[class] += 1;
                let entry = next.entry(counts).or_insert(i64::MIN);
                *entry = (*entry).max(value + score);
            }
        }
        best = next;
    }
    best
}

fn units(scores: &[f64]) -> Vec<i64> {
    // Independent of the library's rounding: half to even, by the standard library.
    scores.iter().map(|score| (score * (1u64 << 40) as f64).round_ties_even() as i64).collect()
}

fn check(scores: &[f64], k: usize, reference: &Reference, truth: Option<&[Label]>, weights: &[u128], seed: u64) {
    let classes = classes(k);
    let rows = scores.len() / k;
    let mut table = Scores::new(&classes, Matrix::RowsF64(scores)).unwrap();
    if let Some(truth) = truth {
        table = table.with_truth(truth).unwrap();
    }
    let settings = Settings { seed, ..Settings::default() };
    let labeled = Rule::Match(Match::overall(reference.clone())).label(&table, &settings).unwrap();
    let joint = labeled.joint.as_ref().unwrap();

    let best = best_by_counts(&units(scores), k);
    let allowed = roundings(weights, rows as u128);
    let optimum = allowed.iter().map(|counts| best[counts]).max().unwrap();
    let chosen = allowed.iter().filter(|counts| best[*counts] == optimum).max().unwrap();
    assert!(joint.certificate.is_closed(), "open certificate on {scores:?} {reference:?}");
    assert_eq!(joint.certificate.primal, i128::from(optimum), "not optimal on {scores:?} {reference:?}");
    assert_eq!(&labeled.labels.counts(), chosen, "counts on {scores:?} {reference:?}");
    assert_eq!(&joint.targets, chosen);

    let proof = labeled.decision.certify(&table, &labeled.labels).unwrap();
    assert_eq!(proof, joint.certificate, "the certificate computed again, on {scores:?}");
    let applied = labeled.decision.apply(&table).unwrap();
    assert_eq!(applied, labeled.labels, "apply(fit(x), x) = label(x), on {scores:?}");
    let json = serde_json::to_string(&labeled.decision).unwrap();
    let again: Decision = serde_json::from_str(&json).unwrap();
    assert_eq!(again, labeled.decision, "saved and read");
}

fn problem(seed: u64) -> (Vec<f64>, usize, Vec<Label>, Chance) {
    let mut chance = Chance::new(seed);
    let k = 1 + chance.below(4) as usize;
    let rows = 1 + chance.below(8) as usize;
    let scores = match chance.below(5) {
        0 => continuous(&mut chance, rows, k),
        1 => lumpy(&mut chance, 1, k, 4).repeat(rows), // all rows equal
        2 => lumpy(&mut chance, rows, k, 2),
        3 => lumpy(&mut chance, rows, k, 1), // perfect scores
        _ => lumpy(&mut chance, rows, k, 10),
    };
    let truth = (0..rows).map(|_| chance.below(k as u64) as Label).collect();
    (scores, k, truth, chance)
}

#[test]
fn matching_the_posterior_is_optimal() {
    for seed in 0..3000 {
        let (scores, k, _, _) = problem(seed);
        let mut sums = vec![0u128; k];
        units(&scores).iter().enumerate().for_each(|(index, &unit)| sums[index % k] += unit as u128);
        check(&scores, k, &Reference::Posterior, None, &sums, seed);
    }
}

#[test]
fn matching_the_truth_is_optimal() {
    for seed in 3000..5000 {
        let (scores, k, truth, _) = problem(seed);
        let mut counts = vec![0u128; k];
        truth.iter().for_each(|&label| counts[usize::from(label)] += 1);
        check(&scores, k, &Reference::Truth, Some(&truth), &counts, seed);
    }
}

#[test]
fn matching_uniform_shares_is_optimal() {
    for seed in 5000..7000 {
        let (scores, k, _, _) = problem(seed);
        check(&scores, k, &Reference::Uniform, None, &vec![1; k], seed);
    }
}

#[test]
fn matching_given_shares_is_optimal_with_zero_targets_too() {
    for seed in 7000..9000 {
        let (scores, k, _, mut chance) = problem(seed);
        let parts = lumpy(&mut chance, 1, k, 20);
        let weights: Vec<u128> = parts.iter().map(|part| (part * 20.0).round() as u128).collect();
        check(&scores, k, &Reference::Shares(PerGroup::Overall(parts)), None, &weights, seed);
    }
}

/// Every group is solved optimally, and the certificates of the groups add up.
#[test]
fn matching_by_group_is_optimal_in_each_group() {
    let names: Vec<String> = (0..3).map(|group| format!("g{group}")).collect();
    for seed in 9000..11000 {
        let (scores, k, truth, mut chance) = problem(seed);
        let rows = truth.len();
        let codes: Vec<u32> = (0..rows).map(|_| chance.below(3) as u32).collect();
        let classes = classes(k);
        let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap().with_truth(&truth).unwrap();
        let table = table.with_groups(Groups { codes: &codes, names: &names }).unwrap();
        let reference = [Reference::Posterior, Reference::Truth, Reference::Uniform][chance.below(3) as usize].clone();
        let rule = Rule::Match(Match::by_group(reference.clone()));
        let labeled = rule.label(&table, &Settings { seed, ..Settings::default() }).unwrap();
        let joint = labeled.joint.as_ref().unwrap();

        let mut total = 0;
        for group in 0..3 {
            let members: Vec<usize> = (0..rows).filter(|&row| codes[row] == group).collect();
            let own: Vec<f64> = members.iter().flat_map(|&row| scores[row * k..][..k].to_vec()).collect();
            let mut weights = vec![u128::from(reference == Reference::Uniform); k];
            for (index, &unit) in units(&own).iter().enumerate() {
                weights[index % k] += if reference == Reference::Posterior { unit as u128 } else { 0 };
            }
            for &row in &members {
                weights[usize::from(truth[row])] += u128::from(reference == Reference::Truth);
            }
            let mut counts = vec![0; k];
            members.iter().for_each(|&row| counts[usize::from(labeled.labels.values()[row])] += 1);
            assert_eq!(counts, joint.group_targets[group as usize]);
            if !members.is_empty() {
                let best = best_by_counts(&units(&own), k);
                let allowed = roundings(&weights, members.len() as u128);
                assert!(allowed.contains(&counts), "{counts:?} of {allowed:?}");
                total += allowed.iter().map(|counts| best[counts]).max().unwrap();
            }
        }
        assert!(joint.certificate.is_closed());
        assert_eq!(joint.certificate.primal, i128::from(total), "seed {seed}, {reference:?}");
        assert_eq!(labeled.decision.certify(&table, &labeled.labels).unwrap(), joint.certificate);
        assert_eq!(labeled.decision.apply(&table).unwrap(), labeled.labels);
    }
}
