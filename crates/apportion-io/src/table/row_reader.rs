//! Reads the rows of some files in blocks of the requested size, and locates rows by file and number.

use std::path::PathBuf;

use super::block::Block;
use super::rows::Rows;
use crate::error::{Error, Result};
use crate::input::{BlockReader, Input, Reading};

/// Reads rows in order, in blocks of any size.
pub struct RowReader<'a> {
    input: &'a Input,
    blocks: BlockReader<'a>,
}

impl<'a> RowReader<'a> {
    /// Starts at the first row. Only the columns with these names are read.
    pub fn new(input: &'a Input, columns: Vec<String>) -> RowReader<'a> {
        RowReader { input, blocks: BlockReader::new(input, columns, Reading::Plain) }
    }

    /// Returns the next rows: as many as requested, fewer at the end, and `None` after the end.
    ///
    /// # Errors
    /// If a file cannot be read, or its columns differ from those of the previous file.
    pub fn next_rows(&mut self, rows: usize) -> Result<Option<Rows>> {
        let blocks = self.blocks.next_rows(rows, |_, _, _| Ok(()))?;
        if blocks.is_empty() {
            return Ok(None);
        }
        let joined = Block::join(blocks)?.ok_or_else(|| {
            let problem = "its columns or their types differ from the previous file; make the files again";
            Error::file(self.input.name(self.blocks.table()), problem)
        })?;
        Ok(Some(Rows::new(joined)))
    }

    /// Returns the file of a row, given its index among all rows, and its number in the file, from 1.
    pub fn locate(&self, row: u64) -> (PathBuf, u64) {
        match self.blocks.locate(row) {
            Some((file, before)) => (self.input.name(file).to_owned(), before + 1),
            None => (PathBuf::new(), row + 1),
        }
    }
}
