//! Saved decisions: JSON from untrusted sources.
//!
//! Oracle: an accepted decision gives one label per row, a class or none, and the same labels after it is saved again;
//! the labels of prices, thresholds and argmax are recomputed here.

use apportion::decision::{Fitted, GroupPrices};
use apportion::sql::{Dialect, SqlOptions};
use apportion::{Classes, Decision, Groups, Matrix, Scores, UNCODED};
use apportion_app::input::Source;
use apportion_app::{Context, apply, export};

use super::files::checked;
use crate::Outcome;
use crate::draw::{Draw, hash};
use crate::scratch;

const ROWS: usize = 6;
const DIALECTS: [Dialect; 6] =
    [Dialect::DuckDb, Dialect::PostgreSql, Dialect::Sqlite, Dialect::BigQuery, Dialect::Snowflake, Dialect::Spark];

/// Reads bytes as a decision and applies it to a small table.
pub(super) fn run(data: &[u8]) -> Outcome {
    let Some(decision) = parse(data) else { return Outcome::Refused };
    let classes = decision.classes();
    let scores = random_scores(classes.len(), hash(data));
    let (names, codes) = groups(&decision);
    let Some(table) = checked(Scores::new(classes, Matrix::RowsF64(&scores))) else { return Outcome::Refused };
    let table = if names.is_empty() {
        Some(table)
    } else {
        checked(table.with_groups(Groups { codes: &codes, names: &names }))
    };
    let Some(table) = table else { return Outcome::Refused };
    check_labels(&decision, &table, &scores, &codes);
    for dialect in DIALECTS {
        let columns = (0..classes.len()).map(|class| format!("p_{class}"));
        checked(decision.to_sql(&SqlOptions::new(dialect, columns).with_groups(["g"])));
    }
    if hash(data) >> 8 & 7 == 0 {
        check_program(data, classes);
    }
    Outcome::Accepted
}

fn parse(data: &[u8]) -> Option<Decision> {
    let text = std::str::from_utf8(data).ok()?;
    let parsed: Result<Decision, _> = serde_json::from_str(text);
    checked(parsed)
}

/// Returns the names of the decision's groups, and the group of each row.
fn groups(decision: &Decision) -> (Vec<String>, Vec<u32>) {
    let names: Vec<String> = match decision.fitted() {
        Fitted::Prices(groups) => groups.iter().filter_map(|own| own.group.clone()).collect(),
        _ => Vec::new(),
    };
    let codes = (0..ROWS).map(|row| (row % names.len().max(1)) as u32).collect();
    (names, codes)
}

/// Returns rows that sum to one.
fn random_scores(k: usize, seed: u64) -> Vec<f64> {
    let mut draw = Draw::from_seed(seed);
    let mut scores = Vec::new();
    for _ in 0..ROWS {
        let weights: Vec<f64> = (0..k).map(|_| draw.unit().powi(3) + 1e-9).collect();
        let sum: f64 = weights.iter().sum();
        scores.extend(weights.iter().map(|weight| weight / sum));
    }
    scores
}

fn check_labels(decision: &Decision, table: &Scores<'_>, scores: &[f64], codes: &[u32]) {
    let k = decision.classes().len();
    let Some(labels) = checked(decision.apply(table)) else { return };
    assert_eq!(labels.values().len(), ROWS, "one label for each row");
    let is_label = |label: &u8| *label == UNCODED || usize::from(*label) < k;
    assert!(labels.values().iter().all(is_label), "a label that is no class: {:?}", labels.values());
    for (row, &label) in labels.values().iter().enumerate() {
        let own = &scores[row * k..][..k];
        if let Some(expected) = expected(decision.fitted(), own, codes[row] as usize) {
            assert_eq!(label, expected, "row {row} of {own:?} by {:?}", decision.fitted());
        }
    }
    checked(decision.allot(table, 1));
    checked(decision.draw(table, 3));
    checked(decision.certify(table, &labels));
    let json = serde_json::to_string(decision).unwrap_or_default();
    let again: Option<Decision> = serde_json::from_str(&json).ok();
    let again = again.and_then(|again| again.apply(table).ok());
    assert_eq!(again.as_ref(), Some(&labels), "labels of the decision, saved again");
}

/// Returns a value in units of the grid, rounded half to even.
fn units(value: f64) -> i64 {
    (value * (1u64 << 40) as f64).round_ties_even() as i64
}

/// Returns the label of a row, if the decision determines it without ties, draws or a model.
fn expected(fitted: &Fitted, row: &[f64], group: usize) -> Option<u8> {
    let best = |values: &[Option<i64>]| -> Option<u8> {
        let largest = *values.iter().flatten().max()?;
        let mut places = values.iter().enumerate().filter(|(_, value)| **value == Some(largest));
        let (place, _) = places.next()?;
        if places.next().is_some() {
            return None;
        }
        Some(if place == row.len() { UNCODED } else { place as u8 })
    };
    let scores: Vec<Option<i64>> = row.iter().map(|&score| Some(units(score))).collect();
    match fitted {
        Fitted::Argmax => best(&scores),
        Fitted::Threshold { at } => {
            let label = best(&scores)?;
            let (score, bar) = (row[usize::from(label)], at[usize::from(label)]);
            // Too close to the threshold to be certain without the program's own rounding.
            if (score - bar).abs() < 1e-9 {
                return None;
            }
            Some(if score > bar { label } else { UNCODED })
        }
        Fitted::Prices(groups) => {
            let GroupPrices { prices, .. } = groups.get(group)?;
            let value = |(class, price): (usize, &Option<f64>)| {
                Some(row.get(class).map_or(0, |&score| units(score)) + units((*price)?))
            };
            best(&prices.iter().enumerate().map(value).collect::<Vec<_>>())
        }
        _ => None,
    }
}

/// Applies the decision to a file with the whole program.
fn check_program(data: &[u8], classes: &Classes) {
    let k = classes.len();
    let mut table = csv::Writer::from_writer(Vec::new());
    let header = (0..k).map(|class| format!("p_{class}")).chain(["g".into()]);
    let row = |row: usize| (0..k).map(move |class| u8::from(class == row % k).to_string()).chain(["g".into()]);
    let written = table.write_record(header).and_then(|()| (0..ROWS).try_for_each(|own| table.write_record(row(own))));
    assert!(written.is_ok(), "{written:?}");
    let table = table.into_inner().unwrap_or_default();
    scratch::with_files(&[("table.csv", &table), ("decision.json", data)], |folder| {
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let (input, decision, output) = (path("table.csv"), path("decision.json"), path("out.csv"));
        let mut request = apply::Request { decision: decision.clone().into(), ..Default::default() };
        request.table.source = Source::files([input]);
        request.output.output.clone_from(&output);
        if checked(apply::run(&request, &Context::default())).is_some() {
            let rows = csv::Reader::from_path(&output).map(|mut rows| rows.byte_records().count());
            assert!(matches!(rows, Ok(ROWS)), "{rows:?} rows in the output");
        }
        let request = export::Request { decision: decision.into(), ..Default::default() };
        checked(export::run(&request, &Context::default()));
    });
}
