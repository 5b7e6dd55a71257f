//! The agreement of each learner, trained on one batch, with the labels of match; about 99% in the paper.

use apportion::audit::Section;
use apportion::learn::Learner;
use apportion::rule::{JointRule, Learned};
use apportion::simulate::{Normal, PAPER_PRIOR};
use apportion::{Frontier, Labels, Match, Reference, Result, Rule, Scores, Settings, seed};

use crate::dataset::Dataset;
use crate::plan::Plan;

/// Separates the seed of this dataset from all others.
const LESSONS: u64 = 0x7061_7065_0000_0002;

/// The number of rows labeled per training row.
const ROWS_PER_LESSON: u64 = 10;

/// A trained model, and its results on all rows.
#[derive(Clone, Debug)]
pub struct Pupil {
    /// The name of the learner.
    pub name: &'static str,
    /// The number of rows that were solved exactly and used for training.
    pub batch: u64,
    /// The number of rows labeled, including the training rows.
    pub rows: u64,
    /// The share of rows with the same label as match.
    pub agreement: f64,
    /// −Σ |share − posterior|.
    pub fidelity: f64,
    /// How much more accurate the best labels with equally close counts would be in expectation.
    pub frontier_gap: f64,
}

/// Runs all learners on one dataset of a variance. There is only one, because forests are slow; it is large, so that a
/// batch of the paper's size is a small part of it.
pub(crate) fn pupils(plan: &Plan, variance: f64) -> Result<Vec<Pupil>> {
    let batch = (Learned::TRAIN_ROWS as u64).min(2 * plan.rows);
    let seed = seed::hash(plan.seed, 0, LESSONS);
    let dataset = Dataset::draw(&Normal::new(&PAPER_PRIOR, variance, seed)?, ROWS_PER_LESSON * batch)?;
    let scores = dataset.scores()?;
    let settings = Settings { seed, ..Settings::default() };
    let posterior = Match::overall(Reference::Posterior);
    let exact = Rule::Match(posterior.clone()).label(&scores, &settings)?.labels;
    let frontier = Frontier::of(&posterior, &scores, &settings)?;
    let pupil = |(name, learner)| {
        let rule =
            Learned::new(JointRule::Match(posterior.clone())).with_learner(learner).with_train_rows(batch as usize);
        let labels = Rule::Learned(rule).label(&scores, &settings)?.labels;
        Pupil::of(name, batch, &scores, &labels, &exact, &frontier)
    };
    [("svm", Learner::Svm), ("logistic", Learner::Logistic), ("forest", Learner::Forest)]
        .into_iter()
        .map(pupil)
        .collect()
}

impl Pupil {
    fn of(
        name: &'static str,
        batch: u64,
        scores: &Scores<'_>,
        labels: &Labels,
        exact: &Labels,
        frontier: &Frontier,
    ) -> Result<Pupil> {
        let summary = Section::summary(scores, labels)?;
        let same = labels.values().iter().zip(exact.values()).filter(|(own, exact)| own == exact).count();
        Ok(Pupil {
            name,
            batch,
            rows: summary.rows,
            agreement: same as f64 / summary.rows as f64,
            // Both exist, because these rules label every row.
            fidelity: summary.fidelity_to_posterior().unwrap_or_default(),
            frontier_gap: frontier.frontier_gap(&summary).unwrap_or_default(),
        })
    }
}
