//! The JSON of an outcome comparison. The comments of fields become docs/schema/disparity.json and docs/json.md.

use apportion::audit::Interval;
use apportion::estimate::{Counts, Gap, Inference, LabelBias};
use apportion::text::Setting;
use apportion_report::{BirdieFit, Disparity, Estimator, Method, Ratio, SurveyWeights};
use serde::Serialize;

use super::bracket::BracketContract;
use super::error_rates::ErrorRatesContract;
use super::regression::RegressionsContract;

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
    /// Whether estimates with an effective sample size below 5 are included: `hide` or `show`.
    pub small_cells: &'static str,
    /// The number of rows with a known outcome and, if there is a column of weights, a weight.
    pub rows: u64,
    /// The number of people in these rows, without weights.
    pub people: u64,
    /// Rows and people without a known outcome or without a weight, which are excluded.
    pub without_outcome: Counts,
    /// The survey weights; null without `weight`.
    pub weight: Option<WeightContract>,
    /// The estimators, each with its estimates.
    pub estimators: Vec<EstimatorContract>,
    /// Each class compared with everyone else, by value and class.
    pub brackets: Vec<BracketContract>,
    /// The rates of true and false positives of `prediction`; null without it.
    pub error_rates: Option<ErrorRatesContract>,
    /// How BIRDiE was fitted; null if it was not.
    pub birdie: Option<BirdieContract>,
    /// Regressions with controls; null without `controls`.
    pub regressions: Option<RegressionsContract>,
    /// A sentence about the class with the largest bias of labels; null if it is unknown.
    pub sentence: Option<String>,
    /// Remarks on the estimates.
    pub remarks: Vec<String>,
}

/// The survey weights of an outcome comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "SurveyWeights"))]
pub struct WeightContract {
    /// The column of the weights.
    pub column: String,
    /// The sum of the weights of people with a known outcome.
    pub sum: f64,
    /// The number of rows without a weight, which are excluded.
    pub rows_without: u64,
}

/// How BIRDiE was fitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "BirdieFit"))]
pub struct BirdieContract {
    /// How groups are combined: `partial` if the groups of a class are pooled partially, otherwise `none`.
    pub pooling: &'static str,
    /// The classes whose groups are pooled partially.
    pub pooled: Vec<String>,
    /// The number of groups with known outcomes; 1 without groups.
    pub groups: usize,
    /// The expected number of people of each class per group, on average.
    pub people_per_group: Vec<f64>,
    /// The part of them that the scores identify: the sum of squared scores of each class per group, on average.
    pub identified_per_group: Vec<f64>,
    /// The number of bootstrap replicates; 0 if the bootstrap was skipped.
    pub replicates: u32,
    /// Whether the fit converged.
    pub converged: bool,
}

/// An estimator and its estimates.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Estimator"))]
pub struct EstimatorContract {
    /// The name of the estimator or of the labels.
    pub name: String,
    /// Its method: `truth`, `labels`, `weighted`, `imputed`, `linear`, `birdie`, `bounds` or `bounds_interval`.
    pub method: &'static str,
    /// What its intervals are about: `population` for the means in the population that the people were drawn from, or
    /// `file` for the means of the file's own people of each class. Null for bounds.
    pub inference: Option<&'static str>,
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
    /// Whether the figures are null because the effective sample size is below 5; see `small_cells`.
    pub hidden: bool,
    /// The estimate; null for bounds and without data.
    pub estimate: Option<f64>,
    /// Its standard error; null if it is unknown.
    pub error: Option<f64>,
    /// Its 95% interval; for `bounds`, the bounds of the sample, and for `bounds_interval`, an interval that contains both
    /// bounds of the population. Null if it is unknown.
    pub interval: Option<Interval>,
    /// The effective sample size; null without data.
    pub effective_n: Option<f64>,
    /// The difference from the class with which others are compared; null for that class and without data.
    pub gap: Option<GapContract>,
    /// The rate divided by that of the baseline, if `favorable` is set; null for the baseline and without data.
    pub ratio: Option<RatioContract>,
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
    /// Whether the figures are null because those of a class are hidden.
    pub hidden: bool,
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
        let estimator = |own: &Estimator| EstimatorContract::of(disparity, own, name_setting);
        DisparityContract {
            outcome: disparity.outcome.clone(),
            values: disparity.levels.clone(),
            classes: disparity.classes.clone(),
            against: disparity.classes[disparity.against].clone(),
            small_cells: if disparity.shows_small { "show" } else { "hide" },
            rows: disparity.known.rows,
            people: disparity.known.people,
            without_outcome: disparity.unknown,
            weight: disparity.survey.as_ref().map(WeightContract::of),
            estimators: disparity.estimators.iter().map(estimator).collect(),
            regressions: disparity.regressions.as_ref().map(|own| RegressionsContract::of(own, &disparity.classes)),
            brackets: BracketContract::all(disparity),
            error_rates: disparity.error_rates.as_ref().and_then(|own| ErrorRatesContract::of(own, name_setting)),
            birdie: disparity.birdie.as_ref().map(|fit| BirdieContract::of(fit, &disparity.classes)),
            sentence: disparity.sentence(),
            remarks: disparity.remarks.clone(),
        }
    }
}

/// Returns what the intervals of an estimator are about.
fn inference(method: Method, weighted: Inference) -> Option<&'static str> {
    let is_about_file = method == Method::Weighted && weighted == Inference::File;
    (method != Method::Bounds).then_some(if is_about_file { "file" } else { "population" })
}

impl WeightContract {
    fn of(survey: &SurveyWeights) -> WeightContract {
        WeightContract { column: survey.column.clone(), sum: survey.sum, rows_without: survey.rows_without }
    }
}

/// A rate divided by that of another class.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Ratio"))]
pub struct RatioContract {
    /// The class that is divided by: `baseline`, or the class with the highest rate of this estimator.
    pub baseline: String,
    /// The ratio.
    pub ratio: f64,
    /// Its 95% interval, on the log scale; null if the rate is 0 or its error is unknown.
    pub interval: Option<Interval>,
    /// Whether the ratio is below four fifths.
    pub below_four_fifths: bool,
}

impl BirdieContract {
    fn of(fit: &BirdieFit, classes: &[String]) -> BirdieContract {
        let pooled: Vec<String> =
            classes.iter().zip(&fit.pooled).filter(|(_, pooled)| **pooled).map(|(class, _)| class.clone()).collect();
        BirdieContract {
            pooling: if pooled.is_empty() { "none" } else { "partial" },
            pooled,
            groups: fit.groups,
            people_per_group: fit.people_per_group.clone(),
            identified_per_group: fit.identified_per_group.clone(),
            replicates: fit.replicates,
            converged: fit.converged,
        }
    }
}

impl EstimatorContract {
    pub(super) fn of(
        disparity: &Disparity,
        own: &Estimator,
        name_setting: fn(Setting, Option<&str>) -> String,
    ) -> EstimatorContract {
        EstimatorContract {
            name: own.name.clone(),
            method: own.method.id(),
            inference: inference(own.method, disparity.inference),
            needs: own.method.needs().render(name_setting),
            values: (0..own.estimates.len()).map(|level| ValueContract::of(disparity, own, level)).collect(),
        }
    }
}

impl ValueContract {
    fn of(disparity: &Disparity, estimator: &Estimator, level: usize) -> ValueContract {
        let class = |class: usize| ClassContract::of(disparity, estimator, level, class);
        let gaps = estimator.estimates[level].gaps.iter();
        ValueContract {
            value: disparity.levels.get(level).cloned(),
            classes: (0..disparity.classes.len()).map(class).collect(),
            pairs: gaps.map(|gap| GapContract::of(disparity, estimator, level, gap)).collect(),
        }
    }
}

impl ClassContract {
    fn of(disparity: &Disparity, estimator: &Estimator, level: usize, class: usize) -> ClassContract {
        let figure = disparity.figure(estimator, level, class);
        let gap = estimator.estimates[level].gap(class, disparity.against);
        let bias = estimator.biases.get(level).and_then(|biases| biases[class]);
        ClassContract {
            class: disparity.classes[class].clone(),
            hidden: disparity.is_hidden(estimator, level, class),
            estimate: figure.and_then(|figure| figure.estimate),
            error: figure.and_then(|figure| figure.error),
            interval: figure.and_then(|figure| figure.interval),
            effective_n: figure.map(|figure| figure.effective_n),
            gap: gap.map(|gap| GapContract::of(disparity, estimator, level, &gap)),
            ratio: disparity.ratio(estimator, level, class).map(|own| RatioContract {
                baseline: disparity.classes[own.baseline].clone(),
                ratio: own.ratio,
                interval: own.interval,
                below_four_fifths: own.ratio < Ratio::FOUR_FIFTHS,
            }),
            bias: bias.filter(|_| figure.is_some()),
        }
    }
}

impl GapContract {
    fn of(disparity: &Disparity, estimator: &Estimator, level: usize, gap: &Gap) -> GapContract {
        let hidden = [gap.class, gap.against].iter().any(|&class| disparity.is_hidden(estimator, level, class));
        let shown = Some(gap).filter(|_| !hidden);
        GapContract {
            class: disparity.classes[gap.class].clone(),
            against: disparity.classes[gap.against].clone(),
            hidden,
            difference: shown.and_then(|gap| gap.difference),
            error: shown.and_then(|gap| gap.error),
            interval: shown.and_then(|gap| gap.interval),
        }
    }
}
