//! The models: BISG and its relatives, and two that use all people together: raking and fBISG.

mod bisg;
mod gibbs;
mod ipf;
mod raking;

pub use bisg::{Bisg, MatchInfo, ModelTables, NameLikelihoods, Person, Population};
pub use gibbs::{Gibbs, NAME_NOISE};
pub use ipf::{Cell, Cells, Fit, KnownMargins, MarginKey, MarginMiss, MarginRows, RakedCells, ipf};
pub use raking::{Margins, RAKING_TOLERANCE, Raking, RakingStatus};
