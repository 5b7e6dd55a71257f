//! The best and the second-best class of each row of a tile, at given prices.

use super::tile::{Real, TILE};

/// Rows processed at once: two AVX-512 registers of single precision, which hide each other's latency.
pub(super) const LANES: usize = 32;

/// For each row of a tile: its best class and value, its second-best class, and the gap between the two.
pub(crate) struct TopTwo {
    pub(crate) best: [u8; TILE],
    pub(crate) next: [u8; TILE],
    pub(crate) value: [f32; TILE],
    pub(crate) gap: [f32; TILE],
}

impl TopTwo {
    pub(crate) fn new() -> TopTwo {
        TopTwo { best: [0; TILE], next: [0; TILE], value: [0.0; TILE], gap: [0.0; TILE] }
    }
}

#[inline(always)]
pub(super) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

#[inline(always)]
pub(super) fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// Compares score + price over the classes; the first of equal classes wins.
#[inline(always)]
pub(crate) fn top_two<T: Real>(columns: &[T], prices: &[f32], out: &mut TopTwo) {
    for lanes in (0..TILE).step_by(LANES) {
        let mut first = [f32::NEG_INFINITY; LANES];
        let mut second = [f32::NEG_INFINITY; LANES];
        let (mut best, mut next) = ([0u32; LANES], [0u32; LANES]);
        for (class, &price) in prices.iter().enumerate() {
            let column = &columns[class * TILE + lanes..][..LANES];
            for lane in 0..LANES {
                let value = column[lane].single() + price;
                // Masks, not branches: the compiler keeps them in registers.
                let leads = u32::from(value > first[lane]).wrapping_neg();
                let follows = u32::from(value > second[lane]).wrapping_neg();
                let runner_up = (follows & class as u32) | (!follows & next[lane]);
                next[lane] = (leads & best[lane]) | (!leads & runner_up);
                best[lane] = (leads & class as u32) | (!leads & best[lane]);
                second[lane] = larger(second[lane], smaller(first[lane], value));
                first[lane] = larger(first[lane], value);
            }
        }
        for lane in 0..LANES {
            out.best[lanes + lane] = best[lane] as u8;
            out.next[lanes + lane] = next[lane] as u8;
            out.value[lanes + lane] = first[lane];
            out.gap[lanes + lane] = first[lane] - second[lane];
        }
    }
}
