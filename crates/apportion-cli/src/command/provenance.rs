//! `apportion provenance`: prints where an output comes from.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use crate::text;
use apportion_app::provenance::find;

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

pub(crate) fn run(args: &ShowArgs) -> Result<()> {
    let Some(found) = find(&args.file)? else {
        bail!(
            "{}: it holds no provenance. Parquet and Arrow outputs and decisions have it inside, unless --no-provenance was \
             used; for CSV, write it with --provenance FILE.json and name that file here",
            args.file.display()
        );
    };
    if args.json {
        text::print(serde_json::to_string_pretty(&found.json)?)
    } else {
        text::print_text(crate::provenance::text(&found.provenance))
    }
}
