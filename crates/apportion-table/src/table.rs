//! What the rules need of a table: scores, keys, groups, truth, labels and counts.

use std::path::PathBuf;

use apportion::estimate::Outcomes;
use apportion::{Classes, Groups, Keys, Label, Scaling, Scores, UNCODED};

use crate::coded::ClassColumn;
use crate::columns::{Found, ScoreColumns};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::kept::KeptRows;
use crate::outcome::{OutcomeColumn, OutcomeValues};
use crate::take::Taker;
use crate::values::Values;

/// Which columns hold what.
#[derive(Clone, Debug)]
pub struct TableOptions {
    /// The score columns; found by their names where none are named.
    pub scores: Vec<String>,
    /// Other names for the classes, or another order: `white,black,…`.
    pub classes: Vec<String>,
    /// The column that identifies a row.
    pub id: Option<String>,
    /// Columns whose values together are a row's group.
    pub by: Vec<String>,
    /// The option by which a user names them.
    pub by_option: &'static str,
    /// The column that says how many people a row stands for.
    pub count: Option<String>,
    /// The true class.
    pub truth: Option<ClassColumn>,
    /// Labels that exist already.
    pub labels: Vec<ClassColumn>,
    /// The outcome that is compared between classes.
    pub outcome: Option<OutcomeColumn>,
    /// Columns whose values together are a cell of people who are alike.
    pub cells: Vec<String>,
    /// Whether rows are divided by their sum.
    pub normalize: bool,
    /// Whether rows without truth are left out.
    pub only_with_truth: bool,
    /// Whether rows without any score are left out, and not refused.
    pub skip_missing: bool,
    /// About how many bytes of memory may be used: what does not fit is put into a temporary file.
    pub memory: u64,
}

impl Default for TableOptions {
    fn default() -> TableOptions {
        TableOptions {
            scores: Vec::new(),
            classes: Vec::new(),
            id: None,
            by: Vec::new(),
            by_option: "--by",
            count: None,
            truth: None,
            labels: Vec::new(),
            outcome: None,
            cells: Vec::new(),
            normalize: false,
            only_with_truth: false,
            skip_missing: false,
            memory: u64::MAX,
        }
    }
}

/// A table of scores with what else is known of its rows.
#[derive(Debug)]
pub struct Table {
    pub(crate) classes: Classes,
    /// Where the scores come from, for the user to check.
    pub(crate) found: Option<Found>,
    pub(crate) columns: ScoreColumns,
    pub(crate) values: Values,
    pub(crate) scaling: Scaling,
    pub(crate) keys: Option<Vec<u64>>,
    /// Rows that have no identifier, where others have one.
    pub(crate) without_key: u64,
    pub(crate) groups: Option<GroupColumn>,
    pub(crate) truth: Option<Vec<Label>>,
    pub(crate) labels: Vec<Vec<Label>>,
    pub(crate) outcome: Option<OutcomeValues>,
    /// The cell of each row, and how many cells there are.
    pub(crate) cells: Option<(Vec<u32>, usize)>,
    pub(crate) counts: Option<Vec<u64>>,
    /// The files, and the number of rows in each.
    pub(crate) files: Vec<(PathBuf, usize)>,
    /// Which rows of the files the table has.
    pub(crate) kept: KeptRows,
}

/// The group of each row.
#[derive(Debug, Default)]
pub(crate) struct GroupColumn {
    pub(crate) codes: Vec<u32>,
    /// The values of all columns together.
    pub(crate) names: Vec<String>,
    /// The value of each column.
    pub(crate) values: Vec<Vec<String>>,
}

impl GroupColumn {
    /// Brings the groups into the order of their names, whichever came first in the files.
    pub(crate) fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|&a, &b| self.values[a].cmp(&self.values[b]));
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &group)| places[group] = place as u32);
        self.codes.iter_mut().for_each(|code| *code = places[*code as usize]);
        self.names = order.iter().map(|&group| self.names[group].clone()).collect();
        self.values = order.iter().map(|&group| self.values[group].clone()).collect();
    }
}

impl Table {
    /// Reads what is needed of all files.
    pub fn read(input: &Input, options: &TableOptions) -> Result<Table> {
        input.begin("reading");
        let mut taker: Option<Taker> = None;
        for file in 0..input.names().len() {
            let names = input.columns(file)?;
            let path = input.name(file);
            let taker = match &mut taker {
                Some(taker) => taker,
                None => taker.insert(Taker::new(&names, path, options)?),
            };
            if let Some(held) = input.held(file) {
                taker.borrow(held, &names)?;
            }
            let wanted = taker.wanted(&names, path)?;
            let batches = input.open_columns(file, &|name| wanted.iter().any(|wanted| wanted == name))?;
            taker.begin(&batches.names(), path)?;
            for batch in batches {
                taker.take(&batch?)?;
                taker.foresee(input.foreseen_rows())?;
            }
        }
        input.end();
        taker.ok_or_else(|| Error::Options("no file was named".into()))?.finish()
    }

    /// The scores as the library takes them.
    pub fn scores(&self) -> Result<Scores<'_>> {
        let mut scores = Scores::new(&self.classes, self.values.matrix())?.scaled(self.scaling);
        if let Some(keys) = &self.keys {
            scores = scores.with_keys(Keys::Given(keys))?;
        }
        if let Some(GroupColumn { codes, names, .. }) = &self.groups {
            scores = scores.with_groups(Groups { codes, names })?;
        }
        if let Some(truth) = &self.truth {
            scores = scores.with_truth(truth)?;
        }
        if let Some(counts) = &self.counts {
            scores = scores.with_counts(counts)?;
        }
        Ok(scores)
    }

    /// The score of each label of some rows, from one on: the number that the file has, divided as all are.
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

    /// Whether the scores are of single precision.
    pub fn is_single(&self) -> bool {
        self.values.is_single() && self.scaling == Scaling::AsGiven
    }

    /// What is done to each row before it is used.
    pub fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// The names of the groups, where there are groups.
    pub fn group_names(&self) -> Option<&[String]> {
        self.groups.as_ref().map(|groups| groups.names.as_slice())
    }

    /// The classes, in order.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The score columns, in the order of the classes.
    pub fn score_columns(&self) -> &[String] {
        &self.columns.columns
    }

    /// How many rows each file has, those that were left out included.
    pub fn rows_of_files(&self) -> Vec<u64> {
        self.files.iter().map(|(_, rows)| *rows as u64).collect()
    }

    /// How many groups there are, where there are groups.
    pub fn groups(&self) -> Option<usize> {
        self.groups.as_ref().map(|groups| groups.names.len())
    }

    /// Whether rows stand for several people.
    pub fn has_counts(&self) -> bool {
        self.counts.is_some()
    }

    /// Labels that exist already: those of the first column, where several are named.
    pub fn labels(&self) -> Option<&[Label]> {
        self.labels.first().map(Vec::as_slice)
    }

    /// Labels that exist already, column by column.
    pub fn all_labels(&self) -> &[Vec<Label>] {
        &self.labels
    }

    /// The outcomes as the library takes them, where a column is named.
    pub fn outcomes(&self) -> Result<Option<Outcomes<'_>>> {
        self.outcome.as_ref().map(OutcomeValues::outcomes).transpose()
    }

    /// The cell of each row, and how many there are, where columns are named.
    pub fn cells(&self) -> Option<(&[u32], usize)> {
        self.cells.as_ref().map(|(codes, number)| (&codes[..], *number))
    }

    /// How many rows the table has.
    pub fn rows(&self) -> usize {
        self.kept.count()
    }

    /// Which rows of the files the table has.
    pub fn kept(&self) -> &KeptRows {
        &self.kept
    }

    /// Units that the groups are part of, from the smallest to the largest, where groups have several columns, the largest
    /// first, or else the whole: for each group the code of its unit, and then for each unit that of the one above. As
    /// [`Match::nested`](apportion::Match) takes them.
    pub fn nesting(&self) -> Vec<Vec<u32>> {
        let Some(groups) = &self.groups else { return Vec::new() };
        let mut below: Vec<&[String]> = groups.values.iter().map(Vec::as_slice).collect();
        // Units of one kind are inside the whole.
        if below.iter().all(|values| values.len() == 1) {
            return vec![vec![0; below.len()]];
        }
        let mut levels = Vec::new();
        while below.first().is_some_and(|values| values.len() > 1) {
            let units: Vec<&[String]> = below.iter().map(|values| &values[..values.len() - 1]).collect();
            let mut above = units.clone();
            above.sort_unstable();
            above.dedup();
            let code = |unit: &&[String]| above.binary_search(unit).unwrap_or_default() as u32;
            levels.push(units.iter().map(code).collect());
            below = above;
        }
        levels
    }

    /// One sentence on where the scores come from.
    pub fn origin(&self) -> String {
        let columns = self.columns.columns.join(", ");
        let scaled = match self.scaling {
            Scaling::Percent => "; percentages, divided by 100",
            Scaling::Normalize => "; each row divided by its sum",
            Scaling::AsGiven => "",
        };
        match &self.found {
            Some(found) => format!("scores as {} writes them: {columns}{scaled}", found.maker),
            None => format!("scores: {columns}{scaled}"),
        }
    }

    /// What else is worth a word: rows without truth, rows that were left out, scores that did not fit into memory.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let left_out = self.kept.all() - self.rows();
        if left_out > 0 {
            remarks.push(format!("{left_out} of {} rows are left out", self.kept.all()));
        }
        if let Some(truth) = &self.truth {
            let unknown = truth.iter().filter(|&&truth| truth == UNCODED).count();
            if unknown > 0 {
                let rows = self.rows();
                remarks
                    .push(format!("truth is not known of {unknown} of {rows} rows: what needs truth leaves them out"));
            }
        }
        if self.without_key > 0 {
            let rows = self.without_key;
            remarks.push(format!("{rows} rows have no identifier: their places stand in for ties and draws"));
        }
        if self.values.is_spilled() {
            remarks.push("the scores do not fit into --memory: they are in a temporary file".into());
        }
        remarks
    }

    /// An error of the library, with the file and the row in it.
    pub fn explain(&self, error: apportion::Error) -> Error {
        use apportion::Error as Core;
        let (row, class) = match &error {
            Core::NotFinite { row, class, value } if value.is_nan() => {
                let (path, row) = self.locate(*row);
                let column = self.classes.position(class).map_or(class, |place| &self.columns.columns[place]);
                let problem = NO_NUMBER.into();
                return Error::Value { path, row, column: column.clone(), problem };
            }
            Core::NotFinite { row, class, .. } | Core::Negative { row, class, .. } => (*row, Some(class.clone())),
            Core::NotOne { row, .. } | Core::Outcome { row, .. } => (*row, None),
            Core::CountsUnsupported { rule } => {
                return Error::Options(format!(
                    "{rule} may split rows that stand for several people; use label --count"
                ));
            }
            Core::Missing { .. } => {
                let text = error.to_string();
                let text = text.replace("`Scores::with_groups`", "--by").replace("`Scores::with_truth`", "--truth");
                return Error::Options(text);
            }
            Core::Reference { .. } => {
                return Error::Options(error.to_string().replace("match by group", "match by group with --by"));
            }
            _ => return Error::Core(error),
        };
        let (path, own) = self.locate(row);
        let text = error.to_string();
        let problem = text.split_once(": ").map_or(text.as_str(), |(_, rest)| rest);
        let problem = problem
            .replace("`Scaling::Normalize`, or `Scaling::Percent` for percentages", "--normalize")
            .replace("`Scaling::Normalize`", "--normalize");
        let column = class.and_then(|class| self.classes.position(&class).ok());
        match column {
            Some(column) => Error::Value { path, row: own, column: self.columns.columns[column].clone(), problem },
            None => Error::Row { path, row: own, problem },
        }
    }

    /// The file of a row, and its place in it, from 1.
    fn locate(&self, row: usize) -> (PathBuf, u64) {
        let (row, mut before) = (self.kept.place(row), 0);
        for (path, rows) in &self.files {
            if row < before + rows {
                return (path.clone(), (row - before) as u64 + 1);
            }
            before += rows;
        }
        (PathBuf::new(), row as u64 + 1)
    }
}

const NO_NUMBER: &str = "there is no number; fill it in, or leave rows without any score out with --skip-missing";
