//! fBISG: Gibbs sampling that allows for errors in the counts of places (Imai, Olivella and Rosenman).
//!
//! A place has N_r people of class r in the Census, and n_r people of the file there currently have class r. The
//! class of each person is redrawn in turn with
//!
//! ```text
//! P(r) ∝ (n_r without the person + N_r + 1) · (P(surname | r) + 1e-8) [· the same for the first name]
//! ```
//!
//! The added one is a prior that removes false zeros of the Census. Scores are the means of these probabilities after
//! the burn-in, which have less noise than the frequencies of the drawn classes and are never zero. Places are independent: the draws of a place depend on the seed, the place and its people, in order.

use apportion::seed;

/// Settings of the Gibbs sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gibbs {
    /// Sweeps that are discarded.
    pub burn_in: u16,
    /// Sweeps whose probabilities are averaged.
    pub kept: u16,
    /// The seed.
    pub seed: u64,
}

impl Default for Gibbs {
    fn default() -> Gibbs {
        Gibbs { burn_in: 500, kept: 1000, seed: 0 }
    }
}

/// Added to P(name | class), so that a name unseen in a class is not impossible.
pub const NAME_NOISE: f64 = 1e-8;

impl Gibbs {
    /// Returns the mean probabilities of each person of a place, row by row. `counts` are the place's people by class;
    /// `names` has for each person the product of P(name | class) + [`NAME_NOISE`] over the known names. The key
    /// identifies the place.
    pub fn scores(&self, key: u64, counts: &[f64], names: &[f64]) -> Vec<f64> {
        let k = counts.len();
        let people = names.len() / k;
        let mut classes: Vec<u8> = names.chunks_exact(k).map(|names| likeliest(counts, names)).collect();
        // Census counts, the prior, and the people of the file.
        let mut all: Vec<f64> = counts.iter().map(|count| count + 1.0).collect();
        classes.iter().for_each(|&class| all[usize::from(class)] += 1.0);
        let mut means = vec![0.0; people * k];
        let (mut products, mut sums, mut draws) = (vec![0.0; k], vec![0.0; k], 0);
        for sweep in 0..u32::from(self.burn_in) + u32::from(self.kept) {
            for (person, names) in names.chunks_exact(k).enumerate() {
                all[usize::from(classes[person])] -= 1.0;
                let mut sum = 0.0;
                for (((product, upto), all), name) in products.iter_mut().zip(&mut sums).zip(&all).zip(names) {
                    *product = all * name;
                    sum += *product;
                    *upto = sum;
                }
                if sweep >= u32::from(self.burn_in) {
                    let (own, part) = (&mut means[person * k..(person + 1) * k], 1.0 / (sum * f64::from(self.kept)));
                    own.iter_mut().zip(&products).for_each(|(own, product)| *own += product * part);
                }
                let chance = (seed::hash(self.seed, key, draws) >> 11) as f64 / (1u64 << 53) as f64 * sum;
                draws += 1;
                let class = sums.iter().position(|&upto| chance < upto).unwrap_or(k - 1);
                classes[person] = class as u8;
                all[class] += 1.0;
            }
        }
        means
    }
}

/// Returns the most likely class by BISG; the first of equals.
fn likeliest(counts: &[f64], names: &[f64]) -> u8 {
    let mut best = 0;
    for class in 1..counts.len() {
        if counts[class] * names[class] > counts[best] * names[best] {
            best = class;
        }
    }
    best as u8
}
