//! `apportion audit`: counts, bias, accuracy and calibration of labels that exist already.

mod json;
mod text;

use std::path::{Path, PathBuf};

use anyhow::Result;
use apportion::audit::{Audit, AuditOptions, Bootstrap, Drift, GroupMeasures, Measures, Section, UncodedPolicy};
use apportion::{Decision, Frontier, Labels, Match, Reference, Rule, Scores};
use apportion_io::{ClassColumn, ClassSettings, Table};
use apportion_report::{LabelKind, Provenance, Study};
use clap::Args;

use super::decision;
use crate::disparity_builder::{DisparityBuilder, OutcomeArgs};
use crate::options::{TableArgs, pairs};
use crate::progress::Working;
use crate::report::{ReportArgs, Role, StudyBuilder, of_report};
use crate::rule_result::{self, Assignment};
use crate::summary::drift_warning;
use crate::values;
use apportion_app::protect::SideInput;
use apportion_app::provenance::InputHashes;

/// Options of `audit`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion audit labelled.csv --label label
  apportion audit voters.parquet --label vb_voterbase_race --label-map Caucasian=white,African-American=black \\
      --uncoded Uncoded=argmax --truth race --by county
  apportion audit labelled.csv --label label --truth race --by county --report audit.html
  apportion audit labelled.csv --label label --decision decision.json
  apportion audit turnout.csv --label race_proxy --label-map W=white,B=black --outcome voted --report audit.html")]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(super) table: TableArgs,
    /// The column of the labels.
    #[arg(long, value_name = "COL")]
    label: String,
    /// Values of the labels that stand for a class.
    #[arg(long, value_delimiter = ',', value_name = "VALUE=CLASS,…")]
    label_map: Vec<String>,
    /// The values that stand for no label (empty ones always do), and what to do with such rows.
    #[arg(long, value_name = "VALUE[,VALUE]=argmax|drop|keep", default_value = "Uncoded=keep", value_parser = values::uncoded)]
    uncoded: (Vec<String>, UncodedPolicy),
    /// The decision that gave the labels, as `fit` wrote it: says whether their counts have drifted, further than chance
    /// explains, from those that it was fitted to give.
    #[arg(long, value_name = "DECISION.json")]
    decision: Option<PathBuf>,
    /// Adds 95% confidence intervals of shares, bias, accuracy and fidelity from this many bootstrap replicates, for example
    /// 200. Time is about 20 nanoseconds per replicate and row.
    #[arg(long, value_name = "REPLICATES", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    bootstrap: Option<u32>,
    /// The column of an outcome, for the report to compare between classes by every estimator.
    #[arg(long, value_name = "COL")]
    outcome: Option<String>,
    #[command(flatten)]
    more: OutcomeArgs,
    #[command(flatten)]
    pub(super) report: ReportArgs,
    /// Replaces the report and the figures where they exist.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &AuditArgs, line: &[String]) -> Result<()> {
    let (exclude, uncoded) = args.uncoded.clone();
    let map = pairs("--label-map", &args.label_map)?;
    let column = ClassColumn {
        column: args.label.clone(),
        map,
        exclude,
        settings: ClassSettings { exclude_example: "VALUE=keep", ..ClassSettings::LABEL },
    };
    let host = args.table.host.as_ref();
    let decision = args.decision.as_deref().map(|path| decision::read(path, host)).transpose()?;
    args.report.check_outcome(args.outcome.as_ref())?;
    let input = args.table.input()?;
    let side: Vec<SideInput> =
        args.decision.iter().map(|path| SideInput::new(apportion::text::Setting::Decision, path)).collect();
    let mut report = args.report.prepare(&input, &side, args.table.groups(), args.force)?;
    let origin = report.as_ref().map(|report| InputHashes::start(&input, "scores", report.beside()));
    let options = match &decision {
        Some(decision) => decision::with_scores_of(decision, &args.table, &input)?,
        None => args.table.clone(),
    };
    let table = options.read_with(&input, args.table.groups(), |options| {
        options.labels = vec![column];
        args.more.ask(args.outcome.as_ref(), options);
    })?;
    if let (Some(path), Some(decision)) = (&args.decision, &decision) {
        decision::check_classes(path, decision.classes().names(), table.classes().names())?;
    }
    let scores = table.scores()?;
    report.as_mut().map(|report| report.outline(&scores)).transpose()?;
    let labels = Labels::new(table.labels().unwrap_or_default().to_vec(), table.classes())?;
    let focus = args.report.focus_class(table.classes())?;
    let settings = args.table.settings();
    let options = AuditOptions {
        uncoded,
        focus,
        bootstrap: args.bootstrap.map(|replicates| Bootstrap {
            replicates,
            seed: settings.seed,
            ..Bootstrap::default()
        }),
        group_measures: GroupMeasures::Each(Measures { intervals: false, ..Measures::ALL }),
        ..AuditOptions::default()
    };
    let working = Working::on("auditing", args.table.quiet);
    let audit = Audit::of(&scores, &labels, &options).map_err(|error| table.locate(error))?;
    let drifted = match (&args.decision, &decision) {
        (Some(path), Some(decision)) => Some(Drifted::of(path, decision, &scores, &labels, &audit)?),
        _ => None,
    };
    let included = uncoded.apply(&scores, labels)?;
    let scores = match &included.counts {
        Some(counts) => scores.clone().with_counts(counts)?,
        None => scores,
    };
    let frontier = rule_result::frontier(&scores, &settings)?;
    let frontier_gap = frontier.as_ref().and_then(|frontier| frontier.frontier_gap(&audit.overall));
    drop(working);
    if let (Some(report), Some(origin)) = (report, origin) {
        let working = Working::on("comparing with other rules", args.table.quiet);
        let files = origin.finish(Some(&table.file_rows()))?;
        let provenance =
            of_report(&files, &table, &args.table, args.table.groups(), line, facts(args, drifted.as_ref()));
        let labels = Assignment::Labels(vec![included.labels]);
        let study = study(args, &table, &scores, &audit.overall, &labels, frontier.as_ref(), provenance)?;
        drop(working);
        report.write(study, &args.table)?;
    }
    let findings = Findings { audit, frontier_gap, drifted };
    args.table.print_either(&json::of(&findings), || text::of(&findings))
}

/// All results of an audit.
struct Findings {
    audit: Audit,
    /// The distance below the frontier, if everyone has a label.
    frontier_gap: Option<f64>,
    drifted: Option<Drifted>,
}

/// Whether labels still have the counts that their decision was fitted to give.
struct Drifted {
    /// `None` if the decision promises no counts.
    drift: Option<Drift>,
    words: String,
}

impl Drifted {
    fn of(path: &Path, decision: &Decision, scores: &Scores<'_>, labels: &Labels, audit: &Audit) -> Result<Drifted> {
        // Drift is about the labels as they are.
        let summary = match audit.options.uncoded {
            UncodedPolicy::Keep => audit.overall.clone(),
            UncodedPolicy::Drop | UncodedPolicy::Argmax => Section::summary(scores, labels)?,
        };
        let drift = decision.drift(scores, &summary)?;
        let words = match &drift {
            Some(drift) => drift_warning(decision, drift, &summary).unwrap_or_else(|| {
                "no drift: the counts are as near to those that the decision was fitted to give as chance explains"
                    .into()
            }),
            None => format!("{}: the decision promises no counts, so none can drift", path.display()),
        };
        Ok(Drifted { drift, words })
    }
}

/// Compares the labels with those of argmax and match, for the report.
fn study(
    args: &AuditArgs,
    table: &Table,
    scores: &Scores<'_>,
    audit: &Section,
    labels: &Assignment,
    frontier: Option<&Frontier>,
    provenance: Provenance,
) -> Result<Study> {
    let settings = args.table.settings();
    let builder = StudyBuilder::new(scores, frontier, &args.report, args.table.groups(), settings.seed)?;
    let disparity = DisparityBuilder::begin(table, scores, args.outcome.as_ref(), &args.more)?;
    let mut builder = builder.with_outcome(disparity).with_audit(audit.clone());
    builder.add_labels(Role::Subject, LabelKind::Own, "your labels", labels, None)?;
    builder.add_rule(Role::Other, "argmax", &Rule::Argmax, &settings)?;
    let posterior = Rule::Match(Match::overall(Reference::Posterior));
    builder.add_rule(Role::Corrected, "match", &posterior, &settings)?;
    if !args.table.by.is_empty() {
        let by_group = Rule::Match(Match::by_group(Reference::Posterior));
        builder.add_rule(Role::Other, "match by group", &by_group, &settings)?;
    }
    builder.study(&settings, args.table.truth.is_some(), provenance)
}

/// Returns what the report says about the labels.
fn facts(args: &AuditArgs, drifted: Option<&Drifted>) -> Vec<(&'static str, String)> {
    let (values, policy) = &args.uncoded;
    let policy = match policy {
        UncodedPolicy::Keep => "counted as they are",
        UncodedPolicy::Drop => "left out of everything",
        UncodedPolicy::Argmax => "given the likeliest class",
    };
    let mut facts = vec![
        ("Your labels", format!("column {}", args.label)),
        ("Reference", "of match: the posterior, the mean of the scores".to_owned()),
        ("Rows without a label", format!("those that are empty or {}: {policy}", values.join(", "))),
    ];
    facts.extend(args.more.facts(args.outcome.as_ref()));
    if !args.label_map.is_empty() {
        facts.push(("Your labels, values mapped", args.label_map.join(", ")));
    }
    facts.extend(drifted.map(|drifted| ("Drift", drifted.words.clone())));
    facts
}
