//! Checks an output against its scores, and prints the checks.

use anyhow::{Result, anyhow};
use apportion_app::verify::{self, Request};

use crate::terminal::Terminal;
use crate::text;

pub(super) fn run(terminal: &Terminal) -> Result<()> {
    let response = verify::run(&Request::from_values(terminal.values().clone())?, &terminal.context())?;
    if terminal.json {
        terminal.print_json(&response)?;
    } else {
        response.lines().iter().try_for_each(text::print_text)?;
    }
    match response.difference {
        Some(difference) => Err(anyhow!(difference)),
        None => Ok(()),
    }
}
