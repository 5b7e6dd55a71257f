//! Tests of the verifier against all labelings of small tables: it accepts exactly the optimal ones with allowed
//! counts.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use apportion::decision::*;
use apportion::rule::*;
use apportion::verify::*;
use apportion::*;
use common::*;

const UNIT: f64 = (1u64 << 40) as f64;

fn units(scores: &[f64]) -> Vec<i64> {
    scores.iter().map(|score| (score * UNIT).round_ties_even() as i64).collect()
}

/// A small table; half of these tables have many ties.
struct Small {
    k: usize,
    scores: Vec<f64>,
    truth: Vec<Label>,
}

impl Small {
    fn new(seed: u64) -> (Small, Chance) {
        let mut chance = Chance::new(seed);
        let k = 2 + chance.below(2) as usize;
        let rows = 2 + chance.below(4) as usize;
        let scores = match chance.below(4) {
            0 => lumpy(&mut chance, rows, k, 4),
            1 => lumpy(&mut chance, rows, k, 10),
            _ => continuous(&mut chance, rows, k),
        };
        let truth = (0..rows).map(|_| chance.below(k as u64) as Label).collect();
        (Small { k, scores, truth }, chance)
    }

    fn rows(&self) -> usize {
        self.scores.len() / self.k
    }

    /// Returns the counts of a labeling, with unlabeled rows last, and the sum of its scores in grid units.
    fn sum(&self, labels: &[usize]) -> (Vec<u64>, f64) {
        let (units, mut counts, mut sum) = (units(&self.scores), vec![0; self.k + 1], 0.0);
        for (row, &label) in labels.iter().enumerate() {
            counts[label] += 1;
            sum += if label < self.k { units[row * self.k + label] as f64 } else { 0.0 };
        }
        (counts, sum)
    }

    /// Returns every labeling with `labels` possible labels per row.
    fn labelings(&self, labels: usize) -> Vec<Vec<usize>> {
        let all = labels.pow(self.rows() as u32);
        let digits = |mut number: usize| {
            let digit = |_| {
                let digit = number % labels;
                number /= labels;
                digit
            };
            (0..self.rows()).map(digit).collect()
        };
        (0..all).map(digits).collect()
    }

    fn verified(&self, labels: &[usize], allowed: Option<&AllowedCounts>) -> Verified {
        let mut verifier = Verifier::new(self.k);
        self.add(&mut verifier, 0, labels);
        verifier.verify(0, allowed)
    }

    fn add(&self, verifier: &mut Verifier, group: usize, labels: &[usize]) {
        let units = units(&self.scores);
        for (row, &label) in labels.iter().enumerate() {
            let label = if label == self.k { UNCODED } else { label as Label };
            let truth = Some(self.truth[row]);
            verifier.add_label(group, row as u64, &units[row * self.k..][..self.k], label, truth, 1);
        }
    }

    fn weights(&self, reference: &Reference) -> Vec<u128> {
        let mut weights = vec![0; self.k];
        match reference {
            Reference::Posterior => {
                units(&self.scores).iter().enumerate().for_each(|(at, &unit)| weights[at % self.k] += unit as u128);
            }
            Reference::Truth => self.truth.iter().for_each(|&truth| weights[usize::from(truth)] += 1),
            _ => weights.fill(1),
        }
        weights
    }
}

/// Checks that exactly the labelings with the largest value are accepted, and that the library's labels are among them.
/// Values are compared lexicographically. Returns the number of accepted labelings.
fn accepts_the_best(
    small: &Small,
    rule: &Rule,
    allowed: &AllowedCounts,
    value: impl Fn(&[u64], f64) -> Option<[f64; 2]>,
) -> usize {
    let with_uncoded = usize::from(allowed.uncoded > 0);
    let all = small.labelings(small.k + with_uncoded);
    let value_of = |labels: &Vec<usize>| {
        let (counts, sum) = small.sum(labels);
        value(&counts, sum)
    };
    let better = |a: [f64; 2], b: [f64; 2]| a[0] > b[0] + 1e-9 || ((a[0] - b[0]).abs() <= 1e-9 && a[1] > b[1]);
    let best = all.iter().filter_map(value_of).reduce(|a, b| if better(b, a) { b } else { a }).unwrap();
    let mut accepted = 0;
    for labels in &all {
        let own = value_of(labels);
        let is_best = own.is_some_and(|own| !better(best, own));
        // Penalties are rounded to the grid for each person.
        if own.is_some_and(|own| own[0] == best[0] && (1e-9..16.0).contains(&(best[1] - own[1]))) {
            continue;
        }
        let fault = small.verified(labels, Some(allowed)).fault;
        assert_eq!(fault.is_none(), is_best, "{labels:?} of {:?} for {rule:?}: {fault:?}", small.scores);
        accepted += usize::from(is_best);
    }
    let classes = classes(small.k);
    let scores = Scores::new(&classes, Matrix::RowsF64(&small.scores)).unwrap().with_truth(&small.truth).unwrap();
    let labeled = rule.label(&scores, &Settings::default()).unwrap();
    let own: Vec<usize> = labeled.labels.values().iter().map(|&label| usize::from(label).min(small.k)).collect();
    let verified = small.verified(&own, Some(allowed));
    assert_eq!(verified.fault, None, "{rule:?} on {:?}", small.scores);
    if let Some(joint) = labeled.joint {
        assert_eq!(allowed.targets_at(&verified.counts), joint.targets, "{rule:?}");
        let found = verified.certificate.unwrap();
        assert!(found.is_closed());
        assert!((found.primal - verified.cost - joint.certificate.primal).abs() <= 2, "{rule:?}");
    }
    accepted
}

fn roundings(weights: &[u128], rows: u128) -> Vec<Vec<u64>> {
    let (total, k): (u128, _) = (weights.iter().sum(), weights.len());
    let left = rows - weights.iter().map(|w| w * rows / total).sum::<u128>();
    let sets: Vec<u32> = (0u32..1 << k).filter(|set| u128::from(set.count_ones()) == left).collect();
    let rest = |set: u32| -> u128 { (0..k).filter(|y| set >> y & 1 == 1).map(|y| weights[y] * rows % total).sum() };
    let best = sets.iter().map(|&set| rest(set)).max().unwrap();
    let counts = |set: u32| (0..k).map(|y| (weights[y] * rows / total) as u64 + u64::from(set >> y & 1)).collect();
    sets.into_iter().filter(|&set| rest(set) == best).map(counts).collect()
}

#[test]
fn match_accepts_the_best_with_the_right_counts_and_no_other() {
    for seed in 0..600 {
        let (small, mut chance) = Small::new(seed);
        let reference = [Reference::Posterior, Reference::Truth, Reference::Uniform][chance.below(3) as usize].clone();
        let weights = small.weights(&reference);
        let percent = [50, 75, 90, 100, 100, 100][chance.below(6) as usize];
        let coverage = (percent < 100 || chance.below(2) == 0).then(|| percent as f64 / 100.0);
        let without = ((100 - percent) * small.rows() as u64 + 50) / 100;
        let targets = roundings(&weights, small.rows() as u128 - u128::from(without));
        let bounds = Bounds::default();
        let asked = TargetSpec { weights, coverage, bounds: &bounds, balance: None };
        let allowed = AllowedCounts::new(&asked, &classes(small.k), small.rows() as u64).unwrap();
        let rule = Rule::Match(Match { coverage, ..Match::overall(reference) });
        accepts_the_best(&small, &rule, &allowed, |counts, sum| {
            (counts[small.k] == without && targets.contains(&counts[..small.k].to_vec())).then_some([0.0, sum])
        });
    }
}

#[test]
fn bounds_come_before_the_targets_and_these_before_accuracy() {
    let mut binding = 0;
    for seed in 1000..1400 {
        let (small, mut chance) = Small::new(seed);
        let n = small.rows() as u64;
        let at_least = [("c0".to_owned(), Bound::Count(chance.below(n + 1)))].into();
        let at_most = [("c1".to_owned(), Bound::Share([0.0, 0.25, 0.5, 1.0][chance.below(4) as usize]))].into();
        let bounds = Bounds { at_least, at_most, tolerance: None };
        let weights = small.weights(&Reference::Posterior);
        let targets = roundings(&weights, u128::from(n));
        let asked = TargetSpec { weights, coverage: None, bounds: &bounds, balance: None };
        let Ok(allowed) = AllowedCounts::new(&asked, &classes(small.k), n) else { continue };
        let rule = Rule::Match(Match::overall(Reference::Posterior).with_bounds(bounds.clone()));
        let (Bound::Count(least), Bound::Share(share)) = (bounds.at_least["c0"], bounds.at_most["c1"]) else {
            continue;
        };
        let is_allowed = |counts: &[u64]| counts[0] >= least && counts[1] as f64 <= share * n as f64 + 1e-7;
        if !small.labelings(small.k).iter().any(|labels| is_allowed(&small.sum(labels).0)) {
            continue;
        }
        // For each class, all tied roundings are as close as the closest one.
        let distance = |counts: &[u64]| -> f64 {
            (0..small.k)
                .map(|y| {
                    let low = targets.iter().map(|target| target[y]).min().unwrap() as f64;
                    let high = targets.iter().map(|target| target[y]).max().unwrap() as f64;
                    let count = counts[y] as f64;
                    (count - (low + high) / 2.0).abs()
                })
                .sum()
        };
        let within = targets.iter().all(|target| is_allowed(target));
        binding += usize::from(!within);
        accepts_the_best(&small, &rule, &allowed, |counts, sum| match within {
            true => targets.contains(&counts[..small.k].to_vec()).then_some([0.0, sum]),
            false => is_allowed(counts).then(|| [-distance(counts), sum]),
        });
    }
    assert!(binding > 50, "{binding}");
}

#[test]
fn balance_accepts_the_best_trade_and_no_other() {
    for seed in 2000..2600 {
        let (small, mut chance) = Small::new(seed);
        let n = small.rows() as f64;
        let gamma = [0.05, 0.3, 0.5, 0.7, 0.9, 0.99][chance.below(6) as usize];
        let penalty = [Penalty::L1, Penalty::L2Squared, Penalty::Kl][chance.below(3) as usize];
        let tolerance = (chance.below(3) == 0).then_some(0.2);
        let bounds = Bounds { tolerance, ..Bounds::default() };
        let weights = small.weights(&Reference::Posterior);
        let total: u128 = weights.iter().sum();
        let quotas: Vec<f64> = weights.iter().map(|&w| n * w as f64 / total as f64).collect();
        let asked = TargetSpec { weights, coverage: None, bounds: &bounds, balance: Some((gamma, penalty)) };
        let allowed = AllowedCounts::new(&asked, &classes(small.k), small.rows() as u64).unwrap();
        let aim = Match::overall(Reference::Posterior).with_bounds(bounds.clone());
        let rule = Rule::Balance(Balance::new(gamma, aim).with_penalty(penalty));
        let weight = (1.0 - gamma) / gamma;
        accepts_the_best(&small, &rule, &allowed, |counts, sum| {
            let pairs = || counts.iter().zip(&quotas).map(|(&count, &quota)| (count as f64, quota));
            let is_near = |(count, quota): (f64, f64)| {
                let slack = 0.2 * n + 1e-7;
                (quota - slack).ceil().min(quota.floor()) <= count && count <= (quota + slack).floor().max(quota.ceil())
            };
            if tolerance.is_some() && !pairs().all(is_near) {
                return None;
            }
            let distance: f64 = match penalty {
                Penalty::L2Squared => pairs().map(|(count, quota)| (count - quota).powi(2)).sum::<f64>() / n,
                Penalty::Kl => pairs()
                    .filter(|(count, _)| *count > 0.0)
                    .map(|(count, quota)| if quota > 0.0 { count * (count / quota).ln() } else { f64::INFINITY })
                    .sum(),
                _ => pairs().map(|(count, quota)| (count - quota).abs()).sum(),
            };
            distance.is_finite().then_some([0.0, sum - weight * distance * UNIT])
        });
    }
}

#[test]
fn without_targets_labels_are_optimal_for_their_own_counts_or_not() {
    for seed in 3000..3200 {
        let (small, _) = Small::new(seed);
        let all = small.labelings(small.k + 1);
        let sums: Vec<_> = all.iter().map(|labels| small.sum(labels)).collect();
        for (labels, (counts, sum)) in all.iter().zip(&sums) {
            let best = sums.iter().filter(|(own, _)| own == counts).map(|(_, sum)| *sum).fold(f64::MIN, f64::max);
            let verified = small.verified(labels, None);
            assert_eq!(verified.fault.is_none(), *sum == best, "{labels:?} of {:?}", small.scores);
            let Some(Fault::Exchange { moves, gain }) = verified.fault else { continue };
            // The moves have the reported gain and preserve the counts.
            let mut moved = labels.clone();
            moves.iter().for_each(|own| moved[own.row as usize] = own.to);
            let (after, gained) = small.sum(&moved);
            assert_eq!((&after, gained - sum), (counts, gain as f64));
        }
    }
}

#[test]
fn prices_are_held_against_every_row() {
    for seed in 4000..4200 {
        let (small, mut chance) = Small::new(seed);
        let classes = classes(small.k);
        let scores = Scores::new(&classes, Matrix::RowsF64(&small.scores)).unwrap();
        let labeled = Rule::Match(Match::overall(Reference::Uniform)).label(&scores, &Settings::default()).unwrap();
        let Fitted::Prices(prices) = labeled.decision.fitted() else { panic!("prices") };
        let prices: Vec<Option<i64>> = prices[0].prices.iter().map(|p| p.map(|p| GRID.round(p))).collect();
        let labels: Vec<usize> = labeled.labels.values().iter().map(|&label| usize::from(label)).collect();
        let verified = |prices: &[Option<i64>]| {
            let mut verifier = Verifier::new(small.k);
            verifier.set_prices(0, prices.into());
            small.add(&mut verifier, 0, &labels);
            verifier.verify(0, None)
        };
        let right = verified(&prices);
        assert_eq!((right.fault, right.certificate), (None, Some(labeled.joint.unwrap().certificate)));
        // With one wrong price, the bound still follows its definition, and a fault is reported if the certificate does
        // not close.
        let mut wrong = prices.clone();
        let class = chance.below(small.k as u64) as usize;
        wrong[class] = wrong[class].map(|price| price + 3 * (1 << 40));
        let (units, found) = (units(&small.scores), verified(&wrong));
        let best = |row: &[i64]| row.iter().zip(&wrong).filter_map(|(s, p)| p.map(|p| s + p)).max().unwrap();
        let bound: i64 = units.chunks(small.k).map(best).sum::<i64>()
            - labels.iter().map(|&label| wrong[label].unwrap()).sum::<i64>();
        assert_eq!(found.certificate.unwrap().dual, i128::from(bound));
        assert_eq!(found.certificate.unwrap().is_closed(), found.fault.is_none());
    }
}

#[test]
fn parts_merge_and_groups_stay_apart() {
    for seed in 5000..5100 {
        let (mut whole, small) = (None, Small::new(seed).0);
        let units = units(&small.scores);
        let labels = small.labelings(small.k);
        let labels = &labels[seed as usize % labels.len()];
        for parts in [1, 2, 3] {
            let mut all = Verifier::new(small.k);
            for part in 0..parts {
                let mut own = all.part();
                for row in (0..small.rows()).filter(|row| row % parts == part) {
                    let scores = &units[row * small.k..][..small.k];
                    own.add_label(row % 2, row as u64, scores, labels[row] as Label, None, 1);
                }
                all.merge(&own);
            }
            let found = format!("{:?} {:?}", all.verify(0, None), all.verify(1, None));
            assert_eq!(*whole.get_or_insert(found.clone()), found);
        }
    }
}

#[test]
fn rows_of_several_people_weigh_as_many() {
    for seed in 6000..6300 {
        let (small, mut chance) = Small::new(seed);
        let counts: Vec<u64> = (0..small.rows()).map(|_| chance.below(4)).collect();
        let people: u64 = counts.iter().sum();
        if people == 0 {
            continue;
        }
        let classes = classes(small.k);
        let scores = Scores::new(&classes, Matrix::RowsF64(&small.scores)).unwrap().with_counts(&counts).unwrap();
        let rule = Rule::Match(Match::overall(Reference::Posterior));
        let allotted = rule.allot(&scores, &Settings::default()).unwrap();
        let (units, mut cells, mut each) = (units(&small.scores), Verifier::new(small.k), Verifier::new(small.k));
        for (row, own) in allotted.allotment.rows().enumerate() {
            let scores = &units[row * small.k..][..small.k];
            cells.add_people(0, row as u64, scores, own, None);
            for (label, &times) in own.iter().enumerate() {
                let label = if label == small.k { UNCODED } else { label as Label };
                (0..times).for_each(|_| each.add_label(0, row as u64, scores, label, None, 1));
            }
        }
        let weights = weights_of_sums(cells.score_sums(0));
        let asked = TargetSpec { weights, coverage: None, bounds: &Bounds::default(), balance: None };
        let allowed = AllowedCounts::new(&asked, &classes, people).unwrap();
        let (found, alone) = (cells.verify(0, Some(&allowed)), each.verify(0, Some(&allowed)));
        assert_eq!(found.fault, None, "{:?} {counts:?}", small.scores);
        assert_eq!((found.counts, found.certificate), (alone.counts, alone.certificate));
        assert_eq!(alone.certificate.unwrap(), allotted.joint.unwrap().certificate);
    }
}

#[test]
fn counts_of_units_are_the_nearest_or_not() {
    let (mut nearest, mut others) = (0, 0);
    for seed in 7000..7200 {
        let mut chance = Chance::new(seed);
        let k = 2 + chance.below(2) as usize;
        let units: Vec<(u64, Vec<u128>)> = (0..2 + chance.below(2))
            .map(|_| (1 + chance.below(3), (0..k).map(|_| 1 + u128::from(chance.below(9))).collect()))
            .collect();
        let mut all: Vec<Vec<Vec<u64>>> = vec![Vec::new()];
        for (people, _) in &units {
            let all_counts: Vec<Vec<u64>> = (0..(people + 1).pow(k as u32))
                .map(|number| (0..k as u32).map(|y| number / (people + 1).pow(y) % (people + 1)).collect())
                .filter(|counts: &Vec<u64>| counts.iter().sum::<u64>() == *people)
                .collect();
            all = all
                .iter()
                .flat_map(|before| all_counts.iter().map(|own| [&before[..], std::slice::from_ref(own)].concat()))
                .collect();
        }
        let totals =
            |counts: &[Vec<u64>]| -> Vec<u64> { (0..k).map(|y| counts.iter().map(|own| own[y]).sum()).collect() };
        let distance = |counts: &[Vec<u64>]| -> f64 {
            let own = |(counts, (people, weights)): (&Vec<u64>, &(u64, Vec<u128>))| -> f64 {
                let sum: u128 = weights.iter().sum();
                let quota = |y: usize| *people as f64 * weights[y] as f64 / sum as f64;
                (0..k).map(|y| (counts[y] as f64 - quota(y)).abs()).sum()
            };
            counts.iter().zip(&units).map(own).sum()
        };
        for counts in all.iter().step_by(7) {
            let same = all.iter().filter(|other| totals(other) == totals(counts));
            let best = same.map(|other| distance(other)).fold(f64::INFINITY, f64::min);
            let units: Vec<Unit> = units
                .iter()
                .zip(counts)
                .map(|((people, weights), counts)| Unit {
                    people: *people,
                    weights: weights.clone(),
                    counts: counts.clone(),
                })
                .collect();
            let is_nearest = distance(counts) < best + 1e-6;
            assert_eq!(nearer(&units).is_none(), is_nearest, "{units:?}");
            (nearest, others) = (nearest + usize::from(is_nearest), others + usize::from(!is_nearest));
        }
    }
    assert!(nearest > 200 && others > 200, "{nearest} {others}");
}

#[test]
fn beyond_its_memory_it_says_so_and_prices_still_prove() {
    let (small, _) = Small::new(1);
    let mut verifier = Verifier::new(small.k).with_memory(1);
    let zero: Prices = vec![Some(0); small.k].into();
    verifier.set_prices(0, zero);
    let best = |row: &[i64]| (0..small.k).rev().max_by_key(|&y| row[y]).unwrap();
    let labels: Vec<usize> = units(&small.scores).chunks(small.k).map(best).collect();
    small.add(&mut verifier, 0, &labels);
    assert!(!verifier.has_pairs());
    let verified = verifier.verify(0, None);
    assert!(verified.fault.is_none() && verified.certificate.unwrap().is_closed() && verified.prices.is_none());
    small.add(&mut verifier, 1, &labels);
    assert!(verifier.verify(1, None).certificate.is_none());
}

#[test]
fn shares_of_very_many_people_are_whole_people() {
    // 2^40 people in units with the same shares as overall: 3/8, 1/2 and 1/8.
    let people = Scores::MAX_PEOPLE / 2;
    let unit =
        |counts: [u64; 3]| Unit { people, weights: weights_of_shares(&[0.375, 0.5, 0.125]), counts: counts.to_vec() };
    let right = [people / 8 * 3, people / 2, people / 8];
    let units = [unit(right), unit(right)];
    let all = Unit::together(units.iter(), true);
    let (least, most) = largest_remainders(&all.weights, all.people);
    assert_eq!((&least, &least), (&most, &all.counts));
    assert!(nearer(&units).is_none());
    let units = [unit([right[0] + 1, right[1] - 1, right[2]]), unit([right[0] - 1, right[1] + 1, right[2]])];
    assert!(nearer(&units).is_some());
}
