//! The paper's simulations: a point with normal noise around the unit vector of the true class, with one dimension per
//! class.
//!
//! ```text
//! truth ~ prior,   x ~ N(e_truth, variance · 1),   q[class] ∝ prior[class] · e^(x[class] / variance).
//! ```
//!
//! The formula for q is Bayes' rule: in |x − e_class|² / (2 · variance), only the term −2·x\[class\] + 1 depends on the
//! class. With a small variance the truth is nearly certain; with a large variance the scores approach the prior.

use super::alias::Alias;
use super::check::{classes, scaled, within};
use super::random::normal;
use super::{Generator, scale};
use crate::error::Result;
use crate::scores::Label;
use crate::seed;

/// The shares of the paper's six classes: each is half the previous one, except that the last two are equal.
pub const PAPER_PRIOR: [f64; 6] = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125];

/// Salts of the draws, distinct from those of labels and replicates.
const TRUTH: u64 = 0x6e6f_726d_0000_0000;
const POINT: u64 = TRUTH + 2;

/// A generator of people with one observed point with normal noise. The rows of a seed are part of the interface. The
/// last digits of a score may differ between machines, because their logarithms do.
///
/// ```
/// use apportion::simulate::{Generator, Normal, PAPER_PRIOR};
///
/// let people = Normal::new(&PAPER_PRIOR, 0.5, 1)?;
/// let mut scores = [0.0; 6];
/// let truth = people.row(0, &mut scores);
/// assert!(truth < 6 && (scores.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok::<(), apportion::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Normal {
    seed: u64,
    truth: Alias,
    log_prior: Vec<f64>,
    variance: f64,
}

impl Normal {
    /// Creates a generator. `prior` holds the class shares, which must sum to one within 0.001. `variance` is the
    /// variance in each dimension. (The paper's σ = 0.5 is a variance of 0.5.)
    pub fn new(prior: &[f64], variance: f64, seed: u64) -> Result<Normal> {
        classes(prior.len(), 1)?;
        let prior = scaled(prior, "prior")?;
        // Outside this range, one of the two terms of a score would be lost to rounding, or their sum would overflow.
        within("the variance", variance, (1e-100..=1e100).contains(&variance), "from 1e-100 to 1e100")?;
        let log_prior = prior.iter().map(|share| share.ln()).collect();
        Ok(Normal { seed, truth: Alias::new(&prior), log_prior, variance })
    }

    /// Returns the truth of a row and writes its point: one coordinate per class.
    ///
    /// # Panics
    /// If the length of `point` is not the number of classes.
    pub fn point(&self, index: u64, point: &mut [f64]) -> Label {
        assert_eq!(point.len(), self.classes(), "one coordinate for each class");
        let truth = self.truth.draw(seed::hash(self.seed, index, TRUTH)) as usize;
        let deviation = self.variance.sqrt();
        for (class, x) in point.iter_mut().enumerate() {
            let mean = if class == truth { 1.0 } else { 0.0 };
            *x = mean + deviation * normal(self.seed, index, POINT + 2 * class as u64);
        }
        truth as Label
    }
}

impl Generator for Normal {
    fn classes(&self) -> usize {
        self.log_prior.len()
    }

    fn row(&self, index: u64, scores: &mut [f64]) -> Label {
        assert_eq!(scores.len(), self.classes(), "one score for each class");
        let truth = self.point(index, scores);
        for (score, log_prior) in scores.iter_mut().zip(&self.log_prior) {
            *score = log_prior + *score / self.variance;
        }
        // The largest becomes 1, so that no score overflows and the sum is positive.
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
        scale(scores);
        truth
    }
}
