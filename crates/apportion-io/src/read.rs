//! What is in the files: batches of rows, whatever the format, the packing and the encoding.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use encoding_rs_io::DecodeReaderBytesBuilder;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::held::Held;
use crate::input::{Content, Format, Input, InputOptions, Packing, Source};
use crate::ipc::IpcBatches;
use crate::progress::Counted;
use crate::read_ahead::{Batch, Part, Rows, in_turn};
use crate::stable_file::{Sequential, StableChunks, StableFile, is_changed};
use crate::text::TextBatches;

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
        let options = &self.options;
        let opened = guarded(|| {
            Ok(match (&source.content, source.format) {
                (Content::Memory(held), _) => open_memory(source, held, options, wanted),
                (Content::File(stable), Format::Csv | Format::Tsv) => open_text(source, stable, options, wanted),
                (Content::File(stable), Format::Parquet) => open_parquet(source, stable, options, wanted, coded),
                (Content::File(stable), Format::Ipc) => open_ipc(source, stable, options, wanted),
            })
        });
        let opened = opened.unwrap_or_else(|panic| Err(explain(source, &panic)))?;
        let mut fields: Vec<Arc<Field>> = opened.schema.fields().iter().cloned().collect();
        let own = fields.len();
        for (column, _) in source.partitions.iter().filter(|(column, _)| wanted(column)) {
            if opened.schema.column_with_name(column).is_none() {
                fields.push(Arc::new(Field::new(column, DataType::Utf8, true)));
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
            let value = value.and_then(|(_, value)| value.as_deref());
            columns.push(Arc::new(std::iter::repeat_n(value, batch.num_rows()).collect::<StringArray>()));
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
fn open_text(
    source: &Source,
    stable: &Arc<StableFile>,
    options: &InputOptions,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Opened> {
    let (text, read) = decoded(source, stable, options)?;
    let batches = TextBatches::open(text, source.separator, options.max_line);
    let batches = batches.map_err(|error| explain(source, &error))?;
    let all =
        Schema::new(batches.names().iter().map(|name| Field::new(name, DataType::Utf8, true)).collect::<Vec<_>>());
    let batches = batches.with_columns(places(source, &all, wanted)?, options.batch_rows);
    let schema = batches.schema().clone();
    Ok(Opened { schema, rows: in_turn(vec![Box::new(|| Ok(Box::new(batches)))]), read })
}

/// A file's text, unpacked and in UTF-8.
pub(crate) fn decoded(
    source: &Source,
    stable: &Arc<StableFile>,
    options: &InputOptions,
) -> Result<(Box<dyn Read + Send>, Arc<AtomicU64>)> {
    let (unpacked, read) = unpacked(source, stable)?;
    let mut unpacked = BufReader::with_capacity(1 << 16, unpacked);
    let start = unpacked.fill_buf().map_err(|error| explain(source, &error.into()))?;
    let is_utf16 = start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]);
    let has_mark = is_utf16 || start.starts_with(&[0xef, 0xbb, 0xbf]);
    let encoding = (options.latin1 && !has_mark).then_some(encoding_rs::WINDOWS_1252);
    // A byte order mark decides; UTF-8 goes through as it is, so that what is not UTF-8 is seen.
    let mut builder = DecodeReaderBytesBuilder::new();
    builder.encoding(encoding).utf8_passthru(true).strip_bom(true).bom_override(true);
    let text = builder.build(unpacked);
    let text: Box<dyn Read + Send> =
        if is_utf16 { Box::new(NothingReplaced { text, seen: 0 }) } else { Box::new(text) };
    Ok((text, read))
}

/// Refuses text in which the decoder replaced something that is not valid.
struct NothingReplaced<R> {
    text: R,
    /// How many bytes of the replacement character were seen last.
    seen: usize,
}

impl<R: Read> Read for NothingReplaced<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
        let read = self.text.read(into)?;
        for &byte in &into[..read] {
            self.seen = match byte {
                byte if byte == REPLACEMENT[self.seen] => self.seen + 1,
                byte => usize::from(byte == REPLACEMENT[0]),
            };
            if self.seen == REPLACEMENT.len() {
                return Err(std::io::Error::other(
                    "it is not valid UTF-16; it may be damaged: copy it again, or convert it to UTF-8",
                ));
            }
        }
        Ok(read)
    }
}

fn unpacked(source: &Source, stable: &Arc<StableFile>) -> Result<(Box<dyn Read + Send>, Arc<AtomicU64>)> {
    let failed = |error: std::io::Error| explain(source, &error.into());
    let (file, read) = Counted::new(Sequential::open(stable).map_err(failed)?);
    let file = BufReader::with_capacity(1 << 18, file);
    let reader: Box<dyn Read + Send> = match source.packing {
        Packing::None => Box::new(file),
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Packing::Zstd => Box::new(zstd::Decoder::with_buffer(file).map_err(failed)?),
    };
    Ok((reader, read))
}

/// Bytes of a Parquet batch, about: wide text gets fewer rows at a time.
const PARQUET_BATCH_BYTES: u64 = 16 << 20;

fn open_parquet(
    source: &Source,
    stable: &Arc<StableFile>,
    options: &InputOptions,
    wanted: &dyn Fn(&str) -> bool,
    coded: bool,
) -> Result<Opened> {
    refuse_packed(source)?;
    let failed = |error: ParquetError| explain(source, &ArrowError::from(error));
    let chunks = StableChunks::open(stable).map_err(|error| explain(source, &error.into()))?;
    let mut metadata = ArrowReaderMetadata::load(&chunks, ArrowReaderOptions::new()).map_err(failed)?;
    check_row_counts(metadata.metadata()).map_err(failed)?;
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
        let (chunks, metadata, mask) = (chunks.clone(), metadata.clone(), mask.clone());
        let batch_rows = rows_at_a_time(parquet.row_group(group), &mask, options.batch_rows);
        let expected = parquet.row_group(group).num_rows() as usize;
        Box::new(move || {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, metadata);
            let reader = reader.with_batch_size(batch_rows).with_projection(mask).with_row_groups(vec![group]);
            Ok(Box::new(WholeGroup { rows: reader.build()?, group, expected, found: 0 }))
        })
    };
    let rows = in_turn((0..groups).map(part).collect());
    // A Parquet file is read here and there: progress is measured by rows.
    let (read, mut done) = (Arc::new(AtomicU64::new(0)), 0);
    let (counter, bytes) = (read.clone(), source.bytes() as f64);
    let counted = rows.inspect(move |batch| {
        done += batch.as_ref().map_or(0, RecordBatch::num_rows);
        counter.store((bytes * done as f64 / total) as u64, Ordering::Relaxed);
    });
    Ok(Opened { schema, rows: Box::new(counted), read })
}

/// Refuses a footer whose row counts contradict each other.
fn check_row_counts(parquet: &ParquetMetaData) -> std::result::Result<(), ParquetError> {
    let groups = parquet.row_groups().iter().map(RowGroupMetaData::num_rows);
    let sum = groups.clone().fold(0i64, i64::saturating_add);
    let (said, negative) = (parquet.file_metadata().num_rows(), groups.clone().any(|rows| rows < 0));
    if sum == said && !negative {
        return Ok(());
    }
    Err(ParquetError::General(format!("its footer says {said} rows, and its row groups have {sum}")))
}

/// How many rows of a row group are decoded at a time.
fn rows_at_a_time(group: &RowGroupMetaData, mask: &ProjectionMask, most: usize) -> usize {
    let leaves = group.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf));
    let size = |column: &ColumnChunkMetaData| {
        column.unencoded_byte_array_data_bytes().unwrap_or(0).max(column.uncompressed_size()).max(0) as u64
    };
    let bytes: u64 = leaves.map(|(_, column)| size(column)).fold(0, u64::saturating_add);
    let per_row = bytes / group.num_rows().max(1) as u64 + 1;
    most.min((PARQUET_BATCH_BYTES / per_row) as usize).max(1)
}

/// The batches of a row group, which must have the rows that the footer says.
struct WholeGroup {
    rows: ParquetRecordBatchReader,
    group: usize,
    expected: usize,
    found: usize,
}

impl Iterator for WholeGroup {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        let batch = self.rows.next();
        if let Some(Ok(batch)) = &batch {
            self.found += batch.num_rows();
        }
        if batch.is_none() && self.found != self.expected {
            let (group, expected) = (self.group + 1, self.expected);
            let found = std::mem::replace(&mut self.found, self.expected);
            let problem = format!("row group {group} has {found} rows, and its footer says {expected}");
            return Some(Err(ArrowError::ParquetError(problem)));
        }
        batch
    }
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

fn open_ipc(
    source: &Source,
    stable: &Arc<StableFile>,
    options: &InputOptions,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Opened> {
    refuse_packed(source)?;
    let read = Arc::new(AtomicU64::new(0));
    let failed = |error: ArrowError| explain(source, &error);
    let batches = IpcBatches::open(stable, options.batch_rows, read.clone()).map_err(failed)?;
    let places = places(source, batches.schema(), wanted)?;
    let schema = Arc::new(batches.schema().project(&places).map_err(failed)?);
    let batches = if places.len() == batches.schema().fields().len() { batches } else { batches.with_columns(places) };
    Ok(Opened { schema, rows: in_turn(vec![Box::new(|| Ok(Box::new(batches)))]), read })
}

fn open_memory(source: &Source, held: &Held, options: &InputOptions, wanted: &dyn Fn(&str) -> bool) -> Result<Opened> {
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

/// An error of a decoder, with the file and the next step.
pub(crate) fn explain(source: &Source, error: &ArrowError) -> Error {
    if is_changed(error) {
        return Error::changed(&source.name);
    }
    if let Some(error) = system_error(error) {
        return Error::io(&source.name, error);
    }
    let text = match error {
        ArrowError::CsvError(text) | ArrowError::ParquetError(text) | ArrowError::IpcError(text) => text.clone(),
        ArrowError::IoError(text, _) => text.clone(),
        ArrowError::ExternalError(inner) => inner.to_string(),
        other => other.to_string(),
    };
    let text = text.lines().next().unwrap_or_default();
    let problem = match source.format {
        _ if matches!(source.content, Content::Memory(_)) => text.to_owned(),
        Format::Csv | Format::Tsv => explain_text(text),
        Format::Parquet if text.contains("overflow") => {
            format!(
                "a batch of its text takes more than 2 GiB ({text}); read fewer rows at a time with --batch-rows 1000"
            )
        }
        Format::Parquet => {
            format!("it is not a valid Parquet file ({text}); it may be damaged or cut off: copy it again")
        }
        Format::Ipc => format!("it is not a valid Arrow file ({text}); it may be damaged or cut off: copy it again"),
    };
    Error::file(&source.name, problem)
}

/// An error of the operating system inside another.
fn system_error(error: &ArrowError) -> Option<&std::io::Error> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(system) = error.downcast_ref::<std::io::Error>() {
            return Some(system).filter(|system| system.raw_os_error().is_some());
        }
        next = error.source();
    }
    None
}

fn explain_text(text: &str) -> String {
    let lower = text.to_lowercase();
    if lower.contains("invalid gzip header") {
        return "its compressed data is followed by something that is not gzip; it may be damaged: copy it again"
            .into();
    }
    if ["corrupt", "unexpected end", "incomplete", "unknown frame"].iter().any(|word| lower.contains(word)) {
        return format!("it cannot be decompressed ({text}); it may be damaged or cut off: copy it again");
    }
    text.to_owned()
}
