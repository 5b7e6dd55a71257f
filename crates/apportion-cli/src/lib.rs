//! The command line program. The jobs are implemented in `apportion-app`; this crate defines the names of their options
//! and prints their responses.

mod args;
mod config;
mod jobs;
mod message;
mod panics;
mod program;
mod progress;
mod shell;
mod terminal;
mod text;
mod usage;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use apportion_io::did_you_mean;
use clap::ArgMatches;

use crate::config::Config;

const SUCCESS: u8 = 0;
/// The exit code of errors in the data or of the system.
const FAILURE: u8 = 1;
/// The exit code of errors in the command line.
const USAGE: u8 = 2;

/// Runs the program with the arguments of this process, and returns its exit code.
pub fn main() -> ExitCode {
    ExitCode::from(main_with(std::env::args_os().skip(1)))
}

/// Runs the program with these arguments, which do not include its name, and returns its exit code. It changes the
/// signal handlers and the panic hook of the process, which should end with the program.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    fail_where_files_may_not_grow();
    // An interruption removes incomplete files. If the handler cannot be set, temporary files may be left behind.
    let _ = ctrlc::set_handler(|| {
        let written = apportion_io::remove_unfinished();
        text::say(interrupted(&written));
        std::process::exit(130);
    });
    panics::keep_silent();
    let words: Vec<OsString> = std::iter::once("apportion".into()).chain(arguments).collect();
    let line: Vec<String> = words.iter().map(|word| word.to_string_lossy().into()).collect();
    let config = match panics::caught(|| Config::of_line(&line)) {
        Ok(config) => config,
        Err(error) => return failed(&error),
    };
    let command = config.iter().fold(program::command(), |command, config| config.relax(command));
    let matches = match command.try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => return usage::end(&error, &line),
    };
    match panics::caught(|| run(&matches, &line, config.as_ref())) {
        Ok(()) => SUCCESS,
        // The reader of the output closed the pipe, for example `head`.
        Err(error) if message::sentence(&error).contains("Broken pipe (os error") => SUCCESS,
        Err(error) => failed(&error),
    }
}

/// Prints an error, and returns the exit code.
fn failed(error: &anyhow::Error) -> u8 {
    apportion_io::wait_if_interrupted();
    text::say(format!("error: {}{}", message::sentence(error), hint(error)));
    if usage::is_usage(error) { USAGE } else { FAILURE }
}

fn run(matches: &ArgMatches, line: &[String], config: Option<&Config>) -> Result<()> {
    match (program::job(matches), matches.subcommand()) {
        (Some((job, own)), _) => jobs::run(job, own, line, config),
        (None, Some(("completions", own))) => shell::completions(own),
        (None, Some(("man", own))) => shell::man(own),
        (None, _) => Ok(()),
    }
}

/// Returns the message after an interruption.
fn interrupted(written: &[PathBuf]) -> String {
    match written {
        [] => "\ninterrupted: nothing was written".into(),
        [path] => format!("\ninterrupted after {} was written", path.display()),
        paths => format!("\ninterrupted after {} files were written", paths.len()),
    }
}

/// Returns a suggestion for an unknown class.
fn hint(error: &anyhow::Error) -> String {
    match usage::core(error) {
        Some(apportion::Error::UnknownClass { name, classes }) => did_you_mean(name, classes.split(", ")),
        _ => String::new(),
    }
}

/// Handles the signal for exceeding the file size limit, which would otherwise end the program. The write then fails
/// and is reported like any other error.
fn fail_where_files_may_not_grow() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}
