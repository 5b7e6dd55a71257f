//! Computes scores from names and places: BISG, BIFSG, voter BISG, raking and fBISG. All input rows are written in
//! order with their scores; scores of a table in memory are returned.
//!
//! ```text
//! columns ─┐
//! sources ─┴─▶ model ──passes over all people (rake, fbisg)──▶ scoring ──▶ output, tally ──▶ summary
//! ```

mod columns;
mod counties;
pub mod explain;
mod margin;
mod passes;
mod people;
mod population;
mod request;
mod scoring;
mod setup;
pub(crate) mod sources;
mod summary;
mod tally;
mod text;
mod unused;
mod whole_names;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use apportion::Classes;
use apportion::text::{Message, Setting};
use apportion_bisg::Level;
use apportion_io::{
    ColumnBatches, Input, Output, PlainColumn, refuse_nested_columns, same_name, write_with_plain_columns,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use self::columns::PeopleColumns;
pub(crate) use self::columns::recognized_people;
use self::passes::AllPeople;
use self::people::Lookup;
pub use self::request::{Model, NameLists, Request, Vintage};
use self::scoring::{COUNTY, Layout, Scorer};
use self::setup::Setup;
use self::sources::UsedTable;
use self::summary::PredictSummary;
pub use self::unused::UnusedColumn;
use crate::protect::{refuse_overwriting_outputs, refuse_unsafe_formats};
use crate::provenance::{ExtraFile, InputHashes, Provenance, Recorded, holds_metadata};
use crate::{Context, Error, Result};

/// Statistics of the scores: how names and places were matched, and the mean scores.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The version of the program.
    pub apportion: String,
    /// The model.
    pub model: Model,
    /// The number of people.
    pub people: u64,
    /// The names of the classes. Other lists are in this order.
    pub classes: Vec<String>,
    /// The names of the columns that were read, by content, such as `surname`.
    pub columns: BTreeMap<&'static str, String>,
    /// The columns of names and places that the scores do not use, or not as precisely as given.
    pub unused: Vec<UnusedColumn>,
    /// The mean score of each class.
    pub posterior: Vec<f64>,
    /// The shares of the classes among the people of the places in the input or, without places, of the surnames; null if
    /// the tables do not contain numbers of people.
    pub in_tables: Option<Vec<f64>>,
    /// The number of people by how their surname was found: `exact`, `cleaned`, `part`, `both parts`,
    /// `voter list` or `none`.
    pub surname_match: MatchCounts,
    /// The number of people by how their first name was found, if first names are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_name_match: Option<MatchCounts>,
    /// The number of people by how their middle name was found, if middle names are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub middle_name_match: Option<MatchCounts>,
    /// The number of people by what was dropped from their names before the lookup: `suffix dropped`, `title dropped`,
    /// `former name dropped`, `nickname dropped`, `initial dropped` or `text after comma dropped`. A person can have
    /// several.
    pub name_changes: MatchCounts,
    /// The number of people by the level of the place that was used.
    pub place_used: MatchCounts,
    /// The number of people by the information that their scores do not use: `surname`, `first name`, `middle name` or
    /// `place`.
    pub dropped: MatchCounts,
    /// The number of place codes whose leading zeros were restored.
    pub repaired_codes: u64,
    /// Descriptions of the tables that were used.
    pub tables: Vec<String>,
    /// The people that the scores describe: those of the tables, or people with the class shares of a margin.
    pub population: String,
    /// Warnings.
    pub remarks: Vec<String>,
    /// The margin, if one is given: the share of each class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<Vec<f64>>,
    /// The state of all people, if one is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The result of a model that uses all people, if it does.
    #[serde(flatten)]
    pub fit: Option<PopulationFit>,
    /// The provenance of the scores, for Parquet and Arrow outputs or if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Whether `in_tables` describes the people of the places rather than the surnames.
    #[serde(skip)]
    pub has_place_people: bool,
    /// The files that were written; empty for standard output and for a table in memory.
    #[serde(skip)]
    pub paths: Vec<PathBuf>,
    /// The new columns of a table in memory.
    #[serde(skip)]
    pub scores: Vec<PlainColumn>,
}

/// The result of a model that uses all people.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[serde(untagged)]
pub enum PopulationFit {
    /// Scores were raked to one margin.
    Raked {
        /// `rake`: the weight of each class.
        weights: Vec<f64>,
        /// `rake`: the number of passes over the people.
        passes: usize,
    },
    /// Scores were raked to margins by surname and place.
    RakedByRow {
        /// `rake` by surname and place: the number of people with different names, places or scores.
        cells: usize,
        /// `rake` by surname and place: the number of rounds.
        rounds: usize,
        /// `rake` by surname and place: the largest difference from a margin, as a share of all people.
        off: f64,
        /// `rake` by surname and place: the number of people in each margin.
        in_margins: InMargins,
    },
    /// Classes were drawn.
    Drawn {
        /// `fbisg`: the seed.
        seed: u64,
        /// `fbisg`: the number of sweeps that were discarded.
        burn_in: u16,
        /// `fbisg`: the number of sweeps whose probabilities were averaged.
        sweeps: u16,
    },
}

/// The number of people in each margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct InMargins {
    /// In the margin by surname.
    pub surname: u64,
    /// In the margin by place.
    pub place: u64,
}

/// Numbers of people by category, in order. It serializes to a map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchCounts(pub Vec<(&'static str, u64)>);

impl Serialize for MatchCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (category, people) in &self.0 {
            map.serialize_entry(category, people)?;
        }
        map.end()
    }
}

/// Counts have the schema of a map.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for MatchCounts {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MatchCounts".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        BTreeMap::<String, u64>::json_schema(generator)
    }
}

/// Computes scores.
///
/// # Errors
/// If the settings cannot be combined, a file or table cannot be used, or raking does not converge.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    request.check()?;
    context.install(|| predict(request, context))
}

fn predict(request: &Request, context: &Context) -> Result<Response> {
    let input = request.source.open(context)?;
    let mut request = request.clone();
    request.choose_model(columns::has_first_names(&input.columns(0)?));
    let request = &request;
    let mut output = match request.source.is_in_memory() {
        true => None,
        false => Some(checked_output(request, &input)?),
    };
    let columns = PeopleColumns::find(request, &input)?;
    let Setup { columns, classes, used, margin, margins, bisg } = Setup::read(request, columns, context)?;
    let hashes = start_hashes(request, &input, &used)?;
    let writes_counties =
        columns.has_counties() && bisg.levels().contains(&Level::County) && !has_county_codes(&input)?;
    let layout = Layout::new(&request.prefix, classes.names(), &bisg, writes_counties);
    refuse_existing_names(&layout, &input)?;

    note_columns(request, &input, &columns, context);
    used.iter().for_each(|table| context.note(table.description.clone()));
    let population = population::describe(request, &used);
    let voter_columns = population::voter_columns(&input)?;
    context.note(population::note(request, &population));
    let has_rows = !ColumnBatches::new(&input, &columns.all()).next_rows(1)?.is_empty();
    if !has_rows && output.is_some() {
        let problem = "it has a header but no rows; check how it was made";
        return Err(apportion_io::Error::file(input.name(0), problem).into());
    }

    let lookup = Lookup { columns: &columns, bisg: &bisg, margins: margins.as_ref(), writes_counties };
    let all = AllPeople::collect(request, &input, lookup, margin.as_deref(), classes.names(), None, context)?;
    let rows = all.rows(&bisg);
    let mut provenance = match hashes {
        Some(hashes) => Some(record(request, hashes, &used, &classes, &columns, context)?),
        None => None,
    };
    if let (Some(provenance), Some(output)) = (&mut provenance, &mut output) {
        provenance.rows = rows.map(|rows| rows as u64);
        output.metadata = provenance.metadata()?;
    }
    let mut scorer = Scorer::new(lookup, &all, &input);
    let (mut paths, mut scores) = (Vec::new(), Vec::new());
    match &output {
        None => scores = scorer.score_all(&layout, request.source.batch_rows)?,
        Some(output) => {
            let mut values = |first: usize, rows: usize| scorer.next_columns(&layout, first, rows);
            paths = write_with_plain_columns(&input, output, &layout.empty_columns(), rows, &mut values)?;
        }
    }
    if let Some(provenance) = &mut provenance {
        provenance.rows = Some(scorer.tally.people);
    }
    request.provenance.write(provenance.as_ref())?;
    let summary = PredictSummary {
        request,
        columns: &columns,
        classes: &classes,
        bisg: &bisg,
        used: &used,
        population,
        voter_remark: population::voter_remark(request, &voter_columns).map(|remark| context.render(&remark)),
        unused: columns.unused.iter().map(|column| column.contract(context)).collect(),
        margin,
        all: &all,
        tally: &scorer.tally,
    };
    Ok(Response { provenance, paths, scores, ..summary.response() })
}

/// Returns the output after checking that it can be written.
fn checked_output(request: &Request, input: &Input) -> Result<Output> {
    let Some(path) = request.output.clone() else {
        return Err(Error::settings(Message::from(Setting::Output) + " is required: name a file for the scores"));
    };
    refuse_unsafe_formats(request.safe_csv, &path)?;
    refuse_overwriting_outputs(&path, input, &request.side_inputs())?;
    let output = Output { path, force: request.force, safe_csv: request.safe_csv, ..Output::default() };
    output.check(Some(input))?;
    refuse_nested_columns(input, &output)?;
    Ok(output)
}

/// Sends notes on the model, the columns that are read, and those that are not used.
fn note_columns(request: &Request, input: &Input, columns: &PeopleColumns, context: &Context) {
    let model = request.describe_model();
    context.note(format!("{}: {model}; {}", input.name(0).display(), columns.describe()));
    columns.unused.iter().for_each(|column| context.note(column.note()));
}

/// Refuses new columns whose names exist in the input.
fn refuse_existing_names(layout: &Layout, input: &Input) -> Result<()> {
    for file in 0..input.names().len() {
        let names = input.columns(file)?;
        if let Some(existing) = layout.names().find(|name| names.iter().any(|own| own == name)) {
            let path = input.name(file).display();
            let problem = format!("{path}: it already has a column {existing:?}; remove it, or use another prefix: ");
            return Err(Error::data(Message::from(problem) + Setting::Prefix.with("bisg_")));
        }
    }
    Ok(())
}

/// Returns whether an input has a column with the name of the county codes.
fn has_county_codes(input: &Input) -> Result<bool> {
    for file in 0..input.names().len() {
        if input.columns(file)?.iter().any(|name| same_name(name, COUNTY)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Starts computing the SHA-256 of all files, if provenance is recorded.
fn start_hashes(request: &Request, input: &Input, used: &[UsedTable]) -> Result<Option<InputHashes>> {
    let margins = [&request.margin, &request.surname_margin, &request.place_margin];
    let is_margin = |name: &String| margins.into_iter().any(|own| own.as_ref() == Some(name));
    let mut files = Vec::new();
    let is_file = |table: &&UsedTable| table.built_in().is_none() && !request.tables.contains_key(&table.name);
    for table in used.iter().filter(is_file) {
        let what = if is_margin(&table.name) { "the margin" } else { "the table" };
        files.push(ExtraFile { path: (&table.name).into(), what, rows: Some(table.rows) });
    }
    if let Some(path) = request.margin.as_ref().filter(|_| request.margin_table.is_none()) {
        files.push(ExtraFile { path: path.into(), what: "the margin", rows: None });
    }
    let output = request.output.as_deref().unwrap_or("-");
    request.provenance.check(&[input], &files, Path::new(output), request.force)?;
    let is_folder = output.ends_with('/') || Path::new(output).is_dir();
    let holds_it =
        holds_metadata(output) || is_folder && input.names().any(|name| holds_metadata(&name.to_string_lossy()));
    let is_wanted = !request.source.is_in_memory() && request.provenance.is_wanted(holds_it);
    Ok(is_wanted.then(|| InputHashes::start(input, "people", files)))
}

/// Records the provenance of the scores.
fn record(
    request: &Request,
    hashes: InputHashes,
    used: &[UsedTable],
    classes: &Classes,
    columns: &PeopleColumns,
    context: &Context,
) -> Result<Provenance> {
    let options = Recorded {
        model: Some(request.model().name().into()),
        prefix: Some(request.prefix.clone()),
        within: request.within.clone(),
        classes: classes.names().to_vec(),
        columns: columns.all(),
        seed: (request.model() == Model::Fbisg).then(|| request.gibbs().seed),
        ..Recorded::default()
    };
    let mut provenance = Provenance::new("predict", context, options, hashes.finish(None)?);
    let built_in = used.iter().filter_map(UsedTable::built_in);
    provenance.tables = built_in.map(|table| format!("{}: {}", table.name(), table.title())).collect();
    Ok(provenance)
}
