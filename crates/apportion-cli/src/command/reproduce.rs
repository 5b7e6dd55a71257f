//! `apportion reproduce`: the paper's simulations, figures and tables, computed anew.

use std::path::PathBuf;

use anyhow::Result;
use apportion_app::reproduce::{self, Request};
use clap::Args;

use crate::job_context::job_context;
use crate::text;

/// Options of `reproduce`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion reproduce -o paper
  apportion reproduce -o paper --datasets 10 --rows 1000 --voters 20000 --seed 7

Writes report.html, a page with all figures and tables; the numbers of each figure, those of simulations with standard errors
over datasets (.csv), and its specification for Plotly (.json): info-bias, info-pareto, pareto-simulation, worstcasebias, and
on made-up voters pareto-NC, pareto-bisg, pareto-raking, pareto-dropuncoded; learners.csv, how near models come to match; and
tables.csv, the paper's tables with its published figures beside those of made-up voters.")]
pub(crate) struct ReproduceArgs {
    /// The folder for the page and the numbers.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// How many datasets a mean is over, at least 2.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    datasets: u64,
    /// How many people are in each, at least 100.
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u64).range(100..=1 << 40))]
    rows: u64,
    /// How many voters are made up for the tables, at least 100.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(100..=1 << 40))]
    voters: u64,
    /// Another seed, other people.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Writes into the folder where it has files already.
    #[arg(long)]
    force: bool,
    /// Says nothing on standard error but errors.
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &ReproduceArgs, line: &[String]) -> Result<()> {
    let request = Request {
        output: args.output.clone(),
        datasets: args.datasets,
        rows: args.rows,
        voters: args.voters,
        seed: args.seed,
        force: args.force,
    };
    let response = reproduce::run(&request, &job_context(args.quiet, None, line))?;
    if !args.quiet {
        text::say(format!("written to {}", response.written.display()));
    }
    Ok(())
}
