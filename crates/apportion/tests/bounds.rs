//! Tests of the intervals of bounds: against a plain loop over people, and in simulations with known bounds.
#![allow(clippy::unwrap_used, clippy::needless_range_loop, clippy::print_stdout)] // also in helper functions

mod common;

use apportion::estimate::*;
use apportion::*;
use common::{Chance, classes, continuous};

fn names() -> Vec<String> {
    ["no", "yes"].map(String::from).to_vec()
}

/// The probability that a standard normal number is at most x, by Simpson's rule.
fn normal(x: f64) -> f64 {
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (from, steps) = (-12.0f64, 4000);
    let step = (x.max(from) - from) / f64::from(steps);
    let part = |index: i32| {
        let factor = if index == 0 || index == steps {
            1.0
        } else if index % 2 == 1 {
            4.0
        } else {
            2.0
        };
        factor * density(from + step * f64::from(index))
    };
    (0..=steps).map(part).sum::<f64>() * step / 3.0
}

/// A person: the cell, the score of the class, the outcome, and the weight.
type Person = (usize, f64, f64, f64);

/// The bounds of the sample and their interval, person by person.
fn by_hand(people: &[Person], cells: usize) -> [(f64, f64); 2] {
    let all: f64 = people.iter().map(|(_, q, _, weight)| weight * q).sum();
    let ends = [|q: f64, y: f64| q + y - 1.0, |q: f64, y: f64| q - y];
    let ends = ends.map(|of| {
        let cell =
            |cell: usize| people.iter().filter(move |own| own.0 == cell).map(move |own| (of(own.1, own.2), *own));
        let mut parts = Vec::new();
        for index in 0..cells {
            let sum = |term: &dyn Fn(f64, f64) -> f64| cell(index).map(|(s, own)| term(s, own.3)).sum::<f64>();
            let (weights, squares) = (sum(&|_, w| w), sum(&|_, w| w * w));
            if weights > 0.0 {
                let mean = sum(&|s, w| w * s) / weights;
                let effective = weights * weights / squares;
                let spread = sum(&|s, w| w * w * (s - mean).powi(2)) / squares * effective;
                parts.push((index, weights * mean, squares, effective, spread));
            }
        }
        let common = parts.iter().map(|own| own.4).sum::<f64>() / parts.iter().map(|own| own.3 - 1.0).sum::<f64>();
        let (mut total, mut slopes) = (0.0, vec![0.0; cells]);
        for &(index, sum, squares, effective, spread) in &parts {
            let error = ((spread + 2.0 * common) / (effective + 1.0) * squares).sqrt();
            let (below, at) = (normal(sum / error), (-(sum / error).powi(2) / 2.0).exp() / 2.506_628_274_631_000_5);
            total += sum * below - error * at;
            slopes[index] = below + 2.0 * sum / error * at;
        }
        let share = total / all;
        let variance: f64 =
            people.iter().map(|own| (own.3 * (slopes[own.0] * of(own.1, own.2) - share * own.1)).powi(2)).sum();
        let sample = parts.iter().map(|own| own.1.max(0.0)).sum::<f64>() / all;
        (sample, share - 1.959_963_984_540_054 * variance.sqrt() / all)
    });
    [(ends[0].0, 1.0 - ends[1].0), (ends[0].1.max(0.0), (1.0 - ends[1].1).min(1.0))]
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-5, "{found} and not {expected}");
}

#[test]
fn intervals_of_bounds_are_those_of_a_plain_loop() {
    let (mut chance, classes, names) = (Chance::new(31), classes(3), names());
    let rows = 300;
    let q = continuous(&mut chance, rows, 3);
    let codes: Vec<u16> = (0..rows).map(|row| if row % 17 == 0 { NO_LEVEL } else { chance.below(2) as u16 }).collect();
    let cells: Vec<u32> = (0..rows).map(|_| chance.below(40) as u32).collect();
    let counts: Vec<u64> = (0..rows).map(|_| chance.below(3)).collect();
    let weights: Vec<f64> = (0..rows).map(|_| 1000.0 * (0.2 + chance.unit())).collect();
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
    let counted = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap().with_counts(&counts).unwrap();
    let plain = Outcomes::levels(&codes, &names).unwrap();
    let weighted = plain.with_weights(&weights).unwrap();
    for (scores, outcomes, has_counts, has_weights) in [
        (&scores, plain, false, false),
        (&counted, plain, true, false),
        (&scores, weighted, false, true),
        (&counted, weighted, true, true),
    ] {
        let bounds = CellBounds::of(scores, &outcomes, &cells, 41).unwrap();
        let (samples, intervals) = (bounds.estimates(), bounds.intervals());
        for (level, class) in (0..2).flat_map(|level| (0..3).map(move |class| (level, class))) {
            let mut people: Vec<Person> = Vec::new();
            for row in (0..rows).filter(|&row| codes[row] != NO_LEVEL) {
                let outcome = f64::from(u8::from(usize::from(codes[row]) == level));
                let weight = if has_weights { weights[row] } else { 1.0 };
                let person = (cells[row] as usize, q[row * 3 + class], outcome, weight);
                people.extend(std::iter::repeat_n(person, if has_counts { counts[row] as usize } else { 1 }));
            }
            let [sample, interval] = by_hand(&people, 41);
            for (found, expected) in [(&samples, sample), (&intervals, interval)] {
                let figure = found[level].classes[class].unwrap();
                near(figure.interval.unwrap().low, expected.0);
                near(figure.interval.unwrap().high, expected.1);
                let sum = |of: &dyn Fn(&Person) -> f64| people.iter().map(of).sum::<f64>();
                let effective = sum(&|own| own.3 * own.1).powi(2) / sum(&|own| own.3 * own.3 * own.1);
                assert!((figure.effective_n - effective).abs() < 1e-3);
            }
            let gap = |of: &[Estimate]| of[level].gap(class, (class + 1) % 3).unwrap().interval.unwrap();
            let of = |of: &[Estimate], class: usize| of[level].classes[class % 3].unwrap().interval.unwrap();
            near(gap(&intervals).low, of(&intervals, class).low - of(&intervals, class + 1).high);
            near(gap(&samples).high, of(&samples, class).high - of(&samples, class + 1).low);
        }
    }
}

#[test]
fn neither_order_nor_batches_change_intervals_of_bounds() {
    let (mut chance, classes, names) = (Chance::new(32), classes(3), names());
    let rows = 500;
    let q = continuous(&mut chance, rows, 3);
    let codes: Vec<u16> = (0..rows).map(|_| chance.below(2) as u16).collect();
    let cells: Vec<u32> = (0..rows).map(|_| chance.below(40) as u32).collect();
    let weights: Vec<f64> = (0..rows).map(|row| if row % 10 == 0 { 2.5 } else { 0.1 + chance.unit() }).collect();
    let of = |order: &[usize], is_weighted: bool| {
        let q: Vec<f64> = order.iter().flat_map(|&row| q[row * 3..][..3].to_vec()).collect();
        let codes: Vec<u16> = order.iter().map(|&row| codes[row]).collect();
        let cells: Vec<u32> = order.iter().map(|&row| cells[row]).collect();
        let weights: Vec<f64> = order.iter().map(|&row| weights[row]).collect();
        let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
        let plain = Outcomes::levels(&codes, &names).unwrap();
        let outcomes = if is_weighted { plain.with_weights(&weights).unwrap() } else { plain };
        CellBounds::of(&scores, &outcomes, &cells, 40).unwrap()
    };
    let rows: Vec<usize> = (0..rows).collect();
    let mut shuffled = rows.clone();
    chance.shuffle(&mut shuffled);
    for is_weighted in [false, true] {
        let whole = of(&rows, is_weighted);
        let (first, second) = shuffled.split_at(123);
        let mut merged = of(first, is_weighted);
        merged.merge(&of(second, is_weighted)).unwrap();
        for other in [of(&shuffled, is_weighted), merged] {
            assert_eq!(other.estimates(), whole.estimates());
            assert_eq!(other.intervals(), whole.intervals());
        }
    }
    assert!(of(&rows, false).merge(&of(&rows, true)).is_err());
}

/// In each design, the population has cells with known shares of the class and of the outcome; people are drawn from it.
/// The interval contains both bounds of the population in at least 93% of samples; the bounds of the sample do not if
/// cells are small.
#[test]
fn intervals_of_bounds_cover_the_bounds_of_the_population() {
    const SAMPLES: usize = 400;
    let (classes, names) = (classes(2), names());
    println!(
        "people per cell, cells, kink: mean low and high (true), coverage of sample bounds, of the interval, mean length"
    );
    for (people, cells, near_kink) in [
        (5, 400, false),
        (5, 400, true),
        (20, 100, false),
        (20, 100, true),
        (50, 40, false),
        (50, 40, true),
        (200, 10, false),
        (200, 10, true),
    ] {
        let mut chance = Chance::new(40 + people as u64 + u64::from(near_kink));
        let share: Vec<f64> = (0..cells).map(|_| 0.1 + 0.8 * chance.unit()).collect();
        let rate = share.iter().map(|own| if near_kink { 1.0 - own } else { 0.05 + 0.9 * chance.unit() });
        let rate: Vec<f64> = rate.collect();
        let both = || share.iter().zip(&rate);
        let all: f64 = share.iter().sum();
        let low = both().map(|(share, rate)| (share + rate - 1.0).max(0.0)).sum::<f64>() / all;
        let high = both().map(|(share, rate)| share.min(*rate)).sum::<f64>() / all;
        let (mut by_sample, mut by_interval, mut sums) = (0, 0, [0.0; 3]);
        for _ in 0..SAMPLES {
            let (mut q, mut codes, mut own_cells) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..people * cells {
                // Within a cell, scores differ, and the outcome depends on them.
                let (cell, up) = (chance.below(cells as u64) as usize, chance.below(2) == 0);
                let side = if up { 1.0 } else { -1.0 };
                let score = share[cell] + side * 0.6 * share[cell].min(1.0 - share[cell]);
                let rate = rate[cell] + side * 0.5 * rate[cell].min(1.0 - rate[cell]);
                q.extend([1.0 - score, score]);
                codes.push(u16::from(chance.unit() < rate));
                own_cells.push(cell as u32);
            }
            let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
            let outcomes = Outcomes::levels(&codes, &names).unwrap().counting(1).unwrap();
            let bounds = CellBounds::of(&scores, &outcomes, &own_cells, cells).unwrap();
            let of = |estimates: Vec<Estimate>| estimates[0].classes[1].unwrap().interval.unwrap();
            let (sample, interval) = (of(bounds.estimates()), of(bounds.intervals()));
            by_sample += usize::from(sample.low <= low && high <= sample.high);
            by_interval += usize::from(interval.low <= low && high <= interval.high);
            for (sum, own) in sums.iter_mut().zip([sample.low, sample.high, interval.high - interval.low]) {
                *sum += own / SAMPLES as f64;
            }
        }
        let [by_sample, by_interval] = [by_sample, by_interval].map(|own| own as f64 / SAMPLES as f64);
        println!(
            "{people} {cells} {near_kink}: {:.3} ({low:.3}) {:.3} ({high:.3}); {by_sample:.3} {by_interval:.3}; {:.3} ({:.3})",
            sums[0],
            sums[1],
            sums[2],
            high - low
        );
        assert!(by_interval >= 0.93, "{people} people: {by_interval}");
        assert!(people > 20 || by_sample < 0.8, "{people} people: {by_sample}");
    }
}
