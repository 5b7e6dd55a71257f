//! A column of classes, such as the truth: what its values mean, and what to say of those that mean nothing.

use apportion::text::quoted;
use apportion::{Classes, Label, UNCODED};
use arrow::array::{Array, StringArray};

use crate::error::{Error, Result};
use crate::nearest::{did_you_mean, nearest};

/// How a column of classes is understood.
#[derive(Clone, Debug, Default)]
pub struct ClassColumn {
    /// The column.
    pub column: String,
    /// Values that stand for a class: (value, class).
    pub map: Vec<(String, String)>,
    /// Values that stand for none.
    pub exclude: Vec<String>,
    /// The options by which a user names the column, maps values, and leaves them out.
    pub options: [&'static str; 3],
}

/// How many different unknown values are remembered.
const REMEMBERED: usize = 21;

/// A column with more different unknown values than this is not one of classes. Its values may be personal: none is shown.
const MOST_NAMED: usize = 20;

/// How many unknown values a message shows.
const SHOWN: usize = 5;

/// A column of classes, as it is taken in.
#[derive(Default)]
pub(crate) struct Coded {
    pub(crate) values: Vec<Label>,
    /// Values that are no class, with how often they came.
    unknown: Vec<(String, u64)>,
}

impl ClassColumn {
    /// Refuses to map a value to a class that there is not.
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

    /// How values that are no class could be mapped to the classes that they are near to: ` (--truth-map White=white)`.
    fn map_hint(&self, unknown: &[(String, u64)], classes: &Classes) -> String {
        let names = || classes.names().iter().map(String::as_str);
        let near = unknown.iter().filter_map(|(value, _)| Some((value, nearest(value, names())?)));
        // What has these letters in it cannot be written so.
        let pairs: Vec<String> = near
            .filter(|(value, _)| !value.contains([',', '=', ' ']))
            .take(SHOWN)
            .map(|(value, class)| format!("{value}={class}"))
            .collect();
        if pairs.is_empty() { String::new() } else { format!(" (such as {} {})", self.map_option(), pairs.join(",")) }
    }

    /// The option that maps values, without what it takes.
    fn map_option(&self) -> &str {
        self.options[1].split(' ').next().unwrap_or_default()
    }

    /// Whether a value stands for no class.
    pub(crate) fn leaves_out(&self, value: &str) -> bool {
        let value = value.trim();
        let mapped = self.map.iter().any(|(from, _)| from == value);
        !mapped && (value.is_empty() || self.exclude.iter().any(|other| other == value))
    }
}

impl Coded {
    pub(crate) fn take(&mut self, text: &StringArray, column: &ClassColumn, classes: &Classes) {
        self.values.reserve(text.len());
        for row in 0..text.len() {
            let value = text.value(row).trim();
            let mapped = column.map.iter().find(|(from, _)| from == value).map_or(value, |(_, class)| class.as_str());
            let left_out = column.leaves_out(value);
            let class = classes.names().iter().position(|name| name == mapped);
            let label = class.filter(|_| !left_out).map_or(UNCODED, |class| class as Label);
            if label == UNCODED && !left_out {
                match self.unknown.iter().position(|(known, _)| known == value) {
                    Some(place) => self.unknown[place].1 += 1,
                    None if self.unknown.len() < REMEMBERED => self.unknown.push((value.to_owned(), 1)),
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
        if self.unknown.len() > MOST_NAMED || self.unknown.iter().any(|(value, _)| is_identifier(value)) {
            let (at_least, found) =
                if self.unknown.len() > MOST_NAMED { ("more than ", MOST_NAMED) } else { ("", self.unknown.len()) };
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

/// Whether a value may identify a person: it has four digits or more, or looks like an e-mail address.
fn is_identifier(value: &str) -> bool {
    value.chars().filter(char::is_ascii_digit).count() >= 4 || value.contains('@')
}
