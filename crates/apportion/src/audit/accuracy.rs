//! Accuracy: labels against the truth, and the error implied by the scores.

use super::cell::Cell;
use super::counts::{labels_with_truth, posterior, truth_counts};
use super::options::UncodedPolicy;
use super::report::{ArgmaxBias, Confusion, Rates, ScoreError};
use crate::kernel::{GRID, Grid};

/// Returns a share; `None` if the whole is zero.
pub(super) fn rate(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the share of correct labels among labeled people with known truth.
pub(super) fn accuracy(cell: &Cell) -> Option<f64> {
    let hits = (0..cell.classes()).map(|class| hits(cell, class)).sum();
    rate(hits, labels_with_truth(cell).iter().sum())
}

/// Returns the mean score of the label among labeled people.
pub(super) fn expected_accuracy(cell: &Cell) -> Option<f64> {
    mean(cell.label_scores, cell.labels[..cell.classes()].iter().sum())
}

/// Returns the confusion matrix, if truth is known.
pub(super) fn confusion(cell: &Cell) -> Option<Confusion> {
    let rows = cell.confusion.chunks_exact(cell.classes() + 1).map(<[u64]>::to_vec);
    (!cell.confusion.is_empty()).then(|| Confusion { people: rows.collect() })
}

/// Returns the rates of each class, if truth is known.
pub(super) fn rates(cell: &Cell) -> Option<Vec<Rates>> {
    if cell.confusion.is_empty() {
        return None;
    }
    let (labels, truth) = (labels_with_truth(cell), truth_counts(cell));
    let people: u64 = truth.iter().sum();
    let of_class = |class: usize| {
        let hits = hits(cell, class);
        Rates {
            precision: rate(hits, labels[class]),
            recall: rate(hits, truth[class]),
            false_positive: rate(labels[class] - hits, people - truth[class]),
            false_negative: rate(truth[class] - hits, truth[class]),
        }
    };
    Some((0..cell.classes()).map(of_class).collect())
}

/// Returns the error implied by the scores, and the bias of argmax that it bounds.
pub(super) fn score_error(cell: &Cell, policy: UncodedPolicy) -> ScoreError {
    let with_truth: u64 = truth_counts(cell).iter().sum();
    ScoreError {
        implied_mae: mean(units(cell.considered) - cell.squares, cell.considered),
        observed_mae: mean(units(with_truth) - cell.truth_scores, with_truth),
        argmax: argmax_bias(cell, policy),
    }
}

/// Returns the largest bias of argmax against the posterior. Both sides of the bound have the same denominator, so
/// they are compared as integers.
fn argmax_bias(cell: &Cell, policy: UncodedPolicy) -> Option<ArgmaxBias> {
    let surplus = cell.argmax.iter().zip(posterior(cell, policy)).map(|(&count, posterior)| units(count) - posterior);
    let first_largest = |best: (usize, i128), next: (usize, i128)| if next.1 > best.1 { next } else { best };
    let (class, largest) = surplus.enumerate().reduce(first_largest)?;
    Some(ArgmaxBias {
        class,
        bias: mean(largest, cell.considered)?,
        allowance: mean(cell.allowance, cell.considered)?,
        bound_holds: largest <= units(cell.considered) - cell.squares + cell.allowance,
    })
}

/// Returns the number of true positives of a class.
fn hits(cell: &Cell, class: usize) -> u64 {
    cell.confusion.get(class * (cell.classes() + 1) + class).copied().unwrap_or(0)
}

/// Returns people as grid units.
fn units(people: u64) -> i128 {
    i128::from(people) * i128::from(Grid::UNIT)
}

/// Returns a sum of grid units divided by people.
fn mean(units: i128, people: u64) -> Option<f64> {
    (people > 0).then(|| GRID.total(units) / people as f64)
}
