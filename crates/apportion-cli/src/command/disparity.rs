//! `apportion disparity`: an outcome compared between classes, by every estimator side by side.

use anyhow::Result;
use apportion::audit::Interval;
use apportion::estimate::{Estimate, Figure, Gap};
use apportion::rule::{Joint, Thresholds};
use apportion::{Labels, Match, Reference, Rule, Scores, Settings};
use apportion_io::{ClassColumn, ClassSettings, Table};
use apportion_report::{Disparity, Estimator, LabelKind, Method};
use clap::Args;
use serde_json::{Value, json};

use crate::disparity_builder::{DisparityBuilder, OutcomeArgs};
use crate::message;
use crate::options::{TableArgs, pairs};
use crate::progress::Working;
use crate::report::{ReportArgs, Role, StudyBuilder, of_report};
use crate::rule_result::{self, Assignment};
use crate::text;
use crate::usage::usage;
use apportion_app::provenance::InputHashes;

/// Options of `disparity`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion disparity turnout.csv --outcome voted
  apportion disparity turnout.csv --outcome voted --truth race --cells county
  apportion disparity turnout.csv --outcome party --outcome-value D --by county --against white
  apportion disparity turnout.csv --outcome price --label race_proxy --label-map W=white,B=black
  apportion disparity turnout.csv --outcome voted --truth race --report disparity.html

Labels are one way of many to compare classes, and seldom the best: where the scores themselves can be used, use them.")]
pub(crate) struct DisparityArgs {
    #[command(flatten)]
    pub(super) table: TableArgs,
    /// The column of the outcome: numbers; 0 and 1, true and false, yes and no; or a few values. Empty ones are left out.
    #[arg(long, value_name = "COL")]
    outcome: String,
    #[command(flatten)]
    more: OutcomeArgs,
    /// Columns of labels that exist already, to be set beside those of the rules.
    #[arg(long, value_name = "COL[,COL]", value_delimiter = ',')]
    label: Vec<String>,
    /// Values of the labels that stand for a class.
    #[arg(long, value_delimiter = ',', value_name = "VALUE=CLASS,…", requires = "label")]
    label_map: Vec<String>,
    /// The values that stand for no label; empty ones always do.
    #[arg(long, value_name = "VALUE,…", value_delimiter = ',', default_value = "Uncoded", requires = "label")]
    uncoded: Vec<String>,
    #[command(flatten)]
    pub(super) report: ReportArgs,
    /// Replaces the report and the figures where they exist.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &DisparityArgs, line: &[String]) -> Result<()> {
    let labels = label_columns(args)?;
    let input = args.table.input()?;
    let mut report = args.report.prepare(&input, &[], args.table.groups(), args.force)?;
    if report.is_none() && args.report.focus.is_some() {
        return Err(usage("--focus: it is for --report FILE.html; --against CLASS says what others are compared with"));
    }
    let origin = report.as_ref().map(|report| InputHashes::start(&input, "scores", report.beside()));
    let column = Some(&args.outcome);
    let table = args.table.read_with(&input, args.table.groups(), |options| {
        options.labels = labels;
        args.more.ask(column, options);
    })?;
    let scores = table.scores()?;
    report.as_mut().map(|report| report.outline(&scores)).transpose()?;
    let working = Working::on("comparing", args.table.quiet);
    let settings = args.table.settings();
    let Some(mut builder) = DisparityBuilder::begin(&table, &scores, column, &args.more)? else { return Ok(()) };
    let disparity = if let (Some(report), Some(origin)) = (report, origin) {
        let frontier = rule_result::frontier(&scores, &settings).map_err(|error| table.locate(error))?;
        let (frontier, groups) = (frontier.as_ref(), args.table.groups());
        let study = StudyBuilder::new(&scores, frontier, &args.report, groups, settings.seed)?;
        let mut study = study.with_outcome(Some(builder));
        for_each_labeling(args, &table, &scores, &settings, |role, kind, name, assignment, joint| {
            study.add_labels(role, kind, name, assignment, joint)
        })?;
        let files = origin.finish(Some(&table.file_rows()))?;
        let provenance = of_report(&files, &table, &args.table, args.table.groups(), line, facts(args));
        let study = study.study(&settings, args.table.truth.is_some(), provenance)?;
        let Some(disparity) = study.outcomes.clone() else { return Ok(()) };
        report.write(study, &args.table)?;
        disparity
    } else {
        for_each_labeling(args, &table, &scores, &settings, |_, kind, name, assignment, _| {
            builder.add(name, kind, assignment)
        })?;
        builder.finish(&settings)?
    };
    drop(working);
    args.table.print_either(&as_json(&disparity), || as_text(&disparity))
}

fn label_columns(args: &DisparityArgs) -> Result<Vec<ClassColumn>> {
    let map = pairs("--label-map", &args.label_map)?;
    let column = |column: &String| {
        let (column, map) = (column.clone(), map.clone());
        ClassColumn { column, map, exclude: args.uncoded.clone(), settings: ClassSettings::LABEL }
    };
    Ok(args.label.iter().map(column).collect())
}

/// Calls `add` with existing labels and with those of the rules, one after the other.
fn for_each_labeling(
    args: &DisparityArgs,
    table: &Table,
    scores: &Scores<'_>,
    settings: &Settings,
    mut add: impl FnMut(Role, LabelKind, &str, &Assignment, Option<Joint>) -> Result<()>,
) -> Result<()> {
    let is_one = args.label.len() == 1;
    let kind = if is_one { LabelKind::Own } else { LabelKind::OwnColumn };
    for (index, (column, labels)) in args.label.iter().zip(table.all_labels()).enumerate() {
        let name = if is_one { "your labels" } else { column };
        let assignment = Assignment::Labels(vec![Labels::new(labels.clone(), table.classes())?]);
        let role = if index == 0 { Role::Subject } else { Role::Other };
        add(role, kind, name, &assignment, None)?;
    }
    let first = if args.label.is_empty() { Role::Subject } else { Role::Other };
    let mut rules = vec![
        ("argmax", first, Rule::Argmax),
        ("threshold 0.8", Role::Other, Rule::Threshold(Thresholds::at(0.8))),
        ("match", Role::Corrected, Rule::Match(Match::overall(Reference::Posterior))),
    ];
    if !args.table.by.is_empty() {
        rules.push(("match by group", Role::Other, Rule::Match(Match::by_group(Reference::Posterior))));
    }
    for (name, role, rule) in rules {
        let labeled = Assignment::by(&rule, scores, settings, 1).map_err(|error| table.locate(error))?;
        let (assignment, _, joint) = labeled;
        add(role, LabelKind::Rule(rule.kind()), name, &assignment, joint)?;
    }
    Ok(())
}

/// What a reader of the report needs to know.
fn facts(args: &DisparityArgs) -> Vec<(&'static str, String)> {
    let mut facts = args.more.facts(Some(&args.outcome));
    facts.push(("Reference", "of match: the posterior, the mean of the scores".to_owned()));
    if !args.label.is_empty() {
        let without = args.uncoded.join(", ");
        facts.push(("Your labels", format!("columns {}; without a label: {without}", args.label.join(", "))));
    }
    if !args.label_map.is_empty() {
        facts.push(("Your labels, values mapped", args.label_map.join(", ")));
    }
    facts
}

/// Values that are shown; `--json` has all.
const SHOWN: usize = 8;

fn as_text(own: &Disparity) -> String {
    let mut lines = Vec::new();
    for level in 0..own.told().min(SHOWN) {
        let unit = if own.is_share() { ", %" } else { "" };
        lines.push(table(own, &format!("{}{unit}", own.what(level)), |each, class| {
            let figure = own.figure(each, level, class);
            let (estimate, interval) = (figure.and_then(|own| own.estimate), figure.and_then(|own| own.interval));
            cell(estimate, interval, |number| own.show(number))
        }));
        let unit = if own.is_share() { ", points" } else { "" };
        lines.push(table(own, &format!("gap to {}{unit}", own.classes[own.against]), |each, class| {
            let gap = own.gap(each, level, class);
            let (difference, interval) = (gap.and_then(|own| own.difference), gap.and_then(|own| own.interval));
            cell(difference, interval, |number| own.show_difference(number))
        }));
    }
    if own.told() > SHOWN {
        lines.push(format!("… and {} values more; --json has all", own.told() - SHOWN));
    }
    lines.extend(own.sentence());
    let mut methods: Vec<Method> = own.estimators.iter().map(|own| own.method).collect();
    methods.dedup();
    let needs = methods.into_iter().map(|method| message::render(&method.needs()));
    lines.push(needs.chain(own.remarks.iter().cloned()).collect::<Vec<_>>().join("\n"));
    lines.join("\n\n")
}

/// Estimators by classes.
fn table(own: &Disparity, title: &str, cell: impl Fn(&Estimator, usize) -> String) -> String {
    let header: Vec<&str> = std::iter::once(title).chain(own.classes.iter().map(String::as_str)).collect();
    let row = |each: &Estimator| {
        let cells = (0..own.classes.len()).map(|class| cell(each, class));
        std::iter::once(each.name.clone()).chain(cells).collect()
    };
    text::columns(&header, &own.estimators.iter().map(row).collect::<Vec<_>>())
}

/// A number with its interval: `61.2 [60.4, 62.0]`.
fn cell(number: Option<f64>, interval: Option<Interval>, show: impl Fn(f64) -> String) -> String {
    let between = interval.map(|own| format!("[{}, {}]", show(own.low), show(own.high)));
    let parts: Vec<String> = number.map(&show).into_iter().chain(between).collect();
    if parts.is_empty() { "–".into() } else { parts.join(" ") }
}

/// As `--json` prints it. Documented in docs/json.md.
fn as_json(own: &Disparity) -> Value {
    let estimator = |each: &Estimator| {
        json!({
            "name": each.name,
            "method": each.method.id(),
            "needs": message::render(&each.method.needs()),
            "values": each.estimates.iter().enumerate().map(|(level, estimate)| {
                let biases = each.biases.get(level);
                json!({
                    "value": own.levels.get(level),
                    "classes": (0..own.classes.len()).map(|class| {
                        let bias = biases.and_then(|biases| biases[class]);
                        class_json(own, estimate, class, bias)
                    }).collect::<Vec<_>>(),
                    "pairs": estimate.gaps.iter().map(|gap| gap_json(own, gap)).collect::<Vec<_>>(),
                })
            }).collect::<Vec<_>>(),
        })
    };
    json!({
        "outcome": own.outcome,
        "values": own.levels,
        "classes": own.classes,
        "against": own.classes[own.against],
        "rows": own.known.rows,
        "people": own.known.people,
        "without_outcome": own.unknown,
        "estimators": own.estimators.iter().map(estimator).collect::<Vec<_>>(),
        "sentence": own.sentence(),
        "remarks": own.remarks,
    })
}

fn class_json(
    own: &Disparity,
    estimate: &Estimate,
    class: usize,
    bias: Option<apportion::estimate::LabelBias>,
) -> Value {
    let figure: Option<&Figure> = estimate.classes[class].as_ref();
    let mut object = json!({
        "class": own.classes[class],
        "estimate": figure.and_then(|own| own.estimate),
        "error": figure.and_then(|own| own.error),
        "interval": figure.and_then(|own| own.interval),
        "effective": figure.map(|own| own.effective),
        "gap": estimate.gap(class, own.against).map(|gap| gap_json(own, &gap)),
    });
    if let Some(bias) = bias {
        object["bias"] = json!(bias);
    }
    object
}

fn gap_json(own: &Disparity, gap: &Gap) -> Value {
    json!({
        "class": own.classes[gap.class],
        "against": own.classes[gap.against],
        "difference": gap.difference,
        "error": gap.error,
        "interval": gap.interval,
    })
}
