//! One input table: a file with its format, or a table in memory.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use apportion::text::Message;
use arrow::datatypes::SchemaRef;

use super::format::{Compression, Format, default_delimiter, is_text};
use super::separator::SEPARATORS;
use super::stable_file::StableFile;
use crate::error::{Error, Result};
use crate::input::{InputOptions, list_paths};
use crate::table::MemoryTable;

/// One input table.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) content: Content,
    /// The name shown to the user.
    pub(crate) name: PathBuf,
    /// The path relative to the folder given by the user.
    pub(crate) relative_path: PathBuf,
    pub(crate) format: Format,
    pub(crate) compression: Compression,
    /// The separator of values, if the format is text.
    pub(crate) separator: u8,
    /// The schema, after it has been read.
    pub(crate) schema: OnceLock<SchemaRef>,
    /// Columns from folder names such as `state=NC`; `None` marks a missing value.
    pub(crate) partitions: Vec<(String, Option<String>)>,
}

/// The storage of a table's rows.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    File(Arc<StableFile>),
    Memory(MemoryTable),
}

impl Source {
    /// Returns a table in memory; `name` is used in messages.
    pub(crate) fn in_memory(name: &str, table: MemoryTable) -> Source {
        Source {
            content: Content::Memory(table),
            name: PathBuf::from(name),
            relative_path: PathBuf::new(),
            format: Format::Ipc,
            compression: Compression::None,
            separator: default_delimiter(Format::Ipc),
            schema: OnceLock::new(),
            partitions: Vec::new(),
        }
    }

    /// Returns the name shown to the user.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the table, if it is in memory.
    pub(crate) fn memory(&self) -> Option<&MemoryTable> {
        match &self.content {
            Content::Memory(table) => Some(table),
            Content::File(_) => None,
        }
    }

    /// Returns the path of the file, or of its temporary copy if it was a pipe.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.file().map(|stable| stable.path())
    }

    /// Returns whether an existing path with this metadata refers to the file.
    pub(crate) fn is_at(&self, path: &Path, metadata: &Metadata) -> bool {
        self.file().is_some_and(|stable| stable.is_at(path, metadata))
    }

    /// Returns the separator, if the table is a text file.
    pub(crate) fn separator(&self) -> Option<u8> {
        is_text(self.format).then_some(self.separator)
    }

    /// Checks that the file has not changed since it was first opened.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        match self.file() {
            Some(stable) => stable.check().map_err(|error| Error::io(&self.name, &error)),
            None => Ok(()),
        }
    }

    /// Returns the size in bytes, or the number of rows for a table in memory.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.content {
            Content::Memory(table) => table.rows() as u64,
            Content::File(stable) => stable.size(),
        }
    }

    /// Returns the file, unless the table is in memory.
    pub(crate) fn file(&self) -> Option<&Arc<StableFile>> {
        match &self.content {
            Content::Memory(_) => None,
            Content::File(stable) => Some(stable),
        }
    }
}

/// Returns a sentence that lists files whose separator differs from the default of their extension, unless the user set it.
pub(crate) fn separator_note(files: &[Source], options: &InputOptions) -> Option<Message> {
    if options.delimiter.is_some() {
        return None;
    }
    let mut sentences = Vec::new();
    for (separator, name) in SEPARATORS {
        let is_unusual = |file: &&Source| {
            is_text(file.format) && file.separator == separator && separator != default_delimiter(file.format)
        };
        let paths: Vec<PathBuf> = files.iter().filter(is_unusual).map(|file| file.name.clone()).collect();
        if !paths.is_empty() {
            sentences.push(format!("values are separated by {name}: {}", list_paths(&paths)));
        }
    }
    (!sentences.is_empty()).then(|| sentences.join("; ").into())
}
