//! Storage for scores: in memory while they fit, then in a temporary file.
//!
//! The file has no name and disappears when the program ends, however it ends. It contains only
//! numbers, no names or keys.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;

use apportion::text::{Message, Setting};
use apportion::{Matrix, Store};
use bytemuck::{Pod, cast_slice, cast_slice_mut};

use super::memory_table::BorrowedScores;
use crate::error::{Error, Result};
use crate::read_at::read_at;

/// Memory limits for the scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Maximum bytes of scores in memory.
    scores: usize,
    /// Maximum bytes for gathering the rows of groups, if the scores are in a file.
    groups: usize,
}

impl Budget {
    /// Returns limits that leave memory for labels, keys, groups and buffers.
    pub(crate) fn of(memory: u64) -> Budget {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        Budget { scores: memory / 3, groups: memory / 8 }
    }
}

/// Scores in single precision if all files have that precision, otherwise in double precision; or
/// borrowed from another program.
#[derive(Debug)]
pub(crate) enum ScoreValues {
    Single(SpillBuffer<f32>),
    Double(SpillBuffer<f64>),
    Borrowed(BorrowedScores),
}

impl ScoreValues {
    pub(crate) fn new(classes: usize, budget: Budget) -> ScoreValues {
        ScoreValues::Single(SpillBuffer { classes, budget, storage: Storage::Memory(Vec::new()) })
    }

    /// Adds rows in single precision; widens them if others are in double precision.
    pub(crate) fn push_singles(&mut self, rows: &[f32]) -> Result<()> {
        match self {
            ScoreValues::Single(buffer) => buffer.push(rows),
            ScoreValues::Double(buffer) => buffer.push(&rows.iter().map(|&value| f64::from(value)).collect::<Vec<_>>()),
            ScoreValues::Borrowed(_) => Ok(()),
        }
    }

    /// Adds rows in double precision; widens all others.
    pub(crate) fn push_doubles(&mut self, rows: &[f64]) -> Result<()> {
        if let ScoreValues::Single(buffer) = self {
            *self = ScoreValues::Double(buffer.widened()?);
        }
        match self {
            ScoreValues::Single(_) | ScoreValues::Borrowed(_) => Ok(()),
            ScoreValues::Double(buffer) => buffer.push(rows),
        }
    }

    /// Prepares for about `rows` rows: if they clearly do not fit, scores are spilled early.
    pub(crate) fn expect_rows(&mut self, rows: u64) -> Result<()> {
        match self {
            ScoreValues::Single(buffer) => buffer.expect_rows(rows),
            ScoreValues::Double(buffer) => buffer.expect_rows(rows),
            ScoreValues::Borrowed(_) => Ok(()),
        }
    }

    /// Returns the number of rows so far.
    pub(crate) fn len(&self) -> usize {
        match self {
            ScoreValues::Single(buffer) => Store::rows(buffer),
            ScoreValues::Double(buffer) => Store::rows(buffer),
            ScoreValues::Borrowed(scores) => scores.len(),
        }
    }

    pub(crate) fn matrix(&self) -> Matrix<'_> {
        match self {
            ScoreValues::Single(SpillBuffer { storage: Storage::Memory(values), .. }) => Matrix::RowsF32(values),
            ScoreValues::Single(buffer) => Matrix::StoredF32(buffer),
            ScoreValues::Double(SpillBuffer { storage: Storage::Memory(values), .. }) => Matrix::RowsF64(values),
            ScoreValues::Double(buffer) => Matrix::StoredF64(buffer),
            ScoreValues::Borrowed(scores) => scores.matrix(),
        }
    }

    /// Returns some rows, as they were added.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Result<Vec<f64>> {
        match self {
            ScoreValues::Single(buffer) => Ok(buffer.rows_of(rows)?.into_iter().map(f64::from).collect()),
            ScoreValues::Double(buffer) => Ok(buffer.rows_of(rows)?),
            ScoreValues::Borrowed(scores) => Ok(scores.rows(rows)),
        }
    }

    pub(crate) fn is_single(&self) -> bool {
        match self {
            ScoreValues::Single(_) => true,
            ScoreValues::Double(_) => false,
            ScoreValues::Borrowed(scores) => scores.is_single(),
        }
    }

    /// Returns whether the scores are in a file.
    pub(crate) fn is_spilled(&self) -> bool {
        !matches!(self, ScoreValues::Borrowed(_))
            && matches!(self.matrix(), Matrix::StoredF32(_) | Matrix::StoredF64(_))
    }
}

/// Values of one type, in memory or in a temporary file.
#[derive(Debug)]
pub(crate) struct SpillBuffer<T> {
    classes: usize,
    budget: Budget,
    storage: Storage<T>,
}

#[derive(Debug)]
enum Storage<T> {
    Memory(Vec<T>),
    File { file: File, values: usize },
}

/// Scores are spilled early if they are expected to take more than this multiple of the memory
/// limit.
const EARLY_SPILL_FACTOR: f64 = 1.5;

/// Rows that are widened at a time.
const WIDENED_ROWS: usize = 1 << 16;

impl<T: Pod> SpillBuffer<T> {
    fn push(&mut self, rows: &[T]) -> Result<()> {
        match &mut self.storage {
            Storage::Memory(values) if size_of_val(&values[..]) + size_of_val(rows) <= self.budget.scores => {
                values.extend_from_slice(rows);
                return Ok(());
            }
            Storage::Memory(_) => self.spill_to_file()?,
            Storage::File { .. } => {}
        }
        if let Storage::File { file, values } = &mut self.storage {
            file.write_all(cast_slice(rows)).map_err(|error| spill_error(&error))?;
            *values += rows.len();
        }
        Ok(())
    }

    /// Moves the values to a temporary file.
    fn spill_to_file(&mut self) -> Result<()> {
        if let Storage::Memory(values) = &self.storage {
            let mut file = tempfile::tempfile().map_err(|error| spill_error(&error))?;
            file.write_all(cast_slice(values)).map_err(|error| spill_error(&error))?;
            self.storage = Storage::File { file, values: values.len() };
        }
        Ok(())
    }

    fn expect_rows(&mut self, rows: u64) -> Result<()> {
        let bytes = rows as f64 * (self.classes * size_of::<T>()) as f64;
        // An estimate from a few rows is not reliable.
        let is_reliable = self.len() * size_of::<T>() >= self.budget.scores / 8;
        if is_reliable && bytes > EARLY_SPILL_FACTOR * self.budget.scores as f64 {
            self.spill_to_file()
        } else {
            Ok(())
        }
    }

    fn len(&self) -> usize {
        match &self.storage {
            Storage::Memory(values) => values.len(),
            Storage::File { values, .. } => *values,
        }
    }

    fn rows_of(&self, rows: Range<usize>) -> apportion::Result<Vec<T>> {
        let mut values = vec![T::zeroed(); rows.len() * self.classes];
        self.read_into(rows.start, &mut values)?;
        Ok(values)
    }

    fn read_into(&self, first: usize, into: &mut [T]) -> apportion::Result<()> {
        let start = first * self.classes;
        match &self.storage {
            Storage::Memory(values) => into.copy_from_slice(&values[start..start + into.len()]),
            Storage::File { file, .. } => read_at(file, cast_slice_mut(into), (start * size_of::<T>()) as u64)
                .map_err(|error| apportion::Error::Store { problem: error.to_string() })?,
        }
        Ok(())
    }
}

impl SpillBuffer<f32> {
    fn widened(&mut self) -> Result<SpillBuffer<f64>> {
        let mut wide = SpillBuffer { classes: self.classes, budget: self.budget, storage: Storage::Memory(Vec::new()) };
        let rows = self.len() / self.classes;
        for start in (0..rows).step_by(WIDENED_ROWS) {
            let rows_read = self.rows_of(start..rows.min(start + WIDENED_ROWS))?;
            wide.push(&rows_read.into_iter().map(f64::from).collect::<Vec<_>>())?;
        }
        Ok(wide)
    }
}

impl<T: Pod + Debug + Sync> Store<T> for SpillBuffer<T> {
    fn rows(&self) -> usize {
        self.len() / self.classes
    }

    fn read(&self, first: usize, into: &mut [T]) -> apportion::Result<()> {
        self.read_into(first, into)
    }

    fn most_bytes(&self) -> usize {
        self.budget.groups
    }
}

fn spill_error(error: &io::Error) -> Error {
    let folder = std::env::temp_dir();
    let fix = "free some space, choose another folder with TMPDIR, or allow more memory with ";
    let problem = format!("the scores fit neither in memory nor here ({error}); {fix}");
    Error::file(&folder, Message::from(problem) + Setting::Memory)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Values are returned as they were added, for any memory limit and precision.
    #[test]
    fn values_are_read_back_from_memory_and_file() {
        for memory in [0, 100, 1 << 20] {
            let mut values = ScoreValues::new(2, Budget::of(memory));
            let singles: Vec<f32> = (0..10).map(|value| value as f32 / 4.0).collect();
            values.push_singles(&singles[..4]).unwrap();
            values.push_singles(&singles[4..]).unwrap();
            assert_eq!((values.is_single(), values.is_spilled()), (true, memory < 120));
            assert_eq!(values.rows(1..3).unwrap(), [0.5, 0.75, 1.0, 1.25]);
            values.push_doubles(&[0.1, 0.9]).unwrap();
            values.push_singles(&[0.5, 0.25]).unwrap();
            assert!(!values.is_single());
            assert_eq!(values.rows(4..7).unwrap(), [2.0, 2.25, 0.1, 0.9, 0.5, 0.25]);
        }
    }

    #[test]
    fn scores_beyond_the_limit_are_spilled_early() {
        for (expected, spilled) in [(20, false), (40, true)] {
            let mut values = ScoreValues::new(2, Budget::of(3 * 160));
            values.push_singles(&[0.5; 8]).unwrap();
            values.expect_rows(expected).unwrap();
            assert_eq!(values.is_spilled(), spilled, "{expected} rows of 8 bytes, and room for 160");
            values.push_singles(&[0.25, 0.75]).unwrap();
            assert_eq!(values.rows(3..5).unwrap(), [0.5, 0.5, 0.25, 0.75]);
        }
    }
}
