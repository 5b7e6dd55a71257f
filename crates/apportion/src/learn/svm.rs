//! A linear support vector machine, one class against the rest, as in liblinear and scikit-learn's `LinearSVC`.
//!
//! For w, whose last entry is the intercept (a constant feature, regularized like all others),
//!
//! ```text
//! minimize  ½ w·w + C Σ_i max(0, 1 − y_i w·x_i)²,      y_i = 1 if row i has the class, otherwise −1.
//! ```
//!
//! There is one more unknown than classes, so Newton's method on this function is the most direct solution.

use rayon::prelude::*;

use super::linear::Linear;
use super::newton::{Objective, dot, minimize, sum_over};
use super::{C, TrainingSet};
use crate::scores::Label;

pub(super) fn learn(training_set: &TrainingSet<'_>) -> Linear {
    let present = training_set.present();
    let planes: Vec<(Label, Vec<f64>)> = match present.as_slice() {
        // With a single class, any function will do.
        [only] => vec![(*only, vec![0.0; training_set.classes + 1])],
        all => all.par_iter().map(|&class| (class, minimize(&mut OneAgainstRest::new(training_set, class)))).collect(),
    };
    Linear::new(training_set.classes, planes.into_iter())
}

struct OneAgainstRest<'a> {
    training_set: &'a TrainingSet<'a>,
    class: Label,
    /// The rows within the margin or on the wrong side, at the last evaluated point.
    within: Vec<usize>,
}

impl<'a> OneAgainstRest<'a> {
    fn new(training_set: &'a TrainingSet<'a>, class: Label) -> Self {
        OneAgainstRest { training_set, class, within: Vec::new() }
    }
}

/// Returns w·x, where the last entry of w is the intercept.
fn height(plane: &[f64], row: &[f64]) -> f64 {
    dot(plane, row) + plane[row.len()]
}

/// Adds a multiple of x, and of its constant feature.
fn add(sum: &mut [f64], times: f64, row: &[f64]) {
    sum.iter_mut().zip(row).for_each(|(sum, score)| *sum += times * score);
    sum[row.len()] += times;
}

impl Objective for OneAgainstRest<'_> {
    fn dimensions(&self) -> usize {
        self.training_set.classes + 1
    }

    fn evaluate(&mut self, point: &[f64]) -> (f64, Vec<f64>) {
        let (training_set, class) = (self.training_set, self.class);
        let (mut value, mut gradient) = (0.5 * dot(point, point), point.to_vec());
        let within = &mut self.within;
        within.clear();
        let part = |rows: std::ops::Range<usize>| {
            let (mut loss, mut slope, mut close) = (0.0, vec![0.0; point.len()], Vec::new());
            for row in rows {
                let side = if training_set.labels[row] == class { 1.0 } else { -1.0 };
                let missing = 1.0 - side * height(point, training_set.row(row));
                if missing > 0.0 {
                    loss += missing * missing;
                    add(&mut slope, -side * missing, training_set.row(row));
                    close.push(row);
                }
            }
            (loss, slope, close)
        };
        sum_over(training_set.labels.len(), part, |(loss, slope, close)| {
            value += C * loss;
            gradient.iter_mut().zip(slope).for_each(|(sum, slope)| *sum += 2.0 * C * slope);
            within.extend(close);
        });
        (value, gradient)
    }

    fn hessian_times(&self, along: &[f64]) -> Vec<f64> {
        let mut product = along.to_vec();
        let part = |indices: std::ops::Range<usize>| {
            let mut sum = vec![0.0; along.len()];
            for &row in &self.within[indices] {
                add(&mut sum, height(along, self.training_set.row(row)), self.training_set.row(row));
            }
            sum
        };
        sum_over(self.within.len(), part, |sum| {
            product.iter_mut().zip(sum).for_each(|(product, sum)| *product += 2.0 * C * sum);
        });
        product
    }
}
