//! A sample of the rows: which rows are in it depends on the seed and their keys, not on their order.

use rayon::prelude::*;

use crate::error::Result;
use crate::scores::{Keys, Label, Matrix, Scores};
use crate::seed;

/// Keeps apart the chances of samples and all others.
const SAMPLES: u64 = u64::MAX - 3;

/// Rows copied from a table, with all that joint rules ask of them but their groups.
pub struct Sample<'a> {
    table: &'a Scores<'a>,
    /// As they lie in the table: they are scaled when they are read, as the table's are.
    values: Vec<f64>,
    keys: Vec<u64>,
    truth: Option<Vec<Label>>,
    counts: Option<Vec<u64>>,
}

impl<'a> Sample<'a> {
    /// Draws so many rows, or all where there are fewer. They are in an order of their own, whatever the table's.
    pub fn draw(table: &'a Scores<'a>, rows: usize, seed: u64) -> Result<Sample<'a>> {
        let chosen = choose(table, rows, seed);
        let (mut values, mut row_values) = (Vec::with_capacity(chosen.len() * table.classes().len()), Vec::new());
        for &row in &chosen {
            // Here a bad row is named by its place in the table.
            table.check_rows(row..row + 1)?;
            table.read_raw(row..row + 1, &mut row_values)?;
            values.extend_from_slice(&row_values);
        }
        let keys = chosen.iter().map(|&row| table.keys().of(row)).collect();
        let truth = table.truth().map(|truth| chosen.iter().map(|&row| truth[row]).collect());
        let counts = table.counts().map(|counts| chosen.iter().map(|&row| counts[row]).collect());
        Ok(Sample { table, values, keys, truth, counts })
    }

    /// The sample as a table of its own.
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

/// The rows whose hashes of (seed, key) are the smallest, in the order of these; rows that share a key in their own.
fn choose(table: &Scores<'_>, rows: usize, seed: u64) -> Vec<usize> {
    // Hashes are uniform: a little more than the share that is wanted is nearly always enough, and it need not be sorted
    // with all others. Where it is not, since many rows share a key, more are looked at.
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
