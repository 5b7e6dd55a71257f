//! Outcomes by class, by linear regression on the scores (Elzayn et al. 2024).
//!
//! The class means are the coefficients β of the least-squares regression of Y on the scores q_1 … q_K without
//! intercept, because the scores of a person sum to one. Numeric outcomes are taken relative to their offset, which is
//! added to the coefficients. The covariance is robust to heteroskedasticity (HC1): n / (n − k) · (Σ w q q')⁻¹ (Σ w² q q'
//! e²) (Σ w q q')⁻¹, with e = Y − Σ β_c q_c, n people with a positive weight, and k coefficients that the scores
//! determine. The survey weights w are 1 if there are none.

use super::exact::ExactSum;
use super::figures::{Estimate, Mean};
use super::outcomes::{Measure, Outcomes};
use super::sums::{add_sums, level_ranges, sum_rows};
use super::weighted::{MOST_WITH_GAPS, Weighted, each_pair, pair_of, pairs_of};
use crate::error::{Error, Result};
use crate::kernel::GRID;
use crate::scores::{Classes, Scores, expect_length};

/// Eigenvalues of Σ q q', scaled to a diagonal of ones, that count as zero. Rounding errors are about 1e-15.
const ZERO: f64 = 1e-11;

/// A class is determined by the scores if its share of the directions with eigenvalue zero is at most this.
const DETERMINED: f64 = 1e-6;

/// Outcomes by regression on the scores. Its pass over the rows can be merged and does not depend on the row order.
///
/// It is unbiased if outcome and scores are uncorrelated among people of one class. Shares can be outside 0 to 1, and
/// their intervals are normal: nothing is clipped.
#[derive(Clone, Debug)]
pub struct Linear {
    classes: Classes,
    measure: Measure,
    people: u64,
    /// The regression matrix, the same for all levels.
    inverse: Inverse,
    effective_n: Vec<Option<f64>>,
    /// By shown level, then by class.
    coefficients: Vec<Vec<f64>>,
    /// By shown level, then by pair: Σ q_a q_b e².
    squares: Vec<ExactSum>,
}

impl Linear {
    /// The largest number of classes: the number of sums grows with its square.
    pub const MAX_CLASSES: usize = MOST_WITH_GAPS;

    /// Fits all rows of a table: one pass for the coefficients and one for their covariance.
    ///
    /// # Errors
    /// If there are more than [`Self::MAX_CLASSES`] classes, or a row is invalid.
    pub fn of(scores: &Scores<'_>, outcomes: &Outcomes<'_>) -> Result<Linear> {
        Linear::with(&Weighted::of(scores, outcomes)?, scores, outcomes)
    }

    /// Sums over the rows of one batch, with the coefficients of all batches. `whole` contains all batches.
    ///
    /// # Errors
    /// If the batch has other classes or outcomes than the whole, there are more than [`Self::MAX_CLASSES`] classes, or
    /// a row is invalid.
    pub fn with(whole: &Weighted, scores: &Scores<'_>, outcomes: &Outcomes<'_>) -> Result<Linear> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        let (classes, measure) = (scores.classes(), outcomes.measure());
        let k = classes.len();
        if k > Self::MAX_CLASSES {
            let what = "the number of classes of the linear estimator".to_owned();
            return Err(Error::Parameter { what, value: k as f64, range: "at most 32" });
        }
        whole.check_same(classes, &measure)?;
        // A power of two, so that weights times a power of two give the same estimates.
        let unit = whole.weight().map_or(1.0, power_of_two);
        let products: Vec<f64> = whole.products().into_iter().map(|sum| sum / unit).collect();
        let inverse = Inverse::of(k, |a, b| pair_of(k, a.min(b), a.max(b)).map_or(0.0, |pair| products[pair]));
        let effective_n = whole.effective_n();
        let outcome_sums = |level| whole.outcome_sums(level).into_iter().map(|sum| sum / unit).collect::<Vec<f64>>();
        let coefficients: Vec<Vec<f64>> = measure.shown().map(|level| inverse.times(&outcome_sums(level))).collect();
        let (pairs, first) = (pairs_of(k), measure.shown().start);
        let mut squares = Vec::with_capacity(coefficients.len() * pairs);
        for levels in level_ranges(measure.shown(), pairs) {
            let part = sum_rows(scores, levels.len() * pairs, |terms, index, row, _| {
                let Some(value) = outcomes.at(index) else { return };
                let weight = outcomes.weight(index) / unit;
                for (level, terms) in levels.clone().zip(terms.chunks_exact_mut(pairs)) {
                    let fitted = row.iter().zip(&coefficients[level - first]);
                    let residual = value.at(level) - fitted.map(|(&q, beta)| GRID.value(q) * beta).sum::<f64>();
                    let residual = weight * residual;
                    each_pair(row, |pair, a, b| terms[pair] = GRID.value(a) * GRID.value(b) * residual * residual);
                }
            })?;
            squares.extend(part);
        }
        let people = whole.people_with_weight();
        Ok(Linear { classes: classes.clone(), measure, people, inverse, effective_n, coefficients, squares })
    }

    /// Adds the sums of another batch with the same coefficients.
    ///
    /// # Errors
    /// If the classes, the outcomes or the coefficients differ.
    pub fn merge(&mut self, other: &Linear) -> Result<()> {
        if self.classes != other.classes {
            return Err(Error::Tally { what: "classes" });
        }
        self.measure.check_same(&other.measure)?;
        if self.coefficients != other.coefficients || self.people != other.people {
            return Err(Error::Tally { what: "coefficients" });
        }
        add_sums(&mut self.squares, &other.squares);
        Ok(())
    }

    /// Returns the classes with scores whose mean the scores do not determine, because their scores are a linear
    /// combination of the scores of other classes. They have no estimate.
    pub fn undetermined(&self) -> Vec<usize> {
        let is_undetermined = |&class: &usize| self.effective_n[class].is_some() && !self.inverse.determines[class];
        (0..self.classes.len()).filter(is_undetermined).collect()
    }

    /// Returns the mean outcome of each class, for each requested level.
    pub fn estimates(&self) -> Vec<Estimate> {
        (0..self.coefficients.len()).map(|shown| self.estimate(shown)).collect()
    }

    fn estimate(&self, shown: usize) -> Estimate {
        let k = self.classes.len();
        let squares: Vec<f64> =
            self.squares[shown * pairs_of(k)..][..pairs_of(k)].iter().map(ExactSum::value).collect();
        let meat = |a: usize, b: usize| pair_of(k, a.min(b), a.max(b)).map_or(0.0, |pair| squares[pair]);
        // (Σ q q')⁻¹ (Σ q q' e²), then times (Σ q q')⁻¹.
        let half: Vec<Vec<f64>> = (0..k)
            .map(|a| (0..k).map(|b| (0..k).map(|c| self.inverse.at(a, c) * meat(c, b)).sum()).collect())
            .collect();
        let free = self.people.saturating_sub(self.inverse.rank as u64);
        let factor = (free > 0).then(|| self.people as f64 / free as f64);
        let means: Vec<Option<Mean>> = (0..k)
            .map(|class| {
                let effective_n = self.effective_n[class].filter(|_| self.inverse.determines[class])?;
                Some(Mean::unbounded(self.coefficients[shown][class], effective_n))
            })
            .collect();
        Estimate::of(&self.measure, &means, |a, b| {
            let (a, b) = (a.min(b), a.max(b));
            let sum: f64 = (0..k).map(|c| half[a][c] * self.inverse.at(c, b)).sum();
            factor.map(|factor| factor * sum)
        })
    }
}

/// Returns the largest power of two that is not larger than a positive normal number.
fn power_of_two(number: f64) -> f64 {
    f64::from_bits(number.to_bits() & (0x7ff << 52))
}

/// The pseudoinverse of a symmetric matrix without negative eigenvalues.
#[derive(Clone, Debug)]
struct Inverse {
    size: usize,
    matrix: Vec<f64>,
    rank: usize,
    /// Whether the solution for an unknown is unique.
    determines: Vec<bool>,
}

impl Inverse {
    /// Inverts a matrix. It is scaled to a diagonal of ones first, so that a class with few people is not taken for a
    /// class without people.
    fn of(size: usize, matrix: impl Fn(usize, usize) -> f64) -> Inverse {
        let scale: Vec<f64> = (0..size).map(|row| matrix(row, row)).map(|own| own.max(0.0).sqrt()).collect();
        let is_zero = |row: usize| scale[row] == 0.0;
        let scaled = |row: usize, column: usize| match (row, column) {
            _ if is_zero(row) || is_zero(column) => 0.0,
            _ if row == column => 1.0,
            _ => matrix(row, column) / scale[row] / scale[column],
        };
        let scaled = (0..size * size).map(|index| scaled(index / size, index % size)).collect();
        let (values, vectors) = eigen(scaled, size);
        let kept: Vec<usize> = (0..size).filter(|&each| values[each] > ZERO).collect();
        let entry = |row: usize, column: usize| {
            let sum =
                kept.iter().map(|&each| vectors[row * size + each] * vectors[column * size + each] / values[each]);
            if is_zero(row) || is_zero(column) { 0.0 } else { sum.sum::<f64>() / scale[row] / scale[column] }
        };
        let lost = |row: usize| 1.0 - kept.iter().map(|&each| vectors[row * size + each].powi(2)).sum::<f64>();
        Inverse {
            size,
            matrix: (0..size * size).map(|index| entry(index / size, index % size)).collect(),
            rank: kept.len(),
            determines: (0..size).map(|row| lost(row) <= DETERMINED).collect(),
        }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.matrix[row * self.size + column]
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        (0..self.size).map(|row| (0..self.size).map(|column| self.at(row, column) * vector[column]).sum()).collect()
    }
}

/// Returns the eigenvalues of a symmetric matrix, and its eigenvectors as columns (cyclic Jacobi rotations).
fn eigen(mut matrix: Vec<f64>, size: usize) -> (Vec<f64>, Vec<f64>) {
    let mut vectors: Vec<f64> =
        (0..size * size).map(|index| f64::from(u8::from(index / size == index % size))).collect();
    // Convergence is quadratic; a handful of sweeps are enough.
    for _ in 0..60 {
        let mut rotated = false;
        for p in 0..size {
            for q in p + 1..size {
                let off = matrix[p * size + q];
                if off.abs() <= 1e-17 {
                    continue;
                }
                rotated = true;
                let theta = (matrix[q * size + q] - matrix[p * size + p]) / (2.0 * off);
                let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
                let sine = tangent * cosine;
                let turn = |own: &mut Vec<f64>, one: usize, other: usize| {
                    let (x, y) = (own[one], own[other]);
                    own[one] = cosine * x - sine * y;
                    own[other] = sine * x + cosine * y;
                };
                (0..size).for_each(|row| turn(&mut matrix, row * size + p, row * size + q));
                (0..size).for_each(|column| turn(&mut matrix, p * size + column, q * size + column));
                (0..size).for_each(|row| turn(&mut vectors, row * size + p, row * size + q));
            }
        }
        if !rotated {
            break;
        }
    }
    ((0..size).map(|row| matrix[row * size + row]).collect(), vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_an_invertible_matrix_is_its_inverse() {
        let matrix = [4.0, 1.0, 0.5, 1.0, 3e-4, 1e-3, 0.5, 1e-3, 200.0];
        // Made positive definite: M M'.
        let product = |a: usize, b: usize| (0..3).map(|c| matrix[a * 3 + c] * matrix[b * 3 + c]).sum::<f64>();
        let inverse = Inverse::of(3, product);
        assert_eq!((inverse.rank, &inverse.determines[..]), (3, &[true; 3][..]));
        for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
            let own: f64 = (0..3).map(|c| inverse.at(a, c) * product(c, b)).sum();
            assert!((own - f64::from(u8::from(a == b))).abs() < 1e-6, "{a} {b} {own}");
        }
    }

    #[test]
    fn proportional_and_empty_columns_are_not_determined() {
        // Columns x, 2x, y and 0.
        let (x, y) = ([1.0, 2.0, 3.0], [1.0, 0.0, 5.0]);
        let columns = [x, x.map(|own| 2.0 * own), y, [0.0; 3]];
        let product = |a: usize, b: usize| (0..3).map(|row| columns[a][row] * columns[b][row]).sum::<f64>();
        let inverse = Inverse::of(4, product);
        assert_eq!((inverse.rank, inverse.determines), (2, vec![false, false, true, false]));
    }
}
