//! Outcomes by class, with scores updated by the outcomes (BIRDiE, McCartan et al. 2023).
//!
//! It is unbiased if, within a class (and group, if any), the outcome is independent of the predictors of the scores:
//! the name and, without groups, the place. The shares θ_{y|r,x} of level y in class r and group x maximize the
//! posterior density and are found by EM: with p_ir ∝ θ_{Y_i|r,x_i} q_ir,
//!
//! ```text
//! θ_{y|r,x} = (a_yr + Σ_{i∈x, Y_i=y} p_ir) / (1 + Σ_{i∈x} p_ir),     a: the weighted estimate over all rows,
//! ```
//!
//! accelerated by SQUAREM (Varadhan and Roland 2008). The density is concave, so the solution is unique. The sums of
//! p are on the grid and do not depend on the row order.

use std::cell::Cell;

use rayon::prelude::*;

use super::figures::{Estimate, Mean};
use super::outcomes::{Measure, Outcomes, Value};
use super::weighted::Weighted;
use crate::audit::{Bootstrap, Draws, read};
use crate::error::{Error, Result};
use crate::kernel::{GRID, STRETCH};
use crate::rule::person_key;
use crate::scores::{Scores, expect_length};
use crate::seed;

/// Salt that separates the hashes of bootstrap samples from all others.
const SAMPLES: u64 = u64::MAX - 5;

/// The smallest share after an accelerated step.
const LEAST_SHARE: f64 = 1e-12;

/// Settings of EM and of the bootstrap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BirdieOptions {
    /// EM stops when no share changes by more than this.
    pub tolerance: f64,
    /// Maximum number of passes of EM.
    pub most_passes: u32,
    /// Number of bootstrap replicates for standard errors; 0 for no standard errors.
    pub replicates: u32,
    /// Approximate number of rows of the bootstrap, drawn by seed and key; its errors are scaled to all rows.
    pub bootstrap_rows: usize,
    /// The seed of the bootstrap.
    pub seed: u64,
}

impl Default for BirdieOptions {
    fn default() -> BirdieOptions {
        BirdieOptions { tolerance: 1e-6, most_passes: 1000, replicates: 50, bootstrap_rows: 100_000, seed: 0 }
    }
}

/// The result of EM: the share of every level in each class, by group if the table has groups.
#[derive(Clone, Debug)]
pub struct Birdie {
    model: Model,
    shares: Vec<f64>,
    /// Number of passes of EM.
    pub passes: u32,
    /// Whether EM converged.
    pub converged: bool,
    /// Number of rows of the bootstrap.
    pub bootstrap_rows: usize,
    estimates: Vec<Estimate>,
}

/// The dimensions of the problem. Lists are by group, then level, then class.
#[derive(Clone, Debug)]
struct Model {
    classes: usize,
    levels: usize,
    groups: usize,
    /// Prior shares by level, then class, with the weight of one person.
    prior: Vec<f64>,
}

/// Sums of a pass over the rows, on the grid.
#[derive(Clone, Debug)]
struct Sums {
    /// Expected people of each class by group and level.
    people: Vec<i128>,
    /// Σ p² of each class, in squared grid units; empty if not needed.
    squares: Vec<i128>,
    /// Σ ln Σ_r θ q.
    likelihood: i128,
}

/// A row of the EM pass.
struct Row<'a> {
    /// Group · levels + level.
    cell: usize,
    scores: &'a [f64],
    people: u64,
}

impl Sums {
    fn new(model: &Model) -> Sums {
        Sums { people: vec![0; model.size()], squares: Vec::new(), likelihood: 0 }
    }

    /// Creates sums with Σ p², which only the last pass needs.
    fn with_squares(model: &Model) -> Sums {
        Sums { squares: vec![0; model.classes], ..Sums::new(model) }
    }

    fn merge(&mut self, other: &Sums) {
        self.people.iter_mut().zip(&other.people).for_each(|(sum, more)| *sum += more);
        self.squares.iter_mut().zip(&other.squares).for_each(|(sum, more)| *sum += more);
        self.likelihood += other.likelihood;
    }

    /// Adds the people of a row, distributed over the classes by its updated scores, which are left in `buffer`.
    #[inline]
    fn add(&mut self, model: &Model, shares: &[f64], row: &Row<'_>, buffer: &mut [f64]) {
        let first = row.cell * model.classes;
        let sum = correct(&shares[first..][..model.classes], row.scores, buffer);
        let times = i128::from(row.people);
        self.likelihood += i128::from(GRID.round(sum.max(f64::MIN_POSITIVE).ln())) * times;
        let people = &mut self.people[first..][..model.classes];
        for (sum, &score) in people.iter_mut().zip(&*buffer) {
            *sum += i128::from(GRID.round(score)) * times;
        }
        for (square, &score) in self.squares.iter_mut().zip(&*buffer) {
            *square += i128::from(GRID.round(score)).pow(2) * times;
        }
    }
}

/// Writes scores updated by the outcome into `buffer`, normalized. Returns their sum before normalization.
#[inline]
fn correct(shares: &[f64], scores: &[f64], buffer: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    for ((own, &share), &score) in buffer.iter_mut().zip(shares).zip(scores) {
        *own = share * score.max(0.0);
        sum += *own;
    }
    if sum > 0.0 {
        buffer.iter_mut().for_each(|own| *own /= sum);
    } else {
        buffer.copy_from_slice(scores);
    }
    sum
}

impl Model {
    fn size(&self) -> usize {
        self.groups * self.levels * self.classes
    }

    /// Returns the shares of largest density, given the people of each class by group and level.
    fn shares(&self, sums: &Sums) -> Vec<f64> {
        let mut shares = vec![0.0; self.size()];
        let stride = self.levels * self.classes;
        for (own, people) in shares.chunks_exact_mut(stride).zip(sums.people.chunks_exact(stride)) {
            for class in 0..self.classes {
                let all: i128 = people.iter().skip(class).step_by(self.classes).sum();
                let whole = 1.0 + GRID.total(all);
                for index in (class..stride).step_by(self.classes) {
                    own[index] = (self.prior[index] + GRID.total(people[index])) / whole;
                }
            }
        }
        shares
    }

    /// Returns the log density up to a constant.
    fn density(&self, shares: &[f64], sums: &Sums) -> f64 {
        let prior =
            |(share, prior): (&f64, &f64)| if *prior > 0.0 { prior * share.max(f64::MIN_POSITIVE).ln() } else { 0.0 };
        let beliefs = shares.chunks_exact(self.prior.len()).flat_map(|own| own.iter().zip(&self.prior).map(prior));
        GRID.total(sums.likelihood) + beliefs.sum::<f64>()
    }

    /// Moves shares back into the valid range after an accelerated step: at least the minimum, with levels
    /// summing to one.
    fn bring_back(&self, shares: &mut [f64]) {
        for own in shares.chunks_exact_mut(self.levels * self.classes) {
            for class in 0..self.classes {
                let each = || (class..self.levels * self.classes).step_by(self.classes);
                each().for_each(|index| own[index] = own[index].max(LEAST_SHARE));
                let sum: f64 = each().map(|index| own[index]).sum();
                each().for_each(|index| own[index] /= sum);
            }
        }
    }

    /// Returns the share of every level in each class over all groups, level by level.
    fn overall(&self, shares: &[f64], sums: &Sums) -> Vec<f64> {
        let stride = self.levels * self.classes;
        let (mut hits, mut all) = (vec![0.0; stride], vec![0.0; self.classes]);
        for (own, people) in shares.chunks_exact(stride).zip(sums.people.chunks_exact(stride)) {
            for (class, all) in all.iter_mut().enumerate() {
                let people = GRID.total(people.iter().skip(class).step_by(self.classes).sum());
                *all += people;
                (class..stride).step_by(self.classes).for_each(|index| hits[index] += people * own[index]);
            }
        }
        hits.iter().enumerate().map(|(index, hits)| hits / all[index % self.classes]).collect()
    }

    /// Runs EM from initial shares, with accelerated steps if they increase the density. `pass` reads all rows.
    fn climb(
        &self,
        mut shares: Vec<f64>,
        options: &BirdieOptions,
        pass: impl Fn(&[f64]) -> Result<Sums>,
    ) -> Result<Found> {
        let passes = Cell::new(0);
        let step = |shares: &[f64]| -> Result<(Vec<f64>, f64)> {
            passes.set(passes.get() + 1);
            let sums = pass(shares)?;
            Ok((self.shares(&sums), self.density(shares, &sums)))
        };
        let converged = loop {
            let (once, _) = step(&shares)?;
            let at_rest = furthest(&once, &shares) <= options.tolerance;
            if at_rest || passes.get() >= options.most_passes {
                shares = once;
                break at_rest;
            }
            let (twice, density) = step(&once)?;
            let long = self.long_step(&shares, &once, &twice).filter(|_| passes.get() < options.most_passes);
            shares = match long.map(|long| step(&long)).transpose()? {
                Some((on, longer)) if longer >= density => on,
                _ => twice,
            };
        };
        Ok(Found { shares, passes: passes.get(), converged })
    }

    /// Returns SQUAREM's step, extrapolated from two EM steps; `None` if these do not change anything.
    fn long_step(&self, from: &[f64], once: &[f64], twice: &[f64]) -> Option<Vec<f64>> {
        let first: Vec<f64> = from.iter().zip(once).map(|(a, b)| b - a).collect();
        let turn: Vec<f64> = once.iter().zip(twice).zip(&first).map(|((b, c), first)| c - b - first).collect();
        let length = |moves: &[f64]| moves.iter().map(|own| own * own).sum::<f64>().sqrt();
        let (speed, bend) = (length(&first), length(&turn));
        let size = (bend > 0.0).then(|| (speed / bend).max(1.0))?;
        let on = |((from, first), turn): ((&f64, &f64), &f64)| from + 2.0 * size * first + size * size * turn;
        let mut long: Vec<f64> = from.iter().zip(&first).zip(&turn).map(on).collect();
        self.bring_back(&mut long);
        Some(long)
    }
}

struct Found {
    shares: Vec<f64>,
    passes: u32,
    converged: bool,
}

/// Returns the largest difference of two lists.
fn furthest(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

impl Birdie {
    /// Fits shares to all rows with known outcomes, by group if the table has groups. Outcomes must be levels.
    pub fn fit(scores: &Scores<'_>, outcomes: &Outcomes<'_>, options: &BirdieOptions) -> Result<Birdie> {
        Birdie::fit_from(scores, outcomes, &Weighted::of(scores, outcomes)?, options)
    }

    /// Fits shares, given the weighted estimate.
    pub fn fit_from(
        scores: &Scores<'_>,
        outcomes: &Outcomes<'_>,
        weighted: &Weighted,
        options: &BirdieOptions,
    ) -> Result<Birdie> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        let measure = outcomes.measure();
        let Measure::Shares { levels, .. } = measure else {
            let why = "it estimates shares of levels; choose a value with `counting`, or group the numbers";
            return Err(Error::Incompatible { one: "BIRDiE", other: "an outcome of numbers", why });
        };
        options.check()?;
        let even = 1.0 / levels as f64;
        let prior = weighted.shares().into_iter().flatten().map(|share| share.unwrap_or(even)).collect();
        let groups = scores.groups().map_or(1, |groups| groups.names.len());
        let model = Model { classes: scores.classes().len(), levels, groups, prior };
        // Uniform shares leave the scores unchanged.
        let pass = |shares: &[f64]| all_rows(&model, scores, outcomes, shares, Sums::new);
        let start = model.shares(&pass(&vec![1.0; model.size()])?);
        let found = model.climb(start, options, pass)?;
        let sums = all_rows(&model, scores, outcomes, &found.shares, Sums::with_squares)?;
        let resampled = Resampled::of(&model, scores, outcomes, weighted, &found.shares, options)?;
        let overall = model.overall(&found.shares, &sums);
        let means = |level: usize, class: usize| {
            let all: i128 = sums.people.iter().skip(class).step_by(model.classes).sum();
            let share = overall[level * model.classes + class];
            let all = all as f64;
            (all > 0.0).then(|| Mean::new(share, all * all / sums.squares[class] as f64))
        };
        let estimate = |level: usize| {
            let means: Vec<Option<Mean>> = (0..model.classes).map(|class| means(level, class)).collect();
            let index = |class: usize| level * model.classes + class;
            Estimate::of(&measure, &means, |a, b| resampled.covariance(index(a), index(b)))
        };
        let estimates = measure.shown().map(estimate).collect();
        let Found { shares, passes, converged } = found;
        Ok(Birdie { bootstrap_rows: resampled.rows, model, shares, passes, converged, estimates })
    }

    /// Returns the share of each requested level in each class, over all groups.
    pub fn estimates(&self) -> &[Estimate] {
        &self.estimates
    }

    /// Returns the share of a level in a class of a group; group 0 without groups.
    pub fn share(&self, group: usize, level: usize, class: usize) -> f64 {
        self.shares[(group * self.model.levels + level) * self.model.classes + class]
    }

    /// Passes the scores updated by the outcomes to `each`, row by row, for example to label them. Scores with
    /// unknown outcomes are unchanged. The rows are those of the fit, or others with the same classes, levels and
    /// groups.
    pub fn updated(
        &self,
        scores: &Scores<'_>,
        outcomes: &Outcomes<'_>,
        mut each: impl FnMut(usize, &[f64]) -> Result<()>,
    ) -> Result<()> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        expect_length("the list of classes", scores.classes().len(), self.model.classes)?;
        expect_length("the list of levels", outcomes.measure().levels(), self.model.levels)?;
        expect_length("the list of groups", scores.groups().map_or(1, |own| own.names.len()), self.model.groups)?;
        let (mut own, mut buffer) = (vec![0.0; self.model.classes], vec![0.0; self.model.classes]);
        scores.read_rows(0..scores.rows(), |index, row| {
            own.iter_mut().zip(&*row).for_each(|(own, &units)| *own = GRID.value(units));
            match cell_of(&self.model, scores, outcomes, index) {
                Some(cell) => {
                    correct(&self.shares[cell * self.model.classes..][..self.model.classes], &own, &mut buffer);
                    each(index, &buffer)
                }
                None => each(index, &own),
            }
        })
    }
}

impl BirdieOptions {
    fn check(&self) -> Result<()> {
        let refuse = |what: &str, value: f64, range| Err(Error::Parameter { what: what.to_owned(), value, range });
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return refuse("the tolerance of EM", self.tolerance, "above 0 and below 1");
        }
        if self.most_passes == 0 {
            return refuse("the number of passes of EM", 0.0, "1 or more");
        }
        if self.replicates == 1 || self.replicates > 10_000 {
            return refuse("the number of bootstrap replicates", f64::from(self.replicates), "0, or from 2 to 10000");
        }
        Ok(())
    }
}

/// Returns the cell of a row's group and level; `None` if its outcome is unknown.
#[inline]
fn cell_of(model: &Model, scores: &Scores<'_>, outcomes: &Outcomes<'_>, row: usize) -> Option<usize> {
    let Value::Level(level) = outcomes.at(row)? else { return None };
    Some(scores.groups().map_or(0, |groups| groups.codes[row] as usize) * model.levels + level)
}

/// Runs one pass over all rows of a table.
fn all_rows(
    model: &Model,
    scores: &Scores<'_>,
    outcomes: &Outcomes<'_>,
    shares: &[f64],
    none: fn(&Model) -> Sums,
) -> Result<Sums> {
    let buffer = || vec![0.0; model.classes];
    let (sums, ..) = read(
        scores,
        || (none(model), buffer(), buffer()),
        |(sums, own, buffer), index, row, people, _| {
            let Some(cell) = cell_of(model, scores, outcomes, index) else { return };
            own.iter_mut().zip(row).for_each(|(own, &units)| *own = GRID.value(units));
            sums.add(model, shares, &Row { cell, scores: own, people }, buffer);
        },
        |(sums, ..), (part, ..)| sums.merge(&part),
    )?;
    Ok(sums)
}

/// The overall shares of each bootstrap replicate.
struct Resampled {
    rows: usize,
    replicates: Vec<Vec<f64>>,
    /// The ratio of the variances for all people and for the sample.
    scale: f64,
}

impl Resampled {
    fn of(
        model: &Model,
        scores: &Scores<'_>,
        outcomes: &Outcomes<'_>,
        weighted: &Weighted,
        shares: &[f64],
        options: &BirdieOptions,
    ) -> Result<Resampled> {
        if options.replicates == 0 {
            return Ok(Resampled { rows: 0, replicates: Vec::new(), scale: 1.0 });
        }
        let sample = Sample::draw(model, scores, outcomes, weighted, options)?;
        let replicates: Vec<Vec<f64>> = (0..options.replicates as usize)
            .into_par_iter()
            .map(|replicate| {
                let pass = |shares: &[f64]| Ok(sample.pass(model, shares, replicate));
                let found = model.climb(shares.to_vec(), options, pass)?;
                Ok(model.overall(&found.shares, &sample.pass(model, &found.shares, replicate)))
            })
            .collect::<Result<_>>()?;
        let people: u64 = sample.people.iter().sum();
        let scale = people as f64 / weighted.known().people.max(1) as f64;
        Ok(Resampled { rows: sample.cells.len(), replicates, scale })
    }

    /// Returns the covariance of two overall shares.
    fn covariance(&self, a: usize, b: usize) -> Option<f64> {
        let pairs: Vec<(f64, f64)> =
            self.replicates.iter().map(|own| (own[a], own[b])).filter(|(a, b)| (a + b).is_finite()).collect();
        let number = pairs.len() as f64;
        if pairs.len() < 2 {
            return None;
        }
        let (sum_a, sum_b) = pairs.iter().fold((0.0, 0.0), |(x, y), (a, b)| (x + a, y + b));
        let products = pairs.iter().map(|(a, b)| (a - sum_a / number) * (b - sum_b / number));
        Some(products.sum::<f64>() / (number - 1.0) * self.scale)
    }
}

/// Sampled rows in memory, and their weights in every replicate.
#[derive(Default)]
struct Sample {
    scores: Vec<f64>,
    cells: Vec<u32>,
    people: Vec<u64>,
    /// Weights of each replicate, row by row.
    times: Vec<u32>,
    replicates: usize,
}

impl Sample {
    /// Draws rows by seed and key; their order does not matter.
    fn draw(
        model: &Model,
        scores: &Scores<'_>,
        outcomes: &Outcomes<'_>,
        weighted: &Weighted,
        options: &BirdieOptions,
    ) -> Result<Sample> {
        let part = options.bootstrap_rows as f64 / weighted.known().rows.max(1) as f64;
        let below = (part * 2f64.powi(64)) as u64;
        let bootstrap = Bootstrap { replicates: options.replicates, seed: options.seed, ..Bootstrap::default() };
        let rows = scores.rows();
        let parts: Vec<Sample> = (0..rows.div_ceil(STRETCH))
            .into_par_iter()
            .map(|stretch| {
                let mut own = Sample { replicates: options.replicates as usize, ..Sample::default() };
                let mut draws = Draws::new(Some(&bootstrap));
                scores.read_rows(stretch * STRETCH..rows.min((stretch + 1) * STRETCH), |index, row| {
                    let (key, people) = (scores.keys().of(index), scores.counts().map_or(1, |counts| counts[index]));
                    let cell = cell_of(model, scores, outcomes, index);
                    let is_drawn = part >= 1.0 || seed::hash(options.seed, key, SAMPLES) < below;
                    if let Some(cell) = cell.filter(|_| is_drawn && people > 0) {
                        own.scores.extend(row.iter().map(|&units| GRID.value(units)));
                        own.cells.push(cell as u32);
                        own.people.push(people);
                        own.draw_times(&mut draws, key, people);
                    }
                    Ok(())
                })?;
                Ok(own)
            })
            .collect::<Result<_>>()?;
        let mut all = Sample { replicates: options.replicates as usize, ..Sample::default() };
        for part in parts {
            all.scores.extend(part.scores);
            all.cells.extend(part.cells);
            all.people.extend(part.people);
            all.times.extend(part.times);
        }
        Ok(all)
    }

    /// Draws the Poisson weights of a row's people in each replicate. For many people, a few draws represent all.
    fn draw_times(&mut self, draws: &mut Draws, key: u64, people: u64) {
        const MOST: u64 = 64;
        let drawn = people.min(MOST);
        let first = self.times.len();
        self.times.resize(first + self.replicates, 0);
        for person in 0..drawn {
            let own = draws.of(person_key(key, person));
            self.times[first..].iter_mut().zip(own).for_each(|(sum, &times)| *sum += u32::from(times));
        }
        if people > drawn {
            // The same number of standard deviations from the mean as the drawn part.
            let (some, all) = (drawn as f64, people as f64);
            for times in &mut self.times[first..] {
                let away = (f64::from(*times) - some) * (all / some).sqrt();
                *times = (all + away).round().clamp(0.0, f64::from(u32::MAX)) as u32;
            }
        }
    }

    /// Runs one pass over a replicate.
    fn pass(&self, model: &Model, shares: &[f64], replicate: usize) -> Sums {
        let (mut sums, mut buffer) = (Sums::new(model), vec![0.0; model.classes]);
        for (row, scores) in self.scores.chunks_exact(model.classes).enumerate() {
            let people = u64::from(self.times[row * self.replicates + replicate]);
            if people > 0 {
                let cell = self.cells[row] as usize;
                sums.add(model, shares, &Row { cell, scores, people }, &mut buffer);
            }
        }
        sums
    }
}
