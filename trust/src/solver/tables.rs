//! Random tables of scores.

use crate::draw::Draw;

/// The number of kinds of scores.
const KINDS: u64 = 7;

/// Returns rows that sum to one, of one of several kinds: smooth, with ties, equal, certain, or nearly tied. With
/// `single`, all values have single precision.
pub(super) fn scores(draw: &mut Draw<'_>, rows: usize, k: usize, single: bool) -> Vec<f64> {
    let kind = draw.below(KINDS);
    let mut scores = Vec::with_capacity(rows * k);
    match kind {
        0 | 1 => (0..rows).for_each(|_| smooth(draw, k, &mut scores)),
        2 => {
            parts(draw, k, 4, &mut scores);
            scores = scores.repeat(rows);
        }
        3 => (0..rows).for_each(|_| parts(draw, k, 2, &mut scores)),
        4 => (0..rows).for_each(|_| parts(draw, k, 1, &mut scores)),
        5 => (0..rows).for_each(|_| parts(draw, k, 10, &mut scores)),
        _ => {
            (0..rows).for_each(|_| parts(draw, k, 4, &mut scores));
            // Adds noise of a few units of the grid in either direction, which can make scores negative.
            let noise = (0.5f64).powi(40);
            scores.iter_mut().for_each(|score| *score += (draw.below(7) as f64 - 3.0) * noise);
        }
    }
    if single {
        scores.iter_mut().for_each(|score| *score = f64::from(*score as f32));
    }
    scores
}

/// Adds a row that sums to one, skewed toward the first classes.
fn smooth(draw: &mut Draw<'_>, k: usize, scores: &mut Vec<f64>) {
    let weights: Vec<f64> = (0..k).map(|class| draw.unit().powi(3) / (class + 1) as f64 + 1e-9).collect();
    let sum: f64 = weights.iter().sum();
    scores.extend(weights.iter().map(|weight| weight / sum));
}

/// Adds a row of multiples of 1/parts: many rows are equal, and many classes tie.
pub(super) fn parts(draw: &mut Draw<'_>, k: usize, parts: u64, scores: &mut Vec<f64>) {
    let mut left = parts;
    for class in 0..k {
        let take = if class + 1 == k { left } else { draw.below(left + 1) };
        left -= take;
        scores.push(take as f64 / parts as f64);
    }
}

/// Returns scores in units of 2^-40, rounded half to even.
pub(super) fn units(scores: &[f64]) -> Vec<i64> {
    scores.iter().map(|score| (score * (1u64 << 40) as f64).round_ties_even() as i64).collect()
}
