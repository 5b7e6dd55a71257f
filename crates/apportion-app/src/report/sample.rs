//! A random sample of people for the triangle, drawn by the seed and the rows' keys: their rounded scores, and their
//! labels.

use std::collections::BinaryHeap;

use apportion::verify::GRID;
use apportion::{Classes, Scores, UNCODED, seed};
use apportion_report::Sample;

use crate::Result;
use crate::labels::Assignment;

/// The number of people in the sample.
const PEOPLE: usize = 600;

/// Makes these draws independent of other draws with the same seed.
const SALT: u64 = 0x7472_6961_6e67_6c65;

/// The sampled rows, with their scores and labels so far.
pub(super) struct SampleRows {
    /// The rows, each with a random number that selects one of its people.
    rows: Vec<(usize, u64)>,
    sample: Sample,
}

impl SampleRows {
    /// Draws rows with probability proportional to their people: assigns each person a random number, and takes the
    /// rows with the smallest ones.
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
        // Sorted by score, so that the order does not reveal positions in the file.
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

/// Returns the smallest of the random numbers of a row's people, one per person; `None` for a row without people.
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

/// Returns two scores and the remainder, rounded to hundredths.
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
