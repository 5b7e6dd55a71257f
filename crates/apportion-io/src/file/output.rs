//! Output: the input rows in order with added columns, written to a temporary file that is then
//! renamed.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use apportion::text::{Message, Setting, count};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use arrow_schema::{FieldRef, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::errors::ParquetError;

use super::csv_writer::CsvWriter;
use super::format::{Compression, Format, default_delimiter, format_of_path};
use super::metadata::{apportion_key_values, with_metadata};
use super::parquet_copy::{AppendWriter, SourceFile};
use super::source::Source;
use super::stable_file::is_changed;
use super::writer::{BatchWriter, CompressedWriter, parquet_properties, write_error};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::output::{Output, PendingFile, PendingFolder, folder_of, refuse_links_below, refuse_overwrite};
use crate::table::column_index;

/// Columns to add to the output: their fields, and their values for a range of rows.
pub(crate) struct AddedColumns<'a> {
    /// Names and types of the columns.
    pub(crate) fields: Vec<FieldRef>,
    /// Whether a column replaces the input column of the same name, at its position.
    pub(crate) replace: bool,
    /// Expected number of rows, if known.
    pub(crate) rows: Option<usize>,
    /// Returns the values of `count` rows, starting with row `first`: `values(first, count)`.
    pub(crate) values: &'a mut dyn FnMut(usize, usize) -> Result<Vec<ArrayRef>>,
}

impl Output {
    /// Refuses output that could not be written, before any work is done.
    pub fn check(&self, input: Option<&Input>) -> Result<()> {
        if let (true, Some(input)) = (self.is_folder(), input) {
            for path in self.targets(input)? {
                check_extension(&path, Some(input), self.force)?;
            }
            let folder = Path::new(&self.path);
            return input.files.iter().try_for_each(|file| refuse_links_below(folder, &file.relative_path));
        }
        if !self.is_stream() {
            check_path(Path::new(&self.path), input, self.force)?;
        }
        if let Some(input) = input.filter(|input| input.names().len() > 1) {
            let schemas: Vec<SchemaRef> =
                (0..input.names().len()).map(|file| input.schema(file)).collect::<Result<_>>()?;
            for (file, schema) in schemas.iter().enumerate().skip(1) {
                self.column_indices(input, &schemas[0], schema, file)?;
            }
        }
        Ok(())
    }

    /// Returns whether the output is CSV on standard output, or is discarded.
    fn is_stream(&self) -> bool {
        self.path == "-" || self.path == NULL_DEVICE
    }

    /// Returns a writer of CSV to standard output, or one that writes nothing.
    fn stream_writer(&self) -> BatchWriter {
        let output: Box<dyn Write> =
            if self.path == "-" { Box::new(std::io::stdout().lock()) } else { Box::new(std::io::sink()) };
        let writer = CsvWriter::new(CompressedWriter::Plain(output), b',');
        BatchWriter::Csv { writer: Box::new(writer), safe: self.safe_csv }
    }

    /// Returns the paths of an output that is not a file: none for standard output.
    fn stream_paths(&self) -> Vec<PathBuf> {
        if self.path == "-" { Vec::new() } else { vec![PathBuf::from(&self.path)] }
    }

    /// Returns whether there is one output file per input file.
    fn is_folder(&self) -> bool {
        !self.is_stream() && (self.path.ends_with('/') || Path::new(&self.path).is_dir())
    }

    /// Returns the output paths in a folder, one per input.
    fn targets(&self, input: &Input) -> Result<Vec<PathBuf>> {
        let targets: Vec<PathBuf> =
            input.files.iter().map(|file| Path::new(&self.path).join(&file.relative_path)).collect();
        let mut known = HashSet::new();
        match targets.iter().find(|path| !known.insert(*path)) {
            Some(path) => {
                let problem = "two inputs have this name; write each to its own folder";
                Err(Error::file(path, problem))
            }
            None => Ok(targets),
        }
    }

    /// Returns the indices of the kept columns of the first file.
    fn kept_columns(&self, schema: &SchemaRef) -> Vec<usize> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        match &self.keep {
            None => (0..names.len()).collect(),
            Some(keep) => keep.iter().filter_map(|name| column_index(&names, name).ok()).collect(),
        }
    }

    /// Returns the indices of the kept columns in another file. Files with different columns cannot
    /// be concatenated.
    fn column_indices(&self, input: &Input, first: &SchemaRef, other: &SchemaRef, file: usize) -> Result<Vec<usize>> {
        let refuse = |problem: String| {
            let name = input.name(0).display();
            let fix = "use files with the same columns, or write one file per input: ";
            let problem = Message::from(format!("{problem} {name}; {fix}")) + Setting::Output.with("FOLDER/");
            Err(Error::file(input.name(file), problem))
        };
        let mut indices = Vec::new();
        for index in self.kept_columns(first) {
            let (name, expected) = (first.field(index).name(), first.field(index).data_type());
            let Some((index, found)) = other.column_with_name(name) else {
                return refuse(format!("it has no column {name:?}, unlike"));
            };
            let found = found.data_type();
            if found != expected {
                return refuse(format!("its column {name:?} contains {found}, not {expected} as in"));
            }
            indices.push(index);
        }
        let extra = other.fields().iter().find(|field| first.column_with_name(field.name()).is_none());
        match extra.filter(|_| self.keep.is_none()) {
            Some(field) => refuse(format!("it has a column {:?} that is not in", field.name())),
            None => Ok(indices),
        }
    }
}

/// Writes all input rows with the added columns. Returns the paths of the files written.
pub(crate) fn write_with_columns(input: &Input, output: &Output, mut added: AddedColumns<'_>) -> Result<Vec<PathBuf>> {
    input.begin("writing");
    let written = write_all(input, output, &mut added)?;
    input.end();
    Ok(written)
}

fn write_all(input: &Input, output: &Output, added: &mut AddedColumns<'_>) -> Result<Vec<PathBuf>> {
    let files = 0..input.names().len();
    if output.is_stream() {
        let mut writer = output.stream_writer();
        let first_schema = input.schema(0)?;
        let mut rows = 0;
        for file in files {
            let copier = RowCopier { input, output, first_schema: &first_schema, path: Path::new(STDOUT) };
            rows += copier.copy(file, rows, added, &mut writer)?;
        }
        check_rows(input, rows, added)?;
        return writer.close(Path::new(STDOUT)).map(|_| output.stream_paths());
    }
    let path = Path::new(&output.path);
    if output.is_folder() {
        return write_folder(input, path, output, added);
    }
    let pending = PendingFile::create(path)?;
    let target = Target::new(path, Some(input), output.force, pending.reopen())?;
    let rows = target.write_rows(input, files, 0, output, added)?;
    check_rows(input, rows, added)?;
    pending.commit(output.force)?;
    Ok(vec![path.to_owned()])
}

/// Writes batches that are generated one by one, until one fails.
pub(crate) fn write_batches(
    output: &Output,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<Vec<PathBuf>> {
    let write = |mut writer: BatchWriter, path: &Path| {
        let mut rows = 0;
        for batch in batches {
            let batch = batch?;
            rows += batch.num_rows();
            writer.write(&batch, path)?;
        }
        check_written(path, rows, writer.close(path)?)
    };
    if output.is_stream() {
        return write(output.stream_writer(), Path::new(STDOUT)).map(|()| output.stream_paths());
    }
    let path = Path::new(&output.path);
    check_path(path, None, output.force)?;
    let pending = PendingFile::create(path)?;
    let target = Target::new(path, None, output.force, pending.reopen())?;
    write(target.writer(&with_metadata(schema, &output.metadata), output.safe_csv)?, path)?;
    pending.commit(output.force)?;
    Ok(vec![path.to_owned()])
}

/// The name of standard output in messages.
const STDOUT: &str = "standard output";

/// The device that discards its input.
const NULL_DEVICE: &str = "/dev/null";

/// Writes one output per input, with the same names: all of them or none.
fn write_folder(input: &Input, folder: &Path, output: &Output, added: &mut AddedColumns<'_>) -> Result<Vec<PathBuf>> {
    let targets = output.targets(input)?;
    let mut pending = PendingFolder::create(folder)?;
    let mut rows = 0;
    for (file, path) in targets.iter().enumerate() {
        rows += pending.add(&input.files[file].relative_path, |handle| {
            let target = Target::new(path, Some(input), output.force, handle.try_clone())?;
            target.write_rows(input, file..file + 1, rows, output, added)
        })?;
    }
    check_rows(input, rows, added)?;
    pending.commit(output.force)
}

/// Copies rows from an input file to an output.
struct RowCopier<'a> {
    input: &'a Input,
    output: &'a Output,
    /// The schema of the first file, which all files must match.
    first_schema: &'a SchemaRef,
    path: &'a Path,
}

impl RowCopier<'_> {
    /// Copies the rows of a file, which start at row `first` of the whole input. Returns how many.
    fn copy(&self, file: usize, first: usize, added: &mut AddedColumns<'_>, writer: &mut BatchWriter) -> Result<usize> {
        let batches = self.input.open(file)?;
        let indices = self.output.column_indices(self.input, self.first_schema, batches.schema(), file)?;
        let kept = self.output.kept_columns(self.first_schema);
        let schema = extended_schema(self.first_schema, &kept, added);
        let positions = positions(self.first_schema, &kept, added);
        let mut rows = 0;
        for batch in batches {
            let batch = batch?;
            let mut columns: Vec<ArrayRef> = indices.iter().map(|&index| batch.column(index).clone()).collect();
            let values = (added.values)(first + rows, batch.num_rows())?;
            merge(&mut columns, &positions, values);
            rows += batch.num_rows();
            let extended =
                RecordBatch::try_new(schema.clone(), columns).map_err(|error| write_error(self.path, &error))?;
            writer.write(&extended, self.path)?;
        }
        Ok(rows)
    }
}

fn extended_schema(schema: &SchemaRef, kept: &[usize], added: &AddedColumns<'_>) -> SchemaRef {
    let mut fields: Vec<FieldRef> = kept.iter().map(|&index| schema.fields()[index].clone()).collect();
    merge(&mut fields, &positions(schema, kept, added), added.fields.clone());
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Returns the kept column that each added column replaces, if any.
fn positions(schema: &SchemaRef, kept: &[usize], added: &AddedColumns<'_>) -> Vec<Option<usize>> {
    let position = |field: &FieldRef| kept.iter().position(|&index| schema.field(index).name() == field.name());
    added.fields.iter().map(|field| if added.replace { position(field) } else { None }).collect()
}

/// Puts added columns at their positions, or at the end.
fn merge<T>(columns: &mut Vec<T>, positions: &[Option<usize>], added: Vec<T>) {
    for (position, column) in positions.iter().zip(added) {
        match position {
            Some(position) => columns[*position] = column,
            None => columns.push(column),
        }
    }
}

/// Checks that the rows written are the rows that were read before.
fn check_rows(input: &Input, rows: usize, added: &AddedColumns<'_>) -> Result<()> {
    input.check_unchanged()?;
    let Some(expected) = added.rows.filter(|expected| *expected != rows) else { return Ok(()) };
    let names = input.names().map(|name| name.display().to_string()).collect::<Vec<_>>().join(", ");
    let (expected, rows) = (count(expected as u64), count(rows as u64));
    Err(Error::settings(format!(
        "{names}: the number of rows changed from {expected} to {rows} while reading; nothing was written: run the command again"
    )))
}

/// Checks the number of rows in a written file against its footer.
fn check_written(path: &Path, rows: usize, found: Option<usize>) -> Result<()> {
    match found.filter(|found| *found != rows) {
        Some(found) => {
            let (found, rows) = (count(found as u64), count(rows as u64));
            Err(Error::file(path, format!("{found} of {rows} rows were written; run the command again")))
        }
        None => Ok(()),
    }
}

/// Refuses a path that must not or cannot be written.
fn check_path(path: &Path, input: Option<&Input>, force: bool) -> Result<()> {
    check_extension(path, input, force)?;
    folder_of(path).map(|_| ())
}

/// Returns the format of an output path; refuses one that must not be written.
fn check_extension(path: &Path, input: Option<&Input>, force: bool) -> Result<(Format, Compression)> {
    let (format, compression) = format_of_path(path).ok_or_else(|| Error::file(path, NO_FORMAT))?;
    if compression != Compression::None && matches!(format, Format::Parquet | Format::Ipc) {
        return Err(Error::file(path, "Parquet and Arrow files are already compressed; leave out the last extension"));
    }
    if format == Format::Xlsx {
        return Err(Error::file(path, NO_WORKBOOK));
    }
    refuse_overwrite(path, input, force)?;
    Ok((format, compression))
}

const NO_FORMAT: &str =
    "unknown output format; use .csv, .tsv (.gz, .zst), .parquet or .arrow, or a folder ending in /";

const NO_WORKBOOK: &str = "Excel workbooks are read but not written; use .csv, which Excel opens";

/// An output file before it gets its final name.
struct Target {
    path: PathBuf,
    format: Format,
    compression: Compression,
    file: File,
}

impl Target {
    fn new(path: &Path, input: Option<&Input>, force: bool, file: std::io::Result<File>) -> Result<Target> {
        let (format, compression) = check_extension(path, input, force)?;
        let file = file.map_err(|error| Error::io(path, &error))?;
        Ok(Target { path: path.to_owned(), format, compression, file })
    }

    fn handle(&self) -> Result<File> {
        self.file.try_clone().map_err(|error| Error::io(&self.path, &error))
    }

    /// Writes the rows of some files with the added columns; the first is row `first` of the whole
    /// input. Returns how many.
    fn write_rows(
        &self,
        input: &Input,
        files: Range<usize>,
        first: usize,
        output: &Output,
        added: &mut AddedColumns<'_>,
    ) -> Result<usize> {
        let first_schema = input.schema(files.start)?;
        let kept = output.kept_columns(&first_schema);
        let sources = if added.replace { None } else { self.parquet_sources(input, files.clone())? };
        if let Some(sources) = sources {
            return self.append_columns(input, files.start, &sources, &kept, first, output, added);
        }
        let schema = with_metadata(&extended_schema(&first_schema, &kept, added), &output.metadata);
        let mut writer = self.writer(&schema, output.safe_csv)?;
        let mut rows = 0;
        for file in files {
            let copier = RowCopier { input, output, first_schema: &first_schema, path: &self.path };
            rows += copier.copy(file, first + rows, added, &mut writer)?;
        }
        check_written(&self.path, rows, writer.close(&self.path)?)?;
        Ok(rows)
    }

    /// Returns the source files if they and the output are Parquet and their columns can be copied
    /// without decoding.
    fn parquet_sources(&self, input: &Input, files: Range<usize>) -> Result<Option<Vec<SourceFile>>> {
        let sources = &input.files[files];
        let plain = |source: &Source| source.format == Format::Parquet && source.partitions.is_empty();
        if self.format != Format::Parquet || !sources.iter().all(plain) {
            return Ok(None);
        }
        let mut opened = Vec::new();
        for source in sources {
            let Some(stable) = source.file() else { return Ok(None) };
            let file = stable.open().map_err(|error| Error::io(&source.name, &error))?;
            // A file whose columns cannot be copied is decoded, and refused then if it is damaged.
            let Ok(source) = SourceFile::new(stable, file) else { return Ok(None) };
            opened.push(source);
        }
        Ok(opened.iter().all(|source| source.is_like(&opened[0])).then_some(opened))
    }

    /// Copies the existing columns without decoding them, and writes the added ones.
    #[allow(clippy::too_many_arguments)]
    fn append_columns(
        &self,
        input: &Input,
        file: usize,
        sources: &[SourceFile],
        kept: &[usize],
        first: usize,
        output: &Output,
        added: &mut AddedColumns<'_>,
    ) -> Result<usize> {
        let failed = |error: ParquetError| match error {
            ParquetError::External(other) if is_changed(other.as_ref()) => Error::changed(input.name(file)),
            ParquetError::External(other) => match other.downcast::<Error>() {
                Ok(error) => *error,
                Err(other) => write_error(&self.path, &ArrowError::from(ParquetError::External(other))),
            },
            error => write_error(&self.path, &ArrowError::from(error)),
        };
        let indexed = sources.iter().all(SourceFile::is_indexed);
        let mut writer = AppendWriter::create(
            self.handle()?,
            &sources[0],
            kept,
            &added.fields,
            &parquet_properties(&added.fields),
            indexed,
            &output.metadata,
        )
        .map_err(failed)?;
        let mut rows = 0;
        for (index, source) in sources.iter().enumerate() {
            let total = source.rows().max(1) as f64;
            let bytes = input.files[file + index].bytes() as f64;
            let appended = writer.append(source, |from, count| {
                input.report_progress(file + index, count as u64, (bytes * (from + count) as f64 / total) as u64);
                (added.values)(first + rows + from, count).map_err(|error| ParquetError::External(Box::new(error)))
            });
            rows += appended.map_err(failed)?;
        }
        check_written(&self.path, rows, Some(writer.close().map_err(failed)?))?;
        Ok(rows)
    }

    fn writer(&self, schema: &SchemaRef, safe: bool) -> Result<BatchWriter> {
        let file = self.handle()?;
        let failed = |error: ArrowError| write_error(&self.path, &error);
        Ok(match self.format {
            Format::Csv | Format::Tsv => {
                let separator = default_delimiter(self.format);
                let writer = CsvWriter::new(self.compressed(file)?, separator);
                BatchWriter::Csv { writer: Box::new(writer), safe }
            }
            Format::Parquet => {
                let properties = parquet_properties(&[]).into_builder();
                let properties = properties.set_key_value_metadata(apportion_key_values(schema)).build();
                let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties));
                BatchWriter::Parquet(Box::new(writer.map_err(|error| failed(error.into()))?))
            }
            Format::Xlsx => return Err(Error::file(&self.path, NO_WORKBOOK)),
            Format::Ipc => BatchWriter::Ipc(Box::new(FileWriter::try_new_buffered(file, schema).map_err(failed)?)),
        })
    }

    fn compressed(&self, file: File) -> Result<CompressedWriter> {
        let file = BufWriter::with_capacity(1 << 18, file);
        Ok(match self.compression {
            Compression::None => CompressedWriter::Plain(Box::new(file)),
            Compression::Gzip => {
                CompressedWriter::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default()))
            }
            Compression::Zstd => {
                CompressedWriter::Zstd(zstd::Encoder::new(file, 0).map_err(|error| Error::io(&self.path, &error))?)
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use arrow_array::Date64Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Date32Type;
    use arrow_schema::DataType;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    #[test]
    fn dates_stay_dates() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dates.parquet");
        let day = 86_400_000;
        let columns: [(&str, ArrayRef); 1] =
            [("born", Arc::new(Date64Array::from(vec![Some(0), None, Some(19_000 * day)])))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let output = Output { path: path.to_str().unwrap().into(), ..Output::default() };
        write_batches(&output, &batch.schema(), std::iter::once(Ok(batch))).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
        let kind = reader.parquet_schema().column(0).logical_type_ref().cloned();
        assert_eq!(kind, Some(parquet::basic::LogicalType::Date), "every reader sees a date");
        let read = reader.build().unwrap().next().unwrap().unwrap();
        let days = arrow_cast::cast(read.column(0), &DataType::Date32).unwrap();
        assert_eq!(days.as_primitive::<Date32Type>().value(2), 19_000);
    }
}
