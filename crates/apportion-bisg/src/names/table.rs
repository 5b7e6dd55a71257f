//! A table of names and their class shares.

use std::borrow::Cow;

use super::cleaning::NamePart;
use super::lookup::{MISSING_FIRST_NAMES, NameId, NameMatch, OTHERS, Scratch, find, of_table, short_name};
use crate::error::{Error, Result};
use crate::index::Index;
use crate::numbers::{Numbers, check_row, divide, normalize};

/// Number of names that are looked up together.
const AT_ONCE: usize = 64;

/// Names with P(class | name) or P(name | class).
#[derive(Clone, Debug)]
pub struct NameTable {
    classes: usize,
    index: Index,
    /// Row by row: P(class | name), which sums to one, or P(name | class) as given.
    values: Vec<f64>,
    is_key_given_class: bool,
    /// The share of all people who have each name.
    rates: Option<Vec<f64>>,
    /// P(class) among all people of the table.
    margin: Option<Vec<f64>>,
    others: Option<u32>,
    /// The names of a voter list, which are looked up if a name is not found.
    voter_list: Option<VoterList>,
    /// Whether the names are first names.
    is_of_first_names: bool,
}

/// A row whose numbers are used for a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NameRow {
    /// Whether it is a row of the voter list rather than the table.
    pub is_on_voter_list: bool,
    /// The row of the table or the voter list, from 0.
    pub row: usize,
    /// P(class | name), or P(name | class) if the table has it.
    pub values: Vec<f64>,
}

/// The names of a voter list. Their numbers follow those of the table.
#[derive(Clone, Debug)]
struct VoterList {
    index: Index,
    /// The row of its first name.
    first: u32,
}

impl NameTable {
    /// Builds a table from one number per name and class, row by row, and optionally the number of people per
    /// name. Names whose numbers are all zero or all missing are ignored.
    pub fn new<'n>(
        classes: usize,
        names: impl IntoIterator<Item = &'n str>,
        mut values: Vec<f64>,
        numbers: Numbers,
        counts: Option<Vec<f64>>,
    ) -> Result<NameTable> {
        let names = names.into_iter();
        let (mut index, mut scratch, mut others) =
            (Index::with_capacity(names.size_hint().0), Scratch::default(), None);
        let mut alike = Vec::new();
        let mut rows = 0;
        for (row, name) in names.enumerate() {
            rows = row + 1;
            if !check_row(row, values.get(row * classes..rows * classes).unwrap_or_default())? {
                continue;
            }
            // Most lists are in upper case and without punctuation. Cleaning them would take most of the time.
            let is_clean = name.bytes().all(|letter| letter.is_ascii_uppercase());
            let (upper, cleaned) = if is_clean { (Cow::from(name), None) } else { cleaned(name, &mut scratch) };
            if OTHERS.contains(&&*upper) {
                others = Some(row as u32);
            }
            if !index.insert(&upper, row as u32) {
                return Err(Error::TableRow { row, problem: "the name is repeated; keep one row".into() });
            }
            alike.extend(cleaned.map(|cleaned| (cleaned, row as u32)));
        }
        // A person whose name is one of these texts gets the row for all other names.
        if let Some(row) = others {
            OTHERS.into_iter().for_each(|name| _ = index.insert(name, row));
        }
        // The cleaned form of a name is added only if the table does not already contain it.
        alike.into_iter().for_each(|(name, row)| _ = index.insert(&name, row));
        expect(values.len() == rows * classes, || format!("{} numbers for {rows} names", values.len()))?;
        expect(counts.as_ref().is_none_or(|counts| counts.len() == rows), || {
            "the number of counts differs from the number of names".into()
        })?;
        expect(!index.is_empty(), || "it contains no usable name".into())?;
        let mut counts = counts;
        if let Some((row, _)) =
            counts.iter().flatten().enumerate().find(|(_, count)| !(**count >= 0.0 && count.is_finite()))
        {
            return Err(Error::TableRow { row, problem: "its number of people is missing or negative".into() });
        }
        if numbers == Numbers::People {
            counts = Some(values.chunks_exact(classes).map(|row| row.iter().sum()).collect());
        }
        // People with ignored names are not counted.
        for (count, row) in counts.iter_mut().flatten().zip(values.chunks_exact(classes)) {
            if !row.iter().any(|value| *value > 0.0) {
                *count = 0.0;
            }
        }
        if numbers != Numbers::KeyGivenClass {
            values.chunks_exact_mut(classes).for_each(|row| _ = normalize(row));
        }
        let margin = counts.as_ref().filter(|_| numbers != Numbers::KeyGivenClass).map(|counts| {
            let mut margin = vec![0.0; classes];
            for (row, count) in values.chunks_exact(classes).zip(counts).filter(|(row, _)| row[0].is_finite()) {
                margin.iter_mut().zip(row).for_each(|(sum, share)| *sum += count * share);
            }
            margin
        });
        let margin = margin.filter(|margin| margin.iter().sum::<f64>() > 0.0).map(|mut margin| {
            normalize(&mut margin);
            margin
        });
        let rates = margin.as_ref().and(counts).map(|mut counts| {
            normalize(&mut counts);
            counts
        });
        Ok(NameTable {
            classes,
            index,
            values,
            is_key_given_class: numbers == Numbers::KeyGivenClass,
            rates,
            margin,
            others,
            voter_list: None,
            is_of_first_names: false,
        })
    }

    /// Returns the number of names.
    pub fn names(&self) -> usize {
        self.values.len() / self.classes
    }

    /// Returns whether the table has a row for all other names.
    pub fn has_others(&self) -> bool {
        self.others.is_some()
    }

    /// Returns P(class) among the people of the table, if it has the number of people per name.
    pub fn margin(&self) -> Option<&[f64]> {
        self.margin.as_deref()
    }

    /// Returns whether the numbers are P(name | class) rather than P(class | name).
    pub fn is_key_given_class(&self) -> bool {
        self.is_key_given_class
    }

    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// Adds a voter list for names that are not in this table. Both must have P(class | name), and the list must describe a
    /// population with the class shares of this table.
    pub fn with_voter_list(mut self, list: NameTable) -> Result<NameTable> {
        let alike = self.classes == list.classes && !self.is_key_given_class && !list.is_key_given_class;
        expect(alike, || "the voter list has other classes, or one of the tables has P(name | class)".into())?;
        let first = self.names() as u32;
        // fBISG adds noise to P(name | class), because a name may be unseen in a class. The shares of the list are smoothed and
        // need no noise, so it is made negligible.
        self.rates.iter_mut().for_each(|rates| rates.resize(rates.len() + list.names(), 1.0));
        self.values.extend_from_slice(&list.values);
        self.voter_list = Some(VoterList { index: list.index, first });
        Ok(self)
    }

    /// Finds a name.
    pub fn find(&self, name: &str, scratch: &mut Scratch) -> NameId {
        let part = if self.is_of_first_names { NamePart::Given } else { NamePart::Surname };
        let id = find(name, part, scratch, |name| self.index.get(name));
        if id.kind != NameMatch::None {
            return id;
        }
        if self.is_of_first_names && MISSING_FIRST_NAMES.contains(&scratch.upper.as_str()) {
            return NameId::MISSING;
        }
        match &self.voter_list {
            Some(list) if id.is_name => list.find(name, part, scratch).unwrap_or(id),
            Some(_) | None => id,
        }
    }

    /// Treats the names as first names: NULL, NONE and similar texts are missing values, unless the table has
    /// them.
    pub(crate) fn of_first_names(mut self) -> NameTable {
        self.is_of_first_names = true;
        self
    }

    /// Finds many names. Lookups wait mostly for memory, so several are in flight at once.
    pub fn find_all<'n>(&self, names: impl IntoIterator<Item = &'n str>, scratch: &mut Scratch, ids: &mut Vec<NameId>) {
        let mut names = names.into_iter();
        let mut some: Vec<(&str, Option<u128>)> = Vec::with_capacity(AT_ONCE);
        let mut rows = Vec::with_capacity(AT_ONCE);
        loop {
            some.clear();
            some.extend(names.by_ref().take(AT_ONCE).map(|name| (name, short_name(name, scratch))));
            if some.is_empty() {
                return;
            }
            rows.clear();
            rows.extend(some.iter().map(|(_, short)| self.index.get_packed((*short)?)));
            ids.extend(some.iter().zip(&rows).map(|((name, _), row)| match row {
                Some(row) => NameId::at(NameMatch::Exact, *row),
                None => self.find(name, scratch),
            }));
        }
    }

    /// Returns the numbers of a row.
    #[inline]
    pub(crate) fn row(&self, row: u32) -> &[f64] {
        let start = row as usize * self.classes;
        &self.values[start..start + self.classes]
    }

    /// Returns the row for all other names.
    #[inline]
    pub(crate) fn others(&self) -> Option<u32> {
        self.others
    }

    /// Multiplies scores by P(name | class) + noise and returns whether the name is known. The table must hold
    /// P(name | class).
    pub(crate) fn multiply_likelihoods(&self, id: NameId, noise: f64, scores: &mut [f64]) -> bool {
        let Some([first, second]) = self.rows_of(id) else { return false };
        // The parts are weighted by their shares, not by their frequency.
        let rate = self.rates.as_ref().map_or(1.0, |rates| (rates[first as usize] + rates[second as usize]) / 2.0);
        let pairs = self.row(first).iter().zip(self.row(second));
        scores.iter_mut().zip(pairs).for_each(|(score, (one, other))| *score *= (one + other) / 2.0 * rate + noise);
        true
    }

    /// Returns the rows used for a name: its own, those of its parts, or the row for all other names.
    #[inline]
    pub(crate) fn rows_of(&self, id: NameId) -> Option<[u32; 2]> {
        match id.kind {
            NameMatch::None => self.others.filter(|_| id.is_name).map(|others| [others; 2]),
            NameMatch::Exact | NameMatch::Cleaned | NameMatch::Part | NameMatch::BothParts | NameMatch::VoterList => {
                Some(id.rows)
            }
        }
    }

    /// Returns the rows used for a name, with their numbers as given.
    pub(crate) fn rows_behind(&self, id: NameId) -> Vec<NameRow> {
        let mut rows = self.rows_of(id).map(Vec::from).unwrap_or_default();
        rows.dedup();
        let behind = |row: u32| {
            let of_list = self.voter_list.as_ref().and_then(|list| row.checked_sub(list.first));
            let mut values = self.row(row).to_vec();
            // The margin of a table that was converted to P(name | class).
            if let Some(margin) = self.margin.as_ref().filter(|_| self.is_key_given_class) {
                values.iter_mut().zip(margin).for_each(|(value, share)| *value *= share);
            }
            NameRow { is_on_voter_list: of_list.is_some(), row: of_list.unwrap_or(row) as usize, values }
        };
        rows.into_iter().map(behind).collect()
    }

    /// Converts P(class | name) to numbers proportional to P(name | class), using the table's own margin.
    pub(crate) fn into_key_given_class(mut self) -> Option<NameTable> {
        if !self.is_key_given_class {
            let margin = self.margin.as_ref()?;
            for row in self.values.chunks_exact_mut(self.classes) {
                divide(row, margin);
            }
            self.is_key_given_class = true;
        }
        Some(self)
    }
}

/// Returns the keys of a name, as [`of_table`] does.
fn cleaned<'n>(name: &str, scratch: &mut Scratch) -> (Cow<'n, str>, Option<String>) {
    let (upper, cleaned) = of_table(name, scratch);
    (upper.into(), cleaned)
}

impl VoterList {
    /// Finds a name, or parts of it.
    fn find(&self, name: &str, part: NamePart, scratch: &mut Scratch) -> Option<NameId> {
        let id = find(name, part, scratch, |name| self.index.get(name).map(|row| row + self.first));
        (id.kind != NameMatch::None).then_some(NameId { kind: NameMatch::VoterList, ..id })
    }
}

fn expect(holds: bool, problem: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Model { problem: format!("the table of names: {}", problem()) }) }
}
