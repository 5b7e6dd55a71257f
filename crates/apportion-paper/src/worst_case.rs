//! Theorem 1's construction, in which argmax's bias equals the mean absolute error: fig:worstcasebias.

use apportion::Result;
use apportion::simulate;

use crate::dataset::Dataset;
use crate::mean::Mean;
use crate::plan::Plan;

/// The shares c of people of unknown class.
pub const UNKNOWN: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];

/// The number of classes, as in the other simulations.
const CLASSES: usize = 6;

/// The results at one c, over all datasets.
#[derive(Clone, Debug)]
pub struct WorstCase {
    /// The share of people of unknown class.
    pub unknown: f64,
    /// The mean absolute error of the scores in the drawn data.
    pub mae: Mean,
    /// The mean absolute error by the formula c · (K − 1)/K.
    pub expected_mae: f64,
    /// Argmax's bias relative to the shares with which the truth was drawn, by class.
    pub bias: Vec<Mean>,
    /// Argmax's bias relative to the posterior, by class.
    pub bias_against_posterior: Vec<Mean>,
    /// The bias of the first class minus the mean absolute error, per dataset, because both depend on the same people.
    pub excess: Mean,
}

impl WorstCase {
    /// Computes the results in all datasets of a plan.
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

    /// Returns whether bias and mean absolute error are equal within three standard errors of their difference.
    pub fn is_equal(&self) -> bool {
        // Without randomness the standard error is 0, but the last digits still have rounding errors.
        self.excess.mean.abs() <= 3.0 * self.excess.standard_error + 1e-12
    }
}
