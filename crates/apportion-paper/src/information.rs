//! Argmax's bias (fig:info-bias) and the frontier (fig:info-pareto) by the information in the scores, which depends on
//! the variance of the observed points.

use apportion::simulate::{Normal, PAPER_PRIOR};
use apportion::{Frontier, Match, Reference, Result, Settings};

use crate::dataset::Dataset;
use crate::mean::Mean;
use crate::plan::Plan;

/// The variances of fig:info-bias.
pub const BIAS_VARIANCES: [f64; 3] = [100.0, 1.0, 0.25];

/// The variances of fig:info-pareto, which include those of fig:info-bias.
pub const PARETO_VARIANCES: [f64; 6] = [100.0, 2.0, 1.0, 0.5, 0.25, 1e-10];

/// The values of γ at which the frontier is evaluated: argmax, then the paper's 0.99 to 0.80, then match.
pub const GAMMAS: [f64; 22] = [
    1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.93, 0.92, 0.91, 0.90, 0.89, 0.88, 0.87, 0.86, 0.85, 0.84, 0.83, 0.82,
    0.81, 0.80, 0.0,
];

/// The results at one variance, over all datasets.
#[derive(Clone, Debug)]
pub struct Information {
    /// The variance.
    pub variance: f64,
    /// The mean absolute error of the scores.
    pub mae: Mean,
    /// The same, with every drawn point weighted by its density, as in the paper's published code. Because points are
    /// drawn from that density, it counts twice.
    pub mae_by_density: Mean,
    /// Argmax's bias relative to the posterior, by class.
    pub bias: Vec<Mean>,
    /// Argmax's bias relative to the shares with which the truth was drawn, by class.
    pub bias_against_prior: Vec<Mean>,
    /// The frontier, at each of [`GAMMAS`].
    pub stops: Vec<Stop>,
}

/// The frontier at one γ.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// The weight of accuracy.
    pub gamma: f64,
    /// Expected accuracy.
    pub accuracy: Mean,
    /// Fidelity to the posterior in whole people.
    pub fidelity: Mean,
}

/// The results in one dataset.
struct Seen {
    mae: f64,
    mae_by_density: f64,
    bias: Vec<f64>,
    bias_against_prior: Vec<f64>,
    accuracy: Vec<f64>,
    fidelity: Vec<f64>,
}

impl Information {
    /// Computes the results in all datasets of a plan. The frontier is traced once for all values of γ.
    pub fn of(plan: &Plan, variance: f64) -> Result<Information> {
        let seen: Vec<Seen> = plan.each(|seed| Seen::in_dataset(variance, plan.rows, seed))?;
        let each = |list: fn(&Seen) -> &Vec<f64>| {
            Mean::of_each(&seen.iter().map(|seen| list(seen).clone()).collect::<Vec<_>>())
        };
        let stops = GAMMAS.into_iter().zip(each(|seen| &seen.accuracy)).zip(each(|seen| &seen.fidelity));
        Ok(Information {
            variance,
            mae: Mean::of(seen.iter().map(|seen| seen.mae)),
            mae_by_density: Mean::of(seen.iter().map(|seen| seen.mae_by_density)),
            bias: each(|seen| &seen.bias),
            bias_against_prior: each(|seen| &seen.bias_against_prior),
            stops: stops.map(|((gamma, accuracy), fidelity)| Stop { gamma, accuracy, fidelity }).collect(),
        })
    }
}

impl Seen {
    fn in_dataset(variance: f64, rows: u64, seed: u64) -> Result<Seen> {
        let people = Normal::new(&PAPER_PRIOR, variance, seed)?;
        let dataset = Dataset::draw(&people, rows)?;
        let bias = dataset.argmax_bias(&PAPER_PRIOR)?;
        let settings = Settings { seed, ..Settings::default() };
        let frontier = Frontier::of(&Match::overall(Reference::Posterior), &dataset.scores()?, &settings)?;
        let points = GAMMAS.map(|gamma| frontier.at(gamma));
        Ok(Seen {
            mae: dataset.mae(),
            mae_by_density: dataset.weighted_mae(&log_densities(&people, variance, rows)),
            bias: bias.against_posterior,
            bias_against_prior: bias.against_prior,
            accuracy: points.iter().map(|point| point.accuracy).collect(),
            fidelity: points.iter().map(|point| point.fidelity).collect(),
        })
    }
}

/// Returns the logarithm of the density of each drawn point, ln Σ prior · e^(−|x − e_class|² / (2 · variance)), without
/// the constant that all points share.
fn log_densities(people: &Normal, variance: f64, rows: u64) -> Vec<f64> {
    let mut point = [0.0; PAPER_PRIOR.len()];
    let density = |index| {
        people.point(index, &mut point);
        let square: f64 = point.iter().map(|x| x * x).sum();
        // |x − e_class|² = |x|² − 2·x[class] + 1
        let term = |class: usize| PAPER_PRIOR[class].ln() - (square - 2.0 * point[class] + 1.0) / (2.0 * variance);
        let terms: [f64; PAPER_PRIOR.len()] = std::array::from_fn(term);
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
    };
    (0..rows).map(density).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights, not logarithms, and the normal density as a product over coordinates.
    #[test]
    fn the_error_weighted_by_density_is_that_of_a_direct_computation() {
        let (variance, rows) = (0.5, 400);
        let people = Normal::new(&PAPER_PRIOR, variance, 7).unwrap();
        let dataset = Dataset::draw(&people, rows).unwrap();
        let (mut errors, mut weights) = (0.0, 0.0);
        for index in 0..rows {
            let mut point = [0.0; 6];
            let truth = usize::from(people.point(index, &mut point));
            let likelihood = |class: usize| -> f64 {
                let mean = |at: usize| if at == class { 1.0 } else { 0.0 };
                let normal = |at: usize| (-(point[at] - mean(at)).powi(2) / (2.0 * variance)).exp();
                PAPER_PRIOR[class] * (0..6).map(normal).product::<f64>()
            };
            let density: f64 = (0..6).map(likelihood).sum();
            errors += density * (1.0 - likelihood(truth) / density);
            weights += density;
        }
        let found = dataset.weighted_mae(&log_densities(&people, variance, rows));
        assert!((found - errors / weights).abs() < 1e-12, "{found} and {}", errors / weights);
        assert!((dataset.weighted_mae(&vec![3.0; rows as usize]) - dataset.mae()).abs() < 1e-12, "equal weights");
    }
}
