//! The passes over rows: tiles of a few hundred rows, column by column, in code that the compiler vectorises.
//!
//! A pass brings [`Rows`] to hand, stretch by stretch, from wherever the [`Source`] has them. It loads a [`Tile`] (whatever the layout and the type of the scores), runs over it
//! while it lies in the first-level cache, and goes on to the next. Memory is read once, in order. Values are compared
//! in single precision with a margin for its error; what falls within the margin is settled exactly, on the
//! [`Grid`], by whoever asked for the pass.

mod grid;
mod rows;
mod simd;
mod sweep;
mod tile;
mod top_two;
#[cfg(target_arch = "x86_64")]
mod wide;

pub use grid::{GRID, Grid};
pub(crate) use rows::{Layout, Rows, Source, WithZero, at_rows};
pub use simd::SimdLevel;
pub(crate) use simd::{Kernel, Wide, prefetch};
pub(crate) use sweep::{Bounds, Swept, Unsettled, Watch, count_codes, lanes_where, sweep};
pub(crate) use tile::{Real, STRETCH, TILE, Tile};
pub(crate) use top_two::{TopTwo, top_two};
