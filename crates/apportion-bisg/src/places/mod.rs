//! Places: levels, tables, and the location of a person.

mod level;
mod table;

pub use level::Level;
pub use table::PlaceTable;

/// The location of a person, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place<'a> {
    /// The name of a user-defined place.
    pub own: Option<&'a str>,
    /// A ZIP code.
    pub zcta: Option<u64>,
    /// The code of the smallest block group, tract, county or state that is known.
    pub code: Option<(Level, u64)>,
    /// Codes of larger places, used if a table does not contain the smaller one.
    pub wider: [Option<(Level, u64)>; 3],
}
