//! Tables of names or places by class, as the Census, other tools and users write them.

mod file;
mod keys;
mod sums;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use apportion_bisg::{Level, NameTable, Numbers, PlaceTable};

use crate::error::{Error, Result};
use file::File;

/// What a table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Surnames.
    Surnames,
    /// First names.
    FirstNames,
    /// Places.
    Places,
}

/// What a user says of a table's columns.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyedOptions<'a> {
    /// Classes beyond those that are known by their names.
    pub classes: &'a [String],
    /// Which columns hold the numbers, where there are several sets: what stands before the classes, as in `vap_*`.
    pub numbers: Option<&'a str>,
    /// The column of the keys, where it is not found by its name.
    pub key: Option<&'a str>,
}

/// The keys of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableKeys {
    /// Names of people, or of places of a user's own.
    Texts(Vec<String>),
    /// Codes of places.
    Codes(Level, Vec<u64>),
}

impl TableKeys {
    /// One of them, with the zeros that codes begin with.
    fn told(&self, row: usize) -> String {
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
    /// The file, or the name of a table inside the program.
    pub path: PathBuf,
    /// Where the keys stand: a column, or several.
    pub key: String,
    /// The keys, row by row.
    pub keys: TableKeys,
    /// The classes, in the order of their columns.
    pub classes: Vec<String>,
    /// Numbers, row by row.
    pub values: Vec<f64>,
    /// People of each key, where another column says so.
    pub counts: Option<Vec<f64>>,
    /// What the numbers are.
    pub numbers: Numbers,
}

/// A table as a file has it, and what else was seen there.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedFile {
    /// The table.
    pub table: KeyedTable,
    /// What it is of: as a user said, or as its columns do.
    pub subject: Subject,
    /// Columns of numbers that are neither keys nor classes nor people.
    pub unused: Vec<String>,
    /// What separates its values, where that is not what such files usually have.
    pub separator: Option<String>,
}

impl KeyedFile {
    /// Reads a file. What it is a table of is seen from its columns, where nobody says so.
    pub fn read(path: &str, subject: Option<Subject>, options: &KeyedOptions<'_>) -> Result<KeyedFile> {
        File::open(path)?.read(subject, options)
    }
}

impl KeyedTable {
    /// Reads a file.
    pub fn read(path: &str, subject: Subject, options: &KeyedOptions<'_>) -> Result<KeyedTable> {
        KeyedFile::read(path, Some(subject), options).map(|file| file.table)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.values.len() / self.classes.len()
    }

    /// The level of its places, where it is one of places.
    pub fn level(&self) -> Level {
        match &self.keys {
            TableKeys::Texts(_) => Level::Own,
            TableKeys::Codes(level, _) => *level,
        }
    }

    /// A row's key.
    pub fn key_of(&self, row: usize) -> String {
        self.keys.told(row)
    }

    /// The people of each key, where they are known.
    pub fn people(&self) -> Option<Vec<f64>> {
        match self.numbers {
            Numbers::People => Some(self.values.chunks_exact(self.classes.len()).map(|row| row.iter().sum()).collect()),
            Numbers::Shares => self.counts.clone(),
            Numbers::KeyGivenClass => None,
        }
    }

    /// Gives classes other names, as a user says. Those of one name become one: their people, or their shares, are added up.
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
                "it holds P(key | class), which cannot be added up for a merged class; give people by class",
            ));
        }
        let place = |class: &String| classes.iter().position(|own| *own == new(class)).unwrap_or_default();
        let places: Vec<usize> = self.classes.iter().map(place).collect();
        let mut values = Vec::with_capacity(self.rows() * classes.len());
        for row in self.values.chunks_exact(self.classes.len()) {
            let start = values.len();
            values.resize(start + classes.len(), 0.0);
            row.iter().zip(&places).for_each(|(value, place)| values[start + place] += value);
        }
        (self.classes, self.values) = (classes, values);
        Ok(())
    }

    /// Brings the classes into an order; refuses a table that lacks one, or has others.
    pub fn in_order(&mut self, classes: &[String]) -> Result<()> {
        let missing: Vec<&String> = classes.iter().filter(|class| !self.classes.contains(class)).collect();
        let extra: Vec<&String> = self.classes.iter().filter(|class| !classes.contains(class)).collect();
        if !missing.is_empty() || !extra.is_empty() {
            return Err(Error::file(&self.path, differ(classes, &missing, &extra)));
        }
        let places: Vec<usize> =
            classes.iter().filter_map(|class| self.classes.iter().position(|own| own == class)).collect();
        let rows = self.values.chunks_exact(self.classes.len());
        self.values = rows.flat_map(|row| places.iter().map(|&place| row[place])).collect();
        self.classes = classes.to_vec();
        Ok(())
    }

    /// What names say.
    pub fn into_names(self) -> Result<NameTable> {
        let TableKeys::Texts(names) = &self.keys else {
            return Err(Error::file(&self.path, "it is a table of places, and not of names"));
        };
        let names = names.iter().map(String::as_str);
        NameTable::new(self.classes.len(), names, self.values, self.numbers, self.counts)
            .map_err(|error| in_file(&self.path, error))
    }

    /// What places say.
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
        table.map_err(|error| in_file(&self.path, error))
    }
}

/// What to do where a table's classes are not those of the others.
fn differ(classes: &[String], missing: &[&String], extra: &[&String]) -> String {
    let list = |names: &[&String]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let pairs: Vec<String> = extra
        .iter()
        .filter_map(|&own| Some(format!("{own}={}", missing.iter().find(|&&wanted| mean_the_same(own, wanted))?)))
        .collect();
    let way = if pairs.is_empty() {
        "say what they mean with --crosswalk OLD=NEW,…".into()
    } else {
        format!("if they mean the same, say so with --crosswalk {}", pairs.join(","))
    };
    let lacks = if missing.is_empty() { String::new() } else { format!("lacks {}", list(missing)) };
    let has = if extra.is_empty() { String::new() } else { format!("has {}", list(extra)) };
    let and = if lacks.is_empty() || has.is_empty() { "" } else { " and " };
    format!("it {lacks}{and}{has}, where the classes are {}; {way}", classes.join(", "))
}

/// Classes that tools call differently; they are not the same people in all tools, so that a user says whether they are meant.
fn mean_the_same(a: &str, b: &str) -> bool {
    const KIN: [&[&str]; 5] = [
        &["white", "whi", "nh_white"],
        &["black", "bla", "nh_black", "black_or_african_american"],
        &["hispanic", "hisp", "his", "hispanic_or_latino"],
        &["asian", "api", "aapi", "asi", "nh_api"],
        &["aian", "native", "american_indian", "nh_aian", "american_indian_and_alaska_native"],
    ];
    const MORE: &[&str] = &[
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
    KIN.iter().chain([&MORE]).any(|kin| kin.contains(&a) && kin.contains(&b))
}

/// An error of the library, with the file and its row.
fn in_file(path: &Path, error: apportion_bisg::Error) -> Error {
    match error {
        apportion_bisg::Error::TableRow { row, problem } => {
            Error::Row { path: path.to_owned(), row: row as u64 + 1, problem }
        }
        other => Error::file(path, other.to_string()),
    }
}
