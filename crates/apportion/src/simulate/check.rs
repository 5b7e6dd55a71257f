//! What all generators ask of numbers that they are given.

use crate::error::{Error, Result};
use crate::scores::{MAX_CLASSES, SUM_TOLERANCE};

/// Refuses a value that is not as it should be.
pub(super) fn within(what: &str, value: f64, holds: bool, range: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Parameter { what: what.to_owned(), value, range }) }
}

/// Refuses a number of classes that no table can have, or that is less than `least`.
pub(super) fn classes(classes: usize, least: usize) -> Result<()> {
    if classes > MAX_CLASSES {
        return Err(Error::TooManyClasses { found: classes, limit: MAX_CLASSES });
    }
    match classes {
        0 => Err(Error::NoClasses),
        _ => within("the number of classes", classes as f64, classes >= least, "at least 2"),
    }
}

/// Shares of the classes, checked and scaled to sum to one.
pub(super) fn scaled(shares: &[f64], what: &str) -> Result<Vec<f64>> {
    for (class, &share) in shares.iter().enumerate() {
        let what = format!("the share of class {class} in the {what}");
        within(&what, share, share.is_finite() && share >= 0.0, "finite and not negative")?;
    }
    let sum: f64 = shares.iter().sum();
    within(&format!("the sum of the {what}"), sum, (sum - 1.0).abs() <= SUM_TOLERANCE, "1 within a thousandth")?;
    Ok(shares.iter().map(|share| share / sum).collect())
}
