//! Some rows of a file, with columns that are read as text, numbers or counts.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, UInt64Type};

/// Some rows of a file.
#[derive(Clone, Debug)]
pub struct Rows {
    batch: RecordBatch,
}

/// A column as text.
#[derive(Clone, Debug)]
pub struct TextValues(StringArray);

/// A column of numbers.
#[derive(Clone, Debug)]
pub struct NumberValues {
    values: Float64Array,
    is_single: bool,
}

/// A column of whole numbers that are not negative.
#[derive(Clone, Debug)]
pub struct CountValues(UInt64Array);

impl Rows {
    pub(crate) fn new(batch: RecordBatch) -> Rows {
        Rows { batch }
    }

    pub(crate) fn batch(&self) -> &RecordBatch {
        &self.batch
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether there is a column of this name.
    pub fn has(&self, column: &str) -> bool {
        self.batch.column_by_name(column).is_some()
    }

    /// Returns a column as text; `None` if it is missing or cannot be written as text.
    pub fn text(&self, column: &str) -> Option<TextValues> {
        let text = cast(self.batch.column_by_name(column)?, &DataType::Utf8).ok()?;
        Some(TextValues(text.as_string().clone()))
    }

    /// Returns a column of numbers, in which cells with anything else are missing; `None` if it is missing or of another
    /// type.
    pub fn numbers(&self, column: &str) -> Option<NumberValues> {
        let values = self.batch.column_by_name(column)?;
        let numbers = cast(values, &DataType::Float64).ok()?;
        let is_single = values.data_type() == &DataType::Float32;
        Some(NumberValues { values: numbers.as_primitive::<Float64Type>().clone(), is_single })
    }

    /// Returns a column of whole numbers, in which cells with anything else are missing; `None` if it is missing or of
    /// another type.
    pub fn counts(&self, column: &str) -> Option<CountValues> {
        let numbers = whole_numbers(self.batch.column_by_name(column)?)?;
        Some(CountValues(numbers.as_primitive::<UInt64Type>().clone()))
    }
}

/// A column as whole numbers.
fn whole_numbers(column: &ArrayRef) -> Option<ArrayRef> {
    if column.data_type().is_integer() {
        return cast(column, &DataType::UInt64).ok();
    }
    // By way of text, so that 1.5 does not become 1.
    cast(&cast(column, &DataType::Utf8).ok()?, &DataType::UInt64).ok()
}

impl TextValues {
    /// Returns the value of a row, if there is one.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

impl NumberValues {
    /// Returns the value of a row, if there is one.
    pub fn get(&self, row: usize) -> Option<f64> {
        self.values.is_valid(row).then(|| self.values.value(row))
    }

    /// Returns whether the file stores the numbers in single precision.
    pub fn is_single_precision(&self) -> bool {
        self.is_single
    }
}

impl CountValues {
    /// Returns the value of a row, if there is one.
    pub fn get(&self, row: usize) -> Option<u64> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}
