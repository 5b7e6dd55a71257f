//! Files and score tables: the only crate that reads and writes CSV, Parquet and Arrow.
//!
//! ```text
//! Input (files) ──open──▶ Batches (rows) ──TableBuilder──▶ Table (scores, keys, groups, truth)
//!                                 └────────── labels ──────────▶ Output (the same rows with labels)
//! ```
//! - `file`: input files, formats, compression, readers, writers and atomic output.
//! - `table`: score columns, class columns, groups, row masks, and score tables in memory or spilled
//!   to disk.
//! - `keyed`: tables of names and places by class.
//!
//! The files are read twice: once for what the rules need, and once to write each row and column
//! again, in order, with the labels. A row's label, key, group, truth, count and outcome are kept in
//! memory; so are its scores while they fit, otherwise they are stored in a temporary file. Nothing
//! else of a row is kept. Output appears complete or not at all.
//!
//! The feature `files`, on by default, is all of `file` and what it depends on: Arrow, Parquet and
//! CSV. Without it, tables are built from columns in memory ([`Table::from_memory`],
//! [`KeyedFile::from_columns`]). To check that build:
//!
//! ```text
//! cargo test -p apportion-io --no-default-features
//! cargo tree -p apportion-io --no-default-features -e normal    # no arrow, parquet or csv
//! ```

mod core_message;
mod error;
#[cfg(feature = "files")]
mod file;
mod keyed;
mod read_at;
mod table;

pub use apportion::text::{group_name, quoted};
#[cfg(feature = "files")]
pub use arrow::array::RecordBatch;
pub use core_message::core_message;
pub use error::{Error, Location, Result};
#[cfg(feature = "files")]
pub use file::{
    AddedColumns, Assigned, Batches, ColumnReader, Compression, Format, Input, InputOptions, LabelColumns,
    METADATA_KEY, NoProgress, Output, PlainColumn, PlainRows, PlainValues, Progress, TextList, TextTable, is_same_file,
    plain_batch, read_metadata, refuse_nested_columns, refuse_overwrite, remove_unfinished, wait_if_interrupted,
    write_atomically, write_batches, write_folder_atomically, write_plain_columns, write_plain_rows,
    write_with_columns, write_with_plain_columns,
};
#[cfg(feature = "files")]
pub use file::{ColumnBatch, ColumnBatches, DictionaryTexts, NumberColumn, PlainTexts, TextColumn, ValueColumn};
pub use keyed::{KeyedFile, KeyedOptions, KeyedTable, PlaceCode, Subject, TableKeys, level_of_code, rank_of_column};
pub use table::{
    Bits, ClassColumn, ClassSettings, Column, Integers, MemoryTable, OtherColumn, OutcomeColumn, RecognizedScores,
    RowMask, ScoreColumns, Shared, SharedColumn, SharedValues, Table, TableOptions, TextBuffer, Texts, Validity,
    Values, closest_match, did_you_mean, find_scores, same_name,
};
#[cfg(feature = "files")]
pub use table::{
    CellDifference, ComparedSide, CountValues, NumberValues, RowComparison, RowReader, RowShift, Rows, TableBatch,
    TableStream, TextValues,
};
