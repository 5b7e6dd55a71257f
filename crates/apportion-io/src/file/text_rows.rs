//! Small tables as text, such as shares of classes.

use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;

use super::Input;
use crate::{Error, Result};

/// Column names, and the values of each row; missing values are empty.
pub(super) type TextRows = (Vec<String>, Vec<Vec<String>>);

impl Input {
    /// Reads the first file as text.
    ///
    /// # Errors
    /// If it cannot be read, or has columns that have no text.
    pub fn text_rows(&self) -> Result<TextRows> {
        let batches = self.open(0)?;
        let names = batches.names();
        let mut rows = Vec::new();
        for batch in batches {
            let batch = batch?;
            let texts = batch.columns().iter().map(|column| cast(column, &DataType::Utf8));
            let texts = texts.collect::<std::result::Result<Vec<_>, _>>();
            let texts = texts.map_err(|error| Error::file(self.name(0), error.to_string()))?;
            for row in 0..batch.num_rows() {
                let value = |column: &arrow::array::ArrayRef| {
                    if column.is_null(row) { String::new() } else { column.as_string::<i32>().value(row).to_owned() }
                };
                rows.push(texts.iter().map(value).collect());
            }
        }
        Ok((names, rows))
    }
}
