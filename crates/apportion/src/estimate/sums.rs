//! Exact sums of several terms of each row, for second passes over the rows.

use super::exact::ExactSum;
use crate::audit::read;
use crate::error::Result;
use crate::scores::Scores;

/// The largest number of sums of one pass, which limits the memory of each thread to a few megabytes.
pub(super) const MOST_SUMS: usize = 2048;

/// Sums the terms of all rows in parallel. `terms` receives the terms of a row to set, all 0, then the index of the
/// row, its scores in grid units, and its true class if it is known.
pub(super) fn sum_rows(
    scores: &Scores<'_>,
    length: usize,
    terms: impl Fn(&mut [f64], usize, &[i64], Option<usize>) + Sync + Send,
) -> Result<Vec<ExactSum>> {
    let (sums, _) = read(
        scores,
        || (vec![ExactSum::ZERO; length], vec![0.0; length]),
        |(sums, own), index, row, people, truth| {
            own.fill(0.0);
            terms(own, index, row, truth);
            let changes = sums.iter_mut().zip(own.iter()).filter(|(_, term)| **term != 0.0);
            changes.for_each(|(sum, &term)| sum.add(term, people));
        },
        |(sums, _), (part, _)| add_sums(sums, &part),
    )?;
    Ok(sums)
}

/// Adds the sums of other rows.
pub(super) fn add_sums(sums: &mut [ExactSum], more: &[ExactSum]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| sum.merge(more));
}

/// Divides the levels into ranges, each with at most [`MOST_SUMS`] sums or a single level.
pub(super) fn level_ranges(
    levels: std::ops::Range<usize>,
    sums_per_level: usize,
) -> impl Iterator<Item = std::ops::Range<usize>> {
    let step = (MOST_SUMS / sums_per_level.max(1)).max(1);
    levels.clone().step_by(step).map(move |first| first..levels.end.min(first + step))
}
