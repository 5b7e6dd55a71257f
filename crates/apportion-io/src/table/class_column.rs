//! A column of classes, such as the truth: maps its values to classes and reports unknown ones.

use apportion::text::quoted;
use apportion::{Classes, Label, UNCODED};
use arrow::array::{Array, StringArray};

use super::suggest::{closest_match, did_you_mean};
use crate::error::{Error, Result};

/// How to interpret a column of classes.
#[derive(Clone, Debug, Default)]
pub struct ClassColumn {
    /// The name of the column.
    pub column: String,
    /// Values to map to a class: (value, class).
    pub map: Vec<(String, String)>,
    /// Values to treat as missing.
    pub exclude: Vec<String>,
    /// The options that name the column, map values and exclude them.
    pub options: [&'static str; 3],
}

/// Maximum number of distinct unknown values to collect.
const MAX_REMEMBERED: usize = 21;

/// A column with more distinct unknown values is not a column of classes. Its values may be
/// personal and are not shown.
const MAX_NAMED: usize = 20;

/// Number of unknown values shown in a message.
const SHOWN: usize = 5;

/// Collects a column of classes.
#[derive(Default)]
pub(crate) struct ClassColumnBuilder {
    pub(crate) values: Vec<Label>,
    /// Unknown values and their counts.
    unknown: Vec<(String, u64)>,
}

impl ClassColumn {
    /// Refuses a map to an unknown class.
    pub(crate) fn check_map(&self, classes: &Classes) -> Result<()> {
        let names = || classes.names().iter().map(String::as_str);
        match self.map.iter().find(|(_, class)| classes.position(class).is_err()) {
            Some((value, class)) => Err(Error::Options(format!(
                "{} {value}={class}: there is no class {class:?}{}; the classes are {classes}",
                self.map_option(),
                did_you_mean(class, names())
            ))),
            None => Ok(()),
        }
    }

    /// Suggests how to map unknown values to similar classes: ` (--truth-map White=white)`.
    fn map_hint(&self, unknown: &[(String, u64)], classes: &Classes) -> String {
        let names = || classes.names().iter().map(String::as_str);
        let close = unknown.iter().filter_map(|(value, _)| Some((value, closest_match(value, names())?)));
        // Values with these characters cannot be written in the option.
        let pairs: Vec<String> = close
            .filter(|(value, _)| !value.contains([',', '=', ' ']))
            .take(SHOWN)
            .map(|(value, class)| format!("{value}={class}"))
            .collect();
        if pairs.is_empty() { String::new() } else { format!(" (such as {} {})", self.map_option(), pairs.join(",")) }
    }

    /// Returns the name of the map option, without its argument.
    fn map_option(&self) -> &str {
        self.options[1].split(' ').next().unwrap_or_default()
    }

    /// Returns whether a value is treated as missing.
    pub(crate) fn excludes(&self, value: &str) -> bool {
        let value = value.trim();
        let mapped = self.map.iter().any(|(from, _)| from == value);
        !mapped && (value.is_empty() || self.exclude.iter().any(|other| other == value))
    }
}

impl ClassColumnBuilder {
    pub(crate) fn push(&mut self, text: &StringArray, column: &ClassColumn, classes: &Classes) {
        self.values.reserve(text.len());
        for row in 0..text.len() {
            let value = text.value(row).trim();
            let mapped = column.map.iter().find(|(from, _)| from == value).map_or(value, |(_, class)| class.as_str());
            let excluded = column.excludes(value);
            let class = classes.names().iter().position(|name| name == mapped);
            let label = class.filter(|_| !excluded).map_or(UNCODED, |class| class as Label);
            if label == UNCODED && !excluded {
                match self.unknown.iter().position(|(known, _)| known == value) {
                    Some(index) => self.unknown[index].1 += 1,
                    None if self.unknown.len() < MAX_REMEMBERED => self.unknown.push((value.to_owned(), 1)),
                    None => {}
                }
            }
            self.values.push(label);
        }
    }

    pub(crate) fn refuse_unknown(&self, column: &ClassColumn, classes: &Classes) -> Result<()> {
        if self.unknown.is_empty() {
            return Ok(());
        }
        let [option, map, exclude] = column.options;
        if self.unknown.len() > MAX_NAMED || self.unknown.iter().any(|(value, _)| is_identifier(value)) {
            let (at_least, found) =
                if self.unknown.len() > MAX_NAMED { ("more than ", MAX_NAMED) } else { ("", self.unknown.len()) };
            return Err(Error::Options(format!(
                "{option}: column {:?} has {at_least}{found} different values that are not classes; the classes are {classes}; \
                 name another column with {option}, or map its values with {map}",
                column.column,
            )));
        }
        let listed = self.unknown.iter().take(SHOWN).map(|(value, times)| format!("{} ({times})", quoted(value)));
        let listed = listed.collect::<Vec<_>>().join(", ");
        let more = self.unknown.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Err(Error::Options(format!(
            "{option}: column {:?}: these values are no class: {listed}{more}; the classes are {classes}; map them with \
             {map}{}, or leave them out with {exclude}",
            column.column,
            column.map_hint(&self.unknown, classes)
        )))
    }
}

/// Returns whether a value may identify a person: it has four or more digits, or looks like an
/// email address.
fn is_identifier(value: &str) -> bool {
    value.chars().filter(char::is_ascii_digit).count() >= 4 || value.contains('@')
}
