//! From a reference to the solver's input: the counts of one table or group, and the cost of missing them.

use super::bounds::Bounds;
use crate::error::{Error, Result};
use crate::reference::{Weights, of_group, posterior_weights, round, round_to_first};
use crate::scores::Classes;
use crate::transport::penalty::{Quota, SeparablePenalty, WeightedPenalty};
use crate::transport::{Demand, Goal, NEAR, Outline};

/// The use of the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Objective {
    /// Counts equal its whole numbers.
    Match,
    /// Missing it costs w times a distance, in units of score per person; nothing if w is 0.
    Balance { curve: SeparablePenalty, weight: f64 },
}

/// The problem of one table or group.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    weights: Weights,
    objective: Objective,
    /// People to label, and people to leave unlabeled.
    labeled: u64,
    uncoded: Option<u64>,
    /// Minimum and maximum of each class, if there are bounds.
    bounds: Option<(Vec<u64>, Vec<u64>)>,
}

impl Plan {
    pub(super) fn new(weights: Weights, objective: Objective, labeled: u64, uncoded: Option<u64>) -> Plan {
        Plan { weights, objective, labeled, uncoded, bounds: None }
    }

    /// Creates a plan for given counts.
    pub(super) fn exactly(counts: &[u64]) -> Plan {
        let weights = Weights::Known(counts.iter().map(|&count| u128::from(count)).collect());
        Plan::new(weights, Objective::Match, counts.iter().sum(), None)
    }

    /// Returns the same plan for match.
    pub(super) fn matching(&self) -> Plan {
        Plan { objective: Objective::Match, ..self.clone() }
    }

    /// Adds bounds. The sums of the scores must be known.
    pub(super) fn bounded(mut self, bounds: &Bounds, classes: &Classes, group: Option<&str>) -> Result<Plan> {
        if let (false, Weights::Known(weights)) = (bounds.is_empty(), &self.weights) {
            let quotas = quotas(weights, self.labeled);
            let (least, most) = bounds.resolve(classes, self.labeled, &quotas, group)?;
            let absent = |class: usize| quotas[class].value() == 0.0;
            let reachable: u64 = (0..quotas.len()).filter(|&class| !absent(class)).map(|class| most[class]).sum();
            let forced = (0..quotas.len()).any(|class| absent(class) && least[class] > 0);
            if self.is_infinite_where_absent() && (forced || reachable < self.labeled) {
                let problem =
                    "need a class whose share in the reference is 0, which kl does not allow; use another penalty";
                return Err(Error::Bounds { of: of_group(group), problem: problem.into() });
            }
            self.bounds = Some((least, most));
        }
        Ok(self)
    }

    fn is_infinite_where_absent(&self) -> bool {
        match self.objective {
            Objective::Match => false,
            Objective::Balance { curve, weight } => weight > 0.0 && curve.excludes_absent(),
        }
    }

    /// Returns whether there is a class of unlabeled rows.
    pub(super) fn has_uncoded(&self) -> bool {
        self.uncoded.is_some()
    }

    /// Returns the whole numbers of the reference: the counts for match, otherwise with contested units assigned
    /// to the first classes.
    pub(super) fn targets(&self, weights: &[u128], counts: &[u64]) -> Vec<u64> {
        if self.objective == Objective::Match && self.are_within(&round(weights, self.labeled)) {
            return counts.to_vec();
        }
        round_to_first(weights, self.labeled)
    }

    /// Returns the whole numbers of the reference before solving, with contested units assigned to the first
    /// classes.
    pub(super) fn rounded(&self, sums: impl FnOnce() -> Result<Vec<i128>>) -> Result<Vec<u64>> {
        Ok(match &self.weights {
            Weights::Known(weights) => round_to_first(weights, self.labeled),
            Weights::Posterior => round_to_first(&posterior_weights(&sums()?), self.labeled),
        })
    }

    /// Returns whether all roundings are within the bounds.
    fn are_within(&self, rounded: &Demand) -> bool {
        let Some((least, most)) = &self.bounds else { return true };
        (0..least.len()).all(|class| least[class] <= rounded.least[class] && rounded.most[class] <= most[class])
    }

    /// Returns the weights, given the sums of the scores.
    pub(super) fn weights(&self, sums: &[i128]) -> Vec<u128> {
        match &self.weights {
            Weights::Known(weights) => weights.clone(),
            Weights::Posterior => {
                let classes = sums.len() - usize::from(self.has_uncoded());
                posterior_weights(&sums[..classes])
            }
        }
    }

    /// Calls `solve` with the goal for the solver.
    pub(super) fn with_goal<T>(&self, solve: impl FnOnce(&Goal<'_>) -> T) -> T {
        match &self.weights {
            Weights::Known(weights) => solve(&Goal::Known(self.demand(weights))),
            Weights::Posterior => {
                let people = self.labeled + self.uncoded.unwrap_or(0);
                let last = self.uncoded.unwrap_or(0) as f64 / people.max(1) as f64;
                let penalty = match self.objective {
                    Objective::Balance { curve, weight } => Some((curve, weight)),
                    Objective::Match => None,
                };
                let demand = |sums: &[i128]| self.demand(&self.weights(sums));
                solve(&Goal::OfSums(&demand, Outline { last, penalty }))
            }
        }
    }

    /// Returns the penalty, if missing the reference costs something.
    pub(super) fn penalty(&self, weights: &[u128]) -> Option<WeightedPenalty> {
        let Objective::Balance { curve, weight } = self.objective else { return None };
        // With weight zero, l1 still breaks ties by fidelity, and no distance is infinite.
        let curve = if weight > 0.0 { curve } else { SeparablePenalty::L1 };
        Some(WeightedPenalty { curve, weight, people: self.labeled, quotas: quotas(weights, self.labeled) })
    }

    fn demand(&self, weights: &[u128]) -> Demand {
        let demand = match self.objective {
            Objective::Match => self.near_targets(weights),
            Objective::Balance { .. } => self.priced(weights),
        };
        match self.uncoded {
            Some(uncoded) => demand.with_last(uncoded),
            None => demand,
        }
    }

    /// Returns the targets, or the closest counts within the bounds.
    fn near_targets(&self, weights: &[u128]) -> Demand {
        let rounded = round(weights, self.labeled);
        let Some((least, most)) = self.bounds.as_ref().filter(|_| !self.are_within(&rounded)) else { return rounded };
        // Contested units are halfway: both roundings are equally close.
        let half = |(least, most): (&u64, &u64)| Quota { whole: *least, rest: u128::from(most - least), total: 2 };
        let quotas = rounded.least.iter().zip(&rounded.most).map(half).collect();
        let penalty = WeightedPenalty { curve: SeparablePenalty::L1, weight: NEAR, people: self.labeled, quotas };
        Demand::between(least.clone(), most.clone()).with_penalty(Some(penalty))
    }

    /// Returns any counts within the bounds, at the cost of missing the reference.
    fn priced(&self, weights: &[u128]) -> Demand {
        let k = weights.len();
        let (least, mut most) = self.bounds.clone().unwrap_or_else(|| (vec![0; k], vec![self.labeled; k]));
        let penalty = self.penalty(weights);
        if let Some(WeightedPenalty { curve, quotas, .. }) = &penalty
            && curve.excludes_absent()
        {
            // Classes without a share in the reference are infinitely far from it.
            let out_of_reach = |class: &usize| quotas[*class].value() == 0.0;
            (0..k).filter(out_of_reach).for_each(|class| most[class] = 0);
        }
        Demand::between(least, most).with_penalty(penalty)
    }
}

/// Returns N·p of each class.
pub(super) fn quotas(weights: &[u128], people: u64) -> Vec<Quota> {
    let total = weights.iter().sum();
    weights.iter().map(|&weight| Quota::new(people, weight, total)).collect()
}
