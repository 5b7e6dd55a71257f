//! Runs one small case of fixed size on one thread at one SIMD level, so that bench/instructions.py can count its
//! instructions.
//!
//! ```text
//! fixed CASE LEVEL
//! fixed levels
//! ```
//! The second form prints the SIMD levels available to this process. Under valgrind, AVX-512 is not available.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::hint::black_box;

use apportion::rule::SimdLevel;
use apportion::{Balance, Classes, Frontier, Groups, Match, Matrix, Reference, Result, Rule, Scores, Settings};
use apportion_bench::{K, normal, repeated, uneven_groups};

const ROWS: usize = 50_000;
const DISTINCT: usize = 2_000;
const GROUPS: usize = 50;
const FRONTIER_ROWS: usize = 10_000;

type Outcome = std::result::Result<(), Box<dyn Error + Send + Sync>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["levels"] => SimdLevel::available().for_each(|level| println!("{level}")),
        [case, level] => {
            let simd = SimdLevel::available().find(|known| known.to_string() == *level);
            let settings = Settings { simd: simd.ok_or("this processor has no such level")?, ..Settings::default() };
            // The worker is this thread, so the result does not depend on the scheduler.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()?;
            pool.install(|| run(case, &settings))?;
        }
        _ => return Err("usage: fixed CASE LEVEL, or: fixed levels".into()),
    }
    Ok(())
}

/// Generates the table of a case and runs the counted work.
fn run(case: &str, settings: &Settings) -> Outcome {
    let aim = Match::overall(Reference::Posterior);
    let classes = Classes::new((0..K).map(|class| format!("c{class}")))?;
    let label = |rule: Rule, scores: &Scores<'_>| counted(|| rule.label(scores, settings).map(drop));
    let table = |scores| Scores::new(&classes, Matrix::RowsF32(scores));
    match case {
        "argmax" => label(Rule::Argmax, &table(&normal(ROWS))?)?,
        "match" => label(Rule::Match(aim), &table(&normal(ROWS))?)?,
        "match-repeated-rows" => label(Rule::Match(aim), &table(&repeated(&normal(DISTINCT), ROWS))?)?,
        "match-by-group" => {
            let names: Vec<String> = (0..GROUPS).map(|group| group.to_string()).collect();
            let (scores, codes) = (normal(ROWS), uneven_groups(ROWS, GROUPS));
            let groups = Groups { codes: &codes, names: &names };
            label(Rule::Match(Match::by_group(Reference::Posterior)), &table(&scores)?.with_groups(groups)?)?;
        }
        "balance" => label(Rule::Balance(Balance::new(0.9, aim)), &table(&normal(ROWS))?)?,
        "frontier" => {
            let scores = normal(FRONTIER_ROWS);
            counted(|| Frontier::of(&aim, &table(&scores)?, settings).map(drop))?;
        }
        _ => return Err("no such case".into()),
    }
    Ok(())
}

/// Runs the work whose instructions are counted. callgrind finds this function by name, so it must not be inlined.
#[inline(never)]
fn counted(work: impl FnOnce() -> Result<()>) -> Result<()> {
    black_box(work())
}
