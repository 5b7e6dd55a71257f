//! Some rows of a file, whose columns are read as text, numbers or counts.

use super::block::{Block, BlockColumn};
use super::column::{Column, ColumnTexts};

/// Some rows of a file.
#[derive(Clone, Debug)]
pub struct Rows {
    block: Block,
}

/// A column as text.
#[derive(Debug)]
pub struct TextValues<'a> {
    column: Column<'a>,
    texts: ColumnTexts<'a>,
}

/// A column of numbers.
#[derive(Clone, Debug)]
pub struct NumberValues {
    values: Vec<Option<f64>>,
    is_single: bool,
}

/// A column of non-negative integers.
#[derive(Clone, Debug)]
pub struct CountValues(Vec<Option<u64>>);

impl Rows {
    pub(crate) fn new(block: Block) -> Rows {
        Rows { block }
    }

    pub(crate) fn block(&self) -> &Block {
        &self.block
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.block.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether there is a column with this name.
    pub fn has(&self, column: &str) -> bool {
        self.block.get(column).is_some()
    }

    /// Returns a column as text; `None` if it is missing or cannot be written as text.
    pub fn text(&self, column: &str) -> Option<TextValues<'_>> {
        TextValues::of(self.block.get(column).map(BlockColumn::column)?)
    }

    /// Returns a column of numbers, with other values treated as missing; `None` if the column is missing or of another
    /// type.
    pub fn numbers(&self, column: &str) -> Option<NumberValues> {
        let block_column = self.block.get(column)?;
        let column = block_column.column();
        let mut values = Vec::with_capacity(column.len());
        if column.is_text() {
            let texts = TextValues::of(column)?;
            values.extend((0..column.len()).map(|row| texts.get(row).and_then(|text| text.trim().parse().ok())));
        } else {
            // Programs such as R represent missing numbers as NaN. Files can mark missing values, so NaN in a file is
            // an error.
            let is_missing = |row: usize| match block_column {
                BlockColumn::Shared(..) => !column.has_value(row),
                BlockColumn::Arrow(_) => !column.is_valid(row),
            };
            column.each_number(0..column.len(), |row, number| values.push((!is_missing(row)).then_some(number)))?;
        }
        Some(NumberValues { values, is_single: matches!(column, Column::F32(_)) })
    }

    /// Returns a column of counts, with other values treated as missing; `None` if the column is missing or of another
    /// type.
    pub fn counts(&self, column: &str) -> Option<CountValues> {
        let column = self.block.get(column)?.column();
        Some(CountValues(match column {
            Column::Integers(integers) => integers.counts(),
            // Data frames often store counts as floating-point numbers.
            Column::F32(values) => {
                (0..column.len()).map(|row| values.get(row).map(f64::from).and_then(whole)).collect()
            }
            Column::F64(values) => (0..column.len()).map(|row| values.get(row).and_then(whole)).collect(),
            _ => {
                let texts = TextValues::of(column)?;
                (0..column.len()).map(|row| texts.get(row).and_then(|text| text.trim().parse().ok())).collect()
            }
        }))
    }
}

/// Returns a number as a count, if it is a non-negative integer.
fn whole(number: f64) -> Option<u64> {
    /// The largest number up to which all integers can be represented in double precision.
    const MOST: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && (0.0..=MOST).contains(&number)).then_some(number as u64)
}

impl<'a> TextValues<'a> {
    fn of(column: Column<'a>) -> Option<TextValues<'a>> {
        Some(TextValues { column, texts: column.texts()? })
    }

    /// Returns the value of a row, if it has one.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.column.is_valid(row).then(|| self.texts.get(row))
    }
}

impl NumberValues {
    /// Returns the value of a row, if it has one.
    pub fn get(&self, row: usize) -> Option<f64> {
        self.values[row]
    }

    /// Returns whether the file stores the numbers in single precision.
    pub fn is_single_precision(&self) -> bool {
        self.is_single
    }
}

impl CountValues {
    /// Returns the value of a row, if it has one.
    pub fn get(&self, row: usize) -> Option<u64> {
        self.0[row]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::shared_column::SharedColumn;
    use super::*;

    fn rows(column: impl Into<SharedColumn>, len: usize) -> Rows {
        Rows::new(Block::new(["x".to_owned()].into(), vec![BlockColumn::Shared(column.into(), 0..len)], len))
    }

    #[test]
    fn values_are_missing_if_they_are_of_another_kind() {
        let texts = rows([" 1.5", "", "x", "-2"].map(String::from).to_vec(), 4);
        let numbers = texts.numbers("x").unwrap();
        assert_eq!([0, 1, 2, 3].map(|row| numbers.get(row)), [Some(1.5), None, None, Some(-2.0)]);
        let counts = rows(["1.5", "7", "x", "-2"].map(String::from).to_vec(), 4).counts("x").unwrap();
        assert_eq!([0, 1, 2, 3].map(|row| counts.get(row)), [None, Some(7), None, None]);
        let counts = rows(vec![1.5, 7.0, f64::NAN, -2.0], 4).counts("x").unwrap();
        assert_eq!([0, 1, 2, 3].map(|row| counts.get(row)), [None, Some(7), None, None]);
        let counts = rows(vec![1.5f32, 7.0], 2).counts("x").unwrap();
        assert_eq!([0, 1].map(|row| counts.get(row)), [None, Some(7)]);
        let counts = rows(vec![-1i64, 7], 2).counts("x").unwrap();
        assert_eq!([0, 1].map(|row| counts.get(row)), [None, Some(7)]);
        let numbers = rows(vec![0.5, f64::NAN], 2).numbers("x").unwrap();
        assert_eq!([0, 1].map(|row| numbers.get(row)), [Some(0.5), None]);
        assert!(texts.numbers("y").is_none() && !texts.has("y"));
    }
}
