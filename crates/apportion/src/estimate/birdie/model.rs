//! What EM needs to know about a model of the outcome: how it updates scores, and the step for its parameters.

use super::rows::{Row, Rows, Shape, Sums, units};
use crate::error::Result;
use crate::kernel::GRID;

/// The prior of the variances between groups: as if two more groups had the variance of all classes together, for which
/// two more groups have a fixed variance.
const PRIOR_GROUPS: f64 = 2.0;

/// With more classes, the covariances between the errors of classes in a group are not computed.
const MOST_WITH_COVARIANCES: usize = 32;

/// The distribution of the outcome in each class and group, which updates scores.
pub(super) trait Likelihood: Sync {
    /// Writes the scores of a person, updated by the outcome and normalized, into `buffer`.
    fn update(&self, row: &Row<'_>, buffer: &mut [f64]);
}

/// A model of the outcome: its prior, its partial pooling, and the step of EM.
pub(super) trait Model: Clone + Sync {
    /// The distribution with given parameters.
    type Own: Likelihood;

    /// Returns the dimensions.
    fn shape(&self) -> &Shape;

    /// Returns the initial parameters, given the sums of unchanged scores.
    fn start(&self, unchanged: &Sums) -> Vec<f64>;

    /// Returns the distribution with given parameters.
    fn likelihood(&self, parameters: &[f64]) -> Self::Own;

    /// Returns the numbers that must not change any more for convergence.
    fn values(&self, parameters: &[f64]) -> Vec<f64>;

    /// Returns the parameters after a step of EM, given the sums of updated scores.
    fn next(&self, parameters: &[f64], sums: &Sums) -> Vec<f64>;

    /// Moves parameters back into the valid range after an accelerated step.
    fn bring_back(&self, parameters: &mut [f64]);

    /// Returns whether the groups of a class are pooled partially.
    fn is_pooled(&self) -> bool;

    /// Sets the variances between groups that the parameters imply. Returns the largest change of a standard deviation.
    fn update_variances(&mut self, parameters: &[f64], rows: &Rows<'_>, present: &[bool]) -> Result<f64>;

    /// Returns the model of a bootstrap replicate: with the prior of its own sums of unchanged scores and, for partial
    /// pooling, with prior means of the groups that are drawn: `normal(index)` standard deviations from 0.
    fn resampled(&self, unchanged: &Sums, normal: &dyn Fn(usize) -> f64) -> Self;

    /// Returns the estimate by level and class over all groups, given the sums over all groups; NaN without people.
    fn estimates(&self, all: &[i128]) -> Vec<f64>;
}

/// Unchanged scores.
pub(super) struct Unchanged;

impl Likelihood for Unchanged {
    #[inline]
    fn update(&self, row: &Row<'_>, buffer: &mut [f64]) {
        buffer.iter_mut().zip(row.scores).for_each(|(own, score)| *own = score.max(0.0));
        normalize(buffer, row.scores);
    }
}

/// Divides by the sum; if it is 0, writes the scores.
#[inline]
pub(super) fn normalize(buffer: &mut [f64], scores: &[f64]) {
    let sum: f64 = buffer.iter().sum();
    if sum > 0.0 {
        let scale = 1.0 / sum;
        buffer.iter_mut().for_each(|own| *own *= scale);
    } else {
        buffer.copy_from_slice(scores);
    }
}

/// Removes a person's own outcome from what updates the person's scores.
///
/// The outcome is part of what the distribution of each class was estimated from. In small groups this would count it
/// twice, so its influence c p on the log of its own probability is removed: p_r ∝ θ_r q_r / (1 + c_r p_r), with p on the
/// right before this. `buffer` has the normalized θ q.
#[inline]
pub(super) fn remove_own(influences: impl Iterator<Item = f64>, row: &Row<'_>, buffer: &mut [f64]) {
    buffer.iter_mut().zip(influences).for_each(|(own, influence)| *own /= 1.0 + influence * row.weight * *own);
    normalize(buffer, row.scores);
}

/// Returns the variances between groups that deviations u of the groups imply, by class: Σ_x u² / Σ_x (1 − v/σ²), with v the
/// variance of u in the normal approximation of its distribution, given the outcomes. `sums` has both sums of each class.
pub(super) fn pooled_variances(sums: &[(f64, f64)], prior: f64) -> Vec<f64> {
    let pool = |prior: f64, squares: f64, freedom: f64| (PRIOR_GROUPS * prior + squares) / (PRIOR_GROUPS + freedom);
    let (squares, freedom) = sums.iter().fold((0.0, 0.0), |(a, b), own| (a + own.0, b + own.1));
    let common = pool(prior, squares, freedom);
    sums.iter().map(|(squares, freedom)| pool(common, *squares, *freedom)).collect()
}

/// Sums the information about one parameter of each class, by group: symmetric matrices of classes, row by row. `each` adds
/// that of a person to a matrix, in which only pairs of classes in order are used.
pub(super) fn information(
    shape: &Shape,
    rows: &Rows<'_>,
    each: impl Fn(&Row<'_>, &mut [f64]) + Sync + Send,
) -> Result<Vec<Vec<f64>>> {
    let k = shape.classes;
    let size = k * k;
    let add = |(sums, own): &mut (Vec<i128>, Vec<f64>), row: &Row<'_>| {
        own.fill(0.0);
        each(row, own);
        let sums = &mut sums[row.cell / shape.levels * size..][..size];
        for (sum, own) in sums.iter_mut().zip(own).filter(|(_, own)| **own != 0.0) {
            *sum += units(*own * row.weight) * i128::from(row.people);
        }
    };
    let merge = |(mut all, own): (Vec<i128>, Vec<f64>), (part, _): (Vec<i128>, Vec<f64>)| {
        all.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
        (all, own)
    };
    let (sums, _) = rows.sum(shape, || (vec![0; shape.groups * size], vec![0.0; size]), add, merge)?;
    let matrix = |own: &[i128]| {
        let at = |index: usize| GRID.total(own[(index / k).min(index % k) * k + (index / k).max(index % k)]);
        (0..size).map(at).collect()
    };
    Ok(sums.chunks_exact(size).map(matrix).collect())
}

/// Adds c d dᵀ to a matrix of classes, for pairs of classes in order.
#[inline]
pub(super) fn add_product(slopes: &[f64], scale: f64, matrix: &mut [f64]) {
    let k = slopes.len();
    for (a, one) in slopes.iter().enumerate() {
        for (b, other) in slopes.iter().enumerate().skip(a) {
            if k <= MOST_WITH_COVARIANCES || a == b {
                matrix[a * k + b] += one * other * scale;
            }
        }
    }
}

/// Returns v / σ² of each class: the diagonal of (I + D)⁻¹ D with the information I and D = diag(1/σ²), by Gaussian
/// elimination. 1 if the group says nothing about the class.
pub(super) fn unexplained(information: &[f64], variances: &[f64]) -> Vec<f64> {
    let k = variances.len();
    let mut left = information.to_vec();
    (0..k).for_each(|class| left[class * k + class] += 1.0 / variances[class]);
    let mut inverse = vec![0.0; k * k];
    (0..k).for_each(|class| inverse[class * k + class] = 1.0);
    // The matrix is positive definite, so the pivots are positive.
    for pivot in 0..k {
        let scale = 1.0 / left[pivot * k + pivot];
        for column in 0..k {
            left[pivot * k + column] *= scale;
            inverse[pivot * k + column] *= scale;
        }
        for row in (0..k).filter(|&row| row != pivot) {
            let factor = left[row * k + pivot];
            for column in 0..k {
                left[row * k + column] -= factor * left[pivot * k + column];
                inverse[row * k + column] -= factor * inverse[pivot * k + column];
            }
        }
    }
    (0..k).map(|class| inverse[class * k + class] / variances[class]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_inverted() {
        // (I + D) = [[3, 1], [1, 2]]; its inverse is [[.4, -.2], [-.2, .6]].
        let left = unexplained(&[2.0, 1.0, 1.0, 1.5], &[1.0, 2.0]);
        assert!((left[0] - 0.4).abs() < 1e-12 && (left[1] - 0.3).abs() < 1e-12, "{left:?}");
        assert_eq!(unexplained(&[0.0; 4], &[0.25, 4.0]), [1.0, 1.0]);
    }
}
