//! How far labels lie below the frontier: what the paper's Theorem 2 says of rules in general, measured on one table.
//!
//! Among all labels of the same people whose counts are as near to the reference, or nearer, the most accurate are on the
//! frontier. What is said is how much greater their expected accuracy is: accuracy that is given away, since nobody's counts
//! ask for it. Both sides go by the scores alone: accuracy is the mean score of the labels, and nearness Σ |count − target|,
//! the reference in whole people. So it needs no truth, and is as good as the scores.

use super::label_summary::LabelSummary;
use crate::kernel::GRID;
use crate::rule::Frontier;

impl Frontier {
    /// How much greater the expected accuracy is of the best labels whose counts are as near to the reference: 0 on the
    /// frontier, and never less. None where that cannot be said: where people are without a label, or are others than those
    /// of the frontier, or where it goes by group.
    ///
    /// ```
    /// # use apportion::*;
    /// # let classes = Classes::new(["white", "black"])?;
    /// # let scores = Scores::new(&classes, Matrix::RowsF64(&[0.9, 0.1, 0.7, 0.3, 0.6, 0.4, 0.6, 0.4, 0.7, 0.3]))?;
    /// # let settings = Settings::default();
    /// let frontier = Frontier::of(&Match::overall(Reference::Posterior), &scores, &settings)?;
    /// let above = |labels| Ok::<_, Error>(frontier.frontier_gap(&LabelSummary::of(&scores, &Labels::new(labels, &classes)?)?));
    /// assert_eq!(above(vec![0, 0, 0, 0, 0])?, Some(0.0)); // argmax
    /// // The second person is black, and the counts are right; but the third would have cost less.
    /// assert!(above(vec![0, 1, 0, 0, 0])?.is_some_and(|above| (above - 0.04).abs() < 1e-9));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn frontier_gap(&self, labels: &LabelSummary) -> Option<f64> {
        let targets = self.overall_targets()?;
        if labels.people == 0 || labels.labeled != labels.people || labels.people != targets.iter().sum::<u64>() {
            return None;
        }
        let off = labels.counts.iter().zip(targets).map(|(count, target)| count.abs_diff(*target)).sum();
        // Both are rounded from whole numbers by one function, so that the difference is never below zero.
        Some((GRID.total(self.best_within(off)) - labels.label_scores) / labels.people as f64)
    }
}
