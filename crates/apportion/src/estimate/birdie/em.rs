//! EM with the steps of SQUAREM (Varadhan and Roland 2008), which extrapolate two steps of EM.

use std::cell::Cell;

use super::BirdieOptions;
use super::model::Model;
use super::rows::Sums;
use crate::error::Result;

/// The result of EM.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) parameters: Vec<f64>,
    pub(super) passes: u32,
    pub(super) converged: bool,
}

/// Runs EM from initial parameters, with accelerated steps if EM moves less after them. `pass` reads all rows with a given
/// distribution of outcomes.
pub(super) fn climb<M: Model>(
    model: &M,
    mut parameters: Vec<f64>,
    options: &BirdieOptions,
    pass: impl Fn(&M::Own) -> Result<Sums>,
) -> Result<Found> {
    let passes = Cell::new(0);
    let step = |parameters: &[f64]| -> Result<Vec<f64>> {
        passes.set(passes.get() + 1);
        Ok(model.next(parameters, &pass(&model.likelihood(parameters))?))
    };
    let converged = loop {
        let once = step(&parameters)?;
        let at_rest = furthest(&model.values(&once), &model.values(&parameters)) <= options.tolerance;
        if at_rest || passes.get() >= options.most_passes {
            parameters = once;
            break at_rest;
        }
        let twice = step(&once)?;
        let long = long_step(model, &parameters, &once, &twice).filter(|_| passes.get() < options.most_passes);
        let Some(long) = long else {
            parameters = twice;
            continue;
        };
        let on = step(&long)?;
        let (plain, moved) = (distance(&once, &twice), distance(&long, &on));
        parameters = if moved <= plain { on } else { twice };
    };
    Ok(Found { parameters, passes: passes.get(), converged })
}

/// Returns SQUAREM's step, extrapolated from two EM steps; `None` if these do not change anything.
fn long_step(model: &impl Model, from: &[f64], once: &[f64], twice: &[f64]) -> Option<Vec<f64>> {
    let first: Vec<f64> = from.iter().zip(once).map(|(a, b)| b - a).collect();
    let turn: Vec<f64> = once.iter().zip(twice).zip(&first).map(|((b, c), first)| c - b - first).collect();
    let length = |moves: &[f64]| moves.iter().map(|own| own * own).sum::<f64>().sqrt();
    let (speed, bend) = (length(&first), length(&turn));
    let size = (bend > 0.0).then(|| (speed / bend).max(1.0))?;
    let on = |((from, first), turn): ((&f64, &f64), &f64)| from + 2.0 * size * first + size * size * turn;
    let mut long: Vec<f64> = from.iter().zip(&first).zip(&turn).map(on).collect();
    model.bring_back(&mut long);
    Some(long)
}

/// Returns the Euclidean distance of two lists.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Returns the largest difference of two lists.
fn furthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
