//! An audit as JSON. Documented in docs/json.md.

use apportion::audit::{
    Bias, Calibration, ClassAudit, Distance, Interval, Intervals, Others, Rates, Section, Split, UncodedRows,
    Undercounted,
};
use serde::{Serialize, Serializer};

use super::{Drifted, Response};
use crate::labels::{DriftContract, FidelityContract};

/// Serializes all figures: those of all rows, and in `groups` those of each group.
impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AuditContract::of(self).serialize(serializer)
    }
}

/// The figures of all rows, and those of each group.
#[derive(Serialize)]
struct AuditContract<'a> {
    #[serde(flatten)]
    all: SectionContract<'a>,
    classes: &'a [String],
    frontier_gap: Option<f64>,
    confusion: Option<&'a [Vec<u64>]>,
    calibration: Vec<Option<&'a Calibration>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<&'a Intervals>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<DriftContract>,
    focus: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undercounted: Option<Undercounted>,
    groups: Vec<GroupContract<'a>>,
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
            all,
            classes: names,
            frontier_gap: response.frontier_gap,
            confusion: overall.confusion.as_ref().map(|confusion| &confusion.people[..]),
            calibration: by_class(overall, |class| class.calibration.as_ref()),
            intervals: overall.intervals.as_ref(),
            drift,
            focus: audit.focus.map(|focus| names[focus].as_str()),
            undercounted: audit.undercounted,
            groups,
        }
    }
}

/// The figures of one group.
#[derive(Serialize)]
struct GroupContract<'a> {
    group: &'a str,
    #[serde(flatten)]
    figures: SectionContract<'a>,
}

/// The figures of all rows or of one group.
#[derive(Serialize)]
struct SectionContract<'a> {
    rows: u64,
    people: u64,
    #[serde(rename = "labelled")]
    labeled: u64,
    uncoded: u64,
    coverage: Option<f64>,
    with_truth: u64,
    counts: Vec<u64>,
    shares: Vec<Option<f64>>,
    posterior_sums: Vec<f64>,
    truth_counts: Vec<Option<u64>>,
    accuracy: Option<f64>,
    accuracy_interval: Option<Interval>,
    expected_accuracy: Option<f64>,
    fidelity: FidelityContract,
    distance: Against<Option<DistanceContract>>,
    bias: Against<Vec<Option<f64>>>,
    bias_percent: Against<Vec<Option<f64>>>,
    bias_people: Against<Vec<Option<f64>>>,
    split: Vec<Option<SplitContract>>,
    calibration_error: Vec<Option<f64>>,
    kuiper: Vec<Option<f64>>,
    rates: Vec<Option<Rates>>,
    class_coverage: Against<Vec<Option<f64>>>,
    mae: Option<f64>,
    mae_in_truth: Option<f64>,
    argmax_bias: Option<ArgmaxContract<'a>>,
    argmax_counts: Vec<Option<u64>>,
    argmax_agreement: Option<f64>,
    tied: Option<u64>,
    uncoded_rows: Option<&'a UncodedRows>,
    others: Option<OthersContract>,
}

/// A figure against the posterior and against the truth.
#[derive(Serialize)]
struct Against<T> {
    posterior: T,
    truth: T,
}

/// A distance without its fidelity, which has a key of its own.
#[derive(Serialize)]
struct DistanceContract {
    l1: f64,
    l2: f64,
    kl: Option<f64>,
}

/// Both parts of a bias, in percent of the true share.
#[derive(Serialize)]
struct SplitContract {
    miscalibration: f64,
    discretization: f64,
}

/// The largest bias of argmax, and whether Theorem 1 holds.
#[derive(Serialize)]
struct ArgmaxContract<'a> {
    class: &'a str,
    bias: f64,
    bound_holds: bool,
}

/// The shares of all classes except the focus class, together.
#[derive(Serialize)]
struct OthersContract {
    share: Option<f64>,
    posterior_share: Option<f64>,
    truth_share: Option<f64>,
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
            shares: by_class(section, |class| class.share),
            posterior_sums: section.posterior_sums(),
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
    /// Returns both parts; `None` if no one is of the class.
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
