//! Theorem 1's construction, in which argmax's bias is the mean absolute error: fig:worstcasebias.

use apportion::Result;
use apportion::simulate;

use crate::dataset::Dataset;
use crate::mean::Mean;
use crate::plan::Plan;

/// The shares c of people of whom nothing is known.
pub const UNKNOWN: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// As many classes as in the other simulations.
const CLASSES: usize = 6;

/// What was found at one c, over all datasets.
#[derive(Clone, Debug)]
pub struct WorstCase {
    /// The share of people of whom nothing is known.
    pub unknown: f64,
    /// Mean absolute error of the scores, as it was drawn.
    pub mae: Mean,
    /// The same by the formula: c · (K − 1)/K.
    pub expected_mae: f64,
    /// Argmax's bias against the shares with which the truth was drawn, class by class.
    pub bias: Vec<Mean>,
    /// The same against the posterior.
    pub bias_against_posterior: Vec<Mean>,
    /// Bias of the first class less mean absolute error, dataset by dataset: both are of the same people.
    pub excess: Mean,
}

impl WorstCase {
    /// Looks at all datasets of a plan.
    pub fn of(plan: &Plan, unknown: f64) -> Result<WorstCase> {
        let people = |seed| simulate::WorstCase::new(CLASSES, unknown, 0.0, seed);
        let prior = people(0)?.prior();
        let seen = plan.each(|seed| {
            let dataset = Dataset::draw(&people(seed)?, plan.rows)?;
            Ok((dataset.mae(), dataset.argmax_bias(&prior)?))
        })?;
        let biases: Vec<Vec<f64>> = seen.iter().map(|(_, bias)| bias.against_prior.clone()).collect();
        let against_posterior: Vec<Vec<f64>> = seen.iter().map(|(_, bias)| bias.against_posterior.clone()).collect();
        Ok(WorstCase {
            unknown,
            mae: Mean::of(seen.iter().map(|(mae, _)| *mae)),
            expected_mae: people(0)?.mae(),
            bias: Mean::of_each(&biases),
            bias_against_posterior: Mean::of_each(&against_posterior),
            excess: Mean::of(seen.iter().map(|(mae, bias)| bias.against_prior[0] - mae)),
        })
    }

    /// Whether bias and mean absolute error are equal within three standard errors of their difference.
    pub fn is_equal(&self) -> bool {
        // Where nothing is left to chance there is no standard error, but the last digits are still rounded.
        self.excess.mean.abs() <= 3.0 * self.excess.standard_error + 1e-12
    }
}
