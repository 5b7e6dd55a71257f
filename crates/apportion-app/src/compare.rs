//! Compares rules on the same scores.

use std::path::PathBuf;
use std::time::Instant;

use apportion::audit::AuditOptions;
use apportion::rule::{Batches, Joint, JointRule, Learned, RuleKind, Thresholds};
use apportion::text::{Message, Setting};
use apportion::{Balance, Frontier, Labels, Match, Reference, Rule, Scores};
use apportion_io::{ClassColumn, Input, Table};
use apportion_report::LabelKind;
use serde::{Deserialize, Serialize};

use crate::class_map::ClassMap;
use crate::disparity::{DisparityBuilder, OutcomeSettings};
use crate::existing_labels::{self, Uncoded};
use crate::labels::{Assignment, LabelContract, RuleResult};
use crate::provenance::InputHashes;
use crate::report::{ReportSettings, Role, StudyBuilder, WrittenReport, frontier, report_provenance};
use crate::results::{CsvTable, ResultsFile, cell, number};
use crate::settings::{Job, check};
use crate::table::TableSettings;
use crate::{Context, Result, text};

/// The table on which rules are compared, and other labels to compare with them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The table.
    #[serde(flatten)]
    pub table: TableSettings,
    /// A column with existing labels.
    pub label: Option<String>,
    /// The class of each label value, for values that differ from the class names.
    pub label_map: ClassMap,
    /// The values that mean unlabeled; such rows are kept.
    pub uncoded: Uncoded,
    /// The number of rows in a batch, to measure the loss from batching; no batches if not set.
    pub batch: Option<u64>,
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

/// The weight of accuracy in `balance`.
const GAMMA: f64 = 0.9;

/// The results of all rules. It serializes to a list.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Response {
    /// The result of each rule.
    pub rules: Vec<LabelContract>,
    /// The same results with all figures, and the running time of each rule.
    #[serde(skip)]
    pub compared: Vec<Compared>,
    /// The losses from batching, if batches were requested.
    #[serde(skip)]
    pub losses: Vec<BatchLoss>,
    /// The report.
    #[serde(skip)]
    pub report: Option<WrittenReport>,
}

/// Labels that are compared.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The counts, accuracy and fidelity of the labels.
    pub result: RuleResult,
    /// The running time of the rule in seconds; `None` for existing labels and batches.
    pub seconds: Option<f64>,
}

/// The loss from solving a rule in batches.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchLoss {
    /// The name of the rule.
    pub rule: String,
    /// The number of batches.
    pub batches: usize,
    /// The number of rows in a batch.
    pub size: u64,
    /// The loss of the objective.
    pub loss: f64,
    /// The sum of the absolute differences of the counts.
    pub count_difference: u64,
}

impl Response {
    /// Returns the comparison as text.
    pub fn text(&self) -> String {
        let losses = self.losses.iter().map(BatchLoss::text);
        std::iter::once(side_by_side(&self.compared)).chain(losses).collect::<Vec<_>>().join("\n")
    }
}

impl Response {
    /// Returns the results as a table with a row for each rule.
    fn table(&self) -> CsvTable {
        let figures = [
            "rule",
            "accuracy",
            "expected_accuracy",
            "fidelity",
            "fidelity_in_groups",
            "fidelity_to_truth",
            "labeled",
            "coverage",
            "frontier_gap",
        ];
        let classes = self.rules.first().map_or(&[][..], |rule| &rule.classes);
        let counts = classes.iter().map(|class| format!("n_{class}"));
        let mut table = CsvTable::new(figures.map(str::to_owned).into_iter().chain(counts));
        for Compared { result, .. } in &self.compared {
            let summary = &result.summary;
            let figures = [
                cell(&result.name),
                number(summary.accuracy),
                number(summary.expected_accuracy),
                number(summary.fidelity_to_posterior()),
                number(result.in_groups),
                number(summary.fidelity_to_truth()),
                summary.labeled.to_string(),
                number(summary.coverage),
                number(result.frontier_gap.flatten()),
            ];
            table.push(figures.into_iter().chain(summary.counts().iter().map(u64::to_string)));
        }
        table
    }
}

impl BatchLoss {
    /// Returns the loss as a sentence.
    pub fn text(&self) -> String {
        let BatchLoss { rule, batches, size, loss, count_difference } = self;
        // Other counts allow a higher objective. Smaller differences are rounding errors.
        let objective = match *loss {
            loss if loss > 1e-12 => format!("the objective is {loss:.2e} lower"),
            loss if loss < -1e-12 => format!("the objective is {:.2e} higher", -loss),
            _ => "the objective is the same".into(),
        };
        let counts = match *count_difference {
            0 => "the counts are the same".into(),
            people => format!("the counts differ by {} in total", text::count(people)),
        };
        format!(
            "{rule} in {} of {}: {objective}, and {counts}",
            text::counted(*batches as u64, "batch", "batches"),
            text::counted(*size, "row", "rows")
        )
    }
}

/// Compares rules.
///
/// # Errors
/// If the settings, the files, the labels or the scores are invalid.
pub fn run(request: &Request, context: &Context) -> Result<Response> {
    context.install(|| compare(request, context))
}

fn compare(request: &Request, context: &Context) -> Result<Response> {
    check(Job::Compare, request)?;
    let Request { table: settings, outcome, report, .. } = request;
    settings.check()?;
    request.uncoded.check_kept()?;
    outcome.check()?;
    report.check_outcome(outcome.outcome.as_ref())?;
    let input = settings.source.open(context)?;
    let request = &request.with_label(&input, context)?;
    let groups = settings.groups();
    let results =
        ResultsFile::prepare(request.output.as_deref(), &input, &request.report.side_inputs(), request.force)?;
    let mut prepared = report.prepare(&input, &[], groups, request.force)?;
    let hashes = prepared.as_ref().map(|report| InputHashes::start(&input, "scores", report.extra_files()));
    let table = settings.read(&input, groups, context, |options| {
        options.labels = request.column().into_iter().collect();
        outcome.ask(options);
    })?;
    let scores = table.scores()?;
    settings.refuse_empty_truth(&scores)?;
    if let Some(report) = &mut prepared {
        report.outline(&scores)?;
    }

    let working = context.working("comparing");
    let rule_settings = settings.settings();
    let frontier = frontier(&scores, &rule_settings).map_err(|error| table.locate(error))?;
    let frontier = frontier.as_ref();
    let study = match &prepared {
        Some(_) => {
            let builder = StudyBuilder::new(&scores, frontier, report, groups)?;
            Some(builder.with_outcome(DisparityBuilder::begin(&table, &scores, outcome)?))
        }
        None => None,
    };
    let by_group = !settings.by.is_empty();
    let mut comparison = Comparison { scores: &scores, by_group, frontier, study, compared: Vec::new() };
    if let Some(labels) = table.labels() {
        let assignment = Assignment::Labels(vec![Labels::new(labels.to_vec(), table.classes())?]);
        comparison.add(Role::Subject, LabelKind::Own, "your labels", &assignment, None)?;
    }
    comparison.add_rules(request, &table, context)?;
    let losses = match request.batch {
        Some(size) => comparison.add_batches(size, request, &table)?,
        None => Vec::new(),
    };
    let Comparison { study, compared, .. } = comparison;
    let report = match (prepared, study, hashes) {
        (Some(report), Some(mut study), Some(hashes)) => {
            study.learn(&rule_settings)?;
            let files = hashes.finish(Some(&table.file_rows()))?;
            let provenance = report_provenance(&files, &table, settings, groups, context, facts(request));
            let study = study.study(&rule_settings, settings.truth.is_some(), provenance, context)?;
            Some(report.write(study, context)?)
        }
        (Some(_) | None, ..) => None,
    };
    drop(working);
    let contract = |own: &Compared| own.result.contract(table.classes(), rule_settings.seed, None);
    let response = Response { rules: compared.iter().map(contract).collect(), compared, losses, report };
    if let Some(results) = results {
        results.write(|| response.table(), &response)?;
    }
    Ok(response)
}

impl Request {
    /// Returns the request with the label column, which is found by name if settings need it and it is not given.
    fn with_label(&self, input: &Input, context: &Context) -> Result<Request> {
        let is_default = self.uncoded == Uncoded::default();
        let given = [(!self.label_map.is_empty(), Setting::LabelMap), (!is_default, Setting::Uncoded)];
        let label = match given.into_iter().find(|(given, _)| *given && self.label.is_none()) {
            Some((_, setting)) => Some(existing_labels::find(input, Some(setting), context)?),
            None => self.label.clone(),
        };
        Ok(Request { label, ..self.clone() })
    }

    /// Returns the column with existing labels, if one is given.
    fn column(&self) -> Option<ClassColumn> {
        Some(existing_labels::class_column(self.label.as_ref()?, &self.label_map, &self.uncoded))
    }
}

/// Returns the facts about the rules and existing labels for the report.
fn facts(request: &Request) -> Vec<(&'static str, String)> {
    let mut facts = vec![(
        "Reference",
        "the posterior, that is, the mean of the scores; for rules “to truth”, the shares of the truth".to_owned(),
    )];
    facts.push((
        "Rules",
        "threshold: the most likely class if its score is 0.8 or more, otherwise no label; balance: γ 0.9 and the distance Σ|share − \
         reference|; top-2: drawn among the two most likely classes; match and balance: over all rows, or within each group; \
         learned: a linear support vector machine, trained on match labels of 10,000 random rows"
            .to_owned(),
    ));
    facts.extend(request.outcome.facts());
    if let Some(label) = &request.label {
        facts.push(("Your labels", format!("column {label}; unlabeled: {}", request.uncoded.values.join(", "))));
        if !request.label_map.is_empty() {
            facts.push(("Your labels, values mapped", request.label_map.texts().join(", ")));
        }
    }
    facts
}

/// The labelings of one table.
struct Comparison<'a> {
    scores: &'a Scores<'a>,
    by_group: bool,
    /// The frontier to the posterior; `None` without people.
    frontier: Option<&'a Frontier>,
    /// The study of the report, if one is written.
    study: Option<StudyBuilder<'a>>,
    /// The results.
    compared: Vec<Compared>,
}

/// The labels of a rule, its certificate, and its running time.
struct RuleRun<'a> {
    rule: &'a Rule,
    joint: Option<Joint>,
    seconds: f64,
}

impl Comparison<'_> {
    fn add(
        &mut self,
        role: Role,
        kind: LabelKind,
        name: &str,
        assignment: &Assignment,
        run: Option<RuleRun<'_>>,
    ) -> Result<()> {
        let options = match &self.study {
            Some(study) => study.options(role),
            None if self.by_group => AuditOptions::summary_by_group(),
            None => AuditOptions::summary(),
        };
        let tally = assignment.tally(self.scores, &options)?;
        let seconds = run.as_ref().map(|run| run.seconds);
        let mut result = match run {
            Some(run) => {
                let result = RuleResult::of_tally(name, &tally, assignment, run.joint);
                result.with_targets(run.rule, self.scores)?
            }
            None => RuleResult::of_tally(name, &tally, assignment, None),
        };
        result.frontier_gap = Some(self.frontier.and_then(|frontier| frontier.frontier_gap(&result.summary)));
        result.in_groups = tally.fidelity_in_groups();
        if let Some(study) = &mut self.study {
            study.add(role, kind, &result, assignment, &tally)?;
        }
        self.compared.push(Compared { result, seconds });
        Ok(())
    }

    /// Adds the labels of all rules.
    fn add_rules(&mut self, request: &Request, table: &Table, context: &Context) -> Result<()> {
        let (scores, settings) = (self.scores, request.table.settings());
        let can_learn = scores.counts().is_none() && scores.rows() > 0;
        if scores.counts().is_some() {
            let problem = Message::from("the learned rule is left out: it labels rows, and with ") + Setting::Count;
            context.note(problem + " a row can have several labels");
        }
        for (name, rule) in rules(self.by_group, request.table.truth.is_some(), can_learn) {
            context.check_cancelled()?;
            let begin = Instant::now();
            let solved = Assignment::of_rule(&rule, scores, &settings, 1);
            let (assignment, _, joint) = solved.map_err(|error| table.locate(error))?;
            let seconds = begin.elapsed().as_secs_f64();
            let role = match rule.kind() {
                RuleKind::Argmax if request.label.is_none() => Role::Subject,
                RuleKind::Match => Role::Corrected,
                RuleKind::Argmax
                | RuleKind::Threshold
                | RuleKind::Thompson
                | RuleKind::TopK
                | RuleKind::MatchByGroup
                | RuleKind::OtherMatch
                | RuleKind::Balance
                | RuleKind::FromSample
                | RuleKind::Learned => Role::Other,
            };
            let run = RuleRun { rule: &rule, joint, seconds };
            self.add(role, LabelKind::Rule(rule.kind()), name, &assignment, Some(run))?;
        }
        Ok(())
    }

    /// Adds the labels of match and balance in batches, and returns their losses.
    fn add_batches(&mut self, size: u64, request: &Request, table: &Table) -> Result<Vec<BatchLoss>> {
        let (scores, settings) = (self.scores, request.table.settings());
        let batches = Batches { size: size as usize, within_groups: false };
        let posterior = Match::overall(Reference::Posterior);
        let balance = Balance::new(GAMMA, posterior.clone());
        let mut losses = Vec::new();
        for (name, batched) in [
            ("match", batches.label_match(&posterior, scores, &settings)),
            ("balance γ 0.9", batches.label_balance(&balance, scores, &settings)),
        ] {
            let batched = batched.map_err(|error| table.locate(error))?;
            losses.push(BatchLoss {
                rule: name.to_owned(),
                batches: batched.batches,
                size,
                loss: batched.loss(),
                count_difference: batched.count_difference,
            });
            let assignment = Assignment::Labels(vec![batched.labels]);
            self.add(Role::Other, LabelKind::Batched, &format!("{name} in batches"), &assignment, None)?;
        }
        Ok(losses)
    }
}

/// Returns the rules of the paper's extended table.
fn rules(by_group: bool, truth: bool, can_learn: bool) -> Vec<(&'static str, Rule)> {
    let posterior = || Match::overall(Reference::Posterior);
    let mut rules = vec![
        ("threshold 0.8", Rule::Threshold(Thresholds::at(0.8))),
        ("balance γ 0.9", Rule::Balance(Balance::new(GAMMA, posterior()))),
        ("argmax", Rule::Argmax),
        ("match", Rule::Match(posterior())),
    ];
    if can_learn {
        rules.push(("learned", Rule::Learned(Learned::new(JointRule::Match(posterior())))));
    }
    if by_group {
        rules.push(("match by group", Rule::Match(Match::by_group(Reference::Posterior))));
    }
    rules.extend([("thompson", Rule::Thompson), ("top-2", Rule::TopK(2))]);
    if truth {
        rules.push(("match to truth", Rule::Match(Match::overall(Reference::Truth))));
        if by_group {
            rules.push(("match to truth by group", Rule::Match(Match::by_group(Reference::Truth))));
        }
    }
    rules
}

/// Returns the table of all results.
fn side_by_side(compared: &[Compared]) -> String {
    let by_group = compared.iter().any(|own| own.result.in_groups.is_some());
    let mut header = vec!["rule", "accuracy", "expected", "fidelity to posterior"];
    header.extend(by_group.then_some("in groups"));
    header.extend(["to truth", "coverage", "frontier gap", "seconds"]);
    let mut rows = Vec::with_capacity(compared.len());
    for Compared { result, seconds } in compared {
        let summary = &result.summary;
        let mut row = vec![
            result.name.clone(),
            text::plain(summary.accuracy, 4),
            text::plain(summary.expected_accuracy, 4),
            text::plain(summary.fidelity_to_posterior(), 4),
        ];
        row.extend(by_group.then(|| text::plain(result.in_groups, 4)));
        row.extend([
            text::plain(summary.fidelity_to_truth(), 4),
            text::plain(summary.coverage, 3),
            text::plain(result.frontier_gap.flatten(), 4),
            text::plain(*seconds, 3),
        ]);
        rows.push(row);
    }
    text::columns(&header, &rows)
}
