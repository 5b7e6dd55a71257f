//! One category is known of a person: with a given chance the true class, and otherwise any class, evenly.
//!
//! ```text
//! truth ~ prior,   x = truth with chance s, else even over K classes,
//! q[class] ∝ prior[class] · (s · [x = class] + (1 − s) / K).
//! ```
//!
//! At s = 0 nothing is known, and argmax gives everyone the largest class: Theorem 1 (i). At s = 1 all is known, and nobody is
//! miscounted: Theorem 1 (ii). All that is of interest can be written down, so that simulations can be held against it.

use super::alias::Alias;
use super::check::{classes, scaled, within};
use super::random::unit;
use super::{Generator, scale};
use crate::error::Result;
use crate::scores::Label;
use crate::seed;

/// The salts of the draws, far from those of labels and replicates.
const TRUTH: u64 = 0x6361_7465_0000_0000;
const IS_TRUE: u64 = TRUTH + 1;
const CATEGORY: u64 = TRUTH + 2;

/// People known by one category.
#[derive(Clone, Debug)]
pub struct Categorical {
    seed: u64,
    truth: Alias,
    prior: Vec<f64>,
    signal: f64,
}

impl Categorical {
    /// With the shares of the classes, which must sum to one within a thousandth, and the chance from 0 to 1 that the category
    /// is the true class for that reason.
    pub fn new(prior: &[f64], signal: f64, seed: u64) -> Result<Categorical> {
        classes(prior.len(), 1)?;
        let prior = scaled(prior, "prior")?;
        within("the signal", signal, (0.0..=1.0).contains(&signal), "from 0 to 1")?;
        Ok(Categorical { seed, truth: Alias::new(&prior), prior, signal })
    }

    /// P(category | class).
    fn chance(&self, category: usize, class: usize) -> f64 {
        let own = if category == class { self.signal } else { 0.0 };
        own + (1.0 - self.signal) / self.prior.len() as f64
    }

    /// The scores of everyone of a category, and the category's share of all people; none of the scores where that is zero.
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

    /// The mean of 1 − q\[truth\], exactly: Σ P(x) · (1 − Σ q²).
    pub fn mae(&self) -> f64 {
        let mut scores = vec![0.0; self.prior.len()];
        let right = |category| {
            let share = self.posterior(category, &mut scores);
            share * scores.iter().map(|score| score * score).sum::<f64>()
        };
        1.0 - (0..self.prior.len()).map(right).sum::<f64>()
    }

    /// The share of each class among argmax's labels less its share of all people, exactly.
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
