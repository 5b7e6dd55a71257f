//! Describes a file: prints its columns, and the next commands.

use anyhow::Result;
use apportion_app::demo::Step;
use apportion_app::describe::{self, Response};

use super::demo::words;
use crate::message::render;
use crate::terminal::Terminal;
use apportion_app::provenance::shell_command;

pub(super) fn run(terminal: &Terminal) -> Result<()> {
    let response = describe::run(&terminal.request()?, &terminal.context())?;
    terminal.print_either(&response, || render(&response.text()) + &next(&response))
}

/// Returns the next commands, each after its purpose.
fn next(response: &Response) -> String {
    let line = |step: &Step| format!("\n\n# {}\n{}", step.title, shell_command(&words(step, |_| true)));
    response.next.iter().map(line).collect()
}
