//! fBISG: places whose counts are not quite right, by Gibbs sampling (Imai, Olivella and Rosenman).
//!
//! A place counts N_r people of class r, and n_r of the file's people there have it for now. Person by person, the class is
//! drawn anew, with
//!
//! ```text
//! P(r) ∝ (n_r without the person + N_r + 1) · (P(surname | r) + 1e-8) [· the same of the first name]
//! ```
//!
//! The one is a prior that cures zeros which the Census only seems to have. Scores are how often each class was drawn after
//! the first sweeps. Places are independent of each other: what is drawn in one depends on the seed, the place and the people
//! there, in their order.

use apportion::seed;

/// How many sweeps over the people of a place, and by which chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gibbs {
    /// Sweeps that are forgotten.
    pub burn_in: u16,
    /// Sweeps that count.
    pub kept: u16,
    /// Another seed, other draws.
    pub seed: u64,
}

impl Default for Gibbs {
    fn default() -> Gibbs {
        Gibbs { burn_in: 500, kept: 1000, seed: 0 }
    }
}

/// What is added to P(name | class), so that a name which a class never had is not impossible.
pub const NAME_NOISE: f64 = 1e-8;

impl Gibbs {
    /// How often each person of a place was drawn for each class, row by row: `counts` are the place's people by class, `names` for
    /// each person the product of P(name | class) over the names that are known, each with [`NAME_NOISE`] added. The key tells
    /// places apart.
    pub fn draws(&self, key: u64, counts: &[f64], names: &[f64]) -> Vec<u16> {
        let k = counts.len();
        let people = names.len() / k;
        let mut classes: Vec<u8> = names.chunks_exact(k).map(|names| likeliest(counts, names)).collect();
        // Census counts, the prior, and the file's own people.
        let mut all: Vec<f64> = counts.iter().map(|count| count + 1.0).collect();
        classes.iter().for_each(|&class| all[usize::from(class)] += 1.0);
        let mut drawn = vec![0u16; people * k];
        let (mut sums, mut draws) = (vec![0.0; k], 0);
        for sweep in 0..u32::from(self.burn_in) + u32::from(self.kept) {
            for (person, names) in names.chunks_exact(k).enumerate() {
                all[usize::from(classes[person])] -= 1.0;
                let mut sum = 0.0;
                for ((into, all), name) in sums.iter_mut().zip(&all).zip(names) {
                    sum += all * name;
                    *into = sum;
                }
                let chance = (seed::hash(self.seed, key, draws) >> 11) as f64 / (1u64 << 53) as f64 * sum;
                draws += 1;
                let class = sums.iter().position(|&upto| chance < upto).unwrap_or(k - 1);
                classes[person] = class as u8;
                all[class] += 1.0;
                drawn[person * k + class] += u16::from(sweep >= u32::from(self.burn_in));
            }
        }
        drawn
    }
}

/// The likeliest class by BISG; the first of equals.
fn likeliest(counts: &[f64], names: &[f64]) -> u8 {
    let mut best = 0;
    for class in 1..counts.len() {
        if counts[class] * names[class] > counts[best] * names[best] {
            best = class;
        }
    }
    best as u8
}
