//! A column of survey weights: numbers from 0. A row without a weight is treated as a row without an outcome.

use apportion::text::{Message, Setting, quoted};

use super::number::{Amount, ambiguous_comma, parse_amount};
use super::outcome::OutcomeValues;
use crate::error::{Error, Result};

/// The largest weight that estimators support.
const LARGEST: f64 = 1e30;

/// The survey weight of each row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    /// NaN for rows without a weight until [`Weights::finish`], then 0.
    pub(crate) values: Vec<f64>,
    /// Number of rows without a weight.
    pub(crate) missing: u64,
}

impl Weights {
    /// Adds a weight given as text; the caller adds the row to a problem.
    pub(crate) fn push_text(&mut self, text: &str) -> std::result::Result<(), String> {
        match parse_amount(text) {
            Some(Amount::Plain(number) | Amount::Thousands(number) | Amount::Decimal(number)) => self.push(number),
            Some(Amount::Ambiguous { thousands, decimal }) => Err(ambiguous_comma(thousands, decimal)),
            None => Err(format!(
                "the weight {} is not a number; correct it, or leave it empty to leave the row out",
                quoted(text.trim())
            )),
        }
    }

    /// Adds a weight; NaN if it is missing.
    pub(crate) fn push(&mut self, weight: f64) -> std::result::Result<(), String> {
        if !weight.is_nan() && !(0.0..=LARGEST).contains(&weight) {
            let problem = match weight {
                _ if weight.is_infinite() => "the weight is infinite".to_owned(),
                _ if weight < 0.0 => format!("the weight {weight} is negative"),
                _ => format!("the weight {weight:e} is too large"),
            };
            return Err(problem + "; use a number from 0 to 1e30, or leave it empty to leave the row out");
        }
        self.missing += u64::from(weight.is_nan());
        self.values.push(weight);
        Ok(())
    }

    /// Removes the outcomes of rows without a weight.
    ///
    /// # Errors
    /// If no row has both an outcome and a positive weight.
    pub(crate) fn finish(&mut self, outcome: &mut OutcomeValues, column: &str) -> Result<()> {
        let mut is_usable = false;
        for (row, weight) in self.values.iter_mut().enumerate() {
            if weight.is_nan() {
                outcome.clear(row);
                *weight = 0.0;
            }
            is_usable |= *weight > 0.0 && outcome.is_known(row);
        }
        if is_usable {
            return Ok(());
        }
        let problem =
            format!(": column {column:?}: it is 0 or empty in every row with an outcome; name another column");
        Err(Error::Settings(Message::from(Setting::Weight) + problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_numbers_from_zero() {
        let mut weights = Weights::default();
        for text in ["1.5", "0", " 12,5 ", "", "NA", "1,234.5"] {
            assert_eq!(weights.push_text(text), Ok(()), "{text}");
        }
        assert_eq!(&weights.values[..3], [1.5, 0.0, 12.5]);
        assert!(weights.values[3].is_nan() && weights.values[4].is_nan());
        assert_eq!((weights.values[5], weights.missing), (1234.5, 2));
        for (text, problem) in [
            ("-1", "the weight -1 is negative; use a number"),
            ("inf", "the weight is infinite; use a number"),
            ("-inf", "the weight is infinite; use a number"),
            ("1e31", "the weight 1e31 is too large; use a number"),
            ("heavy", "the weight \"heavy\" is not a number; correct it"),
            ("1,234", "it is ambiguous: 1234 or 1.234"),
        ] {
            let found = weights.push_text(text);
            assert!(found.as_ref().is_err_and(|found| found.starts_with(problem)), "{text}: {found:?}");
        }
    }

    #[test]
    fn rows_without_weight_have_no_outcome() {
        let mut weights = Weights { values: vec![2.0, f64::NAN, 0.0], missing: 1 };
        let mut outcome = OutcomeValues::Numbers(vec![f64::NAN, 3.0, 4.0]);
        let error = weights.clone().finish(&mut outcome.clone(), "w").map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| error.contains("it is 0 or empty in every row with an outcome")));
        let OutcomeValues::Numbers(numbers) = &mut outcome else { panic!() };
        numbers[0] = 5.0;
        assert!(weights.finish(&mut outcome, "w").is_ok());
        assert_eq!(weights.values, [2.0, 0.0, 0.0]);
        assert!(outcome.is_known(0) && !outcome.is_known(1) && outcome.is_known(2));
    }
}
