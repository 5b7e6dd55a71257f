//! The JSON of an outcome that was compared. Documented in docs/json.md.

use apportion::audit::Interval;
use apportion::estimate::{Counts, Estimate, Gap, LabelBias};
use apportion::text::Setting;
use apportion_report::{Disparity, Estimator};
use serde::Serialize;

/// The JSON of an outcome that was compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DisparityContract {
    /// The column of the outcome.
    pub outcome: String,
    /// The values whose shares are compared; empty if means are compared.
    pub values: Vec<String>,
    /// The classes.
    pub classes: Vec<String>,
    /// The class that others are compared with.
    pub against: String,
    /// The number of rows with a known outcome.
    pub rows: u64,
    /// The number of people with a known outcome.
    pub people: u64,
    /// Rows and people without an outcome, which are left out.
    pub without_outcome: Counts,
    /// The estimators.
    pub estimators: Vec<EstimatorContract>,
    /// Where labels are furthest off, if that is known.
    pub sentence: Option<String>,
    /// Remarks on the estimates.
    pub remarks: Vec<String>,
}

/// The JSON of an estimator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EstimatorContract {
    /// Its name.
    pub name: String,
    /// Its method: `truth`, `labels`, `weighted`, `imputed`, `birdie` or `bounds`.
    pub method: &'static str,
    /// The assumptions under which it is right.
    pub needs: String,
    /// Its estimates: one for each value whose share is compared, or one for the mean.
    pub values: Vec<ValueContract>,
}

/// The JSON of the estimates of one share or mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueContract {
    /// The value whose share is compared; none for a mean.
    pub value: Option<String>,
    /// The estimate of each class.
    pub classes: Vec<ClassContract>,
    /// The differences between all pairs of classes.
    pub pairs: Vec<GapContract>,
}

/// The JSON of the estimate of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassContract {
    /// The class.
    pub class: String,
    /// The estimate.
    pub estimate: Option<f64>,
    /// Its standard error.
    pub error: Option<f64>,
    /// Its 95% interval; for bounds, the bounds.
    pub interval: Option<Interval>,
    /// The effective sample size.
    pub effective: Option<f64>,
    /// The difference to the class that others are compared with.
    pub gap: Option<GapContract>,
    /// The bias of labels and its parts, if truth is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<LabelBias>,
}

/// The JSON of the difference between two classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GapContract {
    /// The class.
    pub class: String,
    /// The class that is subtracted.
    pub against: String,
    /// The difference.
    pub difference: Option<f64>,
    /// Its standard error.
    pub error: Option<f64>,
    /// Its 95% interval; for bounds, the bounds.
    pub interval: Option<Interval>,
}

impl DisparityContract {
    /// Returns a comparison as it is serialized, with settings written as the front end does.
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
            effective: figure.map(|figure| figure.effective),
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
