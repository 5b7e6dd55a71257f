//! Scores from names and places: P(class) of a person from Census tables of surnames, first names and places.
//!
//! | type | purpose |
//! |---|---|
//! | [`NameTable`] | surnames or first names with their class shares; finds names as people write them |
//! | [`PlaceTable`] | places of one [`Level`], with the people of each class |
//! | [`Bisg`] | names and places combined: BISG, BIFSG (with first names), voter BISG (with the shares of registered voters) |
//! | [`Raking`] | one weight per class that brings all scores to a known margin; [`Cells`] and [`ipf`] for margins by name and place |
//! | [`Gibbs`] | fBISG: allows for errors in the counts of places |
//! | [`census`] | built-in Census tables, with their provenance |
//!
//! ```text
//! names/    lookup of a name step by step, tables of names
//! places/   levels, tables of places
//! model/    bisg, gibbs (fBISG), raking, ipf (raking to margins by name and place)
//! census/   the tables of data/
//! ```
//!
//! The crate reads no files. The scores of [`Bisg`] depend on one person and the tables only; raking and fBISG use
//! all people.
//!
//! ```
//! use apportion_bisg::*;
//!
//! // White, black and hispanic people by surname, and in two counties.
//! let surnames = NameTable::new(3, ["SMITH", "GARCIA"], vec![70.0, 25.0, 5.0, 6.0, 1.0, 93.0], Numbers::People, None)?;
//! let counties = PlaceTable::by_code(Level::County, 3, [37001, 37063], vec![8.0, 1.0, 1.0, 4.0, 5.0, 1.0], Numbers::People)?;
//! let tables = ModelTables { surnames, first_names: None, places: vec![counties], prior: None };
//! let bisg = Bisg::new(tables, &Population::Everybody)?;
//!
//! let (mut scratch, mut scores) = (Scratch::default(), [0.0; 3]);
//! let durham = Place { code: Some((Level::County, 37063)), ..Place::default() };
//! let info = bisg.predict("Smith Jr.", "", &durham, &mut scratch, &mut scores);
//! assert_eq!(info.surname, NameMatch::Cleaned);
//! // 0.70 / 0.38 · 4, 0.25 / 0.13 · 5, 0.05 / 0.49 · 1, divided by their sum
//! assert!((scores[1] - 0.5625).abs() < 1e-3);
//! # Ok::<(), apportion_bisg::Error>(())
//! ```

pub mod census;
mod error;
mod index;
mod model;
mod names;
mod numbers;
mod places;

pub use error::{Error, Result};
pub use model::{
    Bisg, Cell, Cells, Factor, FactorKind, Fit, Gibbs, KnownMargins, MarginKey, MarginMiss, MarginRows, Margins,
    MatchInfo, ModelTables, NAME_NOISE, NameLikelihoods, NameRole, Person, Population, RAKING_TOLERANCE, RakedCells,
    Raking, RakingStatus, ipf,
};
pub use names::{FullName, NameChanges, NameId, NameMatch, NamePart, NameRow, NameTable, Scratch, cleaned_name};
pub use numbers::Numbers;
pub use places::{Level, Place, PlaceLookup, PlaceTable};
