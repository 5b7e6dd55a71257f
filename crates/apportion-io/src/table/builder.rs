//! Builds a score table from batches of rows.

use std::path::{Path, PathBuf};

use apportion::text::{Message, Setting, count, counted, quoted};
use apportion::{Classes, Scaling, Scores, seed};

use super::class_column::{ClassColumn, ClassColumnBuilder, ClassTexts};
use super::column::{Column, ColumnTexts, Values};
use super::control::{ClusterBuilder, ControlBuilder, ControlColumn};
use super::groups::GroupBuilder;
use super::memory_table::MemoryTable;
use super::number::{fill_suppressed, is_suppressed, parse_count, parse_number};
use super::outcome::{OutcomeBuilder, OutcomeColumn};
use super::percentages::{Percentages, SAMPLE_ROWS};
use super::row_mask::RowMask;
use super::score_columns::{
    RecognizedScores, ScoreColumns, abbreviated_names, find_column, find_scores, normalize_name, without_shared_prefix,
};
use super::score_table::{CancelByProgress, Table, TableOptions};
use super::spill::{Budget, ScoreValues};
use super::weights::Weights;
use crate::error::{Error, Result};

/// Maximum number of cells if they have fewer than two people on average, so that they cannot
/// exhaust memory.
const MAX_SPARSE_CELLS: usize = 1 << 20;

/// Collects the columns that the rules need, batch by batch.
pub(crate) struct TableBuilder {
    options: TableOptions,
    columns: ScoreColumns,
    recognized: Option<RecognizedScores>,
    classes: Classes,
    /// The names of the columns of the current file.
    names: Vec<String>,
    indices: ColumnIndices,
    values: ScoreValues,
    percentages: Percentages,
    keys: Vec<u64>,
    rows_without_id: u64,
    groups: GroupBuilder,
    cells: GroupBuilder,
    covariates: GroupBuilder,
    outcome: OutcomeBuilder,
    weights: Weights,
    controls: Vec<ControlBuilder>,
    clusters: ClusterBuilder,
    prediction: OutcomeBuilder,
    truth: ClassColumnBuilder,
    labels: Vec<ClassColumnBuilder>,
    counts: Vec<u64>,
    files: Vec<(PathBuf, usize)>,
    row_mask: RowMask,
    /// Number of rows that were excluded because only some of their scores are missing.
    partial_rows: u64,
    /// Rows that were already returned by [`TableBuilder::drain`].
    drained_rows: usize,
}

/// The indices of the columns in the current file.
#[derive(Default)]
struct ColumnIndices {
    scores: Vec<usize>,
    id: Option<usize>,
    by: Vec<usize>,
    truth: Option<ClassIndex>,
    labels: Vec<ClassIndex>,
    outcome: Option<usize>,
    weight: Option<usize>,
    prediction: Option<usize>,
    cells: Vec<usize>,
    controls: Vec<usize>,
    cluster: Option<usize>,
    /// The group columns and the covariates, if there are covariates.
    covariates: Vec<usize>,
    count: Option<usize>,
}

/// The indices of a column of classes, and of the ethnicity if it is read.
#[derive(Clone, Copy)]
struct ClassIndex {
    column: usize,
    ethnicity: Option<usize>,
}

impl ClassIndex {
    fn of(names: &[String], column: &ClassColumn) -> Result<ClassIndex> {
        Ok(ClassIndex {
            column: find_column(names, &column.column, column.settings.column)?,
            ethnicity: column.ethnicity_index(names)?,
        })
    }

    fn all(self) -> impl Iterator<Item = usize> {
        std::iter::once(self.column).chain(self.ethnicity)
    }
}

impl ColumnIndices {
    fn of(names: &[String], columns: &ScoreColumns, options: &TableOptions) -> Result<ColumnIndices> {
        let optional =
            |name: Option<&String>, setting: Setting| name.map(|name| find_column(names, name, setting)).transpose();
        let class_column = |column: &ClassColumn| ClassIndex::of(names, column);
        Ok(ColumnIndices {
            scores: columns
                .columns
                .iter()
                .map(|name| find_column(names, name, Setting::Scores))
                .collect::<Result<_>>()?,
            id: optional(options.id.as_ref(), Setting::Id)?,
            by: options.by.iter().map(|name| find_column(names, name, options.by_setting)).collect::<Result<_>>()?,
            truth: options.truth.as_ref().map(class_column).transpose()?,
            labels: options.labels.iter().map(class_column).collect::<Result<_>>()?,
            outcome: optional(options.outcome.as_ref().map(|outcome| &outcome.column), Setting::Outcome)?,
            weight: optional(options.weight.as_ref(), Setting::Weight)?,
            prediction: optional(options.prediction.as_ref(), Setting::Prediction)?,
            cells: options.cells.iter().map(|name| find_column(names, name, Setting::Cells)).collect::<Result<_>>()?,
            controls: options
                .controls
                .iter()
                .map(|control| find_column(names, &control.column, Setting::Controls))
                .collect::<Result<_>>()?,
            cluster: optional(options.cluster.as_ref(), Setting::Cluster)?,
            covariates: covariates_of(names, options)?,
            count: optional(options.count.as_ref(), Setting::Count)?,
        })
    }

    fn all(&self) -> impl Iterator<Item = usize> + '_ {
        let single =
            [self.id, self.outcome, self.prediction, self.weight, self.cluster, self.count].into_iter().flatten();
        let several = [&self.scores, &self.by, &self.cells, &self.covariates, &self.controls].into_iter().flatten();
        let classes = self.truth.iter().chain(&self.labels).flat_map(|index| index.all());
        several.copied().chain(single).chain(classes)
    }
}

/// A batch, and its selected rows.
struct SelectedRows<'b> {
    columns: &'b [Column<'b>],
    /// The number of rows of the batch.
    total: usize,
    /// The indices of the selected rows; `None` if all are selected.
    selected: Option<Vec<usize>>,
}

impl SelectedRows<'_> {
    fn len(&self) -> usize {
        self.selected.as_ref().map_or(self.total, Vec::len)
    }

    /// Returns the index in the batch of each selected row.
    fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(move |index| self.selected.as_ref().map_or(index, |rows| rows[index]))
    }
}

impl TableBuilder {
    /// Finds the score columns of the first file and checks the options.
    pub(crate) fn new(names: &[String], path: &Path, options: &TableOptions) -> Result<TableBuilder> {
        let (mut columns, mut recognized) = if options.scores.is_empty() {
            let found = find_scores(names).map_err(|error| Error::file(path, error.message()))?;
            let found = found.ok_or_else(|| Error::file(path, no_scores_problem(names)))?;
            (found.scores.clone(), Some(found))
        } else {
            (ScoreColumns::named(&options.scores, names)?, None)
        };
        if !options.classes.is_empty() {
            columns = reorder_classes(&columns, &options.classes)?;
            recognized.iter_mut().for_each(|recognized| recognized.renamed = false);
        }
        let classes = Classes::new(columns.classes.clone()).map_err(|error| class_error(error, options))?;
        let mut options = options.clone();
        for column in options.truth.iter_mut().chain(&mut options.labels) {
            column.check_map(&classes)?;
            column.add_vocabulary(&classes);
        }
        let indices = ColumnIndices::of(names, &columns, &options)?;
        refuse_other_roles(&indices, &options.controls)?;
        Ok(TableBuilder {
            values: ScoreValues::new(classes.len(), Budget::of(options.memory)),
            columns,
            recognized,
            classes,
            names: Vec::new(),
            indices: ColumnIndices::default(),
            percentages: Percentages::default(),
            keys: Vec::new(),
            rows_without_id: 0,
            groups: GroupBuilder::default(),
            cells: GroupBuilder::default(),
            covariates: GroupBuilder::default(),
            outcome: OutcomeBuilder::default(),
            weights: Weights::default(),
            controls: options.controls.iter().map(|_| ControlBuilder::default()).collect(),
            clusters: ClusterBuilder::default(),
            prediction: OutcomeBuilder::default(),
            truth: ClassColumnBuilder::default(),
            labels: options.labels.iter().map(|_| ClassColumnBuilder::default()).collect(),
            options,
            counts: Vec::new(),
            files: Vec::new(),
            row_mask: RowMask::default(),
            partial_rows: 0,
            drained_rows: 0,
        })
    }

    /// Returns the names of the required columns of a file, which may be in another order than in
    /// the first one.
    pub(crate) fn needed_columns(&self, names: &[String], path: &Path) -> Result<Vec<String>> {
        Ok(self.indices_in(names, path)?.all().map(|index| names[index].clone()).collect())
    }

    fn indices_in(&self, names: &[String], path: &Path) -> Result<ColumnIndices> {
        // Borrowed scores are not read again.
        let none = ScoreColumns::default();
        let columns = if matches!(self.values, ScoreValues::Borrowed(_)) { &none } else { &self.columns };
        ColumnIndices::of(names, columns, &self.options).map_err(|error| match error {
            Error::Settings(problem) if !self.files.is_empty() => Error::file(path, problem),
            error => error,
        })
    }

    /// Starts a file with these columns.
    pub(crate) fn begin(&mut self, names: &[String], path: &Path) -> Result<()> {
        self.indices = self.indices_in(names, path)?;
        self.names = names.to_vec();
        self.files.push((path.to_owned(), 0));
        Ok(())
    }

    /// Uses the scores of a table in memory in place, if all rows are used and all scores are plain
    /// numbers.
    pub(crate) fn borrow_scores(&mut self, table: &MemoryTable, names: &[String]) -> Result<()> {
        if self.options.only_with_truth || self.options.skip_missing {
            return Ok(());
        }
        let indices = ColumnIndices::of(names, &self.columns, &self.options)?.scores;
        if let Some(scores) = table.borrow_scores(&indices) {
            let first = scores.rows(0..scores.len().min(SAMPLE_ROWS));
            self.percentages.observe(&first, indices.len());
            self.values = ScoreValues::Borrowed(scores);
        }
        Ok(())
    }

    /// Prepares for about `rows` rows in the input, assuming that the share of excluded rows does not
    /// change.
    pub(crate) fn expect_rows(&mut self, rows: u64) -> Result<()> {
        let read: usize = self.files.iter().map(|(_, rows)| rows).sum();
        let share = self.values.len() as f64 / read.max(1) as f64;
        self.values.expect_rows((rows as f64 * share) as u64)
    }

    /// Adds the rows of a batch of the current file.
    pub(crate) fn push_batch(&mut self, columns: &[Column<'_>], total: usize) -> Result<()> {
        let selected = self.filter_rows(columns, total)?;
        self.push_scores(&selected)?;
        self.push_keys(&selected)?;
        self.push_groups(&selected)?;
        if let (Some(index), Some(column)) = (self.indices.truth, &self.options.truth) {
            self.truth.push(&self.class_texts(&selected, index)?, selected.rows(), column, &self.classes);
        }
        for label in 0..self.indices.labels.len() {
            let values = self.class_texts(&selected, self.indices.labels[label])?;
            self.labels[label].push(&values, selected.rows(), &self.options.labels[label], &self.classes);
        }
        self.push_outcomes(&selected)?;
        self.push_weights(&selected)?;
        self.push_controls(&selected)?;
        self.push_counts(&selected)?;
        if let Some((_, rows)) = self.files.last_mut() {
            *rows += total;
        }
        Ok(())
    }

    /// Selects the rows that are not excluded.
    fn filter_rows<'b>(&mut self, columns: &'b [Column<'b>], total: usize) -> Result<SelectedRows<'b>> {
        let whole = SelectedRows { columns, total, selected: None };
        let mut keep = vec![true; total];
        if let (true, Some(index), Some(column)) =
            (self.options.only_with_truth, self.indices.truth, &self.options.truth)
        {
            let truth = self.class_texts(&whole, index)?;
            for (row, keep) in keep.iter_mut().enumerate() {
                *keep = !column.excludes(truth.get(row));
            }
        }
        if self.options.skip_missing {
            let mut found = vec![FoundScores::default(); total];
            for &index in &self.indices.scores {
                mark_numbers(&columns[index], &mut found);
            }
            for (keep, found) in keep.iter_mut().zip(&found) {
                // A row with text that is not a number is kept, so that the text is refused.
                let is_skipped = !found.invalid && (found.missing || !found.score);
                self.partial_rows += u64::from(*keep && is_skipped && found.score);
                *keep &= !is_skipped;
            }
        }
        if keep.iter().all(|&keep| keep) {
            self.row_mask.push_kept(total);
            return Ok(whole);
        }
        keep.iter().for_each(|&keep| self.row_mask.push(keep));
        let selected = (0..total).filter(|&row| keep[row]).collect();
        Ok(SelectedRows { columns, total, selected: Some(selected) })
    }

    fn push_scores(&mut self, selected: &SelectedRows<'_>) -> Result<()> {
        if matches!(self.values, ScoreValues::Borrowed(_)) {
            return Ok(());
        }
        let (k, rows) = (self.indices.scores.len(), selected.len());
        let single = |&index: &usize| match selected.columns[index] {
            Column::F32(values) => Some(values),
            _ => None,
        };
        if let Some(singles) = self.indices.scores.iter().map(single).collect::<Option<Vec<Values<'_, f32>>>>() {
            let mut values = vec![0.0; rows * k];
            for (class, column) in singles.iter().enumerate() {
                let scores = values.iter_mut().skip(class).step_by(k);
                if selected.selected.is_none() && column.validity.is_none() {
                    scores.zip(column.values).for_each(|(value, &score)| *value = score);
                } else {
                    scores.zip(selected.rows()).for_each(|(value, row)| *value = column.get(row).unwrap_or(f32::NAN));
                }
            }
            self.percentages.observe(&values, k);
            return self.values.push_singles(&values);
        }
        let mut values = vec![0.0; rows * k];
        for (class, &index) in self.indices.scores.iter().enumerate() {
            self.each_number(selected, index, parse_number, |row, number| values[row * k + class] = number)?;
        }
        self.percentages.observe(&values, k);
        let percent = self.percentages.scaling() == Scaling::Percent;
        values.chunks_exact_mut(k).for_each(|row| fill_suppressed(row, percent));
        self.values.push_doubles(&values)
    }

    /// Calls `put` with the index and the number of each selected row; NaN if it is missing.
    fn each_number(
        &self,
        selected: &SelectedRows<'_>,
        index: usize,
        parse: fn(&str) -> Option<f64>,
        mut put: impl FnMut(usize, f64),
    ) -> Result<()> {
        let column = &selected.columns[index];
        if column.is_text() {
            let texts = self.text(selected, index)?;
            for (place, row) in selected.rows().enumerate() {
                let text = texts.get(row);
                let Some(number) = parse(text) else {
                    let problem = format!("{} is not a number; correct it, or name another column", quoted(text));
                    return Err(self.value_error(selected, index, place, problem));
                };
                put(place, number);
            }
            return Ok(());
        }
        column.each_number(selected.rows(), put).ok_or_else(|| {
            let problem = format!("the column contains {}, not numbers; name another", column.kind());
            self.value_error(selected, index, 0, problem)
        })
    }

    /// Returns a column as text, with empty strings for missing values.
    fn text<'b>(&self, selected: &SelectedRows<'b>, index: usize) -> Result<ColumnTexts<'b>> {
        let column = &selected.columns[index];
        column.texts().ok_or_else(|| {
            let problem = format!("the column contains {}, not text; name another", column.kind());
            self.value_error(selected, index, 0, problem)
        })
    }

    /// Returns a column of classes as text, with its ethnicity if it is read.
    fn class_texts<'b>(&self, selected: &SelectedRows<'b>, index: ClassIndex) -> Result<ClassTexts<'b>> {
        let ethnicity = index.ethnicity.map(|index| self.text(selected, index)).transpose()?;
        Ok(ClassTexts { values: self.text(selected, index.column)?, ethnicity })
    }

    /// Returns the error for a value of a selected row.
    fn value_error(&self, selected: &SelectedRows<'_>, index: usize, row: usize, problem: impl Into<Message>) -> Error {
        let (path, before) = self.files.last().cloned().unwrap_or_default();
        let row = selected.rows().nth(row).unwrap_or_default();
        Error::Value {
            path,
            row: (before + row) as u64 + 1,
            column: self.names[index].clone(),
            problem: problem.into(),
        }
    }

    fn push_keys(&mut self, selected: &SelectedRows<'_>) -> Result<()> {
        let Some(index) = self.indices.id else { return Ok(()) };
        let text = self.text(selected, index)?;
        let before = self.drained_rows + self.keys.len();
        for (index, row) in selected.rows().enumerate() {
            let id = text.get(row);
            self.rows_without_id += u64::from(id.is_empty());
            // Rows without an ID are different people: the row number distinguishes them.
            self.keys.push(match id {
                "" => seed::key_of_text(&format!("row {}", before + index)),
                id => seed::key_of_text(id),
            });
        }
        Ok(())
    }

    fn push_groups(&mut self, selected: &SelectedRows<'_>) -> Result<()> {
        let texts =
            |indices: &[usize]| indices.iter().map(|&index| self.text(selected, index)).collect::<Result<Vec<_>>>();
        let (by, cells) = (texts(&self.indices.by)?, texts(&self.indices.cells)?);
        let covariates = texts(&self.indices.covariates)?;
        if !by.is_empty() {
            self.groups.push(&by, selected.rows());
        }
        if !cells.is_empty() {
            self.cells.push(&cells, selected.rows());
        }
        if !covariates.is_empty() {
            self.covariates.push(&covariates, selected.rows());
        }
        let (found, rows) = (self.covariates.column.names.len(), self.covariates.column.ids.len());
        if found > MAX_SPARSE_CELLS && 2 * found > rows {
            return Err(too_many_groups(found as u64, rows as u64));
        }
        let (found, rows) = (self.cells.column.names.len(), self.cells.column.ids.len());
        if found > MAX_SPARSE_CELLS && 2 * found > rows {
            let (found, rows) = (count(found as u64), count(rows as u64));
            let problem = format!(
                ": {found} of the first {rows} rows are alone in their cell, so the bounds would carry no information; choose \
                 columns with fewer values"
            );
            return Err(Error::Settings(Message::from(Setting::Cells) + problem));
        }
        Ok(())
    }

    fn push_outcomes(&mut self, selected: &SelectedRows<'_>) -> Result<()> {
        if let (Some(index), Some(column)) = (self.indices.outcome, &self.options.outcome) {
            let builder = std::mem::take(&mut self.outcome);
            self.outcome = self.push_outcome(selected, index, column, builder)?;
        }
        if let Some(index) = self.indices.prediction {
            let builder = std::mem::take(&mut self.prediction);
            self.prediction = self.push_outcome(selected, index, &OutcomeColumn::default(), builder)?;
        }
        Ok(())
    }

    fn push_outcome(
        &self,
        selected: &SelectedRows<'_>,
        index: usize,
        column: &OutcomeColumn,
        mut builder: OutcomeBuilder,
    ) -> Result<OutcomeBuilder> {
        if selected.columns[index].is_numeric() {
            let mut numbers = Vec::with_capacity(selected.len());
            self.each_number(selected, index, parse_number, |_, number| numbers.push(number))?;
            for (row, number) in numbers.into_iter().enumerate() {
                builder
                    .push_number(number, column)
                    .map_err(|problem| self.value_error(selected, index, row, problem))?;
            }
        } else {
            let text = self.text(selected, index)?;
            for (place, row) in selected.rows().enumerate() {
                builder
                    .push_text(text.get(row), column)
                    .map_err(|problem| self.value_error(selected, index, place, problem))?;
            }
        }
        Ok(builder)
    }

    fn push_weights(&mut self, selected: &SelectedRows<'_>) -> Result<()> {
        let Some(index) = self.indices.weight else { return Ok(()) };
        let mut weights = std::mem::take(&mut self.weights);
        if selected.columns[index].is_text() {
            let text = self.text(selected, index)?;
            for (place, row) in selected.rows().enumerate() {
                let pushed = weights.push_text(text.get(row));
                pushed.map_err(|problem| self.value_error(selected, index, place, problem))?;
            }
        } else {
            let mut numbers = Vec::with_capacity(selected.len());
            self.each_number(selected, index, parse_number, |_, number| numbers.push(number))?;
            for (place, number) in numbers.into_iter().enumerate() {
                weights.push(number).map_err(|problem| self.value_error(selected, index, place, problem))?;
            }
        }
        self.weights = weights;
        Ok(())
    }

    fn push_controls(&mut self, selected: &SelectedRows<'_>) -> Result<()> {
        let mut builders = std::mem::take(&mut self.controls);
        let columns = self.indices.controls.iter().zip(&self.options.controls);
        for (builder, (&index, column)) in builders.iter_mut().zip(columns) {
            if selected.columns[index].is_numeric() {
                let mut numbers = Vec::with_capacity(selected.len());
                self.each_number(selected, index, parse_number, |_, number| numbers.push(number))?;
                for (row, number) in numbers.into_iter().enumerate() {
                    let pushed = builder.push_number(number, column);
                    pushed.map_err(|problem| self.value_error(selected, index, row, problem))?;
                }
            } else {
                let text = self.text(selected, index)?;
                for (place, row) in selected.rows().enumerate() {
                    let pushed = builder.push_text(text.get(row), column);
                    pushed.map_err(|problem| self.value_error(selected, index, place, problem))?;
                }
            }
        }
        self.controls = builders;
        if let Some(index) = self.indices.cluster {
            let text = self.text(selected, index)?;
            selected.rows().for_each(|row| self.clusters.push(text.get(row)));
        }
        Ok(())
    }

    fn push_counts(&mut self, selected: &SelectedRows<'_>) -> Result<()> {
        let Some(index) = self.indices.count else { return Ok(()) };
        let mut numbers = Vec::with_capacity(selected.len());
        self.each_number(selected, index, parse_count, |_, number| numbers.push(number))?;
        for (row, number) in numbers.into_iter().enumerate() {
            if let Some(problem) = count_problem(number) {
                return Err(self.value_error(selected, index, row, problem));
            }
            self.counts.push(number as u64);
        }
        Ok(())
    }

    /// Returns the rows so far as a table without groups, and the group of each row. More rows can
    /// be added; columns and groups stay the same.
    pub(crate) fn drain(&mut self) -> Result<(Table, Vec<u32>)> {
        if let Some(column) = &self.options.truth {
            self.truth.refuse_unknown(column, &self.classes, &[])?;
        }
        let empty = ScoreValues::new(self.classes.len(), Budget::of(u64::MAX));
        let row_mask = std::mem::take(&mut self.row_mask);
        self.drained_rows += row_mask.count();
        let table = Table {
            keys: self.indices.id.is_some().then(|| std::mem::take(&mut self.keys)),
            groups: None,
            cells: None,
            covariates: None,
            outcome: None,
            weights: None,
            controls: Vec::new(),
            clusters: None,
            prediction: None,
            prediction_column: None,
            truth: self.indices.truth.is_some().then(|| std::mem::take(&mut self.truth.values)),
            labels: Vec::new(),
            rows_without_id: self.rows_without_id,
            counts: self.indices.count.is_some().then(|| std::mem::take(&mut self.counts)),
            scaling: self.scaling(),
            classes: self.classes.clone(),
            recognized: None,
            columns: self.columns.clone(),
            values: std::mem::replace(&mut self.values, empty),
            files: self.files.last().cloned().into_iter().collect(),
            row_mask,
            partial_rows: std::mem::take(&mut self.partial_rows),
            cancel: CancelByProgress::default(),
        };
        Ok((table, std::mem::take(&mut self.groups.column.ids)))
    }

    fn scaling(&self) -> Scaling {
        if self.options.normalize { Scaling::Normalize } else { self.percentages.scaling() }
    }

    /// Returns the groups so far in order of appearance: the value of each column.
    pub(crate) fn group_values(&self) -> &[Vec<String>] {
        &self.groups.column.values
    }

    pub(crate) fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Completes the table.
    pub(crate) fn finish(mut self) -> Result<Table> {
        self.groups.column.sort();
        self.cells.column.sort();
        self.covariates.column.sort();
        let (found, rows) = (self.covariates.column.names.len(), self.covariates.column.ids.len());
        if 2 * found > rows {
            return Err(too_many_groups(found as u64, rows as u64));
        }
        if let Some(column) = &self.options.truth {
            self.truth.refuse_unknown(column, &self.classes, &[])?;
        }
        // With truth, other names of the classes would not be those of the truth.
        let other_names = match self.options.truth {
            Some(_) => Vec::new(),
            None => without_shared_prefix(&self.columns.columns),
        };
        for (column, labels) in self.options.labels.iter().zip(&self.labels) {
            labels.refuse_unknown(column, &self.classes, &other_names)?;
        }
        if self.row_mask.count() == 0 {
            let path = self.files.first().map(|(path, _)| path.clone()).unwrap_or_default();
            let problem = if self.row_mask.total() == 0 {
                Message::from("it has a header but no rows; check how it was made")
            } else {
                let settings = Message::from(Setting::OnlyWithTruth) + " or " + Setting::SkipMissing;
                Message::from("all rows are left out by ")
                    + settings
                    + "; check the columns of the scores and the truth"
            };
            return Err(Error::file(&path, problem));
        }
        let (cell_count, scaling) = (self.cells.column.names.len(), self.scaling());
        let mut outcome = self.options.outcome.as_ref().map(|column| self.outcome.finish(column)).transpose()?;
        if let (Some(outcome), Some(column)) = (&mut outcome, &self.options.weight) {
            self.weights.finish(outcome, column)?;
        }
        Ok(Table {
            keys: match self.indices.id {
                Some(_) => Some(self.keys),
                None => self.row_mask.file_rows(),
            },
            groups: (!self.indices.by.is_empty()).then_some(self.groups.column),
            cells: (!self.indices.cells.is_empty()).then_some((self.cells.column.ids, cell_count)),
            outcome,
            weights: self.options.weight.is_some().then_some(self.weights),
            covariates: (!self.indices.covariates.is_empty()).then_some(self.covariates.column),
            controls: self
                .controls
                .into_iter()
                .zip(&self.options.controls)
                .map(|(builder, column)| builder.finish(column))
                .collect::<Result<_>>()?,
            clusters: self.indices.cluster.is_some().then_some(self.clusters.ids),
            prediction_column: self.options.prediction.clone(),
            prediction: self
                .options
                .prediction
                .as_ref()
                .map(|column| self.prediction.finish_prediction(column))
                .transpose()?,
            truth: self.indices.truth.is_some().then_some(self.truth.values),
            labels: self.labels.into_iter().map(|labels| labels.values).collect(),
            rows_without_id: self.rows_without_id,
            counts: self.indices.count.is_some().then_some(self.counts),
            scaling,
            classes: self.classes,
            recognized: self.recognized,
            columns: self.columns,
            values: self.values,
            files: self.files,
            row_mask: self.row_mask,
            partial_rows: self.partial_rows,
            cancel: CancelByProgress::default(),
        })
    }
}

/// Refuses controls that are also the outcome, the class or a score, or that are named twice.
fn refuse_other_roles(indices: &ColumnIndices, controls: &[ControlColumn]) -> Result<()> {
    for (position, (&index, control)) in indices.controls.iter().zip(controls).enumerate() {
        let is_class = |own: &ClassIndex| own.all().any(|other| other == index);
        let problem = if indices.controls[..position].contains(&index) {
            "is named twice; name it once"
        } else if indices.outcome == Some(index) {
            "is also the outcome; leave it out"
        } else if indices.scores.contains(&index) {
            "is also a score column; leave it out"
        } else if indices.truth.iter().any(is_class) {
            "is also the true class; leave it out"
        } else if indices.labels.iter().any(is_class) {
            "is also a label; leave it out"
        } else {
            continue;
        };
        let problem = format!(": column {:?} {problem}", control.column);
        return Err(Error::Settings(Message::from(Setting::Controls) + problem));
    }
    Ok(())
}

/// Returns the reason why no score columns were recognized, and how to fix it.
fn no_scores_problem(names: &[String]) -> Message {
    let numbers = names.iter().filter(|name| parse_number(name).is_some_and(f64::is_finite)).count();
    if 2 * numbers > names.len() {
        // These are values rather than names. They may be personal data and are not shown.
        return "its first line contains numbers; add a line with column names".into();
    }
    let single: Vec<&String> = names.iter().filter(|name| normalize_name(name).starts_with("p_")).collect();
    if let [single] = single[..] {
        let problem = format!("{single:?} is its only score column, but rules need several classes");
        return Message::from(problem + "; add the other score columns, or name them all with ") + Setting::Scores;
    }
    let columns = abbreviated_names(names);
    let problem = Message::from(format!("no score columns were recognized among {columns}; "));
    match names {
        [one] if one.contains(';') => problem + "if it is separated by semicolons, use " + Setting::Delimiter.with(";"),
        [one] if one.contains('\t') => problem + "if it is separated by tabs, use " + Setting::Delimiter.with("tab"),
        [one] if one.contains('|') => problem + "if it is separated by bars, use " + Setting::Delimiter.with("|"),
        _ => {
            problem
                + "name them with "
                + Setting::Scores
                + ", or compute scores from names and places with `predict` first"
        }
    }
}

/// Returns the problem with a count, and how to fix it.
fn count_problem(number: f64) -> Option<String> {
    if number > Scores::MAX_PEOPLE as f64 {
        let problem = "is too large: the total may be at most 1,099,511,627,776 people; correct it, or split the file";
        return Some(format!("a count of {number:e} {problem}"));
    }
    if number.fract() == 0.0 && number >= 0.0 {
        return None;
    }
    let found = if number.is_nan() { "the count is missing".into() } else { format!("a count of {number}") };
    Some(format!("{found}; counts must be nonnegative whole numbers; correct it"))
}

/// The contents of the score columns of a row.
#[derive(Clone, Copy, Default)]
struct FoundScores {
    missing: bool,
    score: bool,
    invalid: bool,
}

/// Marks what the rows of a score column contain. Suppressed values are neither missing nor scores: they are filled if
/// another score of the row has a value.
fn mark_numbers(column: &Column<'_>, found: &mut [FoundScores]) {
    let texts = if column.is_text() { column.texts() } else { None };
    for (row, found) in found.iter_mut().enumerate() {
        let number = match &texts {
            Some(texts) => parse_number(texts.get(row)),
            None => Some(0.0),
        };
        let is_missing = !column.has_value(row) || number.is_some_and(f64::is_nan);
        found.missing |= is_missing && !number.is_some_and(is_suppressed);
        found.score |= !is_missing && number.is_some();
        found.invalid |= !is_missing && number.is_none();
    }
}

/// Returns the columns in the order of the classes given by the user.
fn reorder_classes(columns: &ScoreColumns, classes: &[String]) -> Result<ScoreColumns> {
    if classes.len() != columns.classes.len() {
        let (named, found) = (counted(classes.len() as u64, "class", "classes"), columns.columns.len());
        let columns = columns.columns.join(", ");
        let problem = format!(" names {named}, but there are {found} score columns: {columns}");
        return Err(Error::Settings(Message::from(Setting::Classes) + problem));
    }
    let order = |known: &[String]| -> Option<Vec<usize>> {
        classes.iter().map(|class| known.iter().position(|other| other == class)).collect()
    };
    let indices = order(&columns.classes).or_else(|| order(&without_shared_prefix(&columns.columns)));
    Ok(match indices {
        // Either a different order of the same names, or of the columns, or new names in the same order.
        Some(indices) => ScoreColumns {
            columns: indices.iter().map(|&index| columns.columns[index].clone()).collect(),
            classes: classes.to_vec(),
        },
        None => {
            refuse_swapped_names(columns, classes)?;
            ScoreColumns { columns: columns.columns.clone(), classes: classes.to_vec() }
        }
    })
}

/// Refuses a new name that is already the name of another column.
fn refuse_swapped_names(columns: &ScoreColumns, classes: &[String]) -> Result<()> {
    let bare = without_shared_prefix(&columns.columns);
    for (index, class) in classes.iter().enumerate() {
        let has_name = |&other: &usize| columns.classes[other] == *class || bare[other] == *class;
        let Some(other) = (0..classes.len()).find(has_name) else { continue };
        if has_name(&index) {
            continue;
        }
        let (own, other) = (&columns.columns[index], &columns.columns[other]);
        let problem = format!(": the name {} for column {own:?} is that of column {other:?}; ", quoted(class));
        let fix = format!("give the names in the order of the columns: {}", columns.columns.join(", "));
        return Err(Error::Settings(Message::from(Setting::Classes) + problem + fix));
    }
    Ok(())
}

/// Returns the error for an invalid class name, with the setting that renames it.
fn class_error(error: apportion::Error, options: &TableOptions) -> Error {
    match error {
        error @ apportion::Error::ClassName { .. } => {
            let problem = Message::from(error.to_string());
            if !options.classes.is_empty() {
                return Error::Settings(problem);
            }
            Error::Settings(problem + "; rename the classes with " + Setting::Classes)
        }
        apportion::Error::TooManyClasses { found, limit } => {
            let found = count(found as u64);
            let problem = format!("there are {found} score columns, but at most {limit} classes are supported");
            Error::Settings(Message::from(problem + "; name those to use with ") + Setting::Scores)
        }
        error => error.into(),
    }
}

/// Returns the indices of the columns that define the groups of BIRDiE, if there are covariates.
fn covariates_of(names: &[String], options: &TableOptions) -> Result<Vec<usize>> {
    if options.covariates.is_empty() {
        return Ok(Vec::new());
    }
    let by = options.by.iter().map(|name| (name, options.by_setting));
    let columns = by.chain(options.covariates.iter().map(|name| (name, Setting::Covariates)));
    columns.map(|(name, setting)| find_column(names, name, setting)).collect()
}

/// Returns the error for covariates with which most rows would be alone in their group.
fn too_many_groups(found: u64, rows: u64) -> Error {
    let (found, rows) = (count(found), count(rows));
    let problem = format!(
        ": the groups and covariates have {found} combinations in {rows} rows, so that most groups would have one person; \
         choose columns with fewer values"
    );
    Error::Settings(Message::from(Setting::Covariates) + problem)
}
