//! How the command line runs a job: what it says on the way goes to standard error, or to the program that called.

use std::sync::Arc;

use anyhow::Result;
use apportion_app::input::{self, Source};
use apportion_app::provenance::shell_command;
use apportion_app::{Context, Notice};
use apportion_io::{NoProgress, Progress};

use crate::host::Host;
use crate::message::render;
use crate::options::Encoding;
use crate::progress::Bar;
use crate::text;
use crate::usage::usage;

/// Where sentences go: to standard error unless it is quiet, or to another program.
#[derive(Clone)]
pub(crate) struct Speaker {
    pub(crate) quiet: bool,
    pub(crate) host: Option<Host>,
}

impl Speaker {
    /// Says something.
    pub(crate) fn say(&self, sentence: &str) {
        match &self.host {
            Some(host) => host.results().said.push(text::shown(sentence)),
            None if !self.quiet => text::say(sentence),
            None => {}
        }
    }

    /// Returns what a job is run with, for a command line.
    pub(crate) fn context(&self, line: &[String]) -> Context {
        let progress: Arc<dyn Progress> = match &self.host {
            Some(host) => host.progress.clone().unwrap_or_else(|| Arc::new(NoProgress)),
            None => Arc::new(Bar::new(self.quiet)),
        };
        let own = self.clone();
        let notices = Arc::new(move |notice: Notice| match notice {
            Notice::Note(message) => own.say(&render(&message)),
            Notice::Warning(message) => own.say(&format!("warning: {}", render(&message))),
        });
        Context { progress, notices, threads: None, command: shell_command(line) }
    }
}

/// Options that say how files are read.
pub(crate) struct SourceOptions<'a> {
    pub(crate) inputs: &'a [String],
    pub(crate) encoding: Encoding,
    pub(crate) delimiter: Option<&'a str>,
    pub(crate) batch_rows: u32,
    pub(crate) max_line: usize,
    pub(crate) host: Option<&'a Host>,
}

impl SourceOptions<'_> {
    /// Returns the same as settings of a job.
    pub(crate) fn source(&self) -> Result<Source> {
        let delimiter = match self.delimiter.map(str::as_bytes) {
            None => None,
            Some(b"tab" | b"\\t") => Some('\t'),
            Some([byte]) => Some(char::from(*byte)),
            Some(_) => return Err(usage("--delimiter: it must be one character, or tab")),
        };
        Ok(Source {
            inputs: self.inputs.to_vec(),
            table: self.host.and_then(|host| host.table.clone()),
            encoding: match self.encoding {
                Encoding::Utf8 => input::Encoding::Utf8,
                Encoding::Latin1 => input::Encoding::Latin1,
            },
            delimiter,
            batch_rows: self.batch_rows as usize,
            max_line: self.max_line,
        })
    }
}
