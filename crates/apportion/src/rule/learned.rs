//! Learned: the paper's data-driven thresholds. A joint rule is solved on a sample of the rows, a model learns its
//! labels from the scores, and then labels all rows.
//!
//! Prices from a sample ([`FromSample`](super::FromSample)) do the same more directly; this rule reproduces the
//! paper, and serves users who want a familiar model.

use super::Settings;
use super::joint_rule::JointRule;
use super::sample::Sample;
use crate::decision::{Decision, Fitted};
use crate::error::{Error, Result};
use crate::kernel::GRID;
use crate::learn::{Learner, Model, TrainingSet};
use crate::scores::Scores;

/// Labels by a model trained on the labels of a joint rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The rule that is solved on the training rows.
    pub joint: JointRule,
    /// The learner.
    pub learner: Learner,
    /// Number of training rows, drawn by seed and key; all rows if the table has no more.
    pub train_rows: usize,
}

impl Learned {
    /// The number of training rows in the paper.
    pub const TRAIN_ROWS: usize = 10_000;

    /// Trains a linear support vector machine on 10,000 rows.
    pub fn new(joint: JointRule) -> Learned {
        Learned { joint, learner: Learner::default(), train_rows: Self::TRAIN_ROWS }
    }

    /// Sets the learner.
    pub fn with_learner(mut self, learner: Learner) -> Learned {
        self.learner = learner;
        self
    }

    /// Sets the number of training rows.
    pub fn with_train_rows(mut self, rows: usize) -> Learned {
        self.train_rows = rows;
        self
    }

    pub(super) fn fit(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Decision> {
        self.joint.check_sample("learned", self.train_rows)?;
        if scores.counts().is_some() {
            let why = "match may split such a row between classes, so it has no single label to learn; use match, or a sample";
            return Err(Error::Incompatible { one: "learned", other: "rows of several people", why });
        }
        if self.joint.matching().coverage.is_some() {
            let why = "a model labels every row; use match with coverage";
            return Err(Error::Incompatible { one: "learned", other: "coverage", why });
        }
        if scores.rows() == 0 {
            return Err(Error::Parameter {
                what: "the number of rows to train on".into(),
                value: 0.0,
                range: "at least 1",
            });
        }
        let sample = Sample::draw(scores, self.train_rows, settings.seed)?;
        let sample = sample.scores()?;
        let labels = self.joint.rule().label(&sample, settings)?.labels;
        let mut values = Vec::with_capacity(sample.rows() * scores.classes().len());
        sample.read_rows(0..sample.rows(), |_, row| {
            values.extend(row.iter().map(|&units| GRID.value(units)));
            Ok(())
        })?;
        let training_set = TrainingSet { scores: &values, labels: labels.values(), classes: scores.classes().len() };
        let model = Model::learn(self.learner, &training_set, settings.seed);
        Decision::new(scores.classes().clone(), settings.seed, Fitted::Learned(model))
    }
}
