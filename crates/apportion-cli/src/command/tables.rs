//! `apportion tables`: its options as a request, and the response as text or JSON.

use anyhow::Result;
use apportion_app::tables::{
    self, CheckRequest, CheckedTable, ExportRequest, ListedTable, Request, Response, ShownTable, TableOf,
};
use clap::{Args, Subcommand, ValueEnum};

use crate::job::Speaker;
use crate::message::render;
use crate::output::written;
use crate::text;

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

impl From<Of> for TableOf {
    fn from(of: Of) -> TableOf {
        match of {
            Of::Surnames => TableOf::Surnames,
            Of::FirstNames => TableOf::FirstNames,
            Of::Places => TableOf::Places,
        }
    }
}

pub(crate) fn run(args: &TablesArgs, line: &[String]) -> Result<()> {
    let context = Speaker { quiet: false, host: None }.context(line);
    match tables::run(&args.request(), &context)? {
        Response::List(tables) => text::print_text(list(&tables)),
        Response::Show(table) => text::print_text(show(&table)),
        Response::Export(exported) => {
            text::say(written(&exported.paths));
            Ok(())
        }
        Response::Check(checked) if args.wants_json() => text::print(serde_json::to_value(&checked)?),
        Response::Check(checked) => text::print_text(check(&checked)),
    }
}

impl TablesArgs {
    /// Returns the options as settings of the job.
    fn request(&self) -> Request {
        match &self.what {
            None | Some(What::List) => Request::List,
            Some(What::Show { name }) => Request::Show { name: name.clone() },
            Some(What::Export { name, output, force }) => {
                Request::Export(ExportRequest { name: name.clone(), output: output.clone(), force: *force })
            }
            Some(What::Check { file, of, numbers, classes, key, json: _ }) => Request::Check(CheckRequest {
                file: file.clone(),
                of: of.map(TableOf::from),
                numbers: numbers.clone(),
                classes: classes.clone(),
                key: key.clone(),
            }),
        }
    }

    fn wants_json(&self) -> bool {
        matches!(self.what, Some(What::Check { json: true, .. }))
    }
}

fn list(tables: &[ListedTable]) -> String {
    let width = tables.iter().map(|table| table.name.len()).max().unwrap_or(0);
    let line = |table: &ListedTable| {
        let rows = text::count(table.rows);
        format!("{:<width$}  {rows:>9}  {}", table.name, table.title)
    };
    tables.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn show(table: &ShownTable) -> String {
    format!(
        "{}\n{}\nclasses: {}\nkeys: {}, …\n\n{}",
        table.title,
        table.description,
        table.classes.join(", "),
        table.keys.join(", "),
        table.provenance
    )
}

fn check(table: &CheckedTable) -> String {
    let mut lines = vec![table.description.clone()];
    lines.push(match &table.margin {
        Some(margin) => {
            let row = |(class, share): (&String, &f64)| vec![class.clone(), text::plain(Some(100.0 * share), 2)];
            let rows: Vec<Vec<String>> = table.classes.iter().zip(margin).map(row).collect();
            text::columns(&["class", "share, %"], &rows)
        }
        None => format!("classes: {}", table.classes.join(", ")),
    });
    if let (Some(all), Some(largest)) = (table.people, &table.largest) {
        let what = if table.level.is_some() { "largest place" } else { "largest row" };
        let [all, most] = [all, largest.people].map(|people| text::count(people.round() as u64));
        lines.push(format!("{all} people; the {what}, {}, has {most}", largest.key));
    }
    lines.extend(table.remarks.iter().map(|remark| format!("note: {}", render(remark))));
    lines.push("sound".into());
    lines.join("\n")
}
