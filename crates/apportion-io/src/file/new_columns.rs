//! Columns that a program makes: their names and types, and their values as plain vectors.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, DictionaryArray, Float32Array, Float64Array, RecordBatch, StringArray, UInt8Array, UInt64Array,
};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef, UInt8Type};
use arrow::error::ArrowError;

use super::input::Input;
use super::output::{AddedColumns, Output, try_write_batches, write_with_columns};
use crate::error::{Error, Result};

/// The name and type of a new column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewColumn {
    /// The name.
    pub name: String,
    /// The type of the values.
    pub kind: NewKind,
    /// Whether values may be missing.
    pub nullable: bool,
}

/// The type of a new column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewKind {
    /// Text.
    Text,
    /// One of a few words.
    Word,
    /// Whole numbers.
    Whole,
    /// Numbers in single precision.
    Single,
    /// Numbers in double precision.
    Double,
}

/// The values of a new column for some rows.
#[derive(Clone, Debug, PartialEq)]
pub enum NewValues {
    /// Text.
    Text(Vec<Option<String>>),
    /// The index of each row's word, and all words.
    Word(Vec<u8>, Vec<String>),
    /// Whole numbers.
    Whole(Vec<Option<u64>>),
    /// Numbers in single precision.
    Single(Vec<Option<f32>>),
    /// Numbers in double precision.
    Double(Vec<Option<f64>>),
}

impl NewColumn {
    /// Returns a column without missing values.
    pub fn new(name: impl Into<String>, kind: NewKind) -> NewColumn {
        NewColumn { name: name.into(), kind, nullable: false }
    }

    /// Returns the column with values that may be missing.
    pub fn nullable(self) -> NewColumn {
        NewColumn { nullable: true, ..self }
    }

    fn field(&self) -> FieldRef {
        let kind = match self.kind {
            NewKind::Text => DataType::Utf8,
            NewKind::Word => DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8)),
            NewKind::Whole => DataType::UInt64,
            NewKind::Single => DataType::Float32,
            NewKind::Double => DataType::Float64,
        };
        Arc::new(Field::new(&self.name, kind, self.nullable))
    }
}

impl NewValues {
    fn into_array(self) -> std::result::Result<ArrayRef, ArrowError> {
        Ok(match self {
            NewValues::Text(texts) => Arc::new(StringArray::from(texts)),
            NewValues::Word(codes, words) => {
                let words = Arc::new(StringArray::from(words));
                Arc::new(DictionaryArray::<UInt8Type>::try_new(UInt8Array::from(codes), words)?)
            }
            NewValues::Whole(numbers) => Arc::new(UInt64Array::from(numbers)),
            NewValues::Single(numbers) => Arc::new(Float32Array::from(numbers)),
            NewValues::Double(numbers) => Arc::new(Float64Array::from(numbers)),
        })
    }
}

/// Writes a table that is made batch by batch; each batch has the values of all columns. Returns the
/// paths of the files written.
pub fn write_new_table(
    output: &Output,
    columns: &[NewColumn],
    batches: impl Iterator<Item = Vec<NewValues>>,
) -> Result<Vec<PathBuf>> {
    let schema: SchemaRef = Arc::new(Schema::new(columns.iter().map(NewColumn::field).collect::<Vec<_>>()));
    try_write_batches(output, &schema, batches.map(|values| batch_of(&schema, values)))
}

/// Writes all input rows with new columns; `values(first, count)` returns those of `count` rows,
/// starting with row `first`. Returns the paths of the files written.
pub fn write_with_new_columns(
    input: &Input,
    output: &Output,
    columns: &[NewColumn],
    expected_rows: Option<usize>,
    mut values: impl FnMut(usize, usize) -> Result<Vec<NewValues>>,
) -> Result<Vec<PathBuf>> {
    let mut arrays = |first: usize, rows: usize| arrays_of(values(first, rows)?);
    let fields = columns.iter().map(NewColumn::field).collect();
    write_with_columns(input, output, AddedColumns { fields, rows: expected_rows, values: &mut arrays })
}

fn arrays_of(values: Vec<NewValues>) -> Result<Vec<ArrayRef>> {
    let arrays = values.into_iter().map(NewValues::into_array).collect::<std::result::Result<_, _>>();
    arrays.map_err(|error| Error::settings(error.to_string()))
}

fn batch_of(schema: &SchemaRef, values: Vec<NewValues>) -> Result<RecordBatch> {
    RecordBatch::try_new(schema.clone(), arrays_of(values)?).map_err(|error| Error::settings(error.to_string()))
}
