//! A column of classes, such as the truth: maps its values to classes and reports unknown ones.

use apportion::text::{Message, Setting, counted, quoted};
use apportion::{Classes, Label, UNCODED};

use super::column::ColumnTexts;
use super::score_columns::{abbreviated_names, column_index, find_column, plain_class};
use super::suggest::{closest_match, did_you_mean};
use super::vocabulary::{Vocabulary, with_ethnicity};
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
    /// A built-in map of values that are neither in `map` nor in `exclude`.
    pub vocabulary: Option<Vocabulary>,
    /// The column of the ethnicity, for a vocabulary that has one; found by name if `None`.
    pub ethnicity: Option<String>,
    /// The settings of this column, for messages.
    pub settings: ClassSettings,
}

/// The settings that name a column of classes, map its values and exclude some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassSettings {
    /// The setting that names the column.
    pub column: Setting,
    /// The setting that maps values to classes.
    pub map: Setting,
    /// The setting that names the column of the ethnicity, if there is one.
    pub ethnicity: Option<Setting>,
    /// The setting that excludes values.
    pub exclude: Setting,
}

impl ClassSettings {
    /// The settings of the truth.
    pub const TRUTH: ClassSettings = ClassSettings {
        column: Setting::Truth,
        map: Setting::TruthMap,
        ethnicity: Some(Setting::TruthEthnicity),
        exclude: Setting::TruthExclude,
    };

    /// The settings of existing labels.
    pub const LABEL: ClassSettings =
        ClassSettings { column: Setting::Label, map: Setting::LabelMap, ethnicity: None, exclude: Setting::Uncoded };
}

impl Default for ClassSettings {
    fn default() -> ClassSettings {
        ClassSettings::TRUTH
    }
}

/// Maximum number of distinct unknown values to collect.
const MAX_REMEMBERED: usize = 21;

/// A column with more distinct unknown values is not a column of classes. Its values may be
/// personal data and are not shown.
const MAX_NAMED: usize = 20;

/// An example of how values are mapped.
const MAP_EXAMPLE: &str = "VALUE=CLASS";

/// Number of unknown values shown in a message.
const SHOWN: usize = 5;

/// Collects a column of classes.
#[derive(Default)]
pub(crate) struct ClassColumnBuilder {
    pub(crate) values: Vec<Label>,
    /// Unknown values and their counts.
    unknown: Vec<(String, u64)>,
}

/// The values of a column of classes in some rows, with the ethnicity if it is read.
pub(crate) struct ClassTexts<'a> {
    pub(crate) values: ColumnTexts<'a>,
    pub(crate) ethnicity: Option<ColumnTexts<'a>>,
}

impl ClassTexts<'_> {
    /// Returns the value of a row.
    pub(crate) fn get(&self, row: usize) -> &str {
        let value = self.values.get(row);
        self.ethnicity.as_ref().map_or(value, |ethnicity| with_ethnicity(value, ethnicity.get(row)))
    }
}

impl ClassColumn {
    /// Adds the values of the vocabulary, for the classes of a table.
    pub(crate) fn add_vocabulary(&mut self, classes: &Classes) {
        let Some(vocabulary) = self.vocabulary else { return };
        let own: Vec<String> = self.map.iter().map(|(value, _)| value).chain(&self.exclude).cloned().collect();
        self.map.extend(vocabulary.map(classes).into_iter().filter(|(value, _)| !own.contains(value)));
        self.exclude.extend(vocabulary.missing_values().map(str::to_owned));
    }

    /// Returns the index of the column of the ethnicity, if one is read. It is part of the truth, so it is never read for
    /// labels.
    pub(crate) fn ethnicity_index(&self, names: &[String]) -> Result<Option<usize>> {
        let (Some((vocabulary, usual)), Some(setting)) =
            (self.vocabulary.and_then(|own| Some((own, own.ethnicity_column()?))), self.settings.ethnicity)
        else {
            return Ok(None);
        };
        if let Some(name) = &self.ethnicity {
            return find_column(names, name, setting).map(Some);
        }
        if let Ok(index) = column_index(names, usual) {
            return Ok(Some(index));
        }
        let needs = Message::from(self.settings.map.with(vocabulary.name()));
        let problem = format!(" also needs the column {usual:?}, which does not exist; ");
        let columns = abbreviated_names(names);
        let fix = Message::from("name it with ") + setting.with("COL");
        Err(Error::Settings(needs + problem + fix + format!("; the columns are {columns}")))
    }

    /// Refuses a map to an unknown class.
    pub(crate) fn check_map(&self, classes: &Classes) -> Result<()> {
        let names = || classes.names().iter().map(String::as_str);
        match self.map.iter().find(|(_, class)| classes.position(class).is_err()) {
            Some((value, class)) => {
                let suggestion = did_you_mean(class, names());
                let problem = format!(": unknown class {class:?}{suggestion}; the classes are {classes}");
                Err(Error::Settings(Message::from(self.settings.map.with(format!("{value}={class}"))) + problem))
            }
            None => Ok(()),
        }
    }

    /// Suggests how to map unknown values to similar classes: ` (such as --truth-map White=white)`.
    fn map_hint(&self, unknown: &[(String, u64)], classes: &Classes) -> Message {
        let names = || classes.names().iter().map(String::as_str);
        let values: Vec<&str> = unknown.iter().map(|(value, _)| value.as_str()).collect();
        if let Some(own) = Vocabulary::recognize(&self.column, &values) {
            return Message::from(" (such as ") + self.settings.map.with(own.name()) + ")";
        }
        let similar = |value: &str| {
            let plain = plain_class(value).and_then(|plain| names().find(|name| *name == plain));
            plain.or_else(|| closest_match(value, names()))
        };
        let close = unknown.iter().filter_map(|(value, _)| Some((value, similar(value)?)));
        // Values with these characters cannot be written in a map.
        let pairs: Vec<String> = close
            .filter(|(value, _)| !value.contains([',', '=', ' ']))
            .take(SHOWN)
            .map(|(value, class)| format!("{value}={class}"))
            .collect();
        if pairs.is_empty() {
            return Message::default();
        }
        Message::from(" (such as ") + self.settings.map.with(pairs.join(",")) + ")"
    }

    /// Returns whether a value is treated as missing.
    pub(crate) fn excludes(&self, value: &str) -> bool {
        let value = value.trim();
        let mapped = self.map.iter().any(|(from, _)| from == value);
        !mapped && (value.is_empty() || self.exclude.iter().any(|other| other == value))
    }
}

impl ClassColumnBuilder {
    pub(crate) fn push(
        &mut self,
        texts: &ClassTexts<'_>,
        rows: impl Iterator<Item = usize>,
        column: &ClassColumn,
        classes: &Classes,
    ) {
        for row in rows {
            let value = texts.get(row).trim();
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

    /// Refuses unknown values. `other_names` are names of the classes that the user could choose instead.
    pub(crate) fn refuse_unknown(&self, column: &ClassColumn, classes: &Classes, other_names: &[String]) -> Result<()> {
        if self.unknown.is_empty() {
            return Ok(());
        }
        let ClassSettings { column: setting, map, exclude, .. } = column.settings;
        let name = &column.column;
        if self.unknown.len() > MAX_NAMED || self.unknown.iter().any(|(value, _)| is_identifier(value)) {
            let (at_least, found) =
                if self.unknown.len() > MAX_NAMED { ("more than ", MAX_NAMED) } else { ("", self.unknown.len()) };
            let problem = format!("column {name:?} has {at_least}{found} different values that are not classes");
            let problem = Message::from(setting) + format!(": {problem}; the classes are {classes}; ");
            return Err(Error::Settings(
                problem + "name another column with " + setting + ", or map its values with " + map.with(MAP_EXAMPLE),
            ));
        }
        let listed = self
            .unknown
            .iter()
            .take(SHOWN)
            .map(|(value, times)| format!("{} ({})", quoted(value), counted(*times, "row", "rows")));
        let listed = listed.collect::<Vec<_>>().join(", ");
        let more = self.unknown.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let problem = format!(": unknown classes in column {name:?}: {listed}{more}; the classes are {classes}");
        let problem = Message::from(setting) + problem;
        if self.unknown.iter().all(|(value, _)| other_names.contains(value)) {
            let fix = "; the score columns have these names, so name the classes in the same way with ";
            return Err(Error::Settings(problem + fix + Setting::Classes.with(other_names.join(","))));
        }
        let problem = problem + "; map them with " + map.with(MAP_EXAMPLE);
        let problem = problem + column.map_hint(&self.unknown, classes);
        let missing = if exclude == Setting::Uncoded { "unlabeled" } else { "missing" };
        Err(Error::Settings(problem + format!(", or treat them as {missing} with ") + exclude.with("VALUE")))
    }
}

/// Returns whether a value may identify a person: it has four or more digits, or looks like an
/// email address.
fn is_identifier(value: &str) -> bool {
    value.chars().filter(char::is_ascii_digit).count() >= 4 || value.contains('@')
}
