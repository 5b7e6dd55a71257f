//! Nested targets, rows with counts, batches, and special cases that are known under other names.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use std::collections::BTreeMap;

use apportion::audit::*;
use apportion::rule::*;
use apportion::*;
use common::voters::voters;
use common::*;

/// Returns the largest remainders, with ties rounded up for the first classes.
fn largest_remainders(sums: &[f64], people: u64) -> Vec<u64> {
    let total: f64 = sums.iter().sum();
    let quotas: Vec<f64> = sums.iter().map(|sum| sum / total * people as f64).collect();
    let mut counts: Vec<u64> = quotas.iter().map(|quota| quota.floor() as u64).collect();
    let mut order: Vec<usize> = (0..sums.len()).collect();
    order.sort_by(|&a, &b| (quotas[b].fract()).total_cmp(&quotas[a].fract()));
    let left = (people - counts.iter().sum::<u64>()) as usize;
    order[..left].iter().for_each(|&class| counts[class] += 1);
    counts
}

#[test]
fn counties_and_regions_are_right_at_once() {
    let Some(voters) = voters() else { return };
    let table = voters.table();
    let k = voters.classes.len();
    let counties = voters.county_names.len();
    // Nine regions of counties, and three parts of the state.
    let regions: Vec<u32> = (0..counties as u32).map(|county| county % 9).collect();
    let parts = vec![0, 0, 0, 1, 1, 1, 2, 2, 2];
    let mut rule = Match::nested(Reference::Posterior, regions.clone());
    let two = Rule::Match(rule.clone()).label(&table, &Settings::default()).unwrap();
    rule.nested.push(parts.clone());
    let three = Rule::Match(rule).label(&table, &Settings::default()).unwrap();

    for (labeled, levels) in [(&two, 1), (&three, 2)] {
        let joint = labeled.joint.as_ref().unwrap();
        assert!(joint.certificate.is_closed());
        assert_eq!(labeled.decision.apply(&table).unwrap(), labeled.labels);
        let unit_of = |row: usize| {
            let region = regions[voters.counties[row] as usize];
            if levels == 1 { region } else { parts[region as usize] }
        };
        for unit in 0..if levels == 1 { 9 } else { 3 } {
            let rows: Vec<usize> = (0..table.rows()).filter(|&row| unit_of(row) == unit).collect();
            let (mut sums, mut counts) = (vec![0.0; k], vec![0; k]);
            for &row in &rows {
                sums.iter_mut().zip(&voters.scores[row * k..]).for_each(|(sum, score)| *sum += score);
                counts[usize::from(labeled.labels.values()[row])] += 1;
            }
            assert_eq!(counts, largest_remainders(&sums, rows.len() as u64), "unit {unit} of level {levels}");
        }
        // Each county is still within one person of its own shares.
        let mut sums = vec![vec![0.0; k]; counties];
        for row in 0..table.rows() {
            let own = &mut sums[voters.counties[row] as usize];
            own.iter_mut().zip(&voters.scores[row * k..]).for_each(|(sum, score)| *sum += score);
        }
        for (sums, targets) in sums.iter().zip(&joint.group_targets) {
            let people = targets.iter().sum::<u64>() as f64;
            let total: f64 = sums.iter().sum();
            let near = |(sum, target): (&f64, &u64)| (sum / total * people - *target as f64).abs() < 1.0 + 1e-9;
            assert!(sums.iter().zip(targets).all(near), "{targets:?} for {sums:?}");
        }
    }
}

/// Two groups of one person each, one split equally between the first two classes and one between the last two. All
/// four remainders tie and the first two classes are rounded up, so the person in the second group must take a class
/// without a share.
#[test]
fn nested_targets_leave_floor_and_ceiling_where_they_must() {
    let classes = classes(4);
    let scores = [0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5];
    let names = ["a", "b"].map(String::from);
    let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
    let table = table.with_groups(Groups { codes: &[0, 1], names: &names }).unwrap();
    let rule = Rule::Match(Match::nested(Reference::Posterior, vec![0, 0]));
    let joint = rule.label(&table, &Settings::default()).unwrap().joint.unwrap();
    assert_eq!(joint.targets, [1, 1, 0, 0]);
    assert_eq!(joint.group_targets[1][2..], [0, 0]);
    assert!(joint.certificate.is_closed());
}

/// Given shares on three levels of units, with enough people to make the products large.
#[test]
fn given_shares_nest_at_any_size() {
    let (groups, size) = (6u32, 20_000);
    let classes = classes(3);
    let mut chance = Chance::new(21);
    let codes: Vec<u32> = (0..groups * size).map(|row| row % groups).collect();
    let scores = single(&continuous(&mut chance, codes.len(), 3));
    let names: Vec<String> = (0..groups).map(|group| format!("g{group}")).collect();
    let table = Scores::new(&classes, Matrix::RowsF32(&scores)).unwrap();
    let table = table.with_groups(Groups { codes: &codes, names: &names }).unwrap();
    let mut rule = Match::nested(Reference::Shares(PerGroup::Overall(vec![0.5, 0.3, 0.2])), vec![7, 7, 7, 900, 900, 3]);
    rule.nested.push(vec![1, 1, 0]); // the units 3, 7 and 900, in this order
    rule.nested.push(vec![u32::MAX, u32::MAX]);
    let labeled = Rule::Match(rule).label(&table, &Settings::default()).unwrap();
    assert_eq!(labeled.labels.counts(), [60_000, 36_000, 24_000]);
    assert!(labeled.joint.unwrap().group_targets.iter().all(|targets| targets == &[10_000, 6_000, 4_000]));
}

/// Rows with a count of 0 have no effect, at any position.
#[test]
fn rows_of_nobody_are_not_seen() {
    let mut chance = Chance::new(22);
    for case in 0..60 {
        let (rows, k) = (1500 + chance.below(1500) as usize, 2 + chance.below(4) as usize);
        let scores = if case % 2 == 0 { continuous(&mut chance, rows, k) } else { lumpy(&mut chance, rows, k, 9) };
        let counts: Vec<u64> = (0..rows).map(|_| chance.below(4)).collect();
        let classes = classes(k);
        let decide = |order: &[usize]| {
            let scores: Vec<f64> = order.iter().flat_map(|&row| scores[row * k..][..k].to_vec()).collect();
            let counts: Vec<u64> = order.iter().map(|&row| counts[row]).collect();
            let keys: Vec<u64> = order.iter().map(|&row| row as u64).collect();
            let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap().with_counts(&counts).unwrap();
            let table = table.with_keys(Keys::Given(&keys)).unwrap();
            Rule::Match(Match::overall(Reference::Uniform)).allot(&table, &Settings::default()).unwrap()
        };
        let mut order: Vec<usize> = (0..rows).collect();
        let expected = decide(&order);
        let without: Vec<usize> = order.iter().copied().filter(|&row| counts[row] > 0).collect();
        assert_eq!(decide(&without).decision, expected.decision, "case {case}");
        chance.shuffle(&mut order);
        let shuffled = decide(&order);
        assert_eq!(shuffled.decision, expected.decision, "case {case}");
        for (index, &row) in order.iter().enumerate() {
            assert_eq!(shuffled.allotment.row(index), expected.allotment.row(row), "case {case}");
        }
    }
}

/// The running time depends on the number of rows, not of people.
#[test]
fn a_row_can_stand_for_very_many() {
    let classes = classes(3);
    let scores = [0.5, 0.3, 0.2, 0.1, 0.2, 0.7];
    let counts = [1 << 38, (1 << 38) + 1];
    let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap().with_counts(&counts).unwrap();
    for penalty in [Penalty::L1, Penalty::L2Squared, Penalty::Kl] {
        let rule = Rule::Balance(Balance::new(0.9, Match::overall(Reference::Posterior)).with_penalty(penalty));
        let allotted = rule.allot(&table, &Settings::default()).unwrap();
        assert!(allotted.joint.unwrap().certificate.is_closed());
        assert_eq!(allotted.allotment.counts().iter().sum::<u64>(), counts[0] + counts[1]);
    }
}

#[test]
fn coverage_is_rounded_as_it_is_written() {
    let classes = classes(2);
    for (rows, share, uncoded) in [(5, 0.9, 1), (15, 0.9, 2), (25, 0.9, 3), (10, 0.75, 3), (4, 0.0, 4), (4, 1.0, 0)] {
        let scores = [0.6, 0.4].repeat(rows);
        let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
        let rule = Rule::Match(Match::overall(Reference::Posterior).with_coverage(share));
        let labels = rule.label(&table, &Settings::default()).unwrap().labels;
        assert_eq!(labels.values().iter().filter(|&&label| label == UNCODED).count(), uncoded, "{share} of {rows}");
    }
}

/// If bounds allow all tied roundings, the solver chooses among them, as without bounds. If several labelings are
/// equally accurate, the most faithful counts within the bounds are chosen, also at γ = 1.
#[test]
fn bounds_that_do_not_bind_change_nothing() {
    let classes = classes(3);
    let scores = [0.2, 0.3, 0.5].repeat(4);
    let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
    let most = |name: &str, count| Bounds { at_most: [(name.into(), Bound::Count(count))].into(), ..Bounds::default() };
    let rule = Rule::Match(Match::overall(Reference::Uniform).with_bounds(most("c0", 3)));
    let labeled = rule.label(&table, &Settings::default()).unwrap();
    assert_eq!(labeled.labels.counts(), [1, 1, 2]);
    assert_eq!(labeled.joint.unwrap().targets, [1, 1, 2]);

    let scores = [0.5, 0.5, 0.0].repeat(10);
    let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
    let aim = Match::overall(Reference::Posterior).with_bounds(most("c0", 8));
    let labeled = Rule::Balance(Balance::new(1.0, aim)).label(&table, &Settings::default()).unwrap();
    assert_eq!(labeled.labels.counts(), [5, 5, 0]);
}

/// Voters with a realistic distribution of names: 4.2 million people, 1.23 million distinct rows.
#[test]
fn cells_are_people() {
    let (cells, people, k) = (1_230_000, 4_200_000u64, 6);
    let mut chance = Chance::new(4);
    let scores = single(&continuous(&mut chance, cells, k));
    let mut counts = vec![1u64; cells];
    for _ in cells as u64..people {
        let unit = chance.unit();
        counts[((unit * unit * unit) * cells as f64) as usize] += 1;
    }
    let classes = classes(k);
    let table = Scores::new(&classes, Matrix::RowsF32(&scores)).unwrap().with_counts(&counts).unwrap();
    let one_by_one: Vec<f32> =
        scores.chunks(k).zip(&counts).flat_map(|(row, &count)| row.repeat(count as usize)).collect();
    let expanded = Scores::new(&classes, Matrix::RowsF32(&one_by_one)).unwrap();
    for rule in [
        Rule::Match(Match::overall(Reference::Posterior)),
        Rule::Balance(Balance::new(0.9, Match::overall(Reference::Posterior))),
    ] {
        let allotted = rule.allot(&table, &Settings::default()).unwrap();
        let labeled = rule.label(&expanded, &Settings::default()).unwrap();
        assert_eq!(allotted.allotment.counts(), labeled.labels.counts());
        assert_eq!(allotted.joint.unwrap().certificate, labeled.joint.unwrap().certificate);
        for (row, &count) in allotted.allotment.rows().zip(&counts) {
            assert_eq!(row.iter().sum::<u64>(), count);
        }
        let split = allotted.allotment.rows().filter(|row| row.iter().filter(|&&n| n > 0).count() > 1).count();
        assert!(split < k, "a basic solution splits fewer rows than there are classes: {split}");
    }
}

#[test]
fn every_rule_allots_people() {
    let classes = classes(3);
    let scores = [0.5, 0.3, 0.2, 0.1, 0.2, 0.7];
    let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap().with_counts(&[100_000, 7]).unwrap();
    let settings = Settings::default();
    let of = |rule: Rule| rule.allot(&table, &settings).unwrap().allotment;
    assert_eq!(of(Rule::Argmax).row(0), [100_000, 0, 0, 0]);
    assert_eq!(of(Rule::Threshold(Thresholds::at(0.6))).row(0), [0, 0, 0, 100_000]);
    assert_eq!(of(Rule::Balance(Balance::new(1.0, Match::overall(Reference::Uniform)))).row(1), [0, 0, 7, 0]);
    let drawn = of(Rule::Thompson);
    for (found, expected) in drawn.row(0).iter().zip([50_000.0, 30_000.0, 20_000.0, 0.0f64]) {
        // Five standard deviations.
        assert!((*found as f64 - expected).abs() < 5.0 * (expected * 0.7).sqrt() + 0.5, "{:?}", drawn.row(0));
    }
    let top = of(Rule::TopK(2));
    assert_eq!((top.row(0)[2], top.row(1)[0]), (0, 0));
    // The draw of a row with one person is the draw of the row.
    let alone = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
    let labels = Rule::Thompson.label(&alone, &settings).unwrap().labels;
    let single = Rule::Thompson.allot(&alone.clone().with_counts(&[1, 1]).unwrap(), &settings).unwrap().allotment;
    for (row, &label) in labels.values().iter().enumerate() {
        assert_eq!(single.row(row)[usize::from(label)], 1);
    }
}

#[test]
fn batches_lose_something() {
    let Some(voters) = voters() else { return };
    let table = voters.table();
    let settings = Settings { seed: 1, ..Settings::default() };
    let posterior = Match::overall(Reference::Posterior);
    let balance = Balance::new(0.9, posterior.clone());
    let small = Batches { size: 1000, within_groups: false };

    let batched = small.label_balance(&balance, &table, &settings).unwrap();
    assert_eq!(batched.batches, 100);
    assert!(batched.loss() > 1e-5 && batched.loss() < 1e-2, "{}", batched.loss());
    let joint = Rule::Balance(balance.clone()).label(&table, &settings).unwrap().joint.unwrap();
    assert!((joint.gamma_objective.unwrap() - batched.joint_objective).abs() < 1e-12);
    // Larger batches lose less, and a single batch loses nothing.
    let larger = Batches { size: 10_000, ..small }.label_balance(&balance, &table, &settings).unwrap();
    assert!(larger.loss() > 0.0 && larger.loss() < batched.loss());
    let whole = Batches { size: 100_000, ..small }.label_balance(&balance, &table, &settings).unwrap();
    assert_eq!((whole.batches, whole.loss(), whole.count_difference), (1, 0.0, 0));

    // Matched batches round a hundred times, so their counts are close but not exact.
    let matched = small.label_match(&posterior, &table, &settings).unwrap();
    assert!(matched.count_difference > 0 && matched.count_difference < 600, "{}", matched.count_difference);
    let within = Batches { size: 1000, within_groups: true }.label_match(&posterior, &table, &settings).unwrap();
    assert!(within.batches > 100 && within.loss() > 0.0, "{} {}", within.batches, within.loss());
    let by_county = Batches { size: 1000, within_groups: true };
    let by_county = by_county.label_match(&Match::by_group(Reference::Posterior), &table, &settings).unwrap();
    assert_eq!(by_county.labels, within.labels, "the same batches, each matched to its own posterior");
    // Also with coverage and bounds.
    let covered = small.label_match(&posterior.clone().with_coverage(0.8), &table, &settings).unwrap();
    assert_eq!(covered.labels.counts().iter().sum::<u64>(), 80_000);
    let tolerance = Bounds { tolerance: Some(0.01), ..Bounds::default() };
    let bounded = Balance::new(0.95, posterior.clone().with_bounds(tolerance));
    let bounded = small.label_balance(&bounded, &table, &settings).unwrap();
    assert!(bounded.loss() > 0.0, "{}", bounded.loss());
    let argmax = small.label_balance(&Balance::new(1.0, posterior), &table, &settings).unwrap();
    assert_eq!(argmax.loss(), 0.0);
}

/// Corpus-level constraints (Zhao et al. 2017): the most accurate labels whose shares are within a tolerance of the
/// reference.
#[test]
fn corpus_level_constraints_are_bounds() {
    let Some(voters) = voters() else { return };
    let table = voters.table();
    let tolerance = 0.01;
    let bounds = Bounds { tolerance: Some(tolerance), ..Bounds::default() };
    let rule = Rule::Balance(Balance::new(1.0, Match::overall(Reference::Posterior).with_bounds(bounds)));
    let settings = Settings::default();
    let labeled = rule.label(&table, &settings).unwrap();
    assert!(labeled.joint.as_ref().unwrap().certificate.is_closed());
    let options = AuditOptions::default();
    let bias = |rule: &Rule| {
        let labels = rule.label(&table, &settings).unwrap().labels;
        let audit = Audit::of(&table, &labels, &options).unwrap().overall;
        let bias: Vec<f64> =
            audit.classes.iter().map(|class| class.against_posterior.as_ref().unwrap().difference).collect();
        (bias, audit.expected_accuracy.unwrap())
    };
    let (argmax, most) = bias(&Rule::Argmax);
    let (bounded, accuracy) = bias(&rule);
    let (_, least) = bias(&Rule::Match(Match::overall(Reference::Posterior)));
    let worst = |bias: &[f64]| bias.iter().fold(0.0f64, |worst, points| worst.max(points.abs()));
    assert!(worst(&argmax) > 2.0 * tolerance, "argmax breaks them: {argmax:?}");
    assert!(worst(&bounded) <= tolerance + 1e-5 && worst(&bounded) > 0.9 * tolerance, "{bounded:?}");
    assert!(least < accuracy && accuracy < most);
}

/// Calibrated recommendations (Seymen et al. 2021; min-cost flow, WSDM 2023): each user's list is matched to the genres
/// of the user's viewing history.
#[test]
fn calibrated_recommendations_are_matches_by_user() {
    let mut chance = Chance::new(12);
    let (users, k) = (40usize, 5);
    let codes: Vec<u32> = (0..users * 50).map(|row| (row % users) as u32).collect();
    let names: Vec<String> = (0..users).map(|user| format!("user {user}")).collect();
    let scores = continuous(&mut chance, codes.len(), k);
    let watched: BTreeMap<String, Vec<f64>> =
        names.iter().map(|name| (name.clone(), lumpy(&mut chance, 1, k, 50))).collect();
    let classes = classes(k);
    let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
    let table = table.with_groups(Groups { codes: &codes, names: &names }).unwrap();
    let rule = Rule::Match(Match::by_group(Reference::Shares(PerGroup::ByGroup(watched.clone()))));
    let labeled = rule.label(&table, &Settings::default()).unwrap();
    assert!(labeled.joint.unwrap().certificate.is_closed());
    for (user, name) in names.iter().enumerate() {
        let own = |class: usize| {
            let rows = (0..codes.len()).filter(|&row| codes[row] as usize == user);
            rows.filter(|&row| usize::from(labeled.labels.values()[row]) == class).count() as f64
        };
        let expected: Vec<f64> = watched[name].iter().map(|share| (share * 50.0).round()).collect();
        assert_eq!((0..k).map(own).collect::<Vec<_>>(), expected, "{name}");
    }
}

/// Uniform parity: equal counts for all classes.
#[test]
fn uniform_parity_is_a_reference() {
    let mut chance = Chance::new(13);
    let scores = continuous(&mut chance, 10_003, 4);
    let classes = classes(4);
    let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
    let labeled = Rule::Match(Match::overall(Reference::Uniform)).label(&table, &Settings::default()).unwrap();
    let mut counts = labeled.labels.counts();
    counts.sort_unstable();
    assert_eq!(counts, [2500, 2501, 2501, 2501]);
}
