//! Multinomial logistic regression on the logarithms of the scores, with a ridge toward the scores themselves.
//!
//! With x = log(max(q, 1e-6)) and one linear function per class,
//!
//! ```text
//! minimize  ½ Σ (W − I)² − Σ_i log p_i[truth of i],      p_i = softmax(W x_i + b).
//! ```
//!
//! W = I and b = 0 leave the scores as they are. The ridge has the weight of about one person, so it matters only with
//! few people, and makes W unique: its columns sum to one. The intercepts are not shrunk, so the mean of the calibrated
//! scores of each class is its share of the truth; they are unique because their sum is zero. Newton's method with the
//! full Hessian, on rows in a fixed order, so the result does not depend on the order of the table or on threads.

use super::sample::{Training, not_calibrated};
use crate::error::Result;
use crate::kernel::GRID;
use crate::learn::{dot, sum_over};

/// Scores below this are raised to it before the logarithm.
pub(super) const FLOOR: f64 = 1e-6;

/// The weight of the ridge.
const RIDGE: f64 = 1.0;

/// The largest number of classes: the Hessian has (K² + K)² entries.
const MOST_CLASSES: usize = 20;

const MOST_STEPS: usize = 200;
const MOST_HALVINGS: usize = 40;

/// Added to the curvature along intercepts, so that it is never zero. The minimum does not depend on it.
const DAMPING: f64 = 1e-9;

/// The logarithm of a score, as the model uses it.
#[inline]
pub(super) fn log_score(score: f64) -> f64 {
    score.max(FLOOR).ln()
}

/// Fits a model: for each class the weights of all log scores, then the intercept.
pub(super) fn fit(training: &Training<'_>) -> Result<Vec<Vec<f64>>> {
    let k = training.by_class.len();
    if k > MOST_CLASSES {
        let problem = format!("logistic is for at most {MOST_CLASSES} classes, and there are {k}; use isotonic");
        return Err(not_calibrated(problem));
    }
    let problem = Problem::new(training);
    let width = k + 1;
    let mut point = vec![0.0; k * width];
    (0..k).for_each(|class| point[class * width + class] = 1.0);
    let mut at = problem.evaluate(&point);
    for _ in 0..MOST_STEPS {
        let step = problem.newton_step(&at);
        let slope = dot(&at.gradient, &step);
        if !slope.is_finite() {
            break;
        }
        let moved =
            |length: f64| -> Vec<f64> { point.iter().zip(&step).map(|(at, step)| at + length * step).collect() };
        // The value is then precise to fewer digits than the step would change.
        if -slope <= 1e-12 * at.value.max(1.0) {
            return Ok(moved(1.0).chunks_exact(width).map(<[f64]>::to_vec).collect());
        }
        let lengths = (0..MOST_HALVINGS).map(|halvings| 0.5f64.powi(halvings as i32));
        let lower = lengths.map(|length| (length, moved(length))).find_map(|(length, next)| {
            let found = problem.evaluate(&next);
            (found.value <= at.value + 1e-4 * length * slope).then_some((next, found))
        });
        let Some(found) = lower else { break };
        (point, at) = found;
    }
    Err(not_calibrated("the logistic regression did not converge; use isotonic".into()))
}

/// The objective of the regression.
struct Problem {
    classes: usize,
    /// The log scores and a constant 1, row by row.
    features: Vec<f64>,
    /// The number of people by true class, row by row.
    people: Vec<f64>,
}

/// The objective at a point.
struct Evaluated {
    value: f64,
    gradient: Vec<f64>,
    /// For each pair of classes k ≤ l, Σ n p_k (δ_kl − p_l) x xᵀ, as the upper triangle of a matrix.
    curvature: Vec<f64>,
}

impl Evaluated {
    fn zero(classes: usize) -> Evaluated {
        let width = classes + 1;
        let (pairs, triangle) = (classes * (classes + 1) / 2, width * (width + 1) / 2);
        Evaluated { value: 0.0, gradient: vec![0.0; classes * width], curvature: vec![0.0; pairs * triangle] }
    }

    fn add(&mut self, other: &Evaluated) {
        self.value += other.value;
        self.gradient.iter_mut().zip(&other.gradient).for_each(|(sum, own)| *sum += own);
        self.curvature.iter_mut().zip(&other.curvature).for_each(|(sum, own)| *sum += own);
    }
}

impl Problem {
    fn new(training: &Training<'_>) -> Problem {
        let classes = training.by_class.len();
        let (mut features, mut people) = (Vec::new(), Vec::new());
        for (row, counts) in training.rows.chunks_exact(classes).zip(training.people.chunks_exact(classes)) {
            if counts.iter().any(|&count| count > 0) {
                features.extend(row.iter().map(|&units| log_score(GRID.value(units))).chain([1.0]));
                people.extend(counts.iter().map(|&count| count as f64));
            }
        }
        Problem { classes, features, people }
    }

    fn evaluate(&self, point: &[f64]) -> Evaluated {
        let (k, width) = (self.classes, self.classes + 1);
        let part = |rows: std::ops::Range<usize>| {
            let mut sums = Evaluated::zero(k);
            let (mut chances, mut outer) = (vec![0.0; k], Vec::with_capacity(width * (width + 1) / 2));
            for row in rows {
                self.add_row(point, row, &mut sums, &mut chances, &mut outer);
            }
            sums
        };
        let mut sums = Evaluated::zero(k);
        sum_over(self.people.len() / k, part, |own| sums.add(&own));
        for (index, (gradient, value)) in sums.gradient.iter_mut().zip(point).enumerate() {
            let (class, feature) = (index / width, index % width);
            if feature < k {
                let off = value - if class == feature { 1.0 } else { 0.0 };
                sums.value += 0.5 * RIDGE * off * off;
                *gradient += RIDGE * off;
            }
        }
        let intercepts: f64 = point.chunks_exact(width).map(|plane| plane[k]).sum();
        sums.value += 0.5 * intercepts * intercepts;
        sums.gradient.chunks_exact_mut(width).for_each(|plane| plane[k] += intercepts);
        sums
    }

    /// Adds the contributions of the people with one row of scores.
    fn add_row(&self, point: &[f64], row: usize, sums: &mut Evaluated, chances: &mut [f64], outer: &mut Vec<f64>) {
        let (k, width) = (self.classes, self.classes + 1);
        let (features, people) = (&self.features[row * width..][..width], &self.people[row * k..][..k]);
        let all: f64 = people.iter().sum();
        for (chance, plane) in chances.iter_mut().zip(point.chunks_exact(width)) {
            *chance = dot(plane, features);
        }
        sums.value -= dot(people, chances);
        sums.value += all * softmax(chances);
        for ((gradient, &chance), &own) in sums.gradient.chunks_exact_mut(width).zip(&*chances).zip(people) {
            let residual = all * chance - own;
            gradient.iter_mut().zip(features).for_each(|(sum, feature)| *sum += residual * feature);
        }
        outer.clear();
        for (index, feature) in features.iter().enumerate() {
            outer.extend(features[index..].iter().map(|other| feature * other));
        }
        let mut blocks = sums.curvature.chunks_exact_mut(outer.len());
        for (class, &chance) in chances.iter().enumerate() {
            for (other, &other_chance) in chances.iter().enumerate().skip(class) {
                let own = if class == other { 1.0 - chance } else { -other_chance };
                let weight = all * chance * own;
                let Some(block) = blocks.next() else { return };
                block.iter_mut().zip(&*outer).for_each(|(sum, product)| *sum += weight * product);
            }
        }
    }

    /// Returns Newton's step.
    fn newton_step(&self, at: &Evaluated) -> Vec<f64> {
        let (k, width) = (self.classes, self.classes + 1);
        let size = k * width;
        let mut hessian = vec![0.0; size * size];
        let mut sums = at.curvature.iter();
        for class in 0..k {
            for other in class..k {
                for one in 0..width {
                    for two in one..width {
                        let Some(&sum) = sums.next() else { continue };
                        for (a, b) in [(one, two), (two, one)] {
                            hessian[(class * width + a) * size + other * width + b] = sum;
                            hessian[(other * width + b) * size + class * width + a] = sum;
                        }
                    }
                }
            }
        }
        for class in 0..k {
            for feature in 0..k {
                hessian[(class * width + feature) * (size + 1)] += RIDGE;
            }
            for other in 0..k {
                hessian[(class * width + k) * size + other * width + k] += 1.0;
            }
            hessian[(class * width + k) * (size + 1)] += DAMPING;
        }
        let mut step: Vec<f64> = at.gradient.iter().map(|slope| -slope).collect();
        solve(&mut hessian, &mut step);
        step
    }
}

/// Converts logits to probabilities and returns the logarithm of the sum of their exponentials.
pub(super) fn softmax(logits: &mut [f64]) -> f64 {
    let highest = logits.iter().fold(f64::NEG_INFINITY, |highest, &logit| highest.max(logit));
    logits.iter_mut().for_each(|logit| *logit = (*logit - highest).exp());
    let sum: f64 = logits.iter().sum();
    logits.iter_mut().for_each(|chance| *chance /= sum);
    highest + sum.ln()
}

/// Solves a system with a symmetric positive definite matrix, by Cholesky decomposition.
pub(super) fn solve(matrix: &mut [f64], right: &mut [f64]) {
    let n = right.len();
    for column in 0..n {
        let before = &matrix[column * n..column * n + column];
        let pivot = (matrix[column * n + column] - dot(before, before)).max(f64::MIN_POSITIVE).sqrt();
        matrix[column * n + column] = pivot;
        for row in column + 1..n {
            let (upper, lower) = matrix.split_at_mut(row * n);
            let own = &mut lower[..n];
            own[column] = (own[column] - dot(&own[..column], &upper[column * n..column * n + column])) / pivot;
        }
    }
    for row in 0..n {
        let known = dot(&matrix[row * n..row * n + row], &right[..row]);
        right[row] = (right[row] - known) / matrix[row * n + row];
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|other| matrix[other * n + row] * right[other]).sum();
        right[row] = (right[row] - known) / matrix[row * n + row];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved() {
        let matrix = [4.0, 2.0, 0.6, 2.0, 5.0, -1.0, 0.6, -1.0, 3.0];
        let mut right = vec![1.0, -2.0, 0.5];
        solve(&mut matrix.to_vec(), &mut right);
        for (row, expected) in matrix.chunks_exact(3).zip([1.0, -2.0, 0.5]) {
            assert!((dot(row, &right) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn gradient_and_curvature_are_derivatives() {
        let rows: Vec<i64> = [0.7, 0.2, 0.1, 0.3, 0.3, 0.4, 0.0, 0.5, 0.5].map(|score| GRID.round(score)).to_vec();
        let training = Training { rows: &rows, people: vec![3, 1, 0, 1, 0, 2, 0, 4, 1], by_class: vec![4, 5, 3] };
        let problem = Problem::new(&training);
        let mut point: Vec<f64> = (0..12).map(|index| f64::from(index * 7 % 5) * 0.1 - 0.2).collect();
        let at = problem.evaluate(&point);
        let step = problem.newton_step(&at);
        // A small move along Newton's step changes the gradient by minus that part of the gradient.
        let size = 1e-5;
        let mut value = [0.0; 2];
        let mut gradients = Vec::new();
        for (sign, value) in [1.0, -1.0].into_iter().zip(&mut value) {
            let moved: Vec<f64> = point.iter().zip(&step).map(|(at, step)| at + sign * size * step).collect();
            let found = problem.evaluate(&moved);
            *value = found.value;
            gradients.push(found.gradient);
        }
        let slope = (value[0] - value[1]) / (2.0 * size);
        assert!((slope - dot(&at.gradient, &step)).abs() < 1e-5 * slope.abs(), "{slope}");
        for (index, own) in at.gradient.iter().enumerate() {
            let change = (gradients[0][index] - gradients[1][index]) / (2.0 * size);
            assert!((change + own).abs() < 1e-5 * (1.0 + own.abs()), "{index}: {change} {own}");
        }
        point[0] += size;
        assert!(((problem.evaluate(&point).value - at.value) / size - at.gradient[0]).abs() < 1e-2);
    }
}
