//! `apportion simulate normal`, `categorical` and `worst-case`: people without names, with the scores that nobody could better.

use std::sync::Arc;

use anyhow::Result;
use apportion::Classes;
use apportion::simulate::{Categorical, Generator, Normal, PAPER_PRIOR, WorstCase};
use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use clap::Args;

use super::{Target, number, score_columns, write};

#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion simulate normal --rows 5000 --variance 0.5 --seed 1 -o normal.csv
  apportion simulate normal --rows 1000000 --variance 2 --prior 0.7,0.2,0.1 -o three.parquet

A person is a point x with as many coordinates as there are classes: all are normal with the given variance, around 1 for
the true class and around 0 for the others. The score of a class is its share times e^(x/variance), scaled: no scores made
from x are better. Little variance leaves no doubt of the truth, much of it nothing but the shares.

Columns: id, truth, p_1, p_2, … Where the paper writes σ = 0.5, it means a variance of 0.5.")]
pub(super) struct NormalArgs {
    /// The variance of every coordinate.
    #[arg(long, default_value_t = 0.5)]
    variance: f64,
    #[command(flatten)]
    prior: PriorArgs,
    #[command(flatten)]
    pub(super) rows: RowsArgs,
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
pub(super) struct CategoricalArgs {
    /// From 0 to 1: the chance that the category is the true class for that reason.
    #[arg(long, default_value_t = 0.5)]
    signal: f64,
    #[command(flatten)]
    prior: PriorArgs,
    #[command(flatten)]
    pub(super) rows: RowsArgs,
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
pub(super) struct WorstCaseArgs {
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
    pub(super) rows: RowsArgs,
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
pub(super) struct RowsArgs {
    /// How many people.
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    rows: u64,
    /// Another seed, other people.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    pub(super) target: Target,
}

pub(super) fn normal(args: &NormalArgs) -> Result<()> {
    made(&Normal::new(&args.prior.prior, args.variance, args.rows.seed)?, &args.rows)
}

pub(super) fn categorical(args: &CategoricalArgs) -> Result<()> {
    made(&Categorical::new(&args.prior.prior, args.signal, args.rows.seed)?, &args.rows)
}

pub(super) fn worst_case(args: &WorstCaseArgs) -> Result<()> {
    made(&WorstCase::new(usize::from(args.classes), args.unknown, args.others, args.rows.seed)?, &args.rows)
}

fn made(generator: &impl Generator, args: &RowsArgs) -> Result<()> {
    args.target.check()?;
    let classes: Vec<String> = (1..=generator.classes()).map(|class| class.to_string()).collect();
    let schema = schema(&classes, args.target.double);
    write(&args.target, args.rows, &schema, |start, rows| batch(generator, &classes, &schema, start, rows))
}

fn schema(classes: &[String], double: bool) -> SchemaRef {
    let mut fields = vec![Field::new("id", DataType::UInt64, false), Field::new("truth", DataType::Utf8, false)];
    fields.extend(classes.iter().map(|class| Field::new(format!("p_{class}"), number(double), false)));
    Arc::new(Schema::new(fields))
}

fn batch(generator: &impl Generator, classes: &[String], schema: &SchemaRef, start: u64, rows: u64) -> RecordBatch {
    let k = classes.len();
    let mut scores = vec![0.0; rows as usize * k];
    let truth = scores.chunks_exact_mut(k).zip(start..).map(|(row, index)| generator.row(index, row));
    let truth = StringArray::from_iter_values(truth.map(|class| &classes[usize::from(class)]));
    let ids = UInt64Array::from_iter_values(start + 1..start + rows + 1);
    let mut columns: Vec<ArrayRef> = vec![Arc::new(ids), Arc::new(truth)];
    columns.extend(score_columns(&scores, k, schema.field(2).data_type()));
    // Nothing may be lost here: columns that the schema does not describe are a fault of this file.
    RecordBatch::try_new(schema.clone(), columns).expect("the columns are those of the schema")
}
