//! `apportion tables`: the tables that scores are made from, inside the program and in files.

use std::sync::Arc;

use anyhow::Result;
use apportion_bisg::census::{CLASSES, CensusTable};
use apportion_bisg::{Level, Numbers};
use apportion_io::{KeyedFile, KeyedOptions, KeyedTable, Output, Subject, did_you_mean, write_batches};
use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::predict::sources::{inside, table_told};
use crate::message;
use crate::output::written;
use crate::text;
use crate::usage::usage;

/// Options of `tables`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion tables
  apportion tables show surnames-2020
  apportion tables export counties-2010 -o counties.csv
  apportion tables check surnames.csv --of surnames")]
pub(crate) struct TablesArgs {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// Lists the tables inside the program.
    #[command(after_help = "Examples:\n  apportion tables list")]
    List,
    /// Says what a table is, and where it comes from.
    #[command(after_help = "Examples:\n  apportion tables show zctas-2010")]
    Show {
        /// The table.
        name: String,
    },
    /// Writes a table to a file.
    #[command(after_help = "Examples:\n  apportion tables export surnames-2010 -o surnames-2010.parquet")]
    Export {
        /// The table.
        name: String,
        /// The output; its ending says the format. - for CSV on standard output.
        #[arg(short, long, value_name = "OUT")]
        output: String,
        /// Replaces the output where it exists.
        #[arg(long)]
        force: bool,
    },
    /// Says what a table of your own holds, and whether it is sound.
    #[command(after_help = "Examples:\n  apportion tables check counties.csv")]
    Check {
        /// The table.
        file: String,
        /// What it is a table of, where its columns do not say so.
        #[arg(long, value_enum)]
        of: Option<Of>,
        /// Which columns hold its numbers, where there are several sets, such as 'vap_*'.
        #[arg(long, value_name = "PREFIX*")]
        numbers: Option<String>,
        /// Classes beyond those that are known by their names.
        #[arg(long, value_delimiter = ',', value_name = "NAME,NAME,…")]
        classes: Vec<String>,
        /// The column of the keys, where it is not found by its name.
        #[arg(long, value_name = "COL")]
        key: Option<String>,
        /// Prints what was found as one JSON object on standard output.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Of {
    /// Surnames.
    Surnames,
    /// First names.
    FirstNames,
    /// Places.
    Places,
}

impl Of {
    fn subject(self) -> Subject {
        match self {
            Of::Surnames => Subject::Surnames,
            Of::FirstNames => Subject::FirstNames,
            Of::Places => Subject::Places,
        }
    }
}

pub(crate) fn run(args: &TablesArgs) -> Result<()> {
    match &args.what {
        None | Some(What::List) => list(),
        Some(What::Show { name }) => show(named(name)?),
        Some(What::Export { name, output, force }) => export(named(name)?, output, *force),
        Some(What::Check { file, of, numbers, classes, key, json }) => {
            let options = KeyedOptions { classes, numbers: numbers.as_deref(), key: key.as_deref() };
            check(file, *of, &options, *json)
        }
    }
}

fn named(name: &str) -> Result<CensusTable> {
    CensusTable::named(name).ok_or_else(|| {
        let near = did_you_mean(name, CensusTable::ALL.map(CensusTable::name));
        usage(format!(
            "there is no table {name:?} inside the program{near}; they are {}",
            CensusTable::ALL.map(CensusTable::name).join(", ")
        ))
    })
}

fn list() -> Result<()> {
    let rows = CensusTable::ALL
        .map(|table| vec![table.name().to_owned(), text::count(table.load().rows() as u64), table.title().to_owned()]);
    let width = rows.iter().map(|row| row[0].len()).max().unwrap_or(0);
    let lines = rows.map(|row| format!("{:<width$}  {:>9}  {}", row[0], row[1], row[2]));
    text::print_text(lines.join("\n"))
}

fn show(table: CensusTable) -> Result<()> {
    let (told, keyed) = (table_told(&inside(table)), table.load());
    let keys = keyed.keys().take(3).map(|key| key.replace('\t', " ")).collect::<Vec<_>>().join(", ");
    text::print_text(format!(
        "{}\n{told}\nclasses: {}\nkeys: {keys}, …\n\n{}",
        table.title(),
        CLASSES.join(", "),
        table.provenance()
    ))
}

fn export(table: CensusTable, output: &str, force: bool) -> Result<()> {
    let output = Output { path: output.to_owned(), force, ..Output::default() };
    output.check(None)?;
    let keyed = table.load();
    let column = |part: usize| -> ArrayRef {
        let part = |key| str::split(key, '\t').nth(part).unwrap_or_default();
        Arc::new(StringArray::from(keyed.keys().map(part).collect::<Vec<_>>()))
    };
    let mut fields = vec![Field::new(table.key(), DataType::Utf8, false)];
    let mut columns = vec![column(0)];
    if table == CensusTable::Counties2010 {
        fields.extend(["state", "county"].map(|name| Field::new(name, DataType::Utf8, false)));
        columns.extend([column(1), column(2)]);
    }
    if let Some(counts) = &keyed.counts {
        fields.push(Field::new("count", DataType::UInt64, false));
        columns.push(Arc::new(UInt64Array::from_iter_values(counts.iter().copied())));
    }
    let is_people = table.numbers() == Numbers::People;
    let prefix = if is_people { "n_" } else { "p_" };
    for (class, name) in CLASSES.iter().enumerate() {
        let values = keyed.values.iter().skip(class).step_by(CLASSES.len());
        let (kind, array): (DataType, ArrayRef) = if is_people {
            (DataType::UInt64, Arc::new(UInt64Array::from_iter_values(values.map(|value| *value as u64))))
        } else {
            // Where nobody lives, nothing is said.
            (
                DataType::Float64,
                Arc::new(values.map(|value| value.is_finite().then_some(*value)).collect::<Float64Array>()),
            )
        };
        fields.push(Field::new(format!("{prefix}{name}"), kind, !is_people));
        columns.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), columns)?;
    let paths = write_batches(&output, &schema, std::iter::once(batch))?;
    text::say(written(&paths));
    Ok(())
}

fn check(file: &str, of: Option<Of>, options: &KeyedOptions<'_>, as_json: bool) -> Result<()> {
    let read = KeyedFile::read(file, of.map(Of::subject), options)?;
    let (told, people) = (table_told(&read.table), People::of(&read));
    let (rows, classes, numbers) = (read.table.rows(), read.table.classes.clone(), read.table.numbers);
    let (subject, level, unused) = (read.subject, read.table.level(), read.unused.clone());
    let mut remarks: Vec<String> = read.separator.iter().map(message::render).collect();
    remarks.extend(unused_told(&unused));
    let (keys, margin) = match subject {
        Subject::Places => check_places(read.table, &mut remarks)?,
        _ => check_names(read.table, &mut remarks)?,
    };
    if as_json {
        let level = (subject == Subject::Places).then(|| if level == Level::Own { "place" } else { level.name() });
        let of = match subject {
            Subject::Surnames => "surnames",
            Subject::FirstNames => "first names",
            Subject::Places => "places",
        };
        let numbers = match numbers {
            Numbers::People => "people",
            Numbers::Shares => "class given key",
            Numbers::KeyGivenClass => "key given class",
        };
        return text::print(json!({
            "file": file, "of": of, "rows": rows, "keys": keys, "classes": classes, "numbers": numbers,
            "level": level, "margin": margin, "people": people.as_ref().map(|people| people.all),
            "largest": people.map(|people| json!({ "key": people.largest, "people": people.most })),
            "unused": unused, "remarks": remarks,
        }));
    }
    let shares = margin.map(|margin| {
        let rows =
            classes.iter().zip(margin).map(|(class, share)| vec![class.clone(), text::plain(Some(100.0 * share), 2)]);
        format!("\n{}", text::columns(&["class", "share, %"], &rows.collect::<Vec<_>>()))
    });
    let shares = shares.unwrap_or_else(|| format!("\nclasses: {}", classes.join(", ")));
    let people = people.map_or_else(String::new, |people| format!("\n{}", people.told(subject)));
    let remarks: String = remarks.iter().map(|remark| format!("\nnote: {remark}")).collect();
    text::print_text(format!("{told}{shares}{people}{remarks}\nsound"))
}

/// How many names there are, and the shares of the classes where they are known.
fn check_names(table: KeyedTable, remarks: &mut Vec<String>) -> Result<(usize, Option<Vec<f64>>)> {
    let names = table.into_names()?;
    if !names.has_others() {
        remarks.push("it has no row ALL OTHER NAMES: a name that is not in it says nothing".to_owned());
    }
    if names.margin().is_none() && !names.is_key_given_class() {
        remarks.push("it has no number of people (a column count): places as P(place | class) go with it, or as people by class of the same area".to_owned());
    }
    Ok((names.names(), names.margin().map(<[f64]>::to_vec)))
}

/// The same of places.
fn check_places(table: KeyedTable, remarks: &mut Vec<String>) -> Result<(usize, Option<Vec<f64>>)> {
    let (rows, numbers) = (table.rows(), table.numbers);
    let places = table.into_places()?;
    if places.places() < rows {
        remarks.push(format!(
            "{} places have nobody; larger ones are used for them",
            text::count((rows - places.places()) as u64)
        ));
    }
    if numbers == Numbers::KeyGivenClass && places.states().len() == 1 {
        remarks.push(
            "it is one state's: P(place | class) brings the surnames' prior to it; people by class would not"
                .to_owned(),
        );
    }
    let sums = places.sums();
    let all: f64 = sums.iter().sum();
    let margin = (numbers == Numbers::People).then(|| sums.iter().map(|sum| sum / all).collect());
    Ok((places.places(), margin))
}

/// How many people a table has, and which key has the most: what was read wrongly catches the eye.
struct People {
    all: f64,
    largest: String,
    most: f64,
}

impl People {
    fn of(file: &KeyedFile) -> Option<People> {
        let people = file.table.people()?;
        let known = || people.iter().copied().enumerate().filter(|(_, people)| people.is_finite());
        let (row, most) = known().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        Some(People { all: known().map(|(_, people)| people).sum(), largest: file.table.key_of(row), most })
    }

    fn told(&self, subject: Subject) -> String {
        let what = if subject == Subject::Places { "largest place" } else { "largest row" };
        let [all, most] = [self.all, self.most].map(|people| text::count(people.round() as u64));
        format!("{all} people; the {what}, {}, has {most}", self.largest)
    }
}

/// One sentence on numbers that are for nothing: a class may be among them that goes by another name.
fn unused_told(unused: &[String]) -> Option<String> {
    const SHOWN: usize = 12;
    let shown = unused.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = unused.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let told =
        format!("columns of numbers that are not used: {shown}{more}; if one is a class, name it with --classes");
    (!unused.is_empty()).then_some(told)
}
