//! Shared test code: tables generated from a seed, and data files next to the checkout.
#![allow(dead_code, unreachable_pub, clippy::print_stderr, clippy::unwrap_used)]

pub mod voters;

use std::path::PathBuf;

use apportion::{Classes, seed};

/// A seeded random number generator.
pub struct Chance {
    seed: u64,
    drawn: u64,
}

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance { seed, drawn: 0 }
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.drawn += 1;
        seed::below(seed::hash(self.seed, self.drawn, 1), bound)
    }

    /// Returns a number between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1u64 << 53) as f64
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

pub fn classes(k: usize) -> Classes {
    Classes::new((0..k).map(|class| format!("c{class}"))).unwrap()
}

/// Returns rows that sum to one, skewed toward the first classes.
pub fn continuous(chance: &mut Chance, rows: usize, k: usize) -> Vec<f64> {
    let mut scores = Vec::with_capacity(rows * k);
    for _ in 0..rows {
        let weights: Vec<f64> = (0..k).map(|class| chance.unit().powi(3) / (class + 1) as f64 + 1e-9).collect();
        let sum: f64 = weights.iter().sum();
        scores.extend(weights.iter().map(|weight| weight / sum));
    }
    scores
}

/// Returns the scores of the paper's simulation, with priors 1/2, 1/4 … 1/32, 1/32.
pub fn normal(chance: &mut Chance, rows: usize, variance: f64) -> Vec<f64> {
    const PRIOR: [f64; 6] = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125];
    (0..rows).flat_map(|_| normal_row(chance, &PRIOR, variance)).collect()
}

/// Returns the posterior of the class, given a normal point around the unit vector of the true class with this
/// variance in each dimension.
pub fn normal_row(chance: &mut Chance, prior: &[f64], variance: f64) -> Vec<f64> {
    let mut left = chance.unit();
    let truth = prior.iter().position(|share| {
        left -= share;
        left < 0.0
    });
    let weights: Vec<f64> = (0..prior.len())
        .map(|class| {
            let deviate = (-2.0 * (1.0 - chance.unit()).ln()).sqrt() * (std::f64::consts::TAU * chance.unit()).cos();
            let point = f64::from(u8::from(truth == Some(class))) + variance.sqrt() * deviate;
            prior[class] * (point / variance).exp()
        })
        .collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Returns rows of multiples of 1/parts: many are equal, and many classes tie.
pub fn lumpy(chance: &mut Chance, rows: usize, k: usize, parts: u64) -> Vec<f64> {
    let mut scores = Vec::with_capacity(rows * k);
    for _ in 0..rows {
        let mut left = parts;
        for class in 0..k {
            let take = if class + 1 == k { left } else { chance.below(left + 1) };
            left -= take;
            scores.push(take as f64 / parts as f64);
        }
    }
    scores
}

/// Converts scores to single precision.
pub fn single(scores: &[f64]) -> Vec<f32> {
    scores.iter().map(|&score| score as f32).collect()
}

pub fn columns<T: Copy>(scores: &[T], k: usize) -> Vec<Vec<T>> {
    (0..k).map(|class| scores.iter().skip(class).step_by(k).copied().collect()).collect()
}

/// Returns the path of a shared data file next to the checkout. If it does not exist, prints a message and returns
/// `None`, or panics in CI.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        assert!(std::env::var_os("CI").is_none(), "{name} is not beside the checkout");
        eprintln!("skipped: {name} is not beside the checkout");
    }
    path.exists().then_some(path)
}
