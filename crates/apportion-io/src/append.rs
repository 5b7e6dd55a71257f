//! Parquet to Parquet: columns that stay are copied as they lie in the file, encoded and compressed; only the new ones are
//! written. Nothing of the old columns is decoded, so nothing of them can change.

use std::fs::File;
use std::io::{self, BufWriter, Sink};
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{FieldRef, Schema, SchemaRef};
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

use crate::guard::guarded;
use crate::metadata::{replace, replace_in_parquet};
use crate::stable_file::{CopiedChunks, StableChunks, StableFile};

/// Rows of the new columns that are made at a time.
const PIECE: usize = 1 << 16;

/// A Parquet file whose columns are to be copied.
pub(crate) struct Old {
    chunks: CopiedChunks,
    metadata: ArrowReaderMetadata,
}

impl Old {
    pub(crate) fn open(stable: &Arc<StableFile>) -> Result<Old> {
        let chunks = StableChunks::open(stable)?;
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        // A damaged index is no reason to stop: then columns are decoded and encoded again.
        let metadata = guarded(|| Ok(ArrowReaderMetadata::load(&chunks, options)?));
        let metadata = metadata.map_err(|error| ParquetError::External(Box::new(error)))?;
        Ok(Old { chunks: CopiedChunks(chunks), metadata })
    }

    fn parquet(&self) -> &ParquetMetaData {
        self.metadata.metadata()
    }

    fn schema(&self) -> &SchemaDescriptor {
        self.parquet().file_metadata().schema_descr()
    }

    /// Whether the columns of another file are the same, so that both can be in one.
    pub(crate) fn is_like(&self, other: &Old) -> bool {
        self.schema().root_schema() == other.schema().root_schema() && self.metadata.schema() == other.metadata.schema()
    }

    /// How many rows it has.
    pub(crate) fn rows(&self) -> usize {
        self.parquet().file_metadata().num_rows() as usize
    }

    /// The leaves of the columns that are kept.
    fn leaves(&self, kept: &[usize]) -> Vec<usize> {
        let schema = self.schema();
        (0..schema.num_columns()).filter(|&leaf| kept.contains(&schema.get_column_root_idx(leaf))).collect()
    }

    fn offset_index(&self, group: usize, leaf: usize) -> Option<OffsetIndexMetaData> {
        Some(self.parquet().offset_index()?.get(group)?.get(leaf)?.clone())
    }

    /// Whether it says of each column where its pages are.
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

/// The new file.
pub(crate) struct New {
    writer: SerializedFileWriter<BufWriter<File>>,
    /// The new columns, by themselves.
    fields: Vec<FieldRef>,
    factory: ArrowRowGroupWriterFactory,
    kept: Vec<usize>,
    /// Whether it says of each column where its pages are: all columns or none must.
    indexed: bool,
}

impl New {
    /// A file with some of the old columns, and new ones after them.
    pub(crate) fn create(
        file: File,
        old: &Old,
        kept: &[usize],
        fields: &[FieldRef],
        properties: &WriterProperties,
        indexed: bool,
        metadata: &[(String, String)],
    ) -> Result<New> {
        let added: SchemaRef = Arc::new(Schema::new(fields.to_vec()));
        let root = old.schema().root_schema();
        let of_added = ArrowSchemaConverter::new().convert(&added)?;
        let types = kept.iter().map(|&place| root.get_fields()[place].clone());
        let types = types.chain(of_added.root_schema().get_fields().iter().cloned()).collect();
        let all = group(root.name(), types)?;

        let mut arrow: Vec<FieldRef> =
            kept.iter().map(|&place| old.metadata.schema().fields()[place].clone()).collect();
        arrow.extend(fields.iter().cloned());
        let mut of_schema = old.metadata.schema().metadata().clone();
        replace(&mut of_schema, metadata);
        let arrow = Schema::new_with_metadata(arrow, of_schema);
        let mut said = said_of(old);
        replace_in_parquet(&mut said, metadata);
        let own = properties.clone().into_builder().set_key_value_metadata(Some(said));
        let statistics = if indexed { EnabledStatistics::Page } else { EnabledStatistics::Chunk };
        let own = own.set_offset_index_disabled(!indexed).set_statistics_enabled(statistics);
        let mut own = own.build();
        add_encoded_arrow_schema_to_metadata(&arrow, &mut own);
        let own: WriterPropertiesPtr = Arc::new(own);

        let writer = SerializedFileWriter::new(BufWriter::with_capacity(1 << 20, file), all, own.clone())?;
        // The new columns are encoded by themselves, as if for a file of their own that nobody keeps.
        let nowhere: SerializedFileWriter<Sink> =
            SerializedFileWriter::new(io::sink(), of_added.root_schema_ptr(), own)?;
        let factory = ArrowRowGroupWriterFactory::new(&nowhere, added);
        Ok(New { writer, fields: fields.to_vec(), factory, kept: kept.to_vec(), indexed })
    }

    /// Copies all rows of a file, with what is new beside them: `values(first, rows)`, row by row from 0.
    pub(crate) fn append(
        &mut self,
        old: &Old,
        mut values: impl FnMut(usize, usize) -> std::result::Result<Vec<ArrayRef>, ParquetError>,
    ) -> Result<usize> {
        let (leaves, mut first) = (old.leaves(&self.kept), 0);
        for group in 0..old.parquet().num_row_groups() {
            let rows = old.parquet().row_group(group).num_rows() as usize;
            let chunks = self.encoded(group, rows, |from, rows| values(first + from, rows))?;
            let mut into = self.writer.next_row_group()?;
            old.copy(group, &leaves, &mut into, self.indexed)?;
            chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut into))?;
            into.close()?;
            first += rows;
        }
        Ok(first)
    }

    /// The new columns of a row group.
    fn encoded(
        &self,
        group: usize,
        rows: usize,
        mut values: impl FnMut(usize, usize) -> Result<Vec<ArrayRef>>,
    ) -> Result<Vec<ArrowColumnChunk>> {
        let mut writers = self.factory.create_column_writers(group)?;
        for from in (0..rows).step_by(PIECE) {
            let arrays = values(from, PIECE.min(rows - from))?;
            let columns: Vec<_> = writers.iter_mut().zip(&self.fields).zip(&arrays).collect();
            columns.into_par_iter().try_for_each(|((writer, field), array)| {
                compute_leaves(field, array)?.iter().try_for_each(|leaf| writer.write(leaf))
            })?;
        }
        writers.into_iter().map(ArrowColumnWriter::close).collect()
    }

    /// Completes the file; returns how many rows its footer says it has.
    pub(crate) fn close(mut self) -> Result<usize> {
        let rows = self.writer.finish()?.file_metadata().num_rows() as usize;
        io::Write::flush(self.writer.inner_mut())?;
        Ok(rows)
    }
}

fn group(name: &str, fields: Vec<TypePtr>) -> Result<TypePtr> {
    Ok(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?))
}

/// What the old file says of itself, but for its schema, which is another now.
fn said_of(old: &Old) -> Vec<KeyValue> {
    let said = old.parquet().file_metadata().key_value_metadata().into_iter().flatten();
    said.filter(|word| word.key != ARROW_SCHEMA_META_KEY).cloned().collect()
}
