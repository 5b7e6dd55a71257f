//! Simulates data, and prints the output path.

use anyhow::Result;
use apportion_app::output::written;
use apportion_app::settings::Job;
use apportion_app::simulate::{self, Request};

use crate::terminal::Terminal;

pub(super) fn run(job: Job, terminal: &Terminal) -> Result<()> {
    let request = Request::from_values(job, terminal.values().clone())?;
    let response = simulate::run(&request, &terminal.context())?;
    terminal.say(written(&response.written));
    Ok(())
}
