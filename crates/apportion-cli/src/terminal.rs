//! The terminal: provides the context of a job, and prints its notices and results.

use std::sync::Arc;

use anyhow::Result;
use apportion::text::{Message, Setting};
use apportion_app::output::written;
use apportion_app::provenance::{InputFile, shell_command};
use apportion_app::report::WrittenReport;
use apportion_app::settings::{Job, from_values};
use apportion_app::{Context, Notice};
use clap::ArgMatches;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::config::Config;
use crate::message::{option, render};
use crate::{args, program, progress, text};

/// The terminal from which a job is run.
#[derive(Clone, Debug)]
pub(crate) struct Terminal {
    job: Job,
    values: Map<String, Value>,
    command: String,
    config: Option<InputFile>,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Terminal {
    /// Creates the terminal of a job from its options; a file provides the options that are not given.
    ///
    /// # Errors
    /// If a value is invalid for its option.
    pub(crate) fn new(job: Job, matches: &ArgMatches, line: &[String], config: Option<&Config>) -> Result<Terminal> {
        let flag = |id: &str| matches.try_get_one::<bool>(id).ok().flatten().copied().unwrap_or(false);
        let mut values = config.map(|config| config.values(job)).transpose()?.unwrap_or_default();
        values.extend(args::values(job, matches).map_err(apportion_app::Error::settings)?);
        let (json, quiet) = (flag(Setting::Json.id()), flag(Setting::Quiet.id()));
        let config = config.map(Config::input_file);
        Ok(Terminal { job, values, command: shell_command(line), config, json, quiet })
    }

    /// Returns the options as a request.
    ///
    /// # Errors
    /// If a value is out of range, or an option belongs to another rule.
    pub(crate) fn request<R: DeserializeOwned>(&self) -> Result<R> {
        Ok(from_values(self.job, self.values.clone())?)
    }

    /// Returns the values of the options on the command line, by the ids of their settings.
    pub(crate) fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Returns the context of the job.
    pub(crate) fn context(&self) -> Context {
        let quiet = self.quiet;
        let notices = Arc::new(move |notice: Notice| match notice {
            _ if quiet => {}
            Notice::Note(message) => text::say(render(&message)),
            Notice::Warning(message) => text::say(format!("warning: {}", render(&message))),
        });
        let threads = self.values.get(Setting::Threads.id()).and_then(Value::as_u64);
        Context {
            progress: progress::of_job(program::describe(self.job).0, quiet),
            notices,
            threads: threads.map(|threads| threads as usize),
            command: self.command.clone(),
            config: self.config.clone(),
            name_setting: option,
        }
    }

    /// Refuses to write both an output and JSON to standard output.
    ///
    /// # Errors
    /// If both are requested.
    pub(crate) fn refuse_two_outputs(&self) -> Result<()> {
        let to_stdout = self.values.get(Setting::Output.id()).and_then(Value::as_str) == Some("-");
        if !to_stdout || !self.json {
            return Ok(());
        }
        let both = Message::from(Setting::Output.with("-")) + " and " + Setting::Json;
        Err(apportion_app::Error::Settings(both + " both write to standard output; choose one").into())
    }

    /// Prints a response as JSON, if requested.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub(crate) fn print_json(&self, response: &impl Serialize) -> Result<()> {
        if self.json { text::print(serde_json::to_value(response)?) } else { Ok(()) }
    }

    /// Prints a response as JSON if requested, otherwise as text.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub(crate) fn print_either(&self, response: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        if self.json { self.print_json(response) } else { text::print_text(text()) }
    }

    /// Prints a sentence on standard error, unless the quiet option is set.
    pub(crate) fn say(&self, sentence: impl std::fmt::Display) {
        if !self.quiet {
            text::say(sentence);
        }
    }

    /// Prints the paths of the files written.
    pub(crate) fn say_written(&self, paths: &[std::path::PathBuf]) {
        self.say(format!("\n{}", written(paths)));
    }

    /// Prints the path of a file of results.
    pub(crate) fn say_results(&self, path: Option<&std::path::Path>) {
        if let Some(path) = path {
            self.say(format!("results written to {}", path.display()));
        }
    }

    /// Prints the path of a report.
    pub(crate) fn say_report(&self, report: Option<&WrittenReport>) {
        let Some(written) = report else { return };
        if let Some(path) = &written.report {
            self.say(format!("report written to {}", path.display()));
        }
        if let Some(folder) = &written.figures {
            self.say(format!("figures written to {}", folder.display()));
        }
    }
}
