//! The sweep's inner loop with vectors of sixteen rows, for single precision and up to [`MOST_CLASSES`] classes,
//! whose columns fit into registers.
//!
//! It decides and sums exactly like the loop in `sweep`, which handles all other cases. Loops run over indices, since
//! only inlined code is compiled for the level, and closures of iterators are not always inlined.
#![allow(clippy::needless_range_loop)]

use std::hint::black_box;

use super::rows::Layout;
use super::simd::{Floats, Ints, WIDTH, Wide, prefetch};
use super::sweep::{Bounds, Codes, LEAST, OFF, OPEN};
use super::tile::{COARSE, FINE, TILE};

/// The maximum number of classes handled here.
pub(super) const MOST_CLASSES: usize = 8;

/// Prefetch distance in numbers: the hardware prefetches, but stops at the end of each page.
const AHEAD: usize = 1024;

/// Sums of scores in two parts per lane: multiples of 2^-21, and of 2^-40.
#[derive(Clone, Copy)]
struct Parts {
    coarse: [i32; WIDTH],
    fine: [i32; WIDTH],
}

/// Sums that have not been added up over the lanes yet.
pub(super) struct LaneSums {
    /// Of the vectors of sixteen rows, as stored.
    vectors: [Parts; MOST_CLASSES],
    /// Of the labels' scores.
    chosen: Parts,
    tiles: usize,
}

impl LaneSums {
    /// Number of tiles after which a lane could overflow: a score of 1 is 2^21 coarse units.
    const MOST_TILES: usize = 32;

    pub(super) fn new() -> LaneSums {
        let none = Parts { coarse: [0; WIDTH], fine: [0; WIDTH] };
        LaneSums { vectors: [none; MOST_CLASSES], chosen: none, tiles: 0 }
    }

    /// Returns whether the sums must be taken.
    #[inline(always)]
    pub(super) fn are_full(&self) -> bool {
        self.tiles == Self::MOST_TILES
    }

    /// Takes the sums in grid units and resets them: of each class (not meaningful if not requested), and of the
    /// labels' scores.
    pub(super) fn take(&mut self, layout: &Layout<'_, f32>, classes: usize) -> ([i64; MOST_CLASSES], i64) {
        if self.tiles == 0 {
            return ([0; MOST_CLASSES], 0);
        }
        // Each lane has this many values, each raised by the two constants.
        let values = (self.tiles * TILE / WIDTH) as i32;
        let raised = |by: f32| (by.to_bits() as i32).wrapping_mul(values);
        let units = |parts: &Parts, lane: usize| {
            (i64::from(parts.coarse[lane].wrapping_sub(raised(COARSE))) << 19)
                + i64::from(parts.fine[lane].wrapping_sub(raised(FINE)))
        };
        let mut sums = [0; MOST_CLASSES];
        for (index, lane) in (0..classes).flat_map(|vector| (0..WIDTH).map(move |lane| (vector, lane))) {
            let class = match layout {
                Layout::RowMajor(_) => (index * WIDTH + lane) % classes,
                Layout::Columns(_) => index,
            };
            sums[class] += units(&self.vectors[index], lane);
        }
        let chosen = (0..WIDTH).map(|lane| units(&self.chosen, lane)).sum();
        *self = LaneSums::new();
        (sums, chosen)
    }
}

/// Settles each row of a full tile and sums scores. Returns whether a value may be invalid.
#[inline(always)]
pub(super) fn settle<const CHECK: bool, const SUM: bool>(
    wide: Wide,
    layout: &Layout<'_, f32>,
    start: usize,
    bounds: &Bounds,
    codes: &mut Codes,
    sums: &mut LaneSums,
) -> bool {
    match bounds.classes() {
        2 => settle_classes::<2, CHECK, SUM>(wide, layout, start, bounds, codes, sums),
        3 => settle_classes::<3, CHECK, SUM>(wide, layout, start, bounds, codes, sums),
        4 => settle_classes::<4, CHECK, SUM>(wide, layout, start, bounds, codes, sums),
        5 => settle_classes::<5, CHECK, SUM>(wide, layout, start, bounds, codes, sums),
        6 => settle_classes::<6, CHECK, SUM>(wide, layout, start, bounds, codes, sums),
        7 => settle_classes::<7, CHECK, SUM>(wide, layout, start, bounds, codes, sums),
        _ => settle_classes::<8, CHECK, SUM>(wide, layout, start, bounds, codes, sums),
    }
}

#[inline(always)]
fn settle_classes<const K: usize, const CHECK: bool, const SUM: bool>(
    wide: Wide,
    layout: &Layout<'_, f32>,
    start: usize,
    bounds: &Bounds,
    codes: &mut Codes,
    sums: &mut LaneSums,
) -> bool {
    match *layout {
        Layout::RowMajor(values) => {
            let rows = RowMajor(&values[start * K..]);
            settle_tile::<K, CHECK, SUM>(wide, rows, bounds, codes, sums)
        }
        Layout::Columns(columns) => settle_tile::<K, CHECK, SUM>(wide, Columns(columns, start), bounds, codes, sums),
    }
}

const FIRST_LANES: [i32; WIDTH] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// A tile's rows, loaded sixteen at a time.
trait Blocks<const K: usize>: Copy {
    /// Returns sixteen rows as K vectors, as stored.
    fn vectors(self, wide: Wide, block: usize) -> [Floats; K];

    /// Returns the same rows as K columns.
    fn columns(self, wide: Wide, vectors: [Floats; K]) -> [Floats; K];
}

#[derive(Clone, Copy)]
struct RowMajor<'a>(&'a [f32]);

impl<const K: usize> Blocks<K> for RowMajor<'_> {
    #[inline(always)]
    fn vectors(self, wide: Wide, block: usize) -> [Floats; K] {
        let start = block * WIDTH * K;
        prefetch(self.0, start + AHEAD..start + AHEAD + WIDTH * K);
        let rows = &self.0[start..][..WIDTH * K];
        let mut all = [wide.splat(0.0); K];
        for vector in 0..K {
            all[vector] = wide.load(chunk(&rows[vector * WIDTH..]));
        }
        all
    }

    #[inline(always)]
    fn columns(self, wide: Wide, vectors: [Floats; K]) -> [Floats; K] {
        transposed(wide, vectors)
    }
}

/// Columns, with the row at which the tile starts.
#[derive(Clone, Copy)]
struct Columns<'a>(&'a [&'a [f32]], usize);

impl<const K: usize> Blocks<K> for Columns<'_> {
    #[inline(always)]
    fn vectors(self, wide: Wide, block: usize) -> [Floats; K] {
        let mut all = [wide.splat(0.0); K];
        for class in 0..K {
            all[class] = wide.load(chunk(&self.0[class][self.1 + block * WIDTH..]));
        }
        all
    }

    #[inline(always)]
    fn columns(self, _: Wide, vectors: [Floats; K]) -> [Floats; K] {
        vectors
    }
}

#[inline(always)]
fn chunk<T, const N: usize>(values: &[T]) -> &[T; N] {
    values.first_chunk().expect("a tile is full")
}

/// The part of a sum that is carried from block to block.
#[derive(Clone, Copy)]
struct Running {
    coarse: Ints,
    fine: Ints,
}

impl Running {
    #[inline(always)]
    fn of(wide: Wide, parts: &Parts) -> Running {
        Running { coarse: wide.load_ints(&parts.coarse), fine: wide.load_ints(&parts.fine) }
    }

    /// Adds a score to each lane, rounded to the grid; see `Real::units`.
    #[inline(always)]
    fn add(&mut self, wide: Wide, score: Floats, one: Floats) {
        // By products with one, since the adders are busy and the multipliers are not.
        let raised = wide.multiply_add(score, one, wide.splat(COARSE));
        let rest = wide.sub(score, wide.multiply_add(raised, one, wide.splat(-COARSE)));
        self.coarse = wide.add_ints(self.coarse, wide.bits(raised));
        self.fine = wide.add_ints(self.fine, wide.bits(wide.add(rest, wide.splat(FINE))));
    }

    #[inline(always)]
    fn store(self, wide: Wide, parts: &mut Parts) {
        wide.store_ints(self.coarse, &mut parts.coarse);
        wide.store_ints(self.fine, &mut parts.fine);
    }
}

/// Settles sixteen rows at a time.
#[inline(always)]
fn settle_tile<const K: usize, const CHECK: bool, const SUM: bool>(
    wide: Wide,
    rows: impl Blocks<K>,
    bounds: &Bounds,
    codes: &mut Codes,
    sums: &mut LaneSums,
) -> bool {
    let mut lead = [f32::INFINITY; WIDTH];
    lead[..K].copy_from_slice(&bounds.lead[..K]);
    let lead = wide.load(&lead);
    let mut chosen = Running::of(wide, &sums.chosen);
    let mut high = [wide.splat(0.0); K];
    for class in 0..K {
        high[class] = wide.splat(bounds.high[class]);
    }
    // Opaque to the compiler, which would turn products back into sums.
    let one = wide.splat(black_box(1.0));
    let mut totals = [Running::of(wide, &sums.vectors[0]); K];
    for vector in 1..K {
        totals[vector] = Running::of(wide, &sums.vectors[vector]);
    }
    let mut sound = u16::MAX;
    let mut lanes = wide.load_ints(&FIRST_LANES);
    let mut open = 0;
    for block in 0..TILE / WIDTH {
        let vectors = rows.vectors(wide, block);
        if SUM {
            for vector in 0..K {
                totals[vector].add(wide, vectors[vector], one);
            }
        }
        let columns = rows.columns(wide, vectors);
        let mut score = columns[0];
        let mut first = wide.add(columns[0], high[0]);
        let mut second = wide.splat(f32::NEG_INFINITY);
        let mut best = wide.splat_int(0);
        for class in 1..K {
            let value = wide.add(columns[class], high[class]);
            let leads = wide.above(value, first);
            second = wide.max(second, wide.min(first, value));
            first = wide.max(first, value);
            best = wide.select_ints(leads, wide.splat_int(class as i32), best);
            score = wide.select(leads, columns[class], score);
        }
        if CHECK {
            let (mut sum, mut least) = (wide.add(columns[0], wide.splat(-1.0)), columns[0]);
            for class in 1..K {
                sum = wide.add(sum, columns[class]);
                least = wide.min(least, columns[class]);
            }
            // Written so that NaN fails: the sum propagates it.
            sound &= wide.at_most(wide.abs(sum), wide.splat(OFF)) & wide.at_most(wide.splat(LEAST), least);
        }
        let certain = wide.above(wide.sub(first, second), wide.pick(lead, best));
        chosen.add(wide, wide.select(certain, score, wide.splat(0.0)), one);
        let code = wide.select_ints(certain, best, wide.splat_int(i32::from(OPEN)));
        wide.store_bytes(code, codes.bytes[block * WIDTH..].first_chunk_mut().expect("a tile is full"));
        // Stored as a whole, regardless of the number of open rows: a branch here would often be mispredicted.
        wide.store_ints(wide.compress(!certain, lanes), codes.open[open..].first_chunk_mut().expect("a place for all"));
        open += certain.count_zeros() as usize;
        lanes = wide.add_ints(lanes, wide.splat_int(WIDTH as i32));
    }
    codes.open_len = open;
    chosen.store(wide, &mut sums.chosen);
    if SUM {
        for vector in 0..K {
            totals[vector].store(wide, &mut sums.vectors[vector]);
        }
    }
    sums.tiles += 1;
    CHECK && sound != u16::MAX
}

/// The transposition of sixteen rows of K classes to K columns, in two steps.
///
/// The 16·K numbers are K vectors. With g the greatest common divisor of 16 and K, lane l holds only classes equal to l
/// modulo g, and the pattern of classes repeats after K/g vectors. So each run of K/g vectors is blended into K/g
/// others, and vector j of these holds the classes g·j … g·j + g − 1. A column is then picked from the g runs.
struct Transposition<const K: usize> {
    /// For each blended vector and vector of the run: the lanes to take.
    blend: [[u16; K]; K],
    /// For each class and row: its index in the pair of runs that contains it.
    indices: [[i32; WIDTH]; K],
    /// For each class and pair of runs: the rows in that pair.
    pairs: [[u16; 4]; K],
}

impl<const K: usize> Transposition<K> {
    const COMMON: usize = common_divisor(WIDTH, K);
    const RUN: usize = K / Self::COMMON;
    const TABLE: Self = Self::table();

    const fn table() -> Self {
        let mut table = Transposition { blend: [[0; K]; K], indices: [[0; WIDTH]; K], pairs: [[0; 4]; K] };
        let mut index = 0;
        while index < WIDTH * K {
            let (vector, lane) = (index / WIDTH, index % WIDTH);
            let (row, class) = (index / K, index % K);
            let run = vector / Self::RUN;
            table.blend[class / Self::COMMON][vector % Self::RUN] |= 1 << lane;
            table.indices[class][row] = (lane + WIDTH * (run % 2)) as i32;
            table.pairs[class][run / 2] |= 1 << row;
            index += 1;
        }
        table
    }
}

const fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[inline(always)]
fn transposed<const K: usize>(wide: Wide, vectors: [Floats; K]) -> [Floats; K] {
    let (common, run) = (Transposition::<K>::COMMON, Transposition::<K>::RUN);
    let table = const { &Transposition::<K>::TABLE };
    // Vector j of run r at r · run + j.
    let mut blended = vectors;
    for index in 0..K {
        let (first, j) = (index / run * run, index % run);
        blended[index] = vectors[first];
        for i in 1..run {
            blended[index] = wide.select(table.blend[j][i], vectors[first + i], blended[index]);
        }
    }
    let mut columns = blended;
    for class in 0..K {
        let j = class / common;
        let indices = wide.load_ints(&table.indices[class]);
        for pair in 0..common.div_ceil(2) {
            let (a, b) = (2 * pair, (2 * pair + 1).min(common - 1));
            let picked = wide.pick_of_two(blended[a * run + j], blended[b * run + j], indices);
            let rows = if pair == 0 { u16::MAX } else { table.pairs[class][pair] };
            columns[class] = wide.select(rows, picked, columns[class]);
        }
    }
    columns
}
