//! Argument checks shared by the generators.

use crate::error::{Error, Result};
use crate::scores::{MAX_CLASSES, SUM_TOLERANCE};

/// Returns an error unless `holds` is true.
pub(super) fn within(what: &str, value: f64, holds: bool, range: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Parameter { what: what.to_owned(), value, range }) }
}

/// Returns an error if the number of classes is above the maximum or below `least`.
pub(super) fn classes(classes: usize, least: usize) -> Result<()> {
    if classes > MAX_CLASSES {
        return Err(Error::TooManyClasses { found: classes, limit: MAX_CLASSES });
    }
    match classes {
        0 => Err(Error::NoClasses),
        _ => within("the number of classes", classes as f64, classes >= least, "at least 2"),
    }
}

/// Checks class shares and scales them to sum to one.
pub(super) fn scaled(shares: &[f64], what: &str) -> Result<Vec<f64>> {
    for (class, &share) in shares.iter().enumerate() {
        let what = format!("the share of class {class} in the {what}");
        within(&what, share, share.is_finite() && share >= 0.0, "finite and not negative")?;
    }
    let sum: f64 = shares.iter().sum();
    within(&format!("the sum of the {what}"), sum, (sum - 1.0).abs() <= SUM_TOLERANCE, "1 within a thousandth")?;
    Ok(shares.iter().map(|share| share / sum).collect())
}
