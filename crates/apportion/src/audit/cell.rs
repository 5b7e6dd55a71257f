//! The integer sums of one section, for all rows or one group, which can be merged in any order.

use super::calibration::{GROUP_FINENESS, Histograms, OVERALL_FINENESS, times};
use super::intervals::Replicates;
use super::options::Measures;
use super::score_sums::ScoreSums;
use super::uncoded::UncodedPolicy;
use crate::kernel::{GRID, Grid, LabelTotals};
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
    /// The label after the policy for Uncoded rows; `None` if the policy excludes the row.
    pub(super) label: Option<Label>,
    /// The true class.
    pub(super) truth: Label,
    /// Quantities that depend on the scores only, if a cell needs them.
    pub(super) shape: Option<Shape>,
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
    classes: usize,
    /// Rows.
    pub(super) rows: u64,
    /// People, as given.
    pub(super) people: u64,
    /// People Uncoded as given, by true class (last: unknown truth).
    uncoded: Vec<u64>,
    /// People of unknown truth by label (last: Uncoded).
    labels_without_truth: Vec<u64>,
    /// People by true class and label (last: Uncoded), row by row; empty without truth.
    confusion: Vec<u64>,
    /// Scores by class of the rows as given: labeled or Uncoded, each with known and with unknown truth.
    labeled_scores: ScoresByTruth,
    uncoded_scores: ScoresByTruth,
    /// Σ of the labels' scores, by label.
    pub(super) label_scores: Vec<i128>,
    /// Σ q² of each class, rounded as in [`Grid::square`].
    pub(super) score_squares: Vec<i128>,
    /// Sums about the scores themselves, if requested.
    pub(super) errors: Option<Box<ErrorSums>>,
    /// Scores by class against truth, if requested.
    pub(super) calibration: Option<Histograms>,
    /// Sums of the bootstrap.
    pub(super) replicates: Replicates,
}

/// Sums of scores over people with known and with unknown truth.
#[derive(Clone, Debug, Default)]
struct ScoresByTruth {
    known: ScoreSums,
    unknown: ScoreSums,
}

/// Sums about the scores: their error, argmax, ties, and the top scores of Uncoded rows.
#[derive(Clone, Debug)]
pub(super) struct ErrorSums {
    /// People by argmax class.
    pub(super) argmax: Vec<u64>,
    /// People whose given label is argmax.
    pub(super) agreeing: u64,
    /// People with a tied maximum.
    pub(super) tied: u64,
    /// Σ of Σ q².
    pub(super) squares: i128,
    /// Σ of the allowances for Theorem 1.
    pub(super) allowance: i128,
    /// Σ of the true classes' scores.
    pub(super) truth_scores: i128,
    /// The largest scores of rows Uncoded as given.
    pub(super) uncoded_tops: Histograms,
}

impl Cell {
    /// Creates empty sums with the requested measures.
    pub(super) fn new(classes: usize, measures: Measures, replicates: usize, extent: Extent) -> Cell {
        Cell {
            classes,
            rows: 0,
            people: 0,
            uncoded: vec![0; classes + 1],
            labels_without_truth: vec![0; classes + 1],
            confusion: Vec::new(),
            labeled_scores: ScoresByTruth::default(),
            uncoded_scores: ScoresByTruth::default(),
            label_scores: vec![0; classes],
            score_squares: vec![0; classes],
            errors: measures.score_error.then(|| Box::new(ErrorSums::new(classes, extent))),
            calibration: measures.calibration.then(|| Histograms::new(classes, fineness(extent))),
            replicates: Replicates::new(classes, replicates),
        }
    }

    /// Adds a row.
    #[inline]
    pub(super) fn add(&mut self, row: &Row<'_>) {
        self.rows += u64::from(row.is_new);
        if row.people == 0 {
            return;
        }
        self.people += row.people;
        if row.given == UNCODED {
            let truth = self.column(row.truth);
            self.uncoded[truth] += row.people;
        }
        let scores = if row.given == UNCODED { &mut self.uncoded_scores } else { &mut self.labeled_scores };
        let sums = if row.truth == UNCODED { &mut scores.unknown } else { &mut scores.known };
        sums.add(row.scores, row.people);
        if let (Some(errors), Some(shape)) = (&mut self.errors, &row.shape) {
            errors.add(row, shape);
        }
        if let Some(label) = row.label {
            self.add_included(row, label);
        }
    }

    /// Adds a row that the policy includes.
    #[inline]
    fn add_included(&mut self, row: &Row<'_>, label: Label) {
        let column = self.column(label);
        for (sum, &score) in self.score_squares.iter_mut().zip(row.scores) {
            *sum += times(GRID.square(score), row.people);
        }
        if label != UNCODED {
            self.label_scores[column] += i128::from(row.scores[column]) * i128::from(row.people);
        }
        if row.truth == UNCODED {
            self.labels_without_truth[column] += row.people;
        } else {
            self.allocate_truth();
            let truth = usize::from(row.truth);
            self.confusion[truth * (self.classes + 1) + column] += row.people;
            if let Some(calibration) = &mut self.calibration {
                for (class, &score) in row.scores.iter().enumerate() {
                    calibration.add(class, score, row.people, class == truth);
                }
            }
        }
        self.replicates.add(row, label);
    }

    /// Adds rows that represent one person each, have a label and unknown truth, and for which nothing else is summed.
    pub(super) fn add_totals(&mut self, totals: &LabelTotals) {
        let rows = totals.counts.iter().sum::<u64>();
        self.rows += rows;
        self.people += rows;
        add_all(&mut self.labels_without_truth, &totals.counts);
        add_all(&mut self.label_scores, &totals.label_scores);
        add_all(&mut self.score_squares, &totals.squares);
        self.labeled_scores.unknown.add_sums(&totals.scores);
    }

    /// Allocates the matrix, which exists only if there is truth.
    #[inline]
    fn allocate_truth(&mut self) {
        if self.confusion.is_empty() {
            self.confusion = vec![0; self.classes * (self.classes + 1)];
        }
    }

    /// Returns the position of a label or a true class; Uncoded is last.
    #[inline]
    fn column(&self, label: Label) -> usize {
        if label == UNCODED { self.classes } else { usize::from(label) }
    }

    /// Adds the sums of other rows.
    pub(super) fn merge(&mut self, other: &Cell) {
        self.rows += other.rows;
        self.people += other.people;
        add_all(&mut self.uncoded, &other.uncoded);
        add_all(&mut self.labels_without_truth, &other.labels_without_truth);
        self.labeled_scores.merge(&other.labeled_scores);
        self.uncoded_scores.merge(&other.uncoded_scores);
        add_all(&mut self.label_scores, &other.label_scores);
        add_all(&mut self.score_squares, &other.score_squares);
        if !other.confusion.is_empty() {
            self.allocate_truth();
            add_all(&mut self.confusion, &other.confusion);
        }
        if let (Some(errors), Some(others)) = (&mut self.errors, &other.errors) {
            errors.merge(others);
        }
        if let (Some(calibration), Some(others)) = (&mut self.calibration, &other.calibration) {
            calibration.merge(others);
        }
        self.replicates.merge(&other.replicates);
    }

    /// Returns the number of classes.
    pub(super) fn classes(&self) -> usize {
        self.classes
    }

    /// Returns the people who are labeled as given.
    pub(super) fn labeled_given(&self) -> u64 {
        self.people - self.uncoded.iter().sum::<u64>()
    }

    /// Returns the people by label, then Uncoded.
    pub(super) fn labels(&self) -> Vec<u64> {
        let mut labels = self.labels_without_truth.clone();
        self.confusion_rows().for_each(|row| add_all(&mut labels, row));
        labels
    }

    /// Returns the people that the policy includes.
    pub(super) fn included(&self) -> u64 {
        self.labels_without_truth.iter().sum::<u64>() + self.confusion.iter().sum::<u64>()
    }

    /// Returns the people by label among those with known truth.
    pub(super) fn labels_with_truth(&self) -> Vec<u64> {
        let mut labels = vec![0; self.classes];
        self.confusion_rows().for_each(|row| add_all(&mut labels, row));
        labels
    }

    /// Returns whether the truth of anyone is known.
    pub(super) fn has_truth(&self) -> bool {
        !self.confusion.is_empty()
    }

    /// Returns the confusion matrix: one row per true class, with one column per label, then Uncoded. Empty without
    /// truth.
    pub(super) fn confusion_rows(&self) -> impl Iterator<Item = &[u64]> {
        self.confusion.chunks_exact(self.classes + 1)
    }

    /// Returns the people by true class.
    pub(super) fn truth(&self) -> Vec<u64> {
        let mut counts: Vec<u64> = self.confusion_rows().map(|row| row.iter().sum()).collect();
        counts.resize(self.classes, 0);
        counts
    }

    /// Returns the people by true class who are Uncoded as given.
    pub(super) fn truth_uncoded(&self) -> &[u64] {
        &self.uncoded[..self.classes]
    }

    /// Returns the number of true positives of a class.
    pub(super) fn hits(&self, class: usize) -> u64 {
        self.confusion.get(class * (self.classes + 1) + class).copied().unwrap_or(0)
    }

    /// Returns the sum of scores of each class over labeled rows, as given.
    pub(super) fn posterior_labeled(&self) -> Vec<i128> {
        self.sum_scores(&[&self.labeled_scores.known, &self.labeled_scores.unknown])
    }

    /// Returns the sum of scores of each class over rows Uncoded as given.
    pub(super) fn posterior_uncoded(&self) -> Vec<i128> {
        self.sum_scores(&[&self.uncoded_scores.known, &self.uncoded_scores.unknown])
    }

    /// Returns the sum of scores of each class over the rows that the policy includes.
    pub(super) fn posterior(&self, policy: UncodedPolicy) -> Vec<i128> {
        let mut sums = self.posterior_labeled();
        if policy != UncodedPolicy::Drop {
            add_all(&mut sums, &self.posterior_uncoded());
        }
        sums
    }

    /// Returns the same over rows with known truth.
    pub(super) fn posterior_with_truth(&self, policy: UncodedPolicy) -> Vec<i128> {
        if policy == UncodedPolicy::Drop {
            return self.sum_scores(&[&self.labeled_scores.known]);
        }
        self.sum_scores(&[&self.labeled_scores.known, &self.uncoded_scores.known])
    }

    fn sum_scores(&self, parts: &[&ScoreSums]) -> Vec<i128> {
        let mut sums = vec![0; self.classes];
        parts.iter().for_each(|part| part.add_to(&mut sums));
        sums
    }
}

impl ScoresByTruth {
    fn merge(&mut self, other: &ScoresByTruth) {
        self.known.merge(&other.known);
        self.unknown.merge(&other.unknown);
    }
}

impl ErrorSums {
    fn new(classes: usize, extent: Extent) -> ErrorSums {
        ErrorSums {
            argmax: vec![0; classes],
            agreeing: 0,
            tied: 0,
            squares: 0,
            allowance: 0,
            truth_scores: 0,
            uncoded_tops: Histograms::new(1, fineness(extent)),
        }
    }

    fn add(&mut self, row: &Row<'_>, shape: &Shape) {
        if row.given == UNCODED {
            self.uncoded_tops.add(0, shape.top, row.people, false);
        } else if row.given == shape.argmax {
            self.agreeing += row.people;
        }
        if row.label.is_none() {
            return;
        }
        let people = i128::from(row.people);
        self.argmax[usize::from(shape.argmax)] += row.people;
        self.tied += if shape.tied { row.people } else { 0 };
        self.squares += shape.squares * people;
        self.allowance += shape.allowance * people;
        if row.truth != UNCODED {
            self.truth_scores += i128::from(row.scores[usize::from(row.truth)]) * people;
        }
    }

    fn merge(&mut self, other: &ErrorSums) {
        add_all(&mut self.argmax, &other.argmax);
        self.agreeing += other.agreeing;
        self.tied += other.tied;
        self.squares += other.squares;
        self.allowance += other.allowance;
        self.truth_scores += other.truth_scores;
        self.uncoded_tops.merge(&other.uncoded_tops);
    }
}

/// Returns the resolution of a cell's histograms.
fn fineness(extent: Extent) -> u32 {
    match extent {
        Extent::Overall => OVERALL_FINENESS,
        Extent::Group => GROUP_FINENESS,
    }
}

/// Adds one list to another of the same length.
pub(super) fn add_all<T: Copy + std::ops::AddAssign>(sums: &mut [T], others: &[T]) {
    sums.iter_mut().zip(others).for_each(|(sum, &other)| *sum += other);
}
