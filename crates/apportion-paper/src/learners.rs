//! How near each learner comes to the labels of match, from one batch: the paper says on about 99 rows of a hundred.

use apportion::audit::Section;
use apportion::learn::Learner;
use apportion::rule::{JointRule, Learned};
use apportion::simulate::{Normal, PAPER_PRIOR};
use apportion::{Frontier, Labels, Match, Reference, Result, Rule, Scores, Settings, seed};

use crate::dataset::Dataset;
use crate::plan::Plan;

/// Keeps the seed of this dataset apart from all others.
const LESSONS: u64 = 0x7061_7065_0000_0002;

/// For each row that is learned from, so many are labeled.
const ROWS_PER_LESSON: u64 = 10;

/// What was learned, and how it did on all rows.
#[derive(Clone, Debug)]
pub struct Pupil {
    /// What learned.
    pub name: &'static str,
    /// Rows that were solved exactly and learned from.
    pub batch: u64,
    /// Rows that were labeled, those among them.
    pub rows: u64,
    /// The share of rows that have the label that match gives them.
    pub agreement: f64,
    /// −Σ |share − posterior|.
    pub fidelity: f64,
    /// How much more accurate the best labels are that are as faithful.
    pub frontier_gap: f64,
}

/// All learners, on one dataset of a variance. It is one since a forest takes its time, and so large since a batch of the
/// paper's size is to be a small part of it.
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
            // Neither is missing where every row has a label, as by these rules.
            fidelity: summary.fidelity_to_posterior().unwrap_or_default(),
            frontier_gap: frontier.frontier_gap(&summary).unwrap_or_default(),
        })
    }
}
