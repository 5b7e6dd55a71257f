//! What it costs to miss a reference: a convex function of each class's count, in whole units of the grid.
//!
//! The γ programme maximises γ·mean s − (1−γ)·D(m, p). Times N/γ, with w = (1−γ)/γ and the quotas t = N·p, that is the sum
//! of the labels' scores less
//!
//! ```text
//! l1: w Σ |c − t|      l2-squared: (w/N) Σ (c − t)²      kl: w Σ c ln(c/t).
//! ```
//!
//! Only steps matter, from c people to c + 1. Each is rounded to the grid by itself, which keeps the cost convex. (The steps of kl are less by w than those of the formula, all alike: where the people are
//! given, that changes nothing, and prices stay near zero.)

use crate::kernel::Grid;

/// How a reference is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeparablePenalty {
    L1,
    L2Squared,
    Kl,
}

impl SeparablePenalty {
    /// Whether people of a class without a share in the reference cost infinitely much.
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
    /// rows · weight / total.
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

    /// count − quota, without loss where they are near.
    pub(crate) fn miss(&self, count: u64) -> f64 {
        count as f64 - self.whole as f64 - self.fraction()
    }
}

/// No step costs more, in units of the grid: it is beyond what any scores are worth.
const STEEPEST: f64 = (1u64 << 54) as f64;

/// A weighted distance of the counts from their quotas.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WeightedPenalty {
    pub(crate) curve: SeparablePenalty,
    /// w, in scores a person.
    pub(crate) weight: f64,
    /// N.
    pub(crate) people: u64,
    pub(crate) quotas: Vec<Quota>,
}

impl WeightedPenalty {
    /// The cost of going from `count` people in a class to one more.
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

    /// How much further the count is from its quota after that step, in parts of a person that all classes share.
    pub(super) fn departure(&self, class: usize, count: u64) -> i128 {
        let Quota { whole, rest, total } = self.quotas[class];
        let total = total as i128;
        match count.cmp(&whole) {
            std::cmp::Ordering::Less => -total,
            std::cmp::Ordering::Equal => total - 2 * rest as i128,
            std::cmp::Ordering::Greater => total,
        }
    }

    /// What the counts cost, in units of the grid, rounded once. The steps of the solver, each rounded by itself, sum to it
    /// within half a unit a step.
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
