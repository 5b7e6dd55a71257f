//! The rules: what a user may ask for, one file each.
//!
//! Independent rules look at one row at a time; their fit is empty. `Match` and `Balance` look at all rows together: a
//! reference becomes a `plan`, which the solver of `transport` is given, for all rows or group by group (`joint`).
//! `FromSample` and `Learned` solve one of these (`joint_rule`) on a `sample` of the rows.

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
mod learned;
mod matching;
mod nested;
mod plan;
mod sample;
mod sampling;
mod threshold;

pub use allot::{Allotment, Allotted};
pub use balance::{Balance, Penalty};
pub use batched::{Batched, Batches};
pub use bounds::{Bound, Bounds};
pub use from_sample::FromSample;
pub use frontier::{Frontier, Point, Thinned};
pub use joint_rule::JointRule;
pub use learned::Learned;
pub use matching::Match;
pub use sample::Sample;
pub use threshold::Thresholds;

pub(crate) use allot::person_key;
pub(crate) use argmax::prices as argmax_prices;
pub(crate) use sampling::{sample, sample_each, top_classes};
pub(crate) use threshold::{bar_units, check_bar, label as threshold_label, least_score};

// Hidden: bench and trust run each level, the program prints the best one, and results never depend on it.
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
    /// The likeliest class; the first among equals.
    Argmax,
    /// The likeliest class where it is likely enough, else Uncoded.
    Threshold(Thresholds),
    /// A class drawn with the row's scores as probabilities: right on average, in any subgroup, known or not; least accurate
    /// row by row. A draw depends on (seed, key) alone, so rows that share a key share their chance: see [`Keys`]. Further
    /// draws are made by [`Decision::draw`].
    Thompson,
    /// A class drawn among the k likeliest and all that tie with the last of them.
    TopK(usize),
    /// The labels of greatest expected accuracy among those whose counts match a reference.
    Match(Match),
    /// The labels with the best balance of expected accuracy and fidelity to a reference.
    Balance(Balance),
    /// Match or balance, by the prices of a sample: counts are near, and not exact.
    FromSample(FromSample),
    /// Match or balance, by a model that learned from a batch: counts are near, and not exact.
    Learned(Learned),
}

/// What does not belong to the rule: how chance is seeded, and what instructions the machine has.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Settles draws and ties, together with the rows' keys.
    pub seed: u64,
    /// The instructions to use; results never depend on it.
    pub simd: SimdLevel,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { seed: 0, simd: SimdLevel::best() }
    }
}

/// Labels with the decision that gives them and, for joint rules, their proof.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Labeled {
    /// A label for each row.
    pub labels: Labels,
    /// What to save: labels the same rows the same way, and any others.
    pub decision: Decision,
    /// For joint rules only.
    pub joint: Option<Joint>,
}

/// What a joint rule says of its labels.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Joint {
    /// The proof that no labels are better. For match: that none with these counts have a greater sum of scores. For
    /// balance: that none have a greater sum of scores less N·(1−γ)/γ times the distance, whatever their counts; there the
    /// values are less by that cost. For plain l2 the dual is a bound, in floating point, and the gap is what is left.
    pub certificate: Certificate,
    /// The reference in whole numbers, summed over the groups: the counts of match, unless bounds forbid them.
    pub targets: Vec<u64>,
    /// The same for each group, in the order of the groups, where the rule looks at groups.
    pub group_targets: Vec<Vec<u64>>,
    /// Rows for which several classes were equally good; people, where rows stand for several.
    pub tied_rows: u64,
    /// Tied rows whose key an earlier one has: they were told apart by their order.
    pub repeated_keys: u64,
    /// γ · mean score − (1 − γ) · distance, for balance.
    pub gamma_objective: Option<f64>,
}

impl Rule {
    /// The joint rule that is solved on a sample only, where one is, and how many rows are drawn.
    pub fn on_sample(&self) -> Option<(&JointRule, usize)> {
        match self {
            Rule::FromSample(FromSample { joint, rows }) => Some((joint, *rows)),
            Rule::Learned(Learned { joint, batch, .. }) => Some((joint, *batch)),
            Rule::Argmax | Rule::Threshold(_) | Rule::Thompson | Rule::TopK(_) | Rule::Match(_) | Rule::Balance(_) => {
                None
            }
        }
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

    /// Fits a decision to the rows: small, to be saved, for these rows and any others.
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
