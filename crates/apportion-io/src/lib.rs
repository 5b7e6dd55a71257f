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

mod error;
mod file;
mod keyed;
mod table;

pub use apportion::{group_name, quoted};
pub use error::{Error, Result};
pub use file::{
    AddedColumns, Batches, ColumnReader, Compression, Format, Input, InputOptions, METADATA_KEY, NoProgress, Output,
    Progress, is_same_file, read_metadata, refuse_nested_columns, refuse_overwrite, remove_unfinished,
    wait_if_interrupted, write_atomically, write_batches, write_folder_atomically, write_with_columns,
};
pub use keyed::{KeyedFile, KeyedOptions, KeyedTable, PlaceCode, Subject, TableKeys, level_of_code, rank_of_column};
pub use table::{
    ClassColumn, MemoryTable, OutcomeColumn, RecognizedScores, RowMask, ScoreColumns, Table, TableBatch, TableOptions,
    TableStream, closest_match, did_you_mean, find_scores, same_name,
};
