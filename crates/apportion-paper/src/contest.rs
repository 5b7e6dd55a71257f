//! All rules at one variance, and how far each lies below the frontier: fig:pareto-simulation, and Theorem 2.

use apportion::simulate::{Normal, PAPER_PRIOR};
use apportion::{Frontier, Glance, Match, Point, Reference, Result, Rule, Scores, Settings, Thresholds};

use crate::dataset::Dataset;
#[cfg(doc)]
use crate::information::PARETO_VARIANCES;
use crate::information::{Information, Stop};
use crate::mean::Mean;
use crate::plan::Plan;

/// The place of fig:pareto-simulation's variance, 0.5, among [`PARETO_VARIANCES`].
pub const CONTEST_PLACE: usize = 3;

/// Whether a rule looks at one row at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It does: Theorem 2 is about such rules.
    Independent,
    /// It looks at all rows together, and aims at the posterior.
    Joint,
    /// It looks at all rows together, and aims at something else: it is on another frontier.
    JointElsewhere,
}

/// A rule and what it did, over all datasets.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// Its name.
    pub name: &'static str,
    /// How it looks at rows.
    pub kind: Kind,
    /// The share of labels that are the truth, among those that there are.
    pub accuracy: Mean,
    /// The mean score of the labels.
    pub expected_accuracy: Mean,
    /// −Σ |share − posterior|.
    pub fidelity: Mean,
    /// −Σ |share − truth|.
    pub fidelity_to_truth: Mean,
    /// The share of rows that have a label.
    pub coverage: Mean,
    /// How much more accurate the best labels are that are as faithful. None where some rows have no label, or the rule aims
    /// elsewhere.
    pub below_frontier: Option<Mean>,
}

/// The rules, and the frontier that they are held against.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The variance.
    pub variance: f64,
    /// Mean absolute error of the scores.
    pub mae: Mean,
    /// The rules.
    pub contestants: Vec<Contestant>,
    /// The frontier.
    pub stops: Vec<Stop>,
}

/// The rules of the figure. A rule that is learned from solved batches has its place here, as one more line.
fn rules(frontier: &Frontier) -> Vec<(&'static str, Kind, Rule)> {
    vec![
        ("argmax", Kind::Independent, Rule::Argmax),
        ("threshold 0.8", Kind::Independent, Rule::Threshold(Thresholds::at(0.8))),
        ("thompson", Kind::Independent, Rule::Thompson),
        ("top-2", Kind::Independent, Rule::TopK(2)),
        ("balance γ 0.9", Kind::Joint, frontier.rule(0.9)),
        ("match", Kind::Joint, Rule::Match(Match::overall(Reference::Posterior))),
        ("match to truth", Kind::JointElsewhere, Rule::Match(Match::overall(Reference::Truth))),
    ]
}

/// What a rule did in one dataset.
struct Seen {
    name: &'static str,
    kind: Kind,
    accuracy: f64,
    expected_accuracy: f64,
    fidelity: f64,
    fidelity_to_truth: f64,
    coverage: f64,
    below_frontier: Option<f64>,
}

impl Contest {
    /// Holds the contest in all datasets of a plan, at the variance of a frontier that was found in the same.
    pub fn of(plan: &Plan, frontier: &Information) -> Result<Contest> {
        let seen = plan.each(|seed| one(frontier.variance, plan.rows, seed))?;
        let contestant = |place: usize| {
            let mean = |figure: fn(&Seen) -> f64| Mean::of(seen.iter().map(|rules| figure(&rules[place])));
            let below: Option<Vec<f64>> = seen.iter().map(|rules| rules[place].below_frontier).collect();
            Contestant {
                name: seen[0][place].name,
                kind: seen[0][place].kind,
                accuracy: mean(|seen| seen.accuracy),
                expected_accuracy: mean(|seen| seen.expected_accuracy),
                fidelity: mean(|seen| seen.fidelity),
                fidelity_to_truth: mean(|seen| seen.fidelity_to_truth),
                coverage: mean(|seen| seen.coverage),
                below_frontier: below.map(Mean::of),
            }
        };
        Ok(Contest {
            variance: frontier.variance,
            mae: frontier.mae,
            contestants: (0..seen[0].len()).map(contestant).collect(),
            stops: frontier.stops.clone(),
        })
    }
}

/// All rules in one dataset.
fn one(variance: f64, rows: u64, seed: u64) -> Result<Vec<Seen>> {
    let dataset = Dataset::draw(&Normal::new(&PAPER_PRIOR, variance, seed)?, rows)?;
    let scores = dataset.scores()?;
    let settings = Settings { seed, ..Settings::default() };
    let frontier = Frontier::of(&Match::overall(Reference::Posterior), &scores, &settings)?;
    let points: Vec<Point> = frontier.points().collect();
    let rules = rules(&frontier).into_iter();
    rules.map(|(name, kind, rule)| Seen::of(name, kind, &rule, &scores, &points, &settings)).collect()
}

impl Seen {
    fn of(
        name: &'static str,
        kind: Kind,
        rule: &Rule,
        scores: &Scores<'_>,
        frontier: &[Point],
        settings: &Settings,
    ) -> Result<Seen> {
        let glance = Glance::at(scores, &rule.label(scores, settings)?.labels)?;
        let comparable = kind != Kind::JointElsewhere && glance.labelled == glance.people;
        Ok(Seen {
            name,
            kind,
            // None of these is missing where there are rows, and all rows have a truth; nobody labelled is nobody right.
            accuracy: glance.accuracy.unwrap_or_default(),
            expected_accuracy: glance.expected_accuracy.unwrap_or_default(),
            fidelity: glance.fidelity_to_posterior.unwrap_or_default(),
            fidelity_to_truth: glance.fidelity_to_truth.unwrap_or_default(),
            coverage: glance.labelled as f64 / glance.people as f64,
            below_frontier: comparable.then(|| below_frontier(frontier, &glance)),
        })
    }
}

/// How much more accurate the frontier is than labels of all rows, at the fidelity that they have: never below zero, but for
/// rounding.
///
/// Fidelity is here that to the end of the frontier, the posterior in whole people, as it is along the frontier.
pub fn below_frontier(frontier: &[Point], labels: &Glance) -> f64 {
    let (Some(first), Some(last)) = (frontier.first(), frontier.last()) else { return 0.0 };
    let off: u64 = labels.counts.iter().zip(&last.counts).map(|(count, target)| count.abs_diff(*target)).sum();
    let fidelity = -(off as f64) / labels.people as f64;
    let next = frontier.partition_point(|point| point.fidelity < fidelity);
    let best = match (next.checked_sub(1).map(|before| &frontier[before]), frontier.get(next)) {
        (None, _) => first.accuracy,
        (_, None) => last.accuracy,
        // The frontier is concave: what lies between two of its points cannot be above the line that joins them.
        (Some(before), Some(after)) => {
            let part = (fidelity - before.fidelity) / (after.fidelity - before.fidelity);
            before.accuracy + part * (after.accuracy - before.accuracy)
        }
    };
    best - labels.expected_accuracy.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use apportion::{Classes, Labels, Matrix};

    /// All labellings of six people: none is above the frontier, and each point of the frontier is on it.
    #[test]
    fn no_labels_lie_above_the_frontier() -> Result<()> {
        let classes = Classes::new(["a", "b", "c"])?;
        let q = [0.8, 0.15, 0.05, 0.7, 0.25, 0.05, 0.6, 0.35, 0.05, 0.55, 0.4, 0.05, 0.2, 0.75, 0.05, 0.5, 0.3, 0.2];
        let scores = Scores::new(&classes, Matrix::RowsF64(&q))?;
        let frontier = Frontier::of(&Match::overall(Reference::Posterior), &scores, &Settings::default())?;
        let points: Vec<Point> = frontier.points().collect();
        let mut least = f64::INFINITY;
        for number in 0..3u32.pow(6) {
            let labels = (0..6).map(|row| (number / 3u32.pow(row) % 3) as u8).collect();
            let below = below_frontier(&points, &Glance::at(&scores, &Labels::new(labels, &classes)?)?);
            assert!(below > -1e-11, "{number}: {below}");
            least = least.min(below);
        }
        assert!(least < 1e-11);
        for point in &points {
            let labels = frontier.rule(point.to_gamma).label(&scores, &Settings::default())?.labels;
            assert!(below_frontier(&points, &Glance::at(&scores, &labels)?).abs() < 1e-11);
        }
        Ok(())
    }
}
