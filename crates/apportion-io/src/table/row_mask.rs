//! A mask of the input rows that are in a table, without the excluded ones.

/// The input rows that are in a table, in order.
#[derive(Clone, Debug, Default)]
pub struct RowMask {
    /// One bit for each input row; `None` if no row is excluded.
    bits: Option<Vec<u64>>,
    total: usize,
    kept: usize,
}

impl RowMask {
    /// Adds `rows` rows that are in the table.
    pub(crate) fn push_kept(&mut self, rows: usize) {
        match self.bits {
            None => (self.total, self.kept) = (self.total + rows, self.kept + rows),
            Some(_) => (0..rows).for_each(|_| self.push(true)),
        }
    }

    /// Adds one row.
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

    /// Returns the number of input rows.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the number of rows in the table.
    pub fn count(&self) -> usize {
        self.kept
    }

    /// Returns whether an input row is in the table.
    pub fn contains(&self, row: usize) -> bool {
        self.bits.as_ref().is_none_or(|bits| bits[row / 64] >> (row % 64) & 1 == 1)
    }

    /// Returns a value for each input row: the next value for each table row, and `None` for excluded
    /// rows.
    pub fn spread<T>(&self, mut values: impl Iterator<Item = T>) -> impl Iterator<Item = Option<T>> {
        (0..self.total).map(move |row| if self.contains(row) { values.next() } else { None })
    }

    /// Returns the input row of each table row, if some were excluded; they serve as keys of rows
    /// without an ID.
    pub(crate) fn file_rows(&self) -> Option<Vec<u64>> {
        self.bits.as_ref()?;
        Some((0..self.total).filter(|&row| self.contains(row)).map(|row| row as u64).collect())
    }

    /// Returns the input row of a table row.
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
    fn rows_are_located() {
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
            let spread: Vec<usize> = rows.spread(0..rows.count()).flatten().collect();
            assert_eq!(spread, (0..rows.count()).collect::<Vec<_>>());
            assert!((0..rows.total()).all(|row| rows.contains(row) == expected.contains(&row)));
        }
    }
}
