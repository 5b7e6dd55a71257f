//! Wilson intervals of rates, and intervals of the Poisson bootstrap.
//!
//! In replicate b a row has weight w, a Poisson(1) draw from (seed, key, b). So the sums of all replicates are
//! accumulated in the same pass as those of the data, can be merged, and do not depend on the row order.

use super::cell::{Row, add_all};
use super::counts::{differences, distance, share_of_scores, shares_of_people};
use super::options::Bootstrap;
use super::report::{Interval, Intervals};
use crate::kernel::GRID;
use crate::scores::{Label, UNCODED};
use crate::seed;

/// The 97.5% quantile of the standard normal distribution.
pub(crate) const NORMAL: f64 = 1.959_963_984_540_054;

/// The first salt of the draws, far from the small ones of label draws: with equal seeds, a replicate must be
/// independent of drawn labels.
const FIRST_SALT: u64 = 0x626f_6f74_0000_0000;

/// Returns Wilson's 95% interval of a rate; `None` without people.
pub(super) fn wilson(hits: u64, people: u64) -> Option<Interval> {
    (people > 0).then(|| wilson_at(hits as f64 / people as f64, people as f64))
}

/// Returns Wilson's 95% interval of a rate with a given effective sample size.
pub(crate) fn wilson_at(rate: f64, n: f64) -> Interval {
    let z2 = NORMAL * NORMAL;
    let middle = (rate + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = NORMAL * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
    // Rounding must not exclude a rate of 0 or 1 from its interval.
    Interval { low: (middle - half).clamp(0.0, rate), high: (middle + half).clamp(rate, 1.0) }
}

impl Interval {
    /// Returns Wilson's 95% interval of a rate, assuming independent people; `None` without people.
    pub fn of_rate(hits: u64, people: u64) -> Option<Interval> {
        wilson(hits, people)
    }
}

/// Draws the weights of a row in each replicate.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    seed: u64,
    /// The hash values at which the draws 1, 2, 3, … begin.
    thresholds: Vec<u64>,
    /// The weights of the current row, in a reusable buffer.
    weights: Vec<u8>,
}

impl Draws {
    /// Creates the draws of a bootstrap; without one there are no replicates.
    pub(crate) fn new(bootstrap: Option<&Bootstrap>) -> Draws {
        let weights = vec![0; bootstrap.map_or(0, |bootstrap| bootstrap.replicates as usize)];
        Draws { seed: bootstrap.map_or(0, |bootstrap| bootstrap.seed), thresholds: poisson_thresholds(), weights }
    }

    /// Returns the weights of the row with this key in each replicate.
    #[inline]
    pub(crate) fn of(&mut self, key: u64) -> &[u8] {
        for replicate in 0..self.weights.len() {
            self.weights[replicate] = self.one(key, replicate);
        }
        &self.weights
    }

    /// Returns the weight of the row with this key in one replicate.
    #[inline]
    pub(crate) fn one(&self, key: u64, replicate: usize) -> u8 {
        let hash = seed::hash(self.seed, key, FIRST_SALT + replicate as u64);
        self.thresholds.iter().take_while(|&&threshold| hash >= threshold).count() as u8
    }
}

/// Returns the distribution function of Poisson(1) at 0, 1, 2, …, in units of 2^-64, until it rounds to one.
fn poisson_thresholds() -> Vec<u64> {
    let mut density = 1.0 / std::f64::consts::E;
    let mut distribution = 0.0;
    let mut thresholds = Vec::new();
    for draw in 1..=20 {
        distribution += density;
        thresholds.push((distribution * 2f64.powi(64)) as u64);
        density /= f64::from(draw);
    }
    thresholds
}

/// The sums of each replicate.
#[derive(Clone, Debug)]
pub(super) struct Replicates {
    classes: usize,
    number: usize,
    /// For each replicate: people by label, people with truth by label, people by truth, correctly labeled
    /// people, people.
    people: Vec<u64>,
    /// For each replicate: scores by class, scores of the labels.
    scores: Vec<i128>,
}

impl Replicates {
    /// Creates empty sums.
    pub(super) fn new(classes: usize, number: usize) -> Replicates {
        let people = vec![0; number * (3 * classes + 2)];
        Replicates { classes, number, people, scores: vec![0; number * (classes + 1)] }
    }

    /// Adds a row with its weights.
    #[inline]
    pub(super) fn add(&mut self, row: &Row<'_>, label: Label) {
        let k = self.classes;
        let people = self.people.chunks_exact_mut(3 * k + 2);
        let scores = self.scores.chunks_exact_mut(k + 1);
        for ((&weight, people), scores) in row.weights.iter().zip(people).zip(scores) {
            if weight == 0 {
                continue;
            }
            let times = u64::from(weight) * row.people;
            people[3 * k + 1] += times;
            for (sum, &score) in scores.iter_mut().zip(row.scores) {
                *sum += i128::from(score) * i128::from(times);
            }
            let is_labeled = label != UNCODED;
            let (label, truth) = (usize::from(label), usize::from(row.truth));
            if is_labeled {
                people[label] += times;
                scores[k] += i128::from(row.scores[label]) * i128::from(times);
            }
            if row.truth != UNCODED {
                people[2 * k + truth] += times;
                if is_labeled {
                    people[k + label] += times;
                    people[3 * k] += if label == truth { times } else { 0 };
                }
            }
        }
    }

    /// Adds the sums of other rows.
    pub(super) fn merge(&mut self, other: &Replicates) {
        add_all(&mut self.people, &other.people);
        add_all(&mut self.scores, &other.scores);
    }

    /// Returns the intervals; `None` without a bootstrap or if none were summed.
    pub(super) fn intervals(&self, bootstrap: Option<&Bootstrap>) -> Option<Intervals> {
        let level = bootstrap.filter(|_| self.number > 0)?.level;
        let figures: Vec<Figures> = (0..self.number).map(|replicate| self.figures(replicate)).collect();
        let one = |pick: &dyn Fn(&Figures) -> Option<f64>| percentile(figures.iter().filter_map(pick).collect(), level);
        let each = |pick: &dyn Fn(&Figures) -> Option<&Vec<f64>>| -> Vec<Option<Interval>> {
            (0..self.classes).map(|class| one(&|figures| pick(figures).map(|values| values[class]))).collect()
        };
        Some(Intervals {
            share: each(&|figures| figures.shares.as_ref()),
            bias_against_posterior: each(&|figures| figures.against_posterior.as_ref()),
            bias_against_truth: each(&|figures| figures.against_truth.as_ref()),
            accuracy: one(&|figures| figures.accuracy),
            expected_accuracy: one(&|figures| figures.expected_accuracy),
            fidelity_to_posterior: one(&|figures| figures.fidelity_to_posterior),
            fidelity_to_truth: one(&|figures| figures.fidelity_to_truth),
        })
    }

    /// Returns the figures of one replicate.
    fn figures(&self, replicate: usize) -> Figures {
        let k = self.classes;
        let people = &self.people[replicate * (3 * k + 2)..][..3 * k + 2];
        let scores = &self.scores[replicate * (k + 1)..][..k + 1];
        let shares = shares_of_people(&people[..k]);
        let shares_with_truth = shares_of_people(&people[k..2 * k]);
        let truth = shares_of_people(&people[2 * k..3 * k]);
        let posterior = share_of_scores(&scores[..k], people[3 * k + 1]);
        let labeled: u64 = people[..k].iter().sum();
        let labeled_with_truth: u64 = people[k..2 * k].iter().sum();
        let (labels, reference) = (shares.as_ref(), posterior.as_ref());
        let (labels_with_truth, truth) = (shares_with_truth.as_ref(), truth.as_ref());
        Figures {
            against_posterior: labels.zip(reference).map(|(m, p)| differences(m, p)),
            against_truth: labels_with_truth.zip(truth).map(|(m, p)| differences(m, p)),
            accuracy: (labeled_with_truth > 0).then(|| people[3 * k] as f64 / labeled_with_truth as f64),
            expected_accuracy: (labeled > 0).then(|| GRID.total(scores[k]) / labeled as f64),
            fidelity_to_posterior: labels.zip(reference).map(|(m, p)| distance(m, p).fidelity),
            fidelity_to_truth: labels_with_truth.zip(truth).map(|(m, p)| distance(m, p).fidelity),
            shares,
        }
    }
}

/// The figures of a replicate.
struct Figures {
    shares: Option<Vec<f64>>,
    against_posterior: Option<Vec<f64>>,
    against_truth: Option<Vec<f64>>,
    accuracy: Option<f64>,
    expected_accuracy: Option<f64>,
    fidelity_to_posterior: Option<f64>,
    fidelity_to_truth: Option<f64>,
}

/// Returns the central part of the values, by linear interpolation; `None` without values.
pub(crate) fn percentile(mut values: Vec<f64>, level: f64) -> Option<Interval> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = |part: f64| {
        let position = part * last as f64;
        let below = (position.floor() as usize).min(last);
        let above = (below + 1).min(last);
        values[below] + (values[above] - values[below]) * (position - below as f64)
    };
    Some(Interval { low: at((1.0 - level) / 2.0), high: at((1.0 + level) / 2.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_agrees_with_the_textbook() {
        // Newcombe (1998): 81 of 263 gives .2553 to .3662, 0 of 20 gives 0 to .1611.
        let interval = wilson(81, 263).expect("people");
        assert!((interval.low - 0.2553).abs() < 5e-5 && (interval.high - 0.3662).abs() < 5e-5);
        let interval = wilson(0, 20).expect("people");
        assert!(interval.low == 0.0 && (interval.high - 0.1611).abs() < 5e-5);
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn draws_are_poisson() {
        let mut draws = Draws::new(Some(&Bootstrap { replicates: 100, level: 0.9, seed: 5 }));
        let weights: Vec<u8> = (0..2000).flat_map(|key| draws.of(key).to_vec()).collect();
        let mean = |power: i32| weights.iter().map(|&w| f64::from(w).powi(power)).sum::<f64>() / weights.len() as f64;
        assert!((mean(1) - 1.0).abs() < 0.01, "{}", mean(1));
        assert!((mean(2) - 2.0).abs() < 0.03, "{}", mean(2));
        let none = weights.iter().filter(|&&weight| weight == 0).count() as f64 / weights.len() as f64;
        assert!((none - (-1f64).exp()).abs() < 0.005, "{none}");
    }

    #[test]
    fn draws_are_frozen() {
        let mut draws = Draws::new(Some(&Bootstrap { replicates: 12, level: 0.95, seed: 1 }));
        assert_eq!(draws.of(7), [1, 1, 1, 1, 1, 0, 0, 2, 0, 0, 2, 2], "published intervals depend on it");
    }

    #[test]
    fn percentiles_interpolate() {
        let interval = percentile((0..=100).map(f64::from).collect(), 0.9).expect("values");
        assert!((interval.low - 5.0).abs() < 1e-9 && (interval.high - 95.0).abs() < 1e-9);
        assert_eq!(percentile(vec![3.0], 0.5), Some(Interval { low: 3.0, high: 3.0 }));
        assert_eq!(percentile(Vec::new(), 0.5), None);
    }
}
