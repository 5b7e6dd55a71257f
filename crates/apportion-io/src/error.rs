//! Errors of this crate: the file, row, column and setting as data, and a message.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use apportion::text::Message;

use crate::core_message::{CANCELLED, core_message, located_problem};

/// An error in a file, its content or the settings.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A problem with a whole file.
    File {
        /// The file.
        path: PathBuf,
        /// The problem, and how to fix it.
        problem: Message,
        /// The kind of the system's error, if the problem is a missing or existing file, or a failed system call.
        kind: Option<ErrorKind>,
    },
    /// A problem with one value.
    Value {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1, without the header.
        row: u64,
        /// The column.
        column: String,
        /// The problem, and how to fix it.
        problem: Message,
    },
    /// A problem with a whole row.
    Row {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1, without the header.
        row: u64,
        /// The problem, and how to fix it.
        problem: Message,
    },
    /// A problem with the settings.
    Settings(Message),
    /// The operation was cancelled.
    Cancelled,
    /// An error of the core library.
    Core {
        /// The error. Its rows are those of the table, counted from 0.
        error: apportion::Error,
        /// The row or value in the files, if the error is about one.
        location: Option<Box<Location>>,
    },
}

/// A row of a file, or one of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// The row, counted from 1, without the header.
    pub row: u64,
    /// The column, if the problem is with one value.
    pub column: Option<String>,
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an error about a file; `problem` is the problem and how to fix it.
    pub fn file(path: &Path, problem: impl Into<Message>) -> Error {
        Error::File { path: path.to_owned(), problem: problem.into(), kind: None }
    }

    /// Returns an error about a file with the kind of a system's error, such as a missing or an existing file.
    pub fn of_kind(kind: ErrorKind, path: &Path, problem: impl Into<Message>) -> Error {
        Error::File { path: path.to_owned(), problem: problem.into(), kind: Some(kind) }
    }

    /// Returns the kind of the system's error, if the problem is a missing or existing file, or a failed system call.
    pub fn kind(&self) -> Option<ErrorKind> {
        match self {
            Error::File { kind, .. } => *kind,
            _ => None,
        }
    }

    /// Returns an error about the settings.
    pub fn settings(problem: impl Into<Message>) -> Error {
        Error::Settings(problem.into())
    }

    /// Returns the sentence, for a front end to render.
    pub fn message(&self) -> Message {
        match self {
            Error::File { path, problem, .. } => Message::from(format!("{}: ", path.display())) + problem.clone(),
            Error::Value { path, row, column, problem } => {
                Message::from(value_prefix(path, *row, Some(column))) + problem.clone()
            }
            Error::Row { path, row, problem } => Message::from(value_prefix(path, *row, None)) + problem.clone(),
            Error::Settings(problem) => problem.clone(),
            Error::Cancelled => CANCELLED.into(),
            Error::Core { error, location: None } => core_message(error),
            Error::Core { error, location: Some(location) } => {
                let Location { path, row, column } = location.as_ref();
                Message::from(value_prefix(path, *row, column.as_deref())) + located_problem(error)
            }
        }
    }
}

/// Returns the start of a sentence about a row, or about one of its values.
fn value_prefix(path: &Path, row: u64, column: Option<&str>) -> String {
    match column {
        Some(column) => format!("{}: row {row}, column {column:?}: ", path.display()),
        None => format!("{}: row {row}: ", path.display()),
    }
}

/// Writes settings by their ids, for users without a front end.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for Error {}

impl From<apportion::Error> for Error {
    fn from(error: apportion::Error) -> Error {
        match error {
            apportion::Error::Cancelled => Error::Cancelled,
            error => Error::Core { error, location: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_core_are_written_with_their_location_and_settings() {
        let scaling = apportion::Scaling::AsGiven;
        let error = apportion::Error::NotOne { row: 0, classes: "a, b".into(), sum: 1.5, scaling };
        let location = Location { path: "in.csv".into(), row: 7, column: None };
        let located = Error::Core { error, location: Some(Box::new(location)) };
        assert_eq!(
            located.to_string(),
            "in.csv: row 7: the scores sum to 1.5 (classes a, b), not to 1; to divide each row by its sum, use `normalize`"
        );
        assert_eq!(
            Error::from(apportion::Error::ReferenceByGroup).to_string(),
            "the reference is given by group, but the rule uses all rows together; match by group with `by`"
        );
    }
}
