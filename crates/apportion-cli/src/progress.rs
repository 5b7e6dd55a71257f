//! Progress on standard error, shown only if it is a terminal.

use std::time::{Duration, Instant};

use apportion_io::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text;

/// A line that shows the progress of a pass over the files: rows, rate and time left.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    pass: std::sync::Mutex<(&'static str, Instant)>,
}

impl Bar {
    pub(crate) fn new(quiet: bool) -> Bar {
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
