//! A mean over datasets, with its standard error.

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the values divided by the square root of their number; 0 for a single value.
    pub standard_error: f64,
}

impl Mean {
    /// Returns the mean of at least one value.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Mean {
        let values: Vec<f64> = values.into_iter().collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let standard_error = if values.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
        Mean { mean, standard_error }
    }

    /// Returns the mean at each index of several lists of equal length.
    pub(crate) fn of_each(lists: &[Vec<f64>]) -> Vec<Mean> {
        let indices = lists.first().map_or(0, Vec::len);
        (0..indices).map(|index| Mean::of(lists.iter().map(|list| list[index]))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_its_standard_error() {
        let mean = Mean::of([1.0, 2.0, 3.0, 6.0]);
        // Squared deviations 4 + 1 + 0 + 9, divided by 3 and by 4.
        assert_eq!((mean.mean, mean.standard_error), (3.0, (14.0f64 / 12.0).sqrt()));
        assert_eq!(Mean::of([7.0]), Mean { mean: 7.0, standard_error: 0.0 });
        let each = Mean::of_each(&[vec![1.0, 5.0], vec![3.0, 5.0]]);
        assert_eq!(each, [Mean { mean: 2.0, standard_error: 1.0 }, Mean { mean: 5.0, standard_error: 0.0 }]);
    }
}
