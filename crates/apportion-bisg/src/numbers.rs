//! The numbers of a table by key and class: what they mean, and the checks and divisions that all tables share.

use crate::error::{Error, Result};

/// What the numbers of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// People, or anything in proportion to them.
    People,
    /// The shares of the classes among those of a key, P(class | key). Rows sum to one.
    Shares,
    /// How the people of a class are spread over the keys, P(key | class). Columns of a whole table sum to one.
    KeyGivenClass,
}

/// More people than there are.
const MOST_PEOPLE: f64 = 1e12;

/// Whether a row says anything; refuses what is no number of people, and no share.
pub(crate) fn check_row(row: usize, values: &[f64]) -> Result<bool> {
    if values.iter().all(|value| value.is_nan()) {
        return Ok(false);
    }
    let problem = |problem: &str| Err(Error::TableRow { row, problem: problem.into() });
    if values.iter().any(|value| value.is_nan()) {
        return problem("a class has no number; write 0 where there is nobody");
    }
    if values.iter().any(|value| *value > MOST_PEOPLE) {
        return problem("a number is larger than any number of people; mend it");
    }
    if values.iter().any(|&value| value < 0.0) {
        return problem("a number is negative; mend it, or leave the row out");
    }
    Ok(values.iter().any(|&value| value > 0.0))
}

/// Divides a row by its sum; says whether there is one.
#[inline]
pub(crate) fn normalize(row: &mut [f64]) -> bool {
    let sum: f64 = row.iter().sum();
    let is_sound = sum > 0.0 && sum.is_finite();
    if is_sound {
        row.iter_mut().for_each(|value| *value /= sum);
    }
    is_sound
}

/// Divides class by class. A class that nobody is in stays at zero.
pub(crate) fn divide(row: &mut [f64], by: &[f64]) {
    row.iter_mut().zip(by).for_each(|(value, by)| *value = if *by > 0.0 { *value / by } else { 0.0 });
}
