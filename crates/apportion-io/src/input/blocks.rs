//! The rows of one table of an input, block by block, from a file or from memory.

use super::Input;
use crate::error::{Error, Result};
use crate::file::file_blocks;
use crate::table::Block;

/// The rows of a table.
pub(crate) struct Blocks<'a> {
    /// The names of the columns that are read.
    pub(crate) names: Vec<String>,
    pub(crate) rows: Box<dyn Iterator<Item = Result<Block>> + 'a>,
}

/// The purpose of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Values are read unchanged, and progress is reported.
    Plain,
    /// Values are looked up: text is read as dictionaries if the file stores it that way. Another pass over the same
    /// rows reports progress.
    Lookup,
    /// All values are copied or compared: errors in the cells of workbooks are text.
    Copy,
}

impl Input {
    /// Opens a table, and reads only the columns for which `include` returns true.
    pub(crate) fn blocks(&self, file: usize, include: &dyn Fn(&str) -> bool, reading: Reading) -> Result<Blocks<'_>> {
        let Some(table) = self.memory_table(file) else { return file_blocks(self, file, include, reading) };
        let all = self.columns(file)?;
        let indices: Vec<usize> = (0..all.len()).filter(|&index| include(&all[index])).collect();
        let names = indices.iter().map(|&index| all[index].clone()).collect();
        let mut done = 0;
        let rows = table.clone().into_blocks(indices, self.options.batch_rows).map(move |block| {
            if self.is_cancelled() {
                return Err(Error::Cancelled);
            }
            done += block.len() as u64;
            if reading != Reading::Lookup {
                self.report_progress(file, block.len() as u64, done);
            }
            Ok(block)
        });
        Ok(Blocks { names, rows: Box::new(rows) })
    }
}

/// Reads the tables of an input one after another, as many rows at a time as requested.
pub(crate) struct BlockReader<'a> {
    input: &'a Input,
    columns: Vec<String>,
    reading: Reading,
    /// Index of the next table to open.
    next: usize,
    blocks: Option<Blocks<'a>>,
    /// Rows that were read but not yet returned.
    rest: Option<Block>,
    /// The number of rows read before each table so far.
    rows_before: Vec<u64>,
    rows_read: u64,
}

impl<'a> BlockReader<'a> {
    /// Starts at the first row. Only the columns with these names are read.
    pub(crate) fn new(input: &'a Input, columns: Vec<String>, reading: Reading) -> BlockReader<'a> {
        let (rows_before, rows_read) = (Vec::new(), 0);
        BlockReader { input, columns, reading, next: 0, blocks: None, rest: None, rows_before, rows_read }
    }

    /// Returns the next rows, in one or more blocks: as many as requested, or fewer at the end of the input. `open` is
    /// called with the index of each table before it is read.
    pub(crate) fn next_rows(
        &mut self,
        rows: usize,
        open: impl Fn(&Input, usize, &[String]) -> Result<()>,
    ) -> Result<Vec<Block>> {
        let (mut blocks, mut missing) = (Vec::new(), rows);
        while missing > 0 {
            let block = match self.rest.take() {
                Some(rest) => rest,
                None => match self.next_block(&open)? {
                    Some(block) => block,
                    None => break,
                },
            };
            let taken = missing.min(block.len());
            if taken < block.len() {
                self.rest = Some(block.slice(&(taken..block.len())));
                blocks.push(block.slice(&(0..taken)));
            } else {
                blocks.push(block);
            }
            missing -= taken;
        }
        Ok(blocks)
    }

    fn next_block(&mut self, open: impl Fn(&Input, usize, &[String]) -> Result<()>) -> Result<Option<Block>> {
        loop {
            if let Some(block) = self.blocks.as_mut().and_then(|blocks| blocks.rows.next()) {
                let block = block?;
                self.rows_read += block.len() as u64;
                if block.len() > 0 {
                    return Ok(Some(block));
                }
                continue;
            }
            if self.next == self.input.names().len() {
                return Ok(None);
            }
            open(self.input, self.next, &self.columns)?;
            self.rows_before.push(self.rows_read);
            let include = |name: &str| self.columns.iter().any(|own| own == name);
            self.blocks = Some(self.input.blocks(self.next, &include, self.reading)?);
            self.next += 1;
        }
    }

    /// Returns the table that was opened last.
    pub(crate) fn table(&self) -> usize {
        self.next.saturating_sub(1)
    }

    /// Returns the table of a row, given its index among all rows, and the number of rows before it in that table.
    pub(crate) fn locate(&self, row: u64) -> Option<(usize, u64)> {
        let table = self.rows_before.iter().rposition(|before| *before <= row)?;
        Some((table, row - self.rows_before[table]))
    }
}
