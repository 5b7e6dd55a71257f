//! What the rules need of a table, in memory: scores, keys, groups, truth and counts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use apportion::{Classes, Groups, Keys, Label, Matrix, Scaling, Scores, UNCODED, seed};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Float64Type};

use crate::columns::{Found, ScoreColumns, find_scores, position};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::truth::{check_map, map_hint};

/// Which columns hold what.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// The score columns; found by their names where none are named.
    pub scores: Vec<String>,
    /// Other names for the classes, or another order: `white,black,…`.
    pub classes: Vec<String>,
    /// The column that identifies a row.
    pub id: Option<String>,
    /// Columns whose values together are a row's group.
    pub by: Vec<String>,
    /// The column that says how many people a row stands for.
    pub count: Option<String>,
    /// The true class.
    pub truth: Option<TruthOptions>,
    /// Whether rows are divided by their sum.
    pub normalize: bool,
}

/// How a column of classes is understood.
#[derive(Clone, Debug, Default)]
pub struct TruthOptions {
    /// The column.
    pub column: String,
    /// Values that stand for a class: (value, class).
    pub map: Vec<(String, String)>,
    /// Values that stand for none.
    pub exclude: Vec<String>,
    /// The options by which a user says so: to map, and to leave out.
    pub options: (&'static str, &'static str),
}

/// A table of scores with what else is known of its rows.
#[derive(Debug)]
pub struct Table {
    classes: Classes,
    /// Where the scores come from, for the user to check.
    found: Option<Found>,
    columns: ScoreColumns,
    values: Values,
    scaling: Scaling,
    keys: Option<Vec<u64>>,
    groups: Option<(Vec<u32>, Vec<String>)>,
    truth: Option<Vec<Label>>,
    counts: Option<Vec<u64>>,
    /// The files, and the number of rows in each.
    files: Vec<(PathBuf, usize)>,
}

/// Scores, row by row: in single precision where the files have them so.
#[derive(Debug)]
enum Values {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

/// Rows that are looked at to tell percentages from probabilities.
const LOOKED_AT: usize = 1000;

impl Table {
    /// Reads what is needed of all files.
    pub fn read(input: &Input, options: &TableOptions) -> Result<Table> {
        let mut reader: Option<Reader> = None;
        for file in 0..input.names().len() {
            let batches = input.open(file)?;
            let names = batches.names();
            let path = batches.name().to_owned();
            let reader = match &mut reader {
                Some(reader) => reader,
                None => reader.insert(Reader::new(&names, &path, options)?),
            };
            reader.begin(&names, path)?;
            for batch in batches {
                reader.take(&batch?)?;
            }
        }
        reader.ok_or_else(|| Error::Options("no file was named".into()))?.finish()
    }

    /// The scores as the library takes them.
    pub fn scores(&self) -> Result<Scores<'_>> {
        let matrix = match &self.values {
            Values::Single(values) => Matrix::RowsF32(values),
            Values::Double(values) => Matrix::RowsF64(values),
        };
        let mut scores = Scores::new(&self.classes, matrix)?.scaled(self.scaling);
        if let Some(keys) = &self.keys {
            scores = scores.with_keys(Keys::Given(keys))?;
        }
        if let Some((codes, names)) = &self.groups {
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

    /// The score of a class in a row: the number that the file has, divided as all are.
    pub fn score(&self, row: usize, class: usize) -> f64 {
        let k = self.classes.len();
        let value = |class: usize| match &self.values {
            Values::Single(values) => f64::from(values[row * k + class]),
            Values::Double(values) => values[row * k + class],
        };
        match self.scaling {
            Scaling::AsGiven => value(class),
            Scaling::Percent => value(class) / 100.0,
            Scaling::Normalize => value(class) / (0..k).map(value).sum::<f64>(),
        }
    }

    /// Whether the scores are of single precision.
    pub fn is_single(&self) -> bool {
        matches!((&self.values, self.scaling), (Values::Single(_), Scaling::AsGiven))
    }

    /// The classes, in order.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.files.iter().map(|(_, rows)| rows).sum()
    }

    /// The files, and the number of rows in each.
    pub fn files(&self) -> &[(PathBuf, usize)] {
        &self.files
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

    /// An error of the library, with the file and the row in it.
    pub fn explain(&self, error: apportion::Error) -> Error {
        use apportion::Error as Core;
        let (row, class) = match &error {
            Core::NotFinite { row, class, value } if value.is_nan() => {
                let (path, row) = self.locate(*row);
                let column = self.classes.position(class).map_or(class, |place| &self.columns.columns[place]);
                let problem = "there is no number; fill it in, or leave the row out".into();
                return Error::Value { path, row, column: column.clone(), problem };
            }
            Core::NotFinite { row, class, .. } | Core::Negative { row, class, .. } => (*row, Some(class.clone())),
            Core::NotOne { row, .. } => (*row, None),
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
        let mut before = 0;
        for (path, rows) in &self.files {
            if row < before + rows {
                return (path.clone(), (row - before) as u64 + 1);
            }
            before += rows;
        }
        (PathBuf::new(), row as u64 + 1)
    }
}

/// Takes batch after batch.
struct Reader {
    options: TableOptions,
    columns: ScoreColumns,
    found: Option<Found>,
    classes: Classes,
    places: Places,
    single: Option<Vec<f32>>,
    double: Vec<f64>,
    keys: Vec<u64>,
    group_codes: Vec<u32>,
    group_names: Vec<String>,
    group_of: HashMap<String, u32>,
    truth: Vec<Label>,
    /// Values that are no class, with how often they came.
    unknown: Vec<(String, u64)>,
    counts: Vec<u64>,
    files: Vec<(PathBuf, usize)>,
}

/// Where the columns stand in the file at hand.
struct Places {
    scores: Vec<usize>,
    id: Option<usize>,
    by: Vec<usize>,
    truth: Option<usize>,
    count: Option<usize>,
}

impl Places {
    fn of(names: &[String], columns: &ScoreColumns, options: &TableOptions) -> Result<Places> {
        let one =
            |name: &Option<String>, option: &str| name.as_ref().map(|name| position(names, name, option)).transpose();
        let truth = options.truth.as_ref().map(|truth| truth.column.clone());
        Ok(Places {
            scores: columns.columns.iter().map(|name| position(names, name, "--scores")).collect::<Result<_>>()?,
            id: one(&options.id, "--id")?,
            by: options.by.iter().map(|name| position(names, name, "--by")).collect::<Result<_>>()?,
            truth: one(&truth, "--truth")?,
            count: one(&options.count, "--count")?,
        })
    }
}

impl Reader {
    fn new(names: &[String], path: &Path, options: &TableOptions) -> Result<Reader> {
        let (mut columns, found) = if options.scores.is_empty() {
            let found = find_scores(names).map_err(|error| Error::file(path, error.to_string()))?.ok_or_else(|| {
                let columns = names.join(", ");
                let hint = match names {
                    [one] if one.contains(';') => "; is it separated by semicolons? --delimiter ';'",
                    [one] if one.contains('\t') => "; is it separated by tabs? --delimiter tab",
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
        let classes = Classes::new(columns.classes.clone())?;
        options.truth.as_ref().map_or(Ok(()), |truth| check_map(truth, &classes))?;
        let places = Places::of(names, &columns, options)?;
        Ok(Reader {
            options: options.clone(),
            columns,
            found,
            classes,
            places,
            single: Some(Vec::new()),
            double: Vec::new(),
            keys: Vec::new(),
            group_codes: Vec::new(),
            group_names: Vec::new(),
            group_of: HashMap::new(),
            truth: Vec::new(),
            unknown: Vec::new(),
            counts: Vec::new(),
            files: Vec::new(),
        })
    }

    /// Begins a file. Its columns may stand elsewhere than in the first.
    fn begin(&mut self, names: &[String], path: PathBuf) -> Result<()> {
        self.places = Places::of(names, &self.columns, &self.options).map_err(|error| match error {
            Error::Options(problem) => Error::file(&path, problem),
            error => error,
        })?;
        self.files.push((path, 0));
        Ok(())
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        self.take_scores(batch)?;
        self.take_keys(batch)?;
        self.take_groups(batch)?;
        self.take_truth(batch)?;
        self.take_counts(batch)?;
        if let Some((_, rows)) = self.files.last_mut() {
            *rows += batch.num_rows();
        }
        Ok(())
    }

    fn take_scores(&mut self, batch: &RecordBatch) -> Result<()> {
        let k = self.places.scores.len();
        let is_single = |place: &usize| batch.column(*place).data_type() == &DataType::Float32;
        if let (Some(single), true) = (&mut self.single, self.places.scores.iter().all(is_single)) {
            let columns: Vec<_> = self
                .places
                .scores
                .iter()
                .map(|&place| batch.column(place).as_primitive::<Float32Type>().clone())
                .collect();
            let start = single.len();
            single.resize(start + batch.num_rows() * k, 0.0);
            for (class, column) in columns.iter().enumerate() {
                for row in 0..batch.num_rows() {
                    single[start + row * k + class] = if column.is_null(row) { f32::NAN } else { column.value(row) };
                }
            }
            return Ok(());
        }
        if let Some(single) = self.single.take() {
            self.double = single.into_iter().map(f64::from).collect();
        }
        let start = self.double.len();
        self.double.resize(start + batch.num_rows() * k, 0.0);
        for class in 0..k {
            let numbers = self.numbers(batch, self.places.scores[class])?;
            for (row, number) in numbers.into_iter().enumerate() {
                self.double[start + row * k + class] = number;
            }
        }
        self.double[start..].chunks_exact_mut(k).for_each(fill_suppressed);
        Ok(())
    }

    /// A column as numbers; NaN where there is none.
    fn numbers(&self, batch: &RecordBatch, place: usize) -> Result<Vec<f64>> {
        let column = batch.column(place);
        if let Some(text) = column.as_string_opt::<i32>() {
            return (0..text.len())
                .map(|row| {
                    let value = if text.is_null(row) { "" } else { text.value(row).trim() };
                    parse(value).ok_or_else(|| {
                        let problem = format!("{value:?} is no number; mend it, or name another column");
                        self.value_error(batch, place, row, problem)
                    })
                })
                .collect();
        }
        let numbers = cast(column, &DataType::Float64).map_err(|_| {
            let problem = format!("the column holds {}, not numbers; name another", column.data_type());
            self.value_error(batch, place, 0, problem)
        })?;
        let numbers = numbers.as_primitive::<Float64Type>();
        Ok((0..numbers.len()).map(|row| if numbers.is_null(row) { f64::NAN } else { numbers.value(row) }).collect())
    }

    fn value_error(&self, batch: &RecordBatch, place: usize, row: usize, problem: String) -> Error {
        let (path, before) = self.files.last().cloned().unwrap_or_default();
        let column = batch.schema().field(place).name().clone();
        Error::Value { path, row: (before + row) as u64 + 1, column, problem }
    }

    fn take_keys(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(place) = self.places.id else { return Ok(()) };
        let text = self.text(batch, place)?;
        self.keys.extend(text.iter().map(|key| seed::key_of_text(key)));
        Ok(())
    }

    fn take_groups(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.places.by.is_empty() {
            return Ok(());
        }
        let columns = self.places.by.iter().map(|&place| self.text(batch, place)).collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let name = columns.iter().map(|column| column[row].as_str()).collect::<Vec<_>>().join(" / ");
            let code = *self.group_of.entry(name).or_insert_with_key(|name| {
                self.group_names.push(name.clone());
                self.group_names.len() as u32 - 1
            });
            self.group_codes.push(code);
        }
        Ok(())
    }

    fn take_truth(&mut self, batch: &RecordBatch) -> Result<()> {
        let (Some(place), Some(options)) = (self.places.truth, &self.options.truth) else { return Ok(()) };
        for value in self.text(batch, place)? {
            let value = value.trim();
            let mapped = options.map.iter().find(|(from, _)| from == value).map_or(value, |(_, class)| class.as_str());
            let label = match self.classes.label(mapped) {
                Ok(label) => label,
                Err(_) if value.is_empty() || options.exclude.iter().any(|other| other == value) => UNCODED,
                Err(_) => {
                    match self.unknown.iter_mut().find(|(known, _)| known == value) {
                        Some((_, times)) => *times += 1,
                        None => self.unknown.push((value.to_owned(), 1)),
                    }
                    UNCODED
                }
            };
            self.truth.push(label);
        }
        Ok(())
    }

    fn take_counts(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(place) = self.places.count else { return Ok(()) };
        for (row, number) in self.numbers(batch, place)?.into_iter().enumerate() {
            if number.fract() != 0.0 || !(0.0..1e15).contains(&number) {
                let problem = format!("a count of {number}; counts must be whole numbers, and not negative");
                return Err(self.value_error(batch, place, row, problem));
            }
            self.counts.push(number as u64);
        }
        Ok(())
    }

    /// A column as text; empty where there is nothing.
    fn text(&self, batch: &RecordBatch, place: usize) -> Result<Vec<String>> {
        let text: ArrayRef = cast(batch.column(place), &DataType::Utf8).map_err(|_| {
            let kind = batch.column(place).data_type().to_string();
            self.value_error(batch, place, 0, format!("the column holds {kind}, which is no text; name another"))
        })?;
        let text = text.as_string::<i32>();
        Ok((0..text.len())
            .map(|row| if text.is_null(row) { String::new() } else { text.value(row).to_owned() })
            .collect())
    }

    fn finish(self) -> Result<Table> {
        if let Some(truth) = self.options.truth.as_ref().filter(|_| !self.unknown.is_empty()) {
            let listed = self.unknown.iter().take(12).map(|(value, times)| format!("{value:?} ({times})"));
            let listed = listed.collect::<Vec<_>>().join(", ");
            let more = if self.unknown.len() > 12 { ", …" } else { "" };
            return Err(Error::Options(format!(
                "column {:?}: these values are no class: {listed}{more}; the classes are {}; map them with {}{}, or \
                 leave them out with {}",
                truth.column,
                self.classes,
                truth.options.0,
                map_hint(truth, &self.unknown, &self.classes),
                truth.options.1
            )));
        }
        let rows: usize = self.files.iter().map(|(_, rows)| rows).sum();
        if rows == 0 {
            let path = self.files.first().map(|(path, _)| path.clone()).unwrap_or_default();
            return Err(Error::file(&path, "it has columns but no rows; check how it was made"));
        }
        let values = match self.single {
            Some(single) if !single.is_empty() => Values::Single(single),
            _ => Values::Double(self.double),
        };
        let k = self.classes.len();
        let scaling = if self.options.normalize { Scaling::Normalize } else { values.scaling(k) };
        let wanted = |there: bool| there.then_some(());
        Ok(Table {
            keys: wanted(self.places.id.is_some()).map(|()| self.keys),
            groups: wanted(!self.places.by.is_empty()).map(|()| (self.group_codes, self.group_names)),
            truth: wanted(self.places.truth.is_some()).map(|()| self.truth),
            counts: wanted(self.places.count.is_some()).map(|()| self.counts),
            classes: self.classes,
            found: self.found,
            columns: self.columns,
            values,
            scaling,
            files: self.files,
        })
    }
}

impl Values {
    /// Whether the first rows are percentages: they sum to about 100.
    fn scaling(&self, k: usize) -> Scaling {
        let sum = |row: usize| -> f64 {
            match self {
                Values::Single(values) => values[row * k..][..k].iter().map(|&value| f64::from(value)).sum(),
                Values::Double(values) => values[row * k..][..k].iter().sum(),
            }
        };
        let rows = match self {
            Values::Single(values) => values.len() / k,
            Values::Double(values) => values.len() / k,
        };
        let percentages = (0..rows.min(LOOKED_AT)).filter(|&row| (sum(row) - 100.0).abs() < 1.0).count();
        if 2 * percentages > rows.min(LOOKED_AT) { Scaling::Percent } else { Scaling::AsGiven }
    }
}

/// Stands for `(S)`, the Census's mark of a share that it does not publish.
const SUPPRESSED: f64 = f64::NEG_INFINITY;

/// Shares out what the published shares leave, equally, among those that are not published.
fn fill_suppressed(row: &mut [f64]) {
    let suppressed = row.iter().filter(|&&score| score == SUPPRESSED).count();
    if suppressed == 0 {
        return;
    }
    let sum: f64 = row.iter().filter(|&&score| score != SUPPRESSED).sum();
    let whole = if sum > 1.5 { 100.0 } else { 1.0 };
    let each = f64::max(whole - sum, 0.0) / suppressed as f64;
    row.iter_mut().filter(|score| **score == SUPPRESSED).for_each(|score| *score = each);
}

/// A number as text has it.
fn parse(text: &str) -> Option<f64> {
    match text {
        "(S)" => Some(SUPPRESSED),
        "" | "NA" | "NaN" | "nan" | "null" | "NULL" => Some(f64::NAN),
        number => number.parse().ok(),
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
