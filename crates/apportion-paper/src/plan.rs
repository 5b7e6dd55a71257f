//! How much is computed, and the seed of each dataset.

use apportion::{Error, Result, seed};
use rayon::prelude::*;

/// Keeps the seeds of datasets apart from all other draws.
const DATASETS: u64 = 0x7061_7065_0000_0000;

/// How much is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Datasets that a mean is over; at least two, so that it has a standard error.
    pub datasets: u64,
    /// Rows of each.
    pub rows: u64,
    /// Made-up voters in each of the files behind the tables.
    pub voters: u64,
    /// Another seed, other data.
    pub seed: u64,
}

impl Default for Plan {
    /// As the paper has it: 100 datasets of 5,000 rows.
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
        at_least("the number of datasets", self.datasets, 2, "at least 2, or nothing is known of chance")?;
        at_least("the number of rows", self.rows, 100, "at least 100")?;
        at_least("the number of voters", self.voters, 100, "at least 100")
    }

    /// Does the same to every dataset, which is known by its seed; results are in the order of the datasets. Different
    /// generators are given the same seeds, so that they differ by what they are and not by chance.
    pub(crate) fn each<T: Send>(&self, work: impl Fn(u64) -> Result<T> + Sync) -> Result<Vec<T>> {
        (0..self.datasets).into_par_iter().map(|dataset| work(seed::hash(self.seed, dataset, DATASETS))).collect()
    }
}
