//! `apportion tables`: the tables that scores are made from, inside the program and in files.

use std::sync::Arc;

use anyhow::{Result, bail};
use apportion::model::{Level, Numbers};
use apportion_census::{CLASSES, Inside};
use apportion_table::{KeyedOptions, KeyedTable, Output, Subject, TableKeys, did_you_mean, write_batches};
use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::predict::sources::{inside, table_told};
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
        /// What it is a table of.
        #[arg(long, value_enum, default_value_t = Of::Places)]
        of: Of,
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

fn named(name: &str) -> Result<Inside> {
    Inside::named(name).ok_or_else(|| {
        let near = did_you_mean(name, Inside::ALL.map(Inside::name));
        usage(format!(
            "there is no table {name:?} inside the program{near}; they are {}",
            Inside::ALL.map(Inside::name).join(", ")
        ))
    })
}

fn list() -> Result<()> {
    let rows = Inside::ALL
        .map(|table| vec![table.name().to_owned(), text::count(table.load().rows() as u64), table.title().to_owned()]);
    let width = rows.iter().map(|row| row[0].len()).max().unwrap_or(0);
    let lines = rows.map(|row| format!("{:<width$}  {:>9}  {}", row[0], row[1], row[2]));
    text::print(lines.join("\n"))
}

fn show(table: Inside) -> Result<()> {
    let (told, keyed) = (table_told(&inside(table)), table.load());
    let keys = keyed.keys().take(3).map(|key| key.replace('\t', " ")).collect::<Vec<_>>().join(", ");
    text::print(format!(
        "{}\n{told}\nclasses: {}\nkeys: {keys}, …\n\n{}",
        table.title(),
        CLASSES.join(", "),
        table.provenance()
    ))
}

fn export(table: Inside, output: &str, force: bool) -> Result<()> {
    let output = Output { path: output.to_owned(), force, keep: None };
    output.check(None)?;
    let keyed = table.load();
    let column = |part: usize| -> ArrayRef {
        let part = |key| str::split(key, '\t').nth(part).unwrap_or_default();
        Arc::new(StringArray::from(keyed.keys().map(part).collect::<Vec<_>>()))
    };
    let mut fields = vec![Field::new(table.key(), DataType::Utf8, false)];
    let mut columns = vec![column(0)];
    if table == Inside::Counties2010 {
        fields.extend(["state", "county"].map(|name| Field::new(name, DataType::Utf8, false)));
        columns.extend([column(1), column(2)]);
    }
    if let Some(counts) = &keyed.counts {
        fields.push(Field::new("count", DataType::UInt64, false));
        columns.push(Arc::new(UInt64Array::from_iter_values(counts.iter().copied())));
    }
    let is_people = table.numbers() == apportion_census::Numbers::People;
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

fn check(file: &str, of: Of, options: &KeyedOptions<'_>, as_json: bool) -> Result<()> {
    let subject = match of {
        Of::Surnames => Subject::Surnames,
        Of::FirstNames => Subject::FirstNames,
        Of::Places => Subject::Places,
    };
    let table = KeyedTable::read(file, subject, options)?;
    let (told, rows, classes) = (table_told(&table), table.rows(), table.classes.clone());
    let (numbers, level) = (table.numbers, table.level());
    let is_names = matches!(table.keys, TableKeys::Texts(_)) && subject != Subject::Places;
    let mut remarks = Vec::new();
    let (keys, margin) = if is_names {
        let names = table.into_names()?;
        if !names.has_others() {
            remarks.push("it has no row ALL OTHER NAMES: a name that is not in it says nothing".to_owned());
        }
        if names.margin().is_none() && !names.is_spread() {
            remarks.push("it has no number of people (a column count): places as P(place | class) go with it, or as people by class of the same area".to_owned());
        }
        (names.names(), names.margin().map(<[f64]>::to_vec))
    } else if subject == Subject::Places {
        let places = table.into_places()?;
        if places.places() < rows {
            remarks.push(format!(
                "{} places have nobody; larger ones are used for them",
                text::count((rows - places.places()) as u64)
            ));
        }
        if numbers == Numbers::Spread && places.states().len() == 1 {
            remarks.push(
                "it is one state's: P(place | class) brings the surnames' prior to it; people by class would not"
                    .to_owned(),
            );
        }
        let sums = places.sums();
        let all: f64 = sums.iter().sum();
        (
            places.places(),
            (numbers != Numbers::Shares && numbers != Numbers::Spread)
                .then(|| sums.iter().map(|sum| sum / all).collect()),
        )
    } else {
        bail!("{file}: its keys are codes of places, and not names; say so with --of places");
    };
    if as_json {
        let level = (subject == Subject::Places).then(|| if level == Level::Own { "place" } else { level.name() });
        let numbers = match numbers {
            Numbers::People => "people",
            Numbers::Shares => "class given key",
            Numbers::Spread => "key given class",
        };
        return text::print(json!({
            "file": file, "rows": rows, "keys": keys, "classes": classes, "numbers": numbers, "level": level,
            "margin": margin, "remarks": remarks,
        }));
    }
    let shares = margin.map(|margin| {
        let rows =
            classes.iter().zip(margin).map(|(class, share)| vec![class.clone(), text::plain(Some(100.0 * share), 2)]);
        format!("\n{}", text::columns(&["class", "share, %"], &rows.collect::<Vec<_>>()))
    });
    let shares = shares.unwrap_or_else(|| format!("\nclasses: {}", classes.join(", ")));
    let remarks: String = remarks.iter().map(|remark| format!("\nnote: {remark}")).collect();
    text::print(format!("{told}{shares}{remarks}\nsound"))
}
