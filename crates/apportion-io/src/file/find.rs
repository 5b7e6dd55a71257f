//! Finds input files: single files, folders, globs, Hive partitions and pipes.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tempfile::NamedTempFile;

use super::foreign::refuse_foreign_formats;
use super::format::{Format, format_of_content, format_of_path, refuse_mismatched_extension};
use super::separator::{SEPARATORS, detect_separator, separator_line};
use super::source::{Content, Source};
use super::stable_file::{SequentialReader, StableFile};
use super::workbook::find_sheet;
use crate::error::{Error, Result};
use crate::file_id::FileId;
use crate::input::{FoundSources, InputOptions, is_hidden};
use crate::output::new_private;

/// Number of files whose first handle is kept until the schema is read. Others are opened again, so
/// that a large folder does not exhaust the file descriptors.
const MAX_KEPT_HANDLES: usize = 8;

/// Number of bytes at the start of a file that are inspected.
const START: usize = 64;

/// Returns the files that the user's paths refer to.
pub(crate) fn find_sources(paths: &[String], options: &InputOptions) -> Result<FoundSources> {
    let mut finder = Finder { options, files: Vec::new(), skipped: Vec::new(), spools: Vec::new() };
    for path in paths {
        finder.add(path)?;
    }
    let Finder { files, skipped, spools, .. } = finder;
    refuse_repeated_files(&files)?;
    Ok(FoundSources { files, skipped, spools })
}

/// Collects the files that the user's paths refer to.
struct Finder<'a> {
    options: &'a InputOptions,
    files: Vec<Source>,
    /// Files in folders that are not tables.
    skipped: Vec<PathBuf>,
    /// Temporary copies of pipes.
    spools: Vec<NamedTempFile>,
}

impl Finder<'_> {
    /// Adds the files that a path refers to: `-` is standard input.
    fn add(&mut self, text: &str) -> Result<()> {
        let path = Path::new(text);
        if text == "-" {
            return self.add_pipe(Path::new("standard input"), &mut std::io::stdin().lock(), redirected_file());
        }
        if is_pipe(path) {
            let mut pipe = File::open(path).map_err(|error| Error::io(path, &error))?;
            return self.add_pipe(path, &mut pipe, None);
        }
        if path.is_dir() {
            return self.add_whole_folder(path);
        }
        if !path.exists() && text.contains(['*', '?', '[']) {
            return self.add_glob(text);
        }
        self.add_file(path.parent().unwrap_or(path), path)
    }

    fn add_whole_folder(&mut self, folder: &Path) -> Result<()> {
        let before = self.files.len();
        self.add_folder(folder, folder, &mut Vec::new())?;
        if self.files.len() == before {
            return Err(Error::file(
                folder,
                "the folder contains no table (.csv, .tsv, .txt, .parquet, .arrow; .gz, .zst); name another",
            ));
        }
        Ok(())
    }

    fn add_glob(&mut self, text: &str) -> Result<()> {
        let path = Path::new(text);
        let paths = glob::glob(text).map_err(|error| Error::file(path, error.to_string()))?;
        let mut found = Vec::new();
        for path in paths {
            // A folder that cannot be listed could contain matching files.
            found.push(path.map_err(|error| Error::io(error.path(), error.error()))?);
        }
        found.retain(|path| path.is_file());
        found.sort();
        if found.is_empty() {
            return Err(Error::file(path, "no file matches; check the pattern"));
        }
        let is_literal = |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
        let root = PathBuf::from_iter(path.components().take_while(is_literal));
        for path in found {
            self.add_file(&root, &path)?;
        }
        Ok(())
    }

    /// Adds all tables in a folder and its subfolders, sorted by path. Files whose name starts with a
    /// dot or an underscore, such as `_SUCCESS`, are skipped. `parents` are the folders around it.
    fn add_folder(&mut self, root: &Path, folder: &Path, parents: &mut Vec<PathBuf>) -> Result<()> {
        let resolved = folder.canonicalize().map_err(|error| Error::io(folder, &error))?;
        if parents.contains(&resolved) {
            return Err(Error::file(
                folder,
                "it is a link to a folder that contains it; remove it, or name the files one by one",
            ));
        }
        parents.push(resolved);
        let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, &error))?;
        let mut paths = Vec::new();
        for entry in entries {
            paths.push(entry.map_err(|error| Error::io(folder, &error))?.path());
        }
        paths.sort();
        for path in paths {
            if is_hidden(&path) {
                self.skipped.push(path);
            } else if path.is_dir() {
                self.add_folder(root, &path, parents)?;
            } else if format_of_path(&path).is_some() && !is_pipe(&path) && !looks_like_prose(&path, self.options)? {
                self.add_file(root, &path)?;
            } else {
                self.skipped.push(path);
            }
        }
        parents.pop();
        Ok(())
    }

    /// Adds one file below a folder. The first bytes decide the format if the extension does not.
    fn add_file(&mut self, root: &Path, path: &Path) -> Result<()> {
        let failed = |error: std::io::Error| Error::io(path, &error);
        let mut file = File::open(path).map_err(failed)?;
        let mut start = [0; START];
        let length = file.read(&mut start).map_err(failed)?;
        if length == 0 {
            return Err(Error::file(path, "the file is empty; make it again, or leave it out"));
        }
        refuse_foreign_formats(path, &start[..length])?;
        let content = format_of_content(&start[..length]);
        let (format, compression) = format_of_path(path).unwrap_or(content);
        refuse_mismatched_extension(path, (format, compression), content)?;
        let mut relative_path = path.strip_prefix(root).unwrap_or(path);
        if relative_path.is_absolute() {
            relative_path = relative_path.file_name().map_or(relative_path, Path::new);
        }
        let stable = Arc::new(StableFile::new(path, &file).map_err(failed)?);
        let mut source = Source::new(Content::File(stable), path, (format, compression));
        source.partitions = partitions(relative_path);
        // Workbooks are not written: in an output folder, their tables are CSV files.
        source.relative_path =
            if format == Format::Xlsx { relative_path.with_extension("csv") } else { relative_path.to_owned() };
        self.push(source, file)
    }

    /// Copies a pipe to a temporary file, because the input is read twice.
    fn add_pipe(&mut self, name: &Path, pipe: &mut dyn Read, redirected: Option<FileId>) -> Result<()> {
        let failed = |error: std::io::Error| Error::io(name, &error);
        let mut copy = new_private()?;
        let length = std::io::copy(pipe, &mut copy).map_err(failed)?;
        if length == 0 {
            return Err(Error::file(name, "it is empty; check the command that feeds it"));
        }
        let mut start = Vec::new();
        copy.seek(SeekFrom::Start(0)).map_err(failed)?;
        copy.by_ref().take(START as u64).read_to_end(&mut start).map_err(failed)?;
        refuse_foreign_formats(name, &start)?;
        let stable = Arc::new(StableFile::new(copy.path(), copy.as_file()).map_err(failed)?);
        let file = stable.open().map_err(failed)?;
        let mut source = Source::new(Content::File(stable), name, format_of_content(&start));
        source.relative_path = PathBuf::from("standard-input.csv");
        source.redirected = redirected;
        self.push(source, file)?;
        self.spools.push(copy);
        Ok(())
    }

    /// Adds a file, after detecting its separator or sheet through an open handle.
    fn push(&mut self, mut source: Source, file: File) -> Result<()> {
        source.separator = match self.options.delimiter {
            Some(separator) => separator,
            None => separator_of(&source, &file, self.options),
        };
        if source.format == Format::Xlsx {
            source.sheet = Arc::new(find_sheet(&source, self.options)?);
        }
        if self.files.len() < MAX_KEPT_HANDLES
            && let Some(stable) = source.file()
        {
            stable.keep_handle(file);
        }
        self.files.push(source);
        Ok(())
    }
}

/// Detects the separator of a file through a duplicate of its handle.
fn separator_of(source: &Source, file: &File, options: &InputOptions) -> u8 {
    let Some(stable) = source.file() else { return source.separator };
    let Ok(mut handle) = file.try_clone() else { return source.separator };
    if handle.seek(SeekFrom::Start(0)).is_err() {
        return source.separator;
    }
    detect_separator(source, SequentialReader::new(stable, handle), options)
}

/// Returns the file that is redirected to standard input, if any.
fn redirected_file() -> Option<FileId> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let handle = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
        let metadata = File::from(handle).metadata().ok()?;
        metadata.is_file().then(|| FileId::of(&metadata))?
    }
    #[cfg(not(unix))]
    None
}

/// Refuses files given twice, directly or through links, because their rows would count twice.
fn refuse_repeated_files(files: &[Source]) -> Result<()> {
    let mut known: HashMap<(Option<FileId>, PathBuf), &Path> = HashMap::new();
    for file in files {
        let Some(stable) = file.file() else { continue };
        let key = stable.unique_id().map_err(|error| Error::io(&file.name, &error))?;
        if let Some(first) = known.insert(key, &file.name) {
            let first = first.display();
            let problem = format!("it is the same file as {first}; name it once, or remove the link");
            return Err(Error::file(&file.name, problem));
        }
    }
    Ok(())
}

/// Returns whether a .txt file has no separator in its first line: a readme, not a table.
fn looks_like_prose(path: &Path, options: &InputOptions) -> Result<bool> {
    if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("txt")) {
        return Ok(false);
    }
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| Error::io(path, &error))?;
    file.take(1 << 16).read_to_end(&mut start).map_err(|error| Error::io(path, &error))?;
    let start = &start[separator_line(&start).map_or(0, |(_, length)| length)..];
    let mut lines = start.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let count = |line: &[u8], separator: u8| line.iter().filter(|&&byte| byte == separator).count();
    let separates = |separator: u8| count(first, separator) > 0 && count(first, separator) == count(second, separator);
    let usual = options.delimiter.unwrap_or(b'\t');
    Ok(count(first, usual) == 0 && !SEPARATORS.iter().any(|(separator, _)| separates(*separator)))
}

/// The value that Hive writes for a missing value.
const HIVE_MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns the columns encoded in folder names.
fn partitions(relative_path: &Path) -> Vec<(String, Option<String>)> {
    let folders = relative_path.parent().into_iter().flat_map(Path::components);
    let parts = folders.filter_map(|part| match part {
        Component::Normal(name) => name.to_str()?.split_once('='),
        _ => None,
    });
    parts
        .map(|(column, value)| (percent_decoded(column), (value != HIVE_MISSING).then(|| percent_decoded(value))))
        .collect()
}

/// Decodes percent encoding, such as `%2F`, if the result is valid UTF-8.
fn percent_decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| byte == b'%' && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

/// Returns whether a path exists but is not a file that can be read again.
fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partition_columns_come_from_folder_names() {
        let found = partitions(Path::new("state=N%2FC/county=__HIVE_DEFAULT_PARTITION__/plain/100%=5%zz/part.csv"));
        let expected = [("state", Some("N/C")), ("county", None), ("100%", Some("5%zz"))];
        let expected = expected.map(|(column, value)| (column.to_owned(), value.map(str::to_owned)));
        assert_eq!(found, expected);
    }
}
