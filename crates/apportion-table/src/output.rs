//! The same rows again, in their order, with labels beside them: written beside the output and then renamed.

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
use tempfile::NamedTempFile;

use crate::append::{New, Old};
use crate::columns::position;
use crate::error::{Error, Result};
use crate::input::{Format, Input, Packing, Source, by_ending};
use crate::metadata::{own_key_values, with_metadata};
use crate::unfinished;

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
}

impl Output {
    /// Refuses, before any work is done, what could not be written at its end.
    pub fn check(&self, input: Option<&Input>) -> Result<()> {
        if let (true, Some(input)) = (self.is_folder(), input) {
            let targets = self.targets(input)?;
            return targets.iter().try_for_each(|path| check_ending(path, Some(input), self.force).map(|_| ()));
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
        let mut targets: Vec<PathBuf> = Vec::new();
        for file in &input.files {
            let path = Path::new(&self.path).join(&file.below);
            if targets.contains(&path) {
                let way = "label them one by one, each to a folder of its own";
                return Err(Error::file(&path, format!("two inputs have this name; {way}")));
            }
            targets.push(path);
        }
        Ok(targets)
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
    let mut first = 0;
    if output.path == "-" {
        let stdout = Packed::Plain(Box::new(std::io::stdout().lock()));
        let mut sink = Sink::Csv(Box::new(WriterBuilder::new().build(stdout)));
        let like = input.open(0)?.schema().clone();
        for file in 0..input.names().len() {
            let copy = Copy { input, output, like: &like, path: Path::new("standard output") };
            first += copy.rows(file, first, added, &mut sink)?;
        }
        refuse_changed(input, first, added)?;
        return sink.close(Path::new("standard output")).map(|()| Vec::new());
    }
    let path = Path::new(&output.path);
    if output.is_folder() {
        return write_each(input, path, output, added);
    }
    let target = Target::new(path, Some(input), output.force)?;
    let rows = target.fill(input, 0..input.names().len(), first, output, added)?;
    refuse_changed(input, rows, added)?;
    target.publish(output.force)?;
    Ok(vec![path.to_owned()])
}

/// Writes batches that are made on the way.
pub fn write_batches(
    output: &Output,
    schema: &SchemaRef,
    batches: impl Iterator<Item = RecordBatch>,
) -> Result<Vec<PathBuf>> {
    let path = Path::new(if output.path == "-" { "standard output" } else { &output.path });
    let (target, mut sink) = if output.path == "-" {
        (None, Sink::Csv(Box::new(WriterBuilder::new().build(Packed::Plain(Box::new(std::io::stdout().lock()))))))
    } else {
        let target = Target::new(path, None, output.force)?;
        let sink = target.sink(&with_metadata(schema, &output.metadata))?;
        (Some(target), sink)
    };
    for batch in batches {
        sink.write(&batch, path)?;
    }
    sink.close(path)?;
    target.into_iter().map(|target| target.publish(output.force)).collect()
}

/// One output for each input, of the same name, all or none.
fn write_each(input: &Input, folder: &Path, output: &Output, added: &mut Added<'_>) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    let (mut targets, mut first) = (Vec::new(), 0);
    for (file, path) in output.targets(input)?.into_iter().enumerate() {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
        }
        let target = Target::new(&path, Some(input), output.force)?;
        first += target.fill(input, file..file + 1, first, output, added)?;
        targets.push(target);
    }
    refuse_changed(input, first, added)?;
    targets.into_iter().map(|target| target.publish(output.force)).collect()
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
    let Some(expected) = added.rows.filter(|expected| *expected != rows) else { return Ok(()) };
    let names = input.names().map(|name| name.display().to_string()).collect::<Vec<_>>().join(", ");
    Err(Error::Options(format!(
        "{names}: there were {expected} rows at first, and then {rows}; it must not change while it is read: try again"
    )))
}

/// What the ending of an output says, and the folder that it is to be in; refuses what must not be written.
fn check_path<'p>(path: &'p Path, input: Option<&Input>, force: bool) -> Result<((Format, Packing), &'p Path)> {
    Ok((check_ending(path, input, force)?, unfinished::folder_of(path)?))
}

/// The same, whatever the folder.
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
    file: NamedTempFile,
}

impl Target {
    fn new(path: &Path, input: Option<&Input>, force: bool) -> Result<Target> {
        let ((format, packing), folder) = check_path(path, input, force)?;
        let file = unfinished::new_in(folder).map_err(|error| Error::io(path, &error))?;
        Ok(Target { path: path.to_owned(), format, packing, file })
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
        let mut sink = self.sink(&with_metadata(&extended(&like, &kept, added), &output.metadata))?;
        let mut rows = 0;
        for file in files {
            let copy = Copy { input, output, like: &like, path: &self.path };
            rows += copy.rows(file, first + rows, added, &mut sink)?;
        }
        sink.close(&self.path)?;
        Ok(rows)
    }

    /// The files, where they and the output are Parquet, and their columns can be copied as they lie.
    fn olds(&self, input: &Input, files: Range<usize>) -> Option<Vec<Old>> {
        let sources = &input.files[files];
        let plain = |source: &Source| source.format == Format::Parquet && source.partitions.is_empty();
        if self.format != Format::Parquet || !sources.iter().all(plain) {
            return None;
        }
        let olds: Vec<Old> = sources.iter().map(|source| Old::open(&source.path).ok()).collect::<Option<_>>()?;
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
            ParquetError::External(other) => match other.downcast::<Error>() {
                Ok(own) => *own,
                Err(other) => failed(&self.path, &ArrowError::from(ParquetError::External(other))),
            },
            error => failed(&self.path, &ArrowError::from(error)),
        };
        let out = self.file.reopen().map_err(|error| Error::io(&self.path, &error))?;
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
        new.close().map_err(failed)?;
        Ok(rows)
    }

    fn sink(&self, schema: &SchemaRef) -> Result<Sink> {
        let file = self.file.reopen().map_err(|error| Error::io(&self.path, &error))?;
        let failed = |error: ArrowError| failed(&self.path, &error);
        Ok(match self.format {
            Format::Csv => Sink::Csv(Box::new(WriterBuilder::new().build(self.packed(file)?))),
            Format::Tsv => Sink::Csv(Box::new(WriterBuilder::new().with_delimiter(b'\t').build(self.packed(file)?))),
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

    /// Gives the output its name.
    fn publish(self, force: bool) -> Result<PathBuf> {
        let path = self.path;
        let done = if force { self.file.persist(&path) } else { self.file.persist_noclobber(&path) };
        done.map_err(|error| Error::io(&path, &error.error))?;
        Ok(path)
    }
}

/// How Parquet is written. Columns of the labels' scores have no dictionary, which would take longer than it saves.
fn properties(added: &[FieldRef]) -> WriterProperties {
    let level = ZstdLevel::try_new(1).unwrap_or_default();
    let mut properties = WriterProperties::builder().set_compression(Compression::ZSTD(level));
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
    Csv(Box<arrow::csv::Writer<Packed>>),
    Parquet(Box<ArrowWriter<File>>),
    Ipc(Box<FileWriter<BufWriter<File>>>),
}

impl Sink {
    fn write(&mut self, batch: &RecordBatch, path: &Path) -> Result<()> {
        match self {
            Sink::Csv(writer) => writer.write(batch),
            Sink::Parquet(writer) => writer.write(batch).map_err(ArrowError::from),
            Sink::Ipc(writer) => writer.write(batch),
        }
        .map_err(|error| failed(path, &error))
    }

    fn close(self, path: &Path) -> Result<()> {
        match self {
            Sink::Csv(writer) => writer.into_inner().finish().map_err(|error| Error::io(path, &error)),
            Sink::Parquet(writer) => writer.close().map(|_| ()).map_err(|error| failed(path, &error.into())),
            Sink::Ipc(mut writer) => writer.finish().map_err(|error| failed(path, &error)),
        }
    }
}

fn failed(path: &Path, error: &ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => Error::io(path, error),
        other => Error::writing(path, &other.to_string()),
    }
}
