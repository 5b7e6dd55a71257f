//! A table batch by batch: all columns of some rows, and what the rules need of them. Nothing is kept of rows that have passed.

use apportion::Classes;
use apportion::text::group_name;
use arrow::array::RecordBatch;

use crate::error::{Error, Result};
use crate::input::Input;
use crate::read::Batches;
use crate::table::{Table, TableOptions};
use crate::take::Taker;

/// The rows of some files, one batch after another.
pub struct TableStream<'a> {
    input: &'a Input,
    taker: Taker,
    /// Columns that are not read unless the rules need them.
    passed_over: Vec<String>,
    /// The next file to be opened.
    next: usize,
    batches: Option<Batches<'a>>,
    /// Rows of the file at hand that have passed.
    passed: u64,
}

/// Some rows of a file.
pub struct Piece {
    /// Which file it is.
    pub file: usize,
    /// How many rows of the file come before these.
    pub first: u64,
    /// All columns.
    pub batch: RecordBatch,
    /// What the rules need of the rows, without those left out.
    pub table: Table,
    /// The group of each row of the table; empty without groups.
    pub groups: Vec<u32>,
}

impl<'a> TableStream<'a> {
    /// Begins at the first row. Columns that are passed over are not read.
    pub fn new(input: &'a Input, options: &TableOptions, passed_over: Vec<String>) -> Result<TableStream<'a>> {
        let taker = Taker::new(&input.columns(0)?, input.name(0), options)?;
        input.begin("verifying");
        Ok(TableStream { input, taker, passed_over, next: 0, batches: None, passed: 0 })
    }

    /// The classes, in order.
    pub fn classes(&self) -> &Classes {
        self.taker.classes()
    }

    /// How many groups there are so far.
    pub fn groups(&self) -> usize {
        self.taker.group_values().len()
    }

    /// The name of a group, and the value of each column that it is made of.
    pub fn group(&self, group: usize) -> (String, &[String]) {
        let values = &self.taker.group_values()[group];
        (group_name(values.iter().map(String::as_str)), values)
    }

    /// The next rows; none at the end.
    pub fn next_piece(&mut self) -> Result<Option<Piece>> {
        loop {
            if let Some(batch) = self.batches.as_mut().and_then(Batches::next) {
                let batch = batch?;
                self.taker.take(&batch)?;
                let (table, groups) = self.taker.hand_on()?;
                let first = self.passed;
                self.passed += batch.num_rows() as u64;
                return Ok(Some(Piece { file: self.next - 1, first, batch, table, groups }));
            }
            if self.next == self.input.names().len() {
                self.input.end();
                return Ok(None);
            }
            let (names, path) = (self.input.columns(self.next)?, self.input.name(self.next));
            let wanted = self.taker.wanted(&names, path)?;
            let reads = |name: &str| {
                wanted.iter().any(|own| own == name) || !self.passed_over.iter().any(|passed| passed == name)
            };
            let batches = self.input.open_columns(self.next, &reads)?;
            self.taker.begin(&batches.names(), path)?;
            (self.batches, self.passed) = (Some(batches), 0);
            self.next += 1;
        }
    }
}

impl Piece {
    /// An error of the library, with the file and the row in it.
    pub fn explain(&self, error: apportion::Error) -> Error {
        let mut error = self.table.explain(error);
        if let Error::Value { row, .. } | Error::Row { row, .. } = &mut error {
            *row += self.first;
        }
        error
    }
}
