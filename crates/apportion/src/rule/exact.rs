//! The joint rules as what others go by: solved exactly on some of the rows, and carried over to all.

use super::balance::Balance;
use super::bounds::Bound;
use super::joint;
use super::matching::Match;
use super::{Rule, Settings};
use crate::error::{Error, Result};
use crate::reference::Reference;
use crate::scores::Scores;

/// A joint rule that is solved exactly on a sample, for the labels of all rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Exact {
    /// Match, overall.
    Match(Match),
    /// Balance, overall.
    Balance(Balance),
}

impl Exact {
    /// Reference, coverage and bounds.
    pub fn aim(&self) -> &Match {
        match self {
            Exact::Match(aim) | Exact::Balance(Balance { aim, .. }) => aim,
        }
    }

    /// The rule itself, over all rows.
    pub fn rule(&self) -> Rule {
        match self {
            Exact::Match(matching) => Rule::Match(matching.clone()),
            Exact::Balance(balance) => Rule::Balance(balance.clone()),
        }
    }

    /// The reference in whole numbers for all rows: what the labels are to be held against, since they may miss it.
    pub fn targets(&self, scores: &Scores<'_>) -> Result<Vec<u64>> {
        joint::targets(&self.aim().request(scores, &Settings::default()))
    }

    /// Refuses what a sample of the rows cannot tell, and an empty sample.
    pub(super) fn check_sample(&self, asked: &'static str, rows: usize) -> Result<()> {
        let together = |other, why| Err(Error::Together { one: asked, other, why });
        let Match { by_group, reference, bounds, .. } = self.aim();
        if rows == 0 {
            return Err(Error::Parameter { what: "the size of a sample".into(), value: 0.0, range: "at least 1" });
        }
        if *by_group {
            return together("groups", "a sample has few rows of a small group; match by group, on all rows");
        }
        if matches!(reference, Reference::Targets(_)) {
            return together("given targets", "counts for all rows are none for a sample; give shares");
        }
        if bounds.at_least.values().chain(bounds.at_most.values()).any(|bound| matches!(bound, Bound::Count(_))) {
            return together("bounds in people", "they are for all rows, and not for a sample; give shares, as 20%");
        }
        Ok(())
    }
}
