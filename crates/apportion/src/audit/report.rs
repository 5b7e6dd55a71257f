//! The result of an audit: plain data. A figure that is not defined (a share of nobody) is `None`, never NaN.

use super::options::AuditOptions;
use crate::scores::Classes;

/// What labels do, overall and in each group. [`audit`](crate::audit) says over which rows each figure is.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Audit {
    /// The classes, in their order.
    pub classes: Classes,
    /// What was asked, with references scaled to sum to one.
    pub options: AuditOptions,
    /// The focus class that was used; none where there was neither an option, nor a reference, nor a row.
    pub focus: Option<usize>,
    /// All rows.
    pub overall: Section,
    /// The groups that have rows, by code.
    pub groups: Vec<GroupSection>,
    /// In how many groups the others are undercounted; none where no group has labels.
    pub undercounted: Option<Undercounted>,
}

/// In how many groups the classes other than the focus class have, together, fewer labels than posterior.
///
/// A group counts as undercounted where the bias is below −K·2^-41: nearer to zero it may be the rounding of the
/// scores to the grid. Labels are whole people and the posterior is not, so that even an exact match by group leaves
/// about half of the groups short by a part of a person; where whole people are missing is said apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Undercounted {
    /// Groups in which they are undercounted.
    pub groups: usize,
    /// Groups in which one person or more is missing.
    pub by_a_person_or_more: usize,
    /// Groups in which that can be said: those with labels.
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

/// Everything that is said of a set of rows.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Section {
    /// Rows, those that stand for nobody included.
    pub rows: u64,
    /// People that the rows stand for.
    pub people: u64,
    /// People that the given labels give a class.
    #[serde(rename = "labelled")]
    pub labeled: u64,
    /// People that the given labels leave Uncoded; with `labeled` they are all people.
    pub uncoded: u64,
    /// People whose truth is known.
    pub with_truth: u64,
    /// Labelled people among all, as given.
    pub coverage: Option<f64>,
    /// The figures of each class, in order.
    pub classes: Vec<ClassAudit>,
    /// The labels' shares against the posterior.
    pub against_posterior: Option<Distance>,
    /// The labels' shares against the truth, over the rows whose truth is known.
    pub against_truth: Option<Distance>,
    /// The labels' shares against the reference that the user gave for these rows.
    pub against_given: Option<Distance>,
    /// Labels that are true, among people who are labelled and whose truth is known.
    pub accuracy: Option<f64>,
    /// Mean score of the label, among labelled people.
    pub expected_accuracy: Option<f64>,
    /// Truth against label, where there is truth.
    pub confusion: Option<Confusion>,
    /// How uncertain the scores are, and what argmax makes of that.
    pub score_error: ScoreError,
    /// Given labels that are the argmax class, among the labelled people.
    pub argmax_agreement: Option<f64>,
    /// People for whom several classes have the largest score.
    pub tied: u64,
    /// What the Uncoded rows look like, where there are any.
    pub uncoded_rows: Option<UncodedRows>,
    /// The classes other than the focus class, together.
    pub others: Option<Others>,
    /// Bootstrap intervals, where they were asked for.
    pub intervals: Option<Intervals>,
}

/// The figures of one class.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ClassAudit {
    /// Name of the class.
    pub class: String,
    /// People labelled so.
    pub labels: u64,
    /// Their share among the labelled.
    pub share: Option<f64>,
    /// Sum of the scores.
    pub posterior_sum: f64,
    /// Mean of the scores over all rows.
    pub posterior_share: Option<f64>,
    /// People who are of this class in truth, where any truth is known.
    pub truth_count: Option<u64>,
    /// Their share among those whose truth is known.
    pub truth_share: Option<f64>,
    /// The labels' share among the labelled whose truth is known: what is held against the truth.
    pub share_with_truth: Option<f64>,
    /// Mean of the scores over the rows whose truth is known.
    pub posterior_share_with_truth: Option<f64>,
    /// The share that the user gave as reference.
    pub given_share: Option<f64>,
    /// Share less posterior share.
    pub against_posterior: Option<Bias>,
    /// Share less true share, over the rows whose truth is known.
    pub against_truth: Option<Bias>,
    /// Share less given share.
    pub against_given: Option<Bias>,
    /// The relative bias against the truth in two parts; none where nobody is of this class in truth.
    pub split: Option<Split>,
    /// The part of this class's posterior sum that lies on labelled rows.
    pub posterior_coverage: Option<f64>,
    /// The part of this class's true members who are labelled.
    pub truth_coverage: Option<f64>,
    /// People whose argmax class this is.
    pub argmax: u64,
    /// Precision, recall and their kin, where there is truth.
    pub rates: Option<Rates>,
    /// Whether the scores of this class are as often true as they say, where there is truth.
    pub calibration: Option<Calibration>,
}

/// A share against a reference.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Bias {
    /// Share less reference: 0.01 is a point.
    pub difference: f64,
    /// The difference in percent of the reference; none where the reference is zero.
    pub percent: Option<f64>,
}

/// Why a class has a smaller share of the labels than of the truth, in percent of its true share. The two sum to the
/// percent of the bias against the truth.
///
/// Like all that is said of labels, they are shares among the labelled rows: where rows are Uncoded, a class that keeps
/// more of its rows than the others gains, though it has fewer labels than members.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Split {
    /// What the scores do: (posterior − truth) / truth.
    pub miscalibration: f64,
    /// What the labels do to the scores, wanted or not: (labels − posterior) / truth. Labels that are matched to the truth
    /// undo the miscalibration here.
    pub discretization: f64,
}

/// How far the shares m of the labels are from the shares p of a reference.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Distance {
    /// −Σ|m − p|, at most zero.
    pub fidelity: f64,
    /// Σ|m − p|.
    pub l1: f64,
    /// The square root of Σ(m − p)².
    pub l2: f64,
    /// Σ m·log(m/p), natural logarithm, 0·log 0 = 0; none where it is infinite: p = 0 where m > 0.
    pub kl: Option<f64>,
}

/// Truth against label, in people.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Confusion {
    /// A row per true class, in it a column per label in the order of the classes, and last Uncoded.
    pub people: Vec<Vec<u64>>,
}

/// The rates of one class, among people whose truth is known. An Uncoded person counts as one not given the class, so
/// that a rule does not gain recall by leaving the hard cases out.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Rates {
    /// Labelled so and rightly, among those labelled so.
    pub precision: Option<f64>,
    /// Labelled so, among those of the class.
    pub recall: Option<f64>,
    /// Labelled so, among those not of the class.
    pub false_positive: Option<f64>,
    /// Not labelled so, among those of the class: one less recall.
    pub false_negative: Option<f64>,
}

/// How uncertain the scores are (the paper's mean absolute error), and what argmax makes of that.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ScoreError {
    /// mean(1 − Σ q²): what the scores themselves say.
    pub implied_mae: Option<f64>,
    /// mean(1 − q of the true class), over the rows whose truth is known.
    pub observed_mae: Option<f64>,
    /// The largest bias that argmax would have, and its bound.
    pub argmax: Option<ArgmaxBias>,
}

/// Theorem 1 of the paper: argmax's bias against the posterior is at most the implied error.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ArgmaxBias {
    /// The class that argmax adds most to, first in order.
    pub class: usize,
    /// Its share under argmax less its posterior share.
    pub bias: f64,
    /// How far the bound may be passed because rows sum to more than one; zero up to rounding where rows sum to one.
    pub allowance: f64,
    /// Whether bias ≤ implied error + allowance, in whole numbers of grid units. It always is.
    pub bound_holds: bool,
}

/// What the rows look like that the given labels leave Uncoded.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct UncodedRows {
    /// How many people they are.
    pub people: u64,
    /// Their mean scores, class by class.
    pub mean_scores: Vec<f64>,
    /// Lower quartile, median and upper quartile of the largest score: the least value that a quarter, half, three
    /// quarters of the people do not exceed. Read off a histogram of 20,480 buckets (160 in groups): each is the mean
    /// of the bucket in which it falls.
    pub top_score_quartiles: [f64; 3],
}

/// All classes but the focus class, together: the paper's voters of color, where the focus class is white.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Others {
    /// Their share among the labelled.
    pub share: Option<f64>,
    /// Their posterior share.
    pub posterior_share: Option<f64>,
    /// Their true share.
    pub truth_share: Option<f64>,
    /// Share less posterior share.
    pub against_posterior: Option<Bias>,
    /// Share less true share, over the rows whose truth is known.
    pub against_truth: Option<Bias>,
}

/// Whether the scores of a class are as often true as they say.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Calibration {
    /// Ten bins at exact tenths; a score on a boundary is in the upper bin, 1 in the last.
    pub equal_width: Binning,
    /// Up to ten bins of nearly as many people each. Made of histogram buckets (20,480 equal ones, 160 in groups), each
    /// of which goes whole where its middle person falls; bins that get nobody are left out.
    pub equal_count: Binning,
    /// Kuiper's measure: the range of F, where F(s) sums truth − score over the people with scores up to s, and
    /// F = 0 below all scores, divided by the number of people. F is taken at the ends of the histogram's buckets, so
    /// that it is exact where the scores in one bucket are equal, and otherwise too small by at most twice the share of
    /// people in the fullest bucket.
    pub kuiper: f64,
}

/// Bins, and the error that they show.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Binning {
    /// The bins, from low scores to high.
    pub bins: Vec<Bin>,
    /// Expected calibration error: the mean over people of |mean score − observed| of their bin.
    pub expected_error: f64,
}

/// The people whose score of a class lies in one range.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Bin {
    /// Where the bin begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// People in it.
    pub people: u64,
    /// Their mean score.
    pub mean_score: Option<f64>,
    /// The part of them who are of the class in truth.
    pub observed: Option<f64>,
    /// Wilson's 95% interval of the observed part, as though people were independent.
    pub interval: Option<Interval>,
}

/// From a low value to a high one.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Percentile intervals of the bootstrap. A replicate in which a figure is not defined is left out of its interval.
///
/// Fidelity is never above zero and is lower in most replicates than in the data, so its interval may lie below it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Intervals {
    /// Each class's share of the labels.
    pub share: Vec<Option<Interval>>,
    /// Each class's share less its posterior share.
    pub bias_against_posterior: Vec<Option<Interval>>,
    /// Each class's share less its true share.
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
