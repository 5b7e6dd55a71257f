//! Exact sums of floating-point numbers, which do not depend on the order of the terms.

/// Bits per limb. Limbs are much wider, so a term is added to a single limb.
const BITS: usize = 32;

/// Doubles are multiples of 2^-1074 below 2^1024, with up to 2^40 terms, each up to 2^40 times.
const LIMBS: usize = 70;

/// A sum of doubles as a wide integer multiple of 2^-1074.
#[derive(Clone, Debug)]
pub(super) struct ExactSum {
    limbs: [i128; LIMBS],
}

impl ExactSum {
    pub(super) const ZERO: ExactSum = ExactSum { limbs: [0; LIMBS] };

    /// Adds a finite number `times` times. At most 2^40 times between two merges.
    #[inline]
    pub(super) fn add(&mut self, value: f64, times: u64) {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as usize;
        let fraction = (bits & ((1 << 52) - 1)) as i64;
        let (digits, index) = if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
        let digits = if value.is_sign_negative() { -digits } else { digits };
        // 53 bits, 31 for the shift, and 40 for all repetitions: a limb cannot overflow.
        let term = i128::from(digits) * i128::from(1i64 << (index % BITS));
        self.limbs[index / BITS] += if times == 1 { term } else { term * i128::from(times) };
    }

    /// Adds another sum.
    pub(super) fn merge(&mut self, other: &ExactSum) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        self.limbs.iter_mut().zip(other.limbs).for_each(|(limb, more)| *limb += more);
    }

    /// Carries so that all limbs except the last are between 0 and 2^32.
    fn carry(&mut self) {
        let mut carried = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let sum = *limb + carried;
            *limb = sum & ((1 << BITS) - 1);
            carried = sum >> BITS;
        }
        self.limbs[LIMBS - 1] += carried;
    }

    /// Returns the sum, rounded once.
    pub(super) fn value(&self) -> f64 {
        let mut sum = self.clone();
        sum.carry();
        let sign = if sum.limbs[LIMBS - 1] < 0 {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
            -1.0
        } else {
            1.0
        };
        let Some(top) = sum.limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
        let low = top.saturating_sub(2);
        let digits =
            sum.limbs[low..=top].iter().rev().fold(0u128, |digits, &limb| digits << BITS | limb.unsigned_abs());
        // Lower bits only break ties in rounding.
        let rest = u128::from(sum.limbs[..low].iter().any(|&limb| limb != 0));
        scaled(sign * (digits | rest) as f64, (BITS * low) as i32 - 1074)
    }
}

/// Returns value · 2^power, also if 2^power is not a double.
fn scaled(value: f64, power: i32) -> f64 {
    let half = power / 2;
    value * 2f64.powi(half) * 2f64.powi(power - half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = ExactSum::ZERO;
        values.iter().for_each(|&value| sum.add(value, 1));
        sum.value()
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(sum(&[]), 0.0);
        assert_eq!(sum(&[1e300, 1.0, -1e300]), 1.0);
        assert_eq!(sum(&[0.1; 10]), 1.0); // one by one it is 0.9999999999999999
        assert_eq!(sum(&[1e-300, -1.0, 1.0]), 1e-300);
        assert_eq!(sum(&[f64::MAX, -f64::MAX / 2.0]), f64::MAX / 2.0);
        assert_eq!(sum(&[f64::MIN_POSITIVE / 8.0, f64::MIN_POSITIVE / 8.0]), f64::MIN_POSITIVE / 4.0);
        assert_eq!(sum(&[-3.5, 1.25]), -2.25);
        // Halfway between two doubles, and slightly more.
        assert_eq!(sum(&[1.0, f64::EPSILON / 2.0]), 1.0);
        assert_eq!(sum(&[1.0, f64::EPSILON / 2.0, 1e-200]), 1.0 + f64::EPSILON);
    }

    #[test]
    fn many_times_are_as_many_terms() {
        let (mut once, mut often) = (ExactSum::ZERO, ExactSum::ZERO);
        for value in [0.1, -7.3e11, 3.3e-9] {
            often.add(value, 1 << 40);
            once.add(value * 2f64.powi(40), 1);
        }
        assert_eq!(once.value(), often.value());
    }

    #[test]
    fn merging_and_carrying_change_nothing() {
        let values: Vec<f64> =
            (0..1000).map(|i: i32| f64::from(i * i - 300_000) * 1.1f64.powi(i % 700 - 350)).collect();
        let whole = sum(&values);
        let mut merged = ExactSum::ZERO;
        for part in values.rchunks(37) {
            let mut own = ExactSum::ZERO;
            part.iter().for_each(|&value| {
                own.add(value, 1);
                own.carry();
            });
            merged.merge(&own);
        }
        assert_eq!(merged.value(), whole);
    }
}
