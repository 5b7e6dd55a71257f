//! Regressions of the outcome on class and controls: the gap of each class to a baseline class among people with equal
//! controls.
//!
//! Linear models are fitted by least squares, logistic models by maximum likelihood. A class enters by labels, by the
//! truth, with the weights of the scores, with the scores as regressors, or drawn from the scores several times
//! ([`Regressions`]). The covariance is robust to heteroskedasticity (HC1), or to correlation within clusters (CR1):
//! A · M · A, with A the inverse of the second derivatives and M the sum over people or clusters of s s', where s is the
//! score of the likelihood. M is multiplied by n / (n − k) for n people and k coefficients; with G clusters by
//! G / (G − 1) · (n − 1) / (n − k). P-values and intervals of linear models use Student's distribution with n − k
//! degrees of freedom (G − 1 with clusters), those of logistic models the normal distribution.
//!
//! With labels, or any other stand-in for the class as regressor, a coefficient is a mixture of the gaps of all classes,
//! weighted by how often the label is wrong; it is not the gap between people of the classes.
//!
//! Sums are in whole multiples of a power of two: results are the same for any row order and number of threads.
//!
//! | file | purpose |
//! |---|---|
//! | `design`, `observe` | columns of the controls; how the people of a row enter a fit |
//! | `pass`, `grid_sums` | passes over the rows, and their sums |
//! | `fit`, `solve` | coefficients and their covariance; linear equations with collinear columns |
//! | `combine`, `distribution` | Rubin's rules; p-values and quantiles |

mod combine;
mod design;
mod distribution;
mod fit;
mod grid_sums;
mod observe;
mod pass;
mod solve;

use crate::audit::Interval;
use crate::error::{Error, Result};
use crate::estimate::outcomes::NO_LEVEL;
use crate::estimate::{Counts, Outcomes};
use crate::label::Labels;
use crate::rule::Allotment;
use crate::scores::{Scores, expect_length};

use design::Design;
use observe::Source;

/// The largest number of levels of a categorical control.
pub const MAX_CONTROL_LEVELS: usize = 100;

/// The largest number of columns of a regression: classes, numeric controls, and levels of categorical controls.
pub const MAX_COLUMNS: usize = 200;

/// The cluster of a row without one.
pub const NO_CLUSTER: u32 = u32::MAX;

/// A model of the outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Least squares; for outcomes of 0 and 1, the linear probability model.
    #[default]
    Linear,
    /// The logistic model, for outcomes of 0 and 1.
    Logistic,
}

impl Model {
    /// Returns the expected outcome.
    #[inline]
    fn mean(self, predictor: f64) -> f64 {
        match self {
            Model::Linear => predictor,
            Model::Logistic => 1.0 / (1.0 + (-predictor).exp()),
        }
    }
}

/// A control: a variable that is held constant. Borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Control<'a> {
    /// The name.
    pub name: &'a str,
    /// The values.
    pub values: ControlValues<'a>,
}

/// The values of a control.
#[derive(Clone, Copy, Debug)]
pub enum ControlValues<'a> {
    /// Numbers; NaN if missing.
    Numbers(&'a [f64]),
    /// Levels, as indices into names, or [`NO_LEVEL`]. Each level except the most frequent one
    /// becomes a column.
    Levels {
        /// The level of each row.
        codes: &'a [u16],
        /// The names of the levels.
        names: &'a [String],
    },
}

impl ControlValues<'_> {
    fn is_missing(self, row: usize) -> bool {
        match self {
            ControlValues::Numbers(numbers) => numbers[row].is_nan(),
            ControlValues::Levels { codes, .. } => codes[row] == NO_LEVEL,
        }
    }
}

/// The parts of a regression that all estimators share.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The outcome: a number, or whether it is one of several levels (see [`Outcomes::counting`]).
    pub outcomes: &'a Outcomes<'a>,
    /// The controls.
    pub controls: &'a [Control<'a>],
    /// The cluster of each row, or [`NO_CLUSTER`].
    pub clusters: Option<&'a [u32]>,
    /// The class that others are compared with.
    pub against: usize,
    /// The model.
    pub model: Model,
}

/// Rows that are not used, by the first reason that applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnusedRows {
    /// Rows without an outcome.
    pub without_outcome: u64,
    /// Rows in which at least one control is missing.
    pub without_control: u64,
    /// Rows in which a control is missing, for each control; a row can be counted for several.
    pub controls: Vec<u64>,
    /// Rows without a cluster.
    pub without_cluster: u64,
    /// Rows with a weight of zero.
    pub without_weight: u64,
}

/// Regressions of one outcome on class and controls. Each method is one estimator.
#[derive(Debug)]
pub struct Regressions<'a> {
    scores: &'a Scores<'a>,
    problem: Problem<'a>,
    design: Design<'a>,
}

/// The result of an estimator.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    /// The classes, in order.
    pub classes: Vec<ClassEffect>,
    /// The columns of the controls, in order.
    pub controls: Vec<ControlEffect>,
    /// The number of people.
    pub people: u64,
    /// The number of clusters, if there are clusters.
    pub clusters: Option<u64>,
    /// The controls that predict the outcome perfectly for some people, so that the logistic model has no estimates.
    pub separated_by: Vec<usize>,
    /// Whether all fits converged; otherwise there are no estimates.
    pub converged: bool,
}

/// A class in a regression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassEffect {
    /// The coefficient of the class minus that of the baseline class; `None` for the baseline and without an estimate.
    pub gap: Option<Effect>,
    /// In the logistic model: the mean difference of the probability between this class and the baseline class, over
    /// the controls of all people of the regression (average marginal effect).
    pub average_effect: Option<Effect>,
    /// Effective sample size: (Σ q)² / Σ q², or the number of people for labels.
    pub effective_n: f64,
    /// Why the coefficient of the class is not determined.
    pub absent: Option<Absent>,
}

/// A column of a control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlEffect {
    /// The index of the control.
    pub control: usize,
    /// The level, compared with the reference level; `None` for a number.
    pub level: Option<usize>,
    /// The people of the level.
    pub people: Option<u64>,
    /// The coefficient.
    pub effect: Option<Effect>,
    /// Why there is no coefficient.
    pub absent: Option<Absent>,
}

/// A coefficient, or another estimate, with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error; `None` if there are not more people than coefficients.
    pub error: Option<f64>,
    /// Its 95% interval.
    pub interval: Option<Interval>,
    /// The p-value of the hypothesis that it is zero.
    pub p_value: Option<f64>,
}

/// Why a coefficient is not determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// There are no people of the class, or the control is the same for everyone.
    Empty,
    /// The column is a combination of other columns.
    Collinear,
    /// All people of the class or level have the same outcome, so that the logistic model has no finite estimate. They
    /// are left out.
    SameOutcome,
    /// The fit has no estimates, because the outcome is predicted perfectly or it did not converge.
    NoFit,
}

impl<'a> Regressions<'a> {
    /// Determines the columns and the rows to use.
    ///
    /// # Errors
    /// If a list has the wrong length, a control has too many levels, there are too many columns, there is only one
    /// cluster, several levels of the outcome are requested, or a logistic model is requested for a number.
    pub fn new(scores: &'a Scores<'a>, problem: Problem<'a>) -> Result<Regressions<'a>> {
        let outcomes = problem.outcomes;
        let classes = scores.classes().len();
        if problem.against >= classes {
            return Err(Error::Code { row: 0, what: "class", code: problem.against, last: classes - 1 });
        }
        if outcomes.measure().shown().len() > 1 {
            let what = "the number of levels of the outcome of a regression".to_owned();
            return Err(Error::Parameter { what, value: outcomes.shown().len() as f64, range: "1" });
        }
        if outcomes.are_numbers() && problem.model == Model::Logistic {
            let why = "the outcome is a number, not 0 or 1; use a linear regression";
            return Err(Error::Incompatible { one: "a logistic regression", other: "this outcome", why });
        }
        let design = Design::of(scores, &problem)?;
        if design.size() > MAX_COLUMNS {
            let what = "the number of columns of a regression (classes, numeric controls and levels)".to_owned();
            return Err(Error::Parameter { what, value: design.size() as f64, range: "at most 200" });
        }
        let own = Regressions { scores, problem, design };
        if own.clusters() == Some(1) {
            let what = "the number of clusters".to_owned();
            return Err(Error::Parameter { what, value: 1.0, range: "at least 2" });
        }
        Ok(own)
    }

    /// Returns the rows and people that are used.
    pub fn used(&self) -> Counts {
        self.design.used
    }

    /// Returns the rows that are not used.
    pub fn unused(&self) -> &UnusedRows {
        &self.design.unused
    }

    /// Returns the controls that are the same for everyone; they have no column.
    pub fn constant_controls(&self) -> &[usize] {
        &self.design.constant
    }

    /// Returns the reference level of each categorical control: the most frequent one.
    pub fn reference_levels(&self) -> Vec<Option<usize>> {
        self.design.references.iter().map(|level| level.map(usize::from)).collect()
    }

    /// Returns whether all used rows have the same outcome; regressions then say nothing.
    pub fn is_outcome_constant(&self) -> bool {
        self.design.is_constant
    }

    /// Returns the number of clusters with used rows.
    fn clusters(&self) -> Option<usize> {
        let clusters = self.problem.clusters?;
        let used = clusters.iter().enumerate().filter(|(row, _)| self.design.is_used(*row)).map(|(_, own)| *own);
        let mut found: Vec<u32> = used.collect();
        found.sort_unstable();
        found.dedup();
        Some(found.len())
    }

    /// Fits the true classes, among people whose truth is known; `None` without truth.
    pub fn truth(&self) -> Result<Option<Regression>> {
        self.scores.truth().map(|_| self.fit(Source::Truth)).transpose()
    }

    /// Fits labels. Unlabeled rows are left out.
    pub fn labels(&self, labels: &Labels) -> Result<Regression> {
        expect_length("the list of labels", labels.values().len(), self.scores.rows())?;
        self.fit(Source::Labels(labels.values()))
    }

    /// Fits the labels of rows that represent several people.
    pub fn allotment(&self, allotment: &Allotment) -> Result<Regression> {
        expect_length("the list of allotted rows", allotment.rows().len(), self.scores.rows())?;
        self.fit(Source::Allotment(allotment))
    }

    /// Fits each person once for each class, with the score as weight. Errors are clustered by person at least.
    pub fn weighted(&self) -> Result<Regression> {
        self.fit(Source::Weighted)
    }

    /// Fits a linear model with the scores as regressors.
    ///
    /// # Errors
    /// For a logistic model: the probability given the scores is a mixture of the probabilities of the classes, which is
    /// not a logistic function of the scores, so that the coefficients would not be those of the classes.
    pub fn linear(&self) -> Result<Regression> {
        match self.problem.model {
            Model::Linear => self.fit(Source::Linear),
            Model::Logistic => {
                let why = "the mean outcome given the scores is not a logistic function of the scores";
                Err(Error::Incompatible { one: "scores as regressors", other: "a logistic regression", why })
            }
        }
    }

    /// Fits classes drawn from the scores `draws` times (from 5 to 1,000), combined by Rubin's rules. The draws are those
    /// of [`Imputed`](crate::estimate::Imputed) with the same seed and keys.
    pub fn imputed(&self, draws: u32, seed: u64) -> Result<Regression> {
        if !(5..=1000).contains(&draws) {
            let what = "the number of imputations".to_owned();
            return Err(Error::Parameter { what, value: f64::from(draws), range: "from 5 to 1000" });
        }
        self.fit(Source::Draws { draws: draws as usize, seed })
    }

    fn fit(&self, source: Source<'_>) -> Result<Regression> {
        let (model, against) = (self.problem.model, self.problem.against);
        let pass = pass::Pass { scores: self.scores, design: &self.design, source, model };
        let fits = fit::fit(&pass, self.problem.clusters, against)?;
        Ok(combine::combine(&self.design, model, against, &fits))
    }
}
