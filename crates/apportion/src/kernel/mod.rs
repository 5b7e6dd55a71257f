//! Passes over rows: tiles of a few hundred rows, stored by column, in code that the compiler vectorizes.
//!
//! A pass loads [`Rows`] range by range from a [`Source`]. It loads a [`Tile`] (from any layout and type of scores),
//! processes it while it is in the first-level cache, and continues with the next. Memory is read once, in order.
//! Values are compared in single precision with a margin for rounding errors; cases within the margin are decided
//! exactly, on the [`Grid`], by the caller.

mod grid;
mod label_totals;
mod rows;
mod simd;
mod sweep;
mod tile;
mod top_two;
#[cfg(target_arch = "x86_64")]
mod wide;

pub use grid::{GRID, Grid};
pub(crate) use label_totals::{LabelTotals, add_label_totals};
pub(crate) use rows::{Layout, Rows, Source, WithZero, at_rows};
pub use simd::SimdLevel;
pub(crate) use simd::{Kernel, Wide, prefetch};
pub(crate) use sweep::{Bounds, Swept, Unsettled, Watch, count_codes, lanes_where, sweep};
pub(crate) use tile::{Real, STRETCH, TILE, Tile};
pub(crate) use top_two::{TopTwo, top_two};
