//! Tests of BIRDiE with numbers, weights and classes that are pooled one by one: against an EM in plain loops, and
//! simulations with known answers.
#![allow(clippy::unwrap_used, clippy::needless_range_loop)] // also in helper functions; classes are indices here

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use apportion::estimate::*;
use apportion::*;
use common::{Chance, classes};

/// People in places, with calibrated scores: the share of each class differs between places, and names of six kinds are each
/// more frequent in one class.
pub(crate) struct People {
    pub(crate) q: Vec<f64>,
    pub(crate) class: Vec<usize>,
    pub(crate) groups: Vec<u32>,
    names: Vec<String>,
}

impl People {
    pub(crate) fn new(chance: &mut Chance, places: usize, people: usize) -> People {
        let mut all = People {
            q: Vec::new(),
            class: Vec::new(),
            groups: Vec::new(),
            names: (0..places).map(|place| format!("{place:04}")).collect(),
        };
        for place in 0..places {
            let other = 0.2 * chance.unit() * chance.unit() + 0.02;
            let black = 0.5 * chance.unit();
            let shares = [1.0 - other - black, black, other];
            for _ in 0..people {
                let class = drawn(chance, &shares);
                let likelihood = |name: usize, class: usize| {
                    if name % 3 == class { [0.25, 0.15][name / 3] } else { [0.1, 0.2][name / 3] }
                };
                let norm = |class: usize| (0..6).map(|name| likelihood(name, class)).sum::<f64>();
                let of: Vec<f64> = (0..6).map(|name| likelihood(name, class) / norm(class)).collect();
                let name = drawn(chance, &of);
                let joint: Vec<f64> =
                    (0..3).map(|class| shares[class] * likelihood(name, class) / norm(class)).collect();
                all.q.extend(joint.iter().map(|own| own / joint.iter().sum::<f64>()));
                all.class.push(class);
                all.groups.push(place as u32);
            }
        }
        all
    }

    /// Draws a number for each person: the mean of the class, a deviation of the place with standard deviation `between`,
    /// and an error.
    pub(crate) fn numbers(
        &self,
        chance: &mut Chance,
        between: f64,
        error: impl Fn(&mut Chance, usize) -> f64,
    ) -> (Vec<f64>, [f64; 3]) {
        let deviations: Vec<f64> = (0..3 * self.names.len()).map(|_| between * normal(chance)).collect();
        let mean = |row: usize| {
            let class = self.class[row];
            [50.0, 40.0, 30.0][class] + deviations[3 * self.groups[row] as usize + class]
        };
        let numbers: Vec<f64> = (0..self.class.len()).map(|row| mean(row) + error(chance, self.class[row])).collect();
        let truth = [0, 1, 2].map(|class| {
            let rows: Vec<usize> = (0..self.class.len()).filter(|&row| self.class[row] == class).collect();
            rows.iter().map(|&row| mean(row)).sum::<f64>() / rows.len() as f64
        });
        (numbers, truth)
    }

    pub(crate) fn fit(&self, outcomes: &Outcomes<'_>, options: &BirdieOptions) -> Birdie {
        let classes = classes(3);
        let scores = Scores::new(&classes, Matrix::RowsF64(&self.q)).unwrap();
        let scores = scores.with_groups(Groups { codes: &self.groups, names: &self.names }).unwrap();
        Birdie::fit(&scores, outcomes, options).unwrap()
    }
}

pub(crate) fn drawn(chance: &mut Chance, shares: &[f64]) -> usize {
    let mut left = chance.unit();
    let found = shares.iter().position(|share| {
        left -= share;
        left < 0.0
    });
    found.unwrap_or(0)
}

pub(crate) fn normal(chance: &mut Chance) -> f64 {
    (-2.0 * (1.0 - chance.unit()).ln()).sqrt() * (std::f64::consts::TAU * chance.unit()).cos()
}

fn names(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

const SOLO: BirdieOptions = BirdieOptions {
    tolerance: 1e-10,
    most_passes: 5000,
    replicates: 0,
    bootstrap_rows: 100_000,
    pooling: Pooling::None,
    seed: 0,
};

fn estimate(birdie: &Birdie, level: usize, class: usize) -> f64 {
    birdie.estimates()[level].classes[class].unwrap().estimate.unwrap()
}

/// Weights between 0 and 5, some of them 0. Those above 0 have mean 1.
fn weights(chance: &mut Chance, rows: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..rows).map(|_| if chance.below(10) == 0 { 0.0 } else { 5.0 * chance.unit() }).collect();
    let counted = weights.iter().filter(|weight| **weight > 0.0).count();
    let mean = weights.iter().sum::<f64>() / counted as f64;
    weights.into_iter().map(|weight| weight / mean).collect()
}

#[test]
fn numbers_follow_a_plain_em_with_and_without_weights() {
    let mut chance = Chance::new(31);
    let people = People::new(&mut chance, 3, 300);
    let (numbers, _) = people.numbers(&mut chance, 2.0, |chance, class| [5.0, 8.0, 3.0][class] * normal(chance));
    let rows = numbers.len();
    for weighted in [false, true] {
        let weights = if weighted { weights(&mut chance, rows) } else { vec![1.0; rows] };
        let own = Outcomes::numbers(&numbers).unwrap();
        let outcomes = if weighted { own.with_weights(&weights).unwrap() } else { own };
        let birdie = people.fit(&outcomes, &SOLO);
        assert!(birdie.converged && !birdie.is_pooled(), "{}", birdie.passes);

        // The EM in plain loops, on the numbers as they are.
        let mut prior = [(0.0, 0.0); 3];
        for class in 0..3 {
            let q = |row: usize| weights[row] * people.q[3 * row + class];
            let all: f64 = (0..rows).map(q).sum();
            let mean = (0..rows).map(|row| q(row) * numbers[row]).sum::<f64>() / all;
            let spread = (0..rows).map(|row| q(row) * (numbers[row] - mean).powi(2)).sum::<f64>() / all;
            prior[class] = (mean, spread);
        }
        let mut means = [0, 1, 2].map(|_| prior.map(|own| own.0));
        let mut spreads = prior.map(|own| own.1);
        let mut p = vec![[0.0; 3]; rows];
        for _ in 0..4000 {
            for row in 0..rows {
                let density = |class: usize| {
                    let away = numbers[row] - means[people.groups[row] as usize][class];
                    people.q[3 * row + class] * (-0.5 * away * away / spreads[class]).exp() / spreads[class].sqrt()
                };
                let joint = [0, 1, 2].map(density);
                p[row] = joint.map(|own| own / joint.iter().sum::<f64>());
            }
            for class in 0..3 {
                let (mut squares, mut all) = (0.1 * prior[class].1, 0.1);
                for group in 0..3 {
                    let rows = || (0..rows).filter(|&row| people.groups[row] as usize == group);
                    let of: f64 = rows().map(|row| weights[row] * p[row][class]).sum();
                    let sum: f64 = rows().map(|row| weights[row] * p[row][class] * numbers[row]).sum();
                    let mean = (sum + 0.1 * prior[class].0) / (of + 0.1);
                    means[group][class] = mean;
                    squares +=
                        rows().map(|row| weights[row] * p[row][class] * (numbers[row] - mean).powi(2)).sum::<f64>();
                    squares += of * spreads[class] / (of + 0.1);
                    all += of;
                }
                spreads[class] = squares / all;
            }
        }
        for class in 0..3 {
            for group in 0..3 {
                let found = birdie.share(group, 0, class);
                assert!((found - means[group][class]).abs() < 1e-3, "{group} {class}: {found} {}", means[group][class]);
            }
            let found = birdie.deviation(class).unwrap();
            assert!((found - spreads[class].sqrt()).abs() < 1e-3, "{class}: {found} {}", spreads[class].sqrt());
            let all: f64 = (0..rows).map(|row| weights[row] * p[row][class]).sum();
            let mean = (0..rows).map(|row| weights[row] * p[row][class] * numbers[row]).sum::<f64>() / all;
            let found = estimate(&birdie, 0, class);
            assert!((found - mean).abs() < 1e-3, "{class}: {found} {mean}");
        }
    }
}

#[test]
fn weighted_levels_follow_a_plain_em() {
    let mut chance = Chance::new(32);
    let people = People::new(&mut chance, 3, 300);
    let rows = people.class.len();
    let codes: Vec<u16> = (0..rows)
        .map(|row| match chance.below(9) {
            0 => NO_LEVEL,
            _ => drawn(&mut chance, &[[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]][people.class[row]]) as u16,
        })
        .collect();
    let known = |row: usize| codes[row] != NO_LEVEL;
    // Weights are relative to the mean of rows with outcomes and weights above 0.
    let mut weights = weights(&mut chance, rows);
    let counted: Vec<f64> =
        (0..rows).filter(|&row| known(row)).map(|row| weights[row]).filter(|own| *own > 0.0).collect();
    let mean = counted.iter().sum::<f64>() / counted.len() as f64;
    weights.iter_mut().for_each(|weight| *weight /= mean);
    let levels = names(&["a", "b", "c"]);
    let outcomes = Outcomes::levels(&codes, &levels).unwrap().with_weights(&weights).unwrap();
    let birdie = people.fit(&outcomes, &SOLO);
    let w = |row: usize| if known(row) { weights[row] } else { 0.0 };
    let mut prior = [[0.0; 3]; 3];
    for class in 0..3 {
        let all: f64 = (0..rows).map(|row| w(row) * people.q[3 * row + class]).sum();
        for row in (0..rows).filter(|&row| known(row)) {
            prior[class][usize::from(codes[row])] += w(row) * people.q[3 * row + class] / all;
        }
    }
    let mut shares = [0, 1, 2].map(|_| prior);
    let mut p = vec![[0.0; 3]; rows];
    for _ in 0..4000 {
        let mut sums = [[[0.0; 3]; 3]; 3];
        for row in (0..rows).filter(|&row| known(row)) {
            let (group, level) = (people.groups[row] as usize, usize::from(codes[row]));
            let joint = [0, 1, 2].map(|class| shares[group][class][level] * people.q[3 * row + class]);
            p[row] = joint.map(|own| own / joint.iter().sum::<f64>());
            (0..3).for_each(|class| sums[group][class][level] += w(row) * p[row][class]);
        }
        for group in 0..3 {
            for class in 0..3 {
                let all: f64 = sums[group][class].iter().sum();
                (0..3).for_each(|level| {
                    shares[group][class][level] = (prior[class][level] + sums[group][class][level]) / (1.0 + all);
                });
            }
        }
    }
    for class in 0..3 {
        let all: f64 = (0..rows).map(|row| w(row) * p[row][class]).sum();
        let squares: f64 = (0..rows).map(|row| (w(row) * p[row][class]).powi(2)).sum();
        for level in 0..3 {
            let hits: f64 =
                (0..rows).filter(|&row| usize::from(codes[row]) == level).map(|row| w(row) * p[row][class]).sum();
            let found = estimate(&birdie, level, class);
            assert!((found - hits / all).abs() < 1e-6, "{level} {class}: {found} {}", hits / all);
            for group in 0..3 {
                assert!((birdie.share(group, level, class) - shares[group][class][level]).abs() < 1e-6);
            }
        }
        let effective = birdie.estimates()[0].classes[class].unwrap().effective_n;
        assert!((effective / (all * all / squares) - 1.0).abs() < 1e-6, "{effective}");
    }
}

#[test]
fn rows_of_weight_zero_change_nothing() {
    let mut chance = Chance::new(34);
    let people = People::new(&mut chance, 40, 30);
    let rows = people.groups.len();
    let codes: Vec<u16> = (0..rows).map(|_| u16::from(chance.below(3) == 0)).collect();
    let weights = weights(&mut chance, rows);
    let (classes, levels) = (classes(3), names(&["no", "yes"]));
    let of = |rows: &[usize]| {
        let q: Vec<f64> = rows.iter().flat_map(|&row| people.q[3 * row..][..3].to_vec()).collect();
        let groups: Vec<u32> = rows.iter().map(|&row| people.groups[row]).collect();
        let keys: Vec<u64> = rows.iter().map(|&row| seed::hash(9, row as u64, 0)).collect();
        let codes: Vec<u16> = rows.iter().map(|&row| codes[row]).collect();
        let weights: Vec<f64> = rows.iter().map(|&row| weights[row]).collect();
        let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap().with_keys(Keys::Given(&keys)).unwrap();
        let scores = scores.with_groups(Groups { codes: &groups, names: &people.names }).unwrap();
        let outcomes = Outcomes::levels(&codes, &levels).unwrap().with_weights(&weights).unwrap();
        let options = BirdieOptions { replicates: 3, ..BirdieOptions::default() };
        let birdie = Birdie::fit(&scores, &outcomes, &options).unwrap();
        format!("{:?} {:?}", birdie.estimates(), birdie.identified_per_group)
    };
    let all: Vec<usize> = (0..rows).collect();
    let counted: Vec<usize> = all.iter().copied().filter(|&row| weights[row] > 0.0).collect();
    assert!(counted.len() < rows);
    assert_eq!(of(&all), of(&counted));
}

#[test]
fn only_relative_weights_matter_and_neither_order_nor_threads() {
    let mut chance = Chance::new(33);
    let people = People::new(&mut chance, 40, 30);
    let (numbers, _) = people.numbers(&mut chance, 3.0, |chance, _| 6.0 * normal(chance));
    let rows = numbers.len();
    let codes: Vec<u16> = numbers.iter().map(|number| u16::from(*number > 45.0)).collect();
    let keys: Vec<u64> = (0..rows as u64).map(|row| seed::hash(9, row, 0)).collect();
    let (weights, ones) = (weights(&mut chance, rows), vec![3.0; rows]);
    let doubled: Vec<f64> = weights.iter().map(|weight| 2.0 * weight).collect();
    let (classes, levels) = (classes(3), names(&["no", "yes"]));
    let mut order: Vec<usize> = (0..rows).collect();
    (1..rows).rev().for_each(|last| order.swap(last, chance.below(last as u64 + 1) as usize));
    let result = |order: &[usize], weights: Option<&[f64]>, threads: usize, memory: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let q: Vec<f64> = order.iter().flat_map(|&row| people.q[3 * row..][..3].to_vec()).collect();
        let groups: Vec<u32> = order.iter().map(|&row| people.groups[row]).collect();
        let keys: Vec<u64> = order.iter().map(|&row| keys[row]).collect();
        let numbers: Vec<f64> = order.iter().map(|&row| numbers[row]).collect();
        let codes: Vec<u16> = order.iter().map(|&row| codes[row]).collect();
        let weights: Option<Vec<f64>> = weights.map(|own| order.iter().map(|&row| own[row]).collect());
        let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap().with_keys(Keys::Given(&keys)).unwrap();
        let scores = scores.with_groups(Groups { codes: &groups, names: &people.names }).unwrap();
        let options = BirdieOptions { replicates: 2, bootstrap_rows: memory, ..BirdieOptions::default() };
        let fits = [Outcomes::numbers(&numbers).unwrap(), Outcomes::levels(&codes, &levels).unwrap()].map(|own| {
            let own = weights.as_ref().map_or(own, |weights| own.with_weights(weights).unwrap());
            let birdie = pool.install(|| Birdie::fit(&scores, &own, &options)).unwrap();
            assert!(birdie.is_pooled());
            format!("{:?}", birdie.estimates())
        });
        fits.concat()
    };
    let straight: Vec<usize> = (0..rows).collect();
    for memory in [400, 100_000] {
        let own = result(&straight, Some(&weights), 1, memory);
        assert_eq!(own, result(&order, Some(&weights), 3, memory));
        assert_eq!(own, result(&straight, Some(&doubled), 2, memory));
        let plain = result(&straight, None, 1, memory);
        assert_ne!(own, plain);
        assert_eq!(plain, result(&order, Some(&ones), 2, memory), "equal weights are no weights");
    }
}

#[test]
fn pooled_numbers_of_known_classes_are_a_random_intercept_model() {
    let mut chance = Chance::new(34);
    let (mut q, mut numbers, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for group in 0..30 {
        let means = [10.0 + 2.0 * normal(&mut chance), 20.0 + normal(&mut chance)];
        for person in 0..6 + group {
            let class = usize::from(person % 3 == 0);
            q.extend([1.0 - class as f64, class as f64]);
            numbers.push(means[class] + [3.0, 1.0][class] * normal(&mut chance));
            groups.push(group as u32);
        }
    }
    let group_names: Vec<String> = (0..30).map(|group| format!("{group:02}")).collect();
    let classes = classes(2);
    let scores = Scores::new(&classes, Matrix::RowsF64(&q)).unwrap();
    let scores = scores.with_groups(Groups { codes: &groups, names: &group_names }).unwrap();
    let outcomes = Outcomes::numbers(&numbers).unwrap();
    let birdie = Birdie::fit(&scores, &outcomes, &BirdieOptions { pooling: Pooling::Partial, ..SOLO }).unwrap();
    for class in 0..2 {
        let (within, between) = (birdie.deviation(class).unwrap().powi(2), birdie.spread(0, class).unwrap().powi(2));
        assert!((within.sqrt() / [3.0, 1.0][class] - 1.0).abs() < 0.2, "{within}");
        assert!((between.sqrt() / [2.0, 1.0][class] - 1.0).abs() < 0.4, "{between}");
        let own: Vec<(f64, f64, f64)> = (0..30)
            .map(|group| {
                let of = |row: &usize| groups[*row] == group && q[2 * row + class] == 1.0;
                let rows: Vec<usize> = (0..numbers.len()).filter(of).collect();
                let sum: f64 = rows.iter().map(|&row| numbers[row]).sum();
                (rows.len() as f64, sum, rows.iter().map(|&row| numbers[row].powi(2)).sum())
            })
            .collect();
        let (people, sum) = own.iter().fold((0.0, 0.0), |(n, s), own| (n + own.0, s + own.1));
        assert!((estimate(&birdie, 0, class) - sum / people).abs() < 1e-6, "the estimate over all groups has no prior");
        // The mean is the one of generalized least squares, with a prior of a tenth of a person.
        let weight = |people: f64| people * within / (people * between + within);
        let top: f64 = own.iter().map(|own| own.1 / own.0 * weight(own.0)).sum::<f64>() + 0.1 * sum / people;
        let mean = top / (own.iter().map(|own| weight(own.0)).sum::<f64>() + 0.1);
        for (group, own) in own.iter().enumerate() {
            let best = (own.1 * between + mean * within) / (own.0 * between + within);
            let found = birdie.share(group, 0, class);
            assert!((found - best).abs() < 1e-4, "{class} {group}: {found} and not {best}");
        }
    }
}

#[test]
fn only_classes_with_few_people_per_group_are_pooled_by_default() {
    let mut chance = Chance::new(35);
    let people = People::new(&mut chance, 12, 250);
    let rows = people.class.len();
    let codes: Vec<u16> = (0..rows).map(|row| u16::from(chance.unit() < [0.7, 0.4, 0.2][people.class[row]])).collect();
    let levels = names(&["no", "yes"]);
    let outcomes = Outcomes::levels(&codes, &levels).unwrap();
    let options = BirdieOptions { replicates: 0, ..BirdieOptions::default() };
    let birdie = people.fit(&outcomes, &options);
    let few: Vec<bool> = birdie.identified_per_group.iter().map(|&people| people < FEW_PER_GROUP).collect();
    assert_eq!((birdie.pooled(), &few[..]), (&[false, false, true][..], &[false, false, true][..]));
    for class in 0..3 {
        let squares: f64 = people.q.iter().skip(class).step_by(3).map(|q| q * q).sum();
        assert!((birdie.identified_per_group[class] - squares / 12.0).abs() < 1e-6);
    }
    assert!(birdie.is_pooled() && birdie.converged);
    assert!(birdie.spread(1, 0).is_none() && birdie.spread(1, 2).is_some());
    let all = people.fit(&outcomes, &BirdieOptions { pooling: Pooling::Partial, ..options });
    assert_eq!(all.pooled(), [true; 3]);

    // If the classes are known, they do not depend on each other: those that are not pooled are as without pooling.
    let people = People::new(&mut chance, 12, 130);
    let sure = |&class: &usize| (0..3).map(move |own| f64::from(u8::from(own == class)));
    let sure = People { q: people.class.iter().flat_map(sure).collect(), ..people };
    let codes = &codes[..sure.class.len()];
    let outcomes = Outcomes::levels(codes, &levels).unwrap();
    let (own, none) =
        (sure.fit(&outcomes, &options), sure.fit(&outcomes, &BirdieOptions { pooling: Pooling::None, ..options }));
    assert_eq!(own.pooled(), [false, false, true]);
    let same = |class: usize| (0..12).all(|group| own.share(group, 1, class) == none.share(group, 1, class));
    assert_eq!([same(0), same(1), same(2)], [true, true, false]);
}

#[test]
fn normal_numbers_in_many_small_groups_are_right_with_pooling() {
    const TABLES: usize = 12;
    let (mut pooled, mut separate, mut weighted, mut covered) = ([0.0; 3], [0.0; 3], [0.0; 3], [0; 3]);
    for seed in 0..TABLES {
        let mut chance = Chance::new(700 + seed as u64);
        let people = People::new(&mut chance, 60, 25);
        let (numbers, truth) = people.numbers(&mut chance, 3.0, |chance, _| 8.0 * normal(chance));
        let outcomes = Outcomes::numbers(&numbers).unwrap();
        let options = BirdieOptions { seed: seed as u64, replicates: 25, ..BirdieOptions::default() };
        let birdie = people.fit(&outcomes, &options);
        assert!(birdie.converged && birdie.pooled()[2]);
        let none = people.fit(&outcomes, &BirdieOptions { replicates: 0, pooling: Pooling::None, ..options });
        let classes = classes(3);
        let scores = Scores::new(&classes, Matrix::RowsF64(&people.q)).unwrap();
        let plain = Weighted::of(&scores, &outcomes).unwrap().estimates().remove(0);
        for class in 0..3 {
            pooled[class] += (estimate(&birdie, 0, class) - truth[class]) / TABLES as f64;
            separate[class] += (estimate(&none, 0, class) - truth[class]) / TABLES as f64;
            weighted[class] += (plain.classes[class].unwrap().estimate.unwrap() - truth[class]) / TABLES as f64;
            let interval = birdie.estimates()[0].classes[class].unwrap().interval.unwrap();
            covered[class] += usize::from((interval.low..=interval.high).contains(&truth[class]));
        }
    }
    assert!(weighted[2] > 8.0 && separate[2] > 3.0 && pooled[2].abs() < 2.0, "{pooled:?} {separate:?} {weighted:?}");
    assert!(pooled[0].abs() < 0.5 && pooled[1].abs() < 1.0, "{pooled:?}");
    assert!(covered.iter().all(|&covered| covered >= TABLES - 3), "{covered:?} of {TABLES}");
}

#[test]
fn equal_or_extreme_numbers_have_estimates() {
    let people = People::new(&mut Chance::new(36), 5, 20);
    let same = vec![7.5; 100];
    let birdie = people.fit(&Outcomes::numbers(&same).unwrap(), &SOLO);
    (0..3).for_each(|class| assert!((estimate(&birdie, 0, class) - 7.5).abs() < 1e-9));
    let mut far: Vec<f64> = (0..100).map(f64::from).collect();
    far[3] = 1e90;
    let partial = BirdieOptions { pooling: Pooling::Partial, replicates: 3, ..SOLO };
    let birdie = people.fit(&Outcomes::numbers(&far).unwrap(), &partial);
    (0..3).for_each(|class| assert!(estimate(&birdie, 0, class).is_finite()));
    let (levels, none) = (names(&["no", "yes"]), vec![NO_LEVEL; 100]);
    let mut one = vec![0.0; 100];
    one[0] = 1.0;
    let unknown = Outcomes::levels(&none, &levels).unwrap().with_weights(&one).unwrap();
    assert!(people.fit(&unknown, &SOLO).estimates().iter().all(|own| own.classes.iter().all(Option::is_none)));
    let nan = vec![f64::NAN; 100];
    let unknown = people.fit(&Outcomes::numbers(&nan).unwrap(), &partial);
    assert!(unknown.estimates()[0].classes.iter().all(Option::is_none));
}

#[test]
fn updated_scores_of_numbers_give_the_estimates() {
    let mut chance = Chance::new(37);
    let people = People::new(&mut chance, 4, 100);
    let (mut numbers, _) = people.numbers(&mut chance, 1.0, |chance, _| 5.0 * normal(chance));
    numbers[17] = f64::NAN;
    let outcomes = Outcomes::numbers(&numbers).unwrap();
    let birdie = people.fit(&outcomes, &SOLO);
    let classes = classes(3);
    let scores = Scores::new(&classes, Matrix::RowsF64(&people.q)).unwrap();
    let scores = scores.with_groups(Groups { codes: &people.groups, names: &people.names }).unwrap();
    let (mut sums, mut all) = ([0.0; 3], [0.0; 3]);
    let same = Outcomes::numbers_about(&numbers, 3.0).unwrap();
    let each = |row: usize, own: &[f64]| {
        for class in 0..3 {
            if row == 17 {
                assert!((own[class] - people.q[3 * 17 + class]).abs() < 1e-9, "unknown outcomes change nothing");
            } else {
                sums[class] += own[class] * numbers[row];
                all[class] += own[class];
            }
        }
        Ok(())
    };
    birdie.updated(&scores, &same, each).unwrap();
    for class in 0..3 {
        let found = estimate(&birdie, 0, class);
        assert!((found - sums[class] / all[class]).abs() < 1e-6, "{found} {}", sums[class] / all[class]);
    }
    let codes = vec![0; 400];
    let levels = names(&["a", "b", "c"]);
    let other = Outcomes::levels(&codes, &levels).unwrap();
    assert!(birdie.updated(&scores, &other, |_, _| Ok(())).is_err(), "levels are not numbers");
}

#[test]
fn a_fit_and_its_bootstrap_are_cancelled() {
    let mut chance = Chance::new(3);
    let people = People::new(&mut chance, 4, 50);
    let classes = classes(3);
    let (numbers, _) = people.numbers(&mut chance, 0.0, |chance, _| normal(chance));
    let outcomes = Outcomes::numbers(&numbers).unwrap();
    // Returns the result of a fit that is cancelled when it asks for the `most`-th time, and how often it asked.
    let fit = |most: usize, replicates: u32| {
        let asked = AtomicUsize::new(0);
        let is_cancelled = || asked.fetch_add(1, Ordering::Relaxed) >= most;
        let scores = Scores::new(&classes, Matrix::RowsF64(&people.q)).unwrap().with_cancel(&is_cancelled);
        let options = BirdieOptions { replicates, ..BirdieOptions::default() };
        let fitted = Birdie::fit(&scores, &outcomes, &options).map(drop);
        (fitted, asked.load(Ordering::Relaxed))
    };
    let asked = |replicates: u32| {
        let (fitted, asked) = fit(usize::MAX, replicates);
        assert_eq!(fitted, Ok(()));
        asked
    };
    // Each pass of EM asks, also in each replicate.
    let (without, with) = (asked(0), asked(10));
    assert!(without > 5 && with > without + 20, "{without}, {with}");
    for most in [0, 1, without / 2, (without + with) / 2] {
        assert_eq!(fit(most, 10).0, Err(Error::Cancelled), "{most}");
    }
}
