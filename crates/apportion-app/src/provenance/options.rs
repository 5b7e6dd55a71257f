//! The settings that labels depend on, as provenance records them.

#![allow(missing_docs)] // Fields are settings, documented where these are declared.

use std::collections::{BTreeMap, BTreeSet};

use apportion::Scaling;
use apportion::rule::Bound;
use apportion::text::Setting;
use serde::{Deserialize, Serialize};

/// Options of a command. What a command does not have, or was not asked for, is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recorded {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty: Option<String>,
    /// The least score of a label; for classes with a threshold of their own in `at_by_class`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub at_by_class: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub at_least: BTreeMap<String, RecordedBound>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub at_most: BTreeMap<String, RecordedBound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_sample: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// The score columns, in the order of the classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// What was done to each row of scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    #[serde(skip_serializing_if = "is_not")]
    pub normalize: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub truth_map: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub truth_exclude: Vec<String>,
    #[serde(skip_serializing_if = "is_not")]
    pub only_with_truth: bool,
    #[serde(skip_serializing_if = "is_not")]
    pub skip_missing: bool,
    /// The column of the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(skip_serializing_if = "is_not")]
    pub only_label: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How `predict` made scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Columns of the people that `predict` used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
}

/// A bound on how many people a class has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedBound {
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
    /// Replaces the settings that were given by those of `own`.
    pub fn overridden(mut self, own: &Recorded, given: &BTreeSet<Setting>) -> Recorded {
        macro_rules! replace {
            ($($setting:ident: $($field:ident)+;)+) => {
                $(if given.contains(&Setting::$setting) { $(self.$field = own.$field.clone();)+ })+
            };
        }
        replace! {
            Rule: rule; Reference: reference; Gamma: gamma; Penalty: penalty; At: at at_by_class; K: k;
            Draws: draws; Coverage: coverage; AtLeast: at_least; AtMost: at_most; Tolerance: margin;
            By: by; Nested: nested; FromSample: from_sample; Learner: learner; TrainRows: batch;
            Scores: scores; Classes: classes; Normalize: normalize; Id: id; Count: count;
            Truth: truth; TruthMap: truth_map; TruthExclude: truth_exclude;
            OnlyWithTruth: only_with_truth; SkipMissing: skip_missing; Seed: seed;
        }
        self
    }
}
