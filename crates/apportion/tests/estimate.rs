//! Tests of outcomes by class: against independently written formulas, a plain EM, simulations with known answers, and
//! examples computed by hand.
#![allow(clippy::unwrap_used, clippy::needless_range_loop)] // also in helper functions; classes are indices here

mod common;

use apportion::audit::*;
use apportion::estimate::*;
use apportion::*;
use common::{Chance, classes, continuous};
use proptest::prelude::*;

/// A table with both kinds of outcomes.
struct Table {
    classes: Classes,
    q: Vec<f64>,
    truth: Vec<Label>,
    counts: Vec<u64>,
    keys: Vec<u64>,
    numbers: Vec<f64>,
    codes: Vec<u16>,
    cells: Vec<u32>,
    groups: Vec<u32>,
    group_names: Vec<String>,
}

const LEVELS: usize = 3;
const CELLS: usize = 7;

fn level_names() -> Vec<String> {
    ["no", "yes", "maybe"].map(String::from).to_vec()
}

impl Table {
    /// Creates random rows, with outcomes that depend on the scores and are sometimes missing.
    fn new(seed: u64, rows: usize, k: usize) -> Table {
        let mut chance = Chance::new(seed);
        let q = continuous(&mut chance, rows, k);
        let draw = |chance: &mut Chance, row: usize| {
            let mut left = chance.unit();
            let class = q[row * k..][..k].iter().position(|share| {
                left -= share;
                left < 0.0
            });
            class.unwrap_or(0)
        };
        let truth: Vec<Label> = (0..rows)
            .map(|row| if chance.below(10) == 0 { UNCODED } else { draw(&mut chance, row) as Label })
            .collect();
        let numbers = (0..rows).map(|row| match chance.below(12) {
            0 => f64::NAN,
            _ => 1e6 + 300.0 * q[row * k] + chance.unit() * 100.0,
        });
        let numbers = numbers.collect();
        let codes = (0..rows).map(|row| match chance.below(12) {
            0 => NO_LEVEL,
            _ if chance.unit() < q[row * k] => 1,
            _ => chance.below(3) as u16,
        });
        let codes = codes.collect();
        Table {
            classes: classes(k),
            truth,
            counts: (0..rows).map(|_| chance.below(4)).collect(),
            keys: (0..rows as u64).map(|row| seed::hash(9, row, 0)).collect(),
            numbers,
            codes,
            cells: (0..rows).map(|_| chance.below(CELLS as u64) as u32).collect(),
            groups: (0..rows).map(|_| chance.below(2) as u32).collect(),
            group_names: ["east", "west"].map(String::from).to_vec(),
            q,
        }
    }

    fn k(&self) -> usize {
        self.classes.len()
    }

    fn rows(&self) -> usize {
        self.codes.len()
    }

    fn scores(&self) -> Scores<'_> {
        let scores = Scores::new(&self.classes, Matrix::RowsF64(&self.q)).unwrap();
        scores.with_truth(&self.truth).unwrap().with_keys(Keys::Given(&self.keys)).unwrap()
    }

    fn grouped(&self) -> Scores<'_> {
        self.scores().with_groups(Groups { codes: &self.groups, names: &self.group_names }).unwrap()
    }

    /// Returns the given rows in the given order.
    fn part(&self, rows: &[usize]) -> Table {
        let k = self.k();
        let of = |row: &usize| self.q[row * k..][..k].to_vec();
        Table {
            classes: self.classes.clone(),
            q: rows.iter().flat_map(of).collect(),
            truth: rows.iter().map(|&row| self.truth[row]).collect(),
            counts: rows.iter().map(|&row| self.counts[row]).collect(),
            keys: rows.iter().map(|&row| self.keys[row]).collect(),
            numbers: rows.iter().map(|&row| self.numbers[row]).collect(),
            codes: rows.iter().map(|&row| self.codes[row]).collect(),
            cells: rows.iter().map(|&row| self.cells[row]).collect(),
            groups: rows.iter().map(|&row| self.groups[row]).collect(),
            group_names: self.group_names.clone(),
        }
    }

    /// Returns a table with one row per person.
    fn expanded(&self) -> Table {
        let rows: Vec<usize> =
            (0..self.rows()).flat_map(|row| std::iter::repeat_n(row, self.counts[row] as usize)).collect();
        self.part(&rows)
    }

    fn argmax(&self) -> Labels {
        Rule::Argmax.label(&self.scores(), &Settings::default()).unwrap().labels
    }

    /// Returns the averaged quantities: the numbers, and 0 or 1 for each level; NaN if unknown.
    fn averaged(&self) -> Vec<Vec<f64>> {
        let level = |level: u16| {
            let hit = |&code: &u16| if code == NO_LEVEL { f64::NAN } else { f64::from(u8::from(code == level)) };
            self.codes.iter().map(hit).collect()
        };
        std::iter::once(self.numbers.clone()).chain((0..LEVELS as u16).map(level)).collect()
    }
}

/// Returns the estimates for the numbers, followed by those for each level.
fn both(of: impl Fn(&Outcomes<'_>) -> Vec<Estimate>, table: &Table) -> Vec<Estimate> {
    let names = level_names();
    let numbers = Outcomes::numbers_about(&table.numbers, 1e6).unwrap();
    let levels = Outcomes::levels(&table.codes, &names).unwrap();
    of(&numbers).into_iter().chain(of(&levels)).collect()
}

fn near(found: f64, expected: f64, scale: f64) {
    assert!((found - expected).abs() <= 1e-9 * scale.max(1.0), "{found} and not {expected}");
}

/// A weighted mean and its standard error: Σwy/Σw and √Σ(w/Σw)²(y − mean)².
fn by_hand(weights: &[f64], values: &[f64]) -> (f64, f64, f64) {
    let known = || weights.iter().zip(values).filter(|(_, value)| !value.is_nan());
    let all: f64 = known().map(|(weight, _)| weight).sum();
    let mean = known().map(|(weight, value)| weight * value).sum::<f64>() / all;
    let squares = known().map(|(weight, value)| (weight / all * (value - mean)).powi(2)).sum::<f64>();
    (mean, squares.sqrt(), all * all / known().map(|(weight, _)| weight * weight).sum::<f64>())
}

fn column(table: &Table, class: usize) -> Vec<f64> {
    table.q.iter().skip(class).step_by(table.k()).copied().collect()
}

#[test]
fn the_weighted_estimate_is_the_formula() {
    let table = Table::new(1, 400, 4);
    let found = both(|outcomes| Weighted::of(&table.scores(), outcomes).unwrap().estimates(), &table);
    for (estimate, values) in found.iter().zip(table.averaged()) {
        let means: Vec<(f64, f64, f64)> = (0..4).map(|class| by_hand(&column(&table, class), &values)).collect();
        for (figure, (mean, error, effective_n)) in estimate.classes.iter().zip(&means) {
            let figure = figure.unwrap();
            near(figure.estimate.unwrap(), *mean, mean.abs());
            near(figure.error.unwrap(), *error, *error);
            near(figure.effective_n, *effective_n, *effective_n);
            assert!(figure.interval.unwrap().low < *mean && *mean < figure.interval.unwrap().high);
        }
        for (a, b) in [(0, 1), (3, 1), (2, 0)] {
            // The variance of a difference of two weighted means, summed over people.
            let (one, other) = (column(&table, a), column(&table, b));
            let sums = [&one, &other].map(|column| {
                column.iter().zip(&values).filter(|(_, value)| !value.is_nan()).map(|(q, _)| q).sum::<f64>()
            });
            let known = (0..table.rows()).filter(|&row| !values[row].is_nan());
            let squares = known.map(|row| {
                let part = one[row] / sums[0] * (values[row] - means[a].0);
                (part - other[row] / sums[1] * (values[row] - means[b].0)).powi(2)
            });
            let error = squares.sum::<f64>().sqrt();
            let gap = estimate.gap(a, b).unwrap();
            near(gap.difference.unwrap(), means[a].0 - means[b].0, means[a].0.abs());
            near(gap.error.unwrap(), error, error);
            // The interval joins the two intervals with the correlation that the three errors imply.
            let both = (means[a].1.powi(2) + means[b].1.powi(2) - error * error) / 2.0;
            let correlation = both / means[a].1 / means[b].1;
            let ends = |class: usize| {
                let (figure, mean) = (estimate.classes[class].unwrap(), means[class].0);
                (mean - figure.interval.unwrap().low, figure.interval.unwrap().high - mean)
            };
            let ((below, _), (_, above)) = (ends(a), ends(b));
            let half = (below * below + above * above - 2.0 * correlation * below * above).sqrt();
            assert!((gap.interval.unwrap().low - (means[a].0 - means[b].0 - half)).abs() < 1e-6 * means[a].0.abs());
            if values[0] > 2.0 || values.iter().any(|value| *value > 2.0) {
                // For numbers, this is the normal interval.
                let high = means[a].0 - means[b].0 + 1.959_963_984_540_054 * error;
                near(gap.interval.unwrap().high, high, means[a].0.abs());
            }
        }
    }
}

/// Inverts a matrix by Gauss-Jordan elimination with pivoting.
fn inverted(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    for (row, own) in matrix.iter_mut().enumerate() {
        own.extend((0..size).map(|column| f64::from(u8::from(row == column))));
    }
    for column in 0..size {
        let best = (column..size).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs())).unwrap();
        matrix.swap(column, best);
        let pivot = matrix[column][column];
        matrix[column].iter_mut().for_each(|own| *own /= pivot);
        let from = matrix[column].clone();
        for row in (0..size).filter(|&row| row != column) {
            let times = matrix[row][column];
            matrix[row].iter_mut().zip(&from).for_each(|(own, other)| *own -= times * other);
        }
    }
    matrix.into_iter().map(|row| row[size..].to_vec()).collect()
}

/// Least squares without intercept, one row per person, with the HC1 covariance. Returns both.
fn regressed(rows: &[Vec<f64>], values: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let k = rows[0].len();
    let sum = |of: &dyn Fn(usize) -> f64| (0..rows.len()).map(of).sum::<f64>();
    let gram = (0..k).map(|a| (0..k).map(|b| sum(&|row| rows[row][a] * rows[row][b])).collect()).collect();
    let inverse = inverted(gram);
    let right: Vec<f64> = (0..k).map(|a| sum(&|row| rows[row][a] * values[row])).collect();
    let beta: Vec<f64> = (0..k).map(|a| (0..k).map(|b| inverse[a][b] * right[b]).sum()).collect();
    // Each person's part of the error of the coefficients; their squares sum to the sandwich.
    let parts: Vec<Vec<f64>> = (0..rows.len())
        .map(|row| {
            let residual = values[row] - (0..k).map(|c| beta[c] * rows[row][c]).sum::<f64>();
            (0..k).map(|a| residual * (0..k).map(|c| inverse[a][c] * rows[row][c]).sum::<f64>()).collect()
        })
        .collect();
    let factor = rows.len() as f64 / (rows.len() - k) as f64;
    let covariance = |a: usize, b: usize| factor * sum(&|row| parts[row][a] * parts[row][b]);
    (beta, (0..k).map(|a| (0..k).map(|b| covariance(a, b)).collect()).collect())
}

#[test]
fn the_linear_estimate_is_least_squares_with_robust_errors() {
    let table = Table::new(21, 500, 4);
    let counted = table.scores().with_counts(&table.counts).unwrap();
    let found = both(|outcomes| Linear::of(&counted, outcomes).unwrap().estimates(), &table);
    let people = table.expanded();
    for (estimate, values) in found.iter().zip(people.averaged()) {
        let known: Vec<usize> = (0..people.rows()).filter(|&row| !values[row].is_nan()).collect();
        let rows: Vec<Vec<f64>> = known.iter().map(|&row| people.q[row * 4..][..4].to_vec()).collect();
        // Relative to 0 for shares and to a million for numbers, for the precision of this check.
        let about = if values.iter().any(|value| *value > 2.0) { 1e6 } else { 0.0 };
        let (beta, covariance) = regressed(&rows, &known.iter().map(|&row| values[row] - about).collect::<Vec<_>>());
        for class in 0..4 {
            let (figure, error) = (estimate.classes[class].unwrap(), covariance[class][class].sqrt());
            near(figure.estimate.unwrap() - about, beta[class], 1e3);
            near(figure.error.unwrap(), error, 1.0);
            // Normal, also for shares.
            let interval = figure.interval.unwrap();
            near(interval.low - about, beta[class] - 1.959_963_984_540_054 * error, 1e3);
            near(interval.high - about, beta[class] + 1.959_963_984_540_054 * error, 1e3);
        }
        for (a, b) in [(0, 1), (3, 1), (2, 0)] {
            let gap = estimate.gap(a, b).unwrap();
            let error = (covariance[a][a] + covariance[b][b] - 2.0 * covariance[a][b]).sqrt();
            near(gap.difference.unwrap(), beta[a] - beta[b], 1e3);
            near(gap.error.unwrap(), error, 1.0);
            near(gap.interval.unwrap().high, beta[a] - beta[b] + 1.959_963_984_540_054 * error, 1e3);
        }
    }
    // The shares of all levels add up to one.
    for class in 0..4 {
        let all: f64 = found[1..].iter().map(|own| own.classes[class].unwrap().estimate.unwrap()).sum();
        near(all, 1.0, 1.0);
    }
}

/// Returns the linear estimate of the share of level 1.
fn linear_share(q: &[f64], k: usize, codes: &[u16]) -> (Linear, Estimate) {
    let (classes, names) = (classes(k), level_names()[..2].to_vec());
    let scores = Scores::new(&classes, Matrix::RowsF64(q)).unwrap();
    let outcomes = Outcomes::levels(codes, &names).unwrap().counting(1).unwrap();
    let linear = Linear::of(&scores, &outcomes).unwrap();
    let estimate = linear.estimates().remove(0);
    (linear, estimate)
}

#[test]
fn classes_that_the_scores_do_not_determine_have_no_linear_estimate() {
    let mut chance = Chance::new(22);
    let first: Vec<f64> = (0..300).map(|_| chance.unit()).collect();
    let codes: Vec<u16> = first.iter().map(|&own| u16::from(chance.unit() < 0.2 + 0.5 * own)).collect();
    let rows = |of: &dyn Fn(f64) -> Vec<f64>| first.iter().flat_map(|&own| of(own)).collect::<Vec<f64>>();
    let (_, expected) = linear_share(&rows(&|own| vec![own, 1.0 - own]), 2, &codes);
    // The last class has no scores; the second and third share the rest one to three.
    let (linear, found) = linear_share(&rows(&|own| vec![own, (1.0 - own) / 4.0, (1.0 - own) * 0.75, 0.0]), 4, &codes);
    assert_eq!(linear.undetermined(), [1, 2]);
    assert_eq!(found.classes.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false, false]);
    assert!(found.gaps.is_empty());
    let (one, other) = (found.classes[0].unwrap(), expected.classes[0].unwrap());
    near(one.estimate.unwrap(), other.estimate.unwrap(), 1.0);
    near(one.error.unwrap(), other.error.unwrap(), 1.0);
    // Everyone has the same scores: nothing is determined.
    let (linear, found) = linear_share(&rows(&|_| vec![0.3, 0.7]), 2, &codes);
    assert_eq!((linear.undetermined(), &found.classes[..]), (vec![0, 1], &[None, None][..]));
    // A class whose scores are a sum of others.
    let mixed = |own: f64| vec![own / 2.0, (1.0 - own) / 2.0, 0.5];
    let (linear, found) = linear_share(&rows(&mixed), 3, &codes);
    assert_eq!((linear.undetermined(), found.gaps.len()), (vec![0, 1, 2], 0));
    // No outcomes at all, and as many people as classes.
    let (linear, found) = linear_share(&rows(&|own| vec![own, 1.0 - own]), 2, &[NO_LEVEL; 300]);
    assert_eq!((linear.undetermined(), &found.classes[..]), (vec![], &[None, None][..]));
    let (_, found) = linear_share(&[0.9, 0.1, 0.2, 0.8], 2, &[1, 0]);
    let figure = found.classes[0].unwrap();
    near(figure.estimate.unwrap(), 0.8 / 0.7, 1.0); // more than 100%, and not clipped
    assert_eq!((figure.error, figure.interval, found.gap(0, 1).unwrap().error), (None, None, None));
    let many = Classes::new((0..33).map(|class| format!("c{class}"))).unwrap();
    let q: Vec<f64> = (0..33).map(|class| f64::from(u8::from(class == 0))).collect();
    let scores = Scores::new(&many, Matrix::RowsF64(&q)).unwrap();
    let message = Linear::of(&scores, &Outcomes::numbers(&[1.0]).unwrap()).unwrap_err().to_string();
    assert!(message.contains("the number of classes of the linear estimator"), "{message}");
}

/// If outcome and scores are uncorrelated within each class, the intervals cover the truth as often as they say; those of
/// the weighted estimate do not.
#[test]
fn linear_intervals_cover_if_their_assumption_holds() {
    const REPLICATES: usize = 1500;
    let (rates, mut chance) = ([0.7, 0.4, 0.2], Chance::new(23));
    let (classes, names) = (classes(3), level_names()[..2].to_vec());
    let (mut covered, mut gaps, mut weighted) = ([0; 3], 0, 0);
    for _ in 0..REPLICATES {
        let q = continuous(&mut chance, 400, 3);
        let codes: Vec<u16> = q
            .chunks_exact(3)
            .map(|row| {
                let at = chance.unit();
                let class = if at < row[0] { 0 } else { 1 + usize::from(at >= row[0] + row[1]) };
                u16::from(chance.unit() < rates[class])
            })
            .collect();
        let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
        let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
        let sums = Weighted::of(&scores, &outcomes).unwrap();
        let own = Linear::with(&sums, &scores, &outcomes).unwrap().estimates().remove(0);
        let contains = |interval: Interval, value: f64| usize::from(interval.low <= value && value <= interval.high);
        for class in 0..3 {
            covered[class] += contains(own.classes[class].unwrap().interval.unwrap(), rates[class]);
        }
        gaps += contains(own.gap(0, 2).unwrap().interval.unwrap(), rates[0] - rates[2]);
        let gap = sums.estimates()[0].gap(0, 2).unwrap();
        weighted += contains(gap.interval.unwrap(), rates[0] - rates[2]);
    }
    for covered in covered.into_iter().chain([gaps]) {
        let share = covered as f64 / REPLICATES as f64;
        assert!((0.93..=0.97).contains(&share), "{share}");
    }
    assert!(weighted < REPLICATES / 2, "{weighted}");
}

#[test]
fn hard_estimates_are_means_by_label_and_by_truth() {
    let table = Table::new(2, 300, 3);
    let labels = table.argmax();
    let of = |outcomes: &Outcomes<'_>| LabelEstimator::of(&table.scores(), outcomes, &labels).unwrap();
    let one_hot = |labels: &[Label], class: usize| -> Vec<f64> {
        labels.iter().map(|&label| f64::from(u8::from(usize::from(label) == class))).collect()
    };
    let by_label = both(|outcomes| of(outcomes).estimates(), &table);
    let by_truth = both(|outcomes| of(outcomes).truth().unwrap(), &table);
    let as_labels =
        both(|outcomes| LabelEstimator::of_truth(&table.scores(), outcomes).unwrap().unwrap().estimates(), &table);
    assert_eq!(by_truth, as_labels);
    for (estimates, labels) in [(by_label, labels.values()), (by_truth, &table.truth[..])] {
        for (estimate, values) in estimates.iter().zip(table.averaged()) {
            for (class, figure) in estimate.classes.iter().enumerate() {
                let (mean, error, effective_n) = by_hand(&one_hot(labels, class), &values);
                let figure = figure.unwrap();
                near(figure.estimate.unwrap(), mean, mean.abs());
                near(figure.error.unwrap(), error, error);
                assert_eq!(figure.effective_n, effective_n);
            }
            let error = |class: usize| estimate.classes[class].unwrap().error.unwrap();
            near(estimate.gap(2, 0).unwrap().error.unwrap(), error(2).hypot(error(0)), error(2));
        }
    }
}

#[test]
fn intervals_of_shares_are_wilsons() {
    let classes = classes(2);
    let q: Vec<f64> = (0..100).flat_map(|row| if row < 20 { [1.0, 0.0] } else { [0.0, 1.0] }).collect();
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
    let codes: Vec<u16> = (0..100).map(|row| u16::from(row >= 20 && row % 4 == 0)).collect();
    let names = level_names()[..2].to_vec();
    let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
    let estimate = Weighted::of(&scores, &outcomes).unwrap().estimates().remove(0);
    // 0 of 20, and 20 of 80.
    for (class, (hits, people)) in [(0, 20), (20, 80)].into_iter().enumerate() {
        let (found, expected) = (estimate.classes[class].unwrap().interval.unwrap(), Interval::of_rate(hits, people));
        near(found.low, expected.unwrap().low, 1.0);
        near(found.high, expected.unwrap().high, 1.0);
    }
}

#[test]
fn intervals_of_gaps_between_labels_are_newcombes() {
    // Newcombe (1998), method 10, and `confint_proportions_2indep(method="newcomb")` of statsmodels.
    for (hits, low, high) in [
        ([(56, 70), (48, 80)], 0.052_431, 0.333_873),
        ([(9, 10), (3, 10)], 0.170_523, 0.809_018),
        ([(5, 56), (0, 29)], -0.038_137, 0.192_560),
        ([(10, 10), (0, 20)], 0.679_086, 1.0),
        ([(12, 12), (25, 50)], 0.223_160, 0.633_555),
    ] {
        let classes = classes(2);
        let people =
            |class: usize| (0..hits[class].1).map(move |person| (class as Label, u16::from(person < hits[class].0)));
        let (labels, codes): (Vec<Label>, Vec<u16>) = people(0).chain(people(1)).unzip();
        let q: Vec<f64> = labels.iter().flat_map(|&label| [f64::from(1 - label), f64::from(label)]).collect();
        let names = level_names()[..2].to_vec();
        let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
        let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
        let labels = Labels::new(labels, &classes).unwrap();
        let estimate = LabelEstimator::of(&scores, &outcomes, &labels).unwrap().estimates().remove(0);
        let found = estimate.gap(0, 1).unwrap().interval.unwrap();
        assert!((found.low - low).abs() < 1e-6 && (found.high - high).abs() < 1e-6, "{found:?}");
        let turned = estimate.gap(1, 0).unwrap().interval.unwrap();
        assert_eq!((turned.low, turned.high), (-found.high, -found.low));
    }
}

#[test]
fn with_scores_that_are_sure_all_estimators_agree() {
    let mut table = Table::new(3, 500, 3);
    table.truth.iter_mut().filter(|truth| **truth == UNCODED).for_each(|truth| *truth = 0);
    table.q =
        table.truth.iter().flat_map(|&truth| (0..3).map(move |class| f64::from(u8::from(class == truth)))).collect();
    let labels = table.argmax();
    let names = level_names();
    let outcomes = Outcomes::levels(&table.codes, &names).unwrap();
    let scores = table.scores();
    let truth = LabelEstimator::of_truth(&scores, &outcomes).unwrap().unwrap().estimates();
    let weighted = Weighted::of(&scores, &outcomes).unwrap().estimates();
    let imputed = Imputed::of(&scores, &outcomes, 5, 1).unwrap().estimates();
    let linear = Linear::of(&scores, &outcomes).unwrap().estimates();
    let birdie = Birdie::fit(&scores, &outcomes, &BirdieOptions::default()).unwrap();
    assert_eq!(LabelEstimator::of(&scores, &outcomes, &labels).unwrap().estimates(), truth);
    for (level, truth) in truth.iter().enumerate() {
        for class in 0..3 {
            let figure = |own: &[Estimate]| own[level].classes[class].unwrap();
            let expected = truth.classes[class].unwrap();
            for found in [figure(&weighted), figure(&imputed)] {
                near(found.estimate.unwrap(), expected.estimate.unwrap(), 1.0);
                near(found.error.unwrap(), expected.error.unwrap(), 1.0);
            }
            let own = figure(&linear);
            near(own.estimate.unwrap(), expected.estimate.unwrap(), 1.0);
            assert!((own.error.unwrap() / expected.error.unwrap() - 1.0).abs() < 0.01, "HC1");
            let own = figure(birdie.estimates());
            near(own.estimate.unwrap(), expected.estimate.unwrap(), 1.0);
            assert!((own.error.unwrap() / expected.error.unwrap() - 1.0).abs() < 0.4, "the bootstrap of 50");
        }
    }
}

/// Returns all results for a table as one text.
fn everything(table: &Table) -> String {
    let (labels, names) = (table.argmax(), level_names());
    let levels = Outcomes::levels(&table.codes, &names).unwrap();
    let scores = table.grouped();
    let all = both(|outcomes| Weighted::of(&scores, outcomes).unwrap().estimates(), table);
    let hard = both(|outcomes| LabelEstimator::of(&scores, outcomes, &labels).unwrap().estimates(), table);
    let imputed = both(|outcomes| Imputed::of(&scores, outcomes, 7, 3).unwrap().estimates(), table);
    let linear = both(|outcomes| Linear::of(&scores, outcomes).unwrap().estimates(), table);
    let birdie = [(Pooling::None, 300), (Pooling::Partial, 300), (Pooling::Partial, 100_000)].map(|(pooling, rows)| {
        let options = BirdieOptions { bootstrap_rows: rows, replicates: 4, pooling, ..BirdieOptions::default() };
        Birdie::fit(&scores, &levels, &options).unwrap().estimates().to_vec()
    });
    let bounds = CellBounds::of(&scores, &levels, &table.cells, CELLS).unwrap().estimates();
    format!("{all:?}{hard:?}{imputed:?}{linear:?}{birdie:?}{bounds:?}")
}

#[test]
fn neither_order_nor_threads_can_be_seen() {
    let table = Table::new(4, 1500, 3);
    let expected = everything(&table);
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    Chance::new(8).shuffle(&mut rows);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| everything(&table.part(&rows))), expected);
}

#[test]
fn batches_merge() {
    let table = Table::new(5, 700, 3);
    let parts: Vec<Table> = (0..700).collect::<Vec<_>>().chunks(190).map(|rows| table.part(rows)).collect();
    let names = level_names();
    fn outcomes<'a>(table: &'a Table, names: &'a [String], numbers: bool) -> Outcomes<'a> {
        if numbers {
            return Outcomes::numbers_about(&table.numbers, 1e6).unwrap();
        }
        Outcomes::levels(&table.codes, names).unwrap()
    }
    for numbers in [true, false] {
        let weighted = |table: &Table| Weighted::of(&table.scores(), &outcomes(table, &names, numbers)).unwrap();
        let mut all = weighted(&parts[0]);
        parts[1..].iter().for_each(|part| all.merge(&weighted(part)).unwrap());
        assert_eq!(all.estimates(), weighted(&table).estimates());
        assert_eq!((all.known(), all.unknown()), (weighted(&table).known(), weighted(&table).unknown()));
        assert_eq!(all.known().rows + all.unknown().rows, 700);
        let whole = Linear::of(&table.scores(), &outcomes(&table, &names, numbers)).unwrap();
        let linear = |part: &Table| Linear::with(&all, &part.scores(), &outcomes(part, &names, numbers)).unwrap();
        let mut merged = linear(&parts[0]);
        parts[1..].iter().for_each(|part| merged.merge(&linear(part)).unwrap());
        assert_eq!(merged.estimates(), whole.estimates());
        // A batch that was fitted on its own has other coefficients.
        let alone = Linear::of(&parts[1].scores(), &outcomes(&parts[1], &names, numbers)).unwrap();
        assert_eq!(merged.merge(&alone).unwrap_err(), Error::Tally { what: "coefficients" });

        let hard = |table: &Table| {
            LabelEstimator::of(&table.scores(), &outcomes(table, &names, numbers), &table.argmax()).unwrap()
        };
        let mut all = hard(&parts[0]);
        parts[1..].iter().for_each(|part| all.merge(&hard(part)).unwrap());
        assert_eq!((all.estimates(), all.truth()), (hard(&table).estimates(), hard(&table).truth()));

        let imputed = |table: &Table| Imputed::of(&table.scores(), &outcomes(table, &names, numbers), 6, 2).unwrap();
        let mut all = imputed(&parts[0]);
        parts[1..].iter().for_each(|part| all.merge(&imputed(part)).unwrap());
        assert_eq!(all.estimates(), imputed(&table).estimates());
        if !numbers {
            let bounds = |table: &Table| {
                CellBounds::of(&table.scores(), &outcomes(table, &names, numbers), &table.cells, CELLS).unwrap()
            };
            let mut all = bounds(&parts[0]);
            parts[1..].iter().for_each(|part| all.merge(&bounds(part)).unwrap());
            assert_eq!(all.estimates(), bounds(&table).estimates());
        }
    }
}

#[test]
fn a_row_of_several_people_is_as_many_rows() {
    let table = Table::new(6, 600, 3);
    let expanded = table.expanded();
    let counted = table.scores().with_counts(&table.counts).unwrap();
    let labels = table.argmax();
    let weighted = both(|outcomes| Weighted::of(&counted, outcomes).unwrap().estimates(), &table);
    assert_eq!(weighted, both(|outcomes| Weighted::of(&expanded.scores(), outcomes).unwrap().estimates(), &expanded));
    let linear = both(|outcomes| Linear::of(&counted, outcomes).unwrap().estimates(), &table);
    assert_eq!(linear, both(|outcomes| Linear::of(&expanded.scores(), outcomes).unwrap().estimates(), &expanded));
    let hard = both(|outcomes| LabelEstimator::of(&counted, outcomes, &labels).unwrap().estimates(), &table);
    let again = expanded.argmax();
    assert_eq!(
        hard,
        both(|outcomes| LabelEstimator::of(&expanded.scores(), outcomes, &again).unwrap().estimates(), &expanded)
    );
    let allotted = Rule::Argmax.allot(&counted, &Settings::default()).unwrap().allotment;
    assert_eq!(
        hard,
        both(|outcomes| LabelEstimator::of_allotment(&counted, outcomes, &allotted).unwrap().estimates(), &table)
    );

    let names = level_names();
    let (levels, more) =
        (Outcomes::levels(&table.codes, &names).unwrap(), Outcomes::levels(&expanded.codes, &names).unwrap());
    let bounds = CellBounds::of(&counted, &levels, &table.cells, CELLS).unwrap();
    assert_eq!(
        bounds.estimates(),
        CellBounds::of(&expanded.scores(), &more, &expanded.cells, CELLS).unwrap().estimates()
    );
    let options = BirdieOptions { replicates: 0, ..BirdieOptions::default() };
    let birdie = Birdie::fit(&counted, &levels, &options).unwrap();
    assert_eq!(birdie.estimates(), Birdie::fit(&expanded.scores(), &more, &options).unwrap().estimates());
    // Each person has their own draw, the same as in `allot`.
    let imputed = Imputed::of(&counted, &levels, 5, 3).unwrap().estimates();
    let thompson = Rule::Thompson.fit(&counted, &Settings { seed: 3, ..Settings::default() }).unwrap();
    let mean = (0..5).map(|draw| {
        let allotment = thompson.allot(&counted, draw).unwrap();
        LabelEstimator::of_allotment(&counted, &levels, &allotment).unwrap().estimates()[1].classes[2]
            .unwrap()
            .estimate
            .unwrap()
    });
    near(imputed[1].classes[2].unwrap().estimate.unwrap(), mean.sum::<f64>() / 5.0, 1.0);
}

#[test]
fn imputation_is_thompson_and_rubin() {
    let table = Table::new(7, 500, 3);
    let settings = Settings { seed: 11, ..Settings::default() };
    let thompson = Rule::Thompson.fit(&table.scores(), &settings).unwrap();
    const DRAWS: u64 = 9;
    let labels: Vec<Labels> = (0..DRAWS).map(|draw| thompson.draw(&table.scores(), draw).unwrap()).collect();
    let found = both(|outcomes| Imputed::of(&table.scores(), outcomes, DRAWS as u32, 11).unwrap().estimates(), &table);
    let hard: Vec<Vec<Estimate>> = labels
        .iter()
        .map(|labels| {
            both(|outcomes| LabelEstimator::of(&table.scores(), outcomes, labels).unwrap().estimates(), &table)
        })
        .collect();
    let rubin = |draws: Vec<(f64, f64)>| {
        let m = draws.len() as f64;
        let mean = draws.iter().map(|draw| draw.0).sum::<f64>() / m;
        let within = draws.iter().map(|draw| draw.1.powi(2)).sum::<f64>() / m;
        let between = draws.iter().map(|draw| (draw.0 - mean).powi(2)).sum::<f64>() / (m - 1.0);
        (mean, (within + (1.0 + 1.0 / m) * between).sqrt())
    };
    for (index, estimate) in found.iter().enumerate() {
        for class in 0..3 {
            let figure = |own: &Vec<Estimate>| own[index].classes[class].unwrap();
            let (mean, error) =
                rubin(hard.iter().map(|own| (figure(own).estimate.unwrap(), figure(own).error.unwrap())).collect());
            let own = estimate.classes[class].unwrap();
            near(own.estimate.unwrap(), mean, mean.abs());
            near(own.error.unwrap(), error, error);
            // Uncertainty about classes reduces the effective sample size.
            assert!(own.effective_n < figure(&hard[0]).effective_n);
        }
        let gap = |own: &Vec<Estimate>| own[index].gap(2, 1).unwrap();
        let (mean, error) =
            rubin(hard.iter().map(|own| (gap(own).difference.unwrap(), gap(own).error.unwrap())).collect());
        near(estimate.gap(2, 1).unwrap().difference.unwrap(), mean, mean.abs());
        near(estimate.gap(2, 1).unwrap().error.unwrap(), error, error);
    }
}

/// Returns scores, truth, outcomes and cells of people of two classes. Each cell has its own share of class 1 and rate
/// of the outcome; within a cell, the outcome is independent of the class.
fn without_regard(chance: &mut Chance, rows: usize) -> (Vec<f64>, Vec<Label>, Vec<u16>, Vec<u32>) {
    let (mut q, mut truth, mut codes, mut cells) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let cell = chance.below(20);
        let share = 0.05 + 0.045 * cell as f64;
        let rate = 0.8 - 0.7 * share;
        q.extend([1.0 - share, share]);
        truth.push(u8::from(chance.unit() < share));
        codes.push(u16::from(chance.unit() < rate));
        cells.push(cell as u32);
    }
    (q, truth, codes, cells)
}

/// Returns E[q Y] / E[q] over the cells, for class 0 and for class 1.
fn rates_without_regard() -> [f64; 2] {
    let cells = || (0..20).map(|cell| 0.05 + 0.045 * f64::from(cell));
    let mean = |weight: &dyn Fn(f64) -> f64| {
        cells().map(|share| weight(share) * (0.8 - 0.7 * share)).sum::<f64>() / cells().map(weight).sum::<f64>()
    };
    [mean(&|share| 1.0 - share), mean(&|share| share)]
}

#[test]
fn where_outcome_and_class_have_nothing_to_do_with_each_other_weighting_is_right_and_labels_are_not() {
    let (classes, names) = (classes(2), level_names()[..2].to_vec());
    let expected = rates_without_regard();
    let (mut weighted_sum, mut hard_sum, mut covered, mut imputed_covered) = ([0.0; 2], [0.0; 2], 0, 0);
    let mut squares = 0.0;
    let mut error = 0.0;
    const TABLES: usize = 200;
    for seed in 0..TABLES {
        let (q, truth, codes, _) = without_regard(&mut Chance::new(seed as u64), 2000);
        let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap().with_truth(&truth).unwrap();
        let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
        let weighted = Weighted::of(&scores, &outcomes).unwrap().estimates().remove(0);
        let argmax = Rule::Argmax.label(&scores, &Settings::default()).unwrap().labels;
        let hard = LabelEstimator::of(&scores, &outcomes, &argmax).unwrap();
        let imputed = Imputed::of(&scores, &outcomes, 10, seed as u64).unwrap().estimates().remove(0);
        for class in 0..2 {
            weighted_sum[class] += weighted.classes[class].unwrap().estimate.unwrap() / TABLES as f64;
            let bias = hard.biases()[0][class].unwrap();
            hard_sum[class] += hard.estimates()[0].classes[class].unwrap().estimate.unwrap() / TABLES as f64;
            // On every table the two parts sum to the bias, and the bias is `labeled` − `truth`.
            assert!((bias.from_false_positives + bias.from_false_negatives - bias.bias).abs() < 1e-12);
            let truth = hard.truth().unwrap()[0].classes[class].unwrap().estimate.unwrap();
            assert!((bias.truth - truth).abs() < 1e-12 && (bias.labeled - bias.truth - bias.bias).abs() < 1e-12);
        }
        let own = weighted.classes[1].unwrap();
        squares += (own.estimate.unwrap() - expected[1]).powi(2) / TABLES as f64;
        error += own.error.unwrap() / TABLES as f64;
        let holds = |interval: Interval| usize::from(interval.low <= expected[1] && expected[1] <= interval.high);
        covered += holds(own.interval.unwrap());
        imputed_covered += holds(imputed.classes[1].unwrap().interval.unwrap());
    }
    for class in 0..2 {
        assert!((weighted_sum[class] - expected[class]).abs() < 0.003, "{weighted_sum:?} {expected:?}");
        assert!((hard_sum[class] - expected[class]).abs() > 0.04, "{hard_sum:?} {expected:?}");
    }
    // The reported standard error equals the observed one.
    assert!((error / squares.sqrt() - 1.0).abs() < 0.15, "{error} {}", squares.sqrt());
    assert!((180..=199).contains(&covered), "{covered} of {TABLES}");
    assert!((180..=200).contains(&imputed_covered), "{imputed_covered} of {TABLES}");
}

#[test]
fn the_bias_of_labels_is_what_its_two_parts_say() {
    let table = Table::new(9, 800, 3);
    let labels = table.argmax();
    let outcomes = Outcomes::numbers(&table.numbers).unwrap();
    let hard = LabelEstimator::of(&table.scores(), &outcomes, &labels).unwrap();
    for class in 0..3u8 {
        // The definition of the decomposition, applied to each person.
        let people: Vec<(bool, bool, f64)> = (0..table.rows())
            .filter(|&row| table.truth[row] != UNCODED && !table.numbers[row].is_nan())
            .map(|row| (labels.values()[row] == class, table.truth[row] == class, table.numbers[row]))
            .collect();
        let mean = |keep: &dyn Fn(bool, bool) -> bool| {
            let own: Vec<f64> = people.iter().filter(|(a, r, _)| keep(*a, *r)).map(|(.., y)| *y).collect();
            (own.iter().sum::<f64>() / own.len() as f64, own.len() as f64)
        };
        let (rightly, _) = mean(&|a, r| a && r);
        let (wrongly, from_false_positives) = mean(&|a, r| a && !r);
        let (missed, from_false_negatives) = mean(&|a, r| !a && r);
        let ((labeled, n), (truth, m)) = (mean(&|a, _| a), mean(&|_, r| r));
        let found = hard.biases()[0][usize::from(class)].unwrap();
        near(found.labeled, labeled, 1e6);
        near(found.truth, truth, 1e6);
        assert!((found.bias - (labeled - truth)).abs() < 1e-6);
        assert!((found.from_false_positives - from_false_positives / n * (wrongly - rightly)).abs() < 1e-6);
        assert!((found.from_false_negatives + from_false_negatives / m * (missed - rightly)).abs() < 1e-6);
        assert!((found.from_false_positives + found.from_false_negatives - found.bias).abs() < 1e-9);
    }
}

/// A plain EM without accelerated steps: up to 20,000 iterations, or until nothing changes.
fn plain_em(q: &[f64], codes: &[u16], groups: &[u32], k: usize, levels: usize, number: usize) -> Vec<Vec<Vec<f64>>> {
    let rows: Vec<usize> = (0..codes.len()).filter(|&row| codes[row] != NO_LEVEL).collect();
    let mut prior = vec![vec![0.0; k]; levels];
    for class in 0..k {
        let all: f64 = rows.iter().map(|row| q[row * k + class]).sum();
        for &row in &rows {
            prior[usize::from(codes[row])][class] += q[row * k + class] / all;
        }
    }
    let mut theta = vec![prior.clone(); number];
    for _ in 0..20_000 {
        let mut sums = vec![vec![vec![0.0; k]; levels]; number];
        for &row in &rows {
            let (group, level) = (groups[row] as usize, usize::from(codes[row]));
            let own: Vec<f64> = (0..k).map(|class| theta[group][level][class] * q[row * k + class]).collect();
            let all: f64 = own.iter().sum();
            (0..k).for_each(|class| sums[group][level][class] += own[class] / all);
        }
        let mut moved: f64 = 0.0;
        for group in 0..number {
            for class in 0..k {
                let all: f64 = (0..levels).map(|level| sums[group][level][class]).sum();
                for level in 0..levels {
                    let new = (prior[level][class] + sums[group][level][class]) / (1.0 + all);
                    moved = moved.max((new - theta[group][level][class]).abs());
                    theta[group][level][class] = new;
                }
            }
        }
        if moved < 1e-12 {
            break;
        }
    }
    theta
}

#[test]
fn birdie_finds_what_a_plain_em_finds() {
    let table = Table::new(10, 1200, 3);
    let names = level_names();
    let outcomes = Outcomes::levels(&table.codes, &names).unwrap();
    let options = BirdieOptions { tolerance: 1e-9, replicates: 0, ..BirdieOptions::default() };
    let zeros = vec![0; table.rows()];
    for grouped in [false, true] {
        let (scores, groups, number) =
            if grouped { (table.grouped(), &table.groups, 2) } else { (table.scores(), &zeros, 1) };
        let birdie = Birdie::fit(&scores, &outcomes, &options).unwrap();
        assert!(birdie.converged && birdie.passes < 500, "{}", birdie.passes);
        let expected = plain_em(&table.q, &table.codes, groups, 3, LEVELS, number);
        for (group, own) in expected.iter().enumerate() {
            for (level, own) in own.iter().enumerate() {
                for (class, &share) in own.iter().enumerate() {
                    let found = birdie.share(group, level, class);
                    assert!((found - share).abs() < 1e-5, "{group} {level} {class}: {found} and not {share}");
                }
            }
        }
        // The updated scores follow Bayes' rule, and their means are the estimates.
        let (mut hits, mut all) = ([0.0; 3], [0.0; 3]);
        birdie
            .updated(&scores, &outcomes, |row, own| {
                let (code, group) = (table.codes[row], groups[row] as usize);
                let before = &table.q[row * 3..][..3];
                if code == NO_LEVEL {
                    own.iter().zip(before).for_each(|(own, before)| near(*own, *before, 1.0));
                    return Ok(());
                }
                let joint: Vec<f64> =
                    (0..3).map(|class| expected[group][usize::from(code)][class] * before[class]).collect();
                for class in 0..3 {
                    assert!((own[class] - joint[class] / joint.iter().sum::<f64>()).abs() < 1e-4);
                    all[class] += own[class];
                    hits[class] += if code == 1 { own[class] } else { 0.0 };
                }
                Ok(())
            })
            .unwrap();
        for class in 0..3 {
            let found = birdie.estimates()[1].classes[class].unwrap().estimate.unwrap();
            assert!((found - hits[class] / all[class]).abs() < 1e-9, "{found} {}", hits[class] / all[class]);
        }
    }
}

/// People in places. The share of each class and its rate of the outcome differ between places; within a class and place,
/// the outcome is independent of the name. Scores are calibrated.
struct Places {
    q: Vec<f64>,
    codes: Vec<u16>,
    groups: Vec<u32>,
    names: Vec<String>,
    /// The rate of each class over all places.
    rates: [f64; 3],
}

impl Places {
    fn new(chance: &mut Chance, places: usize, people: usize) -> Places {
        let (mut q, mut codes, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        let (mut hits, mut all) = ([0.0; 3], [0.0; 3]);
        for place in 0..places {
            let other = 0.2 * chance.unit() * chance.unit() + 0.02;
            let black = 0.5 * chance.unit();
            let shares = [1.0 - other - black, black, other];
            // The sum of three uniform numbers is close to normal, with variance 1/4 here.
            let spread: Vec<f64> =
                (0..3).map(|_| (0..3).map(|_| 2.0 * chance.unit() - 1.0).sum::<f64>() / 2.0).collect();
            let rate = |class: usize| 1.0 / (1.0 + (-([0.75, -0.2, -1.1][class] + spread[class])).exp());
            for class in 0..3 {
                hits[class] += shares[class] * rate(class);
                all[class] += shares[class];
            }
            for _ in 0..people {
                let class = drawn(chance, &shares);
                // Names of six kinds, each more frequent in one class.
                let likelihood = |name: usize, class: usize| {
                    if name % 3 == class { [0.25, 0.15][name / 3] } else { [0.1, 0.2][name / 3] }
                };
                let of: Vec<f64> = (0..6).map(|name| likelihood(name, class)).collect();
                let sum: f64 = of.iter().sum();
                let name = drawn(chance, &of.iter().map(|own| own / sum).collect::<Vec<_>>());
                let norm = |class: usize| (0..6).map(|name| likelihood(name, class)).sum::<f64>();
                let joint: Vec<f64> =
                    (0..3).map(|class| shares[class] * likelihood(name, class) / norm(class)).collect();
                q.extend(joint.iter().map(|own| own / joint.iter().sum::<f64>()));
                codes.push(u16::from(chance.unit() < rate(class)));
                groups.push(place as u32);
            }
        }
        let names = (0..places).map(|place| format!("{place:04}")).collect();
        Places { q, codes, groups, names, rates: [0, 1, 2].map(|class| hits[class] / all[class]) }
    }

    fn fit(&self, options: &BirdieOptions) -> Birdie {
        let (classes, names) = (classes(3), level_names()[..2].to_vec());
        let outcomes = Outcomes::levels(&self.codes, &names).unwrap().counting(1).unwrap();
        let scores = Scores::new(&classes, Matrix::RowsF64(&self.q)).unwrap();
        let scores = scores.with_groups(Groups { codes: &self.groups, names: &self.names }).unwrap();
        Birdie::fit(&scores, &outcomes, options).unwrap()
    }
}

fn drawn(chance: &mut Chance, shares: &[f64]) -> usize {
    let mut left = chance.unit();
    let found = shares.iter().position(|share| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(0)
}

#[test]
fn partial_pooling_is_right_with_many_small_groups_and_separate_groups_are_not() {
    const TABLES: usize = 40;
    let (mut bias, mut separate) = ([0.0; 3], [0.0; 3]);
    let mut covered = [0; 3];
    for seed in 0..TABLES {
        let places = Places::new(&mut Chance::new(300 + seed as u64), 100, 20);
        let options = BirdieOptions { seed: seed as u64, ..BirdieOptions::default() };
        let pooled = places.fit(&options);
        assert!(pooled.is_pooled() && pooled.converged && pooled.groups == 100);
        assert!(pooled.identified_per_group[2] < FEW_PER_GROUP);
        let own = places.fit(&BirdieOptions { pooling: Pooling::None, replicates: 0, ..options });
        assert!(!own.is_pooled() && own.spread(1, 2).is_none());
        for class in 0..3 {
            let figure = pooled.estimates()[0].classes[class].unwrap();
            bias[class] += (figure.estimate.unwrap() - places.rates[class]) / TABLES as f64;
            let estimate = own.estimates()[0].classes[class].unwrap().estimate.unwrap();
            separate[class] += (estimate - places.rates[class]) / TABLES as f64;
            let interval = figure.interval.unwrap();
            covered[class] += usize::from((interval.low..=interval.high).contains(&places.rates[class]));
        }
    }
    assert!(separate[2] > 0.1, "{separate:?}");
    assert!(
        bias[2].abs() < separate[2] / 3.0 && bias[0].abs() < 0.015 && bias[1].abs() < 0.02,
        "{bias:?} {separate:?}"
    );
    assert!(covered.iter().all(|&covered| covered >= 34), "{covered:?} of {TABLES}");
}

#[test]
fn with_large_groups_pooling_changes_little_and_is_not_the_default() {
    let places = Places::new(&mut Chance::new(77), 4, 6000);
    let options = BirdieOptions { replicates: 0, ..BirdieOptions::default() };
    let own = places.fit(&options);
    assert!(!own.is_pooled(), "every class has more than 20 people per group");
    let pooled = places.fit(&BirdieOptions { pooling: Pooling::Partial, ..options });
    for class in 0..3 {
        let of = |birdie: &Birdie| birdie.estimates()[0].classes[class].unwrap().estimate.unwrap();
        assert!((of(&own) - of(&pooled)).abs() < 0.02, "{class}: {} {}", of(&own), of(&pooled));
    }
}

/// With known classes, the fit of partial pooling is a logistic regression with random intercepts for each class, which
/// is solved here by gradient ascent.
#[test]
fn partial_pooling_of_known_classes_is_a_random_intercept_model() {
    let mut chance = Chance::new(5);
    let (classes, names) = (classes(2), level_names()[..2].to_vec());
    let (mut q, mut codes, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    let mut people = [[[0.0; 2]; 30]; 2];
    for group in 0..30 {
        let rates = [0.3 + 0.4 * chance.unit(), 0.1 + 0.3 * chance.unit()];
        for person in 0..10 + group {
            let class = usize::from(person % 3 == 0);
            let code = u16::from(chance.unit() < rates[class]);
            people[class][group][usize::from(code)] += 1.0;
            q.extend([1.0 - class as f64, class as f64]);
            codes.push(code);
            groups.push(group as u32);
        }
    }
    let group_names: Vec<String> = (0..30).map(|group| format!("{group:02}")).collect();
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
    let scores = scores.with_groups(Groups { codes: &groups, names: &group_names }).unwrap();
    let outcomes = Outcomes::levels(&codes, &names).unwrap();
    let options =
        BirdieOptions { replicates: 0, pooling: Pooling::Partial, tolerance: 1e-9, ..BirdieOptions::default() };
    let birdie = Birdie::fit(&scores, &outcomes, &options).unwrap();
    let logistic = |logit: f64| 1.0 / (1.0 + (-logit).exp());
    let mut moments = Vec::new();
    for class in 0..2 {
        let hits: f64 = people[class].iter().map(|own| own[1]).sum();
        let all: f64 = people[class].iter().map(|own| own[0] + own[1]).sum();
        let estimate = birdie.estimates()[1].classes[class].unwrap().estimate.unwrap();
        assert!((estimate - hits / all).abs() < 1e-9, "the estimate over all groups has no prior");
        let variance = birdie.spread(1, class).unwrap().powi(2);
        let (mut mean, mut own) = (0.0, [0.0; 30]);
        for _ in 0..200_000 {
            let mut slope = 0.1 * (hits / all - logistic(mean));
            for group in 0..30 {
                let [misses, hits] = people[class][group];
                let residual = hits - (misses + hits) * logistic(mean + own[group]);
                slope += residual;
                own[group] += 0.02 * (residual - own[group] / variance);
            }
            mean += 0.002 * slope;
        }
        let (mut squares, mut freedom) = (0.0, 0.0);
        for group in 0..30 {
            let share = logistic(mean + own[group]);
            let found = birdie.share(group, 1, class);
            assert!((found - share).abs() < 1e-5, "{class} {group}: {found} and not {share}");
            let information = people[class][group].iter().sum::<f64>() * share * (1.0 - share);
            squares += own[group].powi(2);
            freedom += 1.0 - 1.0 / (1.0 + information * variance);
        }
        moments.push((squares, freedom, variance));
    }
    // The variances are those that the fit implies, up to the tolerance of their updates.
    let sum = moments.iter().fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    let common = (0.5 + sum.0) / (2.0 + sum.1);
    for (squares, freedom, variance) in moments {
        let implied: f64 = (2.0 * common + squares) / (2.0 + freedom);
        assert!((implied.sqrt() - variance.sqrt()).abs() < 0.01, "{implied} {variance}");
    }
}

/// Returns scores and outcomes that depend on the class only.
fn by_class_alone(chance: &mut Chance, rows: usize) -> (Vec<f64>, Vec<u16>) {
    let q = common::normal(chance, rows, 0.3);
    let rates = [0.7, 0.3, 0.5, 0.2, 0.9, 0.4];
    let codes = q.chunks_exact(6).map(|row| {
        let mut left = chance.unit();
        let class = row.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        u16::from(chance.unit() < rates[class.unwrap_or(0)])
    });
    let codes = codes.collect();
    (q, codes)
}

#[test]
fn where_the_outcome_hangs_on_the_class_alone_birdie_is_right_and_weighting_is_not() {
    let (classes, names) = (classes(6), level_names()[..2].to_vec());
    let mut found = Vec::new();
    let (mut errors, mut weighted) = (0.0, 0.0);
    const TABLES: usize = 30;
    for seed in 0..TABLES {
        let (q, codes) = by_class_alone(&mut Chance::new(seed as u64), 4000);
        let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
        let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
        // In every other table the errors come from a third of the rows, scaled to all rows.
        let rows = if seed % 2 == 0 { 4000 } else { 1300 };
        let options = BirdieOptions { bootstrap_rows: rows, seed: 5, ..BirdieOptions::default() };
        let birdie = Birdie::fit(&scores, &outcomes, &options).unwrap();
        assert!(birdie.converged && (birdie.bootstrap_rows == 4000) == (rows == 4000));
        let own = birdie.estimates()[0].classes[1].unwrap();
        found.push(own.estimate.unwrap());
        errors += own.error.unwrap() / TABLES as f64;
        weighted += Weighted::of(&scores, &outcomes).unwrap().estimates()[0].classes[1].unwrap().estimate.unwrap()
            / TABLES as f64;
    }
    let mean = found.iter().sum::<f64>() / TABLES as f64;
    let spread = (found.iter().map(|own| (own - mean).powi(2)).sum::<f64>() / (TABLES - 1) as f64).sqrt();
    assert!((mean - 0.3).abs() < 4.0 * spread / (TABLES as f64).sqrt(), "{mean} {spread}");
    assert!(weighted > 0.36, "{weighted}");
    assert!((0.7..1.4).contains(&(errors / spread)), "{errors} {spread}");
}

#[test]
fn bounds_hold_the_truth_and_can_be_attained() {
    let (classes, names) = (classes(2), level_names()[..2].to_vec());
    for seed in 0..20 {
        // In each cell the share of class 1 equals its score; outcome and class may depend on each other.
        let mut chance = Chance::new(100 + seed);
        let (mut q, mut truth, mut codes, mut cells) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for cell in 0..15 {
            let (people, of_class, hits) = (40, chance.below(41), chance.below(41));
            let mut order: Vec<u64> = (0..people).collect();
            // Class 1 comes first. The outcome belongs to the first people (maximum overlap), the last (minimum), or
            // random ones.
            match seed % 3 {
                0 => {}
                1 => order.reverse(),
                _ => chance.shuffle(&mut order),
            }
            for person in 0..people {
                let share = of_class as f64 / people as f64;
                q.extend([1.0 - share, share]);
                truth.push(u8::from(person < of_class));
                codes.push(u16::from(order[person as usize] < hits));
                cells.push(cell);
            }
        }
        let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap().with_truth(&truth).unwrap();
        let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
        let bounds = CellBounds::of(&scores, &outcomes, &cells, 15).unwrap();
        assert_eq!(bounds.sizes(), CellSizes { cells: 15, people: 600, alone: 0, in_small: 0 });
        let bounds = bounds.estimates().remove(0);
        let truth = LabelEstimator::of_truth(&scores, &outcomes).unwrap().unwrap().estimates().remove(0);
        let (rate, interval) =
            (truth.classes[1].unwrap().estimate.unwrap(), bounds.classes[1].unwrap().interval.unwrap());
        assert!(interval.low - 1e-9 <= rate && rate <= interval.high + 1e-9, "{rate} {interval:?}");
        match seed % 3 {
            0 => near(rate, interval.high, 1.0),
            1 => near(rate, interval.low, 1.0),
            _ => assert!(interval.low < rate && rate < interval.high),
        }
        // With two classes, the rate of one is at its maximum if the rate of the other is at its minimum.
        let (gap, between) =
            (truth.gap(1, 0).unwrap().difference.unwrap(), bounds.gap(1, 0).unwrap().interval.unwrap());
        assert!(between.low - 1e-9 <= gap && gap <= between.high + 1e-9);
        match seed % 3 {
            0 => near(gap, between.high, 1.0),
            1 => near(gap, between.low, 1.0),
            _ => {}
        }
        let other = bounds.gap(0, 1).unwrap().interval.unwrap();
        assert_eq!((other.low, other.high), (-between.high, -between.low));
    }
}

#[test]
fn bounds_of_people_alone_are_the_weighted_estimate() {
    let table = Table::new(12, 200, 3);
    let names = level_names();
    let outcomes = Outcomes::levels(&table.codes, &names).unwrap();
    let cells: Vec<u32> = (0..200).collect();
    let bounds = CellBounds::of(&table.scores(), &outcomes, &cells, 200).unwrap();
    assert_eq!(bounds.sizes().alone, bounds.sizes().people);
    let weighted = Weighted::of(&table.scores(), &outcomes).unwrap().estimates();
    for (bounds, weighted) in bounds.estimates().iter().zip(weighted) {
        for (bounds, weighted) in bounds.classes.iter().zip(weighted.classes) {
            let (interval, estimate) = (bounds.unwrap().interval.unwrap(), weighted.unwrap().estimate.unwrap());
            near(interval.low, estimate, 1.0);
            near(interval.high, estimate, 1.0);
        }
    }
}

#[test]
fn the_largest_class_is_what_others_are_compared_with() {
    let classes = classes(3);
    let q = [0.2, 0.5, 0.3, 0.5, 0.2, 0.3, 0.0, 1.0, 0.0];
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
    let numbers = [1.0, 2.0, f64::NAN];
    let outcomes = Outcomes::numbers(&numbers).unwrap();
    let weighted = Weighted::of(&scores, &outcomes).unwrap();
    // The third row has no outcome. 0.7 and 0.7 tie, so the first class is returned.
    assert_eq!(weighted.largest(), 0);
    assert_eq!((weighted.known().rows, weighted.unknown().rows), (2, 1));
    assert!((weighted.posterior()[2] - 0.6).abs() < 1e-9);
}

#[test]
fn classes_of_which_nothing_is_known_have_no_figure() {
    let classes = classes(3);
    let q = [0.5, 0.5, 0.0, 0.4, 0.6, 0.0];
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
    let codes = [0, 1];
    let names = level_names();
    let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
    let labels = Labels::new(vec![0, UNCODED], &classes).unwrap();
    let options = BirdieOptions { replicates: 3, ..BirdieOptions::default() };
    for estimate in [
        Weighted::of(&scores, &outcomes).unwrap().estimates().remove(0),
        Imputed::of(&scores, &outcomes, 5, 0).unwrap().estimates().remove(0),
        Birdie::fit(&scores, &outcomes, &options).unwrap().estimates()[0].clone(),
        CellBounds::of(&scores, &outcomes, &[0, 0], 1).unwrap().estimates().remove(0),
    ] {
        assert!(estimate.classes[0].is_some() && estimate.classes[2].is_none(), "{estimate:?}");
        assert!(estimate.gap(0, 1).is_some() && estimate.gap(0, 2).is_none() && estimate.gap(1, 1).is_none());
        let text = serde_json::to_string(&estimate).unwrap();
        assert!(!text.contains("NaN"), "{text}");
    }
    let hard = LabelEstimator::of(&scores, &outcomes, &labels).unwrap();
    assert!(hard.estimates()[0].classes[1].is_none() && hard.truth().is_none() && hard.biases()[0][0].is_none());
    let nothing = [NO_LEVEL; 2];
    let nobody = Outcomes::levels(&nothing, &names).unwrap();
    assert!(Weighted::of(&scores, &nobody).unwrap().estimates()[0].classes.iter().all(Option::is_none));
    let birdie = Birdie::fit(&scores, &nobody, &options).unwrap();
    assert!(birdie.estimates().iter().all(|own| own.classes.iter().all(Option::is_none)));
}

#[test]
fn what_cannot_be_averaged_is_refused() {
    let message = |error: Error| error.to_string();
    let infinite = [1.0, f64::INFINITY];
    assert_eq!(
        message(Outcomes::numbers(&infinite).unwrap_err()),
        "row 1: the outcome is inf; outcomes must be finite numbers within ±1e100, or NaN if unknown"
    );
    let names = level_names();
    assert!(message(Outcomes::levels(&[0, 3], &names).unwrap_err()).starts_with("row 1: outcome code 3"));
    assert!(Outcomes::levels(&[0], &names).unwrap().counting(3).is_err());
    let many: Vec<String> = (0..101).map(|level| level.to_string()).collect();
    assert!(message(Outcomes::levels(&[0], &many).unwrap_err()).contains("from 1 to 100"));
    let table = Table::new(13, 10, 2);
    let numbers = Outcomes::numbers(&table.numbers).unwrap();
    let short = Outcomes::numbers(&table.numbers[1..]).unwrap();
    assert!(message(Weighted::of(&table.scores(), &short).unwrap_err()).contains("9 entries; expected 10"));
    let options = BirdieOptions::default();
    assert!(CellBounds::of(&table.scores(), &numbers, &table.cells, CELLS).is_err());
    let levels = Outcomes::levels(&table.codes, &names).unwrap();
    assert!(CellBounds::of(&table.scores(), &levels, &[9; 10], CELLS).is_err());
    assert!(Imputed::of(&table.scores(), &levels, 4, 0).is_err());
    for bad in [BirdieOptions { tolerance: 0.0, ..options }, BirdieOptions { replicates: 1, ..options }] {
        assert!(Birdie::fit(&table.scores(), &levels, &bad).is_err());
    }
    let mut sums = Weighted::of(&table.scores(), &levels).unwrap();
    assert!(sums.merge(&Weighted::of(&table.scores(), &numbers).unwrap()).is_err());
    let bad = [0.9, 0.9, 0.5, 0.5];
    let scores = Scores::new(&table.classes, Matrix::RowsF64(&bad)).unwrap();
    assert!(Weighted::of(&scores, &Outcomes::levels(&[0, 1], &names).unwrap()).is_err(), "rows must sum to one");
}

/// Voters like those of North Carolina, with a turnout that depends on the class only (BIRDiE is unbiased) or on the
/// scores only (weighting is unbiased).
#[test]
fn on_voters_each_estimator_is_right_where_it_says() {
    let Some(voters) = common::voters::voters() else { return };
    let (names, mut chance) = (level_names()[..2].to_vec(), Chance::new(2024));
    let by_class = [0.65, 0.45, 0.35, 0.5, 0.4, 0.55];
    let by_truth: Vec<u16> =
        voters.truth.iter().map(|&truth| u16::from(chance.unit() < by_class[usize::from(truth)])).collect();
    let by_scores: Vec<u16> = voters
        .scores
        .chunks_exact(6)
        .map(|row| {
            let rate: f64 = row.iter().zip(by_class).map(|(score, rate)| score * rate).sum();
            u16::from(chance.unit() < rate)
        })
        .collect();
    let scores = Scores::new(&voters.classes, Matrix::RowsF64(&voters.scores)).unwrap();
    let scores = scores.with_truth(&voters.truth).unwrap();
    let argmax = Rule::Argmax.label(&scores, &Settings::default()).unwrap().labels;
    for (codes, weighting_is_right) in [(by_truth, false), (by_scores, true)] {
        let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
        let hard = LabelEstimator::of(&scores, &outcomes, &argmax).unwrap();
        let weighted = Weighted::of(&scores, &outcomes).unwrap().estimates().remove(0);
        let birdie =
            Birdie::fit(&scores, &outcomes, &BirdieOptions { replicates: 8, ..BirdieOptions::default() }).unwrap();
        let bounds = CellBounds::of(&scores, &outcomes, &voters.counties, voters.county_names.len()).unwrap();
        assert!(birdie.converged, "{}", birdie.passes);
        let truth = hard.truth().unwrap().remove(0);
        for class in 0..6 {
            let truth = truth.classes[class].unwrap();
            // With few people, the truth has a standard error, which is added.
            let error = |own: Figure| own.error.unwrap().hypot(truth.error.unwrap());
            let off = |own: Figure| (own.estimate.unwrap() - truth.estimate.unwrap()) / error(own);
            let (weighted, birdie) =
                (off(weighted.classes[class].unwrap()), off(birdie.estimates()[0].classes[class].unwrap()));
            if weighting_is_right {
                assert!(weighted.abs() < 4.0, "{class}: {weighted}");
            } else {
                assert!(birdie.abs() < 4.0, "{class}: {birdie}");
            }
            let interval = bounds.estimates()[0].classes[class].unwrap().interval.unwrap();
            assert!(interval.low <= truth.estimate.unwrap() && truth.estimate.unwrap() <= interval.high);
            if let Some(bias) = hard.biases()[0][class] {
                assert!((bias.from_false_positives + bias.from_false_negatives - bias.bias).abs() < 1e-12);
            }
        }
        if !weighting_is_right {
            // Black turnout, 0.45, is biased toward that of other classes.
            let own = weighted.classes[1].unwrap();
            assert!(own.estimate.unwrap() - 5.0 * own.error.unwrap() > 0.46, "{own:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Figures are in their valid ranges: shares sum to one and are within their intervals, bounds contain the weighted
    /// estimate (one possible joint distribution of outcome and class), gaps are differences, and the row order has no
    /// effect.
    #[test]
    fn figures_are_where_they_must_be(seed in any::<u64>(), rows in 1usize..120, k in 2usize..5) {
        let table = Table::new(seed, rows, k);
        let names = level_names();
        let levels = Outcomes::levels(&table.codes, &names).unwrap();
        let scores = table.scores();
        let weighted = Weighted::of(&scores, &levels).unwrap().estimates();
        let bounds = CellBounds::of(&scores, &levels, &table.cells, CELLS).unwrap().estimates();
        let birdie = Birdie::fit(&scores, &levels, &BirdieOptions { replicates: 2, ..BirdieOptions::default() }).unwrap();
        for class in 0..k {
            for estimates in [&weighted[..], birdie.estimates()] {
                let figures: Vec<Figure> = estimates.iter().filter_map(|own| own.classes[class]).collect();
                if figures.is_empty() {
                    continue;
                }
                let sum: f64 = figures.iter().filter_map(|own| own.estimate).sum();
                prop_assert!((sum - 1.0).abs() < 1e-6, "{sum}");
                for figure in figures {
                    // A bootstrap replicate of few rows may be empty.
                    let (estimate, Some(interval)) = (figure.estimate.unwrap(), figure.interval) else { continue };
                    prop_assert!(interval.low <= estimate + 1e-9 && estimate <= interval.high + 1e-9);
                    prop_assert!(interval.low >= 0.0 && interval.high <= 1.0);
                }
            }
            for (bounds, weighted) in bounds.iter().zip(&weighted) {
                let Some((bounds, weighted)) = bounds.classes[class].zip(weighted.classes[class]) else { continue };
                let (interval, estimate) = (bounds.interval.unwrap(), weighted.estimate.unwrap());
                prop_assert!(interval.low <= estimate + 1e-9 && estimate <= interval.high + 1e-9);
            }
        }
        for estimate in &weighted {
            for gap in &estimate.gaps {
                let of = |class: usize| estimate.classes[class].unwrap().estimate.unwrap();
                prop_assert!((gap.difference.unwrap() - (of(gap.class) - of(gap.against))).abs() < 1e-12);
            }
        }
        let order: Vec<usize> = (0..rows).rev().collect();
        prop_assert_eq!(everything(&table.part(&order)), everything(&table));
    }
}

#[test]
fn the_mean_score_of_expected_members_shows_how_well_scores_identify_a_class() {
    let classes = Classes::new(["a", "b", "c"]).unwrap();
    let q = [0.75, 0.25, 0.0, 0.5, 0.5, 0.0];
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap().with_counts(&[3, 1]).unwrap();
    let outcomes = [1.0, 0.0];
    let weighted = Weighted::of(&scores, &Outcomes::numbers(&outcomes).unwrap()).unwrap();
    let expected = [(3.0 * 0.5625 + 0.25) / 2.75, (3.0 * 0.0625 + 0.25) / 1.25];
    let found = weighted.mean_own_score();
    assert_eq!(found.len(), 3);
    assert!((found[0].unwrap() - expected[0]).abs() < 1e-12 && (found[1].unwrap() - expected[1]).abs() < 1e-12);
    assert_eq!(found[2], None);
}
