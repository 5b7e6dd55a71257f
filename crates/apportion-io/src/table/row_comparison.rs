//! Compares rows of an input with the rows of an output that should repeat them: columns of one type as they are, others by
//! the text of their values.

use std::fmt::Write;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use rayon::prelude::*;

use super::rows::Rows;
use super::stream::TableBatch;

/// Some rows of an input, and those of an output that should be the same.
#[derive(Clone, Copy, Debug)]
pub struct RowComparison<'a> {
    input: &'a RecordBatch,
    output: &'a RecordBatch,
    columns: &'a [String],
    /// Whether one side is text, which cannot tell an empty cell from a missing one.
    is_text: bool,
}

/// One of the two sides that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedSide {
    /// The input.
    Input,
    /// The output.
    Output,
}

/// A cell that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellDifference {
    /// The index of the row among those compared.
    pub row: usize,
    /// The column.
    pub column: String,
    /// The value of the input, quoted and shortened.
    pub input: String,
    /// The value of the output, quoted and shortened.
    pub output: String,
}

/// What happened to the rows of the output from a row on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowShift {
    /// A row of the input is missing.
    Missing,
    /// The row before is repeated.
    Repeated,
    /// A row was added.
    Added,
}

impl<'a> RowComparison<'a> {
    /// Compares the columns of these names. The input may have more rows than the output; the rest is not compared.
    pub fn new(input: &'a TableBatch, output: &'a Rows, columns: &'a [String], is_text: bool) -> RowComparison<'a> {
        RowComparison { input: &input.batch, output: output.batch(), columns, is_text }
    }

    /// Returns the first column that a side lacks.
    pub fn missing_column(&self) -> Option<(&'a str, ComparedSide)> {
        for (batch, side) in [(self.input, ComparedSide::Input), (self.output, ComparedSide::Output)] {
            if let Some(name) = self.columns.iter().find(|name| batch.column_by_name(name).is_none()) {
                return Some((name, side));
            }
        }
        None
    }

    /// Returns the first cell that differs: that of the first row, and of the first column within it.
    pub fn first_difference(&self) -> Option<CellDifference> {
        let differences: Vec<(usize, &String)> = self
            .columns
            .par_iter()
            .filter_map(|name| {
                let (own, other) = self.pair(name)?;
                Some((first_difference(&own, &other, self.is_text)?, name))
            })
            .collect();
        let (row, name) = differences.into_iter().min_by_key(|(row, _)| *row)?;
        let (own, other) = self.pair(name)?;
        Some(CellDifference { row, column: name.clone(), input: shown(&own, row), output: shown(&other, row) })
    }

    /// Returns whether the cells of a column differ in a row. Columns that are not compared do not differ.
    pub fn differs_at(&self, column: &str, row: usize) -> bool {
        if !self.columns.iter().any(|name| name == column) {
            return false;
        }
        let Some((own, other)) = self.pair(column) else { return false };
        first_difference(&own.slice(row, 1), &other.slice(row, 1), self.is_text).is_some()
    }

    /// Returns whether rows were removed from the output or added to it, from a row on that differs.
    pub fn shift_at(&self, row: usize) -> Option<RowShift> {
        let (input, output) = (self.input, self.output);
        if self.is_same(input, row + 1, output, row) && !self.is_same(input, row, output, row + 1) {
            return Some(RowShift::Missing);
        }
        if self.is_same(input, row, output, row + 1) && !self.is_same(input, row + 1, output, row) {
            let is_repeated = row > 0 && self.is_same(output, row, output, row - 1);
            return Some(if is_repeated { RowShift::Repeated } else { RowShift::Added });
        }
        None
    }

    /// A column of both sides, over the rows that both have.
    fn pair(&self, name: &str) -> Option<(ArrayRef, ArrayRef)> {
        let (own, other) = (self.input.column_by_name(name)?, self.output.column_by_name(name)?);
        Some((own.slice(0, other.len()), other.clone()))
    }

    /// Whether a row of one batch has the same cells as a row of another. A row that does not exist equals no other.
    fn is_same(&self, one: &RecordBatch, a: usize, other: &RecordBatch, b: usize) -> bool {
        if a >= one.num_rows() || b >= other.num_rows() {
            return false;
        }
        self.columns.iter().all(|name| match (one.column_by_name(name), other.column_by_name(name)) {
            (Some(x), Some(y)) => first_difference(&x.slice(a, 1), &y.slice(b, 1), self.is_text).is_none(),
            (Some(_), None) | (None, Some(_) | None) => false,
        })
    }
}

/// Returns the first row in which two columns of one length differ.
fn first_difference(one: &ArrayRef, other: &ArrayRef, is_text: bool) -> Option<usize> {
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

/// Returns a column of numbers and the text of the other, if the types are these.
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
    /// Whether exactly one of them holds decimal numbers: the other may write them differently.
    has_numbers: bool,
}

impl<'a> Texts<'a> {
    fn of(one: &'a ArrayRef, other: &'a ArrayRef, is_text: bool) -> Option<Texts<'a>> {
        // Whole numbers, such as IDs, have only one form.
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

/// Whether a text was escaped for spreadsheets: an apostrophe before what they would read as a formula.
fn is_neutralized(own: &str, written: &str) -> bool {
    own.starts_with(['=', '+', '-', '@', '\t', '\r']) && written.strip_prefix('\'') == Some(own)
}

/// Whether two texts are the same number, written differently.
fn numbers_are_equal(one: &str, other: &str) -> bool {
    // An ID with leading zeros is text, not a number.
    let is_plain = |text: &str| !text.starts_with('0') || text.starts_with("0.") || text == "0";
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(first), Ok(second)) => first == second && is_plain(one) && is_plain(other) && first.abs() < 9e15,
        _ => false,
    }
}

/// Returns a value of a column, quoted and shortened.
fn shown(column: &ArrayRef, row: usize) -> String {
    let text = match ArrayFormatter::try_new(column.as_ref(), &FormatOptions::new()) {
        Ok(formatter) => formatter.value(row).to_string(),
        Err(_) => return "a value".into(),
    };
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short:?}…") } else { format!("{short:?}") }
}
