//! Prices, and the set of all optimal prices.
//!
//! Labels that are optimal for their counts are optimal at exactly those prices λ at which every labeled row prefers
//! its own class: λ_b − λ_a ≤ min over rows labeled a of s_a − s_b. Such differences describe a polytope with integer
//! vertices. Prices inside a box, up to a common shift, have the same form, so "do the optimal prices intersect the
//! box?" is a shortest-path problem with K nodes.
//!
//! The cost of counts has the same form, with one more node: the ground, whose price is zero. Counts are optimal if
//! −λ_y lies between the cost of the last person in y and that of one more.

use super::demand::{Demand, VIOLATION};
use crate::kernel::Grid;

/// A price for each class, in grid units; `None` for a class that is never assigned.
pub(crate) type Prices = Vec<Option<i64>>;

/// A limit that does not bind. The sum of two such limits does not overflow.
pub(super) const FREE: i64 = 1 << 60;

/// All λ with λ_b − λ_a ≤ limit(a, b), for the classes and, last, the ground.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PriceSet {
    nodes: usize,
    limits: Vec<i64>,
}

impl PriceSet {
    /// Returns the set of all prices.
    pub(super) fn all(classes: usize) -> PriceSet {
        let nodes = classes + 1;
        PriceSet { nodes, limits: vec![FREE; nodes * nodes] }
    }

    fn ground(&self) -> usize {
        self.nodes - 1
    }

    /// Returns all prices within [low, high] up to a common shift. Infinite bounds do not bind.
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
        self.limits[a * self.nodes + b]
    }

    /// Adds λ_b − λ_a ≤ limit.
    #[inline]
    pub(super) fn limit(&mut self, a: usize, b: usize, limit: i64) {
        let entry = &mut self.limits[a * self.nodes + b];
        *entry = limit.min(*entry);
    }

    /// Adds the constraints of a row with label `label`.
    #[inline]
    pub(super) fn prefer(&mut self, label: usize, row: &[i64]) {
        let own = row[label];
        let limits = &mut self.limits[label * self.nodes..][..self.nodes];
        for (limit, score) in limits.iter_mut().zip(row) {
            *limit = (own - score).min(*limit);
        }
    }

    /// Adds the constraints that no other counts are better, given their cost.
    pub(super) fn afford(&mut self, counts: &[u64], demand: &Demand) {
        let ground = self.ground();
        for (class, &count) in counts.iter().enumerate() {
            let more = demand.step(class, count);
            if more < VIOLATION {
                self.limit(class, ground, more);
            }
            let less = if count > 0 { -demand.step(class, count - 1) } else { VIOLATION };
            if less < VIOLATION {
                self.limit(ground, class, less);
            }
        }
    }

    pub(super) fn meet(&mut self, other: &PriceSet) {
        self.limits.iter_mut().zip(&other.limits).for_each(|(limit, other)| *limit = (*limit).min(*other));
    }

    /// Tightens every limit to what the others imply (Floyd-Warshall). Returns false if the set is empty.
    pub(super) fn close(&mut self) -> bool {
        let k = self.nodes;
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
            // Checked at every step: a negative cycle would otherwise grow until it overflows.
            if (0..k).any(|a| self.limits[a * k + a] < 0) {
                return false;
            }
        }
        true
    }

    /// Returns whether every limit of a closed set is within the other's.
    pub(super) fn inside(&self, other: &PriceSet) -> bool {
        self.limits.iter().zip(&other.limits).all(|(limit, other)| limit <= other)
    }

    /// Returns the cost of moving one person between two classes, possibly by way of others, if the counts were
    /// given: the limits of a closed set.
    pub(super) fn exchanges(&self) -> Vec<(usize, usize, i64)> {
        let classes = 0..self.nodes - 1;
        let pairs = classes.clone().flat_map(|from| classes.clone().map(move |to| (from, to)));
        let costs = pairs.map(|(from, to)| (from, to, self.limit_of(from, to)));
        costs.filter(|&(from, to, cost)| from != to && cost < FREE / 2).collect()
    }

    /// Returns the center of a closed set: the mean of its extreme points (for each class, the highest and the
    /// lowest prices of the others relative to it), rounded down, which stays inside. If `grounded`, the ground
    /// is one more class; otherwise the first open class has price 0.
    pub(super) fn center(&self, open: &[bool], grounded: bool) -> Prices {
        let k = open.len();
        let mut roots: Vec<usize> = (0..k).filter(|&root| open[root]).collect();
        // Without rows no class is open, and the result is argmax.
        let Some(&first) = roots.first() else { return vec![Some(0); k] };
        let near = self.brought_near(&roots, grounded);
        let origin = if grounded { self.ground() } else { first };
        if grounded {
            roots.push(origin);
        }
        let limit = |a: usize, b: usize| i128::from(near.limit_of(a, b));
        let price = |class: usize| {
            let sum: i128 =
                roots.iter().map(|&r| limit(r, class) - limit(r, origin) + limit(origin, r) - limit(class, r)).sum();
            sum.div_euclid(2 * roots.len() as i128) as i64
        };
        (0..k).map(|class| open[class].then(|| price(class))).collect()
    }

    /// Returns the part of a closed set in which no two classes are further apart than any path of scores:
    /// without this, a class without limits would have no center.
    fn brought_near(&self, open: &[usize], grounded: bool) -> PriceSet {
        let mut near = PriceSet::all(self.nodes - 1);
        let far = Grid::UNIT * (self.nodes as i64 + 1);
        for &a in open {
            for &b in open {
                near.limit(a, b, self.limit_of(a, b).min(far));
            }
            if grounded {
                near.limit(a, self.ground(), self.limit_of(a, self.ground()).min(VIOLATION));
                near.limit(self.ground(), a, self.limit_of(self.ground(), a).min(VIOLATION));
            }
        }
        near.close();
        near
    }
}
