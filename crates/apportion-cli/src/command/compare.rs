//! `apportion compare`: rules side by side on the user's own scores.

use std::time::Instant;

use anyhow::Result;
use apportion::audit::AuditOptions;
use apportion::rule::{Batches, Joint, JointRule, Learned, RuleKind, Thresholds};
use apportion::{Balance, Frontier, Labels, Match, Reference, Rule, Scores};
use apportion_io::{ClassColumn, ClassSettings};
use apportion_report::LabelKind;
use clap::Args;

use crate::disparity_builder::{DisparityBuilder, OutcomeArgs};
use crate::options::{TableArgs, pairs};
use crate::progress::Working;
use crate::report::{ReportArgs, Role, StudyBuilder, of_report};
use crate::rule_result::{self, Assignment, RuleResult};
use crate::text;
use crate::usage::usage;
use apportion_app::provenance::InputHashes;

/// Options of `compare`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion compare scores.csv
  apportion compare scores.parquet --truth race --by county
  apportion compare scores.parquet --truth race --by county --report report.html
  apportion compare turnout.csv --truth race --outcome voted --report report.html
  apportion compare scores.parquet --batch 10000
  apportion compare voters.csv --label race_proxy --label-map W=white,B=black

\"frontier gap\" is the expected accuracy that a rule gives up: other labels with counts equally close to the posterior would be
more accurate by this much. It is shown for rules that label every row. Rules with another reference (groups or the truth) have a
gap because they aim at that reference.")]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(super) table: TableArgs,
    /// A column of labels that exist already, to be set beside the rules.
    #[arg(long, value_name = "COL")]
    label: Option<String>,
    /// Values of the labels that stand for a class.
    #[arg(long, value_delimiter = ',', value_name = "VALUE=CLASS,…", requires = "label")]
    label_map: Vec<String>,
    /// The values that stand for no label; empty ones always do.
    #[arg(long, value_name = "VALUE,…", value_delimiter = ',', default_value = "Uncoded", requires = "label")]
    uncoded: Vec<String>,
    /// Also solves match and balance in random batches of so many rows, to show what batching loses.
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u64).range(1..))]
    batch: Option<u64>,
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

pub(crate) fn run(args: &CompareArgs, line: &[String]) -> Result<()> {
    let own = match &args.label {
        None => None,
        Some(column) => {
            let (column, map) = (column.clone(), pairs("--label-map", &args.label_map)?);
            Some(ClassColumn { column, map, exclude: args.uncoded.clone(), settings: ClassSettings::LABEL })
        }
    };
    args.report.check_outcome(args.outcome.as_ref())?;
    let input = args.table.input()?;
    let mut report = args.report.prepare(&input, &[], args.table.groups(), args.force)?;
    if report.is_none() && args.report.focus.is_some() {
        return Err(usage("--focus: it is for --report FILE.html"));
    }
    let origin = report.as_ref().map(|report| InputHashes::start(&input, "scores", report.beside()));
    let table = args.table.read_with(&input, args.table.groups(), |options| {
        options.labels = own.into_iter().collect();
        args.more.ask(args.outcome.as_ref(), options);
    })?;
    let scores = table.scores()?;
    args.table.refuse_empty_truth(&scores)?;
    report.as_mut().map(|report| report.outline(&scores)).transpose()?;
    let working = Working::on("comparing", args.table.quiet);
    let settings = args.table.settings();
    let by_group = !args.table.by.is_empty();
    let frontier = rule_result::frontier(&scores, &settings).map_err(|error| table.locate(error))?;
    let frontier = frontier.as_ref();
    let study = match &report {
        Some(_) => {
            let groups = args.table.groups();
            let builder = StudyBuilder::new(&scores, frontier, &args.report, groups, settings.seed)?;
            let disparity = DisparityBuilder::begin(&table, &scores, args.outcome.as_ref(), &args.more)?;
            Some(builder.with_outcome(disparity))
        }
        None => None,
    };
    let mut comparison = Comparison { scores: &scores, by_group, frontier, study, results: Vec::new() };
    if let Some(labels) = table.labels() {
        let assignment = Assignment::Labels(vec![Labels::new(labels.to_vec(), table.classes())?]);
        comparison.add(Role::Subject, LabelKind::Own, "your labels", &assignment, None)?;
    }
    let can_learn = scores.counts().is_none() && scores.rows() > 0;
    for (name, rule) in rules(by_group, args.table.truth.is_some(), can_learn) {
        args.table.refuse_stopped()?;
        let begin = Instant::now();
        let labeled = Assignment::by(&rule, &scores, &settings, 1).map_err(|error| table.locate(error))?;
        let (assignment, _, joint) = labeled;
        let seconds = begin.elapsed().as_secs_f64();
        let kind = LabelKind::Rule(rule.kind());
        let role = if rule.kind() == RuleKind::Argmax && args.label.is_none() {
            Role::Subject
        } else if rule.kind() == RuleKind::Match {
            Role::Corrected
        } else {
            Role::Other
        };
        comparison.add(role, kind, name, &assignment, Some(RuleRun { rule: &rule, joint, seconds }))?;
    }
    let mut losses = Vec::new();
    if let Some(size) = args.batch {
        let batches = Batches { size: size as usize, within_groups: false };
        let posterior = Match::overall(Reference::Posterior);
        let balance = Balance::new(0.9, posterior.clone());
        for (name, batched) in [
            ("match", batches.label_match(&posterior, &scores, &settings)),
            ("balance γ 0.9", batches.label_balance(&balance, &scores, &settings)),
        ] {
            let batched = batched.map_err(|error| table.locate(error))?;
            losses.push(format!(
                "{name}: {} batches of {size} lose {:.2e} of the objective, and counts differ by {} in all",
                batched.batches,
                batched.loss(),
                batched.count_difference
            ));
            let assignment = Assignment::Labels(vec![batched.labels]);
            let name = format!("{name} in batches");
            comparison.add(Role::Other, LabelKind::Batched, &name, &assignment, None)?;
        }
    }
    let Comparison { study, results, .. } = comparison;
    if let (Some(report), Some(mut study), Some(origin)) = (report, study, origin) {
        study.learn(&settings)?;
        let files = origin.finish(Some(&table.file_rows()))?;
        let provenance = of_report(&files, &table, &args.table, args.table.groups(), line, facts(args));
        report.write(study.study(&settings, args.table.truth.is_some(), provenance)?, &args.table)?;
    }
    drop(working);
    let json = |(result, _): &(RuleResult, _)| result.json(table.classes(), settings.seed, None);
    let all: Vec<_> = results.iter().map(json).collect();
    args.table.print_either(&all.into(), || [vec![side_by_side(&results)], losses].concat().join("\n"))
}

/// What a reader of the report needs to know of the rules and of labels that there were already.
fn facts(args: &CompareArgs) -> Vec<(&'static str, String)> {
    let mut facts = vec![(
        "Reference",
        "the posterior, the mean of the scores; for rules “to truth” the shares of the truth".to_owned(),
    )];
    facts.push((
        "Rules",
        "threshold: the likeliest class where its score is 0.8 or more, else none; balance: γ 0.9 and the distance Σ|share − \
         reference|; top-2: drawn among the two likeliest; match and balance: over all rows at once, or within each group; \
         learned: by a linear support vector machine, from match on 10,000 rows drawn by the seed"
            .to_owned(),
    ));
    facts.extend(args.more.facts(args.outcome.as_ref()));
    if let Some(label) = &args.label {
        facts.push(("Your labels", format!("column {label}; without a label: {}", args.uncoded.join(", "))));
        if !args.label_map.is_empty() {
            facts.push(("Your labels, values mapped", args.label_map.join(", ")));
        }
    }
    facts
}

/// The labelings of one table, side by side.
struct Comparison<'a> {
    scores: &'a Scores<'a>,
    by_group: bool,
    /// The frontier to the posterior; `None` without people.
    frontier: Option<&'a Frontier>,
    /// The study of the report, if one is written.
    study: Option<StudyBuilder<'a>>,
    /// The results, with the seconds that the rule took.
    results: Vec<(RuleResult, Option<f64>)>,
}

/// A rule that gave labels, its certificate, and how long it took.
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
        self.results.push((result, seconds));
        Ok(())
    }
}

/// The rows of the paper's extended table.
fn rules(by_group: bool, truth: bool, can_learn: bool) -> Vec<(&'static str, Rule)> {
    let posterior = || Match::overall(Reference::Posterior);
    let mut rules = vec![
        ("threshold 0.8", Rule::Threshold(Thresholds::at(0.8))),
        ("balance γ 0.9", Rule::Balance(Balance::new(0.9, posterior()))),
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
fn side_by_side(results: &[(RuleResult, Option<f64>)]) -> String {
    let by_group = results.iter().any(|(result, _)| result.in_groups.is_some());
    let mut header = vec!["rule", "accuracy", "expected", "fidelity to posterior"];
    header.extend(by_group.then_some("in groups"));
    header.extend(["to truth", "coverage", "frontier gap", "seconds"]);
    let mut rows = Vec::with_capacity(results.len());
    for (result, seconds) in results {
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
