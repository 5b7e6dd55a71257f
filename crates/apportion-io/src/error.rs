//! Errors of this crate: one sentence with the file, the row, the column and the next step.

use std::path::{Path, PathBuf};

use crate::file::is_changed;

/// An error in a file, its content or the options.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A problem with a whole file.
    #[error("{}: {problem}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, and how to fix it.
        problem: String,
    },
    /// A problem with one value.
    #[error("{}: row {row}, column {column:?}: {problem}", .path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1, without the header.
        row: u64,
        /// The column.
        column: String,
        /// What is wrong, and how to fix it.
        problem: String,
    },
    /// A problem with a whole row.
    #[error("{}: row {row}: {problem}", .path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1, without the header.
        row: u64,
        /// What is wrong, and how to fix it.
        problem: String,
    },
    /// A problem with the options.
    #[error("{0}")]
    Options(String),
    /// The operation was cancelled.
    #[error("stopped: nothing was written")]
    Cancelled,
    /// An error of the core library.
    #[error(transparent)]
    Core(#[from] apportion::Error),
}

/// The name of standard output in errors.
const STANDARD_OUTPUT: &str = "standard output";

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an error about a file; `problem` says what is wrong and how to fix it.
    pub fn file(path: &Path, problem: impl Into<String>) -> Error {
        Error::File { path: path.to_owned(), problem: problem.into() }
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
        Error::file(
            path,
            match error.kind() {
                ErrorKind::NotFound => "there is no such file; check the path".into(),
                ErrorKind::PermissionDenied => "permission is denied; ask its owner, or use another folder".into(),
                ErrorKind::AlreadyExists => {
                    "another program has made this file in the meantime; choose another name, or replace it with --force"
                        .into()
                }
                ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded if path == Path::new(STANDARD_OUTPUT) => {
                    format!("{error}; make room, or write elsewhere. The output so far is incomplete: delete it")
                }
                ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded => {
                    format!("{error}; make room, or write elsewhere. No file was left behind")
                }
                ErrorKind::BrokenPipe => error.to_string(),
                _ => format!("{error}; check the path and the disk"),
            },
        )
    }

    /// Returns the error for a complete file that could not be renamed to its final name.
    pub(crate) fn publishing(path: &Path, error: &std::io::Error) -> Error {
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                Error::file(path, "it exists already; choose another name, or allow it with --force")
            }
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
}
