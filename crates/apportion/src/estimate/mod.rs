//! Estimates of an outcome by class, such as turnout, approval or a price, by several estimators. They differ in the
//! assumptions under which they are unbiased.
//!
//! | estimator | unbiased if |
//! |---|---|
//! | [`LabelEstimator`]: the mean over people with the label | labels are the truth, or errors are independent of the outcome |
//! | [`Weighted`]: people weighted by their scores | outcome and class are independent among people with equal scores |
//! | [`Imputed`]: classes drawn by the scores, many times | the same; its interval includes the uncertainty about classes |
//! | [`Linear`]: regression of the outcome on the scores | outcome and scores are uncorrelated among people of one class |
//! | [`Birdie`]: outcomes update the scores | within a class (and group), the outcome is independent of the predictors of the scores |
//! | [`CellBounds`]: bounds on the rate | the scores are calibrated within each cell |
//!
//! All of them need calibrated scores, except the mean over labels that are the truth. No test shows from the scores and
//! outcomes alone which of these conditions hold, and agreement of two estimators does not show that either is right.
//!
//! A row that represents c people counts as c equal rows. Rows with unknown outcomes are excluded. Outcomes can have survey
//! weights ([`Outcomes::with_weights`]): all means are then weighted by them. All sums are
//! exact: results are bitwise the same for any row order, batch size and number of threads. `LabelEstimator`,
//! `Weighted`, `Imputed` and `CellBounds` need one pass and can be merged. `Linear` needs the sums of `Weighted` and a second
//! pass, which can be merged. `Birdie` iterates over the rows until it converges.
//!
//! ```
//! use apportion::estimate::{LabelEstimator, Outcomes, Weighted};
//! use apportion::{Classes, Labels, Matrix, Scores};
//!
//! let classes = Classes::new(["white", "black"])?;
//! let scores = Scores::new(&classes, Matrix::RowsF64(&[0.9, 0.1, 0.6, 0.4, 0.6, 0.4, 0.2, 0.8]))?;
//! let prices = [300.0, 200.0, 200.0, 100.0];
//! let outcomes = Outcomes::numbers(&prices)?;
//!
//! let labels = Labels::new(vec![0, 0, 0, 1], &classes)?; // argmax
//! let by_label = LabelEstimator::of(&scores, &outcomes, &labels)?.estimates().remove(0);
//! let weighted = Weighted::of(&scores, &outcomes)?.estimates().remove(0);
//! let gap = |estimate: &apportion::estimate::Estimate| estimate.gap(1, 0).and_then(|gap| gap.difference);
//! assert!((gap(&by_label).unwrap() + 133.33).abs() < 0.01);
//! assert!((gap(&weighted).unwrap() + 71.6).abs() < 0.1); // the labels make it almost twice as large
//! # Ok::<(), apportion::Error>(())
//! ```
//!
//! | file | purpose |
//! |---|---|
//! | `outcomes` | the outcome of each row: numbers, or levels |
//! | `exact`, `cells`, `sums` | sums that do not depend on the order; sums by cell; sums of terms of each row |
//! | `survey_sums` | sums of rows with survey weights |
//! | `label_estimator`, `weighted`, `linear`, `imputed`, `birdie`, `bounds` | the estimators |
//! | [`regression`] | the estimators of labels, weights, draws and linear regression, with controls |
//! | `bracket`, `sensitivity` | one class against everyone else: two estimators that can bracket the truth, and the violations that change the sign |
//! | `normal` | the standard normal distribution |
//! | `figures` | their results: plain data, with standard errors and intervals |

mod birdie;
mod bounds;
mod bracket;
mod cells;
mod exact;
mod figures;
mod imputed;
mod label_estimator;
mod linear;
mod normal;
mod outcomes;
pub mod regression;
mod sensitivity;
mod sums;
mod survey_sums;
mod weighted;

pub use birdie::{Birdie, BirdieOptions, FEW_PER_GROUP, Pooling};
pub use bounds::{CellBounds, CellSizes, SMALL_CELL};
pub use bracket::{Bracket, BracketEstimate, BracketOrder, BracketSums, KnownCovariances, WithError};
pub use figures::{Estimate, Figure, Gap};
pub use imputed::{IMPUTATIONS, Imputed};
pub use label_estimator::{LabelBias, LabelEstimator};
pub use linear::Linear;
pub use outcomes::{MAX_LEVELS, NO_LEVEL, Outcomes};
pub use sensitivity::{Sensitivity, Violation};
pub use weighted::{Counts, Inference, Weighted};
