//! The `CASE` that labels a row. From the outside in: is the row valid; which group is it in; which class has the largest
//! score + price.
//!
//! The sums are written twice, once inside `GREATEST` and once to be compared with it: this is the shortest form that every
//! dialect supports, and the two are equal because they are the same operations on the same doubles.
//!
//! All numbers are double-precision literals. For any type of the score columns, adding such a literal is done in double
//! precision, so no casts are needed.

use super::{Dialect, SqlOptions};
use crate::decision::GroupPrices;
use crate::error::{Error, Result};
use crate::learn::{Linear, Plane};
use crate::rule;
use crate::scores::{Classes, LEAST_SCORE, SUM_TOLERANCE, UNCODED};
use crate::text::{GROUP_JOINT, count_group_values, quoted};

/// Writes the parts of one expression.
pub(super) struct Writer<'a> {
    pub(super) options: &'a SqlOptions,
    pub(super) dialect: Dialect,
    pub(super) classes: &'a Classes,
    pub(super) seed: u64,
}

/// Lines of SQL. Names and texts in them may contain line breaks, which must be kept.
pub(super) type Lines = Vec<String>;

/// A value, and the label of a row if it is the largest.
type Candidate = (String, String);

/// The price of a class, with its sign: `- 1.25e-1`; and its price among tied classes, if there is one.
pub(super) struct ClassPrice {
    pub(super) class: usize,
    pub(super) price: String,
    pub(super) tie: Option<String>,
}

/// The price of a class that is never assigned: below all others, which are at least −1024.
pub(super) const NEVER: f64 = -4000.0;

/// Added to prices, so that they are positive numbers of the same number of digits.
const SHIFT: f64 = 5000.0;

/// The digits of score + price in units of 2^-40, 16, and of hash + tie price in units of 1e-9, 13.
const DIGITS: usize = 16 + 13;

/// SQLite allows 127 arguments of a function; no supported dialect allows fewer.
const ARGUMENTS: usize = 100;

impl Writer<'_> {
    pub(super) fn argmax(&self) -> Lines {
        let candidates: Vec<Candidate> =
            (0..self.classes.len()).map(|class| (self.score(class), self.class(class))).collect();
        self.best(&candidates)
    }

    pub(super) fn threshold(&self, bars: &[f64]) -> Lines {
        let uncoded = self.dialect.text(self.classes.name(UNCODED));
        let label = |class: usize| {
            let bar = self.dialect.number(rule::least_score(bars[class], self.options.single));
            format!("CASE WHEN {} >= {bar} THEN {} ELSE {uncoded} END", self.score(class), self.class(class))
        };
        let candidates: Vec<Candidate> =
            (0..self.classes.len()).map(|class| (self.score(class), label(class))).collect();
        self.best(&candidates)
    }

    pub(super) fn prices(&self, groups: &[GroupPrices]) -> Result<Lines> {
        if let [group @ GroupPrices { group: None, .. }] = groups {
            return Ok(self.priced(&self.literals(group)));
        }
        if groups.is_empty() {
            return Err(Error::Decision { problem: "it has no prices".into() });
        }
        let mut lines = vec![format!("CASE {}", self.group_of_row(groups)?)];
        for group in groups {
            lines.push(format!("WHEN {} THEN", self.dialect.text(group.group.as_deref().unwrap_or_default())));
            lines.extend(indented(self.priced(&self.literals(group))));
        }
        lines.push("END".into());
        Ok(lines)
    }

    /// Returns the prices of a group as numbers.
    fn literals(&self, group: &GroupPrices) -> Vec<ClassPrice> {
        let term = |price: f64| {
            let sign = if price < 0.0 { '-' } else { '+' };
            format!("{sign} {}", self.dialect.number(price.abs()))
        };
        let tie_prices = group.ties.first();
        let class_price = |(class, price): (usize, &Option<f64>)| {
            let tie = match tie_prices {
                Some(prices) => prices[class].map(term),
                None => None,
            };
            Some(ClassPrice { class, price: term((*price)?), tie })
        };
        group.prices.iter().enumerate().filter_map(class_price).collect()
    }

    /// Returns the group of a row, for comparison with the names of groups.
    pub(super) fn group_of_row(&self, groups: &[GroupPrices]) -> Result<String> {
        let names = || groups.iter().filter_map(|group| group.group.as_deref());
        names().try_for_each(|group| self.check_group(group))?;
        Ok(self.group(names().all(|group| self.is_plain(group))))
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

    /// Returns the class with the largest score + price. With a column of IDs, ties are settled by their prices and a hash.
    pub(super) fn priced(&self, prices: &[ClassPrice]) -> Lines {
        let are_ties_settled =
            self.options.id.is_some() && prices.len() > 1 && prices.iter().any(|own| own.tie.is_some());
        if !are_ties_settled {
            let candidate = |own: &ClassPrice| (self.sum(own, |class| self.score(class)), self.class(own.class));
            return self.best(&prices.iter().map(candidate).collect::<Vec<_>>());
        }
        // The first and the last class with the largest sum are the same unless the row is tied.
        let mut candidates: Vec<Candidate> =
            prices.iter().map(|own| (self.rounded_sum(own), self.class(own.class))).collect();
        let first = self.best(&candidates);
        candidates.reverse();
        let last = self.best(&candidates);
        let parts = [("CASE WHEN", first.clone()), ("=", last), ("THEN", first), ("ELSE", self.settled(prices))];
        let lines = parts.into_iter().flat_map(|(word, lines)| std::iter::once(word.to_owned()).chain(indented(lines)));
        lines.chain(["END".to_owned()]).collect()
    }

    /// Returns the class of a tied row: of those with the largest score + price, the one with the largest hash + tie price.
    /// The candidates are compared as text: digits of both sums, of a fixed length, and the class.
    fn settled(&self, prices: &[ClassPrice]) -> Lines {
        let (whole, text) = (self.dialect.whole_type(), self.dialect.text_type());
        let never = format!("- {}", self.dialect.number(-NEVER));
        let digits = |value: &str, units: f64| {
            let (shift, units) = (self.dialect.number(SHIFT), self.dialect.number(units));
            format!("CAST(CAST(({value} + {shift}) * {units} AS {whole}) AS {text})")
        };
        let candidate = |own: &ClassPrice| {
            let lot = format!("{} {}", self.lot(own.class), own.tie.as_ref().unwrap_or(&never));
            format!("{} || {} || '{}'", digits(&self.rounded_sum(own), 2f64.powi(40)), digits(&lot, 1e9), own.class)
        };
        let best = self.greatest(&prices.iter().map(candidate).collect::<Vec<_>>());
        let mut lines = vec![format!("CASE SUBSTR({best}, {})", DIGITS + 1)];
        lines.extend(prices.iter().map(|own| format!("WHEN '{}' THEN {}", own.class, self.class(own.class))));
        lines.push("END".into());
        lines
    }

    /// Returns a score + price. The index after the last class is an unlabeled row, whose score is zero.
    fn sum(&self, own: &ClassPrice, score: impl Fn(usize) -> String) -> String {
        if own.class < self.classes.len() {
            return format!("{} {}", score(own.class), own.price);
        }
        own.price.strip_prefix("+ ").map_or_else(|| own.price.replacen("- ", "-", 1), str::to_owned)
    }

    /// Returns a score, rounded to the nearest multiple of 2^-40, plus its price.
    fn rounded_sum(&self, own: &ClassPrice) -> String {
        let (round, units) = (self.dialect.round(), self.dialect.number(2f64.powi(40)));
        self.sum(own, |class| format!("{round}({} * {units}) / {units}", self.score(class)))
    }

    /// Returns a number from 0 to 1 by which tied classes of a row are compared.
    fn lot(&self, class: usize) -> String {
        let id = self.options.id.as_deref().map(|id| self.dialect.name(id)).unwrap_or_default();
        self.dialect.lot(&id, &format!("{}:{class}", self.seed))
    }

    /// Returns the class with the largest linear function. Sums are in the order of `apply`, so they are bitwise
    /// equal.
    pub(super) fn linear(&self, linear: &Linear) -> Lines {
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
    pub(super) fn guarded(&self, label: Lines) -> Lines {
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

/// Indents lines.
pub(super) fn indented(lines: Lines) -> Lines {
    lines.into_iter().map(|line| format!("  {line}")).collect()
}
