//! Tiles: a few hundred rows, column by column, whatever the layout and the type they come from.

use super::grid::{GRID, Grid};
use super::simd::prefetch;

/// Rows in a tile: K columns of them lie in the first-level cache.
pub(crate) const TILE: usize = 256;

/// Rows that one thread takes at a time: a multiple of [`TILE`].
pub(crate) const STRETCH: usize = 1 << 16;

/// Rows loaded at once in a pass: few enough that memory works while the processor does.
pub(crate) const BLOCK: usize = 64;

/// Twice the trick of `Grid::round`, in single precision: adding COARSE leaves multiples of 2^-21, adding FINE to what
/// that left over leaves multiples of 2^-40.
pub(super) const COARSE: f32 = 6.0;
pub(super) const FINE: f32 = 1.5 / (1u32 << 17) as f32;

/// A floating-point type of scores.
pub(crate) trait Real: Copy + Default + Send + Sync + 'static {
    fn single(self) -> f32;
    fn double(self) -> f64;
    /// The sum of a tile's column, each value rounded to the grid, in units of the grid.
    fn units(column: &[Self]) -> i64;
    /// The same rows, where they are of single precision.
    fn singles<'a>(layout: &Layout<'a, Self>) -> Option<Layout<'a, f32>>;
    /// This number where the mask's bits are set, the other where they are not.
    fn masked(self, other: Self, mask: u32) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn single(self) -> f32 {
        self
    }
    #[inline(always)]
    fn double(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn units(column: &[f32]) -> i64 {
        // Both sums of a tile fit 32 bits.
        let (mut coarse, mut fine) = (0i32, 0i32);
        for &value in column {
            let raised = value + COARSE;
            let rest = value - (raised - COARSE);
            coarse = coarse.wrapping_add((raised.to_bits() as i32).wrapping_sub(COARSE.to_bits() as i32));
            fine = fine.wrapping_add(((rest + FINE).to_bits() as i32).wrapping_sub(FINE.to_bits() as i32));
        }
        (i64::from(coarse) << 19) + i64::from(fine)
    }
    #[inline(always)]
    fn singles<'a>(layout: &Layout<'a, f32>) -> Option<Layout<'a, f32>> {
        Some(layout.clone())
    }
    #[inline(always)]
    fn masked(self, other: f32, mask: u32) -> f32 {
        f32::from_bits((mask & self.to_bits()) | (!mask & other.to_bits()))
    }
}

impl Real for f64 {
    #[inline(always)]
    fn single(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn double(self) -> f64 {
        self
    }
    #[inline(always)]
    fn units(column: &[f64]) -> i64 {
        let raised = column.iter().fold(0i64, |sum, &value| sum.wrapping_add(GRID.raised(value)));
        raised.wrapping_sub(Grid::RAISED_ZERO.wrapping_mul(column.len() as i64))
    }
    #[inline(always)]
    fn singles<'a>(_: &Layout<'a, f64>) -> Option<Layout<'a, f32>> {
        None
    }
    #[inline(always)]
    fn masked(self, other: f64, mask: u32) -> f64 {
        let mask = u64::from(mask) << 32 | u64::from(mask);
        f64::from_bits((mask & self.to_bits()) | (!mask & other.to_bits()))
    }
}

/// Something that yields rows of scores in tiles.
pub(crate) trait Rows: Sync {
    type Elem: Real;

    fn rows(&self) -> usize;
    fn classes(&self) -> usize;

    /// How many people each row stands for; one, where there is no list.
    fn weights(&self) -> Option<&[u64]> {
        None
    }

    /// How many people all rows stand for.
    fn people(&self) -> u64 {
        self.weights().map_or(self.rows() as u64, |weights| weights.iter().sum())
    }

    /// A bound on the absolute value of the scores, for the error of single precision.
    fn magnitude(&self) -> f32;

    /// Loads the rows from `start`: [`TILE`] of them, or as many as there are.
    fn load(&self, start: usize, tile: &mut Tile<Self::Elem>);

    /// Loads the same a [`BLOCK`] at a time: to be called for each block of lanes in turn.
    #[inline(always)]
    fn load_block(&self, start: usize, lanes: usize, tile: &mut Tile<Self::Elem>) {
        if lanes == 0 {
            self.load(start, tile);
        }
    }

    /// The rows as they lie in memory, where they are of single precision and are used as they lie.
    #[inline(always)]
    fn singles(&self) -> Option<Layout<'_, f32>> {
        None
    }

    /// One score.
    fn score(&self, row: usize, class: usize) -> Self::Elem;

    /// Appends a row to a row-major list.
    #[inline(always)]
    fn copy_row(&self, row: usize, into: &mut Vec<Self::Elem>) {
        into.extend((0..self.classes()).map(|class| self.score(row, class)));
    }

    /// Asks for some rows to be brought into the cache, since they are needed soon.
    #[inline(always)]
    fn prefetch(&self, start: usize, rows: usize) {
        let _ = (start, rows);
    }
}

/// Some rows, column by column, [`TILE`] values a column. Rows beyond [`len`](Self::len) are zeros.
pub(crate) struct Tile<T> {
    values: Vec<T>,
    len: usize,
}

impl<T: Real> Tile<T> {
    pub(crate) fn new(classes: usize) -> Tile<T> {
        Tile { values: vec![T::default(); classes * TILE], len: 0 }
    }

    /// How many of its rows are filled.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// All columns, one after the other.
    #[inline(always)]
    pub(crate) fn columns(&self) -> &[T] {
        &self.values
    }

    /// The scores of one row, class by class.
    #[inline(always)]
    pub(crate) fn row(&self, lane: usize) -> impl Iterator<Item = T> + '_ {
        self.values[lane..].iter().step_by(TILE).copied()
    }

    /// Writes some rows from a function of (row, class); rows up to the last one written count as filled.
    #[inline(always)]
    pub(crate) fn write<const ROWS: usize>(&mut self, lane: usize, score: impl Fn(usize, usize) -> T) {
        self.len = self.len.max(lane + ROWS);
        for (class, column) in self.values.chunks_exact_mut(TILE).enumerate() {
            column[lane..lane + ROWS].iter_mut().enumerate().for_each(|(row, value)| *value = score(row, class));
        }
    }

    /// Takes rows of so many classes from a function of (lane, class): `len` of them, or as many as find room.
    pub(crate) fn fill(&mut self, classes: usize, len: usize, score: impl Fn(usize, usize) -> T) {
        let len = len.min(TILE);
        self.len = len;
        for (class, column) in self.values.chunks_exact_mut(TILE).enumerate().take(classes) {
            for (lane, value) in column.iter_mut().enumerate() {
                *value = if lane < len { score(lane, class) } else { T::default() };
            }
        }
    }

    /// Takes rows that lie one after the other.
    #[inline(always)]
    fn transpose(&mut self, rows: &[T], classes: usize) {
        if rows.len() < TILE * classes {
            return self.fill(classes, rows.len() / classes, |lane, class| rows[lane * classes + class]);
        }
        for lanes in (0..TILE).step_by(BLOCK) {
            self.transpose_block(rows, classes, lanes);
        }
    }

    /// Takes some of so many rows that they fill the tile.
    #[inline(always)]
    fn transpose_block(&mut self, rows: &[T], classes: usize, lanes: usize) {
        self.len = TILE;
        let rows = &rows[lanes * classes..][..BLOCK * classes];
        let into = &mut self.values[lanes..];
        match classes {
            2 => transpose::<2, T>(rows, into),
            3 => transpose::<3, T>(rows, into),
            4 => transpose::<4, T>(rows, into),
            5 => transpose::<5, T>(rows, into),
            6 => transpose::<6, T>(rows, into),
            7 => transpose::<7, T>(rows, into),
            8 => transpose::<8, T>(rows, into),
            _ => {
                for (lane, row) in rows.chunks_exact(classes).enumerate() {
                    row.iter().enumerate().for_each(|(class, &value)| into[class * TILE + lane] = value);
                }
            }
        }
    }

    /// Takes a stretch of each column.
    #[inline(always)]
    fn gather(&mut self, columns: &[&[T]], start: usize) {
        let len = (columns[0].len() - start).min(TILE);
        self.len = len;
        for (column, into) in columns.iter().zip(self.values.chunks_exact_mut(TILE)) {
            into[..len].copy_from_slice(&column[start..start + len]);
            into[len..].fill(T::default());
        }
    }
}

/// The usual numbers of classes as constants: the inner loop unrolls and vectorises.
#[inline(always)]
fn transpose<const K: usize, T: Real>(rows: &[T], columns: &mut [T]) {
    let (rows, columns) = (&rows[..BLOCK * K], &mut columns[..TILE * (K - 1) + BLOCK]);
    for lane in 0..BLOCK {
        for class in 0..K {
            columns[class * TILE + lane] = rows[lane * K + class];
        }
    }
}

/// One row-major matrix, or a column for each class.
#[derive(Clone, Debug)]
pub(crate) enum Layout<'a, T> {
    RowMajor(&'a [T]),
    Columns(&'a [&'a [T]]),
}

/// Scores used as they lie.
#[derive(Clone, Debug)]
pub(crate) struct Plain<'a, T> {
    pub(crate) layout: Layout<'a, T>,
    pub(crate) classes: usize,
    pub(crate) magnitude: f32,
    pub(crate) weights: Option<&'a [u64]>,
}

impl<'a, T: Real> Plain<'a, T> {
    /// A row-major matrix.
    pub(crate) fn matrix(values: &'a [T], classes: usize, magnitude: f32, weights: Option<&'a [u64]>) -> Self {
        Plain { layout: Layout::RowMajor(values), classes, magnitude, weights }
    }
}

impl<T: Real> Rows for Plain<'_, T> {
    type Elem = T;

    fn weights(&self) -> Option<&[u64]> {
        self.weights
    }

    fn rows(&self) -> usize {
        match self.layout {
            Layout::RowMajor(values) => values.len() / self.classes,
            Layout::Columns(columns) => columns[0].len(),
        }
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn magnitude(&self) -> f32 {
        self.magnitude
    }

    #[inline(always)]
    fn load(&self, start: usize, tile: &mut Tile<T>) {
        match self.layout {
            Layout::RowMajor(values) => tile.transpose(&values[start * self.classes..], self.classes),
            Layout::Columns(columns) => tile.gather(columns, start),
        }
    }

    #[inline(always)]
    fn load_block(&self, start: usize, lanes: usize, tile: &mut Tile<T>) {
        match self.layout {
            Layout::RowMajor(values) if values.len() >= (start + TILE) * self.classes => {
                tile.transpose_block(&values[start * self.classes..], self.classes, lanes);
            }
            _ if lanes == 0 => self.load(start, tile),
            _ => {}
        }
    }

    #[inline(always)]
    fn score(&self, row: usize, class: usize) -> T {
        match self.layout {
            Layout::RowMajor(values) => values[row * self.classes + class],
            Layout::Columns(columns) => columns[class][row],
        }
    }

    #[inline(always)]
    fn singles(&self) -> Option<Layout<'_, f32>> {
        T::singles(&self.layout)
    }

    #[inline(always)]
    fn copy_row(&self, row: usize, into: &mut Vec<T>) {
        match self.layout {
            Layout::RowMajor(values) => {
                let row = &values[row * self.classes..][..self.classes];
                // A length that is known beforehand is copied by two moves; asking the library costs more.
                match self.classes {
                    5 => into.extend_from_slice(&row[..5]),
                    6 => into.extend_from_slice(&row[..6]),
                    _ => into.extend_from_slice(row),
                }
            }
            Layout::Columns(columns) => into.extend(columns.iter().map(|column| column[row])),
        }
    }

    #[inline(always)]
    fn prefetch(&self, start: usize, rows: usize) {
        match self.layout {
            Layout::RowMajor(values) => prefetch(values, start * self.classes..(start + rows) * self.classes),
            Layout::Columns(columns) => columns.iter().for_each(|column| prefetch(column, start..start + rows)),
        }
    }
}

/// Rows with one more class, whose score is zero: that of rows left without a label.
pub(crate) struct WithZero<'a, R>(pub(crate) &'a R);

impl<R: Rows> Rows for WithZero<'_, R> {
    type Elem = R::Elem;

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

    // The last column of a tile is made of zeros, and nobody writes to it.
    #[inline(always)]
    fn load(&self, start: usize, tile: &mut Tile<R::Elem>) {
        self.0.load(start, tile);
    }

    #[inline(always)]
    fn load_block(&self, start: usize, lanes: usize, tile: &mut Tile<R::Elem>) {
        self.0.load_block(start, lanes, tile);
    }

    #[inline(always)]
    fn score(&self, row: usize, class: usize) -> R::Elem {
        if class < self.0.classes() { self.0.score(row, class) } else { R::Elem::default() }
    }

    #[inline(always)]
    fn prefetch(&self, start: usize, rows: usize) {
        self.0.prefetch(start, rows);
    }
}
