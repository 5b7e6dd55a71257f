//! What labels do to a result: an outcome compared between classes, by several estimators side by side.
//!
//! Whoever labels people goes on to compare an outcome between classes: turnout, approval, a price. The estimators differ in
//! what must hold for them to be right.
//!
//! | estimator | is right where |
//! |---|---|
//! | [`LabelEstimator`]: the mean over those labelled so | labels are the truth, or wrong without regard to the outcome |
//! | [`Weighted`]: each person counts as the scores say | among people with equal scores, outcome and class have nothing to do with each other |
//! | [`Imputed`]: classes drawn by the scores, many times | the same; its interval holds the doubt about each person's class |
//! | [`Birdie`]: the outcomes correct the scores | among people of one class (and group), the outcome has nothing to do with what else the scores were made from |
//! | [`CellBounds`]: what the rate lies between | always, if the scores are right on average in each cell |
//!
//! A row that stands for c people counts as c rows that are alike. Rows whose outcome is not known are left out. All sums
//! are exact: results are the same to the last bit whatever the order of the rows, the batches and the threads. `LabelEstimator`,
//! `Weighted`, `Imputed` and `CellBounds` are sums of one pass, which merge; `Birdie` passes over the rows until it comes
//! to rest.
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
//! let hard = LabelEstimator::of(&scores, &outcomes, &labels)?.estimates().remove(0);
//! let weighted = Weighted::of(&scores, &outcomes)?.estimates().remove(0);
//! let gap = |estimate: &apportion::estimate::Estimate| estimate.gap(1, 0).and_then(|gap| gap.difference);
//! assert!((gap(&hard).unwrap() + 133.33).abs() < 0.01);
//! assert!((gap(&weighted).unwrap() + 71.6).abs() < 0.1); // the labels make it almost twice as large
//! # Ok::<(), apportion::Error>(())
//! ```
//!
//! | file | purpose |
//! |---|---|
//! | `outcomes` | the outcome of each row: numbers, or levels |
//! | `exact`, `cells` | sums that do not depend on order; sums in cells |
//! | `label_estimator`, `weighted`, `imputed`, `birdie`, `bounds` | the estimators |
//! | `figures` | what they say: plain data, with errors and intervals |

mod birdie;
mod bounds;
mod cells;
mod exact;
mod figures;
mod imputed;
mod label_estimator;
mod outcomes;
mod weighted;

pub use birdie::{Birdie, BirdieOptions};
pub use bounds::{CellBounds, CellSizes, SMALL_CELL};
pub use figures::{Estimate, Figure, Gap};
pub use imputed::{IMPUTATIONS, Imputed};
pub use label_estimator::{LabelBias, LabelEstimator};
pub use outcomes::{MAX_LEVELS, NO_LEVEL, Outcomes};
pub use weighted::{Counts, Weighted};
