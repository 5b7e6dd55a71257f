//! Sweeps over a table: certain rows are labeled, the others are copied to the band.

use rayon::prelude::*;
use std::ops::Range;

use crate::error::Result;
use crate::kernel::{Bounds, Real, Rows, STRETCH, SimdLevel, Source, Swept, Unsettled, Watch, sweep};

/// Checks rows that may have an invalid value.
pub(crate) type Guard<'a> = &'a (dyn Fn(Range<usize>) -> Result<()> + Sync);

/// Initial capacity: reallocation costs small problems more than solving them.
const FEW: usize = 1024;

/// Rows whose label is not certain yet, copied from their table.
pub(super) struct Band<T> {
    classes: usize,
    magnitude: f32,
    /// The index of each row in the table.
    pub(super) indices: Vec<usize>,
    values: Vec<T>,
    /// Number of people that each row represents; `None` if it is one.
    weights: Option<Vec<u64>>,
}

impl<T: Real> Band<T> {
    fn of(rows: &dyn Source<T>) -> Band<T> {
        let weights = rows.weights().map(|_| Vec::new());
        let buffer = rows.rows().min(FEW);
        let (indices, values) = (Vec::with_capacity(buffer), Vec::with_capacity(buffer * rows.classes()));
        Band { classes: rows.classes(), magnitude: rows.magnitude(), indices, values, weights }
    }

    pub(super) fn rows(&self) -> Rows<'_, T> {
        Rows::matrix(&self.values, self.classes, self.magnitude, self.weights.as_deref())
    }

    /// Reserves memory for the rows to come, estimated from the first range: repeated growth would touch twice
    /// the memory.
    fn reserve(&mut self, stretches: usize) {
        // The share of open rows at the start of a sorted file is not representative.
        let rows = (self.indices.len() * stretches + self.indices.len() / 2).min(stretches * STRETCH / 8);
        self.indices.reserve(rows);
        self.values.reserve(rows * self.classes);
    }

    fn append(&mut self, other: &mut Band<T>) {
        if self.indices.is_empty() {
            return std::mem::swap(self, other);
        }
        self.indices.append(&mut other.indices);
        self.values.append(&mut other.values);
        if let (Some(weights), Some(more)) = (&mut self.weights, &mut other.weights) {
            weights.append(more);
        }
    }
}

/// Fills a band and checks the values.
struct Collect<'a, T> {
    band: Band<T>,
    guard: Option<Guard<'a>>,
}

impl<T: Real> Unsettled<T> for Collect<'_, T> {
    #[inline(always)]
    fn row(&mut self, rows: &Rows<'_, T>, row: usize) -> u8 {
        self.band.indices.push(row);
        rows.copy_row(row, &mut self.band.values);
        if let (Some(weights), Some(own)) = (&mut self.band.weights, rows.weights()) {
            weights.push(own[row]);
        }
        0
    }

    fn suspect(&mut self, rows: Range<usize>) -> Result<()> {
        self.guard.map_or(Ok(()), |guard| guard(rows))
    }
}

/// Sweeps all rows in parallel and merges the results in row order.
pub(super) fn sweep_into_band<T: Real>(
    level: SimdLevel,
    source: &dyn Source<T>,
    bounds: &Bounds,
    watch: Watch,
    guard: Option<Guard<'_>>,
    labels: &mut [u8],
) -> Result<(Swept, Band<T>)> {
    let empty = || Ok((Swept::new(source.classes()), Band::of(source), Vec::new()));
    // A single thread fills one band, instead of joining two.
    let least = if rayon::current_num_threads() == 1 { source.rows() } else { 1 };
    labels
        .par_chunks_mut(STRETCH)
        .enumerate()
        .with_min_len(least)
        .fold(empty, |part: Result<_>, (stretch, labels)| {
            let (mut total, band, mut buffer): (Swept, Band<T>, Vec<T>) = part?;
            let is_first = band.indices.is_empty();
            let mut collect = Collect { band, guard };
            let range = stretch * STRETCH..stretch * STRETCH + labels.len();
            let rows = source.window(range.clone(), &mut buffer)?;
            total.merge(&sweep(level, &rows, range, bounds, watch, labels, &mut collect)?);
            if is_first {
                collect.band.reserve((source.rows() / STRETCH).saturating_sub(stretch));
            }
            Ok((total, collect.band, buffer))
        })
        .reduce(empty, |left, right| {
            let ((mut total, mut band, buffer), (part, mut rest, _)) = (left?, right?);
            total.merge(&part);
            band.append(&mut rest);
            Ok((total, band, buffer))
        })
        .map(|(total, band, _)| (total, band))
}
