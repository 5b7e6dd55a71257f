//! Text that a spreadsheet could run as a formula.

use std::borrow::Cow;

/// Returns a text with a leading apostrophe if a spreadsheet could run it as a formula.
pub fn escape_formula(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Returns whether a spreadsheet could run a text as a formula, judging by its first character, unless
/// it is a number.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && !text.trim_end().parse().is_ok_and(f64::is_finite)
}
