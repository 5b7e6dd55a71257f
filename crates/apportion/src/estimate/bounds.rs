//! Bounds on outcomes by class, for any dependence between outcome and class (Kallus, Mao and Zhou 2022), if the scores
//! are calibrated within each cell.
//!
//! In a cell of equal people, a share η of class a and a share μ with the outcome overlap by at least max(η + μ − 1,
//! 0) and at most min(η, μ). Summed over all cells and divided by the share of the class, these bound its rate.

use super::figures::{Estimate, Figure, Gap, pairs};
use super::outcomes::{Measure, Outcomes, Value};
use crate::audit::Interval;
use crate::error::{Error, Result};
use crate::kernel::GRID;
use crate::scores::{Scores, expect_length};

/// Cells with fewer people are too small to estimate their outcomes.
pub const SMALL_CELL: u64 = 10;

/// Sums by cell. They can be merged and do not depend on the row order.
#[derive(Clone, Debug)]
pub struct CellBounds {
    classes: usize,
    measure: Measure,
    /// People by cell, then by level.
    people: Vec<u64>,
    /// Σ q of each class by cell, in grid units.
    scores: Vec<i128>,
}

/// The sizes of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CellSizes {
    /// Number of cells with known outcomes.
    pub cells: u64,
    /// Number of people in them.
    pub people: u64,
    /// Number of people who are alone in their cell, which does not bound anything.
    pub alone: u64,
    /// Number of people in cells of fewer than [`SMALL_CELL`]: if there are many, the bounds are too narrow.
    pub in_small: u64,
}

impl CellBounds {
    /// Sums over all rows. `cells` has the cell of each row, below `number`. Outcomes must be levels.
    pub fn of(scores: &Scores<'_>, outcomes: &Outcomes<'_>, cells: &[u32], number: usize) -> Result<CellBounds> {
        expect_length("the list of outcomes", outcomes.rows(), scores.rows())?;
        expect_length("the list of cells", cells.len(), scores.rows())?;
        if outcomes.are_numbers() {
            let why = "bounds exist only for shares; choose a value with `counting`";
            return Err(Error::Incompatible { one: "bounds", other: "an outcome of numbers", why });
        }
        if let Some(row) = cells.iter().position(|&cell| cell as usize >= number) {
            return Err(Error::Code { row, what: "cell", code: cells[row] as usize, last: number.saturating_sub(1) });
        }
        let (classes, measure) = (scores.classes().len(), outcomes.measure());
        let levels = measure.levels();
        let (mut people, mut sums) = (vec![0; number * levels], vec![0i128; number * classes]);
        // One thread: there may be as many cells as rows, and each thread would need all of them.
        scores.read_rows(0..scores.rows(), |index, row| {
            let Some(Value::Level(level)) = outcomes.at(index) else { return Ok(()) };
            let (cell, times) = (cells[index] as usize, scores.counts().map_or(1, |counts| counts[index]));
            people[cell * levels + level] += times;
            let own = sums[cell * classes..][..classes].iter_mut();
            own.zip(row).for_each(|(sum, score)| *sum += i128::from(*score) * i128::from(times));
            Ok(())
        })?;
        Ok(CellBounds { classes, measure, people, scores: sums })
    }

    /// Adds the sums of other rows, with the same cells.
    pub fn merge(&mut self, other: &CellBounds) -> Result<()> {
        self.measure.check_same(&other.measure)?;
        if (self.classes, self.people.len()) != (other.classes, other.people.len()) {
            return Err(Error::Tally { what: "classes or cells" });
        }
        self.people.iter_mut().zip(&other.people).for_each(|(sum, more)| *sum += more);
        self.scores.iter_mut().zip(&other.scores).for_each(|(sum, more)| *sum += more);
        Ok(())
    }

    /// Returns the sizes of the cells.
    pub fn sizes(&self) -> CellSizes {
        let mut sizes = CellSizes { cells: 0, people: 0, alone: 0, in_small: 0 };
        for cell in self.people.chunks_exact(self.measure.levels()) {
            let people: u64 = cell.iter().sum();
            sizes.cells += u64::from(people > 0);
            sizes.people += people;
            sizes.alone += u64::from(people == 1);
            sizes.in_small += if people < SMALL_CELL { people } else { 0 };
        }
        sizes
    }

    /// Returns bounds on the rate of each class and on the difference of each pair, for each requested level.
    pub fn estimates(&self) -> Vec<Estimate> {
        self.measure.shown().map(|level| self.estimate(level)).collect()
    }

    fn estimate(&self, level: usize) -> Estimate {
        let bounds: Vec<Option<(Interval, f64)>> = (0..self.classes).map(|class| self.bounds(level, class)).collect();
        let figure = |own: &Option<(Interval, f64)>| {
            let (interval, effective_n) = (*own)?;
            Some(Figure { estimate: None, error: None, interval: Some(interval), effective_n })
        };
        let gap = |(class, against): (usize, usize)| {
            let (one, other) = (bounds[class]?.0, bounds[against]?.0);
            let interval = Interval { low: one.low - other.high, high: one.high - other.low };
            Some(Gap { class, against, difference: None, error: None, interval: Some(interval) })
        };
        Estimate { classes: bounds.iter().map(figure).collect(), gaps: pairs(self.classes).filter_map(gap).collect() }
    }

    /// Returns the bounds on a class's rate, and its sum of scores.
    fn bounds(&self, level: usize, class: usize) -> Option<(Interval, f64)> {
        let (mut least, mut most, mut all) = (0.0, 0.0, 0.0);
        let cells = self.people.chunks_exact(self.measure.levels()).zip(self.scores.chunks_exact(self.classes));
        for (people, scores) in cells {
            let (whole, hits) = (people.iter().sum::<u64>() as f64, people[level] as f64);
            // Removes rounding errors outside the valid range.
            let own = GRID.total(scores[class]).clamp(0.0, whole);
            least += (own + hits - whole).max(0.0);
            most += own.min(hits);
            all += own;
        }
        (all > 0.0).then(|| (Interval { low: least / all, high: most / all }, all))
    }
}
