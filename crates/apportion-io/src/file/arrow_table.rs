//! Tables in memory from Arrow batches.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};

use super::arrow_columns::{array_of, block_of};
use crate::error::{Error, Result};
use crate::table::{MemoryTable, Shared, SharedColumn, SharedValues};

/// The schema of Arrow batches.
pub(crate) type BatchSchema = SchemaRef;

impl MemoryTable {
    /// Creates a table from batches with the same schema.
    #[allow(clippy::needless_pass_by_value)] // the table keeps the batches
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> MemoryTable {
        let names: Arc<[String]> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let blocks = batches.iter().map(|batch| block_of(&names, batch)).collect();
        MemoryTable::from_blocks(names, blocks).with_schema(schema)
    }

    /// Adds a row-major matrix of `f32` or `f64` before the columns of the batches. If the batches
    /// have no columns, the rows are those of the matrix.
    pub fn with_matrix(self, names: Vec<String>, values: &ArrayRef) -> Result<MemoryTable> {
        let kind = values.data_type().clone();
        let shared = match kind {
            DataType::Float32 => SharedValues::F32(Shared::new(values.as_primitive::<Float32Type>().values().clone())),
            DataType::Float64 => SharedValues::F64(Shared::new(values.as_primitive::<Float64Type>().values().clone())),
            _ => return Err(Error::settings(format!("a matrix of scores must contain numbers, not {kind}"))),
        };
        let mut column = SharedColumn::from(shared);
        if values.null_count() > 0 {
            let validity: Vec<bool> = (0..values.len()).map(|index| values.is_valid(index)).collect();
            column = column.with_validity(validity.into());
        }
        self.with_scores(names, column)
    }

    /// Returns the names and types of the columns. Without a schema and without rows, their types are unknown.
    pub(crate) fn schema(&self) -> SchemaRef {
        /// Number of rows of the block that determines the types.
        const ROWS: usize = 1 << 10;
        let names = self.column_names();
        let first = self.clone().into_blocks((0..names.len()).collect(), ROWS).next();
        let data_type = |index: usize| match &first {
            Some(block) => array_of(block.at(index)).data_type().clone(),
            None => DataType::Null,
        };
        let of_batches = self.schema.as_ref().map_or(0, |schema| schema.fields().len());
        let others = names.iter().take(names.len() - of_batches).enumerate();
        let mut fields: Vec<FieldRef> =
            others.map(|(index, name)| Arc::new(Field::new(name, data_type(index), true))).collect();
        let Some(schema) = &self.schema else { return Arc::new(Schema::new(fields)) };
        fields.extend(schema.fields().iter().cloned());
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use apportion::{Match, Reference, Rule, Settings};
    use arrow_array::{Float32Array, Float64Array, StringArray};

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

    /// Nullability and metadata are kept, with and without rows, and after the columns of a matrix.
    #[test]
    fn the_schema_is_that_of_the_batches() {
        let about = |text: &str| std::collections::HashMap::from([("about".to_owned(), text.to_owned())]);
        let field = Field::new("id", DataType::Int32, false).with_metadata(about("people"));
        let schema = Arc::new(Schema::new_with_metadata(vec![field], about("a survey")));
        let ids: ArrayRef = Arc::new(arrow_array::Int32Array::from(vec![1, 2]));
        let batch = RecordBatch::try_new(schema.clone(), vec![ids]).unwrap();
        for batches in [vec![], vec![batch.clone()]] {
            let table = MemoryTable::new(schema.clone(), batches);
            assert_eq!(table.schema(), schema);
        }
        let values: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 0.5, 1.0, 0.0]));
        let table = MemoryTable::new(schema.clone(), vec![batch.clone()]);
        let table = table.with_matrix(vec!["p_a".into(), "p_b".into()], &values).unwrap();
        let found = table.schema();
        assert_eq!((found.field(0).name().as_str(), found.field(2)), ("p_a", schema.field(0)));
        assert_eq!(found.metadata(), schema.metadata());
        let input = Input::from_memory("a frame", table, InputOptions::default());
        let read: Vec<RecordBatch> = input.open(0).unwrap().map(Result::unwrap).collect();
        assert_eq!((read[0].schema(), read[0].column(2)), (found, batch.column(0)));
    }

    /// Missing values are located correctly in borrowed scores.
    #[test]
    fn missing_scores_are_located() {
        let scores: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), None, Some(1.0)]));
        let others: ArrayRef = Arc::new(Float64Array::from(vec![0.5, 0.5, f64::NAN]));
        let batch = RecordBatch::try_from_iter([("p_a", scores), ("p_b", others)]).unwrap();
        let table = read(MemoryTable::new(batch.schema(), vec![batch]), &TableOptions::default());
        let error = table.scores().unwrap().check().unwrap_err();
        assert!(table.locate(error).to_string().starts_with("a frame: row 2, column \"p_a\": the score is missing"));
    }
}
