//! The same rows again, in their order, with labels beside them: written beside the output and then renamed.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::csv::WriterBuilder;
use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use crate::append::{New, Old};
use crate::atomic_write::{PendingFile, PendingFolder, folder_of, refuse_links_below};
use crate::columns::position;
use crate::error::{Error, Result};
use crate::input::{Format, Input, Packing, Source, by_ending};
use crate::metadata::{own_key_values, with_metadata};
use crate::safe_csv::neutralize;
use crate::separator::usual;
use crate::stable_file::is_changed;

/// Columns to be added: their fields, and their values for a range of rows.
pub struct Added<'a> {
    /// Names and types.
    pub fields: Vec<FieldRef>,
    /// How many rows there are to be, where that is known.
    pub rows: Option<usize>,
    /// Their values for the next rows: from the first number on, so many of them.
    pub values: &'a mut dyn FnMut(usize, usize) -> Result<Vec<ArrayRef>>,
}

/// Where labelled rows go.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// A file, a folder (one file for each input), or `-`.
    pub path: String,
    /// Whether a file that exists is replaced.
    pub force: bool,
    /// Columns of the input to keep; all where it is none.
    pub keep: Option<Vec<String>>,
    /// Keys and values for the metadata of Parquet and Arrow files.
    pub metadata: Vec<(String, String)>,
    /// Whether text that a spreadsheet may take for a formula gets an apostrophe, in CSV and TSV.
    pub safe_csv: bool,
}

impl Output {
    /// Refuses, before any work is done, what could not be written at its end.
    pub fn check(&self, input: Option<&Input>) -> Result<()> {
        if let (true, Some(input)) = (self.is_folder(), input) {
            for path in self.targets(input)? {
                check_ending(&path, Some(input), self.force)?;
            }
            let folder = Path::new(&self.path);
            return input.files.iter().try_for_each(|file| refuse_links_below(folder, &file.below));
        }
        if self.path != "-" {
            check_path(Path::new(&self.path), input, self.force)?;
        }
        if let Some(input) = input.filter(|input| input.names().len() > 1) {
            let schemas = (0..input.names().len()).map(|file| Ok(input.open(file)?.schema().clone()));
            let schemas: Vec<SchemaRef> = schemas.collect::<Result<_>>()?;
            (1..schemas.len())
                .try_for_each(|file| self.places(input, &schemas[0], &schemas[file], file).map(|_| ()))?;
        }
        Ok(())
    }

    /// Whether there is one output for each input.
    fn is_folder(&self) -> bool {
        self.path != "-" && (self.path.ends_with('/') || Path::new(&self.path).is_dir())
    }

    /// The outputs in a folder, one for each input.
    fn targets(&self, input: &Input) -> Result<Vec<PathBuf>> {
        let targets: Vec<PathBuf> = input.files.iter().map(|file| Path::new(&self.path).join(&file.below)).collect();
        let mut known = HashSet::new();
        match targets.iter().find(|path| !known.insert(*path)) {
            Some(path) => {
                let problem = "two inputs have this name; label them one by one, each to a folder of its own";
                Err(Error::file(path, problem))
            }
            None => Ok(targets),
        }
    }

    /// The columns of the first file that are kept.
    fn kept(&self, schema: &SchemaRef) -> Vec<usize> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        match &self.keep {
            None => (0..names.len()).collect(),
            Some(keep) => keep.iter().filter_map(|name| position(&names, name, "").ok()).collect(),
        }
    }

    /// Where the columns of the first file that are kept stand in another. Rows of files with other columns cannot be put
    /// below each other.
    fn places(&self, input: &Input, first: &SchemaRef, other: &SchemaRef, file: usize) -> Result<Vec<usize>> {
        let refuse = |problem: String| {
            let name = input.name(0).display();
            let way = "name the files of one kind, or write each to a folder: -o FOLDER/";
            Err(Error::file(input.name(file), format!("{problem} {name}; {way}")))
        };
        let mut places = Vec::new();
        for place in self.kept(first) {
            let wanted = first.field(place);
            let Some((place, found)) = other.column_with_name(wanted.name()) else {
                return refuse(format!("it has no column {:?}, as there is in", wanted.name()));
            };
            if found.data_type() != wanted.data_type() {
                let (own, name) = (found.data_type(), wanted.name());
                return refuse(format!("its column {name:?} holds {own}, and not {} as in", wanted.data_type()));
            }
            places.push(place);
        }
        let extra = other.fields().iter().find(|field| first.column_with_name(field.name()).is_none());
        match extra.filter(|_| self.keep.is_none()) {
            Some(field) => refuse(format!("it has a column {:?}, which is not in", field.name())),
            None => Ok(places),
        }
    }
}

/// Writes all rows of the input with the added columns. Says which files were written.
pub fn write_labelled(input: &Input, output: &Output, mut added: Added<'_>) -> Result<Vec<PathBuf>> {
    input.begin("writing");
    let written = write_all(input, output, &mut added)?;
    input.end();
    Ok(written)
}

fn write_all(input: &Input, output: &Output, added: &mut Added<'_>) -> Result<Vec<PathBuf>> {
    let files = 0..input.names().len();
    if output.path == "-" {
        let mut sink = stdout_sink(output.safe_csv);
        let like = input.open(0)?.schema().clone();
        let mut rows = 0;
        for file in files {
            let copy = Copy { input, output, like: &like, path: Path::new(STDOUT) };
            rows += copy.rows(file, rows, added, &mut sink)?;
        }
        refuse_changed(input, rows, added)?;
        return sink.close(Path::new(STDOUT)).map(|_| Vec::new());
    }
    let path = Path::new(&output.path);
    if output.is_folder() {
        return write_each(input, path, output, added);
    }
    let pending = PendingFile::create(path)?;
    let target = Target::new(path, Some(input), output.force, pending.reopen())?;
    let rows = target.fill(input, files, 0, output, added)?;
    refuse_changed(input, rows, added)?;
    pending.commit(output.force)?;
    Ok(vec![path.to_owned()])
}

/// Writes batches that are made on the way.
pub fn write_batches(
    output: &Output,
    schema: &SchemaRef,
    batches: impl Iterator<Item = RecordBatch>,
) -> Result<Vec<PathBuf>> {
    let write = |mut sink: Sink, path: &Path| {
        let mut rows = 0;
        for batch in batches {
            rows += batch.num_rows();
            sink.write(&batch, path)?;
        }
        check_written(path, rows, sink.close(path)?)
    };
    if output.path == "-" {
        return write(stdout_sink(output.safe_csv), Path::new(STDOUT)).map(|()| Vec::new());
    }
    let path = Path::new(&output.path);
    check_path(path, None, output.force)?;
    let pending = PendingFile::create(path)?;
    let target = Target::new(path, None, output.force, pending.reopen())?;
    write(target.sink(&with_metadata(schema, &output.metadata), output.safe_csv)?, path)?;
    pending.commit(output.force)?;
    Ok(vec![path.to_owned()])
}

/// What to call standard output.
const STDOUT: &str = "standard output";

fn stdout_sink(safe: bool) -> Sink {
    let writer = WriterBuilder::new().build(Packed::Plain(Box::new(std::io::stdout().lock())));
    Sink::Csv { writer: Box::new(writer), safe }
}

/// One output for each input, of the same name, all or none.
fn write_each(input: &Input, folder: &Path, output: &Output, added: &mut Added<'_>) -> Result<Vec<PathBuf>> {
    let targets = output.targets(input)?;
    let mut pending = PendingFolder::create(folder)?;
    let mut rows = 0;
    for (file, path) in targets.iter().enumerate() {
        rows += pending.add(&input.files[file].below, |handle| {
            let target = Target::new(path, Some(input), output.force, handle.try_clone())?;
            target.fill(input, file..file + 1, rows, output, added)
        })?;
    }
    refuse_changed(input, rows, added)?;
    pending.commit(output.force)
}

/// Rows on their way from a file into another.
struct Copy<'a> {
    input: &'a Input,
    output: &'a Output,
    /// The columns of the first file, which say what all have.
    like: &'a SchemaRef,
    path: &'a Path,
}

impl Copy<'_> {
    /// Copies the rows of a file, from row `first` of all; returns how many.
    fn rows(&self, file: usize, first: usize, added: &mut Added<'_>, sink: &mut Sink) -> Result<usize> {
        let batches = self.input.open(file)?;
        let places = self.output.places(self.input, self.like, batches.schema(), file)?;
        let schema = extended(self.like, &self.output.kept(self.like), added);
        let mut rows = 0;
        for batch in batches {
            let batch = batch?;
            let mut columns: Vec<ArrayRef> = places.iter().map(|&place| batch.column(place).clone()).collect();
            columns.extend((added.values)(first + rows, batch.num_rows())?);
            rows += batch.num_rows();
            let labelled = RecordBatch::try_new(schema.clone(), columns).map_err(|error| failed(self.path, &error))?;
            sink.write(&labelled, self.path)?;
        }
        Ok(rows)
    }
}

fn extended(schema: &SchemaRef, kept: &[usize], added: &Added<'_>) -> SchemaRef {
    let mut fields: Vec<FieldRef> = kept.iter().map(|&place| schema.fields()[place].clone()).collect();
    fields.extend(added.fields.iter().cloned());
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Refuses to give labels to other rows than those that they were made for.
fn refuse_changed(input: &Input, rows: usize, added: &Added<'_>) -> Result<()> {
    input.check_unchanged()?;
    let Some(expected) = added.rows.filter(|expected| *expected != rows) else { return Ok(()) };
    let names = input.names().map(|name| name.display().to_string()).collect::<Vec<_>>().join(", ");
    Err(Error::Options(format!(
        "{names}: {expected} rows were read first and {rows} rows then; nothing was written: run the command again"
    )))
}

/// Checks that a file has the rows that were written into it, by what its format says of them.
fn check_written(path: &Path, rows: usize, found: Option<usize>) -> Result<()> {
    match found.filter(|found| *found != rows) {
        Some(found) => Err(Error::file(path, format!("{found} of {rows} rows were written; run the command again"))),
        None => Ok(()),
    }
}

/// Refuses what must not or cannot be written.
fn check_path(path: &Path, input: Option<&Input>, force: bool) -> Result<()> {
    check_ending(path, input, force)?;
    folder_of(path).map(|_| ())
}

/// The format of an output; refuses what must not be written.
fn check_ending(path: &Path, input: Option<&Input>, force: bool) -> Result<(Format, Packing)> {
    let (format, packing) = by_ending(path).ok_or_else(|| Error::file(path, NO_FORMAT))?;
    if packing != Packing::None && matches!(format, Format::Parquet | Format::Ipc) {
        return Err(Error::file(path, "Parquet and Arrow files are packed inside; leave the last ending out"));
    }
    refuse_taken(path, input, force)?;
    Ok((format, packing))
}

const NO_FORMAT: &str =
    "the ending says no format; use .csv, .tsv (.gz, .zst), .parquet or .arrow, or a folder, with a / at its end";

/// Refuses to write over an input, or over what is there already unless that is wanted.
pub fn refuse_taken(path: &Path, input: Option<&Input>, force: bool) -> Result<()> {
    if input.is_some_and(|input| input.contains(path)) {
        return Err(Error::file(path, "it is one of the inputs, which are never overwritten; write elsewhere"));
    }
    if path.exists() && !force {
        return Err(Error::file(path, "it exists already; choose another name, or allow it with --force"));
    }
    Ok(())
}

/// An output that is still under another name.
struct Target {
    path: PathBuf,
    format: Format,
    packing: Packing,
    file: File,
}

impl Target {
    fn new(path: &Path, input: Option<&Input>, force: bool, file: std::io::Result<File>) -> Result<Target> {
        let (format, packing) = check_ending(path, input, force)?;
        let file = file.map_err(|error| Error::io(path, &error))?;
        Ok(Target { path: path.to_owned(), format, packing, file })
    }

    fn handle(&self) -> Result<File> {
        self.file.try_clone().map_err(|error| Error::io(&self.path, &error))
    }

    /// Writes the rows of some files, from row `first` of all, with what is added; returns how many.
    fn fill(
        &self,
        input: &Input,
        files: Range<usize>,
        first: usize,
        output: &Output,
        added: &mut Added<'_>,
    ) -> Result<usize> {
        let like = input.open(files.start)?.schema().clone();
        let kept = output.kept(&like);
        if let Some(olds) = self.olds(input, files.clone()) {
            return self.append(input, files.start, &olds, &kept, first, output, added);
        }
        let mut sink = self.sink(&with_metadata(&extended(&like, &kept, added), &output.metadata), output.safe_csv)?;
        let mut rows = 0;
        for file in files {
            let copy = Copy { input, output, like: &like, path: &self.path };
            rows += copy.rows(file, first + rows, added, &mut sink)?;
        }
        check_written(&self.path, rows, sink.close(&self.path)?)?;
        Ok(rows)
    }

    /// The files, where they and the output are Parquet, and their columns can be copied as they lie.
    fn olds(&self, input: &Input, files: Range<usize>) -> Option<Vec<Old>> {
        let sources = &input.files[files];
        let plain = |source: &Source| source.format == Format::Parquet && source.partitions.is_empty();
        if self.format != Format::Parquet || !sources.iter().all(plain) {
            return None;
        }
        let olds: Vec<Old> = sources.iter().map(|source| Old::open(source.file()?).ok()).collect::<Option<_>>()?;
        olds.iter().all(|old| old.is_like(&olds[0])).then_some(olds)
    }

    /// Copies the columns as they lie, and writes the new ones.
    #[allow(clippy::too_many_arguments)]
    fn append(
        &self,
        input: &Input,
        file: usize,
        olds: &[Old],
        kept: &[usize],
        first: usize,
        output: &Output,
        added: &mut Added<'_>,
    ) -> Result<usize> {
        let failed = |error: ParquetError| match error {
            ParquetError::External(other) if is_changed(other.as_ref()) => Error::changed(input.name(file)),
            ParquetError::External(other) => match other.downcast::<Error>() {
                Ok(own) => *own,
                Err(other) => failed(&self.path, &ArrowError::from(ParquetError::External(other))),
            },
            error => failed(&self.path, &ArrowError::from(error)),
        };
        let out = self.handle()?;
        let indexed = olds.iter().all(Old::is_indexed);
        let mut new =
            New::create(out, &olds[0], kept, &added.fields, &properties(&added.fields), indexed, &output.metadata)
                .map_err(failed)?;
        let mut rows = 0;
        for (place, old) in olds.iter().enumerate() {
            let total = old.rows().max(1) as f64;
            let bytes = input.files[file + place].bytes() as f64;
            let appended = new.append(old, |from, count| {
                input.reached(file + place, count as u64, (bytes * (from + count) as f64 / total) as u64);
                (added.values)(first + rows + from, count).map_err(|error| ParquetError::External(Box::new(error)))
            });
            rows += appended.map_err(failed)?;
        }
        check_written(&self.path, rows, Some(new.close().map_err(failed)?))?;
        Ok(rows)
    }

    fn sink(&self, schema: &SchemaRef, safe: bool) -> Result<Sink> {
        let file = self.handle()?;
        let failed = |error: ArrowError| failed(&self.path, &error);
        Ok(match self.format {
            Format::Csv | Format::Tsv => {
                let separator = usual(self.format);
                let writer = WriterBuilder::new().with_delimiter(separator).build(self.packed(file)?);
                Sink::Csv { writer: Box::new(writer), safe }
            }
            Format::Parquet => {
                let own = properties(&[]).into_builder().set_key_value_metadata(own_key_values(schema)).build();
                let writer = ArrowWriter::try_new(file, schema.clone(), Some(own));
                Sink::Parquet(Box::new(writer.map_err(|error| failed(error.into()))?))
            }
            Format::Ipc => Sink::Ipc(Box::new(FileWriter::try_new_buffered(file, schema).map_err(failed)?)),
        })
    }

    fn packed(&self, file: File) -> Result<Packed> {
        let file = BufWriter::with_capacity(1 << 18, file);
        Ok(match self.packing {
            Packing::None => Packed::Plain(Box::new(file)),
            Packing::Gzip => Packed::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            Packing::Zstd => Packed::Zstd(zstd::Encoder::new(file, 0).map_err(|error| Error::io(&self.path, &error))?),
        })
    }
}

/// How Parquet is written. Columns of the labels' scores have no dictionary, which would take longer than it saves.
fn properties(added: &[FieldRef]) -> WriterProperties {
    let level = ZstdLevel::try_new(1).unwrap_or_default();
    // Types that Parquet does not have become ones that every reader knows: date64 a date.
    let mut properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).set_coerce_types(true);
    for field in added.iter().filter(|field| field.data_type().is_floating()) {
        let path = ColumnPath::from(vec![field.name().clone()]);
        properties = properties.set_column_dictionary_enabled(path, false);
    }
    properties.build()
}

/// Text on its way into a file.
enum Packed {
    Plain(Box<dyn Write>),
    Gzip(flate2::write::GzEncoder<BufWriter<File>>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Packed::Plain(writer) => writer.write(bytes),
            Packed::Gzip(writer) => writer.write(bytes),
            Packed::Zstd(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Packed::Plain(writer) => writer.flush(),
            Packed::Gzip(writer) => writer.flush(),
            Packed::Zstd(writer) => writer.flush(),
        }
    }
}

impl Packed {
    /// Writes what is still held back: a full disk is seen here at the latest.
    fn finish(self) -> std::io::Result<()> {
        match self {
            Packed::Plain(mut writer) => writer.flush(),
            Packed::Gzip(writer) => writer.finish()?.flush(),
            Packed::Zstd(writer) => writer.finish()?.flush(),
        }
    }
}

enum Sink {
    Csv { writer: Box<arrow::csv::Writer<Packed>>, safe: bool },
    Parquet(Box<ArrowWriter<File>>),
    Ipc(Box<FileWriter<BufWriter<File>>>),
}

impl Sink {
    fn write(&mut self, batch: &RecordBatch, path: &Path) -> Result<()> {
        match self {
            Sink::Csv { writer, safe: true } => writer.write(&neutralize(batch)),
            Sink::Csv { writer, safe: false } => writer.write(batch),
            Sink::Parquet(writer) => writer.write(batch).map_err(ArrowError::from),
            Sink::Ipc(writer) => writer.write(batch),
        }
        .map_err(|error| failed(path, &error))
    }

    /// Completes the file; returns how many rows its own footer says it has, if it has one.
    fn close(self, path: &Path) -> Result<Option<usize>> {
        match self {
            Sink::Csv { writer, .. } => {
                writer.into_inner().finish().map_err(|error| Error::io(path, &error))?;
                Ok(None)
            }
            Sink::Parquet(writer) => {
                let metadata = writer.close().map_err(|error| failed(path, &error.into()))?;
                Ok(Some(metadata.file_metadata().num_rows() as usize))
            }
            Sink::Ipc(mut writer) => {
                writer.finish().map_err(|error| failed(path, &error))?;
                Ok(None)
            }
        }
    }
}

fn failed(path: &Path, error: &ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => Error::io(path, error),
        other => Error::writing(path, &other.to_string()),
    }
}
