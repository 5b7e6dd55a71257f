//! Places: levels, tables, and the location of a person.

mod level;
mod table;
mod zip;

pub use level::Level;
pub use table::{PlaceLookup, PlaceTable};

/// The known parts of the location of a person.
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

impl Place<'_> {
    /// Returns the state, if the code of any place contains it.
    fn state(&self) -> Option<u64> {
        let mut codes = self.code.into_iter().chain(self.wider.into_iter().flatten());
        codes.find_map(|(level, code)| level.state_of(code))
    }
}
