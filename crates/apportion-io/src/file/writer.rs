//! Writers of batches, one for each output format.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use arrow_schema::FieldRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::csv_writer::CsvWriter;
use super::safe_csv::escape_formulas;
use crate::error::{Error, Result};

/// Returns the Parquet settings. Columns of floating-point scores get no dictionary, which would
/// cost more time than it saves.
pub(crate) fn parquet_properties(added: &[FieldRef]) -> WriterProperties {
    let level = ZstdLevel::try_new(1).unwrap_or_default();
    // Types that Parquet lacks are converted to types that all readers support: date64 becomes a date.
    let mut properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).set_coerce_types(true);
    for field in added.iter().filter(|field| field.data_type().is_floating()) {
        let path = ColumnPath::from(vec![field.name().clone()]);
        properties = properties.set_column_dictionary_enabled(path, false);
    }
    properties.build()
}

/// A text file that is compressed while it is written.
pub(crate) enum CompressedWriter {
    Plain(Box<dyn Write>),
    Gzip(flate2::write::GzEncoder<BufWriter<File>>),
    Zstd(zstd::Encoder<'static, BufWriter<File>>),
}

impl Write for CompressedWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            CompressedWriter::Plain(writer) => writer.write(bytes),
            CompressedWriter::Gzip(writer) => writer.write(bytes),
            CompressedWriter::Zstd(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            CompressedWriter::Plain(writer) => writer.flush(),
            CompressedWriter::Gzip(writer) => writer.flush(),
            CompressedWriter::Zstd(writer) => writer.flush(),
        }
    }
}

impl CompressedWriter {
    /// Flushes all buffers, so that a full disk is detected here at the latest.
    pub(crate) fn finish(self) -> std::io::Result<()> {
        match self {
            CompressedWriter::Plain(mut writer) => writer.flush(),
            CompressedWriter::Gzip(writer) => writer.finish()?.flush(),
            CompressedWriter::Zstd(writer) => writer.finish()?.flush(),
        }
    }
}

pub(crate) enum BatchWriter {
    Csv { writer: Box<CsvWriter<CompressedWriter>>, safe: bool },
    Parquet(Box<ArrowWriter<File>>),
    Ipc(Box<FileWriter<BufWriter<File>>>),
}

impl BatchWriter {
    pub(crate) fn write(&mut self, batch: &RecordBatch, path: &Path) -> Result<()> {
        match self {
            BatchWriter::Csv { writer, safe: true } => writer.write(&escape_formulas(batch)),
            BatchWriter::Csv { writer, safe: false } => writer.write(batch),
            BatchWriter::Parquet(writer) => writer.write(batch).map_err(ArrowError::from),
            BatchWriter::Ipc(writer) => writer.write(batch),
        }
        .map_err(|error| write_error(path, &error))
    }

    /// Completes the file. Returns the row count in its footer, if the format has one.
    pub(crate) fn close(self, path: &Path) -> Result<Option<usize>> {
        match self {
            BatchWriter::Csv { writer, .. } => {
                writer.into_inner().finish().map_err(|error| Error::io(path, &error))?;
                Ok(None)
            }
            BatchWriter::Parquet(writer) => {
                let metadata = writer.close().map_err(|error| write_error(path, &error.into()))?;
                Ok(Some(metadata.file_metadata().num_rows() as usize))
            }
            BatchWriter::Ipc(mut writer) => {
                writer.finish().map_err(|error| write_error(path, &error))?;
                Ok(None)
            }
        }
    }
}

pub(crate) fn write_error(path: &Path, error: &ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => Error::io(path, error),
        other => Error::writing(path, &other.to_string()),
    }
}
