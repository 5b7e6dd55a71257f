//! The integer sums of one section, for all rows or one group, which can be merged in any order.

use super::calibration::{GROUP_FINENESS, Histograms, OVERALL_FINENESS};
use super::intervals::Replicates;
use crate::kernel::Grid;
use crate::scores::{Label, UNCODED};

/// Whether a cell is for all rows, with fine histograms, or for a group, with coarse ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All rows.
    Overall,
    /// One group.
    Group,
}

/// One row, with values that several cells need.
pub(super) struct Row<'a> {
    /// The scores, in grid units.
    pub(super) scores: &'a [i64],
    /// Whether to count it as a row: only once if its people have several labels.
    pub(super) is_new: bool,
    /// Number of people.
    pub(super) people: u64,
    /// The label as given.
    pub(super) given: Label,
    /// The label after the policy for Uncoded rows.
    pub(super) label: Label,
    /// The true class.
    pub(super) truth: Label,
    /// Quantities that depend on the scores only.
    pub(super) shape: Shape,
    /// Whether the policy includes the row.
    pub(super) considered: bool,
    /// The weight of the row in each bootstrap replicate.
    pub(super) weights: &'a [u8],
}

/// Quantities of a row that depend on its scores only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The first class with the largest score.
    pub(super) argmax: Label,
    /// Its score.
    pub(super) top: i64,
    /// Whether another class has the same score.
    pub(super) tied: bool,
    /// Σ q², rounded to the grid.
    pub(super) squares: i128,
    /// The tolerance of Theorem 1's bound for this row because Σ|q| exceeds one.
    pub(super) allowance: i128,
}

impl Shape {
    /// Computes it from the scores, which are within ±2^51 units, so nothing overflows.
    #[inline]
    pub(super) fn of(scores: &[i64]) -> Shape {
        let (mut argmax, mut top, mut tied) = (0, i64::MIN, false);
        let (mut squares, mut mass) = (0i128, 0i64);
        for (class, &score) in scores.iter().enumerate() {
            if score > top {
                (argmax, top, tied) = (class, score, false);
            } else {
                tied |= score == top;
            }
            squares += i128::from(score) * i128::from(score);
            mass += score.abs();
        }
        let unit = i128::from(Grid::UNIT);
        // Σq² ≤ top·Σ|q|, so a row exceeds the bound by at most top·excess, plus rounding errors below zero ≤
        // excess.
        let excess = i128::from(mass) - unit;
        let allowance = if excess > 0 { excess + (i128::from(top) * excess + unit - 1) / unit } else { 0 };
        Shape { argmax: argmax as Label, top, tied, squares: (squares + unit / 2) / unit, allowance }
    }
}

/// The sums. "As given" means before the policy for Uncoded rows; other sums include only rows that the policy
/// includes.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// Rows.
    pub(super) rows: u64,
    /// People, as given.
    pub(super) people: u64,
    /// Labeled people, as given.
    pub(super) labeled_given: u64,
    /// Scores by class over labeled rows, as given.
    pub(super) posterior_labeled: Vec<i128>,
    /// Scores by class over the rows Uncoded as given.
    pub(super) posterior_uncoded: Vec<i128>,
    /// True classes of the rows Uncoded as given.
    pub(super) truth_uncoded: Vec<u64>,
    /// People whose given label is argmax.
    pub(super) agreeing: u64,
    /// The largest scores of rows Uncoded as given.
    pub(super) uncoded_tops: Histograms,
    /// People included.
    pub(super) considered: u64,
    /// People by label, then Uncoded.
    pub(super) labels: Vec<u64>,
    /// People by true class and label (last: Uncoded), row by row; empty without truth.
    pub(super) confusion: Vec<u64>,
    /// Scores by class over the rows with truth.
    pub(super) posterior_with_truth: Vec<i128>,
    /// People by argmax class.
    pub(super) argmax: Vec<u64>,
    /// People with a tied maximum.
    pub(super) tied: u64,
    /// Σ of Σ q².
    pub(super) squares: i128,
    /// Σ of the allowances for Theorem 1.
    pub(super) allowance: i128,
    /// Σ of the labels' scores.
    pub(super) label_scores: i128,
    /// Σ of the true classes' scores.
    pub(super) truth_scores: i128,
    /// Scores by class against truth.
    pub(super) calibration: Histograms,
    /// Sums of the bootstrap.
    pub(super) replicates: Replicates,
}

impl Cell {
    /// Creates empty sums.
    pub(super) fn new(classes: usize, replicates: usize, extent: Extent) -> Cell {
        Cell {
            rows: 0,
            people: 0,
            labeled_given: 0,
            posterior_labeled: vec![0; classes],
            posterior_uncoded: vec![0; classes],
            truth_uncoded: vec![0; classes],
            agreeing: 0,
            uncoded_tops: Histograms::new(1, fineness(extent)),
            considered: 0,
            labels: vec![0; classes + 1],
            confusion: Vec::new(),
            posterior_with_truth: vec![0; classes],
            argmax: vec![0; classes],
            tied: 0,
            squares: 0,
            allowance: 0,
            label_scores: 0,
            truth_scores: 0,
            calibration: Histograms::new(classes, fineness(extent)),
            replicates: Replicates::new(classes, replicates),
        }
    }

    /// Returns the number of classes.
    pub(super) fn classes(&self) -> usize {
        self.argmax.len()
    }

    /// Adds a row.
    pub(super) fn add(&mut self, row: &Row<'_>) {
        self.rows += u64::from(row.is_new);
        if row.people == 0 {
            return;
        }
        self.add_given(row);
        if row.considered {
            self.add_considered(row);
            if row.truth != UNCODED {
                self.add_truth(row);
            }
            self.replicates.add(row);
        }
    }

    /// Adds figures of the labels as given.
    fn add_given(&mut self, row: &Row<'_>) {
        self.people += row.people;
        if row.given == UNCODED {
            add_scores(&mut self.posterior_uncoded, row);
            self.uncoded_tops.add(0, row.shape.top, row.people, false);
            if row.truth != UNCODED {
                self.truth_uncoded[usize::from(row.truth)] += row.people;
            }
        } else {
            add_scores(&mut self.posterior_labeled, row);
            self.labeled_given += row.people;
            if row.given == row.shape.argmax {
                self.agreeing += row.people;
            }
        }
    }

    /// Adds figures that need no truth.
    fn add_considered(&mut self, row: &Row<'_>) {
        let people = i128::from(row.people);
        self.considered += row.people;
        self.argmax[usize::from(row.shape.argmax)] += row.people;
        if row.shape.tied {
            self.tied += row.people;
        }
        self.squares += row.shape.squares * people;
        self.allowance += row.shape.allowance * people;
        let column = self.column(row.label);
        self.labels[column] += row.people;
        if row.label != UNCODED {
            self.label_scores += i128::from(row.scores[column]) * people;
        }
    }

    /// Adds figures that need truth.
    fn add_truth(&mut self, row: &Row<'_>) {
        self.allocate_truth();
        let truth = usize::from(row.truth);
        let entry = truth * self.labels.len() + self.column(row.label);
        self.confusion[entry] += row.people;
        self.truth_scores += i128::from(row.scores[truth]) * i128::from(row.people);
        add_scores(&mut self.posterior_with_truth, row);
        for (class, &score) in row.scores.iter().enumerate() {
            self.calibration.add(class, score, row.people, class == truth);
        }
    }

    /// The matrix is allocated only if there is truth.
    fn allocate_truth(&mut self) {
        if self.confusion.is_empty() {
            let classes = self.classes();
            self.confusion = vec![0; classes * (classes + 1)];
        }
    }

    /// Returns the column of a label in the counts and the confusion matrix; Uncoded is last.
    fn column(&self, label: Label) -> usize {
        if label == UNCODED { self.classes() } else { usize::from(label) }
    }

    /// Adds the sums of other rows.
    pub(super) fn merge(&mut self, other: &Cell) {
        self.rows += other.rows;
        self.people += other.people;
        self.labeled_given += other.labeled_given;
        add_all(&mut self.posterior_labeled, &other.posterior_labeled);
        add_all(&mut self.posterior_uncoded, &other.posterior_uncoded);
        add_all(&mut self.truth_uncoded, &other.truth_uncoded);
        self.agreeing += other.agreeing;
        self.uncoded_tops.merge(&other.uncoded_tops);
        self.considered += other.considered;
        add_all(&mut self.labels, &other.labels);
        add_all(&mut self.posterior_with_truth, &other.posterior_with_truth);
        add_all(&mut self.argmax, &other.argmax);
        self.tied += other.tied;
        self.squares += other.squares;
        self.allowance += other.allowance;
        self.label_scores += other.label_scores;
        self.truth_scores += other.truth_scores;
        if !other.confusion.is_empty() {
            self.allocate_truth();
            add_all(&mut self.confusion, &other.confusion);
            self.calibration.merge(&other.calibration);
        }
        self.replicates.merge(&other.replicates);
    }
}

/// Returns the resolution of a cell's histograms.
fn fineness(extent: Extent) -> u32 {
    match extent {
        Extent::Overall => OVERALL_FINENESS,
        Extent::Group => GROUP_FINENESS,
    }
}

/// Adds the scores of a row, times its people.
#[inline]
fn add_scores(sums: &mut [i128], row: &Row<'_>) {
    let people = i128::from(row.people);
    sums.iter_mut().zip(row.scores).for_each(|(sum, &score)| *sum += i128::from(score) * people);
}

/// Adds one list to another of the same length.
pub(super) fn add_all<T: Copy + std::ops::AddAssign>(sums: &mut [T], others: &[T]) {
    sums.iter_mut().zip(others).for_each(|(sum, &other)| *sum += other);
}
