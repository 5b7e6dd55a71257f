//! The label columns of an output: the label of each row and its score, or the number of people of each class.

use std::path::PathBuf;
use std::sync::Arc;

use apportion::Label;
use apportion::rule::Allotment;
use arrow_array::{ArrayRef, Float32Array, Float64Array, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, FieldRef};

use super::output::{AddedColumns, write_with_columns};
use crate::error::Result;
use crate::input::Input;
use crate::output::{Assigned, LabelColumns, Output};
use crate::table::{RowMask, Table};

impl LabelColumns {
    /// Writes all input rows with their labels. Excluded rows have no values in the new columns.
    /// Returns the paths of the files written.
    pub fn write(&self, input: &Input, output: &Output, table: &Table, assigned: Assigned<'_>) -> Result<Vec<PathBuf>> {
        let draws = match assigned {
            Assigned::Labels(draws) => draws.len() as u64,
            Assigned::People(_) => 1,
        };
        let mut done = 0;
        let mut values = |first: usize, rows: usize| {
            let range = TableRows::new(table.row_mask(), first, rows, done);
            done = range.end;
            match assigned {
                Assigned::People(allotment) => Ok(people_columns(table, allotment, &range)),
                Assigned::Labels(draws) => {
                    let mut columns = Vec::new();
                    for labels in draws {
                        columns.extend(self.label_columns(table, labels.values(), &range)?);
                    }
                    Ok(columns)
                }
            }
        };
        let (fields, rows) = (self.fields(table, draws), Some(table.row_mask().total()));
        write_with_columns(input, output, AddedColumns { fields, replace: false, rows, values: &mut values })
    }

    fn fields(&self, table: &Table, draws: u64) -> Vec<FieldRef> {
        let nullable = table.row_mask().total() > table.rows();
        let number = if table.is_single_precision() { DataType::Float32 } else { DataType::Float64 };
        let field = |(index, name): (usize, String)| {
            let field = if table.has_counts() {
                Field::new(name, DataType::UInt64, nullable)
            } else if self.with_scores && index % 2 == 1 {
                Field::new(name, number.clone(), true)
            } else {
                Field::new(name, DataType::Utf8, nullable)
            };
            Arc::new(field)
        };
        self.names(table, draws).into_iter().enumerate().map(field).collect()
    }

    /// Returns the labels as text, and their scores as in the file.
    fn label_columns(&self, table: &Table, labels: &[Label], rows: &TableRows) -> Result<Vec<ArrayRef>> {
        let labels = &labels[rows.first..rows.end];
        let names: StringArray = rows.spread(labels.iter().map(|&label| table.classes().name(label))).collect();
        if !self.with_scores {
            return Ok(vec![Arc::new(names)]);
        }
        let scores = table.label_scores(rows.first, labels)?;
        let scores = rows.spread(scores.into_iter()).map(Option::flatten);
        let scores: ArrayRef = if table.is_single_precision() {
            Arc::new(scores.map(|score| score.map(|score| score as f32)).collect::<Float32Array>())
        } else {
            Arc::new(scores.collect::<Float64Array>())
        };
        Ok(vec![Arc::new(names), scores])
    }
}

/// Returns the number of people of each row in each class.
fn people_columns(table: &Table, allotment: &Allotment, rows: &TableRows) -> Vec<ArrayRef> {
    let people = |class: usize| rows.spread((rows.first..rows.end).map(move |row| allotment.row(row)[class]));
    (0..=table.classes().len()).map(|class| Arc::new(people(class).collect::<UInt64Array>()) as ArrayRef).collect()
}

/// The next input rows to write, and the range of table rows among them.
struct TableRows {
    /// Whether each input row is in the table.
    kept: Vec<bool>,
    first: usize,
    end: usize,
}

impl TableRows {
    /// Returns the next input rows after `done` table rows. Rows that were not in the input when it was
    /// read are refused later, when all rows are counted.
    fn new(mask: &RowMask, first: usize, rows: usize, done: usize) -> TableRows {
        let kept: Vec<bool> = (first..first + rows).map(|row| row < mask.total() && mask.contains(row)).collect();
        let end = done + kept.iter().filter(|&&kept| kept).count();
        TableRows { kept, first: done, end }
    }

    /// Returns the values of the table rows, and `None` for the other rows.
    fn spread<T>(&self, mut values: impl Iterator<Item = T>) -> impl Iterator<Item = Option<T>> {
        self.kept.iter().map(move |&kept| if kept { values.next() } else { None })
    }
}
