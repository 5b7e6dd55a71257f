//! Estimates of the class shares of a table that differ from the shares behind its scores (prior shift).
//!
//! | method | needs | assumes |
//! |---|---|---|
//! | [`ShareEstimate::em`] | the class shares of the population that the scores describe | scores calibrated for that population; within each class, people have the same distribution of scores there and in the table |
//! | [`ShareEstimate::pacc`] | the true class of some people of the table | within each class, people with known truth have the same distribution of scores as the others |
//!
//! | file | purpose |
//! |---|---|
//! | `em` | maximum likelihood from scores and training shares (Saerens, Latinne, Decaestecker 2002) |
//! | `pacc` | least squares from the mean scores of people with known truth |
//! | `simplex` | quadratic programs over shares |
//!
//! Intervals are those of a Poisson bootstrap of people: in each replicate, a person counts as often as a hash of the
//! seed, the key and the replicate says. Estimates and intervals do not depend on the order of the rows.

mod em;
mod pacc;
mod simplex;

use crate::audit::{Draws, Interval, percentile};
use crate::error::Error;
use crate::reference::{PerGroup, Reference};
use crate::rule::person_key;
use crate::scores::Classes;

/// The largest number of classes: the Hessian has K² entries.
const MOST_CLASSES: usize = 64;

/// The smallest part of the variation of a class's scores that the scores of other classes must leave unexplained.
const IDENTIFIED: f64 = 1e-9;

/// A method to estimate class shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ShareMethod {
    /// Maximum likelihood from the scores and the training shares.
    Em,
    /// Least squares from the mean scores of people with known truth.
    Pacc,
}

impl ShareMethod {
    /// Returns the name, as in settings.
    pub const fn name(self) -> &'static str {
        match self {
            ShareMethod::Em => "em",
            ShareMethod::Pacc => "pacc",
        }
    }
}

/// Estimated class shares of a table.
///
/// ```
/// # use apportion::calibrate::ShareEstimate;
/// # use apportion::{Classes, Matrix, Scores};
/// let classes = Classes::new(["a", "b"])?;
/// // Half of the training people were a. Here, 2 of 10 people have the score of a typical a, so the mean score is 0.26.
/// let q = [[0.9, 0.1]; 2].into_iter().chain([[0.1, 0.9]; 8]).flatten().collect::<Vec<f64>>();
/// let scores = Scores::new(&classes, Matrix::RowsF64(&q))?;
/// let estimate = ShareEstimate::em(&scores, &[0.5, 0.5], None)?;
/// // With a share π, 0.9 · π + 0.1 · (1 − π) of the people have the score 0.9.
/// assert!((estimate.shares[0] - 0.125).abs() < 1e-9);
/// # Ok::<(), apportion::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShareEstimate {
    /// The method.
    pub method: ShareMethod,
    /// The share of each class, in order. They sum to one.
    pub shares: Vec<f64>,
    /// The interval of each share; empty without a bootstrap.
    pub intervals: Vec<Interval>,
    /// The number of people.
    pub people: u64,
    /// The number of people with known truth, if the method uses them.
    pub with_truth: Option<u64>,
}

impl ShareEstimate {
    /// Returns the shares as a reference.
    pub fn reference(&self) -> Reference {
        Reference::Shares(PerGroup::Overall(self.shares.clone()))
    }
}

fn not_estimated(problem: &str) -> Error {
    Error::Reference { of: String::new(), problem: format!("cannot be estimated: {problem}") }
}

/// Refuses a number of classes for which shares cannot be estimated.
fn check_classes(classes: &Classes) -> crate::Result<()> {
    match classes.len() {
        0 | 1 => Err(not_estimated("there is only one class; name the score columns of all classes")),
        2..=MOST_CLASSES => Ok(()),
        k => Err(not_estimated(&format!(
            "there are {k} classes, and at most {MOST_CLASSES} are possible; merge classes"
        ))),
    }
}

/// Refuses classes that the scores do not distinguish. `parts` is the part of the variation of each class that the
/// other classes leave unexplained.
fn check_identified(classes: &Classes, parts: &[(usize, f64)]) -> crate::Result<()> {
    match parts.iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some(&(class, part)) if part.is_nan() || part < IDENTIFIED => Err(not_estimated(&format!(
            "the scores do not distinguish {:?} from the other classes; merge it with a similar class, or use scores that vary \
             more",
            classes.names()[class]
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Draws the number of people of a row in a replicate: Poisson draws, one per person. For many people, a few draws
/// represent all.
fn drawn(draws: &Draws, key: u64, people: u64, replicate: usize) -> u64 {
    const MOST: u64 = 64;
    if people == 1 {
        return u64::from(draws.one(key, replicate));
    }
    let some = people.min(MOST);
    let times: u64 = (0..some).map(|person| u64::from(draws.one(person_key(key, person), replicate))).sum();
    if people <= MOST {
        return times;
    }
    // The same number of standard deviations from the mean as the drawn part.
    let (part, all) = (some as f64, people as f64);
    (all + (times as f64 - part) * (all / part).sqrt()).round().max(0.0) as u64
}

/// Returns the interval of each share, from the shares of all replicates.
fn intervals(replicates: &[Vec<f64>], classes: usize, level: f64) -> Vec<Interval> {
    let of = |class: usize| percentile(replicates.iter().map(|shares| shares[class]).collect(), level);
    (0..classes).filter_map(of).collect()
}
