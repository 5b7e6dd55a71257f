//! Totals of labeled rows, in one vectorized pass: people and scores by label, scores and their squares by class.

use std::ops::Range;

use super::grid::GRID;
use super::rows::{Rows, Source};
use super::simd::{Kernel, SimdLevel, Wide};
use super::sweep::{LEAST, OFF, OPEN, count_codes};
use super::tile::{Real, TILE, Tile};
use super::top_two::smaller;
use crate::error::Result;

/// The totals of some rows, each with a label. Scores are in grid units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabelTotals {
    /// Rows by label.
    pub(crate) counts: Vec<u64>,
    /// The sum of the labels' scores, by label.
    pub(crate) label_scores: Vec<i128>,
    /// The sum of all scores, by class.
    pub(crate) scores: Vec<i128>,
    /// The sum of the squares of all scores, by class: see [`Grid::square`](super::grid::Grid::square).
    pub(crate) squares: Vec<i128>,
}

impl LabelTotals {
    pub(crate) fn new(classes: usize) -> LabelTotals {
        let zeros = || vec![0; classes];
        LabelTotals { counts: vec![0; classes], label_scores: zeros(), scores: zeros(), squares: zeros() }
    }
}

/// Adds a range of rows to the totals. All labels must be indices of classes. Rows that may have an invalid value are
/// passed to `suspect`.
pub(crate) fn add_label_totals<T: Real>(
    level: SimdLevel,
    rows: &Rows<'_, T>,
    range: Range<usize>,
    labels: &[u8],
    totals: &mut LabelTotals,
    suspect: impl FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    level.run(Pass { rows, range, labels, totals, suspect })
}

struct Pass<'p, T, S> {
    rows: &'p Rows<'p, T>,
    range: Range<usize>,
    labels: &'p [u8],
    totals: &'p mut LabelTotals,
    suspect: S,
}

impl<T: Real, S: FnMut(Range<usize>) -> Result<()>> Kernel for Pass<'_, T, S> {
    type Output = Result<()>;

    #[inline(always)]
    fn run(mut self, _: Option<Wide>) -> Result<()> {
        let mut tile = Tile::new(self.rows.classes());
        for start in self.range.clone().step_by(TILE) {
            let len = TILE.min(self.range.end - start);
            self.rows.load(start, &mut tile);
            if is_suspect(tile.columns(), len) {
                (self.suspect)(start..start + len)?;
            }
            let mut codes = [OPEN; TILE];
            codes[..len].copy_from_slice(&self.labels[start - self.range.start..][..len]);
            add_tile(tile.columns(), &codes, len, self.totals);
        }
        Ok(())
    }
}

/// Returns whether one of the first rows of a tile may have an invalid value.
#[inline(always)]
fn is_suspect<T: Real>(columns: &[T], len: usize) -> bool {
    let (mut sums, mut least) = ([-1.0f32; TILE], [0.0f32; TILE]);
    for column in columns.chunks_exact(TILE) {
        for lane in 0..TILE {
            let score = column[lane].single();
            sums[lane] += score;
            least[lane] = smaller(least[lane], score);
        }
    }
    // Written so that NaN fails.
    let is_sound = |lane: usize| (sums[lane].abs() <= OFF) & (least[lane] >= LEAST);
    (0..len).fold(false, |suspect, lane| suspect | !is_sound(lane))
}

#[inline(always)]
fn add_tile<T: Real>(columns: &[T], codes: &[u8; TILE], len: usize, totals: &mut LabelTotals) {
    count_codes(codes, &mut totals.counts);
    for (class, column) in columns.chunks_exact(TILE).enumerate() {
        totals.scores[class] += i128::from(T::units(&column[..len]));
        totals.squares[class] += i128::from(squares(&column[..len]));
        let mut chosen = [T::default(); TILE];
        for lane in 0..TILE {
            let mask = u32::from(codes[lane] == class as u8).wrapping_neg();
            chosen[lane] = column[lane].masked(T::default(), mask);
        }
        totals.label_scores[class] += i128::from(T::units(&chosen));
    }
}

/// Returns the sum of the squares of a tile's column.
#[inline(always)]
fn squares<T: Real>(column: &[T]) -> i64 {
    let mut sum = 0i64;
    for value in column {
        sum = sum.wrapping_add(GRID.square(GRID.round(value.double())));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Layout;
    use crate::seed::hash;

    /// Scores of rows with several classes, each in (0, 1), that sum to 1; and labels.
    fn table(rows: usize, classes: usize) -> (Vec<f64>, Vec<u8>) {
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        for row in 0..rows as u64 {
            let parts: Vec<f64> = (0..classes as u64).map(|class| (hash(1, row, class) % 1000 + 1) as f64).collect();
            let sum: f64 = parts.iter().sum();
            scores.extend(parts.iter().map(|part| part / sum));
            labels.push((hash(2, row, 0) % classes as u64) as u8);
        }
        (scores, labels)
    }

    fn one_by_one<T: Real>(scores: &[T], labels: &[u8], classes: usize, range: Range<usize>) -> LabelTotals {
        let mut totals = LabelTotals::new(classes);
        for row in range {
            let label = usize::from(labels[row]);
            totals.counts[label] += 1;
            for class in 0..classes {
                let units = i128::from(GRID.round(scores[row * classes + class].double()));
                totals.scores[class] += units;
                let coarse = (GRID.value(units as i64) * 1_048_576.0 + 0.5).floor() as i128;
                totals.squares[class] += coarse * coarse;
                totals.label_scores[class] += if class == label { units } else { 0 };
            }
        }
        totals
    }

    fn agree<T: Real>(scores: &[T], labels: &[u8], classes: usize) {
        let rows = Rows::new(Layout::RowMajor(scores), classes, 1.001, None);
        for range in [0..labels.len(), 3..labels.len() - 5, 256..512, 9..10] {
            for level in SimdLevel::available() {
                let mut totals = LabelTotals::new(classes);
                let own = &labels[range.clone()];
                let suspect = |_| panic!("the scores are valid");
                add_label_totals(level, &rows, range.clone(), own, &mut totals, suspect).expect("valid rows");
                assert_eq!(totals, one_by_one(scores, labels, classes, range.clone()), "{level:?} {range:?}");
            }
        }
    }

    #[test]
    fn totals_are_those_of_rows_one_by_one() {
        for classes in [2, 6, 11] {
            let (scores, labels) = table(1000, classes);
            agree(&scores, &labels, classes);
            agree(&scores.iter().map(|&score| score as f32).collect::<Vec<f32>>(), &labels, classes);
        }
    }

    #[test]
    fn rows_with_invalid_values_are_suspect() {
        for invalid in [f64::NAN, -0.01, 1.1, f64::INFINITY] {
            let (mut scores, labels) = table(600, 3);
            scores[3 * 400] = invalid;
            let rows = Rows::new(Layout::RowMajor(&scores[..]), 3, 1.001, None);
            let (mut totals, mut found) = (LabelTotals::new(3), Vec::new());
            let suspect = |rows: Range<usize>| {
                found.push((rows.start, rows.end));
                Ok(())
            };
            add_label_totals(SimdLevel::best(), &rows, 0..600, &labels, &mut totals, suspect).expect("no error");
            assert_eq!(found, [(256, 512)], "{invalid}");
        }
    }
}
