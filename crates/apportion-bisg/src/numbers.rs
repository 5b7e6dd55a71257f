//! The numbers of a table by key and class: their meaning, and the checks that all tables share.

use crate::error::{Error, Result};

/// The meaning of a table's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// People, or numbers proportional to them.
    People,
    /// Shares of the classes for a key, P(class | key). Rows sum to one.
    Shares,
    /// Shares of the keys for a class, P(key | class). Columns of a complete table sum to one.
    KeyGivenClass,
}

/// An upper bound on plausible numbers of people.
const MOST_PEOPLE: f64 = 1e12;

/// Checks a row and returns whether it has any data. Negative and implausible numbers are errors.
pub(crate) fn check_row(row: usize, values: &[f64]) -> Result<bool> {
    if values.iter().all(|value| value.is_nan()) {
        return Ok(false);
    }
    let problem = |problem: &str| Err(Error::TableRow { row, problem: problem.into() });
    if values.iter().any(|value| value.is_nan()) {
        return problem("the number of a class is missing; enter 0 if there are no people");
    }
    if values.iter().any(|value| *value > MOST_PEOPLE) {
        return problem("a number is too large; correct it");
    }
    if values.iter().any(|&value| value < 0.0) {
        return problem("a number is negative; correct it, or leave out the row");
    }
    Ok(values.iter().any(|&value| value > 0.0))
}

/// Divides a row by its sum and returns whether the sum is positive and finite.
#[inline]
pub(crate) fn normalize(row: &mut [f64]) -> bool {
    let sum: f64 = row.iter().sum();
    let is_sound = sum > 0.0 && sum.is_finite();
    if is_sound {
        row.iter_mut().for_each(|value| *value /= sum);
    }
    is_sound
}

/// Divides class by class. Classes without people stay at zero.
pub(crate) fn divide(row: &mut [f64], by: &[f64]) {
    row.iter_mut().zip(by).for_each(|(value, by)| *value = if *by > 0.0 { *value / by } else { 0.0 });
}
