//! Scores that are stored elsewhere and read in parts give the same results as scores in memory.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use apportion::audit::*;
use apportion::rule::*;
use apportion::*;
use common::*;

/// Slightly more rows than two reads.
const ROWS: usize = 2 * 65_536 + 1_234;
const K: usize = 4;

/// A store in memory that can fail from a given row on.
#[derive(Debug)]
struct Kept<T> {
    values: Vec<T>,
    most_bytes: usize,
    breaks_at: usize,
}

impl<T: Copy + std::fmt::Debug + Sync> Store<T> for Kept<T> {
    fn rows(&self) -> usize {
        self.values.len() / K
    }

    fn read(&self, first: usize, into: &mut [T]) -> Result<()> {
        if first + into.len() / K > self.breaks_at {
            return Err(Error::Store { problem: "the disk is gone".into() });
        }
        into.copy_from_slice(&self.values[first * K..][..into.len()]);
        Ok(())
    }

    fn most_bytes(&self) -> usize {
        self.most_bytes
    }
}

fn kept<T>(values: Vec<T>, most_bytes: usize) -> Kept<T> {
    Kept { values, most_bytes, breaks_at: usize::MAX }
}

struct People {
    values: Vec<f32>,
    groups: Vec<u32>,
    names: Vec<String>,
    truth: Vec<Label>,
    counts: Vec<u64>,
}

/// Creates continuous scores with many equal rows.
fn people() -> People {
    let mut chance = Chance::new(17);
    let mut values = single(&continuous(&mut chance, ROWS / 2, K));
    values.extend(single(&lumpy(&mut chance, ROWS - ROWS / 2, K, 12)));
    People {
        values,
        groups: (0..ROWS).map(|_| chance.below(6).pow(2) as u32 / 2).collect(),
        names: (0..13).map(|group| format!("county {group}")).collect(),
        truth: (0..ROWS).map(|_| chance.below(K as u64) as Label).collect(),
        counts: (0..ROWS).map(|_| chance.below(4)).collect(),
    }
}

impl People {
    fn scores<'a>(&'a self, classes: &'a Classes, matrix: Matrix<'a>) -> Scores<'a> {
        let groups = Groups { codes: &self.groups, names: &self.names };
        Scores::new(classes, matrix).unwrap().with_groups(groups).unwrap().with_truth(&self.truth).unwrap()
    }
}

fn rules() -> Vec<Rule> {
    let posterior = || Match::overall(Reference::Posterior);
    let by_group = || Match::by_group(Reference::Posterior);
    let tolerance = Bounds { tolerance: Some(0.01), ..Bounds::default() };
    vec![
        Rule::Argmax,
        Rule::Threshold(Thresholds::at(0.6)),
        Rule::Thompson,
        Rule::TopK(2),
        Rule::Match(posterior()),
        Rule::Match(Match::overall(Reference::Truth)),
        Rule::Match(posterior().with_coverage(0.7)),
        Rule::Match(by_group()),
        Rule::Match(Match::by_group(Reference::Truth)),
        Rule::Match(Match::by_group(Reference::Uniform).with_bounds(tolerance)),
        Rule::Balance(Balance::new(0.9, posterior())),
        Rule::Balance(Balance::new(0.95, by_group())),
        Rule::Balance(Balance::new(0.9, posterior()).with_penalty(Penalty::L2)),
    ]
}

#[test]
fn labels_decisions_and_proofs_are_those_of_memory() {
    let (people, classes) = (people(), classes(K));
    let doubles: Vec<f64> = people.values.iter().map(|&value| f64::from(value)).collect();
    // Memory for all groups at once, and for hardly one.
    let (singles, crowded) = (kept(people.values.clone(), usize::MAX), kept(doubles, 100_000));
    let expected = people.scores(&classes, Matrix::RowsF32(&people.values));
    for rule in rules() {
        let expected = rule.label(&expected, &Settings::default()).unwrap();
        for matrix in [Matrix::StoredF32(&singles), Matrix::StoredF64(&crowded)] {
            let scores = people.scores(&classes, matrix);
            let found = rule.label(&scores, &Settings::default()).unwrap();
            assert_eq!(found.labels, expected.labels, "{rule:?}");
            assert_eq!(found.decision, expected.decision, "{rule:?}");
            let proof = |labeled: &Labeled| labeled.joint.as_ref().map(|joint| joint.certificate);
            assert_eq!(proof(&found), proof(&expected), "{rule:?}");
            assert_eq!(found.decision.apply(&scores).unwrap(), expected.labels, "{rule:?}");
        }
    }
}

#[test]
fn the_frontier_nested_targets_cells_and_the_audit_are_those_of_memory() {
    let (people, classes) = (people(), classes(K));
    let store = kept(people.values.clone(), 100_000);
    let memory = people.scores(&classes, Matrix::RowsF32(&people.values));
    let stored = people.scores(&classes, Matrix::StoredF32(&store));
    let settings = Settings::default();

    let aim = Match::by_group(Reference::Posterior);
    let points = |scores: &Scores<'_>| Frontier::of(&aim, scores, &settings).unwrap().thinned(50).points;
    assert_eq!(points(&stored), points(&memory));

    let states: Vec<u32> = (0..people.names.len()).map(|group| group as u32 / 5).collect();
    let rule = Rule::Match(Match::nested(Reference::Posterior, states));
    let label = |scores: &Scores<'_>| rule.label(scores, &settings).unwrap().labels;
    assert_eq!(label(&stored), label(&memory));

    let cells = |scores: Scores<'_>| {
        let scores = scores.with_counts(&people.counts).unwrap();
        let allotted = Rule::Match(aim.clone()).allot(&scores, &settings).unwrap();
        (allotted.allotment, allotted.joint.unwrap().certificate)
    };
    assert_eq!(cells(stored.clone()), cells(memory.clone()));

    let audit = |scores: &Scores<'_>| Audit::of(scores, &label(scores), &AuditOptions::default()).unwrap();
    assert_eq!(format!("{:?}", audit(&stored)), format!("{:?}", audit(&memory)));
}

#[test]
fn percentages_are_divided_and_rows_normalized() {
    let (people, classes) = (people(), classes(K));
    for (factor, scaling) in [(100.0, Scaling::Percent), (3.0, Scaling::Normalize)] {
        let values: Vec<f32> = people.values.iter().map(|value| value * factor).collect();
        let store = kept(values.clone(), 1 << 20);
        for rule in [Rule::Match(Match::by_group(Reference::Posterior)), Rule::Argmax] {
            let label = |matrix| rule.label(&people.scores(&classes, matrix).scaled(scaling), &Settings::default());
            let (found, expected) = (label(Matrix::StoredF32(&store)), label(Matrix::RowsF32(&values)));
            assert_eq!(found.unwrap().labels, expected.unwrap().labels);
        }
    }
}

#[test]
fn what_cannot_be_read_and_what_is_no_score_is_told() {
    let (mut people, classes) = (people(), classes(K));
    let gone = Kept { breaks_at: 100_000, ..kept(people.values.clone(), 1 << 20) };
    let index = ROWS - 100;
    people.values[index * K + 2] = f32::NAN;
    let bad = kept(people.values.clone(), 1 << 20);
    for rule in rules() {
        let refused =
            |store| rule.label(&people.scores(&classes, Matrix::StoredF32(store)), &Settings::default()).unwrap_err();
        assert!(matches!(refused(&gone), Error::Store { .. }), "{rule:?}");
        assert!(matches!(refused(&bad), Error::NotFinite { row, .. } if row == index), "{rule:?}");
    }
}
