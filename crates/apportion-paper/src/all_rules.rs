//! All rules at one variance, and the distance of each below the frontier: fig:pareto-simulation and Theorem 2.

use apportion::audit::Section;
use apportion::rule::{JointRule, Learned, Thresholds};
use apportion::simulate::{Normal, PAPER_PRIOR};
use apportion::{Balance, Frontier, Match, Reference, Result, Rule, Scores, Settings};

use crate::dataset::Dataset;
#[cfg(doc)]
use crate::information::PARETO_VARIANCES;
use crate::information::{GAMMAS, Information, Stop};
use crate::mean::Mean;
use crate::plan::Plan;

/// The index in [`PARETO_VARIANCES`] of the variance of fig:pareto-simulation, 0.5.
pub const CONTEST_PLACE: usize = 3;

/// Whether a rule labels each row independently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Labels each row independently; Theorem 2 is about these rules.
    Independent,
    /// Labels all rows jointly, with the posterior as reference.
    Joint,
    /// Labels all rows jointly, with another reference and therefore another frontier.
    JointElsewhere,
    /// Labels each row independently, with a model trained on the labels of a joint rule.
    Learned,
}

/// A rule and its results, averaged over all datasets.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// The name.
    pub name: &'static str,
    /// The kind of rule.
    pub kind: Kind,
    /// The accuracy among labeled rows.
    pub accuracy: Mean,
    /// The mean score of the labels.
    pub expected_accuracy: Mean,
    /// −Σ |share − posterior|.
    pub fidelity: Mean,
    /// −Σ |share − truth|.
    pub fidelity_to_truth: Mean,
    /// The share of labeled rows.
    pub coverage: Mean,
    /// How much more accurate the best labels with equally close counts would be in expectation. `None` if some rows
    /// are unlabeled or the rule has another reference.
    pub frontier_gap: Option<Mean>,
}

/// The rules, and the frontier that they are compared with.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The variance.
    pub variance: f64,
    /// The mean absolute error of the scores.
    pub mae: Mean,
    /// The same, weighted by density: [`Information::mae_by_density`].
    pub mae_by_density: Mean,
    /// The rules.
    pub contestants: Vec<Contestant>,
    /// The learned rule, trained on the labels of balance, at each of [`GAMMAS`].
    pub learned: Vec<Contestant>,
    /// The frontier.
    pub stops: Vec<Stop>,
}

/// Returns the paper's data-driven thresholds: a support vector machine trained on the labels of balance. γ = 0 is
/// match.
pub(crate) fn learned(gamma: f64) -> Rule {
    let posterior = Match::overall(Reference::Posterior);
    Rule::Learned(Learned::new(JointRule::Balance(Balance::new(gamma, posterior))))
}

/// Returns the rules of the figure.
fn rules(frontier: &Frontier) -> Vec<(&'static str, Kind, Rule)> {
    vec![
        ("argmax", Kind::Independent, Rule::Argmax),
        ("threshold 0.8", Kind::Independent, Rule::Threshold(Thresholds::at(0.8))),
        ("thompson", Kind::Independent, Rule::Thompson),
        ("top-2", Kind::Independent, Rule::TopK(2)),
        ("balance γ 0.9", Kind::Joint, frontier.rule(0.9)),
        ("match", Kind::Joint, Rule::Match(Match::overall(Reference::Posterior))),
        ("learned", Kind::Learned, learned(0.0)),
        ("match to truth", Kind::JointElsewhere, Rule::Match(Match::overall(Reference::Truth))),
    ]
}

/// The results of a rule in one dataset.
struct Seen {
    name: &'static str,
    kind: Kind,
    accuracy: f64,
    expected_accuracy: f64,
    fidelity: f64,
    fidelity_to_truth: f64,
    coverage: f64,
    frontier_gap: Option<f64>,
}

impl Contest {
    /// Compares the rules in all datasets of a plan, with a frontier computed from the same datasets and variance.
    pub fn of(plan: &Plan, frontier: &Information) -> Result<Contest> {
        let seen = plan.each(|seed| one(frontier.variance, plan.rows, seed))?;
        let contestant = |rules: &[&Seen]| {
            let mean = |figure: fn(&Seen) -> f64| Mean::of(rules.iter().map(|rule| figure(rule)));
            let below: Option<Vec<f64>> = rules.iter().map(|rule| rule.frontier_gap).collect();
            Contestant {
                name: rules[0].name,
                kind: rules[0].kind,
                accuracy: mean(|seen| seen.accuracy),
                expected_accuracy: mean(|seen| seen.expected_accuracy),
                fidelity: mean(|seen| seen.fidelity),
                fidelity_to_truth: mean(|seen| seen.fidelity_to_truth),
                coverage: mean(|seen| seen.coverage),
                frontier_gap: below.map(Mean::of),
            }
        };
        let over_datasets = |list: fn(&Both) -> &Vec<Seen>| {
            let indices = 0..list(&seen[0]).len();
            indices.map(|index| contestant(&seen.iter().map(|both| &list(both)[index]).collect::<Vec<_>>())).collect()
        };
        Ok(Contest {
            variance: frontier.variance,
            mae: frontier.mae,
            mae_by_density: frontier.mae_by_density,
            contestants: over_datasets(|both| &both.rules),
            learned: over_datasets(|both| &both.learned),
            stops: frontier.stops.clone(),
        })
    }
}

/// The results in one dataset: all rules, and the learned rule at each γ.
struct Both {
    rules: Vec<Seen>,
    learned: Vec<Seen>,
}

/// Runs all rules in one dataset.
fn one(variance: f64, rows: u64, seed: u64) -> Result<Both> {
    let dataset = Dataset::draw(&Normal::new(&PAPER_PRIOR, variance, seed)?, rows)?;
    let scores = dataset.scores()?;
    let settings = Settings { seed, ..Settings::default() };
    let frontier = Frontier::of(&Match::overall(Reference::Posterior), &scores, &settings)?;
    let see =
        |(name, kind, rule): (&'static str, Kind, Rule)| Seen::of(name, kind, &rule, &scores, &frontier, &settings);
    let along = GAMMAS.into_iter().map(|gamma| ("learned", Kind::Learned, learned(gamma)));
    Ok(Both {
        rules: rules(&frontier).into_iter().map(see).collect::<Result<_>>()?,
        learned: along.map(see).collect::<Result<_>>()?,
    })
}

impl Seen {
    fn of(
        name: &'static str,
        kind: Kind,
        rule: &Rule,
        scores: &Scores<'_>,
        frontier: &Frontier,
        settings: &Settings,
    ) -> Result<Seen> {
        let summary = Section::summary(scores, &rule.label(scores, settings)?.labels)?;
        Ok(Seen {
            name,
            kind,
            // These exist, because there are rows and the truth of each is known. Accuracy is 0 if no row is labeled.
            accuracy: summary.accuracy.unwrap_or_default(),
            expected_accuracy: summary.expected_accuracy.unwrap_or_default(),
            fidelity: summary.fidelity_to_posterior().unwrap_or_default(),
            fidelity_to_truth: summary.fidelity_to_truth().unwrap_or_default(),
            coverage: summary.labeled as f64 / summary.people as f64,
            frontier_gap: frontier.frontier_gap(&summary).filter(|_| kind != Kind::JointElsewhere),
        })
    }
}
