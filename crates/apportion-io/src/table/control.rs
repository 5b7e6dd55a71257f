//! Control columns (numbers, or a few categories) and the column of clusters, for regressions.

use std::collections::HashMap;

use apportion::estimate::NO_LEVEL;
use apportion::estimate::regression::{Control, ControlValues, MAX_CONTROL_LEVELS, NO_CLUSTER};
use apportion::seed;
use apportion::text::{Message, Setting, quoted};

use super::number::{Amount, ambiguous_comma, parse_amount, parse_number};
use crate::error::{Error, Result};

/// Maximum number of categories if some of them are numbers, such as 0, 1 and 2+.
const MAX_MIXED: usize = 12;

/// Ends the name of a column whose numbers are categories.
const CATEGORY: &str = ":category";

/// A control column and how to interpret it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlColumn {
    /// The name of the column.
    pub column: String,
    /// Whether numbers are categories, such as codes of counties.
    pub is_category: bool,
}

impl ControlColumn {
    /// Reads `COLUMN` or `COLUMN:category`.
    pub fn of(text: &str) -> ControlColumn {
        match text.strip_suffix(CATEGORY) {
            Some(column) => ControlColumn { column: column.to_owned(), is_category: true },
            None => ControlColumn { column: text.to_owned(), is_category: false },
        }
    }
}

/// A control of all rows.
#[derive(Clone, Debug)]
pub(crate) struct ControlData {
    pub(crate) name: String,
    values: ControlNumbers,
}

#[derive(Clone, Debug)]
enum ControlNumbers {
    Numbers(Vec<f64>),
    Levels { codes: Vec<u16>, names: Vec<String> },
}

impl ControlData {
    /// Returns the control as the core library expects it.
    pub(crate) fn control(&self) -> Control<'_> {
        let values = match &self.values {
            ControlNumbers::Numbers(numbers) => ControlValues::Numbers(numbers),
            ControlNumbers::Levels { codes, names } => ControlValues::Levels { codes, names },
        };
        Control { name: &self.name, values }
    }
}

/// Collects a control: as categories while their number is small, otherwise as numbers.
#[derive(Default)]
pub(crate) struct ControlBuilder {
    codes: Vec<u16>,
    names: Vec<String>,
    index_of: HashMap<String, u16>,
    numbers: Option<Vec<f64>>,
}

impl ControlBuilder {
    /// Adds a value given as text.
    pub(crate) fn push_text(&mut self, text: &str, column: &ControlColumn) -> std::result::Result<(), Message> {
        let text = text.trim();
        let number = parse_number(text);
        let is_missing = number.is_some_and(f64::is_nan);
        if !column.is_category {
            if number.is_some_and(f64::is_infinite) {
                return Err(INFINITE.into());
            }
            if text.contains(',')
                && let Some(Amount::Ambiguous { thousands, decimal }) = parse_amount(text)
            {
                return Err(ambiguous_comma(thousands, decimal).into());
            }
            if let Some(numbers) = &mut self.numbers {
                numbers.push(number.ok_or_else(|| not_a_number(text, column))?);
                return Ok(());
            }
        }
        if is_missing {
            self.codes.push(NO_LEVEL);
            return Ok(());
        }
        let index = match self.index_of.get(text) {
            Some(&index) => index,
            None if self.names.len() < MAX_CONTROL_LEVELS => {
                let index = self.names.len() as u16;
                self.names.push(text.to_owned());
                self.index_of.insert(text.to_owned(), index);
                index
            }
            None => {
                let Some(number) = number.filter(|_| !column.is_category) else { return Err(too_many()) };
                self.convert_to_numbers(column)?.push(number);
                return Ok(());
            }
        };
        self.codes.push(index);
        Ok(())
    }

    /// Adds a number; NaN if it is missing.
    pub(crate) fn push_number(&mut self, number: f64, column: &ControlColumn) -> std::result::Result<(), Message> {
        if column.is_category {
            let text = if number.is_nan() { String::new() } else { number.to_string() };
            return self.push_text(&text, column);
        }
        if number.is_infinite() {
            return Err(INFINITE.into());
        }
        self.convert_to_numbers(column)?.push(number);
        Ok(())
    }

    /// Converts the values so far to numbers, and fails if one is not a number.
    fn convert_to_numbers(&mut self, column: &ControlColumn) -> std::result::Result<&mut Vec<f64>, Message> {
        if self.numbers.is_none() {
            let values = self.names.iter().map(|name| parse_number(name).ok_or_else(|| not_a_number(name, column)));
            let values = values.collect::<std::result::Result<Vec<f64>, Message>>()?;
            let number = |&code: &u16| values.get(usize::from(code)).copied().unwrap_or(f64::NAN);
            self.numbers = Some(std::mem::take(&mut self.codes).iter().map(number).collect());
        }
        self.numbers.as_mut().ok_or_else(Message::default)
    }

    /// Determines the type of the control from all values.
    pub(crate) fn finish(mut self, column: &ControlColumn) -> Result<ControlData> {
        let refuse = |problem: Message| {
            Error::Settings(Message::from(Setting::Controls) + format!(": column {:?}: ", column.column) + problem)
        };
        let name = column.column.clone();
        let are_numbers = self.names.iter().filter(|name| parse_number(name).is_some()).count();
        let is_number = self.numbers.is_some() || (are_numbers == self.names.len() && !column.is_category);
        if is_number {
            let numbers = std::mem::take(self.convert_to_numbers(column).map_err(refuse)?);
            return match numbers.iter().all(|number| number.is_nan()) {
                true => Err(refuse("it is empty in every row; name another column".into())),
                false => Ok(ControlData { name, values: ControlNumbers::Numbers(numbers) }),
            };
        }
        if are_numbers > 0 && self.names.len() > MAX_MIXED && !column.is_category {
            let other = self.names.iter().find(|name| parse_number(name).is_none());
            return Err(refuse(not_a_number(other.map_or("", String::as_str), column)));
        }
        if self.names.is_empty() {
            return Err(refuse("it is empty in every row; name another column".into()));
        }
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|&a, &b| self.names[a].cmp(&self.names[b]));
        let mut ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &level)| ranks[level] = rank as u16);
        let code = |code: u16| ranks.get(usize::from(code)).copied().unwrap_or(NO_LEVEL);
        let codes = self.codes.into_iter().map(code).collect();
        let names = order.into_iter().map(|level| self.names[level].clone()).collect();
        Ok(ControlData { name, values: ControlNumbers::Levels { codes, names } })
    }
}

const INFINITE: &str = "the control is infinite; correct it, or leave it empty";

fn not_a_number(text: &str, column: &ControlColumn) -> Message {
    let problem = format!("{} is not a number, unlike other values; correct it, leave it empty, or use ", quoted(text));
    let value = format!("{}{CATEGORY}", column.column);
    Message::from(problem) + Setting::Controls.with(value) + " if the values are categories"
}

fn too_many() -> Message {
    let problem = format!(
        "a control can have at most {MAX_CONTROL_LEVELS} categories, and this column has more; merge them into fewer, name a \
         column of numbers, or use the column with "
    );
    Message::from(problem) + Setting::Cluster
}

/// Assigns numbers to the clusters of rows. Clusters are recognized by a hash of their text.
#[derive(Default)]
pub(crate) struct ClusterBuilder {
    pub(crate) ids: Vec<u32>,
    id_of: HashMap<u64, u32>,
}

impl ClusterBuilder {
    /// Adds a row; empty text is a missing value.
    pub(crate) fn push(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() || parse_number(text).is_some_and(f64::is_nan) {
            self.ids.push(NO_CLUSTER);
            return;
        }
        let next = self.id_of.len() as u32;
        self.ids.push(*self.id_of.entry(seed::key_of_text(text)).or_insert(next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(texts: &[&str], column: &str) -> std::result::Result<ControlNumbers, String> {
        let column = ControlColumn::of(column);
        let mut builder = ControlBuilder::default();
        let pushed = texts.iter().try_for_each(|text| builder.push_text(text, &column));
        pushed.map_err(|problem| problem.to_string())?;
        builder.finish(&column).map(|own| own.values).map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_are_numbers_and_texts_are_categories() {
        let Ok(ControlNumbers::Numbers(numbers)) = build(&["3", "", " 4.5 ", "NA"], "x") else { panic!() };
        assert!(numbers[0] == 3.0 && numbers[1].is_nan() && numbers[2] == 4.5 && numbers[3].is_nan());
        let Ok(ControlNumbers::Levels { codes, names }) = build(&["red", "", "blue", "red"], "x") else { panic!() };
        assert_eq!((codes, names), (vec![1, NO_LEVEL, 0, 1], vec!["blue".to_owned(), "red".to_owned()]));
        let Ok(ControlNumbers::Levels { codes, .. }) = build(&["37001", "37003", "37001"], "fips:category") else {
            panic!()
        };
        assert_eq!(codes, [0, 1, 0]);
        assert!(matches!(build(&["0", "1", "2+"], "x"), Ok(ControlNumbers::Levels { .. })));
    }

    #[test]
    fn uninterpretable_controls_are_refused() {
        let many: Vec<String> = (0..10_000).map(|number| format!("name {number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let problem = build(&many, "x").unwrap_err();
        assert!(problem.contains("at most 100 categories") && problem.contains("`cluster`"), "{problem}");
        let codes: Vec<String> = (0..200).map(|number| number.to_string()).collect();
        let mut codes: Vec<&str> = codes.iter().map(String::as_str).collect();
        assert!(matches!(build(&codes, "x"), Ok(ControlNumbers::Numbers(_))));
        assert!(build(&codes, "x:category").unwrap_err().contains("at most 100 categories"));
        codes.push("unknown");
        assert!(build(&codes, "x").unwrap_err().contains("\"unknown\" is not a number"));
        assert!(build(&codes[150..], "x").unwrap_err().contains("x:category"));
        assert!(build(&["", "NA"], "x").unwrap_err().contains("empty in every row"));
        assert!(build(&["1", "inf"], "x").unwrap_err().contains("infinite"));
    }

    #[test]
    fn clusters_are_recognized_by_their_text() {
        let mut builder = ClusterBuilder::default();
        ["a", "b", " a", "", "NA"].iter().for_each(|text| builder.push(text));
        assert_eq!(builder.ids, [0, 1, 0, NO_CLUSTER, NO_CLUSTER]);
    }
}
