//! The grid for exact arithmetic: scores are rounded to multiples of 2^-40.
//!
//! Sums on the grid are integers: they do not depend on the row order, and a primal and a dual value can be compared
//! for equality, without a tolerance.

/// Multiples of 2^-40 as `i64`, and conversions from floating point.
#[derive(Clone, Copy, Debug)]
pub struct Grid;

/// The grid of the library.
pub const GRID: Grid = Grid;

impl Grid {
    /// Units in 1.0: 2^40.
    pub const UNIT: i64 = 1 << 40;

    /// Adding this number makes a double's last bit worth 2^-40 for values within ±2048: the sum is the value
    /// rounded to the grid (half to even), and its bit pattern exceeds that of the constant by the number of
    /// units.
    const MAGIC: f64 = 6144.0;

    /// Returns the nearest multiple of 2^-40, half to even, in units. For values within ±2048.
    #[inline(always)]
    pub fn round(self, value: f64) -> i64 {
        self.raised(value) - Self::RAISED_ZERO
    }

    /// Returns [`round`](Self::round) plus [`Self::RAISED_ZERO`], which saves one addition in the innermost
    /// loops.
    #[inline(always)]
    pub(crate) fn raised(self, value: f64) -> i64 {
        (value + Self::MAGIC).to_bits() as i64
    }

    /// The value of [`raised`](Self::raised) for zero.
    pub(crate) const RAISED_ZERO: i64 = Self::MAGIC.to_bits() as i64;

    /// Returns the square of a score, in units. The score is first rounded to 2^-20, so that squares fit 64 bits: the
    /// result is off by at most 2^-20 times the score.
    #[inline(always)]
    pub(crate) fn square(self, units: i64) -> i64 {
        let coarse = (units + (1 << 19)) as u64 >> 20;
        let coarse = i64::from(coarse as i32);
        coarse * coarse
    }

    /// Converts units to a floating-point number: exact below 2^13.
    #[inline(always)]
    pub fn value(self, units: i64) -> f64 {
        units as f64 / Self::UNIT as f64
    }

    /// Converts a total of units to a floating-point number, rounded once.
    pub fn total(self, units: i128) -> f64 {
        units as f64 / Self::UNIT as f64
    }
}
