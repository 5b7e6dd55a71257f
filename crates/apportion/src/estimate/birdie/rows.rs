//! Passes over the rows: people with equal scores, group and outcome are merged into one row, unless there are too many
//! different ones.

use std::collections::HashMap;

use rayon::prelude::*;

use super::super::outcomes::{Outcomes, Value};
use crate::audit::read;
use crate::error::Result;
use crate::kernel::GRID;
use crate::scores::Scores;
use crate::seed;

/// Maximum number of values of merged rows, a quarter of a gigabyte; beyond it, every pass reads the table.
const MOST_VALUES: usize = 1 << 25;

/// Number of merged rows that a thread reads at a time.
const CHUNK: usize = 1 << 13;

/// The dimensions of the problem. Lists are by group, then level, then class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) classes: usize,
    pub(super) levels: usize,
    pub(super) groups: usize,
}

impl Shape {
    /// Returns the number of shares in a group.
    pub(super) fn stride(&self) -> usize {
        self.levels * self.classes
    }

    /// Returns the number of shares.
    pub(super) fn size(&self) -> usize {
        self.groups * self.stride()
    }

    /// Returns the cell of a row's group and level; `None` if its outcome is unknown.
    #[inline]
    pub(super) fn cell(&self, scores: &Scores<'_>, outcomes: &Outcomes<'_>, row: usize) -> Option<usize> {
        let Value::Level(level) = outcomes.at(row)? else { return None };
        Some(scores.groups().map_or(0, |groups| groups.codes[row] as usize) * self.levels + level)
    }

    /// Sums people by level and class over all groups.
    pub(super) fn overall(&self, people: &[i128]) -> Vec<i128> {
        let mut all = vec![0; self.stride()];
        for own in people.chunks_exact(self.stride()) {
            all.iter_mut().zip(own).for_each(|(sum, more)| *sum += more);
        }
        all
    }

    /// Returns the share of every level in each class, from people by level and class; NaN without people.
    pub(super) fn shares_of(&self, people: &[i128]) -> Vec<f64> {
        let all = |class: usize| people.iter().skip(class).step_by(self.classes).sum::<i128>() as f64;
        let all: Vec<f64> = (0..self.classes).map(all).collect();
        people.iter().enumerate().map(|(index, &own)| own as f64 / all[index % self.classes]).collect()
    }
}

/// Sums of a pass over the rows, on the grid.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// Expected people of each class by group and level.
    pub(super) people: Vec<i128>,
    /// Σ p² of each class, in squared grid units; empty if not needed.
    pub(super) squares: Vec<i128>,
}

/// A row of the EM pass.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    /// Group · levels + level.
    pub(super) cell: usize,
    pub(super) scores: &'a [f64],
    pub(super) people: u64,
}

impl Sums {
    pub(super) fn new(shape: &Shape) -> Sums {
        Sums { people: vec![0; shape.size()], squares: Vec::new() }
    }

    /// Creates sums with Σ p², which only the last pass needs.
    pub(super) fn with_squares(shape: &Shape) -> Sums {
        Sums { squares: vec![0; shape.classes], ..Sums::new(shape) }
    }

    fn merge(mut self, other: &Sums) -> Sums {
        self.people.iter_mut().zip(&other.people).for_each(|(sum, more)| *sum += more);
        self.squares.iter_mut().zip(&other.squares).for_each(|(sum, more)| *sum += more);
        self
    }

    /// Adds the people of a row, distributed over the classes by its updated scores, which are left in `buffer`.
    #[inline]
    pub(super) fn add(&mut self, shares: &Shares, row: &Row<'_>, buffer: &mut [f64]) {
        let classes = row.scores.len();
        let first = row.cell * classes;
        shares.update(row.cell, row.scores, buffer);
        let times = i128::from(row.people);
        let people = &mut self.people[first..][..classes];
        for (sum, &score) in people.iter_mut().zip(&*buffer) {
            *sum += i128::from(GRID.round(score)) * times;
        }
        for (square, &score) in self.squares.iter_mut().zip(&*buffer) {
            *square += i128::from(GRID.round(score)).pow(2) * times;
        }
    }
}

/// The shares of the levels by group, level and class, and how they update scores.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    pub(super) values: Vec<f64>,
    /// By how much the log of a share depends on the outcome of one person of the class; empty if this is ignored.
    pub(super) influences: Vec<f64>,
}

impl Shares {
    /// Returns uniform shares, which leave scores unchanged.
    pub(super) fn uniform(shape: &Shape) -> Shares {
        Shares { values: vec![1.0; shape.size()], influences: Vec::new() }
    }

    /// Writes the scores of a person with an outcome into `buffer`, updated and normalized: p_r ∝ θ_r q_r.
    ///
    /// The person's own outcome is part of what θ is estimated from. In small groups this would count it twice, so its
    /// influence c p on ln θ is removed: p_r ∝ θ_r q_r / (1 + c_r p_r), with p on the right before this.
    #[inline]
    pub(super) fn update(&self, cell: usize, scores: &[f64], buffer: &mut [f64]) {
        let first = cell * scores.len();
        let shares = &self.values[first..][..scores.len()];
        buffer.iter_mut().zip(shares).zip(scores).for_each(|((own, share), score)| *own = share * score.max(0.0));
        normalize(buffer, scores);
        if let Some(influences) = self.influences.get(first..first + scores.len()) {
            // Before this, buffer has θ q up to a factor.
            buffer.iter_mut().zip(influences).for_each(|(own, influence)| *own /= 1.0 + influence * *own);
            normalize(buffer, scores);
        }
    }
}

/// Divides by the sum; if it is 0, writes the scores.
#[inline]
fn normalize(buffer: &mut [f64], scores: &[f64]) {
    let sum: f64 = buffer.iter().sum();
    if sum > 0.0 {
        let scale = 1.0 / sum;
        buffer.iter_mut().for_each(|own| *own *= scale);
    } else {
        buffer.copy_from_slice(scores);
    }
}

/// Different rows, each with its number of people.
#[derive(Debug)]
pub(super) struct Merged {
    classes: usize,
    scores: Vec<f64>,
    cells: Vec<u32>,
    pub(super) people: Vec<u64>,
    /// The index of the row with a hash.
    found: HashMap<u64, u32>,
}

impl Merged {
    pub(super) fn new(classes: usize) -> Merged {
        Merged { classes, scores: Vec::new(), cells: Vec::new(), people: Vec::new(), found: HashMap::new() }
    }

    /// Merges all rows with known outcomes; `None` if there are too many different ones.
    fn of(shape: &Shape, scores: &Scores<'_>, outcomes: &Outcomes<'_>) -> Result<Option<Merged>> {
        let mut merged = Merged::new(shape.classes);
        let mut is_full = false;
        scores.read_rows(0..scores.rows(), |index, row| {
            let people = scores.counts().map_or(1, |counts| counts[index]);
            if let Some(cell) = shape.cell(scores, outcomes, index).filter(|_| people > 0 && !is_full) {
                merged.add(cell, row, people);
                is_full = merged.scores.len() > MOST_VALUES;
            }
            Ok(())
        })?;
        merged.found = HashMap::new();
        Ok((!is_full).then_some(merged))
    }

    /// Adds the people of a row. Returns the index of its merged row.
    pub(super) fn add(&mut self, cell: usize, row: &[i64], people: u64) -> u32 {
        let mut hash = row.iter().fold(cell as u64, |hash, &units| seed::hash(hash, units as u64, 0));
        let next = self.cells.len() as u32;
        loop {
            let index = *self.found.entry(hash).or_insert(next);
            if index == next {
                self.scores.extend(row.iter().map(|&units| GRID.value(units)));
                self.cells.push(cell as u32);
                self.people.push(people);
                return index;
            }
            let own = self.row(index as usize);
            if own.cell == cell && own.scores.iter().zip(row).all(|(&own, &units)| own == GRID.value(units)) {
                self.people[index as usize] += people;
                return index;
            }
            // Another row has this hash.
            hash = seed::hash(hash, 0, 1);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    fn row(&self, index: usize) -> Row<'_> {
        let scores = &self.scores[index * self.classes..][..self.classes];
        Row { cell: self.cells[index] as usize, scores, people: self.people[index] }
    }

    /// Runs one EM pass with other numbers of people, such as those of a bootstrap replicate.
    pub(super) fn pass(&self, shape: &Shape, shares: &Shares, people: &[u32]) -> Sums {
        let (mut sums, mut buffer) = (Sums::new(shape), vec![0.0; shape.classes]);
        for (index, &people) in people.iter().enumerate().filter(|(_, people)| **people > 0) {
            sums.add(shares, &Row { people: u64::from(people), ..self.row(index) }, &mut buffer);
        }
        sums
    }
}

/// The rows of a fit.
pub(super) enum Rows<'a> {
    /// All rows, merged.
    Merged(Merged),
    /// A table with too many different rows.
    Table(&'a Scores<'a>, &'a Outcomes<'a>),
}

impl<'a> Rows<'a> {
    pub(super) fn of(shape: &Shape, scores: &'a Scores<'a>, outcomes: &'a Outcomes<'a>) -> Result<Rows<'a>> {
        Ok(Merged::of(shape, scores, outcomes)?.map_or(Rows::Table(scores, outcomes), Rows::Merged))
    }

    /// Returns the number of rows that a pass reads.
    pub(super) fn len(&self) -> usize {
        match self {
            Rows::Merged(merged) => merged.len(),
            Rows::Table(scores, _) => scores.rows(),
        }
    }

    /// Runs one EM pass.
    pub(super) fn pass(&self, shape: &Shape, shares: &Shares, none: fn(&Shape) -> Sums) -> Result<Sums> {
        let buffer = || vec![0.0; shape.classes];
        let add = |(sums, buffer): &mut (Sums, Vec<f64>), row: &Row<'_>| sums.add(shares, row, buffer);
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
            Rows::Merged(merged) => Ok((0..merged.len().div_ceil(CHUNK))
                .into_par_iter()
                .with_min_len(4)
                .fold(&none, |mut sums, chunk| {
                    let rows = chunk * CHUNK..merged.len().min((chunk + 1) * CHUNK);
                    rows.for_each(|index| add(&mut sums, &merged.row(index)));
                    sums
                })
                .reduce(&none, &merge)),
            Rows::Table(scores, outcomes) => {
                let (sums, _) = read(
                    scores,
                    || (Some(none()), vec![0.0; shape.classes]),
                    |(sums, own), index, row, people, _| {
                        let Some(cell) = shape.cell(scores, outcomes, index) else { return };
                        own.iter_mut().zip(row).for_each(|(own, &units)| *own = GRID.value(units));
                        if let Some(sums) = sums {
                            add(sums, &Row { cell, scores: own, people });
                        }
                    },
                    |(all, _), (part, _)| *all = all.take().zip(part).map(|(all, part)| merge(all, part)),
                )?;
                Ok(sums.unwrap_or_else(none))
            }
        }
    }
}
