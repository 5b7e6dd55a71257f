//! Checks that the counts of nested units are as close to their quotas as the totals of the larger unit allow.

use super::graph::{Graph, Paths};
use super::target::times_over;

/// A unit: its people, the weights of its classes, and the counts of its labels.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Number of people.
    pub people: u64,
    /// The reference, as class weights.
    pub weights: Vec<u128>,
    /// Number of people labeled with each class.
    pub counts: Vec<u64>,
}

/// The cost of a distance of one person from a quota.
const PERSON: i128 = 1 << 40;
/// Maximum rounding error of the cost of a move: both of its ends are rounded.
const SLACK: i128 = 2;

impl Unit {
    /// Combines units. Weights are summed; if `shares` is true, they are first normalized and weighted by people.
    pub fn together<'a>(units: impl Iterator<Item = &'a Unit>, shares: bool) -> Unit {
        const PARTS: u128 = 1_000_000_000_000_000;
        let mut all = Unit { people: 0, weights: Vec::new(), counts: Vec::new() };
        for unit in units {
            all.weights.resize(unit.weights.len(), 0);
            all.counts.resize(unit.counts.len(), 0);
            all.people += unit.people;
            all.counts.iter_mut().zip(&unit.counts).for_each(|(sum, count)| *sum += count);
            let sum = unit.weights.iter().sum::<u128>().max(1);
            // Shifts very large weights to avoid overflow; the digits lost do not affect a share.
            let spare = (128 - sum.leading_zeros()).saturating_sub(77);
            for (total, &weight) in all.weights.iter_mut().zip(&unit.weights) {
                let share = || (weight >> spare) * PARTS / (sum >> spare).max(1);
                *total += if shares { u128::from(unit.people) * share() } else { weight };
            }
        }
        all
    }

    /// Returns the cost of one more person in a class, and of one less; the latter is `None` if the class is empty.
    fn costs(&self, class: usize) -> (i128, Option<i128>) {
        // If all weights are 0, all quotas are 0.
        let sum = self.weights.iter().sum::<u128>().max(1);
        let (whole, rest) = times_over(self.people, self.weights[class], sum);
        let rest = rest as f64 / sum as f64;
        let crossing = ((1.0 - 2.0 * rest) * PERSON as f64).round() as i128;
        let step = |count: u64| match count.cmp(&whole) {
            std::cmp::Ordering::Less => -PERSON,
            std::cmp::Ordering::Equal => crossing,
            std::cmp::Ordering::Greater => PERSON,
        };
        let count = self.counts[class];
        (step(count), count.checked_sub(1).map(|less| -step(less)))
    }
}

/// Returns a cycle of classes along which people of some units could move so that counts are closer to their quotas and
/// totals are unchanged; `None` if there is no such cycle.
pub fn nearer(units: &[Unit]) -> Option<Vec<usize>> {
    let classes = units.first()?.weights.len();
    let mut graph = Graph::new(classes);
    for unit in units {
        let costs: Vec<_> = (0..classes).map(|class| unit.costs(class)).collect();
        for (from, (_, fewer)) in costs.iter().enumerate() {
            for (to, (more, _)) in costs.iter().enumerate() {
                if let (true, Some(fewer)) = (from != to, fewer) {
                    graph.add(from, to, fewer + more + SLACK);
                }
            }
        }
    }
    match graph.paths() {
        Paths::Distances(_) => None,
        Paths::Negative(classes, _) => Some(classes),
    }
}
