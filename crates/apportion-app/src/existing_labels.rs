//! Columns of labels that exist: how their values are read.

use apportion::audit::UncodedPolicy;
use apportion_io::{ClassColumn, ClassSettings};
use serde::{Deserialize, Serialize};

use crate::class_map::ClassMap;

/// The values that mean unlabeled, and the policy for such rows. An empty value always means unlabeled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Uncoded {
    /// The values.
    pub values: Vec<String>,
    /// The policy for unlabeled rows.
    pub policy: UncodedPolicy,
}

impl Default for Uncoded {
    fn default() -> Uncoded {
        Uncoded { values: vec!["Uncoded".into()], policy: UncodedPolicy::Keep }
    }
}

/// Returns the options for reading a column of labels, with the values that mean unlabeled.
pub(crate) fn class_column(column: &str, map: &ClassMap, unlabeled: &[String]) -> ClassColumn {
    ClassColumn {
        column: column.to_owned(),
        map: map.pairs(),
        exclude: unlabeled.to_vec(),
        vocabulary: map.vocabulary(),
        settings: ClassSettings::LABEL,
        ..ClassColumn::default()
    }
}
