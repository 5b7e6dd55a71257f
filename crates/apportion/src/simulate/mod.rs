//! Tables whose truth is known because they were made: the paper's simulations, and people drawn from tables that the caller
//! gives.
//!
//! A row is a function of (seed, index) alone. So a file of any length can be streamed, in any order and by any number of
//! threads, without ever being in memory, and is always the same.
//!
//! | generator | what is known of a person |
//! |---|---|
//! | [`Normal`] | a point with normal noise: the paper's simulations, by variance |
//! | [`Categorical`] | one category, which is the true class with a given chance |
//! | [`WorstCase`] | all, or nothing: where argmax's bias is as large as Theorem 1 lets it be |
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
pub use voters::{RareNames, Voter, VoterOptions, VoterTables, Voters};
pub use worst_case::WorstCase;

use crate::scores::Label;

/// People without names: any row at any time, from its index. Scores are the law of the truth given what is known of the row,
/// and so are calibrated.
pub trait Generator: Sync {
    /// The number of classes, and so of a row's scores.
    fn classes(&self) -> usize;

    /// The truth of a row, and its scores, which sum to one.
    ///
    /// # Panics
    /// Where `scores` is not as long as there are classes.
    fn row(&self, index: u64, scores: &mut [f64]) -> Label;
}

/// Scales what is proportional to scores, so that it sums to one.
fn scale(scores: &mut [f64]) {
    let sum: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}
