//! Files: which ones to read, their formats, their rows as Arrow batches, and output that appears
//! complete or not at all.
//!
//! Arrow arrays become the columns of tables without copying (`arrow_columns`).
//!
//! Reading: `find` and `input` hold the files, `format` and `separator` detect how they are
//! written, `batches` opens them. `text`, `parquet_reader` and `ipc` decode one format each, in
//! threads that read ahead (`read_ahead`). `stable_file` makes sure that a file that is read several
//! times does not change in between.
//!
//! Writing: `output` copies rows with added columns to a `writer`, or column by column from Parquet
//! to Parquet (`parquet_copy`). The added columns are labels (`label_columns`) or made by a program
//! (`new_columns`). `atomic_write` gives a file its name when it is complete.

mod arrow_columns;
mod atomic_write;
mod batches;
mod column_batch;
mod column_reader;
mod decode;
mod errors;
mod explain;
mod find;
mod format;
mod guard;
mod identical_columns;
mod input;
mod ipc;
mod label_columns;
mod metadata;
mod nested_columns;
mod output;
mod page_header;
mod parquet_copy;
mod parquet_reader;
mod plain_columns;
mod progress;
mod quotes;
mod read_ahead;
mod safe_csv;
mod separator;
mod stable_file;
mod text;
mod text_table;
mod writer;

pub use atomic_write::{remove_unfinished, wait_if_interrupted, write_atomically, write_folder_atomically};
pub use batches::Batches;
pub use column_batch::{
    ColumnBatch, ColumnBatches, DictionaryTexts, NumberColumn, PlainTexts, TextColumn, ValueColumn,
};
pub use column_reader::ColumnReader;
pub use format::{Compression, Format};
pub use input::{Input, InputOptions, is_same_file};
pub use label_columns::{Assigned, LabelColumns};
pub use metadata::{KEY as METADATA_KEY, read_metadata};
pub use nested_columns::refuse_nested_columns;
pub use output::{AddedColumns, Output, refuse_overwrite, write_batches, write_with_columns};
pub use plain_columns::{
    PlainColumn, PlainRows, PlainValues, TextList, plain_batch, write_plain_columns, write_plain_rows,
    write_with_plain_columns,
};
pub use progress::{NoProgress, Progress};
pub use text_table::TextTable;

pub(crate) use arrow_columns::{array_of, column_of, columns_of, data_type_of};
