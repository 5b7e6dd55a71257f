//! A table in memory: Arrow batches, and optionally a matrix of scores, used in place.

use std::ops::Range;
use std::sync::Arc;

use apportion::{Matrix, Store};
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{ArrowNativeType, DataType, Field, Float32Type, Float64Type, Schema, SchemaRef};
use arrow::error::ArrowError;
use bytemuck::Pod;

use crate::error::{Error, Result};

/// A table in memory that is borrowed from another program.
#[derive(Clone, Debug)]
pub struct MemoryTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    matrix: Option<ScoreMatrix>,
}

/// A row-major matrix of scores, as in numpy, with named columns that are not part of the batches.
#[derive(Clone, Debug)]
struct ScoreMatrix {
    names: Vec<String>,
    values: ArrayRef,
}

impl MemoryTable {
    /// Creates a table from batches with the same schema.
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> MemoryTable {
        MemoryTable { schema, batches, matrix: None }
    }

    /// Adds a row-major matrix of `f32` or `f64` before the columns of the batches. If the batches
    /// have no columns, the rows are those of the matrix.
    pub fn with_matrix(self, names: Vec<String>, values: ArrayRef) -> Result<MemoryTable> {
        let rows: usize = self.batches.iter().map(RecordBatch::num_rows).sum();
        let kind = values.data_type().clone();
        if !matches!(kind, DataType::Float32 | DataType::Float64) {
            return Err(Error::settings(format!("a matrix of scores holds numbers, not {kind}")));
        }
        let is_alone = self.schema.fields().is_empty();
        if names.is_empty()
            || !values.len().is_multiple_of(names.len())
            || !is_alone && values.len() != rows * names.len()
        {
            let problem = format!("{} scores are not {rows} rows of {} classes", values.len(), names.len());
            return Err(Error::settings(problem));
        }
        let mut fields: Vec<Arc<Field>> =
            names.iter().map(|name| Arc::new(Field::new(name, kind.clone(), true))).collect();
        fields.extend(self.schema.fields().iter().cloned());
        let schema = Arc::new(Schema::new(fields));
        Ok(MemoryTable { schema, batches: self.batches, matrix: Some(ScoreMatrix { names, values }) })
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match &self.matrix {
            Some(matrix) => matrix.values.len() / matrix.names.len(),
            None => self.batches.iter().map(RecordBatch::num_rows).sum(),
        }
    }

    /// Returns the columns at some indices in batches of at most `max_rows` rows.
    pub(crate) fn batches(
        &self,
        indices: &[usize],
        max_rows: usize,
    ) -> Result<impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + use<>> {
        let schema = self.schema.project(indices).map_err(|error| Error::settings(error.to_string()))?;
        let (schema, table, indices) = (Arc::new(schema), self.clone(), indices.to_vec());
        let batch_ranges = table.batch_ranges().into_iter().enumerate().flat_map(move |(batch, (start, end))| {
            (start..end).step_by(max_rows.max(1)).map(move |first| (batch, start, first, end.min(first + max_rows)))
        });
        Ok(batch_ranges.map(move |(batch, start, first, end)| {
            let column = |&index: &usize| table.column(index, batch, first - start, first, end - first);
            // Keeps the row count if there are no columns.
            let options = RecordBatchOptions::new().with_row_count(Some(end - first));
            RecordBatch::try_new_with_options(schema.clone(), indices.iter().map(column).collect(), &options)
        }))
    }

    /// Returns the range of rows of each batch in the table.
    fn batch_ranges(&self) -> Vec<(usize, usize)> {
        if self.batches.is_empty() || self.schema.fields().len() == self.matrix_columns() {
            return vec![(0, self.rows())];
        }
        let mut end = 0;
        let ends = self.batches.iter().map(|batch| {
            end += batch.num_rows();
            (end - batch.num_rows(), end)
        });
        ends.collect()
    }

    fn matrix_columns(&self) -> usize {
        self.matrix.as_ref().map_or(0, |matrix| matrix.names.len())
    }

    /// Returns rows of a column, which start at `in_batch` in the batch and at `in_all` in the
    /// table.
    fn column(&self, index: usize, batch: usize, in_batch: usize, in_all: usize, rows: usize) -> ArrayRef {
        match &self.matrix {
            Some(matrix) if index < matrix.names.len() => matrix.column(index, in_all, rows),
            _ => self.batches[batch].column(index - self.matrix_columns()).slice(in_batch, rows),
        }
    }

    /// Borrows the scores of the columns at some indices. Returns `None` if they need conversion,
    /// because some are missing or not plain numbers.
    pub(crate) fn borrow_scores(&self, indices: &[usize]) -> Option<BorrowedScores> {
        let all: Vec<usize> = (0..self.matrix_columns()).collect();
        if let Some(matrix) = self.matrix.as_ref().filter(|matrix| indices == all && matrix.values.null_count() == 0) {
            return Some(match matrix.values.as_primitive_opt::<Float32Type>() {
                Some(values) => BorrowedScores::Rows32(values.values().clone(), indices.len()),
                None => {
                    BorrowedScores::Rows64(matrix.values.as_primitive::<Float64Type>().values().clone(), indices.len())
                }
            });
        }
        let in_batches: Vec<usize> =
            indices.iter().map(|&index| index.checked_sub(self.matrix_columns())).collect::<Option<_>>()?;
        if let Some(chunks) = self.chunked_columns::<Float32Type>(&in_batches) {
            return Some(BorrowedScores::Columns32(chunks));
        }
        self.chunked_columns::<Float64Type>(&in_batches).map(BorrowedScores::Columns64)
    }

    /// Returns the columns at some indices of each batch, if all are plain numbers of one type.
    fn chunked_columns<T: ArrowPrimitiveType>(&self, indices: &[usize]) -> Option<ChunkedColumns<T::Native>> {
        let mut chunks = ChunkedColumns { classes: indices.len(), ends: Vec::new(), columns: Vec::new() };
        for batch in self.batches.iter().filter(|batch| batch.num_rows() > 0) {
            let column = |&index: &usize| {
                let column: &PrimitiveArray<T> = batch.column(index).as_primitive_opt()?;
                (column.null_count() == 0).then(|| column.values().clone())
            };
            chunks.columns.push(indices.iter().map(column).collect::<Option<_>>()?);
            chunks.ends.push(chunks.rows() + batch.num_rows());
        }
        (!chunks.ends.is_empty()).then_some(chunks)
    }
}

impl ScoreMatrix {
    /// Copies rows of a column into an array.
    fn column(&self, class: usize, first: usize, rows: usize) -> ArrayRef {
        fn strided<T: ArrowPrimitiveType>(values: &ArrayRef, start: usize, step: usize, rows: usize) -> ArrayRef {
            let values = values.as_primitive::<T>();
            Arc::new(
                (0..rows)
                    .map(|row| {
                        let index = start + row * step;
                        values.is_valid(index).then(|| values.value(index))
                    })
                    .collect::<PrimitiveArray<T>>(),
            )
        }
        let (step, start) = (self.names.len(), first * self.names.len() + class);
        match self.values.data_type() {
            DataType::Float32 => strided::<Float32Type>(&self.values, start, step, rows),
            _ => strided::<Float64Type>(&self.values, start, step, rows),
        }
    }
}

/// Scores borrowed from another program. They are not copied, except for a few rows at a time if a
/// column has several chunks.
#[derive(Debug)]
pub(crate) enum BorrowedScores {
    Rows32(ScalarBuffer<f32>, usize),
    Rows64(ScalarBuffer<f64>, usize),
    Columns32(ChunkedColumns<f32>),
    Columns64(ChunkedColumns<f64>),
}

impl BorrowedScores {
    pub(crate) fn matrix(&self) -> Matrix<'_> {
        match self {
            BorrowedScores::Rows32(values, _) => Matrix::RowsF32(values),
            BorrowedScores::Rows64(values, _) => Matrix::RowsF64(values),
            BorrowedScores::Columns32(chunks) => match chunks.contiguous() {
                Some(columns) => Matrix::ColumnsF32(columns),
                None => Matrix::StoredF32(chunks),
            },
            BorrowedScores::Columns64(chunks) => match chunks.contiguous() {
                Some(columns) => Matrix::ColumnsF64(columns),
                None => Matrix::StoredF64(chunks),
            },
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            BorrowedScores::Rows32(values, classes) => values.len() / classes,
            BorrowedScores::Rows64(values, classes) => values.len() / classes,
            BorrowedScores::Columns32(chunks) => chunks.rows(),
            BorrowedScores::Columns64(chunks) => chunks.rows(),
        }
    }

    pub(crate) fn is_single(&self) -> bool {
        matches!(self, BorrowedScores::Rows32(..) | BorrowedScores::Columns32(_))
    }

    /// Returns some rows as one vector.
    pub(crate) fn rows(&self, rows: Range<usize>) -> Vec<f64> {
        match self {
            BorrowedScores::Rows32(values, k) => {
                values[rows.start * k..rows.end * k].iter().copied().map(f64::from).collect()
            }
            BorrowedScores::Rows64(values, k) => values[rows.start * k..rows.end * k].to_vec(),
            BorrowedScores::Columns32(chunks) => chunks.rows_of(rows).into_iter().map(f64::from).collect(),
            BorrowedScores::Columns64(chunks) => chunks.rows_of(rows),
        }
    }
}

/// Columns in chunks, as in data frames that were concatenated.
#[derive(Debug)]
pub(crate) struct ChunkedColumns<T: ArrowNativeType> {
    classes: usize,
    /// Number of rows up to the end of each chunk.
    ends: Vec<usize>,
    /// The columns of each chunk.
    columns: Vec<Vec<ScalarBuffer<T>>>,
}

impl<T: ArrowNativeType> ChunkedColumns<T> {
    fn rows(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
}

impl<T: Pod + ArrowNativeType> ChunkedColumns<T> {
    /// Returns the columns if there is only one chunk.
    fn contiguous(&self) -> Option<Vec<&[T]>> {
        match &self.columns[..] {
            [columns] => Some(columns.iter().map(|column| &column[..]).collect()),
            _ => None,
        }
    }

    fn rows_of(&self, rows: Range<usize>) -> Vec<T> {
        let mut values = vec![T::zeroed(); rows.len() * self.classes];
        self.copy(rows.start, &mut values);
        values
    }

    fn copy(&self, first: usize, into: &mut [T]) {
        let (mut row, end) = (first, first + into.len() / self.classes);
        let mut chunk = self.ends.partition_point(|&end| end <= first);
        while row < end {
            let start = if chunk == 0 { 0 } else { self.ends[chunk - 1] };
            let until = end.min(self.ends[chunk]);
            for (class, column) in self.columns[chunk].iter().enumerate() {
                let scores = into[(row - first) * self.classes..].iter_mut().skip(class).step_by(self.classes);
                scores.zip(&column[row - start..until - start]).for_each(|(value, &score)| *value = score);
            }
            (row, chunk) = (until, chunk + 1);
        }
    }
}

impl<T: Pod + ArrowNativeType> Store<T> for ChunkedColumns<T> {
    fn rows(&self) -> usize {
        ChunkedColumns::rows(self)
    }

    fn read(&self, first: usize, into: &mut [T]) -> apportion::Result<()> {
        self.copy(first, into);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use apportion::{Match, Reference, Rule, Settings};
    use arrow::array::{Float32Array, Float64Array, StringArray};

    use super::*;
    use crate::{Input, InputOptions, Table, TableOptions};

    fn batch(scores: &[[f64; 2]], groups: &[&str]) -> RecordBatch {
        let column = |class: usize| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(scores.iter().map(|row| row[class])))
        };
        let groups: ArrayRef = Arc::new(StringArray::from_iter_values(groups));
        RecordBatch::try_from_iter([("p_a", column(0)), ("p_b", column(1)), ("county", groups)]).unwrap()
    }

    fn read(table: MemoryTable, options: &TableOptions) -> Table {
        // Few rows at a time, so that reads do not end at batch boundaries.
        let input = InputOptions { batch_rows: 2, ..InputOptions::default() };
        Table::read(&Input::from_memory("a frame", table, input), options).unwrap()
    }

    const SCORES: [[f64; 2]; 5] = [[0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.8, 0.2], [0.55, 0.45]];
    const GROUPS: [&str; 5] = ["x", "y", "y", "x", "x"];

    fn labels(table: &Table, by_group: bool) -> Vec<u8> {
        let aim = Match { by_group, ..Match::overall(Reference::Posterior) };
        let scores = table.scores().unwrap();
        Rule::Match(aim).label(&scores, &Settings::default()).unwrap().labels.values().to_vec()
    }

    /// Labels, groups and scores do not depend on how columns are chunked, and scores are not
    /// copied.
    #[test]
    fn chunks_do_not_change_results() {
        let contiguous = batch(&SCORES, &GROUPS);
        let options = TableOptions { by: vec!["county".into()], ..TableOptions::default() };
        let of = |pieces: Vec<RecordBatch>| read(MemoryTable::new(contiguous.schema(), pieces), &options);
        let one = of(vec![contiguous.clone()]);
        assert!(matches!(one.scores().unwrap().classes().names(), [a, b] if a == "a" && b == "b"));
        for cut in 0..=SCORES.len() {
            let two = of(vec![contiguous.slice(0, cut), contiguous.slice(cut, SCORES.len() - cut)]);
            for by_group in [false, true] {
                assert_eq!(labels(&two, by_group), labels(&one, by_group), "cut at {cut}");
            }
            assert_eq!(two.label_scores(1, &[0, 1, 0]).unwrap(), one.label_scores(1, &[0, 1, 0]).unwrap());
            assert!(two.remarks().is_empty());
        }
    }

    /// A matrix is used in place, alone and with other columns; if rows are excluded, it is copied.
    #[test]
    fn a_matrix_gives_the_same_results_as_columns() {
        let values: ArrayRef =
            Arc::new(Float32Array::from_iter_values(SCORES.iter().flatten().map(|&value| value as f32)));
        let names = || vec!["p_a".to_owned(), "p_b".to_owned()];
        let other = batch(&SCORES, &GROUPS).project(&[2]).unwrap();
        let alone =
            MemoryTable::new(Arc::new(Schema::empty()), Vec::new()).with_matrix(names(), values.clone()).unwrap();
        assert_eq!(alone.rows(), 5);
        let plain = read(alone.clone(), &TableOptions::default());
        assert!(plain.is_single_precision());
        let skipping = TableOptions { skip_missing: true, ..TableOptions::default() };
        assert_eq!(labels(&plain, false), labels(&read(alone, &skipping), false));
        let both = MemoryTable::new(other.schema(), vec![other]).with_matrix(names(), values.clone()).unwrap();
        let by = TableOptions { by: vec!["county".into()], ..TableOptions::default() };
        let columns = MemoryTable::new(batch(&SCORES, &GROUPS).schema(), vec![batch(&SCORES, &GROUPS)]);
        assert_eq!(labels(&read(both, &by), true), labels(&read(columns, &by), true));
        let wrong = MemoryTable::new(Arc::new(Schema::empty()), Vec::new()).with_matrix(vec!["a".into(); 3], values);
        assert_eq!(wrong.unwrap_err().to_string(), "10 scores are not 0 rows of 3 classes");
    }

    /// Missing values are located correctly in borrowed scores.
    #[test]
    fn missing_scores_are_located() {
        let scores: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), None, Some(1.0)]));
        let others: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 0.5, f64::NAN]));
        let batch = RecordBatch::try_from_iter([("p_a", scores), ("p_b", others)]).unwrap();
        let table = read(MemoryTable::new(batch.schema(), vec![batch]), &TableOptions::default());
        let error = table.scores().unwrap().check().unwrap_err();
        assert!(table.locate(error).to_string().starts_with("a frame: row 2, column \"p_a\": there is no number"));
    }
}
