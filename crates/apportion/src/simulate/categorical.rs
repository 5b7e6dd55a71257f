//! People with one observed category: the true class with a given probability, and otherwise a uniformly drawn class.
//!
//! ```text
//! truth ~ prior,   x = truth with chance s, else even over K classes,
//! q[class] ∝ prior[class] · (s · [x = class] + (1 − s) / K).
//! ```
//!
//! At s = 0 the category is uninformative, and argmax assigns everyone to the largest class: Theorem 1 (i). At s = 1
//! the class is known, and argmax has no bias: Theorem 1 (ii). All quantities of interest have closed forms, against
//! which simulations can be checked.

use super::alias::Alias;
use super::check::{classes, scaled, within};
use super::random::unit;
use super::{Generator, scale};
use crate::error::Result;
use crate::scores::Label;
use crate::seed;

/// Salts of the draws, distinct from those of labels and replicates.
const TRUTH: u64 = 0x6361_7465_0000_0000;
const IS_TRUE: u64 = TRUTH + 1;
const CATEGORY: u64 = TRUTH + 2;

/// A generator of people with one observed category.
#[derive(Clone, Debug)]
pub struct Categorical {
    seed: u64,
    truth: Alias,
    prior: Vec<f64>,
    signal: f64,
}

impl Categorical {
    /// Creates a generator. `prior` holds the class shares, which must sum to one within 0.001. `signal` is s, from 0
    /// to 1.
    pub fn new(prior: &[f64], signal: f64, seed: u64) -> Result<Categorical> {
        classes(prior.len(), 1)?;
        let prior = scaled(prior, "prior")?;
        within("the signal", signal, (0.0..=1.0).contains(&signal), "from 0 to 1")?;
        Ok(Categorical { seed, truth: Alias::new(&prior), prior, signal })
    }

    /// Returns P(category | class).
    fn chance(&self, category: usize, class: usize) -> f64 {
        let own = if category == class { self.signal } else { 0.0 };
        own + (1.0 - self.signal) / self.prior.len() as f64
    }

    /// Writes the scores of a category and returns its share of all people. If the share is 0, all scores are 0.
    fn posterior(&self, category: usize, scores: &mut [f64]) -> f64 {
        for (class, score) in scores.iter_mut().enumerate() {
            *score = self.prior[class] * self.chance(category, class);
        }
        let share = scores.iter().sum();
        if share > 0.0 {
            scale(scores);
        }
        share
    }

    /// Returns the exact mean of 1 − q\[truth\]: Σ P(x) · (1 − Σ q²).
    pub fn mae(&self) -> f64 {
        let mut scores = vec![0.0; self.prior.len()];
        let right = |category| {
            let share = self.posterior(category, &mut scores);
            share * scores.iter().map(|score| score * score).sum::<f64>()
        };
        1.0 - (0..self.prior.len()).map(right).sum::<f64>()
    }

    /// Returns, for each class, its exact share among argmax labels minus its share of all people.
    pub fn argmax_bias(&self) -> Vec<f64> {
        let mut bias: Vec<f64> = self.prior.iter().map(|share| -share).collect();
        let mut scores = vec![0.0; self.prior.len()];
        for category in 0..self.prior.len() {
            let share = self.posterior(category, &mut scores);
            let largest = scores.iter().copied().fold(0.0, f64::max);
            let label = scores.iter().position(|&score| score == largest).unwrap_or(0);
            bias[label] += share;
        }
        bias
    }
}

impl Generator for Categorical {
    fn classes(&self) -> usize {
        self.prior.len()
    }

    fn row(&self, index: u64, scores: &mut [f64]) -> Label {
        assert_eq!(scores.len(), self.classes(), "one score for each class");
        let truth = self.truth.draw(seed::hash(self.seed, index, TRUTH)) as usize;
        let category = if unit(self.seed, index, IS_TRUE) <= self.signal {
            truth
        } else {
            seed::below(seed::hash(self.seed, index, CATEGORY), scores.len() as u64) as usize
        };
        self.posterior(category, scores);
        truth as Label
    }
}
