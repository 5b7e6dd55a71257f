//! `apportion audit`: how far labels that exist already are off.

use std::path::{Path, PathBuf};

use anyhow::Result;
use apportion::audit::{Audit, AuditOptions, Drift, LabelSummary, PopulationTotals, UncodedPolicy};
use apportion::{Decision, Frontier, Label, Labels, Match, Reference, Rule, Scores, Settings, UNCODED};
use apportion_io::{ClassColumn, Table};
use apportion_report::{Provenance, Study};
use clap::Args;
use serde_json::json;

use super::decision;
use crate::estimates::{Estimating, OutcomeArgs};
use crate::options::{LABEL_OPTIONS, TableArgs, pairs};
use crate::outcome::{self, Given};
use crate::progress::Working;
use crate::protect::SideInput;
use crate::provenance::Origin;
use crate::report::{Gallery, Place, ReportArgs, of_report};
use crate::summary::drift_warning;
use crate::text;
use crate::values;

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
    let column = ClassColumn { column: args.label.clone(), map, exclude, options: LABEL_OPTIONS };
    let host = args.table.host.as_ref();
    let decision = args.decision.as_deref().map(|path| decision::read(path, host)).transpose()?;
    args.report.check_outcome(args.outcome.as_ref())?;
    let input = args.table.input()?;
    let side: Vec<SideInput> = args.decision.iter().map(|path| SideInput::new("--decision", path)).collect();
    let mut report = args.report.prepare(&input, &side, args.table.groups(), args.force)?;
    let origin = report.as_ref().map(|report| Origin::of(&input, "scores", report.beside()));
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
    let options = AuditOptions { uncoded, focus, ..AuditOptions::default() };
    let audit = Audit::of(&scores, &labels, &options).map_err(|error| table.explain(error))?;
    let working = Working::on("auditing", args.table.quiet);
    let drifted = args.decision.as_deref().zip(decision.as_ref());
    let drifted = drifted.map(|(path, decision)| Drifted::of(path, decision, &scores, &labels)).transpose()?;
    let settings = args.table.settings();
    let kept = kept(&scores, &labels, uncoded);
    let scores = match &kept {
        Some(kept) => scores.clone().with_counts(kept)?,
        None => scores,
    };
    let labels = if uncoded == UncodedPolicy::Argmax { filled(labels, &scores, &settings)? } else { labels };
    let frontier = outcome::frontier(&scores, &settings)?;
    let below = match &frontier {
        Some(frontier) => frontier.frontier_gap(&LabelSummary::of(&scores, &labels)?),
        None => None,
    };
    drop(working);
    if let (Some(report), Some(origin)) = (report, origin) {
        let working = Working::on("setting other rules beside the labels", args.table.quiet);
        let files = origin.files(Some(&table.file_rows()))?;
        let provenance =
            of_report(&files, &table, &args.table, args.table.groups(), line, facts(args, drifted.as_ref()));
        let study = beside_rules(args, &table, &scores, labels, frontier.as_ref(), provenance)?;
        drop(working);
        report.write(study, &args.table)?;
    }
    let findings = Findings { audit, below, drifted };
    args.table.print_either(&as_json(&findings), || as_text(&findings))
}

/// All that is said of the labels.
struct Findings {
    audit: Audit,
    /// How far they lie below the frontier, where everybody has one.
    below: Option<f64>,
    drifted: Option<Drifted>,
}

/// Whether labels still have the counts that their decision was fitted to give.
struct Drifted {
    /// None where the decision promises no counts.
    drift: Option<Drift>,
    words: String,
}

impl Drifted {
    fn of(path: &Path, decision: &Decision, scores: &Scores<'_>, labels: &Labels) -> Result<Drifted> {
        let glance = LabelSummary::of(scores, labels)?;
        let drift = decision.drift(scores, &glance)?;
        let words = match &drift {
            Some(drift) => drift_warning(decision, drift, &glance).unwrap_or_else(|| {
                "no drift: the counts are as near to those that the decision was fitted to give as chance explains"
                    .into()
            }),
            None => format!("{}: the decision promises no counts, so none can drift", path.display()),
        };
        Ok(Drifted { drift, words })
    }
}

/// The people of each row, where those without a label are left out: they stand for nobody, in every labelling.
fn kept(scores: &Scores<'_>, labels: &Labels, policy: UncodedPolicy) -> Option<Vec<u64>> {
    let people = |row: usize| scores.counts().map_or(1, |counts| counts[row]);
    let kept = |(row, &label): (usize, &Label)| if label == UNCODED { 0 } else { people(row) };
    (policy == UncodedPolicy::Drop).then(|| labels.values().iter().enumerate().map(kept).collect())
}

/// The labels, and what argmax and match would have given.
fn beside_rules(
    args: &AuditArgs,
    table: &Table,
    scores: &Scores<'_>,
    labels: Labels,
    frontier: Option<&Frontier>,
    provenance: Provenance,
) -> Result<Study> {
    let settings = args.table.settings();
    let backdrop = PopulationTotals::of(scores)?;
    let gallery = Gallery::new(scores, &backdrop, frontier, &args.report, args.table.groups(), settings.seed)?;
    let estimating = Estimating::begin(table, scores, args.outcome.as_ref(), &args.more)?;
    let mut gallery = gallery.with_outcome(estimating);
    gallery.show(Place::Subject, "your labels", &Given::Labels(vec![labels]), None)?;
    gallery.label_by("argmax", Place::Beside, &Rule::Argmax, &settings)?;
    gallery.label_by("match", Place::Remedy, &Rule::Match(Match::overall(Reference::Posterior)), &settings)?;
    if !args.table.by.is_empty() {
        let by_group = Rule::Match(Match::by_group(Reference::Posterior));
        gallery.label_by("match by group", Place::Beside, &by_group, &settings)?;
    }
    gallery.study(&settings, provenance)
}

/// The labels with argmax where there were none.
fn filled(labels: Labels, scores: &Scores<'_>, settings: &Settings) -> Result<Labels> {
    let argmax = Rule::Argmax.fit(scores, settings)?.apply(scores)?;
    let both = labels.into_values().into_iter().zip(argmax.values());
    let filled = both.map(|(label, &argmax)| if label == UNCODED { argmax } else { label }).collect();
    Ok(Labels::new(filled, scores.classes())?)
}

/// What a reader of the report needs to know of the labels.
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

fn as_json(findings: &Findings) -> serde_json::Value {
    let audit = &findings.audit;
    let section = |section: &apportion::audit::Section| {
        let of = |each: &dyn Fn(&apportion::audit::ClassAudit) -> serde_json::Value| -> Vec<serde_json::Value> {
            section.classes.iter().map(each).collect()
        };
        json!({
            "rows": section.rows,
            "labelled": section.classes.iter().map(|class| class.labels).sum::<u64>(),
            "counts": of(&|class| json!(class.labels)),
            "shares": of(&|class| json!(class.share)),
            "accuracy": section.accuracy,
            "expected_accuracy": section.expected_accuracy,
            "fidelity": {
                "posterior": section.against_posterior.as_ref().map(|distance| distance.fidelity),
                "truth": section.against_truth.as_ref().map(|distance| distance.fidelity),
            },
            "bias": {
                "posterior": of(&|class| json!(class.against_posterior.as_ref().map(|bias| bias.difference))),
                "truth": of(&|class| json!(class.against_truth.as_ref().map(|bias| bias.difference))),
            },
            "split": of(&|class| json!(class.split.as_ref().map(|split| json!({
                "miscalibration": split.miscalibration,
                "discretization": split.discretization,
            })))),
            "mae": section.score_error.implied_mae,
            "mae_in_truth": section.score_error.observed_mae,
            "argmax_bias": section.score_error.argmax.map(|argmax| json!({
                "class": audit.classes.names()[argmax.class],
                "bias": argmax.bias,
                "bound_holds": argmax.bound_holds,
            })),
        })
    };
    let mut all = section(&audit.overall);
    all["below_frontier"] = json!(findings.below);
    if let Some(Drifted { drift: Some(drift), .. }) = &findings.drifted {
        all["drift"] = outcome::drift_json(drift);
    }
    all["classes"] = json!(audit.classes.names());
    all["groups"] = audit
        .groups
        .iter()
        .map(|group| {
            let mut own = section(&group.section);
            own["group"] = json!(group.name);
            own
        })
        .collect();
    all
}

fn as_text(findings: &Findings) -> String {
    let audit = &findings.audit;
    let section = &audit.overall;
    let with_truth = section.with_truth > 0;
    let mut header = vec!["class", "labels", "scores sum to", "off by", ""];
    if with_truth {
        header.extend(["truth", "off by", ""]);
    }
    let rows: Vec<Vec<String>> = section
        .classes
        .iter()
        .map(|class| {
            let bias = class.against_posterior.as_ref();
            let mut row = vec![
                class.class.clone(),
                text::count(class.labels),
                format!("{:.1}", class.posterior_sum),
                text::signed(bias.map(|bias| 100.0 * bias.difference), 2, " points"),
                text::signed(bias.and_then(|bias| bias.percent), 1, "%"),
            ];
            if with_truth {
                let bias = class.against_truth.as_ref();
                row.push(class.truth_count.map_or_else(|| "–".into(), text::count));
                row.push(text::signed(bias.map(|bias| 100.0 * bias.difference), 2, " points"));
                row.push(text::signed(bias.and_then(|bias| bias.percent), 1, "%"));
            }
            row
        })
        .collect();
    let mut lines = vec![
        format!(
            "{} {}, {} labelled",
            text::count(section.people),
            if section.people == section.rows { "rows" } else { "people" },
            text::count(section.classes.iter().map(|class| class.labels).sum())
        ),
        text::columns(&header, &rows),
        format!(
            "expected accuracy {}, fidelity to the posterior {}",
            text::plain(section.expected_accuracy, 4),
            text::plain(section.against_posterior.as_ref().map(|distance| distance.fidelity), 4)
        ),
    ];
    if with_truth {
        lines.push(format!(
            "accuracy {}, fidelity to the truth {}, over {} labels whose truth is known",
            text::plain(section.accuracy, 4),
            text::plain(section.against_truth.as_ref().map(|distance| distance.fidelity), 4),
            text::count(judged(section))
        ));
    }
    lines.extend(theory(findings));
    lines.extend(findings.drifted.as_ref().map(|drifted| drifted.words.clone()));
    lines.extend(by_group(audit));
    lines.join("\n")
}

/// What the paper's theorems say of these people: by how much argmax can be off, and what the labels give away.
fn theory(findings: &Findings) -> Vec<String> {
    let mut lines = Vec::new();
    let Findings { audit, below, .. } = findings;
    let error = &audit.overall.score_error;
    if let (Some(argmax), Some(mae)) = (error.argmax, error.implied_mae) {
        lines.push(format!(
            "argmax's largest bias is {} for {}; these scores allow {:.2} at most (their mean absolute error; Theorem 1)",
            text::signed(Some(100.0 * argmax.bias), 2, " points"),
            audit.classes.names()[argmax.class],
            100.0 * mae
        ));
    }
    lines.extend(below.map(|below| match below < 5e-5 {
        true => "on the frontier: no labels whose counts are as near to the posterior are more accurate, by the scores \
                 (Theorem 2)"
            .to_owned(),
        false => format!(
            "below the frontier by {:.2} points: so much more accurate, by the scores, are the best labels whose counts in \
             all are as near to the posterior (Theorem 2)",
            100.0 * below
        ),
    }));
    lines
}

/// Labels whose truth is known: the last column of the confusion matrix has no label.
fn judged(section: &apportion::audit::Section) -> u64 {
    let people = section.confusion.iter().flat_map(|confusion| &confusion.people);
    people.map(|row| row[..row.len() - 1].iter().sum::<u64>()).sum()
}

/// Groups that are shown; `--json` has all.
const SHOWN: usize = 10;

/// Groups with fewer people are not shown, as in reports: their numbers would be about persons.
const LEAST_PEOPLE: u64 = 5;

/// In how many groups the classes other than the focus class are undercounted, and the groups that are furthest off.
fn by_group(audit: &Audit) -> Vec<String> {
    let (Some(under), Some(focus)) = (&audit.undercounted, audit.focus) else { return Vec::new() };
    let focus = &audit.classes.names()[focus];
    let small = audit.groups.iter().filter(|group| group.section.people < LEAST_PEOPLE).count();
    let mut groups: Vec<(f64, Vec<String>)> = audit
        .groups
        .iter()
        .filter(|group| group.section.people >= LEAST_PEOPLE)
        .filter_map(|group| {
            let others = group.section.others?;
            let off = others.against_posterior?.difference;
            let percent = |share: Option<f64>| text::plain(share.map(|share| 100.0 * share), 2);
            let row = vec![
                group.name.clone(),
                text::count(group.section.people),
                percent(others.share),
                percent(others.posterior_share),
                text::signed(Some(100.0 * off), 2, " points"),
            ];
            Some((off, row))
        })
        .collect();
    groups.sort_by(|(a, _), (b, _)| b.abs().total_cmp(&a.abs()));
    let shown: Vec<Vec<String>> = groups.iter().take(SHOWN).map(|(_, row)| row.clone()).collect();
    let mut lines = vec![format!(
        "all but {focus} are undercounted in {} of {} groups, in {} by a person or more",
        under.groups, under.of, under.by_a_person_or_more
    )];
    if !shown.is_empty() {
        let header = ["group", "people", "% by labels", "% by scores", "off by"];
        lines.push(format!(
            "\nall but {focus}, in the groups that are furthest off:\n{}",
            text::columns(&header, &shown)
        ));
    }
    if small > 0 {
        let groups = text::counted(small as u64, "group", "groups");
        lines.push(format!("{groups} with fewer than {LEAST_PEOPLE} people: not shown here; --json has all"));
    }
    if groups.len() > SHOWN {
        lines.push(format!("… and {} groups more; --json has all", groups.len() - SHOWN));
    }
    lines
}
