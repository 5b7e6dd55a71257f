//! Compares rows of an input with the rows of an output that should repeat them: columns of the same type by value,
//! others as text.

use rayon::prelude::*;

use super::block::{Block, BlockColumn};
use super::column::{Column, ColumnTexts, Texts};
use super::rows::Rows;
use super::stream::TableBatch;

/// Some rows of an input, and the rows of an output that should be equal.
#[derive(Clone, Copy, Debug)]
pub struct RowComparison<'a> {
    input: &'a Block,
    output: &'a Block,
    columns: &'a [String],
    /// Whether one side is text, in which empty and missing cells cannot be distinguished.
    is_text: bool,
}

/// One side of a comparison.
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

/// A change to the rows of the output, starting at some row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowShift {
    /// A row of the input is missing.
    Missing,
    /// The previous row is repeated.
    Repeated,
    /// A row was added.
    Added,
}

impl<'a> RowComparison<'a> {
    /// Compares the columns with these names. The input may have more rows than the output; the rest is not compared.
    pub fn new(input: &'a TableBatch, output: &'a Rows, columns: &'a [String], is_text: bool) -> RowComparison<'a> {
        RowComparison { input: &input.block, output: output.block(), columns, is_text }
    }

    /// Returns the first column that is missing on one side.
    pub fn missing_column(&self) -> Option<(&'a str, ComparedSide)> {
        for (block, side) in [(self.input, ComparedSide::Input), (self.output, ComparedSide::Output)] {
            if let Some(name) = self.columns.iter().find(|name| block.get(name).is_none()) {
                return Some((name, side));
            }
        }
        None
    }

    /// Returns the first cell that differs, by row and then by column.
    pub fn first_difference(&self) -> Option<CellDifference> {
        let differences: Vec<(usize, &String)> = self
            .columns
            .par_iter()
            .filter_map(|name| {
                let (own, other) = self.pair(name)?;
                Some((first_difference(&own.column(), &other.column(), self.is_text)?, name))
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
        !is_same_cell(&own, row, &other, row, self.is_text)
    }

    /// Returns whether rows were removed from the output or added to it, starting at a row that differs.
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

    /// Returns a column of both sides, for the rows that both have.
    fn pair(&self, name: &str) -> Option<(BlockColumn, BlockColumn)> {
        let (own, other) = (self.input.get(name)?, self.output.get(name)?);
        Some((own.slice(&(0..self.output.len())), other.clone()))
    }

    /// Returns whether a row of one block has the same cells as a row of another. A missing row is not equal to any
    /// row.
    fn is_same(&self, one: &Block, a: usize, other: &Block, b: usize) -> bool {
        if a >= one.len() || b >= other.len() {
            return false;
        }
        self.columns.iter().all(|name| match (one.get(name), other.get(name)) {
            (Some(x), Some(y)) => is_same_cell(x, a, y, b, self.is_text),
            (Some(_), None) | (None, Some(_) | None) => false,
        })
    }
}

/// Returns whether two cells have the same value.
fn is_same_cell(one: &BlockColumn, a: usize, other: &BlockColumn, b: usize, is_text: bool) -> bool {
    let (one, other) = (one.slice(&(a..a + 1)), other.slice(&(b..b + 1)));
    first_difference(&one.column(), &other.column(), is_text).is_none()
}

/// Returns the first row in which two columns of the same length differ.
fn first_difference(one: &Column<'_>, other: &Column<'_>, is_text: bool) -> Option<usize> {
    if one.is_same(other) {
        return None;
    }
    match (one, other) {
        (numbers @ (Column::F32(_) | Column::F64(_)), Column::Text(texts))
        | (Column::Text(texts), numbers @ (Column::F32(_) | Column::F64(_))) => {
            (0..one.len()).find(|&row| !is_number(numbers, texts, row, is_text))
        }
        _ => {
            // Columns that cannot be written as text cannot be compared, and are treated as different.
            let Some(pair) = TextPair::of(one, other, is_text) else { return Some(0) };
            (0..one.len()).find(|&row| !pair.are_equal(row))
        }
    }
}

fn is_number(numbers: &Column<'_>, texts: &Texts<'_>, row: usize, is_text: bool) -> bool {
    let text = texts.get(row).filter(|text| !(is_text && text.is_empty()));
    let Some(text) = text else { return !numbers.is_valid(row) };
    match numbers {
        Column::F32(values) => values
            .get(row)
            .is_some_and(|number| text.parse().is_ok_and(|own: f32| own == number || own.is_nan() && number.is_nan())),
        Column::F64(values) => values
            .get(row)
            .is_some_and(|number| text.parse().is_ok_and(|own: f64| own == number || own.is_nan() && number.is_nan())),
        _ => false,
    }
}

/// Two columns as text.
struct TextPair<'a> {
    columns: (&'a Column<'a>, &'a Column<'a>),
    texts: (ColumnTexts<'a>, ColumnTexts<'a>),
    is_text: bool,
    /// Whether exactly one of them contains floating-point numbers, which the other may format differently.
    has_numbers: bool,
}

impl<'a> TextPair<'a> {
    fn of(one: &'a Column<'a>, other: &'a Column<'a>, is_text: bool) -> Option<TextPair<'a>> {
        // Integers, such as IDs, have only one form.
        let is_float = |column: &Column<'_>| matches!(column, Column::F32(_) | Column::F64(_));
        let has_numbers = is_float(one) != is_float(other);
        Some(TextPair { columns: (one, other), texts: (one.shown()?, other.shown()?), is_text, has_numbers })
    }

    fn are_equal(&self, row: usize) -> bool {
        let (first, second) = (self.texts.0.get(row), self.texts.1.get(row));
        let both = self.columns.0.is_valid(row) == self.columns.1.is_valid(row);
        if !(both || self.is_text) {
            return false;
        }
        first == second
            || self.has_numbers && numbers_are_equal(first, second)
            || self.is_text && is_neutralized(first, second)
    }
}

/// Returns whether a text was escaped for spreadsheets by an apostrophe before a possible formula.
fn is_neutralized(own: &str, written: &str) -> bool {
    own.starts_with(['=', '+', '-', '@', '\t', '\r']) && written.strip_prefix('\'') == Some(own)
}

/// Returns whether two texts are the same number in different formats.
fn numbers_are_equal(one: &str, other: &str) -> bool {
    // An ID with leading zeros is text, not a number.
    let is_plain = |text: &str| !text.starts_with('0') || text.starts_with("0.") || text == "0";
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(first), Ok(second)) => first == second && is_plain(one) && is_plain(other) && first.abs() < 9e15,
        _ => false,
    }
}

/// Returns a value of a column, quoted and shortened.
fn shown(column: &BlockColumn, row: usize) -> String {
    let cell = column.slice(&(row..row + 1));
    let Some(texts) = cell.column().shown() else { return "a value".into() };
    let text = texts.get(0);
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("{short:?}…") } else { format!("{short:?}") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::shared_column::{SharedColumn, SharedValues};
    use super::*;

    fn difference(one: impl Into<SharedColumn>, other: impl Into<SharedColumn>, is_text: bool) -> Option<usize> {
        let (one, other) = (one.into(), other.into());
        first_difference(&one.column(), &other.column(), is_text)
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn values_are_compared_as_they_are_or_as_text() {
        let half = vec![0.5, f64::NAN, 1e300];
        assert_eq!(difference(half.clone(), half.clone(), false), None);
        assert_eq!(difference(half.clone(), vec![0.5, f64::NAN, 2.0], false), Some(2));
        assert_eq!(difference(vec![0.0], vec![-0.0], false), Some(0));
        assert_eq!(difference(half.clone(), texts(&["0.50", "NaN", "1e300"]), false), None);
        assert_eq!(difference(texts(&["0.50", "NaN", "1e301"]), half, false), Some(2));
        assert_eq!(difference(vec![7i64, 8], texts(&["7", "8.0"]), false), Some(1));
        assert_eq!(difference(vec![7i64, 8], vec![7u64, 8], false), None);
        assert_eq!(difference(vec![7i64, 8], vec![7.0, 8.0], false), None);
        assert_eq!(difference(texts(&["007"]), vec![7.0], false), None);
        let words = SharedValues::Dictionary(vec![1, 0, -1].into(), texts(&["a", "b"]).into());
        assert_eq!(difference(words.clone(), texts(&["b", "a", ""]), true), None);
        assert_eq!(difference(words, texts(&["b", "a", ""]), false), Some(2));
        assert_eq!(difference(texts(&["=1", "b"]), texts(&["'=1", "b"]), true), None);
        assert_eq!(difference(texts(&["=1", "b"]), texts(&["'=1", "b"]), false), Some(0));
    }

    /// Arrow types without a table equivalent are compared by their source, or as text.
    #[cfg(feature = "files")]
    #[test]
    fn all_types_of_files_are_compared() {
        use arrow_array::types::{Int8Type, Int32Type};
        use arrow_array::{
            ArrayRef, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Int64Array, ListArray, RecordBatch,
            StringArray, StringViewArray, UInt32Array,
        };
        use std::sync::Arc;

        let difference = |one: ArrayRef, other: ArrayRef, is_text: bool| {
            let of = |array: ArrayRef| {
                let batch = RecordBatch::try_from_iter_with_nullable([("x", array, true)]).unwrap();
                crate::file::block_of(&["x".to_owned()].into(), &batch)
            };
            let (one, other) = (of(one), of(other));
            first_difference(&one.at(0).column(), &other.at(0).column(), is_text)
        };
        let text = |texts: [Option<&str>; 2]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
        let list = |last: i32| -> ArrayRef {
            let rows = vec![Some(vec![Some(1), None]), Some(vec![Some(last)])];
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(rows))
        };
        assert_eq!(difference(list(2), list(2), false), None);
        assert_eq!(difference(list(2), list(3), false), Some(1));
        assert_eq!(difference(list(2), text([Some("[1, ]"), Some("[2]")]), true), None);
        let dates: ArrayRef = Arc::new(Date32Array::from(vec![Some(0), None]));
        assert_eq!(difference(dates.clone(), dates.clone(), false), None);
        assert_eq!(difference(dates.clone(), text([Some("1970-01-01"), None]), false), None);
        assert_eq!(difference(dates.clone(), text([Some("1970-01-01"), Some("")]), true), None);
        assert_eq!(difference(dates.clone(), text([Some("1970-01-01"), Some("")]), false), Some(1));
        assert_eq!(difference(dates, text([Some("1970-01-02"), None]), false), Some(0));
        let decimals = Decimal128Array::from(vec![Some(1250), Some(7)]).with_precision_and_scale(5, 2).unwrap();
        assert_eq!(difference(Arc::new(decimals), text([Some("12.50"), Some("0.07")]), false), None);
        let view: ArrayRef = Arc::new(StringViewArray::from(vec![Some("a text that is not inlined"), None]));
        assert_eq!(difference(view.clone(), text([Some("a text that is not inlined"), None]), false), None);
        assert_eq!(difference(view.clone(), view, false), None);
        let words: DictionaryArray<Int8Type> = vec![Some("b"), None].into_iter().collect();
        assert_eq!(difference(Arc::new(words), text([Some("b"), None]), false), None);
        let wide: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None]));
        assert_eq!(difference(wide, Arc::new(UInt32Array::from(vec![Some(7), None])), false), None);
        let singles: ArrayRef = Arc::new(Float32Array::from(vec![Some(0.1), None]));
        assert_eq!(difference(singles.clone(), text([Some("0.1"), None]), false), None);
        assert_eq!(difference(singles, text([Some("0.1"), Some("0.2")]), true), Some(1));
    }
}
