//! The table of scores: K columns of probabilities, one row per person.
//!
//! [`Scores`] borrows its data. The shape is checked on construction; the values are checked by the pass that reads
//! them, so that a large table is not read twice ([`Scores::check`] checks all values explicitly). No result is
//! computed from an invalid value.

use std::ops::Range;

use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::kernel::{
    GRID, Grid, LabelTotals, Layout, Real, Rows, STRETCH, SimdLevel, Source, TILE, Tile, add_label_totals,
};
use crate::store::{Store, Stored};

/// A label or a true class: the index of a class, or [`UNCODED`].
pub type Label = u8;

/// The label of an unlabeled row, and the truth of a row whose truth is unknown.
pub const UNCODED: Label = Label::MAX;

/// The text written for [`UNCODED`]. No class may have this name.
const UNLABELED: &str = "Uncoded";

/// The largest number of classes.
pub(crate) const MAX_CLASSES: usize = 250;

/// The largest number of people that the rows of one table may represent, so that exact totals fit 128 bits.
pub(crate) const MAX_PEOPLE: u64 = 1 << 40;

/// The lowest valid score: values between this and zero are rounding errors.
pub(crate) const LEAST_SCORE: f64 = -1e-6;

/// The sum of a row may differ from one by this much.
pub(crate) const SUM_TOLERANCE: f64 = 1e-3;

/// The names of the classes, in order. The order breaks ties of argmax.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Classes(Vec<String>);

/// Classes have the schema of a list of names.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Classes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Classes".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<String>::json_schema(generator)
    }
}

impl Classes {
    /// The largest number of classes.
    pub const MAX: usize = MAX_CLASSES;

    /// Creates classes from their names.
    ///
    /// # Errors
    /// If there are no names or more than [`Classes::MAX`], or if a name is empty, repeated, or `Uncoded` in any
    /// case: such a class could not be distinguished from unlabeled rows.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Classes> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.is_empty() {
            return Err(Error::NoClasses);
        }
        if names.len() > MAX_CLASSES {
            return Err(Error::TooManyClasses { found: names.len(), limit: MAX_CLASSES });
        }
        for (position, name) in names.iter().enumerate() {
            let problem = if name.trim().is_empty() {
                "empty"
            } else if names[..position].contains(name) {
                "given twice"
            } else if name.trim().eq_ignore_ascii_case(UNLABELED) {
                "reserved for unlabeled rows"
            } else {
                continue;
            };
            return Err(Error::ClassName { name: name.clone(), problem });
        }
        Ok(Classes(names))
    }

    /// Returns the number of classes, K.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the names in order.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Returns the name of a label, which is `Uncoded` for [`UNCODED`].
    pub fn name(&self, label: Label) -> &str {
        self.0.get(usize::from(label)).map_or(UNLABELED, String::as_str)
    }

    /// Returns the label with a name.
    pub fn label(&self, name: &str) -> Result<Label> {
        self.position(name).map(|position| position as Label)
    }

    /// Returns the index of a class by name.
    pub fn position(&self, name: &str) -> Result<usize> {
        self.0
            .iter()
            .position(|class| class == name)
            .ok_or_else(|| Error::UnknownClass { name: name.to_owned(), classes: self.to_string() })
    }
}

impl std::fmt::Display for Classes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

impl TryFrom<Vec<String>> for Classes {
    type Error = Error;
    fn try_from(names: Vec<String>) -> Result<Classes> {
        Classes::new(names)
    }
}

impl From<Classes> for Vec<String> {
    fn from(classes: Classes) -> Vec<String> {
        classes.0
    }
}

/// The memory layout of the scores: one row-major matrix, as in numpy, or K columns, as in Arrow.
#[derive(Clone, Debug)]
pub enum Matrix<'a> {
    /// Row-major `f32`.
    RowsF32(&'a [f32]),
    /// Row-major `f64`.
    RowsF64(&'a [f64]),
    /// One column of `f32` per class.
    ColumnsF32(Vec<&'a [f32]>),
    /// One column of `f64` per class.
    ColumnsF64(Vec<&'a [f64]>),
    /// Rows of `f32` stored elsewhere, such as in a file, and read in parts.
    StoredF32(&'a dyn Store<f32>),
    /// Rows of `f64` stored elsewhere.
    StoredF64(&'a dyn Store<f64>),
}

/// How rows are scaled before use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Not scaled: rows must sum to one, within 0.001.
    #[default]
    AsGiven,
    /// Divided by 100: the scores are percentages.
    Percent,
    /// Divided by the sum of the row, which must be positive.
    Normalize,
}

/// The groups of the rows, such as counties: one code per row, and the names of the codes.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// The group of each row, an index into `names`.
    pub codes: &'a [u32],
    /// The name of each group.
    pub names: &'a [String],
}

/// The keys of the rows, which break ties and seed draws together with the seed. Use a person's ID if possible: then
/// labels do not depend on the row order. Rows that share a key, such as a household ID, share their draws; tied rows
/// with equal keys are distinguished by their order.
#[derive(Clone, Copy, Debug)]
pub enum Keys<'a> {
    /// The row index plus an offset, the number of rows in earlier batches. The default is `Index(0)`.
    Index(u64),
    /// One key per row, such as [`seed::key_of_text`](crate::seed::key_of_text) of an ID.
    Given(&'a [u64]),
}

impl Keys<'_> {
    /// Returns whether keys are unique by construction.
    pub(crate) fn are_unique(&self) -> bool {
        matches!(self, Keys::Index(_))
    }

    /// Returns the key of a row.
    #[inline]
    pub fn of(&self, row: usize) -> u64 {
        match self {
            Keys::Index(first) => first.wrapping_add(row as u64),
            Keys::Given(keys) => keys[row],
        }
    }
}

/// A borrowed table of scores, with optional keys, groups, truth and counts.
#[derive(Clone, Debug)]
pub struct Scores<'a> {
    classes: &'a Classes,
    matrix: Matrix<'a>,
    rows: usize,
    scaling: Scaling,
    keys: Keys<'a>,
    groups: Option<Groups<'a>>,
    truth: Option<&'a [Label]>,
    counts: Option<&'a [u64]>,
    cancel: Cancel<'a>,
}

impl<'a> Scores<'a> {
    /// The largest number of people that the rows of one table may represent, so that exact totals fit 128 bits.
    pub const MAX_PEOPLE: u64 = MAX_PEOPLE;

    /// The sum of a row may differ from one by this much.
    pub const SUM_TOLERANCE: f64 = SUM_TOLERANCE;

    /// Creates a table from a matrix or columns.
    pub fn new(classes: &'a Classes, matrix: Matrix<'a>) -> Result<Scores<'a>> {
        let k = classes.len();
        let rows = match &matrix {
            Matrix::RowsF32(values) => rows_of(values.len(), k)?,
            Matrix::RowsF64(values) => rows_of(values.len(), k)?,
            Matrix::ColumnsF32(columns) => length_of(columns, k)?,
            Matrix::ColumnsF64(columns) => length_of(columns, k)?,
            Matrix::StoredF32(store) => store.rows(),
            Matrix::StoredF64(store) => store.rows(),
        };
        Ok(Scores {
            classes,
            matrix,
            rows,
            scaling: Scaling::AsGiven,
            keys: Keys::Index(0),
            groups: None,
            truth: None,
            counts: None,
            cancel: Cancel::default(),
        })
    }

    /// Sets how rows are scaled.
    pub fn scaled(mut self, scaling: Scaling) -> Self {
        self.scaling = scaling;
        self
    }

    /// Sets the keys of the rows.
    pub fn with_keys(mut self, keys: Keys<'a>) -> Result<Self> {
        if let Keys::Given(keys) = keys {
            expect_length("the list of keys", keys.len(), self.rows)?;
        }
        self.keys = keys;
        Ok(self)
    }

    /// Sets the groups of the rows.
    pub fn with_groups(mut self, groups: Groups<'a>) -> Result<Self> {
        expect_length("the list of groups", groups.codes.len(), self.rows)?;
        let mut names: Vec<&String> = groups.names.iter().collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::RepeatedGroup { group: pair[0].clone() });
        }
        if let Some(row) = groups.codes.iter().position(|&code| code as usize >= groups.names.len()) {
            let code = groups.codes[row] as usize;
            return Err(Error::Code { row, what: "group", code, last: groups.names.len().saturating_sub(1) });
        }
        self.groups = Some(groups);
        Ok(self)
    }

    /// Sets the true classes of the rows; [`UNCODED`] if the truth is unknown.
    pub fn with_truth(mut self, truth: &'a [Label]) -> Result<Self> {
        expect_length("the list of true classes", truth.len(), self.rows)?;
        check_labels(truth, self.classes, "truth")?;
        self.truth = Some(truth);
        Ok(self)
    }

    /// Sets the number of people that each row represents.
    pub fn with_counts(mut self, counts: &'a [u64]) -> Result<Self> {
        expect_length("the list of counts", counts.len(), self.rows)?;
        let total = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
        if total.is_none_or(|total| total > MAX_PEOPLE) {
            return Err(Error::TooManyPeople { limit: MAX_PEOPLE });
        }
        self.counts = Some(counts);
        Ok(self)
    }

    /// Sets a function that tells computations with these scores to stop, for example because a user interrupted them. They
    /// call it before each block of rows, and if it returns true, they return [`Error::Cancelled`].
    ///
    /// ```
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// use apportion::{Classes, Error, Matrix, Rule, Scores, Settings};
    ///
    /// let (flag, classes) = (AtomicBool::new(false), Classes::new(["a", "b"])?);
    /// let is_cancelled = || flag.load(Ordering::Relaxed);
    /// let scores = Scores::new(&classes, Matrix::RowsF64(&[0.6, 0.4, 0.7, 0.3]))?.with_cancel(&is_cancelled);
    /// flag.store(true, Ordering::Relaxed);
    /// assert_eq!(Rule::Argmax.label(&scores, &Settings::default()).unwrap_err(), Error::Cancelled);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_cancel(mut self, is_cancelled: &'a (dyn Fn() -> bool + Sync)) -> Self {
        self.cancel = Cancel::new(is_cancelled);
        self
    }

    /// Returns [`Error::Cancelled`] if the computation was cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<()> {
        self.cancel.check()
    }

    /// Returns the number of rows, N.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of people that the rows represent.
    pub fn people(&self) -> u64 {
        self.counts.map_or(self.rows as u64, |counts| counts.iter().sum())
    }

    /// Returns the classes.
    pub fn classes(&self) -> &'a Classes {
        self.classes
    }

    /// Returns the keys of the rows.
    pub fn keys(&self) -> Keys<'a> {
        self.keys
    }

    /// Returns the groups of the rows.
    pub fn groups(&self) -> Option<Groups<'a>> {
        self.groups
    }

    /// Returns the true classes of the rows.
    pub fn truth(&self) -> Option<&'a [Label]> {
        self.truth
    }

    /// Returns the number of people that each row represents.
    pub fn counts(&self) -> Option<&'a [u64]> {
        self.counts
    }

    /// Returns how rows are scaled.
    pub(crate) fn scaling(&self) -> Scaling {
        self.scaling
    }

    /// Checks every value.
    pub fn check(&self) -> Result<()> {
        self.check_rows(0..self.rows)
    }

    /// Checks a range of rows.
    pub(crate) fn check_rows(&self, rows: Range<usize>) -> Result<()> {
        let (k, mut values) = (self.classes.len(), Vec::new());
        for start in rows.clone().step_by(STRETCH) {
            self.check_cancelled()?;
            self.read_raw(start..rows.end.min(start + STRETCH), &mut values)?;
            for (ahead, row) in values.chunks_exact(k).enumerate() {
                self.check_row(start + ahead, row)?;
            }
        }
        Ok(())
    }

    /// Reads rows in order, in multiples of 2^-40 ([`GRID`]), and passes each to `each` with its index. Fails on
    /// an invalid row. `each` may modify the values.
    pub fn read_rows(&self, rows: Range<usize>, each: impl FnMut(usize, &mut [i64]) -> Result<()>) -> Result<()> {
        self.visit(ReadRows { scores: self, range: rows, each })
    }

    /// Returns the totals of some rows, all of which have a label. Fails on an invalid row.
    pub(crate) fn label_totals(&self, rows: Range<usize>, labels: &[Label]) -> Result<LabelTotals> {
        self.visit(TotalRows { scores: self, range: rows, labels })
    }

    /// Reads values as stored, row by row.
    pub(crate) fn read_raw(&self, rows: Range<usize>, into: &mut Vec<f64>) -> Result<()> {
        let k = self.classes.len();
        into.clear();
        match &self.matrix {
            Matrix::RowsF32(values) => into.extend(values[rows.start * k..rows.end * k].iter().map(|&v| f64::from(v))),
            Matrix::RowsF64(values) => into.extend_from_slice(&values[rows.start * k..rows.end * k]),
            Matrix::ColumnsF32(columns) => {
                rows.for_each(|row| into.extend(columns.iter().map(|column| f64::from(column[row]))));
            }
            Matrix::ColumnsF64(columns) => rows.for_each(|row| into.extend(columns.iter().map(|column| column[row]))),
            Matrix::StoredF32(store) => {
                let mut singles = vec![0.0; rows.len() * k];
                store.read(rows.start, &mut singles)?;
                into.extend(singles.into_iter().map(f64::from));
            }
            Matrix::StoredF64(store) => {
                into.resize(rows.len() * k, 0.0);
                store.read(rows.start, into)?;
            }
        }
        Ok(())
    }

    /// Returns the sum of a row; if rows are normalized, without rounding errors below zero.
    #[inline]
    fn sum(&self, row: &[f64]) -> f64 {
        let least = if self.scaling == Scaling::Normalize { 0.0 } else { f64::NEG_INFINITY };
        row.iter().map(|value| value.max(least)).sum()
    }

    /// Returns whether the scores are in single precision.
    pub(crate) fn is_single(&self) -> bool {
        match self.matrix {
            Matrix::RowsF32(_) | Matrix::ColumnsF32(_) | Matrix::StoredF32(_) => true,
            Matrix::RowsF64(_) | Matrix::ColumnsF64(_) | Matrix::StoredF64(_) => false,
        }
    }

    /// Checks a row.
    fn check_row(&self, row: usize, values: &[f64]) -> Result<()> {
        let sum = self.sum(values);
        let unit = self.scaling.unit(sum);
        for (name, &value) in self.classes.names().iter().zip(values) {
            if !value.is_finite() {
                return Err(Error::NotFinite { row, class: name.clone(), value });
            }
            if value < LEAST_SCORE * unit {
                return Err(Error::Negative { row, class: name.clone(), value });
            }
        }
        let sound = match self.scaling {
            Scaling::Normalize => sum > 0.0 && sum.is_finite(),
            Scaling::Percent => (sum / unit - 1.0).abs() <= SUM_TOLERANCE,
            Scaling::AsGiven => (sum - 1.0).abs() <= SUM_TOLERANCE,
        };
        if sound {
            return Ok(());
        }
        Err(Error::NotOne { row, classes: self.classes.to_string(), sum, scaling: self.scaling })
    }

    /// Passes the rows to a visitor, in their own type.
    pub(crate) fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
        let classes = self.classes.len();
        let (magnitude, weights, cancel) = (1.0 + SUM_TOLERANCE as f32, self.counts, self.cancel);
        if self.scaling != Scaling::AsGiven {
            return visitor.visit(&Scaled(self));
        }
        match &self.matrix {
            Matrix::RowsF32(values) => {
                visitor.visit(&Rows::matrix(values, classes, magnitude, weights).with_cancel(cancel))
            }
            Matrix::RowsF64(values) => {
                visitor.visit(&Rows::matrix(values, classes, magnitude, weights).with_cancel(cancel))
            }
            Matrix::ColumnsF32(columns) => {
                visitor.visit(&Rows::new(Layout::Columns(columns), classes, magnitude, weights).with_cancel(cancel))
            }
            Matrix::ColumnsF64(columns) => {
                visitor.visit(&Rows::new(Layout::Columns(columns), classes, magnitude, weights).with_cancel(cancel))
            }
            Matrix::StoredF32(store) => visitor.visit(&Stored { store: *store, classes, magnitude, weights, cancel }),
            Matrix::StoredF64(store) => visitor.visit(&Stored { store: *store, classes, magnitude, weights, cancel }),
        }
    }
}

/// An operation on rows of any type.
pub(crate) trait Visitor {
    type Output;
    fn visit<T: Real>(self, rows: &dyn Source<T>) -> Self::Output;
}

/// Reads rows tile by tile.
struct ReadRows<'a, F> {
    scores: &'a Scores<'a>,
    range: Range<usize>,
    each: F,
}

impl<F: FnMut(usize, &mut [i64]) -> Result<()>> Visitor for ReadRows<'_, F> {
    type Output = Result<()>;

    fn visit<T: Real>(mut self, source: &dyn Source<T>) -> Result<()> {
        let mut tile = Tile::new(source.classes());
        let (mut row, mut buffer) = (vec![0; source.classes()], Vec::new());
        for first in self.range.clone().step_by(STRETCH) {
            let end = self.range.end.min(first + STRETCH);
            let rows = source.window(first..end, &mut buffer)?;
            for start in (first..end).step_by(TILE) {
                rows.load(start, &mut tile);
                for lane in 0..tile.len().min(end - start) {
                    row.iter_mut().zip(tile.row(lane)).for_each(|(units, score)| *units = GRID.round(score.double()));
                    if !is_plainly_sound(&row) {
                        self.scores.check_rows(start + lane..start + lane + 1)?;
                    }
                    (self.each)(start + lane, &mut row)?;
                }
            }
        }
        Ok(())
    }
}

/// Sums labeled rows, loaded all at once.
struct TotalRows<'a> {
    scores: &'a Scores<'a>,
    range: Range<usize>,
    labels: &'a [Label],
}

impl Visitor for TotalRows<'_> {
    type Output = Result<LabelTotals>;

    fn visit<T: Real>(self, source: &dyn Source<T>) -> Result<LabelTotals> {
        let (mut totals, mut buffer) = (LabelTotals::new(source.classes()), Vec::new());
        let rows = source.window(self.range.clone(), &mut buffer)?;
        let suspect = |rows: Range<usize>| self.scores.check_rows(rows);
        add_label_totals(SimdLevel::best(), &rows, self.range, self.labels, &mut totals, suspect)?;
        Ok(totals)
    }
}

/// Returns whether a row is clearly valid, well inside the tolerances. Non-finite values fail this test.
#[inline]
fn is_plainly_sound(row: &[i64]) -> bool {
    const LEAST: i64 = (0.9 * LEAST_SCORE * Grid::UNIT as f64) as i64;
    const OFF: u64 = (0.99 * SUM_TOLERANCE * Grid::UNIT as f64) as u64;
    row.iter().all(|&units| (LEAST..=2 * Grid::UNIT).contains(&units))
        && (row.iter().sum::<i64>() - Grid::UNIT).unsigned_abs() <= OFF
}

impl Scaling {
    /// Returns the sum that the scores of a row must have, as text.
    pub fn expected_sum(self) -> &'static str {
        match self {
            Scaling::AsGiven => "1",
            Scaling::Percent => "100",
            Scaling::Normalize => "more than 0",
        }
    }

    /// Returns the divisor of a row with this sum.
    #[inline]
    fn unit(self, sum: f64) -> f64 {
        match self {
            Scaling::AsGiven => 1.0,
            Scaling::Percent => 100.0,
            Scaling::Normalize => sum,
        }
    }

    /// Divides a value by the row's divisor and sets rounding errors below zero to zero. Invalid values become
    /// NaN, so that the pass that reads them fails.
    #[inline]
    fn apply(self, value: f64, unit: f64) -> f64 {
        match self {
            Scaling::Normalize if value >= LEAST_SCORE * unit => value.max(0.0) / unit,
            Scaling::Normalize => f64::NAN,
            Scaling::AsGiven | Scaling::Percent => value / unit,
        }
    }
}

/// Rows that are scaled when they are read.
struct Scaled<'a>(&'a Scores<'a>);

impl Source<f64> for Scaled<'_> {
    fn rows(&self) -> usize {
        self.0.rows
    }

    fn classes(&self) -> usize {
        self.0.classes.len()
    }

    fn weights(&self) -> Option<&[u64]> {
        self.0.counts
    }

    fn magnitude(&self) -> f32 {
        1.0 + SUM_TOLERANCE as f32
    }

    fn window<'w>(&'w self, rows: Range<usize>, buffer: &'w mut Vec<f64>) -> Result<Rows<'w, f64>> {
        let scaling = self.0.scaling;
        self.0.check_cancelled()?;
        self.0.read_raw(rows.clone(), buffer)?;
        for row in buffer.chunks_exact_mut(self.classes()) {
            let unit = scaling.unit(if scaling == Scaling::Normalize { self.0.sum(row) } else { 1.0 });
            row.iter_mut().for_each(|value| *value = scaling.apply(*value, unit));
        }
        Ok(Rows::matrix(buffer, self.classes(), self.magnitude(), None).part_of(self, rows.start))
    }

    fn most_bytes(&self) -> usize {
        match self.0.matrix {
            Matrix::StoredF32(store) => store.most_bytes(),
            Matrix::StoredF64(store) => store.most_bytes(),
            Matrix::RowsF32(_) | Matrix::RowsF64(_) | Matrix::ColumnsF32(_) | Matrix::ColumnsF64(_) => usize::MAX,
        }
    }
}

/// Returns the number of rows of a row-major matrix.
fn rows_of(values: usize, k: usize) -> Result<usize> {
    if values.is_multiple_of(k) {
        Ok(values / k)
    } else {
        Err(Error::Length { what: "the row-major matrix", found: values, expected: values.next_multiple_of(k) })
    }
}

/// Returns the common length of the columns.
fn length_of<T>(columns: &[&[T]], k: usize) -> Result<usize> {
    expect_length("the list of columns", columns.len(), k)?;
    let rows = columns[0].len();
    columns.iter().try_for_each(|column| expect_length("a score column", column.len(), rows))?;
    Ok(rows)
}

/// Checks the length of a list.
pub(crate) fn expect_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, found, expected }) }
}

/// Checks that all labels are classes or [`UNCODED`].
pub(crate) fn check_labels(labels: &[Label], classes: &Classes, what: &'static str) -> Result<()> {
    let k = classes.len();
    match labels.iter().position(|&label| label != UNCODED && usize::from(label) >= k) {
        Some(row) => Err(Error::Code { row, what, code: usize::from(labels[row]), last: k - 1 }),
        None => Ok(()),
    }
}
