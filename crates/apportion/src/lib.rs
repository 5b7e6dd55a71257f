//! apportion
mod audit;
mod decision;
mod error;
mod kernel;
mod label;
mod reference;
mod rule;
mod scores;
pub mod seed;
mod transport;

pub use audit::*;
pub use decision::{Applier, Decision, Fitted, GroupPrices};
pub use error::{Error, Result};
#[doc(hidden)]
pub use kernel::lean_argmax;
pub use kernel::{GRID, Grid, Level};
pub use label::Labels;
pub use reference::{Reference, Spread};
pub use rule::{Joint, Labelled, Match, Rule, Settings, Thresholds};
pub use scores::{
    Classes, Groups, Keys, LEAST_SCORE, Label, MAX_CLASSES, MAX_PEOPLE, Matrix, SUM_TOLERANCE, Scaling, Scores, UNCODED,
};
pub use transport::Certificate;
