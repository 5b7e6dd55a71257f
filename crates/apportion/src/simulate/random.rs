//! Random numbers that depend on (seed, key, salt), like all draws.

use crate::seed;

/// Returns a uniform number in (0, 1].
#[inline]
pub(super) fn unit(seed: u64, key: u64, salt: u64) -> f64 {
    ((seed::hash(seed, key, salt) >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Returns a standard normal number by Box-Muller; it uses two salts.
#[inline]
pub(super) fn normal(seed: u64, key: u64, salt: u64) -> f64 {
    // Never 0, so that the logarithm is finite.
    (-2.0 * unit(seed, key, salt).ln()).sqrt() * (std::f64::consts::TAU * unit(seed, key, salt + 1)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_are_normal() {
        let numbers: Vec<f64> = (0..100_000).map(|key| normal(3, key, 0x766f_7465_0000_0002)).collect();
        let moment = |power| numbers.iter().map(|z| z.powi(power)).sum::<f64>() / numbers.len() as f64;
        // Means of powers of a normal number, within five standard deviations.
        for (power, mean, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            let off: f64 = moment(power) - mean;
            assert!(off.abs() < 5.0 * (variance / numbers.len() as f64).sqrt(), "moment {power} is off by {off}");
        }
    }
}
