//! Totals of a set of people that do not depend on labels: people, scores and truth.

use super::cell::Cell;
use super::counts::share_of_scores;
use super::uncoded::UncodedPolicy;

/// Totals over a set of people.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct GroupTotals {
    /// Number of people.
    pub people: u64,
    /// The mean score of each class; `None` without people.
    pub posterior: Option<Vec<f64>>,
    /// The number of people of each true class, if any truth is known.
    pub truth: Option<Vec<u64>>,
    /// The mean score of each class among people with known truth.
    pub posterior_with_truth: Option<Vec<f64>>,
}

impl GroupTotals {
    /// Returns the totals of a cell over the people that the policy includes.
    pub(super) fn of(cell: &Cell, policy: UncodedPolicy) -> GroupTotals {
        let (people, truth) = (cell.included(), cell.truth());
        GroupTotals {
            people,
            posterior: share_of_scores(&cell.posterior(policy), people),
            posterior_with_truth: share_of_scores(&cell.posterior_with_truth(policy), truth.iter().sum()),
            truth: cell.has_truth().then_some(truth),
        }
    }

    /// Returns the number of people with known truth.
    pub fn with_truth(&self) -> u64 {
        self.truth.iter().flatten().sum()
    }

    /// Returns the true share of a class among people with known truth.
    pub fn truth_share(&self, class: usize) -> Option<f64> {
        let (truth, people) = (self.truth.as_ref()?, self.with_truth());
        (people > 0).then(|| truth[class] as f64 / people as f64)
    }

    /// Returns the mean score of a class; 0 without people.
    pub fn posterior_share(&self, class: usize) -> f64 {
        self.posterior.as_ref().map_or(0.0, |shares| shares[class])
    }

    /// Returns the sum of the scores of a class.
    pub fn posterior_sum(&self, class: usize) -> f64 {
        self.posterior_share(class) * self.people as f64
    }

    /// Returns the mean score of all classes except one; 0 without people.
    pub fn posterior_of_others(&self, focus: usize) -> f64 {
        let mut sum = 0.0;
        for (class, share) in self.posterior.iter().flatten().enumerate() {
            if class != focus {
                sum += share;
            }
        }
        sum
    }
}
