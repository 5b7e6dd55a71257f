//! `apportion export`: a decision as SQL, to label rows where they are.

use std::path::PathBuf;

use anyhow::Result;
use apportion_app::export::{self, Dialect, Request};
use apportion_app::saved_decision::SavedDecision;
use clap::{Args, ValueEnum};

use crate::host::Host;
use crate::job_context::job_context;
use crate::output::written;
use crate::text;

/// Options of `export`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion export decision.json --sql duckdb
  apportion export decision.json --sql postgresql --as race_label -o label.sql
  apportion export decision.json --sql bigquery --by county_name --table polls.scores -o statement.sql

The labels are those of `apportion apply`, but for tied rows, which have the first of their classes. What becomes of
rows that cannot be labelled, and of precision, is said in a comment above the expression.")]
pub(crate) struct ExportArgs {
    /// The decision, as `fit` wrote it.
    #[arg(value_name = "DECISION.json")]
    decision: PathBuf,
    /// Whose SQL to write.
    #[arg(long, value_enum, value_name = "DIALECT")]
    sql: DialectName,
    /// The score columns, one a class, in the order of the classes. Without this they are those that it was fitted to.
    #[arg(long, value_delimiter = ',', value_name = "COL,COL,…")]
    scores: Vec<String>,
    /// Columns whose values together are a group. Without this they are those that it was fitted by.
    #[arg(long, value_delimiter = ',', value_name = "COL[,COL]")]
    by: Vec<String>,
    /// The scores are percentages.
    #[arg(long)]
    percent: bool,
    /// The score columns are of single precision (REAL, FLOAT): thresholds are then held against them as `apply` does.
    #[arg(long)]
    single: bool,
    /// The name of the label's column; label where --table is given.
    #[arg(long = "as", value_name = "NAME")]
    name: Option<String>,
    /// A whole SELECT statement from this table: whatever may stand after FROM, as SQL has it.
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
    /// Where the SQL goes; standard output where it is not given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replaces the output where it exists.
    #[arg(long)]
    force: bool,
    /// Says nothing on standard error but errors.
    #[arg(long, short)]
    quiet: bool,
    /// Another program, in place of a file and a terminal.
    #[arg(skip)]
    pub(super) host: Option<Host>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DialectName {
    /// DuckDB.
    #[value(name = "duckdb")]
    DuckDb,
    /// PostgreSQL.
    #[value(name = "postgresql", alias = "postgres")]
    PostgreSql,
    /// SQLite.
    #[value(name = "sqlite")]
    Sqlite,
    /// BigQuery.
    #[value(name = "bigquery")]
    BigQuery,
    /// Snowflake: columns are to be named as it shows them, mostly in upper case.
    #[value(name = "snowflake")]
    Snowflake,
    /// Spark SQL and Databricks.
    #[value(name = "spark", alias = "databricks")]
    Spark,
}

pub(crate) fn run(args: &ExportArgs, line: &[String]) -> Result<()> {
    let response = export::run(&args.request(), &job_context(args.quiet, args.host.as_ref(), line))?;
    match (&response.written, &args.host) {
        (Some(path), _) if !args.quiet => text::say(written(std::slice::from_ref(path))),
        (Some(_), _) => {}
        (None, Some(host)) => host.results().printed.push(response.sql.trim_end().to_owned()),
        (None, None) => text::print(response.sql.trim_end())?,
    }
    Ok(())
}

impl ExportArgs {
    fn request(&self) -> Request {
        Request {
            decision: SavedDecision {
                path: self.decision.clone(),
                json: self.host.as_ref().and_then(|host| host.decision.clone()),
            },
            sql: self.sql.into(),
            scores: self.scores.clone(),
            by: self.by.clone(),
            percent: self.percent,
            single: self.single,
            label_name: self.name.clone(),
            table: self.table.clone(),
            output: self.output.clone(),
            force: self.force,
        }
    }
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Dialect {
        match name {
            DialectName::DuckDb => Dialect::DuckDb,
            DialectName::PostgreSql => Dialect::PostgreSql,
            DialectName::Sqlite => Dialect::Sqlite,
            DialectName::BigQuery => Dialect::BigQuery,
            DialectName::Snowflake => Dialect::Snowflake,
            DialectName::Spark => Dialect::Spark,
        }
    }
}
