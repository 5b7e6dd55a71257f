//! Passes over the rows: derivatives of the fits, their sandwich covariance, and average effects.

use rayon::prelude::*;

use super::design::Design;
use super::grid_sums::Unit;
use super::observe::{Entry, Fit, Observation, Row, Source};
use super::solve::{pair_count, pair_index};
use super::{Model, NO_CLUSTER};
use crate::audit::read;
use crate::error::Result;
use crate::kernel::GRID;
use crate::scores::{Scores, UNCODED};

/// Clusters that a thread sums at a time.
const CLUSTERS_AT_ONCE: usize = 256;

/// The rows, and the fits that are computed from them.
pub(super) struct Pass<'p> {
    pub(super) scores: &'p Scores<'p>,
    pub(super) design: &'p Design<'p>,
    pub(super) source: Source<'p>,
    pub(super) model: Model,
}

/// The derivatives of a fit, and sums of its observations.
pub(super) struct Derivatives {
    /// Σ x x' v by pairs of columns; v is the weight, times the variance of the outcome for the logistic model.
    pub(super) second: Vec<f64>,
    pub(super) first: Vec<f64>,
    pub(super) log_likelihood: f64,
    pub(super) people: u64,
    /// (Σ w q)² / Σ (w q)² of each class.
    pub(super) effective_n: Vec<f64>,
    /// Columns whose members all have the outcome 0, or all have the outcome 1. Only for indicators, at coefficients of
    /// zero in the linear model.
    pub(super) same_outcome: Vec<bool>,
}

/// The middle part of the sandwich covariance, by pairs of columns.
pub(super) struct Meat {
    pub(super) pairs: Vec<f64>,
    /// The derivatives of the fit.
    pub(super) first: Vec<f64>,
    /// The number of clusters with observations, if there are clusters.
    pub(super) clusters: Option<u64>,
}

/// Sums for average effects of classes in the logistic model, over the people of the fit.
pub(super) struct Averages {
    /// The mean over people if everyone were of the class.
    pub(super) means: Vec<f64>,
    /// By class, the derivatives of that mean with respect to all coefficients.
    pub(super) slopes: Vec<Vec<f64>>,
}

impl Pass<'_> {
    fn size(&self) -> usize {
        self.design.size()
    }

    /// Sums terms of all observations of fits that are not done; `length` sums for each fit.
    fn sum(
        &self,
        fits: &[Fit],
        length: usize,
        add: impl Fn(&mut [i128], &Fit, Entry, &Observation<'_>, i128, &mut Vec<(usize, f64)>) + Sync + Send,
    ) -> Result<Vec<i128>> {
        struct Sums {
            sums: Vec<i128>,
            controls: Vec<(usize, f64)>,
            terms: Vec<(usize, f64)>,
            buffer: Vec<u64>,
        }
        let none =
            || Sums { sums: vec![0; fits.len() * length], controls: Vec::new(), terms: Vec::new(), buffer: Vec::new() };
        let all = read(
            self.scores,
            none,
            |own, index, scores, people, truth| {
                if !self.design.is_used(index) || people == 0 {
                    return;
                }
                let row = Row { index, scores, people, truth };
                let Sums { sums, controls, terms, buffer } = own;
                let observation = Observation::of(self.design, &row, controls);
                self.source.entries(self.scores, &row, buffer, |fit, entry, people| {
                    if !fits[fit].is_done {
                        let own = &mut sums[fit * length..][..length];
                        add(own, &fits[fit], entry, &observation, i128::from(people), terms);
                    }
                });
            },
            |all, part| all.sums.iter_mut().zip(part.sums).for_each(|(sum, more)| *sum += more),
        )?;
        Ok(all.sums)
    }

    /// Returns a bound on linear predictors and residuals.
    fn largest_residual(&self, fits: &[Fit]) -> f64 {
        let of = |fit: &Fit| {
            let all = fit.coefficients.iter().enumerate();
            all.map(|(column, own)| own.abs() * self.design.largest(column)).sum::<f64>()
        };
        1.0 + self.design.largest_outcome + fits.iter().map(of).fold(0.0, f64::max)
    }

    fn people(&self) -> f64 {
        self.design.used.people.max(1) as f64
    }

    /// Returns the derivatives of all fits that are not done; those of others are empty.
    pub(super) fn derivatives(&self, model: Model, fits: &[Fit]) -> Result<Vec<Derivatives>> {
        let (size, classes) = (self.size(), self.design.classes);
        let pairs = pair_count(size);
        let (likelihood, people_at, weights, squares) =
            (pairs + size, pairs + size + 1, pairs + size + 2, pairs + size + 2 + classes);
        let length = squares + classes;
        let (weight, column) = (self.design.largest_weight, self.design.largest_of_all());
        let most = weight * column.max(self.largest_residual(fits)) * column.max(weight) * 2.0;
        let unit = Unit::for_total(self.people() * most);
        let sums = self.sum(fits, length, |own, fit, entry, row, people, terms| {
            if fit.score(model, entry, row, terms).is_none() {
                return;
            }
            terms.iter().for_each(|&(column, term)| own[pairs + column] += unit.of(term) * people);
            own[people_at] += people;
            let Some(from_controls) = fit.control_part(row.controls) else { return };
            let mut total = 0.0;
            terms.clear();
            each_class(entry, row.scores, &fit.excluded, |class, share| {
                let weight = share * row.weight;
                own[weights + class] += unit.of(weight) * people;
                own[squares + class] += unit.of(weight * weight) * people;
                let own_weight = if matches!(entry, Entry::Scores) { row.weight * share * share } else { weight };
                let slope = match model {
                    Model::Linear => own_weight,
                    Model::Logistic => {
                        let predictor = from_controls + fit.coefficients[class];
                        let mean = model.mean(predictor);
                        let log = predictor * row.outcome - predictor.max(0.0) - (-predictor.abs()).exp().ln_1p();
                        own[likelihood] += unit.of(weight * log) * people;
                        own_weight * mean * (1.0 - mean)
                    }
                };
                own[pair_index(size, class, class)] += unit.of(slope) * people;
                // With scores as regressors, the product with a control is that of the score, not of its square.
                let with_controls = if matches!(entry, Entry::Scores) { weight } else { slope };
                total += with_controls;
                for &(column, value) in row.controls {
                    own[pair_index(size, class, column)] += unit.of(with_controls * value) * people;
                }
                if matches!(entry, Entry::Scores) {
                    terms.push((class, share));
                }
            });
            if matches!(entry, Entry::Scores) {
                total = row.weight;
                for (index, &(a, share)) in terms.iter().enumerate() {
                    for &(b, other) in &terms[index + 1..] {
                        own[pair_index(size, a, b)] += unit.of(row.weight * share * other) * people;
                    }
                }
            }
            for (index, &(a, value)) in row.controls.iter().enumerate() {
                for &(b, other) in &row.controls[index..] {
                    own[pair_index(size, a, b)] += unit.of(total * value * other) * people;
                }
            }
        })?;
        let derivatives = sums.chunks_exact(length).map(|own| {
            let values = |range: std::ops::Range<usize>| own[range].iter().map(|&sum| unit.value(sum)).collect();
            let effective = |class: usize| {
                let (sum, squares) = (unit.value(own[weights + class]), unit.value(own[squares + class]));
                if squares > 0.0 { sum * sum / squares } else { 0.0 }
            };
            let same = |column: usize| {
                let (all, hits) = (own[pair_index(size, column, column)], own[pairs + column]);
                all > 0 && (hits == 0 || hits == all) && self.is_indicator(column)
            };
            Derivatives {
                second: values(0..pairs),
                first: values(pairs..pairs + size),
                log_likelihood: unit.value(own[likelihood]),
                people: own[people_at] as u64,
                effective_n: (0..classes).map(effective).collect(),
                same_outcome: (0..size).map(same).collect(),
            }
        });
        Ok(derivatives.collect())
    }

    fn is_indicator(&self, column: usize) -> bool {
        match column.checked_sub(self.design.classes) {
            Some(control) => self.design.columns[control].level.is_some(),
            None => !matches!(self.source, Source::Linear),
        }
    }

    /// Returns the middle part of the covariance: of people, or of clusters.
    pub(super) fn meat(&self, fits: &[Fit], clusters: Option<&[u32]>) -> Result<Vec<Meat>> {
        let size = self.size();
        let pairs = pair_count(size);
        let term = self.design.largest_weight * self.largest_residual(fits) * self.design.largest_of_all();
        let first = Unit::for_total(self.people() * term);
        if let Some(clusters) = clusters {
            return self.meat_of_clusters(fits, clusters, term);
        }
        let unit = Unit::for_total(self.people() * term * term);
        let sums = self.sum(fits, pairs + size, |own, fit, entry, row, people, terms| {
            if fit.score(self.model, entry, row, terms).is_none() {
                return;
            }
            for (index, &(a, term)) in terms.iter().enumerate() {
                own[pairs + a] += first.of(term) * people;
                for &(b, other) in &terms[index..] {
                    own[pair_index(size, a, b)] += unit.of(term * other) * people;
                }
            }
        })?;
        let meat = sums.chunks_exact(pairs + size).map(|own| Meat {
            pairs: own[..pairs].iter().map(|&sum| unit.value(sum)).collect(),
            first: own[pairs..].iter().map(|&sum| first.value(sum)).collect(),
            clusters: None,
        });
        Ok(meat.collect())
    }

    /// Sums cluster by cluster. Rows are read in the order of their clusters.
    fn meat_of_clusters(&self, fits: &[Fit], clusters: &[u32], term: f64) -> Result<Vec<Meat>> {
        let size = self.size();
        let pairs = pair_count(size);
        let order = Order::of(clusters, |row| self.design.is_used(row));
        let people = |row: &usize| self.scores.counts().map_or(1, |counts| counts[*row]);
        let squares: f64 = order.clusters().map(|rows| (rows.iter().map(people).sum::<u64>() as f64).powi(2)).sum();
        let first = Unit::for_total(self.people() * term);
        let unit = Unit::for_total(squares * term * term);
        let length = pairs + size + 1;
        let none = || vec![0i128; fits.len() * length];
        let ranges: Vec<usize> = (0..order.len()).step_by(CLUSTERS_AT_ONCE).collect();
        let sum_range = |mut all: Vec<i128>, start: &usize| -> Result<Vec<i128>> {
            let (mut controls, mut terms, mut buffer) = (Vec::new(), Vec::new(), Vec::new());
            let mut own = vec![0i128; fits.len() * size];
            let mut has = vec![false; fits.len()];
            for cluster in *start..order.len().min(start + CLUSTERS_AT_ONCE) {
                own.fill(0);
                has.fill(false);
                for rows in runs(order.rows(cluster)) {
                    self.scores.read_rows(rows, |index, scores| {
                        let people = self.scores.counts().map_or(1, |counts| counts[index]);
                        let truth = self.scores.truth().map(|truth| truth[index]).filter(|&truth| truth != UNCODED);
                        let row = Row { index, scores, people, truth: truth.map(usize::from) };
                        let observation = Observation::of(self.design, &row, &mut controls);
                        self.source.entries(self.scores, &row, &mut buffer, |fit, entry, people| {
                            if fits[fit].score(self.model, entry, &observation, &mut terms).is_some() {
                                has[fit] |= people > 0;
                                let own = &mut own[fit * size..][..size];
                                let people = i128::from(people);
                                terms.iter().for_each(|&(column, term)| own[column] += first.of(term) * people);
                            }
                        });
                        Ok(())
                    })?;
                }
                for ((own, all), has) in own.chunks_exact(size).zip(all.chunks_exact_mut(length)).zip(&has) {
                    all[pairs + size] += i128::from(*has);
                    let used: Vec<(usize, f64)> =
                        own.iter().map(|&sum| first.value(sum)).enumerate().filter(|(_, own)| *own != 0.0).collect();
                    for (index, &(a, value)) in used.iter().enumerate() {
                        all[pairs + a] += own[a];
                        for &(b, other) in &used[index..] {
                            all[pair_index(size, a, b)] += unit.of(value * other);
                        }
                    }
                }
            }
            Ok(all)
        };
        let sums = ranges.par_iter().try_fold(none, sum_range).try_reduce(none, |mut all, part| {
            all.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
            Ok(all)
        })?;
        let meat = sums.chunks_exact(length).map(|own| Meat {
            pairs: own[..pairs].iter().map(|&sum| unit.value(sum)).collect(),
            first: own[pairs..pairs + size].iter().map(|&sum| first.value(sum)).collect(),
            clusters: Some(own[pairs + size] as u64),
        });
        Ok(meat.collect())
    }

    /// Returns the mean outcome that the logistic model expects if everyone were of a class, for each class.
    pub(super) fn averages(&self, fits: &[Fit]) -> Result<Vec<Averages>> {
        let (size, classes) = (self.size(), self.design.classes);
        // By class: the mean, and its derivatives; then the weight.
        let each = 1 + size;
        let length = classes * each + 1;
        let unit = Unit::for_total(self.people() * self.design.largest_weight * self.design.largest_of_all());
        let sums = self.sum(fits, length, |own, fit, entry, row, people, _| {
            let Some(from_controls) = fit.control_part(row.controls) else { return };
            let mut share = 0.0;
            each_class(entry, row.scores, &fit.excluded, |_, own| share += own);
            let weight = share * row.weight;
            own[classes * each] += unit.of(weight) * people;
            for class in (0..classes).filter(|&class| !fit.excluded[class]) {
                let own = &mut own[class * each..][..each];
                let mean = self.model.mean(from_controls + fit.coefficients[class]);
                let slope = weight * mean * (1.0 - mean);
                own[0] += unit.of(weight * mean) * people;
                own[1 + class] += unit.of(slope) * people;
                row.controls.iter().for_each(|&(column, value)| own[1 + column] += unit.of(slope * value) * people);
            }
        })?;
        let averages = sums.chunks_exact(length).map(|own| {
            let all = unit.value(own[classes * each]);
            let mean = |at: usize| if all > 0.0 { unit.value(own[at]) / all } else { 0.0 };
            Averages {
                means: (0..classes).map(|class| mean(class * each)).collect(),
                slopes: (0..classes)
                    .map(|class| (0..size).map(|column| mean(class * each + 1 + column)).collect())
                    .collect(),
            }
        });
        Ok(averages.collect())
    }
}

/// Calls `each` with the classes of an entry and their shares.
#[inline]
fn each_class(entry: Entry, scores: &[i64], excluded: &[bool], mut each: impl FnMut(usize, f64)) {
    match entry {
        Entry::Class(class) => {
            if !excluded[class] {
                each(class, 1.0);
            }
        }
        Entry::Weighted | Entry::Scores => {
            for (class, &score) in scores.iter().enumerate() {
                if score != 0 && !excluded[class] {
                    each(class, GRID.value(score));
                }
            }
        }
    }
}

/// Rows in the order of their clusters.
struct Order {
    rows: Vec<usize>,
    /// The first row of each cluster, and the end.
    starts: Vec<usize>,
}

impl Order {
    fn of(clusters: &[u32], is_used: impl Fn(usize) -> bool) -> Order {
        let used = || clusters.iter().enumerate().filter(|(row, own)| **own != NO_CLUSTER && is_used(*row));
        let number = used().map(|(_, own)| *own as usize + 1).max().unwrap_or(0);
        let mut starts = vec![0; number + 1];
        used().for_each(|(_, own)| starts[*own as usize + 1] += 1);
        (0..number).for_each(|cluster| starts[cluster + 1] += starts[cluster]);
        let (mut next, mut rows) = (starts.clone(), vec![0; starts[number]]);
        for (row, own) in used() {
            let at = &mut next[*own as usize];
            rows[*at] = row;
            *at += 1;
        }
        Order { rows, starts }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn rows(&self, cluster: usize) -> &[usize] {
        &self.rows[self.starts[cluster]..self.starts[cluster + 1]]
    }

    fn clusters(&self) -> impl Iterator<Item = &[usize]> {
        (0..self.len()).map(|cluster| self.rows(cluster))
    }
}

/// Returns the ranges of consecutive rows.
fn runs(rows: &[usize]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    rows.chunk_by(|row, next| *next == row + 1).map(|run| run[0]..run[run.len() - 1] + 1)
}
