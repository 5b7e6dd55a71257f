//! Rows of scores: in memory, as [`Rows`], or in any [`Source`].

use std::ops::Range;

use super::simd::prefetch;
use super::tile::{Real, STRETCH, TILE, Tile};
use crate::cancel::Cancel;
use crate::error::Result;

/// Rows of scores in any storage. A pass loads ranges of them, sequentially or in parallel.
pub(crate) trait Source<T: Real>: Sync {
    /// Returns the number of rows.
    fn rows(&self) -> usize;
    /// Returns the number of classes.
    fn classes(&self) -> usize;
    /// Returns the number of people that each row represents; `None` if it is one.
    fn weights(&self) -> Option<&[u64]>;
    /// Returns a bound on the absolute value of the scores, for the error of single precision.
    fn magnitude(&self) -> f32;

    /// Loads some rows, into `buffer` if they are not in memory. They keep their row numbers.
    fn window<'w>(&'w self, rows: Range<usize>, buffer: &'w mut Vec<T>) -> Result<Rows<'w, T>>;

    /// Returns all rows, if they are in memory.
    fn in_memory(&self) -> Option<Rows<'_, T>> {
        None
    }

    /// Returns how many bytes may be used to load many rows at once, if they are not in memory.
    fn most_bytes(&self) -> usize {
        usize::MAX
    }

    /// Returns the number of people that all rows represent.
    fn people(&self) -> u64 {
        self.weights().map_or(self.rows() as u64, |weights| weights.iter().sum())
    }

    /// Returns the number of people that a row represents.
    fn people_of(&self, row: usize) -> u64 {
        self.weights().map_or(1, |weights| weights[row])
    }
}

/// Loads the rows of an ascending list, and calls `each` with the index in the list, the row, and the loaded rows.
pub(crate) fn at_rows<T: Real>(
    source: &dyn Source<T>,
    list: &[usize],
    mut each: impl FnMut(usize, usize, &Rows<'_, T>),
) -> Result<()> {
    let (mut buffer, mut index) = (Vec::new(), 0);
    while let Some(&first) = list.get(index) {
        let near = list[index..].partition_point(|&row| row < first + STRETCH);
        let rows = source.window(first..list[index + near - 1] + 1, &mut buffer)?;
        list[index..index + near].iter().enumerate().for_each(|(ahead, &row)| each(index + ahead, row, &rows));
        index += near;
    }
    Ok(())
}

/// One row-major matrix, or a column for each class.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout<'a, T> {
    RowMajor(&'a [T]),
    Columns(&'a [&'a [T]]),
}

/// Rows in memory, used in place: all of a table, or a range of it. Row numbers are those of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a, T> {
    layout: Layout<'a, T>,
    /// Number of stored classes.
    columns: usize,
    /// Whether there is one more class with score zero, for unlabeled rows.
    with_zero: bool,
    /// The number of the first loaded row.
    first: usize,
    /// The number of rows of the table.
    rows: usize,
    magnitude: f32,
    weights: Option<&'a [u64]>,
    cancel: Cancel<'a>,
}

impl<'a, T: Real> Rows<'a, T> {
    /// Creates a view of all rows of a row-major matrix.
    pub(crate) fn matrix(values: &'a [T], columns: usize, magnitude: f32, weights: Option<&'a [u64]>) -> Self {
        Rows::new(Layout::RowMajor(values), columns, magnitude, weights)
    }

    /// Creates a view of all rows of a table.
    pub(crate) fn new(layout: Layout<'a, T>, columns: usize, magnitude: f32, weights: Option<&'a [u64]>) -> Self {
        let rows = match layout {
            Layout::RowMajor(values) => values.len() / columns,
            Layout::Columns(columns) => columns[0].len(),
        };
        Rows { layout, columns, with_zero: false, first: 0, rows, magnitude, weights, cancel: Cancel::default() }
    }

    /// Returns the rows with what can cancel passes over them.
    pub(crate) fn with_cancel(self, cancel: Cancel<'a>) -> Self {
        Rows { cancel, ..self }
    }

    /// Returns the rows as part of a larger table, from row `first` on.
    pub(crate) fn part_of(self, source: &'a dyn Source<T>, first: usize) -> Self {
        Rows { first, rows: source.rows(), weights: source.weights(), ..self }
    }

    /// Returns the rows with one more class, with score zero.
    fn with_zero(self) -> Self {
        Rows { with_zero: true, ..self }
    }

    /// Loads the rows from `start`: [`TILE`] rows, or all that remain. The column of zeros is unchanged.
    #[inline(always)]
    pub(crate) fn load(&self, start: usize, tile: &mut Tile<T>) {
        let start = start - self.first;
        match self.layout {
            Layout::RowMajor(values) => tile.transpose(&values[start * self.columns..], self.columns),
            Layout::Columns(columns) => tile.gather(columns, start),
        }
    }

    /// Loads the same one block at a time: call it for each block of lanes in turn.
    #[inline(always)]
    pub(crate) fn load_block(&self, start: usize, lanes: usize, tile: &mut Tile<T>) {
        match self.layout {
            Layout::RowMajor(values) if values.len() >= (start - self.first + TILE) * self.columns => {
                tile.transpose_block(&values[(start - self.first) * self.columns..], self.columns, lanes);
            }
            _ if lanes == 0 => self.load(start, tile),
            _ => {}
        }
    }

    /// Returns the rows as stored, if they are in single precision, and the index of a row among them.
    #[inline(always)]
    pub(crate) fn singles(&self, start: usize) -> Option<(Layout<'_, f32>, usize)> {
        if self.with_zero { None } else { Some((T::singles(&self.layout)?, start - self.first)) }
    }

    /// Returns the first loaded row.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Returns one score.
    #[inline(always)]
    pub(crate) fn score(&self, row: usize, class: usize) -> T {
        if class == self.columns {
            return T::default();
        }
        match self.layout {
            Layout::RowMajor(values) => values[(row - self.first) * self.columns + class],
            Layout::Columns(columns) => columns[class][row - self.first],
        }
    }

    /// Appends a row to a row-major list.
    #[inline(always)]
    pub(crate) fn copy_row(&self, row: usize, into: &mut Vec<T>) {
        let row = row - self.first;
        match self.layout {
            Layout::RowMajor(values) => {
                let row = &values[row * self.columns..][..self.columns];
                // A constant length is copied by two moves, which is faster than a library call.
                match self.columns {
                    5 => into.extend_from_slice(&row[..5]),
                    6 => into.extend_from_slice(&row[..6]),
                    _ => into.extend_from_slice(row),
                }
            }
            Layout::Columns(columns) => into.extend(columns.iter().map(|column| column[row])),
        }
        if self.with_zero {
            into.push(T::default());
        }
    }

    /// Prefetches some rows.
    #[inline(always)]
    pub(crate) fn prefetch(&self, start: usize, rows: usize) {
        let start = start.wrapping_sub(self.first);
        match self.layout {
            Layout::RowMajor(values) => {
                prefetch(values, start.wrapping_mul(self.columns)..start.wrapping_add(rows).wrapping_mul(self.columns));
            }
            Layout::Columns(columns) => {
                columns.iter().for_each(|column| prefetch(column, start..start.wrapping_add(rows)));
            }
        }
    }
}

impl<T: Real> Source<T> for Rows<'_, T> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn classes(&self) -> usize {
        self.columns + usize::from(self.with_zero)
    }

    fn weights(&self) -> Option<&[u64]> {
        self.weights
    }

    fn magnitude(&self) -> f32 {
        self.magnitude
    }

    fn window<'w>(&'w self, _: Range<usize>, _: &'w mut Vec<T>) -> Result<Rows<'w, T>> {
        self.cancel.check()?;
        Ok(*self)
    }

    fn in_memory(&self) -> Option<Rows<'_, T>> {
        Some(*self)
    }
}

/// Rows with one more class of score zero, for unlabeled rows.
pub(crate) struct WithZero<'a, T>(pub(crate) &'a dyn Source<T>);

impl<T: Real> Source<T> for WithZero<'_, T> {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn classes(&self) -> usize {
        self.0.classes() + 1
    }

    fn weights(&self) -> Option<&[u64]> {
        self.0.weights()
    }

    fn magnitude(&self) -> f32 {
        self.0.magnitude()
    }

    fn window<'w>(&'w self, rows: Range<usize>, buffer: &'w mut Vec<T>) -> Result<Rows<'w, T>> {
        Ok(self.0.window(rows, buffer)?.with_zero())
    }

    fn in_memory(&self) -> Option<Rows<'_, T>> {
        Some(self.0.in_memory()?.with_zero())
    }

    fn most_bytes(&self) -> usize {
        self.0.most_bytes()
    }
}
