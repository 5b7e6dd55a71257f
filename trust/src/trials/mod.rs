//! Campaigns of many trials: damaged files, each chunk in its own process, and random problems for the solver.

pub mod child;
pub mod files;
pub mod plan;
pub mod problems;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use crate::Outcome;

/// The outcomes of the trials of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Accepted, and in agreement with the oracle.
    pub accepted: u64,
    /// Refused with an error message.
    pub refused: u64,
    /// Violations, panics, aborts, hangs and excessive memory.
    pub failures: u64,
    /// The number of accepted or refused trials with a panic that was caught inside the program.
    pub contained: u64,
}

/// A trial that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The number of the trial.
    pub trial: u64,
    /// The kind of trial.
    pub kind: String,
    /// A description of the failure.
    pub problem: String,
}

/// The result of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The outcomes, by kind of trial.
    pub tallies: BTreeMap<String, Tally>,
    /// All failures, in the order of trials.
    pub failures: Vec<Failure>,
}

impl Report {
    /// Counts an outcome.
    pub fn count(&mut self, kind: &str, outcome: Outcome, contained: bool) {
        let tally = self.tallies.entry(kind.to_owned()).or_default();
        match outcome {
            Outcome::Accepted => tally.accepted += 1,
            Outcome::Refused => tally.refused += 1,
        }
        tally.contained += u64::from(contained);
    }

    /// Counts a failure.
    pub fn fail(&mut self, trial: u64, kind: &str, problem: String) {
        self.tallies.entry(kind.to_owned()).or_default().failures += 1;
        self.failures.push(Failure { trial, kind: kind.to_owned(), problem });
    }

    /// Adds another report.
    pub fn add(&mut self, other: Report) {
        for (kind, more) in other.tallies {
            let tally = self.tallies.entry(kind).or_default();
            tally.accepted += more.accepted;
            tally.refused += more.refused;
            tally.failures += more.failures;
            tally.contained += more.contained;
        }
        self.failures.extend(other.failures);
        self.failures.sort_by_key(|failure| failure.trial);
    }

    /// Counts a failure for each kind with many trials that were all refused, because such trials test nothing.
    pub fn refuse_vacuous(mut self) -> Report {
        const MANY: u64 = 200;
        let vacuous = |tally: &Tally| tally.accepted == 0 && tally.refused >= MANY;
        let kinds: Vec<String> =
            self.tallies.iter().filter(|(_, tally)| vacuous(tally)).map(|(kind, _)| kind.clone()).collect();
        for kind in kinds {
            self.fail(0, &kind, "every input was refused, so that nothing was shown".into());
        }
        self
    }

    /// Returns the number of trials.
    pub fn trials(&self) -> u64 {
        self.tallies.values().map(|tally| tally.accepted + tally.refused + tally.failures).sum()
    }

    /// Returns the report as JSON.
    pub fn json(&self, campaign: &str, seed: u64, seconds: f64) -> Value {
        let kinds = self.tallies.iter().map(|(kind, tally)| {
            let Tally { accepted, refused, failures, contained } = tally;
            let own =
                json!({"accepted": accepted, "refused": refused, "failures": failures, "contained_panics": contained});
            (kind.clone(), own)
        });
        json!({
            "campaign": campaign, "seed": seed, "trials": self.trials(), "failures": self.failures.len(),
            "contained_panics": self.tallies.values().map(|tally| tally.contained).sum::<u64>(),
            "seconds": (seconds * 10.0).round() / 10.0, "kinds": kinds.collect::<serde_json::Map<_, _>>(),
        })
    }
}

/// Calls a function, and returns the message if it panics.
pub fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_else(|| "a panic without a message".into())
}
