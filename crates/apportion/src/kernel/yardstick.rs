//! The yardstick of the benchmarks: the leanest argmax pass over a matrix, with no check of the values and no care for
//! ties beyond the first class. Nothing else uses it.

use super::simd::{Kernel, Level};
use super::tile::{BLOCK, Layout, Plain, Rows, TILE, Tile};

/// Rows handled at once. (More make this simpler pass slower.)
const LANES: usize = 16;

/// Writes the first class among the largest scores of each row of a row-major matrix.
#[doc(hidden)]
pub fn lean_argmax(level: Level, scores: &[f32], classes: usize, labels: &mut [u8]) {
    let rows = Plain { layout: Layout::RowMajor(scores), classes, magnitude: 1.0 };
    level.run(Lean { rows, labels });
}

struct Lean<'a> {
    rows: Plain<'a, f32>,
    labels: &'a mut [u8],
}

impl Kernel for Lean<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let classes = self.rows.classes();
        let mut tile = Tile::new(classes);
        let mut best = [0u8; TILE];
        for start in (0..self.rows.rows()).step_by(TILE) {
            argmax(&self.rows, start, &mut tile, &mut best);
            self.labels[start..start + tile.len()].copy_from_slice(&best[..tile.len()]);
        }
    }
}

#[inline(always)]
fn argmax(rows: &Plain<'_, f32>, start: usize, tile: &mut Tile<f32>, out: &mut [u8; TILE]) {
    for lanes in (0..TILE).step_by(LANES) {
        if lanes % BLOCK == 0 {
            rows.load_block(start, lanes, tile);
        }
        let mut first = [f32::NEG_INFINITY; LANES];
        let mut best = [0u32; LANES];
        for class in 0..rows.classes() {
            let column = &tile.columns()[class * TILE + lanes..][..LANES];
            for lane in 0..LANES {
                let value = column[lane];
                let leads = value > first[lane];
                first[lane] = if leads { value } else { first[lane] };
                best[lane] = if leads { class as u32 } else { best[lane] };
            }
        }
        for lane in 0..LANES {
            out[lanes + lane] = best[lane] as u8;
        }
    }
}
