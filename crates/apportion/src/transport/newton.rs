//! Prices from a sample: Newton's method on the dual.
//!
//! The dual Σ_i max_y (q_iy + λ_y) − Σ_y n_y λ_y is convex; its gradient is counts − targets. Its second derivative is
//! the density of rows at the boundaries between classes: a Laplacian whose weight for {a, b} is the number of rows with
//! these two classes on top and a gap below h, divided by 2h. The prices need not be exact: they are the middle of a
//! box, and the box is checked. Where a penalty lets the targets follow the prices (see `target_curve`), its second derivative is
//! added.

use super::prices::Prices;
use super::sample::Sample;
use super::scan::{Near, Scan, entry_prices, nth, relative, scan};
use super::target_curve::{SampleQuotas, TargetCounts, TargetCurve};
use crate::kernel::{GRID, Real, SimdLevel, Tile};

/// Where Newton's method ended.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    pub(super) prices: Vec<f64>,
    pub(super) wanted: TargetCounts,
    pub(super) scan: Scan,
}

impl Estimate {
    /// By how much a class has too many sample rows.
    pub(super) fn excess(&self, class: usize) -> f64 {
        self.scan.counts[class] - self.wanted.counts[class]
    }
}

impl TargetCounts {
    /// The class that holds the others in place, where only differences of the prices matter: the largest.
    pub(super) fn anchor(&self) -> Option<usize> {
        self.is_relative().then(|| largest(&self.counts))
    }

    /// The classes whose price does not move.
    pub(super) fn fixed(&self) -> Vec<bool> {
        let anchor = self.anchor();
        (0..self.counts.len()).map(|class| self.held[class].is_some() || Some(class) == anchor).collect()
    }

    /// Whether too few rows are wanted of a class for its density at the boundary to be known. Such a class is priced by
    /// itself: it changes little for the others.
    pub(super) fn is_rare(&self, class: usize) -> bool {
        self.counts[class] < 80.0 && self.stiffness[class] == 0.0 && self.held[class].is_none()
    }
}

/// Beginnings of the sample on which the method runs, as parts of the whole.
const PREFIXES: [usize; 3] = [16, 4, 1];
/// Steps on each of them.
const STEPS: usize = 8;
/// No price moves further than this in one step.
const LONGEST_STEP: f64 = 0.3;
/// Gaps below this count as near where nothing is known yet.
const FIRST_WINDOW: f32 = 0.1;

/// Where to begin: prices, and how far off they may be.
#[derive(Clone, Debug)]
pub(super) struct Guess {
    pub(super) prices: Vec<f64>,
    pub(super) window: f32,
    /// Whether they are those of a like problem.
    pub(super) is_like: bool,
}

impl Guess {
    /// The prices of a like problem.
    pub(super) fn like(prices: &Prices) -> Guess {
        let prices = prices.iter().map(|price| price.map_or(0.0, |price| GRID.value(price))).collect();
        Guess { prices, window: FIRST_WINDOW / 2.0, is_like: true }
    }

    /// Nothing is known: argmax.
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
                // Classes held at one step only are so by accident: nothing holds them where all prices move alike.
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

/// Whether the counts are near enough: well within what the draw of the sample changes by itself.
fn is_met(at: &Estimate) -> bool {
    let near = |class: usize| at.excess(class).abs() <= (0.5 * at.wanted.counts[class].max(0.0).sqrt()).max(1.0);
    (0..at.prices.len()).all(near)
}

/// A beginning of the sample, and what its counts are to be.
struct Problem<'a, T> {
    level: SimdLevel,
    tiles: &'a [Tile<T>],
    target_curve: &'a TargetCurve,
    quotas: SampleQuotas,
}

impl<T: Real> Problem<'_, T> {
    /// The sample at some prices.
    fn look(&self, prices: Vec<f64>, window: f32) -> Estimate {
        let scan = scan(self.level, self.tiles, &prices, window);
        let wanted = self.target_curve.wanted(&self.quotas, &prices, &scan.counts);
        Estimate { prices, wanted, scan }
    }

    /// The same prices between the steps of a penalty, where some were at one of them and need not be.
    fn centered(&self, at: &Estimate) -> Option<Estimate> {
        let mut prices = at.prices.clone();
        (!at.wanted.is_relative() && self.target_curve.center_between_steps(&self.quotas, &mut prices))
            .then(|| self.look(prices, at.scan.window))
    }

    fn dual(&self, at: &Estimate) -> f64 {
        at.scan.value + self.target_curve.conjugate(&self.quotas, &at.prices)
    }

    /// Prices each rare class so that just as many rows enter it as are wanted.
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
            // Between the last row that is wanted and the first that is not.
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

    /// One step of the method, shortened until the dual falls. None where it does not.
    fn step(&self, at: &Estimate) -> Option<Estimate> {
        let k = at.prices.len();
        // Where no row is near, a ridge keeps the step within reach.
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

/// The next window: about the length of the step, but wide enough to hold some rows for every class.
fn window_for(step: f64, at: &Scan) -> f32 {
    let enough = 100 * at.counts.len();
    let hold = at.window * (enough as f32 / (at.near.len() as f32 + 1.0));
    (step as f32).max(hold).clamp(1e-6, 2.0 * FIRST_WINDOW)
}

pub(super) fn largest(values: &[f64]) -> usize {
    (1..values.len()).fold(0, |best, class| if values[class] > values[best] { class } else { best })
}

/// The second derivative of the dual, row-major.
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

/// The inverse of a symmetric positive definite matrix with some unknowns held at zero (Gauss and Jordan; such matrices
/// need no pivoting).
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
