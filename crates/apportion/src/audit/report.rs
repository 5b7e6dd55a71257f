//! The result of an audit: plain data. Undefined figures (such as a share among no people) are `None`, never NaN.

use super::intervals::NORMAL;
use super::options::AuditOptions;
use crate::scores::Classes;

/// The audit of labels, overall and by group. [`audit`](crate::audit) describes the rows that each figure includes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Audit {
    /// The classes, in order.
    pub classes: Classes,
    /// The options, with normalized references.
    pub options: AuditOptions,
    /// The focus class; `None` without an option, a reference and rows.
    pub focus: Option<usize>,
    /// All rows.
    pub overall: Section,
    /// The groups with rows, by code.
    pub groups: Vec<GroupSection>,
    /// The number of groups in which the other classes are undercounted; `None` if no group has labels.
    pub undercounted: Option<Undercounted>,
    /// The mean fidelity of the labels to the posterior within groups, weighted by people. Labels with correct overall
    /// counts can be far off in each group. `None` if no group has labels.
    pub fidelity_in_groups: Option<f64>,
}

/// The number of groups in which the classes other than the focus class together have fewer labels than posterior.
///
/// A group is undercounted if the bias is below −K·2^-41; smaller deviations may be due to rounding to the grid.
/// Labels are whole people but the posterior is not, so even an exact match by group leaves about half of the groups
/// short by a fraction of a person; groups that are short by whole people are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct Undercounted {
    /// Groups with an undercount.
    pub groups: usize,
    /// Groups short by at least one person.
    pub by_a_person_or_more: usize,
    /// Groups with labels.
    pub of: usize,
}

/// The audit of one group.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct GroupSection {
    /// The code of the group.
    pub code: usize,
    /// The name of the group.
    pub name: String,
    /// Its figures.
    pub section: Section,
}

/// The figures of a set of rows.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Section {
    /// Number of rows, including rows without people.
    pub rows: u64,
    /// Number of people that the rows represent.
    pub people: u64,
    /// Number of people with a label, as given.
    pub labeled: u64,
    /// Number of people that the given labels leave Uncoded; together with `labeled`, all people.
    pub uncoded: u64,
    /// Number of people that the policy for Uncoded rows includes.
    pub included: u64,
    /// Number of people with known truth.
    pub with_truth: u64,
    /// Labeled people as a share of all people, as given.
    pub coverage: Option<f64>,
    /// The figures of each class, in order.
    pub classes: Vec<ClassAudit>,
    /// Distance of the labels' shares from the posterior.
    pub against_posterior: Option<Distance>,
    /// Distance of the labels' shares from the truth, over rows with known truth.
    pub against_truth: Option<Distance>,
    /// Distance of the labels' shares from the given reference.
    pub against_given: Option<Distance>,
    /// Share of correct labels among labeled people with known truth.
    pub accuracy: Option<f64>,
    /// Wilson's 95% interval of the accuracy, assuming independent people.
    pub accuracy_interval: Option<Interval>,
    /// Sum of the labels' scores.
    pub label_scores: f64,
    /// Mean score of the label among labeled people.
    pub expected_accuracy: Option<f64>,
    /// Confusion matrix, if truth is known.
    pub confusion: Option<Confusion>,
    /// Uncertainty of the scores, and its effect on argmax.
    pub score_error: ScoreError,
    /// Share of labeled people whose given label is the argmax class.
    pub argmax_agreement: Option<f64>,
    /// Number of people with several classes of largest score, if score errors were summed.
    pub tied: Option<u64>,
    /// Description of the Uncoded rows, if any.
    pub uncoded_rows: Option<UncodedRows>,
    /// All classes except the focus class, together.
    pub others: Option<Others>,
    /// Bootstrap intervals, if requested.
    pub intervals: Option<Intervals>,
}

impl Section {
    /// Returns the number of people of each class.
    pub fn counts(&self) -> Vec<u64> {
        self.classes.iter().map(|class| class.labels).collect()
    }

    /// Returns the sum of the scores of each class.
    pub fn posterior_sums(&self) -> Vec<f64> {
        self.classes.iter().map(|class| class.posterior_sum).collect()
    }

    /// Returns −Σ |share of the labels − share of the scores|.
    pub fn fidelity_to_posterior(&self) -> Option<f64> {
        self.against_posterior.map(|distance| distance.fidelity)
    }

    /// Returns −Σ |share of the labels − share of the truth|, over rows with known truth.
    pub fn fidelity_to_truth(&self) -> Option<f64> {
        self.against_truth.map(|distance| distance.fidelity)
    }

    /// Returns the number of labels whose truth is known.
    pub fn labeled_with_truth(&self) -> u64 {
        let mut people = 0;
        for row in self.confusion.iter().flat_map(|confusion| &confusion.people) {
            people += row[..self.classes.len()].iter().sum::<u64>();
        }
        people
    }
}

/// The figures of one class.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ClassAudit {
    /// Name of the class.
    pub class: String,
    /// Number of people with this label.
    pub labels: u64,
    /// Their share of labeled people.
    pub share: Option<f64>,
    /// Sum of the scores.
    pub posterior_sum: f64,
    /// Mean of the scores over all rows.
    pub posterior_share: Option<f64>,
    /// Number of people of this true class, if any truth is known.
    pub truth_count: Option<u64>,
    /// Their share of people with known truth.
    pub truth_share: Option<f64>,
    /// The label's share among labeled people with known truth, for comparison with the truth.
    pub share_with_truth: Option<f64>,
    /// Mean of the scores over rows with known truth.
    pub posterior_share_with_truth: Option<f64>,
    /// The share in the given reference.
    pub given_share: Option<f64>,
    /// Share minus posterior share.
    pub against_posterior: Option<Bias>,
    /// Share minus true share, over rows with known truth.
    pub against_truth: Option<Bias>,
    /// Share minus given share.
    pub against_given: Option<Bias>,
    /// Decomposition of the bias against the truth.
    pub split: Option<Split>,
    /// The part of this class's posterior sum that belongs to labeled rows.
    pub posterior_coverage: Option<f64>,
    /// The share of this class's true members who are labeled.
    pub truth_coverage: Option<f64>,
    /// Sum of the scores of people with this label.
    pub label_scores: f64,
    /// Standard deviation of the number of people of this class, given the scores: √Σ q(1 − q). It assumes calibrated
    /// scores and independent people. Scores are rounded to 2^-20.
    pub count_sd: f64,
    /// Number of people whose argmax class this is, if score errors were summed.
    pub argmax: Option<u64>,
    /// Precision, recall and error rates, if truth is known.
    pub rates: Option<Rates>,
    /// Calibration of the scores, if truth is known.
    pub calibration: Option<Calibration>,
}

impl ClassAudit {
    /// Returns the mean score of this class among people with this label: the share of these labels that is expected to
    /// be correct. `None` without such labels.
    pub fn expected_precision(&self) -> Option<f64> {
        (self.labels > 0).then(|| self.label_scores / self.labels as f64)
    }

    /// Returns the share of the people of this class that is expected to have its label: the scores of people with this
    /// label, divided by the scores of all people. `None` if the scores sum to zero.
    pub fn expected_recall(&self) -> Option<f64> {
        (self.posterior_sum > 0.0).then(|| self.label_scores / self.posterior_sum)
    }

    /// Returns half the width of the 95% interval of the number of people of this class, given the scores.
    pub fn count_margin(&self) -> f64 {
        NORMAL * self.count_sd
    }
}

/// The difference between a share and its reference.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Bias {
    /// Share minus reference: 0.01 is one point.
    pub difference: f64,
    /// The difference times the number of people that the reference describes.
    pub people: f64,
    /// The difference in percent of the reference; `None` if the reference is zero.
    pub percent: Option<f64>,
}

/// Decomposition of the bias of a label's share against the truth. The two parts sum to the bias; percentages are of the
/// true share.
///
/// These are shares among labeled rows: if rows are Uncoded, a class that keeps more of its rows than others gains,
/// even if it has fewer labels than members.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Split {
    /// Due to the scores: posterior − truth.
    pub miscalibration: Bias,
    /// Due to the labels: labels − posterior. Labels matched to the truth undo the miscalibration here.
    pub discretization: Bias,
}

/// The distance between the labels' shares m and the shares p of a reference.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Distance {
    /// −Σ|m − p|, at most zero.
    pub fidelity: f64,
    /// Σ|m − p|.
    pub l1: f64,
    /// The square root of Σ(m − p)².
    pub l2: f64,
    /// Σ m·log(m/p), natural logarithm, 0·log 0 = 0; `None` if infinite (p = 0 and m > 0).
    pub kl: Option<f64>,
}

/// The confusion matrix, in people.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Confusion {
    /// One row per true class, with one column per label in the order of the classes, then Uncoded.
    pub people: Vec<Vec<u64>>,
}

/// Error rates of one class among people with known truth. An Uncoded person counts as not having the label, so a rule
/// cannot gain recall by skipping hard cases.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct Rates {
    /// True positives among people with the label.
    pub precision: Option<f64>,
    /// True positives among people of the class.
    pub recall: Option<f64>,
    /// False positives among people not of the class.
    pub false_positive: Option<f64>,
    /// False negatives among people of the class: one minus recall.
    pub false_negative: Option<f64>,
}

/// Uncertainty of the scores (the paper's mean absolute error), and its effect on argmax.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ScoreError {
    /// mean(1 − Σ q²): the error implied by the scores.
    pub implied_mae: Option<f64>,
    /// mean(1 − q of the true class), over rows with known truth.
    pub observed_mae: Option<f64>,
    /// The largest bias of argmax, and its bound.
    pub argmax: Option<ArgmaxBias>,
}

/// Theorem 1 of the paper: argmax's bias against the posterior is at most the implied error.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ArgmaxBias {
    /// The class that argmax overcounts most; the first of equals.
    pub class: usize,
    /// Its share under argmax minus its posterior share.
    pub bias: f64,
    /// The tolerance of the bound due to rows that sum to more than one; zero up to rounding if rows sum to one.
    pub allowance: f64,
    /// Whether bias ≤ implied error + allowance, in grid units. This always holds.
    pub bound_holds: bool,
}

/// Description of rows that the given labels leave Uncoded.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct UncodedRows {
    /// Number of people.
    pub people: u64,
    /// Their mean scores, class by class.
    pub mean_scores: Vec<f64>,
    /// Quartiles of the largest score: the lowest values that a quarter, half and three quarters of the people do
    /// not exceed. They come from a histogram of 20,480 buckets (160 in groups): each is the mean of its bucket.
    pub top_score_quartiles: [f64; 3],
}

/// All classes except the focus class, together: voters of color in the paper, if the focus class is white.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Others {
    /// Their share of labeled people.
    pub share: Option<f64>,
    /// Their posterior share.
    pub posterior_share: Option<f64>,
    /// Their true share.
    pub truth_share: Option<f64>,
    /// Share minus posterior share.
    pub against_posterior: Option<Bias>,
    /// Share minus true share, over rows with known truth.
    pub against_truth: Option<Bias>,
}

/// Calibration of the scores of a class.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct Calibration {
    /// Ten bins of equal width; a score on a boundary is in the upper bin, 1 in the last.
    pub equal_width: Binning,
    /// Up to ten bins of nearly equal numbers of people, made of histogram buckets (20,480, or 160 in groups). A
    /// bucket belongs to the bin of its middle person; empty bins are omitted.
    pub equal_count: Binning,
    /// Kuiper's statistic: the range of F divided by the number of people, where F(s) sums truth − score over
    /// people with scores up to s and F = 0 below all scores. F is evaluated at the ends of the histogram
    /// buckets, so it is exact if all scores in a bucket are equal, and otherwise too small by at most twice the
    /// share of people in the fullest bucket.
    pub kuiper: f64,
    /// Correlation of the scores of the class with the truth (1 for people of the class, 0 for others): 0 if the scores say
    /// nothing about the class, 1 if they identify it. `None` if all scores are equal, or everyone or no one has the class.
    pub correlation: Option<f64>,
}

/// Bins, and their calibration error.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct Binning {
    /// The bins, from low scores to high.
    pub bins: Vec<Bin>,
    /// Expected calibration error: the mean over people of |mean score − observed| of their bin.
    pub expected_error: f64,
}

/// People whose score of a class lies in one range.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct Bin {
    /// Lower end of the bin.
    pub from: f64,
    /// Upper end of the bin.
    pub to: f64,
    /// Number of people.
    pub people: u64,
    /// Their mean score.
    pub mean_score: Option<f64>,
    /// The share of them who are of the true class.
    pub observed: Option<f64>,
    /// Wilson's 95% interval of the observed share, assuming independent people.
    pub interval: Option<Interval>,
}

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Percentile intervals of the bootstrap. Replicates in which a figure is undefined are omitted.
///
/// Fidelity is never positive and is lower in most replicates than in the data, so its interval may lie below it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct Intervals {
    /// Each class's share of the labels.
    pub share: Vec<Option<Interval>>,
    /// Each class's share minus its posterior share.
    pub bias_against_posterior: Vec<Option<Interval>>,
    /// Each class's share minus its true share.
    pub bias_against_truth: Vec<Option<Interval>>,
    /// Accuracy.
    pub accuracy: Option<Interval>,
    /// Expected accuracy.
    pub expected_accuracy: Option<Interval>,
    /// Fidelity to the posterior.
    pub fidelity_to_posterior: Option<Interval>,
    /// Fidelity to the truth.
    pub fidelity_to_truth: Option<Interval>,
}
