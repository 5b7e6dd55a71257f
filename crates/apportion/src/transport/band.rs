//! Sweeps over a table: certain rows are labelled where they lie, the others are copied to the band.

use rayon::prelude::*;
use std::ops::Range;

use crate::error::Result;
use crate::kernel::{Bounds, Layout, Level, Plain, Real, Rows, Swept, Tile, Unsettled, Watch, sweep};

/// Rows that one thread sweeps at a time.
const STRETCH: usize = 1 << 16;

/// Refuses rows among which a value may be no score.
pub(crate) type Guard<'a> = &'a (dyn Fn(Range<usize>) -> Result<()> + Sync);

/// Rows whose label is not certain yet, copied out of their table.
pub(super) struct Band<T> {
    classes: usize,
    magnitude: f32,
    /// Where each row stands in the table.
    pub(super) places: Vec<usize>,
    values: Vec<T>,
}

impl<T: Real> Band<T> {
    fn new(classes: usize, magnitude: f32) -> Band<T> {
        Band { classes, magnitude, places: Vec::new(), values: Vec::new() }
    }

    pub(super) fn rows(&self) -> Plain<'_, T> {
        Plain { layout: Layout::RowMajor(&self.values), classes: self.classes, magnitude: self.magnitude }
    }

    fn append(&mut self, other: &mut Band<T>) {
        self.places.append(&mut other.places);
        self.values.append(&mut other.values);
    }
}

/// Fills a band and guards the values.
struct Collect<'a, T> {
    band: Band<T>,
    guard: Option<Guard<'a>>,
}

impl<T: Real> Unsettled<T> for Collect<'_, T> {
    fn row(&mut self, row: usize, tile: &Tile<T>, lane: usize) -> u8 {
        self.band.places.push(row);
        self.band.values.extend(tile.row(lane));
        0
    }

    fn suspect(&mut self, rows: Range<usize>) -> Result<()> {
        self.guard.map_or(Ok(()), |guard| guard(rows))
    }
}

/// Sweeps all rows, in parallel, and merges in their order.
pub(super) fn sweep_into_band<R: Rows>(
    level: Level,
    rows: &R,
    bounds: &Bounds,
    watch: Watch,
    guard: Option<Guard<'_>>,
    labels: &mut [u8],
) -> Result<(Swept, Band<R::Elem>)> {
    let empty = || Band::new(rows.classes(), rows.magnitude());
    let parts: Vec<Result<_>> = labels
        .par_chunks_mut(STRETCH)
        .enumerate()
        .map(|(stretch, labels)| {
            let start = stretch * STRETCH;
            let mut collect = Collect { band: empty(), guard };
            let range = start..start + labels.len();
            let swept = sweep(level, rows, range, bounds, watch, labels, &mut collect)?;
            Ok((swept, collect.band))
        })
        .collect();
    let mut band = empty();
    let mut total = Swept::new(rows.classes());
    for part in parts {
        let (swept, mut rest) = part?;
        total.merge(&swept);
        band.append(&mut rest);
    }
    Ok((total, band))
}
