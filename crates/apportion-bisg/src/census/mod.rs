//! Built-in Census tables: complete lists of surnames, first names and places by class ([`CensusTable`]) for predictions; North Carolina's counties with outlines and the most common surnames for
//! generated voters.
//!
//! Small tables are stored as CSV in `data/`, complete lists in a packed form written by `data/make.py`;
//! `data/PROVENANCE.md` names their sources. Small tables are parsed on first use.
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

mod packed;
mod tables;
mod voters;

use std::sync::OnceLock;

pub use tables::{CensusRows, CensusTable, UNLISTED, VOTER_CLASSES};
pub use voters::{VOTER_SHARES, VOTER_SMOOTHING, VoterName};

/// The classes of all tables, in order. All classes except hispanic are non-Hispanic; asian includes Pacific
/// Islanders; other is two or more races and, in the county table of 2010, some other race.
pub const CLASSES: [&str; 6] = ["white", "black", "hispanic", "asian", "aian", "other"];

/// Self-reported shares of the classes among North Carolina's registered voters: the truth of 100,000 rows drawn from
/// 4,233,012 voters. They sum to one.
///
/// Registered voters are adult citizens, so the shares of hispanic and asian are smaller than in the Census.
pub const NC_VOTER_SHARES: [f64; 6] = [0.72608, 0.21680, 0.02285, 0.01045, 0.00880, 0.01502];

/// The name of the last row of [`surnames`], for everyone with a rarer name.
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
    /// The name in upper case, letters only; or [`ALL_OTHER_NAMES`].
    pub name: &'static str,
    /// People, in the order of [`CLASSES`].
    pub people: [u64; 6],
}

/// Returns the 100 counties of North Carolina in the Census of 2010, ordered by code.
pub fn counties() -> &'static [County] {
    static COUNTIES: OnceLock<Vec<County>> = OnceLock::new();
    COUNTIES.get_or_init(|| {
        let rows = parse(include_str!("../../data/nc_counties_2010.csv"));
        rows.map(|([fips, name], people)| County { fips, name, people }).collect()
    })
}

/// Returns the 20,000 most common surnames of the Census of 2020 by frequency, followed by [`ALL_OTHER_NAMES`].
pub fn surnames() -> &'static [Surname] {
    static SURNAMES: OnceLock<Vec<Surname>> = OnceLock::new();
    SURNAMES.get_or_init(|| {
        let rows = parse(include_str!("../../data/surnames_2020.csv"));
        rows.map(|([name], people)| Surname { name, people }).collect()
    })
}

/// Parses the rows of a table after its header: `N` texts, then the people of each class.
///
/// Panics if a table is damaged. The tables are built in, and a test reads every row.
fn parse<const N: usize>(table: &'static str) -> impl Iterator<Item = ([&'static str; N], [u64; 6])> {
    table.lines().skip(1).map(|line| {
        let mut fields = line.split(',');
        let mut next = || fields.next().expect("a field for each column");
        let texts = std::array::from_fn(|_| next());
        (texts, std::array::from_fn(|_| next().parse().expect("a number of people")))
    })
}
