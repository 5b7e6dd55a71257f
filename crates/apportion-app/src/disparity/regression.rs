//! Regressions of the outcome on class and controls, for every estimator, and the description of the method.

use apportion::audit::Interval;
use apportion::estimate::regression::{
    Absent, Control, ControlValues, Effect, Model, NO_CLUSTER, Problem, Regression, Regressions as Fits,
};
use apportion::estimate::{IMPUTATIONS, Outcomes};
use apportion::text::{Message, Setting};
use apportion::{Scores, Settings};
use apportion_io::{ControlColumn, Table, TableOptions};
use apportion_report::{AdjustedEstimator, Method, REGRESSION_CAVEAT, Regressions, UsedControl};
use serde::{Deserialize, Serialize};

use crate::labels::Assignment;
use crate::{Context, Error, Result, text};

/// With fewer clusters, cluster-robust standard errors are usually too small.
const FEW_CLUSTERS: u64 = 30;

/// Settings of regressions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RegressionSettings {
    /// The columns that are held constant.
    pub controls: Vec<String>,
    /// The column with the clusters of people whose outcomes are related.
    pub cluster: Option<String>,
    /// The model.
    pub regression: Option<Model>,
}

impl RegressionSettings {
    /// Adds the required columns to the options.
    pub(super) fn ask(&self, options: &mut TableOptions) {
        options.controls = self.controls.iter().map(|text| ControlColumn::of(text)).collect();
        options.cluster.clone_from(&self.cluster);
    }

    /// Refuses settings whose required settings are missing.
    pub(super) fn check(&self) -> Result<()> {
        let given = [(self.cluster.is_some(), Setting::Cluster), (self.regression.is_some(), Setting::Regression)];
        match given.into_iter().find(|(given, _)| *given && self.controls.is_empty()) {
            Some((_, setting)) => {
                Err(Error::settings(Message::from(setting) + " needs " + Setting::Controls.with("COL")))
            }
            None => Ok(()),
        }
    }

    /// Returns the facts for a report.
    pub(super) fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        if !self.controls.is_empty() {
            facts.push(("Controls", self.controls.join(", ")));
        }
        facts.extend(self.cluster.iter().map(|column| ("Clusters", format!("column {column}"))));
        facts
    }
}

/// The columns of regressions.
pub(super) struct RegressionColumns<'t> {
    outcome: String,
    value: Option<String>,
    outcomes: Outcomes<'t>,
    controls: Vec<Control<'t>>,
    clusters: Option<&'t [u32]>,
    cluster: Option<String>,
    model: Model,
}

impl<'t> RegressionColumns<'t> {
    /// Returns the columns, if regressions are requested.
    pub(super) fn of(
        table: &'t Table,
        outcome: Option<&String>,
        settings: &RegressionSettings,
    ) -> Result<Option<RegressionColumns<'t>>> {
        let (Some(outcomes), Some(outcome), false) = (table.outcomes()?, outcome, settings.controls.is_empty()) else {
            return Ok(None);
        };
        let model = settings.regression.unwrap_or_default();
        let shown = outcomes.shown();
        let choose = || Message::from("choose a value to count with ") + Setting::OutcomeValue.with("VALUE");
        if shown.len() > 1 {
            let problem = format!(": regressions need a rate or a number, but {outcome} has {} values; ", shown.len());
            return Err(Error::Settings(Message::from(Setting::Controls) + problem + choose()));
        }
        if outcomes.are_numbers() && model == Model::Logistic {
            let problem = format!(": the logistic model needs a rate, but {outcome} is a number; ");
            let fix = Message::from(", or use ") + Setting::Regression.with("linear");
            return Err(Error::Settings(Message::from(Setting::Regression) + problem + choose() + fix));
        }
        let clusters = table.clusters();
        let first = clusters.and_then(|clusters| clusters.iter().find(|own| **own != NO_CLUSTER));
        if clusters.is_some_and(|clusters| clusters.iter().all(|own| *own == NO_CLUSTER || Some(own) == first)) {
            let problem = ": all rows are in the same cluster, so there are no cluster-robust errors; name another column or \
                           leave it out";
            return Err(Error::Settings(Message::from(Setting::Cluster) + problem));
        }
        Ok(Some(RegressionColumns {
            outcome: outcome.clone(),
            value: shown.into_iter().next(),
            outcomes,
            controls: table.controls(),
            clusters,
            cluster: settings.cluster.clone(),
            model,
        }))
    }
}

/// Collects the regressions of all estimators. Labels are added one after another and need not be kept.
pub(super) struct RegressionBuilder<'a> {
    columns: &'a RegressionColumns<'a>,
    classes: &'a [String],
    fits: Fits<'a>,
    against: usize,
    labels: Vec<AdjustedEstimator>,
}

impl<'a> RegressionBuilder<'a> {
    pub(super) fn new(
        columns: &'a RegressionColumns<'a>,
        scores: &'a Scores<'a>,
        against: usize,
    ) -> Result<RegressionBuilder<'a>> {
        let problem = Problem {
            outcomes: &columns.outcomes,
            controls: &columns.controls,
            clusters: columns.clusters,
            against,
            model: columns.model,
        };
        let fits = Fits::new(scores, problem).map_err(|error| Error::Setting(Setting::Controls, error))?;
        if fits.used().rows == 0 {
            let problem = ": no row has an outcome and all controls; check the columns, or name fewer";
            return Err(Error::Settings(Message::from(Setting::Controls) + problem));
        }
        Ok(RegressionBuilder { columns, classes: scores.classes().names(), fits, against, labels: Vec::new() })
    }

    /// Adds labels; if there are several draws, those of the first.
    pub(super) fn add(&mut self, name: &str, assignment: &Assignment) -> Result<()> {
        if self.fits.is_outcome_constant() {
            return Ok(());
        }
        let result = match assignment {
            Assignment::Labels(draws) => self.fits.labels(&draws[0])?,
            Assignment::People(allotment) => self.fits.allotment(allotment)?,
        };
        self.labels.push(estimator(name, Method::Labels, result));
        Ok(())
    }

    /// Returns the regressions of all estimators.
    pub(super) fn finish(self, settings: &Settings, shows_small: bool, context: &Context) -> Result<Regressions> {
        let (fits, model) = (&self.fits, self.columns.model);
        let mut estimators = Vec::new();
        if !fits.is_outcome_constant() {
            estimators.extend(fits.truth()?.map(|own| estimator("truth", Method::Truth, own)));
            estimators.extend(self.labels);
            estimators.push(estimator("weighted", Method::Weighted, fits.weighted()?));
            estimators.push(estimator("imputed", Method::Imputed, fits.imputed(IMPUTATIONS, settings.seed)?));
            if model == Model::Linear {
                estimators.push(estimator("linear", Method::Linear, fits.linear()?));
            }
        }
        let references = fits.reference_levels();
        let control = |(own, reference): (&Control<'_>, &Option<usize>)| UsedControl {
            name: own.name.to_owned(),
            levels: match own.values {
                ControlValues::Numbers(_) => None,
                ControlValues::Levels { names, .. } => Some(names.to_vec()),
            },
            reference: *reference,
        };
        let mut own = Regressions {
            model,
            controls: self.columns.controls.iter().zip(&references).map(control).collect(),
            cluster: self.columns.cluster.clone(),
            used: fits.used(),
            unused: fits.unused().clone(),
            estimators,
            paragraph: String::new(),
            remarks: Vec::new(),
            shows_small,
            against: self.against,
        };
        own.paragraph = paragraph(&own, self.columns, self.classes, settings.seed);
        own.remarks = remarks(&own, fits, self.classes, context);
        Ok(own)
    }
}

fn estimator(name: &str, method: Method, result: Regression) -> AdjustedEstimator {
    AdjustedEstimator { name: name.to_owned(), method, result }
}

/// Describes the method in sentences that can be cited.
fn paragraph(own: &Regressions, columns: &RegressionColumns<'_>, classes: &[String], seed: u64) -> String {
    let outcome = match &columns.value {
        Some(value) => format!("{} (1 if it is {value}, 0 otherwise)", columns.outcome),
        None => columns.outcome.clone(),
    };
    let model = match own.model {
        Model::Linear if columns.value.is_some() => "by least squares (a linear probability model)",
        Model::Linear => "by least squares",
        Model::Logistic => "by logistic regression, and gaps are average marginal effects",
    };
    let labels: Vec<&str> =
        own.estimators.iter().filter(|own| own.method == Method::Labels).map(|own| own.name.as_str()).collect();
    let mut entries = Vec::new();
    for method in [Method::Truth, Method::Labels, Method::Weighted, Method::Imputed, Method::Linear] {
        if !own.estimators.iter().any(|own| own.method == method) {
            continue;
        }
        entries.push(match method {
            Method::Truth => "the known class (truth)".to_owned(),
            Method::Labels => format!("labels ({})", labels.join(", ")),
            Method::Weighted => "one copy of each person per class, weighted by the scores (weighted)".to_owned(),
            Method::Imputed => format!(
                "classes drawn from the scores {IMPUTATIONS} times with seed {seed} and combined by Rubin's rules (imputed)"
            ),
            Method::Linear => "the scores themselves (linear)".to_owned(),
            Method::Birdie | Method::Bounds | Method::BoundsInterval => continue,
        });
    }
    let errors = match &own.cluster {
        Some(column) => {
            let clusters = own.estimators.iter().filter_map(|own| own.result.clusters).max().unwrap_or(0);
            format!("clustered by {column} ({} clusters, CR1)", text::count(clusters))
        }
        None => "robust to heteroskedasticity (HC1)".to_owned(),
    };
    let weights = if columns.outcomes.is_weighted() { " People count with their survey weights." } else { "" };
    format!(
        "Method: {outcome} was regressed on class, with {} as the baseline, and on {}, {model}, for {} people. Class is \
         measured by {}.{weights} Standard errors are {errors}; those of weighted count the copies of a person as one. Intervals are 95% \
         intervals. Computed with apportion {}.",
        classes[own.against],
        own.describe_controls(),
        text::count(own.used.people),
        entries.join("; by "),
        env!("CARGO_PKG_VERSION"),
    )
}

fn remarks(own: &Regressions, fits: &Fits<'_>, classes: &[String], context: &Context) -> Vec<String> {
    let mut remarks = Vec::new();
    remarks.extend(unused_rows(own));
    if own.estimators.is_empty() {
        remarks.push("There are no regressions, because everyone has the same outcome.".to_owned());
        return remarks;
    }
    let constant: Vec<&str> = fits.constant_controls().iter().map(|&each| own.controls[each].name.as_str()).collect();
    if !constant.is_empty() {
        remarks.push(format!("Controls that are the same for everyone are left out: {}.", constant.join(", ")));
    }
    let by_reason = |reason: Absent, of: &dyn Fn(&AdjustedEstimator) -> Vec<String>| {
        let each = own.estimators.iter().filter(|own| own.result.converged).map(|own| (own.name.as_str(), of(own)));
        let mut grouped: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
        for (name, found) in each.filter(|(_, found)| !found.is_empty()) {
            match grouped.iter_mut().find(|(same, _)| *same == found) {
                Some((_, names)) => names.push(name),
                None => grouped.push((found, vec![name])),
            }
        }
        let sentence = |(found, names): (Vec<String>, Vec<&str>)| {
            let why = match reason {
                Absent::Empty => "no people",
                Absent::Collinear => "a combination of other columns",
                Absent::SameOutcome => "all of these people have the same outcome; they are left out",
                Absent::NoFit => "no fit",
            };
            format!("No estimate in the regressions of {} for {}: {why}.", names.join(", "), found.join(", "))
        };
        grouped.into_iter().map(sentence).collect::<Vec<_>>()
    };
    for reason in [Absent::Empty, Absent::Collinear, Absent::SameOutcome] {
        remarks.extend(by_reason(reason, &|each| {
            let absent = |class: &usize| each.result.classes[*class].absent == Some(reason);
            (0..classes.len()).filter(absent).map(|class| classes[class].clone()).collect()
        }));
        if reason != Absent::Empty {
            remarks.extend(by_reason(reason, &|each| {
                let absent = each.result.controls.iter().filter(|own| own.absent == Some(reason));
                absent.map(|column| own.column_name(column)).collect()
            }));
        }
    }
    let failed: Vec<&AdjustedEstimator> = own.estimators.iter().filter(|own| !own.result.converged).collect();
    if !failed.is_empty() {
        let names: Vec<&str> = failed.iter().map(|own| own.name.as_str()).collect();
        let mut columns: Vec<usize> = failed.iter().flat_map(|own| own.result.separated_by.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        let linear = (context.name_setting)(Setting::Regression, Some("linear"));
        let columns: Vec<&str> = columns.into_iter().map(|each| own.controls[each].name.as_str()).collect();
        let why = match columns.is_empty() {
            true => "did not converge".to_owned(),
            false => format!(
                "have no estimates, because {} predicts the outcome perfectly for some people",
                columns.join(" or ")
            ),
        };
        remarks.push(format!(
            "The logistic regressions of {} {why}; name fewer controls, or use {linear}.",
            names.join(", ")
        ));
    }
    if own.model == Model::Logistic {
        remarks.push(
            "There is no logistic regression on the scores (linear): the rate given the scores is a mixture of the rates of \
             the classes, which is not a logistic function of the scores."
                .to_owned(),
        );
    }
    let clusters = own.estimators.iter().filter_map(|own| own.result.clusters).min();
    if let Some(clusters) = clusters.filter(|clusters| *clusters < FEW_CLUSTERS) {
        remarks.push(format!(
            "With only {clusters} clusters, standard errors clustered by {} are usually too small.",
            own.cluster.as_deref().unwrap_or_default()
        ));
    }
    remarks
}

/// Returns a remark on the rows that are left out.
fn unused_rows(own: &Regressions) -> Option<String> {
    let unused = &own.unused;
    let mut reasons = Vec::new();
    if unused.without_control > 0 {
        let each = own.controls.iter().zip(&unused.controls).filter(|(_, rows)| **rows > 0);
        let each: Vec<String> = each.map(|(own, rows)| format!("{} in {}", own.name, text::count(*rows))).collect();
        reasons.push(format!(
            "{} without a control (missing: {})",
            text::count(unused.without_control),
            each.join(", ")
        ));
    }
    if unused.without_cluster > 0 {
        reasons.push(format!("{} without a cluster", text::count(unused.without_cluster)));
    }
    if unused.without_weight > 0 {
        reasons.push(format!("{} with a weight of zero", text::count(unused.without_weight)));
    }
    let all = unused.without_control + unused.without_cluster + unused.without_weight;
    let rows = own.used.rows + all;
    (all > 0).then(|| {
        let (all, rows) = (text::count(all), text::count(rows));
        format!("{all} of {rows} rows with an outcome are left out of the regressions: {}.", reasons.join(", "))
    })
}

/// Regressions of the outcome on class and controls.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Regressions"))]
pub struct RegressionsContract {
    /// The model: `linear` or `logistic`.
    pub model: &'static str,
    /// The controls.
    pub controls: Vec<ControlContract>,
    /// The column of clusters; null without clusters.
    pub cluster: Option<String>,
    /// The covariance: `HC1`, or `CR1` with clusters.
    pub covariance: &'static str,
    /// The number of rows that are used.
    pub rows: u64,
    /// The number of people that are used.
    pub people: u64,
    /// The number of rows with an outcome that are left out, because a control, the cluster or the weight is missing.
    pub left_out: u64,
    /// The estimators; empty if everyone has the same outcome.
    pub estimators: Vec<AdjustedContract>,
    /// The method in sentences that can be cited.
    pub method: String,
    /// What to know about the coefficients.
    pub caveat: &'static str,
    /// Remarks on the estimates.
    pub remarks: Vec<String>,
}

/// A control of the regressions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Control"))]
pub struct ControlContract {
    /// The column.
    pub column: String,
    /// The categories; null for a number.
    pub categories: Option<Vec<String>>,
    /// The category that others are compared with, the most frequent one; null for a number.
    pub reference: Option<String>,
}

/// The regression of an estimator.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Regression"))]
pub struct AdjustedContract {
    /// The name of the estimator or of the labels.
    pub name: String,
    /// Its method: `truth`, `labels`, `weighted`, `imputed` or `linear`.
    pub method: &'static str,
    /// The number of people.
    pub people: u64,
    /// The number of clusters; null without clusters.
    pub clusters: Option<u64>,
    /// The classes.
    pub classes: Vec<AdjustedClassContract>,
    /// The coefficients of the controls.
    pub controls: Vec<CoefficientContract>,
}

/// A class in a regression.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "AdjustedClass"))]
pub struct AdjustedClassContract {
    /// The class.
    pub class: String,
    /// The class that it is compared with.
    pub against: String,
    /// Whether the figures are null because the effective sample size of a class is below 5; see `small_cells`.
    pub hidden: bool,
    /// The difference between the class and the baseline class among people with equal controls: the coefficient of the
    /// linear model, or the average marginal effect of the logistic model. Null for the baseline and without an estimate.
    pub gap: Option<EffectContract>,
    /// The coefficient of the logistic model (a difference of log odds); null for the linear model.
    pub log_odds: Option<EffectContract>,
    /// The odds ratio of the logistic model, with the interval of the coefficient; null for the linear model.
    pub odds_ratio: Option<OddsContract>,
    /// The effective sample size; null if hidden.
    pub effective_n: Option<f64>,
    /// Why there is no estimate: `empty`, `collinear`, `same_outcome` or `no_fit`; null if there is one.
    pub absent: Option<&'static str>,
}

/// A coefficient of a control.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Coefficient"))]
pub struct CoefficientContract {
    /// The column of the control.
    pub column: String,
    /// The category, compared with the reference; null for a number.
    pub category: Option<String>,
    /// Whether the coefficient is null because fewer than 5 people have the category; see `small_cells`.
    pub hidden: bool,
    /// The coefficient: of log odds in the logistic model. Null without an estimate.
    pub effect: Option<EffectContract>,
    /// Why there is no estimate: `empty`, `collinear`, `same_outcome` or `no_fit`; null if there is one.
    pub absent: Option<&'static str>,
}

/// An estimate with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "Effect"))]
pub struct EffectContract {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error; null if there are not more people than coefficients.
    pub error: Option<f64>,
    /// Its 95% interval.
    pub interval: Option<Interval>,
    /// The p-value of the hypothesis that the effect is zero.
    pub p_value: Option<f64>,
}

/// An odds ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields, rename = "OddsRatio"))]
pub struct OddsContract {
    /// The odds of the class divided by those of the baseline class.
    pub ratio: f64,
    /// Its 95% interval.
    pub interval: Option<Interval>,
}

impl RegressionsContract {
    /// Returns the serialized form of regressions.
    pub(super) fn of(own: &Regressions, classes: &[String]) -> RegressionsContract {
        let control = |control: &UsedControl| ControlContract {
            column: control.name.clone(),
            categories: control.levels.clone(),
            reference: control.reference.and_then(|level| control.levels.as_ref()?.get(level).cloned()),
        };
        RegressionsContract {
            model: match own.model {
                Model::Linear => "linear",
                Model::Logistic => "logistic",
            },
            controls: own.controls.iter().map(control).collect(),
            cluster: own.cluster.clone(),
            covariance: if own.cluster.is_some() { "CR1" } else { "HC1" },
            rows: own.used.rows,
            people: own.used.people,
            left_out: own.unused.without_control + own.unused.without_cluster + own.unused.without_weight,
            estimators: own.estimators.iter().map(|each| AdjustedContract::of(own, each, classes)).collect(),
            method: own.paragraph.clone(),
            caveat: REGRESSION_CAVEAT,
            remarks: own.remarks.clone(),
        }
    }
}

impl AdjustedContract {
    fn of(own: &Regressions, each: &AdjustedEstimator, classes: &[String]) -> AdjustedContract {
        let class = |class: usize| {
            let shown = own.class(each, class);
            let coefficient = shown.and_then(|own| own.gap);
            let logistic = coefficient.filter(|_| own.model == Model::Logistic);
            AdjustedClassContract {
                class: classes[class].clone(),
                against: classes[own.against].clone(),
                hidden: shown.is_none(),
                gap: own.gap(each, class).map(EffectContract::of),
                log_odds: logistic.map(EffectContract::of),
                odds_ratio: own.odds_ratio(each, class).map(|(ratio, interval)| OddsContract { ratio, interval }),
                effective_n: shown.map(|own| own.effective_n),
                absent: each.result.classes[class].absent.map(reason),
            }
        };
        let coefficient = |column: &apportion::estimate::regression::ControlEffect| {
            let (control, hidden) = (&own.controls[column.control], own.is_control_hidden(column));
            CoefficientContract {
                column: control.name.clone(),
                category: column.level.and_then(|level| control.levels.as_ref()?.get(level).cloned()),
                hidden,
                effect: column.effect.filter(|_| !hidden).map(EffectContract::of),
                absent: column.absent.map(reason),
            }
        };
        AdjustedContract {
            name: each.name.clone(),
            method: each.method.id(),
            people: each.result.people,
            clusters: each.result.clusters,
            classes: (0..classes.len()).map(class).collect(),
            controls: each.result.controls.iter().map(coefficient).collect(),
        }
    }
}

impl EffectContract {
    fn of(own: Effect) -> EffectContract {
        EffectContract { estimate: own.estimate, error: own.error, interval: own.interval, p_value: own.p_value }
    }
}

fn reason(own: Absent) -> &'static str {
    match own {
        Absent::Empty => "empty",
        Absent::Collinear => "collinear",
        Absent::SameOutcome => "same_outcome",
        Absent::NoFit => "no_fit",
    }
}
