//! A response as text: the names and the place, the formula, and one table with a column for each factor.

use apportion_bisg::Level;

use super::{Draws, ExplainedName, ExplainedRow, Response, Smoothing, TriedPlace};
use crate::text::{columns, count, counted};

/// The number of significant digits of the largest number of a column.
const DIGITS: i32 = 6;

impl Response {
    /// Returns the response as text.
    pub fn text(&self) -> String {
        let mut lines = vec![self.title.clone()];
        let names = [("surname", Some(&self.surname)), ("first name", self.first_name.as_ref())];
        for (role, name) in names.into_iter().chain([("middle name", self.middle_name.as_ref())]) {
            lines.extend(name.map(|name| format!("{role}: {}", name.describe())));
        }
        for place in &self.places {
            lines.push(format!("place: {}: {}", place.describe(), place.result.describe()));
        }
        lines.extend(self.margins.iter().flatten().map(|row| format!("margin: {} in {}", row.key, row.table)));
        let mut parts = vec![lines.join("\n"), self.table()];
        let mut legend = vec![self.formula.clone()];
        let mut meanings: Vec<(&str, &str)> =
            self.factors.iter().map(|factor| (factor.symbol, factor.meaning.as_str())).collect();
        let last = self.last_meanings();
        meanings.extend(last.iter().map(|(symbol, meaning)| (*symbol, meaning.as_str())));
        let width = meanings.iter().map(|(symbol, _)| symbol.chars().count()).max().unwrap_or(0);
        legend.extend(meanings.iter().map(|(symbol, meaning)| format!("{symbol:<width$}  {meaning}")));
        legend.extend(self.remarks.iter().cloned());
        parts.push(legend.join("\n"));
        let names = [Some(&self.surname), self.first_name.as_ref(), self.middle_name.as_ref()];
        parts.extend(names.into_iter().flatten().filter(|name| name.is_used).flat_map(|name| self.details(name)));
        parts.join("\n\n")
    }

    /// Returns the meanings of the columns after the factors.
    fn last_meanings(&self) -> Vec<(&'static str, String)> {
        if let Some(Draws { people, seed, burn_in, sweeps }) = self.draws {
            let others = counted(people.saturating_sub(1), "other person", "other people");
            let [sweeps, burn_in] = [sweeps, burn_in].map(|sweeps| count(u64::from(sweeps)));
            return vec![
                ("n_r", format!("people with class r in a sweep, of the {others} of the input in this place")),
                ("score", format!("mean over {sweeps} sweeps after a burn-in of {burn_in}, seed {seed}")),
            ];
        }
        let mut meanings = Vec::new();
        let passes = self.passes.unwrap_or(0) as u64;
        match &self.margins {
            Some(_) => {
                let rounds = counted(passes, "round", "rounds");
                meanings.push(("w_r", format!("score / BISG(r), the result of raking all people in {rounds}")));
            }
            None if self.weights.is_some() => {
                let passes = counted(passes, "pass", "passes");
                let what = "weights that bring the mean scores of all people to the margin";
                meanings.push(("w_r", format!("{what}, found in {passes}")));
                meanings.push(("score", "BISG(r) · w_r, divided by the sum over all classes".into()));
            }
            None => meanings.push(("score", "product, divided by the sum over all classes".into())),
        }
        meanings
    }

    /// Returns a table with a row for each class and a column for each factor, the product and the score.
    fn table(&self) -> String {
        let (mut header, mut numbers) = (vec!["class"], Vec::new());
        for factor in &self.factors {
            header.push(factor.symbol);
            numbers.push(column(&factor.values, false));
        }
        header.push("product");
        numbers.push(column(&self.product, true));
        if let Some(before) = &self.before {
            header.push(if self.draws.is_some() { "n_r = 0" } else { "BISG(r)" });
            numbers.push(column(before, true));
        }
        if let Some(weights) = &self.weights {
            header.push("w_r");
            numbers.push(column(weights, false));
        }
        header.push("score");
        numbers.push(column(&self.scores, true));
        class_table(&header, self.classes.iter().map(String::as_str), &numbers)
    }

    /// Returns tables for a name with two rows, and for rows of a voter list.
    fn details(&self, name: &ExplainedName) -> Vec<String> {
        let mut tables = Vec::new();
        if let [first, second] = &name.rows[..] {
            let mean = first.values.iter().zip(&second.values).map(|(first, second)| (first + second) / 2.0);
            let numbers = [column(&first.values, false), column(&second.values, false)];
            let numbers = [&numbers[..], &[column(&mean.collect::<Vec<_>>(), false)]].concat();
            let header = ["class", &first.key, &second.key, "mean"];
            tables.push(class_table(&header, self.classes.iter().map(String::as_str), &numbers));
        }
        for row in &name.rows {
            tables.extend(row.smoothing.as_ref().map(|smoothing| smoothed(row, smoothing)));
        }
        tables
    }
}

impl ExplainedName {
    /// Describes the name, how it was found, and where.
    fn describe(&self) -> String {
        let arrow = if self.cleaned.is_empty() { String::new() } else { format!(" → {}", self.cleaned) };
        let how = [&[self.how], &self.dropped[..]].concat().join("; ");
        let rows = self.rows.iter().map(ExplainedRow::describe).collect::<Vec<_>>().join("; ");
        let found = match (self.reason, self.is_used) {
            (None, _) => rows,
            (Some(reason), true) => format!("{reason}: {rows}"),
            (Some(reason), false) => format!("not used, because {reason}"),
        };
        format!("{:?}{arrow} ({how}): {found}", self.name)
    }
}

impl ExplainedRow {
    fn describe(&self) -> String {
        let people = self.people.map(|people| format!(", {} people", count(people.round() as u64)));
        format!("{} in {}{}", self.key, self.table, people.unwrap_or_default())
    }
}

impl TriedPlace {
    /// Describes the place and its table: `county 37063 (counties-2020)`.
    pub(super) fn describe(&self) -> String {
        let codes = self.codes.iter().map(|code| format!(" {code}")).collect::<Vec<_>>().join(",");
        let sums = if self.is_sum { "sums of " } else { "" };
        let the = if self.level == Level::Nation.name() { "the " } else { "" };
        format!("{the}{}{codes} ({sums}{})", self.level, self.table)
    }
}

/// Returns the table that leads from the shares of a voter list to ratios.
fn smoothed(row: &ExplainedRow, smoothing: &Smoothing) -> String {
    let Smoothing { n, kappa, classes, shares, voters, smoothed, ratios } = smoothing;
    let numbers = [shares, voters, smoothed, ratios].map(|values| column(values, false));
    let header = ["class", "share", "voters", "smoothed", "ratio"];
    let table = class_table(&header, classes.iter().copied(), &numbers);
    format!(
        "{} in {}: n = {n} people, κ = {kappa}\nsmoothed = (n · share + κ · voters) / (n + κ); ratio = smoothed / voters; \
         aian has the ratio of other\nclass shares = ratio · class shares of the Census list, divided by their sum\n{table}",
        row.key, row.table
    )
}

/// Returns a table by class. A column with one more number than classes ends with its sum.
fn class_table<'a>(header: &[&str], classes: impl Iterator<Item = &'a str>, numbers: &[Vec<String>]) -> String {
    let mut names: Vec<&str> = classes.collect();
    if numbers.iter().any(|column| column.len() > names.len()) {
        names.push("sum");
    }
    let row = |(index, name): (usize, &&str)| {
        let numbers = numbers.iter().map(|column| column.get(index).cloned().unwrap_or_default());
        std::iter::once((*name).to_owned()).chain(numbers).collect()
    };
    let rows: Vec<Vec<String>> = names.iter().enumerate().map(row).collect();
    columns(header, &rows)
}

/// Returns numbers with the same number of decimals and, optionally, their sum.
fn column(values: &[f64], with_sum: bool) -> Vec<String> {
    let sum: f64 = values.iter().sum();
    let all: Vec<f64> = values.iter().copied().chain(with_sum.then_some(sum)).collect();
    let largest = values.iter().copied().fold(0.0, f64::max);
    let decimals = match values.iter().all(|value| value.fract() == 0.0) {
        true => 0,
        false => (DIGITS - 1 - largest.log10().floor() as i32).clamp(0, 15) as usize,
    };
    all.into_iter().map(|value| number(value, decimals)).collect()
}

/// Returns a number with thousands separators.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    fraction.map_or_else(|| whole.clone(), |fraction| format!("{whole}.{fraction}"))
}
