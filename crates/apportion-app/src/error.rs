//! Errors of jobs: data that a front end renders, with settings named by id.

use std::path::Path;

use apportion::text::{Message, Setting};

/// An error of a job.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The settings are invalid or cannot be combined. Nothing was read.
    #[error("{0}")]
    Settings(Message),
    /// The data or the files do not allow the requested operation.
    #[error("{0}")]
    Data(Message),
    /// The value of a setting is invalid for this table, such as an unknown class.
    #[error("`{}`: {}", .0.id(), .1)]
    Setting(Setting, apportion::Error),
    /// The system could not start the threads.
    #[error("the threads could not be started: {0}")]
    Threads(String),
    /// An error in files and tables.
    #[error(transparent)]
    Io(#[from] apportion_io::Error),
    /// An error of the core library.
    #[error(transparent)]
    Core(#[from] apportion::Error),
    /// An error in tables of names and places, or in their models.
    #[error(transparent)]
    Bisg(#[from] apportion_bisg::Error),
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns an error in the settings.
    pub fn settings(message: impl Into<Message>) -> Error {
        Error::Settings(message.into())
    }

    /// Returns an error in the data.
    pub fn data(message: impl Into<Message>) -> Error {
        Error::Data(message.into())
    }

    /// Returns the error with the file in which it occurred.
    pub fn in_file(self, path: &Path) -> Error {
        let message = Message::from(format!("{}: ", path.display())) + self.message();
        if self.is_usage() { Error::Settings(message) } else { Error::Data(message) }
    }

    /// Returns the sentence, for a front end to render.
    pub fn message(&self) -> Message {
        match self {
            Error::Settings(message) | Error::Data(message) => message.clone(),
            Error::Setting(setting, error) => Message::from(*setting) + ": " + apportion_io::core_message(error),
            Error::Threads(problem) => {
                Message::from(format!("the threads could not be started ({problem}); use fewer threads with "))
                    + Setting::Threads
            }
            Error::Io(error) => error.message(),
            Error::Core(error) => apportion_io::core_message(error),
            Error::Bisg(error) => error.message(),
        }
    }

    /// Returns the kind of the system's error, if the problem is a missing or existing file, or a failed system call.
    pub fn kind(&self) -> Option<std::io::ErrorKind> {
        match self {
            Error::Io(error) => error.kind(),
            _ => None,
        }
    }

    /// Returns whether the error is in the settings rather than the data.
    pub fn is_usage(&self) -> bool {
        use apportion::Error as Core;
        match self {
            Error::Settings(_) => true,
            Error::Core(error) | Error::Io(apportion_io::Error::Core { error, .. }) => {
                matches!(error, Core::Parameter { .. } | Core::Incompatible { .. })
            }
            Error::Data(_) | Error::Setting(..) | Error::Threads(_) | Error::Io(_) | Error::Bisg(_) => false,
        }
    }
}
