//! Atomic output, and the columns to write: those computed by a program, and labels.
//!
//! `atomic_write` gives a file its name when it is complete. `plain_columns` contains new columns as plain values, and
//! `label_columns` the labels of a table's rows. `file` writes tables.

mod atomic_write;
mod formula;
mod label_columns;
mod plain_columns;

use std::path::Path;

use crate::error::{Error, Result};
use crate::input::Input;

pub use atomic_write::{remove_unfinished, wait_if_interrupted, write_atomically, write_folder_atomically};
pub use formula::escape_formula;
pub use label_columns::{Assigned, LabelColumns};
pub use plain_columns::{PlainColumn, PlainRows, PlainValues, TextList};

#[cfg(feature = "files")]
pub(crate) use atomic_write::{PendingFile, PendingFolder, folder_of, new_private, refuse_links_below};

/// The metadata key of the provenance record, in Parquet and Arrow files.
pub const METADATA_KEY: &str = "apportion";

/// The path and options for writing a table.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// A file, a folder (one file per input), or `-` for standard output.
    pub path: String,
    /// Whether to replace an existing file.
    pub force: bool,
    /// Input columns to keep; `None` keeps all.
    pub keep: Option<Vec<String>>,
    /// Key-value metadata for Parquet and Arrow files.
    pub metadata: Vec<(String, String)>,
    /// Whether CSV and TSV text that a spreadsheet could run as a formula gets an apostrophe.
    pub safe_csv: bool,
}

/// Refuses to overwrite an input, or an existing file without `force`.
pub fn refuse_overwrite(path: &Path, input: Option<&Input>, force: bool) -> Result<()> {
    if input.is_some_and(|input| input.contains(path)) {
        return Err(Error::file(path, "this is an input, and inputs are never overwritten; choose another output"));
    }
    if path.exists() && !force {
        return Err(Error::exists(path));
    }
    Ok(())
}
