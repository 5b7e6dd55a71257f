//! The rows of an output, as many at a time as are asked for, and where each of them lies.

use std::path::PathBuf;

use anyhow::Result;
use apportion_io::{Batches, Input};
use arrow::array::RecordBatch;
use arrow::compute::concat_batches;

/// Rows of an output, in order.
pub(super) struct OutRows<'a> {
    input: &'a Input,
    /// The columns that are read.
    columns: Vec<String>,
    next: usize,
    batches: Option<Batches<'a>>,
    left: Option<RecordBatch>,
    /// The files so far, with the number of rows before each.
    files: Vec<(PathBuf, u64)>,
    read: u64,
}

impl<'a> OutRows<'a> {
    pub(super) fn new(input: &'a Input, columns: Vec<String>) -> OutRows<'a> {
        OutRows { input, columns, next: 0, batches: None, left: None, files: Vec::new(), read: 0 }
    }

    /// The next rows; fewer at the end.
    pub(super) fn take(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        let (mut pieces, mut missing) = (Vec::new(), rows);
        while missing > 0 {
            let Some(batch) = self.left.take().map_or_else(|| self.more(), |batch| Ok(Some(batch)))? else { break };
            let taken = missing.min(batch.num_rows());
            pieces.push(batch.slice(0, taken));
            if taken < batch.num_rows() {
                self.left = Some(batch.slice(taken, batch.num_rows() - taken));
            }
            missing -= taken;
        }
        Ok(match pieces.len() {
            0 => None,
            1 => pieces.pop(),
            _ => Some(concat_batches(&pieces[0].schema(), &pieces)?),
        })
    }

    fn more(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.batches.as_mut().and_then(Batches::next) {
                let batch = batch?;
                self.read += batch.num_rows() as u64;
                if batch.num_rows() > 0 {
                    return Ok(Some(batch));
                }
                continue;
            }
            if self.next == self.input.names().len() {
                return Ok(None);
            }
            self.files.push((self.input.name(self.next).to_owned(), self.read));
            self.batches =
                Some(self.input.open_columns(self.next, &|name| self.columns.iter().any(|own| own == name))?);
            self.next += 1;
        }
    }

    /// The file of a row of all, and its number in it, from 1.
    pub(super) fn locate(&self, row: u64) -> (PathBuf, u64) {
        let file = self.files.iter().rev().find(|(_, before)| *before <= row);
        file.map_or_else(|| (PathBuf::new(), row + 1), |(path, before)| (path.clone(), row - before + 1))
    }
}
