//! A score table batch by batch: all columns of some rows, and the table that the rules need. Earlier
//! rows are not kept.

use apportion::Classes;
use apportion::text::group_name;

use super::block::Block;
use super::builder::TableBuilder;
use super::score_table::{Table, TableOptions};
use crate::error::{Error, Result};
use crate::input::{Blocks, Input, Reading};

/// The rows of some files, one batch after another.
pub struct TableStream<'a> {
    input: &'a Input,
    builder: TableBuilder,
    /// Columns that are not read unless the rules need them.
    skipped: Vec<String>,
    /// Index of the next file to open.
    next: usize,
    blocks: Option<Blocks<'a>>,
    /// Rows of the current file in earlier batches.
    rows_before: u64,
}

/// Some rows of a file.
pub struct TableBatch {
    /// The index of the file.
    pub file: usize,
    /// The number of rows before these in the file.
    pub first: u64,
    /// All columns.
    pub(crate) block: Block,
    /// The table that the rules need, without excluded rows.
    pub table: Table,
    /// The group of each row of the table; empty without groups.
    pub groups: Vec<u32>,
}

impl<'a> TableStream<'a> {
    /// Starts at the first row. Columns in `skipped` are read only if the rules need them.
    pub fn new(input: &'a Input, options: &TableOptions, skipped: Vec<String>) -> Result<TableStream<'a>> {
        let builder = TableBuilder::new(&input.columns(0)?, input.name(0), options)?;
        input.begin("verifying");
        Ok(TableStream { input, builder, skipped, next: 0, blocks: None, rows_before: 0 })
    }

    /// Returns the classes, in order.
    pub fn classes(&self) -> &Classes {
        self.builder.classes()
    }

    /// Returns the number of groups so far.
    pub fn group_count(&self) -> usize {
        self.builder.group_values().len()
    }

    /// Returns the name of a group, and the value of each of its columns.
    pub fn group(&self, group: usize) -> (String, &[String]) {
        let values = &self.builder.group_values()[group];
        (group_name(values.iter().map(String::as_str)), values)
    }

    /// Returns the next rows, or `None` at the end.
    pub fn next_batch(&mut self) -> Result<Option<TableBatch>> {
        loop {
            if let Some(block) = self.blocks.as_mut().and_then(|blocks| blocks.rows.next()) {
                let block = block?;
                self.builder.push_batch(&block.columns(), block.len())?;
                let (table, groups) = self.builder.drain()?;
                let first = self.rows_before;
                self.rows_before += block.len() as u64;
                return Ok(Some(TableBatch { file: self.next - 1, first, block, table, groups }));
            }
            if self.next == self.input.names().len() {
                self.input.end();
                return Ok(None);
            }
            let (names, path) = (self.input.columns(self.next)?, self.input.name(self.next));
            let needed = self.builder.needed_columns(&names, path)?;
            let include = |name: &str| {
                needed.iter().any(|column| column == name) || !self.skipped.iter().any(|column| column == name)
            };
            let blocks = self.input.blocks(self.next, &include, Reading::Copy)?;
            self.builder.begin(&blocks.names, path)?;
            (self.blocks, self.rows_before) = (Some(blocks), 0);
            self.next += 1;
        }
    }
}

impl TableBatch {
    /// Returns the number of rows, including excluded rows.
    pub fn rows(&self) -> usize {
        self.block.len()
    }

    /// Adds the file, row and column to an error of the core library that is about a row.
    pub fn locate(&self, error: apportion::Error) -> Error {
        let mut error = self.table.locate(error);
        if let Error::Core { location: Some(location), .. } = &mut error {
            location.row += self.first;
        }
        error
    }
}
