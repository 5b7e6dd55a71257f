//! Tiles: a few hundred rows, stored by column, from any layout and type.

use super::grid::{GRID, Grid};
use super::rows::Layout;

/// Rows per tile: K columns of this length fit into the first-level cache.
pub(crate) const TILE: usize = 256;

/// Rows per thread and turn: a multiple of [`TILE`].
pub(crate) const STRETCH: usize = 1 << 16;

/// Rows loaded at once in a pass: few enough to overlap memory access with computation.
pub(crate) const BLOCK: usize = 64;

/// The trick of `Grid::round` twice, in single precision: adding COARSE leaves multiples of 2^-21, adding FINE to the
/// remainder leaves multiples of 2^-40.
pub(super) const COARSE: f32 = 6.0;
pub(super) const FINE: f32 = 1.5 / (1u32 << 17) as f32;

/// A floating-point type of scores.
pub(crate) trait Real: Copy + Default + Send + Sync + 'static {
    fn single(self) -> f32;
    fn double(self) -> f64;
    /// Sums a tile's column in grid units, each value rounded to the grid.
    fn units(column: &[Self]) -> i64;
    /// Returns the same rows, if they are in single precision.
    fn singles<'a>(layout: &Layout<'a, Self>) -> Option<Layout<'a, f32>>;
    /// Selects this number if the mask's bits are set, otherwise the other.
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
        Some(*layout)
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

/// Rows stored by column, [`TILE`] values per column. Rows beyond [`len`](Self::len) are zeros.
pub(crate) struct Tile<T> {
    values: Vec<T>,
    len: usize,
}

impl<T: Real> Tile<T> {
    pub(crate) fn new(classes: usize) -> Tile<T> {
        Tile { values: vec![T::default(); classes * TILE], len: 0 }
    }

    /// Returns the number of filled rows.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns all columns, one after another.
    #[inline(always)]
    pub(crate) fn columns(&self) -> &[T] {
        &self.values
    }

    /// Returns the scores of one row, by class.
    #[inline(always)]
    pub(crate) fn row(&self, lane: usize) -> impl Iterator<Item = T> + '_ {
        self.values[lane..].iter().step_by(TILE).copied()
    }

    /// Writes rows from a function of (row, class); rows up to the last one written count as filled.
    #[inline(always)]
    pub(crate) fn write<const ROWS: usize>(&mut self, lane: usize, score: impl Fn(usize, usize) -> T) {
        self.len = self.len.max(lane + ROWS);
        for (class, column) in self.values.chunks_exact_mut(TILE).enumerate() {
            column[lane..lane + ROWS].iter_mut().enumerate().for_each(|(row, value)| *value = score(row, class));
        }
    }

    /// Fills the tile from a function of (lane, class): with `len` rows, or as many as fit.
    pub(crate) fn fill(&mut self, classes: usize, len: usize, score: impl Fn(usize, usize) -> T) {
        let len = len.min(TILE);
        self.len = len;
        for (class, column) in self.values.chunks_exact_mut(TILE).enumerate().take(classes) {
            for (lane, value) in column.iter_mut().enumerate() {
                *value = if lane < len { score(lane, class) } else { T::default() };
            }
        }
    }

    /// Loads contiguous rows.
    #[inline(always)]
    pub(super) fn transpose(&mut self, rows: &[T], classes: usize) {
        if rows.len() < TILE * classes {
            return self.fill(classes, rows.len() / classes, |lane, class| rows[lane * classes + class]);
        }
        for lanes in (0..TILE).step_by(BLOCK) {
            self.transpose_block(rows, classes, lanes);
        }
    }

    /// Loads one block of a full tile.
    #[inline(always)]
    pub(super) fn transpose_block(&mut self, rows: &[T], classes: usize, lanes: usize) {
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

    /// Loads a range of each column.
    #[inline(always)]
    pub(super) fn gather(&mut self, columns: &[&[T]], start: usize) {
        let len = (columns[0].len() - start).min(TILE);
        self.len = len;
        for (column, into) in columns.iter().zip(self.values.chunks_exact_mut(TILE)) {
            into[..len].copy_from_slice(&column[start..start + len]);
            into[len..].fill(T::default());
        }
    }
}

/// Transposes a block. The number of classes is a constant, so that the inner loop is unrolled and vectorized.
#[inline(always)]
fn transpose<const K: usize, T: Real>(rows: &[T], columns: &mut [T]) {
    let (rows, columns) = (&rows[..BLOCK * K], &mut columns[..TILE * (K - 1) + BLOCK]);
    for lane in 0..BLOCK {
        for class in 0..K {
            columns[class * TILE + lane] = rows[lane * K + class];
        }
    }
}
