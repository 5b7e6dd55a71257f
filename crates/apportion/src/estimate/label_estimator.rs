//! Outcomes by label and by truth, and an exact decomposition of their difference.

use rayon::prelude::*;

use super::cells::Cells;
use super::figures::{Estimate, Moments, of_moments};
use super::outcomes::{Measure, Outcomes};
use crate::error::{Error, Result};
use crate::kernel::STRETCH;
use crate::label::Labels;
use crate::rule::Allotment;
use crate::scores::{Label, Scores, UNCODED, expect_length};

/// Outcomes by label and by truth. It can be merged and does not depend on the row order. It does not read scores.
#[derive(Clone, Debug)]
pub struct LabelEstimator {
    classes: usize,
    measure: Measure,
    /// By true class (last: unknown), then by label (last: Uncoded).
    cells: Cells,
}

/// Decomposition of the difference between the mean outcome of people with a label and of people of the true class.
/// The two parts sum to `bias`.
///
/// Only people with known truth and outcome are included.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct LabelBias {
    /// The mean of people with the label.
    pub labeled: f64,
    /// The mean of people of the true class.
    pub truth: f64,
    /// `labeled` minus `truth`.
    pub bias: f64,
    /// Contribution of false positives: their share of the label, times the difference between their mean and
    /// that of the true positives.
    pub from_false_positives: f64,
    /// Contribution of false negatives: minus their share of the true class, times the difference between their
    /// mean and that of the true positives.
    pub from_false_negatives: f64,
}

impl LabelEstimator {
    /// Sums over labeled rows.
    pub fn of(scores: &Scores<'_>, outcomes: &Outcomes<'_>, labels: &Labels) -> Result<LabelEstimator> {
        expect_length("the list of labels", labels.values().len(), scores.rows())?;
        LabelEstimator::with_labels(scores, outcomes, labels.values())
    }

    /// Sums over rows that represent several people, who may have several labels.
    pub fn of_allotment(scores: &Scores<'_>, outcomes: &Outcomes<'_>, allotment: &Allotment) -> Result<LabelEstimator> {
        expect_length("the list of allotted rows", allotment.rows().len(), scores.rows())?;
        LabelEstimator::with(scores, outcomes, |row, give| {
            let people = allotment.row(row).iter().enumerate().filter(|(_, people)| **people > 0);
            people.for_each(|(label, &people)| give(label, people));
        })
    }

    /// Sums over rows with the truth as the label; `None` without truth.
    pub fn of_truth(scores: &Scores<'_>, outcomes: &Outcomes<'_>) -> Result<Option<LabelEstimator>> {
        scores.truth().map(|truth| LabelEstimator::with_labels(scores, outcomes, truth)).transpose()
    }

    fn with_labels(scores: &Scores<'_>, outcomes: &Outcomes<'_>, labels: &[Label]) -> Result<LabelEstimator> {
        let classes = scores.classes().len();
        LabelEstimator::with(scores, outcomes, |row, give| {
            give(index(labels[row], classes), scores.counts().map_or(1, |counts| counts[row]));
        })
    }

    fn with(
        scores: &Scores<'_>,
        outcomes: &Outcomes<'_>,
        labels: impl Fn(usize, &mut dyn FnMut(usize, u64)) + Sync,
    ) -> Result<LabelEstimator> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        let (classes, measure, rows) = (scores.classes().len(), outcomes.measure(), scores.rows());
        let side = classes + 1;
        let none = || Cells::new(&measure, side * side);
        let cells = (0..rows.div_ceil(STRETCH))
            .into_par_iter()
            .fold(none, |mut cells, stretch| {
                for row in stretch * STRETCH..rows.min((stretch + 1) * STRETCH) {
                    let Some(value) = outcomes.at(row) else { continue };
                    let truth = scores.truth().map_or(classes, |truth| index(truth[row], classes));
                    let weight = outcomes.weight(row);
                    labels(row, &mut |label, people| cells.add(truth * side + label, value, people, weight));
                }
                cells
            })
            .reduce(none, |mut all, part| {
                all.merge(&part);
                all
            });
        Ok(LabelEstimator { classes, measure, cells })
    }

    /// Adds the sums of other rows, with the same classes and the same kind of outcome.
    pub fn merge(&mut self, other: &LabelEstimator) -> Result<()> {
        if self.classes != other.classes {
            return Err(Error::Tally { what: "classes" });
        }
        self.measure.check_same(&other.measure)?;
        self.cells.merge(&other.cells);
        Ok(())
    }

    /// Returns the mean outcome by label, for each requested level.
    pub fn estimates(&self) -> Vec<Estimate> {
        self.each_level(|level| {
            let by_label = (0..self.classes).map(|class| self.sum(level, |_, label| label == class));
            of_moments(&self.measure, &by_label.collect::<Vec<_>>())
        })
    }

    /// Returns the mean outcome by true class; `None` if no one has known truth and outcome.
    pub fn truth(&self) -> Option<Vec<Estimate>> {
        let known = self.sum(0, |truth, _| truth < self.classes).weight;
        let estimate = |level| {
            let by_truth = (0..self.classes).map(|class| self.sum(level, |truth, _| truth == class));
            of_moments(&self.measure, &by_truth.collect::<Vec<_>>())
        };
        (known > 0.0).then(|| self.each_level(estimate))
    }

    /// Returns the decomposition for each requested level and class; `None` if there are no true positives.
    pub fn biases(&self) -> Vec<Vec<Option<LabelBias>>> {
        self.each_level(|level| (0..self.classes).map(|class| self.bias(level, class)).collect())
    }

    fn bias(&self, level: usize, class: usize) -> Option<LabelBias> {
        let is_other = |truth: usize| truth < self.classes && truth != class;
        let labeled = self.sum(level, |truth, label| truth < self.classes && label == class);
        let so = self.sum(level, |truth, _| truth == class);
        let rightly = self.sum(level, |truth, label| truth == class && label == class).mean()?;
        let wrongly = self.sum(level, |truth, label| is_other(truth) && label == class);
        let missed = self.sum(level, |truth, label| truth == class && label != class);
        // An empty part contributes nothing.
        let adds = |part: &Moments, whole: &Moments| {
            part.mean().map_or(0.0, |mean| part.weight / whole.weight * (mean - rightly))
        };
        let (mean, truth, about) = (labeled.mean()?, so.mean()?, self.measure.about());
        Some(LabelBias {
            labeled: about + mean,
            truth: about + truth,
            bias: mean - truth,
            from_false_positives: adds(&wrongly, &labeled),
            from_false_negatives: -adds(&missed, &so),
        })
    }

    fn each_level<T>(&self, of: impl Fn(usize) -> T) -> Vec<T> {
        self.measure.shown().map(of).collect()
    }

    /// Sums the outcomes over selected true classes and labels.
    fn sum(&self, level: usize, is_wanted: impl Fn(usize, usize) -> bool) -> Moments {
        let side = self.classes + 1;
        let cells = (0..side * side).filter(|cell| is_wanted(cell / side, cell % side));
        self.cells.moments(cells, level)
    }
}

/// Returns the index of a label; Uncoded is last.
fn index(label: Label, classes: usize) -> usize {
    if label == UNCODED { classes } else { usize::from(label) }
}
