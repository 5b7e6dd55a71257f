//! Match: the labels of largest expected accuracy among those whose counts match a reference.

use super::bounds::Bounds;
use super::joint::{self, JointSolution, Request};
use super::plan::Objective;
use super::{Labeled, Settings};
use crate::error::Result;
use crate::reference::Reference;
use crate::scores::Scores;

/// Counts that match a reference, overall or in each group. [`options`](crate::rule::options) lists which options can be
/// combined.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The distribution that the labels should have.
    pub reference: Reference,
    /// Whether each group is matched to its own reference.
    pub by_group: bool,
    /// The share of rows to label: those for which a missing label would cost most. `None` labels all rows.
    pub coverage: Option<f64>,
    /// Bounds on the counts. They take precedence: the counts are as close to the reference as the bounds allow.
    pub bounds: Bounds,
    /// Larger units with exact totals: the unit of each group, then the unit of each unit, and so on.
    pub nested: Vec<Vec<u32>>,
}

impl Match {
    /// Matches all rows together.
    pub fn overall(reference: Reference) -> Match {
        Match { reference, by_group: false, coverage: None, bounds: Bounds::default(), nested: Vec::new() }
    }

    /// Matches each group separately.
    pub fn by_group(reference: Reference) -> Match {
        Match { by_group: true, ..Match::overall(reference) }
    }

    /// Matches groups with exact totals of larger units, such as counties and states. `units` has the unit of
    /// each group, in the order of the group names.
    ///
    /// The totals of a unit are the whole numbers of its own reference. The counts of its groups sum to them and
    /// are as close as possible to the groups' own references. If remainders tie, the first classes are rounded
    /// up.
    pub fn nested(reference: Reference, units: Vec<u32>) -> Match {
        Match { nested: vec![units], ..Match::by_group(reference) }
    }

    /// Labels only this share of the rows and matches their counts.
    pub fn with_coverage(mut self, share: f64) -> Match {
        self.coverage = Some(share);
        self
    }

    /// Sets bounds on the counts.
    pub fn with_bounds(mut self, bounds: Bounds) -> Match {
        self.bounds = bounds;
        self
    }

    pub(super) fn label(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Labeled> {
        joint::refuse_counts(scores, "match")?;
        Ok(self.solve(scores, settings)?.into_labeled(scores))
    }

    pub(super) fn solve(&self, scores: &Scores<'_>, settings: &Settings) -> Result<JointSolution> {
        joint::solve_request(&self.request(scores, settings))
    }

    pub(super) fn request<'a>(&'a self, scores: &'a Scores<'a>, settings: &'a Settings) -> Request<'a> {
        Request { matching: self, objective: Objective::Match, gamma: None, scores, settings }
    }
}
