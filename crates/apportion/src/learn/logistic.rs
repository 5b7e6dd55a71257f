//! Multinomial logistic regression, as scikit-learn's `LogisticRegression(C=100)`.
//!
//! For one linear function per class that occurs, with weights W and intercepts b,
//!
//! ```text
//! minimize  ½ Σ W² − C Σ_i log p_i[label of i],      p_i = softmax(W x_i + b).
//! ```

use super::linear::Linear;
use super::newton::{Objective, dot, minimize, sum_over};
use super::{C, TrainingSet};
use crate::scores::Label;

pub(super) fn learn(training_set: &TrainingSet<'_>) -> Linear {
    let present = training_set.present();
    let width = training_set.classes + 1;
    let planes = minimize(&mut Softmax::new(training_set, &present));
    Linear::new(training_set.classes, present.into_iter().zip(planes.chunks_exact(width).map(<[f64]>::to_vec)))
}

struct Softmax<'a> {
    training_set: &'a TrainingSet<'a>,
    classes: &'a [Label],
    /// The probabilities of each class that occurs, row by row, at the last evaluated point.
    chances: Vec<f64>,
}

impl<'a> Softmax<'a> {
    fn new(training_set: &'a TrainingSet<'a>, classes: &'a [Label]) -> Self {
        Softmax { training_set, classes, chances: vec![0.0; training_set.labels.len() * classes.len()] }
    }

    /// Writes the value of each linear function for a row.
    fn heights(&self, planes: &[f64], row: usize, into: &mut [f64]) {
        let (row, width) = (self.training_set.row(row), self.training_set.classes + 1);
        for (height, plane) in into.iter_mut().zip(planes.chunks_exact(width)) {
            *height = dot(plane, row) + plane[row.len()];
        }
    }

    /// Adds a multiple of a row and its constant feature to each function.
    fn add(&self, planes: &mut [f64], row: usize, times: &[f64]) {
        let (row, width) = (self.training_set.row(row), self.training_set.classes + 1);
        for (plane, times) in planes.chunks_exact_mut(width).zip(times) {
            plane.iter_mut().zip(row).for_each(|(sum, score)| *sum += times * score);
            plane[row.len()] += times;
        }
    }

    /// Returns all weights, with zeros for the intercepts, which are not regularized.
    fn shrunk(&self, planes: &[f64]) -> Vec<f64> {
        let width = self.training_set.classes + 1;
        planes.iter().enumerate().map(|(index, &value)| if (index + 1) % width == 0 { 0.0 } else { value }).collect()
    }
}

/// Converts values to probabilities and returns the logarithm of the sum of their exponentials.
fn softmax(heights: &mut [f64]) -> f64 {
    let highest = heights.iter().fold(f64::NEG_INFINITY, |highest, &height| highest.max(height));
    heights.iter_mut().for_each(|height| *height = (*height - highest).exp());
    let sum: f64 = heights.iter().sum();
    heights.iter_mut().for_each(|chance| *chance /= sum);
    highest + sum.ln()
}

impl Objective for Softmax<'_> {
    fn dimensions(&self) -> usize {
        self.classes.len() * (self.training_set.classes + 1)
    }

    fn evaluate(&mut self, point: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient = self.shrunk(point);
        let mut value = 0.5 * dot(&gradient, &gradient);
        let mut chances = std::mem::take(&mut self.chances);
        chances.clear();
        let m = self.classes.len();
        let part = |rows: std::ops::Range<usize>| {
            let (mut loss, mut slope, mut own) = (0.0, vec![0.0; point.len()], Vec::with_capacity(rows.len() * m));
            let mut row_chances = vec![0.0; m];
            for row in rows {
                self.heights(point, row, &mut row_chances);
                let label = self.classes.iter().position(|class| *class == self.training_set.labels[row]).unwrap_or(0);
                let height = row_chances[label];
                loss += softmax(&mut row_chances) - height;
                own.extend_from_slice(&row_chances);
                row_chances[label] -= 1.0;
                self.add(&mut slope, row, &row_chances);
            }
            (loss, slope, own)
        };
        sum_over(self.training_set.labels.len(), part, |(loss, slope, own)| {
            value += C * loss;
            gradient.iter_mut().zip(slope).for_each(|(sum, slope)| *sum += C * slope);
            chances.extend(own);
        });
        self.chances = chances;
        (value, gradient)
    }

    fn hessian_times(&self, along: &[f64]) -> Vec<f64> {
        let mut product = self.shrunk(along);
        let m = self.classes.len();
        let part = |rows: std::ops::Range<usize>| {
            let (mut sum, mut heights) = (vec![0.0; along.len()], vec![0.0; m]);
            for row in rows {
                self.heights(along, row, &mut heights);
                let chances = &self.chances[row * m..][..m];
                let mean = dot(chances, &heights);
                heights.iter_mut().zip(chances).for_each(|(height, chance)| *height = chance * (*height - mean));
                self.add(&mut sum, row, &heights);
            }
            sum
        };
        sum_over(self.training_set.labels.len(), part, |sum| {
            product.iter_mut().zip(sum).for_each(|(product, sum)| *product += C * sum);
        });
        product
    }
}
