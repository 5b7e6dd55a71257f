//! A campaign of random problems for the solver.

use rayon::prelude::*;

use super::{Report, guarded};
use crate::Outcome;
use crate::draw::Draw;
use crate::solver::{large, small};

/// The kinds of problems.
pub const KINDS: [&str; 2] = ["small", "large"];

/// Runs problems of a kind, in parallel.
pub fn run(kind: &str, trials: u64, seed: u64) -> Report {
    let count = |mut report: Report, number: u64| {
        match guarded(|| one(kind, seed, number)) {
            Ok(outcome) => report.count(kind, outcome, false),
            Err(problem) => report.fail(number, kind, problem),
        }
        report
    };
    let merge = |mut one: Report, other: Report| {
        one.add(other);
        one
    };
    (0..trials).into_par_iter().fold(Report::default, count).reduce(Report::default, merge)
}

/// Runs one problem.
///
/// # Panics
/// If its solution is wrong.
pub fn one(kind: &str, seed: u64, number: u64) -> Outcome {
    let mut draw = Draw::from_seed(seed.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ number);
    if kind == KINDS[1] { large::check(&mut draw) } else { small::check(&mut draw) }
}
