//! Isotonic regression of one class: the share of its true members as a nondecreasing function of its score.
//!
//! Pool adjacent violators, in integers: people with equal scores are pooled, then neighboring blocks whose shares
//! decrease. The result has the smallest squared error of all nondecreasing functions. Between the scores of the fit,
//! the function is linear, as in scikit-learn; beyond them it is constant.

use super::sample::Training;
use crate::kernel::GRID;

/// A nondecreasing function of a score: linear between points, constant beyond the first and the last.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Curve {
    /// The scores of the points, ascending.
    pub scores: Vec<f64>,
    /// The calibrated score at each point, before the scores of a row are divided by their sum.
    pub values: Vec<f64>,
}

/// Neighboring scores with the same value.
#[derive(Clone, Copy, Debug)]
struct Block {
    first: i64,
    last: i64,
    members: u64,
    people: u64,
}

impl Block {
    /// Returns whether the share of this block is at least that of the next one.
    fn is_at_least(&self, next: &Block) -> bool {
        u128::from(self.members) * u128::from(next.people) >= u128::from(next.members) * u128::from(self.people)
    }

    fn with(self, next: Block) -> Block {
        Block { last: next.last, members: self.members + next.members, people: self.people + next.people, ..self }
    }
}

/// Fits the curve of each class.
pub(super) fn fit(training: &Training<'_>) -> Vec<Curve> {
    let k = training.by_class.len();
    let rows = || training.rows.chunks_exact(k).zip(training.people.chunks_exact(k));
    let mut curves = Vec::with_capacity(k);
    for class in 0..k {
        let block = |(row, people): (&[i64], &[u64])| Block {
            first: row[class],
            last: row[class],
            members: people[class],
            people: people.iter().sum(),
        };
        curves.push(curve(rows().map(block).filter(|block| block.people > 0).collect()));
    }
    curves
}

/// Fits a curve to people by score.
fn curve(mut scores: Vec<Block>) -> Curve {
    scores.sort_unstable_by_key(|block| block.first);
    let mut blocks: Vec<Block> = Vec::new();
    let mut next = scores.into_iter().peekable();
    while let Some(mut block) = next.next() {
        while let Some(equal) = next.next_if(|next| next.first == block.last) {
            block = block.with(equal);
        }
        while let Some(before) = blocks.pop_if(|before| before.is_at_least(&block)) {
            block = before.with(block);
        }
        blocks.push(block);
    }
    let mut curve = Curve { scores: Vec::new(), values: Vec::new() };
    for block in blocks {
        let ends = if block.first == block.last { &[block.first][..] } else { &[block.first, block.last] };
        curve.scores.extend(ends.iter().map(|&end| GRID.value(end)));
        curve.values.extend(ends.iter().map(|_| block.members as f64 / block.people as f64));
    }
    curve
}

impl Curve {
    /// Returns the value at a score.
    pub fn at(&self, score: f64) -> f64 {
        let above = self.scores.partition_point(|&own| own < score);
        let last = self.scores.len() - 1;
        if above > last {
            return self.values[last];
        }
        if above == 0 || self.scores[above] == score {
            return self.values[above];
        }
        let (low, high) = (self.scores[above - 1], self.scores[above]);
        let (from, to) = (self.values[above - 1], self.values[above]);
        (from + (to - from) * ((score - low) / (high - low))).clamp(from, to)
    }

    /// Returns whether the points are valid: finite, ascending, and with values from 0 to 1 that do not decrease.
    pub(super) fn is_valid(&self) -> bool {
        let is_score = |score: &f64| (-1.0..=2.0).contains(score);
        !self.scores.is_empty()
            && self.scores.len() == self.values.len()
            && self.scores.iter().all(is_score)
            && self.scores.is_sorted_by(|a, b| a < b)
            && self.values.iter().all(|value| (0.0..=1.0).contains(value))
            && self.values.is_sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(score: i64, members: u64, people: u64) -> Block {
        Block { first: score, last: score, members, people }
    }

    /// Isotonic regression by its min-max formula: max over starts up to i of min over ends from i of the mean.
    fn by_formula(points: &[(u64, u64)]) -> Vec<f64> {
        let mean = |from: usize, to: usize| {
            let part = &points[from..=to];
            part.iter().map(|p| p.0).sum::<u64>() as f64 / part.iter().map(|p| p.1).sum::<u64>() as f64
        };
        let at = |i: usize| {
            let lowest = |from: usize| (i..points.len()).map(|to| mean(from, to)).fold(f64::INFINITY, f64::min);
            (0..=i).map(lowest).fold(f64::NEG_INFINITY, f64::max)
        };
        (0..points.len()).map(at).collect()
    }

    #[test]
    fn it_equals_the_min_max_formula() {
        for seed in 0..200 {
            let draw =
                |index: u64, salt: u64, bound: u64| crate::seed::below(crate::seed::hash(seed, index, salt), bound);
            let points: Vec<(u64, u64)> = (0..1 + seed % 12)
                .map(|index| {
                    let people = 1 + draw(index, 0, 5);
                    (draw(index, 1, people + 1), people)
                })
                .collect();
            let blocks = points.iter().enumerate().map(|(score, &(members, people))| {
                block(score as i64 * crate::kernel::Grid::UNIT / 16, members, people)
            });
            let mut blocks: Vec<Block> = blocks.collect();
            blocks.reverse();
            let curve = curve(blocks);
            assert!(curve.is_valid(), "{curve:?}");
            for (score, expected) in by_formula(&points).into_iter().enumerate() {
                let found = curve.at(score as f64 / 16.0);
                assert!((found - expected).abs() < 1e-12, "seed {seed}, score {score}: {found}, not {expected}");
            }
        }
    }

    #[test]
    fn equal_scores_are_pooled_and_others_interpolated() {
        let unit = crate::kernel::Grid::UNIT;
        let curve = curve(vec![block(unit / 2, 1, 1), block(unit / 4, 0, 1), block(unit / 2, 0, 3), block(unit, 4, 4)]);
        assert_eq!((&curve.scores[..], &curve.values[..]), (&[0.25, 0.5, 1.0][..], &[0.0, 0.25, 1.0][..]));
        assert_eq!([0.0, 0.375, 0.75, 2.0].map(|score| curve.at(score)), [0.0, 0.125, 0.625, 1.0]);
    }
}
