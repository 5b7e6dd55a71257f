//! The joint rules, as a part of rules that solve them on a sample.

use super::balance::Balance;
use super::bounds::Bound;
use super::joint;
use super::matching::Match;
use super::{Rule, Settings};
use crate::error::{Error, Result};
use crate::scores::Scores;

/// A joint rule that is solved exactly on a sample.
#[derive(Clone, Debug, PartialEq)]
pub enum JointRule {
    /// Match, overall.
    Match(Match),
    /// Balance, overall.
    Balance(Balance),
}

impl JointRule {
    /// Returns the reference, coverage and bounds.
    pub fn matching(&self) -> &Match {
        match self {
            JointRule::Match(matching) | JointRule::Balance(Balance { matching, .. }) => matching,
        }
    }

    /// Returns the rule for all rows.
    pub fn rule(&self) -> Rule {
        match self {
            JointRule::Match(matching) => Rule::Match(matching.clone()),
            JointRule::Balance(balance) => Rule::Balance(balance.clone()),
        }
    }

    /// Returns the reference in whole numbers for all rows, to compare with the labels, whose counts are
    /// approximate.
    pub fn targets(&self, scores: &Scores<'_>) -> Result<Vec<u64>> {
        joint::targets(&self.matching().request(scores, &Settings::default()))
    }

    /// Checks that the rule can be solved on a sample, and that the sample is not empty.
    pub(super) fn check_sample(&self, asked: &'static str, rows: usize) -> Result<()> {
        let refuse = |other, why| Err(Error::Incompatible { one: asked, other, why });
        let Match { by_group, reference, bounds, .. } = self.matching();
        if rows == 0 {
            return Err(Error::Parameter { what: "the size of a sample".into(), value: 0.0, range: "at least 1" });
        }
        if *by_group {
            return refuse("groups", "a sample contains few rows of a small group; match by group on all rows");
        }
        if reference.is_in_people() {
            return refuse("given targets", "counts are for all rows, not for a sample; give shares");
        }
        if bounds.at_least.values().chain(bounds.at_most.values()).any(Bound::is_in_people) {
            return refuse("bounds in people", "counts are for all rows, not for a sample; give shares, such as 20%");
        }
        Ok(())
    }
}
