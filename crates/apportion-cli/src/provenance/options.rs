//! The options that labels depend on, as provenance keeps them.

use std::collections::BTreeMap;

use apportion::Scaling;
use apportion::rule::Bound;
use serde::{Deserialize, Serialize};

/// Options of a command. What a command does not have, or was not asked for, is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Recorded {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) penalty: Option<String>,
    /// The least score of a label; for classes with a threshold of their own in `at_by_class`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) at_by_class: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) draws: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coverage: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) at_least: BTreeMap<String, RecordedBound>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) at_most: BTreeMap<String, RecordedBound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) margin: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) by: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) nested: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from_sample: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) learner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) batch: Option<u64>,
    /// The score columns, in the order of the classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) scores: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) classes: Vec<String>,
    /// What was done to each row of scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scaling: Option<Scaling>,
    #[serde(skip_serializing_if = "is_not")]
    pub(crate) normalize: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truth: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) truth_map: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) truth_exclude: Vec<String>,
    #[serde(skip_serializing_if = "is_not")]
    pub(crate) only_with_truth: bool,
    #[serde(skip_serializing_if = "is_not")]
    pub(crate) skip_missing: bool,
    /// The column of the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    #[serde(skip_serializing_if = "is_not")]
    pub(crate) only_label: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    /// How `predict` made scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) within: Option<String>,
    /// Columns of the people that `predict` used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) columns: Vec<String>,
}

/// A bound on how many people a class has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RecordedBound {
    Count(u64),
    Share(f64),
}

impl From<Bound> for RecordedBound {
    fn from(bound: Bound) -> RecordedBound {
        match bound {
            Bound::Count(count) => RecordedBound::Count(count),
            Bound::Share(share) => RecordedBound::Share(share),
        }
    }
}

impl From<RecordedBound> for Bound {
    fn from(bound: RecordedBound) -> Bound {
        match bound {
            RecordedBound::Count(count) => Bound::Count(count),
            RecordedBound::Share(share) => Bound::Share(share),
        }
    }
}

fn is_not(option: &bool) -> bool {
    !option
}

impl Recorded {
    /// Replaces options by those that a command line gives.
    pub(crate) fn overridden(mut self, own: &Recorded, given: impl Fn(&str) -> bool) -> Recorded {
        macro_rules! replace {
            ($($option:literal: $($field:ident)+;)+) => {
                $(if given($option) { $(self.$field = own.$field.clone();)+ })+
            };
        }
        replace! {
            "rule": rule; "reference": reference; "gamma": gamma; "penalty": penalty; "at": at at_by_class; "k": k;
            "draws": draws; "coverage": coverage; "at_least": at_least; "at_most": at_most; "margin": margin;
            "by": by; "nested": nested; "from_sample": from_sample; "learner": learner; "batch": batch;
            "scores": scores; "classes": classes; "normalize": normalize; "id": id; "count": count;
            "truth": truth; "truth_map": truth_map; "truth_exclude": truth_exclude;
            "only_with_truth": only_with_truth; "skip_missing": skip_missing; "seed": seed;
        }
        self
    }
}
