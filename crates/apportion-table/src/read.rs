//! What is in the files: batches of rows, whatever the format, the packing and the encoding.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow::csv::ReaderBuilder;
use arrow::csv::reader::Format as CsvFormat;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use encoding_rs_io::DecodeReaderBytesBuilder;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use crate::ahead::{Part, Rows, in_turn};
use crate::error::{Error, Result};
use crate::input::{Format, Input, InputOptions, Packing, Source};
use crate::progress::Counted;

/// The rows of a file, batch by batch.
pub struct Batches<'a> {
    input: &'a Input,
    file: usize,
    schema: SchemaRef,
    /// How many of the columns are in the file itself; the others are in its folder's name.
    own: usize,
    rows: Rows,
    /// Bytes that were read so far.
    read: Arc<AtomicU64>,
    /// Whether nobody is told how far it has come.
    unwatched: bool,
}

/// What a format's reader gives.
struct Opened {
    schema: SchemaRef,
    rows: Rows,
    read: Arc<AtomicU64>,
}

impl Input {
    /// Opens one of the files.
    pub fn open(&self, file: usize) -> Result<Batches<'_>> {
        self.open_columns(file, &|_| true)
    }

    /// Opens one of the files for some of its columns: the others are not read.
    pub fn open_columns(&self, file: usize, wanted: &dyn Fn(&str) -> bool) -> Result<Batches<'_>> {
        self.open_as(file, wanted, false)
    }

    /// The same, with texts as codes and the words that they stand for, where the file has them so: whatever is done with each word
    /// is then done once.
    pub(crate) fn open_coded(&self, file: usize, wanted: &dyn Fn(&str) -> bool) -> Result<Batches<'_>> {
        self.open_as(file, wanted, true)
    }

    fn open_as(&self, file: usize, wanted: &dyn Fn(&str) -> bool, coded: bool) -> Result<Batches<'_>> {
        let source = &self.files[file];
        let opened = match source.format {
            _ if source.held.is_some() => open_held(source, &self.options, wanted)?,
            Format::Csv | Format::Tsv => open_text(source, &self.options, wanted)?,
            Format::Parquet => open_parquet(source, &self.options, wanted, coded)?,
            Format::Ipc => open_ipc(source, wanted)?,
        };
        let mut fields: Vec<Arc<Field>> = opened.schema.fields().iter().cloned().collect();
        let own = fields.len();
        for (column, _) in source.partitions.iter().filter(|(column, _)| wanted(column)) {
            if opened.schema.column_with_name(column).is_none() {
                fields.push(Arc::new(Field::new(column, DataType::Utf8, false)));
            }
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, opened.schema.metadata().clone()));
        Ok(Batches { input: self, file, schema, own, rows: opened.rows, read: opened.read, unwatched: false })
    }

    /// The names of the columns of one of the files.
    pub fn columns(&self, file: usize) -> Result<Vec<String>> {
        Ok(self.open(file)?.names())
    }
}

impl Batches<'_> {
    /// Tells nobody how far it has come: another pass over the same rows does.
    pub(crate) fn unwatched(self) -> Self {
        Batches { unwatched: true, ..self }
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The names of the columns.
    pub fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The file, as the user knows it.
    pub fn name(&self) -> &Path {
        &self.source().name
    }

    fn source(&self) -> &Source {
        &self.input.files[self.file]
    }

    /// Adds the columns that the folder's name stands for.
    fn with_partitions(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
        for field in &self.schema.fields()[self.own..] {
            let value = self.source().partitions.iter().find(|(column, _)| column == field.name());
            let value = value.map_or("", |(_, value)| value.as_str());
            columns.push(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(value, batch.num_rows()))));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let whole = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        whole.map_err(|error| explain(self.source(), &error))
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.input.goes_on() {
            return Some(Err(Error::Stopped));
        }
        let batch = self.rows.next()?.map_err(|error| explain(self.source(), &error));
        let batch = batch.and_then(|batch| self.with_partitions(&batch));
        if let Ok(batch) = batch.as_ref()
            && !self.unwatched
        {
            self.input.reached(self.file, batch.num_rows() as u64, self.read.load(Ordering::Relaxed));
        }
        Some(batch)
    }
}

fn refuse_repeated(source: &Source, fields: &[Arc<Field>]) -> Result<()> {
    let mut names: Vec<&String> = fields.iter().map(|field| field.name()).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            Err(Error::file(&source.name, format!("two columns are called {:?}; rename one of them", pair[0])))
        }
        None => Ok(()),
    }
}

/// The places of the columns that are wanted. Two columns of one name are refused, wanted or not.
fn places(source: &Source, schema: &Schema, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<usize>> {
    refuse_repeated(source, schema.fields())?;
    Ok((0..schema.fields().len()).filter(|&place| wanted(schema.field(place).name())).collect())
}

/// Text, in UTF-8 whatever it was, with all columns as text: nothing is lost in a number's form or an identifier's zeros.
fn open_text(source: &Source, options: &InputOptions, wanted: &dyn Fn(&str) -> bool) -> Result<Opened> {
    let failed = |error: ArrowError| explain(source, &error);
    let format = CsvFormat::default().with_header(true).with_delimiter(source.separator);
    let (header, _) = format.infer_schema(decoded(source, options)?.0, Some(0)).map_err(failed)?;
    let named = |field: &Arc<Field>| Field::new(field.name().trim_start_matches('\u{feff}'), DataType::Utf8, true);
    let all = Arc::new(Schema::new(header.fields().iter().map(named).collect::<Vec<_>>()));
    let places = places(source, &all, wanted)?;
    let schema = Arc::new(all.project(&places).map_err(failed)?);
    let (text, read) = decoded(source, options)?;
    // The reader makes room for all cells of a batch, whether they come or not.
    let batch_rows = options.batch_rows.min(MOST_CELLS / all.fields().len().max(1)).max(1);
    let reader = ReaderBuilder::new(all).with_format(format).with_batch_size(batch_rows);
    let rows = reader.with_projection(places).build(text).map_err(failed)?;
    Ok(Opened { schema, rows: in_turn(vec![Box::new(|| Ok(Box::new(rows)))]), read })
}

/// Cells of text that are read at a time at most: voter files have hundreds of columns.
const MOST_CELLS: usize = 1 << 21;

/// A file's text, unpacked and in UTF-8.
pub(crate) fn decoded(source: &Source, options: &InputOptions) -> Result<(Box<dyn Read + Send>, Arc<AtomicU64>)> {
    let (unpacked, read) = unpacked(source)?;
    let encoding = options.latin1.then_some(encoding_rs::WINDOWS_1252);
    // A byte order mark decides; UTF-8 goes through as it is, so that what is not UTF-8 is seen.
    let mut builder = DecodeReaderBytesBuilder::new();
    builder.encoding(encoding).utf8_passthru(true).strip_bom(true).bom_override(true);
    Ok((Box::new(builder.build(unpacked)), read))
}

fn unpacked(source: &Source) -> Result<(Box<dyn Read + Send>, Arc<AtomicU64>)> {
    let (file, read) = Counted::new(open(source)?);
    let file = BufReader::with_capacity(1 << 18, file);
    let reader: Box<dyn Read + Send> = match source.packing {
        Packing::None => Box::new(file),
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Packing::Zstd => Box::new(zstd::Decoder::with_buffer(file).map_err(|error| Error::io(&source.name, &error))?),
    };
    Ok((reader, read))
}

fn open(source: &Source) -> Result<File> {
    File::open(&source.path).map_err(|error| Error::io(&source.name, &error))
}

fn open_parquet(source: &Source, options: &InputOptions, wanted: &dyn Fn(&str) -> bool, coded: bool) -> Result<Opened> {
    refuse_packed(source)?;
    let failed = |error: ParquetError| explain(source, &ArrowError::ParquetError(error.to_string()));
    let mut metadata = ArrowReaderMetadata::load(&open(source)?, ArrowReaderOptions::new()).map_err(failed)?;
    if coded {
        let options = ArrowReaderOptions::new().with_schema(with_coded_texts(metadata.schema(), wanted));
        metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).map_err(failed)?;
    }
    let places = places(source, metadata.schema(), wanted)?;
    let schema = Arc::new(metadata.schema().project(&places).map_err(|error| explain(source, &error))?);
    let parquet = metadata.metadata();
    let mask = ProjectionMask::roots(parquet.file_metadata().schema_descr(), places);
    let (total, groups) = (parquet.file_metadata().num_rows().max(1) as f64, parquet.num_row_groups());
    let part = |group: usize| -> Part {
        let (path, metadata, mask) = (source.path.clone(), metadata.clone(), mask.clone());
        let batch_rows = options.batch_rows;
        Box::new(move || {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, metadata);
            let reader = reader.with_batch_size(batch_rows).with_projection(mask).with_row_groups(vec![group]);
            Ok(Box::new(reader.build()?))
        })
    };
    let rows = in_turn((0..groups).map(part).collect());
    // A Parquet file is read here and there: how far one has come is told by the rows.
    let (read, mut done) = (Arc::new(AtomicU64::new(0)), 0);
    let (counter, bytes) = (read.clone(), source.bytes() as f64);
    let counted = rows.inspect(move |batch| {
        done += batch.as_ref().map_or(0, RecordBatch::num_rows);
        counter.store((bytes * done as f64 / total) as u64, Ordering::Relaxed);
    });
    Ok(Opened { schema, rows: Box::new(counted), read })
}

/// A schema whose columns of text, where they are wanted, are codes and words.
fn with_coded_texts(schema: &Schema, wanted: &dyn Fn(&str) -> bool) -> SchemaRef {
    let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if wanted(field.name()) => {
            Arc::new(field.as_ref().clone().with_data_type(coded.clone()))
        }
        _ => field.clone(),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn open_ipc(source: &Source, wanted: &dyn Fn(&str) -> bool) -> Result<Opened> {
    refuse_packed(source)?;
    let reader = |projection: Option<Vec<usize>>| -> Result<Opened> {
        let (file, read) = Counted::new(open(source)?);
        if let Ok(reader) = FileReader::try_new_buffered(file, projection.clone()) {
            return Ok(Opened { schema: reader.schema(), rows: Box::new(reader), read });
        }
        let (file, read) = Counted::new(open(source)?);
        let reader = StreamReader::try_new_buffered(file, projection).map_err(|error| explain(source, &error))?;
        Ok(Opened { schema: reader.schema(), rows: Box::new(reader), read })
    };
    let all = reader(None)?;
    let places = places(source, &all.schema, wanted)?;
    if places.len() == all.schema.fields().len() {
        return Ok(all);
    }
    // The readers tell the schema of the file, and not that of the columns which they read.
    let schema = all.schema.project(&places).map_err(|error| explain(source, &error))?;
    Ok(Opened { schema: Arc::new(schema), ..reader(Some(places))? })
}

fn open_held(source: &Source, options: &InputOptions, wanted: &dyn Fn(&str) -> bool) -> Result<Opened> {
    let Some(held) = &source.held else { return Err(Error::file(&source.name, "it is no table in memory")) };
    let places = places(source, held.schema(), wanted)?;
    let schema = Arc::new(held.schema().project(&places).map_err(|error| explain(source, &error))?);
    let (read, mut done) = (Arc::new(AtomicU64::new(0)), 0);
    let counter = read.clone();
    let rows = held.open(&places, options.batch_rows)?.inspect(move |batch| {
        done += batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        counter.store(done, Ordering::Relaxed);
    });
    Ok(Opened { schema, rows: Box::new(rows), read })
}

fn refuse_packed(source: &Source) -> Result<()> {
    match source.packing {
        Packing::None => Ok(()),
        _ => Err(Error::file(&source.name, "Parquet and Arrow files are packed inside; unpack it first")),
    }
}

/// What a reader says, in words that lead on.
fn explain(source: &Source, error: &ArrowError) -> Error {
    let text = match error {
        ArrowError::CsvError(text) | ArrowError::ParquetError(text) | ArrowError::IpcError(text) => text.clone(),
        ArrowError::IoError(text, _) => text.clone(),
        other => other.to_string(),
    };
    let problem = match source.format {
        _ if source.held.is_some() => text,
        Format::Csv | Format::Tsv => explain_text(&text),
        Format::Parquet => format!("it is no whole Parquet file ({text}); it may be cut off: copy it again"),
        Format::Ipc => format!("it is no whole Arrow file ({text}); it may be cut off: copy it again"),
    };
    Error::file(&source.name, problem)
}

fn explain_text(text: &str) -> String {
    if let Some(rest) = text.split("incorrect number of fields for line ").nth(1) {
        return format!("line {rest} fields; mend or quote that line, or name the separator with --delimiter");
    }
    let lower = text.to_lowercase();
    if lower.contains("utf-8") || lower.contains("utf8") {
        return format!("it is not UTF-8 ({text}); use --encoding latin1, or convert it");
    }
    if lower.contains("corrupt") || lower.contains("unexpected end") || lower.contains("incomplete") {
        return format!("it cannot be unpacked ({text}); it may be cut off: copy it again");
    }
    text.to_owned()
}
