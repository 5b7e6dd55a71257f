//! A score table: scores, keys, groups, truth, labels and counts of the input rows.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use apportion::estimate::Outcomes;
use apportion::estimate::regression::Control;
use apportion::text::{Message, Setting, count};
use apportion::{Classes, Groups, Keys, Label, Scaling, Scores, UNCODED};

use super::builder::TableBuilder;
use super::class_column::ClassColumn;
use super::control::{ControlColumn, ControlData};
use super::groups::GroupColumn;
use super::memory_table::MemoryTable;
use super::outcome::{OutcomeColumn, OutcomeValues};
use super::row_mask::RowMask;
use super::score_columns::{RecognizedScores, ScoreColumns};
use super::spill::ScoreValues;
use super::weights::Weights;
use crate::error::{Error, Location, Result};
use crate::input::{Input, Progress, Reading};

/// The columns to read, and how to interpret them.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// The score columns; recognized by name if empty.
    pub scores: Vec<String>,
    /// New names or a new order for the classes: `white,black,…`.
    pub classes: Vec<String>,
    /// The ID column.
    pub id: Option<String>,
    /// The columns that together define the group of a row.
    pub by: Vec<String>,
    /// The setting that names these columns.
    pub by_setting: Setting,
    /// The column with the number of people that a row represents.
    pub count: Option<String>,
    /// The true class.
    pub truth: Option<ClassColumn>,
    /// Existing labels.
    pub labels: Vec<ClassColumn>,
    /// The outcome to compare between classes.
    pub outcome: Option<OutcomeColumn>,
    /// The column with the survey weight of each person; used only with an outcome.
    pub weight: Option<String>,
    /// The column of a prediction: 0 and 1, or yes and no.
    pub prediction: Option<String>,
    /// The columns that together define a cell of similar people.
    pub cells: Vec<String>,
    /// The controls of regressions.
    pub controls: Vec<ControlColumn>,
    /// The column with the clusters of regressions.
    pub cluster: Option<String>,
    /// The columns that, together with those of the groups, define the groups of BIRDiE.
    pub covariates: Vec<String>,
    /// Whether rows are divided by their sum.
    pub normalize: bool,
    /// Whether rows without truth are excluded.
    pub only_with_truth: bool,
    /// Whether rows with a missing score are excluded instead of refused.
    pub skip_missing: bool,
    /// Approximate memory limit in bytes; scores beyond it are stored in a temporary file.
    pub memory: u64,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            scores: Vec::new(),
            classes: Vec::new(),
            id: None,
            by: Vec::new(),
            by_setting: Setting::By,
            count: None,
            truth: None,
            labels: Vec::new(),
            outcome: None,
            weight: None,
            prediction: None,
            cells: Vec::new(),
            controls: Vec::new(),
            cluster: None,
            covariates: Vec::new(),
            normalize: false,
            only_with_truth: false,
            skip_missing: false,
            memory: u64::MAX,
        }
    }
}

/// A table of scores, with the other columns that rules and estimates need.
#[derive(Debug)]
pub struct Table {
    pub(crate) classes: Classes,
    /// The convention by which the score columns were recognized.
    pub(crate) recognized: Option<RecognizedScores>,
    pub(crate) columns: ScoreColumns,
    pub(crate) values: ScoreValues,
    pub(crate) scaling: Scaling,
    pub(crate) keys: Option<Vec<u64>>,
    /// Number of rows without an ID, if there is an ID column.
    pub(crate) rows_without_id: u64,
    pub(crate) groups: Option<GroupColumn>,
    pub(crate) truth: Option<Vec<Label>>,
    pub(crate) labels: Vec<Vec<Label>>,
    pub(crate) outcome: Option<OutcomeValues>,
    /// The survey weight of each row. Rows without one have no outcome.
    pub(crate) weights: Option<Weights>,
    pub(crate) prediction: Option<OutcomeValues>,
    pub(crate) prediction_column: Option<String>,
    /// The cell of each row, and the number of cells.
    pub(crate) cells: Option<(Vec<u32>, usize)>,
    pub(crate) controls: Vec<ControlData>,
    pub(crate) clusters: Option<Vec<u32>>,
    /// The combined values of groups and covariates, if there are covariates.
    pub(crate) covariates: Option<GroupColumn>,
    pub(crate) counts: Option<Vec<u64>>,
    /// The files and their numbers of rows.
    pub(crate) files: Vec<(PathBuf, usize)>,
    /// The input rows that are in the table.
    pub(crate) row_mask: RowMask,
    /// Number of rows that were excluded because only some of their scores are missing.
    pub(crate) partial_rows: u64,
    /// Cancels computations with the scores.
    pub(crate) cancel: CancelByProgress,
}

/// Cancels computations of the core library like passes over the input.
pub(crate) struct CancelByProgress(Box<dyn Fn() -> bool + Send + Sync>);

impl CancelByProgress {
    fn new(progress: Arc<dyn Progress>) -> CancelByProgress {
        CancelByProgress(Box::new(move || progress.is_cancelled()))
    }
}

impl Default for CancelByProgress {
    fn default() -> CancelByProgress {
        CancelByProgress(Box::new(|| false))
    }
}

impl fmt::Debug for CancelByProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CancelByProgress")
    }
}

impl Table {
    /// Reads the required columns of all files.
    pub fn read(input: &Input, options: &TableOptions) -> Result<Table> {
        input.begin("reading");
        let mut builder: Option<TableBuilder> = None;
        for file in 0..input.names().len() {
            let (names, path) = (input.columns(file)?, input.name(file));
            let builder = match &mut builder {
                Some(builder) => builder,
                None => builder.insert(TableBuilder::new(&names, path, options)?),
            };
            if let Some(table) = input.memory_table(file) {
                let mut done = 0;
                push_memory(builder, path, table, input.options.batch_rows, |rows| {
                    done += rows as u64;
                    input.report_progress(file, rows as u64, done);
                    if input.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
                })?;
                continue;
            }
            let needed = builder.needed_columns(&names, path)?;
            let include = |name: &str| needed.iter().any(|column| column == name);
            let blocks = input.blocks(file, &include, Reading::Plain)?;
            builder.begin(&blocks.names, path)?;
            for block in blocks.rows {
                let block = block?;
                builder.push_batch(&block.columns(), block.len())?;
                builder.expect_rows(input.expected_rows())?;
            }
        }
        input.end();
        let table = builder.ok_or_else(|| Error::settings("no input file"))?.finish()?;
        Ok(Table { cancel: CancelByProgress::new(input.progress()), ..table })
    }

    /// Reads the required columns of a table in memory; `name` is used in messages.
    pub fn from_memory(name: &str, table: &MemoryTable, options: &TableOptions) -> Result<Table> {
        let path = Path::new(name);
        let mut builder = TableBuilder::new(&table.column_names(), path, options)?;
        push_memory(&mut builder, path, table, MEMORY_BATCH, |_| Ok(()))?;
        builder.finish()
    }

    /// Returns the scores as the core library expects them.
    pub fn scores(&self) -> Result<Scores<'_>> {
        let scores = Scores::new(&self.classes, self.values.matrix())?;
        let mut scores = scores.scaled(self.scaling).with_cancel(self.cancel.0.as_ref());
        if let Some(keys) = &self.keys {
            scores = scores.with_keys(Keys::Given(keys))?;
        }
        if let Some(GroupColumn { ids, names, .. }) = &self.groups {
            scores = scores.with_groups(Groups { codes: ids, names })?;
        }
        if let Some(truth) = &self.truth {
            scores = scores.with_truth(truth)?;
        }
        if let Some(counts) = &self.counts {
            scores = scores.with_counts(counts)?;
        }
        Ok(scores)
    }

    /// Returns the score of each label for the rows starting at `first`: the number in the file,
    /// scaled like all others.
    pub fn label_scores(&self, first: usize, labels: &[Label]) -> Result<Vec<Option<f64>>> {
        let k = self.classes.len();
        let values = self.values.rows(first..first + labels.len())?;
        let score = |(row, &label): (&[f64], &Label)| {
            let value = *row.get(usize::from(label)).filter(|_| label != UNCODED)?;
            Some(match self.scaling {
                Scaling::AsGiven => value,
                Scaling::Percent => value / 100.0,
                Scaling::Normalize => value.max(0.0) / row.iter().map(|value| value.max(0.0)).sum::<f64>(),
            })
        };
        Ok(values.chunks_exact(k).zip(labels).map(score).collect())
    }

    /// Returns whether the scores are in single precision.
    pub fn is_single_precision(&self) -> bool {
        self.values.is_single() && self.scaling == Scaling::AsGiven
    }

    /// Returns how rows are scaled before they are used.
    pub fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// Returns the names of the groups, if any.
    pub fn group_names(&self) -> Option<&[String]> {
        self.groups.as_ref().map(|groups| groups.names.as_slice())
    }

    /// Returns the classes, in order.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Returns the score columns, in class order.
    pub fn score_columns(&self) -> &[String] {
        &self.columns.columns
    }

    /// Returns the number of rows of each file, including excluded rows.
    pub fn file_rows(&self) -> Vec<u64> {
        self.files.iter().map(|(_, rows)| *rows as u64).collect()
    }

    /// Returns the number of groups, if any.
    pub fn group_count(&self) -> Option<usize> {
        self.groups.as_ref().map(|groups| groups.names.len())
    }

    /// Returns whether rows represent several people.
    pub fn has_counts(&self) -> bool {
        self.counts.is_some()
    }

    /// Returns the existing labels: the first column if there are several.
    pub fn labels(&self) -> Option<&[Label]> {
        self.labels.first().map(Vec::as_slice)
    }

    /// Returns the existing labels, column by column.
    pub fn all_labels(&self) -> &[Vec<Label>] {
        &self.labels
    }

    /// Returns the outcomes as the core library expects them, if there is an outcome column.
    pub fn outcomes(&self) -> Result<Option<Outcomes<'_>>> {
        let Some(outcomes) = self.outcome.as_ref().map(OutcomeValues::outcomes).transpose()? else { return Ok(None) };
        let Some(weights) = &self.weights else { return Ok(Some(outcomes)) };
        let weighted = outcomes.with_weights(&weights.values);
        Ok(Some(weighted.map_err(|error| self.locate(error))?))
    }

    /// Returns the number of rows without a survey weight; they have no outcome.
    pub fn rows_without_weight(&self) -> u64 {
        self.weights.as_ref().map_or(0, |weights| weights.missing)
    }

    /// Returns the name of the column of predictions.
    pub fn prediction_column(&self) -> Option<&str> {
        self.prediction_column.as_deref()
    }

    /// Returns the predictions as the core library expects them, if there is a column of predictions. Yes counts.
    pub fn predictions(&self) -> Result<Option<Outcomes<'_>>> {
        self.prediction.as_ref().map(OutcomeValues::outcomes).transpose()
    }

    /// Returns the cell of each row and the number of cells, if there are cell columns.
    pub fn cells(&self) -> Option<(&[u32], usize)> {
        self.cells.as_ref().map(|(ids, count)| (&ids[..], *count))
    }

    /// Returns the controls of regressions, in the order of their columns.
    pub fn controls(&self) -> Vec<Control<'_>> {
        self.controls.iter().map(ControlData::control).collect()
    }

    /// Returns the cluster of each row, if there is a cluster column; see
    /// [`NO_CLUSTER`](apportion::estimate::regression::NO_CLUSTER).
    pub fn clusters(&self) -> Option<&[u32]> {
        self.clusters.as_deref()
    }

    /// Returns the groups of rows with equal values of the group and covariate columns, if there are covariates.
    pub fn covariate_groups(&self) -> Option<Groups<'_>> {
        self.covariates.as_ref().map(|own| Groups { codes: &own.ids, names: &own.names })
    }

    /// Returns the number of rows in the table.
    pub fn rows(&self) -> usize {
        self.row_mask.count()
    }

    /// Returns the mask of input rows that are in the table.
    pub fn row_mask(&self) -> &RowMask {
        &self.row_mask
    }

    /// Returns the units that contain the groups, from the smallest to the largest: for each group
    /// the index of its unit, then for each unit the index of the next larger one. Group columns
    /// are ordered from the largest unit to the smallest; groups of one column are all part of one
    /// unit. See [`Match::nested`](apportion::Match).
    pub fn nesting(&self) -> Vec<Vec<u32>> {
        self.groups.as_ref().map_or_else(Vec::new, GroupColumn::nesting)
    }

    /// Returns a sentence about the score columns.
    pub fn describe_scores(&self) -> String {
        let columns = self.columns.columns.join(", ");
        let scaled = match self.scaling {
            Scaling::Percent => "; percentages, divided by 100",
            Scaling::Normalize => "; each row divided by its sum",
            Scaling::AsGiven => "",
        };
        match &self.recognized {
            Some(recognized) => {
                let classes = match recognized.renamed {
                    true => format!("; classes: {}", self.columns.classes.join(", ")),
                    false => String::new(),
                };
                format!("score columns (format of {}): {columns}{scaled}{classes}", recognized.tool)
            }
            None => format!("scores: {columns}{scaled}"),
        }
    }

    /// Returns warnings that the columns may not be those that were meant: several sets of scores, and rows without a
    /// group; `setting` names the columns of the groups.
    pub fn warnings(&self, setting: Setting) -> Vec<Message> {
        let mut warnings = Vec::new();
        if let Some(others) = self.recognized.as_ref().map(|own| &own.others).filter(|others| !others.is_empty()) {
            let used = self.columns.columns.join(", ");
            let other = others.iter().map(|prefix| format!("{prefix}*")).collect::<Vec<_>>().join(", ");
            let problem = format!("there are several sets of score columns: {used} are used, and {other} are not. ");
            warnings.push(Message::from(problem) + "Choose a set with " + Setting::Scores);
        }
        if let Some(groups) = &self.groups {
            let is_missing: Vec<bool> =
                groups.values.iter().map(|values| values.iter().any(|value| value.trim().is_empty())).collect();
            let missing = match is_missing.contains(&true) {
                true => groups.ids.iter().filter(|&&id| is_missing[id as usize]).count() as u64,
                false => 0,
            };
            if missing > 0 {
                let (rows, form) = match missing {
                    1 => (
                        "1 row has".to_owned(),
                        ", and forms a group of its own. Fill in the value, or leave the row out",
                    ),
                    rows => (
                        format!("{} rows have", count(rows)),
                        ", and form groups of their own. Fill in the values, or leave these rows out",
                    ),
                };
                warnings.push(Message::from(format!("{rows} no value in the columns of ")) + setting + form);
            }
        }
        warnings
    }

    /// Returns notes on excluded rows, rows without truth or ID, and scores that do not fit in
    /// memory.
    pub fn remarks(&self) -> Vec<Message> {
        let mut remarks: Vec<Message> = Vec::new();
        let excluded = self.row_mask.total() - self.rows();
        if excluded > 0 {
            let are = if excluded == 1 { "is" } else { "are" };
            let (excluded, all) = (count(excluded as u64), count(self.row_mask.total() as u64));
            let partial = match self.partial_rows {
                0 => String::new(),
                rows => format!(", {} of them with only some scores", count(rows)),
            };
            remarks.push(format!("{excluded} of {all} rows {are} left out{partial}").into());
        }
        if let Some(truth) = &self.truth {
            let unknown = truth.iter().filter(|&&truth| truth == UNCODED).count();
            if unknown > 0 {
                let remark = match unknown {
                    1 => "has no truth and is left out of figures that need it",
                    _ => "have no truth and are left out of figures that need it",
                };
                let (unknown, rows) = (count(unknown as u64), count(self.rows() as u64));
                remarks.push(format!("{unknown} of {rows} rows {remark}").into());
            }
        }
        if self.rows_without_id > 0 {
            remarks.push(match self.rows_without_id {
                1 => "1 row has no ID; its row number is used for ties and draws".into(),
                rows => {
                    format!("{} rows have no ID; their row numbers are used for ties and draws", count(rows)).into()
                }
            });
        }
        if self.values.is_spilled() {
            let remark = Message::from("the scores exceed ") + Setting::Memory;
            remarks.push(remark + ", so they are stored in a temporary file");
        }
        remarks
    }

    /// Adds the file, row and column to an error of the core library that is about a row.
    pub fn locate(&self, error: apportion::Error) -> Error {
        use apportion::Error as Core;
        let (row, class) = match &error {
            Core::NotFinite { row, class, .. } | Core::Negative { row, class, .. } => (*row, Some(class)),
            Core::NotOne { row, .. } | Core::Outcome { row, .. } | Core::Weight { row, .. } => (*row, None),
            _ => return error.into(),
        };
        let column = class.and_then(|class| self.classes.position(class).ok());
        let column = column.map(|index| self.columns.columns[index].clone());
        let (path, row) = self.file_position(row);
        Error::Core { error, location: Some(Box::new(Location { path, row, column })) }
    }

    /// Returns the file of a table row, and the row number in it, counted from 1.
    fn file_position(&self, row: usize) -> (PathBuf, u64) {
        let (row, mut before) = (self.row_mask.file_row(row), 0);
        for (path, rows) in &self.files {
            if row < before + rows {
                return (path.clone(), (row - before) as u64 + 1);
            }
            before += rows;
        }
        (PathBuf::new(), row as u64 + 1)
    }
}

/// Rows of a table in memory that are read at a time.
const MEMORY_BATCH: usize = 1 << 16;

/// Adds the rows of a table in memory; `after` is called with the number of rows of each batch.
fn push_memory(
    builder: &mut TableBuilder,
    path: &Path,
    table: &MemoryTable,
    batch_rows: usize,
    mut after: impl FnMut(usize) -> Result<()>,
) -> Result<()> {
    let names = table.column_names();
    builder.borrow_scores(table, &names)?;
    let needed = builder.needed_columns(&names, path)?;
    let indices: Vec<usize> = (0..names.len()).filter(|&index| needed.contains(&names[index])).collect();
    builder.begin(&indices.iter().map(|&index| names[index].clone()).collect::<Vec<_>>(), path)?;
    for block in table.clone().into_blocks(indices, batch_rows) {
        builder.push_batch(&block.columns(), block.len())?;
        builder.expect_rows(table.rows() as u64)?;
        after(block.len())?;
    }
    Ok(())
}
