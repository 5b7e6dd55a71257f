//! A table of places of one level, and the people of each class there.

use std::collections::HashMap;

use super::{Level, Place};
use crate::error::{Error, Result};
use crate::index::Codes;
use crate::numbers::{Numbers, check_row};

/// Places of one kind, and the people of each class there.
#[derive(Clone, Debug)]
pub struct PlaceTable {
    level: Level,
    classes: usize,
    codes: Codes,
    texts: HashMap<Box<str>, u32>,
    /// Names in small letters: people write the names of places in any.
    folded: HashMap<Box<str>, u32>,
    values: Vec<f64>,
    numbers: Numbers,
}

impl PlaceTable {
    /// Places by their codes.
    pub fn by_code(
        level: Level,
        classes: usize,
        codes: impl IntoIterator<Item = u64>,
        values: Vec<f64>,
        numbers: Numbers,
    ) -> Result<PlaceTable> {
        let mut table = PlaceTable::empty(level, classes, values, numbers);
        let mut rows = 0;
        for (row, code) in codes.into_iter().enumerate() {
            rows = row + 1;
            if check_row(row, table.row(row))? && table.codes.insert(code, row as u32).is_some() {
                return Err(twice(row));
            }
        }
        table.of_rows(rows)
    }

    /// Places by their names.
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

    /// Refuses numbers that are not those of so many places.
    fn of_rows(self, rows: usize) -> Result<PlaceTable> {
        if self.classes == 0 || self.values.len() != rows * self.classes {
            let problem = format!("the table of places: {} numbers for {rows} places", self.values.len());
            return Err(Error::Model { problem });
        }
        Ok(self)
    }

    /// What kind of places these are.
    pub fn level(&self) -> Level {
        self.level
    }

    /// What its numbers are.
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// How many places have people.
    pub fn places(&self) -> usize {
        self.codes.len() + self.texts.len()
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// The numbers of a place.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        self.values.get(row * self.classes..(row + 1) * self.classes).unwrap_or_default()
    }

    pub(crate) fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.values.chunks_exact_mut(self.classes)
    }

    /// Finds the place that a person is in.
    #[inline]
    pub(crate) fn find(&self, place: &Place<'_>) -> Option<u32> {
        let code = match self.level {
            Level::Nation | Level::All => return Some(0),
            Level::Own => {
                let name = place.own?.trim();
                return self.texts.get(name).or_else(|| self.folded.get(name.to_lowercase().as_str())).copied();
            }
            Level::Zcta => place.zcta?,
            level @ (Level::BlockGroup | Level::Tract | Level::County | Level::State) => {
                let codes = place.code.iter().chain(place.wider.iter().flatten());
                let mut known = codes.filter_map(|(own, code)| own.widen(*code, level));
                return known.find_map(|code| self.codes.get(&code).copied());
            }
        };
        self.codes.get(&code).copied()
    }

    /// The states that its places are in, where their codes say so.
    pub fn states(&self) -> Vec<u64> {
        let states = self.codes.keys().filter_map(|&code| self.level.widen(code, Level::State));
        let mut states: Vec<u64> = states.collect();
        states.sort_unstable();
        states.dedup();
        states
    }

    /// The places of one state alone.
    pub fn within(mut self, state: u64) -> PlaceTable {
        let level = self.level;
        self.codes.retain(|&code, _| level.widen(code, Level::State).is_none_or(|own| own == state));
        self
    }

    /// The people of each class in all places together.
    pub fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes];
        // In the order of the rows: the last bits of a sum depend on it.
        let mut rows: Vec<u32> = self.codes.values().chain(self.texts.values()).copied().collect();
        rows.sort_unstable();
        for row in rows {
            sums.iter_mut().zip(self.row(row as usize)).for_each(|(sum, value)| *sum += value);
        }
        sums
    }

    /// The larger places that these are in, with the people of all of them. Shares of unknown people cannot be summed.
    pub(crate) fn widened(&self, to: Level) -> Option<PlaceTable> {
        if self.numbers == Numbers::Shares {
            return None;
        }
        if to == Level::All {
            let is_nation = self.level == Level::Zcta || self.states().len() > 1;
            let level = if is_nation { Level::Nation } else { Level::All };
            let mut all = PlaceTable::empty(level, self.classes, self.sums(), self.numbers);
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
    Error::TableRow { row, problem: "its place is there twice; leave one of them, or add them up".into() }
}
