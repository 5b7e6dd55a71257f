//! `apportion provenance`: prints where an output comes from.

use std::path::PathBuf;

use anyhow::Result;
use apportion_app::provenance::show::{self, Request};
use clap::Args;

use crate::job_context::job_context;
use crate::{provenance, text};

/// Options of `provenance`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion provenance labelled.parquet
  apportion provenance decision.json --json")]
pub(crate) struct ShowArgs {
    /// A Parquet or Arrow file, a decision, or a JSON file that --provenance wrote.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Prints it as JSON, as it is in the file.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ShowArgs, line: &[String]) -> Result<()> {
    let request = Request { inputs: args.file.clone() };
    let response = show::run(&request, &job_context(false, None, line))?;
    if args.json {
        text::print(serde_json::to_string_pretty(&response)?)
    } else {
        text::print_text(provenance::text(&response.provenance))
    }
}
