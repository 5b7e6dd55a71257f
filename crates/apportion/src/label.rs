//! Labels: one class per row, or unlabeled.

use crate::error::Result;
use crate::scores::{Classes, Label, UNCODED, check_labels};

/// One label per row: a class, or [`UNCODED`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    values: Vec<Label>,
    classes: usize,
}

impl Labels {
    /// Creates labels from existing values, such as a vendor's.
    pub fn new(values: Vec<Label>, classes: &Classes) -> Result<Labels> {
        check_labels(&values, classes, "label")?;
        Ok(Labels { values, classes: classes.len() })
    }

    /// Creates labels without checking them.
    pub(crate) fn trusted(values: Vec<Label>, classes: usize) -> Labels {
        debug_assert!(values.iter().all(|&label| label == UNCODED || usize::from(label) < classes));
        Labels { values, classes }
    }

    /// Returns the label of each row.
    pub fn values(&self) -> &[Label] {
        &self.values
    }

    /// Returns the number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the values.
    pub fn into_values(self) -> Vec<Label> {
        self.values
    }

    /// Counts the rows of each class, without unlabeled rows.
    pub fn counts(&self) -> Vec<u64> {
        // Four tables in turn: equal neighbors would stall on the same counter.
        let mut tables = [[0u64; 256]; 4];
        for labels in self.values.chunks(tables.len()) {
            labels.iter().zip(&mut tables).for_each(|(&label, table)| table[usize::from(label)] += 1);
        }
        (0..self.classes).map(|class| tables.iter().map(|table| table[class]).sum()).collect()
    }
}
