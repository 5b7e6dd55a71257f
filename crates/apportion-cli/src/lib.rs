//! The program: one straight line from the command line to a command. Other programs call commands by [`call`], with the same
//! words, and are given what they would have printed.

mod command;
mod disparity_builder;
mod host;
mod job;
mod job_context;
mod message;
mod options;
mod output;
mod panics;
mod progress;
mod provenance;
mod report;
mod rule;
mod rule_result;
mod summary;
mod text;
mod usage;
mod values;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use apportion_io::did_you_mean;
use clap::{CommandFactory, FromArgMatches, Parser};

use command::Command;
pub use host::{Host, ResultColumn, Results};

/// Labels from probabilities, with the counts kept right: the exact optimum, with its proof.
#[derive(Parser)]
#[command(name = "apportion", version, long_version = VERSION.as_str(), arg_required_else_help = true, after_help = EXAMPLES)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  apportion predict people.csv -o scores.parquet                scores from names and places; the Census is inside
  apportion label scores.parquet -o labelled.parquet            counts as the scores say, at the least cost
  apportion label scores.csv -o labelled.csv --by county        the same within each county
  apportion audit labelled.csv --label label                    how far labels that exist already are off
  apportion compare scores.csv --truth race                     every rule side by side
  apportion disparity turnout.csv --outcome voted               an outcome between classes, by every estimator
  apportion demo                                                all of it, on data inside the program

Labels are estimates about groups. Where the scores themselves can be used, use them.";

/// The version, and the instructions that this processor has for the work: where two machines differ in speed, one asks.
static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{}\nSIMD: {}", env!("CARGO_PKG_VERSION"), apportion::rule::SimdLevel::best()));

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
    let program = match Program::try_parse() {
        Ok(program) => program,
        Err(error) => return usage::end(&error, &line),
    };
    match panics::caught(|| program.command.run(&line)) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output has read enough.
        Err(error) if message::sentence(&error).contains("Broken pipe (os error") => ExitCode::SUCCESS,
        Err(error) => {
            apportion_io::wait_if_interrupted();
            text::say(format!("error: {}{}", message::sentence(&error), hint(&error)));
            if usage::is_usage(&error) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
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

/// Runs a command for another program. Its words are those of the command line; a list is an option for each of its values,
/// whatever these contain.
///
/// # Errors
/// Whatever is wrong with the words or the data, as the program says it.
pub fn call(words: &[String], host: &Host) -> Result<Results, String> {
    let program = with_whole_values(Program::command());
    let line: Vec<String> = std::iter::once("apportion".to_owned()).chain(words.iter().cloned()).collect();
    let matches = program.try_get_matches_from(&line).map_err(|error| usage::without_help(&error))?;
    let mut program = Program::from_arg_matches(&matches).map_err(|error| usage::without_help(&error))?;
    program.command.lend(host);
    panics::caught(|| program.command.run(&line))
        .map_err(|error| text::shown(&format!("{}{}", message::sentence(&error), hint(&error))))?;
    Ok(host.take())
}

/// A command whose values are not divided at commas.
fn with_whole_values(command: clap::Command) -> clap::Command {
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let command = command.mut_args(|option| option.value_delimiter(None));
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_whole_values))
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
