//! Assembles the figures of one section.

use super::accuracy::{accuracy, confusion, expected_accuracy, rate, rates, score_error};
use super::cell::Cell;
use super::counts::{Shares, bias, distance_between, others, posterior, share_of_scores, split, truth_counts};
use super::options::AuditOptions;
use super::report::{ClassAudit, Section, UncodedRows};
use crate::kernel::GRID;
use crate::scores::Classes;

/// Values shared by all sections of an audit.
pub(super) struct SectionBuilder<'a> {
    /// The classes.
    pub(super) classes: &'a Classes,
    /// The options.
    pub(super) options: &'a AuditOptions,
    /// The focus class.
    pub(super) focus: Option<usize>,
}

impl SectionBuilder<'_> {
    /// Returns all figures of a cell, compared with its given reference.
    pub(super) fn section(&self, cell: &Cell, given: Option<&[f64]>) -> Section {
        let shares = Shares::of(cell, self.options.uncoded, given);
        Section {
            rows: cell.rows,
            people: cell.people,
            labeled: cell.labeled_given,
            uncoded: cell.people - cell.labeled_given,
            with_truth: truth_as_given(cell, self.options).iter().sum(),
            coverage: rate(cell.labeled_given, cell.people),
            classes: self.class_audits(cell, &shares),
            against_posterior: distance_between(shares.labels.as_ref(), shares.posterior.as_ref()),
            against_truth: distance_between(shares.labels_with_truth.as_ref(), shares.truth.as_ref()),
            against_given: distance_between(shares.labels.as_ref(), shares.given.as_ref()),
            accuracy: accuracy(cell),
            expected_accuracy: expected_accuracy(cell),
            confusion: confusion(cell),
            score_error: score_error(cell, self.options.uncoded),
            argmax_agreement: rate(cell.agreeing, cell.labeled_given),
            tied: cell.tied,
            uncoded_rows: uncoded_rows(cell),
            others: self.focus.map(|focus| others(&shares, focus)),
            intervals: cell.replicates.intervals(self.options.bootstrap.as_ref()),
        }
    }

    /// Returns the figures of each class.
    fn class_audits(&self, cell: &Cell, shares: &Shares) -> Vec<ClassAudit> {
        let posterior = posterior(cell, self.options.uncoded);
        let truth = (!cell.confusion.is_empty()).then(|| truth_counts(cell));
        let rates = rates(cell);
        let truth_as_given = truth_as_given(cell, self.options);
        let of_class = |(class, name): (usize, &String)| {
            let at = |shares: &Option<Vec<f64>>| shares.as_ref().map(|shares| shares[class]);
            let (share, share_with_truth) = (at(&shares.labels), at(&shares.labels_with_truth));
            let (labeled, uncoded) = (cell.posterior_labeled[class], cell.posterior_uncoded[class]);
            let all_true = truth_as_given[class];
            ClassAudit {
                class: name.clone(),
                labels: cell.labels[class],
                share,
                posterior_sum: GRID.total(posterior[class]),
                posterior_share: at(&shares.posterior),
                truth_count: truth.as_ref().map(|truth| truth[class]),
                truth_share: at(&shares.truth),
                share_with_truth,
                posterior_share_with_truth: at(&shares.posterior_with_truth),
                given_share: at(&shares.given),
                against_posterior: bias(share, at(&shares.posterior)),
                against_truth: bias(share_with_truth, at(&shares.truth)),
                against_given: bias(share, at(&shares.given)),
                split: split(share_with_truth, at(&shares.posterior_with_truth), at(&shares.truth)),
                posterior_coverage: (labeled + uncoded > 0).then(|| labeled as f64 / (labeled + uncoded) as f64),
                truth_coverage: rate(all_true - cell.truth_uncoded[class], all_true),
                argmax: cell.argmax[class],
                rates: rates.as_ref().map(|rates| rates[class]),
                calibration: cell.calibration.of(class).calibration(),
            }
        };
        self.classes.names().iter().enumerate().map(of_class).collect()
    }
}

/// Returns the people by true class, including those that the policy excludes.
fn truth_as_given(cell: &Cell, options: &AuditOptions) -> Vec<u64> {
    let mut truth = truth_counts(cell);
    if options.uncoded == super::UncodedPolicy::Drop {
        super::cell::add_all(&mut truth, &cell.truth_uncoded);
    }
    truth
}

/// Describes the Uncoded rows, if any.
fn uncoded_rows(cell: &Cell) -> Option<UncodedRows> {
    let people = cell.people - cell.labeled_given;
    let quartile = |quarters| cell.uncoded_tops.of(0).quartile(quarters);
    Some(UncodedRows {
        people,
        mean_scores: share_of_scores(&cell.posterior_uncoded, people)?,
        top_score_quartiles: [quartile(1)?, quartile(2)?, quartile(3)?],
    })
}
