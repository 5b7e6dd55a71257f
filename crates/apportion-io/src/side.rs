//! Some columns of the files' rows, read once more beside a pass that copies them all. Texts may come as codes and words.

use arrow::array::RecordBatch;

use crate::error::{Error, Result};
use crate::input::Input;
use crate::read::Batches;

/// Rows of some columns, as many at a time as are asked for.
pub struct Side<'a> {
    input: &'a Input,
    wanted: Vec<String>,
    /// The next file to be opened.
    file: usize,
    batches: Option<Batches<'a>>,
    /// What is left of the batch at hand.
    left: Option<RecordBatch>,
}

impl<'a> Side<'a> {
    /// Begins at the first row.
    pub fn new(input: &'a Input, wanted: &[String]) -> Side<'a> {
        Side { input, wanted: wanted.to_vec(), file: 0, batches: None, left: None }
    }

    /// The next rows, in one or several pieces; fewer where there are no more.
    pub fn next(&mut self, rows: usize) -> Result<Vec<RecordBatch>> {
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
        Ok(pieces)
    }

    fn more(&mut self) -> Result<Option<RecordBatch>> {
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
            if let Some(missing) = self.wanted.iter().find(|wanted| !names.contains(wanted)) {
                let problem = format!("it has no column {missing:?}, as there is in {}", self.input.name(0).display());
                return Err(Error::file(self.input.name(self.file), problem));
            }
            let wanted = |name: &str| self.wanted.iter().any(|wanted| wanted == name);
            self.batches = Some(self.input.open_coded(self.file, &wanted)?.unwatched());
            self.file += 1;
        }
    }
}
