//! Assembles the figures of one section.

use super::accuracy::{confusion, correct, mean, rate, rates, score_error};
use super::cell::{Cell, add_all};
use super::counts::{Shares, bias, distance_between, others, share_of_scores, split};
use super::intervals::wilson;
use super::options::AuditOptions;
use super::report::{ClassAudit, Rates, Section, UncodedRows};
use super::uncoded::UncodedPolicy;
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
        let (labeled, included) = (cell.labeled_given(), cell.included());
        let (hits, judged) = correct(cell);
        let label_scores: i128 = cell.label_scores.iter().sum();
        let labels: u64 = cell.labels()[..cell.classes()].iter().sum();
        let errors = cell.errors.as_deref();
        Section {
            rows: cell.rows,
            people: cell.people,
            labeled,
            uncoded: cell.people - labeled,
            included,
            with_truth: truth_as_given(cell, self.options).iter().sum(),
            coverage: rate(labeled, cell.people),
            classes: self.class_audits(cell, &shares),
            against_posterior: distance_between(shares.labels.as_ref(), shares.posterior.as_ref()),
            against_truth: distance_between(shares.labels_with_truth.as_ref(), shares.truth.as_ref()),
            against_given: distance_between(shares.labels.as_ref(), shares.given.as_ref()),
            accuracy: rate(hits, judged),
            accuracy_interval: wilson(hits, judged),
            label_scores: GRID.total(label_scores),
            expected_accuracy: mean(label_scores, labels),
            confusion: confusion(cell),
            score_error: score_error(cell, self.options),
            argmax_agreement: errors.and_then(|errors| rate(errors.agreeing, labeled)),
            tied: errors.map(|errors| errors.tied),
            uncoded_rows: uncoded_rows(cell),
            others: self.focus.map(|focus| others(&shares, focus)),
            intervals: cell.replicates.intervals(self.options.bootstrap.as_ref()),
        }
    }

    /// Returns the figures of each class.
    fn class_audits(&self, cell: &Cell, shares: &Shares) -> Vec<ClassAudit> {
        let sums = ClassSums {
            labels: cell.labels(),
            posterior: cell.posterior(self.options.uncoded),
            posterior_labeled: cell.posterior_labeled(),
            posterior_uncoded: cell.posterior_uncoded(),
            truth: cell.has_truth().then(|| cell.truth()),
            truth_as_given: truth_as_given(cell, self.options),
            rates: rates(cell),
        };
        let mut audits = Vec::with_capacity(self.classes.len());
        for (class, name) in self.classes.names().iter().enumerate() {
            audits.push(class_audit(cell, shares, &sums, class, name));
        }
        audits
    }
}

/// Sums of a cell that the figures of all classes need.
struct ClassSums {
    labels: Vec<u64>,
    posterior: Vec<i128>,
    posterior_labeled: Vec<i128>,
    posterior_uncoded: Vec<i128>,
    truth: Option<Vec<u64>>,
    truth_as_given: Vec<u64>,
    rates: Option<Vec<Rates>>,
}

/// Returns the figures of one class.
fn class_audit(cell: &Cell, shares: &Shares, sums: &ClassSums, class: usize, name: &str) -> ClassAudit {
    let at = |shares: &Option<Vec<f64>>| shares.as_ref().map(|shares| shares[class]);
    let (share, share_with_truth) = (at(&shares.labels), at(&shares.labels_with_truth));
    let (posterior, truth) = (at(&shares.posterior), at(&shares.truth));
    let posterior_with_truth = at(&shares.posterior_with_truth);
    let (labeled, uncoded) = (sums.posterior_labeled[class], sums.posterior_uncoded[class]);
    let all_true = sums.truth_as_given[class];
    ClassAudit {
        class: name.to_owned(),
        labels: sums.labels[class],
        share,
        posterior_sum: GRID.total(sums.posterior[class]),
        posterior_share: posterior,
        truth_count: sums.truth.as_ref().map(|truth| truth[class]),
        truth_share: truth,
        share_with_truth,
        posterior_share_with_truth: posterior_with_truth,
        given_share: at(&shares.given),
        against_posterior: bias(share, posterior, shares.included),
        against_truth: bias(share_with_truth, truth, shares.with_truth),
        against_given: bias(share, at(&shares.given), shares.included),
        split: split(share_with_truth, posterior_with_truth, truth, shares.with_truth),
        posterior_coverage: (labeled + uncoded > 0).then(|| labeled as f64 / (labeled + uncoded) as f64),
        truth_coverage: rate(all_true - cell.truth_uncoded()[class], all_true),
        label_scores: GRID.total(cell.label_scores[class]),
        count_sd: GRID.total(sums.posterior[class] - cell.score_squares[class]).max(0.0).sqrt(),
        argmax: cell.errors.as_ref().map(|errors| errors.argmax[class]),
        rates: sums.rates.as_ref().map(|rates| rates[class]),
        calibration: cell.calibration.as_ref().and_then(|histograms| histograms.of(class).calibration()),
    }
}

/// Returns the people by true class, including those that the policy excludes.
fn truth_as_given(cell: &Cell, options: &AuditOptions) -> Vec<u64> {
    let mut truth = cell.truth();
    if options.uncoded == UncodedPolicy::Drop {
        add_all(&mut truth, cell.truth_uncoded());
    }
    truth
}

/// Describes the Uncoded rows, if there are any and their scores were summed.
fn uncoded_rows(cell: &Cell) -> Option<UncodedRows> {
    let people = cell.people - cell.labeled_given();
    let tops = cell.errors.as_ref()?.uncoded_tops.of(0);
    Some(UncodedRows {
        people,
        mean_scores: share_of_scores(&cell.posterior_uncoded(), people)?,
        top_score_quartiles: [tops.quartile(1)?, tops.quartile(2)?, tops.quartile(3)?],
    })
}
