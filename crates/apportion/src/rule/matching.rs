//! Match: the labels of greatest expected accuracy among those whose counts are the reference's.

use super::bounds::Bounds;
use super::joint::{self, JointSolution, Request};
use super::plan::Objective;
use super::{Labeled, Settings};
use crate::error::Result;
use crate::reference::Reference;
use crate::scores::Scores;

/// Counts that match a reference, overall or in each group. [`joint`](crate::joint) says which options go together.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The distribution that the labels should have.
    pub reference: Reference,
    /// Whether each group is matched to its own reference.
    pub by_group: bool,
    /// The share of the rows that get a label: those for which it costs most not to have one. All, where it is none.
    pub coverage: Option<f64>,
    /// Bounds on the counts. They come first: the counts are then as near to the reference as they allow.
    pub bounds: Bounds,
    /// Larger units, whose totals are to be right, too: for each group its unit, then for each unit its own, and so on.
    pub nested: Vec<Vec<u32>>,
}

impl Match {
    /// Matches all rows together.
    pub fn overall(reference: Reference) -> Match {
        Match { reference, by_group: false, coverage: None, bounds: Bounds::default(), nested: Vec::new() }
    }

    /// Matches each group by itself.
    pub fn by_group(reference: Reference) -> Match {
        Match { by_group: true, ..Match::overall(reference) }
    }

    /// Matches groups so that the totals of larger units are right, too: counties and states at once. `units` is the unit
    /// of each group, in the order of the groups' names.
    ///
    /// The totals of a unit are the whole numbers of its own reference. The counts of its groups sum to them and are, all
    /// together, as near as possible to the groups' own references. Where remainders tie, the first classes are rounded up.
    pub fn nested(reference: Reference, units: Vec<u32>) -> Match {
        Match { nested: vec![units], ..Match::by_group(reference) }
    }

    /// Labels only this share of the rows, and matches the counts of these.
    pub fn with_coverage(mut self, share: f64) -> Match {
        self.coverage = Some(share);
        self
    }

    /// Keeps bounds on the counts.
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
