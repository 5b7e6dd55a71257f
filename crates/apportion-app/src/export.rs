//! The job `export`: a decision as SQL, to label rows inside a database.

use std::path::{Path, PathBuf};

use apportion::Decision;
use apportion::decision::{FitInfo, Fitted};
use apportion::sql::{self, PriceTable, SqlOptions};
use apportion::text::{Message, Setting};
use apportion_io::{is_same_file, quoted, refuse_overwrite, write_atomically};
use serde::{Deserialize, Serialize};

use crate::{Context, Error, Result, decision_file, text};

/// The decision to export, and the SQL dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The file with the decision; for a decision in memory, its name in messages.
    pub decision: PathBuf,
    /// The decision as JSON, instead of the file.
    #[serde(skip)]
    pub decision_json: Option<String>,
    /// The SQL dialect.
    pub sql: Dialect,
    /// The score columns, one for each class, in class order; if empty, the columns of the fit.
    pub scores: Vec<String>,
    /// The columns that define the groups; if empty, the columns of the fit.
    pub by: Vec<String>,
    /// Whether the scores are percentages.
    pub percent: bool,
    /// Whether the score columns are in single precision.
    pub single: bool,
    /// The name of the label column.
    pub label_name: Option<String>,
    /// The table for a complete SELECT statement: the text after FROM.
    pub table: Option<String>,
    /// The column of IDs, which determine the labels of tied rows.
    pub id: Option<String>,
    /// A CSV file for the prices of the groups; the statement then joins the table with the name of the file.
    pub prices: Option<PathBuf>,
    /// The output file; if not set or `-`, the SQL is only returned.
    pub output: Option<PathBuf>,
    /// Whether to replace an existing file.
    pub force: bool,
}

/// A SQL dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// DuckDB.
    #[default]
    DuckDb,
    /// PostgreSQL.
    PostgreSql,
    /// SQLite.
    Sqlite,
    /// BigQuery.
    BigQuery,
    /// Snowflake. Column names must be written as Snowflake shows them, usually in upper case.
    Snowflake,
    /// Spark SQL and Databricks.
    Spark,
}

impl Dialect {
    /// Returns the name, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Dialect::DuckDb => "duckdb",
            Dialect::PostgreSql => "postgresql",
            Dialect::Sqlite => "sqlite",
            Dialect::BigQuery => "bigquery",
            Dialect::Snowflake => "snowflake",
            Dialect::Spark => "spark",
        }
    }
}

impl From<Dialect> for sql::Dialect {
    fn from(dialect: Dialect) -> sql::Dialect {
        match dialect {
            Dialect::DuckDb => sql::Dialect::DuckDb,
            Dialect::PostgreSql => sql::Dialect::PostgreSql,
            Dialect::Sqlite => sql::Dialect::Sqlite,
            Dialect::BigQuery => sql::Dialect::BigQuery,
            Dialect::Snowflake => sql::Dialect::Snowflake,
            Dialect::Spark => sql::Dialect::Spark,
        }
    }
}

/// A decision as SQL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The SQL.
    pub sql: String,
    /// The file that was written; null if no file was written.
    pub written: Option<PathBuf>,
    /// The file with the prices of the groups; null if none was requested.
    pub prices: Option<PathBuf>,
}

/// Exports a decision as SQL.
///
/// # Errors
/// If the decision cannot be read or expressed as SQL, or the file cannot be written.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    let output = request.output.as_deref().filter(|path| *path != Path::new("-"));
    for path in output.iter().chain(&request.prices.as_deref()) {
        request.check_output(path)?;
    }
    let decision = decision_file::read(&request.decision, request.decision_json.as_deref())?;
    let prices = request.price_table(&decision)?;
    let sql = decision.to_sql(&request.sql_options(&decision)?)?;
    if let Some(info) = decision.fit_info().filter(|info| info.tied > 0 && request.id.is_none()) {
        let (tied, people) = (text::count(info.tied), text::count(info.people));
        let were = if info.tied == 1 { "was" } else { "were" };
        let ties = format!(
            "{tied} of {people} rows {were} tied in the fit; unlike `apply`, SQL gives tied rows the first of their classes. To \
             divide them among their classes, name a column of IDs with "
        );
        context.note(Message::from(ties) + Setting::Id);
    }
    if let (Some(path), Some(prices)) = (&request.prices, &prices) {
        write_atomically(path, csv(prices).as_bytes())?;
    }
    if let Some(path) = output {
        write_atomically(path, sql.as_bytes())?;
    }
    Ok(Response { sql, written: output.map(Path::to_owned), prices: request.prices.clone() })
}

/// Returns a table of prices as CSV. Numbers are read back as they were.
fn csv(prices: &PriceTable) -> String {
    let row = |(group, numbers): &(String, Vec<f64>)| {
        let group = format!("\"{}\"", group.replace('"', "\"\""));
        std::iter::once(group).chain(numbers.iter().map(f64::to_string)).collect::<Vec<_>>().join(",")
    };
    let lines = std::iter::once(prices.columns.join(",")).chain(prices.rows.iter().map(row));
    lines.map(|line| line + "\n").collect()
}

impl Request {
    /// Refuses a file that must not be replaced.
    fn check_output(&self, path: &Path) -> Result<()> {
        if self.decision_json.is_none() && is_same_file(path, &self.decision) {
            let problem = "this is an input, and inputs are never overwritten; choose another output";
            return Err(apportion_io::Error::file(path, problem).into());
        }
        Ok(refuse_overwrite(path, None, self.force)?)
    }

    /// Returns the prices of the groups, if a file for them is requested.
    fn price_table(&self, decision: &Decision) -> Result<Option<PriceTable>> {
        let Some(path) = &self.prices else { return Ok(None) };
        let refuse = |problem: &str| Err(Error::Data(Message::from(Setting::Prices) + problem));
        if self.output.as_deref().is_some_and(|output| is_same_file(path, output) || path == output) {
            return refuse(": it is also the file for the SQL; choose another file");
        }
        if self.table.is_none() {
            return Err(Error::Data(
                Message::from(Setting::Prices)
                    + ": an expression cannot join a table of prices; name the table with "
                    + Setting::Table,
            ));
        }
        match decision.price_table() {
            Some(prices) => Ok(Some(prices)),
            None => {
                refuse(": the decision was fitted without groups, so its prices are in the statement; leave it out")
            }
        }
    }

    fn sql_options(&self, decision: &Decision) -> Result<SqlOptions> {
        let classes = decision.classes();
        if !self.scores.is_empty() && self.scores.len() != classes.len() {
            let (found, needed) = (text::counted(self.scores.len() as u64, "column", "columns"), classes.len());
            let problem =
                format!(": {found} for {needed} classes; name one column per class, in this order: {classes}");
            return Err(Error::Data(Message::from(Setting::Scores) + problem));
        }
        let info = decision.fit_info().cloned().unwrap_or_default();
        let groups = self.groups(decision, &info)?;
        let columns = if !self.scores.is_empty() {
            self.scores.clone()
        } else if !info.scores.is_empty() {
            info.scores
        } else {
            classes.names().iter().map(|class| format!("p_{class}")).collect()
        };
        Ok(SqlOptions {
            groups,
            percent: self.percent,
            single: self.single,
            label: self.label_name.clone(),
            table: self.table.clone(),
            id: self.id.clone(),
            prices: self.prices.as_ref().and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned())),
            ..SqlOptions::new(self.sql.into(), columns)
        })
    }

    /// Returns the group columns: those of the decision, unless the request gives others.
    fn groups(&self, decision: &Decision, info: &FitInfo) -> Result<Vec<String>> {
        let by = Message::from(Setting::By);
        let Some(group) = first_group(decision) else {
            if self.by.is_empty() {
                return Ok(Vec::new());
            }
            return Err(Error::Data(by + ": the decision was fitted without groups; leave it out"));
        };
        let (given, fitted) = (self.by.len(), info.groups.len());
        if given == 0 && fitted == 0 {
            let problem = format!("the decision was fitted by group (such as {}); ", quoted(group));
            return Err(Error::Data(Message::from(problem) + "name the group columns with " + Setting::By));
        }
        if given == 0 {
            return Ok(info.groups.clone());
        }
        if fitted > 0 && given != fitted {
            let columns = info.groups.join(", ");
            let problem = format!(
                ": {}, but the decision was fitted by {fitted}: {columns}; name as many",
                text::counted(given as u64, "column", "columns")
            );
            return Err(Error::Data(by + problem));
        }
        Ok(self.by.clone())
    }
}

/// Returns the first group of a decision that was fitted by group.
fn first_group(decision: &Decision) -> Option<&str> {
    match decision.fitted() {
        Fitted::Prices(groups) => groups.first()?.group.as_deref(),
        Fitted::Argmax | Fitted::Threshold { .. } | Fitted::Thompson | Fitted::TopK { .. } | Fitted::Learned(_) => None,
    }
}
