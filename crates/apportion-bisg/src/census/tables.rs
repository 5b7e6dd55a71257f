//! The built-in lists of names and places by class: their names, descriptions and contents.

use std::sync::OnceLock;

use super::packed;
use super::{ALL_OTHER_NAMES, CLASSES};
use crate::numbers::Numbers;
use crate::places::Level;

/// P(unlisted | class) in the Census of 2010: the people of the row for all other names, divided by all people. Computed by
/// `data/make.py`. The Census of 2020 does not publish its own.
pub const UNLISTED: [f64; CLASSES.len()] =
    [0.103066626, 0.070599385, 0.083390590, 0.161552074, 0.115596262, 0.127822221];

/// The classes of the voter lists, in order. Here, other includes American Indian and Alaska Native.
pub const VOTER_CLASSES: [&str; 5] = ["white", "black", "hispanic", "asian", "other"];

/// A built-in table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CensusTable {
    /// Surnames of the Census of 2020.
    Surnames2020,
    /// Surnames of the Census of 2010.
    Surnames2010,
    /// First names of the Census of 2020.
    FirstNames2020,
    /// Surnames of registered voters in six Southern states.
    VoterSurnames,
    /// First names of registered voters in six Southern states.
    VoterFirstNames,
    /// Block groups of the Census of 2020.
    BlockGroups2020,
    /// Tracts of the Census of 2020, as sums of block groups.
    Tracts2020,
    /// Counties of the Census of 2020.
    Counties2020,
    /// States of the Census of 2020, as sums of counties.
    States2020,
    /// ZIP code tabulation areas of the Census of 2020.
    Zctas2020,
    /// Counties of the Census of 2010.
    Counties2010,
    /// ZIP code tabulation areas of the Census of 2010.
    Zctas2010,
}

/// The contents of a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CensusRows {
    /// Keys line by line. The text of codes is written on first use.
    text: OnceLock<String>,
    /// Codes of places, and their number of digits.
    codes: Option<(usize, Vec<u64>)>,
    classes: usize,
    /// Number of people per key, if the list has it.
    pub counts: Option<Vec<u64>>,
    /// The smallest number of people that is consistent with the shares of each name, up to 1,000, for a list without
    /// counts.
    pub samples: Option<Vec<u16>>,
    /// Numbers per key in the order of [`CensusTable::classes`], key by key; NaN if a place has no people.
    pub values: Vec<f64>,
}

impl CensusRows {
    pub(super) fn named(text: String, classes: usize, values: Vec<f64>) -> CensusRows {
        CensusRows { text: text.into(), codes: None, classes, counts: None, samples: None, values }
    }

    pub(super) fn coded(level: Level, codes: Vec<u64>, values: Vec<f64>) -> CensusRows {
        let codes = Some((level.digits().unwrap_or_default() as usize, codes));
        CensusRows { text: OnceLock::new(), codes, classes: CLASSES.len(), counts: None, samples: None, values }
    }

    /// Returns the keys in row order. The key of a county is its code, state and name, separated by tabs.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let text = self.text.get_or_init(|| {
            let codes = self.codes.iter().flat_map(|(digits, codes)| codes.iter().map(move |code| (*digits, code)));
            let codes: Vec<String> = codes.map(|(digits, code)| format!("{code:0digits$}")).collect();
            codes.join("\n")
        });
        text.split('\n')
    }

    /// Returns the codes of places in row order; `None` for names.
    pub fn codes(&self) -> Option<Vec<u64>> {
        match &self.codes {
            Some((_, codes)) => Some(codes.clone()),
            None => self.keys().map(|key| key.split('\t').next()?.parse().ok()).collect(),
        }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / self.classes
    }

    /// Returns the sums of the rows whose codes are the same after division. Equal codes must be neighbors.
    fn summed(&self, level: Level, divisor: u64) -> CensusRows {
        let (mut codes, mut values): (Vec<u64>, Vec<f64>) = (Vec::new(), Vec::new());
        for (code, people) in self.codes().into_iter().flatten().zip(self.values.chunks_exact(self.classes)) {
            if codes.last() != Some(&(code / divisor)) {
                codes.push(code / divisor);
                values.resize(codes.len() * self.classes, 0.0);
            }
            let last = values.len() - self.classes;
            values[last..].iter_mut().zip(people).for_each(|(sum, people)| *sum += people);
        }
        CensusRows::coded(level, codes, values)
    }

    /// Adds the row for all other names to a list that lacks it: U_r = M_r · u_r / (1 − u_r) people of class r, where M_r
    /// people are on the list and u_r is the share of unlisted people in 2010. The table then covers all people, and the
    /// row has the likelihoods u_r.
    fn with_all_other_names(mut self) -> CensusRows {
        let mut people = [0.0; CLASSES.len()];
        for (shares, count) in self.values.chunks_exact(self.classes).zip(self.counts.iter().flatten()) {
            let sum: f64 = shares.iter().sum();
            people.iter_mut().zip(shares).for_each(|(all, share)| *all += *count as f64 * share / sum);
        }
        people.iter_mut().zip(UNLISTED).for_each(|(all, share)| *all *= share / (1.0 - share));
        let sum: f64 = people.iter().sum();
        self.values.extend(people.iter().map(|people| people / sum));
        self.counts.iter_mut().for_each(|counts| counts.push(sum.round() as u64));
        let text = self.text.into_inner().unwrap_or_default();
        CensusRows { text: format!("{text}\n{ALL_OTHER_NAMES}").into(), ..self }
    }
}

impl CensusTable {
    /// All tables.
    pub const ALL: [CensusTable; 12] = [
        CensusTable::Surnames2020,
        CensusTable::FirstNames2020,
        CensusTable::VoterSurnames,
        CensusTable::VoterFirstNames,
        CensusTable::BlockGroups2020,
        CensusTable::Tracts2020,
        CensusTable::Zctas2020,
        CensusTable::Counties2020,
        CensusTable::States2020,
        CensusTable::Surnames2010,
        CensusTable::Counties2010,
        CensusTable::Zctas2010,
    ];

    /// Returns the name by which users select the table.
    pub fn name(self) -> &'static str {
        match self {
            CensusTable::Surnames2020 => "surnames-2020",
            CensusTable::Surnames2010 => "surnames-2010",
            CensusTable::FirstNames2020 => "first-names-2020",
            CensusTable::VoterSurnames => "voter-surnames",
            CensusTable::VoterFirstNames => "voter-first-names",
            CensusTable::BlockGroups2020 => "block-groups-2020",
            CensusTable::Tracts2020 => "tracts-2020",
            CensusTable::Counties2020 => "counties-2020",
            CensusTable::States2020 => "states-2020",
            CensusTable::Zctas2020 => "zctas-2020",
            CensusTable::Counties2010 => "counties-2010",
            CensusTable::Zctas2010 => "zctas-2010",
        }
    }

    /// Finds a table by name.
    pub fn named(name: &str) -> Option<CensusTable> {
        CensusTable::ALL.into_iter().find(|table| table.name() == name)
    }

    /// Returns a one-line description.
    pub fn title(self) -> &'static str {
        match self {
            CensusTable::Surnames2020 => "surnames of about 100 people or more, and all other names (estimated)",
            CensusTable::Surnames2010 => "surnames of 100 people or more, and all other names",
            CensusTable::FirstNames2020 => "first names of 90 people or more, and all other names",
            CensusTable::VoterSurnames => {
                "surnames of registered voters in six Southern states, for names not on the Census list"
            }
            CensusTable::VoterFirstNames => {
                "first names of registered voters in six Southern states, for names not on the Census list"
            }
            CensusTable::BlockGroups2020 => "adults by block group: 50 states, DC and Puerto Rico",
            CensusTable::Tracts2020 => "adults by tract: sums of the block groups",
            CensusTable::Counties2020 => "adults by county: sums of the block groups",
            CensusTable::States2020 => "adults by state: sums of the block groups",
            CensusTable::Zctas2020 => "adults by ZIP code tabulation area",
            CensusTable::Counties2010 => "people of all ages by county: 50 states, DC and Puerto Rico",
            CensusTable::Zctas2010 => "distribution of each class over ZIP code tabulation areas",
        }
    }

    /// Returns the people or names that the table counts, for example `adults, Census 2020`.
    pub fn population(self) -> &'static str {
        match self {
            CensusTable::Surnames2020 => "surnames, Census 2020",
            CensusTable::Surnames2010 => "surnames, Census 2010",
            CensusTable::FirstNames2020 => "first names, Census 2020",
            CensusTable::VoterSurnames => "surnames of registered voters",
            CensusTable::VoterFirstNames => "first names of registered voters",
            CensusTable::BlockGroups2020
            | CensusTable::Tracts2020
            | CensusTable::Counties2020
            | CensusTable::States2020
            | CensusTable::Zctas2020 => "adults, Census 2020",
            CensusTable::Counties2010 => "residents of all ages, Census 2010",
            CensusTable::Zctas2010 => "residents, Census 2010",
        }
    }

    /// Returns the usual name of the key column.
    pub fn key(self) -> &'static str {
        match self {
            CensusTable::Surnames2020 | CensusTable::Surnames2010 | CensusTable::VoterSurnames => "surname",
            CensusTable::FirstNames2020 | CensusTable::VoterFirstNames => "first_name",
            CensusTable::BlockGroups2020 => "block_group",
            CensusTable::Tracts2020 => "tract",
            CensusTable::Counties2020 | CensusTable::Counties2010 => "county_fips",
            CensusTable::States2020 => "state_fips",
            CensusTable::Zctas2020 | CensusTable::Zctas2010 => "zcta5",
        }
    }

    /// Returns the level of the places; `None` for names.
    pub fn level(self) -> Option<Level> {
        match self {
            CensusTable::Surnames2020
            | CensusTable::Surnames2010
            | CensusTable::FirstNames2020
            | CensusTable::VoterSurnames
            | CensusTable::VoterFirstNames => None,
            CensusTable::BlockGroups2020 => Some(Level::BlockGroup),
            CensusTable::Tracts2020 => Some(Level::Tract),
            CensusTable::Counties2020 | CensusTable::Counties2010 => Some(Level::County),
            CensusTable::States2020 => Some(Level::State),
            CensusTable::Zctas2020 | CensusTable::Zctas2010 => Some(Level::Zcta),
        }
    }

    /// Returns whether the table is a voter list, which is used for names that are not on the Census list.
    pub fn is_voter_list(self) -> bool {
        matches!(self, CensusTable::VoterSurnames | CensusTable::VoterFirstNames)
    }

    /// Returns the classes of the numbers, in order.
    pub fn classes(self) -> &'static [&'static str] {
        if self.is_voter_list() { &VOTER_CLASSES } else { &CLASSES }
    }

    /// Returns the number of rows.
    pub fn rows(self) -> usize {
        match self {
            CensusTable::Surnames2020 => 156_620,
            CensusTable::Surnames2010 => 162_254,
            CensusTable::FirstNames2020 => 53_616,
            CensusTable::VoterSurnames => 338_167,
            CensusTable::VoterFirstNames => 135_776,
            CensusTable::BlockGroups2020 => 242_335,
            CensusTable::Tracts2020 => 85_395,
            CensusTable::Counties2020 | CensusTable::Counties2010 => 3_221,
            CensusTable::States2020 => 52,
            CensusTable::Zctas2020 => 33_774,
            CensusTable::Zctas2010 => 33_120,
        }
    }

    /// Returns the definitions of the classes in the table, as (class, definition).
    pub fn definitions(self) -> [(&'static str, &'static str); CLASSES.len()] {
        let other = match self {
            CensusTable::Counties2010 => "two or more races, or some other race, not Hispanic",
            CensusTable::VoterSurnames | CensusTable::VoterFirstNames => {
                "all other voters; American Indian and Alaska Native voters are included"
            }
            _ => "two or more races, not Hispanic; some other race alone is spread over the other classes",
        };
        let aian = match self.is_voter_list() {
            true => "not a class of its own: it has the likelihoods of other",
            false => "American Indian or Alaska Native, not Hispanic",
        };
        [
            ("white", "White, not Hispanic"),
            ("black", "Black or African American, not Hispanic"),
            ("hispanic", "Hispanic or Latino of any race"),
            ("asian", "Asian, Native Hawaiian or other Pacific Islander, not Hispanic"),
            ("aian", aian),
            ("other", other),
        ]
    }

    /// Returns the meaning of the numbers.
    pub fn numbers(self) -> Numbers {
        match (self, self.level()) {
            (CensusTable::Zctas2010, _) => Numbers::KeyGivenClass,
            (_, Some(_)) => Numbers::People,
            (_, None) => Numbers::Shares,
        }
    }

    /// Returns the table's section of PROVENANCE.md.
    pub fn provenance(self) -> &'static str {
        let mark = format!("`data/{}`", self.file());
        let mut sections = include_str!("../../data/PROVENANCE.md").split("\n## ");
        sections.find(|section| section.contains(&mark)).unwrap_or_default().trim_end()
    }

    fn file(self) -> &'static str {
        match self {
            CensusTable::Surnames2020 => "surnames_2020.bin",
            CensusTable::Surnames2010 => "surnames_2010.bin",
            CensusTable::FirstNames2020 => "first_names_2020.bin",
            CensusTable::VoterSurnames => "voter_surnames.bin",
            CensusTable::VoterFirstNames => "voter_first_names.bin",
            CensusTable::BlockGroups2020 | CensusTable::Tracts2020 => "block_groups_2020.bin",
            CensusTable::Counties2020 | CensusTable::States2020 => "us_counties_2020.bin",
            CensusTable::Zctas2020 => "zctas_2020.bin",
            CensusTable::Counties2010 => "us_counties_2010.bin",
            CensusTable::Zctas2010 => "zctas_2010.bin",
        }
    }

    /// Unpacks the table, which takes a few milliseconds, or tens of them for the largest.
    ///
    /// Panics if a table is damaged. The tables are built in, and a test reads every row.
    pub fn load(self) -> CensusRows {
        match self {
            CensusTable::Surnames2020 => {
                let rows = packed::names(include_bytes!("../../data/surnames_2020.bin"), 2, 10_000.0);
                rows.with_all_other_names()
            }
            // Shares are stored as whole fractions of a percent, exactly as the Census printed them.
            CensusTable::Surnames2010 => packed::names(include_bytes!("../../data/surnames_2010.bin"), 4, 600_000.0),
            CensusTable::FirstNames2020 => {
                packed::names(include_bytes!("../../data/first_names_2020.bin"), 2, 10_000.0)
            }
            CensusTable::VoterSurnames => packed::voter_names(include_bytes!("../../data/voter_surnames.bin")),
            CensusTable::VoterFirstNames => packed::voter_names(include_bytes!("../../data/voter_first_names.bin")),
            CensusTable::BlockGroups2020 => {
                packed::coded(include_bytes!("../../data/block_groups_2020.bin"), Level::BlockGroup)
            }
            CensusTable::Tracts2020 => CensusTable::BlockGroups2020.load().summed(Level::Tract, 10),
            CensusTable::Counties2020 => packed::keyed(include_bytes!("../../data/us_counties_2020.bin"), 4),
            CensusTable::States2020 => CensusTable::Counties2020.load().summed(Level::State, 1_000),
            CensusTable::Zctas2020 => packed::coded(include_bytes!("../../data/zctas_2020.bin"), Level::Zcta),
            CensusTable::Counties2010 => packed::keyed(include_bytes!("../../data/us_counties_2010.bin"), 4),
            CensusTable::Zctas2010 => packed::keyed(include_bytes!("../../data/zctas_2010.bin"), 8),
        }
    }
}
