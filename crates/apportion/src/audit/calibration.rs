//! Calibration: mergeable histograms of scores, with the bins and statistics derived from them.
//!
//! Scores are counted in equal buckets, a whole number of them per tenth, so that the ten bins of equal width are
//! exact; other figures have the resolution of a bucket. A bucket holds its people, the sum of their scores and the
//! number of true members, so means within bins are exact. Memory is allocated per tenth when a score falls into it.

use super::report::{Bin, Binning, Calibration};
use super::{cell::add_all, intervals::wilson};
use crate::kernel::{GRID, Grid};

/// 2^11 buckets per tenth: 20,480 in total.
pub(super) const OVERALL_FINENESS: u32 = 11;

/// 2^4 buckets per tenth: 160 in total, so that thousands of groups fit in memory.
pub(super) const GROUP_FINENESS: u32 = 4;

const TENTHS: usize = 10;

/// People whose scores are in one narrow range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bucket {
    /// Number of people.
    pub(super) people: u64,
    /// Number of people of the true class.
    pub(super) members: u64,
    /// The sum of their scores.
    pub(super) scores: i128,
}

impl std::ops::AddAssign for Bucket {
    fn add_assign(&mut self, other: Bucket) {
        self.people += other.people;
        self.members += other.members;
        self.scores += other.scores;
    }
}

impl Bucket {
    /// Returns the mean score.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.people > 0).then(|| GRID.total(self.scores) / self.people as f64)
    }

    /// Returns the share of people of the true class.
    fn observed(&self) -> Option<f64> {
        (self.people > 0).then(|| self.members as f64 / self.people as f64)
    }

    /// Returns Σ (truth − score), in grid units.
    fn surplus(&self) -> i128 {
        i128::from(self.members) * i128::from(Grid::UNIT) - self.scores
    }
}

/// Histograms of several score columns with 2^fineness equal buckets per tenth.
///
/// All buckets are in one list, in the order of first use: with thousands of groups, memory access dominates the
/// cost, and this layout minimizes it.
#[derive(Clone, Debug)]
pub(super) struct Histograms {
    fineness: u32,
    /// For each column and tenth, the index of its block of buckets, from 1; 0 if empty.
    blocks: Vec<u32>,
    buckets: Vec<Bucket>,
    /// For each column: Σ q² in squared grid units, and the sum of the scores of members.
    products: Vec<[i128; 2]>,
}

impl Histograms {
    /// Creates empty histograms.
    pub(super) fn new(columns: usize, fineness: u32) -> Histograms {
        Histograms { fineness, blocks: vec![0; columns * TENTHS], buckets: Vec::new(), products: vec![[0; 2]; columns] }
    }

    /// Adds a score of several people.
    #[inline]
    pub(super) fn add(&mut self, column: usize, score: i64, people: u64, member: bool) {
        let number = bucket_of(score, self.fineness);
        let (tenth, position) = (number >> self.fineness, number & ((1 << self.fineness) - 1));
        let bucket = &mut self.block(column * TENTHS + tenth)[position];
        bucket.people += people;
        bucket.members += if member { people } else { 0 };
        bucket.scores += times(score, people);
        let [squares, members] = &mut self.products[column];
        *squares += i128::from(score) * times(score, people);
        *members += if member { times(score, people) } else { 0 };
    }

    /// Returns the buckets of a tenth of a column, allocating them if necessary.
    #[inline]
    fn block(&mut self, index: usize) -> &mut [Bucket] {
        let size = 1 << self.fineness;
        if self.blocks[index] == 0 {
            self.buckets.resize(self.buckets.len() + size, Bucket::default());
            self.blocks[index] = (self.buckets.len() / size) as u32;
        }
        let block = self.blocks[index] as usize;
        &mut self.buckets[(block - 1) * size..block * size]
    }

    /// Adds histograms with the same columns and fineness.
    pub(super) fn merge(&mut self, other: &Histograms) {
        for index in (0..other.blocks.len()).filter(|&index| other.blocks[index] > 0) {
            add_all(self.block(index), other.tenth(index));
        }
        for (sums, more) in self.products.iter_mut().zip(&other.products) {
            add_all(sums, more);
        }
    }

    /// Returns the buckets of a tenth of a column; empty if there are no scores.
    fn tenth(&self, index: usize) -> &[Bucket] {
        let size = 1 << self.fineness;
        match self.blocks[index] as usize {
            0 => &[],
            block => &self.buckets[(block - 1) * size..block * size],
        }
    }

    /// Returns the histogram of one column.
    pub(super) fn of(&self, column: usize) -> Histogram<'_> {
        let tenths = std::array::from_fn(|tenth| self.tenth(column * TENTHS + tenth));
        Histogram { fineness: self.fineness, tenths, products: self.products[column] }
    }
}

/// Multiplies a score by a number of people, usually one.
#[inline]
pub(super) fn times(score: i64, people: u64) -> i128 {
    if people == 1 { score.into() } else { i128::from(score) * i128::from(people) }
}

/// Returns the bucket of a score. Bucket j starts at j/buckets rounded to the grid, as a score such as 0.3 is; this
/// explains the half unit and the doubling. Scores outside 0 to 1 (rounding errors) are in the first or last bucket.
#[inline]
fn bucket_of(score: i64, fineness: u32) -> usize {
    let buckets = (TENTHS as u64) << fineness;
    let doubled = 2 * score.clamp(0, Grid::UNIT - 1) as u64 + 1;
    ((doubled * buckets) >> 41) as usize
}

/// The histogram of one column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Histogram<'a> {
    fineness: u32,
    /// Buckets by tenth; a tenth without scores is empty.
    tenths: [&'a [Bucket]; TENTHS],
    /// Σ q² in squared grid units, and the sum of the scores of members.
    products: [i128; 2],
}

impl Histogram<'_> {
    /// Returns the non-empty buckets with their numbers, from low scores to high.
    fn buckets(&self) -> impl Iterator<Item = (usize, &Bucket)> {
        let tenths = self.tenths.iter().enumerate();
        tenths
            .flat_map(|(tenth, buckets)| ((tenth << self.fineness)..).zip(buckets.iter()))
            .filter(|(_, bucket)| bucket.people > 0)
    }

    /// Returns the total.
    fn total(&self) -> Bucket {
        sum(self.buckets().map(|(_, bucket)| bucket))
    }

    /// Returns the mean of the bucket with the lowest score that `quarters` quarters of the people do not exceed.
    pub(super) fn quartile(&self, quarters: u64) -> Option<f64> {
        let people = u128::from(self.total().people);
        let mut so_far = 0;
        self.buckets().find_map(|(_, bucket)| {
            so_far += u128::from(bucket.people);
            if 4 * so_far >= u128::from(quarters) * people { bucket.mean() } else { None }
        })
    }

    /// Returns the calibration, if there are people.
    pub(super) fn calibration(&self) -> Option<Calibration> {
        let total = self.total();
        (total.people > 0).then(|| Calibration {
            equal_width: binning(self.equal_width(), total.people),
            equal_count: binning(self.equal_count(total.people), total.people),
            kuiper: self.kuiper(total.people),
            correlation: self.correlation(&total),
        })
    }

    /// Returns the correlation of the scores with the truth, if both vary.
    fn correlation(&self, total: &Bucket) -> Option<f64> {
        let (people, unit) = (total.people as f64, Grid::UNIT as f64);
        let [squares, members] = self.products.map(|sum| sum as f64 / unit / people);
        let (score, share) = (GRID.total(total.scores) / people, total.members as f64 / people);
        let (score_variance, class_variance) = (squares / unit - score * score, share * (1.0 - share));
        // Scores that are all equal have a variance of rounding errors.
        let varies = score_variance > 1e-14 * squares / unit && class_variance > 0.0;
        varies.then(|| ((members - score * share) / (score_variance * class_variance).sqrt()).clamp(-1.0, 1.0))
    }

    /// Returns the ten bins of equal width.
    fn equal_width(&self) -> Vec<BinSums> {
        let bin = |(tenth, buckets): (usize, &&[Bucket])| BinSums {
            from: tenth as f64 / TENTHS as f64,
            to: (tenth + 1) as f64 / TENTHS as f64,
            sum: sum(*buckets),
        };
        self.tenths.iter().enumerate().map(bin).collect()
    }

    /// Returns up to ten bins of nearly equal numbers of people, made of whole buckets.
    fn equal_count(&self, people: u64) -> Vec<BinSums> {
        let buckets = (TENTHS << self.fineness) as f64;
        let mut before = 0u128;
        let mut parts: Vec<(u128, BinSums)> = Vec::with_capacity(TENTHS);
        for (number, bucket) in self.buckets() {
            let middle = 2 * before + u128::from(bucket.people);
            let part = TENTHS as u128 * middle / (2 * u128::from(people));
            before += u128::from(bucket.people);
            let (from, to) = (number as f64 / buckets, (number + 1) as f64 / buckets);
            match parts.last_mut().filter(|(last, _)| *last == part) {
                Some((_, bin)) => {
                    bin.to = to;
                    bin.sum += *bucket;
                }
                None => parts.push((part, BinSums { from, to, sum: *bucket })),
            }
        }
        parts.into_iter().map(|(_, bin)| bin).collect()
    }

    /// Returns Kuiper's statistic, with F evaluated after each bucket and zero before the first.
    fn kuiper(&self, people: u64) -> f64 {
        let (mut sum, mut least, mut most) = (0i128, 0i128, 0i128);
        for (_, bucket) in self.buckets() {
            sum += bucket.surplus();
            least = least.min(sum);
            most = most.max(sum);
        }
        GRID.total(most - least) / people as f64
    }
}

/// People whose score lies between two values.
struct BinSums {
    from: f64,
    to: f64,
    sum: Bucket,
}

/// Buckets taken together.
fn sum<'a>(buckets: impl IntoIterator<Item = &'a Bucket>) -> Bucket {
    buckets.into_iter().fold(Bucket::default(), |mut sum, bucket| {
        sum += *bucket;
        sum
    })
}

/// Returns the bins of a report, and the expected calibration error.
fn binning(bins: Vec<BinSums>, people: u64) -> Binning {
    let surplus: i128 = bins.iter().map(|bin| bin.sum.surplus().abs()).sum();
    let bin = |bin: BinSums| Bin {
        from: bin.from,
        to: bin.to,
        people: bin.sum.people,
        mean_score: bin.sum.mean(),
        observed: bin.sum.observed(),
        interval: wilson(bin.sum.members, bin.sum.people),
    };
    Binning { bins: bins.into_iter().map(bin).collect(), expected_error: GRID.total(surplus) / people as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_begin_at_their_rounded_boundary() {
        for fineness in [OVERALL_FINENESS, GROUP_FINENESS, 0] {
            let buckets = TENTHS << fineness;
            for bucket in 1..buckets {
                let boundary = GRID.round(bucket as f64 / buckets as f64);
                assert_eq!(bucket_of(boundary, fineness), bucket);
                assert_eq!(bucket_of(boundary - 1, fineness), bucket - 1);
            }
            assert_eq!(bucket_of(-5, fineness), 0);
            assert_eq!(bucket_of(Grid::UNIT, fineness), buckets - 1);
            assert_eq!(bucket_of(i64::MAX, fineness), buckets - 1);
        }
    }

    /// Returns the histogram of the second of two columns; the first must not affect it.
    fn filled(scores: &[(f64, u64, bool)]) -> Histograms {
        let mut histograms = Histograms::new(2, GROUP_FINENESS);
        for &(score, people, member) in scores {
            histograms.add(0, GRID.round(0.31), 1, true);
            histograms.add(1, GRID.round(score), people, member);
        }
        histograms
    }

    #[test]
    fn equal_count_bins_keep_equal_scores_together() {
        let histograms = filled(&[(0.5, 95, true), (0.9, 5, true)]);
        let people: Vec<u64> = histograms.of(1).equal_count(100).iter().map(|bin| bin.sum.people).collect();
        assert_eq!(people, [95, 5]);
    }

    #[test]
    fn kuiper_of_a_constant_score_is_its_error() {
        assert_eq!(filled(&[(0.75, 1, true), (0.75, 3, false)]).of(1).kuiper(4), 0.5);
    }

    #[test]
    fn quartiles_are_the_least_values_not_exceeded() {
        assert_eq!(filled(&[]).of(1).quartile(2), None);
        let histograms = filled(&[(0.75, 1, true), (0.5, 2, false), (0.25, 1, false)]);
        let quartiles = [1, 2, 3].map(|quarters| histograms.of(1).quartile(quarters));
        assert_eq!(quartiles, [Some(0.25), Some(0.5), Some(0.5)]);
    }

    #[test]
    fn histograms_merge_whatever_the_order_of_their_tenths() {
        let mut merged = filled(&[(0.75, 1, true), (0.1, 2, false)]);
        merged.merge(&filled(&[(0.1, 3, true), (0.95, 4, true), (0.75, 5, true)]));
        let people = merged.of(1).equal_width().iter().map(|bin| bin.sum.people).collect::<Vec<u64>>();
        assert_eq!(people, [0, 5, 0, 0, 0, 0, 0, 6, 0, 4]);
        assert_eq!(merged.of(0).total().people, 5);
    }
}
