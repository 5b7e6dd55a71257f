//! Outcomes by class, with each person weighted by the scores, without labels (Chen et al. 2019).
//!
//! θ_r = Σ w_i q_ir Y_i / Σ w_i q_ir, over people with survey weights w_i, which are 1 if there are none. Its sampling
//! covariance is Cov(θ_a, θ_b) = Σ π_ia π_ib (Y_i − θ_a)(Y_i − θ_b), with π_ir = w_i q_ir / Σ_j w_j q_jr.
//!
//! The mean of the file's own people of a class is Σ w_i R_ir Y_i / Σ w_i R_ir, with R_ir = 1 if person i is of class r.
//! Given the scores and outcomes, R_i is one draw from q_i. By linearization around θ, the covariance of these means is
//! Σ w_i² Cov(R_ia, R_ib) (Y_i − θ_a)(Y_i − θ_b) / (Σ w q_a Σ w q_b), with Cov(R_ia, R_ib) = q_ia (1 − q_ia) if a = b and
//! −q_ia q_ib otherwise.

use super::exact::ExactSum;
use super::figures::{Estimate, Mean};
use super::outcomes::{Measure, Outcomes, Value};
use super::sums::add_sums;
use super::survey_sums::SurveySums;
use crate::audit::read;
use crate::error::{Error, Result};
use crate::kernel::{GRID, Grid};
use crate::scores::{Classes, Scores, expect_length};

/// With more classes, the errors of differences are not computed: their number grows with the square.
pub(super) const MOST_WITH_GAPS: usize = 32;

/// Products of scores are in squares of the grid unit.
const SQUARED_UNIT: f64 = Grid::UNIT as f64 * Grid::UNIT as f64;

/// The means that the intervals of [`Weighted`] are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inference {
    /// The means in the population that the people were drawn from.
    #[default]
    Population,
    /// The means of the file's own people of each class. Only their classes are uncertain.
    File,
}

/// Outcomes weighted by scores. One pass; it can be merged and does not depend on the row order.
///
/// It is unbiased if outcome and class are independent among people with equal scores.
#[derive(Clone, Debug)]
pub struct Weighted {
    classes: Classes,
    measure: Measure,
    inference: Inference,
    /// Rows with known and with unknown outcomes.
    known: Counts,
    unknown: Counts,
    /// By level: Σ q of each class, and Σ q_a q_b of each pair, in grid units and their squares.
    scores: Vec<i128>,
    products: Vec<i128>,
    /// For numbers without weights: Σ q y of each class; Σ q_a q_b y and Σ q_a q_b y² of each pair.
    sums: Vec<ExactSum>,
    first: Vec<ExactSum>,
    second: Vec<ExactSum>,
    /// For numbers without weights, if the inference is about the file: Σ q y² of each class.
    own_second: Vec<ExactSum>,
    /// The sums with survey weights, if there are weights.
    survey: Option<SurveySums>,
}

/// The sums of the estimate of one level, relative to any unit u of weighted scores: multiplied by u or, if they contain
/// two scores or weights, by u².
struct LevelSums {
    /// Σ w q and Σ w q y of each class.
    people: Vec<f64>,
    sums: Vec<f64>,
    /// Σ w² q_a q_b y^j of each pair, for j from 0 to 2.
    pairs: [Vec<f64>; 3],
    /// Σ w² q y^j of each class, for j from 0 to 2.
    own: [Vec<f64>; 3],
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
    /// Sums over all rows of a table, in parallel. Intervals are about the population.
    pub fn of(scores: &Scores<'_>, outcomes: &Outcomes<'_>) -> Result<Weighted> {
        Weighted::with_inference(scores, outcomes, Inference::Population)
    }

    /// Sums over all rows of a table, in parallel, for intervals about the population or the file.
    pub fn with_inference(scores: &Scores<'_>, outcomes: &Outcomes<'_>, inference: Inference) -> Result<Weighted> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        let (classes, measure) = (scores.classes(), outcomes.measure());
        read(
            scores,
            || Weighted::new(classes, &measure, inference),
            |sums, index, row, people, _| sums.add(row, outcomes.at(index), people, outcomes.weight(index)),
            |sums, part| sums.take_in(&part),
        )
    }

    fn new(classes: &Classes, measure: &Measure, inference: Inference) -> Weighted {
        let k = classes.len();
        let (levels, pairs) = (measure.levels(), pairs_of(k));
        let is_weighted = measure.is_weighted();
        let numbers = |length: usize| vec![ExactSum::ZERO; if measure.is_share() || is_weighted { 0 } else { length }];
        Weighted {
            classes: classes.clone(),
            measure: measure.clone(),
            inference,
            known: Counts::default(),
            unknown: Counts::default(),
            scores: vec![0; levels * k],
            products: vec![0; levels * pairs],
            sums: numbers(k),
            first: numbers(pairs),
            second: numbers(pairs),
            own_second: numbers(if inference == Inference::File { k } else { 0 }),
            survey: is_weighted.then(|| SurveySums::new(k, measure)),
        }
    }

    #[inline]
    fn add(&mut self, row: &[i64], value: Option<Value>, people: u64, weight: f64) {
        let heads = if value.is_some() { &mut self.known } else { &mut self.unknown };
        heads.add(Counts { rows: 1, people });
        let (k, pairs) = (row.len(), pairs_of(row.len()));
        let Some(value) = value else { return };
        let (level, number) = match value {
            Value::Level(level) => (level, None),
            Value::Number(number) => (0, Some(number)),
        };
        let times = i128::from(people);
        let sums = self.scores[level * k..].iter_mut();
        sums.zip(row).for_each(|(sum, &score)| *sum += i128::from(score) * times);
        let products = &mut self.products[level * pairs..][..pairs];
        each_pair(row, |pair, a, b| products[pair] += i128::from(a) * i128::from(b) * times);
        if let Some(survey) = &mut self.survey {
            return survey.add(row, value, people, weight);
        }
        let Some(number) = number else { return };
        self.sums.iter_mut().zip(row).for_each(|(sum, &score)| sum.add(score as f64 * number, people));
        each_pair(row, |pair, a, b| {
            let product = a as f64 * b as f64 * number;
            self.first[pair].add(product, people);
            self.second[pair].add(product * number, people);
        });
        let own = self.own_second.iter_mut();
        own.zip(row).for_each(|(sum, &score)| sum.add(score as f64 * number * number, people));
    }

    /// Adds the sums of other rows, with the same classes and the same kind of outcome.
    pub fn merge(&mut self, other: &Weighted) -> Result<()> {
        self.check_same(&other.classes, &other.measure)?;
        if self.inference != other.inference {
            return Err(Error::Tally { what: "inference" });
        }
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
        for (sums, more) in [
            (&mut self.sums, &other.sums),
            (&mut self.first, &other.first),
            (&mut self.second, &other.second),
            (&mut self.own_second, &other.own_second),
        ] {
            add_sums(sums, more);
        }
        if let (Some(own), Some(more)) = (&mut self.survey, &other.survey) {
            own.merge(more);
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

    /// Returns the sum of the survey weights of people with known outcomes; `None` without weights.
    pub fn weight(&self) -> Option<f64> {
        self.survey.as_ref().map(|survey| survey.weight.value())
    }

    /// Returns the number of people with known outcomes and a positive weight.
    pub(super) fn people_with_weight(&self) -> u64 {
        self.survey.as_ref().map_or(self.known.people, |survey| survey.people)
    }

    /// Returns the sum of scores of each class among people with known outcomes, without weights.
    pub fn posterior(&self) -> Vec<f64> {
        self.totals(&self.scores, self.classes.len()).into_iter().map(|sum| GRID.total(sum)).collect()
    }

    /// Returns the mean score of the expected members of each class, Σ q² / Σ q: 1 if the scores identify the class, and
    /// its share if they say nothing about it. `None` if the scores of a class sum to zero. Without weights.
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

    /// Returns the class with the largest sum of weighted scores, the first of equals: the reference for differences.
    pub fn largest(&self) -> usize {
        if let Some(survey) = &self.survey {
            let sums = survey.all_scores(&self.measure);
            return (0..sums.len()).rev().max_by(|&a, &b| sums[a].total_cmp(&sums[b])).unwrap_or(0);
        }
        let sums = self.totals(&self.scores, self.classes.len());
        (0..sums.len()).rev().max_by_key(|&class| sums[class]).unwrap_or(0)
    }

    /// Returns the mean outcome of each class, for each requested level.
    pub fn estimates(&self) -> Vec<Estimate> {
        self.measure.shown().map(|level| self.estimate(level)).collect()
    }

    /// Returns Σ w q_a q_b of each pair of classes.
    pub(super) fn products(&self) -> Vec<f64> {
        if let Some(survey) = &self.survey {
            return survey.products();
        }
        let totals = self.totals(&self.products, pairs_of(self.classes.len()));
        totals.into_iter().map(|sum| sum as f64 / SQUARED_UNIT).collect()
    }

    /// Returns the effective sample size of each class: (Σ w q)² / Σ (w q)².
    pub(super) fn effective_n(&self) -> Vec<Option<f64>> {
        let k = self.classes.len();
        let (sums, squares) = match &self.survey {
            Some(survey) => (survey.all_scores(&self.measure), survey.all_squares(&self.measure)),
            None => (self.posterior(), self.products()),
        };
        let own = |class: usize| {
            let squares = squares[pair_of(k, class, class)?];
            (squares > 0.0).then(|| sums[class] * sums[class] / squares)
        };
        (0..k).map(own).collect()
    }

    /// Returns Σ w q y of each class; y is 1 for people with the level if shares are estimated.
    pub(super) fn outcome_sums(&self, level: usize) -> Vec<f64> {
        let k = self.classes.len();
        if let Some(survey) = &self.survey {
            return survey.scores(if self.measure.is_share() { level } else { 1 });
        }
        if self.measure.is_share() {
            return self.scores[level * k..][..k].iter().map(|&sum| GRID.total(sum)).collect();
        }
        self.sums.iter().map(|sum| sum.value() / Grid::UNIT as f64).collect()
    }

    /// Sums over all levels.
    fn totals(&self, sums: &[i128], size: usize) -> Vec<i128> {
        (0..size).map(|index| sums.iter().skip(index).step_by(size.max(1)).sum()).collect()
    }

    /// Returns the sums of a level with weights.
    fn survey_sums(&self, survey: &SurveySums, level: usize) -> LevelSums {
        let (people, zeroth) = (survey.all_scores(&self.measure), survey.all_squares(&self.measure));
        let own = survey.all_own_squares(&self.measure);
        // A share is a mean of 0 and 1, which are their own squares.
        let (first, second) = if self.measure.is_share() { (level, level) } else { (1, 2) };
        LevelSums {
            people,
            sums: survey.scores(first),
            pairs: [zeroth, survey.squares(first), survey.squares(second)],
            own: [own, survey.own_squares(first), survey.own_squares(second)],
        }
    }

    /// Returns the sums of a level without weights, in grid units.
    fn plain_sums(&self, level: usize) -> LevelSums {
        let k = self.classes.len();
        let pairs = pairs_of(k);
        let people: Vec<f64> = self.totals(&self.scores, k).into_iter().map(|sum| sum as f64).collect();
        let zeroth: Vec<f64> = self.totals(&self.products, pairs).into_iter().map(|sum| sum as f64).collect();
        let values = |sums: &[ExactSum]| sums.iter().map(ExactSum::value).collect::<Vec<f64>>();
        let levels = |sums: &[i128], size: usize| -> Vec<f64> {
            sums[level * size..][..size].iter().map(|&sum| sum as f64).collect()
        };
        let (sums, first, second, own_second) = if self.measure.is_share() {
            // A share is a mean of 0 and 1, which are their own squares.
            let (sums, hits) = (levels(&self.scores, k), levels(&self.products, pairs));
            (sums.clone(), hits.clone(), hits, sums)
        } else {
            (values(&self.sums), values(&self.first), values(&self.second), values(&self.own_second))
        };
        // These contain one score; the unit of the other is missing.
        let own = [&people, &sums, &own_second].map(|own| own.iter().map(|sum| sum * Grid::UNIT as f64).collect());
        LevelSums { people, sums, pairs: [zeroth, first, second], own }
    }

    fn estimate(&self, level: usize) -> Estimate {
        let k = self.classes.len();
        let LevelSums { people, sums, pairs: [zeroth, first, second], own } = match &self.survey {
            Some(survey) => self.survey_sums(survey, level),
            None => self.plain_sums(level),
        };
        let mean = |class: usize| (people[class] > 0.0).then(|| sums[class] / people[class]);
        let means: Vec<Option<Mean>> = (0..k)
            .map(|class| {
                let squares = zeroth[pair_of(k, class, class)?];
                let effective_n = people[class] * people[class] / squares;
                let can_be_certain = self.inference == Inference::File;
                (squares > 0.0).then_some(Mean { can_be_certain, ..Mean::new(mean(class)?, effective_n) })
            })
            .collect();
        Estimate::of(&self.measure, &means, |a, b| {
            let pair = pair_of(k, a.min(b), a.max(b))?;
            let (one, other) = (mean(a)?, mean(b)?);
            let sum = second[pair] - (one + other) * first[pair] + one * other * zeroth[pair];
            let sum = match self.inference {
                Inference::Population => sum,
                Inference::File if a == b => own[2][a] - 2.0 * one * own[1][a] + one * one * own[0][a] - sum,
                Inference::File => -sum,
            };
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
