//! Labels: one class a row, or none.

use crate::error::Result;
use crate::scores::{Classes, Label, UNCODED, check_labels};

/// One label a row: a class, or [`UNCODED`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    values: Vec<Label>,
    classes: usize,
}

impl Labels {
    /// Labels that exist already, such as a vendor's.
    pub fn new(values: Vec<Label>, classes: &Classes) -> Result<Labels> {
        check_labels(&values, classes, "label")?;
        Ok(Labels { values, classes: classes.len() })
    }

    /// Labels that a rule of this library made.
    pub(crate) fn trusted(values: Vec<Label>, classes: usize) -> Labels {
        debug_assert!(values.iter().all(|&label| label == UNCODED || usize::from(label) < classes));
        Labels { values, classes }
    }

    /// The label of each row.
    pub fn values(&self) -> &[Label] {
        &self.values
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The labels alone.
    pub fn into_values(self) -> Vec<Label> {
        self.values
    }

    /// How many rows have each class; Uncoded rows are in none.
    pub fn counts(&self) -> Vec<u64> {
        // Four tables take turns: one would wait for itself wherever neighbours have the same label.
        let mut tables = [[0u64; 256]; 4];
        for labels in self.values.chunks(tables.len()) {
            labels.iter().zip(&mut tables).for_each(|(&label, table)| table[usize::from(label)] += 1);
        }
        (0..self.classes).map(|class| tables.iter().map(|table| table[class]).sum()).collect()
    }
}
