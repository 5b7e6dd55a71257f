//! Runs match or argmax on a raw file of scores in memory on one thread, for `make bench-peers`.
//!
//! ```text
//! solve RULE FILE ROWS CLASSES ROUNDS [LABELS]
//! ```
//! FILE contains row-major little-endian single-precision scores; its first ROWS rows are used. The result is printed
//! as JSON: the CPU seconds (median over the rounds), the peak memory of the process, and the counts. One byte per row
//! is written to LABELS.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufReader, Read};

use apportion::rule::SimdLevel;
use apportion::{Classes, Labeled, Match, Matrix, Reference, Rule, Scores, Settings};
use apportion_bench::memory;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rule, file, rows, classes, rounds, labels @ ..] = arguments.as_slice() else {
        return Err("usage: solve RULE FILE ROWS CLASSES ROUNDS [LABELS]".into());
    };
    let rule = match rule.as_str() {
        "match" => Rule::Match(Match::overall(Reference::Posterior)),
        "argmax" => Rule::Argmax,
        _ => return Err("RULE is match or argmax".into()),
    };
    let (rows, classes, rounds) = (rows.parse()?, classes.parse()?, rounds.parse()?);
    let scores = read(file, rows, classes)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build()?;
    let (seconds, labeled) = pool.install(|| measure(&rule, &scores, classes, rounds))?;
    println!("{}", report(seconds, &labeled));
    if let [path] = labels {
        fs::write(path, labeled.labels.values())?;
    }
    Ok(())
}

/// Reads the first rows of a file, in small pieces so that reading does not determine the peak memory.
fn read(path: &str, rows: usize, classes: usize) -> Result<Vec<f32>> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut scores = Vec::with_capacity(rows * classes);
    let mut bytes = [0; 4];
    for _ in 0..rows * classes {
        file.read_exact(&mut bytes)?;
        scores.push(f32::from_le_bytes(bytes));
    }
    Ok(scores)
}

/// Returns the median CPU seconds and the labels of the last round, after one warm-up round.
fn measure(rule: &Rule, scores: &[f32], classes: usize, rounds: usize) -> Result<(f64, Labeled)> {
    let classes = Classes::new((0..classes).map(|class| format!("c{class}")))?;
    let table = Scores::new(&classes, Matrix::RowsF32(scores))?;
    let settings = Settings::default();
    let mut labeled = rule.label(&table, &settings)?;
    let mut seconds = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        drop(labeled);
        let begin = cpu_seconds();
        labeled = rule.label(&table, &settings)?;
        seconds.push(cpu_seconds() - begin);
    }
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(rounds / 2).ok_or("ROUNDS must be at least 1")?;
    Ok((*median, labeled))
}

/// Returns the CPU time of all threads of this process, which excludes other processes.
#[cfg(unix)]
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Returns the wall-clock time on other systems.
#[cfg(not(unix))]
fn cpu_seconds() -> f64 {
    static BEGIN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGIN.elapsed().as_secs_f64()
}

fn report(seconds: f64, labeled: &Labeled) -> String {
    let (primal, dual) = match &labeled.joint {
        Some(joint) => (joint.certificate.primal.to_string(), joint.certificate.dual.to_string()),
        None => ("null".into(), "null".into()),
    };
    let peak = memory::peak_kib().map_or("null".into(), |kib| kib.to_string());
    let (counts, level) = (labeled.labels.counts(), SimdLevel::best());
    format!(
        r#"{{"seconds": {seconds}, "peak_kib": {peak}, "level": "{level}", "primal": {primal}, "dual": {dual}, "counts": {counts:?}}}"#
    )
}
