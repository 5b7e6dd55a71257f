//! `apportion verify`: whether an output is what it should be, checked without the code that made it.

mod asked;
mod cells;
mod checks;
mod pass;
mod rows;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use apportion::rule::Thresholds;
use apportion::text::Setting;
use apportion::verify::Verifier;
use apportion::{Classes, Decision, Rule, Settings};
use apportion_io::{Input, TableOptions, TableStream};
use clap::{Args, CommandFactory, ValueEnum};

use self::asked::{Asked as _, Kind};
use self::checks::Findings;
use self::pass::{Columns, Pass};
use self::rows::OutRows;
use super::decision;
use crate::options::TableArgs;
use crate::rule::{RuleArgs, RuleName};
use crate::usage::usage;
use apportion_app::provenance::{Provenance, Recorded, find, holds_metadata};

/// Options of `verify`.
#[derive(Args)]
#[command(mut_arg("inputs", |arg| arg.value_name("OUT").help("The output of `label` or `apply`: a file, or a folder")))]
#[command(after_help = "\
Examples:
  apportion verify labelled.parquet --against scores.parquet
  apportion verify labelled.csv --against scores.csv --rule match

Checks that every row of the scores is in the output once, in order and unchanged; that labels are classes and have the
scores beside them; that counts meet their targets; and that no other labels are better. How the labels were made is
taken from the provenance inside Parquet and Arrow outputs, from --provenance FILE.json, or from the options. Ends with 1 at
the first difference, and names what could not be checked.")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(super) table: TableArgs,
    #[command(flatten)]
    rule: RuleArgs,
    /// The scores that the labels were made from: files, folders or globs.
    #[arg(long, required = true, num_args = 1.., value_name = "SCORES")]
    against: Vec<String>,
    /// The decision with the prices of the labels, as `fit` wrote it; that of the provenance if not given.
    #[arg(long, value_name = "DECISION.json")]
    decision: Option<PathBuf>,
    /// The provenance of an output that does not hold it, as --provenance wrote it.
    #[arg(long, value_name = "FILE.json")]
    provenance: Option<PathBuf>,
    /// The column of the labels [default: that of the provenance, or label].
    #[arg(long, value_name = "COL")]
    label: Option<String>,
}

/// Something that is not as it should be.
#[derive(Clone, Debug)]
pub(super) struct Difference(pub(super) String);

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Difference {}

/// A difference, as an error.
fn differs(problem: String) -> anyhow::Error {
    Difference(problem).into()
}

pub(crate) fn run(args: &VerifyArgs, line: &[String]) -> Result<()> {
    let mut findings = Findings::default();
    let checked = verify(args, line, &mut findings);
    let difference = checked.as_ref().err().and_then(|error| error.downcast_ref::<Difference>());
    if let (Err(_), None) = (&checked, difference) {
        return checked;
    }
    if args.table.json {
        args.table.print(findings.json(difference))?;
    } else {
        findings.lines().iter().try_for_each(|line| args.table.print(line))?;
    }
    checked
}

fn verify(args: &VerifyArgs, line: &[String], findings: &mut Findings) -> Result<()> {
    args.table.use_threads()?;
    let out = args.table.as_written().input()?;
    let mut against = args.table.clone();
    (against.inputs, against.quiet) = (args.against.clone(), true);
    let input = against.input()?;
    let provenance = provenance_of(args, &out)?;
    if provenance.as_ref().is_some_and(|own| own.job == "predict") {
        bail!(
            "{}: it holds scores that `predict` made, and no labels; name an output of `label` or `apply`",
            out.name(0).display()
        );
    }
    let options = options_of(args, line, provenance.as_ref());
    if let Some(rule) = options.rule.as_deref().filter(|rule| RuleName::from_str(rule, true).is_err()) {
        return Err(differs(format!("the provenance names an unknown rule, {rule:?}")));
    }
    let decision = decision_of(args, provenance.as_ref())?;
    let table_options = table_options(&options, decision.as_ref(), args, &input)?;
    let identical = input.identical_columns(&out);
    let mut stream = TableStream::new(&input, &table_options, identical.clone())?;
    let classes = stream.classes().clone();
    let job = provenance.as_ref().map(|own| own.job.as_str());
    let kind = options.kind(job, provenance.as_ref().and_then(|own| own.rows).unwrap_or(u64::MAX));
    let decision = match kind {
        Kind::Decided if decision.is_none() => simple_decision(&options, &classes)?,
        _ => decision,
    };
    if let Some(decision) = decision.as_ref().filter(|own| own.classes() != &classes) {
        decision::check_classes(Path::new("the decision"), decision.classes().names(), classes.names())?;
    }
    if let (Some(decision), Some(_)) = (&decision, &provenance) {
        options.check_decision(decision)?;
    }
    let mut columns = columns(args, &options, &classes, &input, &out)?;
    columns.compared.retain(|name| !identical.contains(name));
    // People of tied rows were shared out in a way that a decision does not hold.
    let splits = kind == Kind::Joint && !columns.people.is_empty();
    let verifier = Verifier::new(classes.len()).with_memory((args.table.memory() / 2) as usize);
    let mut pass = Pass::new(columns, decision.as_ref(), verifier, !options.groups().is_empty());
    if splits {
        pass.applier = None;
    }
    let mut rows = OutRows::new(&out, pass.columns.of_output());
    while let Some(piece) = stream.next_batch()? {
        pass.look(&piece, &mut rows, &stream)?;
    }
    if rows.take(1)?.is_some() {
        let (path, row) = rows.locate(pass.rows);
        return Err(differs(format!(
            "{}: row {row}: the input has no such row: it ends after {} rows",
            path.display(),
            pass.rows
        )));
    }
    let groups = (0..stream.group_count()).map(|group| stream.group(group).1.to_vec()).collect();
    findings.check(&checks::Facts {
        options: &options,
        has_options: provenance.as_ref().is_none_or(|own| own.options != options),
        provenance: provenance.as_ref(),
        kind,
        classes: &classes,
        pass: &pass,
        rows: &rows,
        groups,
        input: &input,
    })
}

/// The provenance of the output, if there is one.
fn provenance_of(args: &VerifyArgs, out: &Input) -> Result<Option<Provenance>> {
    match &args.provenance {
        Some(path) => match find(path)? {
            Some(found) => Ok(Some(found.provenance)),
            None => {
                bail!("--provenance {}: it holds no provenance; name a file that --provenance wrote", path.display())
            }
        },
        None if holds_metadata(&out.name(0).to_string_lossy()) => Ok(find(out.path(0))?.map(|found| found.provenance)),
        None => Ok(None),
    }
}

/// The options of the provenance, and those of the command line in their place.
fn options_of(args: &VerifyArgs, line: &[String], provenance: Option<&Provenance>) -> Recorded {
    let matches = crate::Program::command().try_get_matches_from(line).ok();
    let own = matches.as_ref().and_then(|matches| matches.subcommand_matches("verify"));
    let given = |name: &str| own.and_then(|own| own.value_source(name)) == Some(clap::parser::ValueSource::CommandLine);
    let mut mine = Recorded::default();
    args.table.record(&mut mine);
    args.rule.record(&mut mine);
    let base = provenance.map(|own| own.options.clone()).unwrap_or_default();
    let mut options = base.overridden(&mine, given);
    let of_rules = ["rule", "reference", "gamma", "penalty", "coverage", "at_least", "at_most", "margin", "nested"];
    if options.rule.is_none() && provenance.is_none() && of_rules.iter().any(|name| given(name)) {
        (options.rule, options.reference) = (mine.rule.clone(), mine.reference.clone());
        (options.gamma, options.penalty) = (mine.gamma, mine.penalty.clone());
    } else if given("rule") {
        (options.gamma, options.penalty) = (mine.gamma.or(options.gamma), mine.penalty.clone().or(options.penalty));
        options.reference = options.reference.or(mine.reference.clone());
        (options.at, options.at_by_class, options.k) = (mine.at, mine.at_by_class.clone(), mine.k);
    }
    options
}

fn decision_of(args: &VerifyArgs, provenance: Option<&Provenance>) -> Result<Option<Decision>> {
    if let Some(path) = &args.decision {
        return decision::read(path, None).map(Some);
    }
    let saved = provenance.and_then(|own| own.decision.clone());
    saved.map(|saved| serde_json::from_value(saved).context("the decision in the provenance")).transpose()
}

/// The decision of a rule that looks at one row at a time: its options are all of it.
fn simple_decision(options: &Recorded, classes: &Classes) -> Result<Option<Decision>> {
    let rule = match options.rule.as_deref() {
        Some("argmax") => Rule::Argmax,
        Some("balance") if options.is_argmax() => Rule::Argmax,
        Some("threshold") => {
            Rule::Threshold(Thresholds { default: options.at.unwrap_or(0.8), by_class: options.at_by_class.clone() })
        }
        Some("thompson") => Rule::Thompson,
        Some("top-k") => Rule::TopK(options.k.unwrap_or(2)),
        _ => return Ok(None),
    };
    let none = apportion::Scores::new(classes, apportion::Matrix::RowsF64(&[]))?;
    Ok(Some(rule.fit(&none, &Settings { seed: options.seed.unwrap_or(0), ..Settings::default() })?))
}

fn table_options(
    options: &Recorded,
    decision: Option<&Decision>,
    args: &VerifyArgs,
    input: &Input,
) -> Result<TableOptions> {
    let known = input.columns(0)?;
    let of_decision = decision.and_then(Decision::fit_info).map_or(&[][..], |origin| &origin.scores);
    let has = |columns: &[String]| !columns.is_empty() && columns.iter().all(|name| known.contains(name));
    let scores = [&options.scores[..], of_decision].into_iter().find(|columns| has(columns)).unwrap_or_default();
    let classes = match (options.classes.is_empty(), decision) {
        (true, Some(decision)) if !scores.is_empty() => decision.classes().names().to_vec(),
        _ => options.classes.clone(),
    };
    let origin = decision.and_then(Decision::fit_info).filter(|_| options.groups().is_empty());
    Ok(TableOptions {
        scores: scores.to_vec(),
        classes,
        id: options.id.clone(),
        by: origin.map_or_else(|| options.groups().to_vec(), |origin| origin.groups.clone()),
        by_setting: if options.nested.is_empty() { Setting::By } else { Setting::Nested },
        count: options.count.clone(),
        truth: TableArgs::recorded_truth(options)?,
        normalize: options.normalize,
        only_with_truth: options.only_with_truth,
        skip_missing: options.skip_missing,
        memory: args.table.memory(),
        ..TableOptions::default()
    })
}

/// Which columns of the output hold what; refuses one that lacks some.
fn columns(args: &VerifyArgs, options: &Recorded, classes: &Classes, input: &Input, out: &Input) -> Result<Columns> {
    let (of_input, of_out) = (input.columns(0)?, out.columns(0)?);
    let name = args.label.clone().or_else(|| options.label.clone()).unwrap_or_else(|| "label".into());
    let people = match options.count {
        Some(_) => {
            classes.names().iter().map(String::as_str).chain(["uncoded"]).map(|name| format!("n_{name}")).collect()
        }
        None => Vec::new(),
    };
    let draws = options.draws.unwrap_or(1);
    let label = |draw: u64| if draws == 1 { name.clone() } else { format!("{name}_{}", draw + 1) };
    let with_score = |label: String| {
        let score = format!("{label}_score");
        let has = of_out.contains(&score) && !of_input.contains(&score);
        (label, has.then_some(score))
    };
    let labels: Vec<(String, Option<String>)> =
        if options.count.is_some() { Vec::new() } else { (0..draws).map(label).map(with_score).collect() };
    let added = |column: &String| people.contains(column) || labels.iter().any(|(label, _)| label == column);
    if let Some(missing) = people.iter().chain(labels.iter().map(|(label, _)| label)).find(|own| !of_out.contains(own))
    {
        return Err(usage(format!(
            "{}: it has no column {missing:?}; name the column of the labels with --label, or the people of rows with --count",
            out.name(0).display()
        )));
    }
    let is_only_label = options.only_label
        || options.id.as_ref().is_some_and(|id| of_out.iter().all(|column| column == id || added(column)));
    let kept: Vec<String> = match (is_only_label, &options.id) {
        (true, Some(id)) => vec![id.clone()],
        (true, None) => bail!("the output has labels alone; name the column that identifies its rows with --id"),
        (false, _) => of_input,
    };
    if let Some(missing) = kept.iter().find(|column| !of_out.contains(column)) {
        return Err(differs(format!("{}: column {missing:?} of the input is not in it", out.name(0).display())));
    }
    let is_text = [input, out].iter().any(|files| files.names().any(|name| !holds_metadata(&name.to_string_lossy())));
    Ok(Columns { compared: kept.clone(), kept, labels, people, id: options.id.clone(), is_text })
}
