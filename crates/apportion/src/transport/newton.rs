//! Prices from a sample: Newton's method on the dual.
//!
//! The dual Σ_i max_y (q_iy + λ_y) − Σ_y n_y λ_y is convex; its gradient is counts − targets. Its second derivative is
//! the density of rows at the boundaries between classes: a Laplacian whose weight for {a, b} is the number of rows with
//! these two classes on top and a gap below h, divided by 2h. The prices need not be exact: they are the middle of a
//! box, and the box is checked.

use super::sample::Sample;
use super::scan::{Near, Scan, entry_prices, nth, scan};
use crate::kernel::{GRID, Level, Real, TILE, Tile};

/// What the counts are to be, as far as a sample can tell.
#[derive(Clone, Debug)]
pub(super) enum Pull {
    /// The sums of the rows' own scores.
    OwnScores,
    /// Given shares of the rows.
    Shares(Vec<f64>),
}

/// Where Newton's method ended.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    pub(super) prices: Vec<f64>,
    pub(super) targets: Vec<f64>,
    pub(super) scan: Scan,
}

impl Estimate {
    /// By how much a class has too many sample rows.
    pub(super) fn excess(&self, class: usize) -> f64 {
        self.scan.counts[class] - self.targets[class]
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
}

impl Guess {
    /// Nothing is known: argmax.
    pub(super) fn none(classes: usize) -> Guess {
        Guess { prices: vec![0.0; classes], window: FIRST_WINDOW }
    }
}

/// Estimates the prices at which the sample's counts meet their targets.
pub(super) fn estimate<T: Real>(
    level: Level,
    sample: &Sample<T>,
    pull: &Pull,
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
        let targets = pull.targets(tiles, open.len());
        price_rare(level, tiles, &targets, &mut prices);
        let mut scanned = scan(level, tiles, &prices, window);
        for _ in 0..STEPS {
            if is_met(&scanned.counts, &targets) {
                break;
            }
            let Some((next, next_scan)) = step(level, tiles, &targets, &prices, &scanned) else { break };
            (prices, scanned) = (next, next_scan);
            if price_rare(level, tiles, &targets, &mut prices) {
                scanned = scan(level, tiles, &prices, scanned.window);
            }
        }
        window = scanned.window;
        last = Some((targets, scanned));
    }
    let (targets, scan) = last.unwrap_or_else(|| (vec![0.0; open.len()], scan(level, &sample.tiles, &prices, window)));
    Estimate { prices, targets, scan }
}

impl Pull {
    /// The counts that some rows should have.
    fn targets<T: Real>(&self, tiles: &[Tile<T>], classes: usize) -> Vec<f64> {
        let rows: usize = tiles.iter().map(Tile::len).sum();
        let mut sums = match self {
            Pull::Shares(shares) => shares.clone(),
            Pull::OwnScores => {
                let mut sums = vec![0.0; classes];
                for tile in tiles {
                    for (column, sum) in tile.columns().chunks_exact(TILE).zip(&mut sums) {
                        *sum += GRID.value(T::units(column));
                    }
                }
                sums
            }
        };
        let total: f64 = sums.iter().sum();
        sums.iter_mut().for_each(|sum| *sum *= rows as f64 / total.max(f64::MIN_POSITIVE));
        sums
    }
}

/// Whether the counts are near enough: well within what the draw of the sample changes by itself.
fn is_met(counts: &[f64], targets: &[f64]) -> bool {
    counts.iter().zip(targets).all(|(count, target)| (count - target).abs() <= (0.5 * target.sqrt()).max(1.0))
}

/// Whether too few rows are wanted of a class for its density at the boundary to be known. Such a class is priced by
/// itself: it changes little for the others.
pub(super) fn is_rare(target: f64) -> bool {
    target < 80.0
}

/// Prices each rare class so that just as many rows enter it as are wanted. False where there is none.
fn price_rare<T: Real>(level: Level, tiles: &[Tile<T>], targets: &[f64], prices: &mut [f64]) -> bool {
    let largest = largest(targets);
    let rare: Vec<usize> =
        (0..prices.len()).filter(|&y| y != largest && is_rare(targets[y]) && prices[y].is_finite()).collect();
    for &class in &rare {
        let mut entries = entry_prices(level, tiles, prices, class);
        let wanted = targets[class].round() as usize;
        // Between the last row that is wanted and the first that is not.
        let last = wanted.checked_sub(1).and_then(|place| nth(&mut entries, place));
        let first = nth(&mut entries, wanted);
        prices[class] = match (last, first) {
            (Some(last), Some(first)) => f64::from(last + first) / 2.0,
            (None, Some(first)) => f64::from(first) - 1e-3,
            (Some(last), None) => f64::from(last) + 1e-3,
            (None, None) => prices[class],
        };
    }
    !rare.is_empty()
}

/// One step of the method, shortened until the dual falls. None where it does not.
fn step<T: Real>(
    level: Level,
    tiles: &[Tile<T>],
    targets: &[f64],
    prices: &[f64],
    at: &Scan,
) -> Option<(Vec<f64>, Scan)> {
    let excess: Vec<f64> = at.counts.iter().zip(targets).map(|(count, target)| count - target).collect();
    let pinned = largest(targets);
    // Where no row is near, a ridge keeps the step within reach.
    let mut curvature = laplacian(&at.near, at.window, targets.len());
    for (class, excess) in excess.iter().enumerate() {
        let hold = if is_rare(targets[class]) { f64::MAX.sqrt() } else { 0.0 };
        curvature[class * targets.len() + class] += 1.0 + 2.0 * excess.abs() + hold;
    }
    let inverse = invert_pinned(curvature, pinned);
    let direction: Vec<f64> = inverse
        .chunks_exact(targets.len())
        .map(|row| -row.iter().zip(&excess).map(|(entry, excess)| entry * excess).sum::<f64>())
        .collect();
    let longest = direction.iter().fold(0.0f64, |most, step| most.max(step.abs()));
    let mut scale = (LONGEST_STEP / longest).min(1.0);
    for _ in 0..4 {
        let next: Vec<f64> = prices.iter().zip(&direction).map(|(price, step)| price + scale * step).collect();
        let window = window_for(longest * scale, at);
        let scanned = scan(level, tiles, &next, window);
        if dual(&scanned, &next, targets) <= dual(at, prices, targets) {
            return Some((next, scanned));
        }
        scale *= 0.35;
    }
    None
}

/// The next window: about the length of the step, but wide enough to hold some rows for every class.
fn window_for(step: f64, at: &Scan) -> f32 {
    let enough = 100 * at.counts.len();
    let hold = at.window * (enough as f32 / (at.near.len() as f32 + 1.0));
    (step as f32).max(hold).clamp(1e-6, 2.0 * FIRST_WINDOW)
}

fn dual(scan: &Scan, prices: &[f64], targets: &[f64]) -> f64 {
    let paid: f64 = prices.iter().zip(targets).filter(|(p, _)| p.is_finite()).map(|(p, target)| p * target).sum();
    scan.value - paid
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

/// The inverse of a symmetric positive definite matrix with one unknown held at zero (Gauss and Jordan; such matrices
/// need no pivoting).
pub(super) fn invert_pinned(mut matrix: Vec<f64>, pinned: usize) -> Vec<f64> {
    let k = matrix.len().isqrt();
    let mut inverse = vec![0.0; k * k];
    let free: Vec<usize> = (0..k).filter(|&class| class != pinned).collect();
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
