//! What can go wrong with files: one sentence with file, row, column and the next step.

use std::path::{Path, PathBuf};

use crate::file::is_changed;

/// An error with a file, or with what is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file as a whole.
    #[error("{}: {problem}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, and the way on.
        problem: String,
    },
    /// A value in a row.
    #[error("{}: row {row}, column {column:?}: {problem}", .path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1, without the header.
        row: u64,
        /// The column.
        column: String,
        /// What is wrong, and the way on.
        problem: String,
    },
    /// A row as a whole.
    #[error("{}: row {row}: {problem}", .path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The row, counted from 1, without the header.
        row: u64,
        /// What is wrong, and the way on.
        problem: String,
    },
    /// The options, whatever the files.
    #[error("{0}")]
    Options(String),
    /// Whoever wanted the work wants it no more.
    #[error("stopped: nothing was written")]
    Cancelled,
    /// The library.
    #[error(transparent)]
    Core(#[from] apportion::Error),
}

/// The name of standard output in errors.
const STANDARD_OUTPUT: &str = "standard output";

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// What is wrong with a file, and the way on.
    pub fn file(path: &Path, problem: impl Into<String>) -> Error {
        Error::File { path: path.to_owned(), problem: problem.into() }
    }

    /// A file that changed while it was being read.
    pub(crate) fn changed(path: &Path) -> Error {
        Error::file(path, "it changed while it was being read; nothing was written: run the command again")
    }

    /// What the system says of a file, with the way on where there is one.
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

    /// What the system says when a complete file is given its name.
    pub(crate) fn publishing(path: &Path, error: &std::io::Error) -> Error {
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                Error::file(path, "it exists already; choose another name, or allow it with --force")
            }
            _ => Error::io(path, error),
        }
    }

    /// What a writer says. Those of CSV and Parquet turn what the system said into text; here it is found again.
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
    fn a_lost_race_and_a_full_standard_output_are_told() {
        let told = |path: &str, kind: ErrorKind| Error::io(Path::new(path), &IoError::from(kind)).to_string();
        let lost = told("o.csv", ErrorKind::AlreadyExists);
        assert!(lost.starts_with("o.csv: another program has made this file in the meantime"), "{lost}");
        let full = told(STANDARD_OUTPUT, ErrorKind::StorageFull);
        assert!(full.ends_with("The output so far is incomplete: delete it"), "{full}");
        assert!(told("o.csv", ErrorKind::StorageFull).ends_with("No file was left behind"));
    }
}
