//! Reads a file with numbers by class for each key, and detects the contents of its columns.

use std::collections::HashMap;
use std::path::PathBuf;

use apportion::text::{Message, Setting, quoted};
use apportion_bisg::Numbers;

use super::sums::detect_numbers;
use super::{KeyedFile, KeyedOptions, KeyedTable, Subject, TableKeys};
use crate::error::{Error, Result};
use crate::input::{Input, Reading};
use crate::table::{
    Amount, Block, Column, PERCENT_SUFFIXES, ambiguous_comma, fill_suppressed, is_suppressed, normalize_name,
    parse_amount, split_class,
};

/// Prefixes of columns that count people.
const PEOPLE: [&str; 7] = ["n_", "count_", "num_", "pop_", "vap_", "tot_", "cvap_"];

/// Suffixes after these prefixes that are not classes.
const TOTALS: [&str; 6] = ["total", "all", "sum", "people", "pop", "tot"];

/// A table in memory, usually of a file.
pub(super) struct LoadedFile<'a> {
    pub(super) path: PathBuf,
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<Column<'a>>,
    pub(super) rows: usize,
    /// Whether values are separated by commas, which affects how commas in numbers are interpreted.
    pub(super) comma_separated: bool,
    /// A note on the separator, sheet or encoding, if it is not the default.
    pub(super) format_note: Option<Message>,
}

/// Reads the first table of an input.
pub(super) fn read_input(input: &Input, subject: Option<Subject>, options: &KeyedOptions<'_>) -> Result<KeyedFile> {
    let blocks = input.blocks(0, &|_| true, Reading::Plain)?;
    let (names, path) = (blocks.names, input.name(0).to_owned());
    let blocks = blocks.rows.collect::<Result<Vec<_>>>()?;
    let is_empty = blocks.is_empty();
    let block = Block::join(blocks)?;
    if block.is_none() && !is_empty {
        return Err(Error::file(&path, "a column has parts of different types; make the file again"));
    }
    let (columns, rows) = block.as_ref().map_or_else(|| (Vec::new(), 0), |block| (block.columns(), block.len()));
    let comma_separated = input.separator(0) == Some(b',');
    let format_note = match (input.format_note(), input.encoding_note()) {
        (Some(format), Some(encoding)) => Some(format + "; " + encoding),
        (format, encoding) => format.or(encoding),
    };
    LoadedFile { path, names, columns, rows, comma_separated, format_note }.read(subject, options)
}

impl LoadedFile<'_> {
    pub(super) fn read(self, subject: Option<Subject>, options: &KeyedOptions<'_>) -> Result<KeyedFile> {
        if self.rows == 0 {
            return Err(Error::file(&self.path, "it has a header but no rows; check how it was made"));
        }
        let class_columns = self.class_columns(options)?;
        let subject = subject.unwrap_or_else(|| self.subject(options.key));
        let (key_indices, keys) = self.keys(subject, options, &class_columns)?;
        let classes: Vec<String> = class_columns.iter().map(|(_, class)| class.clone()).collect();
        let mut indices: Vec<usize> = class_columns.iter().map(|(index, _)| *index).collect();
        indices.extend(self.count_column(&class_columns));
        let mut columns = self.parse_numbers(&indices);
        let counts = columns.drain(class_columns.len()..).next();
        let columns = columns.into_iter().collect::<Result<Vec<_>>>()?;
        let mut values: Vec<f64> =
            (0..self.rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
        let percent = values.iter().any(|value| *value > 1.5);
        let all_names =
            |matches: &dyn Fn(&str) -> bool| class_columns.iter().all(|(index, _)| matches(&self.normalized(*index)));
        let are_people = all_names(&|name| PEOPLE.iter().any(|prefix| name.starts_with(prefix)));
        let suppressed = values.iter().position(|value| is_suppressed(*value));
        values.chunks_exact_mut(classes.len()).for_each(|row| fill_suppressed(row, percent));
        let numbers = if are_people {
            Numbers::People
        } else {
            detect_numbers(&self.path, &mut values, classes.len(), all_names(&is_percent))?
        };
        if let Some(index) = suppressed.filter(|_| numbers == Numbers::People) {
            let problem = "(S) marks a suppressed share, not a number of people; enter the number";
            return Err(self.value_error(class_columns[index % classes.len()].0, index / classes.len(), problem));
        }
        self.refuse_duplicate_keys(subject, &keys, &values, classes.len())?;
        indices.extend(&key_indices);
        let key = key_indices.iter().map(|&index| self.names[index].as_str()).collect::<Vec<_>>().join(", ");
        let counts = counts.filter(|_| numbers == Numbers::Shares).transpose()?;
        let unused = self.unused(&indices);
        let table = KeyedTable { path: self.path, key, keys, classes, values, counts, numbers };
        Ok(KeyedFile { table, subject, unused, format_note: self.format_note })
    }

    pub(super) fn normalized(&self, index: usize) -> String {
        normalize_name(&self.names[index])
    }

    /// Returns the index of a column by its normalized name.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        (0..self.names.len()).find(|&index| self.normalized(index) == name)
    }

    /// Returns the class columns: all with the same prefix, or without a prefix.
    fn class_columns(&self, options: &KeyedOptions<'_>) -> Result<Vec<(usize, String)>> {
        let requested = options.numbers.map(|text| normalize_name(text.trim_end_matches('*')));
        let mut sets: Vec<(String, Vec<(usize, String)>)> = Vec::new();
        for index in 0..self.names.len() {
            let name = self.normalized(index);
            let Some((prefix, class)) = split_class(&name, options.classes) else { continue };
            match sets.iter_mut().find(|(other, _)| other == prefix) {
                Some((_, set)) => set.push((index, class.to_owned())),
                None => sets.push((prefix.to_owned(), vec![(index, class.to_owned())])),
            }
        }
        sets.retain(|(_, set)| set.len() > 1);
        // If there is only one set, the option is meant for other tables.
        if sets.len() > 1 {
            sets.retain(|(prefix, _)| requested.as_ref().is_none_or(|requested| requested == prefix));
        }
        let problem = match &sets[..] {
            [(prefix, set)] => {
                self.refuse_repeated_class(set)?;
                self.refuse_unknown_class(prefix, set)?;
                return Ok(set.clone());
            }
            [] => {
                let columns = self.names.join(", ");
                let problem = "no class columns, such as n_white or pctwhite, were recognized among";
                let problem = format!("{problem} {columns}; rename them, or name the classes with ");
                Message::from(problem) + Setting::Classes
            }
            several => {
                let sets = several.iter().map(|(prefix, _)| format!("{prefix}*")).collect::<Vec<_>>();
                let problem =
                    format!("there are several sets of number columns, {}; choose one with ", sets.join(" and "));
                Message::from(problem) + Setting::Numbers.with(sets[0].as_str())
            }
        };
        Err(Error::file(&self.path, problem))
    }

    fn refuse_repeated_class(&self, set: &[(usize, String)]) -> Result<()> {
        let Some((one, other)) = first_repeated(set.iter().map(|(index, class)| (*index, class))) else {
            return Ok(());
        };
        let (one, other) = (&self.names[one], &self.names[other]);
        Err(Error::file(&self.path, format!("its columns {one:?} and {other:?} are the same class; keep one of them")))
    }

    /// Refuses columns with people of an unknown class, which must not be lost silently.
    fn refuse_unknown_class(&self, prefix: &str, set: &[(usize, String)]) -> Result<()> {
        let is_unknown = |index: &usize| {
            let name = self.normalized(*index);
            let class = name.strip_prefix(prefix).filter(|_| PEOPLE.contains(&prefix));
            class.is_some_and(|class| !TOTALS.contains(&class))
                && set.iter().all(|(column, _)| column != index)
                && self.holds_numbers(*index)
        };
        let Some(unknown) = (0..self.names.len()).find(is_unknown) else { return Ok(()) };
        let classes: Vec<&str> = set.iter().map(|(_, class)| class.as_str()).collect();
        let name = self.normalized(unknown);
        let class = name.strip_prefix(prefix).unwrap_or_default();
        let problem = format!("its column {:?} is an unknown class; name all classes with ", self.names[unknown]);
        let problem = Message::from(problem) + Setting::Classes.with(format!("{},{class}", classes.join(",")));
        Err(Error::file(&self.path, problem + ", or leave it out"))
    }

    /// Returns the column with the number of people of each key.
    fn count_column(&self, class_columns: &[(usize, String)]) -> Option<usize> {
        const NAMES: [&str; 8] = ["count", "n_total", "n", "total", "people", "population", "pop", "freq"];
        let is_class = |index: usize| class_columns.iter().any(|(column, _)| *column == index);
        let find =
            |name: &&str| (0..self.names.len()).find(|&index| self.normalized(index) == *name && !is_class(index));
        NAMES.iter().find_map(find)
    }

    /// Returns the unused numeric columns.
    fn unused(&self, used: &[usize]) -> Vec<String> {
        let others = (0..self.names.len()).filter(|index| !used.contains(index));
        others.filter(|&index| self.holds_numbers(index)).map(|index| self.names[index].clone()).collect()
    }

    fn holds_numbers(&self, index: usize) -> bool {
        if self.columns[index].is_numeric() {
            return true;
        }
        let Ok(texts) = self.texts(index) else { return false };
        let mut filled = texts.iter().filter(|text| !text.trim().is_empty()).peekable();
        filled.peek().is_some() && filled.all(|text| parse_amount(text).is_some())
    }

    /// Refuses duplicate keys. Rows without people are ignored.
    fn refuse_duplicate_keys(&self, subject: Subject, keys: &TableKeys, values: &[f64], classes: usize) -> Result<()> {
        let rows = values.chunks_exact(classes).map(|row| row.iter().any(|value| *value > 0.0));
        let rows = rows.enumerate().filter(|(_, has_people)| *has_people).map(|(row, _)| row);
        let duplicate = match keys {
            TableKeys::Texts(texts) => first_repeated(rows.map(|row| (row, texts[row].trim()))),
            TableKeys::Codes(_, codes) => first_repeated(rows.map(|row| (row, codes[row]))),
        };
        let Some((first, second)) = duplicate else { return Ok(()) };
        let (what, fix) = match subject {
            Subject::Places => ("the same place", "keep one of them, or add them up"),
            _ => ("the same name", "keep one of them"),
        };
        let year = self.column("year").map_or("", |_| "; it has a column of years: keep one year");
        let (key, first, second) = (keys.display(first), first + 1, second + 1);
        Err(Error::file(&self.path, format!("rows {first} and {second} are {what}, {key}; {fix}{year}")))
    }

    pub(super) fn texts(&self, index: usize) -> Result<Vec<String>> {
        let texts = self.columns[index].texts().ok_or_else(|| {
            let (name, kind) = (&self.names[index], self.columns[index].kind());
            Error::file(&self.path, format!("its column {name:?} contains {kind}, not text; leave it out"))
        })?;
        Ok((0..self.rows).map(|row| texts.get(row).to_owned()).collect())
    }

    /// Parses columns of numbers. An ambiguous comma is interpreted like the other commas of the
    /// table.
    fn parse_numbers(&self, indices: &[usize]) -> Vec<Result<Vec<f64>>> {
        let amounts: Vec<Result<Vec<Amount>>> = indices.iter().map(|&index| self.parse_amounts(index)).collect();
        let has = |matches: fn(&Amount) -> bool| amounts.iter().flatten().flatten().any(matches);
        let thousands = has(|amount| matches!(amount, Amount::Thousands(_)));
        let decimals = has(|amount| matches!(amount, Amount::Decimal(_)));
        let are_thousands = match (thousands, decimals) {
            (true, false) => Some(true),
            // A decimal comma in a comma-separated file is unusual: other commas may separate
            // thousands.
            (false, true) if self.comma_separated => None,
            (false, true) => Some(false),
            (true, true) => None,
            (false, false) => self.comma_separated.then_some(true),
        };
        let number = |index: usize, row: usize, amount: Amount| match (amount, are_thousands) {
            (Amount::Plain(number) | Amount::Thousands(number) | Amount::Decimal(number), _) => Ok(number),
            (Amount::Ambiguous { thousands, .. }, Some(true)) => Ok(thousands),
            (Amount::Ambiguous { decimal, .. }, Some(false)) => Ok(decimal),
            (Amount::Ambiguous { thousands, decimal }, None) => {
                Err(self.value_error(index, row, ambiguous_comma(thousands, decimal)))
            }
        };
        let column = |(&index, amounts): (&usize, Result<Vec<Amount>>)| {
            amounts?.into_iter().enumerate().map(|(row, amount)| number(index, row, amount)).collect()
        };
        indices.iter().zip(amounts).map(column).collect()
    }

    fn parse_amounts(&self, index: usize) -> Result<Vec<Amount>> {
        let column = &self.columns[index];
        if column.is_numeric() {
            let mut amounts = Vec::with_capacity(self.rows);
            let numbers = column.each_number(0..self.rows, |_, number| amounts.push(Amount::Plain(number)));
            return numbers.map(|()| amounts).ok_or_else(|| {
                let (name, kind) = (&self.names[index], column.kind());
                Error::file(&self.path, format!("its column {name:?} contains {kind}, not numbers; leave it out"))
            });
        }
        let read = |(row, text): (usize, &String)| {
            parse_amount(text)
                .ok_or_else(|| self.value_error(index, row, format!("{} is not a number; correct it", quoted(text))))
        };
        self.texts(index)?.iter().enumerate().map(read).collect()
    }

    pub(super) fn value_error(&self, index: usize, row: usize, problem: impl Into<Message>) -> Error {
        let (path, column) = (self.path.clone(), self.names[index].clone());
        Error::Value { path, row: row as u64 + 1, column, problem: problem.into() }
    }
}

/// Returns whether the name of a class column indicates percentages.
fn is_percent(name: &str) -> bool {
    ["pct", "percent"].iter().any(|word| name.starts_with(word))
        || PERCENT_SUFFIXES.iter().any(|word| name.ends_with(word))
}

/// Returns the first two rows with the same key.
fn first_repeated<K: Eq + std::hash::Hash>(rows: impl Iterator<Item = (usize, K)>) -> Option<(usize, usize)> {
    let mut seen = HashMap::new();
    rows.into_iter().find_map(|(row, key)| Some((seen.insert(key, row)?, row)))
}
