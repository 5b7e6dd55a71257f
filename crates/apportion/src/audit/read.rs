//! A parallel pass over all rows that sums in any order.

use rayon::prelude::*;

use crate::error::Result;
use crate::kernel::STRETCH;
use crate::scores::{Scores, UNCODED};

/// Sums over all rows in parallel; `add` gets each row's index, scores, people and truth.
pub(crate) fn read<T: Send>(
    scores: &Scores<'_>,
    none: impl Fn() -> T + Sync + Send,
    add: impl Fn(&mut T, usize, &[i64], u64, Option<usize>) + Sync + Send,
    merge: impl Fn(&mut T, T) + Sync + Send,
) -> Result<T> {
    let rows = scores.rows();
    let summed = (0..rows.div_ceil(STRETCH))
        .into_par_iter()
        .try_fold(&none, |mut sums, stretch| {
            scores.read_rows(stretch * STRETCH..rows.min((stretch + 1) * STRETCH), |index, row| {
                let people = scores.counts().map_or(1, |counts| counts[index]);
                let truth = scores.truth().map(|truth| truth[index]).filter(|&truth| truth != UNCODED);
                add(&mut sums, index, row, people, truth.map(usize::from));
                Ok(())
            })?;
            Ok(sums)
        })
        .try_reduce(&none, |mut all, part| {
            merge(&mut all, part);
            Ok(all)
        });
    // Ranges are read in any order; report the first invalid row.
    summed.map_err(|error| scores.check().err().unwrap_or(error))
}
