//! Bounds on outcomes by class, for any dependence between outcome and class (Kallus, Mao and Zhou 2022), if the scores
//! are calibrated within each cell.
//!
//! In a cell of equal people, a share η of class a and a share μ with the outcome overlap by at least max(η + μ − 1,
//! 0) and at most min(η, μ) = η − max(η − μ, 0). Summed over all cells and divided by the share of the class, these bound
//! its rate.
//!
//! # Intervals
//! The positive part of a sample mean is too large on average, so the bounds of a sample are narrower than those of the
//! population. The interval corrects for this. Let S be the sum of s = q + Y − 1 (or q − Y) over a cell, and σ its
//! standard error. If one random half of the cell decides whether S counts as positive, and the other half is summed, the
//! expected sum is at most the positive part of the population. The mean over all ways to split a cell is
//!
//! T = S Φ(S/σ) − σ φ(S/σ)
//!
//! for normal S, and the interval is that of the sum of T. Its variance is at most that of the sum of T′(S) s over people,
//! by the inequality of Poincaré. In small cells, σ is shrunk to the common variance of s within cells.

use super::figures::{Estimate, Figure, Gap, pairs};
use super::normal::{density, probability};
use super::outcomes::{Measure, Outcomes, Value};
use crate::audit::{Interval, NORMAL};
use crate::error::{Error, Result};
use crate::kernel::GRID;
use crate::scores::{Scores, expect_length};

/// Cells with fewer people are too small to estimate their outcomes: the bounds of the sample are too narrow.
pub const SMALL_CELL: u64 = 30;

/// People with the common variance who are added to each cell.
const PRIOR_PEOPLE: f64 = 2.0;

/// Sums by cell. They can be merged and do not depend on the row order.
#[derive(Clone, Debug)]
pub struct CellBounds {
    classes: usize,
    measure: Measure,
    /// Weights are rounded to multiples of this power of two; 1 without weights.
    unit: f64,
    /// People by cell.
    people: Vec<u64>,
    /// By cell: Σ w, then Σ w of each requested level, then Σ w q of each class. Weights are in units, scores in grid
    /// units.
    sums: Vec<i128>,
    /// The same with w². Empty without weights.
    squared: Vec<i128>,
    /// By cell: Σ w² q² of each class; then for each requested level, Σ w² q of each class among people with the level.
    products: Vec<i128>,
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

/// The end of the bounds of a rate.
#[derive(Clone, Copy, Debug)]
enum End {
    Low,
    High,
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
        let (classes, measure, unit) = (scores.classes().len(), outcomes.measure(), unit(outcomes));
        let shown = measure.shown();
        let (width, products_width) = (1 + shown.len() + classes, classes * (1 + shown.len()));
        let mut sums = vec![0i128; number * width];
        let mut squared = vec![0i128; if outcomes.is_weighted() { number * width } else { 0 }];
        let (mut people, mut products) = (vec![0; number], vec![0i128; number * products_width]);
        // One thread: there may be as many cells as rows, and each thread would need all of them.
        scores.read_rows(0..scores.rows(), |index, row| {
            let Some(Value::Level(level)) = outcomes.at(index) else { return Ok(()) };
            let (cell, times) = (cells[index] as usize, scores.counts().map_or(1, |counts| counts[index]));
            let hit = shown.contains(&level).then(|| level - shown.start);
            let weight = if outcomes.is_weighted() { (outcomes.weight(index) / unit).round() as i128 } else { 1 };
            let (times, squares) = (i128::from(times), i128::from(times) * weight * weight);
            people[cell] += times as u64;
            let add = |sums: &mut [i128], weight: i128| {
                sums[0] += weight;
                if let Some(hit) = hit {
                    sums[1 + hit] += weight;
                }
                let own = sums[1 + shown.len()..].iter_mut();
                own.zip(row.iter()).for_each(|(sum, &score)| *sum += i128::from(score) * weight);
            };
            add(&mut sums[cell * width..][..width], times * weight);
            if outcomes.is_weighted() {
                add(&mut squared[cell * width..][..width], squares);
            }
            let products = &mut products[cell * products_width..][..products_width];
            for (class, &score) in row.iter().enumerate() {
                products[class] += i128::from(GRID.square(score)) * squares;
                if let Some(hit) = hit {
                    products[(1 + hit) * classes + class] += i128::from(score) * squares;
                }
            }
            Ok(())
        })?;
        Ok(CellBounds { classes, measure, unit, people, sums, squared, products })
    }

    /// Adds the sums of other rows, with the same cells.
    ///
    /// # Errors
    /// If the outcomes, classes or cells differ, or the largest weights round down to different powers of two.
    pub fn merge(&mut self, other: &CellBounds) -> Result<()> {
        self.measure.check_same(&other.measure)?;
        if (self.classes, self.people.len()) != (other.classes, other.people.len()) {
            return Err(Error::Tally { what: "classes or cells" });
        }
        if (self.unit, self.squared.len()) != (other.unit, other.squared.len()) {
            return Err(Error::Tally { what: "units of weights" });
        }
        self.people.iter_mut().zip(&other.people).for_each(|(sum, more)| *sum += more);
        for (sums, more) in
            [(&mut self.sums, &other.sums), (&mut self.squared, &other.squared), (&mut self.products, &other.products)]
        {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        Ok(())
    }

    /// Returns the sizes of the cells.
    pub fn sizes(&self) -> CellSizes {
        let mut sizes = CellSizes { cells: 0, people: 0, alone: 0, in_small: 0 };
        for &people in &self.people {
            sizes.cells += u64::from(people > 0);
            sizes.people += people;
            sizes.alone += u64::from(people == 1);
            sizes.in_small += if people < SMALL_CELL { people } else { 0 };
        }
        sizes
    }

    /// Returns bounds on the rate of each class and on the difference of each pair, for each requested level: those of
    /// the sample, which are narrower than those of the population if cells are small.
    pub fn estimates(&self) -> Vec<Estimate> {
        (0..self.measure.shown().len()).map(|level| self.estimate(level, |class| self.bounds(level, class))).collect()
    }

    /// Returns intervals that contain both bounds of the population in about 95% of samples or more, for each requested
    /// level. They are longer than necessary if cells are small. There are none if all people are alone in their cell.
    pub fn intervals(&self) -> Vec<Estimate> {
        let levels = 0..self.measure.shown().len();
        levels.map(|level| self.estimate(level, |class| self.interval(level, class))).collect()
    }

    fn estimate(&self, level: usize, of: impl Fn(usize) -> Option<Interval>) -> Estimate {
        let bounds: Vec<Option<Interval>> = (0..self.classes).map(of).collect();
        let figure = |class: usize| {
            let interval = Some(bounds[class]?);
            Some(Figure { estimate: None, error: None, interval, effective_n: self.effective_n(level, class)? })
        };
        let gap = |(class, against): (usize, usize)| {
            let (one, other) = (bounds[class]?, bounds[against]?);
            let interval = Interval { low: one.low - other.high, high: one.high - other.low };
            Some(Gap { class, against, difference: None, error: None, interval: Some(interval) })
        };
        Estimate {
            classes: (0..self.classes).map(figure).collect(),
            gaps: pairs(self.classes).filter_map(gap).collect(),
        }
    }

    /// Returns the bounds of the sample on a class's rate.
    fn bounds(&self, level: usize, class: usize) -> Option<Interval> {
        let part = |end: End| -> f64 { self.cells(level, class, end).map(|cell| cell.sum.max(0.0)).sum() };
        let all = self.score_sum(class);
        let (low, high) = (part(End::Low) / all, 1.0 - part(End::High) / all);
        // Rounding errors must not exchange them.
        (all > 0.0).then(|| Interval { low: low.min(high), high })
    }

    /// Returns the interval of the bounds of the population.
    fn interval(&self, level: usize, class: usize) -> Option<Interval> {
        let low = self.lowest_positive_part(level, class, End::Low)?;
        let high = 1.0 - self.lowest_positive_part(level, class, End::High)?;
        let bounds = self.bounds(level, class)?;
        Some(Interval { low: low.clamp(0.0, bounds.low.max(0.0)), high: high.clamp(bounds.high.min(1.0), 1.0) })
    }

    /// Returns the lower end of the interval of the sum of positive parts over all cells, as a share of the class.
    fn lowest_positive_part(&self, level: usize, class: usize, end: End) -> Option<f64> {
        let (mut spread, mut free) = (0.0, 0.0);
        for cell in self.cells(level, class, end) {
            spread += cell.spread();
            free += (cell.effective_people - 1.0).max(0.0);
        }
        let all = self.score_sum(class);
        if all <= 0.0 || free <= 0.0 {
            return None;
        }
        let common = spread / free;
        let total: f64 = self.cells(level, class, end).map(|cell| cell.positive_part(common).0).sum();
        let share = total / all;
        let variance = self.cells(level, class, end).map(|cell| {
            let slope = cell.positive_part(common).1;
            slope * slope * cell.squares - 2.0 * slope * share * cell.cross + share * share * cell.score_squares
        });
        Some(share - NORMAL * variance.sum::<f64>().max(0.0).sqrt() / all)
    }

    /// Returns Σ w q of a class.
    fn score_sum(&self, class: usize) -> f64 {
        let (shown, width) = (self.measure.shown().len(), self.width());
        let total: i128 = self.sums.iter().skip(1 + shown + class).step_by(width).sum();
        GRID.total(total) * self.unit
    }

    /// Returns the expected people of a class, or with weights their effective number: (Σ w q)² / Σ w² q.
    fn effective_n(&self, level: usize, class: usize) -> Option<f64> {
        let sum = self.score_sum(class);
        let squares: f64 = self.cells(level, class, End::Low).map(|cell| cell.scores).sum();
        (sum > 0.0).then(|| sum * sum / squares)
    }

    fn width(&self) -> usize {
        1 + self.measure.shown().len() + self.classes
    }

    /// Returns the moments of s in each cell with people: q + Y − 1 for the lower end and q − Y for the upper end.
    fn cells(&self, level: usize, class: usize, end: End) -> impl Iterator<Item = CellMoments> {
        let (width, shown, unit) = (self.width(), self.measure.shown().len(), self.unit);
        let products_width = self.classes * (1 + shown);
        (0..self.people.len()).filter(|&cell| self.people[cell] > 0).filter_map(move |cell| {
            let sums = &self.sums[cell * width..][..width];
            let squared = if self.squared.is_empty() { sums } else { &self.squared[cell * width..][..width] };
            let products = &self.products[cell * products_width..][..products_width];
            let of = |sums: &[i128], unit: f64| {
                (sums[0] as f64 * unit, sums[1 + level] as f64 * unit, GRID.total(sums[1 + shown + class]) * unit)
            };
            let (people, hits, scores) = of(sums, unit);
            let (people2, hits2, scores2) = of(squared, unit * unit);
            let score_squares = GRID.total(products[class]) * unit * unit;
            let hit_scores = GRID.total(products[(1 + level) * self.classes + class]) * unit * unit;
            let other_scores = scores2 - hit_scores;
            // Weights that are rounded to zero do not count.
            (people > 0.0).then(|| match end {
                End::Low => CellMoments {
                    sum: scores + hits - people,
                    weights: people,
                    effective_people: people * people / people2,
                    squared_weights: people2,
                    first: scores2 + hits2 - people2,
                    squares: score_squares + people2 - hits2 - 2.0 * other_scores,
                    cross: score_squares - other_scores,
                    score_squares,
                    scores: scores2,
                },
                End::High => CellMoments {
                    sum: scores - hits,
                    weights: people,
                    effective_people: people * people / people2,
                    squared_weights: people2,
                    first: scores2 - hits2,
                    squares: score_squares + hits2 - 2.0 * hit_scores,
                    cross: score_squares - hit_scores,
                    score_squares,
                    scores: scores2,
                },
            })
        })
    }
}

/// Sums over the people of a cell, for one end of the bounds of a class.
struct CellMoments {
    /// S = Σ w s.
    sum: f64,
    /// Σ w.
    weights: f64,
    /// (Σ w)² / Σ w².
    effective_people: f64,
    /// Σ w².
    squared_weights: f64,
    /// Σ w² s.
    first: f64,
    /// Σ w² s².
    squares: f64,
    /// Σ w² s q.
    cross: f64,
    /// Σ w² q².
    score_squares: f64,
    /// Σ w² q.
    scores: f64,
}

impl CellMoments {
    /// Returns the sum of squared deviations of s from its mean, for effective people.
    fn spread(&self) -> f64 {
        let mean = self.sum / self.weights;
        let squares = self.squares - 2.0 * mean * self.first + mean * mean * self.squared_weights;
        (squares / self.squared_weights).max(0.0) * self.effective_people
    }

    /// Returns T, whose expected value is at most the positive part of the expected S, and its slope.
    fn positive_part(&self, common: f64) -> (f64, f64) {
        let free = (self.effective_people - 1.0).max(0.0);
        let variance = (self.spread() + PRIOR_PEOPLE * common) / (free + PRIOR_PEOPLE);
        let error = (variance * self.squared_weights).sqrt();
        let at = self.sum / error;
        if error <= 0.0 || at.is_nan() {
            return (self.sum.max(0.0), f64::from(u8::from(self.sum > 0.0)));
        }
        (self.sum * probability(at) - error * density(at), probability(at) + 2.0 * at * density(at))
    }
}

/// Returns the power of two to which weights are rounded, so that the largest has 24 bits.
fn unit(outcomes: &Outcomes<'_>) -> f64 {
    if !outcomes.is_weighted() {
        return 1.0;
    }
    let largest = (0..outcomes.rows()).map(|row| outcomes.weight(row)).fold(0.0, f64::max);
    // Weights below 2^22, so that 2^40 people with the square of a weight and a score are below 2^127.
    2f64.powi(largest.log2().floor() as i32 - 21)
}
