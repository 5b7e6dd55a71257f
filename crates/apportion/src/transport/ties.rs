//! Ties: rows for which several classes are equally good at the optimal prices.
//!
//! Which of them gets which class changes nothing in the objective, but must not depend on threads, batches or the order
//! of the rows. So it is a second problem of the same kind: among the classes tight for a row, maximise the sum of hashes
//! of (seed, key, class), with the counts that are left. Its solution is unique but for ties among the hashes, which are
//! settled by the same means.

use std::collections::HashMap;

use super::prices::Prices;
use crate::error::Result;
use crate::kernel::{GRID, Grid, Real, Source, at_rows};
use crate::seed;

/// The hash of a row and a class at a level of ties, as a score on the grid in [0, 1).
#[inline]
pub(crate) fn lot(seed: u64, key: u64, level: usize, class: usize) -> i64 {
    (seed::hash(seed, key, (level as u64) << 32 | class as u64) >> (64 - 40)) as i64
}

/// What stands for a class that is not tight: so low that it is never taken while the counts can be met without it.
pub(super) fn forbidden(classes: usize) -> i64 {
    -(classes as i64 + 2) * Grid::UNIT
}

/// Tells rows with equal keys apart by their order.
#[derive(Debug)]
pub(crate) struct Repeats {
    /// How often each key was seen; none where all keys are known to differ.
    seen: Option<HashMap<u64, u64>>,
    /// How many keys came again.
    pub(crate) repeated: u64,
}

impl Repeats {
    pub(crate) fn new(unique_keys: bool) -> Repeats {
        Repeats { seen: (!unique_keys).then(HashMap::new), repeated: 0 }
    }

    /// The key itself at its first time, then another for each further time.
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

/// The classes that share the largest score + price, and that value.
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

/// The scores of the second problem, row-major: lots for the tight classes, out of reach for the others.
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
