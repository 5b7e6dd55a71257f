//! Shares of labels, posterior and truth, and their differences.

use super::cell::Cell;
use super::report::{Bias, Distance, Others, Split};
use super::uncoded::UncodedPolicy;
use crate::kernel::GRID;

/// The shares of each class; `None` without people.
pub(super) struct Shares {
    /// Of the labels, among labeled people.
    pub(super) labels: Option<Vec<f64>>,
    /// Of the posterior.
    pub(super) posterior: Option<Vec<f64>>,
    /// Of the truth, if known.
    pub(super) truth: Option<Vec<f64>>,
    /// Of the labels, over rows with known truth.
    pub(super) labels_with_truth: Option<Vec<f64>>,
    /// Of the posterior, over rows with known truth.
    pub(super) posterior_with_truth: Option<Vec<f64>>,
    /// Of the given reference.
    pub(super) given: Option<Vec<f64>>,
    /// The people that the policy includes.
    pub(super) included: u64,
    /// Those of them with known truth.
    pub(super) with_truth: u64,
}

impl Shares {
    /// Returns the shares of a cell.
    pub(super) fn of(cell: &Cell, policy: UncodedPolicy, given: Option<&[f64]>) -> Shares {
        let (truth, included) = (cell.truth(), cell.included());
        let with_truth = truth.iter().sum();
        Shares {
            labels: shares_of_people(&cell.labels()[..cell.classes()]),
            posterior: share_of_scores(&cell.posterior(policy), included),
            posterior_with_truth: share_of_scores(&cell.posterior_with_truth(policy), with_truth),
            truth: shares_of_people(&truth),
            labels_with_truth: shares_of_people(&cell.labels_with_truth()),
            given: given.map(<[f64]>::to_vec),
            included,
            with_truth,
        }
    }
}

/// Returns counts as shares of their sum.
pub(super) fn shares_of_people(counts: &[u64]) -> Option<Vec<f64>> {
    let sum: u64 = counts.iter().sum();
    (sum > 0).then(|| counts.iter().map(|&count| count as f64 / sum as f64).collect())
}

/// Returns mean scores.
pub(super) fn share_of_scores(sums: &[i128], people: u64) -> Option<Vec<f64>> {
    (people > 0).then(|| sums.iter().map(|&sum| GRID.total(sum) / people as f64).collect())
}

/// Returns shares minus reference, by class.
pub(super) fn differences(shares: &[f64], reference: &[f64]) -> Vec<f64> {
    shares.iter().zip(reference).map(|(share, reference)| share - reference).collect()
}

/// Returns the bias of a share among some people, if both shares are known.
pub(super) fn bias(share: Option<f64>, reference: Option<f64>, people: u64) -> Option<Bias> {
    Some(Bias::new(share?, reference?, people))
}

/// Returns the decomposition of the bias against the truth, over rows with known truth.
pub(super) fn split(labels: Option<f64>, posterior: Option<f64>, truth: Option<f64>, people: u64) -> Option<Split> {
    Some(Split::new(labels?, posterior?, truth?, people))
}

impl Bias {
    /// Returns the difference between a share of some people and its reference.
    pub fn new(share: f64, reference: f64, people: u64) -> Bias {
        Bias::between(share, reference, reference, people)
    }

    /// Returns the difference of two shares, in percent of a third.
    fn between(share: f64, other: f64, reference: f64, people: u64) -> Bias {
        let difference = share - other;
        let percent = Some(100.0 * (difference / reference)).filter(|percent| percent.is_finite());
        Bias { difference, people: difference * people as f64, percent }
    }
}

impl Split {
    /// Returns the parts of the difference between the shares of labels and truth.
    pub fn new(labels: f64, posterior: f64, truth: f64, people: u64) -> Split {
        Split {
            miscalibration: Bias::between(posterior, truth, truth, people),
            discretization: Bias::between(labels, posterior, truth, people),
        }
    }
}

/// Returns the distance of shares from a reference.
pub(super) fn distance(shares: &[f64], reference: &[f64]) -> Distance {
    let pairs = || shares.iter().zip(reference);
    let l1: f64 = pairs().map(|(m, p)| (m - p).abs()).sum();
    let l2 = pairs().map(|(m, p)| (m - p) * (m - p)).sum::<f64>().sqrt();
    let kl: f64 = pairs().filter(|(m, _)| **m > 0.0).map(|(m, p)| m * (m / p.max(0.0)).ln()).sum();
    // 0 − l1 rather than −l1, which would be −0 for matching labels.
    Distance { fidelity: 0.0 - l1, l1, l2, kl: Some(kl).filter(|kl| kl.is_finite()) }
}

/// Returns the distance of labels from a reference, if both are known.
pub(super) fn distance_between(shares: Option<&Vec<f64>>, reference: Option<&Vec<f64>>) -> Option<Distance> {
    shares.zip(reference).map(|(shares, reference)| distance(shares, reference))
}

/// Returns the class with the largest share; the first of equals.
pub(super) fn largest(shares: &[f64]) -> Option<usize> {
    let larger = |best: Option<(usize, f64)>, (class, &share): (usize, &f64)| match best {
        Some((_, most)) if share <= most => best,
        _ => Some((class, share)),
    };
    shares.iter().enumerate().fold(None, larger).map(|(class, _)| class)
}

/// Returns the classes other than the focus class, together.
pub(super) fn others(shares: &Shares, focus: usize) -> Others {
    let together = |shares: &Option<Vec<f64>>| {
        let others =
            |shares: &Vec<f64>| shares.iter().enumerate().filter(|(class, _)| *class != focus).map(|(_, s)| s).sum();
        shares.as_ref().map(others)
    };
    let (share, posterior_share, truth_share) =
        (together(&shares.labels), together(&shares.posterior), together(&shares.truth));
    Others {
        share,
        posterior_share,
        truth_share,
        against_posterior: bias(share, posterior_share, shares.included),
        against_truth: bias(together(&shares.labels_with_truth), truth_share, shares.with_truth),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kl_is_none_where_infinite() {
        assert_eq!(distance(&[0.5, 0.5], &[1.0, 0.0]).kl, None);
        assert_eq!(distance(&[0.5, 0.5], &[1.0, -1e-7]).kl, None);
        assert_eq!(distance(&[1.0, 0.0], &[1.0, 0.0]).kl, Some(0.0));
        assert_eq!(distance(&[1.0, 0.0], &[0.5, 0.5]).kl, Some(std::f64::consts::LN_2));
    }

    #[test]
    fn the_first_of_the_largest_is_the_focus() {
        assert_eq!(largest(&[0.2, 0.4, 0.4]), Some(1));
        assert_eq!(largest(&[]), None);
    }
}
