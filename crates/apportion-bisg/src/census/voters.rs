//! Voter lists as tables for names that are not on the Census list (Rosenman, Olivella and Imai 2023).
//!
//! The lists have shares P(r | name) among registered voters but no counts, and most shares are 0. Let n be the smallest
//! number of people that is consistent with the shares of a name, and π the shares of the classes among all voters:
//!
//! ```text
//! P'(r | name) = (n · P(r | name) + κ · π_r) / (n + κ)     no share is 0
//! L(name | r)  = P'(r | name) / π_r                        aian and other both have the likelihood of other
//! ```

use super::CLASSES;
use super::tables::{CensusRows, VOTER_CLASSES};

/// Shares of [`VOTER_CLASSES`] among the voters of the lists.
pub const VOTER_SHARES: [f64; VOTER_CLASSES.len()] = [0.656992573, 0.227499497, 0.082567264, 0.017141924, 0.015798742];

/// The weight κ of these shares, in people. Log loss on names that are in both lists is nearly the same from 1 to 20.
pub const VOTER_SMOOTHING: f64 = 5.0;

/// The class of the voter lists that stands for each of [`CLASSES`].
const VOTER_CLASS: [usize; CLASSES.len()] = [0, 1, 2, 3, 4, 4];

/// A name of a voter list: its shares among [`VOTER_CLASSES`] before and after smoothing.
#[derive(Clone, Debug, PartialEq)]
pub struct VoterName {
    /// The name.
    pub key: String,
    /// The smallest number of people that is consistent with the shares: n.
    pub sample: u16,
    /// The shares on the list.
    pub shares: Vec<f64>,
    /// The smoothed shares P'.
    pub smoothed: Vec<f64>,
}

/// Returns a smoothed share: P'.
fn smoothed(sample: u16, share: f64, voters: f64) -> f64 {
    let sample = f64::from(sample);
    (sample * share + VOTER_SMOOTHING * voters) / (sample + VOTER_SMOOTHING)
}

impl CensusRows {
    /// Returns a name of a voter list; `None` if the table is another one, or does not have the row.
    pub fn voter_name(&self, row: usize) -> Option<VoterName> {
        let (sample, key) = (*self.samples.as_ref()?.get(row)?, self.keys().nth(row)?.to_owned());
        let shares = self.values.chunks_exact(VOTER_CLASSES.len()).nth(row)?.to_vec();
        let smoothed =
            shares.iter().zip(VOTER_SHARES).map(|(share, voters)| smoothed(sample, *share, voters)).collect();
        Some(VoterName { key, sample, shares, smoothed })
    }

    /// Returns P(class | name) of a voter list in a population with other class shares, in the order of [`CLASSES`], name
    /// by name: the likelihoods times the shares, divided by their sum.
    pub fn voter_shares(&self, margin: &[f64; CLASSES.len()]) -> Vec<f64> {
        let samples = self.samples.iter().flatten();
        let mut all = Vec::with_capacity(self.rows() * CLASSES.len());
        for (shares, sample) in self.values.chunks_exact(VOTER_CLASSES.len()).zip(samples) {
            let likelihood = |class: usize| {
                let voters = VOTER_SHARES[class];
                smoothed(*sample, shares[class], voters) / voters
            };
            let row: [f64; CLASSES.len()] = std::array::from_fn(|class| likelihood(VOTER_CLASS[class]) * margin[class]);
            let sum: f64 = row.iter().sum();
            all.extend(row.iter().map(|value| value / sum));
        }
        all
    }
}
