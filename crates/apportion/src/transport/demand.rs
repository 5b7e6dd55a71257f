//! The demand: limits on the count of each class, and the cost of counts.

use super::penalty::{Quota, WeightedPenalty};

/// The cost per person of violating a limit, which exceeds any path of scores and any penalty.
pub(super) const VIOLATION: i64 = 1 << 57;

/// Minimum and maximum rows of each class, the rows already settled, and the penalty. Without a penalty, minimum and
/// maximum differ only if a rounding is left to the solver: it chooses the cheapest of exactly tied remainders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Demand {
    pub(crate) least: Vec<u64>,
    pub(crate) most: Vec<u64>,
    pub(crate) penalty: Option<WeightedPenalty>,
    /// Rows that are settled elsewhere: certain rows outside the band.
    pub(super) settled: Vec<u64>,
}

impl Demand {
    /// Creates a demand between two counts for each class.
    pub(crate) fn between(least: Vec<u64>, most: Vec<u64>) -> Demand {
        Demand { settled: vec![0; least.len()], least, most, penalty: None }
    }

    /// Creates a demand for exact counts.
    pub(crate) fn exactly(counts: Vec<u64>) -> Demand {
        Demand::between(counts.clone(), counts)
    }

    /// Sets the penalty.
    pub(crate) fn with_penalty(self, penalty: Option<WeightedPenalty>) -> Demand {
        Demand { penalty, ..self }
    }

    /// Adds a class with exactly this count.
    pub(crate) fn with_last(mut self, count: u64) -> Demand {
        self.least.push(count);
        self.most.push(count);
        self.settled.push(0);
        if let Some(penalty) = &mut self.penalty {
            penalty.quotas.push(Quota::new(count, 1, 1));
        }
        self
    }

    /// Returns the classes that may be assigned. A full class stays open: no further row may prefer it.
    pub(crate) fn open(&self) -> Vec<bool> {
        self.most.iter().map(|&most| most > 0).collect()
    }

    /// Returns the cost of one more person in a class with `count` people, including those settled elsewhere.
    pub(super) fn step(&self, class: usize, count: u64) -> i64 {
        if count < self.least[class] {
            -VIOLATION
        } else if count >= self.most[class] {
            VIOLATION
        } else {
            self.penalty.as_ref().map_or(0, |penalty| penalty.step(class, count))
        }
    }

    /// Returns the change in distance by that step; see [`WeightedPenalty::departure`].
    pub(super) fn departure(&self, class: usize, count: u64) -> i128 {
        self.penalty.as_ref().map_or(0, |penalty| penalty.departure(class, count))
    }

    /// Returns whether prices are relative to costs rather than only to each other.
    pub(super) fn is_priced(&self) -> bool {
        self.penalty.is_some()
    }

    /// Returns the demand with more rows settled, or the first class that exceeds its maximum.
    pub(super) fn with_settled(&self, more: &[u64]) -> Result<Demand, usize> {
        let settled: Vec<u64> = self.settled.iter().zip(more).map(|(settled, more)| settled + more).collect();
        match (0..settled.len()).find(|&class| settled[class] > self.most[class]) {
            Some(class) => Err(class),
            None => Ok(Demand { settled, ..self.clone() }),
        }
    }

    /// Returns the minimum and maximum number of rows still to assign.
    pub(super) fn left(&self) -> (u64, u64) {
        let left = |side: &[u64]| {
            let left = side.iter().zip(&self.settled).map(|(side, done)| side.saturating_sub(*done));
            left.fold(0u64, u64::saturating_add)
        };
        (left(&self.least), left(&self.most))
    }
}
