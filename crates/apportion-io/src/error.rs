//! Errors of this crate: data about the file, the row, the column and the setting, and the sentence for them.

use std::fmt;
use std::path::{Path, PathBuf};

use apportion::text::{Message, Setting};

use crate::core_message::{core_message, located_problem};
use crate::file::is_changed;

/// An error in a file, its content or the settings.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A problem with a whole file.
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, and how to fix it.
        problem: Message,
    },
    /// A problem with one value.
    Value {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1, without the header.
        row: u64,
        /// The column.
        column: String,
        /// What is wrong, and how to fix it.
        problem: Message,
    },
    /// A problem with a whole row.
    Row {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1, without the header.
        row: u64,
        /// What is wrong, and how to fix it.
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

/// The name of standard output in errors.
const STANDARD_OUTPUT: &str = "standard output";

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an error about a file; `problem` says what is wrong and how to fix it.
    pub fn file(path: &Path, problem: impl Into<Message>) -> Error {
        Error::File { path: path.to_owned(), problem: problem.into() }
    }

    /// Returns an error about the settings.
    pub fn settings(problem: impl Into<Message>) -> Error {
        Error::Settings(problem.into())
    }

    /// Returns the sentence, for a front end to render.
    pub fn message(&self) -> Message {
        match self {
            Error::File { path, problem } => Message::from(format!("{}: ", path.display())) + problem.clone(),
            Error::Value { path, row, column, problem } => {
                Message::from(value_prefix(path, *row, Some(column))) + problem.clone()
            }
            Error::Row { path, row, problem } => Message::from(value_prefix(path, *row, None)) + problem.clone(),
            Error::Settings(problem) => problem.clone(),
            Error::Cancelled => "stopped: nothing was written".into(),
            Error::Core { error, location: None } => core_message(error),
            Error::Core { error, location: Some(location) } => {
                let Location { path, row, column } = location.as_ref();
                Message::from(value_prefix(path, *row, column.as_deref())) + located_problem(error)
            }
        }
    }

    /// Returns the error for a file that changed while it was being read.
    pub(crate) fn changed(path: &Path) -> Error {
        Error::file(path, "it changed while it was being read; nothing was written: run the command again")
    }

    /// Returns the error for a failed system call on a file, with the next step if there is one.
    pub fn io(path: &Path, error: &std::io::Error) -> Error {
        use std::io::ErrorKind;
        if is_changed(error) {
            return Error::changed(path);
        }
        let problem: Message = match error.kind() {
            ErrorKind::NotFound => "there is no such file; check the path".into(),
            ErrorKind::PermissionDenied => "permission is denied; ask its owner, or use another folder".into(),
            ErrorKind::AlreadyExists => {
                let problem = "another program has made this file in the meantime; choose another name, or replace it";
                Message::from(format!("{problem} with ")) + Setting::Force
            }
            ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded => {
                let rest = if path == Path::new(STANDARD_OUTPUT) {
                    "The output so far is incomplete: delete it"
                } else {
                    "No file was left behind"
                };
                format!("{error}; make room, or write elsewhere. {rest}").into()
            }
            ErrorKind::BrokenPipe => error.to_string().into(),
            _ => format!("{error}; check the path and the disk").into(),
        };
        Error::file(path, problem)
    }

    /// Returns the error for a file that must not be replaced.
    pub(crate) fn exists(path: &Path) -> Error {
        let problem = "it exists already; choose another name, or allow it with ";
        Error::file(path, Message::from(problem) + Setting::Force)
    }

    /// Returns the error for a complete file that could not be renamed to its final name.
    pub(crate) fn publishing(path: &Path, error: &std::io::Error) -> Error {
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::exists(path),
            _ => Error::io(path, error),
        }
    }

    /// Returns the error of a writer. The CSV and Parquet writers turn system errors into text; the
    /// error number is parsed back.
    pub(crate) fn writing(path: &Path, text: &str) -> Error {
        let code = text.split("(os error ").nth(1).and_then(|rest| rest.split(')').next()?.parse().ok());
        match code {
            Some(code) => Error::io(path, &std::io::Error::from_raw_os_error(code)),
            None => Error::file(path, format!("it could not be written ({text}). No file was left behind")),
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

/// Writes settings by their ids, for readers who use no front end.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for Error {}

impl From<apportion::Error> for Error {
    fn from(error: apportion::Error) -> Error {
        Error::Core { error, location: None }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error as IoError, ErrorKind};

    use super::*;

    #[test]
    fn a_lost_race_and_a_full_standard_output_are_explained() {
        let message = |path: &str, kind: ErrorKind| Error::io(Path::new(path), &IoError::from(kind)).to_string();
        let lost = message("o.csv", ErrorKind::AlreadyExists);
        assert!(lost.starts_with("o.csv: another program has made this file in the meantime"), "{lost}");
        let full = message(STANDARD_OUTPUT, ErrorKind::StorageFull);
        assert!(full.ends_with("The output so far is incomplete: delete it"), "{full}");
        assert!(message("o.csv", ErrorKind::StorageFull).ends_with("No file was left behind"));
    }

    #[test]
    fn errors_of_the_core_are_written_with_their_location_and_settings() {
        let scaling = apportion::Scaling::AsGiven;
        let error = apportion::Error::NotOne { row: 0, classes: "a, b".into(), sum: 1.5, scaling };
        let location = Location { path: "in.csv".into(), row: 7, column: None };
        let located = Error::Core { error, location: Some(Box::new(location)) };
        assert_eq!(
            located.to_string(),
            "in.csv: row 7: the scores sum to 1.5 (classes a, b), not to 1; if that is meant, use `normalize`"
        );
        assert_eq!(
            Error::from(apportion::Error::ReferenceByGroup).to_string(),
            "the reference is given by group, but the rule looks at all rows together; match by group with `by`"
        );
    }
}
