//! Tests of prices from a sample: they equal those of an exact solution, depend on keys and not on row order, and have
//! the error of a sample. Tests of drift: chance and real deviations.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use apportion::audit::*;
use apportion::decision::*;
use apportion::rule::*;
use apportion::*;
use common::*;
use proptest::prelude::*;

const SETTINGS: Settings = Settings { seed: 5, simd: SimdLevel::Baseline };

fn posterior() -> Match {
    Match::overall(Reference::Posterior)
}

fn from_sample(rows: usize) -> Rule {
    Rule::FromSample(FromSample { joint: JointRule::Match(posterior()), rows })
}

fn agreement(one: &Labels, other: &Labels) -> f64 {
    let same = one.values().iter().zip(other.values()).filter(|(a, b)| a == b).count();
    same as f64 / one.values().len() as f64
}

#[test]
fn counts_are_near() {
    let (classes, values) = (classes(6), normal(&mut Chance::new(1), 200_000, 0.5));
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let exact = Rule::Match(posterior()).label(&scores, &SETTINGS).unwrap();
    for (rows, least) in [(1_000, 0.97), (10_000, 0.99), (100_000, 0.997)] {
        let near = from_sample(rows).label(&scores, &SETTINGS).unwrap();
        assert!(near.joint.is_none());
        let same = agreement(&near.labels, &exact.labels);
        assert!(same > least && same < 1.0, "{rows} rows: {same}");
    }
    let targets = JointRule::Match(posterior()).targets(&scores).unwrap();
    assert_eq!(targets, exact.joint.unwrap().targets);
}

#[test]
fn a_sample_of_all_is_the_exact_rule() {
    let (classes, values) = (classes(4), lumpy(&mut Chance::new(2), 3_000, 4, 20));
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let exact = Rule::Match(posterior()).label(&scores, &SETTINGS).unwrap();
    let all = from_sample(3_000).label(&scores, &SETTINGS).unwrap();
    assert_eq!((&all.labels, &all.decision), (&exact.labels, &exact.decision));
    assert!(all.joint.is_some());
    // The fit draws all rows, in its own order.
    assert_eq!(from_sample(5_000).fit(&scores, &SETTINGS).unwrap(), exact.decision);
}

#[test]
fn which_rows_are_drawn_depends_on_keys_alone() {
    let (classes, values) = (classes(5), continuous(&mut Chance::new(3), 20_000, 5));
    let keys: Vec<u64> = (0..20_000).map(|row| seed::key_of_text(&row.to_string())).collect();
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap().with_keys(Keys::Given(&keys)).unwrap();
    let expected = from_sample(2_000).label(&scores, &SETTINGS).unwrap();
    let mut order: Vec<usize> = (0..20_000).collect();
    Chance::new(4).shuffle(&mut order);
    let mixed: Vec<f64> = order.iter().flat_map(|&row| values[row * 5..][..5].to_vec()).collect();
    let mixed_keys: Vec<u64> = order.iter().map(|&row| keys[row]).collect();
    let mixed = Scores::new(&classes, Matrix::RowsF64(&mixed)).unwrap().with_keys(Keys::Given(&mixed_keys)).unwrap();
    let found = from_sample(2_000).label(&mixed, &SETTINGS).unwrap();
    assert_eq!(found.decision, expected.decision);
    assert!(order.iter().zip(found.labels.values()).all(|(&row, label)| expected.labels.values()[row] == *label));
    let other = from_sample(2_000).fit(&scores, &Settings { seed: 6, ..SETTINGS }).unwrap();
    assert_ne!(other.fitted(), expected.decision.fitted());
}

#[test]
fn one_key_for_all_rows_is_no_trouble() {
    let (classes, values) = (classes(3), continuous(&mut Chance::new(5), 5_000, 3));
    let keys = vec![7; 5_000];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap().with_keys(Keys::Given(&keys)).unwrap();
    assert_eq!(from_sample(100).label(&scores, &SETTINGS).unwrap().labels.values().len(), 5_000);
}

#[test]
fn rows_that_stand_for_people_have_prices_too() {
    let (classes, values) = (classes(4), continuous(&mut Chance::new(6), 20_000, 4));
    let counts: Vec<u64> = (0..20_000).map(|row| row % 4).collect();
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap().with_counts(&counts).unwrap();
    let allotted = from_sample(5_000).allot(&scores, &SETTINGS).unwrap();
    let targets = JointRule::Match(posterior()).targets(&scores).unwrap();
    for (count, target) in allotted.allotment.counts().iter().zip(&targets) {
        assert!((*count as f64 / *target as f64 - 1.0).abs() < 0.1, "{count} for {target}");
    }
    let whole = from_sample(20_000).allot(&scores, &SETTINGS).unwrap();
    assert_eq!(whole.allotment.counts(), targets);
}

#[test]
fn what_a_sample_cannot_tell_is_refused() {
    let (classes, values) = (classes(2), vec![0.5; 20]);
    let names = ["a".to_owned()];
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let scores = scores.with_groups(Groups { codes: &[0; 10], names: &names }).unwrap();
    let refused = |matching: Match, rows: usize| {
        let rule = Rule::FromSample(FromSample { joint: JointRule::Match(matching), rows });
        rule.fit(&scores, &SETTINGS).unwrap_err().to_string()
    };
    assert!(refused(Match::by_group(Reference::Posterior), 5).contains("match by group on all rows"));
    assert!(refused(posterior(), 0).contains("at least 1"));
    let targets = Match::overall(Reference::Targets(PerGroup::Overall(vec![5, 5])));
    assert!(refused(targets, 5).contains("give shares"));
    let at_least = [("c0".to_owned(), Bound::Count(3))].into_iter().collect();
    let bounds = Bounds { at_least, ..Bounds::default() };
    assert!(refused(posterior().with_bounds(bounds), 5).contains("20%"));
}

#[test]
fn a_bad_row_of_the_sample_is_named_by_its_place() {
    let classes = classes(2);
    let mut values = vec![0.5; 2_000];
    values[2 * 700] = 0.9;
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    for rows in [500, 900] {
        let said = from_sample(rows).label(&scores, &SETTINGS).unwrap_err().to_string();
        assert!(said.starts_with("row 700: "), "{said}");
    }
}

/// Returns the drift of a decision's labels on some rows.
fn drift(decision: &Decision, values: &[f64]) -> Drift {
    let scores = Scores::new(decision.classes(), Matrix::RowsF64(values)).unwrap();
    let label_summary = Section::summary(&scores, &decision.apply(&scores).unwrap()).unwrap();
    decision.drift(&scores, &label_summary).unwrap().unwrap()
}

fn fitted(rule: &Rule, values: &[f64], sample: Option<u64>) -> Decision {
    let classes = classes(6);
    let scores = Scores::new(&classes, Matrix::RowsF64(values)).unwrap();
    let people = scores.people();
    let fit_info = FitInfo { people, sample, expected_shares: Some(ExpectedShares::Posterior), ..FitInfo::default() };
    rule.fit(&scores, &SETTINGS).unwrap().with_fit_info(fit_info)
}

#[test]
fn drift_is_told_from_chance() {
    let exact = fitted(&Rule::Match(posterior()), &normal(&mut Chance::new(20), 20_000, 0.5), None);
    let sampled = fitted(&from_sample(2_000), &normal(&mut Chance::new(20), 20_000, 0.5), Some(2_000));
    let false_alarms = |decision: &Decision| {
        let likes = (21..61).map(|seed| normal(&mut Chance::new(seed), 20_000, 0.5));
        likes.filter(|like| !drift(decision, like).beyond().is_empty()).count()
    };
    // Three standard deviations in six classes: one false alarm in sixty.
    assert!(false_alarms(&exact) <= 2, "{}", false_alarms(&exact));
    assert!(false_alarms(&sampled) <= 2, "{}", false_alarms(&sampled));
    // More informative and less informative scores.
    for variance in [0.25, 1.0] {
        let other = drift(&exact, &normal(&mut Chance::new(60), 20_000, variance));
        assert!(!other.beyond().is_empty() && other.misplaced() > 150.0, "{other:?}");
    }
}

#[test]
fn rows_of_the_fit_do_not_drift() {
    let values = normal(&mut Chance::new(70), 5_000, 0.5);
    let drift = drift(&fitted(&Rule::Match(posterior()), &values, None), &values);
    assert!(drift.people.iter().all(|off| off.abs() <= 1.0) && drift.beyond().is_empty(), "{drift:?}");
}

#[test]
fn decisions_without_counts_or_origin_say_nothing_of_drift() {
    let (classes, values) = (classes(6), normal(&mut Chance::new(71), 100, 0.5));
    let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
    let label_summary = Section::summary(&scores, &Rule::Argmax.label(&scores, &SETTINGS).unwrap().labels).unwrap();
    assert_eq!(fitted(&Rule::Argmax, &values, None).drift(&scores, &label_summary).unwrap(), None);
    assert_eq!(Rule::Match(posterior()).fit(&scores, &SETTINGS).unwrap().drift(&scores, &label_summary).unwrap(), None);
}

#[test]
fn what_was_wanted_is_saved() {
    for expected in [
        ExpectedShares::Posterior,
        ExpectedShares::OffsetFromPosterior(vec![0.1, -0.1]),
        ExpectedShares::Shares(vec![0.5, 0.5]),
    ] {
        let fit_info = FitInfo { people: 4, sample: Some(2), expected_shares: Some(expected), ..FitInfo::default() };
        let scores = [0.5; 8];
        let classes = classes(2);
        let scores = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
        let decision = Rule::Match(posterior()).fit(&scores, &SETTINGS).unwrap().with_fit_info(fit_info);
        let json = serde_json::to_string(&decision).unwrap();
        assert_eq!(serde_json::from_str::<Decision>(&json).unwrap(), decision);
        let broken = json.replace("0.1,-0.1", "0.1").replace("0.5,0.5", "0.5");
        assert_eq!(serde_json::from_str::<Decision>(&broken).is_err(), broken != json);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Any sample of any table gives a decision that labels all rows.
    #[test]
    fn any_table_has_prices(seed in 0u64..1000, rows in 1usize..60, k in 1usize..5, sample in 1usize..80, parts in 1u64..8) {
        let (classes, values) = (classes(k), lumpy(&mut Chance::new(seed), rows, k, parts));
        let scores = Scores::new(&classes, Matrix::RowsF64(&values)).unwrap();
        let labeled = from_sample(sample).label(&scores, &SETTINGS).unwrap();
        prop_assert_eq!(&labeled.decision.apply(&scores).unwrap(), &labeled.labels);
    }
}
