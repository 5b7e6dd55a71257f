//! Scores from names and places: what the Census says of everybody who has a name, and of everybody who lives in a place.
//!
//! | type | what it is |
//! |---|---|
//! | [`NameTable`] | surnames or first names, and what each says; finds a name as people write it, step by step |
//! | [`PlaceTable`] | places of one [`Level`], and the people of each class there |
//! | [`Bisg`] | both together: BISG, BIFSG with first names, voter BISG with the shares of voters |
//! | [`Raking`] | weights a class that bring all scores to a known margin; [`Cells`] and [`rake_three_ways`] where margins by name and place are known |
//! | [`Gibbs`] | fBISG: scores where the counts of places are not quite right |
//!
//! Nothing here reads a file. The scores of [`Bisg`] depend on no other people than the person; the other two use all people, by
//! their nature.
//!
//! ```
//! use apportion::model::*;
//!
//! // White, black and hispanic people by surname, and in two counties.
//! let surnames = NameTable::new(3, ["SMITH", "GARCIA"], vec![70.0, 25.0, 5.0, 6.0, 1.0, 93.0], Numbers::People, None)?;
//! let counties = PlaceTable::by_code(Level::County, 3, [37001, 37063], vec![8.0, 1.0, 1.0, 4.0, 5.0, 1.0], Numbers::People)?;
//! let tables = ModelTables { surnames, first_names: None, places: vec![counties], prior: None };
//! let bisg = Bisg::new(tables, &Population::Everybody)?;
//!
//! let (mut room, mut scores) = (Room::default(), [0.0; 3]);
//! let durham = Place { code: Some((Level::County, 37063)), ..Place::default() };
//! let how = bisg.predict("Smith Jr.", "", &durham, &mut room, &mut scores);
//! assert_eq!(how.surname, NameMatch::Cleaned);
//! // 0.70 / 0.38 · 4, 0.25 / 0.13 · 5, 0.05 / 0.49 · 1, divided by their sum
//! assert!((scores[1] - 0.5625).abs() < 1e-3);
//! # Ok::<(), apportion::Error>(())
//! ```

mod bisg;
mod gibbs;
mod index;
mod names;
mod place;
mod raking;
mod table;
mod three_ways;

pub use bisg::{Bisg, Chances, How, ModelTables, Person, Population};
pub use gibbs::{Gibbs, NAME_NOISE};
pub use names::{Hit, NameMatch, Room};
pub use place::{Level, Place, PlaceTable};
pub use raking::{Margins, RAKED, Raked, Raking};
pub use table::{NameTable, Numbers};
pub use three_ways::{Cell, Cells, Fit, KnownBy, KnownMargins, MarginRows, Off, RakedCells, rake_three_ways};
