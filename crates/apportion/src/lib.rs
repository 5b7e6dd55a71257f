//! Turns class probabilities about people into labels whose counts are right, at the smallest possible cost in accuracy:
//! the exact optimum, with a proof.
//!
//! # The problem
//! A model gives each of N people a score for each of K classes: q\[i, y\], the probability that person i is in class y.
//! Each person should get one label. Taking the most likely class maximizes expected accuracy row by row, but undercounts
//! every class that is rarely the most likely one: a hundred people with a probability of 40% each count as 0, not as 40.
//!
//! **Match** chooses all labels jointly. Given a reference distribution p (usually the aggregate posterior, the mean of q)
//! and its whole numbers n (largest remainders of N·p, Σ n_y = N),
//!
//! ```text
//! maximize  Σ_i q[i, ŷ_i]      over labels ŷ with exactly n_y rows in class y.
//! ```
//!
//! This is a transportation problem. Its dual has one variable per class, the price λ_y:
//!
//! ```text
//! minimize  Σ_i max_y (q[i, y] + λ_y) − Σ_y n_y λ_y,
//! ```
//!
//! so an optimal label is ŷ_i = argmax_y (q\[i, y\] + λ_y), except for ties. Scores are rounded to multiples of 2^-40
//! ([`GRID`](verify::GRID)), and all further arithmetic is in whole numbers: both sides of the duality are integers, and
//! their equality is the [`Certificate`].
//!
//! **Balance** maximizes γ · mean q − (1 − γ) · distance of the labels' shares from p. The distance is a convex function of
//! the counts, so it has a conjugate in the dual, and the rest stays the same. [`rule::options`] describes all joint
//! rules, which of their options can be combined, and their names in the literature.
//!
//! # Overview
//! ```text
//! Rule ──fit(Scores, Settings)──▶ Decision ──apply(Scores)──▶ Labels ──Audit::of(Scores, Labels)──▶ Audit
//! ```
//! | type | purpose |
//! |---|---|
//! | [`Scores`] | a table of q, borrowed from numpy or Arrow or read from a [`Store`]; with keys, groups, truth and counts |
//! | [`Rule`] | argmax, threshold, Thompson, top-k, [`Match`], [`Balance`]; on a sample [`FromSample`](rule::FromSample), [`Learned`](rule::Learned) |
//! | [`Reference`] | the distribution that the labels should have |
//! | [`Decision`] | a rule fitted to a table: K prices per group and a seed. Small, serializable, labels any batch, exports SQL |
//! | [`Frontier`] | every optimal trade-off of accuracy and fidelity, from argmax to match, and the gap of given labels to it |
//! | [`Labeled`] | labels, their decision and, for joint rules, certificate and targets ([`Joint`](rule::Joint)) |
//!
//! | module | purpose |
//! |---|---|
//! | [`rule`] | all rules, with their options and results |
//! | [`decision`] | the contents of a decision; [`sql`]: a decision as a SQL expression |
//! | [`audit`] | counts, bias, accuracy and calibration of labels, by a mergeable [`Tally`](audit::Tally) |
//! | [`estimate`] | differences of an outcome between classes, estimated from labels and from scores |
//! | [`calibrate`] | corrects scores with known truth |
//! | [`learn`] | models that learn labels from scores |
//! | [`simulate`] | generated tables whose truth is known |
//! | [`verify`] | independent checks of labels, without the solver |
//! | [`seed`], [`text`] | seeded hashes; values and group names in text |
//!
//! The crate does not read files, the environment or the clock, prints nothing, and has no global state. It runs in the
//! current rayon pool. The same scores, keys, seed and options give the same labels for any number of threads, any batch
//! size, any SIMD instructions and, if rows have their own keys ([`Scores::with_keys`]), any row order.
//!
//! # Example
//! ```
//! use apportion::audit::{Audit, AuditOptions};
//! use apportion::{Classes, Match, Matrix, Reference, Rule, Scores, Settings};
//!
//! let classes = Classes::new(["white", "black", "other"])?;
//! let q = [
//!     0.80, 0.15, 0.05, //
//!     0.70, 0.25, 0.05, //
//!     0.60, 0.35, 0.05, //
//!     0.55, 0.40, 0.05, //
//!     0.20, 0.75, 0.05, //
//!     0.50, 0.30, 0.20,
//! ];
//! let scores = Scores::new(&classes, Matrix::RowsF64(&q))?;
//! let settings = Settings::default();
//!
//! let argmax = Rule::Argmax.label(&scores, &settings)?;
//! assert_eq!(argmax.labels.counts(), [5, 1, 0]); // the scores sum to 3.35, 2.2 and 0.45
//!
//! let matched = Rule::Match(Match::overall(Reference::Posterior)).label(&scores, &settings)?;
//! assert_eq!(matched.labels.counts(), [3, 2, 1]);
//! assert!(matched.joint.is_some_and(|joint| joint.certificate.is_closed()));
//!
//! let audit = Audit::of(&scores, &matched.labels, &AuditOptions::default())?;
//! let accuracy = audit.overall.expected_accuracy.unwrap_or_default();
//! assert!((accuracy - 0.575).abs() < 1e-9); // that of argmax is 0.65
//! # Ok::<(), apportion::Error>(())
//! ```

mod apply;
pub mod audit;
pub mod calibrate;
mod cancel;
pub mod decision;
mod error;
pub mod estimate;
mod kernel;
mod label;
pub mod learn;
mod reference;
pub mod rule;
mod scores;
pub mod seed;
pub mod simulate;
pub mod sql;
mod store;
pub mod text;
mod transport;
pub mod verify;

// At most 35 names, modules included: tests/root_names.rs counts them.
pub use decision::Decision;
pub use error::{Error, Result};
pub use label::Labels;
pub use reference::{PerGroup, Reference};
pub use rule::{Balance, Bounds, Frontier, Labeled, Match, Penalty, Rule, Settings};
pub use scores::{Classes, Groups, Keys, Label, Matrix, Scaling, Scores, UNCODED};
pub use store::Store;
pub use transport::Certificate;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
