//! The shares of the levels in each class and group, separate for each group or partially pooled: their prior, and the
//! step of EM that updates them.
//!
//! Separate groups: the parameters are the shares θ_{y|r,x} themselves. Each class and group has a prior with the weight
//! of one person, a_yr.
//!
//! Partial pooling: θ_{·|r,x} is the softmax of μ_yr + u_yrx over the levels y, with 0 for the first level, and u_yrx ~
//! N(0, σ²_yr). The parameters are μ, then u. Each class has a prior with the weight of a tenth of a person in all
//! groups together, so that μ is finite.

use rayon::prelude::*;

use super::rows::{Row, Rows, Shape, Shares, Sums};
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

/// The prior of the variances of u: as if two more groups had the variance of all classes together, for which two more
/// groups have this variance.
const PRIOR_GROUPS: f64 = 2.0;
pub(super) const PRIOR_VARIANCE: f64 = 0.25;

/// The range of the variances.
const VARIANCES: (f64, f64) = (1e-4, 9.0);

/// With more classes, the covariances between the errors of classes in a group are not computed.
const MOST_WITH_COVARIANCES: usize = 32;

#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) shape: Shape,
    /// Prior shares by level, then class, with the weight of one person.
    pub(super) prior: Vec<f64>,
    /// For partial pooling: the variances σ² by level, then class. Those of the first level are not used.
    pub(super) variances: Option<Vec<f64>>,
    /// The prior means of u by group, level and class, if they are not 0.
    pub(super) centers: Option<Vec<f64>>,
    /// The variances v of the errors of u by group, level and class; empty until they are known.
    pub(super) errors: Vec<f64>,
}

impl Model {
    /// Returns the initial parameters, given the people of each class by group and level.
    pub(super) fn start(&self, sums: &Sums) -> Vec<f64> {
        if self.variances.is_none() {
            return self.separate(sums);
        }
        let logit =
            |(index, share): (usize, &f64)| (share.max(1e-6) / self.prior[index % self.shape.classes].max(1e-6)).ln();
        let mean = self.prior.iter().enumerate().map(logit);
        mean.chain(std::iter::repeat_n(0.0, self.shape.size())).collect()
    }

    /// Returns the shares by group, level and class.
    pub(super) fn shares(&self, parameters: &[f64]) -> Shares {
        if self.variances.is_none() {
            return Shares { values: parameters.to_vec(), influences: Vec::new() };
        }
        let values = self.softmax(parameters);
        let influences = self.influences(&values);
        Shares { values, influences }
    }

    fn softmax(&self, parameters: &[f64]) -> Vec<f64> {
        let (mean, own) = parameters.split_at(self.shape.stride());
        let mut shares: Vec<f64> = own.iter().zip(mean.iter().cycle()).map(|(own, mean)| (own + mean).exp()).collect();
        self.normalize(&mut shares);
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

    /// Returns the parameters of largest density, given the people of each class by group and level; for partial
    /// pooling, after a few steps toward them.
    pub(super) fn next(&self, parameters: &[f64], sums: &Sums) -> Vec<f64> {
        let Some(variances) = &self.variances else { return self.separate(sums) };
        let shape = self.shape;
        let column = |values: &[f64], class: usize| values.iter().skip(class).step_by(shape.classes).copied().collect();
        let columns: Vec<ClassLogits> = (0..shape.classes)
            .into_par_iter()
            .map(|class| {
                let people = sums.people.iter().skip(class).step_by(shape.classes);
                let mut own = ClassLogits {
                    levels: shape.levels,
                    parameters: column(parameters, class),
                    people: people.map(|&own| GRID.total(own)).collect(),
                    prior: column(&self.prior, class),
                    variances: column(variances, class),
                    centers: self.centers.as_deref().map(|centers| column(centers, class)),
                };
                (0..NEWTON_STEPS).for_each(|_| (1..shape.levels).for_each(|level| own.step(level)));
                own
            })
            .collect();
        let at = |index: usize| columns[index % shape.classes].parameters[index / shape.classes];
        (0..parameters.len()).map(at).collect()
    }

    fn separate(&self, sums: &Sums) -> Vec<f64> {
        let (classes, stride) = (self.shape.classes, self.shape.stride());
        let mut shares = vec![0.0; self.shape.size()];
        for (own, people) in shares.chunks_exact_mut(stride).zip(sums.people.chunks_exact(stride)) {
            for class in 0..classes {
                let all: i128 = people.iter().skip(class).step_by(classes).sum();
                let whole = 1.0 + GRID.total(all);
                for index in (class..stride).step_by(classes) {
                    own[index] = (self.prior[index] + GRID.total(people[index])) / whole;
                }
            }
        }
        shares
    }

    /// Moves parameters back into the valid range after an accelerated step.
    pub(super) fn bring_back(&self, parameters: &mut [f64]) {
        if self.variances.is_some() {
            return parameters.iter_mut().for_each(|logit| *logit = logit.clamp(-MOST_LOGIT, MOST_LOGIT));
        }
        parameters.iter_mut().for_each(|share| *share = share.max(LEAST_SHARE));
        self.normalize(parameters);
    }

    /// Divides so that levels sum to one in each class of each group.
    fn normalize(&self, shares: &mut [f64]) {
        let (classes, stride) = (self.shape.classes, self.shape.stride());
        for own in shares.chunks_exact_mut(stride) {
            for class in 0..classes {
                let each = || (class..stride).step_by(classes);
                let sum: f64 = each().map(|index| own[index]).sum();
                each().for_each(|index| own[index] /= sum);
            }
        }
    }

    /// Sets the variances σ² that the parameters imply: Σ_x u² / Σ_x (1 − v/σ²), with v the variance of u in the normal
    /// approximation of its distribution, given the outcomes. Groups without people do not count. Returns the largest
    /// change of a standard deviation.
    pub(super) fn update_variances(&mut self, parameters: &[f64], rows: &Rows<'_>, present: &[bool]) -> Result<f64> {
        let shape = self.shape;
        let Some(variances) = self.variances.take() else { return Ok(0.0) };
        let shares = self.softmax(parameters);
        let own = &parameters[shape.stride()..];
        let (mut implied, mut errors) = (variances.clone(), vec![0.0; shape.size()]);
        for level in 1..shape.levels {
            let information = self.information(level, &shares, rows)?;
            let mut sums = vec![(0.0, 0.0); shape.classes];
            for group in (0..shape.groups).filter(|&group| present[group]) {
                let first = level * shape.classes;
                let left = unexplained(&information[group], &variances[first..][..shape.classes]);
                let first = group * shape.stride() + first;
                for (class, left) in left.into_iter().enumerate() {
                    sums[class].0 += own[first + class].powi(2);
                    sums[class].1 += (1.0 - left).max(0.0);
                    errors[first + class] = left * variances[level * shape.classes + class];
                }
            }
            let pool =
                |prior: f64, squares: f64, freedom: f64| (PRIOR_GROUPS * prior + squares) / (PRIOR_GROUPS + freedom);
            let (squares, freedom) = sums.iter().fold((0.0, 0.0), |(a, b), own| (a + own.0, b + own.1));
            let common = pool(PRIOR_VARIANCE, squares, freedom);
            for (class, (squares, freedom)) in sums.into_iter().enumerate() {
                let variance = pool(common, squares, freedom);
                implied[level * shape.classes + class] = variance.clamp(VARIANCES.0, VARIANCES.1);
            }
        }
        let moved = implied.iter().zip(&variances).map(|(a, b)| (a.sqrt() - b.sqrt()).abs()).fold(0.0, f64::max);
        (self.variances, self.errors) = (Some(implied), errors);
        Ok(moved)
    }

    /// Returns the expected information about the logits of a level, by group: a symmetric matrix of classes, row by
    /// row. It is that of the event that the outcome has this level, whose probability is P = Σ_r q_r θ_r:
    /// d dᵀ / (P (1 − P)) with d_r = q_r θ_r (1 − θ_r).
    fn information(&self, level: usize, shares: &[f64], rows: &Rows<'_>) -> Result<Vec<Vec<f64>>> {
        let (shape, k) = (self.shape, self.shape.classes);
        let size = k * k;
        let add = |(sums, slopes): &mut (Vec<i128>, Vec<f64>), row: &Row<'_>| {
            let group = row.cell / shape.levels;
            let shares = &shares[group * shape.stride() + level * k..][..k];
            let mut sum = 0.0;
            for ((slope, &share), &score) in slopes.iter_mut().zip(shares).zip(row.scores) {
                sum += score * share;
                *slope = score * share * (1.0 - share);
            }
            let scale = 1.0 / (sum * (1.0 - sum)).max(1e-12);
            let sums = &mut sums[group * size..][..size];
            for (a, own) in slopes.iter().enumerate() {
                for (b, other) in slopes.iter().enumerate().skip(a) {
                    if k <= MOST_WITH_COVARIANCES || a == b {
                        sums[a * k + b] += i128::from(GRID.round(own * other * scale)) * i128::from(row.people);
                    }
                }
            }
        };
        let merge = |(mut all, slopes): (Vec<i128>, Vec<f64>), (part, _): (Vec<i128>, Vec<f64>)| {
            all.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
            (all, slopes)
        };
        let (sums, _) = rows.sum(&shape, || (vec![0; shape.groups * size], vec![0.0; k]), add, merge)?;
        let matrix = |own: &[i128]| {
            let at = |index: usize| GRID.total(own[(index / k).min(index % k) * k + (index / k).max(index % k)]);
            (0..size).map(at).collect()
        };
        Ok(sums.chunks_exact(size).map(matrix).collect())
    }
}

/// Returns v / σ² of each class: the diagonal of (I + D)⁻¹ D with the information I and D = diag(1/σ²), by Gaussian
/// elimination. 1 if the group says nothing about the class.
fn unexplained(information: &[f64], variances: &[f64]) -> Vec<f64> {
    let k = variances.len();
    let mut left = information.to_vec();
    (0..k).for_each(|class| left[class * k + class] += 1.0 / variances[class]);
    let mut inverse = vec![0.0; k * k];
    (0..k).for_each(|class| inverse[class * k + class] = 1.0);
    // The matrix is positive definite, so the pivots are positive.
    for pivot in 0..k {
        let scale = 1.0 / left[pivot * k + pivot];
        for column in 0..k {
            left[pivot * k + column] *= scale;
            inverse[pivot * k + column] *= scale;
        }
        for row in (0..k).filter(|&row| row != pivot) {
            let factor = left[row * k + pivot];
            for column in 0..k {
                left[row * k + column] -= factor * left[pivot * k + column];
                inverse[row * k + column] -= factor * inverse[pivot * k + column];
            }
        }
    }
    (0..k).map(|class| inverse[class * k + class] / variances[class]).collect()
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
    fn a_matrix_is_inverted() {
        // (I + D) = [[3, 1], [1, 2]]; its inverse is [[.4, -.2], [-.2, .6]].
        let left = unexplained(&[2.0, 1.0, 1.0, 1.5], &[1.0, 2.0]);
        assert!((left[0] - 0.4).abs() < 1e-12 && (left[1] - 0.3).abs() < 1e-12, "{left:?}");
        assert_eq!(unexplained(&[0.0; 4], &[0.25, 4.0]), [1.0, 1.0]);
    }

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
