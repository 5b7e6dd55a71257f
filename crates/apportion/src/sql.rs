//! A decision as a SQL expression, which gives the same labels inside a database except for ties.
//!
//! The expression is one `CASE`. From the outside in: is the row valid; which group is it in; which class has the
//! largest score + price. The sums are written twice, once inside `GREATEST` and once to be compared with it: this is
//! the shortest form that every dialect supports, and the two are equal because they are the same operations on the
//! same doubles.
//!
//! All numbers are double-precision literals. For any type of the score columns, adding such a literal is done in
//! double precision, so no casts are needed.

use crate::decision::{Decision, Fitted, GroupPrices};
use crate::error::{Error, Result};
use crate::learn::{Linear, Model, Plane};
use crate::rule;
use crate::scores::{Classes, LEAST_SCORE, SUM_TOLERANCE, UNCODED, expect_length};
use crate::text::{GROUP_JOINT, count, count_group_values, quoted};

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
    /// The name of the label: `CASE … END AS name`.
    pub label: Option<String>,
    /// For a complete statement, the text after `FROM`, used verbatim. The label is then called `label` unless it
    /// has another name.
    pub table: Option<String>,
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
            label: None,
            table: None,
        }
    }

    /// Sets the columns that define the groups.
    pub fn with_groups<S: Into<String>>(mut self, groups: impl IntoIterator<Item = S>) -> SqlOptions {
        self.groups = groups.into_iter().map(Into::into).collect();
        self
    }
}

impl Decision {
    /// Returns the decision as a SQL expression, with a comment that describes it.
    ///
    /// It gives the labels of [`apply`](Self::apply), except for rows with several equally good classes, or
    /// classes closer than 2^-40. A row that `apply` would reject has the label `NULL`. Sampling rules have no
    /// such expression.
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
        let writer = Writer { options, dialect: options.dialect, classes: &self.classes };
        let (label, header) = match &self.fitted {
            Fitted::Argmax => (writer.argmax(), header(ARGMAX, options, false)),
            Fitted::Threshold { at } => (writer.threshold(at), header(THRESHOLD, options, false)),
            Fitted::Prices(groups) => {
                let tied = match self.fit_info() {
                    Some(info) => {
                        let were = if info.tied == 1 { "was" } else { "were" };
                        format!(": {} of {} rows {were} tied in the fit.", count(info.tied), count(info.people))
                    }
                    None => ".".into(),
                };
                (writer.prices(groups)?, header(&format!("{PRICES}{tied}"), options, by_group(groups)))
            }
            Fitted::Learned(Model::Svm(linear) | Model::Logistic(linear)) => {
                (writer.linear(linear), header(LINEAR, options, false))
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
Ties: if classes have the same score + price, the first of them is the label here. apportion breaks these ties with the
tie prices and the seed of the decision, so the counts here are exact only if no rows are tied";

const LINEAR: &str = "\
Labels by apportion: the class with the largest intercept + Σ weight · score, by a trained model.
Ties: if classes have the same value, the first of them is the label, as in apportion.";

/// Returns the comment for readers of the expression. It contains no names, which could end the comment.
fn header(rule: &str, options: &SqlOptions, by_group: bool) -> String {
    let sum = if options.percent { "100" } else { "1" };
    let group = if by_group { ", or whose group is not in the decision" } else { "" };
    let single =
        if options.single && rule == THRESHOLD { " Thresholds are for score columns of single precision." } else { "" };
    let text = format!(
        "{rule}\nPrecision: unlike in apportion, scores are not rounded to multiples of 2^-40 here, so differences below 1e-12 \
         count.{single}\nNULL: the label of rows whose scores are missing, negative, or do not sum to {sum}{group}."
    );
    text.lines().map(|line| format!("-- {line}\n")).collect()
}

/// Writes the parts of one expression.
struct Writer<'a> {
    options: &'a SqlOptions,
    dialect: Dialect,
    classes: &'a Classes,
}

/// Lines of SQL. Names and texts in them may contain line breaks, which must be kept.
type Lines = Vec<String>;

/// A value, and the label of a row if it is the largest.
type Candidate = (String, String);

/// SQLite allows 127 arguments of a function; no supported dialect allows fewer.
const ARGUMENTS: usize = 100;

impl Writer<'_> {
    fn argmax(&self) -> Lines {
        let candidates: Vec<Candidate> =
            (0..self.classes.len()).map(|class| (self.score(class), self.class(class))).collect();
        self.best(&candidates)
    }

    fn threshold(&self, bars: &[f64]) -> Lines {
        let uncoded = self.dialect.text(self.classes.name(UNCODED));
        let label = |class: usize| {
            let bar = self.dialect.number(rule::least_score(bars[class], self.options.single));
            format!("CASE WHEN {} >= {bar} THEN {} ELSE {uncoded} END", self.score(class), self.class(class))
        };
        let candidates: Vec<Candidate> =
            (0..self.classes.len()).map(|class| (self.score(class), label(class))).collect();
        self.best(&candidates)
    }

    fn prices(&self, groups: &[GroupPrices]) -> Result<Lines> {
        if let [GroupPrices { group: None, prices, .. }] = groups {
            return Ok(self.priced(prices));
        }
        if groups.is_empty() {
            return Err(Error::Decision { problem: "it has no prices".into() });
        }
        let plain = groups.iter().filter_map(|group| group.group.as_deref()).all(|group| self.is_plain(group));
        let mut lines = vec![format!("CASE {}", self.group(plain))];
        for GroupPrices { group, prices, .. } in groups {
            let group = group.as_deref().unwrap_or_default();
            self.check_group(group)?;
            lines.push(format!("WHEN {} THEN", self.dialect.text(group)));
            lines.extend(indented(self.priced(prices)));
        }
        lines.push("END".into());
        Ok(lines)
    }

    /// Checks that the columns can have a group.
    fn check_group(&self, group: &str) -> Result<()> {
        let columns = self.options.groups.len();
        let problem = if columns == 0 {
            "it was fitted by group; name the group columns".into()
        } else if columns > 1 && count_group_values(group) != columns {
            format!("group {} does not have {columns} columns; name the columns of the fit", quoted(group))
        } else {
            return Ok(());
        };
        Err(Error::Sql { problem })
    }

    /// Returns the class with the largest score + price.
    fn priced(&self, prices: &[Option<f64>]) -> Lines {
        let candidate = |(class, price): (usize, &Option<f64>)| {
            let price = (*price)?;
            // The index after the last class is an unlabeled row. Its score is zero.
            let value = if class < self.classes.len() {
                let sign = if price < 0.0 { '-' } else { '+' };
                format!("{} {sign} {}", self.score(class), self.dialect.number(price.abs()))
            } else {
                self.dialect.number(price)
            };
            Some((value, self.class(class)))
        };
        self.best(&prices.iter().enumerate().filter_map(candidate).collect::<Vec<_>>())
    }

    /// Returns the class with the largest linear function. Sums are in the order of `apply`, so they are bitwise
    /// equal.
    fn linear(&self, linear: &Linear) -> Lines {
        let candidate = |(class, plane): (usize, &Option<Plane>)| {
            let Plane { weights, intercept } = plane.as_ref()?;
            let term = |(class, &weight): (usize, &f64)| {
                let sign = if weight < 0.0 { '-' } else { '+' };
                let score = self.score(class);
                let score = if self.options.percent { format!("({score})") } else { score };
                format!(" {sign} {} * {score}", self.dialect.number(weight.abs()))
            };
            let terms: String = weights.iter().enumerate().map(term).collect();
            Some((format!("{}{terms}", self.dialect.number(*intercept)), self.class(class)))
        };
        self.best(&linear.planes.iter().enumerate().filter_map(candidate).collect::<Vec<_>>())
    }

    /// Returns the label of the largest value; the first of equals.
    fn best(&self, candidates: &[Candidate]) -> Lines {
        if let [(_, label)] = candidates {
            return vec![label.clone()];
        }
        let values: Vec<String> = candidates.iter().map(|(value, _)| value.clone()).collect();
        let mut lines = vec![format!("CASE {}", self.greatest(&values))];
        lines.extend(candidates.iter().map(|(value, label)| format!("WHEN {value} THEN {label}")));
        lines.push("END".into());
        lines
    }

    fn greatest(&self, values: &[String]) -> String {
        if let [one] = values {
            return one.clone();
        }
        if values.len() > ARGUMENTS {
            return self.greatest(&values.chunks(ARGUMENTS).map(|part| self.greatest(part)).collect::<Vec<_>>());
        }
        format!("{}({})", if self.dialect == Dialect::Sqlite { "MAX" } else { "GREATEST" }, values.join(", "))
    }

    /// Returns NULL for a row that the library would reject: this also keeps NULL and NaN out of comparisons, on
    /// which dialects differ.
    fn guarded(&self, label: Lines) -> Lines {
        let number = |value: f64| self.dialect.number(value);
        let columns: Vec<String> = (0..self.options.columns.len()).map(|class| self.column(class)).collect();
        let least = number(if self.options.percent { LEAST_SCORE * 100.0 } else { LEAST_SCORE });
        let scores: String = columns.iter().map(|column| format!("{column} >= {least} AND ")).collect();
        // The leading zero makes it a sum of doubles.
        let mut sum = format!("{} + {}", number(0.0), columns.join(" + "));
        if self.options.percent {
            sum = format!("({sum}) / {}", number(100.0));
        }
        let (one, off) = (number(1.0), number(SUM_TOLERANCE));
        let mut lines = vec![format!("CASE WHEN {scores}ABS({sum} - {one}) <= {off} THEN")];
        lines.extend(indented(label));
        lines.push("END".into());
        lines
    }

    /// Returns the expression with its name, or the complete statement.
    fn statement(&self, mut lines: Lines) -> String {
        let name = self.options.label.as_deref().or(self.options.table.as_ref().map(|_| "label"));
        if let (Some(name), Some(last)) = (name, lines.last_mut()) {
            *last += &format!(" AS {}", self.dialect.name(name));
        }
        if let Some(table) = &self.options.table {
            lines = indented(lines);
            lines.insert(0, "SELECT *,".into());
            lines.push(format!("FROM {table};"));
        }
        lines.join("\n") + "\n"
    }

    /// Returns a score column. SQLite compares text as text, and imported tables contain text: adding zero
    /// converts it to a number.
    fn column(&self, class: usize) -> String {
        let name = self.dialect.name(&self.options.columns[class]);
        if self.dialect == Dialect::Sqlite { format!("({name} + {})", self.dialect.number(0.0)) } else { name }
    }

    /// Returns a score as the library reads it.
    fn score(&self, class: usize) -> String {
        let column = self.column(class);
        if self.options.percent { format!("{column} / {}", self.dialect.number(100.0)) } else { column }
    }

    fn class(&self, class: usize) -> String {
        self.dialect.text(self.classes.names().get(class).map_or(self.classes.name(UNCODED), String::as_str))
    }

    /// Returns whether a group's name can be split in only one way, so that no other values have the same name even if
    /// they are joined without quotes.
    fn is_plain(&self, group: &str) -> bool {
        let columns = self.options.groups.len();
        let starts = (0..group.len()).filter(|&start| group.as_bytes()[start..].starts_with(GROUP_JOINT.as_bytes()));
        let quoted = group.starts_with('"') || group.contains(&format!("{GROUP_JOINT}\""));
        columns == 1 || starts.count() + 1 == columns && !quoted
    }

    /// Returns the group of a row, as [`group_name`](crate::text::group_name) does: the columns as text, empty if
    /// missing, joined. Ambiguous values are quoted, unless all groups are plain.
    fn group(&self, plain: bool) -> String {
        let kind = self.dialect.text_type();
        let column = |name: &String| {
            let value = format!("COALESCE(CAST({} AS {kind}), '')", self.dialect.name(name));
            if plain {
                return value;
            }
            let ambiguous = format!("{value} LIKE '% / %' OR {value} LIKE '% /' OR {value} LIKE '\"%'");
            let quoted = format!("'\"' || REPLACE({value}, '\"', '\"\"') || '\"'");
            format!("CASE WHEN {ambiguous} THEN {quoted} ELSE {value} END")
        };
        let separator = format!(" || {} || ", self.dialect.text(GROUP_JOINT));
        self.options.groups.iter().map(column).collect::<Vec<_>>().join(&separator)
    }
}

impl Dialect {
    /// Quotes a name.
    fn name(self, name: &str) -> String {
        match self {
            Dialect::DuckDb | Dialect::PostgreSql | Dialect::Snowflake => format!("\"{}\"", name.replace('"', "\"\"")),
            // SQLite silently treats an unknown name in double quotes as text.
            Dialect::Sqlite | Dialect::Spark => format!("`{}`", name.replace('`', "``")),
            Dialect::BigQuery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
        }
    }

    /// Quotes a text.
    fn text(self, text: &str) -> String {
        let text = match self {
            Dialect::DuckDb | Dialect::PostgreSql | Dialect::Sqlite => text.replace('\'', "''"),
            Dialect::BigQuery | Dialect::Snowflake | Dialect::Spark => {
                text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\r', "\\r")
            }
        };
        format!("'{text}'")
    }

    /// Returns a double-precision number in as few digits as necessary.
    fn number(self, value: f64) -> String {
        // With an exponent it is a double in DuckDB, BigQuery and SQLite. Other dialects need a cast.
        match self {
            Dialect::DuckDb | Dialect::BigQuery | Dialect::Sqlite => format!("{value:e}"),
            Dialect::PostgreSql => format!("{value:e}::float8"),
            Dialect::Snowflake => format!("{value:e}::FLOAT"),
            Dialect::Spark => format!("{value:e}D"),
        }
    }

    /// Returns the type of text of any length.
    fn text_type(self) -> &'static str {
        match self {
            Dialect::DuckDb | Dialect::Snowflake => "VARCHAR",
            Dialect::PostgreSql | Dialect::Sqlite => "TEXT",
            Dialect::BigQuery | Dialect::Spark => "STRING",
        }
    }
}

/// Indents lines.
fn indented(lines: Lines) -> Lines {
    lines.into_iter().map(|line| format!("  {line}")).collect()
}
