//! Takes batch after batch of the files' rows, and of each what the rules need.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use apportion::text::{quoted, write_group_name};
use apportion::{Classes, Scaling, Scores, seed};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringArray};
use arrow::compute::{cast, filter_record_batch};
use arrow::datatypes::{DataType, Float32Type, Float64Type};

use crate::coded::{ClassColumn, Coded};
use crate::columns::{Found, ScoreColumns, find_scores, normal, position, some_names};
use crate::error::{Error, Result};
use crate::held::Held;
use crate::kept::KeptRows;
use crate::number::{count, fill_suppressed, parse};
use crate::outcome::OutcomeTaker;
use crate::table::{GroupColumn, Table, TableOptions};
use crate::values::{Budget, Values};

/// Rows that are looked at to tell percentages from probabilities.
const LOOKED_AT: usize = 1000;

/// More cells than this, with fewer than two people each, are refused before they fill the memory.
const MOST_ALONE: usize = 1 << 20;

/// Takes batch after batch.
pub(crate) struct Taker {
    options: TableOptions,
    columns: ScoreColumns,
    found: Option<Found>,
    classes: Classes,
    places: Places,
    values: Values,
    percentages: Percentages,
    keys: Vec<u64>,
    without_key: u64,
    groups: Grouper,
    cells: Grouper,
    outcome: OutcomeTaker,
    truth: Coded,
    labels: Vec<Coded>,
    counts: Vec<u64>,
    files: Vec<(PathBuf, usize)>,
    kept: KeptRows,
    /// Rows that were taken in and handed on.
    handed_on: usize,
}

/// Where the columns stand in the file at hand.
#[derive(Default)]
struct Places {
    scores: Vec<usize>,
    id: Option<usize>,
    by: Vec<usize>,
    truth: Option<usize>,
    labels: Vec<usize>,
    outcome: Option<usize>,
    cells: Vec<usize>,
    count: Option<usize>,
}

impl Places {
    fn of(names: &[String], columns: &ScoreColumns, options: &TableOptions) -> Result<Places> {
        let one = |name: Option<&String>, option: &str| name.map(|name| position(names, name, option)).transpose();
        let coded = |column: &ClassColumn| position(names, &column.column, column.options[0]);
        Ok(Places {
            scores: columns.columns.iter().map(|name| position(names, name, "--scores")).collect::<Result<_>>()?,
            id: one(options.id.as_ref(), "--id")?,
            by: options.by.iter().map(|name| position(names, name, options.by_option)).collect::<Result<_>>()?,
            truth: options.truth.as_ref().map(coded).transpose()?,
            labels: options.labels.iter().map(coded).collect::<Result<_>>()?,
            outcome: one(options.outcome.as_ref().map(|outcome| &outcome.column), "--outcome")?,
            cells: options.cells.iter().map(|name| position(names, name, "--cells")).collect::<Result<_>>()?,
            count: one(options.count.as_ref(), "--count")?,
        })
    }

    fn all(&self) -> impl Iterator<Item = usize> + '_ {
        let single = [self.id, self.truth, self.outcome, self.count].into_iter().flatten();
        let several = [&self.scores, &self.by, &self.labels, &self.cells].into_iter().flatten();
        several.copied().chain(single)
    }
}

/// A batch, or the rows of it that are kept.
struct Part {
    batch: RecordBatch,
    /// Which rows of the batch these are; none where all are.
    rows: Option<Vec<usize>>,
}

impl Taker {
    pub(crate) fn new(names: &[String], path: &Path, options: &TableOptions) -> Result<Taker> {
        let (mut columns, found) = if options.scores.is_empty() {
            let found = find_scores(names).map_err(|error| Error::file(path, error.to_string()))?.ok_or_else(|| {
                let numbers = names.iter().filter(|name| parse(name).is_some_and(f64::is_finite)).count();
                if 2 * numbers > names.len() {
                    // These are no names: what they are is nobody's business.
                    return Error::file(
                        path,
                        "its first line holds numbers, and not the names of columns; add such a line",
                    );
                }
                let columns = some_names(names);
                let single: Vec<&String> = names.iter().filter(|name| normal(name).starts_with("p_")).collect();
                if let [single] = single[..] {
                    let problem = format!(
                        "{single:?} is its only score column, and rules choose among several classes; add the columns of the \
                         others, or name all with --scores"
                    );
                    return Error::file(path, problem);
                }
                let hint = match names {
                    [one] if one.contains(';') => "; is it separated by semicolons? --delimiter ';'",
                    [one] if one.contains('\t') => "; is it separated by tabs? --delimiter tab",
                    [one] if one.contains('|') => "; is it separated by bars? --delimiter '|'",
                    _ => "; name them with --scores",
                };
                Error::file(path, format!("no score columns were recognised among {columns}{hint}"))
            })?;
            (found.scores.clone(), Some(found))
        } else {
            (ScoreColumns::named(&options.scores, names)?, None)
        };
        if !options.classes.is_empty() {
            columns = in_order(&columns, &options.classes)?;
        }
        let classes = Classes::new(columns.classes.clone()).map_err(|error| refuse_classes(error, options))?;
        for column in options.truth.iter().chain(&options.labels) {
            column.check_map(&classes)?;
        }
        Places::of(names, &columns, options)?;
        Ok(Taker {
            values: Values::new(classes.len(), Budget::of(options.memory)),
            options: options.clone(),
            columns,
            found,
            classes,
            places: Places::default(),
            percentages: Percentages::default(),
            keys: Vec::new(),
            without_key: 0,
            groups: Grouper::default(),
            cells: Grouper::default(),
            outcome: OutcomeTaker::default(),
            truth: Coded::default(),
            labels: options.labels.iter().map(|_| Coded::default()).collect(),
            counts: Vec::new(),
            files: Vec::new(),
            kept: KeptRows::default(),
            handed_on: 0,
        })
    }

    /// The columns of a file that are needed. They may stand elsewhere than in the first.
    pub(crate) fn wanted(&self, names: &[String], path: &Path) -> Result<Vec<String>> {
        Ok(self.places_in(names, path)?.all().map(|place| names[place].clone()).collect())
    }

    fn places_in(&self, names: &[String], path: &Path) -> Result<Places> {
        // Scores that are lent are not taken.
        let none = ScoreColumns::default();
        let columns = if matches!(self.values, Values::Lent(_)) { &none } else { &self.columns };
        Places::of(names, columns, &self.options).map_err(|error| match error {
            Error::Options(problem) if !self.files.is_empty() => Error::file(path, problem),
            error => error,
        })
    }

    /// Begins a file with these columns.
    pub(crate) fn begin(&mut self, names: &[String], path: &Path) -> Result<()> {
        self.places = self.places_in(names, path)?;
        self.files.push((path.to_owned(), 0));
        Ok(())
    }

    /// Uses the scores of a table in memory where they lie, if all rows are used and all scores are plain numbers.
    pub(crate) fn borrow(&mut self, held: &Held, names: &[String]) -> Result<()> {
        if self.options.only_with_truth || self.options.skip_missing {
            return Ok(());
        }
        let places = Places::of(names, &self.columns, &self.options)?.scores;
        if let Some(lent) = held.lent(&places) {
            let first = lent.rows(0..lent.len().min(LOOKED_AT));
            self.percentages.look(&first, places.len());
            self.values = Values::Lent(lent);
        }
        Ok(())
    }

    /// About so many rows will be read in all. Of those to come as many will be left out as of those before.
    pub(crate) fn foresee(&mut self, rows: u64) -> Result<()> {
        let read: usize = self.files.iter().map(|(_, rows)| rows).sum();
        let kept = self.values.len() as f64 / read.max(1) as f64;
        self.values.foresee((rows as f64 * kept) as u64)
    }

    pub(crate) fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let part = self.without_left_out(batch)?;
        self.take_scores(&part)?;
        self.take_keys(&part)?;
        self.take_groups(&part)?;
        if let (Some(place), Some(column)) = (self.places.truth, &self.options.truth) {
            self.truth.take(&text(self, &part, place)?, column, &self.classes);
        }
        for label in 0..self.places.labels.len() {
            let values = text(self, &part, self.places.labels[label])?;
            self.labels[label].take(&values, &self.options.labels[label], &self.classes);
        }
        self.take_outcome(&part)?;
        self.take_counts(&part)?;
        if let Some((_, rows)) = self.files.last_mut() {
            *rows += batch.num_rows();
        }
        Ok(())
    }

    /// The rows that are to be looked at at all.
    fn without_left_out(&mut self, batch: &RecordBatch) -> Result<Part> {
        let whole = Part { batch: batch.clone(), rows: None };
        let mut keep = vec![true; batch.num_rows()];
        if let (true, Some(place), Some(column)) =
            (self.options.only_with_truth, self.places.truth, &self.options.truth)
        {
            let truth = text(self, &whole, place)?;
            keep.iter_mut().enumerate().for_each(|(row, keep)| *keep = !column.leaves_out(truth.value(row)));
        }
        if self.options.skip_missing {
            let column = |&place: &usize| match as_text(batch.column(place)) {
                Some(text) => Arc::new(text) as ArrayRef,
                None => batch.column(place).clone(),
            };
            let columns: Vec<ArrayRef> = self.places.scores.iter().map(column).collect();
            for (row, keep) in keep.iter_mut().enumerate() {
                *keep &= columns.iter().any(|column| has_number(column, row));
            }
        }
        if keep.iter().all(|&keep| keep) {
            self.kept.keep(keep.len());
            return Ok(whole);
        }
        keep.iter().for_each(|&keep| self.kept.push(keep));
        let rows = (0..keep.len()).filter(|&row| keep[row]).collect();
        let batch =
            filter_record_batch(batch, &BooleanArray::from(keep)).map_err(|error| Error::Options(error.to_string()))?;
        Ok(Part { batch, rows: Some(rows) })
    }

    fn take_scores(&mut self, part: &Part) -> Result<()> {
        if matches!(self.values, Values::Lent(_)) {
            return Ok(());
        }
        let (k, rows) = (self.places.scores.len(), part.batch.num_rows());
        let column = |class: usize| part.batch.column(self.places.scores[class]);
        if (0..k).all(|class| column(class).data_type() == &DataType::Float32) {
            let mut values = vec![0.0; rows * k];
            for class in 0..k {
                let column = column(class).as_primitive::<Float32Type>();
                let own = values.iter_mut().skip(class).step_by(k);
                if column.null_count() == 0 {
                    own.zip(column.values()).for_each(|(value, &score)| *value = score);
                } else {
                    own.zip(column).for_each(|(value, score)| *value = score.unwrap_or(f32::NAN));
                }
            }
            self.percentages.look(&values, k);
            return self.values.push_singles(&values);
        }
        let mut values = vec![0.0; rows * k];
        for class in 0..k {
            let numbers = self.numbers(part, self.places.scores[class], parse)?;
            values.iter_mut().skip(class).step_by(k).zip(numbers).for_each(|(value, number)| *value = number);
        }
        self.percentages.look(&values, k);
        let percent = self.percentages.scaling() == Scaling::Percent;
        values.chunks_exact_mut(k).for_each(|row| fill_suppressed(row, percent));
        self.values.push_doubles(&values)
    }

    /// A column as numbers; NaN where there is none.
    fn numbers(&self, part: &Part, place: usize, read: fn(&str) -> Option<f64>) -> Result<Vec<f64>> {
        let column = part.batch.column(place);
        if let Some(text) = as_text(column) {
            return (0..text.len())
                .map(|row| {
                    let value = if text.is_null(row) { "" } else { text.value(row) };
                    read(value).ok_or_else(|| {
                        let problem = format!("{} is no number; mend it, or name another column", quoted(value));
                        self.value_error(part, place, row, problem)
                    })
                })
                .collect();
        }
        let numbers = cast(column, &DataType::Float64).map_err(|_| {
            let problem = format!("the column holds {}, not numbers; name another", column.data_type());
            self.value_error(part, place, 0, problem)
        })?;
        let numbers = numbers.as_primitive::<Float64Type>();
        Ok(numbers.iter().map(|number| number.unwrap_or(f64::NAN)).collect())
    }

    fn value_error(&self, part: &Part, place: usize, row: usize, problem: String) -> Error {
        let (path, before) = self.files.last().cloned().unwrap_or_default();
        let column = part.batch.schema().field(place).name().clone();
        let row = part.rows.as_ref().map_or(row, |rows| rows[row]);
        Error::Value { path, row: (before + row) as u64 + 1, column, problem }
    }

    fn take_keys(&mut self, part: &Part) -> Result<()> {
        let Some(place) = self.places.id else { return Ok(()) };
        let text = text(self, part, place)?;
        let before = self.handed_on + self.keys.len();
        for row in 0..text.len() {
            let identifier = text.value(row);
            self.without_key += u64::from(identifier.is_empty());
            // Rows without an identifier are not one and the same person: their place tells them apart.
            self.keys.push(match identifier {
                "" => seed::key_of_text(&format!("row {}", before + row)),
                identifier => seed::key_of_text(identifier),
            });
        }
        Ok(())
    }

    fn take_groups(&mut self, part: &Part) -> Result<()> {
        let texts = |places: &[usize]| places.iter().map(|&place| text(self, part, place)).collect::<Result<Vec<_>>>();
        let (by, cells) = (texts(&self.places.by)?, texts(&self.places.cells)?);
        self.groups.take(&by);
        self.cells.take(&cells);
        let (found, rows) = (self.cells.column.names.len(), self.cells.column.codes.len());
        if found > MOST_ALONE && 2 * found > rows {
            return Err(Error::Options(format!(
                "--cells: {found} of the first {rows} rows are in cells of their own, which say nothing of how an outcome is \
                 spread; name columns with fewer values"
            )));
        }
        Ok(())
    }

    fn take_outcome(&mut self, part: &Part) -> Result<()> {
        let (Some(place), Some(column)) = (self.places.outcome, &self.options.outcome) else { return Ok(()) };
        let mut taker = std::mem::take(&mut self.outcome);
        let is_number = part.batch.column(place).data_type().is_numeric();
        let taken = if is_number {
            let numbers = self.numbers(part, place, parse)?.into_iter();
            numbers
                .enumerate()
                .try_for_each(|(row, number)| taker.push_number(number, column).map_err(|own| (row, own)))
        } else {
            let text = text(self, part, place)?;
            (0..text.len()).try_for_each(|row| taker.push_text(text.value(row), column).map_err(|own| (row, own)))
        };
        taken.map_err(|(row, problem)| self.value_error(part, place, row, problem))?;
        self.outcome = taker;
        Ok(())
    }

    fn take_counts(&mut self, part: &Part) -> Result<()> {
        let Some(place) = self.places.count else { return Ok(()) };
        for (row, number) in self.numbers(part, place, count)?.into_iter().enumerate() {
            if let Some(problem) = count_problem(number) {
                return Err(self.value_error(part, place, row, problem));
            }
            self.counts.push(number as u64);
        }
        Ok(())
    }

    /// Hands on the rows so far as a table without groups, and the group of each row. Further rows can come: what was learned
    /// of the columns and groups stays.
    pub(crate) fn hand_on(&mut self) -> Result<(Table, Vec<u32>)> {
        if let Some(column) = &self.options.truth {
            self.truth.refuse_unknown(column, &self.classes)?;
        }
        let fresh = Values::new(self.classes.len(), Budget::of(u64::MAX));
        let kept = std::mem::take(&mut self.kept);
        self.handed_on += kept.count();
        let wanted = |there: bool| there.then_some(());
        let table = Table {
            keys: wanted(self.places.id.is_some()).map(|()| std::mem::take(&mut self.keys)),
            groups: None,
            cells: None,
            outcome: None,
            truth: wanted(self.places.truth.is_some()).map(|()| std::mem::take(&mut self.truth.values)),
            labels: Vec::new(),
            without_key: self.without_key,
            counts: wanted(self.places.count.is_some()).map(|()| std::mem::take(&mut self.counts)),
            scaling: if self.options.normalize { Scaling::Normalize } else { self.percentages.scaling() },
            classes: self.classes.clone(),
            found: None,
            columns: self.columns.clone(),
            values: std::mem::replace(&mut self.values, fresh),
            files: self.files.last().cloned().into_iter().collect(),
            kept,
        };
        Ok((table, std::mem::take(&mut self.groups.column.codes)))
    }

    /// The groups so far, in the order in which they came: the value of each column.
    pub(crate) fn group_values(&self) -> &[Vec<String>] {
        &self.groups.column.values
    }

    pub(crate) fn classes(&self) -> &Classes {
        &self.classes
    }

    pub(crate) fn finish(mut self) -> Result<Table> {
        self.groups.column.sort();
        self.cells.column.sort();
        let (truth, labels) = (self.options.truth.iter(), self.options.labels.iter());
        for (column, coded) in truth.zip([&self.truth]).chain(labels.zip(&self.labels)) {
            coded.refuse_unknown(column, &self.classes)?;
        }
        if self.kept.count() == 0 {
            let path = self.files.first().map(|(path, _)| path.clone()).unwrap_or_default();
            let problem = if self.kept.all() == 0 {
                "it has columns but no rows; check how it was made"
            } else {
                "all rows are left out: none has what --only-with-truth or --skip-missing asks for"
            };
            return Err(Error::file(&path, problem));
        }
        let wanted = |there: bool| there.then_some(());
        Ok(Table {
            keys: match self.places.id {
                Some(_) => Some(self.keys),
                None => self.kept.places(),
            },
            groups: wanted(!self.places.by.is_empty()).map(|()| self.groups.column),
            cells: wanted(!self.places.cells.is_empty()).map(|()| {
                let number = self.cells.column.names.len();
                (self.cells.column.codes, number)
            }),
            outcome: self.options.outcome.as_ref().map(|column| self.outcome.finish(column)).transpose()?,
            truth: wanted(self.places.truth.is_some()).map(|()| self.truth.values),
            labels: self.labels.into_iter().map(|labels| labels.values).collect(),
            without_key: self.without_key,
            counts: wanted(self.places.count.is_some()).map(|()| self.counts),
            scaling: if self.options.normalize { Scaling::Normalize } else { self.percentages.scaling() },
            classes: self.classes,
            found: self.found,
            columns: self.columns,
            values: self.values,
            files: self.files,
            kept: self.kept,
        })
    }
}

/// What is wrong with a row's number of people, with the fix.
fn count_problem(number: f64) -> Option<String> {
    if number > Scores::MAX_PEOPLE as f64 {
        let problem =
            "is too large: all rows together may stand for 1,099,511,627,776 people; correct it, or split the file";
        return Some(format!("a count of {number:e} {problem}"));
    }
    if number.fract() == 0.0 && number >= 0.0 {
        return None;
    }
    let found = if number.is_nan() { "no count".into() } else { format!("a count of {number}") };
    Some(format!("{found}; counts must be whole numbers, and not negative; mend it"))
}

/// Groups or cells, as they are taken in.
#[derive(Default)]
struct Grouper {
    column: GroupColumn,
    code_of: HashMap<String, u32>,
}

impl Grouper {
    /// Takes the rows of some columns, whose values together are a group. Nothing where there are no columns.
    fn take(&mut self, columns: &[StringArray]) {
        let mut name = String::new();
        for row in 0..columns.first().map_or(0, Array::len) {
            name.clear();
            write_group_name(columns.iter().map(|column| column.value(row)), &mut name);
            let code = match self.code_of.get(&name) {
                Some(&code) => code,
                None => {
                    let code = self.column.names.len() as u32;
                    self.code_of.insert(name.clone(), code);
                    self.column.names.push(name.clone());
                    self.column.values.push(columns.iter().map(|column| column.value(row).to_owned()).collect());
                    code
                }
            };
            self.column.codes.push(code);
        }
    }
}

/// A column as text; empty where there is nothing.
fn text(taker: &Taker, part: &Part, place: usize) -> Result<StringArray> {
    let text: ArrayRef = cast(part.batch.column(place), &DataType::Utf8).map_err(|_| {
        let kind = part.batch.column(place).data_type().to_string();
        taker.value_error(part, place, 0, format!("the column holds {kind}, which is no text; name another"))
    })?;
    let text = text.as_string::<i32>();
    if text.null_count() == 0 {
        return Ok(text.clone());
    }
    Ok(text.iter().map(|value| Some(value.unwrap_or(""))).collect())
}

/// Whether a row of a score column has anything in it.
fn has_number(column: &ArrayRef, row: usize) -> bool {
    if column.is_null(row) {
        return false;
    }
    if let Some(text) = column.as_string_opt::<i32>() {
        return !parse(text.value(row)).is_some_and(f64::is_nan);
    }
    let nan = column.as_primitive_opt::<Float32Type>().is_some_and(|column| column.value(row).is_nan())
        || column.as_primitive_opt::<Float64Type>().is_some_and(|column| column.value(row).is_nan());
    !nan
}

/// A column as text, where it is one of text, in whichever form.
fn as_text(column: &ArrayRef) -> Option<StringArray> {
    let is_text = match column.data_type() {
        DataType::Dictionary(_, values) => matches!(**values, DataType::Utf8 | DataType::LargeUtf8),
        kind => matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    };
    is_text.then(|| Some(cast(column, &DataType::Utf8).ok()?.as_string().clone()))?
}

/// Whether the first rows are percentages: they sum to about 100.
#[derive(Default)]
struct Percentages {
    looked_at: usize,
    found: usize,
}

impl Percentages {
    fn look<T: Copy + Into<f64>>(&mut self, values: &[T], k: usize) {
        for row in values.chunks_exact(k) {
            let sum: f64 = row.iter().map(|&value| value.into()).sum();
            // Rows that lack a number say nothing.
            if self.looked_at < LOOKED_AT && !sum.is_nan() {
                self.looked_at += 1;
                self.found += usize::from((sum - 100.0).abs() < 1.0);
            }
        }
    }

    fn scaling(&self) -> Scaling {
        if 2 * self.found > self.looked_at { Scaling::Percent } else { Scaling::AsGiven }
    }
}

/// The same columns in the order in which a user names the classes.
fn in_order(columns: &ScoreColumns, classes: &[String]) -> Result<ScoreColumns> {
    if classes.len() != columns.classes.len() {
        return Err(Error::Options(format!(
            "--classes names {} classes, and there are {} score columns: {}",
            classes.len(),
            columns.columns.len(),
            columns.columns.join(", ")
        )));
    }
    let places: Option<Vec<usize>> =
        classes.iter().map(|class| columns.classes.iter().position(|own| own == class)).collect();
    Ok(match places {
        // Another order of the same names, or else other names in the same order.
        Some(places) => ScoreColumns {
            columns: places.iter().map(|&place| columns.columns[place].clone()).collect(),
            classes: classes.to_vec(),
        },
        None => ScoreColumns { columns: columns.columns.clone(), classes: classes.to_vec() },
    })
}

/// A class's name that cannot be used, with the option that renames it.
fn refuse_classes(error: apportion::Error, options: &TableOptions) -> Error {
    match error {
        error @ apportion::Error::ClassName { .. } => {
            let fix = if options.classes.is_empty() { "; rename the classes with --classes" } else { "" };
            Error::Options(format!("{error}{fix}"))
        }
        apportion::Error::TooManyClasses { found, limit } => Error::Options(format!(
            "there are {found} score columns, and at most {limit} classes are supported; name those to use with --scores"
        )),
        error => error.into(),
    }
}
