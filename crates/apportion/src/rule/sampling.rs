//! Thompson sampling and top-k: a class drawn at random with the row's scores as probabilities.
//!
//! On average, counts are those of the scores, in any subgroup; they are unbiased in subgroups in which the scores are
//! calibrated. Row by row this is the least accurate rule. A draw depends on (seed, key, draw number) only.

use crate::scores::Label;
use crate::seed;

/// Salt that separates the hashes of draws from those of ties.
const DRAWS: u64 = 1 << 63;

/// Draws a class with probabilities proportional to the scores, in exact integer arithmetic. Negative scores count as
/// zero. Draws are numbered from 0.
pub(crate) fn sample(scores: &[i64], seed: u64, key: u64, draw: u64) -> Label {
    let weight = |score: &i64| (*score).max(0) as u64;
    let total: u64 = scores.iter().map(weight).sum();
    let mut left = seed::below(seed::hash(seed, key, DRAWS | draw), total);
    for (class, score) in scores.iter().enumerate() {
        let weight = weight(score);
        if left < weight {
            return class as Label;
        }
        left -= weight;
    }
    // Reached only if no score is positive, which is impossible if rows sum to one.
    0
}

/// Draws several classes, each as [`sample`] does; shared work is done once, in `buffer`.
pub(crate) fn sample_each(
    scores: &[i64],
    seed: u64,
    key: u64,
    draws: u64,
    buffer: &mut Vec<u64>,
    mut each: impl FnMut(u64, usize),
) {
    let mut total = 0;
    buffer.clear();
    buffer.extend(scores.iter().map(|&score| {
        total += score.max(0) as u64;
        total
    }));
    for draw in 0..draws {
        let chosen = seed::below(seed::hash(seed, key, DRAWS | draw), total);
        let class = buffer.iter().filter(|&&below| below <= chosen).count();
        each(draw, if class < scores.len() { class } else { 0 });
    }
}

/// Sets all scores below the k-th largest to zero.
pub(crate) fn top_classes(scores: &mut [i64], k: usize, sorted: &mut Vec<i64>) {
    sorted.clear();
    sorted.extend_from_slice(scores);
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let least = sorted[k.min(sorted.len()) - 1];
    scores.iter_mut().filter(|score| **score < least).for_each(|score| *score = 0);
}
