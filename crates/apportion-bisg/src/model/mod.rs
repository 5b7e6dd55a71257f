//! The models: BISG and its relatives, and two that use all people together: raking and fBISG.

mod bisg;
mod gibbs;
mod ipf;
mod raking;

pub use bisg::{Bisg, Chances, How, ModelTables, Person, Population};
pub use gibbs::{Gibbs, NAME_NOISE};
pub use ipf::{Cell, Cells, Fit, KnownBy, KnownMargins, MarginRows, Off, RakedCells, rake_three_ways};
pub use raking::{Margins, RAKED, Raked, Raking};
