//! Labels a table: writes all input rows in order, with their labels.

use std::path::PathBuf;

use apportion::audit::Interval;
use apportion::text::{Message, Setting};
use apportion::{Decision, Labels, Match, Reference, Rule, Scores};
use apportion_io::Table;
use apportion_report::{LabelKind, Study};
use serde::{Deserialize, Serialize};

use crate::estimated_reference::EstimatedReference;
use crate::labels::{Assignment, GroupLabels, LabelColumn, LabelContract, RuleResult};
use crate::output::{OutputSettings, after_output};
use crate::provenance::{InputHashes, Provenance, Recorded};
use crate::report::{ReportSettings, Role, StudyBuilder, WrittenReport, frontier, report_provenance};
use crate::rule::RuleSettings;
use crate::settings::{Job, check};
use crate::table::TableSettings;
use crate::{Context, Error, Result, lost_classes};

/// The table to label, the rule, and the output.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The table.
    #[serde(flatten)]
    pub table: TableSettings,
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleSettings,
    /// The output of the labels.
    #[serde(flatten)]
    pub output: OutputSettings,
    /// The report.
    #[serde(flatten)]
    pub report: ReportSettings,
    /// Whether to compute the counts of argmax as well, for comparison.
    #[serde(skip)]
    pub with_argmax: bool,
    /// Whether to count the labels of each group.
    #[serde(skip)]
    pub with_groups: bool,
}

/// Labels, their counts and their certificate.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Response {
    /// Counts, targets, accuracy and certificate.
    #[serde(flatten)]
    pub contract: LabelContract,
    /// The share of each class in the reference, if it was estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_shares: Option<Vec<f64>>,
    /// The 95% interval of each share of the reference, if it was estimated. Labels match the shares, not the intervals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_interval: Option<Vec<Interval>>,
    /// The provenance of the labels, for Parquet and Arrow outputs or if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// The files that were written; empty for standard output.
    #[serde(skip)]
    pub paths: Vec<PathBuf>,
    /// The labels of a table in memory.
    #[serde(skip)]
    pub labels: Vec<LabelColumn>,
    /// The labels of each group, if they were requested and there are groups.
    #[serde(skip)]
    pub groups: Vec<GroupLabels>,
    /// The decision that made the labels.
    #[serde(skip)]
    pub decision: Decision,
    /// The figures for a summary.
    #[serde(skip)]
    pub measured: Measured,
    /// The report.
    #[serde(skip)]
    pub report: Option<WrittenReport>,
}

/// The figures for a summary of labels.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The classes.
    pub classes: Vec<String>,
    /// The number of groups, if there are any.
    pub groups: Option<usize>,
    /// The labels.
    pub result: RuleResult,
    /// The labels of argmax, for comparison.
    pub argmax: Option<RuleResult>,
    /// The counts with which the labels are compared.
    pub aim: Aim,
}

impl Measured {
    pub(crate) fn new(table: &Table, result: RuleResult, argmax: Option<RuleResult>, aim: Aim) -> Measured {
        Measured { classes: table.classes().names().to_vec(), groups: table.group_count(), result, argmax, aim }
    }
}

/// The counts with which labels are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// The sums of the scores.
    Scores,
    /// The targets of the rule.
    Targets,
}

impl Aim {
    /// Returns the counts with which the labels of a rule are compared.
    pub fn of(rule: &RuleSettings) -> Aim {
        if rule.aims_at_scores() { Aim::Scores } else { Aim::Targets }
    }
}

/// Labels a table.
///
/// # Errors
/// If the settings, the files or the scores are invalid.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    context.install(|| label(request, context))
}

/// A column of labels, as the rule returned it if it has all rows.
#[derive(Clone, Debug)]
pub enum OnlyColumn {
    /// A label for each row.
    Labels(Labels),
    /// Codes or people.
    Column(LabelColumn),
}

impl OnlyColumn {
    /// Returns labels as codes.
    pub fn into_column(self) -> LabelColumn {
        match self {
            OnlyColumn::Labels(labels) => LabelColumn::of(labels.values()),
            OnlyColumn::Column(column) => column,
        }
    }
}

/// The labels of a table in memory, without their figures.
#[derive(Clone, Debug)]
pub struct LabelsOnly {
    /// The classes.
    pub classes: Vec<String>,
    /// The labels.
    pub labels: Vec<OnlyColumn>,
    /// The number of tied rows whose ID occurred before: their labels depend on the order of the rows.
    pub repeated_keys: u64,
}

/// Labels a table in memory and returns only its labels, and sends the same notices as [`run`]. The figures of the labels
/// are another pass over the scores, which is left out if no warning needs them.
///
/// # Errors
/// If the settings or the scores are invalid.
pub fn run_for_labels(request: &Request, context: &Context) -> Result<LabelsOnly> {
    let settings = &request.table;
    let needs_figures = lost_classes::may_warn(&request.rule, settings) || request.report.is_wanted();
    if needs_figures || !settings.source.is_in_memory() {
        let response = run(request, context)?;
        let repeated_keys = response.measured.result.joint.as_ref().map_or(0, |joint| joint.repeated_keys);
        return Ok(LabelsOnly { classes: response.contract.classes, labels: columns(response.labels), repeated_keys });
    }
    context.install(|| {
        check_request(request)?;
        let (rule, output, input) = (&request.rule, &request.output, settings.source.open(context)?);
        let (side, groups) = (rule.side_inputs(), rule.groups(settings));
        output.check(settings, &input, &side)?;
        request.report.prepare(&input, &side, groups, output.force)?;
        let table = settings.read(&input, groups, context, |_| {})?;
        output.check_names(&input, &table, rule.draws())?;
        settings.check_draws(&table, rule.draws())?;
        let scores = table.scores()?;
        let estimated = rule.estimated_reference(&table, &scores, settings, context)?;
        let core_rule = rule.rule(&table, settings, estimated.as_ref(), context)?;
        let _working = context.working("labeling");
        let solved = Assignment::of_rule(&core_rule, &scores, &settings.settings(), rule.draws());
        let (assignment, _, joint) = solved.map_err(|error| table.locate(error))?;
        Ok(LabelsOnly {
            classes: table.classes().names().to_vec(),
            labels: match assignment {
                Assignment::Labels(draws) if table.row_mask().total() == scores.rows() => {
                    draws.into_iter().map(OnlyColumn::Labels).collect()
                }
                assignment => columns(assignment.columns(&table)),
            },
            repeated_keys: joint.map_or(0, |joint| joint.repeated_keys),
        })
    })
}

fn columns(columns: Vec<LabelColumn>) -> Vec<OnlyColumn> {
    columns.into_iter().map(OnlyColumn::Column).collect()
}

/// Checks the settings that can be checked without the table.
fn check_request(request: &Request) -> Result<()> {
    let Request { table: settings, rule, .. } = request;
    check(Job::Label, request)?;
    settings.check()?;
    rule.check(!settings.by.is_empty(), settings.truth.is_some())?;
    if settings.count.is_some() && rule.draws() > 1 {
        let both = Message::from(Setting::Draws) + " and " + Setting::Count;
        return Err(Error::Settings(
            both + " cannot be combined, because people of a row are drawn one by one; for more draws, change "
                + Setting::Seed,
        ));
    }
    Ok(())
}

fn label(request: &Request, context: &Context) -> Result<Response> {
    check_request(request)?;
    let Request { table: settings, rule, output, report, .. } = request;
    let input = settings.source.open(context)?;
    let side = rule.side_inputs();
    output.check(settings, &input, &side)?;
    let groups = rule.groups(settings);
    let mut report = report.prepare(&input, &side, groups, output.force)?;
    let wants_provenance = output.wants_provenance(settings, &input);
    let extra = match (&report, wants_provenance) {
        (Some(report), _) => Some([report.extra_files(), rule.extra_files()?].concat()),
        (None, true) => Some(rule.extra_files()?),
        (None, false) => None,
    };
    output.provenance.check(&[&input], extra.as_deref().unwrap_or_default(), output.path(), output.force)?;
    let hashes = extra.map(|extra| InputHashes::start(&input, "scores", extra));
    let table = settings.read(&input, groups, context, |_| {})?;
    output.check_names(&input, &table, rule.draws())?;
    settings.check_draws(&table, rule.draws())?;
    let scores = table.scores()?;
    if let Some(report) = &mut report {
        report.outline(&scores)?;
    }
    let estimated = rule.estimated_reference(&table, &scores, settings, context)?;
    let core_rule = rule.rule(&table, settings, estimated.as_ref(), context)?;

    let working = context.working("labeling");
    let solved = Assignment::of_rule(&core_rule, &scores, &settings.settings(), rule.draws());
    let (assignment, decision, joint) = solved.map_err(|error| table.locate(error))?;
    let result = RuleResult::new(rule.rule.name(), &scores, &assignment, joint)?.with_targets(&core_rule, &scores)?;
    let argmax = request.with_argmax.then(|| RuleResult::of_argmax(&scores)).transpose()?;
    let files = match hashes {
        Some(hashes) => hashes.finish(Some(&table.file_rows()))?,
        None => Vec::new(),
    };
    let study = match &report {
        Some(_) => {
            let provenance = report_provenance(&files, &table, settings, groups, context, rule.facts());
            Some(study(request, &scores, &core_rule, &result, &assignment, provenance, context)?)
        }
        None => None,
    };
    drop(working);

    let provenance = match wants_provenance {
        true => {
            let mut recorded = Recorded::default();
            settings.record_table(&table, &mut recorded);
            rule.record(&mut recorded);
            output.record(&table, &mut recorded);
            let mut provenance = Provenance::new("label", context, recorded, files);
            provenance.rows = Some(table.row_mask().total() as u64);
            provenance.reference_shares = estimated.as_ref().map(EstimatedReference::shares);
            Some(provenance.with_result(&result, table.group_names()).with_decision(&decision)?)
        }
        false => None,
    };
    let paths = output.write(settings, &input, &table, &assignment, provenance.as_ref())?;
    let report = match (report, study) {
        (Some(report), Some(study)) => {
            Some(report.write(study, context).map_err(|error| after_output(&error, &paths))?)
        }
        _ => None,
    };
    let contract = result.contract(table.classes(), settings.settings().seed, Some(&decision));
    let labels = if settings.source.is_in_memory() { assignment.columns(&table) } else { Vec::new() };
    let groups = if request.with_groups { GroupLabels::all(&assignment, &scores, &result) } else { Vec::new() };
    let measured = Measured::new(&table, result, argmax, Aim::of(rule));
    lost_classes::warnings(&measured, rule, settings).into_iter().for_each(|warning| context.warn(warning));
    Ok(Response {
        contract,
        reference_shares: estimated.as_ref().map(EstimatedReference::shares),
        reference_interval: estimated.as_ref().map(EstimatedReference::intervals),
        provenance,
        paths,
        labels,
        groups,
        decision,
        measured,
        report,
    })
}

/// Compares the labels with those of argmax and match, for the report.
fn study(
    request: &Request,
    scores: &Scores<'_>,
    rule: &Rule,
    result: &RuleResult,
    assignment: &Assignment,
    provenance: apportion_report::Provenance,
    context: &Context,
) -> Result<Study> {
    let (settings, groups) = (request.table.settings(), request.rule.groups(&request.table));
    let frontier = frontier(scores, &settings)?;
    let mut builder = StudyBuilder::new(scores, frontier.as_ref(), &request.report, groups)?;
    let mut others = vec![
        ("argmax", Role::Other, Rule::Argmax),
        ("match", Role::Corrected, Rule::Match(Match::overall(Reference::Posterior))),
    ];
    if !groups.columns.is_empty() {
        others.push(("match by group", Role::Other, Rule::Match(Match::by_group(Reference::Posterior))));
    }
    // A rule with other settings than the default rule of the same name gets its own name.
    let name = match others.iter().find(|(_, _, other)| other == rule) {
        Some((name, ..)) => (*name).to_owned(),
        None if others.iter().any(|(name, ..)| *name == result.name) => format!("{}, as requested", result.name),
        None => result.name.clone(),
    };
    builder.add_labels(Role::Subject, LabelKind::Rule(rule.kind()), &name, assignment, result.joint.clone())?;
    for (name, role, other) in others.into_iter().filter(|(_, _, other)| other != rule) {
        builder.add_rule(role, name, &other, &settings)?;
    }
    builder.study(&settings, request.table.truth.is_some(), provenance, context)
}
