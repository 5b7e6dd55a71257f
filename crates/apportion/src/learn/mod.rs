//! Models that learn labels from scores: the paper's data-driven thresholds.
//!
//! They are small, and this is their only use here, so they are written out: a linear support vector machine and a
//! multinomial logistic regression, both minimised by `newton` to the last digits that count, and a random forest. A model
//! depends on its lesson and the seed alone, not on threads.

mod forest;
mod linear;
mod logistic;
mod newton;
mod svm;

pub use forest::{Forest, Node};
pub use linear::{Linear, Plane};

use crate::error::{Error, Result};
use crate::scores::Label;

/// What learns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Learner {
    /// A linear support vector machine, one class against the rest: squared hinge, C = 100, as liblinear has it.
    #[default]
    Svm,
    /// Multinomial logistic regression, C = 100.
    Logistic,
    /// A random forest: a hundred trees, each grown to the end on a bootstrap of the rows.
    Forest,
}

/// What was learned.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "learner", rename_all = "kebab-case")]
pub enum Model {
    /// By a linear support vector machine.
    Svm(Linear),
    /// By logistic regression.
    Logistic(Linear),
    /// By a random forest.
    Forest(Forest),
}

/// How little mistakes are forgiven, against large weights: the C of liblinear and of the paper.
const C: f64 = 100.0;

/// Rows to learn from: their scores, row by row in multiples of 2^-40, and their labels.
pub(crate) struct TrainingSet<'a> {
    pub(crate) scores: &'a [f64],
    pub(crate) labels: &'a [Label],
    /// How many classes there are.
    pub(crate) classes: usize,
}

impl TrainingSet<'_> {
    fn row(&self, row: usize) -> &[f64] {
        &self.scores[row * self.classes..][..self.classes]
    }

    /// The classes that some row has, in order.
    fn present(&self) -> Vec<Label> {
        (0..self.classes as Label).filter(|label| self.labels.contains(label)).collect()
    }
}

impl Model {
    /// Learns. There must be rows.
    pub(crate) fn learn(learner: Learner, training_set: &TrainingSet<'_>, seed: u64) -> Model {
        match learner {
            Learner::Svm => Model::Svm(svm::learn(training_set)),
            Learner::Logistic => Model::Logistic(logistic::learn(training_set)),
            Learner::Forest => Model::Forest(forest::learn(training_set, seed)),
        }
    }

    /// The label of a row, in units of the grid. `votes` is room that is used again.
    pub(crate) fn label(&self, row: &[i64], votes: &mut Vec<i64>) -> Label {
        match self {
            Model::Svm(linear) | Model::Logistic(linear) => linear.label(row),
            Model::Forest(forest) => forest.label(row, votes),
        }
    }

    /// Refuses what could not have been learned, and puts numbers back that a reader of JSON has off by a digit.
    pub(crate) fn checked(self, classes: usize) -> Result<Model> {
        let checked = match self {
            Model::Svm(linear) => linear.checked(classes).map(Model::Svm),
            Model::Logistic(linear) => linear.checked(classes).map(Model::Logistic),
            Model::Forest(forest) => forest.checked(classes).map(Model::Forest),
        };
        checked.map_err(|problem| Error::Decision { problem: problem.into() })
    }
}
