//! Numbers: a normal distribution in each class, whose mean differs between groups.
//!
//! Within class r and group x, the standardized number z is N(m_r + u_rx, s²_r). The parameters are ln s²_r by class, m_r by
//! class, then u by group and class.
//!
//! Separate groups of a class: m_r is the prior mean, and each group has a prior with the weight of a tenth of a
//! person at it.
//! Partial pooling of a class: u_rx ~ N(0, σ²_r), and m_r is estimated, with a prior of a tenth of a person. Both are the
//! same formula: the prior of a group has the weight of κ people, with κ = 0.1 or κ = s²_r / σ²_r.
//!
//! s²_r has a prior with the weight of a tenth of a person and the variance of the weighted estimate, so that it cannot become 0.
//! The variances of the u are part of it: otherwise it would be too small if groups have few people.

use super::model::{Likelihood, Model, add_product, information, normalize, pooled_variances, remove_own, unexplained};
use super::rows::{MOMENTS, Row, Rows, Shape, Sums};
use crate::error::Result;
use crate::kernel::GRID;

/// The weight of the priors of means and variances, in people. One person would bias classes that the scores hardly identify.
const PRIOR_PEOPLE: f64 = 0.1;

/// The prior and initial value of the variances of u. All numbers together have variance 1.
const PRIOR_VARIANCE: f64 = 1.0 / 16.0;

/// The range of the variances of u, and of those within a class.
const VARIANCES: (f64, f64) = (1e-6, 1e6);

/// The largest number of nodes of the integrals over numbers.
const MOST_NODES: f64 = 400.0;

/// The largest distance of a mean from 0.
const MOST: f64 = 1e6;

#[derive(Clone, Debug)]
pub(super) struct Numbers {
    shape: Shape,
    /// The prior mean and variance of each class.
    means: Vec<f64>,
    spreads: Vec<f64>,
    /// Whether the groups of a class are partially pooled.
    pooled: Vec<bool>,
    /// The variances σ² between groups by class; not used for classes that are not pooled.
    pub(super) variances: Vec<f64>,
    /// The prior means of u by group and class, if they are not 0.
    centers: Option<Vec<f64>>,
    /// The variances v of the errors of u by group and class; empty until they are known, and 0 for separate groups.
    errors: Vec<f64>,
}

/// A normal distribution by group and class.
#[derive(Clone, Debug)]
pub(super) struct Normals {
    /// The mean by group and class.
    pub(super) means: Vec<f64>,
    /// The variance by class.
    pub(super) variances: Vec<f64>,
    /// The logs of the standard deviations, by class.
    logs: Vec<f64>,
    /// The variances of the errors of the means by group and class; empty if they are ignored.
    errors: Vec<f64>,
}

impl Likelihood for Normals {
    #[inline]
    fn update(&self, row: &Row<'_>, buffer: &mut [f64]) {
        let k = row.scores.len();
        let first = row.cell / MOMENTS * k;
        let means = &self.means[first..][..k];
        let mut best = f64::NEG_INFINITY;
        let normals = means.iter().zip(&self.variances).zip(&self.logs);
        for ((own, ((mean, variance), log)), &score) in buffer.iter_mut().zip(normals).zip(row.scores) {
            *own = -0.5 * (row.value - mean).powi(2) / variance - log;
            if score > 0.0 {
                best = best.max(*own);
            }
        }
        for (own, &score) in buffer.iter_mut().zip(row.scores) {
            *own = if score > 0.0 { score * (*own - best).exp() } else { 0.0 };
        }
        normalize(buffer, row.scores);
        if let Some(errors) = self.errors.get(first..first + k) {
            let influence =
                |((error, mean), variance): ((&f64, &f64), &f64)| error * ((row.value - mean) / variance).powi(2);
            remove_own(errors.iter().zip(means).zip(&self.variances).map(influence), row, buffer);
        }
    }
}

impl Numbers {
    pub(super) fn new(shape: Shape, unchanged: &Sums, pooled: Vec<bool>) -> Numbers {
        let (means, spreads) = prior_of(&shape, unchanged);
        let variances = vec![PRIOR_VARIANCE; shape.classes];
        Numbers { shape, means, spreads, pooled, variances, centers: None, errors: Vec::new() }
    }

    /// Returns the next parameters of a class: ln s², m, and u by group.
    fn class(&self, class: usize, parameters: &[f64], sums: &Sums) -> Vec<f64> {
        let k = self.shape.classes;
        let spread = parameters[class].exp();
        let weight = if self.pooled[class] { spread / self.variances[class] } else { PRIOR_PEOPLE };
        let center = |group: usize| self.centers.as_ref().map_or(0.0, |centers| centers[group * k + class]);
        let moments = |group: usize| {
            let first = group * self.shape.stride() + class;
            [0, 1, 2].map(|moment| GRID.total(sums.people[first + moment * k]))
        };
        let mut mean = self.means[class];
        if self.pooled[class] {
            let (mut top, mut bottom) = (PRIOR_PEOPLE * mean, PRIOR_PEOPLE);
            for group in 0..self.shape.groups {
                let [people, sum, _] = moments(group);
                let share = weight / (people + weight);
                top += (sum - people * center(group)) * share;
                bottom += people * share;
            }
            mean = top / bottom;
        }
        let mut next = vec![0.0, mean];
        let (mut squares, mut all) = (PRIOR_PEOPLE * self.spreads[class], PRIOR_PEOPLE);
        for group in 0..self.shape.groups {
            let [people, sum, square] = moments(group);
            let own = (sum - people * mean + weight * center(group)) / (people + weight);
            let level = mean + own;
            squares += (square - 2.0 * level * sum + level * level * people).max(0.0);
            squares += people * spread / (people + weight);
            all += people;
            next.push(own);
        }
        next[0] = (squares / all).clamp(VARIANCES.0, VARIANCES.1).ln();
        next
    }

    /// Returns the mean by group and class.
    fn means(&self, parameters: &[f64]) -> Vec<f64> {
        let k = self.shape.classes;
        let own = parameters[2 * k..].iter().enumerate();
        own.map(|(index, own)| parameters[k + index % k] + own).collect()
    }
}

impl Model for Numbers {
    type Own = Normals;

    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn start(&self, _: &Sums) -> Vec<f64> {
        let logs = self.spreads.iter().map(|spread| spread.ln());
        let own = std::iter::repeat_n(0.0, self.shape.groups * self.shape.classes);
        logs.chain(self.means.iter().copied()).chain(own).collect()
    }

    fn likelihood(&self, parameters: &[f64]) -> Normals {
        let logs = &parameters[..self.shape.classes];
        Normals {
            means: self.means(parameters),
            variances: logs.iter().map(|log| log.exp()).collect(),
            logs: logs.iter().map(|log| 0.5 * log).collect(),
            errors: self.errors.clone(),
        }
    }

    fn values(&self, parameters: &[f64]) -> Vec<f64> {
        let logs = &parameters[..self.shape.classes];
        logs.iter().map(|log| (0.5 * log).exp()).chain(self.means(parameters)).collect()
    }

    fn next(&self, parameters: &[f64], sums: &Sums) -> Vec<f64> {
        let k = self.shape.classes;
        let mut next = vec![0.0; parameters.len()];
        for class in 0..k {
            let own = self.class(class, parameters, sums);
            next.iter_mut().skip(class).step_by(k).zip(own).for_each(|(next, own)| *next = own);
        }
        next
    }

    fn bring_back(&self, parameters: &mut [f64]) {
        let (logs, means) = parameters.split_at_mut(self.shape.classes);
        logs.iter_mut().for_each(|log| *log = log.clamp(VARIANCES.0.ln(), VARIANCES.1.ln()));
        means.iter_mut().for_each(|mean| *mean = mean.clamp(-MOST, MOST));
    }

    fn is_pooled(&self) -> bool {
        self.pooled.contains(&true)
    }

    fn update_variances(&mut self, parameters: &[f64], rows: &Rows<'_>, present: &[bool]) -> Result<f64> {
        let k = self.shape.classes;
        let information = self.information(parameters, rows)?;
        // A separate group has a prior with the weight of a tenth of a person.
        let separate = |class: usize| parameters[class].exp() / PRIOR_PEOPLE;
        let prior = |class: usize| if self.pooled[class] { self.variances[class] } else { separate(class) };
        let prior: Vec<f64> = (0..k).map(prior).collect();
        let (mut sums, mut errors) = (vec![(0.0, 0.0); k], vec![0.0; self.shape.groups * k]);
        for group in (0..self.shape.groups).filter(|&group| present[group]) {
            let left = unexplained(&information[group], &prior);
            for (class, left) in left.into_iter().enumerate().filter(|(class, _)| self.pooled[*class]) {
                sums[class].0 += parameters[(2 + group) * k + class].powi(2);
                sums[class].1 += (1.0 - left).max(0.0);
                errors[group * k + class] = left * prior[class];
            }
        }
        let mut moved = 0.0f64;
        for (class, variance) in pooled_variances(&sums, PRIOR_VARIANCE).into_iter().enumerate() {
            if self.pooled[class] {
                let variance = variance.clamp(VARIANCES.0, VARIANCES.1);
                moved = moved.max((variance.sqrt() - self.variances[class].sqrt()).abs());
                self.variances[class] = variance;
            }
        }
        self.errors = errors;
        Ok(moved)
    }

    fn resampled(&self, unchanged: &Sums, normal: &dyn Fn(usize) -> f64) -> Numbers {
        let (means, spreads) = prior_of(&self.shape, unchanged);
        let k = self.shape.classes;
        let center =
            |index: usize| if self.pooled[index % k] { self.variances[index % k].sqrt() * normal(index) } else { 0.0 };
        let centers = self.is_pooled().then(|| (0..self.shape.groups * k).map(center).collect());
        Numbers { means, spreads, centers, ..self.clone() }
    }

    fn estimates(&self, all: &[i128]) -> Vec<f64> {
        let (people, sums) = all.split_at(self.shape.classes);
        people.iter().zip(sums).map(|(&people, &sum)| sum as f64 / people as f64).collect()
    }
}

impl Numbers {
    /// Returns the expected information about the means of the classes, by group: for each person, the integral of d dᵀ / f
    /// over the numbers z, with d_r = q_r φ_r(z) (z − m_r) / s²_r and f = Σ_r q_r φ_r(z). The means are those over all groups.
    fn information(&self, parameters: &[f64], rows: &Rows<'_>) -> Result<Vec<Vec<f64>>> {
        let k = self.shape.classes;
        let (logs, means) = (&parameters[..k], &parameters[k..2 * k]);
        let deviations: Vec<f64> = logs.iter().map(|log| (0.5 * log).exp()).collect();
        let ends =
            means.iter().zip(&deviations).map(|(mean, deviation)| (mean - 5.0 * deviation, mean + 5.0 * deviation));
        let (low, high) = ends.fold((f64::MAX, f64::MIN), |all, own| (all.0.min(own.0), all.1.max(own.1)));
        let narrowest = deviations.iter().copied().fold(f64::MAX, f64::min);
        let nodes = ((high - low) / narrowest).clamp(16.0, MOST_NODES).ceil();
        let step = (high - low) / nodes;
        // The densities and slopes of the classes at the nodes.
        let mut table = Vec::with_capacity(nodes as usize * k);
        for node in 0..nodes as usize {
            let z = low + (node as f64 + 0.5) * step;
            for (mean, deviation) in means.iter().zip(&deviations) {
                let away = (z - mean) / deviation;
                let density = (-0.5 * away * away).exp() / (deviation * std::f64::consts::TAU.sqrt());
                table.push((density, density * away / deviation));
            }
        }
        information(&self.shape, rows, |row, matrix| {
            let mut slopes = vec![0.0; k];
            for node in table.chunks_exact(k) {
                let mut sum = 0.0;
                for ((slope, (density, own)), score) in slopes.iter_mut().zip(node).zip(row.scores) {
                    sum += score * density;
                    *slope = score * own;
                }
                if sum > 1e-200 {
                    add_product(&slopes, step / sum, matrix);
                }
            }
        })
    }
}

/// Returns the mean and variance of each class by the weighted estimate; those of everyone (0 and 1) without people.
fn prior_of(shape: &Shape, unchanged: &Sums) -> (Vec<f64>, Vec<f64>) {
    let all: Vec<f64> = shape.overall(&unchanged.people).into_iter().map(|sum| GRID.total(sum)).collect();
    let moments = |class: usize| {
        let [people, sum, squares] = [0, 1, 2].map(|moment| all[moment * shape.classes + class]);
        if people > 0.0 { (sum / people, (squares / people - (sum / people).powi(2)).max(1e-6)) } else { (0.0, 1.0) }
    };
    (0..shape.classes).map(moments).unzip()
}
