//! Tests of drift by group: rows of the same population raise no alarm, whatever the size of the groups, and a small
//! class that loses its labels does.
#![allow(clippy::unwrap_used)] // also in helper functions

mod common;

use apportion::audit::*;
use apportion::decision::*;
use apportion::rule::*;
use apportion::*;
use common::*;

/// People in groups that differ in the shares of their classes.
struct Population {
    shares: Vec<f64>,
    variance: f64,
    groups: usize,
}

/// Rows of a population.
struct Rows {
    values: Vec<f64>,
    codes: Vec<u32>,
}

impl Population {
    /// Draws rows for each group.
    fn draw(&self, chance: &mut Chance, rows: usize) -> Rows {
        let mut drawn = Rows { values: Vec::new(), codes: Vec::new() };
        for group in 0..self.groups {
            let mut own = Chance::new(group as u64);
            let weights: Vec<f64> = self.shares.iter().map(|share| share * (2.0 * own.unit() - 1.0).exp()).collect();
            let all: f64 = weights.iter().sum();
            let shares: Vec<f64> = weights.iter().map(|weight| weight / all).collect();
            (0..rows).for_each(|_| drawn.values.extend(normal_row(chance, &shares, self.variance)));
            drawn.codes.extend(std::iter::repeat_n(group as u32, rows));
        }
        drawn
    }
}

impl Rows {
    /// Calls a function with these rows as scores.
    fn with<T>(&self, k: usize, use_scores: impl FnOnce(&Scores<'_>) -> T) -> T {
        let names: Vec<String> = (0..=self.codes.iter().copied().max().unwrap()).map(|code| code.to_string()).collect();
        let classes = classes(k);
        let scores = Scores::new(&classes, Matrix::RowsF64(&self.values)).unwrap();
        use_scores(&scores.with_groups(Groups { codes: &self.codes, names: &names }).unwrap())
    }
}

/// Fits match by group, with the information that the job `fit` saves.
fn fitted(scores: &Scores<'_>) -> Decision {
    let labeled = Rule::Match(Match::by_group(Reference::Posterior)).label(scores, &Settings::default()).unwrap();
    let summary = Section::summary(scores, &labeled.labels).unwrap();
    let people = scores.people();
    let offsets = summary.classes.iter().map(|class| (class.labels as f64 - class.posterior_sum) / people as f64);
    labeled.decision.with_fit_info(FitInfo {
        people,
        expected_shares: Some(ExpectedShares::OffsetFromPosterior(offsets.collect())),
        single_members: labeled.joint.unwrap().single_members(),
        ..FitInfo::default()
    })
}

fn drift(decision: &Decision, scores: &Scores<'_>) -> Drift {
    let summary = Section::summary(scores, &decision.apply(scores).unwrap()).unwrap();
    decision.drift(scores, &summary).unwrap().unwrap()
}

#[test]
fn rows_of_the_same_population_raise_no_alarm() {
    let (mut alarms, mut trials) = (0, 0);
    // The last classes of the second list are lost by rounding in small groups.
    for shares in [vec![0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125], vec![0.7, 0.28, 0.01, 0.01]] {
        for (groups, rows) in [(1, 300), (20, 15), (20, 80), (100, 8), (100, 16)] {
            for variance in [0.2, 0.5] {
                let population = Population { shares: shares.clone(), variance, groups };
                for seed in 0..5 {
                    let mut chance = Chance::new(seed);
                    let decision = population.draw(&mut chance, rows).with(shares.len(), fitted);
                    for rows in [rows / 4, rows, 2 * rows] {
                        let other = population.draw(&mut chance, rows);
                        let drift = other.with(shares.len(), |scores| drift(&decision, scores));
                        alarms += usize::from(!drift.beyond().is_empty());
                        trials += 1;
                    }
                }
            }
        }
    }
    assert!(trials == 300 && alarms <= 5, "{alarms} of {trials}");
}

/// In 100 groups of 30 people, 32 belong to a third class. The scores of other rows no longer tell who they are.
#[test]
fn a_small_class_without_labels_is_drift() {
    const FIRST: [f64; 2] = [0.55, 0.44];
    let row = |third: f64, index: usize| {
        let rest = 1.0 - third;
        let first = if index.is_multiple_of(2) { FIRST[0] } else { FIRST[1] };
        [first * rest, (1.0 - first) * rest, third]
    };
    // One of the class in each of 32 groups, and four of it in each of 8 groups.
    for (groups, each) in [(32, 1), (8, 4)] {
        let is_third = |index: usize| index / 30 < groups && index % 30 < each;
        let codes: Vec<u32> = (0..3_000).map(|index| index / 30).collect();
        let values = (0..3_000).flat_map(|index| row(if is_third(index) { 0.95 } else { 0.0005 }, index)).collect();
        let known = Rows { values, codes: codes.clone() };
        let share = 32.0 / 3_000.0;
        let unknown = Rows { values: (0..3_000).flat_map(|index| row(share, index)).collect(), codes };
        let decision = known.with(3, fitted);
        assert_eq!(known.with(3, |scores| drift(&decision, scores)).beyond(), Vec::<usize>::new());
        let found = unknown.with(3, |scores| drift(&decision, scores));
        assert!((found.people[2] + 32.0).abs() < 1.0, "{found:?}");
        assert!(found.beyond().contains(&2), "{found:?}");
    }
}

#[test]
fn the_worst_class_comes_first() {
    let shares = vec![0.4, 0.3, 0.2, 0.1];
    let sharp = Population { shares: shares.clone(), variance: 0.1, groups: 3 };
    let blurred = Population { shares, variance: 2.0, groups: 3 };
    let decision = sharp.draw(&mut Chance::new(1), 300).with(4, fitted);
    let drift = blurred.draw(&mut Chance::new(2), 300).with(4, |scores| drift(&decision, scores));
    let ratio = |class: usize| drift.people[class].abs() / drift.explained[class];
    let beyond = drift.beyond();
    assert!(beyond.len() > 1 && beyond.windows(2).all(|pair| ratio(pair[0]) >= ratio(pair[1])), "{drift:?}");
    assert!((0..4).all(|class| beyond.contains(&class) == (ratio(class) > 1.0)), "{drift:?}");
}

/// Decisions by group that were saved without an offset keep their wide limits.
#[test]
fn older_decisions_expect_the_scores() {
    let population = Population { shares: vec![0.7, 0.28, 0.01, 0.01], variance: 0.5, groups: 20 };
    let rows = population.draw(&mut Chance::new(1), 15);
    rows.with(4, |scores| {
        let old = FitInfo { people: 300, expected_shares: Some(ExpectedShares::Posterior), ..FitInfo::default() };
        let old = fitted(scores).with_fit_info(old);
        assert!(drift(&old, scores).explained.iter().all(|&explained| explained > 21.0));
        let json = serde_json::to_string(&old).unwrap();
        assert!(!json.contains("single_members"), "{json}");
        assert_eq!(serde_json::from_str::<Decision>(&json).unwrap(), old);
    });
}
