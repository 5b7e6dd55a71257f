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
            bias: each(|seen| &seen.bias),
            bias_against_prior: each(|seen| &seen.bias_against_prior),
            stops: stops.map(|((gamma, accuracy), fidelity)| Stop { gamma, accuracy, fidelity }).collect(),
        })
    }
}

impl Seen {
    fn in_dataset(variance: f64, rows: u64, seed: u64) -> Result<Seen> {
        let dataset = Dataset::draw(&Normal::new(&PAPER_PRIOR, variance, seed)?, rows)?;
        let bias = dataset.argmax_bias(&PAPER_PRIOR)?;
        let settings = Settings { seed, ..Settings::default() };
        let frontier = Frontier::of(&Match::overall(Reference::Posterior), &dataset.scores()?, &settings)?;
        let points = GAMMAS.map(|gamma| frontier.at(gamma));
        Ok(Seen {
            mae: dataset.mae(),
            bias: bias.against_posterior,
            bias_against_prior: bias.against_prior,
            accuracy: points.iter().map(|point| point.accuracy).collect(),
            fidelity: points.iter().map(|point| point.fidelity).collect(),
        })
    }
}
