//! The worked example of the semantics, with scores in single and double precision.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use apportion::audit::*;
use apportion::rule::*;
use apportion::*;

const SCORES: [f64; 18] =
    [0.80, 0.15, 0.05, 0.70, 0.25, 0.05, 0.60, 0.35, 0.05, 0.55, 0.40, 0.05, 0.20, 0.75, 0.05, 0.50, 0.30, 0.20];

struct Expected {
    labels: &'static str,
    counts: [u64; 3],
    accuracy: f64,
    fidelity: f64,
}

fn check(rule: &Rule, expected: &Expected) {
    let classes = Classes::new(["white", "black", "other"]).unwrap();
    let single = common::single(&SCORES);
    for matrix in [Matrix::RowsF64(&SCORES), Matrix::RowsF32(&single)] {
        let scores = Scores::new(&classes, matrix).unwrap();
        let labeled = rule.label(&scores, &Settings::default()).unwrap();
        let letters: String = labeled.labels.values().iter().map(|&label| &classes.name(label)[..1]).collect();
        assert_eq!(letters, expected.labels);
        assert_eq!(labeled.labels.counts(), expected.counts);
        let audit = Audit::of(&scores, &labeled.labels, &AuditOptions::default()).unwrap().overall;
        assert!((audit.expected_accuracy.unwrap() - expected.accuracy).abs() < 5e-7);
        assert!((audit.against_posterior.unwrap().fidelity - expected.fidelity).abs() < 5e-7);
    }
}

#[test]
fn argmax() {
    check(&Rule::Argmax, &Expected { labels: "wwwwbw", counts: [5, 1, 0], accuracy: 0.65, fidelity: -0.55 });
}

#[test]
fn matching() {
    let rule = Rule::Match(Match::overall(Reference::Posterior));
    check(&rule, &Expected { labels: "wwwbbo", counts: [3, 2, 1], accuracy: 0.575, fidelity: -0.183333 });
}

#[test]
fn balance() {
    for (gamma, labels, counts, accuracy, fidelity, objective) in [
        (0.9, "wwwbbw", [4, 2, 0], 0.625, -0.216667, 0.540833),
        (0.95, "wwwwbw", [5, 1, 0], 0.65, -0.55, 0.59),
        (0.5, "wwwbbw", [4, 2, 0], 0.625, -0.216667, 0.204167),
    ] {
        let rule = Rule::Balance(Balance::new(gamma, Match::overall(Reference::Posterior)));
        check(&rule, &Expected { labels, counts, accuracy, fidelity });
        let classes = Classes::new(["white", "black", "other"]).unwrap();
        let scores = Scores::new(&classes, Matrix::RowsF64(&SCORES)).unwrap();
        let joint = rule.label(&scores, &Settings::default()).unwrap().joint.unwrap();
        assert!((joint.gamma_objective.unwrap() - objective).abs() < 5e-7);
        assert!(joint.certificate.is_closed());
    }
}

#[test]
fn threshold() {
    let rule = Rule::Threshold(Thresholds::at(0.7));
    check(&rule, &Expected { labels: "wwUUbU", counts: [2, 1, 0], accuracy: 0.75, fidelity: -0.216667 });
}

#[test]
fn targets_are_three_two_one() {
    let classes = Classes::new(["white", "black", "other"]).unwrap();
    let scores = Scores::new(&classes, Matrix::RowsF64(&SCORES)).unwrap();
    let labeled = Rule::Match(Match::overall(Reference::Posterior)).label(&scores, &Settings::default()).unwrap();
    let joint = labeled.joint.unwrap();
    assert_eq!(joint.targets, [3, 2, 1]);
    assert!(joint.certificate.is_closed());
    assert!((joint.certificate.objective() - 6.0 * 0.575).abs() < 1e-11);
}
