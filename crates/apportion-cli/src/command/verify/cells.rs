//! Compares cells of two tables: arrays of one type as they are, others by the text of their values.

use std::fmt::Write;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};

/// The first row in which two columns of one length differ. A file of text cannot tell an empty cell from a missing one.
pub(super) fn first_difference(one: &ArrayRef, other: &ArrayRef, is_text: bool) -> Option<usize> {
    if one.data_type() == other.data_type() && one.to_data() == other.to_data() {
        return None;
    }
    match (as_number(one, other), as_number(other, one)) {
        (Some((numbers, text)), _) | (_, Some((numbers, text))) => {
            let differs = |row: &usize| !is_number(&numbers, &text, *row, is_text);
            (0..one.len()).find(differs)
        }
        _ => {
            // Columns that cannot be written as text cannot be called equal.
            let Some(texts) = Texts::of(one, other, is_text) else { return Some(0) };
            let (mut first, mut second) = (String::new(), String::new());
            (0..one.len()).find(|&row| !texts.are_equal(row, &mut first, &mut second))
        }
    }
}

/// A column of numbers, if it is one and the other is text.
fn as_number(one: &ArrayRef, other: &ArrayRef) -> Option<(ArrayRef, StringArray)> {
    let is_float = matches!(one.data_type(), DataType::Float32 | DataType::Float64);
    (is_float && other.data_type() == &DataType::Utf8).then(|| (one.clone(), other.as_string().clone()))
}

fn is_number(numbers: &ArrayRef, text: &StringArray, row: usize, is_text: bool) -> bool {
    let has_text = text.is_valid(row) && !(is_text && text.value(row).is_empty());
    if numbers.is_null(row) || !has_text {
        return numbers.is_null(row) && !has_text;
    }
    let text = text.value(row);
    if let Some(numbers) = numbers.as_primitive_opt::<Float32Type>() {
        let number = numbers.value(row);
        return text.parse().is_ok_and(|own: f32| own == number || own.is_nan() && number.is_nan());
    }
    let number = numbers.as_primitive::<Float64Type>().value(row);
    text.parse().is_ok_and(|own: f64| own == number || own.is_nan() && number.is_nan())
}

/// Two columns as text.
struct Texts<'a> {
    one: ArrayFormatter<'a>,
    other: ArrayFormatter<'a>,
    arrays: (&'a ArrayRef, &'a ArrayRef),
    is_text: bool,
    /// Whether one of them alone holds decimal numbers: the text of the other may write them in several ways.
    has_numbers: bool,
}

impl<'a> Texts<'a> {
    fn of(one: &'a ArrayRef, other: &'a ArrayRef, is_text: bool) -> Option<Texts<'a>> {
        // Whole numbers, such as IDs, are written in one way only.
        let has_numbers = one.data_type().is_floating() != other.data_type().is_floating();
        let options = FormatOptions::new();
        let formatter = |array: &'a ArrayRef| ArrayFormatter::try_new(array.as_ref(), &options).ok();
        Some(Texts { one: formatter(one)?, other: formatter(other)?, arrays: (one, other), is_text, has_numbers })
    }

    fn are_equal(&self, row: usize, first: &mut String, second: &mut String) -> bool {
        first.clear();
        second.clear();
        let written =
            write!(first, "{}", self.one.value(row)).and_then(|()| write!(second, "{}", self.other.value(row)));
        let both = self.arrays.0.is_null(row) == self.arrays.1.is_null(row);
        if written.is_err() || !(both || self.is_text) {
            return false;
        }
        first == second
            || self.has_numbers && numbers_are_equal(first, second)
            || self.is_text && is_neutralized(first, second)
    }
}

/// Whether a text was written by `--safe-csv`: an apostrophe before what a spreadsheet would take for a formula.
fn is_neutralized(own: &str, written: &str) -> bool {
    own.starts_with(['=', '+', '-', '@', '\t', '\r']) && written.strip_prefix('\'') == Some(own)
}

/// Whether two texts are one number, written in two ways.
fn numbers_are_equal(one: &str, other: &str) -> bool {
    // An ID with leading zeros is text, not a number.
    let is_plain = |text: &str| !text.starts_with('0') || text.starts_with("0.") || text == "0";
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(first), Ok(second)) => first == second && is_plain(one) && is_plain(other) && first.abs() < 9e15,
        _ => false,
    }
}

/// A column as text, with nothing in cells that are empty.
pub(super) fn as_text(column: &ArrayRef) -> Option<StringArray> {
    Some(cast(column, &DataType::Utf8).ok()?.as_string().clone())
}

/// A value of a column, shortened.
pub(super) fn shown(column: &ArrayRef, row: usize) -> String {
    let text = match ArrayFormatter::try_new(column.as_ref(), &FormatOptions::new()) {
        Ok(formatter) => formatter.value(row).to_string(),
        Err(_) => return "a value".into(),
    };
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short:?}…") } else { format!("{short:?}") }
}
