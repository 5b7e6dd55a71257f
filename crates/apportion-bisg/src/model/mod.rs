//! Models of one person (BISG and its variants) and of all people together (raking and fBISG).

mod bisg;
mod gibbs;
mod ipf;
mod raking;

pub use bisg::{Bisg, Factor, FactorKind, MatchInfo, ModelTables, NameLikelihoods, NameRole, Person, Population};
pub use gibbs::{Gibbs, NAME_NOISE};
pub use ipf::{Cell, Cells, Fit, KnownMargins, MarginKey, MarginMiss, MarginRows, RakedCells, ipf};
pub use raking::{Margins, RAKING_TOLERANCE, Raking, RakingStatus};
