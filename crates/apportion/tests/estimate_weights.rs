//! Tests of estimates with survey weights and of inference about the file's own people: against plain loops over people,
//! exact invariances, and a simulation of unknown classes.
#![allow(clippy::unwrap_used, clippy::needless_range_loop)] // also in helper functions; classes are indices here

mod common;

use apportion::audit::Interval;
use apportion::estimate::*;
use apportion::*;
use common::{Chance, classes, continuous};

const LEVELS: usize = 3;

/// Rows of several people with weights and both kinds of outcomes, some of them missing.
#[derive(Clone)]
struct Table {
    classes: Classes,
    q: Vec<f64>,
    truth: Vec<Label>,
    counts: Vec<u64>,
    keys: Vec<u64>,
    weights: Vec<f64>,
    numbers: Vec<f64>,
    codes: Vec<u16>,
    names: Vec<String>,
}

impl Table {
    fn new(seed: u64, rows: usize, k: usize) -> Table {
        let mut chance = Chance::new(seed);
        let q = continuous(&mut chance, rows, k);
        let mut each = |of: &mut dyn FnMut(&mut Chance, usize) -> f64| -> Vec<f64> {
            (0..rows).map(|row| of(&mut chance, row)).collect()
        };
        let numbers = each(&mut |chance, row| match chance.below(12) {
            0 => f64::NAN,
            _ => 500.0 + 30.0 * q[row * k] + 100.0 * chance.unit(),
        });
        let codes = each(&mut |chance, row| match chance.below(12) {
            0 => f64::from(NO_LEVEL),
            _ if chance.unit() < q[row * k] => 1.0,
            _ => chance.below(LEVELS as u64) as f64,
        });
        let truth = each(&mut |chance, row| match chance.below(10) {
            0 => f64::from(UNCODED),
            _ if chance.unit() < q[row * k] => 0.0,
            _ => chance.below(k as u64) as f64,
        });
        // Some weights are 0, and they depend on the outcome.
        let weights = each(&mut |chance, row| match chance.below(15) {
            0 => 0.0,
            _ if codes[row] == 1.0 => 0.3 + 2.0 * chance.unit(),
            _ => 5.0 * chance.unit().powi(3),
        });
        let counts = each(&mut |chance, _| chance.below(4) as f64);
        Table {
            classes: classes(k),
            truth: truth.iter().map(|&class| class as Label).collect(),
            counts: counts.iter().map(|&count| count as u64).collect(),
            keys: (0..rows as u64).map(|row| seed::hash(9, row, 0)).collect(),
            codes: codes.iter().map(|&code| code as u16).collect(),
            names: ["no", "yes", "maybe"].map(String::from).to_vec(),
            q,
            weights,
            numbers,
        }
    }

    fn k(&self) -> usize {
        self.classes.len()
    }

    fn scores(&self) -> Scores<'_> {
        let scores = Scores::new(&self.classes, Matrix::RowsF64(&self.q)).unwrap();
        let scores = scores.with_truth(&self.truth).unwrap().with_keys(Keys::Given(&self.keys)).unwrap();
        scores.with_counts(&self.counts).unwrap()
    }

    /// Returns the outcomes with weights: the numbers, then the levels.
    fn outcomes(&self) -> [Outcomes<'_>; 2] {
        self.unweighted().map(|outcomes| outcomes.with_weights(&self.weights).unwrap())
    }

    fn unweighted(&self) -> [Outcomes<'_>; 2] {
        [Outcomes::numbers_about(&self.numbers, 480.0).unwrap(), Outcomes::levels(&self.codes, &self.names).unwrap()]
    }

    fn allotment(&self) -> rule::Allotment {
        Rule::Argmax.allot(&self.scores(), &Settings::default()).unwrap().allotment
    }

    /// Returns the given rows in the given order.
    fn part(&self, rows: &[usize]) -> Table {
        let k = self.k();
        let of = |row: &usize| self.q[row * k..][..k].to_vec();
        Table {
            q: rows.iter().flat_map(of).collect(),
            truth: rows.iter().map(|&row| self.truth[row]).collect(),
            counts: rows.iter().map(|&row| self.counts[row]).collect(),
            keys: rows.iter().map(|&row| self.keys[row]).collect(),
            weights: rows.iter().map(|&row| self.weights[row]).collect(),
            numbers: rows.iter().map(|&row| self.numbers[row]).collect(),
            codes: rows.iter().map(|&row| self.codes[row]).collect(),
            ..self.clone()
        }
    }

    /// Returns the same rows with weights times a number.
    fn scaled(&self, factor: f64) -> Table {
        Table { weights: self.weights.iter().map(|weight| weight * factor).collect(), ..self.clone() }
    }

    /// Returns the averaged quantities: the numbers, and 0 or 1 for each level; NaN if unknown.
    fn averaged(&self) -> Vec<Vec<f64>> {
        let level = |level: u16| {
            let hit = |&code: &u16| if code == NO_LEVEL { f64::NAN } else { f64::from(u8::from(code == level)) };
            self.codes.iter().map(hit).collect()
        };
        std::iter::once(self.numbers.clone()).chain((0..LEVELS as u16).map(level)).collect()
    }

    /// Returns the row of each person with a known value.
    fn people(&self, values: &[f64]) -> Vec<usize> {
        let known = (0..values.len()).filter(|&row| !values[row].is_nan());
        known.flat_map(|row| std::iter::repeat_n(row, self.counts[row] as usize)).collect()
    }

    /// Returns the weighted scores of a class.
    fn column(&self, class: usize) -> Vec<f64> {
        let scores = self.q.iter().skip(class).step_by(self.k());
        scores.zip(&self.weights).map(|(q, weight)| q * weight).collect()
    }
}

/// Returns the estimates for the numbers, followed by those for each level.
fn both(table: &Table, of: impl Fn(&Outcomes<'_>) -> Vec<Estimate>) -> Vec<Estimate> {
    table.outcomes().iter().flat_map(of).collect()
}

fn near(found: f64, expected: f64, scale: f64) {
    assert!((found - expected).abs() <= 1e-9 * scale.abs(), "{found} and not {expected}");
}

/// A mean of people with weights, and what each person adds to its error.
struct ByHand {
    mean: f64,
    /// By person: w (y − mean) / Σ w.
    parts: Vec<f64>,
    effective_n: f64,
}

impl ByHand {
    /// `weights` are those of a class: with scores, or 0 for people of other classes.
    fn new(people: &[usize], weights: &[f64], values: &[f64]) -> ByHand {
        let all: f64 = people.iter().map(|&row| weights[row]).sum();
        let mean = people.iter().map(|&row| weights[row] * values[row]).sum::<f64>() / all;
        let squares: f64 = people.iter().map(|&row| weights[row] * weights[row]).sum();
        let parts = people.iter().map(|&row| weights[row] * (values[row] - mean) / all).collect();
        ByHand { mean, parts, effective_n: all * all / squares }
    }

    fn error(&self) -> f64 {
        self.parts.iter().map(|part| part * part).sum::<f64>().sqrt()
    }

    fn error_of_gap(&self, other: &ByHand) -> f64 {
        self.parts.iter().zip(&other.parts).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }
}

fn check(estimate: &Estimate, own: &[ByHand]) {
    for (class, figure) in estimate.classes.iter().enumerate() {
        let figure = figure.unwrap();
        near(figure.estimate.unwrap(), own[class].mean, own[class].mean);
        near(figure.error.unwrap(), own[class].error(), own[class].error());
        near(figure.effective_n, own[class].effective_n, own[class].effective_n);
    }
    for (a, b) in [(0, 1), (2, 0)] {
        let (gap, error) = (estimate.gap(a, b).unwrap(), own[a].error_of_gap(&own[b]));
        near(gap.difference.unwrap(), own[a].mean - own[b].mean, own[a].mean);
        near(gap.error.unwrap(), error, error);
    }
}

/// Wilson's interval.
fn wilson(rate: f64, n: f64) -> Interval {
    let z = 1.959_963_984_540_054_f64;
    let center = (rate + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt();
    Interval { low: center - half, high: center + half }
}

#[test]
fn weighted_estimates_are_those_of_a_loop_over_people() {
    let table = Table::new(1, 300, 3);
    let found = both(&table, |outcomes| Weighted::of(&table.scores(), outcomes).unwrap().estimates());
    for (estimate, values) in found.iter().zip(table.averaged()) {
        let people = table.people(&values);
        let own: Vec<ByHand> = (0..3).map(|class| ByHand::new(&people, &table.column(class), &values)).collect();
        check(estimate, &own);
    }
    let [_, levels] = table.outcomes();
    let weighted = Weighted::of(&table.scores(), &levels).unwrap();
    let people = table.people(&table.averaged()[1]);
    near(weighted.weight().unwrap(), people.iter().map(|&row| table.weights[row]).sum(), 1000.0);
    // The number of people does not depend on the weights.
    assert_eq!(weighted.known().people, people.len() as u64);
    near(weighted.posterior()[1], people.iter().map(|&row| table.q[row * 3 + 1]).sum(), 100.0);
    assert_eq!(Weighted::of(&table.scores(), &table.unweighted()[1]).unwrap().weight(), None);
}

#[test]
fn label_estimates_are_those_of_a_loop_over_people() {
    let table = Table::new(2, 400, 3);
    let allotment = table.allotment();
    let argmax = |row: usize| (0..3).max_by(|&a, &b| table.q[row * 3 + a].total_cmp(&table.q[row * 3 + b])).unwrap();
    let fit = |outcomes: &Outcomes<'_>| LabelEstimator::of_allotment(&table.scores(), outcomes, &allotment).unwrap();
    let labels = both(&table, |outcomes| fit(outcomes).estimates());
    let truth = both(&table, |outcomes| fit(outcomes).truth().unwrap());
    let biases: Vec<Vec<Option<LabelBias>>> = table.outcomes().iter().flat_map(|own| fit(own).biases()).collect();
    for (index, values) in table.averaged().iter().enumerate() {
        let people = table.people(values);
        let only = |is_of: &dyn Fn(usize) -> bool| -> Vec<f64> {
            (0..values.len()).map(|row| if is_of(row) { table.weights[row] } else { 0.0 }).collect()
        };
        let of = |is_of: &dyn Fn(usize) -> bool| ByHand::new(&people, &only(is_of), values);
        check(&labels[index], &[0, 1, 2].map(|class| of(&|row| argmax(row) == class)));
        check(&truth[index], &[0, 1, 2].map(|class| of(&|row| usize::from(table.truth[row]) == class)));
        for class in 0..3 {
            let is_known = |row: usize| table.truth[row] != UNCODED;
            let is_so = |row: usize| usize::from(table.truth[row]) == class;
            let labeled = of(&|row| is_known(row) && argmax(row) == class).mean;
            let (so, both) = (of(&is_so).mean, of(&|row| is_so(row) && argmax(row) == class).mean);
            let sum = |is_of: &dyn Fn(usize) -> bool| people.iter().map(|&row| only(is_of)[row]).sum::<f64>();
            let wrong = |row: usize| is_known(row) && !is_so(row) && argmax(row) == class;
            let missed = |row: usize| is_so(row) && argmax(row) != class;
            let bias = biases[index][class].unwrap();
            near(bias.bias, labeled - so, labeled);
            let positives = sum(&wrong) / sum(&|row| is_known(row) && argmax(row) == class) * (of(&wrong).mean - both);
            near(bias.from_false_positives, positives, labeled);
            near(bias.from_false_negatives, -sum(&missed) / sum(&is_so) * (of(&missed).mean - both), labeled);
            near(bias.from_false_positives + bias.from_false_negatives, bias.bias, labeled);
        }
        if index > 0 {
            for (own, figure) in labels[index].classes.iter().map(|own| (own, own.unwrap())) {
                let (rate, error) = (own.unwrap().estimate.unwrap(), figure.error.unwrap());
                let expected = wilson(rate, rate * (1.0 - rate) / (error * error));
                near(figure.interval.unwrap().low, expected.low, 1.0);
                near(figure.interval.unwrap().high, expected.high, 1.0);
            }
        }
    }
}

#[test]
fn a_rate_of_100_percent_has_the_interval_of_the_effective_sample_size() {
    let (names, weights) = (["no", "yes"].map(String::from), [1.0, 2.0, 0.5, 4.0]);
    let (classes, q) = (classes(2), [1.0, 0.0].repeat(4));
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
    let outcomes = Outcomes::levels(&[1; 4], &names).unwrap().with_weights(&weights).unwrap();
    let labels = Labels::new(vec![0; 4], &classes).unwrap();
    let n = 7.5 * 7.5 / (1.0 + 4.0 + 0.25 + 16.0);
    for estimates in [
        LabelEstimator::of(&scores, &outcomes, &labels).unwrap().estimates(),
        Weighted::of(&scores, &outcomes).unwrap().estimates(),
    ] {
        let figure = estimates[1].classes[0].unwrap();
        assert_eq!((figure.estimate, figure.error), (Some(1.0), Some(0.0)));
        near(figure.effective_n, n, n);
        near(figure.interval.unwrap().low, wilson(1.0, n).low, 1.0);
        assert_eq!(estimates[1].classes[1], None);
    }
}

/// Solves a system of linear equations by Gauss-Jordan elimination with pivoting, for each column of an identity matrix.
fn inverted(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    for (row, own) in matrix.iter_mut().enumerate() {
        own.extend((0..size).map(|column| f64::from(u8::from(row == column))));
    }
    for column in 0..size {
        let pivot = (column..size).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()));
        matrix.swap(column, pivot.unwrap());
        let own = matrix[column].clone();
        for row in 0..size {
            let factor = if row == column { 1.0 - 1.0 / own[column] } else { matrix[row][column] / own[column] };
            matrix[row].iter_mut().zip(&own).for_each(|(entry, more)| *entry -= factor * more);
        }
    }
    matrix.into_iter().map(|row| row[size..].to_vec()).collect()
}

#[test]
fn linear_estimates_are_weighted_least_squares_with_robust_errors() {
    const K: usize = 3;
    let table = Table::new(3, 300, K);
    let found = both(&table, |outcomes| Linear::of(&table.scores(), outcomes).unwrap().estimates());
    for (estimate, values) in found.iter().zip(table.averaged()) {
        // People with weight 0 are not in the sample.
        let people: Vec<usize> = table.people(&values).into_iter().filter(|&row| table.weights[row] > 0.0).collect();
        let q = |row: usize, class: usize| table.q[row * K + class];
        let sum = |of: &dyn Fn(usize) -> f64| people.iter().map(|&row| of(row)).sum::<f64>();
        let square = |of: &dyn Fn(usize) -> f64| -> Vec<Vec<f64>> {
            (0..K).map(|a| (0..K).map(|b| sum(&|row| of(row) * q(row, a) * q(row, b))).collect()).collect()
        };
        let inverse = inverted(square(&|row| table.weights[row]));
        let products: Vec<f64> =
            (0..K).map(|class| sum(&|row| table.weights[row] * q(row, class) * values[row])).collect();
        let beta: Vec<f64> = (0..K).map(|a| (0..K).map(|b| inverse[a][b] * products[b]).sum()).collect();
        let residual = |row: usize| values[row] - (0..K).map(|class| beta[class] * q(row, class)).sum::<f64>();
        let meat = square(&|row| (table.weights[row] * residual(row)).powi(2));
        let n = people.len() as f64;
        let covariance = |a: usize, b: usize| {
            let pairs = (0..K).flat_map(|c| (0..K).map(move |d| (c, d)));
            n / (n - K as f64) * pairs.map(|(c, d)| inverse[a][c] * meat[c][d] * inverse[d][b]).sum::<f64>()
        };
        for class in 0..K {
            let figure = estimate.classes[class].unwrap();
            near(figure.estimate.unwrap(), beta[class], beta[class].abs().max(1.0));
            near(figure.error.unwrap(), covariance(class, class).sqrt(), covariance(class, class).sqrt());
        }
        let gap = estimate.gap(2, 0).unwrap();
        let error = (covariance(2, 2) + covariance(0, 0) - 2.0 * covariance(2, 0)).sqrt();
        near(gap.error.unwrap(), error, error);
    }
}

#[test]
fn imputed_estimates_are_rubins_rules_for_weighted_means() {
    const DRAWS: u32 = 7;
    let table = Table::new(4, 300, 3);
    let thompson = Rule::Thompson.fit(&table.scores(), &Settings { seed: 5, ..Settings::default() }).unwrap();
    let draws: Vec<rule::Allotment> =
        (0..u64::from(DRAWS)).map(|draw| thompson.allot(&table.scores(), draw).unwrap()).collect();
    let found = both(&table, |outcomes| Imputed::of(&table.scores(), outcomes, DRAWS, 5).unwrap().estimates());
    for (estimate, values) in found.iter().zip(table.averaged()) {
        // The mean and its variance in a draw, summed over the people of each row with this class.
        let of_draw = |draw: &rule::Allotment, class: usize| {
            let known = |row: &usize| !values[*row].is_nan();
            let own = (0..values.len()).filter(known);
            let people: Vec<usize> =
                own.flat_map(|row| std::iter::repeat_n(row, draw.row(row)[class] as usize)).collect();
            ByHand::new(&people, &table.weights, &values)
        };
        let rubin = |of: &dyn Fn(&rule::Allotment) -> (f64, f64)| {
            let own: Vec<(f64, f64)> = draws.iter().map(of).collect();
            let m = own.len() as f64;
            let mean = own.iter().map(|draw| draw.0).sum::<f64>() / m;
            let within = own.iter().map(|draw| draw.1).sum::<f64>() / m;
            let between = own.iter().map(|draw| (draw.0 - mean).powi(2)).sum::<f64>() / (m - 1.0);
            (mean, within, within + (1.0 + 1.0 / m) * between)
        };
        for class in 0..3 {
            let own = |draw: &rule::Allotment| of_draw(draw, class);
            let (mean, within, total) = rubin(&|draw| (own(draw).mean, own(draw).error().powi(2)));
            let figure = estimate.classes[class].unwrap();
            near(figure.estimate.unwrap(), mean, mean);
            near(figure.error.unwrap(), total.sqrt(), total.sqrt());
            let effective_n = draws.iter().map(|draw| own(draw).effective_n).sum::<f64>() / f64::from(DRAWS);
            near(figure.effective_n, effective_n * within / total, effective_n);
        }
        let (gap, _, total) = rubin(&|draw| {
            let (one, other) = (of_draw(draw, 2), of_draw(draw, 1));
            (one.mean - other.mean, one.error().powi(2) + other.error().powi(2))
        });
        near(estimate.gap(2, 1).unwrap().difference.unwrap(), gap, 500.0);
        near(estimate.gap(2, 1).unwrap().error.unwrap(), total.sqrt(), total.sqrt());
    }
}

/// Returns all results for a table as one text.
fn everything(table: &Table) -> String {
    let (scores, allotment) = (table.scores(), table.allotment());
    let weighted = [Inference::Population, Inference::File].map(|inference| {
        both(table, |outcomes| Weighted::with_inference(&scores, outcomes, inference).unwrap().estimates())
    });
    let labels = |outcomes: &Outcomes<'_>| LabelEstimator::of_allotment(&scores, outcomes, &allotment).unwrap();
    let hard = both(table, |outcomes| labels(outcomes).estimates());
    let truth = both(table, |outcomes| labels(outcomes).truth().unwrap());
    let biases = table.outcomes().map(|outcomes| labels(&outcomes).biases());
    let linear = both(table, |outcomes| Linear::of(&scores, outcomes).unwrap().estimates());
    let imputed = both(table, |outcomes| Imputed::of(&scores, outcomes, 5, 3).unwrap().estimates());
    let largest = table.outcomes().map(|outcomes| Weighted::of(&scores, &outcomes).unwrap().largest());
    format!("{weighted:?}{hard:?}{truth:?}{biases:?}{linear:?}{imputed:?}{largest:?}")
}

#[test]
fn neither_order_nor_threads_nor_a_power_of_two_can_be_seen() {
    let table = Table::new(5, 1500, 3);
    let expected = everything(&table);
    let mut rows: Vec<usize> = (0..1500).collect();
    Chance::new(8).shuffle(&mut rows);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| everything(&table.part(&rows))), expected);
    for power in [1, -3, 40, -61] {
        assert_eq!(everything(&table.scaled(2f64.powi(power))), expected, "2^{power}");
    }
    let other = everything(&table.scaled(3.0));
    assert_ne!(other, expected, "rounding of products differs");
}

#[test]
fn rows_with_weight_zero_change_nothing() {
    let table = Table::new(6, 500, 3);
    let rows: Vec<usize> = (0..500).filter(|&row| table.weights[row] > 0.0).collect();
    assert!(rows.len() < 490);
    assert_eq!(everything(&table.part(&rows)), everything(&table));
}

#[test]
fn weights_of_one_give_the_estimates_without_weights() {
    let table = Table { weights: vec![1.0; 400], ..Table::new(7, 400, 3) };
    let (scores, allotment) = (table.scores(), table.allotment());
    let estimates = |outcomes: &Outcomes<'_>| -> Vec<Estimate> {
        let mut all = LabelEstimator::of_allotment(&scores, outcomes, &allotment).unwrap().estimates();
        for inference in [Inference::Population, Inference::File] {
            all.extend(Weighted::with_inference(&scores, outcomes, inference).unwrap().estimates());
        }
        all.extend(Linear::of(&scores, outcomes).unwrap().estimates());
        all.extend(Imputed::of(&scores, outcomes, 5, 3).unwrap().estimates());
        all
    };
    for (outcomes, plain) in table.outcomes().iter().zip(&table.unweighted()) {
        for (one, other) in estimates(outcomes).iter().zip(estimates(plain)) {
            for (own, its) in one.classes.iter().flatten().zip(other.classes.iter().flatten()) {
                near(own.estimate.unwrap(), its.estimate.unwrap(), 500.0);
                near(own.error.unwrap(), its.error.unwrap(), its.error.unwrap());
                near(own.effective_n, its.effective_n, its.effective_n);
            }
            for (own, its) in one.gaps.iter().zip(&other.gaps) {
                near(own.interval.unwrap().low, its.interval.unwrap().low, 500.0);
            }
        }
    }
}

#[test]
fn batches_merge_only_with_batches_of_their_kind() {
    let table = Table::new(8, 600, 3);
    let parts: Vec<Table> = (0..600).collect::<Vec<_>>().chunks(170).map(|rows| table.part(rows)).collect();
    for kind in 0..2 {
        for inference in [Inference::Population, Inference::File] {
            let fit =
                |table: &Table| Weighted::with_inference(&table.scores(), &table.outcomes()[kind], inference).unwrap();
            let mut all = fit(&parts[0]);
            parts[1..].iter().for_each(|part| all.merge(&fit(part)).unwrap());
            assert_eq!((all.estimates(), all.weight()), (fit(&table).estimates(), fit(&table).weight()));
            let linear = |part: &Table| Linear::with(&all, &part.scores(), &part.outcomes()[kind]).unwrap();
            let mut merged = linear(&parts[0]);
            parts[1..].iter().for_each(|part| merged.merge(&linear(part)).unwrap());
            assert_eq!(merged.estimates(), linear(&table).estimates());
        }
        let labels = |table: &Table, outcomes: &Outcomes<'_>| {
            LabelEstimator::of_allotment(&table.scores(), outcomes, &table.allotment()).unwrap()
        };
        let imputed = |table: &Table, outcomes: &Outcomes<'_>| Imputed::of(&table.scores(), outcomes, 5, 2).unwrap();
        let own = |part: &Table| (labels(part, &part.outcomes()[kind]), imputed(part, &part.outcomes()[kind]));
        let mut all = own(&parts[0]);
        for part in &parts[1..] {
            all.0.merge(&own(part).0).unwrap();
            all.1.merge(&own(part).1).unwrap();
        }
        assert_eq!((all.0.estimates(), all.0.truth()), (own(&table).0.estimates(), own(&table).0.truth()));
        assert_eq!(all.1.estimates(), own(&table).1.estimates());

        let (with, without) = (table.outcomes()[kind], table.unweighted()[kind]);
        let expected = Err(Error::Tally { what: "weights" });
        assert_eq!(labels(&table, &with).merge(&labels(&table, &without)), expected);
        assert_eq!(imputed(&table, &without).merge(&imputed(&table, &with)), expected);
        let mut weighted = Weighted::of(&table.scores(), &with).unwrap();
        let plain = Weighted::of(&table.scores(), &without).unwrap();
        assert_eq!(weighted.merge(&plain), expected);
        assert_eq!(Linear::with(&plain, &table.scores(), &with).map(drop), expected);
        let file = Weighted::with_inference(&table.scores(), &with, Inference::File).unwrap();
        assert_eq!(weighted.merge(&file), Err(Error::Tally { what: "inference" }));
    }
}

#[test]
fn invalid_weights_are_refused() {
    let outcomes = Outcomes::numbers(&[1.0, 2.0, 3.0]).unwrap();
    for value in [-1.0, f64::NAN, f64::INFINITY, 1e31] {
        let error = outcomes.with_weights(&[1.0, value, 1.0]).unwrap_err();
        assert!(matches!(error, Error::Weight { row: 1, .. }), "{error}");
    }
    for tiny in [0.0, 1e-31] {
        let error = outcomes.with_weights(&[tiny; 3]).unwrap_err().to_string();
        assert!(error.starts_with("the largest weight is"), "{error}");
    }
    assert!(outcomes.with_weights(&[1.0; 2]).is_err());
    assert!(outcomes.with_weights(&[1e-200, 1e30, 0.0]).is_ok());
}

#[test]
fn weights_and_numbers_of_any_size_give_finite_results() {
    let (classes, q) = (classes(3), [0.5, 0.5, 0.0, 0.25, 0.75, 0.0, 0.7, 0.2, 0.1]);
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
    let labels = Labels::new(vec![0, 1, 2], &classes).unwrap();
    // The only person with a score of the last class has a weight whose square is 0.
    for (numbers, weights) in [([1e100, -1e100, 5.0], [1e30, 1e30, 1e-200]), ([1.0, 2.0, 3.0], [1e-30, 1e-28, 1e-170])]
    {
        let outcomes = Outcomes::numbers_about(&numbers, 0.0).unwrap().with_weights(&weights).unwrap();
        for inference in [Inference::Population, Inference::File] {
            let estimate = Weighted::with_inference(&scores, &outcomes, inference).unwrap().estimates().remove(0);
            assert_eq!(estimate.classes[2], None);
            let figures = estimate.classes.iter().flatten();
            assert!(figures.clone().count() == 2 && figures.clone().all(|own| own.error.unwrap().is_finite()));
        }
        let estimate = LabelEstimator::of(&scores, &outcomes, &labels).unwrap().estimates().remove(0);
        near(estimate.classes[0].unwrap().effective_n, 1.0, 1.0);
        assert_eq!(estimate.classes[2], None);
    }
}

#[test]
fn the_error_about_the_file_is_that_of_unknown_classes() {
    let table = Table::new(9, 300, 3);
    for with_weights in [true, false] {
        let table = if with_weights { table.clone() } else { Table { weights: vec![1.0; 300], ..table.clone() } };
        let outcomes = if with_weights { table.outcomes() } else { table.unweighted() };
        let of = |outcomes: &Outcomes<'_>| {
            Weighted::with_inference(&table.scores(), outcomes, Inference::File).unwrap().estimates()
        };
        let found: Vec<Estimate> = outcomes.iter().flat_map(of).collect();
        for (estimate, values) in found.iter().zip(table.averaged()) {
            let people = table.people(&values);
            let own: Vec<ByHand> = (0..3).map(|class| ByHand::new(&people, &table.column(class), &values)).collect();
            // Cov(Σ w R_a (Y − θ_a), Σ w R_b (Y − θ_b)) / (Σ w q_a Σ w q_b), with one draw of a class per person.
            let all = |class: usize| people.iter().map(|&row| table.column(class)[row]).sum::<f64>();
            let covariance = |a: usize, b: usize| {
                let (one, other) = (all(a), all(b));
                let of = |&row: &usize| {
                    let (q, p) = (table.q[row * 3 + a], table.q[row * 3 + b]);
                    let both = if a == b { q * (1.0 - q) } else { -q * p };
                    table.weights[row].powi(2) * both * (values[row] - own[a].mean) * (values[row] - own[b].mean)
                };
                people.iter().map(of).sum::<f64>() / one / other
            };
            for class in 0..3 {
                let figure = estimate.classes[class].unwrap();
                near(figure.estimate.unwrap(), own[class].mean, own[class].mean);
                let error = covariance(class, class).sqrt();
                near(figure.error.unwrap(), error, error);
            }
            let error = (covariance(0, 0) + covariance(1, 1) - 2.0 * covariance(0, 1)).sqrt();
            near(estimate.gap(0, 1).unwrap().error.unwrap(), error, error);
        }
    }
}

#[test]
fn known_classes_are_certain_in_the_file() {
    let (classes, q) = (classes(2), [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
    let (codes, names) = ([1, 0, 1, 1], ["no", "yes"].map(String::from));
    let levels = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
    for outcomes in [levels, levels.with_weights(&[1.0, 3.0, 0.3, 0.7]).unwrap()] {
        let file = Weighted::with_inference(&scores, &outcomes, Inference::File).unwrap().estimates().remove(0);
        for figure in file.classes.iter().flatten() {
            let rate = figure.estimate.unwrap();
            assert_eq!((figure.error, figure.interval), (Some(0.0), Some(Interval { low: rate, high: rate })));
        }
        let gap = file.gap(0, 1).unwrap();
        assert_eq!(gap.interval.map(|own| (own.low, own.high)), gap.difference.map(|own| (own, own)));
        let population = Weighted::of(&scores, &outcomes).unwrap().estimates().remove(0);
        assert!(population.classes.iter().flatten().all(|own| own.interval.unwrap().high > own.interval.unwrap().low));
    }
}

/// Returns how often the intervals of each inference cover the file's own mean of the class of 7% and its gap to the
/// first class. Classes are drawn from the scores, and outcomes do not depend on them otherwise.
fn coverage(with_weights: bool, with_numbers: bool) -> [[f64; 2]; 2] {
    const ROWS: usize = 600;
    const FILES: usize = 25;
    const DRAWS: usize = 80;
    let mut chance = Chance::new(31);
    let mut covered = [[0usize; 2]; 2];
    let classes = classes(3);
    let names = ["no", "yes"].map(String::from);
    for _ in 0..FILES {
        let q: Vec<f64> = (0..ROWS)
            .flat_map(|_| {
                let (small, black) = (0.15 * chance.unit(), 0.5 * chance.unit());
                [1.0 - small - black, black, small]
            })
            .collect();
        let codes: Vec<u16> = (0..ROWS).map(|row| u16::from(chance.unit() < 0.3 + 0.4 * q[row * 3 + 1])).collect();
        let numbers: Vec<f64> = codes.iter().map(|&code| 50.0 * f64::from(code) + 30.0 * chance.unit()).collect();
        let weights: Vec<f64> = (0..ROWS).map(|_| if with_weights { 0.5 + 2.0 * chance.unit() } else { 1.0 }).collect();
        let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
        let outcomes = if with_numbers {
            Outcomes::numbers(&numbers).unwrap()
        } else {
            Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap()
        };
        let outcomes = if with_weights { outcomes.with_weights(&weights).unwrap() } else { outcomes };
        let intervals = [Inference::Population, Inference::File].map(|inference| {
            let own = Weighted::with_inference(&scores, &outcomes, inference).unwrap().estimates().remove(0);
            [own.classes[2].unwrap().interval.unwrap(), own.gap(2, 0).unwrap().interval.unwrap()]
        });
        for _ in 0..DRAWS {
            let (mut sums, mut all) = ([0.0; 3], [0.0; 3]);
            for row in 0..ROWS {
                let mut left = chance.unit();
                let class = (0..2).find(|&class| {
                    left -= q[row * 3 + class];
                    left < 0.0
                });
                let value = if with_numbers { numbers[row] } else { f64::from(codes[row]) };
                sums[class.unwrap_or(2)] += weights[row] * value;
                all[class.unwrap_or(2)] += weights[row];
            }
            let mean = |class: usize| sums[class] / all[class];
            for (intervals, covered) in intervals.iter().zip(&mut covered) {
                for (index, value) in [mean(2), mean(2) - mean(0)].into_iter().enumerate() {
                    covered[index] += usize::from((intervals[index].low..=intervals[index].high).contains(&value));
                }
            }
        }
    }
    covered.map(|own| own.map(|own| own as f64 / (FILES * DRAWS) as f64))
}

#[test]
fn intervals_about_the_file_cover_its_own_means_and_those_about_the_population_do_not() {
    for (with_weights, with_numbers) in [(false, false), (true, false), (false, true), (true, true)] {
        let [population, file] = coverage(with_weights, with_numbers);
        for (own, other) in file.into_iter().zip(population) {
            assert!((0.93..=0.97).contains(&own), "weights {with_weights}, numbers {with_numbers}: {file:?}");
            assert!(other < 0.9, "weights {with_weights}, numbers {with_numbers}: {population:?}");
        }
    }
}
