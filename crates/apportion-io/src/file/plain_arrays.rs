//! Columns of plain values as Arrow arrays, and how they are written.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::types::UInt8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float32Array, Float64Array, RecordBatch, StringArray, UInt8Array, UInt64Array,
};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, FieldRef, Schema};

use super::output::{AddedColumns, write_batches, write_with_columns};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::output::{Output, PlainColumn, PlainRows, PlainValues};

impl PlainRows {
    /// Returns the rows as an Arrow batch.
    ///
    /// # Errors
    /// If the columns have different lengths.
    pub fn to_batch(&self) -> Result<RecordBatch> {
        plain_batch(self.columns().to_vec())
    }
}

impl PlainColumn {
    fn field(&self) -> FieldRef {
        let (data_type, nullable) = match &self.values {
            PlainValues::Text(_) => (DataType::Utf8, false),
            PlainValues::Words { .. } => {
                (DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8)), false)
            }
            PlainValues::Whole(_) => (DataType::UInt64, false),
            PlainValues::Single(_) => (DataType::Float32, false),
            PlainValues::Double(_) => (DataType::Float64, false),
            PlainValues::OptionalDouble(_) => (DataType::Float64, true),
        };
        Arc::new(Field::new(&self.name, data_type, nullable))
    }

    /// Converts the values. Numbers are not copied.
    fn into_array(self) -> Result<ArrayRef> {
        Ok(match self.values {
            PlainValues::Text(texts) => Arc::new(StringArray::from_iter_values(texts.iter())),
            PlainValues::Words { codes, words } => {
                let words = Arc::new(StringArray::from(words));
                let array = DictionaryArray::<UInt8Type>::try_new(UInt8Array::from(codes), words);
                Arc::new(array.map_err(|error| invalid(&error))?)
            }
            PlainValues::Whole(numbers) => Arc::new(UInt64Array::from(numbers)),
            PlainValues::Single(numbers) => Arc::new(Float32Array::from(numbers)),
            PlainValues::Double(numbers) => Arc::new(Float64Array::from(numbers)),
            PlainValues::OptionalDouble(numbers) => Arc::new(Float64Array::from(numbers)),
        })
    }
}

/// Returns the error for columns that do not fit together.
fn invalid(error: &ArrowError) -> Error {
    Error::settings(format!("invalid new columns ({error}); please report this bug"))
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
    write_batches(output, &batch.schema(), std::iter::once(Ok(batch)))
}

/// Writes rows that are generated block by block. `first` is the first block, which defines the columns. Returns the
/// path of the file; empty for standard output.
///
/// # Errors
/// If the file cannot be written, or the columns of a block differ in number, type or length.
pub fn write_plain_rows(
    output: &Output,
    first: PlainRows,
    others: impl Iterator<Item = PlainRows>,
) -> Result<Vec<PathBuf>> {
    let schema = Arc::new(Schema::new(first.columns().iter().map(PlainColumn::field).collect::<Vec<_>>()));
    let batches = std::iter::once(first).chain(others).map(|rows| plain_batch(rows.into_columns()));
    write_batches(output, &schema, batches)
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
    write(input, output, layout, false, rows, values)
}

/// Writes all input rows, in which new columns replace the columns of the same names. The arguments are those of
/// [`write_with_plain_columns`].
///
/// # Errors
/// If the input cannot be read, or the output cannot be written.
pub fn write_replacing_columns(
    input: &Input,
    output: &Output,
    layout: &[PlainColumn],
    rows: Option<usize>,
    values: &mut dyn FnMut(usize, usize) -> Result<Vec<PlainColumn>>,
) -> Result<Vec<PathBuf>> {
    write(input, output, layout, true, rows, values)
}

fn write(
    input: &Input,
    output: &Output,
    layout: &[PlainColumn],
    replace: bool,
    rows: Option<usize>,
    values: &mut dyn FnMut(usize, usize) -> Result<Vec<PlainColumn>>,
) -> Result<Vec<PathBuf>> {
    let fields = layout.iter().map(PlainColumn::field).collect();
    let mut arrays =
        |first: usize, count: usize| values(first, count)?.into_iter().map(PlainColumn::into_array).collect();
    write_with_columns(input, output, AddedColumns { fields, replace, rows, values: &mut arrays })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_one_length() {
        let ids = PlainColumn::new("id", PlainValues::Whole(vec![1, 2]));
        let names = |names: &[&str]| PlainColumn::new("name", PlainValues::Text(names.iter().copied().collect()));
        let rows = PlainRows::new(vec![ids.clone(), names(&["a", ""])]);
        assert_eq!((rows.len(), rows.to_batch().unwrap().num_rows()), (2, 2));
        assert!(PlainRows::new(vec![ids, names(&["a"])]).to_batch().is_err());
    }
}
