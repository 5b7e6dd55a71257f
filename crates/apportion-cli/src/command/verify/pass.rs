//! One pass over scores and output side by side: rows, labels, scores of labels, and what the proof needs.

use std::collections::HashMap;

use anyhow::{Result, anyhow};
use apportion::decision::{Applier, Fitted};
use apportion::verify::GRID;
use apportion::verify::{Prices, Verifier};
use apportion::{Classes, Decision, Groups, Keys, Label, Scores, UNCODED};
use apportion_io::{TableBatch, TableStream};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, UInt64Type};
use rayon::prelude::*;

use super::cells::{as_text, first_difference, shown};
use super::rows::OutRows;
use super::{Difference, differs};

/// Rows that a thread looks at in one go.
const STRETCH: usize = 8192;
/// Groups up to which threads keep sums of their own.
const MOST_SPLIT: usize = 64;

/// Which columns of the output hold what.
pub(super) struct Columns {
    /// Columns of the input that the output has.
    pub(super) kept: Vec<String>,
    /// Those whose values are compared: not those that were found to have the same bytes.
    pub(super) compared: Vec<String>,
    /// The column of labels of each draw, and that of their scores if there is one.
    pub(super) labels: Vec<(String, Option<String>)>,
    /// With counts: how many people have each class, and none.
    pub(super) people: Vec<String>,
    pub(super) id: Option<String>,
    /// Whether one side is text, which cannot tell empty cells from missing ones.
    pub(super) is_text: bool,
}

impl Columns {
    /// The columns of the output that are read.
    pub(super) fn of_output(&self) -> Vec<String> {
        let mut columns: Vec<String> = self.compared.iter().chain(&self.people).cloned().collect();
        for (label, score) in &self.labels {
            columns.push(label.clone());
            columns.extend(score.clone());
        }
        columns
    }
}

/// What the pass needs beside the rows.
pub(super) struct Pass<'a> {
    pub(super) columns: Columns,
    pub(super) decision: Option<&'a Decision>,
    pub(super) applier: Option<Applier<'a>>,
    pub(super) verifier: Verifier,
    /// Whether the costs of moves are of interest.
    pub(super) is_priced: bool,
    pub(super) group_names: Vec<String>,
    known_groups: usize,
    places: Option<Vec<u64>>,
    /// The first row whose label is not that of the decision, and what it should be.
    pub(super) undecided: Option<Difference>,
    pub(super) rows: u64,
    pub(super) left_out: u64,
    prices: HashMap<Option<String>, Prices>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        columns: Columns,
        decision: Option<&'a Decision>,
        verifier: Verifier,
        by_group: bool,
    ) -> Pass<'a> {
        let mut prices: HashMap<Option<String>, Prices> = HashMap::new();
        if let Some(Fitted::Prices(groups)) = decision.map(Decision::fitted) {
            for own in groups {
                let units = own.prices.iter().map(|price| price.map(|price| GRID.round(price)));
                prices.insert(own.group.clone(), units.collect());
            }
        }
        let mut pass = Pass {
            columns,
            decision,
            applier: decision.map(Decision::applier),
            verifier,
            is_priced: !prices.is_empty(),
            group_names: Vec::new(),
            known_groups: 0,
            places: None,
            undecided: None,
            rows: 0,
            left_out: 0,
            prices,
        };
        if let (false, Some(prices)) = (by_group, pass.prices.get(&None).cloned()) {
            pass.verifier.set_prices(0, prices);
        }
        pass
    }

    /// Looks at some rows of the input, and at the same rows of the output.
    pub(super) fn look(&mut self, piece: &TableBatch, out: &mut OutRows<'_>, stream: &TableStream<'_>) -> Result<()> {
        let rows = piece.batch.num_rows();
        if rows == 0 {
            return Ok(());
        }
        let Some(found) = out.take(rows)? else { return Err(self.missing(0)) };
        self.compare(&piece.batch, &found, out)?;
        if found.num_rows() < rows {
            return Err(self.missing(found.num_rows()));
        }
        self.name_groups(stream);
        let names = std::mem::take(&mut self.group_names);
        self.known_groups = names.len();
        let looked = self.look_at(piece, &found, &names, out);
        self.group_names = names;
        looked?;
        self.rows += rows as u64;
        self.left_out += (rows - piece.table.rows()) as u64;
        Ok(())
    }

    fn look_at(&mut self, piece: &TableBatch, found: &RecordBatch, names: &[String], out: &OutRows<'_>) -> Result<()> {
        self.places = self.places_of(piece);
        let keys = self.places.clone();
        let mut scores = piece.table.scores()?;
        if self.columns.id.is_none() {
            scores = scores.with_keys(match &keys {
                Some(keys) => Keys::Given(keys),
                None => Keys::Index(self.rows),
            })?;
        }
        if !piece.groups.is_empty() {
            scores = scores.with_groups(Groups { codes: &piece.groups, names })?;
        }
        if self.columns.people.is_empty() {
            self.look_at_labels(piece, found, &scores, out)
        } else {
            self.look_at_people(piece, found, &scores, out)
        }
    }

    /// The numbers of the table's rows among all rows, if some are left out: the keys of rows without an identifier.
    fn places_of(&self, piece: &TableBatch) -> Option<Vec<u64>> {
        let kept = piece.table.row_mask();
        let all = 0..kept.total();
        (kept.count() < kept.total())
            .then(|| all.filter(|&row| kept.contains(row)).map(|row| self.rows + row as u64).collect())
    }

    fn name_groups(&mut self, stream: &TableStream<'_>) {
        for group in self.group_names.len()..stream.group_count() {
            let name = stream.group(group).0;
            let own = self.prices.get(&Some(name.clone())).or_else(|| self.prices.get(&None));
            if let Some(prices) = own.cloned() {
                self.verifier.set_prices(group, prices);
            }
            self.group_names.push(name);
        }
    }

    /// The number of a row of the table at hand among all rows.
    fn number(&self, row: usize) -> u64 {
        self.places.as_ref().map_or(self.rows + row as u64, |places| places[row])
    }

    fn missing(&self, found: usize) -> anyhow::Error {
        let row = self.rows + found as u64 + 1;
        let rows = self.rows + found as u64;
        differs(format!("the output ends after {rows} rows; row {row} of the input is not in it"))
    }

    /// Compares columns that were kept.
    fn compare(&self, input: &RecordBatch, found: &RecordBatch, out: &OutRows<'_>) -> Result<()> {
        let rows = found.num_rows();
        for (batch, whose) in [(input, "input"), (found, "output")] {
            if let Some(missing) = self.columns.compared.iter().find(|name| batch.column_by_name(name).is_none()) {
                let (path, number) = out.locate(self.rows);
                let place = format!("{}: row {number}", path.display());
                return Err(differs(format!("{place}: column {missing:?} is not in this file of the {whose}")));
            }
        }
        let pair = |name: &String| -> Option<(ArrayRef, ArrayRef)> {
            Some((input.column_by_name(name)?.slice(0, rows), found.column_by_name(name)?.clone()))
        };
        let all: Vec<_> = self
            .columns
            .compared
            .par_iter()
            .filter_map(|name| {
                let (own, other) = pair(name)?;
                Some((first_difference(&own, &other, self.columns.is_text)?, name, own, other))
            })
            .collect();
        let Some((row, name, own, other)) = all.into_iter().min_by_key(|(row, ..)| *row) else { return Ok(()) };
        let (path, number) = out.locate(self.rows + row as u64);
        let place = format!("{}: row {number}", path.display());
        if let Some(problem) = self.shifted(input, found, row) {
            return Err(differs(format!("{place}: {problem}")));
        }
        let id = self.columns.id.as_ref().filter(|id| self.columns.compared.contains(id));
        if id.and_then(pair).is_some_and(|(own, other)| {
            first_difference(&own.slice(row, 1), &other.slice(row, 1), self.columns.is_text).is_some()
        }) {
            return Err(differs(format!(
                "{place}: the rows are in another order, or the ID was changed: the input has another ID there"
            )));
        }
        let (found, expected) = (shown(&other, row), shown(&own, row));
        Err(differs(format!("{place}, column {name:?}: the value is {found}, and the input has {expected}")))
    }

    /// Whether a row of the input is missing from the output, or one too many is in it, from a row on that differs.
    fn shifted(&self, input: &RecordBatch, found: &RecordBatch, row: usize) -> Option<String> {
        let same = |one: &RecordBatch, a: usize, other: &RecordBatch, b: usize| {
            a < one.num_rows()
                && b < other.num_rows()
                && self.columns.compared.iter().all(|name| {
                    match (one.column_by_name(name), other.column_by_name(name)) {
                        (Some(x), Some(y)) => {
                            first_difference(&x.slice(a, 1), &y.slice(b, 1), self.columns.is_text).is_none()
                        }
                        _ => false,
                    }
                })
        };
        if same(input, row + 1, found, row) && !same(input, row, found, row + 1) {
            return Some(format!("row {} of the input is missing here", self.rows + row as u64 + 1));
        }
        if same(input, row, found, row + 1) && !same(input, row + 1, found, row) {
            let twice = row > 0 && same(found, row, found, row - 1);
            return Some(if twice { "the row before is there twice" } else { "the input has no such row" }.into());
        }
        None
    }

    /// The labels of a column; none for rows that were left out.
    fn labels(&self, column: &str, piece: &TableBatch, found: &RecordBatch, out: &OutRows<'_>) -> Result<Vec<Label>> {
        let classes = piece.table.classes();
        let text = text_of(found, column)?;
        let kept = piece.table.row_mask();
        let mut labels = Vec::with_capacity(piece.table.rows());
        for row in 0..text.len() {
            let value = if text.is_null(row) { "" } else { text.value(row) };
            let problem = match (kept.contains(row), value) {
                (false, "") => continue,
                (false, _) => "the row was left out, and has a label",
                (true, "") => "the row has no label",
                (true, "Uncoded") => {
                    labels.push(UNCODED);
                    continue;
                }
                (true, value) => match position(classes, value) {
                    Some(label) => {
                        labels.push(label);
                        continue;
                    }
                    None => "unknown class",
                },
            };
            let (path, number) = out.locate(self.rows + row as u64);
            return Err(differs(format!("{}: row {number}, column {column:?}: {problem}", path.display())));
        }
        Ok(labels)
    }

    fn look_at_labels(
        &mut self,
        piece: &TableBatch,
        found: &RecordBatch,
        scores: &Scores<'_>,
        out: &OutRows<'_>,
    ) -> Result<()> {
        let columns: Vec<(String, Option<String>)> = self.columns.labels.clone();
        for (draw, (name, score)) in columns.iter().enumerate() {
            let labels = self.labels(name, piece, found, out)?;
            if let Some(score) = score {
                self.check_scores(score, &labels, piece, found, out)?;
            }
            let decided = match (&mut self.applier, self.decision) {
                (Some(applier), _) if draw == 0 => Some(applier.label(scores)),
                (_, Some(decision)) => Some(decision.draw(scores, draw as u64)),
                _ => None,
            };
            if let (Some(decided), None) = (decided, &self.undecided) {
                let decided = decided.map_err(|error| piece.locate(error))?;
                let differ = (0..labels.len()).find(|&row| labels[row] != decided.values()[row]);
                if let Some(row) = differ {
                    let (path, number) = out.locate(self.number(row));
                    let (label, other) = (labels[row], decided.values()[row]);
                    let (label, other) = (piece.table.classes().name(label), piece.table.classes().name(other));
                    self.undecided = Some(Difference(format!(
                        "{}: row {number}, column {name:?}: the label is {label:?}, and the decision gives {other:?}",
                        path.display()
                    )));
                }
            }
            if draw == 0 {
                self.add_labels(piece, scores, &labels)?;
            }
        }
        Ok(())
    }

    /// Checks that the score beside a label is that of the label.
    fn check_scores(
        &self,
        column: &str,
        labels: &[Label],
        piece: &TableBatch,
        found: &RecordBatch,
        out: &OutRows<'_>,
    ) -> Result<()> {
        let values = found.column_by_name(column).ok_or_else(|| anyhow!("the output has no column {column:?}"))?;
        let is_single = values.data_type() == &DataType::Float32 || piece.table.is_single_precision();
        let numbers = cast(values, &DataType::Float64)?;
        let numbers = numbers.as_primitive::<Float64Type>();
        let expected = piece.table.label_scores(0, labels)?;
        let mut own = expected.into_iter();
        for row in 0..numbers.len() {
            let expected = if piece.table.row_mask().contains(row) { own.next().flatten() } else { None };
            let value = numbers.is_valid(row).then(|| numbers.value(row));
            let same = match (value, expected) {
                (Some(value), Some(expected)) => value == expected || is_single && value as f32 == expected as f32,
                (None, None) => true,
                _ => false,
            };
            if !same {
                let (path, number) = out.locate(self.rows + row as u64);
                let shown = |value: Option<f64>| value.map_or_else(|| "empty".into(), |value| value.to_string());
                return Err(differs(format!(
                    "{}: row {number}, column {column:?}: the value is {}, and the score of the label is {}",
                    path.display(),
                    shown(value),
                    shown(expected)
                )));
            }
        }
        Ok(())
    }

    /// Adds rows to what the proof needs.
    fn add_labels(&mut self, piece: &TableBatch, scores: &Scores<'_>, labels: &[Label]) -> Result<()> {
        let (first, places, truth) = (self.rows, self.places.clone(), scores.truth());
        let number = |row: usize| places.as_ref().map_or(first + row as u64, |places| places[row]);
        let feed = |verifier: &mut Verifier, range: std::ops::Range<usize>| {
            scores.read_rows(range, |row, units| {
                let group = piece.groups.get(row).map_or(0, |&group| group as usize);
                verifier.add_label(group, number(row), units, labels[row], truth.map(|truth| truth[row]), 1);
                Ok(())
            })
        };
        self.in_stretches(labels.len(), piece, feed)
    }

    fn in_stretches(
        &mut self,
        rows: usize,
        piece: &TableBatch,
        feed: impl Fn(&mut Verifier, std::ops::Range<usize>) -> apportion::Result<()> + Sync,
    ) -> Result<()> {
        if self.known_groups > MOST_SPLIT {
            return feed(&mut self.verifier, 0..rows).map_err(|error| piece.locate(error).into());
        }
        let starts: Vec<usize> = (0..rows).step_by(STRETCH).collect();
        let empty = self.verifier.part();
        let parts: Vec<apportion::Result<Verifier>> = starts
            .into_par_iter()
            .map(|start| {
                let mut part = empty.part();
                feed(&mut part, start..rows.min(start + STRETCH)).map(|()| part)
            })
            .collect();
        for part in parts {
            self.verifier.merge(&part.map_err(|error| piece.locate(error))?);
        }
        Ok(())
    }

    /// Rows that stand for several people.
    fn look_at_people(
        &mut self,
        piece: &TableBatch,
        found: &RecordBatch,
        scores: &Scores<'_>,
        out: &OutRows<'_>,
    ) -> Result<()> {
        let kept = piece.table.row_mask();
        let nodes = self.columns.people.len();
        let mut people = vec![0; piece.table.rows() * nodes];
        for (class, name) in self.columns.people.iter().enumerate() {
            let column = found.column_by_name(name).ok_or_else(|| anyhow!("the output has no column {name:?}"))?;
            let numbers = whole_numbers(column)?;
            let numbers = numbers.as_primitive::<UInt64Type>();
            let mut own = people.iter_mut().skip(class).step_by(nodes);
            for row in 0..numbers.len() {
                let (has, is_kept) = (numbers.is_valid(row), kept.contains(row));
                if has != is_kept {
                    let (path, number) = out.locate(self.rows + row as u64);
                    let problem = if has { "the row was left out, and has people" } else { "there is no whole number" };
                    return Err(differs(format!("{}: row {number}, column {name:?}: {problem}", path.display())));
                }
                if let (true, Some(own)) = (is_kept, is_kept.then(|| own.next()).flatten()) {
                    *own = numbers.value(row);
                }
            }
        }
        let counts = scores.counts().unwrap_or_default();
        let decided = match self.decision.filter(|_| self.applier.is_some()) {
            Some(decision) => Some(decision.allot(scores, 0).map_err(|error| piece.locate(error))?),
            None => None,
        };
        for (row, own) in people.chunks_exact(nodes).enumerate() {
            let place = || {
                let (path, number) = out.locate(self.number(row));
                format!("{}: row {number}", path.display())
            };
            let sum: u128 = own.iter().map(|&people| u128::from(people)).sum();
            if counts.get(row).map(|&count| u128::from(count)) != Some(sum) {
                let count = counts.get(row).copied().unwrap_or(0);
                return Err(differs(format!(
                    "{}: the n_ columns sum to {sum} people, but the row has {count}",
                    place()
                )));
            }
            let differ =
                decided.as_ref().and_then(|decided| (0..nodes).find(|&class| decided.row(row)[class] != own[class]));
            if let (Some(class), None) = (differ, &self.undecided) {
                let expected = decided.as_ref().map_or(0, |decided| decided.row(row)[class]);
                self.undecided = Some(Difference(format!(
                    "{}, column {:?}: the value is {}, and the decision gives {expected}",
                    place(),
                    self.columns.people[class],
                    own[class]
                )));
            }
        }
        let (first, places, truth) = (self.rows, self.places.clone(), scores.truth());
        let number = |row: usize| places.as_ref().map_or(first + row as u64, |places| places[row]);
        let feed = |verifier: &mut Verifier, range: std::ops::Range<usize>| {
            scores.read_rows(range, |row, units| {
                let group = piece.groups.get(row).map_or(0, |&group| group as usize);
                let truth = truth.map(|truth| truth[row]);
                verifier.add_people(group, number(row), units, &people[row * nodes..][..nodes], truth);
                Ok(())
            })
        };
        self.in_stretches(piece.table.rows(), piece, feed)
    }
}

/// A column of whole numbers; null where a cell holds something else.
fn whole_numbers(column: &ArrayRef) -> Result<ArrayRef> {
    if column.data_type().is_integer() {
        return Ok(cast(column, &DataType::UInt64)?);
    }
    // Text is read as it is, so that 1.5 does not become 1.
    Ok(cast(&cast(column, &DataType::Utf8)?, &DataType::UInt64)?)
}

fn position(classes: &Classes, name: &str) -> Option<Label> {
    classes.names().iter().position(|class| class == name).map(|class| class as Label)
}

fn text_of(found: &RecordBatch, column: &str) -> Result<StringArray> {
    let values = found
        .column_by_name(column)
        .ok_or_else(|| anyhow!("the output has no column {column:?} of labels; name it with --label"))?;
    as_text(values).ok_or_else(|| anyhow!("column {column:?} of the output holds no text; name another with --label"))
}
