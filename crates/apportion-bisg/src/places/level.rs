//! Levels of places, from the smallest to the nation.

/// A kind of places. The order is from the smallest to the largest: where one does not know a person's place, the next is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Places of a user's own, by their names.
    Own,
    /// Census block groups: 12 digits.
    BlockGroup,
    /// Census tracts: 11 digits.
    Tract,
    /// ZIP code tabulation areas: 5 digits.
    Zcta,
    /// Counties: 5 digits.
    County,
    /// States: 2 digits.
    State,
    /// The places of a table of several states, together.
    Nation,
    /// The places of any other table, together.
    All,
}

impl Level {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            Level::Own => "place",
            Level::BlockGroup => "block group",
            Level::Tract => "tract",
            Level::Zcta => "zcta",
            Level::County => "county",
            Level::State => "state",
            Level::Nation => "nation",
            Level::All => "all places",
        }
    }

    /// How many digits its codes have, where they are codes.
    pub fn digits(self) -> Option<u32> {
        match self {
            Level::Own | Level::Nation | Level::All => None,
            Level::BlockGroup => Some(12),
            Level::Tract => Some(11),
            Level::Zcta | Level::County => Some(5),
            Level::State => Some(2),
        }
    }

    /// Whether its codes begin with those of the state: all but ZIP codes.
    pub fn is_nested(self) -> bool {
        match self {
            Level::BlockGroup | Level::Tract | Level::County | Level::State => true,
            Level::Own | Level::Zcta | Level::Nation | Level::All => false,
        }
    }

    /// The code of the larger place of another level that a place of this one is in.
    pub(super) fn widen(self, code: u64, to: Level) -> Option<u64> {
        let (own, other) = (self.digits()?, to.digits()?);
        (self.is_nested() && to.is_nested() && own >= other).then(|| code / 10u64.pow(own - other))
    }
}
