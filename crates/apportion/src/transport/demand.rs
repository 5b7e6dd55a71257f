//! How many rows each class is to get.

/// The least and the most rows of each class. They differ where a rounding is left to the solver: exactly tied
/// remainders, of which it takes the ones that cost least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) least: Vec<u64>,
    pub(crate) most: Vec<u64>,
}

impl Demand {
    /// Exactly these counts.
    pub(crate) fn exactly(counts: Vec<u64>) -> Demand {
        Demand { least: counts.clone(), most: counts }
    }

    /// The classes that may be given at all.
    pub(crate) fn open(&self) -> Vec<bool> {
        self.most.iter().map(|&most| most > 0).collect()
    }

    /// What is left to give when some rows are settled; the first class that has too many, where one has.
    pub(super) fn less(&self, settled: &[u64]) -> Result<Demand, usize> {
        if let Some(class) = (0..settled.len()).find(|&class| settled[class] > self.most[class]) {
            return Err(class);
        }
        let rest = |side: &[u64]| side.iter().zip(settled).map(|(count, done)| count.saturating_sub(*done)).collect();
        Ok(Demand { least: rest(&self.least), most: rest(&self.most) })
    }
}
