//! Files: finds and reads input files of all formats as Arrow batches, and writes tables. All code that depends on
//! Arrow is here; without the feature `files`, `no_files` replaces it.
//!
//! Arrow arrays become the columns of tables without copying (`arrow_columns`, `arrow_table`).
//!
//! Reading: `find` and `source` hold the files, `format`, `separator` and `encoding` detect how they are
//! written, `foreign` refuses files of other programs, `batches` opens all others. `text`, `parquet_reader`,
//! `ipc` and `workbook` decode one format each, in threads that read ahead (`read_ahead`). `stable_file`
//! makes sure that a file that is read several times does not change in between.
//!
//! Writing: `output` copies rows with added columns to a `writer`, or column by column from Parquet
//! to Parquet (`parquet_copy`). The added columns are labels (`label_arrays`) or computed by a program
//! (`plain_arrays`).

mod arrow_columns;
mod arrow_table;
mod batches;
mod counting_reader;
mod csv_writer;
mod decode;
mod encoding;
mod explain;
mod find;
mod foreign;
mod format;
mod guard;
mod identical_columns;
mod ipc;
mod label_arrays;
mod metadata;
mod nested_columns;
mod output;
mod page_header;
mod parquet_copy;
mod parquet_reader;
mod plain_arrays;
mod quotes;
mod read_ahead;
mod safe_csv;
mod separator;
mod source;
mod stable_file;
mod text;
mod workbook;
mod write_error;
mod writer;

pub use arrow_array::RecordBatch;
pub use batches::Batches;
pub use format::{Compression, Format};
pub use metadata::read_metadata;
pub use nested_columns::refuse_nested_columns;
pub use plain_arrays::{
    plain_batch, write_plain_columns, write_plain_rows, write_replacing_columns, write_with_plain_columns,
};

#[cfg(test)]
pub(crate) use arrow_columns::block_of;
pub(crate) use arrow_columns::{ArrowCodes, ArrowColumn, ArrowTexts};
pub(crate) use arrow_table::BatchSchema;
pub(crate) use batches::{column_names, file_blocks};
pub(crate) use find::find_sources;
pub(crate) use source::{Source, encoding_note, format_note};
pub(crate) use stable_file::is_changed;
