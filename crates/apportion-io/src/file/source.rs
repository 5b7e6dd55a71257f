//! One input table: a file with its format, or a table in memory.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use apportion::text::Message;
use arrow_schema::SchemaRef;

use super::format::{Compression, Format, default_delimiter, is_text};
use super::separator::SEPARATORS;
use super::stable_file::StableFile;
use super::workbook::Sheet;
use crate::error::{Error, Result};
use crate::file_id::FileId;
use crate::input::{InputOptions, list_paths};
use crate::table::MemoryTable;

/// Maximum number of workbooks whose sheets are listed.
const SHOWN: usize = 5;

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
    /// Whether text without a byte order mark is Windows-1252, after an invalid byte has been found.
    pub(crate) is_windows_1252: Arc<OnceLock<bool>>,
    /// The sheet that is read, if the format is that of workbooks.
    pub(crate) sheet: Arc<Sheet>,
    /// The file that was redirected to standard input, if this is its copy.
    pub(crate) redirected: Option<FileId>,
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
        Source::new(Content::Memory(table), Path::new(name), (Format::Ipc, Compression::None))
    }

    /// Returns a table with default settings.
    pub(crate) fn new(content: Content, name: &Path, (format, compression): (Format, Compression)) -> Source {
        Source {
            content,
            name: name.to_owned(),
            relative_path: PathBuf::new(),
            format,
            compression,
            separator: default_delimiter(format),
            is_windows_1252: Arc::default(),
            sheet: Arc::default(),
            redirected: None,
            schema: OnceLock::new(),
            partitions: Vec::new(),
        }
    }

    /// Returns the name shown to the user.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the name of the file in an output folder.
    pub(crate) fn output_name(&self) -> Option<&OsStr> {
        self.relative_path.file_name()
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
        let is_redirected = self.redirected.is_some() && self.redirected == FileId::of(metadata);
        is_redirected || self.file().is_some_and(|stable| stable.is_at(path, metadata))
    }

    /// Returns whether the file is a workbook, which has sheets.
    pub(crate) fn is_workbook(&self) -> bool {
        self.format == Format::Xlsx
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

/// Returns a sentence about separators that differ from the default of their extension and sheets that are not the only
/// one, unless the user set them.
pub(crate) fn format_note(files: &[Source], options: &InputOptions) -> Option<Message> {
    let mut sentences: Vec<Message> = Vec::new();
    if options.delimiter.is_none() {
        sentences.extend(separator_sentences(files));
    }
    if options.sheet.is_none() {
        sentences.extend(files.iter().filter_map(|file| file.sheet.note(&file.name)).take(SHOWN));
    }
    let mut sentences = sentences.into_iter();
    let first = sentences.next()?;
    Some(sentences.fold(first, |all, sentence| all + "; " + sentence))
}

fn separator_sentences(files: &[Source]) -> Vec<Message> {
    let is_unusual = |file: &&Source| is_text(file.format) && file.separator != default_delimiter(file.format);
    let mut by_separator: BTreeMap<u8, Vec<PathBuf>> = BTreeMap::new();
    for file in files.iter().filter(is_unusual) {
        by_separator.entry(file.separator).or_default().push(file.name.clone());
    }
    let sentence = |(separator, paths): (u8, Vec<PathBuf>)| {
        let name = SEPARATORS.iter().find(|(own, _)| *own == separator);
        let name = name.map_or_else(|| format!("{:?}", char::from(separator)), |(_, name)| (*name).to_owned());
        format!("values are separated by {name}: {}", list_paths(&paths)).into()
    };
    by_separator.into_iter().map(sentence).collect()
}

/// Returns a sentence that lists the files that were detected as Windows-1252 so far.
pub(crate) fn encoding_note(files: &[Source]) -> Option<Message> {
    let detected = files.iter().filter(|file| file.is_windows_1252.get() == Some(&true));
    let paths: Vec<PathBuf> = detected.map(|file| file.name.clone()).collect();
    let note = || Message::from(format!("not UTF-8, read as Windows-1252: {}", list_paths(&paths)));
    (!paths.is_empty()).then(note)
}
