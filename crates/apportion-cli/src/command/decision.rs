//! `apportion fit` and `apportion apply`: a decision as a file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use apportion::Decision;
use apportion::decision::FitInfo;
use apportion_io::{Input, refuse_overwrite, write_atomically};
use clap::Args;
use serde::Serialize;

use crate::host::Host;
use crate::options::TableArgs;
use crate::output::{OutputArgs, written};
use crate::progress::Working;
use crate::provenance::ProvenanceArgs;
use crate::rule::RuleArgs;
use crate::rule_result::{Assignment, RuleResult};
use crate::summary::{Aim, drift_warning, summary};
use crate::usage::usage;
use apportion::text::Setting;
use apportion_app::protect::{SideInput, refuse_overwriting};
use apportion_app::provenance::{ExtraFile, InputHashes, Provenance, Recorded, shell_command};

/// Options of `fit`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion fit scores.parquet -o decision.json --by county
  apportion fit scores.parquet -o learned.json --rule learned --batch 10000
  apportion apply more.parquet --decision decision.json -o labelled.parquet")]
pub(crate) struct FitArgs {
    #[command(flatten)]
    pub(super) table: TableArgs,
    #[command(flatten)]
    rule: RuleArgs,
    /// Where the decision goes.
    #[arg(short, long, value_name = "DECISION.json")]
    output: PathBuf,
    /// Replaces the output where it exists.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    provenance: ProvenanceArgs,
}

/// A decision as it is saved, and where it comes from. No label depends on the latter.
#[derive(Serialize)]
struct Saved<'a> {
    #[serde(flatten)]
    decision: &'a Decision,
    #[serde(skip_serializing_if = "Option::is_none")]
    provenance: Option<&'a Provenance>,
}

pub(crate) fn fit(args: &FitArgs, line: &[String]) -> Result<()> {
    args.rule.check(!args.table.by.is_empty())?;
    if args.rule.draws() > 1 {
        return Err(usage("--draws: a decision draws once; use label, which can draw again and again"));
    }
    let to_stdout = args.output == Path::new("-");
    if to_stdout && args.table.json && args.table.host.is_none() {
        return Err(usage("-o - and --json both write to standard output; choose one"));
    }
    let input = args.table.input()?;
    if !to_stdout {
        refuse_overwriting(&args.output, Some(&input), &args.rule.side_inputs())?;
        refuse_overwrite(&args.output, Some(&input), args.force)?;
    }
    let groups = args.rule.groups(&args.table);
    let wants_provenance = args.table.memory_host().is_none() && args.provenance.settings().is_wanted(true);
    let beside = if wants_provenance { args.rule.beside()? } else { Vec::new() };
    args.provenance.settings().check(&[&input], &beside, &args.output, args.force)?;
    let origin = wants_provenance.then(|| InputHashes::start(&input, "scores", beside));
    let table = args.table.read(&input, groups, None)?;
    let scores = table.scores()?;
    let (rule, settings) = (args.rule.rule(&table, &args.table)?, args.table.settings());
    let working = Working::on("fitting", args.table.quiet);
    let (given, decision, joint) = Assignment::by(&rule, &scores, &settings, 1).map_err(|error| table.locate(error))?;
    let tied = joint.as_ref().map_or(0, |joint| joint.tied_rows);
    let outcome = RuleResult::new(&args.rule.name(), &scores, &given, joint)?.with_targets(&rule, &scores)?;
    let argmax = args.table.is_heard().then(|| RuleResult::of_argmax(&scores)).transpose()?;
    drop(working);
    let decision = decision.with_fit_info(FitInfo {
        scores: table.score_columns().to_vec(),
        groups: groups.columns.to_vec(),
        people: scores.people(),
        tied,
        sample: outcome.sample.map(|sample| sample.rows),
        expected_shares: args.rule.wanted(&outcome, !groups.columns.is_empty()),
    });
    let provenance = match origin {
        Some(origin) => {
            let mut options = Recorded::default();
            args.table.record_table(&table, &mut options);
            args.rule.record(&mut options);
            let files = origin.finish(Some(&table.file_rows()))?;
            Some(Provenance::new("fit", &shell_command(line), options, files).with_labels(
                &outcome.summary,
                outcome.targets.as_deref(),
                outcome.joint.as_ref(),
                table.group_names(),
            ))
        }
        None => None,
    };
    let json = serde_json::to_string_pretty(&Saved { decision: &decision, provenance: provenance.as_ref() })?;
    if !to_stdout {
        write_atomically(&args.output, format!("{json}\n").as_bytes())?;
    }
    args.provenance.settings().write(provenance.as_ref())?;
    if to_stdout {
        return args.table.print(&json);
    }
    if args.table.json {
        args.table.print(&json)?;
    }
    if let Some(argmax) = &argmax {
        args.table.say(&summary(&table, argmax, &outcome, args.rule.aim()));
    }
    args.table.say(&format!("\n{}", written(std::slice::from_ref(&args.output))));
    Ok(())
}

/// Options of `apply`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion apply more.parquet --decision decision.json -o labelled.parquet

The groups and the score columns are those that the decision was fitted by, unless others are named. The counts are
right for the rows that the decision was fitted to. For others they are near, as far as these are like those: where they
are further off than chance explains, a warning says so, and it is time to fit again.")]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(super) table: TableArgs,
    /// The decision, as `fit` wrote it.
    #[arg(long, value_name = "DECISION.json")]
    decision: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn apply(args: &ApplyArgs, line: &[String]) -> Result<()> {
    if args.table.seed.is_some() {
        return Err(usage("--seed: the decision has a seed of its own; fit it again with another"));
    }
    let decision = read(&args.decision, args.table.host.as_ref())?;
    let input = args.table.input()?;
    args.output.check(&args.table, &input, &[SideInput::new(Setting::Decision, &args.decision)])?;
    let mut options = with_scores_of(&decision, &args.table, &input)?;
    if options.by.is_empty() {
        options.by = decision.fit_info().map_or_else(Vec::new, |origin| origin.groups.clone());
    }
    let wants_provenance = args.output.wants_provenance(&args.table, &input);
    let beside = vec![ExtraFile { path: args.decision.clone(), what: "the decision", rows: None }];
    args.output.provenance.settings().check(&[&input], &beside, args.output.path(), args.output.force)?;
    let origin = wants_provenance.then(|| InputHashes::start(&input, "scores", beside));
    let table = options.read(&input, options.groups(), None)?;
    args.output.check_names(&input, &table, 1)?;
    let scores = table.scores()?;
    check_classes(&args.decision, decision.classes().names(), table.classes().names())?;
    let working = Working::on("labelling", args.table.quiet);
    let given = Assignment::of(&decision, &scores).map_err(|error| table.locate(error))?;
    let mut outcome = RuleResult::new("apply", &scores, &given, None)?;
    outcome.drift = decision.drift(&scores, &outcome.summary)?;
    let argmax = args.table.is_heard().then(|| RuleResult::of_argmax(&scores)).transpose()?;
    drop(working);
    let provenance = match origin {
        Some(origin) => {
            let mut recorded = Recorded::default();
            options.record_table(&table, &mut recorded);
            args.output.record(&table, &mut recorded);
            recorded.seed = Some(decision.seed());
            let files = origin.finish(Some(&table.file_rows()))?;
            let mut provenance = Provenance::new("apply", &shell_command(line), recorded, files);
            provenance.rows = Some(table.row_mask().total() as u64);
            Some(
                provenance
                    .with_labels(&outcome.summary, outcome.targets.as_deref(), outcome.joint.as_ref(), None)
                    .with_decision(&decision)?,
            )
        }
        None => None,
    };
    let paths = args.output.write(&args.table, &input, &table, &given, provenance.as_ref())?;
    if args.table.json {
        let mut json = outcome.json(table.classes(), decision.seed(), Some(&decision));
        if let Some(provenance) = &provenance {
            json["provenance"] = serde_json::to_value(provenance)?;
        }
        args.table.print(json)?;
    }
    if let Some(argmax) = &argmax {
        args.table.say(&summary(&table, argmax, &outcome, Aim::Scores));
    }
    let drift = outcome.drift.as_ref();
    if let Some(warning) = drift.and_then(|drift| drift_warning(&decision, drift, &outcome.summary)) {
        args.table.say(&warning);
    }
    args.table.say(&format!("\n{}", written(&paths)));
    Ok(())
}

/// The options of a table, with the score columns that a decision was fitted by where the input has them and no others are
/// named.
pub(super) fn with_scores_of(decision: &Decision, options: &TableArgs, input: &Input) -> Result<TableArgs> {
    let mut options = options.clone();
    let columns = decision.fit_info().map_or_else(Vec::new, |origin| origin.scores.clone());
    let known = input.columns(0)?;
    if options.scores.is_empty() && !columns.is_empty() && columns.iter().all(|name| known.contains(name)) {
        options.scores = columns;
        if options.classes.is_empty() {
            options.classes = decision.classes().names().to_vec();
        }
    }
    Ok(options)
}

/// A decision that was saved.
pub(super) fn read(path: &Path, host: Option<&Host>) -> Result<Decision> {
    let name = path.display();
    let text = match host.and_then(|host| host.decision.clone()) {
        Some(text) => text,
        None => fs::read_to_string(path)
            .map_err(|error| anyhow!("{name}: it cannot be read ({error}); name a file that `apportion fit` wrote"))?,
    };
    serde_json::from_str(&text).map_err(|error| {
        anyhow!("{name}: it is no decision ({}); make one with `apportion fit`", brief(&error.to_string()))
    })
}

/// The beginning and the end of a long message: a stranger's file may have anything in the middle.
fn brief(message: &str) -> String {
    const KEPT: usize = 60;
    let letters: Vec<char> = message.chars().collect();
    if letters.len() <= 3 * KEPT {
        return message.to_owned();
    }
    let part = |letters: &[char]| letters.iter().collect::<String>();
    format!("{}…{}", part(&letters[..KEPT]), part(&letters[letters.len() - KEPT..]))
}

/// Refuses a table with other classes than the decision's, and says how they can be made the same.
pub(super) fn check_classes(path: &Path, fitted: &[String], found: &[String]) -> Result<()> {
    if fitted == found {
        return Ok(());
    }
    let without = |some: &[String], others: &[String]| {
        some.iter()
            .filter(|class| !others.contains(class))
            .map(|class| format!("{class:?}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (missing, unknown) = (without(fitted, found), without(found, fitted));
    let differ = [("the table lacks", missing), ("the decision does not know", unknown)];
    let differ = differ.into_iter().filter(|(_, classes)| !classes.is_empty());
    let differ = differ.map(|(what, classes)| format!("{what} {classes}")).collect::<Vec<_>>().join(", and ");
    let name = path.display();
    let classes = fitted.join(",");
    if differ.is_empty() {
        bail!("{name}: the decision has its classes in another order; use --classes {classes}");
    }
    if fitted.len() != found.len() {
        bail!("{name}: {differ}; choose the columns with --scores, or fit a decision to such tables");
    }
    bail!(
        "{name}: {differ}; if they mean the same, rename the table's, which are {}, with --classes {classes} (and bring the \
         columns into that order with --scores)",
        found.join(", ")
    );
}
