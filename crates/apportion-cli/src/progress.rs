//! Progress on standard error: a bar on a terminal, otherwise a line every ten seconds.

use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use apportion_io::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text;

/// Returns how to show the progress of a job. With `APPORTION_PROGRESS=off`, it is not shown.
pub(crate) fn of_job(job: &'static str, quiet: bool) -> Arc<dyn Progress> {
    let quiet = quiet || std::env::var_os("APPORTION_PROGRESS").is_some_and(|value| value == "off");
    if quiet || stderr().is_terminal() { Arc::new(Bar::new(quiet)) } else { Arc::new(Lines::start(job)) }
}

/// A line that shows the progress of a pass over the files: rows, rate and time left.
#[derive(Debug)]
struct Bar {
    bar: ProgressBar,
    pass: Mutex<(&'static str, Instant)>,
}

impl Bar {
    fn new(quiet: bool) -> Bar {
        let bar = ProgressBar::with_draw_target(None, target(quiet));
        Bar { bar, pass: ("", Instant::now()).into() }
    }

    /// Shows a bar, or a spinner if the amount of work is unknown.
    fn set_style(&self, is_known: bool) {
        let template = if is_known { BAR } else { SPINNER };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        if is_known { self.bar.disable_steady_tick() } else { self.bar.enable_steady_tick(TICK) }
    }
}

/// Templates for work of known length, and for other work.
const BAR: &str = "{msg} {wide_bar} {percent:>3}%, {eta} left";
const SPINNER: &str = "{msg} {spinner} {elapsed}";
const TICK: Duration = Duration::from_millis(200);

impl Progress for Bar {
    fn begin(&self, what: &'static str, bytes: u64) {
        if let Ok(mut pass) = self.pass.lock() {
            *pass = (what, Instant::now());
        }
        self.bar.set_message(what);
        self.bar.set_length(bytes);
        self.bar.reset();
        self.set_style(bytes > 0);
    }

    fn update(&self, rows: u64, bytes: u64) {
        if let Ok(pass) = self.pass.lock() {
            let rate = rows as f64 / pass.1.elapsed().as_secs_f64().max(1e-3);
            self.bar.set_message(format!("{} {} rows, {}/s", pass.0, text::count(rows), text::count(rate as u64)));
        }
        self.bar.set_position(bytes);
    }

    fn end(&self) {
        self.bar.disable_steady_tick();
        self.bar.finish_and_clear();
    }
}

/// Returns where to draw progress: standard error (which draws only on a terminal), or hidden if quiet.
fn target(quiet: bool) -> ProgressDrawTarget {
    if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

/// The time between two lines.
const INTERVAL: Duration = Duration::from_secs(10);

/// Lines about the progress of a job, for logs and pipes.
#[derive(Debug)]
struct Lines {
    pass: Arc<Mutex<Option<Pass>>>,
    /// Ends the thread that prints the lines when it is dropped.
    _end: Sender<()>,
}

/// A pass over the files, or other work if `total` is 0.
#[derive(Clone, Copy, Debug)]
struct Pass {
    what: &'static str,
    rows: u64,
    bytes: u64,
    total: u64,
}

impl Lines {
    /// Starts a thread that prints the lines. Without it, the job runs silently.
    fn start(job: &'static str) -> Lines {
        let (end, ended) = channel();
        let pass: Arc<Mutex<Option<Pass>>> = Arc::default();
        let shared = pass.clone();
        let _ = thread::Builder::new().spawn(move || print_lines(job, &shared, || is_running(&ended), text::say));
        Lines { pass, _end: end }
    }

    fn set(&self, change: impl FnOnce(&mut Option<Pass>)) {
        if let Ok(mut pass) = self.pass.lock() {
            change(&mut pass);
        }
    }
}

/// Waits for one interval; returns whether the job is still running.
fn is_running(ended: &Receiver<()>) -> bool {
    ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout)
}

/// Prints a line about the current pass after each interval, for as long as `wait` returns true.
fn print_lines(job: &str, pass: &Mutex<Option<Pass>>, mut wait: impl FnMut() -> bool, mut print: impl FnMut(String)) {
    let mut seconds = 0;
    while wait() {
        seconds += INTERVAL.as_secs();
        let current = pass.lock().ok().and_then(|pass| *pass);
        if let Some(pass) = current {
            print(format!("{job}: {}, {seconds} s", pass.describe()));
        }
    }
}

impl Pass {
    /// Describes the progress: `reading, 4,200,000 rows (42%)`.
    fn describe(&self) -> String {
        if self.total == 0 {
            return self.what.to_owned();
        }
        let percent = 100 * u128::from(self.bytes.min(self.total)) / u128::from(self.total);
        format!("{}, {} ({percent}%)", self.what, text::counted(self.rows, "row", "rows"))
    }
}

impl Progress for Lines {
    fn begin(&self, what: &'static str, bytes: u64) {
        self.set(|pass| *pass = Some(Pass { what, rows: 0, bytes: 0, total: bytes }));
    }

    fn update(&self, rows: u64, bytes: u64) {
        self.set(|pass| {
            if let Some(pass) = pass {
                (pass.rows, pass.bytes) = (rows, bytes);
            }
        });
    }

    fn end(&self) {
        self.set(|pass| *pass = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the lines of a job; each wait of ten seconds does the next piece of work.
    fn lines(work: &[fn(&Lines)]) -> Vec<String> {
        let lines = Lines { pass: Arc::default(), _end: channel().0 };
        let (mut work, mut printed) = (work.iter(), Vec::new());
        let wait = || work.next().map(|work| work(&lines)).is_some();
        print_lines("label", &lines.pass, wait, |line| printed.push(line));
        printed
    }

    #[test]
    fn a_line_is_printed_every_ten_seconds() {
        let found = lines(&[
            |_| {},
            |lines| lines.begin("reading", 1_000),
            |lines| lines.update(4_200_000, 420),
            |lines| lines.update(10_000_000, 1_001),
            |lines| {
                lines.end();
                lines.begin("labeling", 0);
            },
            Lines::end,
        ]);
        let expected = [
            "label: reading, 0 rows (0%), 20 s",
            "label: reading, 4,200,000 rows (42%), 30 s",
            "label: reading, 10,000,000 rows (100%), 40 s",
            "label: labeling, 50 s",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_job_of_less_than_ten_seconds_prints_nothing() {
        assert!(lines(&[]).is_empty());
        let (end, ended) = channel();
        drop(end);
        assert!(!is_running(&ended)); // returns at once
    }
}
