//! Columns of labels that exist: which column it is, and how its values are read.

use apportion::audit::UncodedPolicy;
use apportion::text::{Message, Setting};
use apportion_io::{ClassColumn, ClassSettings, Input, same_name};
use serde::{Deserialize, Serialize};

use crate::class_map::ClassMap;
use crate::{Context, Error, Result};

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

impl Uncoded {
    /// Refuses policies that only `audit` has.
    ///
    /// # Errors
    /// If unlabeled rows are not kept.
    pub(crate) fn check_kept(&self) -> Result<()> {
        let policy = match self.policy {
            UncodedPolicy::Keep => return Ok(()),
            UncodedPolicy::Drop => "drop",
            UncodedPolicy::Argmax => "argmax",
        };
        let given = Message::from(Setting::Uncoded.with(format!("{}={policy}", self.values.join(","))));
        let kept = Setting::Uncoded.with(format!("{}=keep", self.values.join(",")));
        Err(Error::Settings(given + ": only `audit` drops or fills unlabeled rows; use " + kept))
    }
}

/// The name of the label column that `label` and `apply` write by default.
const USUAL_NAME: &str = "label";

/// Returns whether a column has the name that `label` and `apply` write by default.
pub(crate) fn is_usual(name: &str) -> bool {
    same_name(name, USUAL_NAME)
}

/// Returns the column called `label` and sends a note; `needed_by` is the setting that needs labels, if it is not the job
/// itself.
///
/// # Errors
/// If there is no such column.
pub(crate) fn find(input: &Input, needed_by: Option<Setting>, context: &Context) -> Result<String> {
    if let Some(name) = input.columns(0)?.into_iter().find(|name| is_usual(name)) {
        context.note(Message::from(format!("labels: column {name:?}; name another with ")) + Setting::Label);
        return Ok(name);
    }
    Err(Error::Settings(match needed_by {
        Some(setting) => Message::from(setting) + " needs " + Setting::Label.with("COL"),
        None => {
            let problem = format!("no column is called {USUAL_NAME:?}; name the column of the labels with ");
            Message::from(problem) + Setting::Label.with("COL")
        }
    }))
}

/// Returns the options for reading a column of labels.
pub(crate) fn class_column(column: &str, map: &ClassMap, uncoded: &Uncoded) -> ClassColumn {
    ClassColumn {
        column: column.to_owned(),
        map: map.pairs(),
        exclude: uncoded.values.clone(),
        vocabulary: map.vocabulary(),
        settings: ClassSettings::LABEL,
        ..ClassColumn::default()
    }
}
