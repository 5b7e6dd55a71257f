//! `apportion simulate voters`: a voter file of people who do not exist, of any length.

use std::sync::Arc;

use anyhow::Result;
use apportion::simulate::{VoterOptions, VoterTables, Voters};
use apportion_census::{CLASSES, NC_VOTER_SHARES, counties, surnames};
use apportion_table::{Output, Progress, write_batches};
use arrow::array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use clap::{Args, Subcommand};
use rayon::prelude::*;

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
    Voters(VotersArgs),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion simulate voters --rows 100000 -o voters.parquet
  apportion simulate voters --rows 1000000 --seed 7 --sharpen 1.3 -o overconfident.csv.gz

The scores are calibrated by construction; --prior-shift, --sharpen and --noise put them off in known ways. The rows of a
seed are the same on every machine, whatever the number of threads.")]
struct VotersArgs {
    /// How many people.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
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
}

/// Rows that are made at a time.
const BATCH: u64 = 1 << 16;
/// Batches that are made at once, by all threads.
const AT_ONCE: usize = 8;

pub(crate) fn run(args: &SimulateArgs) -> Result<()> {
    let What::Voters(args) = &args.what;
    let people = |people: &[u64; 6]| people.iter().map(|&count| count as f64).collect();
    let tables = VoterTables {
        counties: counties().iter().map(|county| people(&county.people)).collect(),
        surnames: surnames().iter().map(|surname| people(&surname.people)).collect(),
    };
    let options = VoterOptions {
        seed: args.seed,
        margin: Some(NC_VOTER_SHARES.to_vec()),
        prior_shift: args.prior_shift,
        sharpen: args.sharpen,
        noise: args.noise,
        ..VoterOptions::default()
    };
    let output = Output { path: args.output.clone(), force: args.force, keep: None };
    output.check(None)?;
    let voters = Voters::new(&tables, &options)?;
    let schema = schema(args.double);
    let starts: Vec<u64> = (0..args.rows).step_by(BATCH as usize).collect();
    let bar = Bar::new(args.quiet);
    bar.begin("made up", args.rows);
    let batches = starts.chunks(AT_ONCE).flat_map(|starts| {
        let made: Vec<RecordBatch> =
            starts.par_iter().map(|&start| batch(&voters, &schema, start, (args.rows - start).min(BATCH))).collect();
        let done = starts.last().map_or(0, |start| (start + BATCH).min(args.rows));
        bar.reached(done, done);
        made
    });
    let paths = write_batches(&output, &schema, batches)?;
    bar.end();
    if !args.quiet {
        text::say(written(&paths));
    }
    Ok(())
}

fn schema(double: bool) -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    let number = if double { DataType::Float64 } else { DataType::Float32 };
    let mut fields = vec![Field::new("id", DataType::UInt64, false)];
    fields.extend(["county", "county_fips", "surname", "race"].map(text));
    fields.extend(CLASSES.map(|class| Field::new(format!("p_{class}"), number.clone(), false)));
    Arc::new(Schema::new(fields))
}

fn batch(voters: &Voters, schema: &SchemaRef, start: u64, rows: u64) -> RecordBatch {
    let people: Vec<_> = (start..start + rows).map(|index| voters.person(index)).collect();
    let k = CLASSES.len();
    let mut scores = vec![0.0; people.len() * k];
    people.iter().zip(scores.chunks_exact_mut(k)).for_each(|(voter, row)| voters.scores(voter, row));
    let county = |voter: &apportion::simulate::Voter| &counties()[voter.county as usize];
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_iter_values(start + 1..start + rows + 1)),
        Arc::new(StringArray::from_iter_values(people.iter().map(|voter| county(voter).name))),
        Arc::new(StringArray::from_iter_values(people.iter().map(|voter| county(voter).fips))),
        Arc::new(StringArray::from_iter_values(people.iter().map(|voter| surnames()[voter.surname as usize].name))),
        Arc::new(StringArray::from_iter_values(people.iter().map(|voter| CLASSES[usize::from(voter.truth)]))),
    ];
    for class in 0..k {
        let column = scores.iter().skip(class).step_by(k);
        columns.push(match schema.field(5 + class).data_type() {
            DataType::Float64 => Arc::new(Float64Array::from_iter_values(column.copied())),
            _ => Arc::new(Float32Array::from_iter_values(column.map(|&score| score as f32))),
        });
    }
    // Nothing may be lost here: columns that the schema does not describe are a fault of this file.
    RecordBatch::try_new(schema.clone(), columns).expect("the columns are those of the schema")
}
