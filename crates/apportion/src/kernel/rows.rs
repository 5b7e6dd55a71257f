//! Rows of scores: at hand, as [`Rows`], or wherever a [`Source`] has them.

use std::ops::Range;

use super::simd::prefetch;
use super::tile::{Real, STRETCH, TILE, Tile};
use crate::error::Result;

/// Rows of scores, wherever they lie. A pass brings stretches of them to hand, one after the other or several at once.
pub(crate) trait Source<T: Real>: Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;
    /// How many classes there are.
    fn classes(&self) -> usize;
    /// How many people each row stands for; one, where there is no list.
    fn weights(&self) -> Option<&[u64]>;
    /// A bound on the absolute value of the scores, for the error of single precision.
    fn magnitude(&self) -> f32;

    /// Brings some rows to hand, in the given room where they are elsewhere. They keep their numbers.
    fn window<'w>(&'w self, rows: Range<usize>, buffer: &'w mut Vec<T>) -> Result<Rows<'w, T>>;

    /// All rows, where they are at hand.
    fn in_memory(&self) -> Option<Rows<'_, T>> {
        None
    }

    /// How many bytes may be used to bring many rows to hand at once, where they are elsewhere.
    fn most_bytes(&self) -> usize {
        usize::MAX
    }

    /// How many people all rows stand for.
    fn people(&self) -> u64 {
        self.weights().map_or(self.rows() as u64, |weights| weights.iter().sum())
    }

    /// How many people a row stands for.
    fn people_of(&self, row: usize) -> u64 {
        self.weights().map_or(1, |weights| weights[row])
    }
}

/// Brings rows of an ascending list to hand, and calls `each` with the place in the list, the row, and the rows at hand.
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

/// Rows at hand, used as they lie: all of a table, or a stretch of it. Rows have the numbers that they have in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a, T> {
    layout: Layout<'a, T>,
    /// Classes that lie there.
    columns: usize,
    /// Whether there is one more class, whose score is zero: that of rows left without a label.
    with_zero: bool,
    /// The number of the first row at hand.
    first: usize,
    /// How many rows the table has.
    rows: usize,
    magnitude: f32,
    weights: Option<&'a [u64]>,
}

impl<'a, T: Real> Rows<'a, T> {
    /// All rows of a row-major matrix.
    pub(crate) fn matrix(values: &'a [T], columns: usize, magnitude: f32, weights: Option<&'a [u64]>) -> Self {
        Rows::new(Layout::RowMajor(values), columns, magnitude, weights)
    }

    /// All rows of a table.
    pub(crate) fn new(layout: Layout<'a, T>, columns: usize, magnitude: f32, weights: Option<&'a [u64]>) -> Self {
        let rows = match layout {
            Layout::RowMajor(values) => values.len() / columns,
            Layout::Columns(columns) => columns[0].len(),
        };
        Rows { layout, columns, with_zero: false, first: 0, rows, magnitude, weights }
    }

    /// The rows of a larger table from one on.
    pub(crate) fn part_of(self, source: &'a dyn Source<T>, first: usize) -> Self {
        Rows { first, rows: source.rows(), weights: source.weights(), ..self }
    }

    /// The same rows with one more class, whose score is zero.
    fn with_zero(self) -> Self {
        Rows { with_zero: true, ..self }
    }

    /// Loads the rows from `start`: [`TILE`] of them, or as many as there are. The column of zeros is left as it is.
    #[inline(always)]
    pub(crate) fn load(&self, start: usize, tile: &mut Tile<T>) {
        let start = start - self.first;
        match self.layout {
            Layout::RowMajor(values) => tile.transpose(&values[start * self.columns..], self.columns),
            Layout::Columns(columns) => tile.gather(columns, start),
        }
    }

    /// Loads the same a block at a time: to be called for each block of lanes in turn.
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

    /// The rows as they lie in memory, where they are of single precision, and the place of a row among them.
    #[inline(always)]
    pub(crate) fn singles(&self, start: usize) -> Option<(Layout<'_, f32>, usize)> {
        if self.with_zero { None } else { Some((T::singles(&self.layout)?, start - self.first)) }
    }

    /// The first row at hand.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// One score.
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
                // A length that is known beforehand is copied by two moves; asking the library costs more.
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

    /// Asks for some rows to be brought into the cache, since they are needed soon.
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
        Ok(*self)
    }

    fn in_memory(&self) -> Option<Rows<'_, T>> {
        Some(*self)
    }
}

/// Rows with one more class, whose score is zero: that of rows left without a label.
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
