//! A decision as SQL, which gives the same labels inside a database except for ties.
//!
//! The module `expression` writes the `CASE` that labels a row, `statement` the query around it with the prices of groups
//! as a table, and `dialect` what differs between databases.

mod dialect;
mod expression;
mod statement;

use self::expression::Writer;
use crate::decision::{Decision, Fitted, GroupPrices};
use crate::error::{Error, Result};
use crate::learn::Model;
use crate::scores::expect_length;
use crate::text::count;

pub use self::statement::PriceTable;

/// The SQL dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// DuckDB.
    DuckDb,
    /// PostgreSQL and compatible databases.
    PostgreSql,
    /// SQLite.
    Sqlite,
    /// BigQuery.
    BigQuery,
    /// Snowflake. The names given here are case-sensitive.
    Snowflake,
    /// Spark SQL, and Databricks.
    Spark,
}

/// The table that a decision labels by SQL.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlOptions {
    /// The SQL dialect.
    pub dialect: Dialect,
    /// The score columns, one per class, in the order of the classes.
    pub columns: Vec<String>,
    /// The columns that define the groups. Used only if the decision was fitted by group.
    pub groups: Vec<String>,
    /// Whether the scores are percentages, to be divided by 100.
    pub percent: bool,
    /// Whether the score columns are in single precision: thresholds are then compared in single precision, like
    /// [`Decision::apply`] does.
    pub single: bool,
    /// The column of IDs, which determine the labels of tied rows; without it, they get the first of their classes.
    pub id: Option<String>,
    /// The name of the label: `CASE … END AS name`.
    pub label: Option<String>,
    /// For a complete statement, the text after `FROM`, used verbatim. The label is then called `label` unless it
    /// has another name.
    pub table: Option<String>,
    /// For a complete statement by group, the name of the table of prices in the database, which contains
    /// [`Decision::price_table`]. If not set, the prices are part of the statement.
    pub prices: Option<String>,
}

impl SqlOptions {
    /// Creates options for score columns in double precision.
    pub fn new<S: Into<String>>(dialect: Dialect, columns: impl IntoIterator<Item = S>) -> SqlOptions {
        SqlOptions {
            dialect,
            columns: columns.into_iter().map(Into::into).collect(),
            groups: Vec::new(),
            percent: false,
            single: false,
            id: None,
            label: None,
            table: None,
            prices: None,
        }
    }

    /// Sets the columns that define the groups.
    pub fn with_groups<S: Into<String>>(mut self, groups: impl IntoIterator<Item = S>) -> SqlOptions {
        self.groups = groups.into_iter().map(Into::into).collect();
        self
    }
}

impl Decision {
    /// Returns the decision as a SQL expression, or with a table as a statement, with a comment that describes it.
    ///
    /// It gives the labels of [`apply`](Self::apply), except for rows with several equally good classes, or classes closer
    /// than 2^-40. With a column of IDs, such rows are divided among their classes as in the fit, by a hash of the ID. A
    /// row that `apply` would reject has the label `NULL`. Sampling rules have no such expression.
    ///
    /// ```
    /// # use apportion::sql::{Dialect, SqlOptions};
    /// # use apportion::{Classes, Decision, Match, Matrix, Reference, Rule, Scores, Settings};
    /// # let classes = Classes::new(["a", "b"])?;
    /// # let scores = Scores::new(&classes, Matrix::RowsF64(&[0.9, 0.1, 0.6, 0.4]))?;
    /// let decision = Rule::Argmax.fit(&scores, &Settings::default())?;
    /// let sql = decision.to_sql(&SqlOptions::new(Dialect::DuckDb, ["p_a", "p_b"]))?;
    /// assert!(sql.contains(r#"CASE GREATEST("p_a", "p_b")"#));
    /// # Ok::<(), apportion::Error>(())
    /// ```
    pub fn to_sql(&self, options: &SqlOptions) -> Result<String> {
        expect_length("the list of score columns", options.columns.len(), self.classes.len())?;
        let writer = Writer { options, dialect: options.dialect, classes: &self.classes, seed: self.seed };
        let (label, header) = match &self.fitted {
            Fitted::Argmax => (writer.argmax(), header(ARGMAX, ROUNDING, options, false)),
            Fitted::Threshold { at } => (writer.threshold(at), header(THRESHOLD, ROUNDING, options, false)),
            Fitted::Prices(groups) => {
                let (ties, precision) = self.about_ties(options);
                let header = header(&format!("{PRICES}{ties}"), precision, options, by_group(groups));
                if by_group(groups) && !groups.is_empty() && options.table.is_some() {
                    return Ok(header + &writer.statement_by_group(&self.price_table_of(groups), groups)?);
                }
                (writer.prices(groups)?, header)
            }
            Fitted::Learned(Model::Svm(linear) | Model::Logistic(linear)) => {
                (writer.linear(linear), header(LINEAR, ROUNDING, options, false))
            }
            Fitted::Learned(Model::Forest(_)) => {
                let problem = "a forest of a hundred trees is too large; use `apply`, or a linear learner such as svm";
                return Err(Error::Sql { problem: problem.into() });
            }
            Fitted::Thompson => return Err(by_chance("Thompson sampling")),
            Fitted::TopK { .. } => return Err(by_chance("top-k")),
        };
        Ok(header + &writer.statement(writer.guarded(label)))
    }

    /// Returns what the comment says about ties, and about precision.
    fn about_ties(&self, options: &SqlOptions) -> (String, &'static str) {
        if options.id.is_some() {
            return (TIES_BY_ID.into(), "");
        }
        let tied = match self.fit_info() {
            Some(info) => {
                let were = if info.tied == 1 { "was" } else { "were" };
                format!(": {} of {} rows {were} tied in the fit.", count(info.tied), count(info.people))
            }
            None => ".".into(),
        };
        (format!("{TIES_BY_CLASS}{tied}"), ROUNDING)
    }
}

fn by_chance(rule: &str) -> Error {
    let problem =
        format!("{rule} draws labels at random from the seed and the row keys, which SQL cannot do; use `apply`");
    Error::Sql { problem }
}

fn by_group(groups: &[GroupPrices]) -> bool {
    groups.iter().all(|group| group.group.is_some())
}

const ARGMAX: &str = "\
Labels by apportion: the most likely class.
Ties: if classes have the same score, the first of them is the label, as in apportion.";

const THRESHOLD: &str = "\
Labels by apportion: the most likely class if its score reaches the threshold of the class, else Uncoded. Thresholds are
lower by 2^-41 here, because apportion rounds scores to the nearest multiple of 2^-40.
Ties: if classes have the same score, the first of them is the label, as in apportion.";

const PRICES: &str = "\
Labels by apportion: the class with the largest score + price.
";

const TIES_BY_CLASS: &str = "\
Ties: if classes have the same score + price, the first of them is the label here. apportion breaks these ties with the
tie prices and the seed of the decision, so the counts here are exact only if no rows are tied. Name a column of IDs to
divide tied rows among their classes";

const TIES_BY_ID: &str = "\
Ties: if classes have the same score + price, a hash of the ID and the tie prices of the decision determine the label. The
hash is not that of apportion, so tied rows can have other labels there. The counts of tied rows differ only by chance.";

/// What the comment says about precision, if scores are not rounded.
const ROUNDING: &str = "\
Precision: unlike in apportion, scores are not rounded to multiples of 2^-40 here, so differences below 1e-12 count.";

const LINEAR: &str = "\
Labels by apportion: the class with the largest intercept + Σ weight · score, by a trained model.
Ties: if classes have the same value, the first of them is the label, as in apportion.";

/// Returns the comment for readers of the expression. It contains no names, which could end the comment.
fn header(rule: &str, precision: &str, options: &SqlOptions, by_group: bool) -> String {
    let sum = if options.percent { "100" } else { "1" };
    let group = if by_group { ", or whose group is not in the decision" } else { "" };
    let single =
        if options.single && rule == THRESHOLD { "Thresholds are for score columns of single precision." } else { "" };
    let invalid = format!("NULL: the label of rows whose scores are missing, negative, or do not sum to {sum}{group}.");
    [rule, precision, single, &invalid]
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| format!("-- {line}\n"))
        .collect()
}
