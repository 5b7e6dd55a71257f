//! Calibration: corrects scores with known truth, so that among people with a score of 30%, 30% are of the class.
//!
//! | method | model | use it |
//! |---|---|---|
//! | [`Method::Logistic`] | multinomial logistic regression on the logarithms of all scores of a row | with a few hundred people or more; it also corrects classes that are mistaken for each other |
//! | [`Method::Isotonic`] | a nondecreasing function of the score for each class, then divided by the sum of the row | with many thousand people, for errors that depend on the score in an irregular way |
//!
//! A [`Calibration`] is fitted to the rows whose truth is known, is saved as JSON, and corrects any rows. Scores of the
//! rows that it was fitted to would look better than those of other rows. A [`CrossFit`] avoids this: it assigns each
//! row to one of five folds by a hash of its key, and corrects a row by a model that was fitted without its fold.
//! Rows without truth are corrected by the model of all rows.
//!
//! | file | purpose |
//! |---|---|
//! | `sample` | the rows with known truth, in a fixed order |
//! | `logistic`, `isotonic` | the two methods |
//! | `groups` | intercepts of groups for the logistic method |
//! | `shift` | estimates of class shares that differ from those behind the scores |
//! | `quality` | calibration and accuracy of scores, to compare before and after |

mod groups;
mod isotonic;
mod logistic;
mod quality;
mod sample;
mod shift;

use std::ops::Range;

use rayon::prelude::*;

pub use self::groups::GroupIntercepts;
pub use self::isotonic::Curve;
use self::logistic::{log_score, softmax};
pub use self::quality::{ClassQuality, Quality};
use self::sample::{Sample, not_calibrated};
pub use self::shift::{ShareEstimate, ShareMethod};
use crate::error::{Error, Result};
use crate::kernel::GRID;
use crate::scores::{Classes, Scores, UNCODED};
use crate::seed;

/// The number of a fold.
type Fold = u8;

/// The number of folds of a [`CrossFit`].
const FOLDS: Fold = 5;

/// Separates the hashes of folds from those of ties and draws.
const SALT: u64 = 0x666f_6c64;

/// The largest weight or intercept.
const MOST: f64 = 1000.0;

/// The version of the saved form.
const VERSION: u32 = 1;

/// A method of calibration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Multinomial logistic regression on the logarithms of the scores.
    #[default]
    Logistic,
    /// Isotonic regression for each class, divided by the sum of the row.
    Isotonic,
}

impl Method {
    /// Returns the name, as in files.
    pub const fn name(self) -> &'static str {
        match self {
            Method::Logistic => "logistic",
            Method::Isotonic => "isotonic",
        }
    }
}

/// A fitted calibration: small, serializable, and able to correct further rows.
///
/// ```
/// # use apportion::calibrate::{Calibration, Method};
/// # use apportion::{Classes, Matrix, Scores};
/// let classes = Classes::new(["a", "b"])?;
/// // The score of a is 80%, but only two of four people are a.
/// let scores = Scores::new(&classes, Matrix::RowsF64(&[0.8, 0.2, 0.8, 0.2, 0.8, 0.2, 0.8, 0.2]))?;
/// let scores = scores.with_truth(&[0, 1, 0, 1])?;
/// let calibration = Calibration::fit(&scores, Method::Logistic)?;
/// let mut row = [0.8, 0.2];
/// calibration.apply(&mut row)?;
/// assert!((row[0] - 0.5).abs() < 1e-9);
/// # Ok::<(), apportion::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Calibration {
    classes: Classes,
    people: u64,
    fitted: Fitted,
    groups: Option<GroupIntercepts>,
    scores: Vec<String>,
}

/// The parameters of a calibration.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(deny_unknown_fields, rename = "CalibrationModel")
)]
#[serde(tag = "method", rename_all = "kebab-case")]
pub enum Fitted {
    /// A row's calibrated scores are softmax(W x + b), where x is the logarithm of its scores, floored at 1e-6.
    Logistic {
        /// W: for each class, the weights of the logarithms of all scores.
        weights: Vec<Vec<f64>>,
        /// b: the intercept of each class.
        intercepts: Vec<f64>,
    },
    /// A row's calibrated scores are the values of the curves, divided by their sum. If all values are zero, the row
    /// keeps its scores.
    Isotonic {
        /// The curve of each class.
        curves: Vec<Curve>,
    },
}

impl Fitted {
    /// Rounds all parameters to multiples of 2^-40, so that they are saved and read without a change.
    fn rounded(mut self) -> Fitted {
        let round = |values: &mut Vec<f64>| {
            values.iter_mut().for_each(|value| *value = GRID.value(GRID.round(*value)));
        };
        match &mut self {
            Fitted::Logistic { weights, intercepts } => {
                weights.iter_mut().for_each(round);
                round(intercepts);
            }
            Fitted::Isotonic { curves } => {
                for Curve { scores, values } in curves {
                    round(scores);
                    round(values);
                }
            }
        }
        self
    }
}

/// The saved form of a calibration.
#[derive(serde::Serialize, serde::Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(deny_unknown_fields, rename = "FittedCalibration")
)]
struct Saved {
    /// The version of this format.
    version: u32,
    /// The names of the classes. Other lists are in this order.
    classes: Classes,
    /// The score columns of the fit, in the order of the classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scores: Vec<String>,
    /// The number of people with known truth that it was fitted to.
    people: u64,
    /// The method and its parameters.
    model: Fitted,
    /// The intercepts of groups, if the calibration is by group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    groups: Option<GroupIntercepts>,
}

/// A calibration has the schema of its saved form.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Calibration {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Saved::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Saved::json_schema(generator)
    }
}

impl From<Calibration> for Saved {
    fn from(own: Calibration) -> Saved {
        let Calibration { classes, people, fitted, groups, scores } = own;
        Saved { version: VERSION, classes, scores, people, model: fitted, groups }
    }
}

impl TryFrom<Saved> for Calibration {
    type Error = Error;
    fn try_from(saved: Saved) -> Result<Calibration> {
        let Saved { version, classes, scores, people, model: fitted, groups } = saved;
        let invalid = |problem: String| Err(Error::Calibration { problem });
        if version != VERSION {
            return invalid(format!("it has version {version}, but this program reads version {VERSION}"));
        }
        let k = classes.len();
        let is_number = |value: &f64| value.abs() <= MOST;
        let problem = match &fitted {
            Fitted::Logistic { weights, intercepts } => {
                let is_row = |row: &Vec<f64>| row.len() == k && row.iter().all(is_number);
                let is_sound = weights.len() == k && weights.iter().all(is_row);
                let is_sound = is_sound && intercepts.len() == k && intercepts.iter().all(is_number);
                (!is_sound).then_some("each class must have an intercept and one weight per class, from −1000 to 1000")
            }
            Fitted::Isotonic { curves } => {
                let is_sound = curves.len() == k && curves.iter().all(Curve::is_valid);
                (!is_sound).then_some("there must be one nondecreasing curve per class")
            }
        };
        let is_group = |own: &Vec<f64>| own.len() == k && own.iter().all(is_number);
        let is_sound = groups
            .as_ref()
            .is_none_or(|groups| (0.0..=MOST).contains(&groups.deviation) && groups.intercepts.values().all(is_group));
        match problem {
            Some(problem) => invalid(problem.into()),
            None if !is_sound => invalid("each group must have one intercept per class, from −1000 to 1000".into()),
            None if groups.is_some() && matches!(fitted, Fitted::Isotonic { .. }) => {
                invalid("only a logistic calibration has intercepts of groups".into())
            }
            None if !scores.is_empty() && scores.len() != k => {
                invalid(format!("it has {} score columns for {k} classes", scores.len()))
            }
            // JSON readers may change the last digit; rounding to the grid restores it.
            None => {
                let groups = groups.map(GroupIntercepts::rounded);
                Ok(Calibration { classes, people, fitted: fitted.rounded(), groups, scores })
            }
        }
    }
}

impl Calibration {
    /// Fits a calibration to the rows with known truth. A row that represents several people counts as often.
    ///
    /// # Errors
    /// If a score is invalid, a class does not occur in the truth, or there are more than 20 classes for
    /// [`Method::Logistic`].
    pub fn fit(scores: &Scores<'_>, method: Method) -> Result<Calibration> {
        let sample = Sample::new(scores, |_| 0)?;
        Calibration::of(scores.classes(), &sample, None, method, None)
    }

    /// Fits a logistic calibration with intercepts of the groups of the table, to the rows with known truth. The
    /// intercepts of small groups shrink to those of all rows.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), or if the table has no groups.
    pub fn fit_by_group(scores: &Scores<'_>) -> Result<Calibration> {
        let sample = Sample::new(scores, |_| 0)?;
        Calibration::of(scores.classes(), &sample, None, Method::Logistic, Some(group_names(scores)?))
    }

    /// Fits a calibration to the rows outside a fold, or to all of them.
    fn of(
        classes: &Classes,
        sample: &Sample,
        without: Option<Fold>,
        method: Method,
        names: Option<&[String]>,
    ) -> Result<Calibration> {
        let training = sample.without(without)?;
        let fitted = match method {
            Method::Logistic => {
                let mut weights = logistic::fit(&training)?;
                if weights.iter().flatten().any(|value| value.abs() > MOST) {
                    let problem =
                        "the logistic regression has extreme weights, because the scores hardly vary; use isotonic";
                    return Err(not_calibrated(problem.into()));
                }
                let intercepts = weights.iter_mut().map(|plane| plane.pop().unwrap_or_default()).collect();
                Fitted::Logistic { weights, intercepts }
            }
            Method::Isotonic => Fitted::Isotonic { curves: isotonic::fit(&training) },
        };
        let people = training.by_class.iter().sum();
        let fitted = fitted.rounded();
        let groups = match (&fitted, names) {
            (Fitted::Logistic { weights, intercepts }, Some(names)) => {
                Some(groups::fit(sample, without, names, weights, intercepts).rounded())
            }
            (Fitted::Logistic { .. }, None) | (Fitted::Isotonic { .. }, _) => None,
        };
        Ok(Calibration { classes: classes.clone(), people, fitted, groups, scores: Vec::new() })
    }

    /// Adds the names of the score columns of the fit.
    #[must_use]
    pub fn with_score_columns(self, scores: Vec<String>) -> Calibration {
        Calibration { scores, ..self }
    }

    /// Adds the names of the columns that define the groups.
    #[must_use]
    pub fn with_group_columns(mut self, columns: Vec<String>) -> Calibration {
        if let Some(groups) = &mut self.groups {
            groups.columns = columns;
        }
        self
    }

    /// Returns the intercepts of groups, if the calibration is by group.
    pub fn groups(&self) -> Option<&GroupIntercepts> {
        self.groups.as_ref()
    }

    /// Returns the intercepts of each group of a table, by code; `None` for groups that the calibration does not have.
    fn of_groups(&self, scores: &Scores<'_>) -> Vec<Option<&[f64]>> {
        let (Some(own), Some(groups)) = (&self.groups, scores.groups()) else { return Vec::new() };
        groups.names.iter().map(|name| own.intercepts.get(name).map(Vec::as_slice)).collect()
    }

    /// Returns the score columns of the fit, in the order of the classes; empty if they are not known.
    pub fn score_columns(&self) -> &[String] {
        &self.scores
    }

    /// Returns the classes.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// Returns the number of people of the fit.
    pub fn people(&self) -> u64 {
        self.people
    }

    /// Returns the method.
    pub fn method(&self) -> Method {
        match self.fitted {
            Fitted::Logistic { .. } => Method::Logistic,
            Fitted::Isotonic { .. } => Method::Isotonic,
        }
    }

    /// Returns the parameters.
    pub fn fitted(&self) -> &Fitted {
        &self.fitted
    }

    /// Replaces the scores of a row by calibrated ones, which sum to one. A calibration by group uses the intercepts of all
    /// rows.
    ///
    /// # Errors
    /// If the number of scores is not the number of classes.
    pub fn apply(&self, row: &mut [f64]) -> Result<()> {
        if row.len() != self.classes.len() {
            let (found, expected) = (row.len(), self.classes.len());
            return Err(Error::Length { what: "the row of scores", found, expected });
        }
        self.correct(row, None);
        Ok(())
    }

    /// Replaces the scores of a row, one per class, with the intercepts of its group.
    fn correct(&self, row: &mut [f64], group: Option<&[f64]>) {
        match &self.fitted {
            Fitted::Logistic { weights, intercepts } => {
                let logs: Vec<f64> = row.iter().map(|&score| log_score(score)).collect();
                for ((score, weights), intercept) in row.iter_mut().zip(weights).zip(intercepts) {
                    *score = weights.iter().zip(&logs).map(|(weight, log)| weight * log).sum::<f64>() + intercept;
                }
                if let Some(group) = group {
                    row.iter_mut().zip(group).for_each(|(logit, own)| *logit += own);
                }
                softmax(row);
            }
            Fitted::Isotonic { curves } => {
                let sum: f64 = row.iter().zip(curves).map(|(&score, curve)| curve.at(score)).sum();
                if sum > 0.0 {
                    row.iter_mut().zip(curves).for_each(|(score, curve)| *score = curve.at(*score) / sum);
                }
            }
        }
    }

    /// Returns the calibrated scores of some rows of a table, row by row.
    ///
    /// # Errors
    /// If the classes differ, or a score is invalid.
    pub fn apply_rows(&self, scores: &Scores<'_>, rows: Range<usize>) -> Result<Vec<f64>> {
        self.check_classes(scores)?;
        let groups = self.of_groups(scores);
        corrected(scores, rows, |row| (self, of_row(&groups, scores, row)))
    }

    fn check_classes(&self, scores: &Scores<'_>) -> Result<()> {
        if &self.classes == scores.classes() {
            return Ok(());
        }
        let (fitted, found) = (self.classes.to_string(), scores.classes().to_string());
        Err(not_calibrated(format!(
            "the calibration is for the classes {fitted}, but the table has {found}; use the same order"
        )))
    }
}

/// Returns the intercepts of the group of a row, from those of each group.
fn of_row<'a>(groups: &[Option<&'a [f64]>], scores: &Scores<'_>, row: usize) -> Option<&'a [f64]> {
    let code = scores.groups()?.codes[row];
    groups.get(code as usize).copied().flatten()
}

/// Returns the names of the groups of a table.
fn group_names<'a>(scores: &Scores<'a>) -> Result<&'a [String]> {
    match scores.groups() {
        Some(groups) => Ok(groups.names),
        None => Err(not_calibrated("the table has no groups; add them with `Scores::with_groups`".into())),
    }
}

/// Returns the scores of some rows, each corrected by its calibration and the intercepts of its group.
fn corrected<'a>(
    scores: &Scores<'_>,
    rows: Range<usize>,
    calibration: impl Fn(usize) -> (&'a Calibration, Option<&'a [f64]>),
) -> Result<Vec<f64>> {
    let mut values = Vec::with_capacity(rows.len() * scores.classes().len());
    scores.read_rows(rows, |index, row| {
        let start = values.len();
        values.extend(row.iter().map(|&units| GRID.value(units)));
        let (calibration, group) = calibration(index);
        calibration.correct(&mut values[start..], group);
        Ok(())
    })?;
    Ok(values)
}

/// A calibration of the rows that it is fitted to: each row is corrected by a model that did not see it.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossFit {
    seed: u64,
    overall: Calibration,
    folds: Vec<Calibration>,
}

impl CrossFit {
    /// Fits one model to all rows with known truth, and one without each fold. The fold of a row depends on the seed and
    /// its key, so rows with the same key are in the same fold.
    ///
    /// # Errors
    /// If a score is invalid, or a class does not occur in the truth outside a fold.
    pub fn fit(scores: &Scores<'_>, method: Method, seed: u64) -> Result<CrossFit> {
        CrossFit::of(scores, method, seed, None)
    }

    /// Fits logistic models with intercepts of the groups of the table. The intercepts of small groups shrink to those of
    /// all rows.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), or if the table has no groups.
    pub fn fit_by_group(scores: &Scores<'_>, seed: u64) -> Result<CrossFit> {
        CrossFit::of(scores, Method::Logistic, seed, Some(group_names(scores)?))
    }

    fn of(scores: &Scores<'_>, method: Method, seed: u64, names: Option<&[String]>) -> Result<CrossFit> {
        let keys = scores.keys();
        let sample = Sample::new(scores, |row| fold_of(seed, keys.of(row)))?;
        let fit = |fold: Option<Fold>| Calibration::of(scores.classes(), &sample, fold, method, names);
        let overall = fit(None)?;
        let folds: Result<Vec<Calibration>> = (0..FOLDS).into_par_iter().map(|fold| fit(Some(fold))).collect();
        Ok(CrossFit { seed, overall, folds: folds? })
    }

    /// Returns the model of all rows, to correct other tables.
    pub fn overall(&self) -> &Calibration {
        &self.overall
    }

    /// Returns the number of folds.
    pub fn folds(&self) -> usize {
        self.folds.len()
    }

    /// Returns the calibrated scores of some rows of the table of the fit, row by row. Rows without truth are corrected
    /// by the model of all rows.
    ///
    /// # Errors
    /// If the classes differ, or a score is invalid.
    pub fn apply_rows(&self, scores: &Scores<'_>, rows: Range<usize>) -> Result<Vec<f64>> {
        self.overall.check_classes(scores)?;
        let keys = scores.keys();
        let of_overall = self.overall.of_groups(scores);
        let of_folds: Vec<_> = self.folds.iter().map(|fold| fold.of_groups(scores)).collect();
        corrected(scores, rows, |row| match scores.truth() {
            Some(truth) if truth[row] != UNCODED => {
                let fold = usize::from(fold_of(self.seed, keys.of(row)));
                (&self.folds[fold], of_row(&of_folds[fold], scores, row))
            }
            _ => (&self.overall, of_row(&of_overall, scores, row)),
        })
    }
}

/// Returns the fold of a row.
fn fold_of(seed: u64, key: u64) -> Fold {
    seed::below(seed::hash(seed, key, SALT), FOLDS.into()) as Fold
}
