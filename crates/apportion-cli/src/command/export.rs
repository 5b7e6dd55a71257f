//! `apportion export`: a decision as SQL, to label rows where they are.

use std::path::PathBuf;

use anyhow::{Result, bail};
use apportion::Decision;
use apportion::decision::{FitInfo, Fitted};
use apportion::sql::{Dialect, SqlOptions};
use apportion_io::{quoted, refuse_overwrite, write_atomically};
use clap::{Args, ValueEnum};

use super::decision::read;
use crate::host::Host;
use crate::output::written;
use crate::text;
use apportion::text::Setting;
use apportion_app::protect::{SideInput, refuse_overwriting};

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

pub(crate) fn run(args: &ExportArgs) -> Result<()> {
    let output = args.output.as_ref().filter(|path| path.as_os_str() != "-");
    if let Some(path) = output {
        refuse_overwriting(path, None, &[SideInput::new(Setting::Decision, &args.decision)])?;
        refuse_overwrite(path, None, args.force)?;
    }
    let decision = read(&args.decision, args.host.as_ref())?;
    let sql = decision.to_sql(&args.options(&decision)?)?;
    if let Some(origin) = decision.fit_info().filter(|origin| origin.tied > 0 && !args.quiet) {
        let (tied, people) = (text::count(origin.tied), text::count(origin.people));
        let words = format!(
            "{tied} of {people} rows were tied; SQL gives such rows the first of their classes, not as apply does"
        );
        match &args.host {
            Some(host) => host.results().said.push(words),
            None => text::say(words),
        }
    }
    let Some(path) = output else {
        match &args.host {
            Some(host) => host.results().printed.push(sql.trim_end().to_owned()),
            None => text::print(sql.trim_end())?,
        }
        return Ok(());
    };
    write_atomically(path, sql.as_bytes())?;
    if !args.quiet {
        text::say(written(std::slice::from_ref(path)));
    }
    Ok(())
}

impl ExportArgs {
    fn options(&self, decision: &Decision) -> Result<SqlOptions> {
        let classes = decision.classes();
        if !self.scores.is_empty() && self.scores.len() != classes.len() {
            let (found, needed) = (self.scores.len(), classes.len());
            bail!("--scores: {found} columns for {needed} classes; name one for each, in this order: {classes}");
        }
        let origin = decision.fit_info().cloned().unwrap_or_default();
        let groups = self.groups(decision, &origin)?;
        let columns = if !self.scores.is_empty() {
            self.scores.clone()
        } else if !origin.scores.is_empty() {
            origin.scores
        } else {
            classes.names().iter().map(|class| format!("p_{class}")).collect()
        };
        Ok(SqlOptions {
            groups,
            percent: self.percent,
            single: self.single,
            label: self.name.clone(),
            table: self.table.clone(),
            ..SqlOptions::new(self.sql.into(), columns)
        })
    }
}

impl ExportArgs {
    /// The columns of the groups: those that the decision was fitted by, unless others are named for them.
    fn groups(&self, decision: &Decision, origin: &FitInfo) -> Result<Vec<String>> {
        let Some(group) = first_group(decision) else {
            return if self.by.is_empty() {
                Ok(Vec::new())
            } else {
                bail!("--by: the decision was fitted without groups")
            };
        };
        match (self.by.len(), origin.groups.len()) {
            (0, 0) => {
                bail!("the decision was fitted by group, of which {} is one; name its columns with --by", quoted(group))
            }
            (0, _) => Ok(origin.groups.clone()),
            (own, fitted) if fitted > 0 && own != fitted => {
                bail!("--by: {own} columns, and the decision was fitted by {fitted}: {}", origin.groups.join(", "))
            }
            _ => Ok(self.by.clone()),
        }
    }
}

fn first_group(decision: &Decision) -> Option<&str> {
    match decision.fitted() {
        Fitted::Prices(groups) => groups.first()?.group.as_deref(),
        _ => None,
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
