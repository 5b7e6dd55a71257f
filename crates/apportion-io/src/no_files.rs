//! Replaces `file` without the feature `files`: tables are in memory, and each function that would read or write a table in
//! a file returns the same error.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use apportion::text::Message;

use crate::error::{Error, Result};
use crate::input::{Blocks, FoundSources, Input, InputOptions, Reading};
use crate::output::{Assigned, LabelColumns, Output, PlainColumn, PlainRows};
use crate::table::{Column, MemoryTable, Shared, Table};

/// Returns the error for a table in a file.
fn no_files(path: &Path) -> Error {
    Error::file(path, "this build of apportion does not read or write table files; use a table in memory")
}

/// One input table.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    name: PathBuf,
    table: MemoryTable,
}

impl Source {
    /// Returns a table in memory; `name` is used in messages.
    pub(crate) fn in_memory(name: &str, table: MemoryTable) -> Source {
        Source { name: PathBuf::from(name), table }
    }

    /// Returns the name shown to the user.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the number of rows.
    pub(crate) fn bytes(&self) -> u64 {
        self.table.rows() as u64
    }

    pub(crate) fn memory(&self) -> Option<&MemoryTable> {
        Some(&self.table)
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        None
    }

    pub(crate) fn is_at(&self, _: &Path, _: &Metadata) -> bool {
        false
    }

    pub(crate) fn separator(&self) -> Option<u8> {
        None
    }

    pub(crate) fn output_name(&self) -> Option<&OsStr> {
        None
    }

    pub(crate) fn is_workbook(&self) -> bool {
        false
    }
}

/// The schema of Arrow batches, which cannot exist in this build.
pub(crate) type BatchSchema = Infallible;

/// An Arrow array, which cannot exist in this build.
#[derive(Clone, Debug)]
pub(crate) struct ArrowColumn(Infallible);

impl ArrowColumn {
    pub(crate) fn column(&self) -> Column<'_> {
        match self.0 {}
    }

    pub(crate) fn slice(&self, _: &Range<usize>) -> ArrowColumn {
        match self.0 {}
    }

    pub(crate) fn singles(&self) -> Option<Shared<f32>> {
        match self.0 {}
    }

    pub(crate) fn doubles(&self) -> Option<Shared<f64>> {
        match self.0 {}
    }

    pub(crate) fn join(pieces: &[ArrowColumn]) -> Result<Option<ArrowColumn>> {
        match pieces.first() {
            Some(first) => match first.0 {},
            None => Ok(None),
        }
    }

    pub(crate) fn texts(&self) -> Option<ArrowTexts> {
        match self.0 {}
    }

    pub(crate) fn dictionary(&self) -> Option<(ArrowCodes, ArrowTexts)> {
        match self.0 {}
    }
}

/// Texts of an Arrow array, which cannot exist in this build.
#[derive(Clone, Debug)]
pub(crate) struct ArrowTexts(Infallible);

impl ArrowTexts {
    pub(crate) fn len(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn get(&self, _: usize) -> &str {
        match self.0 {}
    }

    pub(crate) fn is_same_memory(&self, _: &ArrowTexts) -> bool {
        match self.0 {}
    }
}

/// Indices of an Arrow dictionary, which cannot exist in this build.
#[derive(Clone, Debug)]
pub(crate) struct ArrowCodes(Infallible);

impl ArrowCodes {
    pub(crate) fn len(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn get(&self, _: usize) -> Option<usize> {
        match self.0 {}
    }
}

pub(crate) fn find_sources(paths: &[String], _: &InputOptions) -> Result<FoundSources> {
    match paths.first() {
        Some(path) => Err(no_files(Path::new(path))),
        None => Ok(FoundSources { files: Vec::new(), skipped: Vec::new(), spools: Vec::new() }),
    }
}

pub(crate) fn column_names(input: &Input, file: usize) -> Result<Vec<String>> {
    Err(no_files(input.name(file)))
}

pub(crate) fn file_blocks<'a>(
    input: &'a Input,
    file: usize,
    _: &dyn Fn(&str) -> bool,
    _: Reading,
) -> Result<Blocks<'a>> {
    Err(no_files(input.name(file)))
}

pub(crate) fn format_note(_: &[Source], _: &InputOptions) -> Option<Message> {
    None
}

pub(crate) fn encoding_note(_: &[Source]) -> Option<Message> {
    None
}

pub(crate) fn is_changed(_: &std::io::Error) -> bool {
    false
}

impl Input {
    /// Returns an empty list, because tables in memory have no files to compare.
    pub fn identical_columns(&self, _: &Input) -> Vec<String> {
        Vec::new()
    }
}

impl Output {
    /// Refuses any output.
    ///
    /// # Errors
    /// Always.
    pub fn check(&self, _: Option<&Input>) -> Result<()> {
        Err(no_files(Path::new(&self.path)))
    }
}

impl LabelColumns {
    /// Refuses any output.
    ///
    /// # Errors
    /// Always.
    pub fn write(&self, _: &Input, output: &Output, _: &Table, _: Assigned<'_>) -> Result<Vec<PathBuf>> {
        Err(no_files(Path::new(&output.path)))
    }
}

/// Refuses any output.
///
/// # Errors
/// Always.
pub fn write_plain_columns(output: &Output, _: Vec<PlainColumn>) -> Result<Vec<PathBuf>> {
    Err(no_files(Path::new(&output.path)))
}

/// Refuses any output.
///
/// # Errors
/// Always.
pub fn write_plain_rows(output: &Output, _: PlainRows, _: impl Iterator<Item = PlainRows>) -> Result<Vec<PathBuf>> {
    Err(no_files(Path::new(&output.path)))
}

/// Refuses any output.
///
/// # Errors
/// Always.
pub fn write_with_plain_columns(
    _: &Input,
    output: &Output,
    _: &[PlainColumn],
    _: Option<usize>,
    _: &mut dyn FnMut(usize, usize) -> Result<Vec<PlainColumn>>,
) -> Result<Vec<PathBuf>> {
    Err(no_files(Path::new(&output.path)))
}

/// Refuses any output.
///
/// # Errors
/// Always.
pub fn write_replacing_columns(
    _: &Input,
    output: &Output,
    _: &[PlainColumn],
    _: Option<usize>,
    _: &mut dyn FnMut(usize, usize) -> Result<Vec<PlainColumn>>,
) -> Result<Vec<PathBuf>> {
    Err(no_files(Path::new(&output.path)))
}

/// Refuses any output.
///
/// # Errors
/// Always.
pub fn refuse_nested_columns(_: &Input, output: &Output) -> Result<()> {
    Err(no_files(Path::new(&output.path)))
}

/// Returns `None`, because only Parquet and Arrow files have metadata.
///
/// # Errors
/// If the file is a Parquet or Arrow file.
pub fn read_metadata(path: &Path, _: &str) -> Result<Option<String>> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| Error::io(path, &error))?;
    file.take(6).read_to_end(&mut start).map_err(|error| Error::io(path, &error))?;
    let is_table = [&b"PAR1"[..], b"ARROW1", b"\xff\xff\xff\xff"].iter().any(|magic| start.starts_with(magic));
    if is_table { Err(no_files(path)) } else { Ok(None) }
}
