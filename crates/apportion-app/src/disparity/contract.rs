//! The JSON of an outcome comparison. The comments of fields become docs/schema/disparity.json and docs/json.md.

use apportion::audit::Interval;
use apportion::estimate::{Counts, Estimate, Gap, LabelBias};
use apportion::text::Setting;
use apportion_report::{Disparity, Estimator};
use serde::Serialize;

/// An outcome compared between classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct DisparityContract {
    /// The outcome column.
    pub outcome: String,
    /// The values whose shares are compared; empty if means are compared.
    pub values: Vec<String>,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The class with which others are compared.
    pub against: String,
    /// The number of rows with a known outcome.
    pub rows: u64,
    /// The number of people with a known outcome.
    pub people: u64,
    /// Rows and people without a known outcome, which are excluded.
    pub without_outcome: Counts,
    /// The estimators, each with its estimates.
    pub estimators: Vec<EstimatorContract>,
    /// A sentence about the class with the largest bias of labels; null if it is unknown.
    pub sentence: Option<String>,
    /// Remarks on the estimates.
    pub remarks: Vec<String>,
}

/// An estimator and its estimates.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Estimator"))]
pub struct EstimatorContract {
    /// The name of the estimator or of the labels.
    pub name: String,
    /// Its method: `truth`, `labels`, `weighted`, `imputed`, `birdie` or `bounds`.
    pub method: &'static str,
    /// The assumptions under which the estimates are correct.
    pub needs: String,
    /// The estimates: one for each value whose share is compared, or one for the mean.
    pub values: Vec<ValueContract>,
}

/// The estimates of one share or mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "ValueEstimates"))]
pub struct ValueContract {
    /// The value whose share is compared; null for a mean.
    pub value: Option<String>,
    /// The estimate of each class.
    pub classes: Vec<ClassContract>,
    /// The differences between all pairs of classes.
    pub pairs: Vec<GapContract>,
}

/// The estimate of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "ClassEstimate"))]
pub struct ClassContract {
    /// The class.
    pub class: String,
    /// The estimate; null for bounds and without data.
    pub estimate: Option<f64>,
    /// Its standard error; null if it is unknown.
    pub error: Option<f64>,
    /// Its 95% interval; for bounds, the bounds. Null if it is unknown.
    pub interval: Option<Interval>,
    /// The effective sample size; null without data.
    pub effective_n: Option<f64>,
    /// The difference from the class with which others are compared; null for that class and without data.
    pub gap: Option<GapContract>,
    /// The bias of labels and its parts, if truth is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<LabelBias>,
}

/// The difference between two classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Gap"))]
pub struct GapContract {
    /// The class.
    pub class: String,
    /// The class that is subtracted.
    pub against: String,
    /// The difference; null for bounds.
    pub difference: Option<f64>,
    /// Its standard error; null if it is unknown.
    pub error: Option<f64>,
    /// Its 95% interval; for bounds, the bounds. Null if it is unknown.
    pub interval: Option<Interval>,
}

impl DisparityContract {
    /// Returns the serialized form of a comparison, with settings in the style of the front end.
    pub fn of(disparity: &Disparity, name_setting: fn(Setting, Option<&str>) -> String) -> DisparityContract {
        let estimator = |own: &Estimator| EstimatorContract {
            name: own.name.clone(),
            method: own.method.id(),
            needs: own.method.needs().render(name_setting),
            values: (0..own.estimates.len()).map(|level| ValueContract::of(disparity, own, level)).collect(),
        };
        DisparityContract {
            outcome: disparity.outcome.clone(),
            values: disparity.levels.clone(),
            classes: disparity.classes.clone(),
            against: disparity.classes[disparity.against].clone(),
            rows: disparity.known.rows,
            people: disparity.known.people,
            without_outcome: disparity.unknown,
            estimators: disparity.estimators.iter().map(estimator).collect(),
            sentence: disparity.sentence(),
            remarks: disparity.remarks.clone(),
        }
    }
}

impl ValueContract {
    fn of(disparity: &Disparity, estimator: &Estimator, level: usize) -> ValueContract {
        let estimate = &estimator.estimates[level];
        let biases = estimator.biases.get(level);
        let class = |class: usize| {
            let bias = biases.and_then(|biases| biases[class]);
            ClassContract::of(disparity, estimate, class, bias)
        };
        ValueContract {
            value: disparity.levels.get(level).cloned(),
            classes: (0..disparity.classes.len()).map(class).collect(),
            pairs: estimate.gaps.iter().map(|gap| GapContract::of(disparity, gap)).collect(),
        }
    }
}

impl ClassContract {
    fn of(disparity: &Disparity, estimate: &Estimate, class: usize, bias: Option<LabelBias>) -> ClassContract {
        let figure = estimate.classes[class].as_ref();
        ClassContract {
            class: disparity.classes[class].clone(),
            estimate: figure.and_then(|figure| figure.estimate),
            error: figure.and_then(|figure| figure.error),
            interval: figure.and_then(|figure| figure.interval),
            effective_n: figure.map(|figure| figure.effective_n),
            gap: estimate.gap(class, disparity.against).map(|gap| GapContract::of(disparity, &gap)),
            bias,
        }
    }
}

impl GapContract {
    fn of(disparity: &Disparity, gap: &Gap) -> GapContract {
        GapContract {
            class: disparity.classes[gap.class].clone(),
            against: disparity.classes[gap.against].clone(),
            difference: gap.difference,
            error: gap.error,
            interval: gap.interval,
        }
    }
}
