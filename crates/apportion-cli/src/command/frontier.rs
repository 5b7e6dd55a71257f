//! `apportion frontier`: every optimal trade of accuracy against fidelity.

use anyhow::Result;
use apportion::{Frontier, Point};
use clap::Args;
use serde_json::json;

use crate::options::TableArgs;
use crate::progress::Working;
use crate::rule::{RuleArgs, RuleName};
use crate::text;
use crate::usage::usage;

/// Options of `frontier`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion frontier scores.csv > frontier.csv
  apportion frontier scores.parquet --points 200 --json")]
pub(crate) struct FrontierArgs {
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    rule: RuleArgs,
    /// About so many points, evenly spread; all where it is not given.
    #[arg(long)]
    points: Option<usize>,
}

pub(crate) fn run(args: &FrontierArgs) -> Result<()> {
    if args.rule.rule != RuleName::Match {
        return Err(usage("--rule: the frontier holds all of them from argmax to match; leave it out"));
    }
    args.rule.check()?;
    let table = args.table.read(&args.table.input()?, args.rule.groups(&args.table), None)?;
    let scores = table.scores()?;
    let aim = args.rule.matching(&table, &args.table)?;
    let working = Working::on("walking the frontier", args.table.quiet);
    let frontier = Frontier::of(&aim, &scores, &args.table.settings()).map_err(|error| table.explain(error))?;
    drop(working);
    let (points, error): (Vec<Point>, f64) = match args.points {
        Some(points) => {
            let thinned = frontier.thinned(points);
            (thinned.points, thinned.error)
        }
        None => (frontier.points().collect(), 0.0),
    };
    args.table
        .say(&format!("{} points in all; between those shown, accuracy is off by {error:.1e} at most", frontier.len()));
    if args.table.json {
        return text::print(json!({ "classes": table.classes().names(), "error": error, "points": points }));
    }
    let counts = table.classes().names().iter().map(|class| format!("n_{class}")).collect::<Vec<_>>().join(",");
    let mut lines = vec![format!("from_gamma,to_gamma,accuracy,fidelity,{counts}")];
    for point in points {
        let counts = point.counts.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let Point { from_gamma, to_gamma, accuracy, fidelity, .. } = point;
        lines.push(format!("{from_gamma},{to_gamma},{accuracy},{fidelity},{counts}"));
    }
    text::print(lines.join("\n"))
}
