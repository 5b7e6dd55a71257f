//! What it costs to miss a reference: a convex function of each class's count, in whole units of the grid.
//!
//! The γ programme maximises γ·mean s − (1−γ)·D(m, p). Times N/γ, with w = (1−γ)/γ and the quotas t = N·p, that is the sum
//! of the labels' scores less
//!
//! ```text
//! l1: w Σ |c − t|      l2-squared: (w/N) Σ (c − t)²      kl: w Σ c ln(c/t).
//! ```
//!
//! Only steps matter, from c people to c + 1. Each is rounded to the grid by itself, which keeps the cost convex; a cost
//! is the sum of its steps. (The steps of kl are less by w than those of the formula, all alike: where the people are
//! given, that changes nothing, and prices stay near zero.)

use crate::kernel::Grid;

/// How a reference is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curve {
    L1,
    L2Squared,
    Kl,
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
pub(crate) struct Penalty {
    pub(crate) curve: Curve,
    /// w, in scores a person.
    pub(crate) weight: f64,
    /// N.
    pub(crate) people: u64,
    pub(crate) quotas: Vec<Quota>,
}

impl Penalty {
    /// The cost of going from `count` people in a class to one more.
    pub(super) fn step(&self, class: usize, count: u64) -> i64 {
        let quota = &self.quotas[class];
        let rate = match self.curve {
            Curve::L1 if count < quota.whole => -1.0,
            Curve::L1 if count > quota.whole => 1.0,
            Curve::L1 => 1.0 - 2.0 * quota.fraction(),
            Curve::L2Squared => (2.0 * quota.miss(count) + 1.0) / self.people as f64,
            Curve::Kl => {
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

    /// What the counts cost, in units of the grid: the steps from the quota's whole part, summed, and the cost there.
    pub(crate) fn total(&self, counts: &[u64]) -> i128 {
        let left_out = match self.curve {
            Curve::Kl => self.weight * counts.iter().sum::<u64>() as f64 * Grid::UNIT as f64,
            _ => 0.0,
        };
        counts.iter().enumerate().map(|(class, &count)| self.cost(class, count)).sum::<i128>() + left_out as i128
    }

    fn cost(&self, class: usize, count: u64) -> i128 {
        let quota = &self.quotas[class];
        let base = self.weight * Grid::UNIT as f64;
        let start = match self.curve {
            Curve::L1 => base * quota.fraction(),
            Curve::L2Squared => base * quota.fraction() * quota.fraction() / self.people as f64,
            Curve::Kl if quota.whole == 0 => 0.0,
            Curve::Kl => base * quota.whole as f64 * ((quota.whole as f64 / quota.value()).ln() - 1.0),
        };
        let steps = |from: u64, to: u64| -> i128 {
            match self.curve {
                // All steps but the one that crosses the quota are alike.
                Curve::L1 if from < to => {
                    i128::from(self.step(class, from))
                        + i128::from(to - from - 1) * i128::from(self.step(class, from + 1))
                }
                _ => (from..to).map(|count| i128::from(self.step(class, count))).sum(),
            }
        };
        start.round() as i128 + steps(quota.whole, count.max(quota.whole))
            - if count < quota.whole {
                match self.curve {
                    Curve::L1 => i128::from(quota.whole - count) * i128::from(self.step(class, count)),
                    _ => steps(count, quota.whole),
                }
            } else {
                0
            }
    }
}
