//! Errors of system calls when files are read or written.

use std::path::Path;

use apportion::text::{Message, Setting};

use crate::error::Error;
use crate::file::is_changed;

/// The name of standard output in errors.
const STANDARD_OUTPUT: &str = "standard output";

impl Error {
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
            ErrorKind::NotFound => "no such file; check the path".into(),
            ErrorKind::PermissionDenied => "permission denied; change its permissions, or use another folder".into(),
            ErrorKind::AlreadyExists => {
                let problem =
                    "another program has created this file in the meantime; choose another name, or replace it";
                Message::from(format!("{problem} with ")) + Setting::Force
            }
            ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded => {
                let rest = if path == Path::new(STANDARD_OUTPUT) {
                    "The output is incomplete: delete it"
                } else {
                    "No file was left behind"
                };
                format!("{error}; free some space, or write elsewhere. {rest}").into()
            }
            ErrorKind::BrokenPipe => error.to_string().into(),
            _ => format!("{error}; check the path and the disk").into(),
        };
        Error::of_kind(error.kind(), path, problem)
    }

    /// Returns the error for a file that must not be replaced.
    pub(crate) fn exists(path: &Path) -> Error {
        let problem = "already exists; choose another name, or replace it with ";
        Error::of_kind(std::io::ErrorKind::AlreadyExists, path, Message::from(problem) + Setting::Force)
    }

    /// Returns the error for a folder of an output that does not exist.
    pub fn missing_folder(folder: &Path) -> Error {
        Error::of_kind(std::io::ErrorKind::NotFound, folder, "the folder does not exist; create it first")
    }

    /// Returns the error for a complete file that could not be renamed to its final name.
    pub(crate) fn publishing(path: &Path, error: &std::io::Error) -> Error {
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::exists(path),
            _ => Error::io(path, error),
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
        assert!(lost.starts_with("o.csv: another program has created this file in the meantime"), "{lost}");
        let full = message(STANDARD_OUTPUT, ErrorKind::StorageFull);
        assert!(full.ends_with("The output is incomplete: delete it"), "{full}");
        assert!(message("o.csv", ErrorKind::StorageFull).ends_with("No file was left behind"));
    }
}
