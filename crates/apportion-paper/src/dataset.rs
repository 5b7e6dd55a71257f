//! One dataset of a generator, and the bias of argmax on it.

use apportion::simulate::Generator;
use apportion::{Classes, Label, Matrix, Result, Rule, Scores, Settings};

/// Scores and truth of some rows.
#[derive(Clone, Debug)]
pub struct Dataset {
    classes: Classes,
    truth: Vec<Label>,
    values: Vec<f64>,
}

/// The bias of argmax's counts, by class: share minus reference.
#[derive(Clone, Debug)]
pub struct ArgmaxBias {
    /// Relative to the mean of the scores.
    pub against_posterior: Vec<f64>,
    /// Relative to the shares with which the truth was drawn.
    pub against_prior: Vec<f64>,
}

impl Dataset {
    /// Draws the first rows of a generator.
    pub fn draw(generator: &impl Generator, rows: u64) -> Result<Dataset> {
        let k = generator.classes();
        let mut values = vec![0.0; rows as usize * k];
        let truth = values.chunks_exact_mut(k).zip(0..).map(|(row, index)| generator.row(index, row)).collect();
        Ok(Dataset { classes: Classes::new((1..=k).map(|class| class.to_string()))?, truth, values })
    }

    /// Returns the scores, with the truth.
    pub fn scores(&self) -> Result<Scores<'_>> {
        Scores::new(&self.classes, Matrix::RowsF64(&self.values))?.with_truth(&self.truth)
    }

    /// Returns the scores row by row, and the truth.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> (&[f64], &[Label]) {
        (&self.values, &self.truth)
    }

    /// Returns the mean absolute error: the mean of 1 − q[row, truth].
    pub fn mae(&self) -> f64 {
        let rows = self.values.chunks_exact(self.classes.len()).zip(&self.truth);
        1.0 - rows.map(|(row, &truth)| row[usize::from(truth)]).sum::<f64>() / self.truth.len() as f64
    }

    /// Returns the mean absolute error with a weight for each row, given as a logarithm.
    pub fn weighted_mae(&self, log_weights: &[f64]) -> f64 {
        // The largest weight becomes 1, so that the sum is positive.
        let largest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let rows = self.values.chunks_exact(self.classes.len()).zip(&self.truth).zip(log_weights);
        let (mut errors, mut weights) = (0.0, 0.0);
        for ((row, &truth), log_weight) in rows {
            let weight = (log_weight - largest).exp();
            errors += weight * (1.0 - row[usize::from(truth)]);
            weights += weight;
        }
        errors / weights
    }

    /// Returns the bias of argmax.
    pub fn argmax_bias(&self, prior: &[f64]) -> Result<ArgmaxBias> {
        let labels = Rule::Argmax.label(&self.scores()?, &Settings::default())?.labels;
        let rows = self.truth.len() as f64;
        let (mut posterior, k) = (vec![0.0; prior.len()], prior.len());
        for row in self.values.chunks_exact(k) {
            posterior.iter_mut().zip(row).for_each(|(sum, score)| *sum += score);
        }
        let shares: Vec<f64> = labels.counts().iter().map(|&count| count as f64 / rows).collect();
        Ok(ArgmaxBias {
            against_posterior: shares.iter().zip(&posterior).map(|(share, sum)| share - sum / rows).collect(),
            against_prior: shares.iter().zip(prior).map(|(share, prior)| share - prior).collect(),
        })
    }
}
