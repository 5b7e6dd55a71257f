//! A campaign of inputs in child processes: a trial that aborts or hangs is counted, and the others continue.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::plan::Plan;
use super::{Report, child};
use crate::{Outcome, scratch};

/// The number of trials per process.
const CHUNK: u64 = 500;

/// Runs trials in processes, as many at a time as there are processors. `words` are the arguments with which the
/// program runs a range of this plan; the range is appended.
///
/// # Errors
/// If no process can be started.
pub fn run(plan: &Plan, trials: u64, words: &[String]) -> std::io::Result<Report> {
    let folder = tempfile::Builder::new().prefix("apportion-trials-").tempdir_in(scratch::root())?;
    let (next, report) = (AtomicU64::new(0), Mutex::new(Report::default()));
    let work = || -> std::io::Result<()> {
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            if start >= trials {
                return Ok(());
            }
            let own = chunk(plan, start..(start + CHUNK).min(trials), words, folder.path())?;
            report.lock().unwrap_or_else(std::sync::PoisonError::into_inner).add(own);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let ends = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err(std::io::Error::other("a worker panicked"))));
        ends.collect::<std::io::Result<Vec<()>>>()
    })?;
    Ok(report.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Runs a range, in more than one process if one of its trials ends the process.
fn chunk(plan: &Plan, range: std::ops::Range<u64>, words: &[String], folder: &Path) -> std::io::Result<Report> {
    let (mut report, mut start) = (Report::default(), range.start);
    while start < range.end {
        let mut process = Command::new(std::env::current_exe()?)
            .args(words)
            .args([start.to_string(), range.end.to_string()])
            .env(scratch::VARIABLE, folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(output) = process.stdout.take() {
            for line in BufReader::new(output).lines() {
                if let Some(number) = count(plan, &line?, &mut report) {
                    start = number + 1;
                }
            }
        }
        let status = process.wait()?;
        if start < range.end {
            let problem =
                if status.code() == Some(child::HUNG) { "hang".to_owned() } else { format!("abort: {status}") };
            let trial = plan.trial(start);
            let (format, base) = trial.map_or_else(Default::default, |trial| (trial.format, trial.base));
            report.fail(start, &format, format!("{base}: {problem}"));
            start += 1;
        }
    }
    Ok(report)
}

/// Counts a line of a child process; returns the number of its trial.
fn count(plan: &Plan, line: &str, report: &mut Report) -> Option<u64> {
    let mut words = line.splitn(4, ' ');
    let number: u64 = words.next()?.parse().ok()?;
    let (kind, panics) = (words.next()?, words.next()?);
    let trial = plan.trial(number)?;
    match kind {
        "A" => report.count(&trial.format, Outcome::Accepted, panics != "0"),
        "R" => report.count(&trial.format, Outcome::Refused, panics != "0"),
        _ => report.fail(number, &trial.format, format!("{}: {}", trial.base, words.next().unwrap_or_default())),
    }
    Some(number)
}
