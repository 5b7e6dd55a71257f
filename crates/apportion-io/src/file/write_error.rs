//! Errors of writers that turn system errors into text.

use std::path::Path;

use crate::error::Error;

impl Error {
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
