//! An outcome column: numbers, yes and no, or a few categories; other columns are refused.

use std::collections::HashMap;

use apportion::estimate::{MAX_LEVELS, NO_LEVEL, Outcomes};
use apportion::text::{Message, Setting, quoted};

use super::number::{Amount, ambiguous_comma, parse_amount, parse_number};
use super::suggest::did_you_mean;
use crate::error::{Error, Result};

/// The outcome column and how to interpret it.
#[derive(Clone, Debug, Default)]
pub struct OutcomeColumn {
    /// The name of the column.
    pub column: String,
    /// The value that counts as 1; all others count as 0.
    pub value: Option<String>,
}

/// The outcome of each row.
#[derive(Clone, Debug)]
pub(crate) enum OutcomeValues {
    /// Numbers, with NaN for missing values.
    Numbers(Vec<f64>),
    /// Categories as indices into `names`; `counted` is the one that counts as 1, if any.
    Levels { codes: Vec<u16>, names: Vec<String>, counted: Option<usize> },
}

/// Pairs of values that mean no and yes.
const NO_AND_YES: [[&str; 2]; 5] = [["0", "1"], ["false", "true"], ["no", "yes"], ["n", "y"], ["f", "t"]];

/// Maximum number of categories if some of them are numbers, such as 0, 1 and 2+.
const MAX_MIXED: usize = 12;

/// Number of other values collected for error messages.
const REMEMBERED: usize = 20;

/// Collects an outcome: as categories while their number is small, otherwise as numbers.
#[derive(Default)]
pub(crate) struct OutcomeBuilder {
    codes: Vec<u16>,
    names: Vec<String>,
    index_of: HashMap<String, u16>,
    numbers: Option<Vec<f64>>,
}

/// The problem with a value; the caller adds the row.
pub(crate) type Problem = Message;

impl OutcomeBuilder {
    /// Adds a value given as text.
    pub(crate) fn push_text(&mut self, text: &str, column: &OutcomeColumn) -> std::result::Result<(), Problem> {
        let text = text.trim();
        let number = parse_number(text);
        if number.is_some_and(f64::is_infinite) {
            return Err(INFINITE.into());
        }
        if column.value.is_none()
            && text.contains(',')
            && let Some(Amount::Ambiguous { thousands, decimal }) = parse_amount(text)
        {
            return Err(ambiguous_comma(thousands, decimal).into());
        }
        let missing = number.is_some_and(f64::is_nan);
        if let Some(value) = &column.value {
            return self.push_counted(text, number.filter(|_| !missing), missing, value);
        }
        if let Some(numbers) = &mut self.numbers {
            numbers.push(number.ok_or_else(|| not_a_number(text))?);
            return Ok(());
        }
        if missing {
            self.codes.push(NO_LEVEL);
            return Ok(());
        }
        let index = match self.index_of.get(text) {
            Some(&index) => index,
            None if self.names.len() < MAX_LEVELS => self.add_name(text),
            None => {
                let Some(number) = number else { return Err(too_many(&self.names)) };
                self.convert_to_numbers()?.push(number);
                return Ok(());
            }
        };
        self.codes.push(index);
        Ok(())
    }

    /// Adds a number; NaN if it is missing.
    pub(crate) fn push_number(&mut self, number: f64, column: &OutcomeColumn) -> std::result::Result<(), Problem> {
        if number.is_infinite() {
            return Err(INFINITE.into());
        }
        if let Some(value) = &column.value {
            return self.push_counted(&number.to_string(), Some(number), number.is_nan(), value);
        }
        self.convert_to_numbers()?.push(number);
        Ok(())
    }

    /// Adds a value that only counts if it equals `--outcome-value`.
    fn push_counted(
        &mut self,
        text: &str,
        number: Option<f64>,
        missing: bool,
        value: &str,
    ) -> std::result::Result<(), Problem> {
        let value = value.trim();
        let matches = text == value || number.is_some_and(|number| parse_number(value) == Some(number));
        if !matches && !missing && self.names.len() < REMEMBERED && !self.index_of.contains_key(text) {
            self.add_name(text);
        }
        self.codes.push(if missing { NO_LEVEL } else { u16::from(matches) });
        Ok(())
    }

    fn add_name(&mut self, text: &str) -> u16 {
        let index = self.names.len() as u16;
        self.names.push(text.to_owned());
        self.index_of.insert(text.to_owned(), index);
        index
    }

    /// Converts the values so far to numbers, and fails if one is not a number.
    fn convert_to_numbers(&mut self) -> std::result::Result<&mut Vec<f64>, Problem> {
        if self.numbers.is_none() {
            let values = self.names.iter().map(|name| parse_number(name).ok_or_else(|| not_a_number(name)));
            let values = values.collect::<std::result::Result<Vec<f64>, Problem>>()?;
            let number = |&code: &u16| values.get(usize::from(code)).copied().unwrap_or(f64::NAN);
            self.numbers = Some(std::mem::take(&mut self.codes).iter().map(number).collect());
        }
        self.numbers.as_mut().ok_or_else(Message::default)
    }

    /// Determines the type of the outcome from all values.
    pub(crate) fn finish(mut self, column: &OutcomeColumn) -> Result<OutcomeValues> {
        let refuse = |setting: Setting, problem: Problem| {
            Error::Settings(Message::from(setting) + format!(": column {:?}: ", column.column) + problem)
        };
        if let Some(value) = &column.value {
            if !self.codes.contains(&1) {
                let suggestion = did_you_mean(value, self.names.iter().map(String::as_str));
                let others = list_values(&self.names);
                let problem = format!("no row has the value {}{suggestion}; the values are {others}", quoted(value));
                return Err(refuse(Setting::OutcomeValue, problem.into()));
            }
            let names = vec![format!("not {}", value.trim()), value.trim().to_owned()];
            return Ok(OutcomeValues::Levels { codes: self.codes, names, counted: Some(1) });
        }
        let are_numbers = self.names.iter().filter(|name| parse_number(name).is_some()).count();
        if let Some(numbers) = self.numbers {
            return match numbers.iter().all(|number| number.is_nan()) {
                true => Err(refuse(Setting::Outcome, EMPTY.into())),
                false => Ok(zeros_and_ones(&numbers).unwrap_or(OutcomeValues::Numbers(numbers))),
            };
        }
        if self.names.is_empty() {
            return Err(refuse(Setting::Outcome, EMPTY.into()));
        }
        if are_numbers == self.names.len() {
            let numbers = self.convert_to_numbers().map_err(|problem| refuse(Setting::Outcome, problem))?;
            let numbers = std::mem::take(numbers);
            return Ok(zeros_and_ones(&numbers).unwrap_or(OutcomeValues::Numbers(numbers)));
        }
        if are_numbers > 0 && self.names.len() > MAX_MIXED {
            let other = self.names.iter().find(|name| parse_number(name).is_none());
            return Err(refuse(Setting::Outcome, not_a_number(other.map_or("", String::as_str))));
        }
        Ok(self.levels())
    }

    /// Determines the predictions, which must be 0 and 1, true and false, or yes and no.
    pub(crate) fn finish_prediction(self, column: &str) -> Result<OutcomeValues> {
        match self.finish(&OutcomeColumn { column: column.to_owned(), value: None }) {
            Ok(values @ OutcomeValues::Levels { counted: Some(_), .. }) => Ok(values),
            Ok(OutcomeValues::Levels { counted: None, .. } | OutcomeValues::Numbers(_)) | Err(_) => {
                let problem = format!(
                    ": column {column:?} has other values than 0 and 1, true and false, or yes and no; name a column of \
                     predictions or decisions"
                );
                Err(Error::Settings(Message::from(Setting::Prediction) + problem))
            }
        }
    }

    /// Returns the categories sorted by name. For no and yes, yes counts.
    fn levels(self) -> OutcomeValues {
        let known =
            |pair: &&[&str; 2]| self.names.iter().all(|name| pair.iter().any(|word| name.eq_ignore_ascii_case(word)));
        if let Some(pair) = NO_AND_YES.iter().find(known) {
            let is_yes: Vec<u16> =
                self.names.iter().map(|name| u16::from(name.eq_ignore_ascii_case(pair[1]))).collect();
            let code = |code: u16| is_yes.get(usize::from(code)).copied().unwrap_or(NO_LEVEL);
            let codes = self.codes.into_iter().map(code).collect();
            return OutcomeValues::Levels { codes, names: pair.map(String::from).to_vec(), counted: Some(1) };
        }
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|&a, &b| self.names[a].cmp(&self.names[b]));
        let mut ranks = vec![0; order.len()];
        order.iter().enumerate().for_each(|(rank, &level)| ranks[level] = rank as u16);
        let code = |code: u16| ranks.get(usize::from(code)).copied().unwrap_or(NO_LEVEL);
        let codes = self.codes.into_iter().map(code).collect();
        let names = order.into_iter().map(|level| self.names[level].clone()).collect();
        OutcomeValues::Levels { codes, names, counted: None }
    }
}

impl OutcomeValues {
    /// Removes the outcome of a row.
    pub(crate) fn clear(&mut self, row: usize) {
        match self {
            OutcomeValues::Numbers(numbers) => numbers[row] = f64::NAN,
            OutcomeValues::Levels { codes, .. } => codes[row] = NO_LEVEL,
        }
    }

    /// Returns whether a row has an outcome.
    pub(crate) fn is_known(&self, row: usize) -> bool {
        match self {
            OutcomeValues::Numbers(numbers) => !numbers[row].is_nan(),
            OutcomeValues::Levels { codes, .. } => codes[row] != NO_LEVEL,
        }
    }

    /// Returns the outcomes as the core library expects them.
    pub(crate) fn outcomes(&self) -> Result<Outcomes<'_>> {
        Ok(match self {
            OutcomeValues::Numbers(numbers) => Outcomes::numbers(numbers)?,
            OutcomeValues::Levels { codes, names, counted } => {
                let levels = Outcomes::levels(codes, names)?;
                counted.map_or(Ok(levels), |level| levels.counting(level))?
            }
        })
    }
}

/// Converts numbers that are all 0 or 1 to categories, with 1 as the counted one.
fn zeros_and_ones(numbers: &[f64]) -> Option<OutcomeValues> {
    let code = |&number: &f64| match number {
        0.0 => Some(0),
        1.0 => Some(1),
        number if number.is_nan() => Some(NO_LEVEL),
        _ => None,
    };
    let codes = numbers.iter().map(code).collect::<Option<Vec<u16>>>()?;
    Some(OutcomeValues::Levels { codes, names: NO_AND_YES[0].map(String::from).to_vec(), counted: Some(1) })
}

const INFINITE: &str = "the outcome is infinite; correct it, or leave it empty";
const EMPTY: &str = "it is empty in every row; name another column";

fn not_a_number(text: &str) -> Problem {
    let problem = format!(
        "{} is not a number, unlike other values; correct it, leave it empty, or choose a value to count",
        quoted(text)
    );
    Message::from(problem + " with ") + Setting::OutcomeValue.with("VALUE")
}

fn too_many(names: &[String]) -> Problem {
    let different = names.len();
    let problem = format!("text with more than {different} different values is neither a number nor a category");
    Message::from(problem + "; name another column, or the value to count with ") + Setting::OutcomeValue.with("VALUE")
}

/// Lists some of the values.
fn list_values(names: &[String]) -> String {
    const SHOWN: usize = 5;
    if names.len() >= REMEMBERED {
        return format!("at least {REMEMBERED} other values");
    }
    let mut names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    names.sort();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(texts: &[&str], value: Option<&str>) -> std::result::Result<OutcomeValues, String> {
        let column = OutcomeColumn { column: "y".into(), value: value.map(String::from) };
        let mut builder = OutcomeBuilder::default();
        let pushed = texts.iter().try_for_each(|text| builder.push_text(text, &column));
        pushed.map_err(|problem| problem.to_string())?;
        builder.finish(&column).map_err(|error| error.to_string())
    }

    fn levels(texts: &[&str], value: Option<&str>) -> (Vec<u16>, Vec<String>, Option<usize>) {
        match build(texts, value).unwrap() {
            OutcomeValues::Levels { codes, names, counted } => (codes, names, counted),
            OutcomeValues::Numbers(numbers) => panic!("{numbers:?}"),
        }
    }

    #[test]
    fn two_values_that_say_no_and_yes_are_binary() {
        for texts in
            [["0", "1", ""], ["no", "Yes", "NA"], ["False", "TRUE", " "], ["n", "Y", "null"], ["0.0", "1", "NaN"]]
        {
            let (codes, _, counted) = levels(&texts, None);
            assert_eq!((codes, counted), (vec![0, 1, NO_LEVEL], Some(1)), "{texts:?}");
        }
        // If all values are the same, the outcome is still a rate.
        assert_eq!(levels(&["yes", "yes"], None).0, [1, 1]);
        assert_eq!(
            levels(&["D", "R", "", "D "], Some("D")),
            (vec![1, 0, NO_LEVEL, 1], vec!["not D".into(), "D".into()], Some(1))
        );
        assert_eq!(levels(&["2", "2.0", "3"], Some("2")).0, [1, 1, 0]);
    }

    #[test]
    fn few_texts_become_sorted_levels() {
        assert_eq!(
            levels(&["R", "D", "", "I", "D"], None),
            (vec![2, 0, NO_LEVEL, 1, 0], ["D", "I", "R"].map(String::from).to_vec(), None)
        );
        assert_eq!(levels(&["0", "1", "2+"], None).0, [0, 1, 2]);
    }

    #[test]
    fn numeric_outcomes_stay_numbers() {
        let Ok(OutcomeValues::Numbers(few)) = build(&["12,5", "", "7"], None) else { panic!() };
        assert!(few[0] == 12.5 && few[1].is_nan() && few[2] == 7.0);
        let texts: Vec<String> = (0..300).map(|number| format!("{number}.5")).collect();
        let Ok(OutcomeValues::Numbers(many)) = build(&texts.iter().map(String::as_str).collect::<Vec<_>>(), None)
        else {
            panic!()
        };
        assert!(many.len() == 300 && many[0] == 0.5 && many[299] == 299.5);
    }

    #[test]
    fn uninterpretable_outcomes_are_refused() {
        let names: Vec<String> = (0..200).map(|number| format!("name {number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(build(&names, None).unwrap_err().contains("neither a number nor a category"));
        assert!(build(&["52,000", "7"], None).unwrap_err().starts_with("it is ambiguous: 52000 or 52; "));
        assert!(build(&["1", "inf"], None).unwrap_err().contains("infinite"));
        assert!(build(&["", "NA"], None).unwrap_err().contains("empty in every row"));
        let mut ages: Vec<String> = (0..150).map(|age| age.to_string()).collect();
        ages.push("unknown".into());
        let ages: Vec<&str> = ages.iter().map(String::as_str).collect();
        assert!(build(&ages, None).unwrap_err().starts_with("\"unknown\" is not a number"));
        assert!(build(&ages[140..], None).unwrap().outcomes().is_ok(), "a few categories");
        let problem = build(&["dem", "rep"], Some("dme")).unwrap_err();
        assert_eq!(
            problem,
            "`outcome_value`: column \"y\": no row has the value \"dme\" (did you mean \"dem\"?); the values are \"dem\", \"rep\""
        );
    }
}
