//! Rows of plain values that a program generates, and writing them to a file.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};

use super::output::{Output, write_batches};
use crate::error::{Error, Result};

/// Some rows as named columns of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlainRows {
    columns: Vec<PlainColumn>,
}

/// A named column without missing values.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainColumn {
    /// The name.
    pub name: String,
    /// The values.
    pub values: PlainValues,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainValues {
    /// Whole numbers.
    Whole(Vec<u64>),
    /// Text.
    Text(Texts),
    /// Numbers in single precision.
    Single(Vec<f32>),
    /// Numbers in double precision.
    Double(Vec<f64>),
}

/// Texts, stored one after another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    text: String,
    /// The end of each in `text`.
    ends: Vec<usize>,
}

impl PlainRows {
    /// Creates rows from columns, which must have the same length.
    pub fn new(columns: Vec<PlainColumn>) -> PlainRows {
        PlainRows { columns }
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[PlainColumn] {
        &self.columns
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the rows as an Arrow batch.
    ///
    /// # Errors
    /// If the columns have different lengths.
    pub fn to_batch(&self) -> Result<RecordBatch> {
        let fields: Vec<Field> = self.columns.iter().map(PlainColumn::field).collect();
        let arrays = self.columns.iter().map(|column| column.values.to_array()).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| Error::settings(error.to_string()))
    }
}

impl PlainColumn {
    /// Creates a column.
    pub fn new(name: impl Into<String>, values: PlainValues) -> PlainColumn {
        PlainColumn { name: name.into(), values }
    }

    fn field(&self) -> Field {
        let kind = match self.values {
            PlainValues::Whole(_) => DataType::UInt64,
            PlainValues::Text(_) => DataType::Utf8,
            PlainValues::Single(_) => DataType::Float32,
            PlainValues::Double(_) => DataType::Float64,
        };
        Field::new(&self.name, kind, false)
    }
}

impl PlainValues {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            PlainValues::Whole(values) => values.len(),
            PlainValues::Text(values) => values.ends.len(),
            PlainValues::Single(values) => values.len(),
            PlainValues::Double(values) => values.len(),
        }
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn to_array(&self) -> ArrayRef {
        match self {
            PlainValues::Whole(values) => Arc::new(UInt64Array::from_iter_values(values.iter().copied())),
            PlainValues::Text(values) => Arc::new(StringArray::from_iter_values(values.iter())),
            PlainValues::Single(values) => Arc::new(Float32Array::from_iter_values(values.iter().copied())),
            PlainValues::Double(values) => Arc::new(Float64Array::from_iter_values(values.iter().copied())),
        }
    }
}

impl Texts {
    /// Returns the texts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let text = &self.text[start..end];
            start = end;
            text
        })
    }
}

impl<'a> FromIterator<&'a str> for Texts {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Texts {
        let mut all = Texts::default();
        for text in texts {
            all.text.push_str(text);
            all.ends.push(all.text.len());
        }
        all
    }
}

/// Writes rows that are generated block by block. `first` is the first block, which defines the columns. Returns the path of
/// the file; none for standard output.
///
/// # Errors
/// If the file cannot be written, or a block has other columns.
///
/// # Panics
/// If the columns of a block have different lengths.
pub fn write_plain_rows(
    output: &Output,
    first: PlainRows,
    others: impl Iterator<Item = PlainRows>,
) -> Result<Vec<PathBuf>> {
    let schema = first.to_batch()?.schema();
    let batches = std::iter::once(first).chain(others).map(|rows| {
        // Such a block is a fault of the caller. It must not end the file as if it were complete.
        rows.to_batch().expect("the columns of a block have the same length")
    });
    write_batches(output, &schema, batches)
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
        let texts: Texts = ["b", "", "cd"].into_iter().collect();
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["b", "", "cd"]);
    }
}
