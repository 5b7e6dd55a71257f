//! How many rows each class is to get.

/// The least and the most rows of each class, and how many of them it has already. Least and most differ where a rounding
/// is left to the solver: exactly tied remainders, of which it takes the ones that cost least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) least: Vec<u64>,
    pub(crate) most: Vec<u64>,
    /// Rows that are settled elsewhere: certain ones, outside the band.
    pub(super) settled: Vec<u64>,
}

impl Demand {
    /// Between two counts for each class.
    pub(crate) fn between(least: Vec<u64>, most: Vec<u64>) -> Demand {
        Demand { settled: vec![0; least.len()], least, most }
    }

    /// Exactly these counts.
    pub(crate) fn exactly(counts: Vec<u64>) -> Demand {
        Demand::between(counts.clone(), counts)
    }

    /// The classes that may be given at all. One that is full stays open: no further row must prefer it.
    pub(crate) fn open(&self) -> Vec<bool> {
        self.most.iter().map(|&most| most > 0).collect()
    }

    /// The same with more rows settled; the first class that then has too many, where one has.
    pub(super) fn with_settled(&self, more: &[u64]) -> Result<Demand, usize> {
        let settled: Vec<u64> = self.settled.iter().zip(more).map(|(settled, more)| settled + more).collect();
        match (0..settled.len()).find(|&class| settled[class] > self.most[class]) {
            Some(class) => Err(class),
            None => Ok(Demand { settled, ..self.clone() }),
        }
    }

    /// The least and the most that are still to be given, in all.
    pub(super) fn left(&self) -> (u64, u64) {
        let left = |side: &[u64]| side.iter().zip(&self.settled).map(|(side, done)| side.saturating_sub(*done)).sum();
        (left(&self.least), left(&self.most))
    }

    /// What is still to be given, as shares.
    pub(super) fn shares_left(&self) -> Vec<f64> {
        let middle = |class: usize| (self.least[class] + self.most[class]) as f64 / 2.0 - self.settled[class] as f64;
        let left: Vec<f64> = (0..self.least.len()).map(|class| middle(class).max(0.0)).collect();
        let total: f64 = left.iter().sum();
        left.iter().map(|count| count / total.max(1.0)).collect()
    }
}
