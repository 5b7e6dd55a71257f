//! Checks of labels that share no code with the solver except the grid.
//!
//! Labels are optimal for their counts if and only if no exchange of labels increases the sum of their scores. One pass
//! keeps, for each ordered pair of classes (a, b), the smallest q_a − q_b among rows labeled a: the cost of moving one
//! person from a to b. In the graph of the classes with these costs, an improving exchange is a cycle of negative cost.
//! If there is no such cycle, the shortest paths are prices at which every row prefers its label, so both sides of the
//! certificate are equal. Unlabeled rows are an additional class with score 0. Bounds, tied remainders and penalties
//! add another node, the ground: an edge from a class to the ground costs as much as one more person in that class, and
//! an edge back saves the cost of the last person in a class.
//!
//! ```
//! use apportion::verify::{AllowedCounts, TargetSpec, Verifier, weights_of_sums};
//! use apportion::verify::GRID;
//! use apportion::{Bounds, Classes};
//!
//! let classes = Classes::new(["a", "b"])?;
//! let rows = [[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]];
//! let mut verifier = Verifier::new(2);
//! for (row, (scores, label)) in rows.iter().zip([0, 0, 1]).enumerate() {
//!     let units = scores.map(|score| GRID.round(score));
//!     verifier.add_label(0, row as u64, &units, label, None, 1);
//! }
//! let asked = TargetSpec {
//!     weights: weights_of_sums(verifier.score_sums(0)),
//!     coverage: None,
//!     bounds: &Bounds::default(),
//!     balance: None,
//! };
//! let allowed = AllowedCounts::new(&asked, &classes, verifier.people(0))?;
//! let verified = verifier.verify(0, Some(&allowed));
//! assert!(verified.fault.is_none());
//! assert_eq!(verified.counts, [2, 1]);
//! # Ok::<(), apportion::Error>(())
//! ```

mod graph;
mod nested;
mod sums;
mod target;

pub use nested::{Unit, nearer};
pub use sums::Prices;
pub use target::{
    AllowedCounts, TargetSpec, largest_remainders, rounded_to_first, uncoded_people, weights_of_shares, weights_of_sums,
};

pub use crate::kernel::{GRID, Grid};

use self::graph::{Graph, Paths};
use self::sums::{Least, Sums};
use crate::scores::{Label, UNCODED};
use crate::transport::Certificate;

/// Accumulates scores and labels by group. Verifiers of different rows can be merged.
#[derive(Clone, Debug)]
pub struct Verifier {
    classes: usize,
    groups: Vec<Sums>,
    /// The memory limit for the costs of moves, in bytes.
    memory: usize,
    with_pairs: bool,
}

/// The result of verifying the labels of a group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verified {
    /// Number of rows.
    pub rows: u64,
    /// Number of people that the rows represent.
    pub people: u64,
    /// Number of people labeled with each class.
    pub counts: Vec<u64>,
    /// Number of unlabeled people.
    pub uncoded: u64,
    /// The sum of the labels' scores, and its upper bound over all labels with these counts; `None` if no bound was
    /// computed.
    pub certificate: Option<Certificate>,
    /// Prices at which every row prefers its label, in grid units, with the price of unlabeled rows last; `None` if
    /// such prices do not exist or the costs of moves were not kept.
    pub prices: Option<Vec<i128>>,
    /// The penalty of the counts, in grid units; 0 without a penalty.
    pub cost: i128,
    /// The first fault found, if any.
    pub fault: Option<Fault>,
}

/// A fault in labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The number of unlabeled people is wrong.
    Uncoded {
        /// The number found.
        found: u64,
        /// The number expected.
        expected: u64,
    },
    /// A class has fewer or more people than allowed.
    Count {
        /// Index of the class.
        class: usize,
        /// The number of people found.
        found: u64,
        /// The minimum allowed.
        least: u64,
        /// The maximum allowed.
        most: u64,
    },
    /// An exchange of labels improves the result: each row can take the label of the next class.
    Exchange {
        /// The moves of the exchange.
        moves: Vec<Move>,
        /// The increase in the sum of scores minus the penalty, in grid units.
        gain: i128,
    },
    /// At the given prices, another class is better than a row's label.
    Price {
        /// Index of the row.
        row: u64,
        /// Index of its label, or the number of classes if it is unlabeled.
        label: usize,
        /// Index of the better class.
        better: usize,
        /// The difference in grid units; `None` if the label has no price.
        by: Option<i64>,
    },
}

/// A change of one row's label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Move {
    /// Index of the row.
    pub row: u64,
    /// Index of its label, or the number of classes if it is unlabeled.
    pub from: usize,
    /// Index of the new label, or the number of classes if it is unlabeled.
    pub to: usize,
}

impl Verifier {
    /// Creates an empty verifier.
    pub fn new(classes: usize) -> Verifier {
        Verifier { classes, groups: Vec::new(), memory: usize::MAX, with_pairs: true }
    }

    /// Sets the approximate memory limit in bytes. Above the limit the costs of moves are dropped, and only given
    /// prices can prove that labels are optimal.
    pub fn with_memory(mut self, bytes: usize) -> Verifier {
        self.memory = bytes;
        self
    }

    /// Sets the prices of a group, against which its labels are also checked. Call this before adding rows of the
    /// group.
    pub fn set_prices(&mut self, group: usize, prices: Prices) {
        self.group_mut(group).prices = Some(prices);
    }

    /// Returns an empty verifier for other rows, with the same prices.
    pub fn part(&self) -> Verifier {
        Verifier { groups: self.groups.iter().map(Sums::like).collect(), ..*self }
    }

    /// Returns whether the costs of moves are kept.
    pub fn has_pairs(&self) -> bool {
        self.with_pairs
    }

    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Adds a row whose people all have the same label or are all unlabeled.
    #[inline]
    pub fn add_label(
        &mut self,
        group: usize,
        row: u64,
        scores: &[i64],
        label: Label,
        truth: Option<Label>,
        people: u64,
    ) {
        let label = if label == UNCODED { self.classes } else { usize::from(label) };
        let sums = self.group_mut(group);
        sums.add_row(scores, known(truth), people);
        sums.add_label(row, scores, label, people);
    }

    /// Adds a row whose people may have different labels. `people` is the number of people in each class, followed by
    /// the number of unlabeled people.
    pub fn add_people(&mut self, group: usize, row: u64, scores: &[i64], people: &[u64], truth: Option<Label>) {
        let sums = self.group_mut(group);
        sums.add_row(scores, known(truth), people.iter().sum());
        people.iter().enumerate().for_each(|(label, &people)| sums.add_label(row, scores, label, people));
    }

    fn group_mut(&mut self, group: usize) -> &mut Sums {
        if group >= self.groups.len() {
            let bytes = (self.classes + 1) * (self.classes + 1) * size_of::<Least>();
            if self.with_pairs && (group + 1).saturating_mul(bytes) > self.memory {
                self.with_pairs = false;
                self.groups.iter_mut().for_each(|sums| sums.least = Vec::new());
            }
            let (classes, with_pairs) = (self.classes, self.with_pairs);
            self.groups.resize_with(group + 1, || Sums::new(classes, with_pairs));
        }
        &mut self.groups[group]
    }

    /// Adds the rows of another verifier.
    pub fn merge(&mut self, other: &Verifier) {
        for (group, sums) in other.groups.iter().enumerate() {
            self.group_mut(group).merge(sums);
        }
    }

    /// Returns the number of people in a group.
    pub fn people(&self, group: usize) -> u64 {
        self.groups.get(group).map_or(0, Sums::people)
    }

    /// Returns the sum of a group's scores for each class, in grid units.
    pub fn score_sums(&self, group: usize) -> &[i128] {
        self.groups.get(group).map_or(&[], |sums| &sums.scores)
    }

    /// Returns the number of people in a group by true class, over rows with known truth.
    pub fn truth(&self, group: usize) -> &[u64] {
        self.groups.get(group).map_or(&[], |sums| &sums.truth)
    }

    /// Checks the labels of a group against the allowed counts or, if `allowed` is `None`, against their own counts.
    pub fn verify(&self, group: usize, allowed: Option<&AllowedCounts>) -> Verified {
        let empty = Sums::new(self.classes, self.with_pairs);
        let sums = self.groups.get(group).unwrap_or(&empty);
        let (counts, uncoded) = (&sums.counts[..self.classes], sums.counts[self.classes]);
        let cost = allowed.map_or(0, |allowed| allowed.cost(counts));
        let mut fault = allowed.and_then(|allowed| miscounted(allowed, counts, uncoded));
        let (mut certificate, mut prices) = (None, None);
        if let Some(prices) = &sums.prices {
            let paid = |(price, &count): (&Option<i64>, &u64)| i128::from(price.unwrap_or(0)) * i128::from(count);
            let paid: i128 = prices.iter().zip(&sums.counts).map(paid).sum();
            certificate = Some(Certificate { primal: sums.chosen, dual: sums.best - paid });
        }
        if !sums.least.is_empty() {
            let (found, exchange) = self.exchange(sums, allowed);
            prices = found;
            // Without given prices, the bound is that of the shortest paths, which every row attains.
            if exchange.is_none() && certificate.is_none() {
                certificate = Some(Certificate { primal: sums.chosen, dual: sums.chosen });
            }
            fault = fault.or(exchange);
        }
        let dear = sums.dear.map(|dear| Fault::Price {
            row: dear.row,
            label: dear.label,
            better: dear.better,
            by: Some(dear.by).filter(|&by| by < i64::MAX),
        });
        Verified {
            rows: sums.rows,
            people: sums.people(),
            counts: counts.to_vec(),
            uncoded,
            certificate,
            prices,
            cost,
            fault: fault.or(dear),
        }
    }

    /// Returns prices at which every row prefers its label or, if there are no such prices, an improving exchange.
    fn exchange(&self, sums: &Sums, allowed: Option<&AllowedCounts>) -> (Option<Vec<i128>>, Option<Fault>) {
        let (nodes, ground) = (self.classes + 1, self.classes + 1);
        let mut graph = Graph::new(nodes + 1);
        for from in 0..nodes {
            for to in (0..nodes).filter(|&to| to != from) {
                let least = sums.least[from * nodes + to];
                if least.is_some() {
                    graph.add(from, to, i128::from(least.cost));
                }
            }
        }
        for allowed in allowed.into_iter().filter(|allowed| allowed.is_separable()) {
            for (class, &count) in sums.counts[..self.classes].iter().enumerate() {
                if let Some(more) = allowed.step(class, count) {
                    graph.add(class, ground, more + allowed.slack());
                }
                if let Some(last) = count.checked_sub(1).and_then(|last| allowed.step(class, last)) {
                    graph.add(ground, class, allowed.slack() - last);
                }
            }
        }
        let (cycle, cost) = match graph.paths() {
            Paths::Distances(distances) => return (Some(distances[..nodes].to_vec()), None),
            Paths::Negative(cycle, cost) => (cycle, cost),
        };
        let next = |index: usize| cycle[(index + 1) % cycle.len()];
        let pairs = cycle.iter().enumerate().map(|(index, &from)| (from, next(index)));
        let moves = pairs.filter(|&(from, to)| from != ground && to != ground);
        let moves = moves.map(|(from, to)| Move { row: sums.least[from * nodes + to].row, from, to }).collect();
        (None, Some(Fault::Exchange { moves, gain: -cost }))
    }
}

fn known(truth: Option<Label>) -> Option<usize> {
    truth.filter(|&truth| truth != UNCODED).map(usize::from)
}

/// Returns the first count that is not allowed.
fn miscounted(allowed: &AllowedCounts, counts: &[u64], uncoded: u64) -> Option<Fault> {
    if uncoded != allowed.uncoded {
        return Some(Fault::Uncoded { found: uncoded, expected: allowed.uncoded });
    }
    let is_off = |class: &usize| !(allowed.least[*class]..=allowed.most[*class]).contains(&counts[*class]);
    let class = (0..counts.len()).find(is_off)?;
    Some(Fault::Count { class, found: counts[class], least: allowed.least[class], most: allowed.most[class] })
}

impl AllowedCounts {
    /// Returns the reference in whole people. For match without binding bounds these are the given counts of the
    /// labels, which show how tied remainders were rounded.
    pub fn targets_at(&self, counts: &[u64]) -> Vec<u64> {
        if self.exact { counts.to_vec() } else { self.targets.clone() }
    }
}
