//! Fuzz targets and randomized trials, each with an oracle that shares no code with the code under test.
//!
//! A target is a function of some bytes. It reports whether the bytes were accepted or refused, and panics if an oracle finds
//! a violation. The fuzzer (`trust/fuzz`), the replay test (`tests/replay.rs`) and the trials (`bin/trials.rs`) call the same
//! functions.
//!
//! | module | purpose |
//! |---|---|
//! | `targets` | one file per target |
//! | `solver` | random problems and their independent oracles: exhaustive search, weak duality |
//! | `draw` | choices from bytes or from a seed |
//! | `estimators` | files from populations with known truth: bias and coverage of the estimators of an outcome |
//! | `mutate` | damage to bytes, text and compressed text |
//! | `thrift`, `parquet_file` | damage to the parts of a Parquet file: footer, page headers, page bodies, checksums |
//! | `samples` | the valid files that the corpora start from |
//! | `corpus` | the stored inputs of each target |
//! | `trials` | campaigns: damaged files in child processes, problems for the solver |
//! | `scratch` | temporary files, in memory if possible |

pub mod corpus;
pub mod draw;
pub mod estimators;
pub mod mutate;
pub mod parquet_file;
pub mod samples;
pub mod scratch;
pub mod solver;
pub mod targets;
pub mod thrift;
pub mod trials;

pub use targets::{TARGETS, Target, target};

/// The outcome of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The input was read, and the result agrees with the oracle.
    Accepted,
    /// The input was refused with an error message.
    Refused,
}

/// Checks that an error message is not empty and not too long. Column names may contain line breaks, which the program
/// escapes when it prints a message, so they are allowed here.
///
/// # Panics
/// If the message is empty or too long.
pub fn check_message(message: &str) {
    assert!(!message.trim().is_empty(), "empty error message");
    assert!(message.len() < 20_000, "error message of {} bytes", message.len());
}
