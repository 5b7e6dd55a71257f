//! Files and score tables: the only crate that reads and writes CSV, Parquet and Arrow.
//!
//! ```text
//! Input (files, memory) ──▶ blocks (rows) ──TableBuilder──▶ Table (scores, keys, groups, truth)
//!                                └─────────── labels ──────────▶ Output (the same rows with labels)
//! ```
//! - `input`: tables in files or in memory, and passes over their rows in blocks of borrowed columns.
//! - `output`: output that appears complete or not at all, and the columns that are written.
//! - `file`: formats, compression, readers and writers; all code that depends on Arrow.
//! - `table`: score columns, class columns, groups, row masks, and score tables in memory or spilled
//!   to disk.
//! - `keyed`: tables of names and places by class.
//!
//! The files are read twice: once for the columns that the rules need, and once to write all rows
//! and columns in order, with the labels. Each row's label, key, group, truth, count and outcome are
//! kept in memory, and its scores if they fit; otherwise the scores are stored in a temporary file.
//! Other columns are not kept. Output appears complete or not at all.
//!
//! The feature `files`, on by default, includes `file` and its dependencies: Arrow, Parquet and CSV.
//! Without it, all tables are in memory ([`MemoryTable::from_columns`]), and `no_files` refuses to
//! read or write tables in files. To check that build:
//!
//! ```text
//! cargo test -p apportion-io --no-default-features
//! cargo tree -p apportion-io --no-default-features -e normal    # no arrow, parquet or csv
//! ```

mod core_message;
mod error;
#[cfg(feature = "files")]
mod file;
#[cfg(not(feature = "files"))]
#[path = "no_files.rs"]
mod file;
mod file_id;
mod input;
mod keyed;
mod output;
mod read_at;
mod system_error;
mod table;

pub use apportion::text::{group_name, quoted};
pub use core_message::core_message;
pub use error::{Error, Location, Result};
#[cfg(feature = "files")]
pub use file::{Batches, Compression, Format, RecordBatch, plain_batch};
pub use file::{
    read_metadata, refuse_nested_columns, write_plain_columns, write_plain_rows, write_replacing_columns,
    write_with_plain_columns,
};
pub use file_id::is_same_file;
pub use input::{
    ColumnBatch, ColumnBatches, DictionaryTexts, Input, InputOptions, NoProgress, NumberColumn, PlainTexts, Progress,
    TextColumn, TextEncoding, TextTable, ValueColumn,
};
pub use keyed::{KeyedFile, KeyedOptions, KeyedTable, PlaceCode, Subject, TableKeys, level_of_code, rank_of_column};
pub use output::{
    Assigned, LabelColumns, METADATA_KEY, Output, PlainColumn, PlainRows, PlainValues, TextList, escape_formula,
    refuse_overwrite, remove_unfinished, wait_if_interrupted, write_atomically, write_folder_atomically,
};
pub use table::{
    Bits, CellDifference, ClassColumn, ClassSettings, Column, ComparedSide, ControlColumn, CountValues, Integers,
    MemoryTable, NumberValues, OtherColumn, OutcomeColumn, RecognizedScores, RowComparison, RowMask, RowReader,
    RowShift, Rows, ScoreColumns, Shared, SharedColumn, SharedValues, Table, TableBatch, TableOptions, TableStream,
    TextBuffer, TextValues, Texts, Validity, Values, Vocabulary, closest_match, did_you_mean, find_scores, same_name,
};
