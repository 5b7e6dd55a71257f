//! `apportion frontier`: every optimal trade of accuracy against fidelity.

use anyhow::Result;
use apportion::rule::Point;
use apportion::{Frontier, Match};
use apportion_report::{Trade, TradeReference};
use clap::Args;
use serde_json::json;

use crate::options::TableArgs;
use crate::progress::Working;
use crate::values;
use apportion_app::reference;

/// Options of `frontier`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion frontier scores.csv > frontier.csv
  apportion frontier scores.parquet --points 200 --json")]
pub(crate) struct FrontierArgs {
    #[command(flatten)]
    pub(super) table: TableArgs,
    /// What the counts are to match at its end: posterior, truth, uniform, or a file with the columns class,share (and group).
    #[arg(
        long,
        default_value = "posterior",
        value_name = "posterior|truth|uniform|FILE",
        value_parser = values::reference
    )]
    reference: String,
    /// About so many points, evenly spread, at least 2; all where it is not given.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    points: Option<u32>,
}

pub(crate) fn run(args: &FrontierArgs) -> Result<()> {
    let table = args.table.read(&args.table.input()?, args.table.groups(), None)?;
    let scores = table.scores()?;
    let host = args.table.host.as_ref();
    let given = host.and_then(|host| host.reference.as_ref());
    let context = args.table.context();
    let reference = reference::read(&args.reference, given, table.classes(), &args.table.by, &context)?;
    let aim = Match { by_group: !args.table.by.is_empty(), ..Match::overall(reference) };
    let working = Working::on("walking the frontier", args.table.quiet);
    let frontier = Frontier::of(&aim, &scores, &args.table.settings()).map_err(|error| table.locate(error))?;
    drop(working);
    let (points, error): (Vec<Point>, f64) = match args.points {
        Some(points) => {
            let thinned = frontier.thinned(points as usize);
            (thinned.points, thinned.error)
        }
        None => (frontier.points().collect(), 0.0),
    };
    let all = frontier.len();
    let words = format!("{all} points in all; between those shown, accuracy is off by {error:.1e} at most");
    if let Some(host) = &args.table.host {
        let is_posterior = args.reference == "posterior";
        let reference = if is_posterior { TradeReference::Posterior } else { TradeReference::Other };
        let trade = Trade { reference, points: points.clone(), of: all, error };
        host.results().document = Some(trade.document(table.classes().names()));
    }
    let json = json!({ "classes": table.classes().names(), "error": error, "points": points });
    args.table.say(&words);
    if args.table.host.is_some() {
        args.table.print(&json)?;
        return args.table.print_text(words);
    }
    if args.table.json {
        return args.table.print(json);
    }
    let counts = table.classes().names().iter().map(|class| format!("n_{class}")).collect::<Vec<_>>().join(",");
    let mut lines = vec![format!("from_gamma,to_gamma,accuracy,fidelity,{counts}")];
    for point in points {
        let counts = point.counts.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let Point { from_gamma, to_gamma, accuracy, fidelity, .. } = point;
        lines.push(format!("{from_gamma},{to_gamma},{accuracy},{fidelity},{counts}"));
    }
    args.table.print_text(lines.join("\n"))
}
