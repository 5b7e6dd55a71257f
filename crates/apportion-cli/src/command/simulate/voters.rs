//! `apportion simulate voters`: a voter file of people who do not exist, of any length.

use std::sync::Arc;

use anyhow::Result;
use apportion::simulate::{VoterOptions, VoterTables, Voters};
use apportion_census::{CLASSES, NC_VOTER_SHARES, counties, surnames};
use arrow::array::{ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use clap::Args;

use super::{Target, number, score_columns, write};
use crate::usage::usage;

#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion simulate voters --rows 100000 -o voters.parquet
  apportion simulate voters --rows 1000000 --seed 7 --sharpen 1.3 -o overconfident.csv.gz

The scores are calibrated by construction; --prior-shift, --sharpen and --noise put them off in known ways. The rows of a
seed are the same on every machine, whatever the number of threads.")]
pub(super) struct VotersArgs {
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
    /// Counts people of a class as those of another: aian=other leaves five classes.
    #[arg(long, value_name = "CLASS=CLASS,…", value_delimiter = ',')]
    merge: Vec<String>,
    #[command(flatten)]
    pub(super) target: Target,
}

pub(super) fn run(args: &VotersArgs) -> Result<()> {
    let merged = Merged::new(&args.merge)?;
    let people = |people: &[u64; 6]| merged.sums(&people.map(|count| count as f64));
    let tables = VoterTables {
        counties: counties().iter().map(|county| people(&county.people)).collect(),
        surnames: surnames().iter().map(|surname| people(&surname.people)).collect(),
    };
    let options = VoterOptions {
        seed: args.seed,
        margin: Some(merged.sums(&NC_VOTER_SHARES)),
        prior_shift: args.prior_shift,
        sharpen: args.sharpen,
        noise: args.noise,
        ..VoterOptions::default()
    };
    args.target.check()?;
    let voters = Voters::new(&tables, &options)?;
    let schema = schema(&merged.classes, args.target.double);
    write(&args.target, args.rows, &schema, |start, rows| batch(&voters, &merged.classes, &schema, start, rows))
}

/// The classes, some of them counted as others.
struct Merged {
    classes: Vec<&'static str>,
    /// Which of these each class of the Census is.
    places: [usize; CLASSES.len()],
}

impl Merged {
    fn new(merge: &[String]) -> Result<Merged> {
        let known = |name: &str| CLASSES.iter().position(|class| *class == name.trim());
        let mut into: [usize; CLASSES.len()] = std::array::from_fn(|class| class);
        for pair in merge {
            let classes = pair.split_once('=').and_then(|(from, to)| Some((known(from)?, known(to)?)));
            let Some((from, to)) = classes.filter(|(from, to)| from != to) else {
                return Err(usage(format!("--merge: {pair:?} is not CLASS=CLASS, of {}", CLASSES.join(", "))));
            };
            into[from] = to;
        }
        let is_kept = |class: &usize| into[*class] == *class;
        let kept: Vec<usize> = (0..CLASSES.len()).filter(is_kept).collect();
        let place = |class: usize| kept.iter().position(|kept| *kept == into[class]);
        if let Some(lost) = (0..CLASSES.len()).find(|&class| place(class).is_none()) {
            return Err(usage(format!("--merge: {} goes into a class that goes into another", CLASSES[lost])));
        }
        let places = std::array::from_fn(|class| place(class).unwrap_or_default());
        Ok(Merged { classes: kept.iter().map(|&class| CLASSES[class]).collect(), places })
    }

    /// What each class has, with what was counted as it.
    fn sums(&self, people: &[f64; CLASSES.len()]) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes.len()];
        people.iter().zip(&self.places).for_each(|(people, &place)| sums[place] += people);
        sums
    }
}

fn schema(classes: &[&str], double: bool) -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    let mut fields = vec![Field::new("id", DataType::UInt64, false)];
    fields.extend(["county", "county_fips", "surname", "race"].map(text));
    fields.extend(classes.iter().map(|class| Field::new(format!("p_{class}"), number(double), false)));
    Arc::new(Schema::new(fields))
}

fn batch(voters: &Voters, classes: &[&str], schema: &SchemaRef, start: u64, rows: u64) -> RecordBatch {
    let people: Vec<_> = (start..start + rows).map(|index| voters.person(index)).collect();
    let k = classes.len();
    let mut scores = vec![0.0; people.len() * k];
    people.iter().zip(scores.chunks_exact_mut(k)).for_each(|(voter, row)| voters.scores(voter, row));
    let county = |voter: &apportion::simulate::Voter| &counties()[voter.county as usize];
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(UInt64Array::from_iter_values(start + 1..start + rows + 1)),
        Arc::new(StringArray::from_iter_values(people.iter().map(|voter| county(voter).name))),
        Arc::new(StringArray::from_iter_values(people.iter().map(|voter| county(voter).fips))),
        Arc::new(StringArray::from_iter_values(people.iter().map(|voter| surnames()[voter.surname as usize].name))),
        Arc::new(StringArray::from_iter_values(people.iter().map(|voter| classes[usize::from(voter.truth)]))),
    ];
    columns.extend(score_columns(&scores, k, schema.field(5).data_type()));
    // Nothing may be lost here: columns that the schema does not describe are a fault of this file.
    RecordBatch::try_new(schema.clone(), columns).expect("the columns are those of the schema")
}
