//! Complete Census lists of names and places by class, in packed form.

use super::CLASSES;
use crate::numbers::Numbers;

/// Number of classes.
const K: usize = CLASSES.len();

/// A built-in table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CensusTable {
    /// Surnames of the Census of 2020.
    Surnames2020,
    /// Surnames of the Census of 2010.
    Surnames2010,
    /// First names of the Census of 2020.
    FirstNames2020,
    /// Counties of the Census of 2010.
    Counties2010,
    /// ZIP code tabulation areas of the Census of 2010.
    Zctas2010,
}

/// The contents of a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CensusRows {
    text: String,
    /// Number of people per key, if the list has it.
    pub counts: Option<Vec<u64>>,
    /// Numbers per key in the order of [`CLASSES`], key by key; NaN if a place has no people.
    pub values: Vec<f64>,
}

impl CensusRows {
    /// Returns the keys in row order. The key of a county is its code, state and name, separated by tabs.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.text.split('\n')
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / K
    }
}

impl CensusTable {
    /// All tables.
    pub const ALL: [CensusTable; 5] = [
        CensusTable::Surnames2020,
        CensusTable::Surnames2010,
        CensusTable::FirstNames2020,
        CensusTable::Counties2010,
        CensusTable::Zctas2010,
    ];

    /// Returns the name by which users select the table.
    pub fn name(self) -> &'static str {
        match self {
            CensusTable::Surnames2020 => "surnames-2020",
            CensusTable::Surnames2010 => "surnames-2010",
            CensusTable::FirstNames2020 => "first-names-2020",
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
            CensusTable::Surnames2020 => "surnames of about 100 people or more, with shares by class",
            CensusTable::Surnames2010 => "surnames of 100 people or more, and all other names",
            CensusTable::FirstNames2020 => "first names of 90 people or more, and all other names",
            CensusTable::Counties2010 => "people of all ages by county: 50 states, DC and Puerto Rico",
            CensusTable::Zctas2010 => "distribution of each class over ZIP code tabulation areas",
        }
    }

    /// Returns the people or names that the table counts, for example `residents of all ages by county, 2010 Census`.
    pub fn population(self) -> &'static str {
        match self {
            CensusTable::Surnames2020 => "surnames of the 2020 Census",
            CensusTable::Surnames2010 => "surnames of the 2010 Census",
            CensusTable::FirstNames2020 => "first names of the 2020 Census",
            CensusTable::Counties2010 => "residents of all ages by county, 2010 Census",
            CensusTable::Zctas2010 => "residents by ZIP code area, 2010 Census",
        }
    }

    /// Returns the usual name of the key column.
    pub fn key(self) -> &'static str {
        match self {
            CensusTable::Surnames2020 | CensusTable::Surnames2010 => "surname",
            CensusTable::FirstNames2020 => "first_name",
            CensusTable::Counties2010 => "county_fips",
            CensusTable::Zctas2010 => "zcta5",
        }
    }

    /// Returns the meaning of the numbers.
    pub fn numbers(self) -> Numbers {
        match self {
            CensusTable::Counties2010 => Numbers::People,
            CensusTable::Zctas2010 => Numbers::KeyGivenClass,
            CensusTable::Surnames2020 | CensusTable::Surnames2010 | CensusTable::FirstNames2020 => Numbers::Shares,
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
            CensusTable::Counties2010 => "us_counties_2010.bin",
            CensusTable::Zctas2010 => "zctas_2010.bin",
        }
    }

    fn packed(self) -> &'static [u8] {
        match self {
            CensusTable::Surnames2020 => include_bytes!("../../data/surnames_2020.bin"),
            CensusTable::Surnames2010 => include_bytes!("../../data/surnames_2010.bin"),
            CensusTable::FirstNames2020 => include_bytes!("../../data/first_names_2020.bin"),
            CensusTable::Counties2010 => include_bytes!("../../data/us_counties_2010.bin"),
            CensusTable::Zctas2010 => include_bytes!("../../data/zctas_2010.bin"),
        }
    }

    /// Unpacks the table, which takes a few milliseconds.
    ///
    /// Panics if a table is damaged. The tables are built in, and a test reads every row.
    pub fn load(self) -> CensusRows {
        let bytes = zstd::decode_all(self.packed()).expect("a table that is whole");
        let mut rest = bytes.as_slice();
        let rows = number(take(&mut rest, 4)) as usize;
        let length = number(take(&mut rest, 4)) as usize;
        let text = String::from_utf8(take(&mut rest, length).to_vec()).expect("keys in UTF-8");
        let has_counts = match self.numbers() {
            Numbers::Shares => true,
            Numbers::People | Numbers::KeyGivenClass => false,
        };
        let counts = has_counts.then(|| take(&mut rest, 4 * rows).chunks_exact(4).map(number).collect());
        let mut values = vec![0.0; rows * K];
        // Shares are stored as whole fractions of a percent, exactly as the Census printed them.
        let (width, unit) = match self {
            CensusTable::Surnames2010 => (4, 600_000.0),
            CensusTable::Surnames2020 | CensusTable::FirstNames2020 => (2, 10_000.0),
            CensusTable::Counties2010 => (4, 1.0),
            CensusTable::Zctas2010 => (8, 1.0),
        };
        for class in 0..K {
            let column = take(&mut rest, width * rows).chunks_exact(width);
            for (row, bytes) in column.enumerate() {
                let value = if width == 8 { f64::from_bits(number(bytes)) } else { number(bytes) as f64 / unit };
                values[row * K + class] = value;
            }
        }
        CensusRows { text, counts, values }
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(length);
    *rest = left;
    taken
}

/// Decodes a little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
