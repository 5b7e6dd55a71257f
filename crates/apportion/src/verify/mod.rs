//! Checks of labels that share nothing with the solver but the grid.
//!
//! Labels are optimal for the counts that they have if and only if no exchange of labels raises the sum of their scores.
//! One pass keeps, for each ordered pair of classes (a, b), the least q_a − q_b among rows labeled a: what it costs to move
//! one person from a to b. In the graph of the classes with these costs, an exchange that gains is a cycle of negative cost.
//! Without such a cycle the shortest paths are prices at which every row prefers its label: both sides of the certificate
//! are equal. Rows without a label are one more class, of score 0. Bounds, contested roundings and penalties are one more
//! node, the ground: going there from a class costs what one more person in that class costs, and coming back saves what
//! the last person of a class costs.
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

/// Accumulates what scores and labels show, group by group. Parts that saw different rows can be merged.
#[derive(Clone, Debug)]
pub struct Verifier {
    classes: usize,
    groups: Vec<Sums>,
    /// Bytes that the costs of moves may take.
    memory: usize,
    with_pairs: bool,
}

/// What is known of the labels of a group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verified {
    /// How many rows there are.
    pub rows: u64,
    /// How many people they stand for.
    pub people: u64,
    /// The people of each class.
    pub counts: Vec<u64>,
    /// The people without a label.
    pub uncoded: u64,
    /// The sum of the labels' scores, and the bound that no labels with these counts can exceed; none if it was not kept.
    pub certificate: Option<Certificate>,
    /// Prices at which every row prefers its label, in units of the grid, the last for rows without a label; none if there are
    /// no such prices, or if the costs of moves were not kept.
    pub prices: Option<Vec<i128>>,
    /// What the counts cost, in units of the grid, if missing the reference costs something.
    pub cost: i128,
    /// The first thing that is wrong.
    pub fault: Option<Fault>,
}

/// Something that is wrong with labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Another number of people without a label than asked for.
    Uncoded {
        /// How many there are.
        found: u64,
        /// How many there should be.
        expected: u64,
    },
    /// A class has fewer or more people than allowed.
    Count {
        /// The class.
        class: usize,
        /// How many people it has.
        found: u64,
        /// The fewest it may have.
        least: u64,
        /// The most it may have.
        most: u64,
    },
    /// Other labels are better: each of these rows could take the label of the next class.
    Exchange {
        /// The moves; together they gain.
        moves: Vec<Move>,
        /// By how much the sum of the scores, less what counts cost, would grow, in units of the grid.
        gain: i128,
    },
    /// At the given prices another class is better than a row's label.
    Price {
        /// The row.
        row: u64,
        /// Its label; the number of classes if it has no label.
        label: usize,
        /// The better class.
        better: usize,
        /// By how much it is better, in units of the grid; none if the label has no price.
        by: Option<i64>,
    },
}

/// A row that could have another label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Move {
    /// The row.
    pub row: u64,
    /// Its label; the number of classes if it has no label.
    pub from: usize,
    /// The other label.
    pub to: usize,
}

impl Verifier {
    /// An empty one.
    pub fn new(classes: usize) -> Verifier {
        Verifier { classes, groups: Vec::new(), memory: usize::MAX, with_pairs: true }
    }

    /// Uses about so many bytes at most. Beyond that the costs of moves are dropped, and only prices that are given can
    /// prove labels optimal.
    pub fn with_memory(mut self, bytes: usize) -> Verifier {
        self.memory = bytes;
        self
    }

    /// Gives a group prices, before any of its rows is added: labels are then also held against these.
    pub fn set_prices(&mut self, group: usize, prices: Prices) {
        self.group_mut(group).prices = Some(prices);
    }

    /// An empty part for other rows, with the same prices.
    pub fn part(&self) -> Verifier {
        Verifier { groups: self.groups.iter().map(Sums::like).collect(), ..*self }
    }

    /// Whether the costs of moves are kept for all groups.
    pub fn has_pairs(&self) -> bool {
        self.with_pairs
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Adds a row whose people have one label or none.
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

    /// Adds a row whose people may have several labels: how many have each class, and last how many have none.
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

    /// Adds what another one saw of other rows.
    pub fn merge(&mut self, other: &Verifier) {
        for (group, sums) in other.groups.iter().enumerate() {
            self.group_mut(group).merge(sums);
        }
    }

    /// The people of a group.
    pub fn people(&self, group: usize) -> u64 {
        self.groups.get(group).map_or(0, Sums::people)
    }

    /// The sums of a group's scores by class, in units of the grid.
    pub fn score_sums(&self, group: usize) -> &[i128] {
        self.groups.get(group).map_or(&[], |sums| &sums.scores)
    }

    /// The people of a group by true class, as far as it is known.
    pub fn truth(&self, group: usize) -> &[u64] {
        self.groups.get(group).map_or(&[], |sums| &sums.truth)
    }

    /// Checks the labels of a group: against the counts that they may have, if these are known, and else against the counts
    /// that they have.
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
            // Without prices of its own the bound is that of the shortest paths, which every row attains.
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

    /// Prices at which every row prefers its label, or else moves that together would make the labels better.
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

/// The first count that is not allowed.
fn miscounted(allowed: &AllowedCounts, counts: &[u64], uncoded: u64) -> Option<Fault> {
    if uncoded != allowed.uncoded {
        return Some(Fault::Uncoded { found: uncoded, expected: allowed.uncoded });
    }
    let is_off = |class: &usize| !(allowed.least[*class]..=allowed.most[*class]).contains(&counts[*class]);
    let class = (0..counts.len()).find(is_off)?;
    Some(Fault::Count { class, found: counts[class], least: allowed.least[class], most: allowed.most[class] })
}

impl AllowedCounts {
    /// The reference in whole people, given the counts of labels: for match without binding bounds, the counts themselves
    /// say which of competing remainders were rounded up.
    pub fn targets_at(&self, counts: &[u64]) -> Vec<u64> {
        if self.exact { counts.to_vec() } else { self.targets.clone() }
    }
}
