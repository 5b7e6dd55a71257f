//! Score tables in files: the only crate that knows CSV, Parquet and Arrow.
//!
//! ```text
//! Input (which files) ──open──▶ Batches (what is in them) ──Columns──▶ Table (scores, keys, groups, truth, counts)
//!                                        └──────────── labels ────────────▶ Output (the same rows, and their labels)
//! ```
//! A table is read twice: once for what the rules need, which is kept in memory, and once to write every column and row
//! again, in order, with the labels beside them. Nothing else of a row is kept. Output appears whole or not at all.

mod columns;
mod error;
mod input;
mod nearest;
mod output;
mod read;
mod table;
mod truth;
mod unfinished;

pub use columns::{Found, ScoreColumns, find_scores, same_name};
pub use error::{Error, Result};
pub use input::{Format, Input, InputOptions, Packing};
pub use nearest::{did_you_mean, nearest};
pub use output::{Added, Output, write_batches, write_labelled};
pub use read::Batches;
pub use table::{Table, TableOptions, TruthOptions};
pub use unfinished::{remove_unfinished, write_whole};
