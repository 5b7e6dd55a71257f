//! The rows of some files, as many at a time as requested, and the file and number of each row.

use std::path::PathBuf;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;

use super::rows::Rows;
use crate::error::{Error, Result};
use crate::file::{Batches, Input};

/// Reads rows in order, in blocks of any size.
pub struct RowReader<'a> {
    input: &'a Input,
    /// The columns that are read.
    columns: Vec<String>,
    /// Index of the next file to open.
    next: usize,
    batches: Option<Batches<'a>>,
    /// Rows that were read and not yet returned.
    rest: Option<RecordBatch>,
    /// The files so far, with the number of rows before each.
    files: Vec<(PathBuf, u64)>,
    rows_read: u64,
}

impl<'a> RowReader<'a> {
    /// Starts at the first row. Only the columns with these names are read.
    pub fn new(input: &'a Input, columns: Vec<String>) -> RowReader<'a> {
        RowReader { input, columns, next: 0, batches: None, rest: None, files: Vec::new(), rows_read: 0 }
    }

    /// Returns the next rows: as many as requested, fewer at the end, and `None` after it.
    ///
    /// # Errors
    /// If a file cannot be read, or its columns differ from those of the file before.
    pub fn next_rows(&mut self, rows: usize) -> Result<Option<Rows>> {
        let (mut pieces, mut missing) = (Vec::new(), rows);
        while missing > 0 {
            let batch = match self.rest.take() {
                Some(rest) => rest,
                None => match self.next_batch()? {
                    Some(batch) => batch,
                    None => break,
                },
            };
            let taken = missing.min(batch.num_rows());
            pieces.push(batch.slice(0, taken));
            if taken < batch.num_rows() {
                self.rest = Some(batch.slice(taken, batch.num_rows() - taken));
            }
            missing -= taken;
        }
        Ok(match pieces.len() {
            0 => None,
            1 => pieces.pop().map(Rows::new),
            _ => {
                let path = self.input.name(self.next.saturating_sub(1));
                let joined = concat_batches(&pieces[0].schema(), &pieces);
                Some(Rows::new(joined.map_err(|error| Error::file(path, error.to_string()))?))
            }
        })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.batches.as_mut().and_then(Batches::next) {
                let batch = batch?;
                self.rows_read += batch.num_rows() as u64;
                if batch.num_rows() > 0 {
                    return Ok(Some(batch));
                }
                continue;
            }
            if self.next == self.input.names().len() {
                return Ok(None);
            }
            self.files.push((self.input.name(self.next).to_owned(), self.rows_read));
            let include = |name: &str| self.columns.iter().any(|own| own == name);
            self.batches = Some(self.input.open_columns(self.next, &include)?);
            self.next += 1;
        }
    }

    /// Returns the file of a row, given its index among all rows, and its number in the file, from 1.
    pub fn locate(&self, row: u64) -> (PathBuf, u64) {
        let file = self.files.iter().rev().find(|(_, before)| *before <= row);
        file.map_or_else(|| (PathBuf::new(), row + 1), |(path, before)| (path.clone(), row - before + 1))
    }
}
