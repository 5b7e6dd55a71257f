//! The program: one straight line from the command line to a job. The jobs are those of `apportion-app`; here are the names
//! of their options, and how their responses are printed.

mod args;
mod jobs;
mod message;
mod panics;
mod program;
mod progress;
mod shell;
mod terminal;
mod text;
mod usage;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use apportion_io::did_you_mean;
use clap::ArgMatches;

/// The program, from its command line to its end.
pub fn main() -> ExitCode {
    fail_where_files_may_not_grow();
    // An interruption leaves nothing half written. If no handler can be set, temporary files may stay behind.
    let _ = ctrlc::set_handler(|| {
        let written = apportion_io::remove_unfinished();
        text::say(interrupted(&written));
        std::process::exit(130);
    });
    panics::keep_silent();
    let line: Vec<String> = std::iter::once("apportion".into())
        .chain(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into()))
        .collect();
    let matches = match program::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return usage::end(&error, &line),
    };
    match panics::caught(|| run(&matches, &line)) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has read enough.
        Err(error) if message::sentence(&error).contains("Broken pipe (os error") => ExitCode::SUCCESS,
        Err(error) => {
            apportion_io::wait_if_interrupted();
            text::say(format!("error: {}{}", message::sentence(&error), hint(&error)));
            if usage::is_usage(&error) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

fn run(matches: &ArgMatches, line: &[String]) -> Result<()> {
    match (program::job(matches), matches.subcommand()) {
        (Some((job, own)), _) => jobs::run(job, own, line),
        (None, Some(("completions", own))) => shell::completions(own),
        (None, Some(("man", own))) => shell::man(own),
        (None, _) => Ok(()),
    }
}

/// What to say after an interruption.
fn interrupted(written: &[PathBuf]) -> String {
    match written {
        [] => "\ninterrupted: nothing was written".into(),
        [path] => format!("\ninterrupted, after {} was written", path.display()),
        paths => format!("\ninterrupted, after {} files were written", paths.len()),
    }
}

/// The class that may have been meant by one that there is not.
fn hint(error: &anyhow::Error) -> String {
    match usage::core(error) {
        Some(apportion::Error::UnknownClass { name, classes }) => did_you_mean(name, classes.split(", ")),
        _ => String::new(),
    }
}

/// The system ends a program that writes beyond a limit of its files' size, unless the program listens to the signal: then
/// the write fails, and is told like any other.
fn fail_where_files_may_not_grow() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}
