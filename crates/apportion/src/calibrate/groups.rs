//! Group intercepts of the logistic calibration, which shrink to zero in small groups.
//!
//! The scores of a group g become softmax(W x + b + u_g), with W and b of the overall fit and u_g ~ N(0, σ²) for each
//! class. The intercepts of a group maximize its likelihood times this prior:
//!
//! ```text
//! maximize  Σ_i log p_i[truth of i] − ½ Σ u² / σ².
//! ```
//!
//! The standard deviation σ is the same for all groups and classes and maximizes the marginal likelihood, by Laplace's
//! approximation (empirical Bayes). If groups do not differ by more than chance explains, it is zero. Adding a constant
//! to all intercepts of a group does not change its scores, so their sum is zero. Groups of fewer than 5 people with known
//! truth have no intercepts, because a saved calibration would show the classes of these people.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::Fold;
use super::logistic::{log_score, softmax, solve};
use super::sample::Sample;
use crate::kernel::GRID;
use crate::learn::dot;

/// The standard deviations that are compared first, each twice the one before.
const SMALLEST: f64 = 0.01;
const DOUBLINGS: i32 = 9;

/// Further comparisons near the best one, each with steps that are a quarter of those before.
const REFINEMENTS: i32 = 3;

/// Smaller groups have no intercepts: those of one person would show the person's class.
const FEWEST_PEOPLE: f64 = 5.0;

const MOST_STEPS: usize = 100;
const MOST_HALVINGS: usize = 40;

/// Intercepts of groups, in addition to those of all rows.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct GroupIntercepts {
    /// The columns that define the groups; empty if they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The estimated standard deviation of the intercepts; 0 if groups do not differ by more than chance explains.
    pub deviation: f64,
    /// For each group of at least 5 people with known truth, what is added to the intercept of each class. Other groups
    /// have no addition.
    pub intercepts: BTreeMap<String, Vec<f64>>,
}

impl GroupIntercepts {
    /// Rounds all numbers to multiples of 2^-40, so that they are saved and read without a change.
    pub(super) fn rounded(mut self) -> GroupIntercepts {
        let round = |value: &mut f64| *value = GRID.value(GRID.round(*value));
        round(&mut self.deviation);
        self.intercepts.values_mut().flatten().for_each(round);
        self
    }
}

/// The people of a group with known truth.
struct Group {
    /// W x + b of each row.
    logits: Vec<f64>,
    /// The number of people by true class, row by row.
    people: Vec<f64>,
}

/// The intercepts of a group, and the logarithm of its marginal likelihood.
struct Fit {
    intercepts: Vec<f64>,
    likelihood: f64,
}

/// Fits the intercepts of the groups outside a fold; `names` are the names of all groups, and the weights and
/// intercepts those of the overall fit.
pub(super) fn fit(
    sample: &Sample,
    without: Option<Fold>,
    names: &[String],
    weights: &[Vec<f64>],
    intercepts: &[f64],
) -> GroupIntercepts {
    let k = intercepts.len();
    let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
    for (group, rows) in sample.by_group(without) {
        let mut own = Group { logits: Vec::new(), people: Vec::new() };
        for (row, people) in rows {
            let logs: Vec<f64> = sample.row(row).iter().map(|&units| log_score(GRID.value(units))).collect();
            own.logits.extend(weights.iter().zip(intercepts).map(|(plane, intercept)| dot(plane, &logs) + intercept));
            own.people.extend(people.iter().map(|&count| count as f64));
        }
        if own.people.iter().sum::<f64>() >= FEWEST_PEOPLE {
            groups.insert(&names[group as usize], own);
        }
    }
    // In the order of the names, so that sums do not depend on the order of the rows.
    let all: Vec<&Group> = groups.values().collect();
    let mut best = (0.0, fit_all(&all, k, 0.0));
    let mut compare = |deviations: Vec<f64>| {
        for deviation in deviations {
            let found = fit_all(&all, k, deviation);
            if found.1 > best.1.1 {
                best = (deviation, found);
            }
        }
        best.0
    };
    let mut center = compare((0..=DOUBLINGS).map(|step| SMALLEST * 2f64.powi(step)).collect());
    if center > 0.0 {
        for refinement in 1..=REFINEMENTS {
            let ratio = 2f64.powf(0.25f64.powi(refinement));
            center = compare((-3..=3).filter(|&step| step != 0).map(|step| center * ratio.powi(step)).collect());
        }
    }
    let (deviation, (fitted, _)) = best;
    let intercepts = groups.keys().zip(fitted).map(|(name, own)| ((*name).to_owned(), own)).collect();
    GroupIntercepts { columns: Vec::new(), deviation, intercepts }
}

/// Fits all groups with a standard deviation, and returns the sum of the logarithms of their likelihoods.
fn fit_all(groups: &[&Group], k: usize, deviation: f64) -> (Vec<Vec<f64>>, f64) {
    let fits: Vec<Fit> = groups.par_iter().map(|group| group.fit(k, deviation)).collect();
    let likelihood = fits.iter().map(|fit| fit.likelihood).sum();
    (fits.into_iter().map(|fit| fit.intercepts).collect(), likelihood)
}

/// The objective of a group at a point.
struct Evaluated {
    /// Minus the logarithm of likelihood times prior.
    value: f64,
    gradient: Vec<f64>,
    /// The Hessian of minus the log likelihood.
    information: Vec<f64>,
}

impl Group {
    /// Fits the intercepts by Newton's method.
    fn fit(&self, k: usize, deviation: f64) -> Fit {
        let mut point = vec![0.0; k];
        let mut at = self.evaluate(&point, deviation);
        if deviation == 0.0 {
            return Fit { intercepts: point, likelihood: -at.value };
        }
        let precision = deviation.powi(-2);
        for _ in 0..MOST_STEPS {
            let mut hessian = at.information.clone();
            (0..k).for_each(|class| hessian[class * (k + 1)] += precision);
            let mut step: Vec<f64> = at.gradient.iter().map(|slope| -slope).collect();
            solve(&mut hessian, &mut step);
            let slope = dot(&at.gradient, &step);
            let moved =
                |length: f64| -> Vec<f64> { point.iter().zip(&step).map(|(at, step)| at + length * step).collect() };
            // The value is then precise to fewer digits than the step would change.
            if -slope <= 1e-13 * at.value.max(1.0) {
                point = moved(1.0);
                at = self.evaluate(&point, deviation);
                break;
            }
            let lengths = (0..MOST_HALVINGS).map(|halvings| 0.5f64.powi(halvings as i32));
            let lower = lengths.map(|length| (length, moved(length))).find_map(|(length, next)| {
                let found = self.evaluate(&next, deviation);
                (found.value <= at.value + 1e-4 * length * slope).then_some((next, found))
            });
            let Some(found) = lower else { break };
            (point, at) = found;
        }
        let mean = point.iter().sum::<f64>() / k as f64;
        point.iter_mut().for_each(|own| *own -= mean);
        let mut matrix: Vec<f64> = at.information.iter().map(|own| own * deviation * deviation).collect();
        (0..k).for_each(|class| matrix[class * (k + 1)] += 1.0);
        // The decomposition leaves the root of each pivot on the diagonal.
        solve(&mut matrix, &mut vec![0.0; k]);
        let half_log_determinant: f64 = (0..k).map(|class| matrix[class * (k + 1)].ln()).sum();
        Fit { intercepts: point, likelihood: -at.value - half_log_determinant }
    }

    fn evaluate(&self, point: &[f64], deviation: f64) -> Evaluated {
        let k = point.len();
        let mut sums = Evaluated { value: 0.0, gradient: vec![0.0; k], information: vec![0.0; k * k] };
        let mut chances = vec![0.0; k];
        for (logits, people) in self.logits.chunks_exact(k).zip(self.people.chunks_exact(k)) {
            let all: f64 = people.iter().sum();
            for ((chance, logit), own) in chances.iter_mut().zip(logits).zip(point) {
                *chance = logit + own;
            }
            sums.value -= dot(people, &chances);
            sums.value += all * softmax(&mut chances);
            for (class, (&chance, &own)) in chances.iter().zip(people).enumerate() {
                sums.gradient[class] += all * chance - own;
                for (other, &other_chance) in chances.iter().enumerate() {
                    let own = if class == other { 1.0 - chance } else { -other_chance };
                    sums.information[class * k + other] += all * chance * own;
                }
            }
        }
        if deviation > 0.0 {
            let precision = deviation.powi(-2);
            sums.value += 0.5 * precision * dot(point, point);
            sums.gradient.iter_mut().zip(point).for_each(|(slope, own)| *slope += precision * own);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marginal_likelihood_is_an_integral() {
        // Two classes: u and −u with u ~ N(0, σ²/2), because the common part of both intercepts does not matter.
        let logits = vec![0.3, -0.3, -1.0, 1.0, 0.5, -0.5];
        let group = Group { logits: logits.clone(), people: vec![30.0, 12.0, 9.0, 25.0, 14.0, 11.0] };
        for deviation in [0.1, 0.5, 2.0] {
            let likelihood = |u: f64| -> f64 {
                let rows = logits.chunks_exact(2).zip(group.people.chunks_exact(2));
                let log = |(row, people): (&[f64], &[f64])| {
                    let (one, two) = (row[0] + u, row[1] - u);
                    let all = (one.exp() + two.exp()).ln();
                    people[0] * (one - all) + people[1] * (two - all)
                };
                rows.map(log).sum()
            };
            let variance = deviation * deviation / 2.0;
            let density = |u: f64| (-0.5 * u * u / variance).exp() / (std::f64::consts::TAU * variance).sqrt();
            let (steps, width) = (20_000, 1e-3);
            let points = (-steps..=steps).map(|step| f64::from(step) * width);
            let peak = points.clone().map(likelihood).fold(f64::NEG_INFINITY, f64::max);
            let integral: f64 = points.map(|u| (likelihood(u) - peak).exp() * density(u) * width).sum();
            let found = group.fit(2, deviation);
            assert!((found.likelihood - integral.ln() - peak).abs() < 0.01, "{deviation}: {}", found.likelihood);
            assert!((found.intercepts[0] + found.intercepts[1]).abs() < 1e-12);
        }
    }
}
