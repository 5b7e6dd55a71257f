//! `apportion demo`: all of it, on people who do not exist.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, Parser};

use crate::Program;
use crate::text;

/// Options of `demo`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion demo
  apportion demo --rows 1000000 --folder /tmp/demo")]
pub(crate) struct DemoArgs {
    /// How many people.
    #[arg(long, default_value_t = 100_000)]
    rows: u64,
    /// Where the files go.
    #[arg(long, default_value = "apportion-demo")]
    folder: PathBuf,
    /// Replaces what an earlier demonstration wrote there.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &DemoArgs) -> Result<()> {
    if args.folder.exists() && !args.force {
        bail!("{}: it exists already; name another with --folder, or allow it with --force", args.folder.display());
    }
    std::fs::create_dir_all(&args.folder).with_context(|| args.folder.display().to_string())?;
    let path = |name: &str| args.folder.join(name).display().to_string();
    let (voters, labelled, rows) = (path("voters.parquet"), path("labelled.parquet"), args.rows.to_string());
    let steps: [(&str, Vec<&str>); 5] = [
        (
            "A voter file of people who do not exist, in North Carolina's counties, with scores by name and county.",
            vec!["simulate", "voters", "--rows", &rows, "-o", &voters, "--force"],
        ),
        (
            "Every rule side by side. Argmax is the most accurate, and its counts are off; match has them right.",
            vec!["compare", &voters, "--truth", "race", "--by", "county", "--quiet"],
        ),
        ("Labels whose counts are right, at the least cost.", vec!["label", &voters, "-o", &labelled, "--force"]),
        (
            "How far they are off, against the scores and against the truth.",
            vec!["audit", &labelled, "--label", "label", "--truth", "race", "--by", "county", "--quiet"],
        ),
        ("And the whole trade between the two, of which five points.", vec!["frontier", &voters, "--points", "5"]),
    ];
    for (words, command) in steps {
        let shown = command.iter().filter(|word| **word != "--force").copied().collect::<Vec<_>>().join(" ");
        text::print(format!("\n# {words}\n$ apportion {shown}"))?;
        Program::parse_from(std::iter::once("apportion").chain(command)).command.run()?;
    }
    Ok(())
}
