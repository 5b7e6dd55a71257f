//! The number and size of datasets, and the seed of each.

use apportion::{Error, Result, seed};
use rayon::prelude::*;

/// Separates the seeds of datasets from all other draws.
const DATASETS: u64 = 0x7061_7065_0000_0000;

/// Separates the seeds of voter files from those of datasets.
const FILES: u64 = 0x7061_7065_0000_0001;

/// The number and size of datasets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The number of datasets per mean; at least two, so that there is a standard error.
    pub datasets: u64,
    /// The number of rows per dataset.
    pub rows: u64,
    /// The number of simulated voters in each of the files for the tables.
    pub voters: u64,
    /// The seed of all data.
    pub seed: u64,
}

impl Default for Plan {
    /// Returns the plan of the paper: 100 datasets of 5,000 rows.
    fn default() -> Plan {
        Plan { datasets: 100, rows: 5000, voters: 100_000, seed: 0 }
    }
}

impl Plan {
    pub(crate) fn check(&self) -> Result<()> {
        let at_least = |what: &str, value: u64, least: u64, range| match value >= least {
            true => Ok(()),
            false => Err(Error::Parameter { what: what.to_owned(), value: value as f64, range }),
        };
        at_least("the number of datasets", self.datasets, 2, "at least 2, to estimate standard errors")?;
        at_least("the number of rows", self.rows, 100, "at least 100")?;
        at_least("the number of voters", self.voters, 100, "at least 100")
    }

    /// Returns the seed of simulated voters and of all draws for voters.
    pub(crate) fn voter_seed(&self) -> u64 {
        seed::hash(self.seed, 0, FILES)
    }

    /// Calls `work` with the seed of every dataset and returns the results in order. All generators get the same seeds,
    /// so that their results do not differ by chance.
    pub(crate) fn each<T: Send>(&self, work: impl Fn(u64) -> Result<T> + Sync) -> Result<Vec<T>> {
        (0..self.datasets).into_par_iter().map(|dataset| work(seed::hash(self.seed, dataset, DATASETS))).collect()
    }
}
