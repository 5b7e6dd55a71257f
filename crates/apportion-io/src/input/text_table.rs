//! A small table as text, such as a table of shares.

use super::Input;
use super::blocks::Reading;
use crate::error::{Error, Result};

/// All values of a table as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    /// The column names.
    pub names: Vec<String>,
    /// The values of each row, with empty strings for missing values.
    pub rows: Vec<Vec<String>>,
}

impl Input {
    /// Reads all rows of a table as text.
    ///
    /// # Errors
    /// If the table cannot be read, or has a column that cannot be written as text.
    pub fn read_text(&self, file: usize) -> Result<TextTable> {
        let blocks = self.blocks(file, &|_| true, Reading::Plain)?;
        let mut table = TextTable { names: blocks.names, rows: Vec::new() };
        for block in blocks.rows {
            let block = block?;
            let mut columns = Vec::with_capacity(table.names.len());
            for (name, column) in table.names.iter().zip(block.columns()) {
                let unreadable = || {
                    let kind = column.kind();
                    let problem = format!("its column {name:?} contains {kind}, not text; leave it out");
                    Error::file(self.name(file), problem)
                };
                columns.push(column.texts().ok_or_else(unreadable)?);
            }
            for row in 0..block.len() {
                table.rows.push(columns.iter().map(|column| column.get(row).to_owned()).collect());
            }
        }
        Ok(table)
    }
}
