//! `apportion fit` and `apportion apply`: a decision as a file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use apportion::Decision;
use clap::Args;

use super::label::{OutputArgs, written};
use crate::options::TableArgs;
use crate::outcome::Outcome;
use crate::rule::RuleArgs;

/// Options of `fit`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion fit scores.parquet -o decision.json --by county
  apportion apply more.parquet --decision decision.json -o labelled.parquet --by county")]
pub(crate) struct FitArgs {
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    rule: RuleArgs,
    /// Where the decision goes.
    #[arg(short, long, value_name = "DECISION.json")]
    output: PathBuf,
    /// Replaces the output where it exists.
    #[arg(long)]
    force: bool,
}

pub(crate) fn fit(args: &FitArgs) -> Result<()> {
    refuse_existing(&args.output, args.force)?;
    let (_, table) = args.table.read()?;
    let scores = table.scores()?;
    let rule = args.rule.rule(&table, !args.table.by.is_empty())?;
    let decision = rule.fit(&scores, &args.table.settings()).map_err(|error| table.explain(error))?;
    let json = serde_json::to_string_pretty(&decision)?;
    write_whole(&args.output, json.as_bytes())?;
    if args.table.json {
        println!("{json}");
    }
    args.table.say(&written(std::slice::from_ref(&args.output)));
    Ok(())
}

/// Options of `apply`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion apply more.parquet --decision decision.json -o labelled.parquet --by county

The counts are right for the rows that the decision was fitted to. For others they are near, as far as these are like
those: audit them.")]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    table: TableArgs,
    /// The decision, as `fit` wrote it.
    #[arg(long, value_name = "DECISION.json")]
    decision: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn apply(args: &ApplyArgs) -> Result<()> {
    args.output.check(&args.table)?;
    let decision = read(&args.decision)?;
    let (input, table) = args.table.read()?;
    let scores = table.scores()?;
    let labels = decision.apply(&scores).map_err(|error| table.explain(error))?;
    let outcome = Outcome::new("apply", &scores, &labels, None)?;
    let paths = args.output.write(&args.table, &input, &table, &[labels])?;
    if args.table.json {
        println!("{}", outcome.json(decision.seed(), Some(&decision)));
    }
    args.table.say(&written(&paths));
    Ok(())
}

/// Reads a decision as `fit` wrote it.
pub(super) fn read(path: &Path) -> Result<Decision> {
    let name = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("{name}"))?;
    serde_json::from_str(&text).with_context(|| format!("{name}: it is no decision"))
}

/// Refuses to write over a file, unless that is wanted.
pub(super) fn refuse_existing(path: &Path, force: bool) -> Result<()> {
    if path.exists() && !force {
        bail!("{}: it exists already; choose another name, or allow it with --force", path.display());
    }
    Ok(())
}

/// Writes a file whole or not at all.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(|| path.display().to_string())?;
    file.write_all(bytes).with_context(|| path.display().to_string())?;
    file.persist(path).with_context(|| path.display().to_string())?;
    Ok(())
}
