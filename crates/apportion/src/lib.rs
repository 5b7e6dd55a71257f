//! Labels from probabilities, with the counts kept right: the exact optimum, with its proof.
//!
//! # The problem
//! A model gives each of N people a score for each of K classes: q\[i, y\], the probability that person i is in class y.
//! One label a person is wanted. Taking the likeliest class maximises expected accuracy row by row, and undercounts every
//! class that is rarely the likeliest: a hundred people with 40% each count as none, not as forty.
//!
//! **Match** chooses the labels jointly. Given a reference distribution p (most often the aggregate posterior, the mean of
//! q) and its whole numbers n (largest remainders of N·p, Σ n_y = N),
//!
//! ```text
//! maximise  Σ_i q[i, ŷ_i]      over labels ŷ with exactly n_y rows in class y.
//! ```
//!
//! It is a transportation problem, and its dual has one unknown a class, the price λ_y:
//!
//! ```text
//! minimise  Σ_i max_y (q[i, y] + λ_y) − Σ_y n_y λ_y,
//! ```
//!
//! so that an optimal label is ŷ_i = argmax_y (q\[i, y\] + λ_y), but for ties. Scores are rounded to multiples of 2^-40
//! ([`GRID`]) and all arithmetic is in whole numbers from there: both sides of the duality are integers, and their
//! equality is the [`Certificate`].
//!
//! **Balance** weighs the two: γ · mean q − (1 − γ) · distance of the labels' shares from p. The distance is a convex function
//! of the counts, so that it has a conjugate in the dual, and nothing else changes. [`joint`] shows all joint rules, which
//! of their options go together, and by what names others know them.
//!
//! # The map
//! ```text
//! Rule ──fit(Scores, Settings)──▶ Decision ──apply(Scores)──▶ Labels ──Audit::of(Scores, Labels)──▶ Audit
//! ```
//! | type | what it is |
//! |---|---|
//! | [`Scores`] | a table of q, borrowed as numpy or Arrow has it, or kept in a [`Store`]; with keys, groups, truth, counts |
//! | [`Rule`] | what is asked for: argmax, threshold, Thompson, top-k, [`Match`], [`Balance`]; on a sample [`FromSample`], [`Learned`] |
//! | [`Reference`] | the distribution that the labels should have |
//! | [`Decision`] | a rule fitted to a table: K prices a group, seed; small, serde, labels any batch; prints as SQL |
//! | [`Frontier`] | every optimal trade of accuracy against fidelity, from argmax to match; how far labels lie below it |
//! | [`Labeled`] | labels, their decision and, for joint rules, certificate and targets ([`Joint`]) |
//! | [`Audit`] | what labels do against scores, truth and reference; built by a mergeable [`Tally`] |
//! | [`Outcomes`] | the outcome of each row; [`estimate`] says what labels and scores make of its differences between classes |
//!
//! The crate reads no files, no environment and no clock, prints nothing, and has no state. It uses the threads of the
//! rayon pool that it is called in. The same scores, keys, seed and options give the same labels whatever the threads,
//! the batches, the SIMD level ([`SimdLevel`]) and, where rows have keys of their own ([`Scores::with_keys`]), their order.
//!
//! # An example
//! ```
//! use apportion::{Audit, AuditOptions, Classes, Match, Matrix, Reference, Rule, Scores, Settings};
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
mod decision;
mod error;
pub mod estimate;
mod kernel;
mod label;
mod learn;
mod quote;
mod reference;
mod rule;
mod scores;
pub mod seed;
pub mod simulate;
mod sql;
mod store;
mod transport;
pub mod verify;

pub use apply::Applier;
pub use audit::*;
pub use decision::{Decision, ExpectedShares, FitInfo, Fitted, GroupPrices};
pub use error::{Error, Result};
pub use estimate::*;
pub use kernel::{GRID, Grid, SimdLevel};
pub use label::Labels;
pub use learn::{Forest, Learner, Linear, Model, Node, Plane};
pub use quote::quoted;
pub use reference::{PerGroup, Reference};
pub use rule::{
    Allotment, Allotted, Balance, Batched, Batches, Bound, Bounds, FromSample, Frontier, Joint, JointRule, Labeled,
    Learned, Match, Penalty, Point, Rule, Sample, Settings, Thinned, Thresholds,
};
pub use scores::{
    Classes, GROUP_JOINT, Groups, Keys, LEAST_SCORE, Label, MAX_CLASSES, MAX_PEOPLE, Matrix, SUM_TOLERANCE, Scaling,
    Scores, UNCODED, group_name, write_group_name,
};
pub use sql::{Dialect, SqlOptions};
pub use store::Store;
pub use transport::Certificate;

#[doc = include_str!("../docs/joint.md")]
pub mod joint {}

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
