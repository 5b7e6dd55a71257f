//! The construction of Theorem 1 in which argmax's bias reaches its bound, the mean absolute error of the scores.
//!
//! Some people are known to be of the first class, z (S_a in the proof, with share a). Some are known to be of another
//! class (S_e, share e). Nothing is known about the others (S_c, share c): all their scores are 1/K, and so is the
//! probability of each class. Argmax breaks ties in favor of the first class, so
//! ```text
//! share of z among labels = a + c,   in truth a + c/K,   so bias = c · (K − 1)/K = MAE.
//! ```

use super::Generator;
use super::check::{classes, within};
use super::random::unit;
use crate::error::Result;
use crate::scores::Label;
use crate::seed;

/// Salts of the draws, distinct from those of labels and replicates.
const KNOWN: u64 = 0x776f_7273_0000_0000;
const TRUTH: u64 = KNOWN + 1;

/// A generator of people whose class is either known or completely unknown.
#[derive(Clone, Debug)]
pub struct WorstCase {
    seed: u64,
    classes: usize,
    unknown: f64,
    others: f64,
}

impl WorstCase {
    /// Creates a generator with at least two classes. `unknown` is the share c of people of unknown class, and `others`
    /// is the share e of people known to be of a class other than the first, with the other classes equally common.
    /// (The paper's simulation has e = 0.)
    pub fn new(classes: usize, unknown: f64, others: f64, seed: u64) -> Result<WorstCase> {
        self::classes(classes, 2)?;
        within("the unknown share", unknown, (0.0..=1.0).contains(&unknown), "from 0 to 1")?;
        within("the share of others", others, (0.0..=1.0).contains(&others), "from 0 to 1")?;
        let sum = unknown + others;
        within("the sum of the unknown share and the share of others", sum, sum <= 1.0 + 1e-12, "at most 1")?;
        Ok(WorstCase { seed, classes, unknown, others })
    }

    /// Returns the exact mean of 1 − q\[truth\], which is also argmax's bias for the first class.
    pub fn mae(&self) -> f64 {
        self.unknown * (self.classes - 1) as f64 / self.classes as f64
    }

    /// Returns the share of each class among all people.
    pub fn prior(&self) -> Vec<f64> {
        let others = self.others / (self.classes - 1) as f64;
        let known = |class| if class == 0 { 1.0 - self.unknown - self.others } else { others };
        (0..self.classes).map(|class| known(class) + self.unknown / self.classes as f64).collect()
    }
}

impl Generator for WorstCase {
    fn classes(&self) -> usize {
        self.classes
    }

    fn row(&self, index: u64, scores: &mut [f64]) -> Label {
        assert_eq!(scores.len(), self.classes, "one score for each class");
        let (known, draw) = (unit(self.seed, index, KNOWN), seed::hash(self.seed, index, TRUTH));
        if known <= self.unknown {
            scores.fill(1.0 / self.classes as f64);
            return seed::below(draw, self.classes as u64) as Label;
        }
        let is_other = known <= self.unknown + self.others;
        let truth = if is_other { 1 + seed::below(draw, self.classes as u64 - 1) as usize } else { 0 };
        scores.fill(0.0);
        scores[truth] = 1.0;
        truth as Label
    }
}
