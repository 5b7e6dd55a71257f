//! A file with numbers by class for each key, whole: which of its columns are what.

use std::collections::HashMap;
use std::path::PathBuf;

use apportion::text::quoted;
use apportion_bisg::Numbers;
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Float64Type};

use super::sums::kind;
use super::{KeyedFile, KeyedOptions, KeyedTable, Subject, TableKeys};
use crate::columns::{PERCENT_BEHIND, class_after, normal};
use crate::error::{Error, Result};
use crate::input::{Input, InputOptions};
use crate::number::{Amount, amount, either_told, fill_suppressed, is_suppressed};

/// Prefixes before which classes are counted.
const PEOPLE: [&str; 7] = ["n_", "count_", "num_", "pop_", "vap_", "tot_", "cvap_"];

/// What stands behind such a prefix and is no class.
const TOTALS: [&str; 6] = ["total", "all", "sum", "people", "pop", "tot"];

/// A file, whole.
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<ArrayRef>,
    pub(super) rows: usize,
    /// Whether its values are separated by commas: those within a number are then meant to be seen.
    comma_separated: bool,
    /// What separates its values, where that is not what such files usually have.
    separator: Option<String>,
}

impl File {
    pub(super) fn open(path: &str) -> Result<File> {
        let input = Input::new(&[path.to_owned()], InputOptions::default())?;
        let batches = input.open(0)?;
        let (names, schema, path) = (batches.names(), batches.schema().clone(), batches.name().to_owned());
        let batches = batches.collect::<Result<Vec<_>>>()?;
        let batch = concat_batches(&schema, &batches).map_err(|error| Error::file(&path, error.to_string()))?;
        if batch.num_rows() == 0 {
            return Err(Error::file(&path, "it has columns but no rows; check how it was made"));
        }
        let (columns, rows) = (batch.columns().to_vec(), batch.num_rows());
        let (comma_separated, separator) = (input.separator(0) == Some(b','), input.other_separators());
        Ok(File { path, names, columns, rows, comma_separated, separator })
    }

    pub(super) fn read(self, subject: Option<Subject>, options: &KeyedOptions<'_>) -> Result<KeyedFile> {
        let found = self.class_columns(options)?;
        let subject = subject.unwrap_or_else(|| self.subject(options.key));
        let (key_places, keys) = self.keys(subject, options, &found)?;
        let classes: Vec<String> = found.iter().map(|(_, class)| class.clone()).collect();
        let mut places: Vec<usize> = found.iter().map(|(place, _)| *place).collect();
        places.extend(self.count_column(&found));
        let mut columns = self.numbers_of(&places);
        let counts = columns.drain(found.len()..).next();
        let columns = columns.into_iter().collect::<Result<Vec<_>>>()?;
        let mut values: Vec<f64> =
            (0..self.rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        let percent = values.iter().any(|value| *value > 1.5);
        let all_called = |is_so: &dyn Fn(&str) -> bool| found.iter().all(|(place, _)| is_so(&self.normal(*place)));
        let are_people = all_called(&|name| PEOPLE.iter().any(|prefix| name.starts_with(prefix)));
        let suppressed = values.iter().position(|value| is_suppressed(*value));
        values.chunks_exact_mut(classes.len()).for_each(|row| fill_suppressed(row, percent));
        let numbers = if are_people {
            Numbers::People
        } else {
            kind(&self.path, &mut values, classes.len(), all_called(&is_percent))?
        };
        if let Some(place) = suppressed.filter(|_| numbers == Numbers::People) {
            let problem = "(S) stands for a share that is kept back, and not for people; write their number".to_owned();
            return Err(self.value_error(found[place % classes.len()].0, place / classes.len(), problem));
        }
        self.refuse_twice(subject, &keys, &values, classes.len())?;
        places.extend(&key_places);
        let key = key_places.iter().map(|&place| self.names[place].as_str()).collect::<Vec<_>>().join(", ");
        let counts = counts.filter(|_| numbers == Numbers::Shares).transpose()?;
        let unused = self.unused(&places);
        let table = KeyedTable { path: self.path, key, keys, classes, values, counts, numbers };
        Ok(KeyedFile { table, subject, unused, separator: self.separator })
    }

    pub(super) fn normal(&self, place: usize) -> String {
        normal(&self.names[place])
    }

    /// The column of a name.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        (0..self.names.len()).find(|&place| self.normal(place) == name)
    }

    /// The columns of classes: all that have one prefix, or none, before a class.
    fn class_columns(&self, options: &KeyedOptions<'_>) -> Result<Vec<(usize, String)>> {
        let wanted = options.numbers.map(|text| normal(text.trim_end_matches('*')));
        let mut sets: Vec<(String, Vec<(usize, String)>)> = Vec::new();
        for place in 0..self.names.len() {
            let name = self.normal(place);
            let Some((prefix, class)) = class_after(&name, options.classes) else { continue };
            match sets.iter_mut().find(|(own, _)| own == prefix) {
                Some((_, set)) => set.push((place, class.to_owned())),
                None => sets.push((prefix.to_owned(), vec![(place, class.to_owned())])),
            }
        }
        sets.retain(|(_, set)| set.len() > 1);
        // A table with one set alone has no choice: what is said is meant for others.
        if sets.len() > 1 {
            sets.retain(|(prefix, _)| wanted.as_ref().is_none_or(|wanted| wanted == prefix));
        }
        let problem = match &sets[..] {
            [(prefix, set)] => {
                self.refuse_repeated_class(set)?;
                self.refuse_unknown_class(prefix, set)?;
                return Ok(set.clone());
            }
            [] => {
                let columns = self.names.join(", ");
                format!(
                    "no columns of classes, such as n_white or pctwhite, were recognised among {columns}; rename them, or name the classes with --classes"
                )
            }
            several => {
                let sets = several.iter().map(|(prefix, _)| format!("{prefix}*")).collect::<Vec<_>>();
                format!("the numbers may be in {}; say which with --numbers '{}'", sets.join(" and "), sets[0])
            }
        };
        Err(Error::file(&self.path, problem))
    }

    fn refuse_repeated_class(&self, set: &[(usize, String)]) -> Result<()> {
        let Some((one, other)) = first_repeated(set.iter().map(|(place, class)| (*place, class))) else {
            return Ok(());
        };
        let (one, other) = (&self.names[one], &self.names[other]);
        Err(Error::file(
            &self.path,
            format!("its columns {one:?} and {other:?} are of the same class; leave one of them"),
        ))
    }

    /// Refuses people of a class that nobody knows: they must not be lost silently.
    fn refuse_unknown_class(&self, prefix: &str, set: &[(usize, String)]) -> Result<()> {
        let is_lost = |place: &usize| {
            let name = self.normal(*place);
            let class = name.strip_prefix(prefix).filter(|_| PEOPLE.contains(&prefix));
            class.is_some_and(|class| !TOTALS.contains(&class))
                && set.iter().all(|(own, _)| own != place)
                && self.holds_numbers(*place)
        };
        let Some(lost) = (0..self.names.len()).find(is_lost) else { return Ok(()) };
        let classes: Vec<&str> = set.iter().map(|(_, class)| class.as_str()).collect();
        let name = self.normal(lost);
        let class = name.strip_prefix(prefix).unwrap_or_default();
        let problem = format!(
            "its column {:?} is of a class that is not known; name all of them with --classes {},{class}, or leave it out",
            self.names[lost],
            classes.join(",")
        );
        Err(Error::file(&self.path, problem))
    }

    /// The column that says how many people a key has.
    fn count_column(&self, found: &[(usize, String)]) -> Option<usize> {
        const CALLED: [&str; 8] = ["count", "n_total", "n", "total", "people", "population", "pop", "freq"];
        let own = |name: &str| {
            (0..self.names.len())
                .find(|&place| self.normal(place) == name && found.iter().all(|(own, _)| *own != place))
        };
        CALLED.iter().find_map(|name| own(name))
    }

    /// Columns of numbers that are for nothing here.
    fn unused(&self, used: &[usize]) -> Vec<String> {
        let others = (0..self.names.len()).filter(|place| !used.contains(place));
        others.filter(|&place| self.holds_numbers(place)).map(|place| self.names[place].clone()).collect()
    }

    fn holds_numbers(&self, place: usize) -> bool {
        if self.columns[place].data_type().is_numeric() {
            return true;
        }
        let Ok(texts) = self.texts(place) else { return false };
        let mut said = texts.iter().filter(|text| !text.trim().is_empty()).peekable();
        said.peek().is_some() && said.all(|text| amount(text).is_some())
    }

    /// Refuses a key that several rows have. Rows that say nothing do not count.
    fn refuse_twice(&self, subject: Subject, keys: &TableKeys, values: &[f64], classes: usize) -> Result<()> {
        let rows = values.chunks_exact(classes).map(|row| row.iter().any(|value| *value > 0.0));
        let rows = rows.enumerate().filter(|(_, says)| *says).map(|(row, _)| row);
        let twice = match keys {
            TableKeys::Texts(texts) => first_repeated(rows.map(|row| (row, texts[row].trim()))),
            TableKeys::Codes(_, codes) => first_repeated(rows.map(|row| (row, codes[row]))),
        };
        let Some((first, second)) = twice else { return Ok(()) };
        let (what, way) = match subject {
            Subject::Places => ("of the same place", "leave one of them, or add them up"),
            _ => ("of the same name", "leave one of them"),
        };
        let year = self.column("year").map_or("", |_| "; it has a column of years: keep one year");
        let (key, first, second) = (keys.told(first), first + 1, second + 1);
        Err(Error::file(&self.path, format!("rows {first} and {second} are {what}, {key}; {way}{year}")))
    }

    pub(super) fn texts(&self, place: usize) -> Result<Vec<String>> {
        let text =
            cast(&self.columns[place], &DataType::Utf8).map_err(|error| Error::file(&self.path, error.to_string()))?;
        let text: &StringArray = text.as_string();
        Ok((0..self.rows)
            .map(|row| if text.is_null(row) { String::new() } else { text.value(row).to_owned() })
            .collect())
    }

    /// Columns as numbers. A comma that may be between thousands or before decimals means what other commas of the table do.
    fn numbers_of(&self, places: &[usize]) -> Vec<Result<Vec<f64>>> {
        let amounts: Vec<Result<Vec<Amount>>> = places.iter().map(|&place| self.amounts_of(place)).collect();
        let has = |is_so: fn(&Amount) -> bool| amounts.iter().flatten().flatten().any(is_so);
        let thousands = has(|amount| matches!(amount, Amount::Thousands(_)));
        let decimals = has(|amount| matches!(amount, Amount::Decimal(_)));
        let are_thousands = match (thousands, decimals) {
            (true, false) => Some(true),
            // Between commas, one before decimals is as strange as it looks: others may mean thousands.
            (false, true) if self.comma_separated => None,
            (false, true) => Some(false),
            (true, true) => None,
            (false, false) => self.comma_separated.then_some(true),
        };
        let number = |place: usize, row: usize, amount: Amount| match (amount, are_thousands) {
            (Amount::Plain(number) | Amount::Thousands(number) | Amount::Decimal(number), _) => Ok(number),
            (Amount::Either { thousands, .. }, Some(true)) => Ok(thousands),
            (Amount::Either { decimal, .. }, Some(false)) => Ok(decimal),
            (Amount::Either { thousands, decimal }, None) => {
                Err(self.value_error(place, row, either_told(thousands, decimal)))
            }
        };
        let column = |(&place, amounts): (&usize, Result<Vec<Amount>>)| {
            amounts?.into_iter().enumerate().map(|(row, amount)| number(place, row, amount)).collect()
        };
        places.iter().zip(amounts).map(column).collect()
    }

    fn amounts_of(&self, place: usize) -> Result<Vec<Amount>> {
        let column = &self.columns[place];
        if column.data_type().is_numeric() {
            let numbers =
                cast(column, &DataType::Float64).map_err(|error| Error::file(&self.path, error.to_string()))?;
            let numbers = numbers.as_primitive::<Float64Type>().iter();
            return Ok(numbers.map(|number| Amount::Plain(number.unwrap_or(f64::NAN))).collect());
        }
        let read = |(row, text): (usize, &String)| {
            amount(text).ok_or_else(|| self.value_error(place, row, format!("{} is no number; mend it", quoted(text))))
        };
        self.texts(place)?.iter().enumerate().map(read).collect()
    }

    pub(super) fn value_error(&self, place: usize, row: usize, problem: String) -> Error {
        let (path, column) = (self.path.clone(), self.names[place].clone());
        Error::Value { path, row: row as u64 + 1, column, problem }
    }
}

/// Whether a column of classes is one of percentages by its name.
fn is_percent(name: &str) -> bool {
    ["pct", "percent"].iter().any(|word| name.starts_with(word))
        || PERCENT_BEHIND.iter().any(|word| name.ends_with(word))
}

/// The first two rows that have the same key.
fn first_repeated<K: Eq + std::hash::Hash>(rows: impl Iterator<Item = (usize, K)>) -> Option<(usize, usize)> {
    let mut seen = HashMap::new();
    rows.into_iter().find_map(|(row, key)| Some((seen.insert(key, row)?, row)))
}
