//! P-values and quantiles of the normal distribution and of Student's.

use std::f64::consts::{PI, SQRT_2};

/// Student's distribution with some degrees of freedom; the normal distribution if they are infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Student(pub(super) f64);

/// From this number of degrees of freedom on, the distribution is computed by its expansion around the normal one.
const MANY: f64 = 200.0;

impl Student {
    /// Returns the probability of a value at least as far from zero.
    pub(super) fn p_value(self, t: f64) -> f64 {
        let (t, freedom) = (t.abs(), self.0);
        if freedom >= MANY {
            return erfc(as_normal(t, freedom) / SQRT_2);
        }
        beta_share(freedom / 2.0, 0.5, freedom / (freedom + t * t))
    }

    /// Returns the 97.5% quantile.
    pub(super) fn quantile(self) -> f64 {
        let (mut low, mut high) = (1.0, 2.0);
        while self.p_value(high) > 0.05 && high < 1e12 {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..70 {
            let middle = 0.5 * (low + high);
            if self.p_value(middle) > 0.05 {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

/// Returns the normal value with the same p-value (Hill 1970).
fn as_normal(t: f64, freedom: f64) -> f64 {
    if freedom.is_infinite() {
        return t;
    }
    let a = freedom - 0.5;
    let b = 48.0 * a * a;
    let z = (a * (t * t / freedom).ln_1p()).sqrt();
    let cubic = z.powi(3) + 3.0 * z;
    let more = 4.0 * z.powi(7) + 33.0 * z.powi(5) + 240.0 * z.powi(3) + 855.0 * z;
    z + cubic / b - more / (10.0 * b * (b + 0.8 * z.powi(4) + 100.0))
}

/// Returns the complementary error function of a number that is not negative.
fn erfc(x: f64) -> f64 {
    let square = x * x;
    if x < 1.5 {
        // erf x = 2/√π · e^(−x²) · Σ 2^n x^(2n+1) / (2n+1)!!
        let (mut term, mut sum, mut n) = (x, x, 1.0);
        while term > 1e-18 * sum {
            term *= 2.0 * square / (2.0 * n + 1.0);
            sum += term;
            n += 1.0;
        }
        return 1.0 - 2.0 / PI.sqrt() * (-square).exp() * sum;
    }
    // The continued fraction x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))), from its end.
    let fraction = (1..=120).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    (-square).exp() / PI.sqrt() / fraction
}

/// Returns the regularized incomplete beta function.
fn beta_share(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_share(b, a, 1.0 - x);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    // Lentz's method for the continued fraction.
    const TINY: f64 = 1e-300;
    let kept = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / kept(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..1000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / kept(1.0 + even * d);
        c = kept(1.0 + even / c);
        fraction *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / kept(1.0 + odd * d);
        c = kept(1.0 + odd / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// Returns the logarithm of the gamma function of a positive number: Stirling's series, after steps up to 15.
fn ln_gamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 15.0 {
        below += x.ln();
        x += 1.0;
    }
    let square = x * x;
    let series = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series - below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_those_of_tables() {
        // By arithmetic with 30 digits: erfc(1.96 / √2) and others.
        for (z, p) in [
            (0.0, 1.0),
            (1.0, 0.317_310_507_862_914_1),
            (1.96, 0.049_995_790_296_440_87),
            (6.0, 1.973_175_290_075_396e-9),
        ] {
            let own = Student(f64::INFINITY).p_value(z);
            assert!((own / p - 1.0).abs() < 1e-12, "{z}: {own}");
        }
        // With one degree of freedom: 1 − 2/π·atan t; with two: 1 − t/√(2 + t²).
        for t in [0.1, 1.0, 3.0, 50.0f64] {
            let own = Student(1.0).p_value(-t);
            assert!((own - (1.0 - 2.0 / PI * t.atan())).abs() < 1e-14, "{t}: {own}");
            let own = Student(2.0).p_value(t);
            assert!((own - (1.0 - t / (2.0 + t * t).sqrt())).abs() < 1e-14, "{t}: {own}");
        }
        // Both ways to compute it agree.
        for t in [0.3, 1.0, 2.0, 5.0, 12.0f64] {
            let by_beta = beta_share(150.0, 0.5, 300.0 / (300.0 + t * t));
            assert!((by_beta / Student(300.0).p_value(t) - 1.0).abs() < 1e-9, "{t}");
        }
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (freedom, quantile) in [
            (1.0, 12.706_204_736_174_7),
            (4.0, 2.776_445_105_197_79),
            (9.0, 2.262_157_162_798_2),
            (f64::INFINITY, 1.959_963_984_540_054),
        ] {
            let own = Student(freedom).quantile();
            assert!((own / quantile - 1.0).abs() < 1e-11, "{freedom}: {own}");
        }
    }
}
