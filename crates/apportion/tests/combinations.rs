//! Every joint rule with every option that it supports, on thousands of small problems, against all labelings of all
//! people: groups, coverage, bounds, and rows that represent several people.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use std::collections::{BTreeMap, HashMap};

use apportion::rule::*;
use apportion::*;
use common::*;

const TOLERANCE: f64 = 1e-9;

/// People, one entry each.
struct People<'a> {
    k: usize,
    rows: Vec<&'a [f64]>,
}

impl People<'_> {
    /// Returns the largest sum of scores for every vector of counts. The last count is of unlabeled people.
    fn best_by_counts(&self) -> HashMap<Vec<u64>, f64> {
        let mut best = HashMap::from([(vec![0; self.k + 1], 0.0)]);
        for row in &self.rows {
            let mut next = HashMap::new();
            for (counts, value) in best {
                for class in 0..=self.k {
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
}

#[derive(Debug)]
struct Options {
    gamma: Option<f64>,
    penalty: Penalty,
    coverage: Option<f64>,
    bounds: Bounds,
}

/// Returns the number of people times the distance of their shares from the reference.
fn distance(penalty: Penalty, counts: &[u64], shares: &[f64]) -> f64 {
    let people = counts.iter().sum::<u64>() as f64;
    let pairs = counts.iter().zip(shares).map(|(&count, &share)| (count as f64, share * people));
    match penalty {
        Penalty::L1 => pairs.map(|(c, t)| (c - t).abs()).sum(),
        Penalty::L2 => pairs.map(|(c, t)| (c - t).powi(2)).sum::<f64>().sqrt(),
        Penalty::L2Squared => pairs.map(|(c, t)| (c - t).powi(2)).sum::<f64>() / people.max(1.0),
        Penalty::Kl => pairs.map(|(c, t)| if c == 0.0 { 0.0 } else { c * (c / t).ln() }).sum(),
    }
}

/// Returns the largest remainders, with ties rounded up for the first classes, and whether there were ties. The shares
/// must be exact to a millionth.
fn targets(people: u64, shares: &[f64]) -> (Vec<u64>, bool) {
    let quota = |class: usize| shares[class] * people as f64;
    let floor = |class: usize| (quota(class) + 1e-7).floor();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let rest = |class: usize| ((quota(class) - floor(class)).max(0.0) * 1e7).round() as i64;
    order.sort_by_key(|&class| (-rest(class), class));
    let mut counts: Vec<u64> = (0..shares.len()).map(|class| floor(class) as u64).collect();
    let left = (people - counts.iter().sum::<u64>()) as usize;
    order[..left].iter().for_each(|&class| counts[class] += 1);
    let contested = left > 0 && left < order.len() && rest(order[left - 1]) == rest(order[left]);
    (counts, contested)
}

/// Returns the minimum and maximum of each class; `None` if no labels satisfy the bounds.
fn limits(bounds: &Bounds, people: u64, shares: &[f64]) -> Option<Vec<(u64, u64)>> {
    let up = |x: f64| (x - 1e-7).ceil().max(0.0) as u64;
    let down = |x: f64| (x + 1e-7).floor() as u64;
    let mut limits = vec![(0, people); shares.len()];
    for (class, limit) in limits.iter_mut().enumerate() {
        let (name, quota) = (format!("c{class}"), shares[class] * people as f64);
        if let Some(tolerance) = bounds.tolerance {
            let slack = tolerance * people as f64;
            *limit = (up(quota - slack).min(down(quota)), down(quota + slack).max(up(quota)).min(people));
        }
        let of = |bound: &Bound, round: fn(f64) -> u64| match bound {
            Bound::Count(count) => *count,
            Bound::Share(share) => round(share * people as f64),
        };
        let raise: fn(f64) -> u64 = |x| (x - 1e-7).ceil().max(0.0) as u64;
        let lower: fn(f64) -> u64 = |x| (x + 1e-7).floor() as u64;
        limit.0 = bounds.at_least.get(&name).map_or(limit.0, |bound| limit.0.max(of(bound, raise)));
        limit.1 = bounds.at_most.get(&name).map_or(limit.1, |bound| limit.1.min(of(bound, lower)));
    }
    let feasible = limits.iter().all(|(least, most)| least <= most)
        && limits.iter().map(|limit| limit.0).sum::<u64>() <= people
        && limits.iter().map(|limit| limit.1).sum::<u64>() >= people;
    feasible.then_some(limits)
}

/// Returns the best value over all labelings: the sum of the scores or, for balance, γ times the sum minus (1 − γ)
/// times the distance. Returns `None` if no labels satisfy the bounds.
fn optimum(people: &People<'_>, options: &Options, shares: &[f64]) -> Option<f64> {
    let n = people.rows.len() as u64;
    let uncoded = options.coverage.map_or(0, |share| ((1.0 - share) * n as f64 + 1e-9).round() as u64);
    let labeled = n - uncoded;
    let limits = limits(&options.bounds, labeled, shares)?;
    let k = people.k;
    let kept = |counts: &[u64]| {
        counts[k] == uncoded && counts.iter().zip(&limits).all(|(c, (least, most))| (least..=most).contains(&c))
    };
    let best = people.best_by_counts();
    let best: Vec<(&[u64], f64)> =
        best.iter().filter(|(counts, _)| kept(counts)).map(|(counts, &sum)| (&counts[..k], sum)).collect();
    let value = |counts: &[u64], sum: f64| match options.gamma {
        Some(1.0) => sum,
        Some(gamma) => gamma * sum - (1.0 - gamma) * distance(options.penalty, counts, shares),
        None => sum,
    };
    let greatest = |all: &mut dyn Iterator<Item = f64>| all.fold(f64::NEG_INFINITY, f64::max);
    if options.gamma.is_some_and(|gamma| gamma > 0.0) {
        return Some(greatest(&mut best.iter().map(|(counts, sum)| value(counts, *sum))));
    }
    // Match: first the distance from the targets, then the sum. Tied roundings are equally close to the quotas.
    let (targets, contested) = targets(labeled, shares);
    let near_targets = |counts: &[u64]| counts.iter().zip(&targets).map(|(c, t)| c.abs_diff(*t)).sum::<u64>() as f64;
    let near_quotas = |counts: &[u64]| distance(Penalty::L1, counts, shares);
    let quotas_within = shares.iter().zip(&limits).all(|(share, (least, most))| {
        let quota = share * labeled as f64;
        *least as f64 <= (quota + 1e-7).floor() && (quota - 1e-7).ceil() <= *most as f64
    });
    // If bounds may exclude some of the tied roundings, the choice of targets is up to the implementation and not
    // tested.
    if contested && !quotas_within {
        return Some(f64::NAN);
    }
    let far = |counts: &[u64]| if contested { near_quotas(counts) } else { near_targets(counts) };
    let nearest = best.iter().map(|(counts, _)| far(counts)).fold(f64::INFINITY, f64::min);
    let value = match options.gamma {
        Some(_) => return Some(f64::NAN),
        None => greatest(&mut best.iter().filter(|(c, _)| far(c) < nearest + TOLERANCE).map(|(_, sum)| *sum)),
    };
    Some(value)
}

fn random_bounds(chance: &mut Chance, k: usize, people: u64) -> Bounds {
    let mut bounds = Bounds::default();
    match chance.below(4) {
        0 => bounds.tolerance = Some([0.0, 0.05, 0.3][chance.below(3) as usize]),
        kind => {
            let mut side = || -> BTreeMap<String, Bound> {
                let name = format!("c{}", chance.below(k as u64));
                let bound = match kind {
                    1 => Bound::Count(chance.below(people + 1)),
                    _ => Bound::Share(chance.below(11) as f64 / 10.0),
                };
                BTreeMap::from([(name, bound)])
            };
            bounds.at_least = side();
            if kind == 3 {
                bounds.at_most = side();
            }
        }
    }
    bounds
}

#[test]
fn every_combination_equals_brute_force() {
    let (mut solved, mut refused) = (0, 0);
    for seed in 0..9000 {
        let mut chance = Chance::new(seed);
        let k = 1 + chance.below(3) as usize;
        let rows = 1 + chance.below(6) as usize;
        let scores = match chance.below(3) {
            0 => continuous(&mut chance, rows, k),
            1 => lumpy(&mut chance, rows, k, 8), // on the grid, so that ties are the same in both
            _ => lumpy(&mut chance, rows, k, 2),
        };
        let counts: Option<Vec<u64>> = (chance.below(3) == 0).then(|| (0..rows).map(|_| chance.below(3)).collect());
        let by_group = chance.below(3) == 0;
        let codes: Vec<u32> = (0..rows).map(|_| chance.below(2) as u32).collect();
        let truth: Vec<Label> = (0..rows).map(|_| chance.below(k as u64) as Label).collect();
        let names = ["a", "b"].map(String::from);
        let options = Options {
            gamma: match chance.below(4) {
                0 => None,
                1 => Some(1.0),
                _ => Some((1 + chance.below(99)) as f64 / 100.0),
            },
            penalty: [Penalty::L1, Penalty::L2Squared, Penalty::Kl][chance.below(3) as usize],
            coverage: (chance.below(3) == 0).then(|| chance.below(11) as f64 / 10.0),
            bounds: if chance.below(3) == 0 { random_bounds(&mut chance, k, 4) } else { Bounds::default() },
        };
        let given = lumpy(&mut chance, 1, k, 20);
        let reference = match chance.below(4) {
            0 => Reference::Uniform,
            1 => Reference::Shares(PerGroup::Overall(given.clone())),
            2 => Reference::Truth,
            _ => Reference::Posterior,
        };
        let what = format!("seed {seed}: {options:?}, {reference:?}, groups {by_group}, {counts:?}, {scores:?}");

        let classes = classes(k);
        let mut table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap().with_truth(&truth).unwrap();
        table = table.with_groups(Groups { codes: &codes, names: &names }).unwrap();
        if let Some(counts) = &counts {
            table = table.with_counts(counts).unwrap();
        }
        let mut aim = Match { by_group, ..Match::overall(reference.clone()) };
        aim.coverage = options.coverage;
        aim.bounds = options.bounds.clone();
        let rule = match options.gamma {
            None => Rule::Match(aim),
            Some(gamma) => Rule::Balance(Balance::new(gamma, aim).with_penalty(options.penalty)),
        };
        let result = rule.allot(&table, &Settings { seed, ..Settings::default() });

        // The optimum by brute force, group by group.
        let people_of = |row: usize| counts.as_ref().map_or(1, |counts| counts[row]);
        let (mut best, mut found, mut labeled) = (Some(0.0), 0.0, 0);
        let parts: Vec<Vec<usize>> = if by_group {
            (0..2).map(|group| (0..rows).filter(|&row| codes[row] == group).collect()).collect()
        } else {
            vec![(0..rows).collect()]
        };
        let mut unsaid = false;
        for members in parts.iter().filter(|members| !members.is_empty()) {
            let all = members.iter().flat_map(|&row| (0..people_of(row)).map(move |_| row)).collect::<Vec<_>>();
            let people = People { k, rows: all.iter().map(|&row| &scores[row * k..][..k]).collect() };
            let mut weights: Vec<f64> = match &reference {
                Reference::Uniform => vec![1.0; k],
                Reference::Shares(_) => given.clone(),
                Reference::Truth => (0..k)
                    .map(|class| all.iter().filter(|&&row| usize::from(truth[row]) == class).count() as f64)
                    .collect(),
                _ => (0..k).map(|class| all.iter().map(|&row| scores[row * k + class]).sum()).collect(),
            };
            let total: f64 = weights.iter().sum();
            unsaid |= total == 0.0; // without people the reference is unknown
            weights.iter_mut().for_each(|weight| *weight /= total);
            let own = if total == 0.0 { Some(0.0) } else { optimum(&people, &options, &weights) };
            best = best.zip(own).map(|(sum, own)| sum + own);
            if let Ok(allotted) = &result {
                let mut counts = vec![0; k];
                for &row in members {
                    let own = allotted.allotment.row(row);
                    assert_eq!(own.iter().sum::<u64>(), people_of(row), "{what}");
                    (0..k).for_each(|class| {
                        counts[class] += own[class];
                        found += own[class] as f64 * scores[row * k + class] * options.gamma.unwrap_or(1.0);
                    });
                }
                labeled += counts.iter().sum::<u64>();
                if let Some(gamma) = options.gamma.filter(|&gamma| gamma < 1.0) {
                    found -= (1.0 - gamma) * distance(options.penalty, &counts, &weights);
                }
            }
        }
        if unsaid {
            continue;
        }
        let Some(best) = best else {
            assert!(matches!(result, Err(Error::Bounds { .. })), "{result:?} where bounds cannot be kept: {what}");
            refused += 1;
            continue;
        };
        if best.is_infinite() {
            assert_eq!(options.penalty, Penalty::Kl, "{what}");
            assert!(matches!(result, Err(Error::Bounds { .. })), "{result:?} where all is infinitely far: {what}");
            continue;
        }
        let allotted = result.unwrap_or_else(|error| panic!("{error}: {what}"));
        if best.is_nan() {
            continue;
        }
        solved += 1;
        assert!((best - found).abs() < TOLERANCE, "{found} where {best} is best: {what}");
        if let Some(joint) = allotted.joint {
            assert!(joint.certificate.is_closed(), "{what}");
            if let Some(objective) = joint.gamma_objective {
                assert!((objective * labeled.max(1) as f64 - best).abs() < TOLERANCE, "{what}");
            }
        }
        if counts.is_none() {
            let labeled = rule.label(&table, &Settings { seed, ..Settings::default() }).unwrap();
            assert_eq!(labeled.labels.counts(), allotted.allotment.counts(), "{what}");
            assert_eq!(labeled.decision.apply(&table).unwrap(), labeled.labels, "{what}");
            assert!(labeled.decision.certify(&table, &labeled.labels).unwrap().is_closed(), "{what}");
        }
    }
    assert!(solved > 7500 && refused > 200, "{solved} solved, {refused} refused");
}
