//! Tests of differences between one class and everyone else: against other estimators, plain loops, exact identities in
//! calibrated populations, and simulations with known answers.
#![allow(clippy::unwrap_used, clippy::needless_range_loop)] // also in helper functions; classes are indices here

mod common;

use apportion::audit::Interval;
use apportion::estimate::*;
use apportion::*;
use common::{Chance, classes, continuous};

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} and not {expected}");
}

fn names() -> Vec<String> {
    ["no", "yes"].map(String::from).to_vec()
}

/// Rows with scores of three classes, truth for most, counts, weights and both kinds of outcomes.
struct Table {
    classes: Classes,
    q: Vec<f64>,
    truth: Vec<Label>,
    counts: Vec<u64>,
    weights: Vec<f64>,
    numbers: Vec<f64>,
    codes: Vec<u16>,
}

impl Table {
    fn new(seed: u64, rows: usize) -> Table {
        let mut chance = Chance::new(seed);
        let q = continuous(&mut chance, rows, 3);
        let mut table = Table {
            classes: classes(3),
            truth: Vec::new(),
            counts: (0..rows).map(|_| chance.below(3)).collect(),
            weights: (0..rows).map(|_| 0.2 + 2.0 * chance.unit()).collect(),
            numbers: Vec::new(),
            codes: Vec::new(),
            q,
        };
        for row in 0..rows {
            let (first, second, at) = (table.q[3 * row], table.q[3 * row + 1], chance.unit());
            let class = if at < first { 0 } else { 1 + u8::from(at >= first + second) };
            table.truth.push(if row % 3 == 0 { UNCODED } else { class });
            table.numbers.push(if row % 11 == 0 {
                f64::NAN
            } else {
                50.0 + 9.0 * f64::from(class) + 20.0 * first + chance.unit()
            });
            table.codes.push(if row % 13 == 0 {
                NO_LEVEL
            } else {
                u16::from(chance.unit() < 0.2 + 0.2 * f64::from(class) + 0.3 * first)
            });
        }
        table
    }

    fn rows(&self) -> usize {
        self.codes.len()
    }

    fn part(&self, rows: &[usize]) -> Table {
        Table {
            classes: self.classes.clone(),
            q: rows.iter().flat_map(|&row| self.q[3 * row..][..3].to_vec()).collect(),
            truth: rows.iter().map(|&row| self.truth[row]).collect(),
            counts: rows.iter().map(|&row| self.counts[row]).collect(),
            weights: rows.iter().map(|&row| self.weights[row]).collect(),
            numbers: rows.iter().map(|&row| self.numbers[row]).collect(),
            codes: rows.iter().map(|&row| self.codes[row]).collect(),
        }
    }

    fn scores(&self) -> Scores<'_> {
        let scores = Scores::new(&self.classes, Matrix::RowsF64(&self.q)).unwrap();
        scores.with_truth(&self.truth).unwrap().with_counts(&self.counts).unwrap()
    }
}

#[test]
fn both_estimates_are_those_of_two_classes() {
    let (table, names, two) = (Table::new(51, 400), names(), classes(2));
    let levels = Outcomes::levels(&table.codes, &names).unwrap();
    for outcomes in [Outcomes::numbers_about(&table.numbers, 60.0).unwrap(), levels] {
        let found = Bracket::of(&table.scores(), &outcomes).unwrap().estimates();
        for class in 0..3 {
            let q: Vec<f64> = table.q.iter().skip(class).step_by(3).flat_map(|&own| [own, 1.0 - own]).collect();
            let scores = Scores::new(&two, Matrix::RowsF64(&q)).unwrap().with_counts(&table.counts).unwrap();
            let weighted = Weighted::of(&scores, &outcomes).unwrap().estimates();
            let linear = Linear::of(&scores, &outcomes).unwrap().estimates();
            for level in 0..found.len() {
                let own = found[level][class].unwrap();
                for (own, gap) in
                    [(own.weighted, weighted[level].gap(0, 1)), (own.linear.unwrap(), linear[level].gap(0, 1))]
                {
                    near(own.value, gap.unwrap().difference.unwrap());
                    near(own.error, gap.unwrap().error.unwrap());
                    near(own.interval.high - own.value, 1.959_963_984_540_054 * own.error);
                }
                let sizes = [0, 1].map(|class| weighted[level].classes[class].unwrap().effective_n);
                near(own.effective_n, sizes[0].min(sizes[1]));
            }
        }
    }
}

/// Residuals of a weighted regression on one column and a constant.
fn residuals(weights: &[f64], column: &[f64], values: &[f64]) -> Vec<f64> {
    let all: f64 = weights.iter().sum();
    let mean = |of: &dyn Fn(usize) -> f64| (0..weights.len()).map(|row| weights[row] * of(row)).sum::<f64>() / all;
    let (x, y) = (mean(&|row| column[row]), mean(&|row| values[row]));
    let slope = mean(&|row| (column[row] - x) * (values[row] - y)) / mean(&|row| (column[row] - x).powi(2));
    (0..weights.len()).map(|row| values[row] - y - slope * (column[row] - x)).collect()
}

#[test]
fn covariances_of_known_classes_are_those_of_residuals() {
    let (table, names) = (Table::new(52, 300), names());
    let outcomes = Outcomes::levels(&table.codes, &names).unwrap().counting(1).unwrap();
    for is_weighted in [false, true] {
        let outcomes = if is_weighted { outcomes.with_weights(&table.weights).unwrap() } else { outcomes };
        let found = Bracket::of(&table.scores(), &outcomes).unwrap().estimates().remove(0);
        for class in 0..3 {
            let known = (0..table.rows()).filter(|&row| table.truth[row] != UNCODED && table.codes[row] != NO_LEVEL);
            let people: Vec<usize> =
                known.flat_map(|row| std::iter::repeat_n(row, table.counts[row] as usize)).collect();
            let of = |of: &dyn Fn(usize) -> f64| people.iter().map(|&row| of(row)).collect::<Vec<f64>>();
            let weights = of(&|row| if is_weighted { table.weights[row] } else { 1.0 });
            let (y, q) = (of(&|row| f64::from(table.codes[row])), of(&|row| table.q[3 * row + class]));
            let r = of(&|row| f64::from(u8::from(usize::from(table.truth[row]) == class)));
            let all: f64 = weights.iter().sum();
            let covariance = |one: Vec<f64>, other: Vec<f64>| {
                let mean = (0..y.len()).map(|row| weights[row] * one[row] * other[row]).sum::<f64>() / all;
                let squares = (0..y.len()).map(|row| (weights[row] * (one[row] * other[row] - mean)).powi(2));
                (mean, squares.sum::<f64>().sqrt() / all)
            };
            let own = found[class].unwrap().known.unwrap();
            let expected = [
                covariance(residuals(&weights, &q, &y), residuals(&weights, &q, &r)),
                // A regression on an indicator subtracts the means of both groups.
                covariance(residuals(&weights, &r, &y), residuals(&weights, &r, &q)),
            ];
            for (found, (value, error)) in [own.given_score, own.given_class].into_iter().zip(expected) {
                near(found.value, value);
                near(found.error, error);
            }
            // The difference of means by truth, which is the slope on the indicator, with the robust error HC0.
            let (mean, rest) = (mean_where(&weights, &y, &r, 1.0), mean_where(&weights, &y, &r, 0.0));
            near(own.truth.value, mean.0 - rest.0);
            near(own.truth.error, mean.1.hypot(rest.1));
        }
    }
}

fn mean_where(weights: &[f64], values: &[f64], column: &[f64], at: f64) -> (f64, f64) {
    let rows: Vec<usize> = (0..values.len()).filter(|&row| column[row] == at).collect();
    let all: f64 = rows.iter().map(|&row| weights[row]).sum();
    let mean = rows.iter().map(|&row| weights[row] * values[row]).sum::<f64>() / all;
    (mean, rows.iter().map(|&row| (weights[row] * (values[row] - mean)).powi(2)).sum::<f64>().sqrt() / all)
}

#[test]
fn neither_order_nor_batches_change_the_bracket() {
    let (table, names) = (Table::new(53, 500), names());
    let mut rows: Vec<usize> = (0..500).collect();
    Chance::new(54).shuffle(&mut rows);
    let parts = [table.part(&rows[..200]), table.part(&rows[200..])];
    fn outcomes<'a>(table: &'a Table, names: &'a [String], kind: usize) -> Outcomes<'a> {
        match kind {
            0 => Outcomes::numbers_about(&table.numbers, 50.0).unwrap().with_weights(&table.weights).unwrap(),
            1 => Outcomes::levels(&table.codes, names).unwrap(),
            _ => Outcomes::levels(&table.codes, names).unwrap().with_weights(&table.weights).unwrap(),
        }
    }
    for kind in 0..3 {
        let whole = Bracket::of(&table.scores(), &outcomes(&table, &names, kind)).unwrap().estimates();
        let shuffled = table.part(&rows);
        assert_eq!(Bracket::of(&shuffled.scores(), &outcomes(&shuffled, &names, kind)).unwrap().estimates(), whole);
        let [first, second] =
            parts.each_ref().map(|part| BracketSums::of(&part.scores(), &outcomes(part, &names, kind)).unwrap());
        let mut sums = first.clone();
        sums.merge(&second).unwrap();
        let [mut all, more] =
            parts.each_ref().map(|part| Bracket::with(&sums, &part.scores(), &outcomes(part, &names, kind)).unwrap());
        all.merge(&more).unwrap();
        assert_eq!(all.estimates(), whole);
        let other = Bracket::with(&first, &parts[0].scores(), &outcomes(&parts[0], &names, kind)).unwrap();
        assert!(all.merge(&other).is_err());
    }
}

/// A population with exactly calibrated scores: of 20 people with the score m / 20, m have the class.
fn calibrated(chance: &mut Chance) -> (Vec<f64>, Vec<Label>, Vec<u16>) {
    let (by_class, by_score, base) = (chance.unit() - 0.5, chance.unit() - 0.5, 0.5);
    let (mut q, mut truth, mut codes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..12 {
        let members = chance.below(21);
        for person in 0..20 {
            let (score, own) = (members as f64 / 20.0, person < members);
            q.extend([score, 1.0 - score]);
            truth.push(Label::from(!own));
            let rate = base + by_class * f64::from(u8::from(own)) + by_score * score;
            codes.push(u16::from(chance.unit() < rate));
        }
    }
    (q, truth, codes)
}

#[test]
fn in_calibrated_populations_the_identities_are_exact() {
    let (mut chance, classes, names) = (Chance::new(55), classes(2), names());
    let mut orders = [0; 3];
    for _ in 0..200 {
        let (q, truth, codes) = calibrated(&mut chance);
        let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap().with_truth(&truth).unwrap();
        let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
        let own = Bracket::of(&scores, &outcomes).unwrap().estimates()[0][0].unwrap();
        let (known, linear) = (own.known.unwrap(), own.linear.unwrap());
        let share = q.iter().step_by(2).sum::<f64>() / truth.len() as f64;
        let squares = q.iter().step_by(2).map(|q| q * q).sum::<f64>() / truth.len() as f64;
        let (class_variance, score_variance) = (share * (1.0 - share), squares - share * share);
        near(own.share, share);
        near(known.truth.value, own.weighted.value + known.given_score.value / class_variance);
        near(known.truth.value, linear.value - known.given_class.value / score_variance);
        let (weighted, truth_value, linear) = (own.weighted.value, known.truth.value, linear.value);
        match known.order() {
            BracketOrder::WeightedFirst => assert!(weighted <= truth_value && truth_value <= linear),
            BracketOrder::LinearFirst => assert!(linear <= truth_value && truth_value <= weighted),
            BracketOrder::Outside => assert!((truth_value < weighted) == (truth_value < linear)),
        }
        orders[known.order() as usize] += 1;

        // The violation makes the difference zero, and no violation exceeds the largest.
        let without_bounds = own.sensitivity(None);
        let (by_weighted, by_linear) = (without_bounds.weighted.unwrap(), without_bounds.linear.unwrap());
        near(own.weighted.value + by_weighted.needed / class_variance, 0.0);
        near(linear - by_linear.needed / score_variance, 0.0);
        assert!(known.given_score.value.abs() <= by_weighted.largest.abs() + 1e-12);
        assert!(known.given_class.value.abs() <= by_linear.largest.abs() + 1e-12);

        // With cells of equal scores, the bounds are exact.
        let cells: Vec<u32> = q.iter().step_by(2).map(|q| (q * 20.0).round() as u32).collect();
        let bounds = CellBounds::of(&scores, &outcomes, &cells, 21).unwrap().estimates().remove(0);
        let interval = bounds.classes[0].unwrap().interval.unwrap();
        let mean = codes.iter().map(|&code| f64::from(code)).sum::<f64>() / codes.len() as f64;
        let [low, high] = [interval.low, interval.high].map(|rate| (rate - mean) / (1.0 - share));
        assert!(low - 1e-9 <= truth_value && truth_value <= high + 1e-9);
        let with_bounds = own.sensitivity(Some(interval));
        if weighted > low + 1e-9 && weighted < high - 1e-9 {
            let end = if weighted > 0.0 { low } else { high };
            near(with_bounds.weighted.unwrap().share(), weighted / (weighted - end));
            near(with_bounds.weighted.unwrap().needed, by_weighted.needed);
        }
        if linear < low - 1e-9 && linear < 0.0 {
            // Outside of the bounds, but toward zero there is a possible violation.
            near(with_bounds.linear.unwrap().share(), linear / (linear - high));
        }
        if linear > high + 1e-9 && linear < 0.0 {
            assert_eq!(with_bounds.linear, None);
        }
    }
    assert!(orders.iter().all(|&number| number > 10), "{orders:?}");
}

/// Intervals of the covariances cover their population values, which follow from the design.
#[test]
fn intervals_of_covariances_cover() {
    const SAMPLES: usize = 600;
    let (classes, names, mut chance) = (classes(2), names(), Chance::new(56));
    let scores = [0.1, 0.3, 0.6, 0.9];
    let rate = |own: bool, score: f64| 0.2 + 0.15 * f64::from(u8::from(own)) + 0.4 * score;
    // E[Cov(Y, R | q)] and, with the means of each class, E[Cov(Y, q | R)].
    let given_score = scores.iter().map(|q| 0.15 * q * (1.0 - q)).sum::<f64>() / 4.0;
    let share = scores.iter().sum::<f64>() / 4.0;
    let given_class: f64 = [true, false]
        .map(|own| {
            let weight = |q: f64| if own { q } else { 1.0 - q };
            let all: f64 = scores.iter().map(|&q| weight(q)).sum();
            let mean = scores.iter().map(|&q| weight(q) * q).sum::<f64>() / all;
            let covariance = scores.iter().map(|&q| weight(q) * (q - mean) * rate(own, q)).sum::<f64>() / all;
            (if own { share } else { 1.0 - share }) * covariance
        })
        .iter()
        .sum();
    let (mut covered, mut differences) = ([0; 3], 0);
    for _ in 0..SAMPLES {
        let (mut q, mut truth, mut codes) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..400 {
            let score = scores[chance.below(4) as usize];
            let own = chance.unit() < score;
            q.extend([score, 1.0 - score]);
            truth.push(Label::from(!own));
            codes.push(u16::from(chance.unit() < rate(own, score)));
        }
        let table = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap().with_truth(&truth).unwrap();
        let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
        let own = Bracket::of(&table, &outcomes).unwrap().estimates()[0][0].unwrap();
        let contains = |interval: Interval, value: f64| usize::from(interval.low <= value && value <= interval.high);
        let known = own.known.unwrap();
        let variance = scores.iter().map(|q| (q - share).powi(2)).sum::<f64>() / 4.0;
        covered[0] += contains(known.given_score.interval, given_score);
        covered[1] += contains(known.given_class.interval, given_class);
        // The linear estimate minus its bias is the true difference.
        let truth = own.linear.unwrap().interval;
        let off = given_class / variance;
        let difference = given_score / (share * (1.0 - share));
        covered[2] += contains(own.weighted.interval, {
            let mean = |own: bool| {
                let weight = |q: f64| if own { q } else { 1.0 - q };
                scores.iter().map(|&q| weight(q) * rate(own, q)).sum::<f64>()
                    / scores.iter().map(|&q| weight(q)).sum::<f64>()
            };
            differences += contains(truth, mean(true) - mean(false) + off);
            mean(true) - mean(false) - difference
        });
    }
    for covered in covered.into_iter().chain([differences]) {
        let share = covered as f64 / SAMPLES as f64;
        assert!((0.92..=0.98).contains(&share), "{covered:?}");
    }
}

#[test]
fn classes_without_people_have_no_difference() {
    let (classes, names) = (classes(3), names());
    let q = [0.5, 0.5, 0.0, 0.5, 0.5, 0.0, 0.5, 0.5, 0.0];
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap().with_truth(&[0, 0, UNCODED]).unwrap();
    let outcomes = Outcomes::levels(&[1, 0, 1], &names).unwrap().counting(1).unwrap();
    let found = Bracket::of(&scores, &outcomes).unwrap().estimates().remove(0);
    let own = found[0].unwrap();
    near(own.weighted.value, 0.0);
    // Everyone has the same score, and no one has the other class.
    assert_eq!((own.linear, own.known, found[2]), (None, None, None));
    assert_eq!(own.sensitivity(None).linear, None);
    let none = Outcomes::levels(&[NO_LEVEL; 3], &names).unwrap();
    assert!(Bracket::of(&scores, &none).unwrap().estimates().iter().flatten().all(Option::is_none));
}
