//! Errors of tables and models.

use std::fmt;

use apportion::text::{Message, Setting};

/// An error in a table of names or places, or in how tables are put together. Rows are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A row of a table of names or places cannot be used.
    TableRow {
        /// Row, from 0.
        row: usize,
        /// The problem, and how to fix it.
        problem: String,
    },
    /// The tables or margins cannot be used together.
    Model {
        /// The problem, and how to fix it.
        problem: String,
    },
    /// fBISG needs places as people by class.
    FbisgWithoutPeople,
    /// BISG for voters needs places as people by class.
    VotersWithoutPeople,
    /// No table has the number of people in each class.
    NoClassTotals,
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns the sentence, for a front end to render.
    pub fn message(&self) -> Message {
        match self {
            Error::TableRow { row, problem } => format!("row {row}: {problem}").into(),
            Error::Model { problem } => problem.clone().into(),
            Error::FbisgWithoutPeople => {
                Message::from("fBISG needs the number of people by place and class; provide such a table with ")
                    + Setting::Geography
            }
            Error::VotersWithoutPeople => {
                let problem = "voter BISG needs the number of people by place and class in the area of the margin";
                Message::from(format!("{problem}; provide such a table with ")) + Setting::Geography
            }
            Error::NoClassTotals => {
                let problem = "no table contains the number of people in each class, so people without a name cannot be \
                               scored; add a column named count or a row ALL OTHER NAMES to the surnames, use places \
                               as people by class, or provide shares with ";
                Message::from(problem) + Setting::Margin
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for Error {}
