//! The input: one file, several files, a folder, a glob, a Hive-partitioned folder, standard input, or a table in memory;
//! and passes over its rows.
//!
//! `blocks` opens one table of an input, from a file or from memory. `column_batch` reads columns whose values are
//! looked up, and `text_table` reads a small table as text.

mod blocks;
mod column_batch;
mod progress;
mod text_table;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use apportion::text::Message;
use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::file::{Source, column_names, encoding_note, find_sources, format_note};
use crate::file_id::is_same_file;
use crate::table::MemoryTable;

pub(crate) use blocks::{BlockReader, Blocks, Reading};
pub use column_batch::{
    ColumnBatch, ColumnBatches, DictionaryTexts, NumberColumn, PlainTexts, TextColumn, ValueColumn,
};
pub use progress::{NoProgress, Progress};
pub use text_table::TextTable;

/// The encoding of text without a byte order mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-8; or Windows-1252, if no character of the file is valid in UTF-8 except ASCII.
    #[default]
    Auto,
    /// UTF-8.
    Utf8,
    /// Windows-1252, which includes Latin-1.
    Windows1252,
}

/// Settings for reading files.
#[derive(Clone, Debug)]
pub struct InputOptions {
    /// The encoding of text without a byte order mark.
    pub encoding: TextEncoding,
    /// The separator of values; detected from the first line if not set.
    pub delimiter: Option<u8>,
    /// The sheet of workbooks; the first one if not set.
    pub sheet: Option<String>,
    /// Rows per batch. Results do not depend on it.
    pub batch_rows: usize,
    /// Maximum length of a line in bytes, so that a damaged file cannot exhaust memory.
    pub max_line: usize,
}

impl Default for InputOptions {
    fn default() -> InputOptions {
        InputOptions {
            encoding: TextEncoding::Auto,
            delimiter: None,
            sheet: None,
            batch_rows: 1 << 16,
            max_line: 16 << 20,
        }
    }
}

/// Tables that are read in order, as often as needed: files, or one table in memory.
#[derive(Debug)]
pub struct Input {
    pub(crate) files: Vec<Source>,
    pub(crate) options: InputOptions,
    progress: Arc<dyn Progress>,
    /// Rows and bytes read in the current pass.
    rows: AtomicU64,
    bytes: AtomicU64,
    /// Folders given by the user; all tables in them are read.
    folders: Vec<PathBuf>,
    /// Files in these folders that are not tables.
    skipped: Vec<PathBuf>,
    /// Other files that must not be overwritten.
    protected: Vec<PathBuf>,
    /// Total size in bytes up to the end of each file.
    cumulative_bytes: Vec<u64>,
    /// Whether the note about detected encodings was sent.
    is_encoding_noted: AtomicBool,
    /// Temporary copies of pipes, so that they can be read twice. Removed on drop.
    _spools: Vec<NamedTempFile>,
}

/// The tables that the user's paths refer to.
#[derive(Debug)]
pub(crate) struct FoundSources {
    pub(crate) files: Vec<Source>,
    /// Files in folders that are not tables.
    pub(crate) skipped: Vec<PathBuf>,
    /// Temporary copies of pipes.
    pub(crate) spools: Vec<NamedTempFile>,
}

impl Input {
    /// Finds the input files: `-` is standard input, a folder means all tables in it, and `*` and
    /// `?` are expanded.
    pub fn new(paths: &[String], options: InputOptions) -> Result<Input> {
        if paths.iter().filter(|path| *path == "-").count() > 1 {
            return Err(Error::settings("standard input is given twice, but it can be read only once; give it once"));
        }
        let FoundSources { files, skipped, spools } = find_sources(paths, &options)?;
        if files.is_empty() {
            return Err(Error::settings("no input file; give a path, or - for standard input"));
        }
        let folders = paths.iter().map(PathBuf::from).filter(|path| path.is_dir()).collect();
        Ok(Input { folders, skipped, _spools: spools, ..Input::from_sources(files, options) })
    }

    /// Creates an input from a table in memory; `name` is used in messages.
    pub fn from_memory(name: &str, table: MemoryTable, options: InputOptions) -> Input {
        Input::from_sources(vec![Source::in_memory(name, table)], options)
    }

    fn from_sources(files: Vec<Source>, options: InputOptions) -> Input {
        let mut total = 0;
        let mut cumulative_bytes = Vec::with_capacity(files.len());
        for file in &files {
            total += file.bytes();
            cumulative_bytes.push(total);
        }
        Input {
            files,
            options,
            progress: Arc::new(NoProgress),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            cumulative_bytes,
            folders: Vec::new(),
            skipped: Vec::new(),
            protected: Vec::new(),
            is_encoding_noted: AtomicBool::new(false),
            _spools: Vec::new(),
        }
    }

    /// Sets the receiver of progress reports.
    pub fn with_progress(self, progress: Box<dyn Progress>) -> Input {
        Input { progress: progress.into(), ..self }
    }

    /// Returns the receiver of progress reports.
    pub(crate) fn progress(&self) -> Arc<dyn Progress> {
        self.progress.clone()
    }

    /// Starts a pass over the files.
    pub(crate) fn begin(&self, what: &'static str) {
        self.rows.store(0, Ordering::Relaxed);
        self.progress.begin(what, self.cumulative_bytes.last().copied().unwrap_or(0));
    }

    /// Reports that `rows` more rows have been read, and `bytes` bytes of a file so far.
    pub(crate) fn report_progress(&self, file: usize, rows: u64, bytes: u64) {
        let rows = rows + self.rows.fetch_add(rows, Ordering::Relaxed);
        let before = if file == 0 { 0 } else { self.cumulative_bytes[file - 1] };
        self.bytes.store(before + bytes, Ordering::Relaxed);
        self.progress.update(rows, before + bytes);
    }

    /// Estimates the total number of rows from those read so far.
    pub(crate) fn expected_rows(&self) -> u64 {
        let (rows, bytes) = (self.rows.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed).max(1));
        let all = self.cumulative_bytes.last().copied().unwrap_or(0);
        (rows as f64 * (all as f64 / bytes as f64).max(1.0)) as u64
    }

    /// Returns whether the operation was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }

    /// Ends a pass over the files. The first time, sends a note about encodings that the pass detected.
    pub(crate) fn end(&self) {
        self.progress.end();
        if let Some(note) = self.encoding_note()
            && !self.is_encoding_noted.swap(true, Ordering::Relaxed)
        {
            self.progress.note(note);
        }
    }

    /// Returns a table if it is in memory.
    pub fn memory_table(&self, file: usize) -> Option<&MemoryTable> {
        self.files[file].memory()
    }

    /// Returns the column names of a table.
    ///
    /// # Errors
    /// If a file cannot be read, or two columns have the same name.
    pub fn columns(&self, file: usize) -> Result<Vec<String>> {
        let Some(table) = self.memory_table(file) else { return column_names(self, file) };
        let names = table.column_names();
        match names.iter().enumerate().find(|(index, name)| names[..*index].contains(name)) {
            Some((_, name)) => {
                Err(Error::file(self.name(file), format!("two columns are named {name:?}; rename one of them")))
            }
            None => Ok(names),
        }
    }

    /// Returns the names of the files as shown to the user.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.files.iter().map(Source::name)
    }

    /// Returns the name of a file as shown to the user.
    pub fn name(&self, file: usize) -> &Path {
        self.files[file].name()
    }

    /// Returns the name that each file has in an output folder.
    pub fn output_names(&self) -> impl Iterator<Item = &OsStr> {
        self.files.iter().filter_map(Source::output_name)
    }

    /// Returns the path of a file, or of its temporary copy if it was a pipe; an empty path for a table in memory.
    pub fn path(&self, file: usize) -> &Path {
        self.files[file].path().unwrap_or(Path::new(""))
    }

    /// Checks that no file has changed since it was first opened.
    #[cfg(feature = "files")]
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        self.files.iter().try_for_each(Source::check_unchanged)
    }

    /// Returns a sentence that lists skipped files, if any.
    pub fn skipped_note(&self) -> Option<Message> {
        (!self.skipped.is_empty()).then(|| format!("skipped (not a table): {}", list_paths(&self.skipped)).into())
    }

    /// Returns the separator of a file, if it is text.
    pub(crate) fn separator(&self, file: usize) -> Option<u8> {
        self.files[file].separator()
    }

    /// Returns a sentence about the separators and sheets that were chosen, unless the user set them or they are the
    /// only ones.
    pub fn format_note(&self) -> Option<Message> {
        format_note(&self.files, &self.options)
    }

    /// Returns a sentence that lists the files that were detected as Windows-1252 so far.
    pub fn encoding_note(&self) -> Option<Message> {
        encoding_note(&self.files)
    }

    /// Returns whether a file is a workbook, which has sheets.
    pub fn has_workbook(&self) -> bool {
        self.files.iter().any(Source::is_workbook)
    }

    /// Returns the input folder in which a later run would find a table written to this path.
    pub fn folder_containing(&self, path: &Path) -> Option<&Path> {
        // The path need not exist: its first existing ancestor is resolved.
        let resolve = |ancestor| Some((ancestor, or_current_folder(ancestor).canonicalize().ok()?));
        let (ancestor, resolved) = path.ancestors().find_map(resolve)?;
        let resolved = resolved.join(path.strip_prefix(ancestor).unwrap_or(path));
        let is_read = |folder: &&PathBuf| {
            let Ok(folder) = folder.canonicalize() else { return false };
            let Ok(relative) = resolved.strip_prefix(folder) else { return false };
            !relative.as_os_str().is_empty() && !relative.iter().any(|part| is_hidden(Path::new(part)))
        };
        self.folders.iter().find(is_read).map(PathBuf::as_path)
    }

    /// Treats a file like an input that must not be overwritten.
    #[must_use]
    pub fn with_protected(mut self, path: impl Into<PathBuf>) -> Input {
        self.protected.push(path.into());
        self
    }

    /// Returns whether a path is one of the input files.
    pub fn contains(&self, path: &Path) -> bool {
        let Ok(metadata) = std::fs::metadata(path) else { return false };
        self.files.iter().any(|file| file.is_at(path, &metadata))
            || self.protected.iter().any(|own| is_same_file(own, path))
    }
}

/// Returns whether a file or folder is skipped because of its name.
pub(crate) fn is_hidden(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with(['.', '_']))
}

/// Returns the path, or the current folder if it is empty.
fn or_current_folder(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Lists the first few paths and the number of others.
pub(crate) fn list_paths(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 5;
    let shown = paths.iter().take(SHOWN).map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    if paths.len() > SHOWN { format!("{shown} and {} more", paths.len() - SHOWN) } else { shown }
}
