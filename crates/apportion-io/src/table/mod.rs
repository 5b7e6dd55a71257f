//! Score tables: the columns with scores, classes, groups and outcomes, and their values for
//! each row.
//!
//! A `column` is borrowed from Arrow or from a program; a `block` keeps some rows of columns alive.
//! `score_columns` recognizes columns by name; `builder` reads blocks into a `score_table`. Scores are
//! kept in memory or, beyond the memory limit, in a temporary file (`spill`); a table of another
//! program is used in place (`memory_table`, `shared_column`). `stream` yields a table batch by
//! batch; `row_reader`, `rows` and `row_comparison` compare it with the rows of another file.

mod block;
mod builder;
mod class_column;
mod column;
mod control;
mod groups;
mod memory_table;
mod number;
mod outcome;
mod percentages;
mod row_comparison;
mod row_mask;
mod row_reader;
mod rows;
mod score_columns;
mod score_table;
mod shared_column;
mod spill;
mod stream;
mod suggest;
mod vocabulary;
mod weights;

pub use class_column::{ClassColumn, ClassSettings};
pub use column::{Bits, Column, Integers, OtherColumn, TextBuffer, Texts, Validity, Values};
pub use control::ControlColumn;
pub use memory_table::MemoryTable;
pub use outcome::OutcomeColumn;
pub use row_comparison::{CellDifference, ComparedSide, RowComparison, RowShift};
pub use row_mask::RowMask;
pub use row_reader::RowReader;
pub use rows::{CountValues, NumberValues, Rows, TextValues};
pub use score_columns::{RecognizedScores, ScoreColumns, find_scores, same_name};
pub use score_table::{Table, TableOptions};
pub use shared_column::{Shared, SharedColumn, SharedValues};
pub use stream::{TableBatch, TableStream};
pub use suggest::{closest_match, did_you_mean};
pub use vocabulary::Vocabulary;

pub(crate) use block::{Block, BlockColumn};
pub(crate) use number::{Amount, ambiguous_comma, fill_suppressed, is_suppressed, parse_amount};
pub(crate) use score_columns::{PERCENT_SUFFIXES, column_index, normalize_name, split_class};
