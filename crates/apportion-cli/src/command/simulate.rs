//! `apportion simulate`: data whose truth is known because it was made up, of any length.

use anyhow::Result;
use apportion::Classes;
use apportion::simulate::PAPER_PRIOR;
use apportion_app::simulate::{self, Categorical, Normal, Population, Request, Voters, WorstCase};
use apportion_bisg::census::CLASSES;
use clap::{Args, Subcommand};

use crate::host::Host;
use crate::job_context::job_context;
use crate::output::written;
use crate::text;
use crate::usage::usage;

/// Options of `simulate`.
#[derive(Args)]
pub(crate) struct SimulateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// County and class by the Census of North Carolina, surname by class, and the scores that BISG would give.
    Voters(VotersArgs),
    /// The paper's simulations: a point with normal noise around the true class.
    Normal(NormalArgs),
    /// One category is known: the true class with a given chance, else any.
    Categorical(CategoricalArgs),
    /// All is known, or nothing: where argmax's bias is as large as it can be (the paper's Theorem 1).
    WorstCase(WorstCaseArgs),
}

impl SimulateArgs {
    /// Lends it another program, in place of a file and a terminal.
    pub(super) fn lend(&mut self, host: Option<Host>) {
        let target = match &mut self.what {
            What::Voters(args) => &mut args.target,
            What::Normal(args) => &mut args.rows.target,
            What::Categorical(args) => &mut args.rows.target,
            What::WorstCase(args) => &mut args.rows.target,
        };
        target.host = host;
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion simulate voters --rows 100000 -o voters.parquet
  apportion simulate voters --rows 1000000 --seed 7 --sharpen 1.3 -o overconfident.csv.gz
  apportion simulate voters --no-scores -o people.parquet

The scores are calibrated by construction; --prior-shift, --sharpen and --noise put them off in known ways. The rows of a
seed are the same on every machine, whatever the number of threads.")]
struct VotersArgs {
    /// How many people.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    rows: u64,
    /// Another seed, other people.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// From 0 to 1: how far the scores' prior is from that of voters, towards that of all inhabitants.
    #[arg(long, default_value_t = 0.0)]
    prior_shift: f64,
    /// The power to which scores are raised: above 1 they are overconfident.
    #[arg(long, default_value_t = 1.0)]
    sharpen: f64,
    /// How much the tables that people are drawn from differ from those behind the scores.
    #[arg(long, default_value_t = 0.0)]
    noise: f64,
    /// Counts people of a class as those of another: aian=other leaves five classes.
    #[arg(long, value_name = "CLASS=CLASS,…", value_delimiter = ',')]
    merge: Vec<String>,
    /// Leaves the scores out: names and places alone, as a voter file has them. `apportion predict` makes scores of them.
    #[arg(long)]
    no_scores: bool,
    #[command(flatten)]
    target: Target,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion simulate normal --rows 5000 --variance 0.5 --seed 1 -o normal.csv
  apportion simulate normal --rows 1000000 --variance 2 --prior 0.7,0.2,0.1 -o three.parquet

A person is a point x with as many coordinates as there are classes: all are normal with the given variance, around 1 for
the true class and around 0 for the others. The score of a class is its share times e^(x/variance), scaled: no scores made
from x are better. Little variance leaves no doubt of the truth, much of it nothing but the shares.

Columns: id, truth, p_1, p_2, … Where the paper writes σ = 0.5, it means a variance of 0.5.")]
struct NormalArgs {
    /// The variance of every coordinate.
    #[arg(long, default_value_t = 0.5)]
    variance: f64,
    #[command(flatten)]
    prior: PriorArgs,
    #[command(flatten)]
    rows: RowsArgs,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion simulate categorical --rows 5000 --signal 0.6 --seed 1 -o categories.csv
  apportion simulate categorical --signal 0 --prior 0.6,0.4 -o nothing.parquet

With the chance --signal, a person's category is the true class; else it is any class, each as often. The scores are the
shares of the classes among the people of a category. At 0 nothing is known, and argmax gives everyone the largest class;
at 1 all is known.

Columns: id, truth, p_1, p_2, …")]
struct CategoricalArgs {
    /// From 0 to 1: the chance that the category is the true class for that reason.
    #[arg(long, default_value_t = 0.5)]
    signal: f64,
    #[command(flatten)]
    prior: PriorArgs,
    #[command(flatten)]
    rows: RowsArgs,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion simulate worst-case --rows 5000 --unknown 0.6 --seed 1 -o worst.csv
  apportion simulate worst-case --unknown 0.5 --others 0.25 --classes 3 -o three.parquet

Of a share --unknown of the people nothing is known: all their scores are alike, and argmax counts them all as the first
class. Of the others all is known. Argmax's bias for the first class is then the mean absolute error of the scores, which
is --unknown times (K − 1)/K: no calibrated scores with that error can do worse (the paper's Theorem 1).

Columns: id, truth, p_1, p_2, …")]
struct WorstCaseArgs {
    /// How many classes there are.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u8).range(1..=Classes::MAX as i64))]
    classes: u8,
    /// The share of people of whom nothing is known: the paper's c.
    #[arg(long, default_value_t = 0.6, value_name = "SHARE")]
    unknown: f64,
    /// The share of people who are known to be of another class than the first: the paper's e.
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    others: f64,
    #[command(flatten)]
    rows: RowsArgs,
}

/// The shares of the classes.
#[derive(Args)]
struct PriorArgs {
    /// The shares of the classes, which sum to 1.
    #[arg(long, value_delimiter = ',', value_name = "SHARE,…", default_values_t = PAPER_PRIOR)]
    prior: Vec<f64>,
}

/// How many rows, which, and where they go.
#[derive(Args)]
struct RowsArgs {
    /// How many people.
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    rows: u64,
    /// Another seed, other people.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    target: Target,
}

/// Where what was made up goes, and how.
#[derive(Args)]
struct Target {
    /// Scores in double precision.
    #[arg(long)]
    double: bool,
    /// The output; its ending says the format. - for CSV on standard output.
    #[arg(short, long, value_name = "OUT")]
    output: String,
    /// Replaces the output where it exists.
    #[arg(long)]
    force: bool,
    /// Says nothing on standard error but errors.
    #[arg(long, short)]
    quiet: bool,
    /// Another program, in place of a file and a terminal.
    #[arg(skip)]
    host: Option<Host>,
}

pub(crate) fn run(args: &SimulateArgs, line: &[String]) -> Result<()> {
    let (request, target) = args.request()?;
    let response = simulate::run(&request, &job_context(target.quiet, target.host.as_ref(), line))?;
    if let Some(host) = &target.host {
        let batches = response.blocks.iter().map(apportion_io::PlainRows::to_batch);
        host.results().rows = batches.collect::<apportion_io::Result<_>>()?;
    } else if !target.quiet {
        text::say(written(&response.written));
    }
    Ok(())
}

impl SimulateArgs {
    /// The request, and where its rows go.
    fn request(&self) -> Result<(Request, &Target)> {
        let (population, rows, seed, target) = match &self.what {
            What::Voters(args) => (Population::Voters(args.voters()?), args.rows, args.seed, &args.target),
            What::Normal(NormalArgs { variance, prior, rows }) => {
                let normal = Normal { prior: prior.prior.clone(), variance: *variance };
                (Population::Normal(normal), rows.rows, rows.seed, &rows.target)
            }
            What::Categorical(CategoricalArgs { signal, prior, rows }) => {
                let categorical = Categorical { prior: prior.prior.clone(), signal: *signal };
                (Population::Categorical(categorical), rows.rows, rows.seed, &rows.target)
            }
            What::WorstCase(WorstCaseArgs { classes, unknown, others, rows }) => {
                let worst_case = WorstCase { classes: usize::from(*classes), unknown: *unknown, others: *others };
                (Population::WorstCase(worst_case), rows.rows, rows.seed, &rows.target)
            }
        };
        let request = Request {
            population,
            rows: Some(rows),
            seed,
            double: target.double,
            output: target.host.is_none().then(|| target.output.clone()),
            force: target.force,
        };
        Ok((request, target))
    }
}

impl VotersArgs {
    fn voters(&self) -> Result<Voters> {
        let mut merge = Vec::with_capacity(self.merge.len());
        for pair in &self.merge {
            let Some((from, to)) = pair.split_once('=') else {
                return Err(usage(format!("--merge: {pair:?} is not CLASS=CLASS, of {}", CLASSES.join(", "))));
            };
            merge.push((from.to_owned(), to.to_owned()));
        }
        Ok(Voters {
            prior_shift: self.prior_shift,
            sharpen: self.sharpen,
            noise: self.noise,
            merge,
            no_scores: self.no_scores,
        })
    }
}
