//! Statistics of a sample at given prices: counts, rows near a boundary, and the prices at which rows enter a class.

use crate::kernel::{Kernel, Real, SimdLevel, TILE, Tile, TopTwo, Wide, count_codes, lanes_where, top_two};

/// A row near the boundary between two classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub(super) best: u8,
    pub(super) next: u8,
    pub(super) gap: f32,
}

/// The sample at given prices.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    pub(super) counts: Vec<f64>,
    /// Rows whose gap is below the window.
    pub(super) near: Vec<Near>,
    pub(super) window: f32,
    /// Sum of the best values.
    pub(super) value: f64,
}

/// Counts the sample's rows at given prices, and lists those near a boundary.
pub(super) fn scan<T: Real>(level: SimdLevel, tiles: &[Tile<T>], prices: &[f64], window: f32) -> Scan {
    let (prices, base) = relative(prices);
    let mut found = level.run(ScanKernel { tiles, prices: &prices, window });
    found.value += base * tiles.iter().map(Tile::len).sum::<usize>() as f64;
    found
}

/// Returns prices in single precision relative to the highest: only differences matter to a row, and they keep their
/// precision.
pub(super) fn relative(prices: &[f64]) -> (Vec<f32>, f64) {
    let base = prices.iter().copied().filter(|price| price.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let base = if base.is_finite() { base } else { 0.0 };
    (prices.iter().map(|&price| (price - base) as f32).collect(), base)
}

/// Sums a few hundred numbers in several lanes, to hide the latency of additions.
#[inline(always)]
fn sum(values: &[f32]) -> f64 {
    let mut lanes = [0.0f32; 32];
    let chunks = values.chunks_exact(lanes.len());
    let rest: f32 = chunks.remainder().iter().sum();
    chunks.for_each(|chunk| lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane += value));
    lanes.iter().map(|&lane| f64::from(lane)).sum::<f64>() + f64::from(rest)
}

struct ScanKernel<'a, T> {
    tiles: &'a [Tile<T>],
    prices: &'a [f32],
    window: f32,
}

impl<T: Real> Kernel for ScanKernel<'_, T> {
    type Output = Scan;

    #[inline(always)]
    fn run(self, _: Option<Wide>) -> Scan {
        let mut found =
            Scan { counts: vec![0.0; self.prices.len()], near: Vec::new(), window: self.window, value: 0.0 };
        let mut counts = vec![0; self.prices.len()];
        let mut tops = TopTwo::new();
        for tile in self.tiles {
            top_two(tile.columns(), self.prices, &mut tops);
            tops.best[tile.len()..].fill(u8::MAX);
            tops.gap[tile.len()..].fill(f32::INFINITY);
            count_codes(&tops.best, &mut counts);
            for start in (0..TILE).step_by(64) {
                for lane in lanes_where(start, |lane| tops.gap[lane] < self.window) {
                    found.near.push(Near { best: tops.best[lane], next: tops.next[lane], gap: tops.gap[lane] });
                }
            }
            found.value += sum(&tops.value[..tile.len()]);
        }
        found.counts.iter_mut().zip(counts).for_each(|(count, found)| *count = found as f64);
        found
    }
}

/// Returns the price at which each row would enter a class, relative to the highest price.
pub(super) fn entry_prices<T: Real>(level: SimdLevel, tiles: &[Tile<T>], prices: &[f64], class: usize) -> Vec<f32> {
    let (prices, _) = relative(prices);
    level.run(EntryKernel { tiles, prices: &prices, class })
}

struct EntryKernel<'a, T> {
    tiles: &'a [Tile<T>],
    prices: &'a [f32],
    class: usize,
}

impl<T: Real> Kernel for EntryKernel<'_, T> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn run(self, _: Option<Wide>) -> Vec<f32> {
        let mut entries = Vec::with_capacity(self.tiles.len() * TILE);
        let mut tops = TopTwo::new();
        for tile in self.tiles {
            top_two(tile.columns(), self.prices, &mut tops);
            let own = &tile.columns()[self.class * TILE..][..TILE];
            entries.extend((0..tile.len()).map(|lane| {
                let is_in = usize::from(tops.best[lane]) == self.class;
                let best_of_others = tops.value[lane] - if is_in { tops.gap[lane] } else { 0.0 };
                best_of_others - own[lane].single()
            }));
        }
        entries
    }
}

/// Returns the element at an index of the sorted list.
pub(super) fn nth(values: &mut [f32], index: usize) -> Option<f32> {
    (index < values.len()).then(|| *values.select_nth_unstable_by(index, f32::total_cmp).1)
}
