//! Reasons why a verification ends early: a difference, which is its result, or an error.

use apportion::text::Message;

use crate::Error;

/// The reason why a verification ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// A difference between the output and its expected content.
    Difference(Message),
    /// The files or settings do not allow the verification.
    Error(Error),
}

/// The result of a step.
pub(super) type Checked<T> = std::result::Result<T, Stop>;

/// Returns a difference.
pub(super) fn differs(problem: impl Into<Message>) -> Stop {
    Stop::Difference(problem.into())
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

impl From<apportion_io::Error> for Stop {
    fn from(error: apportion_io::Error) -> Stop {
        Stop::Error(error.into())
    }
}

impl From<apportion::Error> for Stop {
    fn from(error: apportion::Error) -> Stop {
        Stop::Error(error.into())
    }
}
