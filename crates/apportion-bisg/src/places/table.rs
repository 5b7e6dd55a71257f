//! A table of places of one level.

use std::collections::HashMap;

use super::{Level, Place};
use crate::error::{Error, Result};
use crate::index::Codes;
use crate::numbers::{Numbers, check_row};

/// The FIPS codes of states and DC are smaller, those of Puerto Rico and other territories are not.
const FIRST_TERRITORY: u64 = 57;

/// Places of one level, with the people of each class.
#[derive(Clone, Debug)]
pub struct PlaceTable {
    level: Level,
    classes: usize,
    codes: Codes,
    texts: HashMap<Box<str>, u32>,
    /// Names in lower case, since users write place names in any case.
    folded: HashMap<Box<str>, u32>,
    values: Vec<f64>,
    numbers: Numbers,
}

/// How a person's place is found in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceLookup {
    /// The code that was found. If there is none, the codes of the place at the level of the table, the most precise
    /// first.
    pub codes: Vec<u64>,
    /// The row, from 0, if the table has one of the codes and people there.
    pub row: Option<u32>,
    /// Whether the table has the place, but it is in another state than the person.
    pub is_in_other_state: bool,
}

impl PlaceTable {
    /// Builds a table of places identified by codes.
    pub fn by_code(
        level: Level,
        classes: usize,
        codes: impl IntoIterator<Item = u64>,
        values: Vec<f64>,
        numbers: Numbers,
    ) -> Result<PlaceTable> {
        let codes = codes.into_iter();
        let mut table = PlaceTable::empty(level, classes, values, numbers);
        table.codes.reserve(codes.size_hint().0);
        let mut rows = 0;
        for (row, code) in codes.enumerate() {
            rows = row + 1;
            if check_row(row, table.row(row))? && table.codes.insert(code, row as u32).is_some() {
                return Err(twice(row));
            }
        }
        table.of_rows(rows)
    }

    /// Builds a table of places identified by names.
    pub fn by_name<'n>(
        classes: usize,
        names: impl IntoIterator<Item = &'n str>,
        values: Vec<f64>,
        numbers: Numbers,
    ) -> Result<PlaceTable> {
        let mut table = PlaceTable::empty(Level::Own, classes, values, numbers);
        let mut rows = 0;
        for (row, name) in names.into_iter().enumerate() {
            rows = row + 1;
            if check_row(row, table.row(row))? {
                table.folded.entry(name.trim().to_lowercase().into()).or_insert(row as u32);
                if table.texts.insert(name.trim().into(), row as u32).is_some() {
                    return Err(twice(row));
                }
            }
        }
        table.of_rows(rows)
    }

    fn empty(level: Level, classes: usize, values: Vec<f64>, numbers: Numbers) -> PlaceTable {
        PlaceTable {
            level,
            classes,
            codes: Codes::default(),
            texts: HashMap::new(),
            folded: HashMap::new(),
            values,
            numbers,
        }
    }

    /// Checks that the number of values matches the number of places.
    fn of_rows(self, rows: usize) -> Result<PlaceTable> {
        if self.classes == 0 || self.values.len() != rows * self.classes {
            let problem = format!("the table of places: {} numbers for {rows} places", self.values.len());
            return Err(Error::Model { problem });
        }
        Ok(self)
    }

    /// Returns the level of the places.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Returns the meaning of the numbers.
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// Returns the number of places with people.
    pub fn places(&self) -> usize {
        self.codes.len() + self.texts.len()
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the numbers of a place.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        self.values.get(row * self.classes..(row + 1) * self.classes).unwrap_or_default()
    }

    /// Returns the number of rows, including places without people.
    pub(crate) fn rows(&self) -> usize {
        self.values.len() / self.classes
    }

    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.values.chunks_exact_mut(self.classes)
    }

    /// Finds the row of a person's place.
    #[inline]
    pub(crate) fn find(&self, place: &Place<'_>) -> Option<u32> {
        let code = match self.level {
            Level::Nation | Level::All => return Some(0),
            Level::Own => {
                let name = place.own?.trim();
                return self.texts.get(name).or_else(|| self.folded.get(name.to_lowercase().as_str())).copied();
            }
            Level::Zcta => place.zcta?,
            Level::ZipPrefix => {
                let prefix = place.zcta? / 100;
                // A prefix of another state than the person's says less than the state.
                let is_here = |state: &u64| Level::ZipPrefix.state_of(prefix) == Some(*state);
                return self.codes.get(&prefix).copied().filter(|_| place.state().iter().all(is_here));
            }
            Level::BlockGroup | Level::Tract | Level::County | Level::State => {
                return self.nested_codes(place).find_map(|code| self.codes.get(&code).copied());
            }
        };
        self.codes.get(&code).copied()
    }

    /// Finds the row of a person's place, with its codes.
    pub(crate) fn look_up(&self, place: &Place<'_>) -> PlaceLookup {
        let mut codes: Vec<u64> = match self.level {
            Level::Own | Level::Nation | Level::All => Vec::new(),
            Level::Zcta => place.zcta.into_iter().collect(),
            Level::ZipPrefix => place.zcta.iter().map(|zcta| zcta / 100).collect(),
            Level::BlockGroup | Level::Tract | Level::County | Level::State => self.nested_codes(place).collect(),
        };
        codes.dedup();
        let row = self.find(place);
        let known = codes.iter().copied().find(|code| self.codes.contains_key(code));
        if row.is_some() {
            codes = known.into_iter().collect();
        }
        PlaceLookup { row, is_in_other_state: row.is_none() && known.is_some(), codes }
    }

    /// Returns the code of a person's place, for levels whose codes begin with the state.
    pub(crate) fn code_of(&self, place: &Place<'_>) -> Option<u64> {
        self.nested_codes(place).find(|code| self.codes.contains_key(code))
    }

    /// Returns the codes that a person's place may have at the level of the table.
    #[inline]
    fn nested_codes(&self, place: &Place<'_>) -> impl Iterator<Item = u64> {
        let (level, codes) = (self.level, place.code.into_iter().chain(place.wider.into_iter().flatten()));
        codes.filter_map(move |(own, code)| own.widen(code, level))
    }

    /// Returns the states of its places, if their codes contain them.
    pub fn states(&self) -> Vec<u64> {
        let states = self.codes.keys().filter_map(|&code| self.level.widen(code, Level::State));
        let mut states: Vec<u64> = states.collect();
        states.sort_unstable();
        states.dedup();
        states
    }

    /// Keeps only the places of one state. The state of a ZIP code is that of its first three digits.
    pub fn within(mut self, state: u64) -> PlaceTable {
        let level = self.level;
        self.codes.retain(|&code, _| level.state_of(code).is_none_or(|own| own == state));
        self
    }

    /// Returns the people of each class in all places.
    pub fn sums(&self) -> Vec<f64> {
        self.sum_rows(self.codes.values().chain(self.texts.values()).copied().collect())
    }

    /// Returns the people of each class in the 50 states and DC if the table covers several states, otherwise in all places.
    fn national_sums(&self) -> Vec<f64> {
        let is_domestic = |code: u64| self.level.widen(code, Level::State).is_some_and(|state| state < FIRST_TERRITORY);
        let rows: Vec<u32> = self.codes.iter().filter(|(code, _)| is_domestic(**code)).map(|(_, &row)| row).collect();
        if rows.is_empty() { self.sums() } else { self.sum_rows(rows) }
    }

    fn sum_rows(&self, mut rows: Vec<u32>) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes];
        // In row order, since floating-point sums depend on the order.
        rows.sort_unstable();
        for row in rows {
            sums.iter_mut().zip(self.row(row as usize)).for_each(|(sum, value)| *sum += value);
        }
        sums
    }

    /// Returns the table of the larger places that contain these places, summed; `None` for shares, which cannot be
    /// summed without the number of people.
    pub(crate) fn widened(&self, to: Level) -> Option<PlaceTable> {
        if self.numbers == Numbers::Shares {
            return None;
        }
        if to == Level::All {
            let is_by_zip = matches!(self.level, Level::Zcta | Level::ZipPrefix);
            let (level, sums) = match self.states().len() {
                0 | 1 if !is_by_zip => (Level::All, self.sums()),
                _ => (Level::Nation, self.national_sums()),
            };
            let mut all = PlaceTable::empty(level, self.classes, sums, self.numbers);
            all.codes.insert(0, 0);
            return Some(all);
        }
        let mut wide = PlaceTable::empty(to, self.classes, Vec::new(), self.numbers);
        let mut own: Vec<(u32, u64)> = self.codes.iter().map(|(&code, &row)| (row, code)).collect();
        own.sort_unstable();
        for (row, code) in own {
            let next = wide.codes.len() as u32;
            let row_of_wider = *wide.codes.entry(self.level.widen(code, to)?).or_insert(next) as usize;
            wide.values.resize(wide.codes.len() * self.classes, 0.0);
            let into = &mut wide.values[row_of_wider * self.classes..(row_of_wider + 1) * self.classes];
            into.iter_mut().zip(self.row(row as usize)).for_each(|(sum, value)| *sum += value);
        }
        (!wide.codes.is_empty()).then_some(wide)
    }
}

fn twice(row: usize) -> Error {
    Error::TableRow { row, problem: "the place is repeated; keep one row, or add them up".into() }
}
