//! Whether the counts of units inside a larger one are as near to their quotas as the larger one's totals allow.

use super::graph::{Graph, Paths};
use super::target::times_over;

/// A unit: its people, the weights of its classes, and the counts of its labels.
#[derive(Clone, Debug)]
pub struct Unit {
    /// How many people it has.
    pub people: u64,
    /// The reference as weights of the classes.
    pub weights: Vec<u128>,
    /// The people of each class.
    pub counts: Vec<u64>,
}

/// One person of distance from a quota.
const PERSON: i128 = 1 << 40;
/// By how much the cost of a move may be off: each of its two ends is rounded.
const SLACK: i128 = 2;

impl Unit {
    /// Units together. Sums of scores and true classes add up; shares do in proportion to the people.
    pub fn together<'a>(units: impl Iterator<Item = &'a Unit>, shares: bool) -> Unit {
        const PARTS: u128 = 1_000_000_000_000_000;
        let mut all = Unit { people: 0, weights: Vec::new(), counts: Vec::new() };
        for unit in units {
            all.weights.resize(unit.weights.len(), 0);
            all.counts.resize(unit.counts.len(), 0);
            all.people += unit.people;
            all.counts.iter_mut().zip(&unit.counts).for_each(|(sum, count)| *sum += count);
            let sum = unit.weights.iter().sum::<u128>().max(1);
            // Wide sums lose their last digits, which say nothing of a share.
            let spare = (128 - sum.leading_zeros()).saturating_sub(77);
            for (total, &weight) in all.weights.iter_mut().zip(&unit.weights) {
                let share = || (weight >> spare) * PARTS / (sum >> spare).max(1);
                *total += if shares { u128::from(unit.people) * share() } else { weight };
            }
        }
        all
    }

    /// What it costs to have one person more in a class, and one fewer; none if there is none to take away.
    fn costs(&self, class: usize) -> (i128, Option<i128>) {
        // Without any weight all quotas are 0.
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

/// Classes among which people of some units could change places so that all counts were nearer to their quotas, with the
/// same totals; none if there are no such classes.
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
