//! Decisions that `fit` saved: reading them, and checking that a table has their classes.

use std::fs;
use std::path::PathBuf;

use apportion::Decision;
use apportion::text::{Message, Setting};
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A saved decision: a file, or its JSON in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedDecision {
    /// The file. If the decision is in memory, its name in messages.
    pub path: PathBuf,
    /// The JSON, in place of the file.
    pub json: Option<String>,
}

impl SavedDecision {
    /// Returns a decision in a file.
    pub fn file(path: impl Into<PathBuf>) -> SavedDecision {
        SavedDecision { path: path.into(), json: None }
    }

    /// Reads the decision.
    ///
    /// # Errors
    /// If the file cannot be read, or holds no decision.
    pub fn read(&self) -> Result<Decision> {
        let name = self.path.display();
        let json = match &self.json {
            Some(json) => json.clone(),
            None => fs::read_to_string(&self.path).map_err(|error| {
                Error::data(format!("{name}: it cannot be read ({error}); name a file that `apportion fit` wrote"))
            })?,
        };
        serde_json::from_str(&json).map_err(|error| {
            let problem = shortened(&error.to_string());
            Error::data(format!("{name}: it is no decision ({problem}); make one with `apportion fit`"))
        })
    }
}

/// Returns the beginning and the end of a long message: a file from elsewhere may have anything in the middle.
fn shortened(message: &str) -> String {
    const KEPT: usize = 60;
    let letters: Vec<char> = message.chars().collect();
    if letters.len() <= 3 * KEPT {
        return message.to_owned();
    }
    let part = |letters: &[char]| letters.iter().collect::<String>();
    format!("{}…{}", part(&letters[..KEPT]), part(&letters[letters.len() - KEPT..]))
}

/// Refuses a table whose classes are not those of a decision, and says how to make them the same.
///
/// # Errors
/// If they are not.
pub fn check_classes(name: &str, fitted: &[String], found: &[String]) -> Result<()> {
    if fitted == found {
        return Ok(());
    }
    let classes = fitted.join(",");
    let (missing, unknown) = (without(fitted, found), without(found, fitted));
    let mut differences = Vec::new();
    if !missing.is_empty() {
        differences.push(format!("the table lacks {missing}"));
    }
    if !unknown.is_empty() {
        differences.push(format!("the decision does not know {unknown}"));
    }
    let differences = differences.join(", and ");
    if differences.is_empty() {
        let problem = Message::from(format!("{name}: the decision has its classes in another order; use "));
        return Err(Error::Data(problem + Setting::Classes.with(classes)));
    }
    let problem = Message::from(format!("{name}: {differences}; "));
    if fitted.len() != found.len() {
        let fix = Message::from("choose the columns with ") + Setting::Scores;
        return Err(Error::Data(problem + fix + ", or fit a decision to such tables"));
    }
    let fix = format!("if they mean the same, rename the table's, which are {}, with ", found.join(", "));
    let fix = Message::from(fix) + Setting::Classes.with(classes) + " (and bring the columns into that order with ";
    Err(Error::Data(problem + fix + Setting::Scores + ")"))
}

/// The classes that others do not have, quoted.
fn without(some: &[String], others: &[String]) -> String {
    let own = some.iter().filter(|class| !others.contains(class));
    own.map(|class| format!("{class:?}")).collect::<Vec<_>>().join(", ")
}
