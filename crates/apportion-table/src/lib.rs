//! Score tables in files: the only crate that knows CSV, Parquet and Arrow.
//!
//! ```text
//! Input (which files) ──open──▶ Batches (what is in them) ──take──▶ Table (scores, keys, groups, truth, labels, counts)
//!                                        └──────────── labels ────────────▶ Output (the same rows, and their labels)
//! ```
//! The files are read twice: once for what the rules need, and once to write every column and row again, in order, with
//! the labels beside them. Of a row, a byte or two for its label, its key, group, truth, count and outcome are kept in
//! memory; its scores, too, while they fit, and else in a temporary file that is read again. Nothing else of a row is
//! kept. Output appears whole or not at all.

mod append;
mod atomic_write;
mod code;
mod coded;
mod columns;
mod error;
mod guard;
mod held;
mod input;
mod ipc;
mod kept;
mod keyed;
mod metadata;
mod nearest;
mod nested;
mod number;
mod outcome;
mod output;
mod page_header;
mod progress;
mod quotes;
mod read;
mod read_ahead;
mod safe_csv;
mod separator;
mod side;
mod stable_file;
mod stream;
mod table;
mod take;
mod text;
mod values;

pub use apportion::text::{group_name, quoted};
pub use atomic_write::{remove_unfinished, wait_if_interrupted, write_atomically, write_folder_atomically};
pub use code::{Code, code_of_number, code_of_text, level_of_code, rank_of_column};
pub use coded::ClassColumn;
pub use columns::{Found, ScoreColumns, find_scores, same_name};
pub use error::{Error, Result};
pub use held::Held;
pub use input::{Format, Input, InputOptions, Packing, is_same_file};
pub use kept::KeptRows;
pub use keyed::{KeyedFile, KeyedOptions, KeyedTable, Subject, TableKeys};
pub use metadata::{KEY as METADATA_KEY, read_metadata};
pub use nearest::{did_you_mean, nearest};
pub use nested::refuse_nested;
pub use outcome::OutcomeColumn;
pub use output::{Added, Output, refuse_taken, write_batches, write_labelled};
pub use progress::{Progress, Silent};
pub use read::Batches;
pub use side::Side;
pub use stream::{Piece, TableStream};
pub use table::{Table, TableOptions};
