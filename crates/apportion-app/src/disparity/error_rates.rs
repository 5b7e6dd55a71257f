//! Rates of true and false positives of a prediction by class: the estimators of an outcome, applied to the prediction
//! among people with the outcome and among people without it.

use apportion::estimate::{IMPUTATIONS, Imputed, Inference, LabelEstimator, Outcomes, Weighted};
use apportion::text::{Message, Setting};
use apportion::{Scores, Settings};
use apportion_report::{Disparity, ErrorRates, Estimator, LabelKind, Method};
use serde::Serialize;

use super::builder::estimator;
use super::contract::EstimatorContract;
use crate::labels::Assignment;
use crate::{Error, Result};

/// Collects the estimators of both rates.
pub(super) struct ErrorRatesBuilder<'a> {
    prediction: String,
    names: Vec<String>,
    /// The survey weights of the outcomes.
    weights: Option<&'a [f64]>,
    parts: [Part; 2],
}

/// The rate of positives among some people.
struct Part {
    name: String,
    /// The prediction of these people.
    codes: Vec<u16>,
    labels: Vec<Estimator>,
}

impl<'a> ErrorRatesBuilder<'a> {
    /// Starts both comparisons.
    ///
    /// # Errors
    /// If the outcome is not a rate.
    pub(super) fn begin(prediction: String, predicted: &Outcomes<'_>, outcomes: &Outcomes<'a>) -> Result<Self> {
        if outcomes.are_numbers() || outcomes.shown().len() != 1 {
            let problem =
                Message::from(Setting::Prediction) + " needs an outcome of 0 and 1, or yes and no; choose a value ";
            return Err(Error::settings(problem + "that counts with " + Setting::OutcomeValue.with("VALUE")));
        }
        let part = |name: &str, has: bool| -> Result<Part> {
            let codes = predicted.levels_among(outcomes, has)?;
            Ok(Part { name: format!("{name} positive rate of {prediction}"), codes, labels: Vec::new() })
        };
        let parts = [part("true", true)?, part("false", false)?];
        let names = ["0", "1"].map(String::from).to_vec();
        Ok(ErrorRatesBuilder { prediction, names, weights: outcomes.weights(), parts })
    }

    /// Adds labels.
    pub(super) fn add(&mut self, scores: &Scores<'_>, name: &str, kind: LabelKind, given: &Assignment) -> Result<()> {
        for part in &mut self.parts {
            let outcomes = predictions(&part.codes, &self.names, self.weights)?;
            let labels = match given {
                Assignment::Labels(draws) => LabelEstimator::of(scores, &outcomes, &draws[0])?,
                Assignment::People(allotment) => LabelEstimator::of_allotment(scores, &outcomes, allotment)?,
            };
            part.labels.push(Estimator { labels: Some(kind), ..estimator(name, Method::Labels, labels.estimates()) });
        }
        Ok(())
    }

    /// Returns both rates, compared with the class `against`.
    pub(super) fn finish(
        self,
        scores: &Scores<'_>,
        settings: &Settings,
        against: usize,
        shows_small: bool,
    ) -> apportion::Result<ErrorRates> {
        let [positives, negatives] = self.parts;
        let rate = |part: Part| -> apportion::Result<Disparity> {
            let outcomes = predictions(&part.codes, &self.names, self.weights)?;
            let truth = LabelEstimator::of_truth(scores, &outcomes)?.and_then(|hard| hard.truth());
            let mut estimators: Vec<Estimator> =
                truth.map(|truth| estimator("truth", Method::Truth, truth)).into_iter().chain(part.labels).collect();
            let weighted = Weighted::of(scores, &outcomes)?;
            estimators.push(estimator("weighted", Method::Weighted, weighted.estimates()));
            let imputed = Imputed::of(scores, &outcomes, IMPUTATIONS, settings.seed)?;
            estimators.push(estimator("imputed", Method::Imputed, imputed.estimates()));
            Ok(Disparity {
                outcome: part.name,
                levels: outcomes.shown(),
                classes: scores.classes().names().to_vec(),
                against,
                known: weighted.known(),
                unknown: weighted.unknown(),
                survey: None,
                inference: Inference::Population,
                estimators,
                shows_small,
                ratios: None,
                birdie: None,
                brackets: Vec::new(),
                limits_by_cells: false,
                error_rates: None,
                regressions: None,
                remarks: Vec::new(),
            })
        };
        let rates = vec![rate(positives)?, rate(negatives)?];
        Ok(ErrorRates { prediction: self.prediction, rates })
    }
}

/// Returns the predictions of some people, with the survey weights of the outcomes.
fn predictions<'a>(
    codes: &'a [u16],
    names: &'a [String],
    weights: Option<&'a [f64]>,
) -> apportion::Result<Outcomes<'a>> {
    let outcomes = Outcomes::levels(codes, names)?.counting(1)?;
    weights.map_or(Ok(outcomes), |weights| outcomes.with_weights(weights))
}

/// The rates of true and false positives of a prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "ErrorRates"))]
pub struct ErrorRatesContract {
    /// The column of the prediction.
    pub prediction: String,
    /// The rate of positive predictions among people with the outcome.
    pub true_positive: RateContract,
    /// The rate of positive predictions among people without the outcome.
    pub false_positive: RateContract,
}

/// A rate of positive predictions by class.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "PositiveRate"))]
pub struct RateContract {
    /// The number of rows with the outcome (or without it) and a known prediction.
    pub rows: u64,
    /// The number of people in these rows.
    pub people: u64,
    /// The estimators, each with its estimates.
    pub estimators: Vec<EstimatorContract>,
}

impl ErrorRatesContract {
    pub(super) fn of(
        own: &ErrorRates,
        name_setting: fn(Setting, Option<&str>) -> String,
    ) -> Option<ErrorRatesContract> {
        let rate = |rate: &Disparity| RateContract {
            rows: rate.known.rows,
            people: rate.known.people,
            estimators: rate.estimators.iter().map(|each| EstimatorContract::of(rate, each, name_setting)).collect(),
        };
        let [positive, negative] = &own.rates[..] else { return None };
        Some(ErrorRatesContract {
            prediction: own.prediction.clone(),
            true_positive: rate(positive),
            false_positive: rate(negative),
        })
    }
}
