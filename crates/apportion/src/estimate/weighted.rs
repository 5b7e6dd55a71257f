//! Outcomes by class, with each person weighted by the scores, without labels (Chen et al. 2019).
//!
//! θ_r = Σ q_ir Y_i / Σ q_ir, over people. Its sampling covariance is Cov(θ_a, θ_b) = Σ π_ia π_ib (Y_i − θ_a)(Y_i −
//! θ_b), with π_ir = q_ir / Σ_j q_jr.

use super::exact::ExactSum;
use super::figures::{Estimate, Mean};
use super::outcomes::{Measure, Outcomes, Value};
use crate::audit::read;
use crate::error::{Error, Result};
use crate::kernel::{GRID, Grid};
use crate::scores::{Classes, Scores, expect_length};

/// With more classes, the errors of differences are not computed: their number grows with the square.
pub(super) const MOST_WITH_GAPS: usize = 32;

/// Products of scores are in squares of the grid unit.
const SQUARED_UNIT: f64 = Grid::UNIT as f64 * Grid::UNIT as f64;

/// Outcomes weighted by scores. One pass; it can be merged and does not depend on the row order.
///
/// It is unbiased if outcome and class are independent among people with equal scores.
#[derive(Clone, Debug)]
pub struct Weighted {
    classes: Classes,
    measure: Measure,
    /// Rows with known and with unknown outcomes.
    known: Counts,
    unknown: Counts,
    /// By level: Σ q of each class, and Σ q_a q_b of each pair, in grid units and their squares.
    scores: Vec<i128>,
    products: Vec<i128>,
    /// For numbers: Σ q y of each class; Σ q_a q_b y and Σ q_a q_b y² of each pair.
    sums: Vec<ExactSum>,
    first: Vec<ExactSum>,
    second: Vec<ExactSum>,
}

/// A number of rows, and of the people that they represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Counts {
    /// Number of rows.
    pub rows: u64,
    /// Number of people.
    pub people: u64,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.rows += other.rows;
        self.people += other.people;
    }
}

impl Weighted {
    /// Sums over all rows of a table, in parallel.
    pub fn of(scores: &Scores<'_>, outcomes: &Outcomes<'_>) -> Result<Weighted> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        let (classes, measure) = (scores.classes(), outcomes.measure());
        read(
            scores,
            || Weighted::new(classes, &measure),
            |sums, index, row, people, _| sums.add(row, outcomes.at(index), people),
            |sums, part| sums.take_in(&part),
        )
    }

    fn new(classes: &Classes, measure: &Measure) -> Weighted {
        let k = classes.len();
        let (levels, pairs) = (measure.levels(), pairs_of(k));
        let numbers = |length: usize| if measure.is_share() { Vec::new() } else { vec![ExactSum::ZERO; length] };
        Weighted {
            classes: classes.clone(),
            measure: measure.clone(),
            known: Counts::default(),
            unknown: Counts::default(),
            scores: vec![0; levels * k],
            products: vec![0; levels * pairs],
            sums: numbers(k),
            first: numbers(pairs),
            second: numbers(pairs),
        }
    }

    #[inline]
    fn add(&mut self, row: &[i64], value: Option<Value>, people: u64) {
        let heads = if value.is_some() { &mut self.known } else { &mut self.unknown };
        heads.add(Counts { rows: 1, people });
        let (k, pairs) = (row.len(), pairs_of(row.len()));
        let (level, number) = match value {
            None => return,
            Some(Value::Level(level)) => (level, None),
            Some(Value::Number(number)) => (0, Some(number)),
        };
        let times = i128::from(people);
        let sums = self.scores[level * k..].iter_mut();
        sums.zip(row).for_each(|(sum, &score)| *sum += i128::from(score) * times);
        let products = &mut self.products[level * pairs..][..pairs];
        each_pair(row, |pair, a, b| products[pair] += i128::from(a) * i128::from(b) * times);
        let Some(number) = number else { return };
        self.sums.iter_mut().zip(row).for_each(|(sum, &score)| sum.add(score as f64 * number, people));
        each_pair(row, |pair, a, b| {
            let product = a as f64 * b as f64 * number;
            self.first[pair].add(product, people);
            self.second[pair].add(product * number, people);
        });
    }

    /// Adds the sums of other rows, with the same classes and the same kind of outcome.
    pub fn merge(&mut self, other: &Weighted) -> Result<()> {
        self.check_same(&other.classes, &other.measure)?;
        self.take_in(other);
        Ok(())
    }

    /// Checks that the classes and the kind of outcome are those of these sums.
    pub(super) fn check_same(&self, classes: &Classes, measure: &Measure) -> Result<()> {
        if self.classes != *classes {
            return Err(Error::Tally { what: "classes" });
        }
        self.measure.check_same(measure)
    }

    fn take_in(&mut self, other: &Weighted) {
        self.known.add(other.known);
        self.unknown.add(other.unknown);
        for (sums, more) in [(&mut self.scores, &other.scores), (&mut self.products, &other.products)] {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        for (sums, more) in
            [(&mut self.sums, &other.sums), (&mut self.first, &other.first), (&mut self.second, &other.second)]
        {
            sums.iter_mut().zip(more).for_each(|(sum, more)| sum.merge(more));
        }
    }

    /// Returns the rows with known outcomes; others are excluded.
    pub fn known(&self) -> Counts {
        self.known
    }

    /// Returns the rows with unknown outcomes.
    pub fn unknown(&self) -> Counts {
        self.unknown
    }

    /// Returns the sum of scores of each class among people with known outcomes.
    pub fn posterior(&self) -> Vec<f64> {
        self.totals(&self.scores, self.classes.len()).into_iter().map(|sum| GRID.total(sum)).collect()
    }

    /// Returns the mean score of the expected members of each class, Σ q² / Σ q: 1 if the scores identify the class, and
    /// its share if they say nothing about it. `None` if the scores of a class sum to zero.
    pub fn mean_own_score(&self) -> Vec<Option<f64>> {
        let k = self.classes.len();
        let sums = self.totals(&self.scores, k);
        let squares = self.totals(&self.products, pairs_of(k));
        let own = |class: usize| {
            let squares = squares[pair_of(k, class, class)?] as f64;
            (sums[class] > 0).then(|| squares / sums[class] as f64 / Grid::UNIT as f64)
        };
        (0..k).map(own).collect()
    }

    /// Returns the class with the largest sum of scores, the first of equals: the reference for differences.
    pub fn largest(&self) -> usize {
        let sums = self.totals(&self.scores, self.classes.len());
        (0..sums.len()).rev().max_by_key(|&class| sums[class]).unwrap_or(0)
    }

    /// Returns the mean outcome of each class, for each requested level.
    pub fn estimates(&self) -> Vec<Estimate> {
        self.measure.shown().map(|level| self.estimate(level)).collect()
    }

    /// Returns Σ q_a q_b of each pair of classes.
    pub(super) fn products(&self) -> Vec<f64> {
        let totals = self.totals(&self.products, pairs_of(self.classes.len()));
        totals.into_iter().map(|sum| sum as f64 / SQUARED_UNIT).collect()
    }

    /// Returns Σ q y of each class; y is 1 for people with the level if shares are estimated.
    pub(super) fn outcome_sums(&self, level: usize) -> Vec<f64> {
        let k = self.classes.len();
        if self.measure.is_share() {
            return self.scores[level * k..][..k].iter().map(|&sum| GRID.total(sum)).collect();
        }
        self.sums.iter().map(|sum| sum.value() / Grid::UNIT as f64).collect()
    }

    /// Sums over all levels.
    fn totals(&self, sums: &[i128], size: usize) -> Vec<i128> {
        (0..size).map(|index| sums.iter().skip(index).step_by(size.max(1)).sum()).collect()
    }

    fn estimate(&self, level: usize) -> Estimate {
        let k = self.classes.len();
        let pairs = pairs_of(k);
        let people: Vec<f64> = self.totals(&self.scores, k).into_iter().map(|sum| sum as f64).collect();
        let zeroth: Vec<f64> = self.totals(&self.products, pairs).into_iter().map(|sum| sum as f64).collect();
        let values = |sums: &[ExactSum]| sums.iter().map(ExactSum::value).collect::<Vec<f64>>();
        let levels = |sums: &[i128], size: usize| -> Vec<f64> {
            sums[level * size..][..size].iter().map(|&sum| sum as f64).collect()
        };
        let (sums, first, second) = if self.measure.is_share() {
            // A share is a mean of 0 and 1, which are their own squares.
            let hits = levels(&self.products, pairs);
            (levels(&self.scores, k), hits.clone(), hits)
        } else {
            (values(&self.sums), values(&self.first), values(&self.second))
        };
        let mean = |class: usize| (people[class] > 0.0).then(|| sums[class] / people[class]);
        let means: Vec<Option<Mean>> = (0..k)
            .map(|class| {
                let squares = zeroth[pair_of(k, class, class)?];
                Some(Mean::new(mean(class)?, people[class] * people[class] / squares))
            })
            .collect();
        Estimate::of(&self.measure, &means, |a, b| {
            let pair = pair_of(k, a.min(b), a.max(b))?;
            let (one, other) = (mean(a)?, mean(b)?);
            let sum = second[pair] - (one + other) * first[pair] + one * other * zeroth[pair];
            Some(sum / people[a] / people[b])
        })
    }
}

/// Returns the number of products of a row: of all pairs of classes, or of each class with itself.
pub(super) fn pairs_of(classes: usize) -> usize {
    if classes <= MOST_WITH_GAPS { classes * (classes + 1) / 2 } else { classes }
}

/// Returns the index of a product, if it is computed. The first class is not after the second.
pub(super) fn pair_of(classes: usize, a: usize, b: usize) -> Option<usize> {
    if classes <= MOST_WITH_GAPS { Some(a * (2 * classes + 1 - a) / 2 + b - a) } else { (a == b).then_some(a) }
}

/// Returns the scores of a row whose products are summed, in order.
#[inline]
pub(super) fn each_pair(row: &[i64], mut each: impl FnMut(usize, i64, i64)) {
    if row.len() > MOST_WITH_GAPS {
        return row.iter().enumerate().for_each(|(class, &score)| each(class, score, score));
    }
    let mut pair = 0;
    for (index, &score) in row.iter().enumerate() {
        for &other in &row[index..] {
            each(pair, score, other);
            pair += 1;
        }
    }
}
