//! Runs trials in this process, and prints a line after each, so that the parent knows which trial ended the process.
//!
//! A line has the number of the trial, A (accepted), R (refused) or F (failed), the number of panics caught inside the
//! program, and after a failure its description.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::guarded;
use super::plan::{Plan, Trial};
use crate::Outcome;

/// The time after which a trial counts as hung.
const LONGEST: Duration = Duration::from_secs(60);
/// The memory limit of a trial; inputs are at most a megabyte.
const MOST_MEMORY: u64 = 1 << 30;

static PANICS: AtomicU64 = AtomicU64::new(0);
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());
static STARTED: Mutex<Option<Instant>> = Mutex::new(None);

/// Runs the trials of a range.
///
/// # Errors
/// If the results cannot be written.
pub fn run(plan: &Plan, trials: std::ops::Range<u64>) -> std::io::Result<()> {
    count_panics();
    watch();
    let mut output = std::io::stdout().lock();
    for number in trials {
        let Some(trial) = plan.trial(number) else { break };
        let before = PANICS.load(Ordering::Relaxed);
        *lock(&STARTED) = Some(Instant::now());
        let result = one(&trial);
        *lock(&STARTED) = None;
        let panics = PANICS.load(Ordering::Relaxed) - before;
        match result {
            Ok(Outcome::Accepted) => writeln!(output, "{number} A {panics}")?,
            Ok(Outcome::Refused) => writeln!(output, "{number} R {panics}")?,
            Err(problem) => writeln!(output, "{number} F {panics} {}", problem.replace(['\n', '\r'], " "))?,
        }
        output.flush()?;
    }
    Ok(())
}

/// Runs a trial; returns a description if it fails.
pub fn one(trial: &Trial) -> Result<Outcome, String> {
    forget_peak();
    let result = guarded(|| (trial.target.run)(&trial.bytes));
    let memory = peak();
    let outcome = result.map_err(|problem| format!("{problem} (last panic at {})", lock(&LAST_PANIC)))?;
    if memory > MOST_MEMORY {
        return Err(format!("memory: {} MiB for {} bytes", memory >> 20, trial.bytes.len()));
    }
    if trial.is_valid && outcome == Outcome::Refused {
        return Err("a valid file was refused".into());
    }
    Ok(outcome)
}

/// Counts panics in all threads, without printing them.
fn count_panics() {
    std::panic::set_hook(Box::new(|panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        *lock(&LAST_PANIC) = panic.location().map_or_else(String::new, ToString::to_string);
    }));
}

/// Ends the process if a trial takes too long.
fn watch() {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            if lock(&STARTED).is_some_and(|started| started.elapsed() > LONGEST) {
                std::process::exit(HUNG);
            }
        }
    });
}

/// The exit code after a trial that took too long.
pub const HUNG: i32 = 75;

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns the peak resident memory since [`forget_peak`], in bytes, or 0 if the system does not report it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib << 10)
}

fn forget_peak() {
    // Systems without this file do not report a peak.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
