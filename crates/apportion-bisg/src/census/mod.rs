//! Census tables inside the program: whole lists of surnames, first names, counties and ZIP code tabulation areas by class
//! ([`CensusTable`]), which scores are made from; and North Carolina's counties, with their outlines, and the common surnames, which
//! voters are made up from.
//!
//! The small tables are committed as plain CSV in `data/`, the whole lists packed, made by `make.py`; `PROVENANCE.md` names
//! their sources. The small ones are parsed when they are first asked for, and kept.
//!
//! ```
//! use apportion_bisg::census::{CLASSES, counties, surnames};
//!
//! let black = CLASSES.iter().position(|&class| class == "black").unwrap();
//! let durham = counties().iter().find(|county| county.name == "Durham").unwrap();
//! assert_eq!(durham.people[black], 100_260);
//! assert_eq!(surnames()[0].name, "SMITH");
//! ```
#![doc = include_str!("../../data/PROVENANCE.md")]

mod tables;

use std::sync::OnceLock;

pub use tables::{CensusRows, CensusTable};

/// The classes of all tables, in their order. All but hispanic are non-Hispanic; asian is with Pacific Islanders; other is
/// two or more races and, in the table of counties, some other race.
pub const CLASSES: [&str; 6] = ["white", "black", "hispanic", "asian", "aian", "other"];

/// Shares of the classes among North Carolina's registered voters, by what they themselves said: the truth of 100,000
/// rows drawn from 4,233,012 voters. They sum to one.
///
/// Voters are not the people of the Census: they are citizens, of age, and registered, so that the shares of hispanic and
/// asian are smaller.
pub const NC_VOTER_SHARES: [f64; 6] = [0.72608, 0.21680, 0.02285, 0.01045, 0.00880, 0.01502];

/// The name of the last row of [`surnames`]: everyone on the list whose name is rarer than those before.
pub const ALL_OTHER_NAMES: &str = "ALL OTHER NAMES";

/// The outlines of North Carolina's counties as TopoJSON, each with its FIPS code as `id` and its `name`.
pub const NC_COUNTIES_TOPOJSON: &str = include_str!("../../data/nc_counties.topojson");

/// A county and its people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct County {
    /// FIPS code of state and county, five digits.
    pub fips: &'static str,
    /// Name, without the word county.
    pub name: &'static str,
    /// People of all ages, in the order of [`CLASSES`].
    pub people: [u64; 6],
}

/// A surname and the people who have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surname {
    /// The name in capitals, letters only; or [`ALL_OTHER_NAMES`].
    pub name: &'static str,
    /// People, in the order of [`CLASSES`].
    pub people: [u64; 6],
}

/// The 100 counties of North Carolina in the Census of 2010, in the order of their codes.
pub fn counties() -> &'static [County] {
    static COUNTIES: OnceLock<Vec<County>> = OnceLock::new();
    COUNTIES.get_or_init(|| {
        let rows = parse(include_str!("../../data/nc_counties_2010.csv"));
        rows.map(|([fips, name], people)| County { fips, name, people }).collect()
    })
}

/// The 20,000 most common surnames of the Census of 2020, the most common first, and then [`ALL_OTHER_NAMES`].
pub fn surnames() -> &'static [Surname] {
    static SURNAMES: OnceLock<Vec<Surname>> = OnceLock::new();
    SURNAMES.get_or_init(|| {
        let rows = parse(include_str!("../../data/surnames_2020.csv"));
        rows.map(|([name], people)| Surname { name, people }).collect()
    })
}

/// The rows of a table after its header: `N` texts, then the people of each class.
///
/// The tables are our own, and a test reads every row: were one damaged, to stop would be better than to count nobody.
fn parse<const N: usize>(table: &'static str) -> impl Iterator<Item = ([&'static str; N], [u64; 6])> {
    table.lines().skip(1).map(|line| {
        let mut fields = line.split(',');
        let mut next = || fields.next().expect("a field for each column");
        let texts = std::array::from_fn(|_| next());
        (texts, std::array::from_fn(|_| next().parse().expect("a number of people")))
    })
}
