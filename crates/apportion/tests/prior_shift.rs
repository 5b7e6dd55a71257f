//! Estimates of class shares against a plain loop, optimality conditions, and simulations with known shares.
#![allow(clippy::unwrap_used)] // also in helper functions

use apportion::audit::{Bootstrap, Interval};
use apportion::calibrate::ShareEstimate;
use apportion::seed::{below, hash, key_of_text};
use apportion::{Classes, Keys, Label, Matrix, Scores, UNCODED};

const TRAINING: [f64; 3] = [0.6, 0.3, 0.1];
const SHIFTED: [f64; 3] = [0.25, 0.45, 0.3];

/// Rows of scores with their truth.
#[derive(Clone)]
struct People {
    classes: Classes,
    scores: Vec<f64>,
    truth: Vec<Label>,
    keys: Vec<u64>,
}

impl People {
    fn table(&self) -> Scores<'_> {
        let scores = Scores::new(&self.classes, Matrix::RowsF64(&self.scores)).unwrap();
        scores.with_keys(Keys::Given(&self.keys)).unwrap()
    }

    fn with_truth(&self) -> Scores<'_> {
        self.table().with_truth(&self.truth).unwrap()
    }
}

fn uniform(seed: u64, key: u64, salt: u64) -> f64 {
    (below(hash(seed, key, salt), 1 << 53) as f64 + 0.5) / (1u64 << 53) as f64
}

fn normal(seed: u64, key: u64, salt: u64) -> f64 {
    let (one, two) = (uniform(seed, key, 2 * salt), uniform(seed, key, 2 * salt + 1));
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos()
}

/// People with class shares `shares` and scores that are calibrated for a population with shares `TRAINING`: a point is
/// normal around the corner of its class, with this variance.
fn people(rows: usize, seed: u64, shares: [f64; 3], variance: f64) -> People {
    let mut people = People {
        classes: Classes::new(["a", "b", "c"]).unwrap(),
        scores: Vec::new(),
        truth: Vec::new(),
        keys: (0..rows as u64).map(|row| key_of_text(&format!("{seed}-{row}"))).collect(),
    };
    for row in 0..rows as u64 {
        let mut left = uniform(seed, row, 1000);
        let class = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        let class = class.unwrap_or(2);
        let raw = [0, 1, 2].map(|other| {
            let corner = if other == class { 1.0 } else { 0.0 };
            let point = corner + variance.sqrt() * normal(seed, row, other as u64);
            TRAINING[other] * (point / variance).exp()
        });
        let sum: f64 = raw.iter().sum();
        people.scores.extend(raw.map(|raw| raw / sum));
        people.truth.push(class as Label);
    }
    people
}

/// The steps of the paper, one after the other.
fn plain_loop(people: &People, training: [f64; 3], steps: usize) -> [f64; 3] {
    let mut shares = training;
    for _ in 0..steps {
        let mut next = [0.0; 3];
        for row in people.scores.chunks_exact(3) {
            let own = [0, 1, 2].map(|class| row[class] * shares[class] / training[class]);
            let sum: f64 = own.iter().sum();
            (0..3).for_each(|class| next[class] += own[class] / sum);
        }
        shares = next.map(|sum| sum / people.truth.len() as f64);
    }
    shares
}

fn apart(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
}

#[test]
fn em_is_the_limit_of_the_plain_loop() {
    for (seed, shares) in [(1, SHIFTED), (2, TRAINING), (3, [0.05, 0.05, 0.9])] {
        let people = people(800, seed, shares, 0.5);
        let found = ShareEstimate::em(&people.table(), &TRAINING, None).unwrap();
        let expected = plain_loop(&people, TRAINING, 5000);
        assert!(apart(&found.shares, &expected) < 1e-8, "{:?} {expected:?}", found.shares);
        assert!(found.intervals.is_empty() && found.people == 800 && found.with_truth.is_none());
    }
}

#[test]
fn a_class_without_people_has_no_share() {
    // At the maximum, the slope of a class is 1 if it has a share, and at most 1 otherwise.
    for seed in 0..20 {
        let people = people(300, seed, [0.7, 0.3, 0.0], 0.4);
        let shares = ShareEstimate::em(&people.table(), &TRAINING, None).unwrap().shares;
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        for class in 0..3 {
            let slope = |row: &[f64]| {
                let all: f64 = (0..3).map(|other| shares[other] * row[other] / TRAINING[other]).sum();
                row[class] / TRAINING[class] / all
            };
            let mean = people.scores.chunks_exact(3).map(slope).sum::<f64>() / 300.0;
            match shares[class] > 0.0 {
                true => assert!((mean - 1.0).abs() < 1e-7, "seed {seed}, class {class}: {mean} {shares:?}"),
                false => assert!(mean < 1.0 + 1e-9, "seed {seed}, class {class}: {mean}"),
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_order_or_threads_and_counts_are_people() {
    let mut people = people(2000, 5, SHIFTED, 0.5);
    (0..2000).filter(|row| row % 3 > 0).for_each(|row| people.truth[row] = UNCODED);
    let mut order: Vec<usize> = (0..2000).collect();
    order.sort_by_key(|&row| hash(9, row as u64, 0));
    let shuffled = People {
        classes: people.classes.clone(),
        scores: order.iter().flat_map(|&row| people.scores[row * 3..][..3].to_vec()).collect(),
        truth: order.iter().map(|&row| people.truth[row]).collect(),
        keys: order.iter().map(|&row| people.keys[row]).collect(),
    };
    let bootstrap = Bootstrap { replicates: 20, ..Bootstrap::default() };
    let both = |people: &People, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let em = ShareEstimate::em(&people.table(), &TRAINING, Some(&bootstrap)).unwrap();
            (em, ShareEstimate::pacc(&people.with_truth(), Some(&bootstrap)).unwrap())
        })
    };
    let (one, two) = (both(&people, 1), both(&shuffled, 3));
    assert_eq!(one, two);
    assert_eq!(one.1.with_truth, Some(667));
    // A row that represents two people is two rows.
    let counts: Vec<u64> = (0..2000).map(|row| row % 3).collect();
    let repeated: Vec<usize> = (0..2000).flat_map(|row| vec![row; row % 3]).collect();
    let rows = People {
        classes: people.classes.clone(),
        scores: repeated.iter().flat_map(|&row| people.scores[row * 3..][..3].to_vec()).collect(),
        truth: repeated.iter().map(|&row| [0, 1, 2][row % 3] as Label).collect(),
        keys: (0..repeated.len() as u64).collect(),
    };
    people.truth = (0..2000).map(|row| (row % 3) as Label).collect();
    let counted = people.table().with_counts(&counts).unwrap();
    let em = |table: &Scores<'_>| ShareEstimate::em(table, &TRAINING, None).unwrap();
    assert_eq!(em(&counted), em(&rows.table()));
}

/// Returns the part of intervals that contain the true share of their class, by class, and the mean estimates.
fn coverage(
    runs: u64,
    shares: [f64; 3],
    estimate: impl Fn(u64) -> ShareEstimate + Sync + Send,
) -> ([f64; 3], [f64; 3]) {
    use rayon::prelude::*;
    let all: Vec<ShareEstimate> = (0..runs).into_par_iter().map(estimate).collect();
    let part = |class: usize| {
        let covers = |interval: &Interval| interval.low <= shares[class] && shares[class] <= interval.high;
        all.iter().filter(|own| covers(&own.intervals[class])).count() as f64 / runs as f64
    };
    let mean = |class: usize| all.iter().map(|own| own.shares[class]).sum::<f64>() / runs as f64;
    ([0, 1, 2].map(part), [0, 1, 2].map(mean))
}

/// Refuses intervals that do not cover the true shares as often as they should. With 300 runs, the standard error of
/// one class is 1.3 points.
fn check_coverage(covered: [f64; 3]) {
    assert!((0.93..=0.97).contains(&(covered.iter().sum::<f64>() / 3.0)), "{covered:?}");
    assert!(covered.iter().all(|part| (0.91..=0.98).contains(part)), "{covered:?}");
}

const REPLICATES: Bootstrap = Bootstrap { replicates: 300, level: 0.95, seed: 0 };

#[test]
fn em_finds_the_shares_and_its_intervals_cover_them() {
    let (covered, means) = coverage(300, SHIFTED, |run| {
        let people = people(500, 100 + run, SHIFTED, 0.4);
        ShareEstimate::em(&people.table(), &TRAINING, Some(&REPLICATES)).unwrap()
    });
    println!("em: coverage {covered:?}, mean estimates {means:?}");
    // The mean of the scores is far off.
    assert!(apart(&means, &SHIFTED) < 0.006, "{means:?}");
    check_coverage(covered);
}

#[test]
fn pacc_finds_the_shares_also_with_miscalibrated_scores() {
    let (covered, means) = coverage(300, SHIFTED, |run| {
        let mut people = people(1500, 5000 + run, SHIFTED, 0.4);
        let sharpened = |row: &[f64]| {
            let raw = [row[0].powi(2), row[1].powi(2), row[2].powi(2)];
            let sum: f64 = raw.iter().sum();
            raw.map(|raw| raw / sum)
        };
        // Overconfident scores, and known truth with other shares: for 60 people of each class.
        people.scores = people.scores.chunks_exact(3).flat_map(sharpened).collect();
        let mut left = [60; 3];
        for truth in &mut people.truth {
            match &mut left[usize::from(*truth)] {
                0 => *truth = UNCODED,
                left => *left -= 1,
            }
        }
        ShareEstimate::pacc(&people.with_truth(), Some(&REPLICATES)).unwrap()
    });
    println!("pacc: coverage {covered:?}, mean estimates {means:?}");
    assert!(apart(&means, &SHIFTED) < 0.006, "{means:?}");
    check_coverage(covered);
}

#[test]
fn pacc_with_all_truth_is_the_truth() {
    let people = people(3000, 7, SHIFTED, 0.5);
    let found = ShareEstimate::pacc(&people.with_truth(), None).unwrap();
    let shares = [0, 1, 2].map(|class| people.truth.iter().filter(|&&own| own == class).count() as f64 / 3000.0);
    assert!(apart(&found.shares, &shares) < 1e-9, "{:?} {shares:?}", found.shares);
}

#[test]
fn pacc_is_the_minimum_over_a_grid() {
    for seed in 0..20 {
        let mut people = people(60, 40 + seed, SHIFTED, 3.0);
        people.truth.iter_mut().skip(20).for_each(|truth| *truth = UNCODED);
        (0..3).for_each(|class| people.truth[class] = class as Label);
        let found = ShareEstimate::pacc(&people.with_truth(), None).unwrap().shares;
        let mean = |class: usize, of: Option<Label>| {
            let rows = (0..60).filter(|&row| of.is_none_or(|of| people.truth[row] == of));
            let scores: Vec<f64> = rows.map(|row| people.scores[row * 3 + class]).collect();
            scores.iter().sum::<f64>() / scores.len() as f64
        };
        let matrix = [0, 1, 2].map(|of| [0, 1, 2].map(|class| mean(class, Some(of))));
        let means = [0, 1, 2].map(|class| mean(class, None));
        let error = |shares: &[f64]| -> f64 {
            let off = |class: usize| (0..3).map(|of| matrix[of][class] * shares[of]).sum::<f64>() - means[class];
            (0..3).map(|class| off(class).powi(2)).sum()
        };
        let own = error(&found);
        for one in 0..=100 {
            for two in 0..=100 - one {
                let point = [one, two, 100 - one - two].map(|part| f64::from(part) / 100.0);
                assert!(own <= error(&point) + 1e-12, "seed {seed}: {found:?} {point:?}");
            }
        }
    }
}

#[test]
fn a_sample_gives_similar_intervals() {
    // With more than 10,000 rows, the bootstrap uses some of them.
    let large = people(40_000, 11, SHIFTED, 0.5);
    let bootstrap = Bootstrap { replicates: 100, ..Bootstrap::default() };
    let found = ShareEstimate::em(&large.table(), &TRAINING, Some(&bootstrap)).unwrap();
    let small = people(10_000, 11, SHIFTED, 0.5);
    let whole = ShareEstimate::em(&small.table(), &TRAINING, Some(&bootstrap)).unwrap();
    for class in 0..3 {
        let width = |own: &ShareEstimate| own.intervals[class].high - own.intervals[class].low;
        let ratio = width(&whole) / width(&found);
        assert!((1.5..2.7).contains(&ratio), "four times as many people: {ratio}");
        let interval = found.intervals[class];
        assert!(interval.low < found.shares[class] && found.shares[class] < interval.high, "{interval:?}");
    }
}

#[test]
fn data_that_do_not_identify_shares_are_refused() {
    let own = people(200, 3, SHIFTED, 0.5);
    let em = |table: &Scores<'_>, training: &[f64]| match ShareEstimate::em(table, training, None) {
        Err(error) => error.to_string(),
        Ok(found) => panic!("{found:?}"),
    };
    for (training, expected) in [
        (&[0.5, 0.5, 0.0][..], "the training share of \"c\" is 0"),
        (&[0.5, 0.5, f64::NAN], "the training share of \"c\" is NaN"),
        (&[0.5, 0.6, 0.1], "sum to 1.2000000000000002, not to 1"),
        (&[0.5, 0.5], "there are 2 training shares for 3 classes"),
    ] {
        let found = em(&own.table(), training);
        assert!(found.contains(expected), "{found}");
    }
    let same = People { scores: TRAINING.repeat(200), ..own.clone() };
    assert!(em(&same.table(), &TRAINING).contains("the scores do not distinguish"));
    let none = People { scores: Vec::new(), keys: Vec::new(), truth: Vec::new(), ..own.clone() };
    assert!(em(&none.table(), &TRAINING).contains("there are no people"));
    let pacc = |people: &People| match ShareEstimate::pacc(&people.with_truth(), None) {
        Err(error) => error.to_string(),
        Ok(found) => panic!("{found:?}"),
    };
    assert!(pacc(&same).contains("do not distinguish"));
    assert!(pacc(&People { truth: vec![UNCODED; 200], ..own.clone() }).contains("no row has a known true class"));
    let some = own.truth.iter().map(|&class| class % 2).collect();
    assert!(pacc(&People { truth: some, ..own }).contains("no person with known truth is \"c\""));
}
