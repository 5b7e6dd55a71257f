//! A sample of the rows, which depends on the seed and the keys but not on the row order.

use rayon::prelude::*;

use crate::error::Result;
use crate::scores::{Keys, Label, Matrix, Scores};
use crate::seed;

/// Salt that separates the hashes of samples from all others.
const SAMPLES: u64 = u64::MAX - 3;

/// Rows copied from a table, with everything that joint rules need except groups.
pub struct Sample<'a> {
    table: &'a Scores<'a>,
    /// Values as stored; they are scaled when read, like the table's.
    values: Vec<f64>,
    keys: Vec<u64>,
    truth: Option<Vec<Label>>,
    counts: Option<Vec<u64>>,
}

impl<'a> Sample<'a> {
    /// Draws `rows` rows, or all if there are fewer. Their order does not depend on the table's.
    pub fn draw(table: &'a Scores<'a>, rows: usize, seed: u64) -> Result<Sample<'a>> {
        let chosen = choose(table, rows, seed);
        let (mut values, mut row_values) = (Vec::with_capacity(chosen.len() * table.classes().len()), Vec::new());
        for &row in &chosen {
            // This check reports the row number in the table.
            table.check_rows(row..row + 1)?;
            table.read_raw(row..row + 1, &mut row_values)?;
            values.extend_from_slice(&row_values);
        }
        let keys = chosen.iter().map(|&row| table.keys().of(row)).collect();
        let truth = table.truth().map(|truth| chosen.iter().map(|&row| truth[row]).collect());
        let counts = table.counts().map(|counts| chosen.iter().map(|&row| counts[row]).collect());
        Ok(Sample { table, values, keys, truth, counts })
    }

    /// Returns the sample as a table.
    pub fn scores(&self) -> Result<Scores<'_>> {
        let scores = Scores::new(self.table.classes(), Matrix::RowsF64(&self.values))?;
        let mut scores = scores.scaled(self.table.scaling()).with_keys(Keys::Given(&self.keys))?;
        if let Some(truth) = &self.truth {
            scores = scores.with_truth(truth)?;
        }
        if let Some(counts) = &self.counts {
            scores = scores.with_counts(counts)?;
        }
        Ok(scores)
    }
}

/// Returns the rows with the smallest hashes of (seed, key), ordered by hash; rows with equal keys keep their order.
fn choose(table: &Scores<'_>, rows: usize, seed: u64) -> Vec<usize> {
    // Hashes are uniform, so slightly more than the desired share of them is nearly always enough, and only these
    // are sorted. If many rows share a key it may not be, and the share is doubled.
    let spare = 6.0 * (rows as f64).sqrt() + 16.0;
    let mut share = (rows as f64 + spare) / table.rows().max(1) as f64;
    loop {
        let most = (share * 2f64.powi(64)) as u64;
        let small = |row: usize| {
            let hash = seed::hash(seed, table.keys().of(row), SAMPLES);
            (hash <= most).then_some((hash, row))
        };
        let mut found: Vec<(u64, usize)> = (0..table.rows()).into_par_iter().filter_map(small).collect();
        if found.len() >= rows || most == u64::MAX {
            found.par_sort_unstable();
            found.truncate(rows);
            return found.into_iter().map(|(_, row)| row).collect();
        }
        share *= 2.0;
    }
}
