//! Prices, and the set of all optimal ones.
//!
//! Labels that are optimal for their counts are so at exactly those prices λ at which every labelled row prefers its own
//! class: λ_b − λ_a ≤ min over rows labelled a of s_a − s_b. Such differences describe a polytope with whole-number
//! corners. Prices inside a box, up to a common shift, are of the same form, so that "do the optimal prices meet the
//! box?" is a question about shortest paths among K nodes.

use super::demand::Demand;
use crate::kernel::Grid;

/// A price for each class, in units of the grid; `None` for a class that is never given.
pub(crate) type Prices = Vec<Option<i64>>;

/// A limit that does not bind. Sums of K such limits do not overflow.
pub(super) const FREE: i64 = 1 << 55;

/// All λ with λ_b − λ_a ≤ limit(a, b).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PriceSet {
    classes: usize,
    limits: Vec<i64>,
}

impl PriceSet {
    /// All prices.
    pub(super) fn all(classes: usize) -> PriceSet {
        PriceSet { classes, limits: vec![FREE; classes * classes] }
    }

    /// All prices within [low, high] up to a common shift. Infinite bounds do not bind.
    pub(super) fn within(low: &[Option<i64>], high: &[Option<i64>]) -> PriceSet {
        let mut set = PriceSet::all(low.len());
        for (a, low) in low.iter().enumerate() {
            for (b, high) in high.iter().enumerate() {
                if let (true, Some(low), Some(high)) = (a != b, low, high) {
                    set.limit(a, b, high - low);
                }
            }
        }
        set
    }

    fn limit_of(&self, a: usize, b: usize) -> i64 {
        self.limits[a * self.classes + b]
    }

    /// Adds λ_b − λ_a ≤ limit.
    #[inline]
    pub(super) fn limit(&mut self, a: usize, b: usize, limit: i64) {
        let entry = &mut self.limits[a * self.classes + b];
        *entry = limit.min(*entry);
    }

    /// Adds what a row labelled `label` demands.
    #[inline]
    pub(super) fn prefer(&mut self, label: usize, row: &[i64]) {
        let own = row[label];
        let limits = &mut self.limits[label * self.classes..][..self.classes];
        for (limit, score) in limits.iter_mut().zip(row) {
            *limit = (own - score).min(*limit);
        }
    }

    /// Adds that a class which was rounded up is priced no higher than one that could have been.
    pub(super) fn share_roundings(&mut self, counts: &[u64], demand: &Demand) {
        for lacking in (0..counts.len()).filter(|&class| counts[class] < demand.most[class]) {
            for rounded in (0..counts.len()).filter(|&class| counts[class] > demand.least[class]) {
                if lacking != rounded {
                    self.limit(lacking, rounded, 0);
                }
            }
        }
    }

    pub(super) fn meet(&mut self, other: &PriceSet) {
        self.limits.iter_mut().zip(&other.limits).for_each(|(limit, other)| *limit = (*limit).min(*other));
    }

    /// Makes every limit as tight as the others imply (Floyd and Warshall). False where no prices are left.
    pub(super) fn close(&mut self) -> bool {
        let k = self.classes;
        for a in 0..k {
            self.limits[a * k + a] = 0;
        }
        for via in 0..k {
            for a in 0..k {
                let first = self.limits[a * k + via];
                if first >= FREE / 2 {
                    continue;
                }
                for b in 0..k {
                    self.limits[a * k + b] = self.limits[a * k + b].min(first + self.limits[via * k + b]);
                }
            }
        }
        (0..k).all(|a| self.limits[a * k + a] >= 0)
    }

    /// Whether every limit of a closed set lies within another's.
    pub(super) fn inside(&self, other: &PriceSet) -> bool {
        self.limits.iter().zip(&other.limits).all(|(limit, other)| limit <= other)
    }

    /// The centre of a closed set, the same for all who ask: the mean of its 2K extreme points (for each class, the
    /// highest and the lowest prices of the others relative to it), rounded down, which leaves it inside. The first
    /// open class has price 0.
    pub(super) fn centre(&self, open: &[bool]) -> Prices {
        let k = self.classes;
        // No class is open where there are no rows, and nothing is to be learned: argmax.
        let Some(first) = open.iter().position(|&open| open) else { return vec![Some(0); k] };
        // A class that nothing limits is held at a distance that no path of scores reaches.
        let limit = |a: usize, b: usize| match self.limit_of(a, b) {
            free if free >= FREE / 2 => i128::from(Grid::UNIT) * (k as i128 + 1),
            limit => i128::from(limit),
        };
        let roots: Vec<usize> = (0..k).filter(|&root| open[root]).collect();
        let price = |class: usize| {
            let sum: i128 =
                roots.iter().map(|&r| limit(r, class) - limit(r, first) + limit(first, r) - limit(class, r)).sum();
            sum.div_euclid(2 * roots.len() as i128) as i64
        };
        (0..k).map(|class| open[class].then(|| price(class))).collect()
    }
}
