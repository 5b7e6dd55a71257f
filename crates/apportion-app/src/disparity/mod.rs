//! Compares an outcome between classes with every estimator.

mod bracket;
mod builder;
mod contract;
mod csv;
mod error_rates;
mod regression;
mod show;
mod updated;

use std::cell::OnceCell;
use std::path::PathBuf;

use apportion::rule::{Joint, Thresholds};
use apportion::text::{Message, Setting};
use apportion::{Labels, Match, Reference, Rule, Scores, Settings};
use apportion_io::{ClassColumn, Input, PlainColumn, Table};
use apportion_report::{Disparity, LabelKind};
use serde::{Deserialize, Serialize};

pub use bracket::{BracketContract, CovariancesContract, DifferenceContract, SensitivityContract, ViolationContract};
pub use builder::{DisparityBuilder, OutcomeSettings, SmallCells};
pub use contract::{
    BirdieContract, ClassContract, DisparityContract, EstimatorContract, GapContract, RatioContract, ValueContract,
    WeightContract,
};

pub use error_rates::{ErrorRatesContract, RateContract};
pub use regression::{
    AdjustedClassContract, AdjustedContract, CoefficientContract, ControlContract, EffectContract, OddsContract,
    RegressionSettings, RegressionsContract,
};
use updated::UpdatedScores;

use crate::class_map::ClassMap;
use crate::existing_labels::{self, Uncoded};
use crate::labels::Assignment;
use crate::provenance::InputHashes;
use crate::report::{ReportSettings, Role, StudyBuilder, WrittenReport, frontier, report_provenance};
use crate::results::ResultsFile;
use crate::settings::{Job, check};
use crate::table::TableSettings;
use crate::{Context, Error, Result};
use regression::RegressionColumns;

/// The outcome to compare, and the labels to use.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The table.
    #[serde(flatten)]
    pub table: TableSettings,
    /// The outcome. Its column is required.
    #[serde(flatten)]
    pub outcome: OutcomeSettings,
    /// Regressions with controls.
    #[serde(flatten)]
    pub regression: RegressionSettings,
    /// The column of a prediction, whose rates of true and false positives are compared.
    pub prediction: Option<String>,
    /// Columns with existing labels, to compare with those of the rules.
    pub label: Vec<String>,
    /// The class of each label value, for values that differ from the class names.
    pub label_map: ClassMap,
    /// The values that mean unlabeled; such rows are kept.
    pub uncoded: Uncoded,
    /// The report.
    #[serde(flatten)]
    pub report: ReportSettings,
    /// A file for the results, `.csv` or `.json`.
    pub output: Option<PathBuf>,
    /// A file or directory for the input with scores updated by the outcome; for a table in memory, whether to return them.
    pub write_scores: Option<String>,
    /// Whether to replace the results, the updated scores, the report and its figures if they exist.
    pub force: bool,
}

/// An outcome compared between classes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// The estimates of every estimator.
    #[serde(flatten)]
    pub contract: DisparityContract,
    /// The same estimates in the form of a report.
    #[serde(skip)]
    pub disparity: Disparity,
    /// The report.
    #[serde(skip)]
    pub report: Option<WrittenReport>,
    /// The files with updated scores.
    #[serde(skip)]
    pub paths: Vec<PathBuf>,
    /// The updated score columns of a table in memory.
    #[serde(skip)]
    pub scores: Vec<PlainColumn>,
}

impl Response {
    /// Returns the estimates and differences as tables, with the assumptions of each estimator.
    pub fn text(&self) -> Message {
        show::text(&self.disparity)
    }
}

/// Compares an outcome between classes.
///
/// # Errors
/// If the settings, the files, the scores or the outcomes are invalid.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    context.install(|| disparity(request, context))
}

fn disparity(request: &Request, context: &Context) -> Result<Response> {
    check(Job::Disparity, request)?;
    let table_settings = &request.table;
    table_settings.check()?;
    request.check()?;
    let input = table_settings.source.open(context)?;
    let request = &request.with_label(&input, context)?;
    let groups = table_settings.groups();
    let results =
        ResultsFile::prepare(request.output.as_deref(), &input, &request.report.side_inputs(), request.force)?;
    let updated = UpdatedScores::prepare(request, &input)?;
    let mut report = request.report.prepare(&input, &[], groups, request.force)?;
    let hashes = report.as_ref().map(|report| InputHashes::start(&input, "scores", report.extra_files()));
    let table = table_settings.read(&input, groups, context, |options| {
        options.labels = request.label_columns();
        request.outcome.ask(options);
        request.regression.ask(options);
        options.prediction.clone_from(&request.prediction);
    })?;
    let scores = table.scores()?;
    if let Some(report) = &mut report {
        report.outline(&scores)?;
    }

    let working = context.working("comparing");
    let settings = table_settings.settings();
    let columns = RegressionColumns::of(&table, request.outcome.outcome.as_ref(), &request.regression)?;
    let builder = DisparityBuilder::begin(&table, &scores, &request.outcome)?.ok_or_else(no_outcome)?;
    let birdie = OnceCell::new();
    let mut builder = builder.with_regressions(columns.as_ref())?.keeping(&birdie);
    let (disparity, report) = match (report, hashes) {
        (Some(report), Some(hashes)) => {
            let frontier = frontier(&scores, &settings).map_err(|error| table.locate(error))?;
            let study = StudyBuilder::new(&scores, frontier.as_ref(), &request.report, groups)?;
            let mut study = study.with_outcome(Some(builder));
            for_each_labeling(request, &table, &scores, &settings, |role, kind, name, assignment, joint| {
                study.add_labels(role, kind, name, assignment, joint)
            })?;
            let files = hashes.finish(Some(&table.file_rows()))?;
            let provenance = report_provenance(&files, &table, table_settings, groups, context, request.facts());
            let study = study.study(&settings, table_settings.truth.is_some(), provenance, context)?;
            let disparity = study.outcomes.clone().ok_or_else(no_outcome)?;
            drop(working);
            (disparity, Some(report.write(study, context)?))
        }
        _ => {
            for_each_labeling(request, &table, &scores, &settings, |_, kind, name, assignment, _| {
                builder.add(name, kind, assignment)
            })?;
            let disparity = builder.finish(&settings, context)?;
            drop(working);
            (disparity, None)
        }
    };
    let contract = DisparityContract::of(&disparity, context.name_setting);
    if let Some(results) = results {
        results.write(|| contract.table(), &contract)?;
    }
    let (paths, scores) = match updated.zip(birdie.get()) {
        Some((updated, birdie)) => updated.write(request, &input, &table, birdie, context)?,
        None => (Vec::new(), Vec::new()),
    };
    Ok(Response { contract, disparity, report, paths, scores })
}

fn no_outcome() -> Error {
    Error::settings(Message::from(Setting::Outcome) + " is required: name the column with the outcome")
}

impl Request {
    /// Refuses settings whose required settings are missing.
    fn check(&self) -> Result<()> {
        if self.outcome.outcome.is_none() {
            return Err(no_outcome());
        }
        self.outcome.check()?;
        self.check_columns()?;
        self.regression.check()?;
        self.uncoded.check_kept()?;
        if self.report.focus.is_some() && !self.report.is_wanted() {
            let problem =
                Message::from(Setting::Focus) + ": used only with " + Setting::Report.with("FILE.html") + "; use ";
            return Err(Error::Settings(problem + Setting::Against.with("CLASS") + " for the class to compare with"));
        }
        Ok(())
    }

    /// Refuses columns that define groups or weights and are also the outcome or the truth, which would determine the
    /// results, and options that leave rows out of a file of all rows.
    fn check_columns(&self) -> Result<()> {
        let outcome = &self.outcome;
        let refuse = |setting: Setting, column: &str, what: &str| {
            let problem = format!(": {column} is also the {what}; name another column or leave it out");
            Err(Error::settings(Message::from(setting) + problem))
        };
        let uses = [
            (Setting::By, &self.table.by),
            (Setting::Cells, &outcome.cells),
            (Setting::Covariates, &outcome.covariates),
        ];
        for (setting, columns) in uses {
            for column in columns {
                if Some(column) == outcome.outcome.as_ref() {
                    return refuse(setting, column, "outcome");
                }
                if Some(column) == self.table.truth.as_ref() {
                    return refuse(setting, column, "true class");
                }
            }
        }
        for (setting, column) in [(Setting::Prediction, &self.prediction), (Setting::Weight, &outcome.weight)] {
            if let Some(column) = column.as_ref().filter(|column| Some(*column) == outcome.outcome.as_ref()) {
                return refuse(setting, column, "outcome");
            }
        }
        if self.write_scores.is_some() && self.table.only_with_truth {
            let both = Message::from(Setting::WriteScores) + " writes all rows and cannot be used with ";
            return Err(Error::settings(both + Setting::OnlyWithTruth + "; leave one of them out"));
        }
        Ok(())
    }

    /// Returns the request with the label column, which is found by name if settings need it and it is not given.
    fn with_label(&self, input: &Input, context: &Context) -> Result<Request> {
        let is_default = self.uncoded == Uncoded::default();
        let given = [(!self.label_map.is_empty(), Setting::LabelMap), (!is_default, Setting::Uncoded)];
        let label = match given.into_iter().find(|(given, _)| *given && self.label.is_empty()) {
            Some((_, setting)) => vec![existing_labels::find(input, Some(setting), context)?],
            None => self.label.clone(),
        };
        Ok(Request { label, ..self.clone() })
    }

    fn label_columns(&self) -> Vec<ClassColumn> {
        self.label.iter().map(|column| existing_labels::class_column(column, &self.label_map, &self.uncoded)).collect()
    }

    /// Returns the facts for readers of the report.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = self.outcome.facts();
        facts.extend(self.regression.facts());
        facts.push(("Reference", "for match: the posterior, that is, the mean of the scores".to_owned()));
        if let Some(prediction) = &self.prediction {
            facts.push(("Prediction", format!("column {prediction}")));
        }
        if !self.label.is_empty() {
            let without = self.uncoded.values.join(", ");
            facts.push(("Your labels", format!("columns {}; unlabeled: {without}", self.label.join(", "))));
        }
        if !self.label_map.is_empty() {
            facts.push(("Your labels, values mapped", self.label_map.texts().join(", ")));
        }
        facts
    }
}

/// Calls `add` with existing labels and with those of the rules, one after another.
fn for_each_labeling(
    request: &Request,
    table: &Table,
    scores: &Scores<'_>,
    settings: &Settings,
    mut add: impl FnMut(Role, LabelKind, &str, &Assignment, Option<Joint>) -> Result<()>,
) -> Result<()> {
    let is_one = request.label.len() == 1;
    let kind = if is_one { LabelKind::Own } else { LabelKind::OwnColumn };
    for (index, (column, labels)) in request.label.iter().zip(table.all_labels()).enumerate() {
        let name = if is_one { "your labels" } else { column };
        let assignment = Assignment::Labels(vec![Labels::new(labels.clone(), table.classes())?]);
        let role = if index == 0 { Role::Subject } else { Role::Other };
        add(role, kind, name, &assignment, None)?;
    }
    let first = if request.label.is_empty() { Role::Subject } else { Role::Other };
    let mut rules = vec![
        ("argmax", first, Rule::Argmax),
        ("threshold 0.8", Role::Other, Rule::Threshold(Thresholds::at(0.8))),
        ("match", Role::Corrected, Rule::Match(Match::overall(Reference::Posterior))),
    ];
    if !request.table.by.is_empty() {
        rules.push(("match by group", Role::Other, Rule::Match(Match::by_group(Reference::Posterior))));
    }
    for (name, role, rule) in rules {
        let labeled = Assignment::of_rule(&rule, scores, settings, 1).map_err(|error| table.locate(error))?;
        let (assignment, _, joint) = labeled;
        add(role, LabelKind::Rule(rule.kind()), name, &assignment, joint)?;
    }
    Ok(())
}
