//! Finds columns with the same bytes in two sets of Parquet files, without decoding them: labels are
//! added to a Parquet file by copying its other columns unchanged.

use std::fs::File;
use std::sync::Arc;

use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use rayon::prelude::*;

use super::format::Format;
use super::guard::guarded;
use super::stable_file::StableChunks;
use crate::input::Input;
use crate::read_at::read_at;

/// Bytes that are compared at a time.
const BLOCK: u64 = 1 << 20;

/// A Parquet file with its footer.
struct ParquetFile {
    file: File,
    metadata: ArrowReaderMetadata,
}

impl Input {
    /// Returns the columns that have the same bytes, types and compression in every file of another
    /// input, row group by row group, and therefore the same values. Other columns may also have the same
    /// values. Returns an empty list if the files are not Parquet, or if their row groups differ.
    pub fn identical_columns(&self, other: &Input) -> Vec<String> {
        let files = self.names().len();
        if files != other.names().len() {
            return Vec::new();
        }
        let mut columns: Option<Vec<String>> = None;
        for file in 0..files {
            let (Some(own), Some(other)) = (self.parquet_file(file), other.parquet_file(file)) else {
                return Vec::new();
            };
            let mut found = guarded(|| Ok(identical(&own, &other))).unwrap_or_default();
            if let Some(before) = &columns {
                found.retain(|name| before.contains(name));
            }
            columns = Some(found);
        }
        columns.unwrap_or_default()
    }

    /// Opens a file if it is Parquet; errors in damaged files are left to the reader.
    fn parquet_file(&self, file: usize) -> Option<ParquetFile> {
        let source = &self.files[file];
        let stable = source.file().filter(|_| source.format == Format::Parquet)?;
        let file = stable.open().ok()?;
        let chunks = StableChunks::new(stable, file.try_clone().ok()?);
        let metadata = guarded(|| Ok(ArrowReaderMetadata::load(&chunks, ArrowReaderOptions::new())?));
        Some(ParquetFile { file, metadata: metadata.ok()? })
    }
}

impl ParquetFile {
    fn parquet(&self) -> &ParquetMetaData {
        self.metadata.metadata()
    }

    /// Returns the leaf columns of a top-level column.
    fn leaves(&self, root: usize) -> Vec<usize> {
        let schema = self.parquet().file_metadata().schema_descr();
        (0..schema.num_columns()).filter(|&leaf| schema.get_column_root_idx(leaf) == root).collect()
    }

    fn read(&self, start: u64, length: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        read_at(&self.file, &mut bytes, start).ok()?;
        Some(bytes)
    }
}

fn identical(one: &ParquetFile, other: &ParquetFile) -> Vec<String> {
    let rows = |file: &ParquetFile| -> Vec<i64> {
        file.parquet().row_groups().iter().map(RowGroupMetaData::num_rows).collect()
    };
    if rows(one) != rows(other) {
        return Vec::new();
    }
    let fields = one.metadata.schema().fields();
    let is_identical = |(root, field): (usize, &Arc<arrow_schema::Field>)| {
        let (other_root, other_field) = other.metadata.schema().column_with_name(field.name())?;
        let same = field.as_ref() == other_field && same_chunks(one, root, other, other_root);
        same.then(|| field.name().clone())
    };
    let fields: Vec<_> = fields.iter().enumerate().collect();
    fields.into_par_iter().filter_map(is_identical).collect()
}

fn same_chunks(one: &ParquetFile, root: usize, other: &ParquetFile, other_root: usize) -> bool {
    let (leaves, other_leaves) = (one.leaves(root), other.leaves(other_root));
    let groups = one.parquet().row_groups().iter().zip(other.parquet().row_groups());
    leaves.len() == other_leaves.len()
        && groups.into_iter().all(|(group, other_group)| {
            leaves.iter().zip(&other_leaves).all(|(&leaf, &other_leaf)| {
                let (chunk, other_chunk) = (group.column(leaf), other_group.column(other_leaf));
                same_layout(chunk, other_chunk) && same_bytes(one, chunk, other, other_chunk)
            })
        })
}

/// Returns whether equal bytes of two chunks mean equal values.
fn same_layout(one: &ColumnChunkMetaData, other: &ColumnChunkMetaData) -> bool {
    let (own, others) = (one.column_descr(), other.column_descr());
    let first_page = |chunk: &ColumnChunkMetaData| chunk.data_page_offset() - chunk.byte_range().0 as i64;
    own.self_type() == others.self_type()
        && own.max_def_level() == others.max_def_level()
        && own.max_rep_level() == others.max_rep_level()
        && one.compression() == other.compression()
        && one.num_values() == other.num_values()
        && one.byte_range().1 == other.byte_range().1
        && first_page(one) == first_page(other)
}

fn same_bytes(
    one: &ParquetFile,
    chunk: &ColumnChunkMetaData,
    other: &ParquetFile,
    other_chunk: &ColumnChunkMetaData,
) -> bool {
    let ((start, length), (other_start, _)) = (chunk.byte_range(), other_chunk.byte_range());
    (0..length).step_by(BLOCK as usize).all(|at| {
        let size = BLOCK.min(length - at);
        let bytes = one.read(start + at, size);
        bytes.is_some() && bytes == other.read(other_start + at, size)
    })
}
