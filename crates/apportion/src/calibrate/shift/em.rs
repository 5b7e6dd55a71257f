//! Maximum likelihood estimate of class shares from scores and the class shares of their training population.
//!
//! If q_ir is the probability of class r for a population with shares τ, then P(row i | r) is proportional to q_ir /
//! τ_r, and
//!
//! ```text
//! maximize  Σ_i n_i log Σ_r π_r q_ir / τ_r    over shares π.
//! ```
//!
//! The steps of Saerens, Latinne and Decaestecker (2002), π_r ← mean of q_ir π_r / τ_r divided by the sum of the row,
//! converge to the maximum, but slowly if scores carry little information. Newton's method with the bounds π ≥ 0 finds
//! the same maximum in a few passes, because the objective is concave. Sums are whole numbers, so they do not depend on
//! the order of the rows.

use rayon::prelude::*;

use super::simplex::{Program, unexplained};
use super::{ShareEstimate, ShareMethod, check_classes, check_identified, drawn, intervals, not_estimated};
use crate::audit::{Bootstrap, Draws, Interval, read};
use crate::error::Result;
use crate::kernel::GRID;
use crate::scores::{SUM_TOLERANCE, Scores};
use crate::seed;

/// Fixed-point units in 1.0 of probabilities, and of logarithms.
const UNITS: f64 = (1u64 << 60) as f64;
const LOG_UNITS: f64 = (1u64 << 50) as f64;

/// The most a share shrinks in one step, so that it can grow again.
const SHRINK: f64 = 0.01;

/// The change of shares below which the estimate has converged.
const CONVERGED: f64 = 1e-11;

/// A share that is below this and shrinks as much as it can is zero.
const NO_SHARE: f64 = 1e-6;

const MOST_STEPS: usize = 200;
const MOST_HALVINGS: usize = 40;

/// The approximate number of rows on which the bootstrap is computed, if there are more.
const SAMPLE: u64 = 10_000;

/// Separates the hashes of the sample from those of ties and draws.
const SALT: u64 = 0x7368_6966_7473;

impl ShareEstimate {
    /// Estimates the class shares of a table without truth, from the shares of the population for which the scores are
    /// calibrated (Saerens, Latinne and Decaestecker 2002).
    ///
    /// The estimate assumes that, within each class, people have the same distribution of scores in that population and
    /// in the table. If there are many rows, the bootstrap uses a sample, and the intervals are narrowed accordingly.
    ///
    /// # Errors
    /// If a score is invalid, the training shares are not positive shares that sum to one, there are no people, or the
    /// scores do not distinguish the classes.
    pub fn em(scores: &Scores<'_>, training: &[f64], bootstrap: Option<&Bootstrap>) -> Result<ShareEstimate> {
        let classes = scores.classes();
        check_classes(classes)?;
        let training = checked(training, scores)?;
        let likelihoods = Likelihoods { training: &training };
        let k = training.len();
        let pass = |shares: &[f64]| {
            read(
                scores,
                || (Sums::zero(k), vec![0.0; k]),
                |(sums, own), _, row, people, _| {
                    likelihoods.of(row, own);
                    sums.add(shares, own, people);
                },
                |(sums, _), (more, _)| sums.merge(&more),
            )
            .map(|(sums, _)| sums)
        };
        let start = pass(&training)?;
        if start.people == 0 {
            return Err(not_estimated("there are no people; use a table with rows"));
        }
        check_identified(classes, &start.unexplained(&training))?;
        let (shares, sums) = climb(training.clone(), &pass)?;
        check_identified(classes, &sums.unexplained(&shares))?;
        let intervals = match bootstrap.filter(|bootstrap| bootstrap.replicates > 0) {
            Some(bootstrap) => {
                Sample::new(scores, &likelihoods, bootstrap)?
                    .intervals(&shares, sums.people, bootstrap, || scores.check_cancelled())?
            }
            None => Vec::new(),
        };
        Ok(ShareEstimate { method: ShareMethod::Em, shares, intervals, people: sums.people, with_truth: None })
    }
}

/// Returns the training shares after checking them, divided by their sum.
fn checked(training: &[f64], scores: &Scores<'_>) -> Result<Vec<f64>> {
    let names = scores.classes().names();
    if training.len() != names.len() {
        let (found, expected) = (training.len(), names.len());
        return Err(not_estimated(&format!(
            "there are {found} training shares for {expected} classes; give one per class"
        )));
    }
    for (share, class) in training.iter().zip(names) {
        if !(share.is_finite() && *share > 0.0) {
            return Err(not_estimated(&format!(
                "the training share of {class:?} is {share}; all training shares must be above 0, so merge the class with \
                 another one, or leave out its score column"
            )));
        }
    }
    let sum: f64 = training.iter().sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(not_estimated(&format!("the training shares sum to {sum}, not to 1; divide by the sum")));
    }
    Ok(training.iter().map(|share| share / sum).collect())
}

/// Converts scores to likelihoods of the classes, up to a factor for each row.
struct Likelihoods<'a> {
    training: &'a [f64],
}

impl Likelihoods<'_> {
    fn of(&self, row: &[i64], into: &mut [f64]) {
        for ((own, &score), share) in into.iter_mut().zip(row).zip(self.training) {
            *own = GRID.value(score.max(0)) / share;
        }
    }
}

/// Sums over rows at some shares, with p_ir = π_r l_ir / Σ_s π_s l_is.
struct Sums {
    people: u64,
    /// Σ n_i log Σ_r π_r l_ir.
    log: i128,
    /// Σ n_i p_ir.
    first: Vec<i128>,
    /// Σ n_i p_ir p_is for r ≤ s.
    second: Vec<i128>,
    /// p_ir of the current row, in a reusable buffer.
    own: Vec<f64>,
}

impl Sums {
    fn zero(k: usize) -> Sums {
        Sums { people: 0, log: 0, first: vec![0; k], second: vec![0; k * (k + 1) / 2], own: vec![0.0; k] }
    }

    fn add(&mut self, shares: &[f64], likelihoods: &[f64], people: u64) {
        if people == 0 {
            return;
        }
        let times = i128::from(people);
        let mut all = 0.0;
        for ((own, share), likelihood) in self.own.iter_mut().zip(shares).zip(likelihoods) {
            *own = share * likelihood;
            all += *own;
        }
        self.people += people;
        self.log += times * i128::from((all.ln() * LOG_UNITS) as i64);
        let mut second = self.second.iter_mut();
        for (index, sum) in self.first.iter_mut().enumerate() {
            let own = self.own[index] / all;
            *sum += times * i128::from((own * UNITS) as i64);
            for (other, sum) in self.own[index..].iter().zip(second.by_ref()) {
                *sum += times * i128::from((own * (other / all) * UNITS) as i64);
            }
        }
    }

    fn merge(&mut self, other: &Sums) {
        self.people += other.people;
        self.log += other.log;
        self.first.iter_mut().zip(&other.first).for_each(|(sum, more)| *sum += more);
        self.second.iter_mut().zip(&other.second).for_each(|(sum, more)| *sum += more);
    }

    fn mean(&self, sum: i128) -> f64 {
        sum as f64 / UNITS / self.people as f64
    }

    fn log_mean(&self) -> f64 {
        self.log as f64 / LOG_UNITS / self.people as f64
    }

    /// Returns the means of p_ir, which are the shares of the next EM step.
    fn means(&self) -> Vec<f64> {
        self.first.iter().map(|&sum| self.mean(sum)).collect()
    }

    /// Returns the matrix of the means of p_ir p_is.
    fn products(&self) -> Vec<f64> {
        let k = self.first.len();
        let (mut matrix, mut sums) = (vec![0.0; k * k], self.second.iter());
        for row in 0..k {
            for column in row..k {
                let Some(&sum) = sums.next() else { continue };
                (matrix[row * k + column], matrix[column * k + row]) = (self.mean(sum), self.mean(sum));
            }
        }
        matrix
    }

    /// Returns the classes with a share, and the matrix of their products.
    fn present(&self, shares: &[f64]) -> (Vec<usize>, Vec<f64>) {
        let (k, matrix) = (self.first.len(), self.products());
        let present: Vec<usize> = (0..k).filter(|&class| shares[class] > 0.0).collect();
        let places = present.iter().flat_map(|&row| present.iter().map(move |&column| row * k + column));
        let own = places.map(|at| matrix[at]).collect();
        (present, own)
    }

    /// Returns the part of each class's variation that other classes leave unexplained, for classes with people.
    fn unexplained(&self, shares: &[f64]) -> Vec<(usize, f64)> {
        let (present, matrix) = self.present(shares);
        present.iter().copied().zip(unexplained(&matrix, present.len())).collect()
    }
}

/// Maximizes the likelihood from positive shares, and returns the sums at the maximum.
fn climb(mut shares: Vec<f64>, pass: &impl Fn(&[f64]) -> Result<Sums>) -> Result<(Vec<f64>, Sums)> {
    let all: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= all);
    let mut sums = pass(&shares)?;
    if sums.people == 0 {
        return Ok((shares, sums));
    }
    for _ in 0..MOST_STEPS {
        let change = newton_step(&shares, &sums);
        let slope: f64 = sums.means().iter().zip(&shares).zip(&change).map(|((mean, own), by)| (mean - own) * by).sum();
        let moved = |length: f64| -> Vec<f64> {
            let one = |(own, by): (&f64, &f64)| match *own <= NO_SHARE && *by < 2.0 * SHRINK - 1.0 {
                true => 0.0,
                false => own * (1.0 + length * by),
            };
            let moved: Vec<f64> = shares.iter().zip(&change).map(one).collect();
            let sum: f64 = moved.iter().sum();
            moved.iter().map(|own| own / sum).collect()
        };
        if shares.iter().zip(&change).all(|(own, by)| (own * by).abs() <= CONVERGED) {
            return Ok((rounded(moved(1.0)), sums));
        }
        let mut next = None;
        for halvings in 0..MOST_HALVINGS {
            let length = 0.5f64.powi(halvings as i32);
            let at = moved(length);
            let found = pass(&at)?;
            if found.log_mean() - sums.log_mean() >= 1e-4 * length * slope - 1e-14 {
                next = Some((at, found));
                break;
            }
        }
        let Some(found) = next else { break };
        (shares, sums) = found;
    }
    Err(not_estimated("the maximum likelihood estimate did not converge; merge rare classes"))
}

/// Returns the relative change of each share in Newton's step, at least SHRINK − 1. Shares of zero stay zero.
fn newton_step(shares: &[f64], sums: &Sums) -> Vec<f64> {
    // In z, the shares relative to the current ones, the gradient at z = 1 is the mean of p, and the Hessian is minus
    // the products, whose rows sum to the same mean.
    let (present, mut curvature) = sums.present(shares);
    let (k, means) = (present.len(), sums.means());
    let mut slope: Vec<f64> = present.iter().map(|&class| 2.0 * means[class]).collect();
    for (index, slope) in slope.iter_mut().enumerate() {
        // Keeps z near 1 along directions that the scores do not identify.
        let ridge = 1e-9 * curvature[index * (k + 1)] + 1e-30;
        curvature[index * (k + 1)] += ridge;
        *slope += ridge;
    }
    let weights: Vec<f64> = present.iter().map(|&class| shares[class]).collect();
    let program = Program { curvature: &curvature, slope: &slope, weights: &weights, low: SHRINK };
    let mut change = vec![0.0; shares.len()];
    for (&class, own) in present.iter().zip(program.minimum(&vec![1.0; k])) {
        change[class] = own - 1.0;
    }
    change
}

/// Rounds shares to multiples of 2^-40.
fn rounded(shares: Vec<f64>) -> Vec<f64> {
    shares.into_iter().map(|share| GRID.value(GRID.round(share))).collect()
}

/// The rows on which the bootstrap is computed, in an order that depends only on their contents.
struct Sample {
    classes: usize,
    likelihoods: Vec<f64>,
    /// The key and the people of each row.
    rows: Vec<(u64, u64)>,
}

impl Sample {
    fn new(scores: &Scores<'_>, likelihoods: &Likelihoods<'_>, bootstrap: &Bootstrap) -> Result<Sample> {
        let (keys, k) = (scores.keys(), scores.classes().len());
        let all = scores.rows() as u64;
        let is_sampled = |key: u64| all <= SAMPLE || seed::below(seed::hash(bootstrap.seed, key, SALT), all) < SAMPLE;
        let (values, rows) = read(
            scores,
            || (Vec::new(), Vec::new()),
            |(values, rows), index, row, people, _| {
                if people > 0 && is_sampled(keys.of(index)) {
                    let start = values.len();
                    values.resize(start + k, 0.0);
                    likelihoods.of(row, &mut values[start..]);
                    rows.push((keys.of(index), people));
                }
            },
            |(values, rows), (more_values, more_rows)| {
                values.extend(more_values);
                rows.extend(more_rows);
            },
        )?;
        Ok(Sample { classes: k, likelihoods: values, rows })
    }

    fn pass(&self, shares: &[f64], people: impl Fn(usize) -> u64) -> Sums {
        let mut sums = Sums::zero(self.classes);
        for (row, likelihoods) in self.likelihoods.chunks_exact(self.classes).enumerate() {
            sums.add(shares, likelihoods, people(row));
        }
        sums
    }

    /// Returns the interval of each share of all people.
    fn intervals(
        &self,
        shares: &[f64],
        people: u64,
        bootstrap: &Bootstrap,
        check_cancelled: impl Fn() -> Result<()> + Sync,
    ) -> Result<Vec<Interval>> {
        let start = |shares: &[f64]| -> Vec<f64> { shares.iter().map(|share| share.max(1e-4)).collect() };
        let sampled: u64 = self.rows.iter().map(|row| row.1).sum();
        let center = match sampled == people {
            true => shares.to_vec(),
            false => climb(start(shares), &|at| Ok(self.pass(at, |row| self.rows[row].1)))?.0,
        };
        let draws = Draws::new(Some(bootstrap));
        let one = |replicate: usize| -> Result<Vec<f64>> {
            check_cancelled()?;
            let times: Vec<u64> =
                self.rows.iter().map(|&(key, people)| drawn(&draws, key, people, replicate)).collect();
            Ok(climb(start(&center), &|at| Ok(self.pass(at, |row| times[row])))?.0)
        };
        let found: Result<Vec<Vec<f64>>> = (0..bootstrap.replicates as usize).into_par_iter().map(one).collect();
        let of_sample = intervals(&found?, self.classes, bootstrap.level);
        if sampled == people {
            return Ok(of_sample);
        }
        // A share near zero cannot fall as far as it can rise in the sample, so both sides have the larger distance.
        let narrower = (sampled as f64 / people as f64).sqrt();
        let around = |((own, center), share): ((&Interval, &f64), &f64)| {
            let distance = (own.high - center).max(center - own.low) * narrower;
            Interval { low: (share - distance).max(0.0), high: (share + distance).min(1.0) }
        };
        Ok(of_sample.iter().zip(&center).zip(shares).map(around).collect())
    }
}
