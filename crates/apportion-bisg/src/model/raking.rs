//! Raking: adjusts scores to known overall shares of the classes (Greengard and Gelman).
//!
//! With scores M and target shares b, iterative proportional fitting alternates between people and classes until both
//! sums hold. The result has the form q(r) ∝ M(r) · w_r, so only one weight per class is unknown:
//!
//! ```text
//! Σ_i M_ir w_r / Σ_k M_ik w_k = b_r      for each class r
//! ```
//!
//! These are the optimality conditions of a concave problem in log w, which Newton's method solves in a few passes
//! over the people: each pass accumulates sums at the current weights ([`Margins`]), and [`Raking::step`] computes
//! the next weights. Sums are integers, so the result does not depend on the order of the people.

use crate::error::{Error, Result};

/// Convergence tolerance of the shares.
pub const RAKING_TOLERANCE: f64 = 1e-10;
/// Maximum number of passes.
const MOST_PASSES: usize = 60;
/// Unit of the integer sums.
const UNIT: f64 = (1u64 << 52) as f64;
/// Unit of the sums of logarithms, which can be larger.
const LOG_UNIT: f64 = (1u64 << 40) as f64;

/// Sums over the people at given weights.
#[derive(Clone, Debug)]
pub struct Margins {
    people: u64,
    sums: Vec<i128>,
    products: Vec<i128>,
    logs: i128,
    row: Vec<f64>,
}

impl Margins {
    /// Creates empty sums.
    pub fn new(classes: usize) -> Margins {
        Margins {
            people: 0,
            sums: vec![0; classes],
            products: vec![0; classes * classes],
            logs: 0,
            row: vec![0.0; classes],
        }
    }

    /// Adds a person, given the scores before weighting.
    pub fn add(&mut self, scores: &[f64], weights: &[f64]) {
        self.people += 1;
        self.row.iter_mut().zip(scores.iter().zip(weights)).for_each(|(own, (score, weight))| *own = score * weight);
        let sum: f64 = self.row.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) {
            // A person without any class of positive weight keeps the scores.
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

    /// Adds the sums of other people.
    pub fn merge(&mut self, other: &Margins) {
        self.people += other.people;
        self.logs += other.logs;
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, other)| *own += other);
        self.products.iter_mut().zip(&other.products).for_each(|(own, other)| *own += other);
    }

    /// Returns the shares of the classes.
    pub fn shares(&self) -> Vec<f64> {
        let people = self.people.max(1) as f64;
        self.sums.iter().map(|&sum| sum as f64 / UNIT / people).collect()
    }
}

/// The state of raking after a pass.
#[derive(Clone, Debug, PartialEq)]
pub enum RakingStatus {
    /// The current weights meet the target shares.
    Converged,
    /// Another pass at new weights is needed.
    Continue,
    /// No convergence: no weights give these shares, although no single class is the cause. Holds the shares
    /// reached.
    NotConverged(Vec<f64>),
}

/// The iteration for the weights.
#[derive(Clone, Debug)]
pub struct Raking {
    targets: Vec<f64>,
    logs: Vec<f64>,
    /// Base point of the line search, its objective value, and the search direction.
    base: Vec<f64>,
    reached: f64,
    direction: Vec<f64>,
    stride: f64,
    passes: usize,
}

impl Raking {
    /// Starts with target shares of the classes.
    pub fn new(shares: &[f64]) -> Result<Raking> {
        let sum: f64 = shares.iter().sum();
        if !(sum > 0.0 && sum.is_finite()) || shares.iter().any(|share| *share < 0.0) {
            return Err(Error::Model { problem: "invalid margin: shares must not be negative or all 0".into() });
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

    /// Returns the current weights; 0 for a class with target 0.
    pub fn weights(&self) -> Vec<f64> {
        self.targets.iter().zip(&self.logs).map(|(target, log)| if *target > 0.0 { log.exp() } else { 0.0 }).collect()
    }

    /// Returns the number of passes so far.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Updates the weights from the sums of a pass at [`Raking::weights`].
    ///
    /// # Errors
    /// If a class has a positive target but no person has a score for it.
    pub fn step(&mut self, margins: &Margins, classes: &[String]) -> Result<RakingStatus> {
        self.passes += 1;
        let shares = margins.shares();
        let open: Vec<usize> = (0..shares.len()).filter(|&class| self.targets[class] > 0.0).collect();
        if let Some(&class) = open.iter().find(|&&class| margins.sums[class] == 0) {
            let (name, share) = (&classes[class], self.targets[class]);
            return Err(Error::Model {
                problem: format!(
                    "the margin has a share of {share} for {name:?}, but no one has a score for it; leave the class \
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
        // The step was too long: halve it.
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
        // Diverging weights mean that the shares cannot be met.
        if self.logs.iter().any(|log| log.abs() > 300.0) {
            Ok(RakingStatus::NotConverged(shares))
        } else {
            Ok(RakingStatus::Continue)
        }
    }

    /// Returns Newton's direction, or `None` if the residual has a component that no weight can change.
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
        // Limits a step to a factor of e^5 per weight, beyond which the quadratic model is not reliable.
        let most = found.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let scale = if most > 5.0 { 5.0 / most } else { 1.0 };
        open.iter().zip(&found).for_each(|(&class, value)| direction[class] = scale * value);
        Some(direction)
    }
}

/// Pivots below this are rounding errors of zero.
const LEVEL: f64 = 1e-14;

/// Solves n equations by elimination with diagonal pivoting. The matrix is singular: weights are determined up to a
/// factor for each set of classes that shares no person with the others. Such directions are skipped; if the residual
/// is not zero in one, there is no solution.
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
