//! Tables shared by the benchmarks, generated from hashes so that they are the same on every machine.

pub mod memory;

use apportion::seed;
use rayon::prelude::*;

/// Number of classes in the paper's simulations.
pub const K: usize = 6;
/// Number of rows generated together.
const CHUNK: usize = 1 << 16;

/// Generates the paper's normal simulation at variance 0.5: Bayes-optimal scores in closed form.
pub fn normal(rows: usize) -> Vec<f32> {
    normal_of(rows, K)
}

/// Generates the same with another number of classes. Each is half as common as the previous one, except the last.
pub fn normal_of(rows: usize, classes: usize) -> Vec<f32> {
    let prior: Vec<f64> = (0..classes).map(|class| 0.5f64.powi((class + 1).min(classes - 1) as i32)).collect();
    by_row(rows, classes, |row, weights| {
        let unit = |salt: usize| unit(1, row, salt as u64);
        let (draw, mut sum) = (unit(0), 0.0);
        let reached = |share: &f64| {
            sum += share;
            draw < sum
        };
        let truth = prior.iter().position(reached).unwrap_or(classes - 1);
        for (y, weight) in weights.iter_mut().enumerate() {
            let (a, b) = (unit(2 * y + 1).max(1e-300), unit(2 * y + 2));
            let noise = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
            let x = f64::from(u8::from(y == truth)) + 0.5f64.sqrt() * noise;
            *weight = prior[y] * (x / 0.5).exp();
        }
    })
}

/// Generates many classes, each half as common as the previous one.
pub fn rare(rows: usize, classes: usize) -> Vec<f32> {
    by_row(rows, classes, |row, weights| {
        for (class, weight) in weights.iter_mut().enumerate() {
            *weight = 0.5f64.powi(class as i32) * (2.0 * unit(7, row, class as u64)).exp();
        }
    })
}

/// Generates scores from weights, row by row.
fn by_row(rows: usize, classes: usize, weigh: impl Fn(u64, &mut [f64]) + Sync) -> Vec<f32> {
    let mut scores = vec![0.0; rows * classes];
    scores.par_chunks_mut(CHUNK * classes).enumerate().for_each(|(chunk, scores)| {
        let mut weights = vec![0.0; classes];
        for (row, scores) in scores.chunks_exact_mut(classes).enumerate() {
            weigh((chunk * CHUNK + row) as u64, &mut weights);
            let sum: f64 = weights.iter().sum();
            scores.iter_mut().zip(&weights).for_each(|(score, weight)| *score = (weight / sum) as f32);
        }
    });
    scores
}

/// Draws rows from a list with a skewed distribution, like that of names: many are identical.
pub fn repeated(list: &[f32], rows: usize) -> Vec<f32> {
    let distinct = list.len() / K;
    (0..rows).flat_map(|row| list[skewed(2, row, distinct) * K..][..K].iter().copied()).collect()
}

/// Generates groups as uneven as counties: the first has many times as many rows as the median group.
pub fn uneven_groups(rows: usize, groups: usize) -> Vec<u32> {
    (0..rows).map(|row| skewed(5, row, groups) as u32).collect()
}

/// Returns an index into a list; low indices are far more frequent than high ones.
fn skewed(seed: u64, row: usize, length: usize) -> usize {
    ((unit(seed, row as u64, 0).powi(3) * length as f64) as usize).min(length - 1)
}

/// Returns a number from 0 to 1.
fn unit(seed: u64, row: u64, salt: u64) -> f64 {
    (seed::hash(seed, row, salt) >> 11) as f64 / (1u64 << 53) as f64
}
