//! A table in memory: columns, Arrow batches, and optionally a matrix of scores, used in place.

use std::fmt::Debug;
use std::ops::Range;

use apportion::{Matrix, Store};
#[cfg(feature = "files")]
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, RecordBatch, RecordBatchOptions};
#[cfg(feature = "files")]
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Schema, SchemaRef};
#[cfg(feature = "files")]
use arrow::error::ArrowError;
use bytemuck::Pod;
#[cfg(feature = "files")]
use std::sync::Arc;

use super::column::{Column, Values};
use super::shared_column::{Shared, SharedColumn, SharedValues};
use crate::error::{Error, Result};
#[cfg(feature = "files")]
use crate::file::{array_of, column_of, data_type_of};

/// A table in memory that is borrowed from another program.
#[derive(Clone, Debug)]
pub struct MemoryTable {
    content: Content,
    matrix: Option<ScoreMatrix>,
}

/// The columns of a table, without those of the matrix.
#[derive(Clone, Debug)]
enum Content {
    Columns(Vec<(String, SharedColumn)>),
    #[cfg(feature = "files")]
    Batches(SchemaRef, Vec<RecordBatch>),
}

/// A row-major matrix of scores, as in numpy, with named columns.
#[derive(Clone, Debug)]
struct ScoreMatrix {
    names: Vec<String>,
    values: SharedColumn,
}

impl MemoryTable {
    /// Creates a table from columns of the same length.
    pub fn from_columns(columns: Vec<(String, SharedColumn)>) -> Result<MemoryTable> {
        let mut rows = None;
        for (name, column) in &columns {
            let len = column.checked_len();
            if len.is_none() || rows.is_some_and(|rows| len != Some(rows)) {
                let problem = format!("the column {name:?} has another number of rows than the others, or of flags");
                return Err(Error::settings(problem));
            }
            rows = len;
        }
        for (index, (name, _)) in columns.iter().enumerate() {
            if columns[..index].iter().any(|(other, _)| other == name) {
                return Err(Error::settings(format!("two columns are called {name:?}; rename one of them")));
            }
        }
        Ok(MemoryTable { content: Content::Columns(columns), matrix: None })
    }

    /// Adds a row-major matrix of `f32` or `f64` before the columns. If there are no columns, the
    /// rows are those of the matrix.
    pub fn with_scores(self, names: Vec<String>, values: SharedColumn) -> Result<MemoryTable> {
        let (rows, len) = (self.content.rows(), values.checked_len().unwrap_or(0));
        if !matches!(values.values(), SharedValues::F32(_) | SharedValues::F64(_)) {
            let kind = values.column().kind();
            return Err(Error::settings(format!("a matrix of scores holds numbers, not {kind}")));
        }
        let is_alone = self.content.column_count() == 0;
        if names.is_empty() || !len.is_multiple_of(names.len()) || !is_alone && len != rows * names.len() {
            let problem = format!("{len} scores are not {rows} rows of {} classes", names.len());
            return Err(Error::settings(problem));
        }
        Ok(MemoryTable { content: self.content, matrix: Some(ScoreMatrix { names, values }) })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match &self.matrix {
            Some(matrix) => matrix.values.column().len() / matrix.names.len(),
            None => self.content.rows(),
        }
    }

    /// Returns the column names: those of the matrix, then those of the columns.
    pub fn column_names(&self) -> Vec<String> {
        let mut names = self.matrix.as_ref().map_or_else(Vec::new, |matrix| matrix.names.clone());
        match &self.content {
            Content::Columns(columns) => names.extend(columns.iter().map(|(name, _)| name.clone())),
            #[cfg(feature = "files")]
            Content::Batches(schema, _) => names.extend(schema.fields().iter().map(|field| field.name().clone())),
        }
        names
    }

    fn matrix_columns(&self) -> usize {
        self.matrix.as_ref().map_or(0, |matrix| matrix.names.len())
    }

    /// Calls `each` with the columns at some indices, in batches of at most `max_rows` rows.
    pub(crate) fn for_each_batch(
        &self,
        indices: &[usize],
        max_rows: usize,
        mut each: impl FnMut(&[Column<'_>], usize) -> Result<()>,
    ) -> Result<()> {
        for piece in self.pieces(max_rows) {
            let mut scores = Vec::new();
            let mut others = Vec::new();
            for &index in indices {
                match &self.matrix {
                    Some(matrix) if index < matrix.names.len() => scores.push(matrix.copy(index, &piece.rows)),
                    _ => others.push(self.content.rows_of(index - self.matrix_columns(), &piece)),
                }
            }
            let (mut scores, mut others) = (scores.iter(), others.iter());
            let columns: Vec<Column<'_>> = indices
                .iter()
                .filter_map(|&index| {
                    if index < self.matrix_columns() {
                        scores.next().map(SharedColumn::column)
                    } else {
                        others.next().map(Rows::column)
                    }
                })
                .collect();
            each(&columns, piece.rows.len())?;
        }
        Ok(())
    }

    /// Returns ranges of at most `max_rows` rows that do not cross the end of a batch.
    fn pieces(&self, max_rows: usize) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (batch, range) in self.batch_ranges().into_iter().enumerate() {
            let max_rows = max_rows.max(1);
            for first in range.clone().step_by(max_rows) {
                let rows = first..range.end.min(first.saturating_add(max_rows));
                pieces.push(Piece { batch, start: range.start, rows });
            }
        }
        pieces
    }

    /// Returns the range of rows of each batch in the table.
    fn batch_ranges(&self) -> Vec<Range<usize>> {
        match &self.content {
            #[cfg(feature = "files")]
            Content::Batches(schema, batches) if !batches.is_empty() && !schema.fields().is_empty() => {
                let mut end = 0;
                let range = |batch: &RecordBatch| {
                    end += batch.num_rows();
                    end - batch.num_rows()..end
                };
                batches.iter().map(range).collect()
            }
            #[cfg(feature = "files")]
            Content::Batches(..) => std::iter::once(0..self.rows()).collect(),
            Content::Columns(_) => std::iter::once(0..self.rows()).collect(),
        }
    }

    /// Borrows the scores of the columns at some indices. Returns `None` if they need conversion,
    /// because some are missing or not plain numbers.
    pub(crate) fn borrow_scores(&self, indices: &[usize]) -> Option<BorrowedScores> {
        let all: Vec<usize> = (0..self.matrix_columns()).collect();
        if let Some(matrix) = self.matrix.as_ref().filter(|matrix| indices == all && matrix.values.is_complete()) {
            return match matrix.values.values() {
                SharedValues::F32(values) => Some(BorrowedScores::Rows32(values.clone(), indices.len())),
                SharedValues::F64(values) => Some(BorrowedScores::Rows64(values.clone(), indices.len())),
                _ => None,
            };
        }
        let others: Vec<usize> =
            indices.iter().map(|&index| index.checked_sub(self.matrix_columns())).collect::<Option<_>>()?;
        match &self.content {
            Content::Columns(columns) => borrow_columns(columns, &others),
            #[cfg(feature = "files")]
            Content::Batches(_, batches) => {
                if let Some(chunks) = chunked_columns::<Float32Type>(batches, &others) {
                    return Some(BorrowedScores::Columns32(chunks));
                }
                chunked_columns::<Float64Type>(batches, &others).map(BorrowedScores::Columns64)
            }
        }
    }
}

/// Some rows of a table, all of one batch.
struct Piece {
    /// The index of the batch.
    #[cfg_attr(not(feature = "files"), allow(dead_code))] // columns are one batch
    batch: usize,
    /// The first row of the batch.
    start: usize,
    rows: Range<usize>,
}

/// Some rows of a column.
enum Rows<'a> {
    Column(Column<'a>),
    #[cfg(feature = "files")]
    Array(ArrayRef),
}

impl Rows<'_> {
    fn column(&self) -> Column<'_> {
        match self {
            Rows::Column(column) => *column,
            #[cfg(feature = "files")]
            Rows::Array(array) => column_of(array),
        }
    }
}

impl Content {
    fn rows(&self) -> usize {
        match self {
            Content::Columns(columns) => columns.first().map_or(0, |(_, column)| column.column().len()),
            #[cfg(feature = "files")]
            Content::Batches(_, batches) => batches.iter().map(RecordBatch::num_rows).sum(),
        }
    }

    fn column_count(&self) -> usize {
        match self {
            Content::Columns(columns) => columns.len(),
            #[cfg(feature = "files")]
            Content::Batches(schema, _) => schema.fields().len(),
        }
    }

    fn rows_of(&self, index: usize, piece: &Piece) -> Rows<'_> {
        let range = piece.rows.start - piece.start..piece.rows.end - piece.start;
        match self {
            Content::Columns(columns) => Rows::Column(columns[index].1.column().slice(&range)),
            #[cfg(feature = "files")]
            Content::Batches(_, batches) => {
                Rows::Array(batches[piece.batch].column(index).slice(range.start, range.len()))
            }
        }
    }
}

impl ScoreMatrix {
    /// Copies rows of a column, with NaN for missing values.
    fn copy(&self, class: usize, rows: &Range<usize>) -> SharedColumn {
        let k = self.names.len();
        fn strided<T: Copy>(values: &Values<'_, T>, rows: &Range<usize>, k: usize, class: usize, missing: T) -> Vec<T> {
            rows.clone().map(|row| values.get(row * k + class).unwrap_or(missing)).collect()
        }
        match self.values.column() {
            Column::F32(values) => strided(&values, rows, k, class, f32::NAN).into(),
            Column::F64(values) => strided(&values, rows, k, class, f64::NAN).into(),
            // A matrix holds no other values.
            _ => Vec::<f64>::new().into(),
        }
    }
}

/// Borrows columns if all are complete and of one precision.
fn borrow_columns(columns: &[(String, SharedColumn)], indices: &[usize]) -> Option<BorrowedScores> {
    let chosen: Vec<&SharedColumn> = indices.iter().map(|&index| &columns[index].1).collect();
    let rows = chosen.first()?.column().len();
    if rows == 0 || !chosen.iter().all(|column| column.is_complete()) {
        return None;
    }
    let single = |column: &&SharedColumn| match column.values() {
        SharedValues::F32(values) => Some(values.clone()),
        _ => None,
    };
    if let Some(columns) = chosen.iter().map(single).collect::<Option<Vec<_>>>() {
        let (classes, ends) = (columns.len(), vec![rows]);
        return Some(BorrowedScores::Columns32(ChunkedColumns { classes, ends, columns: vec![columns] }));
    }
    let double = |column: &&SharedColumn| match column.values() {
        SharedValues::F64(values) => Some(values.clone()),
        _ => None,
    };
    let columns = chosen.iter().map(double).collect::<Option<Vec<_>>>()?;
    let (classes, ends) = (columns.len(), vec![rows]);
    Some(BorrowedScores::Columns64(ChunkedColumns { classes, ends, columns: vec![columns] }))
}

#[cfg(feature = "files")]
impl MemoryTable {
    /// Creates a table from batches with the same schema.
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> MemoryTable {
        MemoryTable { content: Content::Batches(schema, batches), matrix: None }
    }

    /// Adds a row-major matrix of `f32` or `f64` before the columns of the batches. If the batches
    /// have no columns, the rows are those of the matrix.
    pub fn with_matrix(self, names: Vec<String>, values: &ArrayRef) -> Result<MemoryTable> {
        let kind = values.data_type().clone();
        let shared = match kind {
            DataType::Float32 => SharedValues::F32(Shared::new(values.as_primitive::<Float32Type>().values().clone())),
            DataType::Float64 => SharedValues::F64(Shared::new(values.as_primitive::<Float64Type>().values().clone())),
            _ => return Err(Error::settings(format!("a matrix of scores holds numbers, not {kind}"))),
        };
        let mut column = SharedColumn::from(shared);
        if values.null_count() > 0 {
            let validity: Vec<bool> = (0..values.len()).map(|index| values.is_valid(index)).collect();
            column = column.with_validity(validity.into());
        }
        self.with_scores(names, column)
    }

    /// Returns the schema of the batches that [`MemoryTable::batches`] returns.
    pub(crate) fn schema(&self) -> SchemaRef {
        let of_column = |name: &String, column: &Column<'_>| Arc::new(Field::new(name, data_type_of(column), true));
        let mut fields: Vec<Arc<Field>> = Vec::new();
        if let Some(matrix) = &self.matrix {
            let column = matrix.values.column();
            fields.extend(matrix.names.iter().map(|name| of_column(name, &column)));
        }
        match &self.content {
            Content::Batches(schema, _) if self.matrix.is_none() => return schema.clone(),
            Content::Batches(schema, _) => fields.extend(schema.fields().iter().cloned()),
            Content::Columns(columns) => {
                fields.extend(columns.iter().map(|(name, column)| of_column(name, &column.column())));
            }
        }
        Arc::new(Schema::new(fields))
    }

    /// Returns the columns at some indices in batches of at most `max_rows` rows.
    pub(crate) fn batches(
        &self,
        indices: &[usize],
        max_rows: usize,
    ) -> Result<impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + use<>> {
        let schema = self.schema().project(indices).map_err(|error| Error::settings(error.to_string()))?;
        let (schema, table, indices) = (Arc::new(schema), self.clone(), indices.to_vec());
        Ok(self.pieces(max_rows).into_iter().map(move |piece| {
            let column = |&index: &usize| match &table.matrix {
                Some(matrix) if index < matrix.names.len() => array_of(&matrix.copy(index, &piece.rows).column()),
                _ => match table.content.rows_of(index - table.matrix_columns(), &piece) {
                    Rows::Column(column) => array_of(&column),
                    Rows::Array(array) => array,
                },
            };
            // Keeps the row count if there are no columns.
            let options = RecordBatchOptions::new().with_row_count(Some(piece.rows.len()));
            RecordBatch::try_new_with_options(schema.clone(), indices.iter().map(column).collect(), &options)
        }))
    }
}

/// Returns the columns at some indices of each batch, if all are plain numbers of one type.
#[cfg(feature = "files")]
fn chunked_columns<T: ArrowPrimitiveType>(
    batches: &[RecordBatch],
    indices: &[usize],
) -> Option<ChunkedColumns<T::Native>> {
    let mut chunks = ChunkedColumns { classes: indices.len(), ends: Vec::new(), columns: Vec::new() };
    for batch in batches.iter().filter(|batch| batch.num_rows() > 0) {
        let column = |&index: &usize| {
            let column: &PrimitiveArray<T> = batch.column(index).as_primitive_opt()?;
            (column.null_count() == 0).then(|| Shared::new(column.values().clone()))
        };
        chunks.columns.push(indices.iter().map(column).collect::<Option<_>>()?);
        chunks.ends.push(chunks.rows() + batch.num_rows());
    }
    (!chunks.ends.is_empty()).then_some(chunks)
}

/// Scores borrowed from another program. They are not copied, except for a few rows at a time if a
/// column has several chunks.
#[derive(Debug)]
pub(crate) enum BorrowedScores {
    Rows32(Shared<f32>, usize),
    Rows64(Shared<f64>, usize),
    Columns32(ChunkedColumns<f32>),
    Columns64(ChunkedColumns<f64>),
}

impl BorrowedScores {
    pub(crate) fn matrix(&self) -> Matrix<'_> {
        match self {
            BorrowedScores::Rows32(values, _) => Matrix::RowsF32(values.as_slice()),
            BorrowedScores::Rows64(values, _) => Matrix::RowsF64(values.as_slice()),
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
            BorrowedScores::Rows32(values, classes) => values.as_slice().len() / classes,
            BorrowedScores::Rows64(values, classes) => values.as_slice().len() / classes,
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
                values.as_slice()[rows.start * k..rows.end * k].iter().copied().map(f64::from).collect()
            }
            BorrowedScores::Rows64(values, k) => values.as_slice()[rows.start * k..rows.end * k].to_vec(),
            BorrowedScores::Columns32(chunks) => chunks.rows_of(rows).into_iter().map(f64::from).collect(),
            BorrowedScores::Columns64(chunks) => chunks.rows_of(rows),
        }
    }
}

/// Columns in chunks, as in data frames that were concatenated.
#[derive(Debug)]
pub(crate) struct ChunkedColumns<T> {
    classes: usize,
    /// Number of rows up to the end of each chunk.
    ends: Vec<usize>,
    /// The columns of each chunk.
    columns: Vec<Vec<Shared<T>>>,
}

impl<T> ChunkedColumns<T> {
    fn rows(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }
}

impl<T: Pod> ChunkedColumns<T> {
    /// Returns the columns if there is only one chunk.
    fn contiguous(&self) -> Option<Vec<&[T]>> {
        match &self.columns[..] {
            [columns] => Some(columns.iter().map(Shared::as_slice).collect()),
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
                let column = &column.as_slice()[row - start..until - start];
                scores.zip(column).for_each(|(value, &score)| *value = score);
            }
            (row, chunk) = (until, chunk + 1);
        }
    }
}

impl<T: Pod + Debug> Store<T> for ChunkedColumns<T> {
    fn rows(&self) -> usize {
        ChunkedColumns::rows(self)
    }

    fn read(&self, first: usize, into: &mut [T]) -> apportion::Result<()> {
        self.copy(first, into);
        Ok(())
    }
}

#[cfg(test)]
#[cfg(feature = "files")]
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
        let alone = MemoryTable::new(Arc::new(Schema::empty()), Vec::new()).with_matrix(names(), &values).unwrap();
        assert_eq!(alone.rows(), 5);
        let plain = read(alone.clone(), &TableOptions::default());
        assert!(plain.is_single_precision());
        let skipping = TableOptions { skip_missing: true, ..TableOptions::default() };
        assert_eq!(labels(&plain, false), labels(&read(alone, &skipping), false));
        let both = MemoryTable::new(other.schema(), vec![other]).with_matrix(names(), &values).unwrap();
        let by = TableOptions { by: vec!["county".into()], ..TableOptions::default() };
        let columns = MemoryTable::new(batch(&SCORES, &GROUPS).schema(), vec![batch(&SCORES, &GROUPS)]);
        assert_eq!(labels(&read(both, &by), true), labels(&read(columns, &by), true));
        let wrong = MemoryTable::new(Arc::new(Schema::empty()), Vec::new()).with_matrix(vec!["a".into(); 3], &values);
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
