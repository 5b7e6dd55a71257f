//! Tests of regressions with controls: against dense normal equations in plain floating point, simulations with known
//! answers, and the rules for bad input.
#![allow(clippy::unwrap_used, clippy::needless_range_loop)] // also in helper functions; columns are indices here

mod common;

use apportion::estimate::regression::*;
use apportion::estimate::{IMPUTATIONS, NO_LEVEL, Outcomes};
use apportion::*;
use common::{Chance, classes, continuous};

const AGAINST: usize = 0;

/// A table with an outcome, controls, clusters, weights and counts.
#[derive(Clone)]
struct Table {
    classes: Classes,
    q: Vec<f64>,
    truth: Vec<Label>,
    labels: Vec<Label>,
    keys: Vec<u64>,
    counts: Vec<u64>,
    weights: Vec<f64>,
    numbers: Vec<f64>,
    codes: Vec<u16>,
    income: Vec<f64>,
    party: Vec<u16>,
    clusters: Vec<u32>,
}

fn party_names() -> Vec<String> {
    ["blue", "gray", "red", "unused"].map(String::from).to_vec()
}

fn yes_and_no() -> Vec<String> {
    ["no", "yes"].map(String::from).to_vec()
}

impl Table {
    fn new(seed: u64, rows: usize, k: usize) -> Table {
        let mut chance = Chance::new(seed);
        let q = continuous(&mut chance, rows, k);
        let truth: Vec<Label> = (0..rows).map(|row| draw(&mut chance, &q[row * k..][..k])).collect();
        let mut table = Table {
            classes: classes(k),
            labels: truth.iter().map(|&own| if chance.below(4) == 0 { 0 } else { own }).collect(),
            truth,
            keys: (0..rows as u64).map(|row| 1000 + 7 * row).collect(),
            counts: (0..rows).map(|_| chance.below(4)).collect(),
            weights: (0..rows).map(|_| [0.0, 0.5, 1.0, 2.5, 3.0][chance.below(5) as usize]).collect(),
            numbers: Vec::new(),
            codes: Vec::new(),
            income: (0..rows).map(|_| 4e4 + 2e4 * chance.unit()).collect(),
            party: (0..rows).map(|_| chance.below(3) as u16).collect(),
            clusters: (0..rows).map(|_| chance.below(23) as u32).collect(),
            q,
        };
        for row in 0..rows {
            let signal = f64::from(table.truth[row]) - 2e-5 * (table.income[row] - 5e4)
                + f64::from(table.party[row])
                + 0.1 * f64::from(table.clusters[row] % 5);
            table.numbers.push(500.0 + 30.0 * signal + 40.0 * chance.unit());
            table.codes.push(u16::from(chance.unit() < 1.0 / (1.0 + (1.5 - 0.7 * signal).exp())));
        }
        for row in (0..rows).step_by(17) {
            match row % 5 {
                0 => table.numbers[row] = f64::NAN,
                1 => table.income[row] = f64::NAN,
                2 => table.party[row] = NO_LEVEL,
                3 => table.clusters[row] = NO_CLUSTER,
                _ => table.labels[row] = UNCODED,
            }
            if row % 5 == 0 {
                table.codes[row] = NO_LEVEL;
            }
        }
        table
    }

    fn rows(&self) -> usize {
        self.truth.len()
    }

    fn scores(&self) -> Scores<'_> {
        let scores = Scores::new(&self.classes, Matrix::RowsF64(&self.q)).unwrap();
        scores.with_keys(Keys::Given(&self.keys)).unwrap().with_truth(&self.truth).unwrap()
    }

    /// Returns the rows in another order.
    fn in_order(&self, order: &[usize]) -> Table {
        fn take<T: Copy>(values: &[T], order: &[usize]) -> Vec<T> {
            order.iter().map(|&row| values[row]).collect()
        }
        let k = self.classes.len();
        Table {
            classes: self.classes.clone(),
            q: order.iter().flat_map(|&row| self.q[row * k..][..k].to_vec()).collect(),
            truth: take(&self.truth, order),
            labels: take(&self.labels, order),
            keys: take(&self.keys, order),
            counts: take(&self.counts, order),
            weights: take(&self.weights, order),
            numbers: take(&self.numbers, order),
            codes: take(&self.codes, order),
            income: take(&self.income, order),
            party: take(&self.party, order),
            clusters: take(&self.clusters, order),
        }
    }
}

fn draw(chance: &mut Chance, shares: &[f64]) -> Label {
    let mut left = chance.unit();
    let found = shares.iter().position(|share| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(0) as Label
}

/// The options of a test.
#[derive(Clone, Copy, Debug)]
struct Case {
    model: Model,
    clustered: bool,
    weighted: bool,
    counted: bool,
}

/// Calls `each` with the regressions of a table.
fn with<T>(table: &Table, case: Case, each: impl FnOnce(&Regressions<'_>) -> T) -> T {
    let (names, parties) = (yes_and_no(), party_names());
    let mut outcomes = match case.model {
        Model::Linear => Outcomes::numbers(&table.numbers).unwrap(),
        Model::Logistic => Outcomes::levels(&table.codes, &names).unwrap().counting(1).unwrap(),
    };
    if case.weighted {
        outcomes = outcomes.with_weights(&table.weights).unwrap();
    }
    let mut scores = table.scores();
    if case.counted {
        scores = scores.with_counts(&table.counts).unwrap();
    }
    let controls = [
        Control { name: "income", values: ControlValues::Numbers(&table.income) },
        Control { name: "party", values: ControlValues::Levels { codes: &table.party, names: &parties } },
    ];
    let clusters = case.clustered.then_some(&table.clusters[..]);
    let problem = Problem { outcomes: &outcomes, controls: &controls, clusters, against: AGAINST, model: case.model };
    each(&Regressions::new(&scores, problem).unwrap())
}

/// A person of the plain computation: how they enter, once for each class if weighted.
struct Person {
    x: Vec<Vec<f64>>,
    weight: Vec<f64>,
    y: f64,
    cluster: usize,
}

/// Coefficients with their covariance, in plain floating point: intercept, classes except the first, income in 1,000s,
/// and two parties.
struct Plain {
    beta: Vec<f64>,
    covariance: Vec<Vec<f64>>,
}

fn plain(people: &[Person], model: Model, clustered: bool) -> Plain {
    let k = people[0].x[0].len();
    let mean = |eta: f64| if model == Model::Linear { eta } else { 1.0 / (1.0 + (-eta).exp()) };
    let mut beta = vec![0.0; k];
    let mut inverse = Vec::new();
    for _ in 0..if model == Model::Linear { 2 } else { 30 } {
        let (mut matrix, mut right) = (vec![vec![0.0; k]; k], vec![0.0; k]);
        for person in people {
            for (x, w) in person.x.iter().zip(&person.weight) {
                let fitted = mean(dot(x, &beta));
                let slope = if model == Model::Linear { 1.0 } else { fitted * (1.0 - fitted) };
                for a in 0..k {
                    right[a] += w * x[a] * (person.y - fitted);
                    (0..k).for_each(|b| matrix[a][b] += w * slope * x[a] * x[b]);
                }
            }
        }
        inverse = inverted(matrix);
        let step: Vec<f64> = inverse.iter().map(|row| dot(row, &right)).collect();
        beta.iter_mut().zip(step).for_each(|(own, step)| *own += step);
    }
    let groups = if clustered { 1 + people.iter().map(|own| own.cluster).max().unwrap() } else { people.len() };
    let mut scores = vec![vec![0.0; k]; groups];
    let mut seen = vec![false; groups];
    for (index, person) in people.iter().enumerate() {
        let group = if clustered { person.cluster } else { index };
        seen[group] = true;
        for (x, w) in person.x.iter().zip(&person.weight) {
            let residual = w * (person.y - mean(dot(x, &beta)));
            (0..k).for_each(|a| scores[group][a] += x[a] * residual);
        }
    }
    let (n, clusters) = (people.len() as f64, seen.iter().filter(|seen| **seen).count() as f64);
    let factor = if clustered { clusters / (clusters - 1.0) * (n - 1.0) / (n - k as f64) } else { n / (n - k as f64) };
    let halves: Vec<Vec<f64>> =
        scores.iter().map(|score| inverse.iter().map(|row| dot(row, score)).collect()).collect();
    let covariance = (0..k)
        .map(|a| (0..k).map(|b| factor * halves.iter().map(|own: &Vec<f64>| own[a] * own[b]).sum::<f64>()).collect());
    Plain { beta, covariance: covariance.collect() }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Gauss-Jordan elimination with pivots.
fn inverted(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let k = matrix.len();
    let mut inverse: Vec<Vec<f64>> = (0..k).map(|a| (0..k).map(|b| f64::from(u8::from(a == b))).collect()).collect();
    for column in 0..k {
        let pivot = (column..k).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs())).unwrap();
        matrix.swap(column, pivot);
        inverse.swap(column, pivot);
        let scale = matrix[column][column];
        matrix[column].iter_mut().chain(&mut inverse[column]).for_each(|own| *own /= scale);
        for row in (0..k).filter(|&row| row != column) {
            let times = matrix[row][column];
            for other in 0..k {
                matrix[row][other] -= times * matrix[column][other];
                inverse[row][other] -= times * inverse[column][other];
            }
        }
    }
    inverse
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Class(Label),
    Weighted,
    Linear,
}

/// Returns the people of the plain computation; `how` gives how those of a row enter.
fn people(table: &Table, case: Case, how: impl Fn(usize) -> How) -> Vec<Person> {
    let k = table.classes.len();
    let mut people = Vec::new();
    let used = |row: usize| {
        let has_outcome =
            if case.model == Model::Linear { !table.numbers[row].is_nan() } else { table.codes[row] != NO_LEVEL };
        has_outcome
            && !table.income[row].is_nan()
            && table.party[row] != NO_LEVEL
            && !(case.clustered && table.clusters[row] == NO_CLUSTER)
            && !(case.weighted && table.weights[row] == 0.0)
    };
    let count = |row: usize| if case.counted { table.counts[row] } else { 1 };
    // The most frequent party is the reference.
    let mut sizes = [0; 3];
    (0..table.rows()).filter(|&row| used(row)).for_each(|row| sizes[usize::from(table.party[row])] += count(row));
    let reference = (0..3).rev().max_by_key(|&party| sizes[party]).unwrap();
    for row in (0..table.rows()).filter(|&row| used(row)) {
        let how = how(row);
        if how == How::Class(UNCODED) {
            continue;
        }
        let q = &table.q[row * k..][..k];
        let x = |classes: Vec<f64>| {
            let mut x = classes;
            x[0] = 1.0;
            x.push(table.income[row] / 1000.0 - 50.0);
            let is = |party| f64::from(u8::from(usize::from(table.party[row]) == party));
            x.extend((0..3).filter(|&party| party != reference).map(is));
            x
        };
        let one = |class: usize| x((0..k).map(|other| f64::from(u8::from(other == class))).collect());
        let weight = if case.weighted { table.weights[row] } else { 1.0 };
        let (x, weights) = match how {
            How::Class(class) => (vec![one(usize::from(class))], vec![weight]),
            How::Linear => (vec![x(q.to_vec())], vec![weight]),
            How::Weighted => ((0..k).map(one).collect(), q.iter().map(|q| weight * q).collect()),
        };
        let y = if case.model == Model::Linear { table.numbers[row] } else { f64::from(table.codes[row]) };
        let cluster = if case.clustered { table.clusters[row] as usize } else { 0 };
        for _ in 0..count(row) {
            people.push(Person { x: x.clone(), weight: weights.clone(), y, cluster });
        }
    }
    people
}

fn close(own: f64, expected: f64, what: &str) {
    assert!((own - expected).abs() <= 1e-7 * expected.abs().max(1e-3), "{what}: {own} instead of {expected}");
}

/// Compares an estimator with the plain computation.
fn compare(own: &Regression, people: &[Person], case: Case, what: &str) {
    let plain = plain(people, case.model, case.clustered);
    let k = own.classes.len();
    assert_eq!(own.people, people.len() as u64, "{what}");
    for class in (0..k).filter(|&class| class != AGAINST) {
        let effect = own.classes[class].gap.unwrap_or_else(|| panic!("{what}: {class} {:?}", own.classes[class]));
        close(effect.estimate, plain.beta[class], &format!("{what}, class {class}"));
        close(effect.error.unwrap(), plain.covariance[class][class].sqrt(), &format!("{what}, error of {class}"));
    }
    assert_eq!(own.controls.len(), 3);
    for (index, control) in own.controls.iter().enumerate() {
        let (effect, scale) = (control.effect.unwrap(), if index == 0 { 1e-3 } else { 1.0 });
        close(effect.estimate, scale * plain.beta[k + index], &format!("{what}, control {index}"));
        let error = scale * plain.covariance[k + index][k + index].sqrt();
        close(effect.error.unwrap(), error, &format!("{what}, error of control {index}"));
    }
    if case.model == Model::Logistic {
        for class in 1..k {
            compare_average(own, people, &plain, class, what);
        }
    }
}

/// Compares an average effect with its definition, and its error with a numeric derivative.
fn compare_average(own: &Regression, people: &[Person], plain: &Plain, class: usize, what: &str) {
    let k = own.classes.len();
    let average = |beta: &[f64]| {
        let (mut sum, mut weight) = (0.0, 0.0);
        for person in people {
            let w: f64 = person.weight.iter().sum();
            let rest = beta[0] + dot(&person.x[0][k..], &beta[k..]);
            let mean = |eta: f64| 1.0 / (1.0 + (-eta).exp());
            sum += w * (mean(rest + beta[class]) - mean(rest));
            weight += w;
        }
        sum / weight
    };
    let effect = own.classes[class].average_effect.unwrap();
    close(effect.estimate, average(&plain.beta), &format!("{what}, average effect {class}"));
    let slope = |column: usize| {
        let at = |change: f64| {
            let mut beta = plain.beta.clone();
            beta[column] += change;
            average(&beta)
        };
        (at(1e-4) - at(-1e-4)) / 2e-4
    };
    let slopes: Vec<f64> = (0..plain.beta.len()).map(slope).collect();
    let variance: f64 = plain.covariance.iter().zip(&slopes).map(|(row, own)| own * dot(row, &slopes)).sum();
    let error = effect.error.unwrap();
    assert!((error / variance.sqrt() - 1.0).abs() < 1e-5, "{what}: {error} instead of {}", variance.sqrt());
}

fn cases() -> impl Iterator<Item = Case> {
    let both = [false, true];
    [Model::Linear, Model::Logistic].into_iter().flat_map(move |model| {
        both.into_iter().flat_map(move |clustered| {
            [(false, false), (true, false), (false, true), (true, true)]
                .into_iter()
                .map(move |(weighted, counted)| Case { model, clustered, weighted, counted })
        })
    })
}

#[test]
fn all_estimators_equal_dense_normal_equations() {
    let table = Table::new(1, 600, 4);
    for case in cases() {
        with(&table, case, |own| {
            let classes = |row: usize| How::Class(table.truth[row]);
            compare(&own.truth().unwrap().unwrap(), &people(&table, case, classes), case, &format!("truth {case:?}"));
            let labels = Labels::new(table.labels.clone(), &table.classes).unwrap();
            let expected = people(&table, case, |row| How::Class(table.labels[row]));
            compare(&own.labels(&labels).unwrap(), &expected, case, &format!("labels {case:?}"));
            let expected = people(&table, case, |_| How::Weighted);
            compare(&own.weighted().unwrap(), &expected, case, &format!("weighted {case:?}"));
            if case.model == Model::Linear {
                let expected = people(&table, case, |_| How::Linear);
                compare(&own.linear().unwrap(), &expected, case, &format!("linear {case:?}"));
            } else {
                assert!(own.linear().unwrap_err().to_string().contains("not a logistic function"));
            }
        });
    }
}

#[test]
fn imputed_combines_the_fits_of_its_draws() {
    let table = Table::new(2, 500, 3);
    let settings = Settings { seed: 5, ..Settings::default() };
    let thompson = Rule::Thompson.fit(&table.scores(), &settings).unwrap();
    for (model, clustered) in [(Model::Linear, false), (Model::Linear, true), (Model::Logistic, false)] {
        let case = Case { model, clustered, weighted: true, counted: false };
        let fits: Vec<Plain> = (0..u64::from(IMPUTATIONS))
            .map(|draw| {
                let labels = thompson.draw(&table.scores(), draw).unwrap();
                let people = people(&table, case, |row| How::Class(labels.values()[row]));
                plain(&people, model, clustered)
            })
            .collect();
        let own = with(&table, case, |own| own.imputed(IMPUTATIONS, 5).unwrap());
        for class in 1..3 {
            let number = fits.len() as f64;
            let mean = fits.iter().map(|fit| fit.beta[class]).sum::<f64>() / number;
            let within = fits.iter().map(|fit| fit.covariance[class][class]).sum::<f64>() / number;
            let between = fits.iter().map(|fit| (fit.beta[class] - mean).powi(2)).sum::<f64>() / (number - 1.0);
            let effect = own.classes[class].gap.unwrap();
            close(effect.estimate, mean, "the mean of the draws");
            close(effect.error.unwrap().powi(2), within + (1.0 + 1.0 / number) * between, "Rubin's variance");
        }
    }
}

#[test]
fn results_do_not_depend_on_row_order_or_threads() {
    let table = Table::new(3, 3000, 3);
    let mut order: Vec<usize> = (0..table.rows()).collect();
    Chance::new(4).shuffle(&mut order);
    let permuted = table.in_order(&order);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let many = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
    for (model, clustered) in
        [(Model::Linear, false), (Model::Linear, true), (Model::Logistic, false), (Model::Logistic, true)]
    {
        let case = Case { model, clustered, weighted: true, counted: true };
        let all = |table: &Table| {
            with(table, case, |own| {
                let labels = Labels::new(table.labels.clone(), &table.classes).unwrap();
                let mut all = vec![own.labels(&labels), own.weighted(), own.imputed(5, 9)];
                if model == Model::Linear {
                    all.push(own.linear());
                }
                all.into_iter().map(Result::unwrap).collect::<Vec<Regression>>()
            })
        };
        let expected = one.install(|| all(&table));
        assert_eq!(expected, many.install(|| all(&permuted)), "{case:?}");
    }
}

#[test]
fn a_row_of_several_people_equals_several_rows() {
    let table = Table::new(5, 400, 3);
    let order: Vec<usize> =
        (0..table.rows()).flat_map(|row| std::iter::repeat_n(row, table.counts[row] as usize)).collect();
    let repeated = table.in_order(&order);
    for (model, clustered) in [(Model::Linear, true), (Model::Logistic, false)] {
        let case = Case { model, clustered, weighted: true, counted: true };
        let own = with(&table, case, |own| own.weighted().unwrap());
        let other = with(&repeated, Case { counted: false, ..case }, |own| own.weighted().unwrap());
        for (own, other) in own.classes.iter().zip(&other.classes) {
            let (Some(own), Some(other)) = (own.gap, other.gap) else { continue };
            close(own.estimate, other.estimate, "estimate");
            close(own.error.unwrap(), other.error.unwrap(), "error");
        }
    }
}

#[test]
fn a_cluster_per_row_is_hc1_and_a_single_cluster_is_refused() {
    let mut table = Table::new(6, 300, 3);
    table.clusters = (0..300).collect();
    let case = Case { model: Model::Linear, clustered: true, weighted: false, counted: false };
    let own = with(&table, case, |own| own.weighted().unwrap());
    let simple = with(&table, Case { clustered: false, ..case }, |own| own.weighted().unwrap());
    for (own, simple) in own.classes.iter().zip(&simple.classes).skip(1) {
        // G/(G−1) · (n−1)/(n−k) with G = n is n/(n−k).
        close(own.gap.unwrap().error.unwrap(), simple.gap.unwrap().error.unwrap(), "error");
    }
    assert_eq!(own.clusters, Some(own.people));
    table.clusters = vec![7; 300];
    let outcomes = Outcomes::numbers(&table.numbers).unwrap();
    let clusters = Some(&table.clusters[..]);
    let problem = Problem { outcomes: &outcomes, controls: &[], clusters, against: 0, model: Model::Linear };
    let problem = Regressions::new(&table.scores(), problem).unwrap_err().to_string();
    assert!(problem.contains("clusters is 1; it must be at least 2"), "{problem}");
}

/// Calls `each` with regressions of a table of two classes with other controls.
fn with_controls<T>(
    table: &Table,
    model: Model,
    controls: &[Control<'_>],
    each: impl FnOnce(&Regressions<'_>) -> T,
) -> T {
    let names = yes_and_no();
    let outcomes = Outcomes::levels(&table.codes, &names).unwrap().counting(1).unwrap();
    let scores = table.scores();
    each(
        &Regressions::new(&scores, Problem { outcomes: &outcomes, controls, clusters: None, against: 0, model })
            .unwrap(),
    )
}

#[test]
fn constant_and_collinear_controls_are_left_out() {
    let table = Table::new(7, 500, 3);
    let constant = vec![3.0; 500];
    let names = party_names();
    let one_level = vec![1u16; 500];
    let twice: Vec<f64> = table.income.iter().map(|own| 2.0 * own + 7.0).collect();
    let share: Vec<f64> = (0..500).map(|row| 100.0 * table.q[row * 3 + 1]).collect();
    let is_label: Vec<f64> = table.truth.iter().map(|&own| f64::from(u8::from(own == 2))).collect();
    let number = |name, values| Control { name, values: ControlValues::Numbers(values) };
    let controls = [
        number("constant", &constant),
        Control { name: "one level", values: ControlValues::Levels { codes: &one_level, names: &names } },
        number("income", &table.income),
        number("twice", &twice),
        number("share", &share),
        number("is label", &is_label),
    ];
    for model in [Model::Linear, Model::Logistic] {
        let alone = with_controls(&table, model, &controls[2..3], |own| own.truth().unwrap().unwrap());
        with_controls(&table, model, &controls, |own| {
            assert_eq!(own.constant_controls(), [0, 1]);
            let left_out = |own: &Regression| {
                let absent = own.controls.iter().filter(|own| own.absent == Some(Absent::Collinear));
                absent.map(|own| own.control).collect::<Vec<_>>()
            };
            let truth = own.truth().unwrap().unwrap();
            assert_eq!(left_out(&truth), [3, 5], "{model:?}");
            assert_eq!(left_out(&own.weighted().unwrap()), [3], "{model:?}");
            if model == Model::Linear {
                let linear = own.linear().unwrap();
                assert_eq!(left_out(&linear), [3, 4]);
                assert!(linear.classes[1].gap.is_some() && linear.classes[2].gap.is_some());
            }
        });
        with_controls(&table, model, &[controls[2], controls[3], controls[5]], |own| {
            // Collinear controls change nothing.
            let truth = own.truth().unwrap().unwrap();
            for (own, other) in truth.classes.iter().zip(&alone.classes).skip(1) {
                close(own.gap.unwrap().estimate, other.gap.unwrap().estimate, "gap");
                close(own.gap.unwrap().error.unwrap(), other.gap.unwrap().error.unwrap(), "error");
            }
        });
    }
}

#[test]
fn classes_without_people_and_proportional_scores_have_no_estimate() {
    let mut table = Table::new(8, 400, 4);
    // The scores of class 3 are half of those of class 2; no one has label 1.
    for row in table.q.chunks_exact_mut(4) {
        let sum = row[2] + row[3];
        (row[2], row[3]) = (sum / 1.5, sum / 3.0);
    }
    table.labels.iter_mut().filter(|own| **own == 1).for_each(|own| *own = 0);
    let case = Case { model: Model::Linear, clustered: false, weighted: false, counted: false };
    with(&table, case, |own| {
        let linear = own.linear().unwrap();
        let absent: Vec<_> = linear.classes.iter().map(|own| own.absent).collect();
        assert_eq!(absent, [None, None, Some(Absent::Collinear), Some(Absent::Collinear)]);
        assert!(linear.classes[1].gap.is_some() && linear.classes[2].gap.is_none());
        let labels = Labels::new(table.labels.clone(), &table.classes).unwrap();
        let labels = own.labels(&labels).unwrap();
        assert_eq!((labels.classes[1].gap, labels.classes[1].absent), (None, Some(Absent::Empty)));
        assert_eq!(labels.classes[1].effective_n, 0.0);
        assert!(labels.classes[2].gap.is_some());
    });
}

#[test]
fn perfect_predictions_have_no_logistic_estimate() {
    let mut table = Table::new(9, 500, 3);
    let names = party_names();
    // Everyone of class 2 and everyone of party 1 has the outcome 1.
    for row in 0..500 {
        if table.codes[row] != NO_LEVEL && (table.truth[row] == 2 || table.party[row] == 1) {
            table.codes[row] = 1;
        }
    }
    let party = Control { name: "party", values: ControlValues::Levels { codes: &table.party, names: &names } };
    with_controls(&table, Model::Logistic, &[party], |own| {
        let truth = own.truth().unwrap().unwrap();
        assert!(truth.converged && truth.separated_by.is_empty());
        assert_eq!((truth.classes[2].gap, truth.classes[2].absent), (None, Some(Absent::SameOutcome)));
        let same: Vec<_> = truth.controls.iter().filter(|own| own.absent == Some(Absent::SameOutcome)).collect();
        // Its indicator has no estimate, or it is the reference and its members have the same outcome.
        assert!(same.iter().all(|own| own.level == Some(1)), "{same:?}");
        // The others have the estimates of the people who are left.
        let left = |row: usize| match () {
            () if table.truth[row] == 2 || table.party[row] == 1 => How::Class(UNCODED),
            () => How::Class(table.truth[row]),
        };
        let others = (0..500).filter(|&row| left(row) != How::Class(UNCODED));
        let others = others.filter(|&row| table.codes[row] != NO_LEVEL && table.party[row] != NO_LEVEL);
        if !same.is_empty() {
            assert_eq!(truth.people, others.count() as u64);
            assert!(truth.classes[1].gap.is_some());
        }
        // Scores are never zero here, so that the weighted estimate of class 2 is finite.
        assert!(own.weighted().unwrap().classes[2].gap.is_some());
    });
    // A number that separates the outcomes.
    let table = Table::new(9, 500, 3);
    let split: Vec<f64> = table.codes.iter().map(|&code| f64::from(code.min(2)) - 0.4).collect();
    let split = Control { name: "split", values: ControlValues::Numbers(&split) };
    let income = Control { name: "income", values: ControlValues::Numbers(&table.income) };
    with_controls(&table, Model::Logistic, &[income, split], |own| {
        for own in [own.truth().unwrap().unwrap(), own.weighted().unwrap(), own.imputed(5, 1).unwrap()] {
            assert_eq!((own.converged, &own.separated_by[..]), (false, &[1][..]));
            assert!(own.classes.iter().all(|own| own.gap.is_none() && own.average_effect.is_none()));
        }
    });
    with_controls(&table, Model::Linear, &[income, split], |own| {
        assert!(own.weighted().unwrap().classes[1].gap.is_some());
    });
}

#[test]
fn rows_that_are_not_used_are_counted_by_reason() {
    let table = Table::new(10, 340, 3);
    let case = Case { model: Model::Linear, clustered: true, weighted: false, counted: false };
    with(&table, case, |own| {
        let missing = |of: &dyn Fn(usize) -> bool| (0..340).filter(|&row| of(row)).count() as u64;
        let unused = own.unused();
        assert_eq!(unused.without_outcome, missing(&|row| table.numbers[row].is_nan()));
        assert_eq!(unused.controls[0], missing(&|row| table.income[row].is_nan()));
        assert_eq!(unused.controls[1], missing(&|row| table.party[row] == NO_LEVEL));
        assert_eq!(unused.without_control, unused.controls[0] + unused.controls[1]);
        assert_eq!(unused.without_cluster, missing(&|row| table.clusters[row] == NO_CLUSTER));
        let all = unused.without_outcome + unused.without_control + unused.without_cluster;
        assert_eq!(own.used().rows, 340 - all);
        assert!(unused.without_control > 0 && unused.without_cluster > 0);
    });
}

#[test]
fn invalid_problems_are_refused() {
    let table = Table::new(11, 50, 3);
    let (numbers, names) = (Outcomes::numbers(&table.numbers).unwrap(), yes_and_no());
    let both = Outcomes::levels(&table.codes, &names).unwrap();
    let many: Vec<String> = (0..101).map(|level| level.to_string()).collect();
    let codes = vec![0u16; 50];
    let control = |values| [Control { name: "x", values }];
    let refused = |outcomes: &Outcomes<'_>, controls: &[Control<'_>], against: usize, model: Model| {
        let problem = Problem { outcomes, controls, clusters: None, against, model };
        Regressions::new(&table.scores(), problem).unwrap_err().to_string()
    };
    let wide = control(ControlValues::Levels { codes: &codes, names: &many });
    assert!(refused(&numbers, &wide, 0, Model::Linear).contains("\"x\" is 101; it must be at most 100"));
    let short = control(ControlValues::Numbers(&[1.0]));
    assert!(refused(&numbers, &short, 0, Model::Linear).contains("expected 50"));
    assert!(refused(&numbers, &[], 0, Model::Logistic).contains("linear"));
    assert!(refused(&numbers, &[], 3, Model::Linear).contains("out of range"));
    assert!(refused(&both, &[], 0, Model::Linear).contains("must be 1"));
    let codes: Vec<u16> = (0..50).collect();
    let names: Vec<String> = many[..50].to_vec();
    let levels = [Control { name: "x", values: ControlValues::Levels { codes: &codes, names: &names } }; 5];
    assert!(refused(&numbers, &levels, 0, Model::Linear).contains("at most 200"));
}

#[test]
fn constant_outcomes_are_reported() {
    let mut table = Table::new(12, 50, 3);
    table.numbers = vec![4.5; 50];
    let case = Case { model: Model::Linear, clustered: false, weighted: false, counted: false };
    let is_constant = |table: &Table| with(table, case, |own: &Regressions<'_>| own.is_outcome_constant());
    assert!(is_constant(&table));
    table.numbers[3] = 4.6;
    assert!(!is_constant(&table));
}

/// People whose class is drawn from their scores, with a control that is related to the class.
fn simulated(seed: u64, rows: usize, outcome: impl Fn(usize, f64, &[f64], f64) -> f64) -> Table {
    let mut table = Table::new(seed, rows, 3);
    let mut chance = Chance::new(seed + 100);
    table.party = vec![0; rows];
    for row in 0..rows {
        let q = &table.q[row * 3..][..3];
        // The control depends on the scores, so that a gap without controls is biased.
        table.income[row] = 2.0 * q[1] + chance.unit();
        let noise = chance.unit() + chance.unit() - 1.0;
        table.numbers[row] = outcome(usize::from(table.truth[row]), table.income[row], q, noise);
    }
    table
}

#[test]
fn estimators_recover_the_truth_if_their_condition_holds() {
    let case = Case { model: Model::Linear, clustered: false, weighted: false, counted: false };
    let rows = 40_000;
    let near = |own: &Regression, class: usize, expected: f64, what: &str| {
        let gap = own.classes[class].gap.unwrap();
        let deviations = (gap.estimate - expected) / gap.error.unwrap();
        assert!(deviations.abs() < 3.5, "{what} {class}: {gap:?}, expected {expected}");
    };
    // The outcome depends on class and control, not on the scores: linear is right, labels and weighted are not.
    let gaps = [0.0, -1.0, 0.7];
    let table = simulated(20, rows, |class, control, _, noise| gaps[class] + 0.5 * control + noise);
    with(&table, case, |own| {
        let (linear, truth) = (own.linear().unwrap(), own.truth().unwrap().unwrap());
        for class in 1..3 {
            near(&linear, class, gaps[class], "linear");
            near(&truth, class, gaps[class], "truth");
            let weighted = own.weighted().unwrap().classes[class].gap.unwrap();
            assert!((weighted.estimate / gaps[class]) < 0.9, "{weighted:?}");
        }
    });
    // The outcome depends on scores and control, not on the class: weighted and imputed have the estimate of the truth.
    let table = simulated(21, rows, |_, control, q, noise| 1.5 * q[2] + 0.5 * control + noise);
    with(&table, case, |own| {
        let truth = own.truth().unwrap().unwrap();
        let (weighted, imputed) = (own.weighted().unwrap(), own.imputed(IMPUTATIONS, 0).unwrap());
        for class in 1..3 {
            let expected = truth.classes[class].gap.unwrap();
            let gap = weighted.classes[class].gap.unwrap().estimate;
            assert!((gap - expected.estimate).abs() < 3.5 * expected.error.unwrap(), "{gap} {expected:?}");
            near(&imputed, class, gap, "imputed");
        }
    });
}
