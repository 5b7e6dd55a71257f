//! Tables whose truth is known because they were made: people drawn from tables that the caller gives.
//!
//! A row is a function of (seed, index) alone. So a file of any length can be streamed, in any order and by any number of
//! threads, without ever being in memory, and is always the same.

mod alias;
mod voters;

pub use voters::{Voter, VoterOptions, VoterTables, Voters};
