//! Every optimum of the l1 programme at once: from argmax to the targets, path by path.
//!
//! Start at argmax, which is optimal where missing the targets costs nothing. The cheapest way to bring the counts one
//! person nearer to the targets is the shortest path from a class with too many to a class with too few, in the graph of
//! `paths`. Path costs never fall, and each person moved cuts Σ |c − n| by exactly two: so the labels after all paths of
//! cost up to 2w are optimal where a person missed costs w. Only rows that some price within ±w could move take part.

use super::band::sweep_into_band;
use super::demand::Demand;
use super::enclose::Goal;
use super::paths::Atoms;
use super::{Setting, solve};
use crate::error::{Error, Result};
use crate::kernel::{Bounds, GRID, Real, Source, Watch};

/// People who go from one class to another, and what each of them costs, in units of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) cost: i64,
    pub(crate) from: u8,
    pub(crate) to: u8,
    pub(crate) people: u64,
}

/// The way from argmax to the targets.
pub(crate) struct Way {
    /// The counts of argmax, and the sum of its scores.
    pub(crate) counts: Vec<u64>,
    pub(crate) value: i128,
    /// In the order of their costs.
    pub(crate) steps: Vec<Step>,
    pub(crate) targets: Vec<u64>,
}

/// Finds the way to the counts of a goal.
pub(crate) fn walk<T: Real>(rows: &dyn Source<T>, goal: &Goal<'_>, setting: &Setting<'_>) -> Result<Way> {
    let mut labels = vec![0; rows.rows()];
    let matched = solve(rows, goal, setting, &mut labels)?;
    let targets = matched.counts;
    // The dearest path costs no more than the prices of the targets differ.
    let known: Option<Vec<i64>> = matched.prices[0].iter().copied().collect();
    let reach = known.map(|prices| {
        let (low, high) = prices.iter().fold((0, 0), |(low, high), &price| (price.min(low), price.max(high)));
        (GRID.value(high - low) / 2.0) as f32 + REACH_SLACK
    });
    // Nothing bounds a class that must be emptied.
    let k = rows.classes();
    let (low, high) = reach.map_or((f32::NEG_INFINITY, 0.0), |reach| (-reach, reach));
    let bounds = Bounds::new(&vec![low; k], &vec![high; k], rows.magnitude());
    let (swept, band) = sweep_into_band(setting.simd, rows, &bounds, Watch::Nothing, None, &mut labels)?;

    let atoms = Atoms::of(&band.rows()).merged();
    let demand = Demand::between(vec![0; k], vec![u64::MAX; k]);
    let demand = demand.with_settled(&swept.counts).map_err(|_| Error::Unproved)?;
    let mut walk = atoms.begin(&demand, &vec![Some(0); k]);
    let (counts, value) = (walk.counts().to_vec(), swept.chosen + walk.value());
    let mut steps = Vec::new();
    while let Some(step) = walk.approach(&targets) {
        steps.push(step);
    }
    let lost: i128 = steps.iter().map(|step| i128::from(step.cost) * i128::from(step.people)).sum();
    let is_sorted = steps.windows(2).all(|pair| pair[0].cost <= pair[1].cost);
    if walk.counts() != targets || value - lost != matched.certificate.primal || !is_sorted {
        return Err(Error::Unproved);
    }
    Ok(Way { counts, value, steps, targets })
}

/// Added to the reach: more than the error of single precision.
const REACH_SLACK: f32 = 4e-6;
