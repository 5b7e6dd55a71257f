//! Levels: their shares in each class and group, separate for each group or partially pooled.
//!
//! The parameters are μ by level and class, then one parameter by group, level and class.
//!
//! Separate groups of a class: the parameters are the shares θ_{y|r,x} themselves, and μ is not used. Each group has a
//! prior with the weight of one person, a_yr.
//!
//! Partial pooling of a class: θ_{·|r,x} is the softmax of μ_yr + u_yrx over the levels y, with 0 for the first level, and
//! u_yrx ~ N(0, σ²_yr). The parameters are μ and u. Each class has a prior with the weight of a tenth of a person in all
//! groups together, so that μ is finite.

use rayon::prelude::*;

use super::model::{Likelihood, Model, add_product, information, normalize, pooled_variances, remove_own, unexplained};
use super::rows::{Row, Rows, Shape, Sums};
use crate::error::Result;
use crate::kernel::GRID;

/// The smallest share after an accelerated step.
const LEAST_SHARE: f64 = 1e-12;

/// The largest logit.
const MOST_LOGIT: f64 = 30.0;

/// The weight of the prior of partial pooling, in people.
const PRIOR_PEOPLE: f64 = 0.1;

/// Newton steps for the logits in each step of EM.
const NEWTON_STEPS: usize = 3;

/// The prior and initial value of the variances of u.
const PRIOR_VARIANCE: f64 = 0.25;

/// The range of the variances.
const VARIANCES: (f64, f64) = (1e-4, 9.0);

#[derive(Clone, Debug)]
pub(super) struct Levels {
    shape: Shape,
    /// Prior shares by level, then class, with the weight of one person.
    prior: Vec<f64>,
    /// Whether the groups of a class are partially pooled.
    pooled: Vec<bool>,
    /// The variances σ² by level, then class. Those of the first level and of classes that are not pooled are not used.
    pub(super) variances: Vec<f64>,
    /// The prior means of u by group, level and class, if they are not 0.
    centers: Option<Vec<f64>>,
    /// The variances v of the errors of u by group, level and class; empty until they are known, and 0 for separate
    /// groups.
    errors: Vec<f64>,
}

/// The shares of the levels by group, level and class, and how they update scores.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    pub(super) values: Vec<f64>,
    /// By how much the log of a share depends on the outcome of one person of the class; empty if this is ignored.
    influences: Vec<f64>,
}

impl Likelihood for Shares {
    #[inline]
    fn update(&self, row: &Row<'_>, buffer: &mut [f64]) {
        let scores = row.scores;
        let first = row.cell * scores.len();
        let shares = &self.values[first..][..scores.len()];
        buffer.iter_mut().zip(shares).zip(scores).for_each(|((own, share), score)| *own = share * score.max(0.0));
        normalize(buffer, scores);
        if let Some(influences) = self.influences.get(first..first + scores.len()) {
            remove_own(influences.iter().copied(), row, buffer);
        }
    }
}

impl Levels {
    pub(super) fn new(shape: Shape, unchanged: &Sums, pooled: Vec<bool>) -> Levels {
        let variances = vec![PRIOR_VARIANCE; shape.stride()];
        let prior = prior_of(&shape, unchanged);
        Levels { shape, prior, pooled, variances, centers: None, errors: Vec::new() }
    }

    /// Returns the shares by group, level and class.
    fn shares(&self, parameters: &[f64]) -> Vec<f64> {
        let (mean, own) = parameters.split_at(self.shape.stride());
        if !self.is_pooled() {
            return own.to_vec();
        }
        let stride = self.shape.stride();
        let share = |(index, own): (usize, &f64)| match self.pooled[index % self.shape.classes] {
            true => (own + mean[index % stride]).exp(),
            false => *own,
        };
        let mut shares: Vec<f64> = own.iter().enumerate().map(share).collect();
        self.normalize(&mut shares, true);
        shares
    }

    /// Returns by how much the log of a share depends on the outcome of one person: Σ_y v_y (1{level = y} − θ_y)² over
    /// all levels y but the first.
    fn influences(&self, shares: &[f64]) -> Vec<f64> {
        let Shape { classes, levels, .. } = self.shape;
        let mut influences = vec![0.0; self.errors.len()];
        let stride = self.shape.stride();
        let groups = self.errors.chunks_exact(stride).zip(shares.chunks_exact(stride));
        for ((errors, shares), own) in groups.zip(influences.chunks_exact_mut(stride)) {
            for class in 0..classes {
                let at = |level: usize| level * classes + class;
                let all: f64 = (1..levels).map(|level| errors[at(level)] * shares[at(level)].powi(2)).sum();
                own[at(0)] = all;
                for level in 1..levels {
                    own[at(level)] = all + errors[at(level)] * (1.0 - 2.0 * shares[at(level)]);
                }
            }
        }
        influences
    }

    /// Writes the shares of separate groups of a class.
    fn separate(&self, class: usize, sums: &Sums, shares: &mut [f64]) {
        let (classes, stride) = (self.shape.classes, self.shape.stride());
        for (own, people) in shares.chunks_exact_mut(stride).zip(sums.people.chunks_exact(stride)) {
            let all: i128 = people.iter().skip(class).step_by(classes).sum();
            let whole = 1.0 + GRID.total(all);
            for index in (class..stride).step_by(classes) {
                own[index] = (self.prior[index] + GRID.total(people[index])) / whole;
            }
        }
    }

    /// Divides so that levels sum to one in each group of the classes that are pooled, or of those that are not.
    fn normalize(&self, shares: &mut [f64], pooled: bool) {
        let (classes, stride) = (self.shape.classes, self.shape.stride());
        for own in shares.chunks_exact_mut(stride) {
            for class in (0..classes).filter(|&class| self.pooled[class] == pooled) {
                let each = || (class..stride).step_by(classes);
                let sum: f64 = each().map(|index| own[index]).sum();
                each().for_each(|index| own[index] /= sum);
            }
        }
    }
}

impl Model for Levels {
    type Own = Shares;

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn start(&self, unchanged: &Sums) -> Vec<f64> {
        let (classes, stride) = (self.shape.classes, self.shape.stride());
        let mut parameters = vec![0.0; stride + self.shape.size()];
        let (mean, own) = parameters.split_at_mut(stride);
        for class in 0..classes {
            if !self.pooled[class] {
                self.separate(class, unchanged, own);
                continue;
            }
            for index in (class..stride).step_by(classes) {
                mean[index] = (self.prior[index].max(1e-6) / self.prior[class].max(1e-6)).ln();
            }
        }
        parameters
    }

    fn likelihood(&self, parameters: &[f64]) -> Shares {
        let values = self.shares(parameters);
        let influences = self.influences(&values);
        Shares { values, influences }
    }

    fn values(&self, parameters: &[f64]) -> Vec<f64> {
        self.shares(parameters)
    }

    /// Returns the parameters of largest density; for partial pooling, after a few steps toward them.
    fn next(&self, parameters: &[f64], sums: &Sums) -> Vec<f64> {
        let shape = self.shape;
        let column = |values: &[f64], class: usize| values.iter().skip(class).step_by(shape.classes).copied().collect();
        let columns: Vec<Option<ClassLogits>> = (0..shape.classes)
            .into_par_iter()
            .map(|class| {
                let people = sums.people.iter().skip(class).step_by(shape.classes);
                let mut own = self.pooled[class].then(|| ClassLogits {
                    levels: shape.levels,
                    parameters: column(parameters, class),
                    people: people.map(|&own| GRID.total(own)).collect(),
                    prior: column(&self.prior, class),
                    variances: column(&self.variances, class),
                    centers: self.centers.as_deref().map(|centers| column(centers, class)),
                })?;
                (0..NEWTON_STEPS).for_each(|_| (1..shape.levels).for_each(|level| own.step(level)));
                Some(own)
            })
            .collect();
        let mut next = vec![0.0; parameters.len()];
        for (class, column) in columns.into_iter().enumerate() {
            match column {
                Some(column) => {
                    let own = next.iter_mut().skip(class).step_by(shape.classes);
                    own.zip(column.parameters).for_each(|(next, own)| *next = own);
                }
                None => self.separate(class, sums, &mut next[shape.stride()..]),
            }
        }
        next
    }

    fn bring_back(&self, parameters: &mut [f64]) {
        let (mean, own) = parameters.split_at_mut(self.shape.stride());
        mean.iter_mut().for_each(|logit| *logit = logit.clamp(-MOST_LOGIT, MOST_LOGIT));
        for (index, own) in own.iter_mut().enumerate() {
            *own = match self.pooled[index % self.shape.classes] {
                true => own.clamp(-MOST_LOGIT, MOST_LOGIT),
                false => own.max(LEAST_SHARE),
            };
        }
        self.normalize(own, false);
    }

    fn is_pooled(&self) -> bool {
        self.pooled.contains(&true)
    }

    fn update_variances(&mut self, parameters: &[f64], rows: &Rows<'_>, present: &[bool]) -> Result<f64> {
        let shape = self.shape;
        let shares = self.shares(parameters);
        let own = &parameters[shape.stride()..];
        let (mut implied, mut errors) = (self.variances.clone(), vec![0.0; shape.size()]);
        for level in 1..shape.levels {
            let information = self.information(level, &shares, rows)?;
            let variances = self.variances.iter().enumerate().skip(level * shape.classes).take(shape.classes);
            // A separate group has a wide prior.
            let variances =
                variances.map(|(index, own)| if self.pooled[index % shape.classes] { *own } else { VARIANCES.1 });
            let variances: Vec<f64> = variances.collect();
            let mut sums = vec![(0.0, 0.0); shape.classes];
            for group in (0..shape.groups).filter(|&group| present[group]) {
                let left = unexplained(&information[group], &variances);
                let first = group * shape.stride() + level * shape.classes;
                for (class, left) in left.into_iter().enumerate().filter(|(class, _)| self.pooled[*class]) {
                    sums[class].0 += own[first + class].powi(2);
                    sums[class].1 += (1.0 - left).max(0.0);
                    errors[first + class] = left * variances[class];
                }
            }
            for (class, variance) in pooled_variances(&sums, PRIOR_VARIANCE).into_iter().enumerate() {
                implied[level * shape.classes + class] = variance.clamp(VARIANCES.0, VARIANCES.1);
            }
        }
        let pairs = implied.iter().zip(&self.variances).enumerate();
        let pooled = pairs.filter(|(index, _)| self.pooled[index % shape.classes]);
        let moved = pooled.map(|(_, (a, b))| (a.sqrt() - b.sqrt()).abs()).fold(0.0, f64::max);
        (self.variances, self.errors) = (implied, errors);
        Ok(moved)
    }

    fn resampled(&self, unchanged: &Sums, normal: &dyn Fn(usize) -> f64) -> Levels {
        let stride = self.shape.stride();
        let center = |index: usize| self.variances[index % stride].sqrt() * normal(index);
        let centers = self.is_pooled().then(|| (0..self.shape.size()).map(center).collect());
        Levels { prior: prior_of(&self.shape, unchanged), centers, ..self.clone() }
    }

    fn estimates(&self, all: &[i128]) -> Vec<f64> {
        self.shape.shares_of(all)
    }
}

impl Levels {
    /// Returns the expected information about the logits of a level, by group. It is that of the event that the outcome
    /// has this level, whose probability is P = Σ_r q_r θ_r: d dᵀ / (P (1 − P)) with d_r = q_r θ_r (1 − θ_r).
    fn information(&self, level: usize, shares: &[f64], rows: &Rows<'_>) -> Result<Vec<Vec<f64>>> {
        let (shape, k) = (self.shape, self.shape.classes);
        information(&shape, rows, |row, matrix| {
            let group = row.cell / shape.levels;
            let shares = &shares[group * shape.stride() + level * k..][..k];
            let slope = |(&share, &score): (&f64, &f64)| score * share * (1.0 - share);
            let sum: f64 = shares.iter().zip(row.scores).map(|(share, score)| score * share).sum();
            let slopes: Vec<f64> = shares.iter().zip(row.scores).map(slope).collect();
            add_product(&slopes, 1.0 / (sum * (1.0 - sum)).max(1e-12), matrix);
        })
    }
}

/// Returns the weighted estimate from the sums of unchanged scores; uniform for a class without people.
fn prior_of(shape: &Shape, unchanged: &Sums) -> Vec<f64> {
    let shares = shape.shares_of(&shape.overall(&unchanged.people));
    shares.into_iter().map(|share| if share.is_finite() { share } else { 1.0 / shape.levels as f64 }).collect()
}

/// The logits of one class, with the people and priors that determine them.
struct ClassLogits {
    levels: usize,
    /// μ by level, then u by group and level.
    parameters: Vec<f64>,
    /// People by group and level.
    people: Vec<f64>,
    prior: Vec<f64>,
    variances: Vec<f64>,
    /// The prior means of u by group and level, if they are not 0.
    centers: Option<Vec<f64>>,
}

impl ClassLogits {
    /// Makes a Newton step for μ and all u of a level together, given the other levels.
    fn step(&mut self, level: usize) {
        let precision = 1.0 / self.variances[level];
        let (mean, own) = self.parameters.split_at_mut(self.levels);
        // The prior is about the mean of all groups.
        let share = share_of(mean, &vec![0.0; self.levels], level);
        let (mut top, mut bottom) = (PRIOR_PEOPLE * (self.prior[level] - share), PRIOR_PEOPLE * share * (1.0 - share));
        let center = |group: usize| self.centers.as_ref().map_or(0.0, |centers| centers[group * self.levels + level]);
        let slopes: Vec<(f64, f64)> = own
            .chunks_exact(self.levels)
            .zip(self.people.chunks_exact(self.levels))
            .enumerate()
            .map(|(group, (own, people))| {
                let (share, all) = (share_of(mean, own, level), people.iter().sum::<f64>());
                let (slope, curvature) = (people[level] - all * share, all * share * (1.0 - share));
                let pull = slope - (own[level] - center(group)) * precision;
                top += slope - curvature * pull / (curvature + precision);
                bottom += curvature * precision / (curvature + precision);
                (pull, curvature)
            })
            .collect();
        let shift = (top / bottom.max(1e-12)).clamp(-1.0, 1.0);
        mean[level] = (mean[level] + shift).clamp(-MOST_LOGIT, MOST_LOGIT);
        for (own, (pull, curvature)) in own.chunks_exact_mut(self.levels).zip(slopes) {
            own[level] += ((pull - curvature * shift) / (curvature + precision)).clamp(-1.0, 1.0);
        }
    }
}

/// Returns the share of a level: the softmax of the sum of two lists of logits.
fn share_of(mean: &[f64], own: &[f64], level: usize) -> f64 {
    let sum: f64 = mean.iter().zip(own).map(|(mean, own)| (mean + own).exp()).sum();
    (mean[level] + own[level]).exp() / sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newton_finds_the_largest_density() {
        // Two levels, three groups: the density is compared with that of nearby parameters.
        let mut own = ClassLogits {
            levels: 2,
            parameters: vec![0.0; 8],
            people: vec![3.0, 7.0, 40.0, 2.0, 0.0, 1.0],
            prior: vec![0.4, 0.6],
            variances: vec![1.0, 0.5],
            centers: None,
        };
        (0..100).for_each(|_| own.step(1));
        let density = |parameters: &[f64]| {
            let share = |logit: f64, level: usize| if level == 1 { logit.exp() } else { 1.0 } / (1.0 + logit.exp());
            let mean = parameters[1];
            let mut sum = 0.04 * share(mean, 0).ln() + 0.06 * share(mean, 1).ln();
            for group in 0..3 {
                let u = parameters[2 + 2 * group + 1];
                let people = &own.people[2 * group..];
                sum += people[0] * share(mean + u, 0).ln() + people[1] * share(mean + u, 1).ln() - u * u;
            }
            sum
        };
        let best = density(&own.parameters);
        for index in [1, 3, 5, 7] {
            for away in [-1e-3, 1e-3] {
                let mut near = own.parameters.clone();
                near[index] += away;
                assert!(density(&near) < best, "{index} {away}");
            }
        }
    }
}
