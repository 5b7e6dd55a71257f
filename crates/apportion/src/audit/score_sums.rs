//! Exact sums of scores by class.

use super::calibration::times;
use super::cell::add_all;

/// The number of rows whose scores 64 bits hold: scores are within ±2^51 units.
const ROWS_PER_CARRY: u32 = 1 << 11;

/// The sums of the scores of each class, which can be merged in any order.
///
/// Scores of rows that represent one person are first summed in 64 bits, which is several times faster, and carried to
/// 128 bits before they can overflow. Nothing is allocated before the first row.
#[derive(Clone, Debug, Default)]
pub(super) struct ScoreSums {
    carried: Vec<i128>,
    recent: Vec<i64>,
    recent_rows: u32,
}

impl ScoreSums {
    /// Adds the scores of a row, times its people.
    #[inline]
    pub(super) fn add(&mut self, scores: &[i64], people: u64) {
        if self.recent.is_empty() {
            self.allocate(scores.len());
        }
        if people != 1 {
            for (sum, &score) in self.carried.iter_mut().zip(scores) {
                *sum += times(score, people);
            }
            return;
        }
        for (sum, &score) in self.recent.iter_mut().zip(scores) {
            *sum += score;
        }
        self.recent_rows += 1;
        if self.recent_rows == ROWS_PER_CARRY {
            self.carry();
        }
    }

    /// Adds sums by class.
    pub(super) fn add_sums(&mut self, sums: &[i128]) {
        self.allocate(sums.len());
        add_all(&mut self.carried, sums);
    }

    /// Adds the sums of other rows.
    pub(super) fn merge(&mut self, other: &ScoreSums) {
        if other.recent.is_empty() {
            return;
        }
        self.allocate(other.recent.len());
        self.carry();
        other.add_to(&mut self.carried);
    }

    /// Adds the sums to a list.
    pub(super) fn add_to(&self, sums: &mut [i128]) {
        add_all(sums, &self.carried);
        for (sum, &recent) in sums.iter_mut().zip(&self.recent) {
            *sum += i128::from(recent);
        }
    }

    fn allocate(&mut self, classes: usize) {
        self.carried.resize(classes, 0);
        self.recent.resize(classes, 0);
    }

    fn carry(&mut self) {
        for (sum, recent) in self.carried.iter_mut().zip(&mut self.recent) {
            *sum += i128::from(std::mem::take(recent));
        }
        self.recent_rows = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(sums: &ScoreSums) -> [i128; 2] {
        let mut total = [0; 2];
        sums.add_to(&mut total);
        total
    }

    #[test]
    fn sums_are_carried_before_they_overflow() {
        let (row, rows) = ([1 << 51, -(1 << 51)], 10_000);
        let (mut one, mut other) = (ScoreSums::default(), ScoreSums::default());
        for index in 0..rows {
            if index % 3 == 0 { one.add(&row, 1) } else { other.add(&row, 1) }
        }
        one.add(&row, 7);
        one.merge(&other);
        let expected = (rows + 7) << 51;
        assert_eq!(total(&one), [expected, -expected]);
        one.merge(&ScoreSums::default());
        assert_eq!(total(&one), [expected, -expected]);
        assert_eq!(total(&ScoreSums::default()), [0, 0]);
    }
}
