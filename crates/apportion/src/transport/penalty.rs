//! The cost of missing a reference: a convex function of each class's count, in grid units.
//!
//! The γ program maximizes γ·mean s − (1−γ)·D(m, p). Multiplied by N/γ, with w = (1−γ)/γ and the quotas t = N·p, this
//! is the sum of the labels' scores minus
//!
//! ```text
//! l1: w Σ |c − t|      l2-squared: (w/N) Σ (c − t)²      kl: w Σ c ln(c/t).
//! ```
//!
//! Only steps from c people to c + 1 matter. Each step is rounded to the grid, which preserves convexity. (The steps
//! of kl are smaller than in the formula by w, for all classes: this does not change the solution for a given number
//! of people, and keeps prices near zero.)

use crate::kernel::Grid;

/// A penalty that is a sum over the classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeparablePenalty {
    L1,
    L2Squared,
    Kl,
}

impl SeparablePenalty {
    /// Returns whether people of a class without a share in the reference have infinite cost.
    pub(crate) fn excludes_absent(self) -> bool {
        match self {
            SeparablePenalty::Kl => true,
            SeparablePenalty::L1 | SeparablePenalty::L2Squared => false,
        }
    }
}

/// N·p of a class, exactly: `whole` + `rest`/`total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    pub(crate) whole: u64,
    pub(crate) rest: u128,
    pub(crate) total: u128,
}

impl Quota {
    /// Creates the quota rows · weight / total.
    pub(crate) fn new(rows: u64, weight: u128, total: u128) -> Quota {
        if total == 0 {
            return Quota { whole: 0, rest: 0, total: 1 };
        }
        let product = u128::from(rows) * weight;
        Quota { whole: (product / total) as u64, rest: product % total, total }
    }

    pub(crate) fn fraction(&self) -> f64 {
        self.rest as f64 / self.total as f64
    }

    pub(crate) fn value(&self) -> f64 {
        self.whole as f64 + self.fraction()
    }

    /// Returns count − quota, without loss of precision if they are close.
    pub(crate) fn miss(&self, count: u64) -> f64 {
        count as f64 - self.whole as f64 - self.fraction()
    }
}

/// The largest cost of a step, in grid units, which exceeds any sum of scores.
const STEEPEST: f64 = (1u64 << 54) as f64;

/// A weighted distance of the counts from their quotas.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WeightedPenalty {
    pub(crate) curve: SeparablePenalty,
    /// w, in units of score per person.
    pub(crate) weight: f64,
    /// N.
    pub(crate) people: u64,
    pub(crate) quotas: Vec<Quota>,
}

impl WeightedPenalty {
    /// Returns the cost of one more person in a class with `count` people.
    pub(super) fn step(&self, class: usize, count: u64) -> i64 {
        let quota = &self.quotas[class];
        let rate = match self.curve {
            SeparablePenalty::L1 if count < quota.whole => -1.0,
            SeparablePenalty::L1 if count > quota.whole => 1.0,
            SeparablePenalty::L1 => 1.0 - 2.0 * quota.fraction(),
            SeparablePenalty::L2Squared => (2.0 * quota.miss(count) + 1.0) / self.people as f64,
            SeparablePenalty::Kl => {
                let count = count as f64;
                let growth = if count > 0.0 { count * (1.0 / count).ln_1p() } else { 0.0 };
                ((count + 1.0) / quota.value()).ln() + growth - 1.0
            }
        };
        (self.weight * rate * Grid::UNIT as f64).round().clamp(-STEEPEST, STEEPEST) as i64
    }

    /// Returns the change of the distance from the quota by that step, in a common unit of all classes.
    pub(super) fn departure(&self, class: usize, count: u64) -> i128 {
        let Quota { whole, rest, total } = self.quotas[class];
        let total = total as i128;
        match count.cmp(&whole) {
            std::cmp::Ordering::Less => -total,
            std::cmp::Ordering::Equal => total - 2 * rest as i128,
            std::cmp::Ordering::Greater => total,
        }
    }

    /// Returns the cost of the counts in grid units, rounded once. The solver's steps, which are rounded one by
    /// one, sum to it within half a unit per step.
    pub(crate) fn total(&self, counts: &[u64]) -> i128 {
        let cost = |(&count, quota): (&u64, &Quota)| match self.curve {
            SeparablePenalty::L1 => quota.miss(count).abs(),
            SeparablePenalty::L2Squared => quota.miss(count) * quota.miss(count) / self.people as f64,
            SeparablePenalty::Kl if count == 0 => 0.0,
            SeparablePenalty::Kl => count as f64 * (count as f64 / quota.value()).ln(),
        };
        let sum: f64 = counts.iter().zip(&self.quotas).map(cost).sum();
        (self.weight * sum * Grid::UNIT as f64).round() as i128
    }
}
