//! The reference distribution and its whole numbers.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::scores::{Label, SUM_TOLERANCE, UNCODED};
use crate::text::{Setting, counted, quoted};
use crate::transport::Demand;

/// One value for all rows, or one per group, by name.
#[derive(Clone, Debug, PartialEq)]
pub enum PerGroup<T> {
    /// The same value for every group.
    Overall(T),
    /// One value per group.
    ByGroup(BTreeMap<String, T>),
}

impl<T> PerGroup<T> {
    fn of(&self, group: Option<&str>) -> Result<&T> {
        match (self, group) {
            (PerGroup::Overall(value), _) => Ok(value),
            (PerGroup::ByGroup(_), None) => Err(Error::ReferenceByGroup),
            (PerGroup::ByGroup(values), Some(group)) => values.get(group).ok_or_else(|| Error::UnknownGroup {
                group: group.to_owned(),
                what: "reference",
                known: values.len(),
                hint: "add the group to the reference",
            }),
        }
    }
}

/// The distribution that the labels should have; for rules by group, in each group.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// The aggregate posterior: the mean of the scores.
    Posterior,
    /// The shares of the true classes among rows with known truth.
    Truth,
    /// Equal shares.
    Uniform,
    /// Given shares, in the order of the classes. They must sum to one within a thousandth and are then
    /// normalized.
    Shares(PerGroup<Vec<f64>>),
    /// Given counts, in the order of the classes. They must sum to the number of rows.
    Targets(PerGroup<Vec<u64>>),
}

/// A reference as weights of the classes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Weights {
    Known(Vec<u128>),
    /// The sums of the scores, which are not known yet.
    Posterior,
}

impl Reference {
    /// Returns whether it is given in people and thus valid only for one number of rows.
    pub(crate) fn is_in_people(&self) -> bool {
        match self {
            Reference::Targets(_) => true,
            Reference::Posterior | Reference::Truth | Reference::Uniform | Reference::Shares(_) => false,
        }
    }

    /// Returns whether it is given for single groups, or in people of groups.
    pub(crate) fn is_by_group(&self) -> bool {
        match self {
            Reference::Targets(_) | Reference::Shares(PerGroup::ByGroup(_)) => true,
            Reference::Posterior | Reference::Truth | Reference::Uniform | Reference::Shares(PerGroup::Overall(_)) => {
                false
            }
        }
    }

    /// Returns the weights for `rows` rows of a group (or of all). `truth` yields the true classes and their
    /// people.
    pub(crate) fn weights(
        &self,
        classes: usize,
        rows: u64,
        group: Option<&str>,
        truth: Option<impl Iterator<Item = (Label, u64)>>,
    ) -> Result<Weights> {
        let of = || of_group(group);
        let weights = match self {
            Reference::Posterior => return Ok(Weights::Posterior),
            Reference::Uniform => vec![1; classes],
            Reference::Truth => {
                let truth = truth.ok_or(Error::Missing {
                    what: "a true class",
                    by: "the reference truth",
                    setting: Setting::Truth,
                    instead: "reference",
                })?;
                let counts = count_truth(truth, classes);
                if rows > 0 && counts.iter().all(|&count| count == 0) {
                    let problem = "cannot be the truth, because no row has a true class; choose another".into();
                    return Err(Error::Reference { of: of(), problem });
                }
                counts
            }
            Reference::Shares(shares) => {
                weigh(shares.of(group)?, classes).map_err(|problem| Error::Reference { of: of(), problem })?
            }
            Reference::Targets(targets) => {
                let targets = targets.of(group)?;
                if targets.len() != classes {
                    return Err(Error::Length { what: "the list of targets", found: targets.len(), expected: classes });
                }
                let sum = targets.iter().fold(0u64, |sum, &target| sum.saturating_add(target));
                if sum != rows {
                    return Err(Error::TargetSum { of: of(), sum, rows });
                }
                targets.iter().map(|&target| u128::from(target)).collect()
            }
        };
        Ok(Weights::Known(weights))
    }
}

/// Returns ` of group "x"`, or an empty string.
pub(crate) fn of_group(group: Option<&str>) -> String {
    group.map_or_else(String::new, |group| format!(" of group {}", quoted(group)))
}

fn count_truth(truth: impl Iterator<Item = (Label, u64)>, classes: usize) -> Vec<u128> {
    let mut counts = vec![0; classes];
    let known = truth.filter(|&(label, _)| label != UNCODED);
    known.for_each(|(label, people)| counts[usize::from(label)] += u128::from(people));
    counts
}

/// Converts shares to multiples of 1e-15, so that 0.15 means exactly fifteen hundredths and remainders tie as
/// expected from the decimals.
fn weigh(shares: &[f64], classes: usize) -> std::result::Result<Vec<u128>, String> {
    if shares.len() != classes {
        return Err(format!(
            "has {} for {classes} classes; give one share per class",
            counted(shares.len() as u64, "share", "shares")
        ));
    }
    if let Some(share) = shares.iter().find(|share| !share.is_finite() || **share < 0.0) {
        return Err(format!("has a share of {share}; shares must be finite and not negative"));
    }
    let sum: f64 = shares.iter().sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(format!("sums to {sum}, not to 1; divide by the sum"));
    }
    Ok(shares.iter().map(|share| (share * 1e15).round() as u128).collect())
}

/// Returns weights from the sums of the scores, in grid units. Sums slightly below zero count as zero.
pub(crate) fn posterior_weights(sums: &[i128]) -> Vec<u128> {
    sums.iter().map(|&sum| sum.max(0).unsigned_abs()).collect()
}

/// Computes largest remainders exactly: every class gets the whole part of its quota, and the remaining units go to the
/// largest remainders. If equal remainders compete for the last units, the choice is left open: the solver takes the
/// cheapest rounding, then the first classes.
pub(crate) fn round(weights: &[u128], rows: u64) -> Demand {
    let total: u128 = weights.iter().sum();
    if total == 0 {
        return Demand::exactly(vec![0; weights.len()]);
    }
    let quotas: Vec<u128> = weights.iter().map(|weight| weight * u128::from(rows)).collect();
    let whole: Vec<u64> = quotas.iter().map(|quota| (quota / total) as u64).collect();
    let remainders: Vec<u128> = quotas.iter().map(|quota| quota % total).collect();
    let left = (rows - whole.iter().sum::<u64>()) as usize;
    if left == 0 {
        return Demand::exactly(whole);
    }
    let mut order = remainders.clone();
    order.sort_unstable_by(|a, b| b.cmp(a));
    let last = order[left - 1];
    let contested = order.get(left) == Some(&last);
    let up = |remainder: &u128, round_last: bool| u64::from(*remainder > last || (round_last && *remainder == last));
    let bound = |round_last: bool| {
        whole.iter().zip(&remainders).map(|(whole, remainder)| whole + up(remainder, round_last)).collect()
    };
    Demand::between(bound(!contested), bound(true))
}

/// Computes largest remainders, with contested units assigned to the first classes.
pub(crate) fn round_to_first(weights: &[u128], rows: u64) -> Vec<u64> {
    let Demand { least, most, .. } = round(weights, rows);
    let mut left = rows.saturating_sub(least.iter().sum());
    let up = |(least, most): (&u64, &u64)| {
        let more = (most - least).min(left);
        left -= more;
        least + more
    };
    least.iter().zip(&most).map(up).collect()
}
