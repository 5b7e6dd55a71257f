//! The frontier against separate solves at many γ, on voters and on small tables with ties.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use apportion::rule::*;
use apportion::*;
use common::voters::voters;
use common::*;

/// Returns values of γ from 0.5 to 1, denser near 1.
fn gammas() -> impl Iterator<Item = f64> {
    (0..50).map(|index| 1.0 - 0.5 * (f64::from(index) / 49.0).powi(2))
}

fn check(table: &Scores<'_>, aim: &Match, unique: bool, what: &str) {
    let settings = Settings { seed: 3, ..Settings::default() };
    let frontier = Frontier::of(aim, table, &settings).unwrap();
    let points: Vec<Point> = frontier.points().collect();
    assert_eq!(points.len(), frontier.len());
    let people = table.people() as f64;

    // The end points.
    let argmax = Rule::Argmax.label(table, &settings).unwrap();
    assert_eq!(points[0].counts, argmax.labels.counts(), "{what}");
    let matched = Rule::Match(aim.clone()).label(table, &settings).unwrap();
    let joint = matched.joint.unwrap();
    let last = points.last().unwrap();
    assert_eq!(last.counts, matched.labels.counts(), "{what}");
    assert!((last.accuracy - joint.certificate.objective() / people).abs() < 1e-12, "{what}");
    assert_eq!((last.fidelity, last.from_gamma, points[0].to_gamma), (0.0, 0.0, 1.0), "{what}");

    // The points between them.
    for pair in points.windows(2) {
        assert!(pair[1].accuracy <= pair[0].accuracy && pair[1].fidelity > pair[0].fidelity, "{what}: {pair:?}");
        assert!(pair[0].from_gamma == pair[1].to_gamma && pair[1].to_gamma <= pair[0].to_gamma, "{what}: {pair:?}");
    }

    // At a breakpoint two points are equally good, and the more faithful one is chosen.
    for pair in points.windows(2).step_by(points.len() / 40 + 1) {
        // γ = 1 is argmax, even if moving people costs nothing.
        if pair[0].from_gamma == 1.0 {
            continue;
        }
        assert_eq!(frontier.at(pair[0].from_gamma).counts, pair[1].counts, "{what}");
        assert_eq!(frontier.at(pair[1].to_gamma).counts, pair[1].counts, "{what}");
        if unique {
            let labeled = frontier.rule(pair[0].from_gamma).label(table, &settings).unwrap();
            assert_eq!(labeled.labels.counts(), pair[1].counts, "{what}: balance at {}", pair[0].from_gamma);
        }
    }

    // Separate solves.
    for gamma in gammas().filter(|&gamma| gamma < 1.0) {
        let point = frontier.at(gamma);
        assert!(point.from_gamma < gamma && gamma <= point.to_gamma, "{what}: {point:?} at {gamma}");
        let labeled = frontier.rule(gamma).label(table, &settings).unwrap();
        let joint = labeled.joint.unwrap();
        assert!(joint.certificate.is_closed());
        let objective = gamma * point.accuracy + (1.0 - gamma) * point.fidelity;
        assert!((joint.gamma_objective.unwrap() - objective).abs() < 1e-10, "{what}: γ {gamma}");
        // With ties, several counts may be optimal.
        if unique {
            assert_eq!(labeled.labels.counts(), point.counts, "{what}: γ {gamma}");
        }
    }
}

#[test]
fn of_voters_equals_single_solves() {
    let Some(voters) = voters() else { return };
    check(&voters.table(), &Match::overall(Reference::Posterior), true, "voters");
}

#[test]
fn of_voters_by_county_equals_single_solves() {
    let Some(voters) = voters() else { return };
    check(&voters.table(), &Match::by_group(Reference::Posterior), true, "voters by county");
}

#[test]
fn of_small_tables_equals_single_solves() {
    let mut chance = Chance::new(8);
    for case in 0..300 {
        let k = 2 + chance.below(4) as usize;
        let rows = 1 + chance.below(60) as usize;
        let scores = if case % 2 == 0 { continuous(&mut chance, rows, k) } else { lumpy(&mut chance, rows, k, 7) };
        let classes = classes(k);
        let groups: Vec<u32> = (0..rows).map(|_| chance.below(3) as u32).collect();
        let names = ["a", "b", "c"].map(String::from);
        let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
        let table = table.with_groups(Groups { codes: &groups, names: &names }).unwrap();
        let reference = if case % 3 == 0 { Reference::Uniform } else { Reference::Posterior };
        let aim = Match { by_group: case % 5 == 0, ..Match::overall(reference) };
        check(&table, &aim, case % 2 == 0, &format!("case {case}"));
    }
}

/// A class that must be emptied has no price, so the path is not bounded.
#[test]
fn with_a_class_to_be_emptied() {
    let mut chance = Chance::new(9);
    let scores = continuous(&mut chance, 5000, 4);
    let classes = classes(4);
    let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
    let shares = Reference::Shares(PerGroup::Overall(vec![0.0, 0.5, 0.25, 0.25]));
    check(&table, &Match::overall(shares), true, "emptied");
}

#[test]
fn thinned_lines_stay_within_their_error() {
    let mut chance = Chance::new(10);
    let scores = continuous(&mut chance, 20_000, 5);
    let classes = classes(5);
    let table = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap();
    let frontier = Frontier::of(&Match::overall(Reference::Posterior), &table, &Settings::default()).unwrap();
    assert_eq!(frontier.thinned(usize::MAX).points.len(), frontier.len());
    for gamma in [-1.0, 0.0, 0.0001] {
        assert_eq!(frontier.at(gamma).fidelity, 0.0);
    }
    assert_eq!(frontier.at(f64::NAN), frontier.at(1.0));
    for most in [2, 20, 200] {
        let Thinned { points, error } = frontier.thinned(most);
        assert!((most..=most + 2).contains(&points.len()), "{} of {most}", points.len());
        assert_eq!(points.first(), frontier.points().next().as_ref());
        assert_eq!(points.last(), frontier.points().last().as_ref());
        let mut worst: f64 = 0.0;
        for point in frontier.points() {
            let after = points.iter().position(|end| end.fidelity >= point.fidelity).unwrap();
            let (left, right) = (&points[after.saturating_sub(1)], &points[after]);
            let width = right.fidelity - left.fidelity;
            let part = if width > 0.0 { (point.fidelity - left.fidelity) / width } else { 0.0 };
            worst = worst.max((left.accuracy + part * (right.accuracy - left.accuracy) - point.accuracy).abs());
        }
        assert!((worst - error).abs() < 1e-12, "{most}: {worst} is said to be {error}");
    }
}

/// Rows that represent several people have the same frontier as one row per person.
#[test]
fn of_cells_is_that_of_people() {
    let mut chance = Chance::new(11);
    for case in 0..40 {
        let (rows, k) = (20 + chance.below(200) as usize, 2 + chance.below(4) as usize);
        let scores = if case % 2 == 0 { continuous(&mut chance, rows, k) } else { lumpy(&mut chance, rows, k, 16) };
        let counts: Vec<u64> = (0..rows).map(|_| chance.below(6)).collect();
        let people: Vec<f64> =
            scores.chunks(k).zip(&counts).flat_map(|(row, &count)| row.repeat(count as usize)).collect();
        let classes = classes(k);
        let (aim, settings) = (Match::overall(Reference::Posterior), Settings::default());
        let cells = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap().with_counts(&counts).unwrap();
        let people = Scores::new(&classes, Matrix::RowsF64(&people)).unwrap();
        let of = |table: &Scores<'_>| {
            let frontier = Frontier::of(&aim, table, &settings).unwrap();
            frontier.points().map(|point| (point.to_gamma, point.accuracy, point.fidelity)).collect::<Vec<_>>()
        };
        assert_eq!(of(&cells), of(&people), "case {case}");
    }
}
