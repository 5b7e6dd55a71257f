//! Which files to read: one, several, a folder, a glob, a hive-partitioned folder, or standard input.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::NamedTempFile;

use crate::atomic_write;
use crate::error::{Error, Result};
use crate::held::Held;
use crate::progress::{Progress, Silent};
use crate::separator::{self, SEPARATORS};
use crate::stable_file::StableFile;

/// How a file holds its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Values separated by commas.
    Csv,
    /// Values separated by tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, as a file or a stream (also known as Feather).
    Ipc,
}

/// How a file is compressed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// By gzip.
    Gzip,
    /// By Zstandard.
    Zstd,
}

/// How text is to be read.
#[derive(Clone, Debug)]
pub struct InputOptions {
    /// Whether text without a mark of its own is Latin-1, and not UTF-8.
    pub latin1: bool,
    /// What separates values, where it is not seen from the first line.
    pub delimiter: Option<u8>,
    /// Rows that are read at a time. Results do not depend on it.
    pub batch_rows: usize,
    /// Bytes of a line of text at most, so that a damaged file cannot fill the memory.
    pub max_line: usize,
}

impl Default for InputOptions {
    fn default() -> InputOptions {
        InputOptions { latin1: false, delimiter: None, batch_rows: 1 << 16, max_line: 16 << 20 }
    }
}

/// Files to be read one after the other, as often as needed.
#[derive(Debug)]
pub struct Input {
    pub(crate) files: Vec<Source>,
    pub(crate) options: InputOptions,
    progress: Box<dyn Progress>,
    /// Rows and bytes that were read in the pass at hand.
    rows: AtomicU64,
    bytes: AtomicU64,
    /// Folders that were named: all tables in them are read.
    folders: Vec<PathBuf>,
    /// What lies in the folders and is no table.
    passed_over: Vec<PathBuf>,
    /// How many bytes there are up to the end of each file.
    ends: Vec<u64>,
    /// Where pipes were put, so that they can be read twice. Removed at the end.
    _spools: Vec<NamedTempFile>,
}

/// One table.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) content: Content,
    /// What to call it.
    pub(crate) name: PathBuf,
    /// Its path below the folder that was named.
    pub(crate) below: PathBuf,
    pub(crate) format: Format,
    pub(crate) packing: Packing,
    /// What separates values, if it is text.
    pub(crate) separator: u8,
    /// Columns from the names of its folders, `state=NC`; no value if it is missing there.
    pub(crate) partitions: Vec<(String, Option<String>)>,
}

/// Where the rows of a table are.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    File(Arc<StableFile>),
    Memory(Held),
}

impl Source {
    /// How many bytes it has; rows, if it is in memory.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.content {
            Content::Memory(held) => held.rows() as u64,
            Content::File(stable) => stable.size(),
        }
    }

    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Arc<StableFile>> {
        match &self.content {
            Content::Memory(_) => None,
            Content::File(stable) => Some(stable),
        }
    }
}

impl Input {
    /// Finds the files that some paths stand for: `-` is standard input, a folder all tables in it, `*` and `?` are filled in.
    pub fn new(paths: &[String], options: InputOptions) -> Result<Input> {
        let (mut files, mut passed_over, mut spools) = (Vec::new(), Vec::new(), Vec::new());
        if paths.iter().filter(|path| *path == "-").count() > 1 {
            return Err(Error::Options("standard input is named twice; it can be read once".into()));
        }
        for path in paths {
            if path == "-" {
                let (source, file) = spooled(Path::new("standard input"), &mut std::io::stdin().lock())?;
                files.push(source);
                spools.push(file);
            } else if is_pipe(Path::new(path)) {
                let failed = |error| Error::io(Path::new(path), &error);
                let (source, file) = spooled(Path::new(path), &mut File::open(path).map_err(failed)?)?;
                files.push(source);
                spools.push(file);
            } else {
                files.extend(sources(path, &options, &mut passed_over)?);
            }
        }
        refuse_repeated(&files)?;
        if files.is_empty() {
            return Err(Error::Options("no file was named; give a path, or - for standard input".into()));
        }
        let folders = paths.iter().map(PathBuf::from).filter(|path| path.is_dir()).collect();
        Ok(Input { folders, passed_over, _spools: spools, ..Input::of(files, options) })
    }

    /// A table in memory, and what to call it.
    pub fn of_memory(name: &str, held: Held, options: InputOptions) -> Input {
        let source = Source {
            content: Content::Memory(held),
            name: PathBuf::from(name),
            below: PathBuf::new(),
            format: Format::Ipc,
            packing: Packing::None,
            separator: separator::usual(Format::Ipc),
            partitions: Vec::new(),
        };
        Input::of(vec![source], options)
    }

    fn of(mut files: Vec<Source>, options: InputOptions) -> Input {
        for file in &mut files {
            file.separator = options.delimiter.unwrap_or_else(|| separator::of(file, &options));
        }
        let mut ends: Vec<u64> = files.iter().map(Source::bytes).collect();
        (1..ends.len()).for_each(|file| ends[file] += ends[file - 1]);
        let (progress, rows, bytes) = (Box::new(Silent), AtomicU64::new(0), AtomicU64::new(0));
        let (folders, passed_over, spools) = (Vec::new(), Vec::new(), Vec::new());
        Input { files, options, progress, rows, bytes, ends, folders, passed_over, _spools: spools }
    }

    /// Tells somebody how far each pass has come.
    pub fn with_progress(self, progress: Box<dyn Progress>) -> Input {
        Input { progress, ..self }
    }

    /// Begins a pass over the files.
    pub(crate) fn begin(&self, what: &'static str) {
        self.rows.store(0, Ordering::Relaxed);
        self.progress.begin(what, self.ends.last().copied().unwrap_or(0));
    }

    /// So many more rows have been read, and so many bytes of a file.
    pub(crate) fn reached(&self, file: usize, rows: u64, bytes: u64) {
        let rows = rows + self.rows.fetch_add(rows, Ordering::Relaxed);
        let before = if file == 0 { 0 } else { self.ends[file - 1] };
        self.bytes.store(before + bytes, Ordering::Relaxed);
        self.progress.reached(rows, before + bytes);
    }

    /// How many rows there will be in all, judging by those read so far.
    pub(crate) fn foreseen_rows(&self) -> u64 {
        let (rows, bytes) = (self.rows.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed).max(1));
        let all = self.ends.last().copied().unwrap_or(0);
        (rows as f64 * (all as f64 / bytes as f64).max(1.0)) as u64
    }

    /// Whether the work is to go on.
    pub(crate) fn goes_on(&self) -> bool {
        self.progress.goes_on()
    }

    /// Ends a pass over the files.
    pub(crate) fn end(&self) {
        self.progress.end();
    }

    /// One of the tables, where it is in memory.
    pub fn held(&self, file: usize) -> Option<&Held> {
        match &self.files[file].content {
            Content::Memory(held) => Some(held),
            Content::File(_) => None,
        }
    }

    /// The files, as the user knows them.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &Path> {
        self.files.iter().map(|file| file.name.as_path())
    }

    /// One of the files, as the user knows it.
    pub fn name(&self, file: usize) -> &Path {
        &self.files[file].name
    }

    /// Where the bytes of one of the files lie: its own path, or a temporary copy of standard input.
    pub fn place(&self, file: usize) -> &Path {
        self.files[file].file().map_or(Path::new(""), |stable| stable.path())
    }

    /// Checks that no file has changed since it was opened first.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        for source in &self.files {
            if let Some(stable) = source.file() {
                stable.check().map_err(|error| Error::io(&source.name, &error))?;
            }
        }
        Ok(())
    }

    /// One sentence on what lies in the folders and was passed over, where there is something.
    pub fn passed_over(&self) -> Option<String> {
        (!self.passed_over.is_empty()).then(|| format!("passed over, being no table: {}", listed(&self.passed_over)))
    }

    /// What separates the values of one of the files, where it is text.
    pub(crate) fn separator(&self, file: usize) -> Option<u8> {
        let file = &self.files[file];
        is_text(file.format).then_some(file.separator)
    }

    /// One sentence on files whose values are separated otherwise than their ending says, and as nobody said.
    pub fn other_separators(&self) -> Option<String> {
        let is_other = |file: &&Source, own: u8| file.separator == own && own != separator::usual(file.format);
        let told = SEPARATORS.iter().filter(|_| self.options.delimiter.is_none()).filter_map(|(own, name)| {
            let paths = self.files.iter().filter(|file| is_text(file.format) && is_other(file, *own));
            let paths: Vec<PathBuf> = paths.map(|file| file.name.clone()).collect();
            (!paths.is_empty()).then(|| format!("values are separated by {name}: {}", listed(&paths)))
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// The folder among those named in which another run would find a table that is written to this path.
    pub fn folder_around(&self, path: &Path) -> Option<&Path> {
        let existing = path.ancestors().find_map(|above| Some((above, above_or_here(above).canonicalize().ok()?)));
        let (above, place) = existing?;
        let place = place.join(path.strip_prefix(above).unwrap_or(path));
        let is_read = |folder: &PathBuf| {
            let below =
                folder.canonicalize().ok().and_then(|folder| place.strip_prefix(folder).ok().map(Path::to_owned));
            below.is_some_and(|below| {
                !below.as_os_str().is_empty() && !below.iter().any(|part| is_hidden(Path::new(part)))
            })
        };
        self.folders.iter().find(|folder| is_read(folder)).map(PathBuf::as_path)
    }

    /// Whether a path is one of the files.
    pub fn contains(&self, path: &Path) -> bool {
        self.files.iter().filter_map(Source::file).any(|file| is_same_file(file.path(), path))
    }
}

/// Whether two paths lead to one file, by whatever links.
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

/// Endings of files that may hold a table.
pub(crate) fn by_ending(path: &Path) -> Option<(Format, Packing)> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let (stem, packing) = match name.rsplit_once('.') {
        Some((stem, "gz")) => (stem, Packing::Gzip),
        Some((stem, "zst" | "zstd")) => (stem, Packing::Zstd),
        _ => (name.as_str(), Packing::None),
    };
    let format = match stem.rsplit_once('.')?.1 {
        "csv" => Format::Csv,
        "tsv" | "txt" | "tab" => Format::Tsv,
        "parquet" | "pq" => Format::Parquet,
        "arrow" | "ipc" | "feather" | "arrows" => Format::Ipc,
        _ => return None,
    };
    Some((format, packing))
}

/// What the first bytes of a file say, where its ending says nothing.
fn by_content(start: &[u8]) -> (Format, Packing) {
    match start {
        // A letter after it would be a column's name.
        [b'P', b'A', b'R', b'1', next, ..] if !next.is_ascii_graphic() => (Format::Parquet, Packing::None),
        [b'A', b'R', b'R', b'O', b'W', b'1', 0, ..] | [0xff, 0xff, 0xff, 0xff, ..] => (Format::Ipc, Packing::None),
        [0x1f, 0x8b, ..] => (Format::Csv, Packing::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => (Format::Csv, Packing::Zstd),
        _ => (Format::Csv, Packing::None),
    }
}

fn sources(text: &str, options: &InputOptions, passed_over: &mut Vec<PathBuf>) -> Result<Vec<Source>> {
    let path = Path::new(text);
    if path.is_dir() {
        let mut found = Vec::new();
        in_folder(path, path, options, &mut Vec::new(), &mut found, passed_over)?;
        if found.is_empty() {
            return Err(Error::file(
                path,
                "the folder holds no table (.csv, .tsv, .txt, .parquet, .arrow; .gz, .zst); name another",
            ));
        }
        return Ok(found);
    }
    if !path.exists() && text.contains(['*', '?', '[']) {
        let paths = glob::glob(text).map_err(|error| Error::file(path, error.to_string()))?;
        let mut found: Vec<PathBuf> = paths.filter_map(std::result::Result::ok).filter(|path| path.is_file()).collect();
        found.sort();
        if found.is_empty() {
            return Err(Error::file(path, "no file is called so; check the pattern"));
        }
        let plain = PathBuf::from_iter(path.components().take_while(|part| {
            let part = part.as_os_str().to_string_lossy();
            !part.contains(['*', '?', '['])
        }));
        return found.iter().map(|path| source(&plain, path)).collect();
    }
    Ok(vec![source(path.parent().unwrap_or(path), path)?])
}

/// One file below a folder. What its ending does not tell, its first bytes do.
fn source(root: &Path, path: &Path) -> Result<Source> {
    let mut file = File::open(path).map_err(|error| Error::io(path, &error))?;
    let mut start = [0; 8];
    let length = file.read(&mut start).map_err(|error| Error::io(path, &error))?;
    if length == 0 {
        return Err(Error::file(path, "the file is empty; make it again, or leave it out"));
    }
    refuse_other_programs(path, &start[..length])?;
    let content = by_content(&start[..length]);
    let (format, packing) = by_ending(path).unwrap_or(content);
    refuse_wrong_ending(path, (format, packing), content)?;
    let below = path.strip_prefix(root).unwrap_or(path);
    let below = if below.is_absolute() { below.file_name().map_or(below, Path::new) } else { below };
    let stable = StableFile::new(path, &file).map_err(|error| Error::io(path, &error))?;
    Ok(Source {
        content: Content::File(Arc::new(stable)),
        name: path.to_owned(),
        below: below.to_owned(),
        format,
        packing,
        separator: separator::usual(format),
        partitions: partitions(below),
    })
}

/// Refuses files that are named twice, or that links lead to twice: their rows would count twice.
fn refuse_repeated(files: &[Source]) -> Result<()> {
    let mut known: HashMap<(u64, PathBuf), &Path> = HashMap::new();
    for file in files {
        let Some(stable) = file.file() else { continue };
        let key = stable.key().map_err(|error| Error::io(&file.name, &error))?;
        if let Some(first) = known.insert(key, &file.name) {
            let first = first.display();
            let problem = format!("it is the same file as {first}; name it once, or remove the link");
            return Err(Error::file(&file.name, problem));
        }
    }
    Ok(())
}

/// Refuses workbooks and archives, whatever they are called.
fn refuse_other_programs(path: &Path, start: &[u8]) -> Result<()> {
    let is_archive = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"));
    let problem = match start {
        [b'P', b'K', 3, 4, ..] if is_archive => "it is a ZIP archive; unpack it first",
        [b'P', b'K', 3, 4, ..] | [0xd0, 0xcf, 0x11, 0xe0, ..] => "it is an Excel workbook; save it as CSV",
        _ => return Ok(()),
    };
    Err(Error::file(path, problem))
}

pub(crate) fn is_text(format: Format) -> bool {
    matches!(format, Format::Csv | Format::Tsv)
}

/// Refuses a file that is no table of the kind that its ending says, where its first bytes leave no doubt.
fn refuse_wrong_ending(path: &Path, ending: (Format, Packing), content: (Format, Packing)) -> Result<()> {
    let same = ending.0 == content.0 || is_text(ending.0) && is_text(content.0);
    // What is packed was not looked into, and a stream of Arrow's may begin in several ways.
    let unseen = ending.1 != Packing::None || ending.0 == Format::Ipc;
    if ending.1 == content.1 && (same || unseen) {
        return Ok(());
    }
    let name = |(format, packing): (Format, Packing)| match (format, packing) {
        (_, Packing::Gzip) => "gzip",
        (_, Packing::Zstd) => "Zstandard",
        (Format::Parquet, _) => "Parquet",
        (Format::Ipc, _) => "Arrow",
        _ => "plain text",
    };
    let (said, found) = (name(ending), name(content));
    Err(Error::file(path, format!("its ending says {said}, but it begins as {found}; rename it, or copy it again")))
}

/// All tables in a folder and the folders in it, in the order of their paths. Hidden files and those that begin with an
/// underscore, such as `_SUCCESS`, are none.
fn in_folder(
    root: &Path,
    folder: &Path,
    options: &InputOptions,
    above: &mut Vec<PathBuf>,
    found: &mut Vec<Source>,
    passed_over: &mut Vec<PathBuf>,
) -> Result<()> {
    let own = folder.canonicalize().map_err(|error| Error::io(folder, &error))?;
    if above.contains(&own) {
        return Err(Error::file(
            folder,
            "it is a link to a folder that contains it; remove it, or name the files one by one",
        ));
    }
    above.push(own);
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let hidden = is_hidden(&path);
        if !hidden && path.is_dir() {
            in_folder(root, &path, options, above, found, passed_over)?;
        } else if !hidden && by_ending(&path).is_some() && !is_pipe(&path) && !is_prose(&path, options)? {
            found.push(source(root, &path)?);
        } else {
            passed_over.push(path);
        }
    }
    above.pop();
    Ok(())
}

/// Whether a file or folder inside a folder is never a table, judging by its name.
fn is_hidden(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with(['.', '_']))
}

/// A path, or the current folder if it is empty.
fn above_or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// Whether a .txt file has nothing in its first line that would separate columns: a readme, and no table.
fn is_prose(path: &Path, options: &InputOptions) -> Result<bool> {
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("txt")) {
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

/// A few paths, and how many more there are.
fn listed(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 5;
    let shown = paths.iter().take(SHOWN).map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    if paths.len() > SHOWN { format!("{shown} and {} more", paths.len() - SHOWN) } else { shown }
}

/// The value that Hive writes for a missing one.
const HIVE_MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// The columns that the names of folders stand for.
fn partitions(below: &Path) -> Vec<(String, Option<String>)> {
    let folders = below.parent().into_iter().flat_map(Path::components);
    let parts = folders.filter_map(|part| match part {
        Component::Normal(name) => name.to_str()?.split_once('='),
        _ => None,
    });
    parts.map(|(column, value)| (unescaped(column), (value != HIVE_MISSING).then(|| unescaped(value)))).collect()
}

/// A name with `%2F` and the like as the characters that they stand for, if the result is text.
fn unescaped(name: &str) -> String {
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

/// Whether a path is there, and is no file that can be read again.
fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// Puts what comes through a pipe into a file of its own: it is needed twice.
fn spooled(name: &Path, pipe: &mut dyn Read) -> Result<(Source, NamedTempFile)> {
    let name = name.to_owned();
    let failed = |error: std::io::Error| Error::io(&name, &error);
    let mut file = atomic_write::new_private()?;
    let length = std::io::copy(pipe, &mut file).map_err(failed)?;
    if length == 0 {
        return Err(Error::file(&name, "it is empty; send a table into it"));
    }
    let mut start = Vec::new();
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    file.by_ref().take(8).read_to_end(&mut start).map_err(failed)?;
    refuse_other_programs(&name, &start)?;
    let (format, packing) = by_content(&start);
    let stable = StableFile::new(file.path(), file.as_file()).map_err(failed)?;
    let source = Source {
        content: Content::File(Arc::new(stable)),
        below: PathBuf::from("standard-input.csv"),
        format,
        packing,
        separator: separator::usual(format),
        partitions: Vec::new(),
        name,
    };
    Ok((source, file))
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
