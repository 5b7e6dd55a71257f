//! Rows at given prices: rows with a unique best class are settled, the others are tied.

use rayon::prelude::*;
use std::ops::Range;

use super::band::Guard;
use super::prices::{PriceSet, Prices};
use super::ties::tight;
use crate::error::Result;
use crate::kernel::{Bounds, GRID, Real, Rows, STRETCH, SimdLevel, Source, Unsettled, Watch, at_rows, sweep};

/// The result of settling rows at given prices.
#[derive(Debug)]
pub(crate) struct Settled {
    /// Settled people of each class.
    pub(super) counts: Vec<u64>,
    /// The sum of the scores of settled labels.
    pub(super) chosen: i128,
    /// The tied rows, in order.
    pub(crate) tied: Vec<usize>,
    /// The sum of the tied people's best values (score + price).
    pub(super) tied_value: i128,
}

impl Settled {
    fn new(classes: usize) -> Settled {
        Settled { counts: vec![0; classes], chosen: 0, tied: Vec::new(), tied_value: 0 }
    }

    /// Returns the sum of the best values (score + price) of all rows.
    pub(super) fn best(&self, prices: &Prices) -> i128 {
        let paid = |(price, &count): (&Option<i64>, &u64)| i128::from(price.unwrap_or(0)) * i128::from(count);
        self.chosen + self.tied_value + prices.iter().zip(&self.counts).map(paid).sum::<i128>()
    }

    fn merge(&mut self, mut part: Settled) {
        self.counts.iter_mut().zip(&part.counts).for_each(|(sum, count)| *sum += count);
        self.chosen += part.chosen;
        self.tied.append(&mut part.tied);
        self.tied_value += part.tied_value;
    }
}

/// Labels rows with a unique best class, and tied rows with the first of theirs. Values are checked if there is a
/// guard.
pub(crate) fn settle<T: Real>(
    level: SimdLevel,
    source: &dyn Source<T>,
    prices: &Prices,
    guard: Option<Guard<'_>>,
    labels: &mut [u8],
) -> Result<Settled> {
    let single = |price: &Option<i64>| price.map_or(f32::NEG_INFINITY, |price| GRID.value(price) as f32);
    let known: Vec<f32> = prices.iter().map(single).collect();
    let bounds = Bounds::new(&known, &known, source.magnitude());
    let watch = if guard.is_some() { Watch::Values } else { Watch::Nothing };
    let parts: Vec<Result<Settled>> = labels
        .par_chunks_mut(STRETCH)
        .enumerate()
        .map_with(Vec::new(), |buffer, (stretch, labels)| {
            let start = stretch * STRETCH;
            let mut close = Close { prices, guard, tight: Vec::new(), found: Settled::new(prices.len()) };
            let range = start..start + labels.len();
            let rows = source.window(range.clone(), buffer)?;
            let swept = sweep(level, &rows, range, &bounds, watch, labels, &mut close)?;
            close.found.merge(Settled { chosen: swept.chosen, counts: swept.counts, ..Settled::new(prices.len()) });
            Ok(close.found)
        })
        .collect();
    // In row order, so that the first invalid row is reported.
    let mut settled = Settled::new(prices.len());
    parts.into_iter().try_for_each(|part| part.map(|part| settled.merge(part)))?;
    Ok(settled)
}

/// Decides exactly if single precision cannot.
struct Close<'a> {
    prices: &'a Prices,
    guard: Option<Guard<'a>>,
    tight: Vec<usize>,
    found: Settled,
}

impl<T: Real> Unsettled<T> for Close<'_> {
    fn row(&mut self, rows: &Rows<'_, T>, row: usize) -> u8 {
        let scores = |class: usize| GRID.round(rows.score(row, class).double());
        let value = tight(self.prices, scores, &mut self.tight);
        let first = self.tight[0];
        let people = rows.people_of(row);
        if self.tight.len() == 1 {
            self.found.counts[first] += people;
            self.found.chosen += i128::from(scores(first)) * i128::from(people);
        } else {
            self.found.tied.push(row);
            self.found.tied_value += i128::from(value) * i128::from(people);
        }
        first as u8
    }

    fn suspect(&mut self, rows: Range<usize>) -> Result<()> {
        self.guard.map_or(Ok(()), |guard| guard(rows))
    }
}

/// Returns all prices at which every row prefers its label, or all its labels if it is split.
pub(super) fn preferences<T: Real>(source: &dyn Source<T>, labels: &[u8], splits: &[Split]) -> Result<PriceSet> {
    let k = source.classes();
    let mut set = labels
        .par_chunks(STRETCH)
        .enumerate()
        .map_with(Vec::new(), |buffer, (stretch, labels)| {
            let mut set = PriceSet::all(k);
            let mut scores = vec![0; k];
            let start = stretch * STRETCH;
            let rows = source.window(start..start + labels.len(), buffer)?;
            for (row, &label) in labels.iter().enumerate() {
                let row = start + row;
                // A row without people has no preference.
                if source.people_of(row) == 0 {
                    continue;
                }
                scores.iter_mut().enumerate().for_each(|(y, score)| *score = GRID.round(rows.score(row, y).double()));
                set.prefer(usize::from(label), &scores);
            }
            Ok(set)
        })
        .try_reduce(
            || PriceSet::all(k),
            |mut all, part| {
                all.meet(&part);
                Ok(all)
            },
        )?;
    let split: Vec<usize> = splits.iter().map(|(row, _)| *row).collect();
    at_rows(source, &split, |index, row, rows| {
        let scores: Vec<i64> = (0..k).map(|class| GRID.round(rows.score(row, class).double())).collect();
        let present = splits[index].1.iter().enumerate().filter(|(_, people)| **people > 0);
        present.for_each(|(class, _)| set.prefer(class, &scores));
    })?;
    Ok(set)
}

/// A row that represents several people, and how many of them have each class.
pub(crate) type Split = (usize, Vec<u64>);
