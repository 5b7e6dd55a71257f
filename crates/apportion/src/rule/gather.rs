//! Gathers the rows of each group: their scores and row numbers.

use rayon::prelude::*;
use std::ops::Range;

use crate::error::Result;
use crate::kernel::{Real, STRETCH, Source};

/// The group of each row, the number of rows of each group, and the groups to gather.
#[derive(Clone)]
pub(super) struct Gather<'a> {
    pub(super) codes: &'a [u32],
    pub(super) sizes: &'a [usize],
    pub(super) groups: Range<usize>,
}

impl Gather<'_> {
    /// Returns the row numbers of each group, in order.
    pub(super) fn row_numbers(&self, threads: usize) -> Vec<Vec<u32>> {
        let mut row_numbers = self.with_capacity(1);
        let bring = |(first, own): (usize, &mut [Vec<u32>])| {
            for (row, &code) in self.codes.iter().enumerate() {
                if let Some(own) = own.get_mut((code as usize).wrapping_sub(first)) {
                    own.push(row as u32);
                }
            }
        };
        // A single thread must not wait for others: it may be called by one of them.
        match threads {
            1 => bring((self.groups.start, &mut row_numbers)),
            _ => self.shares(threads, &mut row_numbers).into_par_iter().for_each(bring),
        }
        row_numbers
    }

    /// Returns the scores of each group, row-major. All rows are read in order, which is faster than seeking the
    /// rows of each group.
    pub(super) fn scores<T: Real>(&self, source: &dyn Source<T>) -> Result<Vec<Vec<T>>> {
        let mut values = self.with_capacity(source.classes());
        // Stored rows are read only once.
        let threads = if source.in_memory().is_some() { rayon::current_num_threads() } else { 1 };
        self.shares(threads, &mut values).into_par_iter().try_for_each(|(first, own)| {
            let mut buffer = Vec::new();
            for start in (0..source.rows()).step_by(STRETCH) {
                let range = start..source.rows().min(start + STRETCH);
                let rows = source.window(range.clone(), &mut buffer)?;
                for (row, &code) in range.clone().zip(&self.codes[range]) {
                    if let Some(own) = own.get_mut((code as usize).wrapping_sub(first)) {
                        rows.copy_row(row, own);
                    }
                }
            }
            Ok(())
        })?;
        Ok(values)
    }

    /// Returns empty lists with capacity for `values` values per row.
    fn with_capacity<T>(&self, values: usize) -> Vec<Vec<T>> {
        self.sizes[self.groups.clone()].iter().map(|&rows| Vec::with_capacity(rows * values)).collect()
    }

    /// Divides the lists into ranges of groups with about equally many rows per thread, with the first group of
    /// each. Each thread reads all rows and keeps its own.
    fn shares<'l, T>(&self, threads: usize, mut lists: &'l mut [Vec<T>]) -> Vec<(usize, &'l mut [Vec<T>])> {
        let fair = self.sizes[self.groups.clone()].iter().sum::<usize>().div_ceil(threads);
        let (mut shares, mut first) = (Vec::new(), self.groups.start);
        while !lists.is_empty() {
            // The last thread takes all remaining groups, including empty ones, so that no extra thread
            // reads all rows for them.
            let (is_last, mut held) = (shares.len() + 1 == threads, 0);
            let own = self.sizes[first..self.groups.end].iter().take_while(|&size| {
                let has_room = is_last || held < fair.max(1);
                held += size;
                has_room
            });
            let (share, others) = lists.split_at_mut(own.count());
            first += share.len();
            shares.push((first - share.len(), share));
            lists = others;
        }
        shares
    }
}
