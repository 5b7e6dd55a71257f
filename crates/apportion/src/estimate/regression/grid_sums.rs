//! Sums of many terms in whole multiples of a power of two: a sum does not depend on the order of its terms, and needs
//! less memory than an [`ExactSum`](super::super::exact::ExactSum).

/// The size of sums in bits, without the sign and one bit to spare.
const BITS: i32 = 125;

/// Converts numbers to whole multiples of 2^-exponent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    exponent: i32,
}

impl Unit {
    /// Returns the smallest unit in which a sum cannot overflow; the magnitudes of its terms sum to at most `total`.
    pub(super) fn for_total(total: f64) -> Unit {
        Unit { exponent: BITS - total.clamp(1.0, 1e36).log2().ceil() as i32 }
    }

    /// Returns a finite number in units, rounded down.
    #[inline]
    pub(super) fn of(self, value: f64) -> i128 {
        let bits = value.to_bits();
        let power = (bits >> 52 & 0x7ff) as i32;
        if power == 0 {
            return 0; // zero, or a number below 1e-300
        }
        let digits = ((bits & ((1 << 52) - 1)) | 1 << 52) as i64;
        let digits = if value.is_sign_negative() { -digits } else { digits };
        let shift = power - 1075 + self.exponent;
        match shift {
            0..=126 => i128::from(digits) << shift,
            -63..=-1 => i128::from(digits >> -shift),
            _ => 0,
        }
    }

    /// Returns a sum of units as a number.
    pub(super) fn value(self, sum: i128) -> f64 {
        let half = self.exponent / 2;
        sum as f64 * 2f64.powi(-half) * 2f64.powi(half - self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_converted_exactly_or_to_within_a_unit() {
        for total in [1.0, 1e6, 1e20] {
            let unit = Unit::for_total(total);
            for value in [0.0, 1.0, -1.0, 0.1, -3.7e-9, 0.999 * total, -total] {
                let error = (unit.value(unit.of(value)) - value).abs();
                assert!(error <= total * 2f64.powi(-124), "{total} {value} {error}");
            }
        }
        assert_eq!(Unit::for_total(1.0).of(1e-308), 0);
    }
}
