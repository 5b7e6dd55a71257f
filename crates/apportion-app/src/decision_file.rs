//! Saved decisions: reads them, writes them, and checks the tables they are applied to.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use apportion::Decision;
use apportion::text::{Message, Setting};
use apportion_io::Input;
use serde::Serialize;

use crate::provenance::Provenance;
use crate::table::TableSettings;
use crate::{Error, Result};

/// A saved decision with its provenance. Labels do not depend on the provenance.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct SavedDecision {
    /// The decision.
    #[serde(flatten)]
    pub decision: Decision,
    /// The provenance of the decision, if it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// Reads a decision from a file, or from its JSON in memory.
///
/// # Errors
/// If it is not a decision.
pub fn read(path: &Path, json: Option<&str>) -> Result<Decision> {
    let name = path.display();
    let text = match json {
        Some(json) => json.to_owned(),
        None => fs::read_to_string(path).map_err(|error| {
            Error::data(format!("{name}: cannot be read ({error}); use a file written by `apportion fit`"))
        })?,
    };
    serde_json::from_str(&text).map_err(|error| {
        let problem = shortened(&error.to_string());
        Error::data(format!("{name}: not a valid decision ({problem}); make one with `apportion fit`"))
    })
}

/// Returns the beginning and the end of a long message, because it can quote any text of an untrusted file.
fn shortened(message: &str) -> String {
    const KEPT: usize = 60;
    let letters: Vec<char> = message.chars().collect();
    if letters.len() <= 3 * KEPT {
        return message.to_owned();
    }
    let part = |letters: &[char]| letters.iter().collect::<String>();
    format!("{}…{}", part(&letters[..KEPT]), part(&letters[letters.len() - KEPT..]))
}

/// Returns the settings of a table, with the score columns of the decision if the input has them and the settings do
/// not give any.
///
/// # Errors
/// If the input cannot be read.
pub fn with_scores_of(decision: &Decision, settings: &TableSettings, input: &Input) -> Result<TableSettings> {
    let mut settings = settings.clone();
    let columns = decision.fit_info().map_or_else(Vec::new, |fit| fit.scores.clone());
    let known = input.columns(0)?;
    if settings.scores.is_empty() && !columns.is_empty() && columns.iter().all(|name| known.contains(name)) {
        settings.scores = columns;
        if settings.classes.is_empty() {
            settings.classes = decision.classes().names().to_vec();
        }
    }
    Ok(settings)
}

/// Refuses a table whose classes differ from those of a decision, with a suggestion for how to match them; `name` is
/// the name of the decision in the message, such as its file.
///
/// # Errors
/// If the classes differ.
pub fn check_classes(name: impl Display, fitted: &[String], found: &[String]) -> Result<()> {
    if fitted == found {
        return Ok(());
    }
    let (missing, unknown) = (without(fitted, found), without(found, fitted));
    let differ = [("the table does not have", missing), ("the decision does not have", unknown)];
    let differ = differ.into_iter().filter(|(_, classes)| !classes.is_empty());
    let differ = differ.map(|(what, classes)| format!("{what} {classes}")).collect::<Vec<_>>().join(", and ");
    let classes = fitted.join(",");
    let message = if differ.is_empty() {
        Message::from(format!("{name}: the classes of the decision are in a different order; use "))
            + Setting::Classes.with(classes)
    } else if fitted.len() != found.len() {
        Message::from(format!("{name}: {differ}; choose the columns with "))
            + Setting::Scores
            + ", or fit a decision to this table"
    } else {
        let found = found.join(", ");
        let rename = format!("{name}: {differ}; if they are the same, rename the classes of the table ({found}) with ");
        let order = " (and put the columns in that order with ";
        Message::from(rename) + Setting::Classes.with(classes) + order + Setting::Scores + ")"
    };
    Err(Error::Data(message))
}

/// Returns the classes that are not in `others`, quoted.
fn without(some: &[String], others: &[String]) -> String {
    let own = some.iter().filter(|class| !others.contains(class));
    own.map(|class| format!("{class:?}")).collect::<Vec<_>>().join(", ")
}
