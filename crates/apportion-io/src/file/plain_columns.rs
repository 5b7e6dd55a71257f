//! Columns that a program computed, as plain values: written to a new file, or added to the rows of an input.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Float64Array, RecordBatch, StringArray, UInt8Array, UInt64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, UInt8Type};
use arrow::error::ArrowError;

use super::input::Input;
use super::output::{AddedColumns, Output, write_batches, write_with_columns};
use crate::error::{Error, Result};

/// A named column of plain values.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainColumn {
    /// The name.
    pub name: String,
    /// The values, row by row.
    pub values: PlainValues,
}

/// The values of a column. A column without rows still has a type.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainValues {
    /// Text.
    Texts(Vec<String>),
    /// Whole numbers.
    Counts(Vec<u64>),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Numbers, some of them missing.
    OptionalNumbers(Vec<Option<f64>>),
    /// One of a few words for each row.
    Words {
        /// The index of each row's word.
        codes: Vec<u8>,
        /// All words.
        words: Vec<String>,
    },
}

impl PlainColumn {
    fn field(&self) -> FieldRef {
        let (data_type, nullable) = match &self.values {
            PlainValues::Texts(_) => (DataType::Utf8, false),
            PlainValues::Counts(_) => (DataType::UInt64, false),
            PlainValues::Numbers(_) => (DataType::Float64, false),
            PlainValues::OptionalNumbers(_) => (DataType::Float64, true),
            PlainValues::Words { .. } => {
                (DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8)), false)
            }
        };
        Arc::new(Field::new(&self.name, data_type, nullable))
    }

    /// Converts the values, of which numbers are not copied.
    fn into_array(self) -> Result<ArrayRef> {
        Ok(match self.values {
            PlainValues::Texts(texts) => Arc::new(StringArray::from(texts)),
            PlainValues::Counts(counts) => Arc::new(UInt64Array::from(counts)),
            PlainValues::Numbers(numbers) => Arc::new(Float64Array::from(numbers)),
            PlainValues::OptionalNumbers(numbers) => Arc::new(Float64Array::from(numbers)),
            PlainValues::Words { codes, words } => {
                let words = Arc::new(StringArray::from(words));
                let array = DictionaryArray::<UInt8Type>::try_new(UInt8Array::from(codes), words);
                Arc::new(array.map_err(|error| invalid(&error))?)
            }
        })
    }
}

/// Returns the error for columns that do not fit together.
fn invalid(error: &ArrowError) -> Error {
    Error::Options(format!("the new columns are not valid ({error}); please report this"))
}

/// Converts columns to one Arrow batch.
///
/// # Errors
/// If the columns differ in length, or a word is missing.
pub fn plain_batch(columns: Vec<PlainColumn>) -> Result<RecordBatch> {
    let fields: Vec<FieldRef> = columns.iter().map(PlainColumn::field).collect();
    let arrays: Vec<ArrayRef> = columns.into_iter().map(PlainColumn::into_array).collect::<Result<_>>()?;
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| invalid(&error))
}

/// Writes columns to a file, and returns its path.
///
/// # Errors
/// If the columns differ in length, or the file cannot be written.
pub fn write_plain_columns(output: &Output, columns: Vec<PlainColumn>) -> Result<Vec<PathBuf>> {
    let batch = plain_batch(columns)?;
    write_batches(output, &batch.schema(), std::iter::once(batch))
}

/// Writes all input rows with added columns, and returns the paths of the files written. `layout` has the columns
/// without rows, `rows` is the expected number of rows if it is known, and `values(first, count)` returns the columns of
/// `count` rows, starting with row `first`.
///
/// # Errors
/// If the input cannot be read, or the output cannot be written.
pub fn write_with_plain_columns(
    input: &Input,
    output: &Output,
    layout: &[PlainColumn],
    rows: Option<usize>,
    values: &mut dyn FnMut(usize, usize) -> Result<Vec<PlainColumn>>,
) -> Result<Vec<PathBuf>> {
    let fields = layout.iter().map(PlainColumn::field).collect();
    let mut arrays =
        |first: usize, count: usize| values(first, count)?.into_iter().map(PlainColumn::into_array).collect();
    write_with_columns(input, output, AddedColumns { fields, rows, values: &mut arrays })
}
