//! The shares of the first class, white, in each county: by the truth, the scores, and the labels of some rules
//! (fig:maps).

use apportion::audit::GroupSection;

/// The rules on the maps, by their names in `published.csv`.
pub const MAPPED: [&str; 5] = ["argmax", "threshold 0.8", "match", "match by county", "thompson"];

/// The class on the maps.
const CLASS: usize = 0;

/// A county, and the shares of white voters in it.
#[derive(Clone, Debug, PartialEq)]
pub struct CountyShares {
    /// The name.
    pub name: String,
    /// The number of voters.
    pub voters: u64,
    /// The share of the truth.
    pub truth: f64,
    /// The mean score.
    pub posterior: f64,
    /// The share of the labels of each of [`MAPPED`], among labeled voters. `None` if no one is labeled.
    pub labels: [Option<f64>; MAPPED.len()],
}

impl CountyShares {
    /// Returns the shares of all counties with voters, from the audit of each rule.
    pub(crate) fn of(audits: &[(&'static str, Vec<GroupSection>)]) -> Vec<CountyShares> {
        let Some((_, first)) = audits.first() else { return Vec::new() };
        let groups = first.iter().enumerate().filter(|(_, group)| group.section.people > 0);
        let county = |(index, group): (usize, &GroupSection)| {
            let class = &group.section.classes[CLASS];
            let share = |rule: &str| {
                let (_, groups) = audits.iter().find(|(name, _)| *name == rule)?;
                groups[index].section.classes[CLASS].share
            };
            CountyShares {
                name: group.name.clone(),
                voters: group.section.people,
                truth: class.truth_share.unwrap_or_default(),
                posterior: class.posterior_share.unwrap_or_default(),
                labels: MAPPED.map(share),
            }
        };
        groups.map(county).collect()
    }

    /// Returns the share of the labels minus the mean score, for each of [`MAPPED`].
    pub fn bias(&self) -> [Option<f64>; MAPPED.len()] {
        self.labels.map(|share| Some(share? - self.posterior))
    }
}
