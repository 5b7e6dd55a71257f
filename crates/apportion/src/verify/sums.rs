//! Statistics of a group from one pass over scores and labels: counts, sums, and the minimum cost of each move.

use std::sync::Arc;

/// A price for each class, in grid units, optionally followed by the price of unlabeled rows; `None` for a class that
/// is never assigned.
pub type Prices = Arc<[Option<i64>]>;

/// The smallest of several costs, and its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Least {
    pub(super) cost: i64,
    pub(super) row: u64,
}

impl Least {
    const NONE: Least = Least { cost: i64::MAX, row: u64::MAX };

    pub(super) fn is_some(self) -> bool {
        self.row != u64::MAX
    }

    /// Updates the minimum. Ties go to the lowest row, so the result does not depend on the order of calls.
    #[inline]
    fn take(&mut self, cost: i64, row: u64) {
        if cost < self.cost || (cost == self.cost && row < self.row) {
            *self = Least { cost, row };
        }
    }
}

/// A row whose label is not the best class at the prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dear {
    pub(super) row: u64,
    pub(super) label: usize,
    pub(super) better: usize,
    pub(super) by: i64,
}

/// The statistics of a group. The index of unlabeled rows is the number of classes; their score is 0.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    pub(super) rows: u64,
    pub(super) counts: Vec<u64>,
    pub(super) scores: Vec<i128>,
    pub(super) truth: Vec<u64>,
    pub(super) chosen: i128,
    /// The minimum cost of moving a person from one class to another; empty if not kept.
    pub(super) least: Vec<Least>,
    pub(super) prices: Option<Prices>,
    /// The sum over all people of the highest score plus price, if there are prices.
    pub(super) best: i128,
    /// The first row whose label is not the best class at the prices.
    pub(super) dear: Option<Dear>,
}

impl Sums {
    pub(super) fn new(classes: usize, with_pairs: bool) -> Sums {
        let pairs = if with_pairs { (classes + 1) * (classes + 1) } else { 0 };
        Sums {
            rows: 0,
            counts: vec![0; classes + 1],
            scores: vec![0; classes],
            truth: vec![0; classes],
            chosen: 0,
            least: vec![Least::NONE; pairs],
            prices: None,
            best: 0,
            dear: None,
        }
    }

    /// Returns empty statistics with the same prices.
    pub(super) fn like(&self) -> Sums {
        let mut empty = Sums::new(self.scores.len(), !self.least.is_empty());
        empty.prices.clone_from(&self.prices);
        empty
    }

    /// Adds people of a row with the same label.
    #[inline]
    pub(super) fn add_label(&mut self, row: u64, scores: &[i64], label: usize, people: u64) {
        if people == 0 {
            return;
        }
        let own = scores.get(label).copied().unwrap_or(0);
        self.counts[label] += people;
        self.chosen += i128::from(own) * i128::from(people);
        if !self.least.is_empty() {
            let nodes = scores.len() + 1;
            let least = &mut self.least[label * nodes..][..nodes];
            for (least, score) in least.iter_mut().zip(scores.iter().chain(&[0])) {
                least.take(own - score, row);
            }
        }
        if self.prices.is_some() {
            self.add_priced(row, scores, label, own, people);
        }
    }

    fn add_priced(&mut self, row: u64, scores: &[i64], label: usize, own: i64, people: u64) {
        let Some(prices) = &self.prices else { return };
        let mut best: Option<(i64, usize)> = None;
        for (class, (price, score)) in prices.iter().zip(scores.iter().chain(&[0])).enumerate() {
            let Some(price) = price else { continue };
            if best.is_none_or(|(value, _)| score + price > value) {
                best = Some((score + price, class));
            }
        }
        let Some((value, better)) = best else { return };
        self.best += i128::from(value) * i128::from(people);
        let found = prices.get(label).copied().flatten().map(|price| own + price);
        if found != Some(value) && self.dear.is_none_or(|dear| row < dear.row) {
            self.dear = Some(Dear { row, label, better, by: found.map_or(i64::MAX, |found| value - found) });
        }
    }

    /// Adds the scores and the true class of a row, which do not depend on its label.
    #[inline]
    pub(super) fn add_row(&mut self, scores: &[i64], truth: Option<usize>, people: u64) {
        self.rows += 1;
        let heads = i128::from(people);
        self.scores.iter_mut().zip(scores).for_each(|(sum, &score)| *sum += heads * i128::from(score));
        if let Some(truth) = truth {
            self.truth[truth] += people;
        }
    }

    pub(super) fn merge(&mut self, other: &Sums) {
        self.rows += other.rows;
        self.chosen += other.chosen;
        self.best += other.best;
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum += more);
        self.scores.iter_mut().zip(&other.scores).for_each(|(sum, more)| *sum += more);
        self.truth.iter_mut().zip(&other.truth).for_each(|(sum, more)| *sum += more);
        self.least.iter_mut().zip(&other.least).for_each(|(own, more)| own.take(more.cost, more.row));
        let first = self.dear.into_iter().chain(other.dear).min_by_key(|dear| dear.row);
        self.dear = first;
    }

    /// Returns the number of people.
    pub(super) fn people(&self) -> u64 {
        self.counts.iter().sum()
    }
}
