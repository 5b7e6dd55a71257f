//! The columns of a regression: a column for each class, then those of the controls.

use super::{Control, ControlValues, MAX_CONTROL_LEVELS, NO_CLUSTER, Problem, UnusedRows};
use crate::error::{Error, Result};
use crate::estimate::exact::ExactSum;
use crate::estimate::outcomes::{NO_LEVEL, Value};
use crate::estimate::{Counts, Outcomes};
use crate::scores::{Scores, expect_length};

/// A column of a control: its numbers, or an indicator of one of its levels.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// The index of the control.
    pub(super) control: usize,
    /// The level, if the column is an indicator.
    pub(super) level: Option<u16>,
    /// Numbers are centered and divided by their standard deviation. Both are 0 and 1 for indicators.
    center: f64,
    pub(super) scale: f64,
    /// The largest magnitude after that.
    largest: f64,
    /// The people of the level.
    pub(super) people: Option<u64>,
}

/// The rows that are used, their outcomes and the columns of their controls.
#[derive(Debug)]
pub(super) struct Design<'a> {
    outcomes: &'a Outcomes<'a>,
    controls: &'a [Control<'a>],
    clusters: Option<&'a [u32]>,
    level: usize,
    pub(super) classes: usize,
    pub(super) columns: Vec<Column>,
    /// The first column of each control.
    first: Vec<usize>,
    /// The reference level of each categorical control.
    pub(super) references: Vec<Option<u16>>,
    /// Controls that are the same for everyone.
    pub(super) constant: Vec<usize>,
    /// Whether each row is used.
    is_used: Vec<bool>,
    pub(super) used: Counts,
    pub(super) unused: UnusedRows,
    /// Outcomes are centered and divided by their standard deviation. Both are 0 and 1 for shares.
    center: f64,
    pub(super) scale: f64,
    pub(super) largest_outcome: f64,
    pub(super) is_constant: bool,
    mean_weight: f64,
    pub(super) largest_weight: f64,
}

impl<'a> Design<'a> {
    pub(super) fn of(scores: &Scores<'_>, problem: &Problem<'a>) -> Result<Design<'a>> {
        let outcomes = problem.outcomes;
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        check(scores, problem)?;
        let level = outcomes.measure().shown().start;
        let mut own = Design {
            outcomes,
            controls: problem.controls,
            clusters: problem.clusters,
            level,
            classes: scores.classes().len(),
            columns: Vec::new(),
            first: Vec::new(),
            references: Vec::new(),
            constant: Vec::new(),
            is_used: Vec::new(),
            used: Counts::default(),
            unused: UnusedRows { controls: vec![0; problem.controls.len()], ..UnusedRows::default() },
            center: 0.0,
            scale: 1.0,
            largest_outcome: 1.0,
            is_constant: false,
            mean_weight: 1.0,
            largest_weight: 1.0,
        };
        let people = |row: usize| scores.counts().map_or(1, |counts| counts[row]);
        let is_used: Vec<bool> = (0..scores.rows()).map(|row| own.count_unused(row)).collect();
        let rows = (0..scores.rows()).filter(|&row| is_used[row]).map(|row| (row, people(row)));
        own.used.rows = rows.clone().count() as u64;
        own.used.people = rows.clone().map(|(_, people)| people).sum();
        let weights = moments(rows.clone().map(|(row, people)| (outcomes.weight(row), people)));
        if weights.mean > 0.0 {
            (own.mean_weight, own.largest_weight) = (weights.mean, (weights.high / weights.mean).max(1.0));
        }
        let values = moments(rows.clone().filter_map(|(row, people)| Some((own.raw_outcome(row)?, people))));
        own.is_constant = values.low >= values.high;
        if outcomes.are_numbers() && !own.is_constant {
            (own.center, own.scale, own.largest_outcome) = (values.mean, values.deviation, values.largest());
        }
        for (index, control) in problem.controls.iter().enumerate() {
            own.first.push(own.columns.len());
            let reference = match control.values {
                ControlValues::Numbers(numbers) => {
                    let values = moments(rows.clone().map(|(row, people)| (numbers[row], people)));
                    own.add_number(index, &values);
                    None
                }
                ControlValues::Levels { codes, names } => {
                    let mut sizes = vec![0u64; names.len()];
                    rows.clone().for_each(|(row, people)| sizes[usize::from(codes[row])] += people);
                    own.add_levels(index, &sizes)
                }
            };
            own.references.push(reference);
        }
        own.is_used = is_used;
        Ok(own)
    }

    fn add_number(&mut self, control: usize, values: &Moments) {
        if values.low >= values.high {
            self.constant.push(control);
            return;
        }
        let largest = values.largest();
        let (center, scale) = (values.mean, values.deviation);
        self.columns.push(Column { control, level: None, center, scale, largest, people: None });
    }

    /// Adds an indicator of each level except the most frequent one, which is returned.
    fn add_levels(&mut self, control: usize, sizes: &[u64]) -> Option<u16> {
        let most = sizes.iter().copied().max().filter(|most| *most > 0)?;
        let reference = sizes.iter().position(|size| *size == most)?;
        let others = (0..sizes.len()).filter(|&level| level != reference && sizes[level] > 0);
        let before = self.columns.len();
        self.columns.extend(others.map(|level| Column {
            control,
            level: Some(level as u16),
            center: 0.0,
            scale: 1.0,
            largest: 1.0,
            people: Some(sizes[level]),
        }));
        if self.columns.len() == before {
            self.constant.push(control);
        }
        Some(reference as u16)
    }

    /// Returns whether a row is used; if not, counts it by the reason.
    fn count_unused(&mut self, row: usize) -> bool {
        if self.outcomes.at(row).is_none() {
            self.unused.without_outcome += 1;
            return false;
        }
        let mut is_complete = true;
        for (count, control) in self.unused.controls.iter_mut().zip(self.controls) {
            if control.values.is_missing(row) {
                *count += 1;
                is_complete = false;
            }
        }
        self.unused.without_control += u64::from(!is_complete);
        let has_cluster = self.clusters.is_none_or(|clusters| clusters[row] != NO_CLUSTER);
        self.unused.without_cluster += u64::from(is_complete && !has_cluster);
        let has_weight = self.outcomes.weight(row) > 0.0;
        self.unused.without_weight += u64::from(is_complete && has_cluster && !has_weight);
        is_complete && has_cluster && has_weight
    }

    /// Returns whether a row is used.
    #[inline]
    pub(super) fn is_used(&self, row: usize) -> bool {
        self.is_used[row]
    }

    /// Returns the number of columns, including those of the classes.
    pub(super) fn size(&self) -> usize {
        self.classes + self.columns.len()
    }

    fn raw_outcome(&self, row: usize) -> Option<f64> {
        self.outcomes.at(row).map(|value: Value| value.at(self.level))
    }

    /// Returns the outcome of a used row.
    #[inline]
    pub(super) fn outcome(&self, row: usize) -> f64 {
        (self.raw_outcome(row).unwrap_or(self.center) - self.center) / self.scale
    }

    /// Returns the weight of a row relative to the mean.
    #[inline]
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.outcomes.weight(row) / self.mean_weight
    }

    /// Sets `into` to the columns of the controls of a used row that are not zero, in order.
    #[inline]
    pub(super) fn controls_of(&self, row: usize, into: &mut Vec<(usize, f64)>) {
        into.clear();
        for (index, control) in self.controls.iter().enumerate() {
            let first = self.first[index];
            let end = self.first.get(index + 1).copied().unwrap_or(self.columns.len());
            match control.values {
                ControlValues::Numbers(numbers) => {
                    if let Some(column) = self.columns[first..end].first() {
                        into.push((self.classes + first, (numbers[row] - column.center) / column.scale));
                    }
                }
                ControlValues::Levels { codes, .. } => {
                    let found = self.columns[first..end].iter().position(|own| own.level == Some(codes[row]));
                    into.extend(found.map(|at| (self.classes + first + at, 1.0)));
                }
            }
        }
    }

    /// Returns the largest magnitude of a column of the classes or the controls.
    pub(super) fn largest(&self, column: usize) -> f64 {
        column.checked_sub(self.classes).map_or(1.0, |own| self.columns[own].largest.max(1.0))
    }

    /// Returns the largest magnitude of any column.
    pub(super) fn largest_of_all(&self) -> f64 {
        (0..self.size()).map(|column| self.largest(column)).fold(1.0, f64::max)
    }
}

/// Refuses lists of wrong length, and codes that are out of range.
fn check(scores: &Scores<'_>, problem: &Problem<'_>) -> Result<()> {
    for control in problem.controls {
        match control.values {
            ControlValues::Numbers(numbers) => {
                expect_length("a list of controls", numbers.len(), scores.rows())?;
                if let Some(row) = numbers.iter().position(|number| number.abs() > 1e100) {
                    let what = format!("the control {:?} of row {row}", control.name);
                    return Err(Error::Parameter { what, value: numbers[row], range: "finite, and within ±1e100" });
                }
            }
            ControlValues::Levels { codes, names } => {
                expect_length("a list of controls", codes.len(), scores.rows())?;
                if names.len() > MAX_CONTROL_LEVELS {
                    let what = format!("the number of levels of the control {:?}", control.name);
                    return Err(Error::Parameter { what, value: names.len() as f64, range: "at most 100" });
                }
                let is_invalid = |code: &u16| *code != NO_LEVEL && usize::from(*code) >= names.len();
                if let Some(row) = codes.iter().position(is_invalid) {
                    let (code, last) = (usize::from(codes[row]), names.len().saturating_sub(1));
                    return Err(Error::Code { row, what: "control", code, last });
                }
            }
        }
    }
    if let Some(clusters) = problem.clusters {
        expect_length("the list of clusters", clusters.len(), scores.rows())?;
    }
    Ok(())
}

/// The mean, the standard deviation and the range of numbers.
struct Moments {
    mean: f64,
    deviation: f64,
    low: f64,
    high: f64,
}

impl Moments {
    /// Returns the largest magnitude of the numbers after they are centered and divided by the standard deviation.
    fn largest(&self) -> f64 {
        (self.high - self.mean).max(self.mean - self.low) / self.deviation
    }
}

fn moments(numbers: impl Iterator<Item = (f64, u64)> + Clone) -> Moments {
    let (mut sum, mut squares, mut people) = (ExactSum::ZERO, ExactSum::ZERO, 0);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (number, times) in numbers.clone().filter(|(_, times)| *times > 0) {
        sum.add(number, times);
        people += times;
        (low, high) = (low.min(number), high.max(number));
    }
    let mean = sum.value() / people.max(1) as f64;
    numbers.for_each(|(number, times)| squares.add((number - mean).powi(2), times));
    let deviation = (squares.value() / people.max(1) as f64).sqrt();
    Moments { mean, deviation: if deviation > 0.0 { deviation } else { 1.0 }, low, high }
}
