//! Detects scores that are percentages.

use apportion::Scaling;

/// Number of rows used to distinguish percentages from probabilities.
pub(crate) const SAMPLE_ROWS: usize = 1000;

/// Counts the first rows, and those among them that sum to about 100.
#[derive(Default)]
pub(crate) struct Percentages {
    sampled: usize,
    percentages: usize,
}

impl Percentages {
    pub(crate) fn observe<T: Copy + Into<f64>>(&mut self, values: &[T], k: usize) {
        for row in values.chunks_exact(k) {
            let sum: f64 = row.iter().map(|&value| value.into()).sum();
            // Rows with missing values are ignored.
            if self.sampled < SAMPLE_ROWS && !sum.is_nan() {
                self.sampled += 1;
                self.percentages += usize::from((sum - 100.0).abs() < 1.0);
            }
        }
    }

    pub(crate) fn scaling(&self) -> Scaling {
        if 2 * self.percentages > self.sampled { Scaling::Percent } else { Scaling::AsGiven }
    }
}
