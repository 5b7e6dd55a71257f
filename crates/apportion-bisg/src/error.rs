//! Errors of tables and models.

/// An error in a table of names or places, or in how tables are put together. Rows are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A row of a table of names or places cannot be used.
    #[error("row {row}: {problem}")]
    TableRow {
        /// Row, from 0.
        row: usize,
        /// What is wrong with it, and how to fix it.
        problem: String,
    },
    /// The tables or margins cannot be used together.
    #[error("{problem}")]
    Model {
        /// What is wrong, and how to fix it.
        problem: String,
    },
}

/// The result type of this crate.
pub type Result<T> = std::result::Result<T, Error>;
