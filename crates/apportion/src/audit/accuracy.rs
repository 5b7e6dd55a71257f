//! Accuracy: labels against the truth, and the error implied by the scores.

use super::cell::{Cell, ErrorSums};
use super::options::AuditOptions;
use super::report::{ArgmaxBias, Confusion, Rates, ScoreError};
use crate::kernel::{GRID, Grid};

/// Returns a share; `None` if the whole is zero.
pub(super) fn rate(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// Returns the number of correct labels, and of labels whose truth is known.
pub(super) fn correct(cell: &Cell) -> (u64, u64) {
    let correct = (0..cell.classes()).map(|class| cell.hits(class)).sum();
    (correct, cell.labels_with_truth().iter().sum())
}

/// Returns the confusion matrix, if truth is known.
pub(super) fn confusion(cell: &Cell) -> Option<Confusion> {
    let rows = || cell.confusion_rows().map(<[u64]>::to_vec).collect();
    cell.has_truth().then(|| Confusion { people: rows() })
}

/// Returns the rates of each class, if truth is known.
pub(super) fn rates(cell: &Cell) -> Option<Vec<Rates>> {
    if !cell.has_truth() {
        return None;
    }
    let (labels, truth) = (cell.labels_with_truth(), cell.truth());
    let people: u64 = truth.iter().sum();
    let of_class = |class: usize| {
        let hits = cell.hits(class);
        Rates {
            precision: rate(hits, labels[class]),
            recall: rate(hits, truth[class]),
            false_positive: rate(labels[class] - hits, people - truth[class]),
            false_negative: rate(truth[class] - hits, truth[class]),
        }
    };
    Some((0..cell.classes()).map(of_class).collect())
}

/// Returns the error implied by the scores, and the bias of argmax that it bounds, if they were summed.
pub(super) fn score_error(cell: &Cell, options: &AuditOptions) -> ScoreError {
    let Some(errors) = &cell.errors else {
        return ScoreError { implied_mae: None, observed_mae: None, argmax: None };
    };
    let (included, with_truth) = (cell.included(), cell.truth().iter().sum());
    ScoreError {
        implied_mae: mean(units(included) - errors.squares, included),
        observed_mae: mean(units(with_truth) - errors.truth_scores, with_truth),
        argmax: argmax_bias(errors, &cell.posterior(options.uncoded), included),
    }
}

/// Returns the largest bias of argmax against the posterior. Both sides of the bound have the same denominator, so
/// they are compared as integers.
fn argmax_bias(errors: &ErrorSums, posterior: &[i128], included: u64) -> Option<ArgmaxBias> {
    let surplus = errors.argmax.iter().zip(posterior).map(|(&count, posterior)| units(count) - posterior);
    let first_largest = |best: (usize, i128), next: (usize, i128)| if next.1 > best.1 { next } else { best };
    let (class, largest) = surplus.enumerate().reduce(first_largest)?;
    Some(ArgmaxBias {
        class,
        bias: mean(largest, included)?,
        allowance: mean(errors.allowance, included)?,
        bound_holds: largest <= units(included) - errors.squares + errors.allowance,
    })
}

/// Returns people as grid units.
fn units(people: u64) -> i128 {
    i128::from(people) * i128::from(Grid::UNIT)
}

/// Returns a sum of grid units divided by people.
pub(super) fn mean(units: i128, people: u64) -> Option<f64> {
    (people > 0).then(|| GRID.total(units) / people as f64)
}
