//! The distance of labels from the frontier: the paper's Theorem 2, measured on one table.
//!
//! Among all labels whose counts are at least as close to the reference, the most accurate are on the frontier. The
//! gap is their advantage in expected accuracy. Both sides depend on the scores only: accuracy is the mean score of
//! the labels, and closeness is Σ |count − target| in whole people. So no truth is needed, and the result is as good
//! as the scores.

use super::report::Section;
use crate::kernel::GRID;
use crate::rule::Frontier;

impl Frontier {
    /// Returns how much larger the expected accuracy of the best labels with equally close counts is: 0 on the
    /// frontier, never negative. `None` if undefined: if included people are unlabeled, if they are not the people of the
    /// frontier, or if the frontier is by group.
    ///
    /// ```
    /// # use apportion::audit::Section;
    /// # use apportion::*;
    /// # let classes = Classes::new(["white", "black"])?;
    /// # let scores = Scores::new(&classes, Matrix::RowsF64(&[0.9, 0.1, 0.7, 0.3, 0.6, 0.4, 0.6, 0.4, 0.7, 0.3]))?;
    /// # let settings = Settings::default();
    /// let frontier = Frontier::of(&Match::overall(Reference::Posterior), &scores, &settings)?;
    /// let gap = |labels| {
    ///     let summary = Section::summary(&scores, &Labels::new(labels, &classes)?)?;
    ///     Ok::<_, Error>(frontier.frontier_gap(&summary))
    /// };
    /// assert_eq!(gap(vec![0, 0, 0, 0, 0])?, Some(0.0)); // argmax
    /// // The second person is black, and the counts are right; but the third would have cost less.
    /// assert!(gap(vec![0, 1, 0, 0, 0])?.is_some_and(|gap| (gap - 0.04).abs() < 1e-9));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn frontier_gap(&self, labels: &Section) -> Option<f64> {
        let targets = self.overall_targets()?;
        let counts = labels.counts();
        let people = counts.iter().sum::<u64>();
        if people == 0 || people != labels.included || people != targets.iter().sum::<u64>() {
            return None;
        }
        let off = counts.iter().zip(targets).map(|(count, target)| count.abs_diff(*target)).sum();
        // Both are rounded from integers by the same function, so the difference is never negative.
        Some((GRID.total(self.best_within(off)) - labels.label_scores) / people as f64)
    }
}
