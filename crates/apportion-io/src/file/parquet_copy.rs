//! Parquet to Parquet: existing columns are copied without decoding them, so they cannot change; only the
//! added columns are encoded.

use std::fs::File;
use std::io::{self, BufWriter, Sink};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{FieldRef, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{KeyValue, PageIndexPolicy, ParquetMetaData};
use parquet::file::page_index::offset_index::OffsetIndexMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use rayon::prelude::*;

use super::guard::guarded;
use super::metadata::{replace, replace_in_parquet};
use super::stable_file::{StableChunks, StableFile, VerifiedChunks};

/// Number of rows of the added columns that are encoded at a time.
const ROWS_AT_A_TIME: usize = 1 << 16;

/// A Parquet file whose columns are copied.
pub(crate) struct SourceFile {
    chunks: VerifiedChunks,
    metadata: ArrowReaderMetadata,
}

impl SourceFile {
    /// Reads the footer of an open file.
    pub(crate) fn new(stable: &Arc<StableFile>, file: File) -> Result<SourceFile> {
        let chunks = StableChunks::new(stable, file);
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        // A damaged page index is not an error: the columns are then decoded and encoded again.
        let metadata = guarded(|| Ok(ArrowReaderMetadata::load(&chunks, options)?));
        let metadata = metadata.map_err(|error| ParquetError::External(Box::new(error)))?;
        Ok(SourceFile { chunks: VerifiedChunks(chunks), metadata })
    }

    fn parquet(&self) -> &ParquetMetaData {
        self.metadata.metadata()
    }

    fn schema(&self) -> &SchemaDescriptor {
        self.parquet().file_metadata().schema_descr()
    }

    /// Returns whether another file has the same columns, so that both can be written to one file.
    pub(crate) fn is_like(&self, other: &SourceFile) -> bool {
        self.schema().root_schema() == other.schema().root_schema() && self.metadata.schema() == other.metadata.schema()
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.parquet().file_metadata().num_rows() as usize
    }

    /// Returns the leaf columns of the kept columns.
    fn leaves(&self, kept: &[usize]) -> Vec<usize> {
        let schema = self.schema();
        (0..schema.num_columns()).filter(|&leaf| kept.contains(&schema.get_column_root_idx(leaf))).collect()
    }

    fn offset_index(&self, group: usize, leaf: usize) -> Option<OffsetIndexMetaData> {
        Some(self.parquet().offset_index()?.get(group)?.get(leaf)?.clone())
    }

    /// Returns whether every column has an offset index.
    pub(crate) fn is_indexed(&self) -> bool {
        let (groups, leaves) = (self.parquet().num_row_groups(), self.schema().num_columns());
        (0..groups).all(|group| (0..leaves).all(|leaf| self.offset_index(group, leaf).is_some()))
    }

    /// Copies the columns of a row group.
    fn copy(
        &self,
        group: usize,
        leaves: &[usize],
        into: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
        indexed: bool,
    ) -> Result<()> {
        let (parquet, rows) = (self.parquet(), self.parquet().row_group(group).num_rows() as u64);
        for &leaf in leaves {
            let metadata = parquet.row_group(group).column(leaf).clone();
            let close = ColumnCloseResult {
                bytes_written: metadata.compressed_size() as u64,
                rows_written: rows,
                bloom_filter: None,
                column_index: parquet.column_index().and_then(|index| Some(index.get(group)?.get(leaf)?.clone())),
                offset_index: self.offset_index(group, leaf).filter(|_| indexed),
                metadata,
            };
            into.append_column(&self.chunks, close)?;
        }
        Ok(())
    }
}

/// Writes a Parquet file with copied and added columns.
pub(crate) struct AppendWriter {
    writer: SerializedFileWriter<BufWriter<File>>,
    /// The added columns.
    fields: Vec<FieldRef>,
    factory: ArrowRowGroupWriterFactory,
    kept: Vec<usize>,
    /// Whether an offset index is written: Parquet requires it for all columns or for no column.
    indexed: bool,
}

impl AppendWriter {
    /// Creates a file with the kept columns of the source, followed by the added ones.
    pub(crate) fn create(
        file: File,
        source: &SourceFile,
        kept: &[usize],
        fields: &[FieldRef],
        properties: &WriterProperties,
        indexed: bool,
        metadata: &[(String, String)],
    ) -> Result<AppendWriter> {
        let added: SchemaRef = Arc::new(Schema::new(fields.to_vec()));
        let root = source.schema().root_schema();
        let added_schema = ArrowSchemaConverter::new().convert(&added)?;
        let types = kept.iter().map(|&index| root.get_fields()[index].clone());
        let types = types.chain(added_schema.root_schema().get_fields().iter().cloned()).collect();
        let all = group(root.name(), types)?;

        let mut arrow: Vec<FieldRef> =
            kept.iter().map(|&index| source.metadata.schema().fields()[index].clone()).collect();
        arrow.extend(fields.iter().cloned());
        let mut schema_metadata = source.metadata.schema().metadata().clone();
        replace(&mut schema_metadata, metadata);
        let arrow = Schema::new_with_metadata(arrow, schema_metadata);
        let mut key_values = key_values_of(source);
        replace_in_parquet(&mut key_values, metadata);
        let properties_out = properties.clone().into_builder().set_key_value_metadata(Some(key_values));
        let statistics = if indexed { EnabledStatistics::Page } else { EnabledStatistics::Chunk };
        let properties_out = properties_out.set_offset_index_disabled(!indexed).set_statistics_enabled(statistics);
        let mut properties_out = properties_out.build();
        add_encoded_arrow_schema_to_metadata(&arrow, &mut properties_out);
        let properties_out: WriterPropertiesPtr = Arc::new(properties_out);

        let writer = SerializedFileWriter::new(BufWriter::with_capacity(1 << 20, file), all, properties_out.clone())?;
        // The added columns are encoded separately, as if for a file that is discarded.
        let scratch: SerializedFileWriter<Sink> =
            SerializedFileWriter::new(io::sink(), added_schema.root_schema_ptr(), properties_out)?;
        let factory = ArrowRowGroupWriterFactory::new(&scratch, added);
        Ok(AppendWriter { writer, fields: fields.to_vec(), factory, kept: kept.to_vec(), indexed })
    }

    /// Copies all rows of a file, with the added values `values(first, count)`; rows are counted
    /// from 0.
    pub(crate) fn append(
        &mut self,
        source: &SourceFile,
        mut values: impl FnMut(usize, usize) -> std::result::Result<Vec<ArrayRef>, ParquetError>,
    ) -> Result<usize> {
        let (leaves, mut first) = (source.leaves(&self.kept), 0);
        for group in 0..source.parquet().num_row_groups() {
            let rows = source.parquet().row_group(group).num_rows() as usize;
            let chunks = self.encode(group, rows, |from, rows| values(first + from, rows))?;
            let mut into = self.writer.next_row_group()?;
            source.copy(group, &leaves, &mut into, self.indexed)?;
            chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut into))?;
            into.close()?;
            first += rows;
        }
        Ok(first)
    }

    /// Encodes the added columns of a row group.
    fn encode(
        &self,
        group: usize,
        rows: usize,
        mut values: impl FnMut(usize, usize) -> Result<Vec<ArrayRef>>,
    ) -> Result<Vec<ArrowColumnChunk>> {
        let mut writers = self.factory.create_column_writers(group)?;
        for from in (0..rows).step_by(ROWS_AT_A_TIME) {
            let arrays = values(from, ROWS_AT_A_TIME.min(rows - from))?;
            let columns: Vec<_> = writers.iter_mut().zip(&self.fields).zip(&arrays).collect();
            columns.into_par_iter().try_for_each(|((writer, field), array)| {
                compute_leaves(field, array)?.iter().try_for_each(|leaf| writer.write(leaf))
            })?;
        }
        writers.into_iter().map(ArrowColumnWriter::close).collect()
    }

    /// Completes the file. Returns the row count in its footer.
    pub(crate) fn close(mut self) -> Result<usize> {
        let rows = self.writer.finish()?.file_metadata().num_rows() as usize;
        io::Write::flush(self.writer.inner_mut())?;
        Ok(rows)
    }
}

fn group(name: &str, fields: Vec<TypePtr>) -> Result<TypePtr> {
    Ok(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?))
}

/// Returns the key-value metadata of the source, except its Arrow schema, which changes.
fn key_values_of(source: &SourceFile) -> Vec<KeyValue> {
    let key_values = source.parquet().file_metadata().key_value_metadata().into_iter().flatten();
    key_values.filter(|entry| entry.key != ARROW_SCHEMA_META_KEY).cloned().collect()
}
