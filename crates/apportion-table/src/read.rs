//! What is in the files: batches of rows, whatever the format, the packing and the encoding.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::csv::ReaderBuilder;
use arrow::csv::reader::Format as CsvFormat;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use encoding_rs_io::DecodeReaderBytesBuilder;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::error::{Error, Result};
use crate::input::{Format, Input, InputOptions, Packing, Source};

/// Rows in a batch.
const BATCH: usize = 1 << 16;

type Inner = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

/// The rows of a file, batch by batch.
pub struct Batches {
    schema: SchemaRef,
    inner: Inner,
    source: Source,
    partitions: usize,
}

impl Input {
    /// Opens one of the files.
    pub fn open(&self, file: usize) -> Result<Batches> {
        let source = &self.files[file];
        let (schema, inner) = match source.format {
            Format::Csv | Format::Tsv => open_text(source, &self.options)?,
            Format::Parquet => open_parquet(source)?,
            Format::Ipc => open_ipc(source)?,
        };
        let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
        refuse_repeated(source, &fields)?;
        let mut partitions = 0;
        for (column, _) in &source.partitions {
            if schema.column_with_name(column).is_none() {
                fields.push(Arc::new(Field::new(column, DataType::Utf8, false)));
                partitions += 1;
            }
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        Ok(Batches { schema, inner, source: source.clone(), partitions })
    }
}

impl Batches {
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
        &self.source.name
    }

    /// Adds the columns that the folder's name stands for.
    fn with_partitions(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
        let first = self.schema.fields().len() - self.partitions;
        for field in &self.schema.fields()[first..] {
            let value = self.source.partitions.iter().find(|(column, _)| column == field.name());
            let value = value.map_or("", |(_, value)| value.as_str());
            columns.push(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(value, batch.num_rows()))));
        }
        RecordBatch::try_new(self.schema.clone(), columns).map_err(|error| explain(&self.source, &error))
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.inner.next()?.map_err(|error| explain(&self.source, &error));
        Some(batch.and_then(|batch| self.with_partitions(&batch)))
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

/// Text, in UTF-8 whatever it was, with all columns as text: nothing is lost in a number's form or an identifier's zeros.
fn open_text(source: &Source, options: &InputOptions) -> Result<(SchemaRef, Inner)> {
    let delimiter = options.delimiter.unwrap_or(match source.format {
        Format::Tsv => b'\t',
        _ => b',',
    });
    let format = CsvFormat::default().with_header(true).with_delimiter(delimiter);
    let (header, _) =
        format.infer_schema(decoded(source, options)?, Some(0)).map_err(|error| explain(source, &error))?;
    let named = |field: &Arc<Field>| Field::new(field.name().trim_start_matches('\u{feff}'), DataType::Utf8, true);
    let schema = Arc::new(Schema::new(header.fields().iter().map(named).collect::<Vec<_>>()));
    let reader = ReaderBuilder::new(schema.clone())
        .with_format(format)
        .with_batch_size(BATCH)
        .build(decoded(source, options)?)
        .map_err(|error| explain(source, &error))?;
    Ok((schema, Box::new(reader)))
}

/// A file's text, unpacked and in UTF-8.
fn decoded(source: &Source, options: &InputOptions) -> Result<Box<dyn Read + Send>> {
    let unpacked = unpacked(source)?;
    let encoding = options.latin1.then_some(encoding_rs::WINDOWS_1252);
    // A byte order mark decides; UTF-8 goes through as it is, so that what is not UTF-8 is seen.
    let mut builder = DecodeReaderBytesBuilder::new();
    builder.encoding(encoding).utf8_passthru(true).strip_bom(true).bom_override(true);
    Ok(Box::new(builder.build(unpacked)))
}

fn unpacked(source: &Source) -> Result<Box<dyn Read + Send>> {
    let file = BufReader::with_capacity(1 << 18, open(source)?);
    Ok(match source.packing {
        Packing::None => Box::new(file),
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Packing::Zstd => Box::new(zstd::Decoder::with_buffer(file).map_err(|error| Error::io(&source.name, &error))?),
    })
}

fn open(source: &Source) -> Result<File> {
    File::open(&source.path).map_err(|error| Error::io(&source.name, &error))
}

fn open_parquet(source: &Source) -> Result<(SchemaRef, Inner)> {
    refuse_packed(source)?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(open(source)?)
        .map_err(|error| explain(source, &ArrowError::ParquetError(error.to_string())))?;
    let schema = builder.schema().clone();
    let reader = builder
        .with_batch_size(BATCH)
        .build()
        .map_err(|error| explain(source, &ArrowError::ParquetError(error.to_string())))?;
    Ok((schema, Box::new(reader)))
}

fn open_ipc(source: &Source) -> Result<(SchemaRef, Inner)> {
    refuse_packed(source)?;
    if let Ok(reader) = FileReader::try_new_buffered(open(source)?, None) {
        return Ok((reader.schema(), Box::new(reader)));
    }
    let reader = StreamReader::try_new_buffered(open(source)?, None).map_err(|error| explain(source, &error))?;
    Ok((reader.schema(), Box::new(reader)))
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
