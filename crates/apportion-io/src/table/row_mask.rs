//! Which rows of the files a table has: all of them, or those that were not left out.

/// Rows of the files that a table has, in order.
#[derive(Clone, Debug, Default)]
pub struct RowMask {
    /// A bit for each row, as soon as one was left out.
    bits: Option<Vec<u64>>,
    total: usize,
    kept: usize,
}

impl RowMask {
    /// Adds so many rows, all of which are kept.
    pub(crate) fn push_kept(&mut self, rows: usize) {
        match self.bits {
            None => (self.total, self.kept) = (self.total + rows, self.kept + rows),
            Some(_) => (0..rows).for_each(|_| self.push(true)),
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, keep: bool) {
        if !keep && self.bits.is_none() {
            let mut bits = vec![u64::MAX; self.total.div_ceil(64)];
            if let Some(last) = bits.last_mut().filter(|_| !self.total.is_multiple_of(64)) {
                *last = (1 << (self.total % 64)) - 1;
            }
            self.bits = Some(bits);
        }
        if let Some(bits) = &mut self.bits {
            if self.total.is_multiple_of(64) {
                bits.push(0);
            }
            if let Some(last) = bits.last_mut() {
                *last |= u64::from(keep) << (self.total % 64);
            }
        }
        self.total += 1;
        self.kept += usize::from(keep);
    }

    /// How many rows the files have.
    pub fn total(&self) -> usize {
        self.total
    }

    /// How many of them the table has.
    pub fn count(&self) -> usize {
        self.kept
    }

    /// Whether the table has a row of the files.
    pub fn contains(&self, row: usize) -> bool {
        self.bits.as_ref().is_none_or(|bits| bits[row / 64] >> (row % 64) & 1 == 1)
    }

    /// The places of the table's rows in the files, where some were left out: the keys of rows that have no other.
    pub(crate) fn file_rows(&self) -> Option<Vec<u64>> {
        self.bits.as_ref()?;
        Some((0..self.total).filter(|&row| self.contains(row)).map(|row| row as u64).collect())
    }

    /// Which row of the files a row of the table is.
    pub(crate) fn file_row(&self, row: usize) -> usize {
        match &self.bits {
            None => row,
            Some(_) => (0..self.total).filter(|&file_row| self.contains(file_row)).nth(row).unwrap_or(self.total),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_again() {
        for first in [0, 1, 63, 64, 65, 200] {
            let mut rows = RowMask::default();
            rows.push_kept(first);
            let later = [false, true, true, false, true];
            later.iter().for_each(|&keep| rows.push(keep));
            rows.push_kept(70);
            assert_eq!((rows.total(), rows.count()), (first + 75, first + 73));
            let expected: Vec<usize> =
                (0..first + 75).filter(|&row| row < first || row >= first + 5 || later[row - first]).collect();
            let found: Vec<usize> = (0..rows.count()).map(|row| rows.file_row(row)).collect();
            assert_eq!(found, expected);
            assert!((0..rows.total()).all(|row| rows.contains(row) == expected.contains(&row)));
        }
    }
}
