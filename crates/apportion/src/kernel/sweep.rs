//! The labeling pass: every row whose best class is certain within bounds on the prices is settled immediately.
//!
//! If prices are only known to lie in a box [low, high], class a is certain for a row if score_a + low_a > score_b +
//! high_b for every other b: then a wins at any prices in the box. All other rows are passed to the caller. The same
//! loop sums the scores exactly and detects invalid values, so memory is read only once.

use std::ops::Range;

use super::grid::GRID;
use super::rows::{Rows, Source};
use super::simd::{Kernel, SimdLevel, WIDTH, Wide};
use super::tile::{BLOCK, Real, TILE, Tile};
use super::top_two::{LANES, larger, smaller};
#[cfg(target_arch = "x86_64")]
use super::wide;
use crate::error::Result;

/// Bounds on the prices in single precision, including a margin for rounding errors.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    pub(super) high: Vec<f32>,
    /// high − low plus the margin for rounding errors: by how much the best class must lead.
    pub(super) lead: Vec<f32>,
}

impl Bounds {
    #[cfg(target_arch = "x86_64")]
    pub(super) fn classes(&self) -> usize {
        self.high.len()
    }

    /// Creates bounds for scores up to `magnitude`. A class with `high` of minus infinity is never assigned, one
    /// with `low` of minus infinity is never certain.
    pub(crate) fn new(low: &[f32], high: &[f32], magnitude: f32) -> Bounds {
        let finite = low.iter().chain(high).filter(|price| price.is_finite());
        let largest = finite.fold(0.0f32, |most, price| most.max(price.abs()));
        // Rounding two scores, adding two prices, and the subtractions here and in the loop have errors below
        // ten units of 2^-24 relative to the largest value. Sixteen units leave a reserve.
        let margin = (magnitude + largest) * 2.0f32.powi(-20);
        let lead = |(low, high): (&f32, &f32)| if high.is_finite() { high - low + margin } else { f32::INFINITY };
        Bounds { high: high.to_vec(), lead: low.iter().zip(high).map(lead).collect() }
    }
}

/// The results for the rows of a tile.
pub(super) struct Codes {
    /// The class of each settled row, or [`OPEN`].
    pub(super) bytes: [u8; TILE],
    /// The lanes of the open rows; only the first ones are valid.
    pub(super) open: [i32; TILE + WIDTH],
    pub(super) open_len: usize,
}

/// The code of rows that are not settled.
pub(super) const OPEN: u8 = u8::MAX;

/// Values beyond these may be invalid. They are slightly inside the limits of `Scores`, which decides exactly: below
/// LEAST, or with a sum that differs from one by more than OFF.
pub(super) const LEAST: f32 = -0.9e-6;
pub(super) const OFF: f32 = 0.99e-3;

/// Additional checks and sums of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// No checks: the values were checked before.
    Nothing,
    /// Checks that the values are valid.
    Values,
    /// Checks that the values are valid, and sums them.
    ValuesAndSums,
}

/// The results of a sweep. Sweeps over parts of a table can be merged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swept {
    /// Settled people of each class.
    pub(crate) counts: Vec<u64>,
    /// The sum of the scores of settled labels, in grid units.
    pub(crate) chosen: i128,
    /// The sums of all scores by class, in grid units (if requested).
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

/// Receives rows that a sweep cannot settle.
pub(crate) trait Unsettled<T: Real> {
    /// Receives a row whose label is not certain, and returns a provisional label.
    fn row(&mut self, rows: &Rows<'_, T>, row: usize) -> u8;

    /// Checks rows that may have an invalid value.
    fn suspect(&mut self, rows: Range<usize>) -> Result<()>;
}

/// Sweeps a range of rows and writes a label for each.
pub(crate) fn sweep<T: Real>(
    level: SimdLevel,
    rows: &Rows<'_, T>,
    range: Range<usize>,
    bounds: &Bounds,
    watch: Watch,
    labels: &mut [u8],
    unsettled: &mut impl Unsettled<T>,
) -> Result<Swept> {
    let pass = Pass { rows, range, bounds, labels, unsettled };
    match watch {
        Watch::Nothing => level.run(Watched::<_, _, false, false>(pass)),
        Watch::Values => level.run(Watched::<_, _, true, false>(pass)),
        Watch::ValuesAndSums => level.run(Watched::<_, _, true, true>(pass)),
    }
}

struct Pass<'p, T, U> {
    rows: &'p Rows<'p, T>,
    range: Range<usize>,
    bounds: &'p Bounds,
    labels: &'p mut [u8],
    unsettled: &'p mut U,
}

struct Watched<'p, T, U, const CHECK: bool, const SUM: bool>(Pass<'p, T, U>);

impl<T: Real, U: Unsettled<T>, const CHECK: bool, const SUM: bool> Kernel for Watched<'_, T, U, CHECK, SUM> {
    type Output = Result<Swept>;

    #[inline(always)]
    fn run(self, wide: Option<Wide>) -> Result<Swept> {
        let Pass { rows, range, bounds, labels, unsettled } = self.0;
        let (mut swept, mut weighed) = (Swept::new(rows.classes()), Swept::new(rows.classes()));
        let mut codes = Codes { bytes: [OPEN; TILE], open: [0; TILE + WIDTH], open_len: 0 };
        let mut settle = Settle::<_, CHECK, SUM>::new(rows, bounds, wide);
        let weights = rows.weights();
        for start in range.clone().step_by(TILE) {
            let len = TILE.min(range.end - start);
            if settle.tile(start, len, &mut codes, &mut swept) {
                unsettled.suspect(start..start + len)?;
            }
            match weights {
                None => count_codes(&codes.bytes, &mut swept.counts),
                Some(weights) => weigh(rows, start, &weights[start..start + len], &codes, &mut weighed),
            }
            let labels = &mut labels[start - range.start..][..len];
            match labels.first_chunk_mut() {
                Some(full) => *full = codes.bytes,
                None => labels.copy_from_slice(&codes.bytes[..len]),
            }
            for &lane in &codes.open[..codes.open_len] {
                labels[lane as usize] = unsettled.row(rows, start + lane as usize);
            }
        }
        settle.finish(&mut swept);
        Ok(if weights.is_some() { weighed } else { swept })
    }
}

/// Counts and sums people if rows represent several, row by row, since such tables are small. Never inlined, so that
/// the main loop keeps its registers.
#[cold]
#[inline(never)]
fn weigh<T: Real>(rows: &Rows<'_, T>, start: usize, weights: &[u64], codes: &Codes, swept: &mut Swept) {
    for (lane, &weight) in weights.iter().enumerate() {
        let units = |class: usize| i128::from(GRID.round(rows.score(start + lane, class).double()));
        swept.sums.iter_mut().enumerate().for_each(|(class, sum)| *sum += units(class) * i128::from(weight));
        let code = codes.bytes[lane];
        if code != OPEN {
            swept.counts[usize::from(code)] += weight;
            swept.chosen += units(usize::from(code)) * i128::from(weight);
        }
    }
}

/// Returns the lanes among 64 for which a condition holds, in order. A vector comparison makes a mask, and only its
/// set bits are visited.
#[inline(always)]
pub(crate) fn lanes_where(start: usize, holds: impl Fn(usize) -> bool) -> impl Iterator<Item = usize> {
    let mut mask = 0u64;
    for lane in 0..64 {
        mask |= u64::from(holds(start + lane)) << lane;
    }
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < 64).then_some(start + lane)
    })
}

/// Settles tile after tile: by vectors of sixteen rows if possible, otherwise in loops that the compiler vectorizes.
struct Settle<'p, T, const CHECK: bool, const SUM: bool> {
    rows: &'p Rows<'p, T>,
    bounds: &'p Bounds,
    wide: Option<Wide>,
    #[cfg(target_arch = "x86_64")]
    lane_sums: wide::LaneSums,
    tile: Tile<T>,
    /// The score of each settled row's class, otherwise 0.
    chosen: [T; TILE],
}

impl<'p, T: Real, const CHECK: bool, const SUM: bool> Settle<'p, T, CHECK, SUM> {
    #[inline(always)]
    fn new(rows: &'p Rows<'p, T>, bounds: &'p Bounds, wide: Option<Wide>) -> Self {
        Settle {
            rows,
            bounds,
            wide,
            #[cfg(target_arch = "x86_64")]
            lane_sums: wide::LaneSums::new(),
            tile: Tile::new(rows.classes()),
            chosen: [T::default(); TILE],
        }
    }

    /// Settles the rows of a tile and sums scores. Returns whether a value may be invalid.
    #[inline(always)]
    fn tile(&mut self, start: usize, len: usize, codes: &mut Codes, swept: &mut Swept) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let (Some(wide), Some((layout, start))) = (self.wide, self.rows.singles(start))
            && len == TILE
            && (2..=wide::MOST_CLASSES).contains(&self.rows.classes())
        {
            let suspect = wide::settle::<CHECK, SUM>(wide, &layout, start, self.bounds, codes, &mut self.lane_sums);
            if self.lane_sums.are_full() {
                self.finish(swept);
            }
            return suspect;
        }
        let suspect = self.tile_of_any_kind(start, len, codes);
        if SUM {
            for (column, sum) in self.tile.columns().chunks_exact(TILE).zip(&mut swept.sums) {
                *sum += i128::from(Real::units(column));
            }
        }
        swept.chosen += i128::from(Real::units(&self.chosen));
        codes.bytes[len..].fill(OPEN);
        codes.open_len = 0;
        for lanes in (0..len).step_by(64) {
            for lane in lanes_where(lanes, |lane| codes.bytes[lane] == OPEN).take_while(|&lane| lane < len) {
                codes.open[codes.open_len] = lane as i32;
                codes.open_len += 1;
            }
        }
        suspect
    }

    /// Adds up the sums of the lanes.
    #[inline(always)]
    fn finish(&mut self, swept: &mut Swept) {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some((layout, _)) = self.rows.singles(self.rows.first()) {
                let (sums, chosen) = self.lane_sums.take(&layout, self.rows.classes());
                if SUM {
                    swept.sums.iter_mut().zip(sums).for_each(|(total, sum)| *total += i128::from(sum));
                }
                swept.chosen += i128::from(chosen);
            }
        }
    }

    /// Loads a tile of any layout and type and settles its rows. The last tile of a table may have fewer rows.
    #[inline(always)]
    fn tile_of_any_kind(&mut self, start: usize, len: usize, codes: &mut Codes) -> bool {
        let Settle { rows, bounds, tile, chosen, .. } = self;
        let mut suspects = [0u32; LANES];
        for lanes in (0..TILE).step_by(LANES) {
            if lanes % BLOCK == 0 {
                rows.load_block(start, lanes, tile);
            }
            let columns = tile.columns();
            let (mut first, mut second) = ([f32::NEG_INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
            let (mut best, mut lead) = ([0u32; LANES], [f32::INFINITY; LANES]);
            let mut score = [T::default(); LANES];
            let (mut sum, mut least) = ([-1.0f32; LANES], [0.0f32; LANES]);
            for (class, (&high, &ahead)) in bounds.high.iter().zip(&bounds.lead).enumerate() {
                let column: &[T; LANES] = chunk(columns, class * TILE + lanes);
                for lane in 0..LANES {
                    let single = column[lane].single();
                    let value = single + high;
                    let leads = value > first[lane];
                    let mask = u32::from(leads).wrapping_neg();
                    second[lane] = larger(second[lane], smaller(first[lane], value));
                    first[lane] = larger(first[lane], value);
                    best[lane] = (mask & class as u32) | (!mask & best[lane]);
                    lead[lane] = ahead.masked(lead[lane], mask);
                    score[lane] = column[lane].masked(score[lane], mask);
                    if CHECK {
                        sum[lane] += single;
                        least[lane] = smaller(least[lane], single);
                    }
                }
            }
            for lane in 0..LANES {
                let certain = first[lane] - second[lane] > lead[lane];
                codes.bytes[lanes + lane] = if certain { best[lane] as u8 } else { OPEN };
                let mask = u32::from(certain).wrapping_neg();
                chosen[lanes + lane] = score[lane].masked(T::default(), mask);
                if CHECK {
                    // Written so that NaN fails.
                    let sound = ((sum[lane].abs() <= OFF) & (least[lane] >= LEAST)) | (lanes + lane >= len);
                    suspects[lane] |= u32::from(!sound);
                }
            }
        }
        CHECK && suspects.iter().any(|&suspect| suspect != 0)
    }
}

#[inline(always)]
fn chunk<T>(values: &[T], start: usize) -> &[T; LANES] {
    values[start..].first_chunk().expect("a tile is a multiple of the lanes")
}

/// Counts the settled rows of each class.
#[inline(always)]
pub(crate) fn count_codes(codes: &[u8; TILE], counts: &mut [u64]) {
    // Halves, so that a count fits a byte when vectorized.
    for half in codes.chunks_exact(TILE / 2) {
        for (class, count) in counts.iter_mut().enumerate() {
            let found = half.iter().fold(0u8, |sum, &code| sum + u8::from(code == class as u8));
            *count += u64::from(found);
        }
    }
}
