//! A table in memory: columns of another program or of Arrow, and optionally a matrix of scores, used in place.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use apportion::{Matrix, Store};
use bytemuck::Pod;

use super::block::{Block, BlockColumn};
use super::column::{Column, Values};
use super::shared_column::{Shared, SharedColumn, SharedValues};
use crate::error::{Error, Result};
use crate::file::BatchSchema;

/// A table in memory that is borrowed from another program.
#[derive(Clone, Debug)]
pub struct MemoryTable {
    /// The names of the columns, except those of the matrix.
    names: Arc<[String]>,
    /// The rows of the columns, one after another.
    blocks: Vec<Block>,
    matrix: Option<ScoreMatrix>,
    /// The schema of the columns, if they are Arrow batches.
    #[cfg_attr(not(feature = "files"), allow(dead_code))] // never set
    pub(crate) schema: Option<BatchSchema>,
}

/// A row-major matrix of scores, as in numpy, with named columns.
#[derive(Clone, Debug)]
struct ScoreMatrix {
    names: Vec<String>,
    values: SharedColumn,
}

impl MemoryTable {
    /// Creates a table from columns of the same length.
    pub fn from_columns(columns: Vec<(String, SharedColumn)>) -> Result<MemoryTable> {
        let mut rows = None;
        for (name, column) in &columns {
            let len = column.checked_len();
            if len.is_none() || rows.is_some_and(|rows| len != Some(rows)) {
                let problem = format!("column {name:?} has a different number of rows or flags");
                return Err(Error::settings(problem));
            }
            rows = len;
        }
        for (index, (name, _)) in columns.iter().enumerate() {
            if columns[..index].iter().any(|(other, _)| other == name) {
                return Err(Error::settings(format!("two columns are named {name:?}; rename one of them")));
            }
        }
        let rows = rows.unwrap_or(0);
        let (names, columns): (Vec<String>, Vec<SharedColumn>) = columns.into_iter().unzip();
        let columns = columns.into_iter().map(|column| BlockColumn::Shared(column, 0..rows)).collect();
        let names: Arc<[String]> = names.into();
        Ok(MemoryTable::from_blocks(names.clone(), vec![Block::new(names, columns, rows)]))
    }

    /// Creates a table from blocks with these column names.
    pub(crate) fn from_blocks(names: Arc<[String]>, blocks: Vec<Block>) -> MemoryTable {
        MemoryTable { names, blocks, matrix: None, schema: None }
    }

    /// Sets the schema of columns that are Arrow batches.
    #[cfg(feature = "files")]
    pub(crate) fn with_schema(self, schema: BatchSchema) -> MemoryTable {
        MemoryTable { schema: Some(schema), ..self }
    }

    /// Adds a row-major matrix of `f32` or `f64` before the columns. If there are no columns, the
    /// rows are those of the matrix.
    pub fn with_scores(self, names: Vec<String>, values: SharedColumn) -> Result<MemoryTable> {
        let (rows, len) = (self.block_rows(), values.checked_len().unwrap_or(0));
        if !matches!(values.values(), SharedValues::F32(_) | SharedValues::F64(_)) {
            let kind = values.column().kind();
            return Err(Error::settings(format!("a matrix of scores must contain numbers, not {kind}")));
        }
        let is_alone = self.names.is_empty();
        if names.is_empty() || !len.is_multiple_of(names.len()) || !is_alone && len != rows * names.len() {
            let problem = format!("{len} scores are not {rows} rows of {} classes", names.len());
            return Err(Error::settings(problem));
        }
        Ok(MemoryTable { matrix: Some(ScoreMatrix { names, values }), ..self })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match &self.matrix {
            Some(matrix) => matrix.values.column().len() / matrix.names.len(),
            None => self.block_rows(),
        }
    }

    fn block_rows(&self) -> usize {
        self.blocks.iter().map(Block::len).sum()
    }

    /// Returns the column names: those of the matrix, then those of the columns.
    pub fn column_names(&self) -> Vec<String> {
        let mut names = self.matrix.as_ref().map_or_else(Vec::new, |matrix| matrix.names.clone());
        names.extend_from_slice(&self.names);
        names
    }

    fn matrix_columns(&self) -> usize {
        self.matrix.as_ref().map_or(0, |matrix| matrix.names.len())
    }

    /// Returns the columns at some indices, in blocks of at most `max_rows` rows.
    pub(crate) fn into_blocks(
        self,
        indices: Vec<usize>,
        max_rows: usize,
    ) -> impl Iterator<Item = Block> + Send + use<> {
        let all = self.column_names();
        let names: Arc<[String]> = indices.iter().map(|&index| all[index].clone()).collect();
        let pieces = self.pieces(max_rows);
        pieces.into_iter().map(move |piece| {
            let column = |&index: &usize| match &self.matrix {
                Some(matrix) if index < matrix.names.len() => {
                    BlockColumn::Shared(matrix.copy(index, &piece.rows), 0..piece.rows.len())
                }
                _ => {
                    let rows = piece.rows.start - piece.start..piece.rows.end - piece.start;
                    self.blocks[piece.block].at(index - self.matrix_columns()).slice(&rows)
                }
            };
            Block::new(names.clone(), indices.iter().map(column).collect(), piece.rows.len())
        })
    }

    /// Returns ranges of at most `max_rows` rows that do not cross the end of a block.
    fn pieces(&self, max_rows: usize) -> Vec<Piece> {
        let max_rows = max_rows.max(1);
        let mut pieces = Vec::new();
        for (block, range) in self.block_ranges().into_iter().enumerate() {
            for first in range.clone().step_by(max_rows) {
                let rows = first..range.end.min(first.saturating_add(max_rows));
                pieces.push(Piece { block, start: range.start, rows });
            }
        }
        pieces
    }

    /// Returns the range of rows of each block in the table.
    fn block_ranges(&self) -> Vec<Range<usize>> {
        if self.names.is_empty() {
            return std::iter::once(0..self.rows()).collect();
        }
        let mut end = 0;
        let range = |block: &Block| {
            end += block.len();
            end - block.len()..end
        };
        self.blocks.iter().map(range).collect()
    }

    /// Borrows the scores of the columns at some indices. Returns `None` if they need conversion,
    /// because some are missing or not plain numbers.
    pub(crate) fn borrow_scores(&self, indices: &[usize]) -> Option<BorrowedScores> {
        let all: Vec<usize> = (0..self.matrix_columns()).collect();
        if let Some(matrix) = self.matrix.as_ref().filter(|matrix| indices == all && matrix.values.is_complete()) {
            return match matrix.values.values() {
                SharedValues::F32(values) => Some(BorrowedScores::Rows32(values.clone(), indices.len())),
                SharedValues::F64(values) => Some(BorrowedScores::Rows64(values.clone(), indices.len())),
                _ => None,
            };
        }
        let others: Vec<usize> =
            indices.iter().map(|&index| index.checked_sub(self.matrix_columns())).collect::<Option<_>>()?;
        if let Some(chunks) = chunked_columns(&self.blocks, &others, BlockColumn::singles) {
            return Some(BorrowedScores::Columns32(chunks));
        }
        chunked_columns(&self.blocks, &others, BlockColumn::doubles).map(BorrowedScores::Columns64)
    }
}

/// Some rows of a table that are in the same block.
struct Piece {
    /// The index of the block.
    block: usize,
    /// The first row of the block.
    start: usize,
    rows: Range<usize>,
}

impl ScoreMatrix {
    /// Copies rows of a column, with NaN for missing values.
    fn copy(&self, class: usize, rows: &Range<usize>) -> SharedColumn {
        let k = self.names.len();
        fn strided<T: Copy>(values: &Values<'_, T>, rows: &Range<usize>, k: usize, class: usize, missing: T) -> Vec<T> {
            rows.clone().map(|row| values.get(row * k + class).unwrap_or(missing)).collect()
        }
        match self.values.column() {
            Column::F32(values) => strided(&values, rows, k, class, f32::NAN).into(),
            Column::F64(values) => strided(&values, rows, k, class, f64::NAN).into(),
            // A matrix has only these types.
            _ => Vec::<f64>::new().into(),
        }
    }
}

/// Returns the columns at some indices of each block, if all are complete numbers of one type.
fn chunked_columns<T>(
    blocks: &[Block],
    indices: &[usize],
    numbers: impl Fn(&BlockColumn) -> Option<Shared<T>>,
) -> Option<ChunkedColumns<T>> {
    let mut chunks = ChunkedColumns { classes: indices.len(), ends: Vec::new(), columns: Vec::new() };
    for block in blocks.iter().filter(|block| block.len() > 0) {
        let column = |&index: &usize| numbers(block.at(index));
        chunks.columns.push(indices.iter().map(column).collect::<Option<_>>()?);
        chunks.ends.push(chunks.rows() + block.len());
    }
    (!chunks.ends.is_empty()).then_some(chunks)
}

/// Scores borrowed from another program. They are not copied, except for a few rows at a time if a
/// column has several chunks.
#[derive(Debug)]
pub(crate) enum BorrowedScores {
    Rows32(Shared<f32>, usize),
    Rows64(Shared<f64>, usize),
    Columns32(ChunkedColumns<f32>),
    Columns64(ChunkedColumns<f64>),
}

impl BorrowedScores {
    pub(crate) fn matrix(&self) -> Matrix<'_> {
        match self {
            BorrowedScores::Rows32(values, _) => Matrix::RowsF32(values.as_slice()),
            BorrowedScores::Rows64(values, _) => Matrix::RowsF64(values.as_slice()),
            BorrowedScores::Columns32(chunks) => match chunks.contiguous() {
                Some(columns) => Matrix::ColumnsF32(columns),
                None => Matrix::StoredF32(chunks),
            },
            BorrowedScores::Columns64(chunks) => match chunks.contiguous() {
                Some(columns) => Matrix::ColumnsF64(columns),
                None => Matrix::StoredF64(chunks),
            },
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            BorrowedScores::Rows32(values, classes) => values.as_slice().len() / classes,
            BorrowedScores::Rows64(values, classes) => values.as_slice().len() / classes,
            BorrowedScores::Columns32(chunks) => chunks.rows(),
            BorrowedScores::Columns64(chunks) => chunks.rows(),
        }
    }

    pub(crate) fn is_single(&self) -> bool {
        matches!(self, BorrowedScores::Rows32(..) | BorrowedScores::Columns32(_))
    }

    /// Returns some rows as one vector.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Vec<f64> {
        match self {
            BorrowedScores::Rows32(values, k) => {
                values.as_slice()[rows.start * k..rows.end * k].iter().copied().map(f64::from).collect()
            }
            BorrowedScores::Rows64(values, k) => values.as_slice()[rows.start * k..rows.end * k].to_vec(),
            BorrowedScores::Columns32(chunks) => chunks.rows_of(rows).into_iter().map(f64::from).collect(),
            BorrowedScores::Columns64(chunks) => chunks.rows_of(rows),
        }
    }
}

/// Columns in chunks, as in data frames that were concatenated.
#[derive(Debug)]
pub(crate) struct ChunkedColumns<T> {
    classes: usize,
    /// Number of rows up to the end of each chunk.
    ends: Vec<usize>,
    /// The columns of each chunk.
    columns: Vec<Vec<Shared<T>>>,
}

impl<T> ChunkedColumns<T> {
    fn rows(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
}

impl<T: Pod> ChunkedColumns<T> {
    /// Returns the columns if there is only one chunk.
    fn contiguous(&self) -> Option<Vec<&[T]>> {
        match &self.columns[..] {
            [columns] => Some(columns.iter().map(Shared::as_slice).collect()),
            _ => None,
        }
    }

    fn rows_of(&self, rows: Range<usize>) -> Vec<T> {
        let mut values = vec![T::zeroed(); rows.len() * self.classes];
        self.copy(rows.start, &mut values);
        values
    }

    fn copy(&self, first: usize, into: &mut [T]) {
        let (mut row, end) = (first, first + into.len() / self.classes);
        let mut chunk = self.ends.partition_point(|&end| end <= first);
        while row < end {
            let start = if chunk == 0 { 0 } else { self.ends[chunk - 1] };
            let until = end.min(self.ends[chunk]);
            for (class, column) in self.columns[chunk].iter().enumerate() {
                let scores = into[(row - first) * self.classes..].iter_mut().skip(class).step_by(self.classes);
                let column = &column.as_slice()[row - start..until - start];
                scores.zip(column).for_each(|(value, &score)| *value = score);
            }
            (row, chunk) = (until, chunk + 1);
        }
    }
}

impl<T: Pod + Debug> Store<T> for ChunkedColumns<T> {
    fn rows(&self) -> usize {
        ChunkedColumns::rows(self)
    }

    fn read(&self, first: usize, into: &mut [T]) -> apportion::Result<()> {
        self.copy(first, into);
        Ok(())
    }
}
