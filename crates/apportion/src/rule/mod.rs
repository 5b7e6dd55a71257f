//! The rules, one file each.
//!
//! Independent rules label one row at a time; their fit is empty. `Match` and `Balance` label all rows together: a
//! reference becomes a `plan` for the solver in `transport`, for all rows or by group (`joint`). `FromSample` and
//! `Learned` solve one of these (`joint_rule`) on a `sample` of the rows.

mod allot;
mod argmax;
mod balance;
mod balance_l2;
mod batched;
mod bounds;
mod from_sample;
mod frontier;
mod gather;
mod groups;
mod joint;
mod joint_rule;
mod kind;
mod learned;
mod matching;
mod nested;
mod plan;
mod sample;
mod sampling;
mod threshold;

#[doc = include_str!("../../docs/joint.md")]
pub mod options {}

pub use allot::{Allotment, Allotted};
pub use balance::{Balance, Penalty};
pub use batched::{Batched, Batches};
pub use bounds::{Bound, Bounds};
pub use from_sample::FromSample;
pub use frontier::{Frontier, Point, Thinned};
pub use joint_rule::JointRule;
pub use kind::RuleKind;
pub use learned::Learned;
pub use matching::Match;
pub use sample::Sample;
pub use threshold::Thresholds;

pub(crate) use allot::person_key;
pub(crate) use argmax::prices as argmax_prices;
pub(crate) use sampling::{sample, sample_each, top_classes};
pub(crate) use threshold::{bar_units, check_bar, label as threshold_label, least_score};

// Hidden: apportion-bench and apportion-trust run each level, and apportion-cli prints the best one. Results do not
// depend on it.
#[doc(hidden)]
pub use crate::kernel::SimdLevel;

use crate::decision::{Decision, Fitted};
use crate::error::{Error, Result};
use crate::label::Labels;
#[cfg(doc)]
use crate::scores::Keys;
use crate::scores::Scores;
use crate::transport::Certificate;

/// A rule that turns scores into labels.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// The most likely class; the first of equals.
    Argmax,
    /// The most likely class if its score reaches a threshold, otherwise Uncoded.
    Threshold(Thresholds),
    /// A class drawn with the row's scores as probabilities: on average, counts are those of the scores, in any
    /// subgroup; they are unbiased only in subgroups in which the scores are calibrated. To analyze an outcome, draw
    /// from scores updated by it ([`Birdie::updated`](crate::estimate::Birdie::updated)). The least accurate rule
    /// row by row. A draw depends on (seed, key) only, so rows with equal keys share it: see [`Keys`].
    /// [`Decision::draw`] makes further draws.
    Thompson,
    /// A class drawn among the k most likely ones and all that tie with the last of them.
    TopK(usize),
    /// The labels of largest expected accuracy among those whose counts match a reference.
    Match(Match),
    /// The labels with the best trade-off of expected accuracy and fidelity to a reference.
    Balance(Balance),
    /// Match or balance by prices from a sample; counts are approximate.
    FromSample(FromSample),
    /// Match or balance by a model trained on a sample; counts are approximate.
    Learned(Learned),
}

/// Settings that do not belong to a rule.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The seed of draws and ties, used together with the rows' keys.
    pub seed: u64,
    /// The SIMD instructions to use, which do not affect results.
    pub simd: SimdLevel,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { seed: 0, simd: SimdLevel::best() }
    }
}

/// Labels, their decision and, for joint rules, their certificate.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Labeled {
    /// One label per row.
    pub labels: Labels,
    /// The fitted rule, which gives the same labels to the same rows and can label others.
    pub decision: Decision,
    /// For joint rules only.
    pub joint: Option<Joint>,
}

/// Details of a joint solution.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Joint {
    /// The certificate of optimality. For match: no labels with these counts have a larger sum of scores. For
    /// balance: no labels with any counts have a larger sum of scores minus N·(1−γ)/γ times the distance; both
    /// values include that cost. For plain l2 the dual is a floating-point bound and may leave a gap.
    pub certificate: Certificate,
    /// The reference in whole numbers, summed over groups: the counts of match, unless bounds prevent them.
    pub targets: Vec<u64>,
    /// The targets of each group, in order, if the rule is by group.
    pub group_targets: Vec<Vec<u64>>,
    /// The number of rows with several equally good classes; of people, if rows represent several.
    pub tied_rows: u64,
    /// The number of tied rows whose key occurred before: they were distinguished by row order.
    pub repeated_keys: u64,
    /// γ · mean score − (1 − γ) · distance, for balance.
    pub gamma_objective: Option<f64>,
}

impl Joint {
    /// Returns the number of people of each class who are the only ones with this label in their group; empty if the
    /// rule is not by group.
    pub fn single_members(&self) -> Vec<u64> {
        let classes = if self.group_targets.is_empty() { 0 } else { self.targets.len() };
        let of = |class: usize| self.group_targets.iter().filter(|targets| targets[class] == 1).count() as u64;
        (0..classes).map(of).collect()
    }
}

impl Rule {
    /// Returns the joint rule and the number of rows, if the rule is solved on a sample.
    pub fn on_sample(&self) -> Option<(&JointRule, usize)> {
        match self {
            Rule::FromSample(FromSample { joint, rows }) => Some((joint, *rows)),
            Rule::Learned(Learned { joint, train_rows, .. }) => Some((joint, *train_rows)),
            Rule::Argmax | Rule::Threshold(_) | Rule::Thompson | Rule::TopK(_) | Rule::Match(_) | Rule::Balance(_) => {
                None
            }
        }
    }

    /// Returns the same rule for all rows together, if it is a joint rule by group whose reference and bounds are not
    /// those of single groups.
    pub fn without_groups(&self) -> Option<Rule> {
        let matching = match self {
            Rule::Match(matching) | Rule::Balance(Balance { matching, .. }) => matching,
            Rule::Argmax
            | Rule::Threshold(_)
            | Rule::Thompson
            | Rule::TopK(_)
            | Rule::FromSample(_)
            | Rule::Learned(_) => return None,
        };
        if !matching.by_group || !matching.bounds.is_empty() || matching.reference.is_by_group() {
            return None;
        }
        let matching = Match { by_group: false, nested: Vec::new(), ..matching.clone() };
        Some(match self {
            Rule::Balance(balance) => Rule::Balance(Balance { matching, ..balance.clone() }),
            _ => Rule::Match(matching),
        })
    }

    /// Labels the rows.
    pub fn label(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Labeled> {
        match self {
            Rule::Match(matching) => matching.label(scores, settings),
            Rule::Balance(balance) => balance.label(scores, settings),
            Rule::FromSample(sample) => sample.label(scores, settings),
            Rule::Argmax | Rule::Threshold(_) | Rule::Thompson | Rule::TopK(_) | Rule::Learned(_) => {
                let decision = self.fit(scores, settings)?;
                let labels = decision.applier().with_simd(settings.simd).label(scores)?;
                Ok(Labeled { labels, decision, joint: None })
            }
        }
    }

    /// Fits a decision to the rows, to be saved and applied to these rows or others.
    pub fn fit(&self, scores: &Scores<'_>, settings: &Settings) -> Result<Decision> {
        let fitted = match self {
            Rule::Argmax => Fitted::Argmax,
            Rule::Threshold(thresholds) => Fitted::Threshold { at: thresholds.resolve(scores.classes())? },
            Rule::Thompson => Fitted::Thompson,
            Rule::TopK(0) => {
                return Err(Error::Parameter { what: "k of top-k".into(), value: 0.0, range: "at least 1" });
            }
            Rule::TopK(k) => Fitted::TopK { k: *k },
            Rule::Match(_) | Rule::Balance(_) => return Ok(self.label(scores, settings)?.decision),
            Rule::FromSample(sample) => return sample.fit(scores, settings),
            Rule::Learned(learned) => return learned.fit(scores, settings),
        };
        Decision::new(scores.classes().clone(), settings.seed, fitted)
    }
}
