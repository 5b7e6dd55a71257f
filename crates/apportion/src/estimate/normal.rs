//! The standard normal distribution.

/// Returns the density.
pub(super) fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt()
}

/// Returns the probability of a value of at most x, with an error below 1e-15.
pub(super) fn probability(x: f64) -> f64 {
    if x.abs() > 8.5 {
        return f64::from(u8::from(x > 0.0));
    }
    // Φ(x) = 1/2 + φ(x) (x + x³/3 + x⁵/15 + …)
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > 1e-17 * sum.abs() {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    (0.5 + density(x) * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_tables() {
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-1.0, 0.158_655_253_931_457_05),
            (1.959_963_984_540_054, 0.975),
            (-3.0, 0.001_349_898_031_630_094_6),
            (5.0, 0.999_999_713_348_428_1),
            (9.0, 1.0),
            (-9.0, 0.0),
        ] {
            assert!((probability(x) - expected).abs() < 1e-15, "{x}: {}", probability(x));
        }
    }
}
