//! Reads some columns in step with another pass that copies all columns. Text may come as
//! dictionaries.

use arrow::array::RecordBatch;

use super::batches::Batches;
use super::input::Input;
use crate::error::{Error, Result};

/// Reads rows of some columns, as many at a time as requested.
pub struct ColumnReader<'a> {
    input: &'a Input,
    columns: Vec<String>,
    /// Index of the next file to open.
    file: usize,
    batches: Option<Batches<'a>>,
    /// The unread rest of the current batch.
    remainder: Option<RecordBatch>,
}

impl<'a> ColumnReader<'a> {
    /// Starts at the first row.
    pub fn new(input: &'a Input, columns: &[String]) -> ColumnReader<'a> {
        ColumnReader { input, columns: columns.to_vec(), file: 0, batches: None, remainder: None }
    }

    /// Returns the next `rows` rows in one or more batches; fewer at the end of the input.
    pub fn next_rows(&mut self, rows: usize) -> Result<Vec<RecordBatch>> {
        let (mut batches, mut missing) = (Vec::new(), rows);
        while missing > 0 {
            let batch = match self.remainder.take() {
                Some(batch) => batch,
                None => match self.next_batch()? {
                    Some(batch) => batch,
                    None => break,
                },
            };
            let count = missing.min(batch.num_rows());
            batches.push(batch.slice(0, count));
            if count < batch.num_rows() {
                self.remainder = Some(batch.slice(count, batch.num_rows() - count));
            }
            missing -= count;
        }
        Ok(batches)
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.batches.as_mut().and_then(Batches::next) {
                let batch = batch?;
                if batch.num_rows() > 0 {
                    return Ok(Some(batch));
                }
                continue;
            }
            if self.file == self.input.names().len() {
                return Ok(None);
            }
            let names = self.input.columns(self.file)?;
            if let Some(missing) = self.columns.iter().find(|column| !names.contains(column)) {
                let problem = format!("it has no column {missing:?}, as there is in {}", self.input.name(0).display());
                return Err(Error::file(self.input.name(self.file), problem));
            }
            let include = |name: &str| self.columns.iter().any(|column| column == name);
            self.batches = Some(self.input.open_dictionary(self.file, &include)?.without_progress());
            self.file += 1;
        }
    }
}
