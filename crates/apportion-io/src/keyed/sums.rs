//! Detects the meaning of numbers by class from their sums: people, P(class | key) or P(key | class).

use std::path::Path;

use apportion_bisg::Numbers;

use crate::error::{Error, Result};

/// Maximum deviation of a sum from 1, because printed shares are rounded.
const NEAR: f64 = 0.02;
/// Maximum deviation if no number exceeds 1: shares rounded to few digits, or without a small
/// class.
const LOOSE: f64 = 0.1;
/// Maximum deviation from 100 if the columns are named as percentages.
const PERCENT: f64 = 0.05;

/// Returns the meaning of the numbers. Percentages are converted to shares.
pub(super) fn detect_numbers(path: &Path, values: &mut [f64], classes: usize, are_percent: bool) -> Result<Numbers> {
    let is_near = |sum: f64, whole: f64, slack: f64| (sum / whole - 1.0).abs() <= slack + 1e-9;
    let rows = || values.chunks_exact(classes).filter(|row| row.iter().any(|value| *value > 0.0));
    let rows_near = |whole: f64, slack: f64| rows().all(|row| is_near(row.iter().sum(), whole, slack));
    let sums: Vec<f64> = (0..classes).map(|class| rows().map(|row| row[class]).sum()).collect();
    let columns_near = |whole: f64| sums.iter().all(|&sum| is_near(sum, whole, NEAR));
    let are_small = rows().flatten().all(|&value| value <= 1.0);
    let rounded = rounding(values, classes).clamp(NEAR, LOOSE);
    // If the sum of a row is wrong and most are right, the row is an error.
    for (whole, slack) in [(1.0, rounded), (100.0, if are_percent { PERCENT } else { NEAR })] {
        let sums = || values.chunks_exact(classes).map(|row| row.iter().sum::<f64>()).enumerate();
        let sums = || sums().filter(|(_, sum)| *sum > 0.0);
        let off = || sums().filter(|(_, sum)| !is_near(*sum, whole, slack));
        if let Some((row, sum)) = off().next().filter(|_| 10 * off().count() <= sums().count()) {
            let problem = format!("its classes sum to {sum}, but those of other rows sum to {whole}; correct it");
            return Err(Error::Row { path: path.to_owned(), row: row as u64 + 1, problem: problem.into() });
        }
    }
    let (numbers, whole) = if rows_near(1.0, NEAR) {
        (Numbers::Shares, 1.0)
    } else if rows_near(100.0, NEAR) {
        (Numbers::Shares, 100.0)
    } else if columns_near(1.0) {
        (Numbers::KeyGivenClass, 1.0)
    } else if columns_near(100.0) {
        (Numbers::KeyGivenClass, 100.0)
    } else if are_small && rows_near(1.0, LOOSE) || are_percent && rows_near(100.0, PERCENT) {
        values.chunks_exact_mut(classes).for_each(normalize);
        (Numbers::Shares, 1.0)
    } else if are_small {
        let problem = "neither its rows nor its columns sum to 1, and its numbers are not counts of people; use people by class \
                       (n_CLASS), P(class | key) or P(key | class)";
        return Err(Error::file(path, problem));
    } else {
        (Numbers::People, 1.0)
    };
    values.iter_mut().for_each(|value| *value /= whole);
    Ok(numbers)
}

/// Returns the largest deviation of a row's sum due to rounding: half of the last digit for each
/// class.
fn rounding(values: &[f64], classes: usize) -> f64 {
    let has_no_more = |scale: &f64| {
        let numbers = values.iter().filter(|value| value.is_finite()).map(|value| value * scale);
        numbers.into_iter().all(|number| (number - number.round()).abs() < 1e-6)
    };
    [10.0, 100.0, 1000.0].iter().find(|scale| has_no_more(scale)).map_or(0.0, |scale| classes as f64 * 0.5 / scale)
}

/// Divides shares by their sum. Empty rows stay empty.
fn normalize(row: &mut [f64]) {
    let sum: f64 = row.iter().sum();
    if sum > 0.0 {
        row.iter_mut().for_each(|value| *value /= sum);
    }
}
