//! Generated tables whose truth is known: the paper's simulations, and people drawn from given tables.
//!
//! A row is a function of (seed, index) only. So a file of any length can be streamed in any order and by any number
//! of threads, without being in memory, and is always the same.
//!
//! | generator | information about a person |
//! |---|---|
//! | [`Normal`] | a point with normal noise: the paper's simulations, by variance |
//! | [`Categorical`] | one category, which is the true class with a given probability |
//! | [`WorstCase`] | the class is known or nothing is known: argmax's bias reaches the bound of Theorem 1 |
//! | [`Voters`] | county and surname: a synthetic voter file |

mod alias;
mod categorical;
mod check;
mod normal;
mod random;
mod voters;
mod worst_case;

pub use categorical::Categorical;
pub use normal::{Normal, PAPER_PRIOR};
pub use voters::{Attribute, Voter, VoterOptions, VoterTables, Voters};
pub use worst_case::WorstCase;

use crate::scores::Label;

/// Generated people: any row from its index. Scores are the conditional distribution of the truth given the
/// information about the row, so they are calibrated.
pub trait Generator: Sync {
    /// Returns the number of classes.
    fn classes(&self) -> usize;

    /// Returns the truth of a row and writes its scores, which sum to one.
    ///
    /// # Panics
    /// If the length of `scores` is not the number of classes.
    fn row(&self, index: u64, scores: &mut [f64]) -> Label;
}

/// Normalizes scores.
fn scale(scores: &mut [f64]) {
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}
