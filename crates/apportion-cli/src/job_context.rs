//! The context that commands run jobs with: notices and progress on standard error, or for another program.

use std::sync::Arc;

use apportion_app::provenance::shell_command;
use apportion_app::{Context, Notice};
use apportion_io::{NoProgress, Progress};

use crate::host::Host;
use crate::message::render;
use crate::progress::Bar;
use crate::text;

/// Returns the context of a job. Another program receives notices and progress in place of standard error.
pub(crate) fn job_context(quiet: bool, host: Option<&Host>, line: &[String]) -> Context {
    let progress: Arc<dyn Progress> = match host {
        None => Arc::new(Bar::new(quiet)),
        Some(Host { progress: Some(progress), .. }) => progress.clone(),
        Some(Host { progress: None, .. }) => Arc::new(NoProgress),
    };
    let host = host.cloned();
    let notices = Arc::new(move |notice: Notice| {
        let (Notice::Note(message) | Notice::Warning(message)) = notice;
        match &host {
            Some(host) => host.results().said.push(text::shown(&render(&message))),
            None if !quiet => text::say(render(&message)),
            None => {}
        }
    });
    Context { progress, notices, command: shell_command(line), ..Context::default() }
}
