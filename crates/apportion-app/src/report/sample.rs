//! Some people for the triangle, drawn by the seed and the rows' keys: their scores, rounded, and their labels.

use std::collections::BinaryHeap;

use apportion::verify::GRID;
use apportion::{Classes, Scores, UNCODED, seed};
use apportion_report::Sample;

use crate::Result;
use crate::labels::Assignment;

/// How many people are drawn.
const PEOPLE: usize = 600;

/// Tells these draws from others of the same seed.
const SALT: u64 = 0x7472_6961_6e67_6c65;

/// Rows that were drawn, and what is known of them so far.
pub(super) struct SampleRows {
    /// The rows, each with a number that chooses one of its people.
    rows: Vec<(usize, u64)>,
    sample: Sample,
}

impl SampleRows {
    /// Draws rows, each as likely as it has people: those whose draw comes first, were each person to wait a random time.
    pub(super) fn choose(scores: &Scores<'_>, corners: [usize; 2], seed: u64) -> Result<SampleRows> {
        let keys = scores.keys();
        let mut soonest: BinaryHeap<(u64, usize, u64)> = BinaryHeap::new();
        for row in 0..scores.rows() {
            let hash = seed::hash(seed, keys.of(row), SALT);
            let Some(wait) = waiting(hash, scores.counts().map_or(1, |counts| counts[row])) else { continue };
            if soonest.len() < PEOPLE || soonest.peek().is_some_and(|last| wait < last.0) {
                soonest.push((wait, row, hash));
                if soonest.len() > PEOPLE {
                    soonest.pop();
                }
            }
        }
        let mut rows: Vec<(usize, u64)> = soonest.into_iter().map(|(_, row, hash)| (row, hash)).collect();
        rows.sort_unstable_by_key(|&(row, hash)| (hash, row));
        let mut points = Vec::with_capacity(rows.len());
        for &(row, _) in &rows {
            scores.read_rows(row..row + 1, |_, own| {
                points.push(rounded(corners.map(|class| GRID.value(own[class]))));
                Ok(())
            })?;
        }
        // In the order of their scores: where in the file somebody stands is nobody's business.
        let mut both: Vec<_> = rows.into_iter().zip(points).collect();
        both.sort_by(|(_, a), (_, b)| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        let (rows, points) = both.into_iter().unzip();
        Ok(SampleRows { rows, sample: Sample { corners, points, labels: Vec::new() } })
    }

    /// Adds the labels of the rows.
    pub(super) fn add(&mut self, assignment: &Assignment, classes: &Classes) {
        let k = classes.len();
        let label = |&(row, hash): &(usize, u64)| match assignment {
            Assignment::Labels(draws) => match draws[0].values()[row] {
                UNCODED => k,
                label => usize::from(label),
            },
            Assignment::People(allotment) => {
                let people = allotment.row(row);
                let mut chosen = hash % people.iter().sum::<u64>().max(1);
                let is_here = |&count: &u64| {
                    let here = chosen < count;
                    chosen = chosen.saturating_sub(count);
                    here
                };
                people.iter().position(is_here).unwrap_or(k)
            }
        };
        self.sample.labels.push(self.rows.iter().map(label).collect());
    }

    pub(super) fn finish(self) -> Sample {
        self.sample
    }
}

/// How long the first of so many people waits, each as long as a random number says. Nobody does not wait.
fn waiting(hash: u64, people: u64) -> Option<u64> {
    match people {
        0 => None,
        1 => Some(hash),
        people => {
            let even = (hash as f64 + 0.5) / u64::MAX as f64;
            let first = 1.0 - (1.0 - even).powf(1.0 / people as f64);
            Some((first * u64::MAX as f64) as u64)
        }
    }
}

/// Two scores, and what is left for the others, in hundredths.
fn rounded([a, b]: [f64; 2]) -> [f64; 3] {
    let hundredths = |score: f64| (100.0 * score.clamp(0.0, 1.0)).round();
    let (a, b) = (hundredths(a), hundredths(b));
    [a / 100.0, b / 100.0, (100.0 - a - b).max(0.0) / 100.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_rounded_and_sum_to_one() {
        assert_eq!(rounded([0.123_456, 0.8]), [0.12, 0.8, 0.08]);
        assert_eq!(rounded([0.5051, 0.5051]), [0.51, 0.51, 0.0]);
    }

    #[test]
    fn rows_of_many_people_come_sooner() {
        let mean = |people| {
            (0..2_000).filter_map(|key| waiting(seed::hash(1, key, SALT), people)).map(|wait| wait as f64).sum::<f64>()
        };
        assert!(mean(9) < mean(1) / 4.0);
        assert_eq!(waiting(7, 0), None);
    }
}
