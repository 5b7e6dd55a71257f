//! Passes over the rows: people with equal scores, group, outcome and weight are merged into one row, unless there are
//! too many different ones.

use std::collections::HashMap;

use rayon::prelude::*;

use super::super::exact::ExactSum;
use super::super::outcomes::{Outcomes, Value};
use super::model::Likelihood;
use crate::audit::read;
use crate::error::Result;
use crate::kernel::{GRID, Grid};
use crate::scores::Scores;
use crate::seed;

/// Maximum number of values of merged rows, a quarter of a gigabyte; beyond it, every pass reads the table.
const MOST_VALUES: usize = 1 << 25;

/// Number of merged rows that a thread reads at a time.
const CHUNK: usize = 1 << 13;

/// The number of moments of a numeric outcome: Σ p, Σ p z and Σ p z².
pub(super) const MOMENTS: usize = 3;

/// The dimensions of the problem. Lists are by group, then level, then class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) classes: usize,
    /// The number of levels; for numbers, of moments.
    pub(super) levels: usize,
    pub(super) groups: usize,
    /// Whether outcomes are numbers.
    pub(super) are_numbers: bool,
}

impl Shape {
    /// Returns the number of sums in a group.
    pub(super) fn stride(&self) -> usize {
        self.levels * self.classes
    }

    /// Returns the number of sums.
    pub(super) fn size(&self) -> usize {
        self.groups * self.stride()
    }

    /// Adds sums by level and class over all groups.
    pub(super) fn overall(&self, people: &[i128]) -> Vec<i128> {
        let mut all = vec![0; self.stride()];
        for own in people.chunks_exact(self.stride()) {
            all.iter_mut().zip(own).for_each(|(sum, more)| *sum += more);
        }
        all
    }

    /// Returns the people of each class, from sums by level and class.
    pub(super) fn people(&self, all: &[i128]) -> Vec<i128> {
        let levels = if self.are_numbers { 1 } else { self.levels };
        let people = |class: usize| all.iter().skip(class).step_by(self.classes).take(levels).sum();
        (0..self.classes).map(people).collect()
    }

    /// Returns the share of every level in each class, from people by level and class; NaN without people.
    pub(super) fn shares_of(&self, people: &[i128]) -> Vec<f64> {
        let all: Vec<f64> = self.people(people).into_iter().map(|sum| sum as f64).collect();
        people.iter().enumerate().map(|(index, &own)| own as f64 / all[index % self.classes]).collect()
    }
}

/// Sums of a pass over the rows, on the grid.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// By group, level and class: expected people; for numbers, Σ p, Σ p z and Σ p z². People count by their weights.
    pub(super) people: Vec<i128>,
    /// Σ (w p)² of each class, in squared grid units; empty if not needed.
    pub(super) squares: Vec<i128>,
    /// Σ w p² of each class, in squared grid units; empty if not needed.
    pub(super) identified: Vec<i128>,
    are_numbers: bool,
}

/// A row of the EM pass.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    /// Group · levels + level; for numbers, group · moments.
    pub(super) cell: usize,
    pub(super) scores: &'a [f64],
    pub(super) people: u64,
    /// The weight of each of them, relative to the mean weight.
    pub(super) weight: f64,
    /// The standardized number z; 0 for levels.
    pub(super) value: f64,
}

impl Sums {
    pub(super) fn new(shape: &Shape) -> Sums {
        Sums {
            people: vec![0; shape.size()],
            squares: Vec::new(),
            identified: Vec::new(),
            are_numbers: shape.are_numbers,
        }
    }

    /// Creates sums with squares, which only the first and the last pass need.
    pub(super) fn with_squares(shape: &Shape) -> Sums {
        Sums { squares: vec![0; shape.classes], identified: vec![0; shape.classes], ..Sums::new(shape) }
    }

    fn merge(mut self, other: &Sums) -> Sums {
        self.people.iter_mut().zip(&other.people).for_each(|(sum, more)| *sum += more);
        for (sums, more) in [(&mut self.squares, &other.squares), (&mut self.identified, &other.identified)] {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        }
        self
    }

    /// Adds the people of a row, distributed over the classes by its updated scores, which are left in `buffer`.
    #[inline]
    pub(super) fn add(&mut self, likelihood: &impl Likelihood, row: &Row<'_>, buffer: &mut [f64]) {
        let classes = row.scores.len();
        let first = row.cell * classes;
        likelihood.update(row, buffer);
        let times = i128::from(row.people);
        let people = &mut self.people[first..];
        if row.weight == 1.0 {
            people.iter_mut().zip(&*buffer).for_each(|(sum, &score)| *sum += i128::from(GRID.round(score)) * times);
        } else {
            people.iter_mut().zip(&*buffer).for_each(|(sum, &score)| *sum += units(score * row.weight) * times);
        }
        if self.are_numbers {
            let mut factor = row.weight;
            for people in people.chunks_exact_mut(classes).take(MOMENTS).skip(1) {
                factor *= row.value;
                people.iter_mut().zip(&*buffer).for_each(|(sum, &score)| *sum += units(score * factor) * times);
            }
        }
        for ((square, identified), &score) in self.squares.iter_mut().zip(&mut self.identified).zip(&*buffer) {
            let weighted = units(score * row.weight);
            *square = square.saturating_add(weighted.saturating_pow(2).saturating_mul(times));
            *identified = identified.saturating_add(units(score).saturating_mul(weighted).saturating_mul(times));
        }
    }
}

/// Returns the nearest multiple of the grid unit, also for large numbers.
#[inline]
pub(super) fn units(value: f64) -> i128 {
    const MOST: f64 = 2047.0;
    if value.abs() < MOST { GRID.round(value).into() } else { (value * Grid::UNIT as f64).round_ties_even() as i128 }
}

/// The scales on which EM sees numbers and weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standard {
    /// Standardized numbers are (number − center) / scale: the mean and the standard deviation.
    pub(super) center: f64,
    pub(super) scale: f64,
    /// The offset of the outcomes, which `center` is relative to.
    pub(super) about: f64,
    mean_weight: f64,
}

impl Standard {
    /// Reads the mean weight, and the mean and standard deviation of numbers.
    pub(super) fn of(scores: &Scores<'_>, outcomes: &Outcomes<'_>) -> Standard {
        let (mut weights, mut known) = (ExactSum::ZERO, 0u64);
        let mut moments = [ExactSum::ZERO, ExactSum::ZERO];
        for row in 0..scores.rows() {
            let people = scores.counts().map_or(1, |counts| counts[row]);
            let counts = people > 0 && outcomes.weight(row) > 0.0;
            let Some(value) = outcomes.at(row).filter(|_| counts) else { continue };
            known += people;
            if outcomes.is_weighted() {
                weights.add(outcomes.weight(row), people);
            }
            if let Value::Number(number) = value {
                moments[0].add(number, people);
                moments[1].add(number * number, people);
            }
        }
        let all = known.max(1) as f64;
        let [center, squares] = moments.map(|sum| sum.value() / all);
        let deviation = (squares - center * center).max(0.0).sqrt();
        let is_constant = deviation <= 1e-12 * center.abs();
        let mean_weight = if outcomes.is_weighted() { weights.value() / all } else { 1.0 };
        let scale = if is_constant { 1.0 } else { deviation };
        Standard { center, scale, about: outcomes.measure().about(), mean_weight }
    }
}

/// The rows of a table as EM uses them: with the outcome as a cell or a standardized number, and with relative weights.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) scores: &'a Scores<'a>,
    pub(super) outcomes: &'a Outcomes<'a>,
    /// The number of levels or moments.
    levels: usize,
    standard: Standard,
    /// The difference between the offsets of the outcomes and of the standard.
    shift: f64,
}

/// What EM uses of a row in addition to its scores and people.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observed {
    cell: usize,
    weight: f64,
    value: f64,
}

impl<'a> Source<'a> {
    pub(super) fn new(
        shape: &Shape,
        scores: &'a Scores<'a>,
        outcomes: &'a Outcomes<'a>,
        standard: Standard,
    ) -> Source<'a> {
        let shift = outcomes.measure().about() - standard.about;
        Source { scores, outcomes, levels: shape.levels, standard, shift }
    }

    /// Returns what EM uses of a row; `None` if its outcome is unknown, or if its weight is 0.
    #[inline]
    pub(super) fn at(&self, row: usize) -> Option<Observed> {
        let group = self.scores.groups().map_or(0, |groups| groups.codes[row] as usize);
        let weight =
            if self.outcomes.is_weighted() { self.outcomes.weight(row) / self.standard.mean_weight } else { 1.0 };
        let (level, value) = match self.outcomes.at(row)? {
            Value::Level(level) => (level, 0.0),
            Value::Number(number) => (0, (number + self.shift - self.standard.center) / self.standard.scale),
        };
        (weight > 0.0).then_some(Observed { cell: group * self.levels + level, weight, value })
    }
}

/// Different rows, each with its number of people.
#[derive(Debug)]
pub(super) struct Merged {
    classes: usize,
    scores: Vec<f64>,
    observed: Vec<Observed>,
    people: Vec<u64>,
    /// The index of the row with a hash.
    found: HashMap<u64, u32>,
}

impl Merged {
    pub(super) fn new(classes: usize) -> Merged {
        Merged { classes, scores: Vec::new(), observed: Vec::new(), people: Vec::new(), found: HashMap::new() }
    }

    /// Merges all rows with known outcomes; `None` if there are too many different ones.
    fn of(classes: usize, source: Source<'_>) -> Result<Option<Merged>> {
        let mut merged = Merged::new(classes);
        let mut is_full = false;
        let scores = source.scores;
        scores.read_rows(0..scores.rows(), |index, row| {
            let people = scores.counts().map_or(1, |counts| counts[index]);
            if let Some(observed) = source.at(index).filter(|_| people > 0 && !is_full) {
                merged.add(observed, row, people);
                is_full = merged.scores.len() > MOST_VALUES;
            }
            Ok(())
        })?;
        merged.found = HashMap::new();
        Ok((!is_full).then_some(merged))
    }

    /// Adds the people of a row. Returns the index of its merged row.
    pub(super) fn add(&mut self, observed: Observed, row: &[i64], people: u64) -> u32 {
        let seed = seed::hash(observed.cell as u64, observed.value.to_bits(), observed.weight.to_bits());
        let mut hash = row.iter().fold(seed, |hash, &units| seed::hash(hash, units as u64, 0));
        let next = self.observed.len() as u32;
        loop {
            let index = *self.found.entry(hash).or_insert(next);
            if index == next {
                self.scores.extend(row.iter().map(|&units| GRID.value(units)));
                self.observed.push(observed);
                self.people.push(people);
                return index;
            }
            let (own, index) = (self.row(index as usize), index as usize);
            let is_equal = self.observed[index] == observed;
            if is_equal && own.scores.iter().zip(row).all(|(&own, &units)| own == GRID.value(units)) {
                self.people[index] += people;
                return index as u32;
            }
            // Another row has this hash.
            hash = seed::hash(hash, 0, 1);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.observed.len()
    }

    fn row(&self, index: usize) -> Row<'_> {
        let scores = &self.scores[index * self.classes..][..self.classes];
        self.observed[index].row(scores, self.people[index])
    }

    /// Runs one EM pass with other numbers of people, such as those of a bootstrap replicate.
    pub(super) fn pass(&self, shape: &Shape, likelihood: &impl Likelihood, people: &[u32]) -> Sums {
        let (mut sums, mut buffer) = (Sums::new(shape), vec![0.0; shape.classes]);
        for (index, &people) in people.iter().enumerate().filter(|(_, people)| **people > 0) {
            sums.add(likelihood, &Row { people: u64::from(people), ..self.row(index) }, &mut buffer);
        }
        sums
    }
}

impl Observed {
    pub(super) fn row<'a>(&self, scores: &'a [f64], people: u64) -> Row<'a> {
        Row { cell: self.cell, scores, people, weight: self.weight, value: self.value }
    }
}

/// The rows of a fit.
pub(super) enum Rows<'a> {
    /// All rows of the table, merged.
    Merged(Merged, Source<'a>),
    /// A table with too many different rows.
    Table(Source<'a>),
}

impl<'a> Rows<'a> {
    pub(super) fn of(shape: &Shape, source: Source<'a>) -> Result<Rows<'a>> {
        Ok(match Merged::of(shape.classes, source)? {
            Some(merged) => Rows::Merged(merged, source),
            None => Rows::Table(source),
        })
    }

    /// Returns the number of rows that a pass reads.
    pub(super) fn len(&self) -> usize {
        match self {
            Rows::Merged(merged, _) => merged.len(),
            Rows::Table(source) => source.scores.rows(),
        }
    }

    /// Runs one EM pass.
    pub(super) fn pass(&self, shape: &Shape, likelihood: &impl Likelihood, none: fn(&Shape) -> Sums) -> Result<Sums> {
        let buffer = || vec![0.0; shape.classes];
        let add = |(sums, buffer): &mut (Sums, Vec<f64>), row: &Row<'_>| sums.add(likelihood, row, buffer);
        let (sums, _) =
            self.sum(shape, || (none(shape), buffer()), add, |(all, buffer), (part, _)| (all.merge(&part), buffer))?;
        Ok(sums)
    }

    /// Sums over all rows in parallel. The sums must not depend on the order.
    pub(super) fn sum<T: Send>(
        &self,
        shape: &Shape,
        none: impl Fn() -> T + Sync + Send,
        add: impl Fn(&mut T, &Row<'_>) + Sync + Send,
        merge: impl Fn(T, T) -> T + Sync + Send,
    ) -> Result<T> {
        match self {
            Rows::Merged(merged, source) => (0..merged.len().div_ceil(CHUNK))
                .into_par_iter()
                .with_min_len(4)
                .try_fold(&none, |mut sums, chunk| {
                    source.scores.check_cancelled()?;
                    let rows = chunk * CHUNK..merged.len().min((chunk + 1) * CHUNK);
                    rows.for_each(|index| add(&mut sums, &merged.row(index)));
                    Ok(sums)
                })
                .try_reduce(&none, |all, part| Ok(merge(all, part))),
            Rows::Table(source) => {
                let (sums, _) = read(
                    source.scores,
                    || (Some(none()), vec![0.0; shape.classes]),
                    |(sums, own), index, row, people, _| {
                        let Some(observed) = source.at(index) else { return };
                        own.iter_mut().zip(row).for_each(|(own, &units)| *own = GRID.value(units));
                        if let Some(sums) = sums {
                            add(sums, &observed.row(own, people));
                        }
                    },
                    |(all, _), (part, _)| *all = all.take().zip(part).map(|(all, part)| merge(all, part)),
                )?;
                Ok(sums.unwrap_or_else(none))
            }
        }
    }
}
