//! The settings on which labels depend, as recorded in provenance.

use std::collections::{BTreeMap, BTreeSet};

use apportion::Scaling;
use apportion::rule::Bound;
use apportion::text::Setting;
use serde::{Deserialize, Serialize};

/// The settings on which an output depends. Settings without a value are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Options"))]
#[serde(default)]
pub struct Recorded {
    /// The rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The reference, by name or path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The training shares of the reference `em`: the path, or the name of a table in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_shares: Option<String>,
    /// The weight of accuracy in balance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// The penalty of balance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty: Option<String>,
    /// The threshold of classes that are not in `at_by_class`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The thresholds of individual classes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub at_by_class: BTreeMap<String, f64>,
    /// The number of classes from which top-k draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// The number of draws.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draws: Option<u64>,
    /// The labeled share of people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// Lower bounds by class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub at_least: BTreeMap<String, RecordedBound>,
    /// Upper bounds by class.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub at_most: BTreeMap<String, RecordedBound>,
    /// The largest difference between shares and the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// The columns that define the groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<String>,
    /// The columns of nested groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nested: Vec<String>,
    /// What `apply` did with rows whose group is not in the decision, unless it refused them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_groups: Option<String>,
    /// The number of rows in the sample that was solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_sample: Option<u64>,
    /// The learner of the learned rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learner: Option<String>,
    /// The number of rows on which the learned rule was trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_rows: Option<u64>,
    /// The encoding of text files, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The character between the values of text files, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// The sheet of workbooks, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The score columns, in the order of the classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<String>,
    /// The names of the classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// How each row of scores was scaled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// Whether scores were divided by their sum.
    #[serde(skip_serializing_if = "is_not")]
    pub normalize: bool,
    /// The ID column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The column with the number of people of each row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
    /// The column of the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<String>,
    /// Values of the truth that are mapped to a class, as `VALUE=CLASS`, after the name of a built-in map if there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub truth_map: Vec<String>,
    /// The column of the ethnicity, if it was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth_ethnicity: Option<String>,
    /// Values of the truth that were treated as missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub truth_exclude: Vec<String>,
    /// Whether rows without truth were excluded.
    #[serde(skip_serializing_if = "is_not")]
    pub only_with_truth: bool,
    /// Whether rows with a missing score were excluded.
    #[serde(skip_serializing_if = "is_not")]
    pub skip_missing: bool,
    /// The label column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether only the label column was written.
    #[serde(skip_serializing_if = "is_not")]
    pub only_label: bool,
    /// The seed of draws and ties.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The model of `predict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The prefix of the score columns of `predict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The state of all people of `predict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The method of `calibrate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The columns of people that `predict` used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
}

/// A bound on the number of people of a class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Bound"))]
#[serde(rename_all = "kebab-case")]
pub enum RecordedBound {
    /// A number of people.
    Count(u64),
    /// A share of labeled people.
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
    /// Replaces the settings in `given` by those of `own`.
    pub fn overridden(mut self, own: &Recorded, given: &BTreeSet<Setting>) -> Recorded {
        macro_rules! replace {
            ($($setting:ident: $($field:ident)+;)+) => {
                $(if given.contains(&Setting::$setting) { $(self.$field = own.$field.clone();)+ })+
            };
        }
        replace! {
            Rule: rule; Reference: reference; TrainingShares: training_shares; Gamma: gamma; Penalty: penalty; At: at at_by_class; K: k;
            Draws: draws; Coverage: coverage; AtLeast: at_least; AtMost: at_most; Tolerance: tolerance;
            By: by; Nested: nested; UnknownGroups: unknown_groups; FromSample: from_sample; Learner: learner; TrainRows: train_rows;
            Encoding: encoding; Delimiter: delimiter; Sheet: sheet; Scores: scores; Classes: classes; Normalize: normalize; Id: id; Count: count;
            Truth: truth; TruthMap: truth_map; TruthEthnicity: truth_ethnicity; TruthExclude: truth_exclude;
            OnlyWithTruth: only_with_truth; SkipMissing: skip_missing; Seed: seed;
        }
        self
    }
}
