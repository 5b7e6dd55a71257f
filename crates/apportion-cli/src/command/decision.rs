//! `apportion fit` and `apportion apply`: a decision as a file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use apportion::{Decision, Rule};
use apportion_table::write_whole;
use clap::Args;

use crate::options::TableArgs;
use crate::outcome::{Given, Outcome};
use crate::output::{OutputArgs, written};
use crate::progress::Working;
use crate::rule::RuleArgs;
use crate::summary::{Aim, summary};
use crate::text;
use crate::usage::usage;

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
    args.rule.check()?;
    refuse_existing(&args.output, args.force)?;
    let table = args.table.read(&args.table.input()?, args.rule.groups(&args.table), None)?;
    let scores = table.scores()?;
    let rule = args.rule.rule(&table, &args.table)?;
    let working = Working::on("fitting", args.table.quiet);
    let decision = rule.fit(&scores, &args.table.settings()).map_err(|error| table.explain(error))?;
    drop(working);
    let json = serde_json::to_string_pretty(&decision)?;
    write_whole(&args.output, format!("{json}\n").as_bytes())?;
    if args.table.json {
        text::print(&json)?;
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
    if args.table.seed.is_some() {
        return Err(usage("--seed: the decision has a seed of its own; fit it again with another"));
    }
    let decision = read(&args.decision)?;
    let input = args.table.input()?;
    args.output.check(&args.table, &input)?;
    let table = args.table.read(&input, args.table.groups(), None)?;
    args.output.check_names(&input, &table, 1)?;
    let scores = table.scores()?;
    check_classes(&args.decision, decision.classes().names(), table.classes().names())?;
    let working = Working::on("labelling", args.table.quiet);
    let given = Given::of(&decision, &scores).map_err(|error| table.explain(error))?;
    let outcome = Outcome::new("apply", &scores, &given, None)?;
    let argmax = Rule::Argmax.fit(&scores, &args.table.settings())?;
    let argmax = Outcome::new("argmax", &scores, &Given::of(&argmax, &scores)?, None)?;
    drop(working);
    let paths = args.output.write(&args.table, &input, &table, &given)?;
    if args.table.json {
        text::print(outcome.json(table.classes(), decision.seed(), Some(&decision)))?;
    }
    args.table.say(&format!("{}\n\n{}", summary(table.classes(), &argmax, &outcome, Aim::Scores), written(&paths)));
    Ok(())
}

/// A decision that was saved.
pub(super) fn read(path: &Path) -> Result<Decision> {
    let name = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| anyhow!("{name}: it cannot be read ({error}); name a file that `apportion fit` wrote"))?;
    serde_json::from_str(&text)
        .map_err(|error| anyhow!("{name}: it is no decision ({error}); make one with `apportion fit`"))
}

/// Refuses to write over a file, unless that is wanted.
pub(super) fn refuse_existing(path: &Path, force: bool) -> Result<()> {
    if path.exists() && !force {
        bail!("{}: it exists already; choose another name, or allow it with --force", path.display());
    }
    Ok(())
}

/// Refuses a table with other classes than the decision's, and says how they can be made the same.
fn check_classes(path: &Path, fitted: &[String], found: &[String]) -> Result<()> {
    if fitted == found {
        return Ok(());
    }
    let without = |some: &[String], others: &[String]| {
        some.iter()
            .filter(|class| !others.contains(class))
            .map(|class| format!("{class:?}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (missing, unknown) = (without(fitted, found), without(found, fitted));
    let differ = [("the table lacks", missing), ("the decision does not know", unknown)];
    let differ = differ.into_iter().filter(|(_, classes)| !classes.is_empty());
    let differ = differ.map(|(what, classes)| format!("{what} {classes}")).collect::<Vec<_>>().join(", and ");
    let name = path.display();
    let classes = fitted.join(",");
    if differ.is_empty() {
        bail!("{name}: the decision has its classes in another order; use --classes {classes}");
    }
    if fitted.len() != found.len() {
        bail!("{name}: {differ}; choose the columns with --scores, or fit a decision to such tables");
    }
    bail!(
        "{name}: {differ}; if they mean the same, rename the table's, which are {}, with --classes {classes} (and bring the \
         columns into that order with --scores)",
        found.join(", ")
    );
}
