//! The pass that labels: every row whose best class is certain within bounds on the prices is settled on the spot.
//!
//! With prices known only to lie in a box [low, high], class a is certain for a row where
//! score_a + low_a > score_b + high_b for every other b: whatever the prices turn out to be, a wins. All other rows are
//! handed to the caller. The same loop sums the scores exactly and looks out for values that are no scores, since the
//! memory is read only once.

use std::ops::Range;

use super::grid::{GRID, Grid};
use super::simd::{Kernel, Level};
use super::tile::{Real, Rows, TILE, Tile};
use super::top_two::LANES;
use crate::error::Result;

/// Bounds on the prices, in single precision, with the margin for its error.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    high: Vec<f32>,
    /// high − low + margin: by how much the best must lead.
    lead: Vec<f32>,
}

impl Bounds {
    /// Bounds for scores up to `magnitude`. A class with `high` of minus infinity is never given, one with `low` of
    /// minus infinity is never certain.
    pub(crate) fn new(low: &[f32], high: &[f32], magnitude: f32) -> Bounds {
        let largest = high.iter().filter(|price| price.is_finite()).fold(0.0f32, |most, price| most.max(price.abs()));
        // Rounding a score to single precision, adding a price, and the two subtractions below err by less than four
        // units of 2^-24 relative to the largest value; twice that again is room to spare.
        let margin = (magnitude + largest) * 2.0f32.powi(-21);
        let lead = low.iter().zip(high).map(|(low, high)| if high.is_finite() { high - low + margin } else { 0.0 });
        Bounds { high: high.to_vec(), lead: lead.collect() }
    }
}

/// What a sweep is asked to look at besides the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// Nothing: the values have been seen before.
    Nothing,
    /// That the values are scores.
    Values,
    /// That the values are scores, and their sums.
    ValuesAndSums,
}

/// What a sweep found. Sweeps over parts of a table merge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swept {
    /// Settled rows of each class.
    pub(crate) counts: Vec<u64>,
    /// The scores of the settled rows' labels, summed, in units of the grid.
    pub(crate) chosen: i128,
    /// The scores of all rows, summed by class, in units of the grid (where asked for).
    pub(crate) sums: Vec<i128>,
}

impl Swept {
    pub(crate) fn new(classes: usize) -> Swept {
        Swept { counts: vec![0; classes], chosen: 0, sums: vec![0; classes] }
    }

    pub(crate) fn merge(&mut self, other: &Swept) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, part)| *sum += part);
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, part)| *sum += part);
        self.chosen += other.chosen;
    }
}

/// Receives what a sweep cannot settle.
pub(crate) trait Unsettled<T> {
    /// A row whose label is not certain, to be found in the tile at `lane`; returns the label to write for now.
    fn row(&mut self, row: usize, tile: &Tile<T>, lane: usize) -> u8;

    /// Rows among which a value may be no score: refuses them, or finds that they are sound after all.
    fn suspect(&mut self, rows: Range<usize>) -> Result<()>;
}

/// Sweeps the rows of a range, writing a label for each.
pub(crate) fn sweep<R: Rows>(
    level: Level,
    rows: &R,
    range: Range<usize>,
    bounds: &Bounds,
    watch: Watch,
    labels: &mut [u8],
    unsettled: &mut impl Unsettled<R::Elem>,
) -> Result<Swept> {
    let pass = Pass { rows, range, bounds, labels, unsettled };
    match watch {
        Watch::Nothing => level.run(Watched::<_, _, false, false>(pass)),
        Watch::Values => level.run(Watched::<_, _, true, false>(pass)),
        Watch::ValuesAndSums => level.run(Watched::<_, _, true, true>(pass)),
    }
}

struct Pass<'p, R, U> {
    rows: &'p R,
    range: Range<usize>,
    bounds: &'p Bounds,
    labels: &'p mut [u8],
    unsettled: &'p mut U,
}

struct Watched<'p, R, U, const CHECK: bool, const SUM: bool>(Pass<'p, R, U>);

/// A code for lanes whose label is not settled.
const OPEN: u8 = u8::MAX;

impl<R: Rows, U: Unsettled<R::Elem>, const CHECK: bool, const SUM: bool> Kernel for Watched<'_, R, U, CHECK, SUM> {
    type Output = Result<Swept>;

    #[inline(always)]
    fn run(self) -> Result<Swept> {
        let Pass { rows, range, bounds, labels, unsettled } = self.0;
        let classes = rows.classes();
        let mut swept = Swept::new(classes);
        let mut tile = Tile::new(classes);
        let mut codes = [OPEN; TILE];
        for start in range.clone().step_by(TILE) {
            rows.load(start, &mut tile);
            let len = tile.len().min(range.end - start);
            let best = settle::<_, CHECK>(tile.columns(), bounds, &mut codes);
            if CHECK && best.suspect {
                unsettled.suspect(start..start + len)?;
            }
            if SUM {
                add_columns(tile.columns(), &mut swept.sums);
            }
            codes[len..].fill(OPEN);
            swept.chosen += i128::from(best.chosen);
            count_codes(&codes, &mut swept.counts);
            let labels = &mut labels[start - range.start..][..len];
            labels.copy_from_slice(&codes[..len]);
            for lane in 0..len {
                if codes[lane] == OPEN {
                    labels[lane] = unsettled.row(start + lane, &tile, lane);
                }
            }
        }
        Ok(swept)
    }
}

struct Settled {
    /// Sum of the certain labels' scores, in units of the grid.
    chosen: i64,
    /// Whether some value may be no score.
    suspect: bool,
}

/// Codes each row of a tile with its class where that is certain.
#[inline(always)]
fn settle<T: Real, const CHECK: bool>(columns: &[T], bounds: &Bounds, codes: &mut [u8; TILE]) -> Settled {
    // A little inside the limits of `Scores`, which decides exactly.
    const LEAST: f32 = -0.9e-6;
    const OFF: f32 = 0.99e-3;
    let mut suspects = [0u32; LANES];
    let mut chosen = [0i64; LANES];
    for lanes in (0..TILE).step_by(LANES) {
        let mut first = [f32::NEG_INFINITY; LANES];
        let mut second = [f32::NEG_INFINITY; LANES];
        let mut best = [0u32; LANES];
        let mut lead = [f32::INFINITY; LANES];
        let mut score = [T::default(); LANES];
        let (mut sum, mut least) = ([-1.0f32; LANES], [0.0f32; LANES]);
        for (class, (&high, &ahead)) in bounds.high.iter().zip(&bounds.lead).enumerate() {
            let column = &columns[class * TILE + lanes..][..LANES];
            for lane in 0..LANES {
                let single = column[lane].single();
                let value = single + high;
                let leads = value > first[lane];
                let runner_up = if leads { first[lane] } else { value };
                second[lane] = if runner_up > second[lane] { runner_up } else { second[lane] };
                first[lane] = if leads { value } else { first[lane] };
                best[lane] = if leads { class as u32 } else { best[lane] };
                lead[lane] = if leads { ahead } else { lead[lane] };
                score[lane] = if leads { column[lane] } else { score[lane] };
                if CHECK {
                    sum[lane] += single;
                    least[lane] = if single < least[lane] { single } else { least[lane] };
                }
            }
        }
        for lane in 0..LANES {
            let certain = first[lane] - second[lane] > lead[lane];
            codes[lanes + lane] = if certain { best[lane] as u8 } else { OPEN };
            let units = GRID.raised(score[lane].double());
            chosen[lane] = chosen[lane].wrapping_add(if certain { units } else { Grid::RAISED_ZERO });
            if CHECK {
                // Written so that NaN fails.
                let sound = (sum[lane].abs() <= OFF) & (least[lane] >= LEAST);
                suspects[lane] |= u32::from(!sound);
            }
        }
    }
    let raised = Grid::RAISED_ZERO.wrapping_mul(TILE as i64);
    Settled {
        chosen: chosen.iter().fold(0i64, |sum, &part| sum.wrapping_add(part)).wrapping_sub(raised),
        suspect: CHECK && suspects.iter().any(|&suspect| suspect != 0),
    }
}

/// Adds a tile's columns to exact sums.
#[inline(always)]
fn add_columns<T: Real>(columns: &[T], sums: &mut [i128]) {
    for (column, sum) in columns.chunks_exact(TILE).zip(sums) {
        // Wrapping, since the constant of `raised` is large; the difference is not.
        let raised = column.iter().fold(0i64, |sum, value| sum.wrapping_add(GRID.raised(value.double())));
        *sum += i128::from(raised.wrapping_sub(Grid::RAISED_ZERO.wrapping_mul(TILE as i64)));
    }
}

/// Counts the settled rows of each class.
#[inline(always)]
fn count_codes(codes: &[u8; TILE], counts: &mut [u64]) {
    // Halves, so that a count fits the byte in which it is vectorised.
    for half in codes.chunks_exact(TILE / 2) {
        for (class, count) in counts.iter_mut().enumerate() {
            let found = half.iter().fold(0u8, |sum, &code| sum + u8::from(code == class as u8));
            *count += u64::from(found);
        }
    }
}
