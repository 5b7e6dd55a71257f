//! The classes of the Census, some of them merged.

use std::collections::BTreeMap;

use apportion::text::{Message, Setting};
use apportion_bisg::census::{CLASSES, NC_VOTER_SHARES};

use crate::{Error, Result};

/// The classes of simulated voters.
pub(super) struct MergedClasses {
    pub(super) classes: Vec<&'static str>,
    /// The index in `classes` of each class of the Census.
    indices: [usize; CLASSES.len()],
}

impl MergedClasses {
    /// Merges classes into others.
    ///
    /// # Errors
    /// If a name is not a class, or a class is merged into a merged one.
    pub(super) fn new(merge: &BTreeMap<String, String>) -> Result<MergedClasses> {
        let known = |name: &str| CLASSES.iter().position(|class| *class == name.trim());
        let mut into: [usize; CLASSES.len()] = std::array::from_fn(|class| class);
        for (from, to) in merge {
            match (known(from), known(to)) {
                (Some(from), Some(to)) if from != to => into[from] = to,
                (Some(_) | None, Some(_) | None) => {
                    let pair = format!("{from}={to}");
                    let problem = format!(": {pair:?} is not CLASS=CLASS, of {}", CLASSES.join(", "));
                    return Err(Error::Settings(Message::from(Setting::Merge) + problem));
                }
            }
        }
        let kept: Vec<usize> = (0..CLASSES.len()).filter(|&class| into[class] == class).collect();
        let mut indices = [0; CLASSES.len()];
        for class in 0..CLASSES.len() {
            let Some(index) = kept.iter().position(|&kept| kept == into[class]) else {
                let problem = format!(
                    ": {} is merged into a class that is itself merged; merge both into the same class",
                    CLASSES[class]
                );
                return Err(Error::Settings(Message::from(Setting::Merge) + problem));
            };
            indices[class] = index;
        }
        Ok(MergedClasses { classes: kept.iter().map(|&class| CLASSES[class]).collect(), indices })
    }

    /// Returns the people of each class after merging.
    pub(super) fn sums(&self, people: &[f64; CLASSES.len()]) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes.len()];
        for (people, &index) in people.iter().zip(&self.indices) {
            sums[index] += people;
        }
        sums
    }

    /// Returns the mean of each class after merging, with the shares of North Carolina's voters as weights.
    pub(super) fn means(&self, values: &[f64; CLASSES.len()]) -> Vec<f64> {
        let all = self.sums(&std::array::from_fn(|class| NC_VOTER_SHARES[class] * values[class]));
        all.iter().zip(self.sums(&NC_VOTER_SHARES)).map(|(sum, share)| sum / share).collect()
    }

    /// Returns the people of each class after merging, from the number of people and the shares of the classes, row by
    /// row.
    pub(super) fn people(&self, counts: impl Iterator<Item = f64>, shares: &[f64]) -> Vec<Vec<f64>> {
        let rows = counts.zip(shares.as_chunks().0);
        rows.map(|(count, shares)| self.sums(&shares.map(|share| count * share))).collect()
    }
}
