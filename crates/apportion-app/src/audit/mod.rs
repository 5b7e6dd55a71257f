//! Audits existing labels: their counts, bias, accuracy and calibration.

mod advice;
mod csv;
mod json;
mod known_shares;
mod text;

pub(crate) use advice::unreliable_labels;

use std::path::PathBuf;

use apportion::audit::{Audit, AuditOptions, Bootstrap, Drift, GroupMeasures, Measures, Section, UncodedPolicy};
use apportion::text::{Message, Setting};
use apportion::{Decision, Frontier, Labels, Match, Reference, Rule, Scores};
use apportion_io::{Input, MemoryTable, Table};
use apportion_report::{LabelKind, Provenance, Study};
use serde::{Deserialize, Serialize};

use crate::class_map::ClassMap;
use crate::disparity::{DisparityBuilder, OutcomeSettings};
use crate::existing_labels::{self, Uncoded};
use crate::labels::Assignment;
use crate::protect::SideInput;
use crate::provenance::InputHashes;
use crate::report::{ReportSettings, Role, StudyBuilder, WrittenReport, frontier, report_provenance};
use crate::results::ResultsFile;
use crate::settings::{Job, check};
use crate::summary::drift_warning;
use crate::table::TableSettings;
use crate::{Context, Result, decision_file};

/// The labels to audit, and what to compare them with.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The table.
    #[serde(flatten)]
    pub table: TableSettings,
    /// The column with the labels; the column called `label` if empty.
    pub label: String,
    /// The class of each label value, for values that differ from the class names.
    pub label_map: ClassMap,
    /// The values that mean unlabeled, and the policy for such rows.
    pub uncoded: Uncoded,
    /// The file with the decision that made the labels, to test for drift; for a decision in memory, its name in
    /// messages.
    pub decision: Option<PathBuf>,
    /// The decision as JSON, instead of the file.
    #[serde(skip)]
    pub decision_json: Option<String>,
    /// Known shares to compare the labels with: `uniform`, or a file.
    pub reference: Option<String>,
    /// Shares in memory, instead of the file; `reference` may be empty.
    #[serde(skip)]
    pub reference_table: Option<MemoryTable>,
    /// The number of bootstrap replicates for confidence intervals; no intervals if not set.
    pub bootstrap: Option<u32>,
    /// An outcome, for the report.
    #[serde(flatten)]
    pub outcome: OutcomeSettings,
    /// The report.
    #[serde(flatten)]
    pub report: ReportSettings,
    /// A file for the results, `.csv` or `.json`.
    pub output: Option<PathBuf>,
    /// Whether to replace the results, the report and the figures if they exist.
    pub force: bool,
}

/// The audit of labels. It serializes to the figures of all rows, and of each group in `groups`.
#[derive(Clone, Debug)]
pub struct Response {
    /// All figures.
    pub audit: Audit,
    /// The distance below the frontier; `None` unless all people are labeled.
    pub frontier_gap: Option<f64>,
    /// Whether the counts have drifted, if a decision was given.
    pub drifted: Option<Drifted>,
    /// The report.
    pub report: Option<WrittenReport>,
}

/// Whether labels still have the expected counts of their decision.
#[derive(Clone, Debug)]
pub struct Drifted {
    /// The deviation of the counts; `None` if the decision has no expected counts.
    pub drift: Option<Drift>,
    /// The result as a sentence.
    pub words: Message,
}

impl Drifted {
    /// Compares labels with the expected counts of a decision; `name` is the name of the decision in the sentence.
    fn of(name: &str, decision: &Decision, scores: &Scores<'_>, labels: &Labels, audit: &Audit) -> Result<Drifted> {
        // Drift is measured on the original labels.
        let summary = match audit.options.uncoded {
            UncodedPolicy::Keep => audit.overall.clone(),
            UncodedPolicy::Drop | UncodedPolicy::Argmax => Section::summary(scores, labels)?,
        };
        let drift = decision.drift(scores, &summary)?;
        let words = match &drift {
            Some(drift) => drift_warning(decision, drift, &summary).unwrap_or_else(|| {
                "no drift in the totals: they differ from those of the decision by no more than chance and rounding explain; \
                 groups are not tested"
                    .into()
            }),
            None => format!("{name}: the decision has no target counts, so drift is not tested").into(),
        };
        Ok(Drifted { drift, words })
    }
}

/// Audits labels.
///
/// # Errors
/// If the settings, the files, the labels or the scores are invalid.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    context.install(|| audit(request, context))
}

fn audit(request: &Request, context: &Context) -> Result<Response> {
    check(Job::Audit, request)?;
    let Request { table: settings, outcome, report, .. } = request;
    settings.check()?;
    outcome.check()?;
    report.check_outcome(outcome.outcome.as_ref())?;
    request.check_reference()?;
    let decision = request.decision()?;
    let input = settings.source.open(context)?;
    let request = &request.with_label(&input, context)?;
    let groups = settings.groups();
    // An audit without a report also has a focus class.
    let focus = report.focus.clone().filter(|_| report.is_wanted());
    let shown = ReportSettings { focus, ..report.clone() };
    let results = ResultsFile::prepare(request.output.as_deref(), &input, &request.all_side_inputs(), request.force)?;
    let mut prepared = shown.prepare(&input, &request.side_inputs(), groups, request.force)?;
    let hashes = prepared.as_ref().map(|report| InputHashes::start(&input, "scores", report.extra_files()));
    let columns = match &decision {
        Some((_, decision)) => decision_file::with_scores_of(decision, settings, &input)?,
        None => settings.clone(),
    };
    let table = columns.read(&input, groups, context, |options| {
        options.labels = vec![existing_labels::class_column(&request.label, &request.label_map, &request.uncoded)];
        outcome.ask(options);
    })?;
    if let Some((name, decision)) = &decision {
        decision_file::check_classes(name, decision.classes().names(), table.classes().names())?;
    }
    let scores = table.scores()?;
    if let Some(report) = &mut prepared {
        report.outline(&scores)?;
    }
    let labels = Labels::new(table.labels().unwrap_or_default().to_vec(), table.classes())?;
    let options = request.options(&table, &scores, context)?;

    let working = context.working("auditing");
    let audit = Audit::of(&scores, &labels, &options).map_err(|error| table.locate(error))?;
    let drifted = match &decision {
        Some((name, decision)) => Some(Drifted::of(name, decision, &scores, &labels, &audit)?),
        None => None,
    };
    let included = options.uncoded.apply(&scores, labels)?;
    let scores = match &included.counts {
        Some(counts) => scores.clone().with_counts(counts)?,
        None => scores,
    };
    let frontier = frontier(&scores, &settings.settings())?;
    let frontier_gap = frontier.as_ref().and_then(|frontier| frontier.frontier_gap(&audit.overall));
    drop(working);

    let report = match (prepared, hashes) {
        (Some(report), Some(hashes)) => {
            let working = context.working("comparing with other rules");
            let files = hashes.finish(Some(&table.file_rows()))?;
            let facts = facts(request, drifted.as_ref(), context);
            let provenance = report_provenance(&files, &table, settings, groups, context, facts);
            let labels = Assignment::Labels(vec![included.labels]);
            let builder = request.builder(&table, &scores, frontier.as_ref())?.with_audit(audit.overall.clone());
            let study = study(request, builder, &labels, provenance, context)?;
            drop(working);
            Some(report.write(study, context)?)
        }
        (Some(_) | None, _) => None,
    };
    let response = Response { audit, frontier_gap, drifted, report };
    if let Some(results) = results {
        results.write(|| response.table(), &response)?;
    }
    Ok(response)
}

impl Request {
    /// Returns the request with the label column, which is found by name if it is not given.
    fn with_label(&self, input: &Input, context: &Context) -> Result<Request> {
        let label = match self.label.as_str() {
            "" => existing_labels::find(input, None, context)?,
            given => given.to_owned(),
        };
        Ok(Request { label, ..self.clone() })
    }

    /// Returns the decision and its name in messages, if a decision is given.
    fn decision(&self) -> Result<Option<(String, Decision)>> {
        if self.decision.is_none() && self.decision_json.is_none() {
            return Ok(None);
        }
        let path = self.decision.clone().unwrap_or_else(|| "the decision".into());
        let decision = decision_file::read(&path, self.decision_json.as_deref())?;
        Ok(Some((path.display().to_string(), decision)))
    }

    /// Returns the files that the audit reads in addition to the table, with those of the report.
    fn all_side_inputs(&self) -> Vec<SideInput> {
        self.side_inputs().into_iter().chain(self.report.side_inputs()).collect()
    }

    fn side_inputs(&self) -> Vec<SideInput> {
        let files = self.decision.iter().filter(|_| self.decision_json.is_none());
        files.map(|path| SideInput::new(Setting::Decision, path)).chain(self.reference_file()).collect()
    }

    fn options(&self, table: &Table, scores: &Scores<'_>, context: &Context) -> Result<AuditOptions> {
        let known = self.known_shares(scores, context)?;
        let seed = self.table.settings().seed;
        let bootstrap = |replicates| Bootstrap { replicates, seed, ..Bootstrap::default() };
        Ok(AuditOptions {
            uncoded: self.uncoded.policy,
            focus: self.report.focus_class(table.classes())?,
            reference: known.overall,
            group_references: known.groups,
            bootstrap: self.bootstrap.map(bootstrap),
            group_measures: GroupMeasures::Each(Measures { intervals: false, ..Measures::ALL }),
            ..AuditOptions::default()
        })
    }

    fn builder<'a>(
        &self,
        table: &'a Table,
        scores: &'a Scores<'a>,
        frontier: Option<&'a Frontier>,
    ) -> Result<StudyBuilder<'a>> {
        let builder = StudyBuilder::new(scores, frontier, &self.report, self.table.groups())?;
        Ok(builder.with_outcome(DisparityBuilder::begin(table, scores, &self.outcome)?))
    }
}

/// Compares the labels with those of argmax and match, for the report.
fn study(
    request: &Request,
    mut builder: StudyBuilder<'_>,
    labels: &Assignment,
    provenance: Provenance,
    context: &Context,
) -> Result<Study> {
    let settings = request.table.settings();
    builder.add_labels(Role::Subject, LabelKind::Own, "your labels", labels, None)?;
    builder.add_rule(Role::Other, "argmax", &Rule::Argmax, &settings)?;
    let posterior = Rule::Match(Match::overall(Reference::Posterior));
    builder.add_rule(Role::Corrected, "match", &posterior, &settings)?;
    if !request.table.by.is_empty() {
        let by_group = Rule::Match(Match::by_group(Reference::Posterior));
        builder.add_rule(Role::Other, "match by group", &by_group, &settings)?;
    }
    builder.study(&settings, request.table.truth.is_some(), provenance, context)
}

/// Returns the facts about the labels for the report.
fn facts(request: &Request, drifted: Option<&Drifted>, context: &Context) -> Vec<(&'static str, String)> {
    let Uncoded { values, policy } = &request.uncoded;
    let policy = match policy {
        UncodedPolicy::Keep => "kept as unlabeled",
        UncodedPolicy::Drop => "left out",
        UncodedPolicy::Argmax => "given the most likely class",
    };
    let mut facts = vec![
        ("Your labels", format!("column {}", request.label)),
        ("Reference", "for match: the posterior, that is, the mean of the scores".to_owned()),
        ("Unlabeled rows", format!("empty or {}: {policy}", values.join(", "))),
    ];
    facts.extend(request.outcome.facts());
    facts.extend(request.reference_name().map(|name| ("Known shares", format!("{name}, in the text of the audit"))));
    if !request.label_map.is_empty() {
        facts.push(("Your labels, values mapped", request.label_map.texts().join(", ")));
    }
    facts.extend(drifted.map(|drifted| ("Drift", drifted.words.render(context.name_setting))));
    facts
}
