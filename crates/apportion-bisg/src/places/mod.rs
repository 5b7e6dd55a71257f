//! Places: their levels, tables of them, and where a person is in each.

mod level;
mod table;

pub use level::Level;
pub use table::PlaceTable;

/// Where a person is, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place<'a> {
    /// The name of a place of the user's own.
    pub own: Option<&'a str>,
    /// A ZIP code.
    pub zcta: Option<u64>,
    /// The code of the smallest block group, tract, county or state that is known.
    pub code: Option<(Level, u64)>,
    /// Codes of larger places, which are asked where a table does not know the one that the smaller is in.
    pub wider: [Option<(Level, u64)>; 3],
}
