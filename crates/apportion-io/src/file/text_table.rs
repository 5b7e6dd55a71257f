//! A small file as text, such as a table of shares.

use arrow::array::{Array, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;

use super::input::Input;
use crate::error::{Error, Result};

/// All values of a file as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    /// The column names.
    pub names: Vec<String>,
    /// The values of each row, with empty strings for missing values.
    pub rows: Vec<Vec<String>>,
}

impl Input {
    /// Reads all rows of a file as text.
    pub fn read_text(&self, file: usize) -> Result<TextTable> {
        let batches = self.open(file)?;
        let mut table = TextTable { names: batches.names(), rows: Vec::new() };
        for batch in batches {
            let batch = batch?;
            let columns = batch.columns().iter().map(|column| cast(column, &DataType::Utf8));
            let columns = columns.collect::<std::result::Result<Vec<_>, _>>();
            let columns = columns.map_err(|error| Error::settings(error.to_string()))?;
            for row in 0..batch.num_rows() {
                table.rows.push(columns.iter().map(|column| text_at(column.as_string(), row)).collect());
            }
        }
        Ok(table)
    }
}

fn text_at(column: &StringArray, row: usize) -> String {
    if column.is_null(row) { String::new() } else { column.value(row).to_owned() }
}
