//! The grid on which everything is exact: scores are rounded to multiples of 2^-40.
//!
//! On it sums are whole numbers: they do not depend on the order of the rows, and the equality of a primal and a dual
//! value is an equality, not a tolerance.

/// Multiples of 2^-40 as `i64`, and the way there from floating point.
#[derive(Clone, Copy, Debug)]
pub struct Grid;

/// The grid of the library.
pub const GRID: Grid = Grid;

impl Grid {
    /// Units in 1.0: 2^40.
    pub const UNIT: i64 = 1 << 40;

    /// Adding this number makes a double's last bit worth 2^-40 for anything within ±2048: the sum is the value
    /// rounded to the grid (half to even), and its bit pattern is a whole number of units above that of the constant.
    const MAGIC: f64 = 6144.0;

    /// The nearest multiple of 2^-40, half to even, in units. For values within ±2048.
    #[inline(always)]
    pub fn round(self, value: f64) -> i64 {
        self.raised(value) - Self::RAISED_ZERO
    }

    /// [`round`](Self::round) plus a constant, [`Self::RAISED_ZERO`]: one addition less in the innermost loops.
    #[inline(always)]
    pub(crate) fn raised(self, value: f64) -> i64 {
        (value + Self::MAGIC).to_bits() as i64
    }

    /// What [`raised`](Self::raised) gives for zero.
    pub(crate) const RAISED_ZERO: i64 = Self::MAGIC.to_bits() as i64;

    /// A number of units as a floating-point number: exact below 2^13.
    #[inline(always)]
    pub fn value(self, units: i64) -> f64 {
        units as f64 / Self::UNIT as f64
    }

    /// A total of units as a floating-point number, rounded once.
    pub fn total(self, units: i128) -> f64 {
        units as f64 / Self::UNIT as f64
    }
}
