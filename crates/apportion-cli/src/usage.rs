//! Usage errors, which end the program with exit code 2; errors in the data end it with 1.

use apportion_io::closest_match;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use crate::{FAILURE, program, text};

/// Returns whether the error is in the command line: in one of its values, or in their combination.
pub(crate) fn is_usage(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(apportion_app::Error::is_usage) || error.downcast_ref::<clap::Error>().is_some()
}

/// Prints an error in the command line, or the requested help, and returns the exit code.
pub(crate) fn end(error: &clap::Error, line: &[String]) -> u8 {
    match (tip(error, line), error.exit_code()) {
        (Some(tip), code) => {
            text::say(format!("error: {}\n\n  tip: {tip}\n\nFor more information, try '--help'.", first_line(error)));
            code as u8
        }
        (None, code) => match error.print() {
            Ok(()) => code as u8,
            Err(_) => FAILURE,
        },
    }
}

/// Returns a better suggestion than that of the parser, if there is one.
fn tip(error: &clap::Error, line: &[String]) -> Option<String> {
    value_tip(error, line).or_else(|| joined_tip(error, line)).or_else(|| command_tip(error))
}

/// Returns the option that an unknown one begins with: `--by county` for `--by-county`.
fn joined_tip(error: &clap::Error, line: &[String]) -> Option<String> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let (word, command) = (unknown.strip_prefix("--")?, command_of(line)?);
    let mut options: Vec<&str> = command.get_arguments().filter_map(Arg::get_long).collect();
    if closest_match(word, options.iter().copied()).is_some() {
        return None;
    }
    options.sort_by_key(|option| std::cmp::Reverse(option.len()));
    let (option, value) = options.iter().find_map(|option| Some((option, word.strip_prefix(option)?)))?;
    let value = value.strip_prefix(['-', '_']).filter(|value| !value.is_empty())?;
    Some(format!("a similar argument exists: '--{option}', as in '--{option} {value}'"))
}

/// Returns the command of a line.
fn command_of(line: &[String]) -> Option<Command> {
    let mut command = program::command();
    for word in line.iter().skip(1) {
        match command.find_subcommand(word).cloned() {
            Some(inner) => command = inner,
            None => break,
        }
    }
    Some(command).filter(|command| command.get_name() != "apportion")
}

/// Returns the command that is most similar to an unknown one.
fn command_tip(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand) else { return None };
    let closest = closest_match(unknown, similar.iter().map(String::as_str))?;
    Some(format!("a similar subcommand exists: '{closest}'"))
}

/// Returns how to write a value that begins with a dash, if it was parsed as an unknown option: `--classes=-1,2`.
fn value_tip(error: &clap::Error, line: &[String]) -> Option<String> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return None };
    let is_short = unknown.starts_with('-') && !unknown.starts_with("--");
    if error.kind() != ErrorKind::UnknownArgument || !is_short {
        return None;
    }
    let both = line.windows(2).find(|both| both[0].starts_with("--") && both[1].starts_with(unknown.as_str()))?;
    if both[0].contains('=') {
        return None;
    }
    Some(format!("if '{}' is the value of {}, write it with an equals sign: {}={}", both[1], both[0], both[0], both[1]))
}

fn first_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Returns the error of the core library inside another error.
pub(crate) fn core(error: &anyhow::Error) -> Option<&apportion::Error> {
    use apportion_app::Error as Job;
    match error.downcast_ref::<Job>()? {
        Job::Core(core) | Job::Setting(_, core) | Job::Io(apportion_io::Error::Core { error: core, .. }) => Some(core),
        _ => None,
    }
}
