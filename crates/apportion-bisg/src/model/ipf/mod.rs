//! Raking to margins by name and place: iterative proportional fitting of the table name × place × class to the known
//! classes by name, the known classes by place, and the number of people by name and place.
//!
//! Only cells with people are stored: the table is sparse, and its memory is a few times K numbers per cell.
//!
//! ```text
//! KnownMargins   known shares by name and by place         ┐
//! Cells          people counted by name, place and scores  ┴→  RakedCells   the scores of each cell
//! ```

mod cells;
mod fit;

pub use cells::{Cells, RakedCells};
pub use fit::{Cell, Fit, ipf};

use crate::error::{Error, Result};
use crate::names::{NameId, NameMatch, NameTable, Scratch};
use crate::numbers::{Numbers, normalize};
use crate::places::{Place, PlaceTable};

/// Known shares of the classes by name, by place, or both.
#[derive(Clone, Debug)]
pub struct KnownMargins {
    names: Option<NameTable>,
    places: Option<PlaceTable>,
}

/// A row of the margin by name and a row of the margin by place; `None` if unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MarginRows {
    /// The row of the margin by name, from 0.
    pub name: Option<u32>,
    /// The row of the margin by place, from 0.
    pub place: Option<u32>,
}

impl KnownMargins {
    /// Builds margins from tables of people or class shares.
    pub fn new(names: Option<NameTable>, places: Option<PlaceTable>) -> Result<KnownMargins> {
        let spread = names.as_ref().is_some_and(NameTable::is_key_given_class)
            || places.as_ref().is_some_and(|places| places.numbers() == Numbers::KeyGivenClass);
        let problem = if spread {
            "a margin by name or place must contain people by class or their shares, not P(key | class)"
        } else if names.is_none() && places.is_none() {
            "there is no margin by name or place; provide one"
        } else {
            let places = places.map(|mut places| {
                places.rows_mut().for_each(|row| _ = normalize(row));
                places
            });
            return Ok(KnownMargins { names, places });
        };
        Err(Error::Model { problem: problem.into() })
    }

    /// Finds a name in the margin by name.
    pub fn find_name(&self, name: &str, scratch: &mut Scratch) -> NameId {
        self.names.as_ref().map_or(NameId::MISSING, |names| names.find(name, scratch))
    }

    /// Finds many names.
    pub fn find_names<'n>(&self, all: impl IntoIterator<Item = &'n str>, scratch: &mut Scratch, ids: &mut Vec<NameId>) {
        match &self.names {
            Some(names) => names.find_all(all, scratch, ids),
            None => ids.extend(all.into_iter().map(|_| NameId::MISSING)),
        }
    }

    /// Returns the rows in which a person is counted. A name that was found only by its parts is not counted with
    /// them.
    pub fn rows(&self, name: NameId, place: &Place<'_>) -> MarginRows {
        let is_own = match name.kind {
            NameMatch::Exact | NameMatch::Cleaned => true,
            NameMatch::Part | NameMatch::BothParts | NameMatch::VoterList | NameMatch::None => false,
        };
        MarginRows {
            name: is_own.then_some(name.rows[0]),
            place: self.places.as_ref().and_then(|places| places.find(place)),
        }
    }

    fn classes(&self) -> usize {
        self.names.as_ref().map_or_else(|| self.places.as_ref().map_or(0, PlaceTable::classes), NameTable::classes)
    }

    /// Returns the shares of the classes in a row of the margin by name.
    pub fn name_shares(&self, row: u32) -> Option<&[f64]> {
        self.names.as_ref().map(|names| names.row(row))
    }

    /// Returns the shares of the classes in a row of the margin by place.
    pub fn place_shares(&self, row: u32) -> Option<&[f64]> {
        self.places.as_ref().map(|places| places.row(row as usize))
    }
}

/// One of the known margins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarginKey {
    /// The margin by name.
    Name,
    /// The margin by place.
    Place,
}

/// The deviation from a margin in one class of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginMiss {
    /// The row of the margin's table, from 0.
    pub row: u32,
    /// The class.
    pub class: usize,
    /// The people that the margin requires, scaled to the people of the file.
    pub wanted: f64,
    /// The sum of the scores.
    pub reached: f64,
}

impl MarginMiss {
    fn people(&self) -> f64 {
        (self.wanted - self.reached).abs()
    }
}
