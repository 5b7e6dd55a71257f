//! The job `simulate`: any number of simulated people with known truth.

mod attributes;
mod merged_classes;
mod paper;
mod voters;

use std::collections::BTreeMap;
use std::path::PathBuf;

use apportion::simulate::PAPER_PRIOR;
use apportion::text::{Message, Setting};
use apportion_io::{Output, PlainColumn, PlainRows, PlainValues, write_plain_rows};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::paper::PaperRows;
use self::voters::VoterRows;
use crate::settings::{self, Job};
use crate::{Context, Error, Result};

/// Number of rows in a block.
const BLOCK_ROWS: u64 = 1 << 16;
/// Number of blocks that all threads make together.
const BLOCKS_AT_ONCE: usize = 8;
/// The maximum number of rows.
const MAX_ROWS: u64 = 1 << 40;

/// The population to simulate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The population.
    pub population: Population,
    /// The number of people; if not set, 100,000 voters, or 5,000 people of the other populations.
    pub rows: Option<u64>,
    /// The seed. The rows of a seed are the same on every machine, for any number of threads.
    pub seed: u64,
    /// Whether scores are in double precision.
    pub double: bool,
    /// The output file, whose extension sets the format; `-` for CSV on standard output. If not set, the rows are
    /// returned.
    pub output: Option<String>,
    /// Whether to replace an existing file.
    pub force: bool,
}

impl Request {
    /// Returns the request of a simulation from values by setting id.
    ///
    /// # Errors
    /// If a value is out of range, or the job is not a simulation.
    pub fn from_values(job: Job, values: Map<String, Value>) -> Result<Request> {
        let population = match job {
            Job::SimulateVoters => Population::Voters(settings::from_values(job, values.clone())?),
            Job::SimulateNormal => Population::Normal(settings::from_values(job, values.clone())?),
            Job::SimulateCategorical => Population::Categorical(settings::from_values(job, values.clone())?),
            Job::SimulateWorstCase => Population::WorstCase(settings::from_values(job, values.clone())?),
            other => return Err(Error::settings(format!("unknown simulation {other:?}"))),
        };
        Ok(Request { population, ..settings::from_values(job, values)? })
    }
}

/// The simulated population.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Population {
    /// A voter file of North Carolina, with the scores that BISG would compute from surname and county.
    Voters(Voters),
    /// Points with normal noise around the true class, as in the paper's simulations.
    Normal(Normal),
    /// People with one known category: the true class with some probability, otherwise any class.
    Categorical(Categorical),
    /// People whose class is either certain or unknown: the bias of argmax is as large as possible (Theorem 1 of the
    /// paper).
    WorstCase(WorstCase),
}

impl Default for Population {
    fn default() -> Population {
        Population::Voters(Voters::default())
    }
}

impl Population {
    /// Returns the name.
    pub const fn name(&self) -> &'static str {
        match self {
            Population::Voters(_) => "voters",
            Population::Normal(_) => "normal",
            Population::Categorical(_) => "categorical",
            Population::WorstCase(_) => "worst-case",
        }
    }

    /// Returns the default number of people.
    pub const fn default_rows(&self) -> u64 {
        match self {
            Population::Voters(_) => 100_000,
            Population::Normal(_) | Population::Categorical(_) | Population::WorstCase(_) => 5000,
        }
    }
}

/// A voter file of North Carolina: names and places from Census tables by class, and a made-up party and turnout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Voters {
    /// The shift of the scores' prior from that of voters toward that of all inhabitants: from 0 to 1.
    pub prior_shift: f64,
    /// The power to which scores are raised. Values above 1 make them overconfident.
    pub sharpen: f64,
    /// The difference between the tables from which people are drawn and those of the scores.
    pub noise: f64,
    /// Classes to merge into another class.
    pub merge: BTreeMap<String, String>,
    /// Whether to leave out the scores.
    pub no_scores: bool,
}

impl Default for Voters {
    fn default() -> Voters {
        Voters { prior_shift: 0.0, sharpen: 1.0, noise: 0.0, merge: BTreeMap::new(), no_scores: false }
    }
}

/// Points with one normal coordinate per class, with mean 1 for the true class and mean 0 for the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Normal {
    /// The shares of the classes.
    pub prior: Vec<f64>,
    /// The variance of each coordinate.
    pub variance: f64,
}

impl Default for Normal {
    fn default() -> Normal {
        Normal { prior: PAPER_PRIOR.to_vec(), variance: 0.5 }
    }
}

/// People with one known category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Categorical {
    /// The shares of the classes.
    pub prior: Vec<f64>,
    /// The probability that the category is the true class; otherwise it is any class. From 0 to 1.
    pub signal: f64,
}

impl Default for Categorical {
    fn default() -> Categorical {
        Categorical { prior: PAPER_PRIOR.to_vec(), signal: 0.5 }
    }
}

/// People whose class is either certain or unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorstCase {
    /// The number of classes.
    pub classes: usize,
    /// The share of people whose class is unknown.
    pub unknown: f64,
    /// The share of people who are known to be in another class than the first.
    pub others: f64,
}

impl Default for WorstCase {
    fn default() -> WorstCase {
        WorstCase { classes: 6, unknown: 0.6, others: 0.0 }
    }
}

/// Simulated rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The number of rows.
    pub rows: u64,
    /// The files that were written; empty for standard output and for rows in memory.
    pub written: Vec<PathBuf>,
    /// The rows in blocks, if no output is set.
    #[serde(skip)]
    pub blocks: Vec<PlainRows>,
}

/// Makes some rows, starting at an index.
trait RowMaker: Sync {
    fn rows(&self, start: u64, rows: u64) -> PlainRows;
}

/// Simulates people.
///
/// # Errors
/// If a setting is invalid, or the file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    let rows = request.rows.unwrap_or_else(|| request.population.default_rows());
    if !(1..=MAX_ROWS).contains(&rows) {
        let problem = format!(": it must be from 1 to {MAX_ROWS}");
        return Err(Error::Settings(Message::from(Setting::Rows) + problem));
    }
    let output = request.output.as_ref();
    let output = output.map(|path| Output { path: path.clone(), force: request.force, ..Output::default() });
    if let Some(output) = &output {
        output.check(None)?;
    }
    let make = |maker: &dyn RowMaker| make(maker, rows, output.as_ref(), context);
    context.install(|| match &request.population {
        Population::Voters(voters) => make(&VoterRows::new(voters, request.seed, request.double)?),
        Population::Normal(Normal { prior, variance }) => {
            let generator = apportion::simulate::Normal::new(prior, *variance, request.seed)?;
            make(&PaperRows::new(generator, request.double))
        }
        Population::Categorical(Categorical { prior, signal }) => {
            let generator = apportion::simulate::Categorical::new(prior, *signal, request.seed)?;
            make(&PaperRows::new(generator, request.double))
        }
        Population::WorstCase(WorstCase { classes, unknown, others }) => {
            let generator = apportion::simulate::WorstCase::new(*classes, *unknown, *others, request.seed)?;
            make(&PaperRows::new(generator, request.double))
        }
    })
}

/// Makes rows in blocks, and writes or returns them.
fn make(maker: &dyn RowMaker, rows: u64, output: Option<&Output>, context: &Context) -> Result<Response> {
    let starts: Vec<u64> = (0..rows).step_by(BLOCK_ROWS as usize).collect();
    context.progress.begin("simulated", rows);
    let mut blocks = starts.chunks(BLOCKS_AT_ONCE).flat_map(|starts| {
        let block = |&start: &u64| maker.rows(start, (rows - start).min(BLOCK_ROWS));
        let blocks: Vec<PlainRows> = starts.par_iter().map(block).collect();
        let done = starts.last().map_or(0, |start| (start + BLOCK_ROWS).min(rows));
        context.progress.update(done, done);
        blocks
    });
    let mut response = Response { rows, ..Response::default() };
    match output {
        Some(output) => {
            let first = blocks.next().unwrap_or_default();
            response.written = write_plain_rows(output, first, blocks)?;
        }
        None => {
            for block in blocks {
                context.check_cancelled()?;
                response.blocks.push(block);
            }
        }
    }
    context.progress.end();
    Ok(response)
}

/// Converts scores, row by row, to a column for each class.
fn score_columns(scores: &[f64], classes: &[impl AsRef<str>], double: bool) -> Vec<PlainColumn> {
    let k = classes.len();
    let column = |(class, name): (usize, &_)| {
        let name: &str = AsRef::<str>::as_ref(name);
        let own = scores.iter().skip(class).step_by(k);
        let values = match double {
            true => PlainValues::Double(own.copied().collect()),
            false => PlainValues::Single(own.map(|&score| score as f32).collect()),
        };
        PlainColumn::new(format!("p_{name}"), values)
    };
    classes.iter().enumerate().map(column).collect()
}
