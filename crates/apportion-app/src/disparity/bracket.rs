//! One class compared with everyone else: its estimates, text and JSON.

use apportion::Scores;
use apportion::audit::Interval;
use apportion::estimate::{Bracket, BracketOrder, Estimate, KnownCovariances, Outcomes, Violation, WithError};
use apportion_report::{BRACKET, COVARIANCES, ClassBracket, Disparity, SENSITIVITY};
use serde::Serialize;

use crate::text;

/// Compares each class with everyone else, by level. `bounds` of each level limit the violations.
pub(super) fn brackets(
    scores: &Scores<'_>,
    outcomes: &Outcomes<'_>,
    bounds: Option<&[Estimate]>,
) -> apportion::Result<Vec<Vec<Option<ClassBracket>>>> {
    let limits = |level: usize, class: usize| bounds?[level].classes[class]?.interval;
    let mut all = Vec::new();
    for (level, estimates) in Bracket::of(scores, outcomes)?.estimates().into_iter().enumerate() {
        let classes = estimates.into_iter().enumerate();
        let bracket = |(class, own): (usize, Option<_>)| own.map(|own| ClassBracket::new(own, limits(level, class)));
        all.push(classes.map(bracket).collect());
    }
    Ok(all)
}

/// Returns the tables of a level: the differences, and the violations that change their sign.
pub(super) fn text(own: &Disparity, level: usize) -> Vec<String> {
    if own.brackets.get(level).is_none() {
        return Vec::new();
    }
    vec![differences(own, level), violations(own, level)]
}

/// Returns the explanations of the tables.
pub(super) fn explanations(own: &Disparity) -> Vec<String> {
    if own.brackets.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("class minus everyone else: {BRACKET}")];
    if own.knows_covariances(0) {
        lines.push(COVARIANCES.to_owned());
    }
    lines.push(format!(
        "violation that changes the sign: {SENSITIVITY} The largest possible covariance follows from {}.",
        own.limits()
    ));
    lines
}

fn differences(own: &Disparity, level: usize) -> String {
    let knows = own.knows_covariances(level);
    let unit = if own.is_share() { ", points" } else { "" };
    let title = format!("class minus everyone else{unit}");
    let mut header = vec![title.as_str(), "weighted", "linear"];
    if knows {
        header.extend(["truth", "Cov given score", "Cov given class", "implied order"]);
    }
    let difference = |value: Option<&WithError>| {
        value.map_or_else(
            || "–".into(),
            |value| {
                let show = |number: f64| own.show_difference(number);
                format!("{} [{}, {}]", show(value.value), show(value.interval.low), show(value.interval.high))
            },
        )
    };
    let row = |class: usize| {
        let bracket = own.bracket(level, class).map(|own| &own.estimate);
        let mut cells = vec![
            own.classes[class].clone(),
            difference(bracket.map(|own| &own.weighted)),
            difference(bracket.and_then(|own| own.linear.as_ref())),
        ];
        if knows {
            let known = own.known_covariances(level, class);
            let covariance =
                |value: Option<&WithError>| value.map_or_else(|| "–".into(), |value| own.covariance_text(value));
            cells.push(difference(known.map(|own| &own.truth)));
            cells.push(covariance(known.map(|own| &own.given_score)));
            cells.push(covariance(known.map(|own| &own.given_class)));
            cells.push(known.map_or_else(|| "–".into(), Disparity::order_text));
        }
        cells
    };
    text::columns(&header, &(0..own.classes.len()).map(row).collect::<Vec<_>>())
}

fn violations(own: &Disparity, level: usize) -> String {
    let row = |class: usize| {
        let sensitivity = own.bracket(level, class).map(|own| own.sensitivity);
        let show = Disparity::violation_text;
        vec![
            own.classes[class].clone(),
            show(sensitivity.and_then(|own| own.weighted)),
            show(sensitivity.and_then(|own| own.linear)),
        ]
    };
    let rows: Vec<Vec<String>> = (0..own.classes.len()).map(row).collect();
    text::columns(&["violation that changes the sign", "weighted", "linear"], &rows)
}

/// A class compared with everyone else.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Bracket"))]
pub struct BracketContract {
    /// The value whose share is compared; null for a mean.
    pub value: Option<String>,
    /// The class.
    pub class: String,
    /// Whether the figures are null because the effective sample size of the class or of the others is below 5; see
    /// `small_cells`.
    pub hidden: bool,
    /// The mean of the class minus that of everyone else, by the weighted estimator.
    pub weighted: Option<DifferenceContract>,
    /// The same by the linear estimator; null if everyone has the same score.
    pub linear: Option<DifferenceContract>,
    /// The covariances among people with known truth; null if it is unknown, or known for fewer than 5 people of the class
    /// or of the others (see `small_cells`).
    pub covariances: Option<CovariancesContract>,
    /// The covariances that change the sign of the differences.
    pub sensitivity: SensitivityContract,
}

/// An estimate with its error.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "WithError"))]
pub struct DifferenceContract {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error.
    pub error: f64,
    /// Its 95% interval.
    pub interval: Interval,
}

/// The covariances among people with known truth, and the order of the estimates that they imply.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Covariances"))]
pub struct CovariancesContract {
    /// The number of people with known truth in the class or outside it, whichever is smaller.
    pub people: f64,
    /// The mean of the class minus that of everyone else, by the truth.
    pub truth: DifferenceContract,
    /// The covariance of the outcome and the class among people with the same score: E[Cov(Y, R | q)].
    pub given_score: DifferenceContract,
    /// The covariance of the outcome and the score within the class and within the others: E[Cov(Y, q | R)].
    pub given_class: DifferenceContract,
    /// `weighted_first` if both are positive (weighted ≤ truth ≤ linear), `linear_first` if both are negative (linear ≤ truth
    /// ≤ weighted), or `outside` if the truth is not between the estimates.
    pub order: &'static str,
    /// Whether the intervals of both covariances exclude 0.
    pub clear: bool,
}

/// The violations of the conditions of both estimators that change the sign of the difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Sensitivity"))]
pub struct SensitivityContract {
    /// E[Cov(Y, R | q)], which the weighted estimator assumes to be 0; null if the estimate is outside the bounds.
    pub weighted: Option<ViolationContract>,
    /// E[Cov(Y, q | R)], which the linear estimator assumes to be 0; null if the estimate is outside the bounds.
    pub linear: Option<ViolationContract>,
    /// What limits the largest covariance: `cells` (their bounds, with sampling error) or `variances` (Cauchy-Schwarz).
    pub limit: &'static str,
}

/// A covariance that changes the sign of a difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Violation"))]
pub struct ViolationContract {
    /// The covariance at which the difference is 0.
    pub covariance: f64,
    /// The largest possible covariance with this sign.
    pub largest: f64,
    /// The covariance as a share of the largest; from 1, no possible covariance changes the sign.
    pub share: f64,
}

impl BracketContract {
    /// Returns all comparisons, by value and class.
    pub(super) fn all(own: &Disparity) -> Vec<BracketContract> {
        let levels = own.brackets.iter().enumerate();
        let of_level = |(level, classes): (usize, &Vec<Option<ClassBracket>>)| {
            let exists = (0..classes.len()).filter(|&class| classes[class].is_some()).collect::<Vec<_>>();
            exists.into_iter().map(move |class| BracketContract::of(own, level, class))
        };
        levels.flat_map(of_level).collect()
    }

    fn of(own: &Disparity, level: usize, class: usize) -> BracketContract {
        let bracket = own.bracket(level, class);
        let violation = |violation: Option<Violation>| {
            violation.map(|own| ViolationContract { covariance: own.needed, largest: own.largest, share: own.share() })
        };
        BracketContract {
            value: own.levels.get(level).cloned(),
            class: own.classes[class].clone(),
            hidden: own.is_bracket_hidden(level, class),
            weighted: bracket.map(|own| DifferenceContract::of(&own.estimate.weighted)),
            linear: bracket.and_then(|own| own.estimate.linear.as_ref()).map(DifferenceContract::of),
            covariances: own.known_covariances(level, class).map(CovariancesContract::of),
            sensitivity: SensitivityContract {
                weighted: violation(bracket.and_then(|own| own.sensitivity.weighted)),
                linear: violation(bracket.and_then(|own| own.sensitivity.linear)),
                limit: if own.limits_by_cells { "cells" } else { "variances" },
            },
        }
    }
}

impl DifferenceContract {
    fn of(own: &WithError) -> DifferenceContract {
        DifferenceContract { estimate: own.value, error: own.error, interval: own.interval }
    }
}

impl CovariancesContract {
    fn of(own: &KnownCovariances) -> CovariancesContract {
        CovariancesContract {
            people: own.people,
            truth: DifferenceContract::of(&own.truth),
            given_score: DifferenceContract::of(&own.given_score),
            given_class: DifferenceContract::of(&own.given_class),
            order: match own.order() {
                BracketOrder::WeightedFirst => "weighted_first",
                BracketOrder::LinearFirst => "linear_first",
                BracketOrder::Outside => "outside",
            },
            clear: own.is_clear(),
        }
    }
}
