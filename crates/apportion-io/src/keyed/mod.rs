//! Tables of names or places by class, in the layouts of the Census, other tools and users.
//!
//! `file` reads such a table, `keys` finds its key columns, `sums` detects the meaning of its numbers,
//! and `place_code` parses the codes of places.

mod file;
mod keys;
mod place_code;
mod sums;
#[cfg(test)]
#[cfg(feature = "files")]
mod tests;

use std::path::{Path, PathBuf};

use apportion::text::{Message, Setting};
use apportion_bisg::{Level, NameTable, Numbers, PlaceTable};

use crate::error::{Error, Result};
use crate::input::{Input, InputOptions};
use crate::table::{Column, MemoryTable};
use file::LoadedFile;

pub use place_code::{PlaceCode, level_of_code, rank_of_column};

/// The kind of keys in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Surnames.
    Surnames,
    /// First names.
    FirstNames,
    /// Places.
    Places,
}

/// Options of the user for a table's columns.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyedOptions<'a> {
    /// Classes in addition to the known ones.
    pub classes: &'a [String],
    /// The prefix of the columns to use if there are several sets, such as `vap_*`.
    pub numbers: Option<&'a str>,
    /// The key column, if it is not recognized by name.
    pub key: Option<&'a str>,
}

/// The keys of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableKeys {
    /// Names of people, or of user-defined places.
    Texts(Vec<String>),
    /// Codes of places.
    Codes(Level, Vec<u64>),
}

impl TableKeys {
    /// Returns a key as text, with leading zeros for codes.
    fn display(&self, row: usize) -> String {
        match self {
            TableKeys::Texts(texts) => texts[row].trim().to_owned(),
            TableKeys::Codes(level, codes) => {
                format!("{:0>width$}", codes[row], width = level.digits().unwrap_or(0) as usize)
            }
        }
    }
}

/// Numbers by class for each key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedTable {
    /// The path of the file, or the name of an embedded table.
    pub path: PathBuf,
    /// The names of the key columns.
    pub key: String,
    /// The keys, row by row.
    pub keys: TableKeys,
    /// The classes, in the order of their columns.
    pub classes: Vec<String>,
    /// Numbers, row by row.
    pub values: Vec<f64>,
    /// Number of people of each key, if there is a column for it.
    pub counts: Option<Vec<f64>>,
    /// The meaning of the numbers.
    pub numbers: Numbers,
}

/// A table read from a file, with notes on the file.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedFile {
    /// The table.
    pub table: KeyedTable,
    /// The kind of keys: given by the user, or recognized by the columns.
    pub subject: Subject,
    /// Numeric columns other than keys, classes and counts.
    pub unused: Vec<String>,
    /// A note on the separator, sheet or encoding, if it is not the default.
    pub format_note: Option<Message>,
}

impl KeyedFile {
    /// Reads a file. The kind of keys is recognized by the columns if `subject` is `None`.
    pub fn read(path: &str, subject: Option<Subject>, options: &KeyedOptions<'_>) -> Result<KeyedFile> {
        file::read_input(&Input::new(&[path.to_owned()], InputOptions::default())?, subject, options)
    }

    /// Reads a table in memory; `name` is used in messages.
    pub fn from_memory(
        name: &str,
        table: &MemoryTable,
        subject: Option<Subject>,
        options: &KeyedOptions<'_>,
    ) -> Result<KeyedFile> {
        let input = Input::from_memory(name, table.clone(), InputOptions::default());
        file::read_input(&input, subject, options)
    }

    /// Reads named columns of the same length; `name` is the name of the table in messages.
    pub fn from_columns(
        name: &str,
        columns: &[(String, Column<'_>)],
        subject: Option<Subject>,
        options: &KeyedOptions<'_>,
    ) -> Result<KeyedFile> {
        let rows = columns.first().map_or(0, |(_, column)| column.len());
        if let Some((other, _)) = columns.iter().find(|(_, column)| column.len() != rows) {
            let problem = format!("its column {other:?} has a different number of rows");
            return Err(Error::file(Path::new(name), problem));
        }
        let loaded = LoadedFile {
            path: PathBuf::from(name),
            names: columns.iter().map(|(name, _)| name.clone()).collect(),
            columns: columns.iter().map(|(_, column)| *column).collect(),
            rows,
            comma_separated: false,
            format_note: None,
        };
        loaded.read(subject, options)
    }
}

impl KeyedTable {
    /// Reads a file.
    pub fn read(path: &str, subject: Subject, options: &KeyedOptions<'_>) -> Result<KeyedTable> {
        KeyedFile::read(path, Some(subject), options).map(|file| file.table)
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.values.len() / self.classes.len()
    }

    /// Returns the level of its places; `Own` for other keys.
    pub fn level(&self) -> Level {
        match &self.keys {
            TableKeys::Texts(_) => Level::Own,
            TableKeys::Codes(level, _) => *level,
        }
    }

    /// Returns the key of a row as text.
    pub fn key_of(&self, row: usize) -> String {
        self.keys.display(row)
    }

    /// Returns the number of people of each key, if known.
    pub fn people(&self) -> Option<Vec<f64>> {
        match self.numbers {
            Numbers::People => Some(self.values.chunks_exact(self.classes.len()).map(|row| row.iter().sum()).collect()),
            Numbers::Shares => self.counts.clone(),
            Numbers::KeyGivenClass => None,
        }
    }

    /// Renames classes. Classes that get the same name are merged: their people or shares are
    /// added.
    pub fn rename(&mut self, crosswalk: &[(String, String)]) -> Result<()> {
        let new = |class: &String| -> String {
            crosswalk.iter().find(|(old, _)| old == class).map_or(class, |(_, new)| new).clone()
        };
        let mut classes: Vec<String> = Vec::new();
        for class in self.classes.iter().map(new) {
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        if classes.len() < self.classes.len() && self.numbers == Numbers::KeyGivenClass {
            return Err(Error::file(
                &self.path,
                "it contains P(key | class), which cannot be added up for merged classes; use people by class",
            ));
        }
        let index = |class: &String| classes.iter().position(|other| *other == new(class)).unwrap_or_default();
        let indices: Vec<usize> = self.classes.iter().map(index).collect();
        let mut values = Vec::with_capacity(self.rows() * classes.len());
        for row in self.values.chunks_exact(self.classes.len()) {
            let start = values.len();
            values.resize(start + classes.len(), 0.0);
            row.iter().zip(&indices).for_each(|(value, index)| values[start + index] += value);
        }
        (self.classes, self.values) = (classes, values);
        Ok(())
    }

    /// Reorders the classes; refuses a table with missing or extra classes.
    pub fn reorder_classes(&mut self, classes: &[String]) -> Result<()> {
        let missing: Vec<&String> = classes.iter().filter(|class| !self.classes.contains(class)).collect();
        let extra: Vec<&String> = self.classes.iter().filter(|class| !classes.contains(class)).collect();
        if !missing.is_empty() || !extra.is_empty() {
            return Err(Error::file(&self.path, class_mismatch(classes, &missing, &extra)));
        }
        let indices: Vec<usize> =
            classes.iter().filter_map(|class| self.classes.iter().position(|other| other == class)).collect();
        let rows = self.values.chunks_exact(self.classes.len());
        self.values = rows.flat_map(|row| indices.iter().map(|&index| row[index])).collect();
        self.classes = classes.to_vec();
        Ok(())
    }

    /// Converts the table to a table of names.
    pub fn into_names(self) -> Result<NameTable> {
        let TableKeys::Texts(names) = &self.keys else {
            return Err(Error::file(&self.path, "it is a table of places, not of names; use a table of names"));
        };
        let names = names.iter().map(String::as_str);
        NameTable::new(self.classes.len(), names, self.values, self.numbers, self.counts)
            .map_err(|error| with_file(&self.path, error))
    }

    /// Converts the table to a table of places.
    pub fn into_places(self) -> Result<PlaceTable> {
        let classes = self.classes.len();
        let (mut values, mut numbers) = (self.values, self.numbers);
        if let (Numbers::Shares, Some(counts)) = (numbers, &self.counts) {
            values
                .chunks_exact_mut(classes)
                .zip(counts)
                .for_each(|(row, count)| row.iter_mut().for_each(|v| *v *= count));
            numbers = Numbers::People;
        }
        let table = match self.keys {
            TableKeys::Texts(names) => PlaceTable::by_name(classes, names.iter().map(String::as_str), values, numbers),
            TableKeys::Codes(level, codes) => PlaceTable::by_code(level, classes, codes, values, numbers),
        };
        table.map_err(|error| with_file(&self.path, error))
    }
}

/// Returns the message for classes that differ from those of the other tables.
fn class_mismatch(classes: &[String], missing: &[&String], extra: &[&String]) -> Message {
    let list = |names: &[&String]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let pairs: Vec<String> = extra
        .iter()
        .filter_map(|&class| Some(format!("{class}={}", missing.iter().find(|&&other| are_similar(class, other))?)))
        .collect();
    let fix = if pairs.is_empty() {
        Message::from("map the classes with ") + Setting::Crosswalk.with("OLD=NEW,…")
    } else {
        Message::from("if they are the same, map them with ") + Setting::Crosswalk.with(pairs.join(","))
    };
    let lacks = if missing.is_empty() { String::new() } else { format!("lacks {}", list(missing)) };
    let has = if extra.is_empty() { String::new() } else { format!("has {}", list(extra)) };
    let and = if lacks.is_empty() || has.is_empty() { "" } else { " and " };
    Message::from(format!("it {lacks}{and}{has}, but the classes are {}; ", classes.join(", "))) + fix
}

/// Returns whether two classes are similar. They do not cover the same people in all tools, so the
/// user must confirm them.
fn are_similar(a: &str, b: &str) -> bool {
    const SIMILAR: [&[&str]; 5] = [
        &["white", "whi", "nh_white"],
        &["black", "bla", "nh_black", "black_or_african_american"],
        &["hispanic", "hisp", "his", "hispanic_or_latino"],
        &["asian", "api", "aapi", "asi", "nh_api"],
        &["aian", "native", "american_indian", "nh_aian", "american_indian_and_alaska_native"],
    ];
    const REMAINDER: &[&str] = &[
        "other",
        "multiple",
        "2prace",
        "mult_other",
        "oth",
        "multi",
        "2races",
        "two_or_more_races",
        "some_other_race",
    ];
    SIMILAR.iter().chain([&REMAINDER]).any(|names| names.contains(&a) && names.contains(&b))
}

/// Adds the file and row to an error in a table.
fn with_file(path: &Path, error: apportion_bisg::Error) -> Error {
    match error {
        apportion_bisg::Error::TableRow { row, problem } => {
            Error::Row { path: path.to_owned(), row: row as u64 + 1, problem: problem.into() }
        }
        other => Error::file(path, other.message()),
    }
}
