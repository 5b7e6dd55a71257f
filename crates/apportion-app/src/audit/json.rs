//! An audit as JSON. The comments of fields become docs/schema/audit.json and docs/json.md.

use apportion::audit::{
    Bias, Calibration, ClassAudit, Distance, Interval, Intervals, Others, Rates, Section, Split, UncodedRows,
    Undercounted,
};
use serde::{Serialize, Serializer};

use super::{Drifted, Response};
use crate::labels::{DriftContract, FidelityContract};

/// Serializes all figures: for all rows, and in `groups` for each group.
impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AuditContract::of(self).serialize(serializer)
    }
}

/// The figures of all rows, and of each group.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct AuditContract<'a> {
    /// The names of the classes. Other lists are in this order.
    classes: &'a [String],
    /// The class that is compared with all other classes combined; null without rows.
    focus: Option<&'a str>,
    #[serde(flatten)]
    all: SectionContract<'a>,
    /// Other labels with equally good counts would be this much more accurate in expectation; null if rows are unlabeled.
    frontier_gap: Option<f64>,
    /// The people of each true class (a row each) with each label (a column each); the last column has unlabeled people.
    /// Null without truth.
    confusion: Option<&'a [Vec<u64>]>,
    /// The calibration of the scores of each class; null without truth.
    calibration: Vec<Option<&'a Calibration>>,
    /// Bootstrap confidence intervals, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<&'a Intervals>,
    /// The difference between the counts and the expected counts of the decision, if a decision is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<DriftContract>,
    /// The groups in which the other classes are undercounted, if there are groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    undercounted: Option<Undercounted>,
    /// The figures of each group; empty without groups.
    groups: Vec<GroupContract<'a>>,
}

/// A response has the schema of its JSON.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Response {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        AuditContract::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        AuditContract::json_schema(generator)
    }
}

impl AuditContract<'_> {
    fn of(response: &Response) -> AuditContract<'_> {
        let (audit, overall) = (&response.audit, &response.audit.overall);
        let names = audit.classes.names();
        let mut all = SectionContract::of(overall, names);
        all.fidelity.posterior_in_groups = audit.fidelity_in_groups;
        let drift = match &response.drifted {
            Some(Drifted { drift: Some(drift), .. }) => Some(DriftContract::of(drift)),
            Some(Drifted { drift: None, .. }) | None => None,
        };
        let mut groups = Vec::with_capacity(audit.groups.len());
        for group in &audit.groups {
            groups.push(GroupContract { group: &group.name, figures: SectionContract::of(&group.section, names) });
        }
        AuditContract {
            classes: names,
            focus: audit.focus.map(|focus| names[focus].as_str()),
            all,
            frontier_gap: response.frontier_gap,
            confusion: overall.confusion.as_ref().map(|confusion| &confusion.people[..]),
            calibration: by_class(overall, |class| class.calibration.as_ref()),
            intervals: overall.intervals.as_ref(),
            drift,
            undercounted: audit.undercounted,
            groups,
        }
    }
}

/// The figures of one group.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "AuditGroup"))]
struct GroupContract<'a> {
    /// The name of the group.
    group: &'a str,
    #[serde(flatten)]
    figures: SectionContract<'a>,
}

/// The figures of all rows or of one group.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct SectionContract<'a> {
    /// The number of rows.
    rows: u64,
    /// The number of people that the rows represent.
    people: u64,
    /// The number of labeled people, after the policy for unlabeled rows (`uncoded`) is applied.
    labeled: u64,
    /// The number of unlabeled people, before that policy is applied.
    uncoded: u64,
    /// The share of people with a label, before that policy is applied; null without people.
    coverage: Option<f64>,
    /// The number of people with known truth.
    with_truth: u64,
    /// The number of people with each label.
    counts: Vec<u64>,
    /// The share of the labels of each class that is expected to be correct: their mean score. Null without labels.
    expected_precision: Vec<Option<f64>>,
    /// The share of the people of each class that is expected to have its label; null if its scores sum to 0.
    expected_recall: Vec<Option<f64>>,
    /// Each label's share of labeled people; null without labels.
    shares: Vec<Option<f64>>,
    /// The sum of the scores of each class.
    posterior_sums: Vec<f64>,
    /// The standard deviation of the true count of each class, given the scores: √Σ q(1 − q).
    count_sd: Vec<f64>,
    /// The number of people of each true class; null without truth.
    truth_counts: Vec<Option<u64>>,
    /// The share of correct labels among labels with known truth; null without truth.
    accuracy: Option<f64>,
    /// The 95% Wilson confidence interval of the accuracy; null without truth.
    accuracy_interval: Option<Interval>,
    /// The mean score of the labels; null without labels.
    expected_accuracy: Option<f64>,
    /// How close the shares of the labels are to a reference: −Σ |share − reference|, at most 0.
    fidelity: FidelityContract,
    /// The distance between the shares of the labels and a reference.
    distance: Against<Option<DistanceContract>>,
    /// The share of each label minus its reference.
    bias: Against<Vec<Option<f64>>>,
    /// The bias in percent of the reference; null if the reference is 0.
    bias_percent: Against<Vec<Option<f64>>>,
    /// The bias in people.
    bias_people: Against<Vec<Option<f64>>>,
    /// The bias of each class against the truth in two parts; null without truth, and for a class without true members.
    split: Vec<Option<SplitContract>>,
    /// The expected calibration error of each class in ten bins of equal width; null without truth.
    calibration_error: Vec<Option<f64>>,
    /// The Kuiper statistic of the calibration of each class; null without truth.
    kuiper: Vec<Option<f64>>,
    /// The correlation of the scores of each class with the truth (1 for people of the class, 0 for others); null without
    /// truth, and if the scores or the truth do not vary.
    correlation: Vec<Option<f64>>,
    /// Precision, recall and error rates of each class; null without truth.
    rates: Vec<Option<Rates>>,
    /// The labeled share of each class, by the scores and by the truth.
    class_coverage: Against<Vec<Option<f64>>>,
    /// The mean absolute error that the scores imply: the mean of 1 − Σ q². Null without people.
    mae: Option<f64>,
    /// The mean absolute error: the mean of 1 − q of the true class. Null without truth.
    mae_in_truth: Option<f64>,
    /// The class that argmax overcounts most; null without people.
    argmax_bias: Option<ArgmaxContract<'a>>,
    /// The number of people whose argmax class is each class; null if it was not computed.
    argmax_counts: Vec<Option<u64>>,
    /// The share of labels that are the argmax class; null without labels.
    argmax_agreement: Option<f64>,
    /// The number of people for whom several classes have the largest score; null if it was not computed.
    tied: Option<u64>,
    /// The unlabeled people; null if everyone is labeled.
    uncoded_rows: Option<&'a UncodedRows>,
    /// All classes except the focus class, combined; null without a focus class.
    others: Option<OthersContract>,
    /// The comparison with the known shares, if they are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<ReferenceContract>,
}

/// The labels compared with known shares.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "KnownShares"))]
struct ReferenceContract {
    /// The known share of each class.
    shares: Vec<Option<f64>>,
    /// The share of each label minus the known share; null without labels.
    bias: Vec<Option<f64>>,
    /// The bias in percent of the known share; null if that is 0.
    bias_percent: Vec<Option<f64>>,
    /// The bias in people.
    bias_people: Vec<Option<f64>>,
    /// −Σ |share − known share|, at most 0; null without labels.
    fidelity: Option<f64>,
}

impl ReferenceContract {
    /// Returns the comparison; `None` if the section has no known shares.
    fn of(section: &Section) -> Option<ReferenceContract> {
        section.classes.iter().find_map(|class| class.given_share)?;
        Some(ReferenceContract {
            shares: by_class(section, |class| class.given_share),
            bias: by_class(section, |class| class.against_given.map(|bias| bias.difference)),
            bias_percent: by_class(section, |class| class.against_given.and_then(|bias| bias.percent)),
            bias_people: by_class(section, |class| class.against_given.map(|bias| bias.people)),
            fidelity: section.against_given.map(|distance| distance.fidelity),
        })
    }
}

/// A figure compared with the posterior and with the truth.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
struct Against<T> {
    /// Compared with the mean scores.
    posterior: T,
    /// Compared with the truth, among people with known truth.
    truth: T,
}

/// The distance between the shares of labels and a reference.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Distance"))]
struct DistanceContract {
    /// Σ |share − reference|.
    l1: f64,
    /// The square root of Σ (share − reference)².
    l2: f64,
    /// Σ share · ln(share / reference); null if it is infinite.
    kl: Option<f64>,
}

/// The two parts of the bias of a class against the truth, in percent of its true share.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "BiasSplit"))]
struct SplitContract {
    /// The part due to the scores: posterior − truth.
    miscalibration: f64,
    /// The part due to the labels: labels − posterior.
    discretization: f64,
}

/// The largest bias of argmax, and whether Theorem 1 holds.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "ArgmaxBias"))]
struct ArgmaxContract<'a> {
    /// The class that argmax overcounts most.
    class: &'a str,
    /// Its share under argmax minus its mean score.
    bias: f64,
    /// Whether the bias is at most `mae` (Theorem 1).
    bound_holds: bool,
}

/// The shares of all classes except the focus class, combined.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "OtherClasses"))]
struct OthersContract {
    /// Their share of labeled people.
    share: Option<f64>,
    /// Their mean score.
    posterior_share: Option<f64>,
    /// Their share of people with known truth; null without truth.
    truth_share: Option<f64>,
    /// Their share minus its reference.
    bias: Against<Option<f64>>,
}

impl SectionContract<'_> {
    fn of<'a>(section: &'a Section, names: &'a [String]) -> SectionContract<'a> {
        let error = &section.score_error;
        let counts = section.counts();
        SectionContract {
            rows: section.rows,
            people: section.people,
            labeled: counts.iter().sum(),
            uncoded: section.uncoded,
            coverage: section.coverage,
            with_truth: section.with_truth,
            counts,
            expected_precision: by_class(section, ClassAudit::expected_precision),
            expected_recall: by_class(section, ClassAudit::expected_recall),
            shares: by_class(section, |class| class.share),
            posterior_sums: section.posterior_sums(),
            count_sd: by_class(section, |class| class.count_sd),
            truth_counts: by_class(section, |class| class.truth_count),
            accuracy: section.accuracy,
            accuracy_interval: section.accuracy_interval,
            expected_accuracy: section.expected_accuracy,
            fidelity: FidelityContract {
                posterior: section.fidelity_to_posterior(),
                truth: section.fidelity_to_truth(),
                posterior_in_groups: None,
            },
            distance: Against {
                posterior: section.against_posterior.map(DistanceContract::of),
                truth: section.against_truth.map(DistanceContract::of),
            },
            bias: biases(section, |bias| Some(bias.difference)),
            bias_percent: biases(section, |bias| bias.percent),
            bias_people: biases(section, |bias| Some(bias.people)),
            split: by_class(section, |class| class.split.and_then(SplitContract::of)),
            calibration_error: by_class(section, |class| {
                class.calibration.as_ref().map(|own| own.equal_width.expected_error)
            }),
            kuiper: by_class(section, |class| class.calibration.as_ref().map(|own| own.kuiper)),
            correlation: by_class(section, |class| class.calibration.as_ref().and_then(|own| own.correlation)),
            rates: by_class(section, |class| class.rates),
            class_coverage: Against {
                posterior: by_class(section, |class| class.posterior_coverage),
                truth: by_class(section, |class| class.truth_coverage),
            },
            mae: error.implied_mae,
            mae_in_truth: error.observed_mae,
            argmax_bias: error.argmax.map(|argmax| ArgmaxContract {
                class: &names[argmax.class],
                bias: argmax.bias,
                bound_holds: argmax.bound_holds,
            }),
            argmax_counts: by_class(section, |class| class.argmax),
            argmax_agreement: section.argmax_agreement,
            tied: section.tied,
            uncoded_rows: section.uncoded_rows.as_ref(),
            others: section.others.map(OthersContract::of),
            reference: ReferenceContract::of(section),
        }
    }
}

/// Returns a list with a value for each class.
fn by_class<'a, T>(section: &'a Section, value: impl Fn(&'a ClassAudit) -> T) -> Vec<T> {
    section.classes.iter().map(value).collect()
}

/// Returns a figure of the bias of each class.
fn biases(section: &Section, figure: impl Fn(Bias) -> Option<f64>) -> Against<Vec<Option<f64>>> {
    Against {
        posterior: by_class(section, |class| class.against_posterior.and_then(&figure)),
        truth: by_class(section, |class| class.against_truth.and_then(&figure)),
    }
}

impl DistanceContract {
    fn of(distance: Distance) -> DistanceContract {
        DistanceContract { l1: distance.l1, l2: distance.l2, kl: distance.kl }
    }
}

impl SplitContract {
    /// Returns both parts; `None` if the class has no true members.
    fn of(split: Split) -> Option<SplitContract> {
        let (miscalibration, discretization) = (split.miscalibration.percent?, split.discretization.percent?);
        Some(SplitContract { miscalibration, discretization })
    }
}

impl OthersContract {
    fn of(others: Others) -> OthersContract {
        OthersContract {
            share: others.share,
            posterior_share: others.posterior_share,
            truth_share: others.truth_share,
            bias: Against {
                posterior: others.against_posterior.map(|bias| bias.difference),
                truth: others.against_truth.map(|bias| bias.difference),
            },
        }
    }
}
