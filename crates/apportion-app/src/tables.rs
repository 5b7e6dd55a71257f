//! Lists, describes, exports, imports and checks the tables used to compute scores: built-in Census tables, and files.

mod census_layouts;
mod import;

use std::path::PathBuf;

use apportion::text::{Message, Setting};
use apportion_bisg::census::CensusTable;
use apportion_bisg::{Level, Numbers};
use apportion_io::{
    KeyedFile, KeyedOptions, KeyedTable, MemoryTable, Output, PlainColumn, PlainValues, Subject, did_you_mean,
    write_plain_columns,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::import::{ImportRequest, ImportedTable, OtherRace, import};
use crate::predict::sources::{built_in, describe};
use crate::settings::{self, Job};
use crate::text::count;
use crate::{Context, Error, Result};

/// The operation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "action")]
pub enum Request {
    /// Lists the built-in tables.
    #[default]
    List,
    /// Describes a built-in table.
    Show {
        /// The table.
        table: String,
    },
    /// Writes a built-in table to a file.
    Export(ExportRequest),
    /// Converts files of the Census Bureau to a table.
    Import(ImportRequest),
    /// Checks a file.
    Check(CheckRequest),
}

impl Request {
    /// Returns the request of a job about tables from values by setting id.
    ///
    /// # Errors
    /// If a value is out of range, or the job is not about tables.
    pub fn from_values(job: Job, values: Map<String, Value>) -> Result<Request> {
        match job {
            Job::TablesList => Ok(Request::List),
            Job::TablesShow => {
                let ExportRequest { table, .. } = settings::from_values(job, values)?;
                Ok(Request::Show { table })
            }
            Job::TablesExport => Ok(Request::Export(settings::from_values(job, values)?)),
            Job::TablesImport => Ok(Request::Import(settings::from_values(job, values)?)),
            Job::TablesCheck => Ok(Request::Check(settings::from_values(job, values)?)),
            other => Err(Error::settings(format!("unknown tables job {other:?}"))),
        }
    }
}

/// The settings of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportRequest {
    /// The table.
    pub table: String,
    /// The output file, or `-` for CSV on standard output. If empty, the table is returned.
    pub output: String,
    /// Whether to replace an existing file.
    pub force: bool,
}

/// The settings of a check.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckRequest {
    /// The file; for a table in memory, its name.
    pub table: String,
    /// A table in memory, instead of the file.
    #[serde(skip)]
    pub in_memory: Option<MemoryTable>,
    /// The kind of its keys; recognized by its columns if not set.
    pub of: Option<TableOf>,
    /// The prefix of its number columns, such as `vap_*`, if it has several sets.
    pub numbers: Option<String>,
    /// Classes that are not recognized by name.
    pub classes: Vec<String>,
    /// The key column; recognized by name if not set.
    pub key: Option<String>,
}

/// The kind of keys in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableOf {
    /// Surnames.
    Surnames,
    /// First names.
    FirstNames,
    /// Places.
    Places,
}

impl TableOf {
    fn subject(self) -> Subject {
        match self {
            TableOf::Surnames => Subject::Surnames,
            TableOf::FirstNames => Subject::FirstNames,
            TableOf::Places => Subject::Places,
        }
    }
}

/// The result of listing, describing, exporting, importing or checking tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Response {
    /// The built-in tables.
    List(Vec<ListedTable>),
    /// A built-in table.
    Show(ShownTable),
    /// An export.
    Export(ExportedTable),
    /// An import.
    Import(ImportedTable),
    /// A checked file.
    Check(CheckedTable),
}

/// A built-in table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ListedTable {
    /// The name.
    pub name: &'static str,
    /// The number of rows.
    pub rows: u64,
    /// Its contents.
    pub title: &'static str,
}

/// A built-in table in detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ShownTable {
    /// The name.
    pub name: &'static str,
    /// Its contents.
    pub title: &'static str,
    /// Its keys and numbers, in one line.
    pub description: String,
    /// The classes.
    pub classes: Vec<ClassDefinition>,
    /// The first keys.
    pub keys: Vec<String>,
    /// Its provenance, in Markdown.
    pub provenance: &'static str,
}

/// A class of a built-in table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ClassDefinition {
    /// The name.
    pub class: &'static str,
    /// The people who are in the class.
    pub definition: &'static str,
}

/// An export.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ExportedTable {
    /// The files that were written; empty for standard output, and for a table in memory.
    pub paths: Vec<PathBuf>,
    /// The table, if no output is set.
    #[serde(skip)]
    pub columns: Vec<PlainColumn>,
}

/// The contents of a file of names or places.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct CheckedTable {
    /// The file.
    pub file: String,
    /// The kind of its keys: `surnames`, `first names` or `places`.
    pub of: &'static str,
    /// The number of rows.
    pub rows: usize,
    /// The number of usable keys.
    pub keys: usize,
    /// The classes.
    pub classes: Vec<String>,
    /// The meaning of its numbers: `people`, `class given key` or `key given class`.
    pub numbers: &'static str,
    /// The geographic level of places; null for names.
    pub level: Option<&'static str>,
    /// The shares of the classes; null if they are unknown.
    pub margin: Option<Vec<f64>>,
    /// The number of people; null if it is unknown.
    pub people: Option<f64>,
    /// The key with the most people; null if it is unknown.
    pub largest: Option<LargestKey>,
    /// Numeric columns that are not used.
    pub unused: Vec<String>,
    /// Remarks for the user, with settings in the style of the front end.
    pub remarks: Vec<String>,
    /// The table in one line.
    #[serde(skip)]
    pub description: String,
}

/// The key with the most people, which often reveals an error in reading a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct LargestKey {
    /// The key.
    pub key: String,
    /// The number of its people.
    pub people: f64,
}

/// Lists, describes, exports, imports or checks tables.
///
/// # Errors
/// If the table is unknown, or a file cannot be read or written.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    context.check_cancelled()?;
    match request {
        Request::List => Ok(Response::List(list())),
        Request::Show { table } => show(table).map(Response::Show),
        Request::Export(request) => export(request).map(Response::Export),
        Request::Import(request) => import(request, context).map(Response::Import),
        Request::Check(request) => check(request, context).map(Response::Check),
    }
}

/// Lists the built-in tables.
pub fn list() -> Vec<ListedTable> {
    let listed =
        |table: CensusTable| ListedTable { name: table.name(), rows: table.rows() as u64, title: table.title() };
    CensusTable::ALL.map(listed).to_vec()
}

/// Describes a built-in table.
///
/// # Errors
/// If the table is unknown.
pub fn show(name: &str) -> Result<ShownTable> {
    let table = named(name)?;
    Ok(ShownTable {
        name: table.name(),
        title: table.title(),
        description: describe(&built_in(table)),
        classes: table.definitions().map(|(class, definition)| ClassDefinition { class, definition }).to_vec(),
        keys: table.load().keys().take(3).map(|key| key.replace('\t', " ")).collect(),
        provenance: table.provenance(),
    })
}

/// Returns a built-in table by its name.
fn named(name: &str) -> Result<CensusTable> {
    let names = CensusTable::ALL.map(CensusTable::name);
    CensusTable::named(name).ok_or_else(|| {
        let hint = did_you_mean(name, names);
        Error::settings(format!(
            "there is no built-in table {name:?}{hint}; the built-in tables are {}",
            names.join(", ")
        ))
    })
}

/// Writes a built-in table to a file.
///
/// # Errors
/// If the table is unknown, or the file cannot be written.
pub fn export(request: &ExportRequest) -> Result<ExportedTable> {
    let table = named(&request.table)?;
    if request.output.is_empty() {
        return Ok(ExportedTable { columns: columns(table), ..ExportedTable::default() });
    }
    let output = Output { path: request.output.clone(), force: request.force, ..Output::default() };
    output.check(None)?;
    Ok(ExportedTable { paths: write_plain_columns(&output, columns(table))?, ..ExportedTable::default() })
}

/// Returns the columns of a built-in table.
fn columns(table: CensusTable) -> Vec<PlainColumn> {
    let rows = table.load();
    let column = |name: &str, values: PlainValues| PlainColumn { name: name.to_owned(), values };
    let key_part = |part: usize| {
        let part = |key: &str| key.split('\t').nth(part).unwrap_or_default().to_owned();
        PlainValues::Text(rows.keys().map(part).collect())
    };
    let mut columns = vec![column(table.key(), key_part(0))];
    if table.level() == Some(Level::County) {
        columns.extend([column("state", key_part(1)), column("county", key_part(2))]);
    }
    if let Some(counts) = &rows.counts {
        columns.push(column("count", PlainValues::Whole(counts.clone())));
    }
    let classes = table.classes();
    for (class, name) in classes.iter().enumerate() {
        let values = rows.values.iter().skip(class).step_by(classes.len());
        columns.push(match table.numbers() {
            Numbers::People => {
                column(&format!("n_{name}"), PlainValues::Whole(values.map(|value| *value as u64).collect()))
            }
            // A place without people has no shares.
            Numbers::Shares | Numbers::KeyGivenClass => {
                let shares = values.map(|value| value.is_finite().then_some(*value)).collect();
                column(&format!("p_{name}"), PlainValues::OptionalDouble(shares))
            }
        });
    }
    columns
}

/// Checks a file.
///
/// # Errors
/// If the file cannot be read, or is not a table of names or places.
pub fn check(request: &CheckRequest, context: &Context) -> Result<CheckedTable> {
    let options =
        KeyedOptions { classes: &request.classes, numbers: request.numbers.as_deref(), key: request.key.as_deref() };
    let (name, subject) = (&request.table, request.of.map(TableOf::subject));
    let file = match &request.in_memory {
        Some(table) => KeyedFile::from_memory(name, table, subject, &options)?,
        None => KeyedFile::read(name, subject, &options)?,
    };
    let KeyedFile { table, subject, unused, format_note } = file;
    let remarks = format_note.into_iter().chain(unused_remark(&unused));
    let remarks = remarks.map(|remark| context.render(&remark)).collect();
    let mut checked = CheckedTable {
        file: request.table.clone(),
        of: match subject {
            Subject::Surnames => "surnames",
            Subject::FirstNames => "first names",
            Subject::Places => "places",
        },
        rows: table.rows(),
        keys: 0,
        classes: table.classes.clone(),
        numbers: match table.numbers {
            Numbers::People => "people",
            Numbers::Shares => "class given key",
            Numbers::KeyGivenClass => "key given class",
        },
        level: None,
        margin: None,
        people: None,
        largest: None,
        unused,
        remarks,
        description: describe(&table),
    };
    if let Some(people) = table.people() {
        let known = || people.iter().copied().enumerate().filter(|(_, people)| people.is_finite());
        if let Some((row, most)) = known().max_by(|(_, a), (_, b)| a.total_cmp(b)) {
            checked.people = Some(known().map(|(_, people)| people).sum());
            checked.largest = Some(LargestKey { key: table.key_of(row), people: most });
        }
    }
    match subject {
        Subject::Places => check_places(table, &mut checked)?,
        Subject::Surnames | Subject::FirstNames => check_names(table, &mut checked)?,
    }
    Ok(checked)
}

/// Checks that names can be used.
fn check_names(table: KeyedTable, checked: &mut CheckedTable) -> Result<()> {
    let names = table.into_names()?;
    if !names.has_others() {
        let remark = "it has no row ALL OTHER NAMES, so names that are not in it carry no information";
        checked.remarks.push(remark.into());
    }
    if names.margin().is_none() && !names.is_key_given_class() {
        let remark = "it has no number of people (a column named count): use it with places as P(place | class), or as people by class \
                      of the same area";
        checked.remarks.push(remark.into());
    }
    checked.keys = names.names();
    checked.margin = names.margin().map(<[f64]>::to_vec);
    Ok(())
}

/// Checks that places can be used.
fn check_places(table: KeyedTable, checked: &mut CheckedTable) -> Result<()> {
    let (rows, numbers, level) = (table.rows(), table.numbers, table.level());
    let places = table.into_places()?;
    if places.places() < rows {
        let empty = count((rows - places.places()) as u64);
        checked.remarks.push(format!("{empty} places have no people; larger places are used for them"));
    }
    if numbers == Numbers::KeyGivenClass && places.states().len() == 1 {
        let remark = "it covers one state: with P(place | class), the national class shares of the surnames would apply to that state; use \
                      people by class";
        checked.remarks.push(remark.into());
    }
    checked.keys = places.places();
    checked.level = Some(level.name());
    if numbers == Numbers::People {
        let sums = places.sums();
        let all: f64 = sums.iter().sum();
        checked.margin = Some(sums.iter().map(|sum| sum / all).collect());
    }
    Ok(())
}

/// Returns a remark on unused numeric columns, because one may be a class with an unknown name.
fn unused_remark(unused: &[String]) -> Option<Message> {
    const SHOWN: usize = 12;
    if unused.is_empty() {
        return None;
    }
    let shown = unused.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match unused.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let remark = format!("number columns that are not used: {shown}{more}; if one is a class, name it with ");
    Some(Message::from(remark) + Setting::Classes)
}
