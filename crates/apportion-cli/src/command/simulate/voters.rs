//! `apportion simulate voters`: a voter file of people who do not exist, of any length.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Result;
use apportion::simulate::{RareNames, Voter, VoterOptions, VoterTables, Voters};
use apportion_bisg::census::{ALL_OTHER_NAMES, CLASSES, CensusTable, NC_VOTER_SHARES, counties, surnames};
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
  apportion simulate voters --no-scores -o people.parquet

The scores are calibrated by construction; --prior-shift, --sharpen and --noise put them off in known ways. The rows of a
seed are the same on every machine, whatever the number of threads.")]
pub(super) struct VotersArgs {
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
    let maker = Maker::new(args, &merged, &tables, &options)?;
    write(&args.target, args.rows, &maker.schema, |start, rows| maker.batch(start, rows))
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

/// Makes the rows of the file.
struct Maker<'a> {
    voters: Voters,
    rare: RareNames,
    /// The names behind the row of all other names.
    rare_names: Vec<String>,
    classes: &'a [&'static str],
    schema: SchemaRef,
    has_scores: bool,
}

impl Maker<'_> {
    fn new<'a>(
        args: &VotersArgs,
        merged: &'a Merged,
        tables: &VoterTables,
        options: &VoterOptions,
    ) -> Result<Maker<'a>> {
        let (rare_names, people) = rare_names(merged);
        Ok(Maker {
            voters: Voters::new(tables, options)?,
            rare: RareNames::new(&people, args.seed)?,
            rare_names,
            classes: &merged.classes,
            schema: schema(if args.no_scores { &[] } else { &merged.classes }, args.target.double),
            has_scores: !args.no_scores,
        })
    }

    fn batch(&self, start: u64, rows: u64) -> RecordBatch {
        let people: Vec<(u64, Voter)> = (start..start + rows).map(|index| (index, self.voters.person(index))).collect();
        let county = |voter: &Voter| &counties()[voter.county as usize];
        let surname = |(index, voter): &(u64, Voter)| self.surname(*index, voter);
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from_iter_values(start + 1..start + rows + 1)),
            Arc::new(StringArray::from_iter_values(people.iter().map(|(_, voter)| county(voter).name))),
            Arc::new(StringArray::from_iter_values(people.iter().map(|(_, voter)| county(voter).fips))),
            Arc::new(StringArray::from_iter_values(people.iter().map(surname))),
            Arc::new(StringArray::from_iter_values(
                people.iter().map(|(_, voter)| self.classes[usize::from(voter.truth)]),
            )),
        ];
        if self.has_scores {
            let k = self.classes.len();
            let mut scores = vec![0.0; people.len() * k];
            people.iter().zip(scores.chunks_exact_mut(k)).for_each(|((_, voter), row)| self.voters.scores(voter, row));
            columns.extend(score_columns(&scores, k, self.schema.field(5).data_type()));
        }
        // Nothing may be lost here: columns that the schema does not describe are a fault of this file.
        RecordBatch::try_new(self.schema.clone(), columns).expect("the columns are those of the schema")
    }

    fn surname(&self, index: u64, voter: &Voter) -> &str {
        match surnames()[voter.surname as usize].name {
            ALL_OTHER_NAMES => &self.rare_names[self.rare.of(index, voter) as usize],
            name => name,
        }
    }
}

/// The names of the Census's list behind the row of all other names, and their people by class.
fn rare_names(merged: &Merged) -> (Vec<String>, Vec<Vec<f64>>) {
    let common: HashSet<&str> = surnames().iter().map(|surname| surname.name).collect();
    let all = CensusTable::Surnames2020.load();
    let counts = all.counts.iter().flatten();
    let rows = all.keys().zip(counts).zip(all.values.chunks_exact(CLASSES.len()));
    let people = |count: f64, shares: &[f64]| merged.sums(&std::array::from_fn(|class| count * shares[class]));
    rows.filter(|((name, _), _)| !common.contains(name))
        .map(|((name, &count), shares)| (name.to_owned(), people(count as f64, shares)))
        .unzip()
}

fn schema(classes: &[&str], double: bool) -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    let mut fields = vec![Field::new("id", DataType::UInt64, false)];
    fields.extend(["county", "county_fips", "surname", "race"].map(text));
    fields.extend(classes.iter().map(|class| Field::new(format!("p_{class}"), number(double), false)));
    Arc::new(Schema::new(fields))
}
