//! One pass over scores and output together: compares rows, labels and label scores, and computes the sums for the
//! proof.

use std::collections::HashMap;
use std::ops::Range;

use apportion::decision::{Applier, Fitted, GroupPrices, UnknownGroups};
use apportion::text::{Message, Setting, counted};
use apportion::verify::{GRID, Prices, Verifier};
use apportion::{Classes, Decision, Groups, Keys, Label, Scores, UNCODED};
use apportion_io::{
    CellDifference, ComparedSide, RowComparison, RowReader, RowShift, Rows, TableBatch, TableStream, TextValues,
};
use rayon::prelude::*;

use super::columns::Columns;
use super::stop::{Checked, differs};
use crate::{Error, Result};

/// Number of rows that a thread adds at a time.
const CHUNK: usize = 8192;
/// The maximum number of groups for which each thread keeps its own sums.
const MAX_SPLIT_GROUPS: usize = 64;

/// The pass, and its findings so far.
pub(super) struct Pass<'a> {
    pub(super) columns: Columns,
    pub(super) decision: Option<&'a Decision>,
    /// Labels rows with the decision; `None` if its labels cannot be compared.
    pub(super) applier: Option<Applier<'a>>,
    pub(super) verifier: Verifier,
    /// Whether the decision has prices, at which every label should be optimal.
    pub(super) has_prices: bool,
    pub(super) group_names: Vec<String>,
    known_groups: usize,
    /// The indices of the current batch's rows among all rows, if some rows are excluded.
    row_indices: Option<Vec<u64>>,
    /// The first row whose label differs from that of the decision.
    pub(super) decision_difference: Option<Message>,
    pub(super) rows: u64,
    pub(super) excluded: u64,
    prices: HashMap<Option<String>, Prices>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        columns: Columns,
        decision: Option<&'a Decision>,
        verifier: Verifier,
        by_group: bool,
        unknown: UnknownGroups,
    ) -> Result<Pass<'a>> {
        let mut prices: HashMap<Option<String>, Prices> = HashMap::new();
        let units = |own: &GroupPrices| own.prices.iter().map(|price| price.map(|price| GRID.round(price))).collect();
        if let Some(decision) = decision.filter(|decision| decision.groups().is_some()) {
            let of_unknown = decision.prices_of_unknown_groups(unknown)?;
            prices.extend(of_unknown.map(|own| (None, units(&own))));
        }
        if let Some(Fitted::Prices(groups)) = decision.map(Decision::fitted) {
            prices.extend(groups.iter().map(|own| (own.group.clone(), units(own))));
        }
        let mut pass = Pass {
            columns,
            decision,
            applier: decision.map(Decision::applier),
            verifier,
            has_prices: !prices.is_empty(),
            group_names: Vec::new(),
            known_groups: 0,
            row_indices: None,
            decision_difference: None,
            rows: 0,
            excluded: 0,
            prices,
        };
        if let (false, Some(prices)) = (by_group, pass.prices.get(&None).cloned()) {
            pass.verifier.set_prices(0, prices);
        }
        Ok(pass)
    }

    /// Checks some rows of the input against the same rows of the output.
    pub(super) fn check_batch(
        &mut self,
        batch: &TableBatch,
        output: &mut RowReader<'_>,
        stream: &TableStream<'_>,
    ) -> Checked<()> {
        let rows = batch.rows();
        if rows == 0 {
            return Ok(());
        }
        let Some(found) = output.next_rows(rows)? else { return Err(self.missing_row(0)) };
        self.compare(batch, &found, output)?;
        if found.len() < rows {
            return Err(self.missing_row(found.len()));
        }
        self.name_groups(stream);
        let names = std::mem::take(&mut self.group_names);
        self.known_groups = names.len();
        let checked = self.check_values(batch, &found, &names, output);
        self.group_names = names;
        checked?;
        self.rows += rows as u64;
        self.excluded += (rows - batch.table.rows()) as u64;
        Ok(())
    }

    fn check_values(
        &mut self,
        batch: &TableBatch,
        found: &Rows,
        names: &[String],
        output: &RowReader<'_>,
    ) -> Checked<()> {
        self.row_indices = self.row_indices_of(batch);
        let keys = self.row_indices.clone();
        let mut scores = batch.table.scores()?;
        if self.columns.id.is_none() {
            scores = scores.with_keys(match &keys {
                Some(keys) => Keys::Given(keys),
                None => Keys::Index(self.rows),
            })?;
        }
        if !batch.groups.is_empty() {
            scores = scores.with_groups(Groups { codes: &batch.groups, names })?;
        }
        if self.columns.people.is_empty() {
            self.check_labels(batch, found, &scores, output)
        } else {
            self.check_people(batch, found, &scores, output)
        }
    }

    /// Returns the indices of the table's rows among all rows if some are excluded; they are the keys of rows without
    /// an ID.
    fn row_indices_of(&self, batch: &TableBatch) -> Option<Vec<u64>> {
        let mask = batch.table.row_mask();
        if mask.count() == mask.total() {
            return None;
        }
        let kept = (0..mask.total()).filter(|&row| mask.contains(row));
        Some(kept.map(|row| self.rows + row as u64).collect())
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

    /// Returns the index among all rows of a row of the current table.
    fn row_index(&self, row: usize) -> u64 {
        self.row_indices.as_ref().map_or(self.rows + row as u64, |indices| indices[row])
    }

    /// Returns the difference for an input row that is missing at the end of the output.
    fn missing_row(&self, found: usize) -> super::stop::Stop {
        let rows = self.rows + found as u64;
        let written = counted(rows, "row", "rows");
        differs(format!("the output ends after {written}; row {} of the input is not in it", rows + 1))
    }

    /// Compares the columns that the output repeats.
    fn compare(&self, batch: &TableBatch, found: &Rows, output: &RowReader<'_>) -> Checked<()> {
        let comparison = RowComparison::new(batch, found, &self.columns.compared, self.columns.is_text);
        if let Some((column, side)) = comparison.missing_column() {
            let side = match side {
                ComparedSide::Input => "input",
                ComparedSide::Output => "output",
            };
            let place = located(output, self.rows);
            return Err(differs(format!("{place}: column {column:?} is not in this file of the {side}")));
        }
        let Some(difference) = comparison.first_difference() else { return Ok(()) };
        let CellDifference { row, column, input, output: value } = difference;
        let index = self.rows + row as u64;
        let place = located(output, index);
        let problem = match comparison.shift_at(row) {
            Some(RowShift::Missing) => Some(format!("row {} of the input is missing here", index + 1)),
            Some(RowShift::Repeated) => Some("the previous row is repeated".into()),
            Some(RowShift::Added) => Some("the input has no such row".into()),
            None => None,
        };
        if let Some(problem) = problem {
            return Err(differs(format!("{place}: {problem}")));
        }
        if self.columns.id.as_ref().is_some_and(|id| comparison.differs_at(id, row)) {
            return Err(differs(format!(
                "{place}: the rows are in a different order, or the ID was changed: the input has a different ID there"
            )));
        }
        Err(differs(format!("{place}, column {column:?}: the value is {value}, but the input has {input}")))
    }

    /// Returns the labels of a column, without excluded rows.
    fn labels(&self, column: &str, batch: &TableBatch, found: &Rows, output: &RowReader<'_>) -> Checked<Vec<Label>> {
        let classes = batch.table.classes();
        let text = label_text(found, column)?;
        let mask = batch.table.row_mask();
        let mut labels = Vec::with_capacity(batch.table.rows());
        for row in 0..found.len() {
            let value = text.get(row).unwrap_or_default();
            let problem = match (mask.contains(row), value) {
                (false, "") => continue,
                (false, _) => "the row was excluded, but has a label",
                (true, "") => "the row has no label",
                (true, "Uncoded") => {
                    labels.push(UNCODED);
                    continue;
                }
                (true, value) => match class_index(classes, value) {
                    Some(label) => {
                        labels.push(label);
                        continue;
                    }
                    None => "unknown class",
                },
            };
            let place = located(output, self.rows + row as u64);
            return Err(differs(format!("{place}, column {column:?}: {problem}")));
        }
        Ok(labels)
    }

    fn check_labels(
        &mut self,
        batch: &TableBatch,
        found: &Rows,
        scores: &Scores<'_>,
        output: &RowReader<'_>,
    ) -> Checked<()> {
        let columns = self.columns.labels.clone();
        for (draw, (name, score)) in columns.iter().enumerate() {
            let labels = self.labels(name, batch, found, output)?;
            if let Some(score) = score {
                self.check_scores(score, &labels, batch, found, output)?;
            }
            let decided = match (&mut self.applier, self.decision) {
                (Some(applier), _) if draw == 0 => Some(applier.label(scores)),
                (_, Some(decision)) => Some(decision.draw(scores, draw as u64)),
                (_, None) => None,
            };
            if let (Some(decided), None) = (decided, &self.decision_difference) {
                let decided = decided.map_err(|error| batch.locate(error))?;
                let differing = (0..labels.len()).find(|&row| labels[row] != decided.values()[row]);
                if let Some(row) = differing {
                    let classes = batch.table.classes();
                    let (label, other) = (classes.name(labels[row]), classes.name(decided.values()[row]));
                    let place = located(output, self.row_index(row));
                    let problem = format!("the label is {label:?}, but the decision gives {other:?}");
                    self.decision_difference = Some(format!("{place}, column {name:?}: {problem}").into());
                }
            }
            if draw == 0 {
                self.add_labels(batch, scores, &labels)?;
            }
        }
        Ok(())
    }

    /// Checks that the score next to a label is the score of that label.
    fn check_scores(
        &self,
        column: &str,
        labels: &[Label],
        batch: &TableBatch,
        found: &Rows,
        output: &RowReader<'_>,
    ) -> Checked<()> {
        let Some(numbers) = found.numbers(column) else { return Err(no_numbers(found, column).into()) };
        let is_single = numbers.is_single_precision() || batch.table.is_single_precision();
        let mut expected_scores = batch.table.label_scores(0, labels)?.into_iter();
        for row in 0..found.len() {
            let is_kept = batch.table.row_mask().contains(row);
            let expected = if is_kept { expected_scores.next().flatten() } else { None };
            let value = numbers.get(row);
            let is_same = match (value, expected) {
                (Some(value), Some(expected)) => value == expected || is_single && value as f32 == expected as f32,
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            if !is_same {
                let shown = |value: Option<f64>| value.map_or_else(|| "empty".into(), |value| value.to_string());
                let problem =
                    format!("the value is {}, but the score of the label is {}", shown(value), shown(expected));
                let place = located(output, self.rows + row as u64);
                return Err(differs(format!("{place}, column {column:?}: {problem}")));
            }
        }
        Ok(())
    }

    /// Adds labeled rows to the sums of the proof.
    fn add_labels(&mut self, batch: &TableBatch, scores: &Scores<'_>, labels: &[Label]) -> Result<()> {
        let (first, indices, truth) = (self.rows, self.row_indices.clone(), scores.truth());
        let row_index = |row: usize| indices.as_ref().map_or(first + row as u64, |indices| indices[row]);
        let add = |verifier: &mut Verifier, range: Range<usize>| {
            scores.read_rows(range, |row, units| {
                let group = batch.groups.get(row).map_or(0, |&group| group as usize);
                verifier.add_label(group, row_index(row), units, labels[row], truth.map(|truth| truth[row]), 1);
                Ok(())
            })
        };
        self.add_in_chunks(labels.len(), batch, add)
    }

    fn add_in_chunks(
        &mut self,
        rows: usize,
        batch: &TableBatch,
        add: impl Fn(&mut Verifier, Range<usize>) -> apportion::Result<()> + Sync,
    ) -> Result<()> {
        if self.known_groups > MAX_SPLIT_GROUPS {
            return Ok(add(&mut self.verifier, 0..rows).map_err(|error| batch.locate(error))?);
        }
        let starts: Vec<usize> = (0..rows).step_by(CHUNK).collect();
        let empty = self.verifier.part();
        let parts: Vec<apportion::Result<Verifier>> = starts
            .into_par_iter()
            .map(|start| {
                let mut part = empty.part();
                add(&mut part, start..rows.min(start + CHUNK)).map(|()| part)
            })
            .collect();
        for part in parts {
            self.verifier.merge(&part.map_err(|error| batch.locate(error))?);
        }
        Ok(())
    }

    /// Checks cells: rows that represent several people.
    fn check_people(
        &mut self,
        batch: &TableBatch,
        found: &Rows,
        scores: &Scores<'_>,
        output: &RowReader<'_>,
    ) -> Checked<()> {
        let people = self.people(batch, found, output)?;
        let columns = self.columns.people.len();
        let counts = scores.counts().unwrap_or_default();
        let decided = match self.decision.filter(|_| self.applier.is_some()) {
            Some(decision) => Some(decision.allot(scores, 0).map_err(|error| batch.locate(error))?),
            None => None,
        };
        for (row, own) in people.chunks_exact(columns).enumerate() {
            let sum: u128 = own.iter().map(|&people| u128::from(people)).sum();
            let count = counts.get(row).copied();
            if count.map(u128::from) != Some(sum) {
                let place = located(output, self.row_index(row));
                let count = count.unwrap_or(0);
                return Err(differs(format!(
                    "{place}: the n_ columns sum to {sum}, but the row has a count of {count}"
                )));
            }
            let (Some(decided), None) = (&decided, &self.decision_difference) else { continue };
            let expected = decided.row(row);
            if let Some(class) = (0..columns).find(|&class| expected[class] != own[class]) {
                let (value, expected) = (own[class], expected[class]);
                let place = located(output, self.row_index(row));
                let column = &self.columns.people[class];
                let problem = format!("the value is {value}, but the decision gives {expected}");
                self.decision_difference = Some(format!("{place}, column {column:?}: {problem}").into());
            }
        }
        let (first, indices, truth) = (self.rows, self.row_indices.clone(), scores.truth());
        let row_index = |row: usize| indices.as_ref().map_or(first + row as u64, |indices| indices[row]);
        let add = |verifier: &mut Verifier, range: Range<usize>| {
            scores.read_rows(range, |row, units| {
                let group = batch.groups.get(row).map_or(0, |&group| group as usize);
                let truth = truth.map(|truth| truth[row]);
                verifier.add_people(group, row_index(row), units, &people[row * columns..][..columns], truth);
                Ok(())
            })
        };
        Ok(self.add_in_chunks(batch.table.rows(), batch, add)?)
    }

    /// Returns the people of each class, and unlabeled people, row by row.
    fn people(&self, batch: &TableBatch, found: &Rows, output: &RowReader<'_>) -> Checked<Vec<u64>> {
        let mask = batch.table.row_mask();
        let columns = self.columns.people.len();
        let mut people = vec![0; batch.table.rows() * columns];
        for (class, name) in self.columns.people.iter().enumerate() {
            let Some(counts) = found.counts(name) else { return Err(no_numbers(found, name).into()) };
            let mut cells = people.iter_mut().skip(class).step_by(columns);
            for row in 0..found.len() {
                let problem = match (mask.contains(row), counts.get(row)) {
                    (true, Some(count)) => {
                        if let Some(cell) = cells.next() {
                            *cell = count;
                        }
                        continue;
                    }
                    (false, None) => continue,
                    (false, Some(_)) => "the row was excluded, but has people",
                    (true, None) => "the value is not a whole number",
                };
                let place = located(output, self.rows + row as u64);
                return Err(differs(format!("{place}, column {name:?}: {problem}")));
            }
        }
        Ok(people)
    }
}

/// Returns the file and row number of a row, given its index among all rows.
pub(super) fn located(output: &RowReader<'_>, row: u64) -> String {
    let (path, number) = output.locate(row);
    format!("{}: row {number}", path.display())
}

fn class_index(classes: &Classes, name: &str) -> Option<Label> {
    classes.names().iter().position(|class| class == name).map(|class| class as Label)
}

fn label_text<'a>(found: &'a Rows, column: &str) -> Result<TextValues<'a>> {
    if let Some(text) = found.text(column) {
        return Ok(text);
    }
    let problem = match found.has(column) {
        false => Message::from(format!("the output has no label column {column:?}; name it with ")),
        true => Message::from(format!("column {column:?} of the output does not contain text; name another with ")),
    };
    Err(Error::Data(problem + Setting::Label))
}

fn no_numbers(found: &Rows, column: &str) -> Error {
    Error::data(match found.has(column) {
        false => format!("the output has no column {column:?}"),
        true => format!("column {column:?} of the output does not contain numbers"),
    })
}
