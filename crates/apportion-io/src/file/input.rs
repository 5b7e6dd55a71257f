//! The input: one file, several files, a folder, a glob, a Hive-partitioned folder, or standard
//! input.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use arrow::datatypes::SchemaRef;
use tempfile::NamedTempFile;

use super::atomic_write;
use super::format::{
    Compression, Format, default_delimiter, format_of_content, format_of_path, is_text, refuse_foreign_formats,
    refuse_mismatched_extension,
};
use super::progress::{NoProgress, Progress};
use super::separator::{SEPARATORS, detect_separator};
use super::stable_file::{SequentialReader, StableFile};
use crate::error::{Error, Result};
use crate::table::MemoryTable;

/// Settings for reading text files.
#[derive(Clone, Debug)]
pub struct InputOptions {
    /// Whether text without a byte order mark is Latin-1 instead of UTF-8.
    pub latin1: bool,
    /// The separator of values; detected from the first line if not given.
    pub delimiter: Option<u8>,
    /// Rows per batch. Results do not depend on it.
    pub batch_rows: usize,
    /// Maximum length of a line in bytes, so that a damaged file cannot exhaust memory.
    pub max_line: usize,
}

impl Default for InputOptions {
    fn default() -> InputOptions {
        InputOptions { latin1: false, delimiter: None, batch_rows: 1 << 16, max_line: 16 << 20 }
    }
}

/// Files that are read in order, as often as needed.
#[derive(Debug)]
pub struct Input {
    pub(crate) files: Vec<Source>,
    pub(crate) options: InputOptions,
    progress: Box<dyn Progress>,
    /// Rows and bytes read in the current pass.
    rows: AtomicU64,
    bytes: AtomicU64,
    /// Folders given by the user; all tables in them are read.
    folders: Vec<PathBuf>,
    /// Files in these folders that are not tables.
    skipped: Vec<PathBuf>,
    /// Total size in bytes up to the end of each file.
    cumulative_bytes: Vec<u64>,
    /// Temporary copies of pipes, so that they can be read twice. Removed on drop.
    _spools: Vec<NamedTempFile>,
}

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
    /// The schema, once it has been read.
    pub(crate) schema: OnceLock<SchemaRef>,
    /// Columns from folder names such as `state=NC`; `None` marks a missing value.
    pub(crate) partitions: Vec<(String, Option<String>)>,
}

/// Where the rows of a table are stored.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    File(Arc<StableFile>),
    Memory(MemoryTable),
}

impl Source {
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

impl Input {
    /// Finds the input files: `-` is standard input, a folder stands for all tables in it, `*` and
    /// `?` are expanded.
    pub fn new(paths: &[String], options: InputOptions) -> Result<Input> {
        if paths.iter().filter(|path| *path == "-").count() > 1 {
            return Err(Error::Options("standard input is named twice; it can be read once".into()));
        }
        let mut finder = Finder { options: &options, files: Vec::new(), skipped: Vec::new(), spools: Vec::new() };
        for path in paths {
            finder.add(path)?;
        }
        let Finder { files, skipped, spools, .. } = finder;
        refuse_repeated_files(&files)?;
        if files.is_empty() {
            return Err(Error::Options("no file was named; give a path, or - for standard input".into()));
        }
        let folders = paths.iter().map(PathBuf::from).filter(|path| path.is_dir()).collect();
        Ok(Input { folders, skipped, _spools: spools, ..Input::from_sources(files, options) })
    }

    /// Creates an input from a table in memory; `name` is used in messages.
    pub fn from_memory(name: &str, table: MemoryTable, options: InputOptions) -> Input {
        let source = Source {
            content: Content::Memory(table),
            name: PathBuf::from(name),
            relative_path: PathBuf::new(),
            format: Format::Ipc,
            compression: Compression::None,
            separator: default_delimiter(Format::Ipc),
            schema: OnceLock::new(),
            partitions: Vec::new(),
        };
        Input::from_sources(vec![source], options)
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
            progress: Box::new(NoProgress),
            rows: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            cumulative_bytes,
            folders: Vec::new(),
            skipped: Vec::new(),
            _spools: Vec::new(),
        }
    }

    /// Sets the receiver of progress reports.
    pub fn with_progress(self, progress: Box<dyn Progress>) -> Input {
        Input { progress, ..self }
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

    /// Ends a pass over the files.
    pub(crate) fn end(&self) {
        self.progress.end();
    }

    /// Returns a table if it is in memory.
    pub fn memory_table(&self, file: usize) -> Option<&MemoryTable> {
        match &self.files[file].content {
            Content::Memory(table) => Some(table),
            Content::File(_) => None,
        }
    }

    /// Returns the names of the files as shown to the user.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.files.iter().map(|file| file.name.as_path())
    }

    /// Returns the name of a file as shown to the user.
    pub fn name(&self, file: usize) -> &Path {
        &self.files[file].name
    }

    /// Returns the path of a file, or of its temporary copy if it was a pipe.
    pub fn path(&self, file: usize) -> &Path {
        self.files[file].file().map_or(Path::new(""), |stable| stable.path())
    }

    /// Checks that no file has changed since it was first opened.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        for source in &self.files {
            if let Some(stable) = source.file() {
                stable.check().map_err(|error| Error::io(&source.name, &error))?;
            }
        }
        Ok(())
    }

    /// Returns a sentence that lists skipped files, if any.
    pub fn skipped_note(&self) -> Option<String> {
        (!self.skipped.is_empty()).then(|| format!("passed over, being no table: {}", list_paths(&self.skipped)))
    }

    /// Returns the separator of a file, if it is text.
    pub(crate) fn separator(&self, file: usize) -> Option<u8> {
        let file = &self.files[file];
        is_text(file.format).then_some(file.separator)
    }

    /// Returns a sentence that lists files whose separator differs from the default of their
    /// extension, unless the user set it.
    pub fn separator_note(&self) -> Option<String> {
        if self.options.delimiter.is_some() {
            return None;
        }
        let mut sentences = Vec::new();
        for (separator, name) in SEPARATORS {
            let is_unusual = |file: &&Source| {
                is_text(file.format) && file.separator == separator && separator != default_delimiter(file.format)
            };
            let paths: Vec<PathBuf> = self.files.iter().filter(is_unusual).map(|file| file.name.clone()).collect();
            if !paths.is_empty() {
                sentences.push(format!("values are separated by {name}: {}", list_paths(&paths)));
            }
        }
        (!sentences.is_empty()).then(|| sentences.join("; "))
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

    /// Returns whether a path is one of the input files.
    pub fn contains(&self, path: &Path) -> bool {
        self.files.iter().filter_map(Source::file).any(|file| is_same_file(file.path(), path))
    }
}

/// Returns whether two paths lead to the same file, through any links.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (std::fs::metadata(one), std::fs::metadata(other)) {
        use std::os::unix::fs::MetadataExt;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// Number of files whose first handle is kept until the schema is read. More files are opened again,
/// so that a large folder does not exhaust the file descriptors.
const MAX_KEPT_HANDLES: usize = 64;

/// Collects the files that the user's paths stand for.
struct Finder<'a> {
    options: &'a InputOptions,
    files: Vec<Source>,
    /// Files in folders that are not tables.
    skipped: Vec<PathBuf>,
    /// Temporary copies of pipes.
    spools: Vec<NamedTempFile>,
}

impl Finder<'_> {
    fn add(&mut self, text: &str) -> Result<()> {
        let path = Path::new(text);
        if text == "-" {
            return self.add_pipe(Path::new("standard input"), &mut std::io::stdin().lock());
        }
        if is_pipe(path) {
            let mut pipe = File::open(path).map_err(|error| Error::io(path, &error))?;
            return self.add_pipe(path, &mut pipe);
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
                "the folder holds no table (.csv, .tsv, .txt, .parquet, .arrow; .gz, .zst); name another",
            ));
        }
        Ok(())
    }

    fn add_glob(&mut self, text: &str) -> Result<()> {
        let path = Path::new(text);
        let paths = glob::glob(text).map_err(|error| Error::file(path, error.to_string()))?;
        let mut found: Vec<PathBuf> = paths.filter_map(std::result::Result::ok).filter(|path| path.is_file()).collect();
        found.sort();
        if found.is_empty() {
            return Err(Error::file(path, "no file is called so; check the pattern"));
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
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
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
        let mut start = [0; 8];
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
        self.push(
            Source {
                content: Content::File(stable),
                name: path.to_owned(),
                relative_path: relative_path.to_owned(),
                format,
                compression,
                separator: default_delimiter(format),
                schema: OnceLock::new(),
                partitions: partitions(relative_path),
            },
            file,
        );
        Ok(())
    }

    /// Copies a pipe to a temporary file, because the input is read twice.
    fn add_pipe(&mut self, name: &Path, pipe: &mut dyn Read) -> Result<()> {
        let failed = |error: std::io::Error| Error::io(name, &error);
        let mut copy = atomic_write::new_private()?;
        let length = std::io::copy(pipe, &mut copy).map_err(failed)?;
        if length == 0 {
            return Err(Error::file(name, "it is empty; send a table into it"));
        }
        let mut start = Vec::new();
        copy.seek(SeekFrom::Start(0)).map_err(failed)?;
        copy.by_ref().take(8).read_to_end(&mut start).map_err(failed)?;
        refuse_foreign_formats(name, &start)?;
        let (format, compression) = format_of_content(&start);
        let stable = Arc::new(StableFile::new(copy.path(), copy.as_file()).map_err(failed)?);
        let file = stable.open().map_err(failed)?;
        self.push(
            Source {
                content: Content::File(stable),
                name: name.to_owned(),
                relative_path: PathBuf::from("standard-input.csv"),
                format,
                compression,
                separator: default_delimiter(format),
                schema: OnceLock::new(),
                partitions: Vec::new(),
            },
            file,
        );
        self.spools.push(copy);
        Ok(())
    }

    /// Adds a file, after detecting its separator through an open handle.
    fn push(&mut self, mut source: Source, file: File) {
        source.separator = match self.options.delimiter {
            Some(separator) => separator,
            None => separator_of(&source, &file, self.options),
        };
        if self.files.len() < MAX_KEPT_HANDLES
            && let Some(stable) = source.file()
        {
            stable.keep_handle(file);
        }
        self.files.push(source);
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

/// Refuses files given twice, directly or through links, because their rows would count twice.
fn refuse_repeated_files(files: &[Source]) -> Result<()> {
    let mut known: HashMap<(u64, PathBuf), &Path> = HashMap::new();
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

/// Returns whether a file or folder is skipped because of its name.
fn is_hidden(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with(['.', '_']))
}

/// Returns the path, or the current folder if it is empty.
fn or_current_folder(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Returns whether a .txt file has no separator in its first line: a readme, not a table.
fn looks_like_prose(path: &Path, options: &InputOptions) -> Result<bool> {
    if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("txt")) {
        return Ok(false);
    }
    let mut start = Vec::new();
    let file = File::open(path).map_err(|error| Error::io(path, &error))?;
    file.take(1 << 16).read_to_end(&mut start).map_err(|error| Error::io(path, &error))?;
    let mut lines = start.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let count = |line: &[u8], separator: u8| line.iter().filter(|&&byte| byte == separator).count();
    let separates = |separator: u8| count(first, separator) > 0 && count(first, separator) == count(second, separator);
    let usual = options.delimiter.unwrap_or(b'\t');
    Ok(count(first, usual) == 0 && !SEPARATORS.iter().any(|(separator, _)| separates(*separator)))
}

/// Lists the first few paths and the number of others.
fn list_paths(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 5;
    let shown = paths.iter().take(SHOWN).map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    if paths.len() > SHOWN { format!("{shown} and {} more", paths.len() - SHOWN) } else { shown }
}

/// The value that Hive writes for a missing one.
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

/// Decodes `%2F` and the like, if the result is valid UTF-8.
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
    fn folders_name_columns() {
        let found = partitions(Path::new("state=N%2FC/county=__HIVE_DEFAULT_PARTITION__/plain/100%=5%zz/part.csv"));
        let expected = [("state", Some("N/C")), ("county", None), ("100%", Some("5%zz"))];
        let expected = expected.map(|(column, value)| (column.to_owned(), value.map(str::to_owned)));
        assert_eq!(found, expected);
    }
}
