//! Raking: scores made to meet the shares of the classes that are known of all people together (Greengard and Gelman).
//!
//! With scores M of each person and targets b, it is fitted proportionally, person by person and class by class, until both sums
//! hold. What comes out has the form q(r) ∝ M(r) · w_r, so that only a weight a class is needed, found from
//!
//! ```text
//! Σ_i M_ir w_r / Σ_k M_ik w_k = b_r      for each class r
//! ```
//!
//! These are the conditions of a concave problem in log w, which Newton's method solves in a few passes over the people:
//! each adds up the sums at the weights at hand ([`Margins`]), and [`Raking::step`] chooses the next. Sums are of whole
//! units, so that nothing depends on the order of the people.

use crate::error::{Error, Result};

/// How near the shares must come.
pub const RAKING_TOLERANCE: f64 = 1e-10;
/// Passes after which it is given up.
const MOST_PASSES: usize = 60;
/// Sums are in multiples of this.
const UNIT: f64 = (1u64 << 52) as f64;
/// Sums of logarithms, which may be larger, in multiples of this.
const LOG_UNIT: f64 = (1u64 << 40) as f64;

/// What a pass over the people adds up, at some weights.
#[derive(Clone, Debug)]
pub struct Margins {
    people: u64,
    sums: Vec<i128>,
    products: Vec<i128>,
    logs: i128,
    row: Vec<f64>,
}

impl Margins {
    /// Of nobody yet.
    pub fn new(classes: usize) -> Margins {
        Margins {
            people: 0,
            sums: vec![0; classes],
            products: vec![0; classes * classes],
            logs: 0,
            row: vec![0.0; classes],
        }
    }

    /// Adds a person by the scores, before any weight.
    pub fn add(&mut self, scores: &[f64], weights: &[f64]) {
        self.people += 1;
        self.row.iter_mut().zip(scores.iter().zip(weights)).for_each(|(own, (score, weight))| *own = score * weight);
        let sum: f64 = self.row.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            // Somebody for whom no class is left that has a weight keeps the scores.
            self.sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += i128::from((score * UNIT).round() as i64));
            return;
        }
        self.logs += i128::from((sum.ln() * LOG_UNIT).round() as i64);
        let k = self.row.len();
        for a in 0..k {
            let own = self.row[a] / sum;
            self.sums[a] += i128::from((own * UNIT).round() as i64);
            for b in 0..=a {
                self.products[a * k + b] += i128::from((own * (self.row[b] / sum) * UNIT).round() as i64);
            }
        }
    }

    /// Adds those of other people.
    pub fn merge(&mut self, other: &Margins) {
        self.people += other.people;
        self.logs += other.logs;
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, other)| *own += other);
        self.products.iter_mut().zip(&other.products).for_each(|(own, other)| *own += other);
    }

    /// The shares of the classes.
    pub fn shares(&self) -> Vec<f64> {
        let people = self.people.max(1) as f64;
        self.sums.iter().map(|&sum| sum as f64 / UNIT / people).collect()
    }
}

/// How far raking has come after a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum RakingStatus {
    /// The shares hold: the weights at hand are the ones.
    Converged,
    /// Another pass is needed, at new weights.
    Continue,
    /// It will not converge: no weights give these shares, though no single class is to blame. These are the shares reached.
    NotConverged(Vec<f64>),
}

/// Weights on their way.
#[derive(Clone, Debug)]
pub struct Raking {
    targets: Vec<f64>,
    logs: Vec<f64>,
    /// The weights that the next ones are sought from, what they reach, and the way onward.
    base: Vec<f64>,
    reached: f64,
    direction: Vec<f64>,
    stride: f64,
    passes: usize,
}

impl Raking {
    /// Towards shares of the classes.
    pub fn new(shares: &[f64]) -> Result<Raking> {
        let sum: f64 = shares.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) || shares.iter().any(|share| *share < 0.0) {
            return Err(Error::Model {
                problem: "the margin is no list of shares: they must not be negative, nor all 0".into(),
            });
        }
        let k = shares.len();
        Ok(Raking {
            targets: shares.iter().map(|share| share / sum).collect(),
            logs: vec![0.0; k],
            base: vec![0.0; k],
            reached: f64::NEG_INFINITY,
            direction: vec![0.0; k],
            stride: 1.0,
            passes: 0,
        })
    }

    /// The weights at hand; 0 for a class that nobody is to be in.
    pub fn weights(&self) -> Vec<f64> {
        self.targets.iter().zip(&self.logs).map(|(target, log)| if *target > 0.0 { log.exp() } else { 0.0 }).collect()
    }

    /// Passes so far.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Goes on from what a pass at [`Raking::weights`] added up. A class that ought to have people, and that no score allows, is
    /// refused by its name.
    pub fn step(&mut self, margins: &Margins, classes: &[String]) -> Result<RakingStatus> {
        self.passes += 1;
        let shares = margins.shares();
        let open: Vec<usize> = (0..shares.len()).filter(|&class| self.targets[class] > 0.0).collect();
        if let Some(&class) = open.iter().find(|&&class| margins.sums[class] == 0) {
            let (name, share) = (&classes[class], self.targets[class]);
            return Err(Error::Model {
                problem: format!(
                    "nobody can be raked to the margin's {share} of {name:?}: no person has a score for it; leave the class \
                     out of the margin, or use tables that have it"
                ),
            });
        }
        let off = self.targets.iter().zip(&shares).map(|(target, share)| (target - share).abs()).fold(0.0, f64::max);
        if off <= RAKING_TOLERANCE {
            return Ok(RakingStatus::Converged);
        }
        if self.passes >= MOST_PASSES {
            return Ok(RakingStatus::NotConverged(shares));
        }
        let people = margins.people.max(1) as f64;
        let gained: f64 = open.iter().map(|&class| self.targets[class] * self.logs[class]).sum();
        let value = gained - margins.logs as f64 / LOG_UNIT / people;
        // Too long a stride: half of it.
        if value < self.reached - 1e-11 && self.stride > 1e-6 {
            self.stride /= 2.0;
        } else {
            (self.base, self.reached, self.stride) = (self.logs.clone(), value, 1.0);
            let Some(direction) = self.direction(margins, &shares, &open) else {
                return Ok(RakingStatus::NotConverged(shares));
            };
            self.direction = direction;
        }
        for class in 0..self.logs.len() {
            self.logs[class] = self.base[class] + self.stride * self.direction[class];
        }
        // Weights that run away belong to shares that cannot be met.
        if self.logs.iter().any(|log| log.abs() > 300.0) {
            Ok(RakingStatus::NotConverged(shares))
        } else {
            Ok(RakingStatus::Continue)
        }
    }

    /// Newton's direction: the curvature's inverse times what is missing. None where something is missing that no weight changes.
    fn direction(&self, margins: &Margins, shares: &[f64], open: &[usize]) -> Option<Vec<f64>> {
        let (k, n, people) = (shares.len(), open.len(), margins.people.max(1) as f64);
        let product = |a: usize, b: usize| margins.products[a.max(b) * k + a.min(b)] as f64 / UNIT / people;
        let mut matrix = vec![0.0; n * (n + 1)];
        for (i, &a) in open.iter().enumerate() {
            for (j, &b) in open.iter().enumerate() {
                matrix[i * (n + 1) + j] = if a == b { shares[a] } else { 0.0 } - product(a, b);
            }
            matrix[i * (n + 1) + n] = self.targets[a] - shares[a];
        }
        let found = solved(&mut matrix, n)?;
        let mut direction = vec![0.0; k];
        // A stride of more than e^5 in a weight is further than the curvature tells.
        let most = found.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let scale = if most > 5.0 { 5.0 / most } else { 1.0 };
        open.iter().zip(&found).for_each(|(&class, value)| direction[class] = scale * value);
        Some(direction)
    }
}

/// Curvature below this is what rounding leaves of none.
const LEVEL: f64 = 1e-14;

/// Solves n equations of a curvature by elimination, the largest pivot first. Weights matter up to a factor for each set of classes
/// that shares no person with the others, so that there are always directions in which nothing changes: they are not gone
/// where nothing is missing in them, and where something is, there is no solution.
fn solved(matrix: &mut [f64], n: usize) -> Option<Vec<f64>> {
    let width = n + 1;
    let mut left: Vec<usize> = (0..n).collect();
    let mut pivots = Vec::with_capacity(n);
    while let Some(at) = (0..left.len()).max_by(|&a, &b| {
        let own = |at: usize| matrix[left[at] * width + left[at]];
        own(a).total_cmp(&own(b))
    }) {
        let pivot = left[at];
        if matrix[pivot * width + pivot] < LEVEL {
            break;
        }
        left.swap_remove(at);
        pivots.push(pivot);
        for &row in &left {
            let factor = matrix[row * width + pivot] / matrix[pivot * width + pivot];
            (0..width).for_each(|index| matrix[row * width + index] -= factor * matrix[pivot * width + index]);
        }
    }
    if left.iter().any(|row| matrix[row * width + n].abs() > RAKING_TOLERANCE) {
        return None;
    }
    let mut values = vec![0.0; n];
    for (step, &row) in pivots.iter().enumerate().rev() {
        let known: f64 = pivots[step + 1..].iter().map(|&index| matrix[row * width + index] * values[index]).sum();
        values[row] = (matrix[row * width + n] - known) / matrix[row * width + row];
    }
    values.iter().all(|value| value.is_finite()).then_some(values)
}
