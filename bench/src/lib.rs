//! Tables that the benchmarks share: made from hashes, so that every machine has the same.

use apportion::seed;

/// Classes of the paper's simulations.
pub const K: usize = 6;

const PRIOR: [f64; K] = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125];

/// The paper's normal simulation at variance 0.5: Bayes-optimal scores in closed form.
pub fn normal(rows: usize) -> Vec<f32> {
    let mut scores = Vec::with_capacity(rows * K);
    for row in 0..rows as u64 {
        let unit = |salt: u64| unit(1, row, salt);
        let draw = unit(0);
        let truth = (0..K - 1).find(|&y| draw < PRIOR[..=y].iter().sum()).unwrap_or(K - 1);
        let weights: [f64; K] = std::array::from_fn(|y| {
            let (a, b) = (unit(2 * y as u64 + 1).max(1e-300), unit(2 * y as u64 + 2));
            let noise = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
            let x = f64::from(u8::from(y == truth)) + 0.5f64.sqrt() * noise;
            PRIOR[y] * (x / 0.5).exp()
        });
        let sum: f64 = weights.iter().sum();
        scores.extend(weights.map(|weight| (weight / sum) as f32));
    }
    scores
}

/// Rows drawn from a list with a skew, as common names are: many are identical.
pub fn repeated(list: &[f32], rows: usize) -> Vec<f32> {
    let distinct = list.len() / K;
    (0..rows).flat_map(|row| list[skewed(2, row, distinct) * K..][..K].iter().copied()).collect()
}

/// Groups as uneven as counties: the first has many times the rows of the middle one.
pub fn uneven_groups(rows: usize, groups: usize) -> Vec<u32> {
    (0..rows).map(|row| skewed(5, row, groups) as u32).collect()
}

/// A place in a list: those at its beginning are drawn far more often than those at its end.
fn skewed(seed: u64, row: usize, length: usize) -> usize {
    ((unit(seed, row as u64, 0).powi(3) * length as f64) as usize).min(length - 1)
}

/// A number from 0 to 1.
fn unit(seed: u64, row: u64, salt: u64) -> f64 {
    (seed::hash(seed, row, salt) >> 11) as f64 / (1u64 << 53) as f64
}
