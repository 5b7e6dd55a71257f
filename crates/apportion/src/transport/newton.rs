//! Prices from a sample: Newton's method on the dual.
//!
//! The dual Σ_i max_y (q_iy + λ_y) − Σ_y n_y λ_y is convex; its gradient is counts − targets. Its second derivative
//! is the density of rows at the boundaries between classes: a Laplacian whose weight for {a, b} is the number of
//! rows with these two classes on top and a gap below h, divided by 2h. The prices need not be exact: they are the
//! center of a box, and the box is checked. If a penalty makes the targets depend on the prices (see `target_curve`),
//! its second derivative is added.

use super::prices::Prices;
use super::sample::Sample;
use super::scan::{Near, Scan, entry_prices, nth, relative, scan};
use super::target_curve::{SampleQuotas, TargetCounts, TargetCurve};
use crate::kernel::{GRID, Real, SimdLevel, Tile};

/// The result of Newton's method.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    pub(super) prices: Vec<f64>,
    pub(super) wanted: TargetCounts,
    pub(super) scan: Scan,
}

impl Estimate {
    /// Returns the excess of sample rows of a class.
    pub(super) fn excess(&self, class: usize) -> f64 {
        self.scan.counts[class] - self.wanted.counts[class]
    }
}

impl TargetCounts {
    /// Returns the class whose price is fixed if only differences of prices matter: the largest.
    pub(super) fn anchor(&self) -> Option<usize> {
        self.is_relative().then(|| largest(&self.counts))
    }

    /// Returns the classes whose price is fixed.
    pub(super) fn fixed(&self) -> Vec<bool> {
        let anchor = self.anchor();
        (0..self.counts.len()).map(|class| self.held[class].is_some() || Some(class) == anchor).collect()
    }

    /// Returns whether a class has too few rows to estimate its density at the boundary. Such a class is priced
    /// separately: it has little effect on the others.
    pub(super) fn is_rare(&self, class: usize) -> bool {
        self.counts[class] < 80.0 && self.stiffness[class] == 0.0 && self.held[class].is_none()
    }
}

/// Prefixes of the sample on which the method runs, as divisors.
const PREFIXES: [usize; 3] = [16, 4, 1];
/// Number of steps on each prefix.
const STEPS: usize = 8;
/// Maximum change of a price in one step.
const LONGEST_STEP: f64 = 0.3;
/// Initial window: rows with a smaller gap are used.
const FIRST_WINDOW: f32 = 0.1;

/// An initial guess: prices, and their uncertainty.
#[derive(Clone, Debug)]
pub(super) struct Guess {
    pub(super) prices: Vec<f64>,
    pub(super) window: f32,
    /// Whether they are the prices of a similar problem.
    pub(super) is_like: bool,
}

impl Guess {
    /// Creates a guess from the prices of a similar problem.
    pub(super) fn like(prices: &Prices) -> Guess {
        let prices = prices.iter().map(|price| price.map_or(0.0, |price| GRID.value(price))).collect();
        Guess { prices, window: FIRST_WINDOW / 2.0, is_like: true }
    }

    /// Creates a guess without information: argmax.
    pub(super) fn none(classes: usize) -> Guess {
        Guess { prices: vec![0.0; classes], window: FIRST_WINDOW, is_like: false }
    }
}

/// Estimates the prices at which the sample's counts meet their targets.
pub(super) fn estimate<T: Real>(
    level: SimdLevel,
    sample: &Sample<T>,
    target_curve: &TargetCurve,
    open: &[bool],
    guess: &Guess,
) -> Estimate {
    let price = |(&open, &price): (&bool, &f64)| if open { price } else { f64::NEG_INFINITY };
    let mut prices: Vec<f64> = open.iter().zip(&guess.prices).map(price).collect();
    let mut window = guess.window;
    let mut last = None;
    for part in PREFIXES {
        let tiles = &sample.tiles[..sample.tiles.len().div_ceil(part)];
        if part > 1 && tiles.len() < 4 {
            continue;
        }
        let problem = Problem { level, tiles, target_curve, quotas: target_curve.quotas(tiles, sample.population) };
        let level = target_curve.level(&problem.quotas, &prices);
        prices.iter_mut().for_each(|price| *price += level);
        let mut at = problem.look(prices, window);
        at = problem.price_rare(at);
        for _ in 0..STEPS {
            if is_met(&at) {
                // Classes held at only one step are there by accident: a common shift of all prices
                // would release them.
                match problem.centered(&at) {
                    Some(centered) => at = centered,
                    None => break,
                }
            }
            let Some(next) = problem.step(&at) else { break };
            at = problem.price_rare(next);
        }
        window = at.scan.window;
        prices = at.prices.clone();
        last = Some(at);
    }
    last.unwrap_or_else(|| {
        let tiles = &sample.tiles;
        Problem { level, tiles, target_curve, quotas: target_curve.quotas(tiles, sample.population) }
            .look(prices, window)
    })
}

/// Returns whether the counts are close enough: well within the sampling error.
fn is_met(at: &Estimate) -> bool {
    let near = |class: usize| at.excess(class).abs() <= (0.5 * at.wanted.counts[class].max(0.0).sqrt()).max(1.0);
    (0..at.prices.len()).all(near)
}

/// A prefix of the sample, and its target counts.
struct Problem<'a, T> {
    level: SimdLevel,
    tiles: &'a [Tile<T>],
    target_curve: &'a TargetCurve,
    quotas: SampleQuotas,
}

impl<T: Real> Problem<'_, T> {
    /// Evaluates the sample at given prices.
    fn look(&self, prices: Vec<f64>, window: f32) -> Estimate {
        let scan = scan(self.level, self.tiles, &prices, window);
        let wanted = self.target_curve.wanted(&self.quotas, &prices, &scan.counts);
        Estimate { prices, wanted, scan }
    }

    /// Returns the prices moved between the steps of a penalty, if some were at a step without need.
    fn centered(&self, at: &Estimate) -> Option<Estimate> {
        let mut prices = at.prices.clone();
        (!at.wanted.is_relative() && self.target_curve.center_between_steps(&self.quotas, &mut prices))
            .then(|| self.look(prices, at.scan.window))
    }

    fn dual(&self, at: &Estimate) -> f64 {
        at.scan.value + self.target_curve.conjugate(&self.quotas, &at.prices)
    }

    /// Prices each rare class so that exactly its target count of rows enters.
    fn price_rare(&self, at: Estimate) -> Estimate {
        let largest = largest(&at.wanted.counts);
        let mut prices = at.prices.clone();
        let rare = |&class: &usize| class != largest && at.wanted.is_rare(class) && prices[class].is_finite();
        let rare: Vec<usize> = (0..prices.len()).filter(rare).collect();
        if rare.is_empty() {
            return at;
        }
        for &class in &rare {
            let mut entries = entry_prices(self.level, self.tiles, &prices, class);
            let (_, base) = relative(&prices);
            let wanted = at.wanted.counts[class].round().max(0.0) as usize;
            // Between the last row that should enter and the first that should not.
            let first = nth(&mut entries, wanted);
            let before = &entries[..wanted.min(entries.len())];
            let last = before.iter().copied().max_by(f32::total_cmp);
            let price = match (last, first) {
                (Some(last), Some(first)) => base + f64::from(last + first) / 2.0,
                (None, Some(first)) => base + f64::from(first) - 1e-3,
                (Some(last), None) => base + f64::from(last) + 1e-3,
                (None, None) => prices[class],
            };
            prices[class] = self.target_curve.stop(prices[class], price);
        }
        self.look(prices, at.scan.window)
    }

    /// Returns one step of the method, shortened until the dual decreases; `None` if it does not.
    fn step(&self, at: &Estimate) -> Option<Estimate> {
        let k = at.prices.len();
        // If no row is near, a ridge limits the step.
        let mut curvature = laplacian(&at.scan.near, at.scan.window, k);
        for class in 0..k {
            let hold = if at.wanted.is_rare(class) { f64::MAX.sqrt() } else { 0.0 };
            let ridge = 1.0 + 2.0 * at.excess(class).abs();
            curvature[class * k + class] += at.wanted.stiffness[class] + ridge + hold;
        }
        let inverse = invert_free(curvature, &at.wanted.fixed());
        let direction: Vec<f64> = inverse
            .chunks_exact(k)
            .map(|row| -(0..k).map(|class| row[class] * at.excess(class)).sum::<f64>())
            .collect();
        let longest = direction.iter().fold(0.0f64, |most, step| most.max(step.abs()));
        let mut scale = (LONGEST_STEP / longest).min(1.0);
        for _ in 0..4 {
            let moved = |(price, step): (&f64, &f64)| self.target_curve.stop(*price, price + scale * step);
            let prices: Vec<f64> = at.prices.iter().zip(&direction).map(moved).collect();
            let next = self.look(prices, window_for(longest * scale, &at.scan));
            if self.dual(&next) <= self.dual(at) {
                return Some(next);
            }
            scale *= 0.35;
        }
        None
    }
}

/// Returns the next window: about the length of the step, but wide enough for some rows of every class.
fn window_for(step: f64, at: &Scan) -> f32 {
    let enough = 100 * at.counts.len();
    let hold = at.window * (enough as f32 / (at.near.len() as f32 + 1.0));
    (step as f32).max(hold).clamp(1e-6, 2.0 * FIRST_WINDOW)
}

pub(super) fn largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, class| if values[class] > values[best] { class } else { best })
}

/// Returns the second derivative of the dual, row-major.
pub(super) fn laplacian(near: &[Near], window: f32, classes: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; classes * classes];
    for row in near {
        let (a, b) = (usize::from(row.best), usize::from(row.next));
        matrix[a * classes + b] -= 1.0;
    }
    for a in 0..classes {
        for b in 0..a {
            let weight = (matrix[a * classes + b] + matrix[b * classes + a]) / (2.0 * f64::from(window));
            matrix[a * classes + b] = weight;
            matrix[b * classes + a] = weight;
            matrix[a * classes + a] -= weight;
            matrix[b * classes + b] -= weight;
        }
    }
    matrix
}

/// Inverts a symmetric positive definite matrix with some unknowns fixed at zero (Gauss-Jordan; such matrices need no
/// pivoting).
pub(super) fn invert_free(mut matrix: Vec<f64>, fixed: &[bool]) -> Vec<f64> {
    let k = matrix.len().isqrt();
    let mut inverse = vec![0.0; k * k];
    let free: Vec<usize> = (0..k).filter(|&class| !fixed[class]).collect();
    free.iter().for_each(|&class| inverse[class * k + class] = 1.0);
    for &pivot in &free {
        let scale = 1.0 / matrix[pivot * k + pivot].max(f64::MIN_POSITIVE);
        for &other in &free {
            matrix[pivot * k + other] *= scale;
            inverse[pivot * k + other] *= scale;
        }
        for &row in free.iter().filter(|&&row| row != pivot) {
            let factor = matrix[row * k + pivot];
            for &other in &free {
                matrix[row * k + other] -= factor * matrix[pivot * k + other];
                inverse[row * k + other] -= factor * inverse[pivot * k + other];
            }
        }
    }
    inverse
}
