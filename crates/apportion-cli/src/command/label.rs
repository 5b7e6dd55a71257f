//! `apportion label`: every input row again, in order, with its label.

use anyhow::Result;
use apportion::{Match, Reference, Rule, Scores};
use apportion_report::{self as report, LabelKind, Study};
use clap::Args;

use crate::options::TableArgs;
use crate::output::{OutputArgs, after_output, written};
use crate::progress::Working;
use crate::report::{ReportArgs, Role, StudyBuilder, of_report};
use crate::rule::RuleArgs;
use crate::rule_result::{self, Assignment, RuleResult};
use crate::summary::summary;
use crate::usage::usage;
use apportion_app::provenance::{InputHashes, Provenance, Recorded, shell_command};

/// Options of `label`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion label scores.parquet -o labelled.parquet
  apportion label scores.csv -o labelled.csv --by county --id voter_id
  apportion label scores.csv -o labelled.csv --rule balance --gamma 0.9
  apportion label scores.csv -o labelled.csv --from-sample 10000
  apportion label scores.csv -o labelled.csv --rule learned --learner logistic
  apportion label scores.csv -o labelled.csv --rule threshold --at 0.8,black=0.5
  apportion label scores.csv -o draws.csv --rule thompson --draws 5
  apportion label scores.csv -o labelled.csv --by county --report report.html

Which rule: match keeps the counts of the whole file (or of each --by group) right at the least cost in accuracy;
thompson keeps them right, on average, in subgroups that nobody thought of; argmax is the most accurate row by row, and
undercounts every minority. Where the scores themselves can be used, use them.")]
pub(crate) struct LabelArgs {
    #[command(flatten)]
    pub(super) table: TableArgs,
    #[command(flatten)]
    rule: RuleArgs,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    report: ReportArgs,
}

pub(crate) fn run(args: &LabelArgs, line: &[String]) -> Result<()> {
    args.rule.check(!args.table.by.is_empty())?;
    if args.table.count.is_some() && args.rule.draws() > 1 {
        return Err(usage("--draws and --count: a row's people are drawn one by one already; use another --seed"));
    }
    let input = args.table.input()?;
    let side = args.rule.side_inputs();
    args.output.check(&args.table, &input, &side)?;
    let mut report = args.report.prepare(&input, &side, args.rule.groups(&args.table), args.output.force)?;
    if report.is_none() && args.report.focus.is_some() {
        return Err(usage("--focus: it is for --report FILE.html"));
    }
    let wants_provenance = args.output.wants_provenance(&args.table, &input);
    let beside = match (&report, wants_provenance) {
        (Some(report), _) => Some([report.beside(), args.rule.beside()?].concat()),
        (None, true) => Some(args.rule.beside()?),
        (None, false) => None,
    };
    let output = args.output.path();
    args.output.provenance.settings().check(
        &[&input],
        beside.as_deref().unwrap_or_default(),
        output,
        args.output.force,
    )?;
    let origin = beside.map(|beside| InputHashes::start(&input, "scores", beside));
    let table = args.table.read(&input, args.rule.groups(&args.table), None)?;
    args.output.check_names(&input, &table, args.rule.draws())?;
    args.table.check_draws(&table, args.rule.draws())?;
    let scores = table.scores()?;
    report.as_mut().map(|report| report.outline(&scores)).transpose()?;
    let rule = args.rule.rule(&table, &args.table)?;
    let (name, settings) = (args.rule.name(), args.table.settings());

    let working = Working::on("labelling", args.table.quiet);
    let (given, decision, joint) =
        Assignment::by(&rule, &scores, &settings, args.rule.draws()).map_err(|error| table.locate(error))?;
    let outcome = RuleResult::new(&name, &scores, &given, joint)?.with_targets(&rule, &scores)?;
    let argmax = args.table.is_heard().then(|| RuleResult::of_argmax(&scores)).transpose()?;
    let files = origin.map(|origin| origin.finish(Some(&table.file_rows()))).transpose()?.unwrap_or_default();
    let study = match &report {
        Some(_) => {
            let groups = args.rule.groups(&args.table);
            let provenance = of_report(&files, &table, &args.table, groups, line, args.rule.facts());
            Some(beside_rules(args, &scores, &rule, &outcome, &given, provenance)?)
        }
        None => None,
    };
    drop(working);

    let provenance = match wants_provenance {
        true => {
            let mut options = Recorded::default();
            args.table.record_table(&table, &mut options);
            args.rule.record(&mut options);
            args.output.record(&table, &mut options);
            let mut provenance = Provenance::new("label", &shell_command(line), options, files);
            provenance.rows = Some(table.row_mask().total() as u64);
            Some(
                provenance
                    .with_labels(
                        &outcome.summary,
                        outcome.targets.as_deref(),
                        outcome.joint.as_ref(),
                        table.group_names(),
                    )
                    .with_decision(&decision)?,
            )
        }
        false => None,
    };
    let paths = args.output.write(&args.table, &input, &table, &given, provenance.as_ref())?;
    if args.table.json {
        let mut json = outcome.json(table.classes(), settings.seed, Some(&decision));
        if let Some(provenance) = &provenance {
            json["provenance"] = serde_json::to_value(provenance)?;
        }
        args.table.print(json)?;
    }
    if let Some(argmax) = &argmax {
        args.table.say(&summary(&table, argmax, &outcome, args.rule.aim()));
    }
    args.table.say(&format!("\n{}", written(&paths)));
    match (report, study) {
        (Some(report), Some(study)) => report.write(study, &args.table).map_err(|error| after_output(error, &paths)),
        _ => Ok(()),
    }
}

/// The labels, and what argmax and match would have given.
fn beside_rules(
    args: &LabelArgs,
    scores: &Scores<'_>,
    rule: &Rule,
    outcome: &RuleResult,
    given: &Assignment,
    provenance: report::Provenance,
) -> Result<Study> {
    let (settings, groups) = (args.table.settings(), args.rule.groups(&args.table));
    let frontier = rule_result::frontier(scores, &settings)?;
    let mut builder = StudyBuilder::new(scores, frontier.as_ref(), &args.report, groups, settings.seed)?;
    let mut plain = vec![
        ("argmax", Role::Other, Rule::Argmax),
        ("match", Role::Corrected, Rule::Match(Match::overall(Reference::Posterior))),
    ];
    if !groups.columns.is_empty() {
        plain.push(("match by group", Role::Other, Rule::Match(Match::by_group(Reference::Posterior))));
    }
    // A rule with options of its own is another than the one that has only its name.
    let name = match plain.iter().find(|(_, _, known)| known == rule) {
        Some((name, ..)) => (*name).to_owned(),
        None if plain.iter().any(|(name, ..)| *name == outcome.name) => format!("{}, as asked", outcome.name),
        None => outcome.name.clone(),
    };
    let mut outcome = outcome.clone();
    outcome.name = name;
    let tally = given.tally(scores, &builder.options(Role::Subject))?;
    builder.add(Role::Subject, LabelKind::Rule(rule.kind()), &outcome, given, &tally)?;
    for (name, role, rule) in plain.into_iter().filter(|(_, _, known)| known != rule) {
        builder.add_rule(role, name, &rule, &settings)?;
    }
    builder.study(&settings, args.table.truth.is_some(), provenance)
}
