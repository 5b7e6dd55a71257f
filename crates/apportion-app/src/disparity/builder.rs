//! Compares an outcome between classes with every estimator, for `disparity` and for the reports of `compare` and
//! `audit`.

use std::cell::OnceCell;

use apportion::estimate::{
    Birdie, BirdieOptions, CellBounds, Estimate, FEW_PER_GROUP, IMPUTATIONS, Imputed, Inference, LabelEstimator,
    Linear, Outcomes, Pooling, SMALL_CELL, Weighted,
};
use apportion::text::{Message, Setting};
use apportion::{Scores, Settings};
use apportion_io::{OutcomeColumn, Table, TableOptions};
use apportion_report::{BirdieFit, Disparity, Estimator, LabelKind, Method, Ratios, SurveyWeights};
use serde::{Deserialize, Serialize};

use super::bracket::brackets;
use super::error_rates::ErrorRatesBuilder;
use super::regression::{RegressionBuilder, RegressionColumns};
use crate::labels::Assignment;
use crate::{Context, Error, Result, text};

/// With fewer groups, the intervals of partial pooling were slightly too short in simulations.
const FEW_GROUPS: usize = 20;

/// The scores hardly identify a class if the mean score of its expected members, Σ q² / Σ q, is lower than this.
const WEAK: f64 = 0.2;

/// A remark about BIRDiE if the outcome is a number.
const NORMAL: &str = "BIRDiE assumes that the numbers of each class have a normal distribution. With skewed numbers or \
                      outliers it can be far off; consider their logarithms, or a share such as that of numbers above a limit.";

/// Settings of an outcome.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OutcomeSettings {
    /// The column.
    pub outcome: Option<String>,
    /// The value that counts as 1; all others count as 0.
    pub outcome_value: Option<String>,
    /// The column with the survey weight of each person.
    pub weight: Option<String>,
    /// What the intervals of the weighted estimator are about.
    pub inference: Inference,
    /// Columns that together define cells of similar people, for bounds.
    pub cells: Vec<String>,
    /// The class with which others are compared.
    pub against: Option<String>,
    /// The favorable value of the outcome, for ratios of rates. It counts as 1.
    pub favorable: Option<String>,
    /// The class whose rate others are divided by.
    pub baseline: Option<String>,
    /// How BIRDiE combines groups.
    pub pooling: Pooling,
    /// Columns on which the outcome may also depend in BIRDiE; their combinations with the groups are its groups.
    pub covariates: Vec<String>,
    /// Whether to skip the bootstrap of BIRDiE.
    pub no_bootstrap: bool,
    /// Whether estimates from few people are shown.
    pub small_cells: SmallCells,
}

/// Whether estimates with an effective sample size below 5 are shown: in text, files, JSON, reports and Python alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SmallCells {
    /// They are hidden, because they could identify individuals.
    #[default]
    Hide,
    /// They are shown.
    Show,
}

impl OutcomeSettings {
    /// Adds the required columns to the options.
    pub fn ask(&self, options: &mut TableOptions) {
        let value = self.counted().cloned();
        options.outcome = self.outcome.as_ref().map(|column| OutcomeColumn { column: column.clone(), value });
        options.weight.clone_from(&self.weight);
        options.cells.clone_from(&self.cells);
        options.covariates.clone_from(&self.covariates);
    }

    /// Returns the value that counts as 1, if it is given.
    fn counted(&self) -> Option<&String> {
        self.outcome_value.as_ref().or(self.favorable.as_ref())
    }

    /// Refuses settings of an outcome whose required settings are missing, or that contradict each other.
    ///
    /// # Errors
    /// If there are such settings.
    pub fn check(&self) -> Result<()> {
        let given = [
            (self.outcome_value.is_some(), Setting::OutcomeValue),
            (self.weight.is_some(), Setting::Weight),
            (self.inference != Inference::default(), Setting::Inference),
            (!self.cells.is_empty(), Setting::Cells),
            (self.against.is_some(), Setting::Against),
            (self.favorable.is_some(), Setting::Favorable),
            (self.baseline.is_some(), Setting::Baseline),
            (self.pooling != Pooling::default(), Setting::Pooling),
            (!self.covariates.is_empty(), Setting::Covariates),
            (self.no_bootstrap, Setting::NoBootstrap),
            (self.small_cells != SmallCells::default(), Setting::SmallCells),
        ];
        if self.baseline.is_some() && self.favorable.is_none() {
            return Err(Error::settings(
                Message::from(Setting::Baseline) + " needs " + Setting::Favorable.with("VALUE"),
            ));
        }
        if self.favorable.as_ref().is_some_and(|value| self.counted() != Some(value)) {
            let problem = Message::from(Setting::Favorable) + " and " + Setting::OutcomeValue;
            return Err(Error::settings(problem + " name different values; leave one of them out"));
        }
        match given.into_iter().find(|(given, _)| *given && self.outcome.is_none()) {
            Some((_, setting)) => {
                Err(Error::settings(Message::from(setting) + " needs " + Setting::Outcome.with("COL")))
            }
            None => Ok(()),
        }
    }

    /// Returns the facts about the outcome for a report.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let Some(outcome) = &self.outcome else { return Vec::new() };
        let value = self.counted().map_or_else(String::new, |value| format!("; {value} counts as 1"));
        let mut facts = vec![("Outcome", format!("column {outcome}{value}"))];
        facts.extend(self.weight.as_ref().map(|weight| ("Survey weights", format!("column {weight}"))));
        if !self.cells.is_empty() {
            facts.push(("Cells of similar people", self.cells.join(", ")));
        }
        if !self.covariates.is_empty() {
            facts.push(("Covariates of BIRDiE", self.covariates.join(", ")));
        }
        facts
    }
}

/// Collects the estimators of an outcome. Labels are added one after another and need not be kept.
pub struct DisparityBuilder<'a> {
    table: &'a Table,
    scores: &'a Scores<'a>,
    outcome: String,
    outcomes: Outcomes<'a>,
    survey: Option<SurveyWeights>,
    inference: Inference,
    weighted: Weighted,
    bounds: Option<CellBounds>,
    against: usize,
    birdie: BirdieOptions,
    /// Where the fit of BIRDiE is kept, if it is needed later.
    fit: Option<&'a OnceCell<Birdie>>,
    small_cells: SmallCells,
    ratios: Option<Ratios>,
    labels: Vec<Estimator>,
    regressions: Option<RegressionBuilder<'a>>,
    error_rates: Option<ErrorRatesBuilder<'a>>,
}

impl<'a> DisparityBuilder<'a> {
    /// Starts a comparison and checks that it is possible. Returns `None` if no outcome was requested.
    ///
    /// # Errors
    /// If the class to compare with is unknown, or the outcomes, cells or scores are invalid.
    pub fn begin(
        table: &'a Table,
        scores: &'a Scores<'a>,
        settings: &OutcomeSettings,
    ) -> Result<Option<DisparityBuilder<'a>>> {
        let (Some(outcomes), Some(outcome)) = (table.outcomes()?, &settings.outcome) else { return Ok(None) };
        let position = |class: &Option<String>, setting: Setting| {
            let found = class.as_ref().map(|class| table.classes().position(class));
            found.transpose().map_err(|error| Error::Setting(setting, error))
        };
        let against = position(&settings.against, Setting::Against)?;
        let baseline = position(&settings.baseline, Setting::Baseline)?;
        let bounds = match table.cells() {
            Some(_) if outcomes.are_numbers() => {
                let problem =
                    Message::from(Setting::Cells) + format!(": bounds require a rate, but {outcome} is a number");
                let fix = Message::from("; choose a value to count with ")
                    + Setting::OutcomeValue.with("VALUE")
                    + ", or leave out ";
                return Err(Error::Settings(problem + fix + Setting::Cells));
            }
            Some((cells, number)) => {
                let bounds = CellBounds::of(scores, &outcomes, cells, number).map_err(|error| table.locate(error))?;
                refuse_alone(&bounds)?;
                Some(bounds)
            }
            None => None,
        };
        let weighted = Weighted::with_inference(scores, &outcomes, settings.inference);
        let weighted = weighted.map_err(|error| table.locate(error))?;
        let survey = settings.weight.as_ref().zip(weighted.weight()).map(|(column, sum)| SurveyWeights {
            column: column.clone(),
            sum,
            rows_without: table.rows_without_weight(),
        });
        let error_rates = match (table.predictions()?, table.prediction_column()) {
            (Some(predicted), Some(column)) => {
                Some(ErrorRatesBuilder::begin(column.to_owned(), &predicted, &outcomes)?)
            }
            _ => None,
        };
        let against = against.unwrap_or_else(|| weighted.largest());
        let expected = || weighted.posterior();
        let ratios = settings.favorable.as_ref().map(|_| Ratios { baseline, expected: expected() });
        let (outcome, labels, small_cells) = (outcome.clone(), Vec::new(), settings.small_cells);
        let mut birdie = BirdieOptions { pooling: settings.pooling, ..BirdieOptions::default() };
        if settings.no_bootstrap {
            birdie.replicates = 0;
        }
        let builder = DisparityBuilder {
            table,
            scores,
            outcome,
            outcomes,
            survey,
            inference: settings.inference,
            weighted,
            bounds,
            against,
            birdie,
            fit: None,
            small_cells,
            ratios,
            labels,
            regressions: None,
            error_rates,
        };
        Ok(Some(builder))
    }

    /// Adds regressions with controls, if they are requested.
    pub(super) fn with_regressions(mut self, columns: Option<&'a RegressionColumns<'a>>) -> Result<Self> {
        let builder = columns.map(|columns| RegressionBuilder::new(columns, self.scores, self.against));
        self.regressions = builder.transpose()?;
        Ok(self)
    }

    /// Keeps the fit of BIRDiE.
    #[must_use]
    pub fn keeping(self, fit: &'a OnceCell<Birdie>) -> DisparityBuilder<'a> {
        DisparityBuilder { fit: Some(fit), ..self }
    }

    /// Adds labels; if there are several draws, those of the first.
    ///
    /// # Errors
    /// If the labels do not match the scores.
    pub fn add(&mut self, name: &str, kind: LabelKind, assignment: &Assignment) -> Result<()> {
        let hard = match assignment {
            Assignment::Labels(draws) => LabelEstimator::of(self.scores, &self.outcomes, &draws[0])?,
            Assignment::People(allotment) => LabelEstimator::of_allotment(self.scores, &self.outcomes, allotment)?,
        };
        if let Some(regressions) = &mut self.regressions {
            regressions.add(name, assignment)?;
        }
        if let Some(rates) = &mut self.error_rates {
            rates.add(self.scores, name, kind, assignment)?;
        }
        let biases = if hard.truth().is_some() { hard.biases() } else { Vec::new() };
        self.labels.push(Estimator {
            name: name.to_owned(),
            method: Method::Labels,
            labels: Some(kind),
            estimates: hard.estimates(),
            biases,
        });
        Ok(())
    }

    /// Returns all estimators.
    ///
    /// # Errors
    /// If an estimator cannot be computed.
    pub fn finish(self, settings: &Settings, context: &Context) -> Result<Disparity> {
        let (scores, outcomes) = (self.scores, &self.outcomes);
        let own = estimator;
        let truth = LabelEstimator::of_truth(scores, outcomes)?.and_then(|hard| hard.truth());
        let mut estimators: Vec<Estimator> =
            truth.map(|truth| own("truth", Method::Truth, truth)).into_iter().chain(self.labels).collect();
        estimators.push(own("weighted", Method::Weighted, self.weighted.estimates()));
        let locate = |error| self.table.locate(error);
        let imputed = Imputed::of(scores, outcomes, IMPUTATIONS, settings.seed).map_err(locate)?;
        estimators.push(own("imputed", Method::Imputed, imputed.estimates()));
        let mut remarks = left_out(&self.weighted, self.survey.as_ref());
        remarks.extend(self.survey.as_ref().map(about_weights));
        remarks.extend(about_inference(self.inference).map(str::to_owned));
        if scores.classes().len() <= Linear::MAX_CLASSES {
            let linear = Linear::with(&self.weighted, scores, outcomes).map_err(locate)?;
            estimators.push(own("linear", Method::Linear, linear.estimates()));
            remarks.extend(about_linear(&linear, scores.classes().names()));
        } else {
            remarks
                .push(format!("The linear estimator supports up to {} classes and is left out.", Linear::MAX_CLASSES));
        }
        let options = BirdieOptions { seed: settings.seed, ..self.birdie };
        let birdie = Birdie::fit(&birdie_scores(self.table, scores)?, outcomes, &options).map_err(locate)?;
        estimators.push(own("BIRDiE", Method::Birdie, birdie.estimates().to_vec()));
        if outcomes.are_numbers() {
            remarks.push(NORMAL.to_owned());
        }
        remarks.extend(about_birdie(&birdie, &options, scores.classes().names(), context));
        remarks.extend(weak_classes(&self.weighted, scores.classes().names()));
        let fit = BirdieFit {
            pooled: birdie.pooled().to_vec(),
            groups: birdie.groups,
            people_per_group: birdie.people_per_group.clone(),
            identified_per_group: birdie.identified_per_group.clone(),
            replicates: options.replicates,
            converged: birdie.converged,
        };
        if let Some(kept) = self.fit {
            kept.get_or_init(|| birdie);
        }
        let intervals = self.bounds.as_ref().map(CellBounds::intervals);
        if let (Some(bounds), Some(intervals)) = (&self.bounds, &intervals) {
            estimators.push(own("bounds", Method::Bounds, bounds.estimates()));
            estimators.push(own("bounds 95%", Method::BoundsInterval, intervals.clone()));
            remarks.extend(about_cells(bounds));
        }
        let shows_small = self.small_cells == SmallCells::Show;
        let regressions = self.regressions.map(|own| own.finish(settings, shows_small, context)).transpose()?;
        let brackets = brackets(scores, outcomes, intervals.as_deref()).map_err(|error| self.table.locate(error))?;
        let error_rates = self.error_rates.map(|rates| rates.finish(scores, settings, self.against, shows_small));
        let error_rates = error_rates.transpose().map_err(locate)?;
        let mut disparity = Disparity {
            outcome: self.outcome,
            levels: outcomes.shown(),
            classes: scores.classes().names().to_vec(),
            against: self.against,
            known: self.weighted.known(),
            unknown: self.weighted.unknown(),
            survey: self.survey,
            inference: self.inference,
            estimators,
            birdie: Some(fit),
            ratios: self.ratios,
            shows_small,
            regressions,
            error_rates,
            brackets,
            limits_by_cells: intervals.is_some(),
            remarks,
        };
        let outside = disparity.outside_of_shares();
        if !outside.is_empty() {
            disparity.remarks.push(format!(
                "Linear estimates of shares are outside 0 to 100% for {}: the scores say little about these classes, or \
                 the assumption of linear does not hold.",
                outside.join(", ")
            ));
        }
        Ok(disparity)
    }
}

/// Returns the results of an estimator that does not use labels.
pub(super) fn estimator(name: &str, method: Method, estimates: Vec<Estimate>) -> Estimator {
    Estimator { name: name.to_owned(), method, labels: None, estimates, biases: Vec::new() }
}

fn left_out(weighted: &Weighted, survey: Option<&SurveyWeights>) -> Vec<String> {
    let (known, unknown) = (weighted.known().rows, weighted.unknown().rows);
    let all = text::count(known + unknown);
    let without_weight = survey.map_or(0, |survey| survey.rows_without);
    let left_out = [(unknown.saturating_sub(without_weight), "outcome"), (without_weight, "weight")];
    let remark = |(rows, what): (u64, &str)| {
        let rows = text::count(rows);
        format!("{rows} of {all} rows have no {what} and are left out of all estimates.")
    };
    left_out.into_iter().filter(|(rows, _)| *rows > 0).map(remark).collect()
}

fn about_weights(survey: &SurveyWeights) -> String {
    format!(
        "Estimates are weighted by the survey weights in column {}. The weights of people with an outcome sum to {}.",
        survey.column,
        survey.shown_sum()
    )
}

fn about_inference(inference: Inference) -> Option<&'static str> {
    match inference {
        Inference::Population => None,
        Inference::File => Some(
            "The intervals of weighted are about the means of this file's own people of each class: only their classes are \
             uncertain. All other intervals are about the population that the people were drawn from.",
        ),
    }
}

fn about_linear(linear: &Linear, classes: &[String]) -> Option<String> {
    let undetermined: Vec<&str> = linear.undetermined().into_iter().map(|class| classes[class].as_str()).collect();
    (!undetermined.is_empty()).then(|| {
        format!(
            "There are no linear estimates for {}: their scores are proportional to those of other classes, or a sum of \
             such scores.",
            undetermined.join(", ")
        )
    })
}

fn about_birdie(birdie: &Birdie, options: &BirdieOptions, classes: &[String], context: &Context) -> Vec<String> {
    let mut remarks = Vec::new();
    if !birdie.converged {
        remarks.push(format!("BIRDiE did not converge in {} passes; its estimates are approximate.", birdie.passes));
    }
    remarks.extend(about_pooling(birdie, classes, context));
    if birdie.is_sampled {
        let (replicates, rows) = (options.replicates, text::count(birdie.bootstrap_rows as u64));
        remarks.push(format!(
            "The standard errors of BIRDiE come from {replicates} bootstrap samples of {rows} random rows, scaled to all rows."
        ));
    }
    remarks
}

/// Returns remarks about classes with few people per group.
fn about_pooling(birdie: &Birdie, classes: &[String], context: &Context) -> Vec<String> {
    let few = |&class: &usize| (0.0..FEW_PER_GROUP).contains(&birdie.identified_per_group[class]);
    let few: Vec<usize> =
        (0..classes.len()).filter(|&class| birdie.people_per_group[class] > 0.0).filter(few).collect();
    if birdie.groups < 2 || few.is_empty() {
        return Vec::new();
    }
    let people = |&class: &usize| format!("{} ({:.1})", classes[class], birdie.identified_per_group[class]);
    let few = format!(
        "The scores identify few people per group of these classes, on average (the sum of squared scores): {}",
        few.iter().map(people).collect::<Vec<_>>().join(", ")
    );
    if !birdie.is_pooled() {
        let partial = (context.name_setting)(Setting::Pooling, Some("partial"));
        return vec![format!(
            "{few}. With separate groups, BIRDiE is biased toward the weighted estimate and its intervals are too narrow; \
             use {partial}."
        )];
    }
    let mut remarks = vec![format!(
        "{few}. BIRDiE pools the groups of such classes partially: small groups are shrunk to the others. This assumes that \
         differences between groups are unrelated to the share of the class in them."
    )];
    if birdie.groups < FEW_GROUPS {
        remarks.push(format!(
            "With fewer than {FEW_GROUPS} groups, the differences between groups are hard to estimate; the intervals of \
             BIRDiE may be slightly too short."
        ));
    }
    remarks
}

/// Returns the scores with the groups of BIRDiE: those of the table, combined with the covariates.
///
/// # Errors
/// If the groups are invalid.
pub(super) fn birdie_scores<'a>(table: &'a Table, scores: &Scores<'a>) -> Result<Scores<'a>> {
    Ok(match table.covariate_groups() {
        Some(groups) => scores.clone().with_groups(groups)?,
        None => scores.clone(),
    })
}

/// Returns a remark about classes that the scores hardly distinguish from others. The outcomes then determine little
/// about them, and BIRDiE's estimate depends on its assumptions in every detail.
fn weak_classes(weighted: &Weighted, classes: &[String]) -> Option<String> {
    let strength = weighted.mean_own_score();
    let mut weak = Vec::new();
    for (name, strength) in classes.iter().zip(strength) {
        if let Some(strength) = strength.filter(|strength| *strength < WEAK) {
            weak.push(format!("{name} ({strength:.2})"));
        }
    }
    (!weak.is_empty()).then(|| {
        format!(
            "The scores hardly identify these classes (mean score of their expected members): {}. BIRDiE's estimates for them can \
             be far off, even outside their intervals; merge such classes with others.",
            weak.join(", ")
        )
    })
}

/// Refuses cells if most people are alone in their cell, because the bounds then only repeat the weighted estimate.
fn refuse_alone(bounds: &CellBounds) -> Result<()> {
    let sizes = bounds.sizes();
    if 2 * sizes.alone <= sizes.people {
        return Ok(());
    }
    let problem = format!(
        ": {} of {} people are alone in their cell, so the bounds would carry no information; choose columns with fewer \
         values",
        text::count(sizes.alone),
        text::count(sizes.people)
    );
    Err(apportion_io::Error::Settings(Message::from(Setting::Cells) + problem).into())
}

fn about_cells(bounds: &CellBounds) -> Option<String> {
    let sizes = bounds.sizes();
    let mean = sizes.people as f64 / sizes.cells.max(1) as f64;
    (10 * sizes.in_small > sizes.people || mean < SMALL_CELL as f64).then(|| {
        format!(
            "A cell has {mean:.1} people on average, and {} of {} people are in cells of fewer than {SMALL_CELL}. The bounds are \
             too narrow in such cells; use those of \"bounds 95%\", or columns with fewer values.",
            text::count(sizes.in_small),
            text::count(sizes.people)
        )
    })
}
