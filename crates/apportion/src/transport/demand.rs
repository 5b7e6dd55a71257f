//! How many rows each class is to get: between two counts, and at what cost.

use super::penalty::{Quota, WeightedPenalty};

/// What a person too many or too few costs where that is not allowed: more than any path of scores and any penalty.
pub(super) const VIOLATION: i64 = 1 << 57;

/// The least and the most rows of each class, how many of them it has already, and what missing the reference costs. Least
/// and most differ without a penalty where a rounding is left to the solver: exactly tied remainders, of which it takes
/// the ones that cost least.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Demand {
    pub(crate) least: Vec<u64>,
    pub(crate) most: Vec<u64>,
    pub(crate) penalty: Option<WeightedPenalty>,
    /// Rows that are settled elsewhere: certain ones, outside the band.
    pub(super) settled: Vec<u64>,
}

impl Demand {
    /// Between two counts for each class.
    pub(crate) fn between(least: Vec<u64>, most: Vec<u64>) -> Demand {
        Demand { settled: vec![0; least.len()], least, most, penalty: None }
    }

    /// Exactly these counts.
    pub(crate) fn exactly(counts: Vec<u64>) -> Demand {
        Demand::between(counts.clone(), counts)
    }

    /// The same, where missing a reference costs something.
    pub(crate) fn with_penalty(self, penalty: Option<WeightedPenalty>) -> Demand {
        Demand { penalty, ..self }
    }

    /// The same with one more class, of exactly this count.
    pub(crate) fn with_last(mut self, count: u64) -> Demand {
        self.least.push(count);
        self.most.push(count);
        self.settled.push(0);
        if let Some(penalty) = &mut self.penalty {
            penalty.quotas.push(Quota::new(count, 1, 1));
        }
        self
    }

    /// The classes that may be given at all. One that is full stays open: no further row must prefer it.
    pub(crate) fn open(&self) -> Vec<bool> {
        self.most.iter().map(|&most| most > 0).collect()
    }

    /// The cost of going from `count` people in a class, those settled elsewhere included, to one more.
    pub(super) fn step(&self, class: usize, count: u64) -> i64 {
        if count < self.least[class] {
            -VIOLATION
        } else if count >= self.most[class] {
            VIOLATION
        } else {
            self.penalty.as_ref().map_or(0, |penalty| penalty.step(class, count))
        }
    }

    /// How much less faithful that step is; see [`WeightedPenalty::departure`].
    pub(super) fn departure(&self, class: usize, count: u64) -> i128 {
        self.penalty.as_ref().map_or(0, |penalty| penalty.departure(class, count))
    }

    /// Whether prices are relative to a cost of their own, and not just to each other.
    pub(super) fn is_priced(&self) -> bool {
        self.penalty.is_some()
    }

    /// The same with more rows settled; the first class that then has too many, where one has.
    pub(super) fn with_settled(&self, more: &[u64]) -> Result<Demand, usize> {
        let settled: Vec<u64> = self.settled.iter().zip(more).map(|(settled, more)| settled + more).collect();
        match (0..settled.len()).find(|&class| settled[class] > self.most[class]) {
            Some(class) => Err(class),
            None => Ok(Demand { settled, ..self.clone() }),
        }
    }

    /// The least and the most that are still to be given, in all.
    pub(super) fn left(&self) -> (u64, u64) {
        let left = |side: &[u64]| {
            let left = side.iter().zip(&self.settled).map(|(side, done)| side.saturating_sub(*done));
            left.fold(0u64, u64::saturating_add)
        };
        (left(&self.least), left(&self.most))
    }
}
