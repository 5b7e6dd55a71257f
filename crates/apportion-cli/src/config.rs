//! Options from a TOML file that the command line names with `--config`.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use apportion::text::{Message, Setting};
use apportion_app::Error;
use apportion_app::provenance::{InputFile, sha256};
use apportion_app::settings::{self, Declaration, Job, Kind};
use apportion_io::did_you_mean;
use clap::Command;
use serde_json::{Map, Value};

use crate::args::long_name;
use crate::program::command_name;

/// The options of a file: for all commands at its top, and for single commands in tables with their names.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    path: PathBuf,
    sha256: String,
    options: toml::Table,
}

impl Config {
    /// Reads the file that a command line names; `None` if it does not name one. No other file is read.
    ///
    /// # Errors
    /// If the file cannot be read, or has unknown options or invalid values.
    pub(crate) fn of_line(line: &[String]) -> Result<Option<Config>> {
        let Some(path) = named(line) else { return Ok(None) };
        let path = PathBuf::from(path);
        let in_file = |problem: String| Error::data(format!("{}: {problem}", path.display()));
        let text = fs::read_to_string(&path).map_err(|error| in_file(format!("it cannot be read ({error})")))?;
        let options = text.parse::<toml::Table>().map_err(|error| in_file(parse_problem(&text, &error)))?;
        let sha256 = sha256(&path).map_err(|error| in_file(format!("it cannot be read ({error})")))?;
        let config = Config { path, sha256, options };
        for (key, value) in &config.options {
            config.check(key, value)?;
        }
        Ok(Some(config))
    }

    /// Returns the options of a job, by the ids of their settings.
    ///
    /// # Errors
    /// If a value is invalid for its setting.
    pub(crate) fn values(&self, job: Job) -> Result<Map<String, Value>> {
        let own = self.options.get(command_name(job)).and_then(toml::Value::as_table);
        let shared = self.options.iter().filter(|(key, value)| !(value.is_table() && is_command(key)));
        let mut values = Map::new();
        for (key, value) in shared.chain(own.into_iter().flatten()) {
            // An option for all commands may be of others only.
            let Some(declaration) = find(job, key) else { continue };
            match self.read(key, declaration, value)? {
                Some(value) => drop(values.insert(declaration.setting.id().into(), value)),
                None => drop(values.remove(declaration.setting.id())),
            }
        }
        Ok(values)
    }

    /// Returns the file, for provenance.
    pub(crate) fn input_file(&self) -> InputFile {
        let (name, sha256) = (self.path.display().to_string(), Some(self.sha256.clone()));
        InputFile { name, role: "config".into(), rows: None, sha256 }
    }

    /// Makes options that the file has optional on the command line.
    pub(crate) fn relax(&self, mut program: Command) -> Command {
        for job in jobs() {
            let Ok(values) = self.values(job) else { continue };
            program = program.mut_subcommand(command_name(job), |command| {
                values.keys().fold(command, |command, id| command.mut_arg(id, |arg| arg.required(false)))
            });
        }
        program
    }

    /// Refuses a key at the top that is neither an option nor a command, and unknown options of a command.
    fn check(&self, key: &str, value: &toml::Value) -> Result<()> {
        let command = jobs().find(|&job| command_name(job) == key);
        if let (Some(job), Some(table)) = (command, value.as_table()) {
            for (key, value) in table {
                let declaration = find(job, key).ok_or_else(|| self.unknown(key, &[job]))?;
                self.read(key, declaration, value)?;
            }
            return Ok(());
        }
        // The value is read for the job that is run: an option may have another form in other jobs.
        let declaration = jobs().find_map(|job| find(job, key));
        let declaration = declaration.ok_or_else(|| self.unknown(key, &jobs().collect::<Vec<_>>()))?;
        if is_of_line(declaration.setting) { Err(self.only_of_line(declaration.setting).into()) } else { Ok(()) }
    }

    fn only_of_line(&self, setting: Setting) -> Error {
        let place = Message::from(format!("{}: ", self.path.display()));
        Error::Settings(place + setting + " belongs on the command line; remove it from the file")
    }

    /// Returns the error for an unknown option.
    fn unknown(&self, key: &str, jobs: &[Job]) -> Error {
        let known = jobs.iter().flat_map(|&job| settings::of_job(job));
        let known = known.filter(|(_, own)| !is_of_line(own.setting)).map(|(_, own)| long_name(own.setting));
        let commands = jobs.iter().filter(|_| jobs.len() > 1).map(|&job| command_name(job).to_owned());
        let known: Vec<String> = known.chain(commands).collect();
        let dashed = key.replace('_', "-");
        let near = match known.contains(&dashed) {
            true => format!(" (did you mean {dashed:?}?)"),
            false => did_you_mean(key, known.iter().map(String::as_str)),
        };
        let of = if let [job] = jobs { format!(" of {}", command_name(*job)) } else { String::new() };
        Error::settings(format!("{}: there is no option {key:?}{of}{near}", self.path.display()))
    }

    /// Reads a value as the command line does; `None` for a flag that is not set.
    fn read(&self, key: &str, declaration: &Declaration, value: &toml::Value) -> Result<Option<Value>> {
        let problem = |problem: String| {
            let place = Message::from(format!("{}: ", self.path.display()));
            Error::Settings(place + declaration.setting + ": " + problem)
        };
        if is_of_line(declaration.setting) {
            return Err(self.only_of_line(declaration.setting).into());
        }
        if declaration.kind == Kind::Flag {
            let flag = value.as_bool().ok_or_else(|| problem(format!("write {key} = true or {key} = false")))?;
            return Ok(flag.then_some(Value::Bool(true)));
        }
        let texts = texts(value, declaration.kind.is_list()).map_err(problem)?;
        Ok(Some(declaration.kind.read(&texts).map_err(problem)?))
    }
}

/// Returns the jobs that read options from a file.
fn jobs() -> impl Iterator<Item = Job> {
    Job::ALL.into_iter().filter(|&job| settings::find(job, Setting::Config.id()).is_some())
}

/// Returns whether an option can only be given on the command line.
fn is_of_line(setting: Setting) -> bool {
    matches!(setting, Setting::Inputs | Setting::Config | Setting::Json | Setting::Quiet)
}

/// Returns whether a key is the name of a command.
fn is_command(key: &str) -> bool {
    jobs().any(|job| command_name(job) == key)
}

/// Returns the declaration of an option, which is written as on the command line.
fn find(job: Job, key: &str) -> Option<&'static Declaration> {
    settings::of_job(job).map(|(_, declaration)| declaration).find(|own| long_name(own.setting) == key)
}

/// Returns the path that a command line names.
fn named(line: &[String]) -> Option<&str> {
    let words = || line.iter().take_while(|word| *word != "--");
    let separate =
        words().zip(line.iter().skip(1)).find(|(word, _)| *word == "--config").map(|(_, path)| path.as_str());
    separate.or_else(|| words().find_map(|word| word.strip_prefix("--config=")))
}

/// Returns a value as the words of an option: `"a,b"` and `["a", "b"]` are two, and `{ W = "white" }` is `W=white`.
fn texts(value: &toml::Value, is_list: bool) -> Result<Vec<String>, String> {
    let one = |value: &toml::Value| match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        other => Err(format!("it must be a text or a number, not a TOML {}", other.type_str())),
    };
    match value {
        toml::Value::String(text) if is_list => Ok(text.split(',').map(str::to_owned).collect()),
        toml::Value::Array(values) if is_list => values.iter().map(one).collect(),
        toml::Value::Table(pairs) if is_list => {
            pairs.iter().map(|(key, value)| Ok(format!("{key}={}", one(value)?))).collect()
        }
        other => Ok(vec![one(other)?]),
    }
}

/// Returns the line and the problem of text that is not TOML.
fn parse_problem(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let problem = error.message().lines().collect::<Vec<_>>().join(", ");
    format!("line {}: it is not TOML ({problem})", before.matches('\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_named_by_an_option_only() {
        let line = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(named(&line("apportion label a.csv --config a.toml")), Some("a.toml"));
        assert_eq!(named(&line("apportion label a.csv --config=a.toml -q")), Some("a.toml"));
        assert_eq!(named(&line("apportion label a.toml")), None);
        assert_eq!(named(&line("apportion label -- --config a.toml")), None);
        assert_eq!(named(&line("apportion label --config")), None);
    }
}
