//! `apportion simulate`: data whose truth is known because it was made up, of any length.

mod paper;
mod voters;

use std::sync::Arc;

use anyhow::Result;
use apportion_io::{Output, Progress, write_batches};
use arrow::array::{ArrayRef, Float32Array, Float64Array, RecordBatch};
use arrow::datatypes::{DataType, SchemaRef};
use clap::{Args, Subcommand};
use rayon::prelude::*;

use crate::host::Host;
use crate::output::written;
use crate::progress::Bar;
use crate::text;

/// Options of `simulate`.
#[derive(Args)]
pub(crate) struct SimulateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// County and class by the Census of North Carolina, surname by class, and the scores that BISG would give.
    Voters(voters::VotersArgs),
    /// The paper's simulations: a point with normal noise around the true class.
    Normal(paper::NormalArgs),
    /// One category is known: the true class with a given chance, else any.
    Categorical(paper::CategoricalArgs),
    /// All is known, or nothing: where argmax's bias is as large as it can be (the paper's Theorem 1).
    WorstCase(paper::WorstCaseArgs),
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

pub(crate) fn run(args: &SimulateArgs) -> Result<()> {
    match &args.what {
        What::Voters(args) => voters::run(args),
        What::Normal(args) => paper::normal(args),
        What::Categorical(args) => paper::categorical(args),
        What::WorstCase(args) => paper::worst_case(args),
    }
}

/// Rows that are made at a time.
const BATCH: u64 = 1 << 16;
/// Batches that are made at once, by all threads.
const AT_ONCE: usize = 8;

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

impl Target {
    fn output(&self) -> Output {
        Output { path: self.output.clone(), force: self.force, ..Output::default() }
    }

    /// Refuses what could not be written, before anything is made.
    fn check(&self) -> Result<()> {
        if self.host.is_some() {
            return Ok(());
        }
        Ok(self.output().check(None)?)
    }
}

/// Streams rows into a file; `batch` makes those from a start on.
fn write(target: &Target, rows: u64, schema: &SchemaRef, batch: impl Fn(u64, u64) -> RecordBatch + Sync) -> Result<()> {
    let starts: Vec<u64> = (0..rows).step_by(BATCH as usize).collect();
    let bar = Bar::new(target.quiet);
    bar.begin("made up", rows);
    let batches = starts.chunks(AT_ONCE).flat_map(|starts| {
        let made: Vec<RecordBatch> = starts.par_iter().map(|&start| batch(start, (rows - start).min(BATCH))).collect();
        let done = starts.last().map_or(0, |start| (start + BATCH).min(rows));
        bar.update(done, done);
        made
    });
    if let Some(host) = &target.host {
        host.results().rows = batches.collect();
        return Ok(());
    }
    let paths = write_batches(&target.output(), schema, batches)?;
    bar.end();
    if !target.quiet {
        text::say(written(&paths));
    }
    Ok(())
}

/// The type of scores.
fn number(double: bool) -> DataType {
    if double { DataType::Float64 } else { DataType::Float32 }
}

/// Scores, row by row, as a column for each of k classes.
fn score_columns(scores: &[f64], k: usize, number: &DataType) -> Vec<ArrayRef> {
    let column = |class| scores.iter().skip(class).step_by(k);
    let array = |class| -> ArrayRef {
        match number {
            DataType::Float64 => Arc::new(Float64Array::from_iter_values(column(class).copied())),
            _ => Arc::new(Float32Array::from_iter_values(column(class).map(|&score| score as f32))),
        }
    };
    (0..k).map(array).collect()
}
