//! `apportion compare`: rules side by side on the user's own scores.

use std::time::Instant;

use anyhow::Result;
use apportion::audit::PopulationTotals;
use apportion::rule::{Batches, Joint, JointRule, Learned, Thresholds};
use apportion::{Balance, Frontier, Labels, Match, Reference, Rule, Scores};
use apportion_io::{ClassColumn, ClassSettings};
use clap::Args;

use crate::estimates::{Estimating, OutcomeArgs};
use crate::options::{TableArgs, pairs};
use crate::outcome::{self, Given, Outcome};
use crate::progress::Working;
use crate::report::{Gallery, Place, ReportArgs, of_report};
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

\"below frontier\" is the expected accuracy that a rule gives away: how much more accurate the best labels are whose counts are
as near to the posterior. It is said of rules that label every row; those that aim elsewhere, at groups or at the truth, give it
for that.")]
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
    let backdrop = (by_group || report.is_some()).then(|| PopulationTotals::of(&scores)).transpose();
    let backdrop = backdrop.map_err(|error| table.locate(error))?;
    let frontier = outcome::frontier(&scores, &settings).map_err(|error| table.locate(error))?;
    let frontier = frontier.as_ref();
    let begin = |backdrop| -> Result<Gallery<'_>> {
        let gallery = Gallery::new(&scores, backdrop, frontier, &args.report, args.table.groups(), settings.seed)?;
        Ok(gallery.with_outcome(Estimating::begin(&table, &scores, args.outcome.as_ref(), &args.more)?))
    };
    let gallery = backdrop.as_ref().filter(|_| report.is_some()).map(begin).transpose()?;
    let mut wall = Wall { scores: &scores, backdrop: backdrop.as_ref(), frontier, gallery, outcomes: Vec::new() };
    if let Some(labels) = table.labels() {
        let given = Given::Labels(vec![Labels::new(labels.to_vec(), table.classes())?]);
        wall.hang(Place::Subject, "your labels", &given, None)?;
    }
    let can_learn = scores.counts().is_none() && scores.rows() > 0;
    for (name, rule) in rules(by_group, args.table.truth.is_some(), can_learn) {
        args.table.refuse_stopped()?;
        let begin = Instant::now();
        let (given, _, joint) = Given::by(&rule, &scores, &settings, 1).map_err(|error| table.locate(error))?;
        let seconds = begin.elapsed().as_secs_f64();
        let place = match name {
            "argmax" if args.label.is_none() => Place::Subject,
            "match" => Place::Remedy,
            _ => Place::Beside,
        };
        wall.hang(place, name, &given, Some(By { rule: &rule, joint, seconds }))?;
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
            let given = Given::Labels(vec![batched.labels]);
            wall.hang(Place::Beside, &format!("{name} in batches"), &given, None)?;
        }
    }
    let Wall { gallery, outcomes, .. } = wall;
    if let (Some(report), Some(mut gallery), Some(origin)) = (report, gallery, origin) {
        gallery.learn(&settings)?;
        let files = origin.finish(Some(&table.file_rows()))?;
        let provenance = of_report(&files, &table, &args.table, args.table.groups(), line, facts(args));
        report.write(gallery.study(&settings, provenance)?, &args.table)?;
    }
    drop(working);
    let json = |(outcome, _): &(Outcome, _)| outcome.json(table.classes(), settings.seed, None);
    let all: Vec<_> = outcomes.iter().map(json).collect();
    args.table.print_either(&all.into(), || [vec![side_by_side(&outcomes)], losses].concat().join("\n"))
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

/// Where labellings are looked at, one beside the other.
struct Wall<'a> {
    scores: &'a Scores<'a>,
    /// Where there are groups, or a report.
    backdrop: Option<&'a PopulationTotals>,
    /// The one to the posterior; none of nobody.
    frontier: Option<&'a Frontier>,
    gallery: Option<Gallery<'a>>,
    outcomes: Vec<(Outcome, Option<f64>)>,
}

/// The rule that gave labels, its proof, and how long it took.
struct By<'a> {
    rule: &'a Rule,
    joint: Option<Joint>,
    seconds: f64,
}

impl Wall<'_> {
    fn hang(&mut self, place: Place, name: &str, given: &Given, by: Option<By<'_>>) -> Result<()> {
        let seconds = by.as_ref().map(|by| by.seconds);
        let mut outcome = match by {
            Some(by) => Outcome::new(name, self.scores, given, by.joint)?.held_against(by.rule, self.scores)?,
            None => Outcome::new(name, self.scores, given, None)?,
        };
        outcome.below_frontier = Some(self.frontier.and_then(|frontier| frontier.frontier_gap(&outcome.glance)));
        if let Some(backdrop) = self.backdrop {
            let crossing = given.crossing(self.scores)?;
            outcome.in_groups = backdrop.fidelity_in_groups(&crossing);
            if let Some(gallery) = &mut self.gallery {
                gallery.hang(place, &outcome, given, &crossing)?;
            }
        }
        self.outcomes.push((outcome, seconds));
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

fn side_by_side(outcomes: &[(Outcome, Option<f64>)]) -> String {
    let by_group = outcomes.iter().any(|(outcome, _)| outcome.in_groups.is_some());
    let mut header = vec!["rule", "accuracy", "expected", "fidelity to posterior"];
    header.extend(by_group.then_some("in groups"));
    header.extend(["to truth", "coverage", "below frontier", "seconds"]);
    let row = |(outcome, seconds): &(Outcome, Option<f64>)| {
        let glance = &outcome.glance;
        let coverage = (glance.people > 0).then(|| glance.labeled as f64 / glance.people as f64);
        let mut row = vec![
            outcome.name.clone(),
            text::plain(glance.accuracy, 4),
            text::plain(glance.expected_accuracy, 4),
            text::plain(glance.fidelity_to_posterior, 4),
        ];
        row.extend(by_group.then(|| text::plain(outcome.in_groups, 4)));
        row.extend([
            text::plain(glance.fidelity_to_truth, 4),
            text::plain(coverage, 3),
            text::plain(outcome.below_frontier.flatten(), 4),
            text::plain(*seconds, 3),
        ]);
        row
    };
    text::columns(&header, &outcomes.iter().map(row).collect::<Vec<_>>())
}
