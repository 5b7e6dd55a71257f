//! Geographic levels, from block groups to the nation.

use super::zip::state_of_prefix;

/// A geographic level, ordered from the smallest to the largest. If a place is not in the table of one level, the
/// next level is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// User-defined places, identified by name.
    Own,
    /// Census block groups: 12 digits.
    BlockGroup,
    /// Census tracts: 11 digits.
    Tract,
    /// ZIP code tabulation areas: 5 digits.
    Zcta,
    /// Counties: 5 digits.
    County,
    /// ZIP code tabulation areas with the same first three digits. After counties, because a county is more precise.
    ZipPrefix,
    /// States: 2 digits.
    State,
    /// All places of a table that covers several states.
    Nation,
    /// All places of any other table.
    All,
}

impl Level {
    /// Returns a short name.
    pub fn name(self) -> &'static str {
        match self {
            Level::Own => "place",
            Level::BlockGroup => "block group",
            Level::Tract => "tract",
            Level::Zcta => "zcta",
            Level::County => "county",
            Level::ZipPrefix => "zip prefix",
            Level::State => "state",
            Level::Nation => "nation",
            Level::All => "all places",
        }
    }

    /// Returns the number of digits of its codes, if it has codes.
    pub fn digits(self) -> Option<u32> {
        match self {
            Level::Own | Level::Nation | Level::All => None,
            Level::BlockGroup => Some(12),
            Level::Tract => Some(11),
            Level::Zcta | Level::County => Some(5),
            Level::ZipPrefix => Some(3),
            Level::State => Some(2),
        }
    }

    /// Returns whether its codes begin with the state code: all levels with codes except ZIP code tabulation areas.
    pub fn is_nested(self) -> bool {
        match self {
            Level::BlockGroup | Level::Tract | Level::County | Level::State => true,
            Level::Own | Level::Zcta | Level::ZipPrefix | Level::Nation | Level::All => false,
        }
    }

    /// Returns the state of a place; by the first three digits for ZIP codes, which is approximate near borders.
    pub(super) fn state_of(self, code: u64) -> Option<u64> {
        match self {
            Level::Zcta => state_of_prefix(code / 100),
            Level::ZipPrefix => state_of_prefix(code),
            _ => self.widen(code, Level::State),
        }
    }

    /// Returns the code of the larger place of another level that contains a place.
    pub(super) fn widen(self, code: u64, to: Level) -> Option<u64> {
        let (own, other) = (self.digits()?, to.digits()?);
        if (self, to) == (Level::Zcta, Level::ZipPrefix) {
            return Some(code / 100);
        }
        (self.is_nested() && to.is_nested() && own >= other).then(|| code / 10u64.pow(own - other))
    }
}
