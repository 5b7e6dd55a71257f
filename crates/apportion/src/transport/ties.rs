//! Ties: rows with several equally good classes at the optimal prices.
//!
//! The choice does not change the objective, but must not depend on threads, batches or row order. So it is a second
//! problem of the same kind: among the tight classes of each row, maximize the sum of hashes of (seed, key, class),
//! subject to the remaining counts. Its solution is unique except for ties among the hashes, which are resolved in
//! the same way.

use std::collections::HashMap;

use super::prices::Prices;
use crate::error::Result;
use crate::kernel::{GRID, Grid, Real, Source, at_rows};
use crate::seed;

/// Returns the hash of a row and a class at a tie level, as a score on the grid in [0, 1).
#[inline]
pub(crate) fn lot(seed: u64, key: u64, level: usize, class: usize) -> i64 {
    (seed::hash(seed, key, (level as u64) << 32 | class as u64) >> (64 - 40)) as i64
}

/// Returns the score of a class that is not tight: so low that it is never assigned if the counts can be met without
/// it.
pub(super) fn forbidden(classes: usize) -> i64 {
    -(classes as i64 + 2) * Grid::UNIT
}

/// Distinguishes rows with equal keys by their order.
#[derive(Debug)]
pub(crate) struct Repeats {
    /// The number of occurrences of each key; `None` if all keys are known to differ.
    seen: Option<HashMap<u64, u64>>,
    /// Number of repeated keys.
    pub(crate) repeated: u64,
}

impl Repeats {
    pub(crate) fn new(unique_keys: bool) -> Repeats {
        Repeats { seen: (!unique_keys).then(HashMap::new), repeated: 0 }
    }

    /// Returns the key at its first occurrence, and a different one for each further occurrence.
    pub(crate) fn tell_apart(&mut self, key: u64) -> u64 {
        let Some(seen) = &mut self.seen else { return key };
        let times = seen.entry(key).or_default();
        *times += 1;
        if *times == 1 {
            return key;
        }
        self.repeated += 1;
        seed::hash(key, *times, u64::MAX)
    }
}

/// Finds the classes with the largest score + price, and returns that value.
pub(crate) fn tight(prices: &Prices, score: impl Fn(usize) -> i64, tight: &mut Vec<usize>) -> i64 {
    let mut best = i64::MIN;
    for (class, price) in prices.iter().enumerate() {
        let Some(price) = price else { continue };
        let value = score(class) + price;
        if value > best {
            best = value;
            tight.clear();
        }
        if value == best {
            tight.push(class);
        }
    }
    best
}

/// Returns the scores of the second problem, row-major: hashes for tight classes, a very low score for the others.
pub(super) fn lots<T: Real>(
    source: &dyn Source<T>,
    tied: &[usize],
    keys: &[u64],
    prices: &Prices,
    seed: u64,
    level: usize,
) -> Result<Vec<f64>> {
    let k = source.classes();
    let mut scores = vec![GRID.value(forbidden(k)); tied.len() * k];
    let mut classes = Vec::new();
    at_rows(source, tied, |index, row, rows| {
        tight(prices, |class| GRID.round(rows.score(row, class).double()), &mut classes);
        for &class in &classes {
            scores[index * k + class] = GRID.value(lot(seed, keys[index], level, class));
        }
    })?;
    Ok(scores)
}
