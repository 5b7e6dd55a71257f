//! Models that learn labels from scores: the paper's data-driven thresholds.
//!
//! They are small and used only here, so they are implemented here: a linear support vector machine and a multinomial
//! logistic regression, both minimized by `newton` to full precision, and a random forest. A model depends on its
//! training set and the seed, not on the number of threads.

mod forest;
mod linear;
mod logistic;
mod newton;
mod svm;

pub use forest::{Forest, Node};
pub use linear::{Linear, Plane};
pub(crate) use newton::{dot, sum_over};

use crate::error::{Error, Result};
use crate::scores::Label;

/// A learning algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learner {
    /// A linear support vector machine, one class against the rest: squared hinge loss, C = 100, as in liblinear.
    #[default]
    Svm,
    /// Multinomial logistic regression, C = 100.
    Logistic,
    /// A random forest: a hundred trees, fully grown on bootstrap samples.
    Forest,
}

impl Learner {
    /// Returns the name, as in files.
    pub const fn name(self) -> &'static str {
        match self {
            Learner::Svm => "svm",
            Learner::Logistic => "logistic",
            Learner::Forest => "forest",
        }
    }
}

/// A trained model.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "learner", rename_all = "kebab-case")]
pub enum Model {
    /// By a linear support vector machine.
    Svm(Linear),
    /// By logistic regression.
    Logistic(Linear),
    /// By a random forest.
    Forest(Forest),
}

/// The inverse regularization strength, as in liblinear and the paper.
const C: f64 = 100.0;

/// Training rows: their scores, row by row in multiples of 2^-40, and their labels.
pub(crate) struct TrainingSet<'a> {
    pub(crate) scores: &'a [f64],
    pub(crate) labels: &'a [Label],
    /// Number of classes.
    pub(crate) classes: usize,
}

impl TrainingSet<'_> {
    fn row(&self, row: usize) -> &[f64] {
        &self.scores[row * self.classes..][..self.classes]
    }

    /// Returns the classes that occur, in order.
    fn present(&self) -> Vec<Label> {
        (0..self.classes as Label).filter(|label| self.labels.contains(label)).collect()
    }
}

impl Model {
    /// Trains a model. There must be rows.
    pub(crate) fn learn(learner: Learner, training_set: &TrainingSet<'_>, seed: u64) -> Model {
        match learner {
            Learner::Svm => Model::Svm(svm::learn(training_set)),
            Learner::Logistic => Model::Logistic(logistic::learn(training_set)),
            Learner::Forest => Model::Forest(forest::learn(training_set, seed)),
        }
    }

    /// Returns the label of a row in grid units. `votes` is a reusable buffer.
    pub(crate) fn label(&self, row: &[i64], votes: &mut Vec<i64>) -> Label {
        match self {
            Model::Svm(linear) | Model::Logistic(linear) => linear.label(row),
            Model::Forest(forest) => forest.label(row, votes),
        }
    }

    /// Checks a deserialized model, and restores digits that JSON readers may change.
    pub(crate) fn checked(self, classes: usize) -> Result<Model> {
        let checked = match self {
            Model::Svm(linear) => linear.checked(classes).map(Model::Svm),
            Model::Logistic(linear) => linear.checked(classes).map(Model::Logistic),
            Model::Forest(forest) => forest.checked(classes).map(Model::Forest),
        };
        checked.map_err(|problem| Error::Decision { problem: problem.into() })
    }
}
