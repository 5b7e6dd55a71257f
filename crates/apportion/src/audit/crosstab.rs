//! Counts by group, truth and label, without reading scores.

use rayon::prelude::*;

use super::report::Interval;
use super::{cell::add_all, intervals::wilson};
use crate::error::Result;
use crate::kernel::STRETCH;
use crate::label::Labels;
use crate::rule::Allotment;
use crate::scores::{Label, Scores, UNCODED, expect_length};

/// The number of people by group, truth and label.
///
/// A report on several labelings of one table has one crosstab per labeling; a full [`Audit`](crate::audit::Audit) of
/// each would read all scores again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crosstab {
    classes: usize,
    /// By group, then by true class (last: unknown), then by label (last: Uncoded).
    people: Vec<u64>,
}

impl Crosstab {
    /// Counts labels, one per row. A table without groups is one group.
    pub fn of(scores: &Scores<'_>, labels: &Labels) -> Result<Crosstab> {
        expect_length("the list of labels", labels.values().len(), scores.rows())?;
        let classes = scores.classes().len();
        Ok(Crosstab::with(scores, |row, give| {
            let people = scores.counts().map_or(1, |counts| counts[row]);
            give(index(labels.values()[row], classes), people);
        }))
    }

    /// Counts the labels of rows that represent several people.
    pub fn of_allotment(scores: &Scores<'_>, allotment: &Allotment) -> Result<Crosstab> {
        expect_length("the list of allotted rows", allotment.rows().len(), scores.rows())?;
        Ok(Crosstab::with(scores, |row, give| {
            allotment.row(row).iter().enumerate().for_each(|(label, &people)| give(label, people));
        }))
    }

    fn with(scores: &Scores<'_>, labels: impl Fn(usize, &mut dyn FnMut(usize, u64)) + Sync) -> Crosstab {
        let (classes, rows) = (scores.classes().len(), scores.rows());
        let groups = scores.groups().map_or(1, |groups| groups.names.len());
        let (side, size) = (classes + 1, (classes + 1) * (classes + 1));
        let none = || vec![0u64; groups * size];
        let people = (0..rows.div_ceil(STRETCH))
            .into_par_iter()
            .fold(none, |mut people, stretch| {
                for row in stretch * STRETCH..rows.min((stretch + 1) * STRETCH) {
                    let group = scores.groups().map_or(0, |groups| groups.codes[row] as usize);
                    let truth = scores.truth().map_or(classes, |truth| index(truth[row], classes));
                    let first = group * size + truth * side;
                    labels(row, &mut |label, count| people[first + label] += count);
                }
                people
            })
            .reduce(none, |mut all, part| {
                add_all(&mut all, &part);
                all
            });
        Crosstab { classes, people }
    }

    /// Returns the number of groups, at least one.
    pub fn groups(&self) -> usize {
        self.people.len() / self.size()
    }

    /// Returns the people of each label in a group, then Uncoded.
    pub fn labels_in(&self, group: usize) -> Vec<u64> {
        let mut labels = vec![0; self.classes + 1];
        self.rows_of(group).for_each(|row| add_all(&mut labels, row));
        labels
    }

    /// Returns the confusion matrix over all groups: one row per true class, one column per label, then Uncoded.
    pub fn confusion(&self) -> Vec<Vec<u64>> {
        let mut confusion = vec![vec![0; self.classes + 1]; self.classes];
        for group in 0..self.groups() {
            confusion.iter_mut().zip(self.rows_of(group)).for_each(|(sums, row)| add_all(sums, row));
        }
        confusion
    }

    /// Returns the rows of a group: one per true class, then unknown truth.
    fn rows_of(&self, group: usize) -> impl Iterator<Item = &[u64]> {
        self.people[group * self.size()..][..self.size()].chunks_exact(self.classes + 1)
    }

    fn size(&self) -> usize {
        (self.classes + 1) * (self.classes + 1)
    }
}

impl Interval {
    /// Returns Wilson's 95% interval of a rate, assuming independent people; `None` without people.
    pub fn of_rate(hits: u64, people: u64) -> Option<Interval> {
        wilson(hits, people)
    }
}

/// Returns the index of a label; Uncoded is last.
fn index(label: Label, classes: usize) -> usize {
    if label == UNCODED { classes } else { usize::from(label) }
}
