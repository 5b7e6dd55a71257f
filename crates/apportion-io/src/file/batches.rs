//! The rows of input files as Arrow batches, for every format, compression and encoding.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::arrow_columns::{array_of, block_of};
use super::decode::decode;
use super::explain::explain;
use super::format::{Compression, Format};
use super::guard::guarded;
use super::ipc::IpcBatches;
use super::parquet_reader::{open_parquet, parquet_schema};
use super::read_ahead::{BatchIter, read_in_order};
use super::source::{Content, Source};
use super::stable_file::{SequentialReader, StableFile};
use super::text::TextBatches;
use super::workbook::open_workbook;
use crate::error::{Error, Result};
use crate::input::{Blocks, Input, InputOptions, Reading};
use crate::table::MemoryTable;

/// The rows of a file, batch by batch.
pub struct Batches<'a> {
    input: &'a Input,
    file: usize,
    schema: SchemaRef,
    /// Number of columns stored in the file; the others come from folder names.
    file_columns: usize,
    rows: BatchIter,
    /// Bytes read so far.
    read: Arc<AtomicU64>,
    /// Whether this pass does not report progress.
    without_progress: bool,
}

/// An opened file: its schema and its batches.
pub(crate) struct OpenedFile {
    pub(crate) schema: SchemaRef,
    pub(crate) rows: BatchIter,
    pub(crate) read: Arc<AtomicU64>,
}

impl Input {
    /// Opens a file to copy all columns.
    pub fn open(&self, file: usize) -> Result<Batches<'_>> {
        self.open_with(file, &|_| true, Reading::Copy)
    }

    /// Opens a file and reads only the columns for which `include` returns true.
    pub fn open_columns(&self, file: usize, include: &dyn Fn(&str) -> bool) -> Result<Batches<'_>> {
        self.open_with(file, include, Reading::Plain)
    }

    fn open_with(&self, file: usize, include: &dyn Fn(&str) -> bool, reading: Reading) -> Result<Batches<'_>> {
        let source = &self.files[file];
        let options = &self.options;
        let opened = guarded(|| {
            Ok(match (&source.content, source.format) {
                (Content::Memory(table), _) => open_memory(source, table, options, include),
                (Content::File(stable), Format::Csv | Format::Tsv) => open_text(source, stable, options, include),
                (Content::File(stable), Format::Parquet) => {
                    open_parquet(source, stable, options, include, reading == Reading::Lookup)
                }
                (Content::File(stable), Format::Ipc) => open_ipc(source, stable, options, include),
                (Content::File(stable), Format::Xlsx) => open_workbook(source, stable, options, include, reading),
            })
        });
        let opened = opened.unwrap_or_else(|panic| Err(explain(source, &panic)))?;
        let file_columns = opened.schema.fields().len();
        let schema = with_partition_columns(source, &opened.schema, include);
        Ok(Batches {
            input: self,
            file,
            schema,
            file_columns,
            rows: opened.rows,
            read: opened.read,
            without_progress: false,
        })
    }

    /// Returns the schema of a file, read from its header or footer without starting a reader. It
    /// is read only once.
    pub fn schema(&self, file: usize) -> Result<SchemaRef> {
        let source = &self.files[file];
        if let Some(schema) = source.schema.get() {
            return Ok(schema.clone());
        }
        let schema = guarded(|| Ok(read_schema(source, &self.options)));
        let schema = schema.unwrap_or_else(|panic| Err(explain(source, &panic)))?;
        refuse_duplicate_names(source, schema.fields())?;
        let schema = with_partition_columns(source, &schema, &|_| true);
        Ok(source.schema.get_or_init(|| schema).clone())
    }
}

/// Returns the column names of a file.
pub(crate) fn column_names(input: &Input, file: usize) -> Result<Vec<String>> {
    Ok(names_of(&input.schema(file)?))
}

/// Opens a file for a pass, with the columns for which `include` returns true.
pub(crate) fn file_blocks<'a>(
    input: &'a Input,
    file: usize,
    include: &dyn Fn(&str) -> bool,
    reading: Reading,
) -> Result<Blocks<'a>> {
    let batches = input.open_with(file, include, reading)?;
    let batches = if reading == Reading::Lookup { batches.without_progress() } else { batches };
    let names = batches.names();
    let shared: Arc<[String]> = names.clone().into();
    let rows = batches.map(move |batch| batch.map(|batch| block_of(&shared, &batch)));
    Ok(Blocks { names, rows: Box::new(rows) })
}

impl Batches<'_> {
    /// Turns off progress reports, because another pass over the same rows reports.
    pub(crate) fn without_progress(self) -> Self {
        Batches { without_progress: true, ..self }
    }

    /// Returns the schema.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the column names.
    pub fn names(&self) -> Vec<String> {
        names_of(&self.schema)
    }

    /// Returns the name of the file as shown to the user.
    pub fn name(&self) -> &Path {
        &self.source().name
    }

    fn source(&self) -> &Source {
        &self.input.files[self.file]
    }

    /// Adds the columns encoded in folder names.
    fn with_partitions(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
        for field in &self.schema.fields()[self.file_columns..] {
            let value = self.source().partitions.iter().find(|(column, _)| column == field.name());
            let value = value.and_then(|(_, value)| value.as_deref());
            columns.push(Arc::new(std::iter::repeat_n(value, batch.num_rows()).collect::<StringArray>()));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|error| explain(self.source(), &error))
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.input.is_cancelled() {
            return Some(Err(Error::Cancelled));
        }
        let batch = self.rows.next()?.map_err(|error| explain(self.source(), &error));
        let batch = batch.and_then(|batch| self.with_partitions(&batch));
        if let Ok(batch) = batch.as_ref()
            && !self.without_progress
        {
            self.input.report_progress(self.file, batch.num_rows() as u64, self.read.load(Ordering::Relaxed));
        }
        Some(batch)
    }
}

fn names_of(schema: &SchemaRef) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// Returns the schema of a file with the included columns that are encoded in folder names.
fn with_partition_columns(source: &Source, schema: &SchemaRef, include: &dyn Fn(&str) -> bool) -> SchemaRef {
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
    for (column, _) in source.partitions.iter().filter(|(column, _)| include(column)) {
        if schema.column_with_name(column).is_none() {
            fields.push(Arc::new(Field::new(column, DataType::Utf8, true)));
        }
    }
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Reads the schema of a file from its header or footer.
fn read_schema(source: &Source, options: &InputOptions) -> Result<SchemaRef> {
    let stable = match &source.content {
        Content::Memory(table) => return Ok(table.schema()),
        Content::File(stable) => stable,
    };
    match source.format {
        Format::Csv | Format::Tsv => {
            let (batches, _) = open_text_header(source, stable, stable.open_header(), options)?;
            Ok(text_schema(&batches))
        }
        Format::Parquet => parquet_schema(source, stable),
        Format::Ipc => {
            refuse_compressed(source)?;
            let failed = |error: ArrowError| explain(source, &error);
            let file = stable.open_header().map_err(|error| failed(error.into()))?;
            let batches = IpcBatches::open(stable, file, options.batch_rows, Arc::default()).map_err(failed)?;
            Ok(batches.schema().clone())
        }
        Format::Xlsx => {
            stable.check().map_err(|error| explain(source, &error.into()))?;
            Ok(source.sheet.schema())
        }
    }
}

fn refuse_duplicate_names(source: &Source, fields: &[Arc<Field>]) -> Result<()> {
    let mut names: Vec<&String> = fields.iter().map(|field| field.name()).collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            Err(Error::file(&source.name, format!("two columns are named {:?}; rename one of them", pair[0])))
        }
        None => Ok(()),
    }
}

/// Returns the indices of the included columns. Refuses duplicate column names, included or not.
pub(crate) fn column_indices(source: &Source, schema: &Schema, include: &dyn Fn(&str) -> bool) -> Result<Vec<usize>> {
    refuse_duplicate_names(source, schema.fields())?;
    Ok((0..schema.fields().len()).filter(|&index| include(schema.field(index).name())).collect())
}

type Text = TextBatches<Box<dyn Read + Send>>;

/// Reads the header of delimited text. The counter holds the bytes read from the file.
fn open_text_header(
    source: &Source,
    stable: &Arc<StableFile>,
    file: std::io::Result<File>,
    options: &InputOptions,
) -> Result<(Text, Arc<AtomicU64>)> {
    let file = file.map_err(|error| explain(source, &error.into()))?;
    let (text, read) = decode(source, SequentialReader::new(stable, file), options)?;
    let batches = TextBatches::open(text, source.separator, options.max_line);
    Ok((batches.map_err(|error| explain(source, &error))?, read))
}

/// Returns the schema of delimited text. All columns are text, so that the form of numbers and
/// leading zeros of identifiers are kept.
fn text_schema(batches: &Text) -> SchemaRef {
    let fields = batches.names().iter().map(|name| Field::new(name, DataType::Utf8, true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

fn open_text(
    source: &Source,
    stable: &Arc<StableFile>,
    options: &InputOptions,
    include: &dyn Fn(&str) -> bool,
) -> Result<OpenedFile> {
    let (batches, read) = open_text_header(source, stable, stable.open(), options)?;
    let indices = column_indices(source, &text_schema(&batches), include)?;
    let batches = batches.with_columns(indices, options.batch_rows);
    let schema = batches.schema().clone();
    Ok(OpenedFile { schema, rows: read_in_order(vec![Box::new(|| Ok(Box::new(batches)))]), read })
}

fn open_ipc(
    source: &Source,
    stable: &Arc<StableFile>,
    options: &InputOptions,
    include: &dyn Fn(&str) -> bool,
) -> Result<OpenedFile> {
    refuse_compressed(source)?;
    let read = Arc::new(AtomicU64::new(0));
    let failed = |error: ArrowError| explain(source, &error);
    let file = stable.open().map_err(|error| failed(error.into()))?;
    let batches = IpcBatches::open(stable, file, options.batch_rows, read.clone()).map_err(failed)?;
    let indices = column_indices(source, batches.schema(), include)?;
    let schema = Arc::new(batches.schema().project(&indices).map_err(failed)?);
    let batches =
        if indices.len() == batches.schema().fields().len() { batches } else { batches.with_columns(indices) };
    Ok(OpenedFile { schema, rows: read_in_order(vec![Box::new(|| Ok(Box::new(batches)))]), read })
}

fn open_memory(
    source: &Source,
    table: &MemoryTable,
    options: &InputOptions,
    include: &dyn Fn(&str) -> bool,
) -> Result<OpenedFile> {
    let indices = column_indices(source, &table.schema(), include)?;
    let schema = Arc::new(table.schema().project(&indices).map_err(|error| explain(source, &error))?);
    let (read, mut done) = (Arc::new(AtomicU64::new(0)), 0);
    let (counter, batch_schema) = (read.clone(), schema.clone());
    let rows = table.clone().into_blocks(indices, options.batch_rows).map(move |block| {
        done += block.len() as u64;
        counter.store(done, Ordering::Relaxed);
        let columns = (0..batch_schema.fields().len()).map(|index| array_of(block.at(index))).collect();
        // Keeps the row count if there are no columns.
        let options = RecordBatchOptions::new().with_row_count(Some(block.len()));
        RecordBatch::try_new_with_options(batch_schema.clone(), columns, &options)
    });
    Ok(OpenedFile { schema, rows: Box::new(rows), read })
}

pub(crate) fn refuse_compressed(source: &Source) -> Result<()> {
    match source.compression {
        Compression::None => Ok(()),
        _ => Err(Error::file(
            &source.name,
            "Parquet, Arrow and Excel files must not be compressed as a whole; decompress it first",
        )),
    }
}
