//! Parquet files: one reader for each row group, with checks on the footer's row counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{RecordBatch, StringViewArray};
use arrow_data::ArrayData;
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use super::batches::{OpenedFile, column_indices, refuse_compressed};
use super::explain::explain;
use super::read_ahead::{BatchResult, OpenPart, read_in_order};
use super::source::Source;
use super::stable_file::{StableChunks, StableFile};
use crate::error::Result;
use crate::input::InputOptions;

/// Approximate size of a Parquet batch in bytes: wide text gets fewer rows per batch.
const BATCH_BYTES: u64 = 16 << 20;

/// Opens a Parquet file, with one reader for each row group.
pub(crate) fn open_parquet(
    source: &Source,
    stable: &Arc<StableFile>,
    options: &InputOptions,
    include: &dyn Fn(&str) -> bool,
    dictionaries: bool,
) -> Result<OpenedFile> {
    refuse_compressed(source)?;
    let chunks = StableChunks::new(stable, stable.open().map_err(|error| explain(source, &error.into()))?);
    let mut metadata = read_footer(source, &chunks)?;
    if dictionaries {
        let options = ArrowReaderOptions::new().with_schema(with_dictionary_text(metadata.schema(), include));
        metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)
            .map_err(|error| explain(source, &ArrowError::from(error)))?;
    }
    let indices = column_indices(source, metadata.schema(), include)?;
    let schema = Arc::new(metadata.schema().project(&indices).map_err(|error| explain(source, &error))?);
    let parquet = metadata.metadata();
    let mask = ProjectionMask::roots(parquet.file_metadata().schema_descr(), indices);
    let (total, groups) = (parquet.file_metadata().num_rows().max(1) as f64, parquet.num_row_groups());
    let part = |group: usize| -> OpenPart {
        let (chunks, metadata, mask) = (chunks.clone(), metadata.clone(), mask.clone());
        let batch_rows = batch_size(parquet.row_group(group), &mask, options.batch_rows);
        let expected = parquet.row_group(group).num_rows() as usize;
        Box::new(move || {
            let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, metadata);
            let reader = reader.with_batch_size(batch_rows).with_projection(mask).with_row_groups(vec![group]);
            Ok(Box::new(CheckedRowGroup { rows: reader.build()?, group, expected, found: 0 }))
        })
    };
    let rows = read_in_order((0..groups).map(part).collect());
    // Parquet files are not read sequentially: progress is measured in rows.
    let (read, mut done) = (Arc::new(AtomicU64::new(0)), 0);
    let (counter, bytes) = (read.clone(), source.bytes() as f64);
    let counted = rows.inspect(move |batch| {
        done += batch.as_ref().map_or(0, RecordBatch::num_rows);
        counter.store((bytes * done as f64 / total) as u64, Ordering::Relaxed);
    });
    Ok(OpenedFile { schema, rows: Box::new(counted), read })
}

/// Reads the schema of a Parquet file from its footer.
pub(crate) fn parquet_schema(source: &Source, stable: &Arc<StableFile>) -> Result<SchemaRef> {
    refuse_compressed(source)?;
    let file = stable.open_header().map_err(|error| explain(source, &error.into()))?;
    Ok(read_footer(source, &StableChunks::new(stable, file))?.schema().clone())
}

fn read_footer(source: &Source, chunks: &StableChunks) -> Result<ArrowReaderMetadata> {
    let failed = |error: ParquetError| explain(source, &ArrowError::from(error));
    let metadata = ArrowReaderMetadata::load(chunks, ArrowReaderOptions::new()).map_err(failed)?;
    check_row_counts(metadata.metadata()).map_err(failed)?;
    Ok(metadata)
}

/// Refuses a footer with inconsistent row counts.
fn check_row_counts(parquet: &ParquetMetaData) -> std::result::Result<(), ParquetError> {
    let groups = parquet.row_groups().iter().map(RowGroupMetaData::num_rows);
    let sum = groups.clone().fold(0i64, i64::saturating_add);
    let (declared, negative) = (parquet.file_metadata().num_rows(), groups.clone().any(|rows| rows < 0));
    if sum == declared && !negative {
        return Ok(());
    }
    Err(ParquetError::General(format!("its footer says {declared} rows, but its row groups have {sum}")))
}

/// Returns the number of rows per batch for a row group.
fn batch_size(group: &RowGroupMetaData, mask: &ProjectionMask, max_rows: usize) -> usize {
    let leaves = group.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf));
    let size = |column: &ColumnChunkMetaData| {
        column.unencoded_byte_array_data_bytes().unwrap_or(0).max(column.uncompressed_size()).max(0) as u64
    };
    let bytes: u64 = leaves.map(|(_, column)| size(column)).fold(0, u64::saturating_add);
    let per_row = bytes / group.num_rows().max(1) as u64 + 1;
    max_rows.min((BATCH_BYTES / per_row) as usize).max(1)
}

/// The batches of a row group, which must have as many rows as the footer declares.
struct CheckedRowGroup {
    rows: ParquetRecordBatchReader,
    group: usize,
    expected: usize,
    found: usize,
}

impl Iterator for CheckedRowGroup {
    type Item = BatchResult;

    fn next(&mut self) -> Option<BatchResult> {
        let batch = self.rows.next();
        if let Some(Ok(batch)) = &batch {
            self.found += batch.num_rows();
            if !batch.columns().iter().all(|column| has_whole_characters(&column.to_data())) {
                return Some(Err(ArrowError::ParquetError("a text is not valid UTF-8".into())));
            }
        }
        if batch.is_none() && self.found != self.expected {
            let (group, expected) = (self.group + 1, self.expected);
            let found = std::mem::replace(&mut self.found, self.expected);
            let problem = format!("row group {group} has {found} rows, but the footer says {expected}");
            return Some(Err(ArrowError::ParquetError(problem)));
        }
        batch
    }
}

/// Returns whether no text starts in the middle of a character. The decoder validates the texts of a
/// page together, not the boundaries between them.
fn has_whole_characters(data: &ArrayData) -> bool {
    let is_inside = |byte: Option<&u8>| byte.is_some_and(|byte| byte & 0xc0 == 0x80);
    let starts = data.len() + 1;
    let own = match data.data_type() {
        DataType::Utf8 => {
            let bytes = data.buffers()[1].as_slice();
            data.buffer::<i32>(0).iter().take(starts).all(|&start| !is_inside(bytes.get(start as usize)))
        }
        DataType::LargeUtf8 => {
            let bytes = data.buffers()[1].as_slice();
            data.buffer::<i64>(0).iter().take(starts).all(|&start| !is_inside(bytes.get(start as usize)))
        }
        DataType::Utf8View => {
            let texts = StringViewArray::from(data.clone()).to_binary_view();
            texts.iter().flatten().all(|text| !is_inside(text.first()))
        }
        _ => true,
    };
    own && data.child_data().iter().all(has_whole_characters)
}

/// Returns the schema with included text columns as dictionaries.
fn with_dictionary_text(schema: &Schema, include: &dyn Fn(&str) -> bool) -> SchemaRef {
    let dictionaries = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if include(field.name()) => {
            Arc::new(field.as_ref().clone().with_data_type(dictionaries.clone()))
        }
        _ => field.clone(),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}
