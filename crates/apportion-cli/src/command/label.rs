//! `apportion label`: every input row again, in order, with its label.

use std::sync::Arc;

use anyhow::{Result, bail};
use apportion::{Allotment, Label, Labels, Rule};
use apportion_table::{Added, Input, Output, Table, write_labelled};
use arrow::array::{ArrayRef, Float32Array, Float64Array, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, FieldRef};
use clap::Args;
use serde_json::json;

use crate::options::TableArgs;
use crate::outcome::Outcome;
use crate::progress::Working;
use crate::rule::RuleArgs;
use crate::text;
use crate::usage::usage;

/// Options of `label`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion label scores.parquet -o labelled.parquet
  apportion label scores.csv -o labelled.csv --by county --id voter_id
  apportion label scores.csv -o labelled.csv --rule balance --gamma 0.9
  apportion label scores.csv -o labelled.csv --rule threshold --at 0.8,black=0.5
  apportion label scores.csv -o draws.csv --rule thompson --draws 5

Which rule: match keeps the counts of the whole file (or of each --by group) right at the least cost in accuracy;
thompson keeps them right, on average, in subgroups that nobody thought of; argmax is the most accurate row by row, and
undercounts every minority. Where the scores themselves can be used, use them.")]
pub(crate) struct LabelArgs {
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    rule: RuleArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Where labels go.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArgs {
    /// The output; its ending says the format. A folder for one output an input, or - for CSV on standard output.
    #[arg(short, long, value_name = "OUT")]
    output: String,
    /// Replaces the output where it exists.
    #[arg(long)]
    force: bool,
    /// Writes the identifier and the label alone.
    #[arg(long)]
    only_label: bool,
    /// The name of the label's column; that of its score is NAME_score.
    #[arg(long = "as", default_value = "label", value_name = "NAME")]
    name: String,
}

pub(crate) fn run(args: &LabelArgs) -> Result<()> {
    args.output.check(&args.table)?;
    args.rule.check()?;
    let by = args.rule.groups(&args.table.by);
    let (input, table) = args.table.read_with(by, None)?;
    let scores = table.scores()?;
    let explain = |error: apportion::Error| table.explain(error);
    let rule = args.rule.rule(&table, !by.is_empty())?;
    let settings = args.table.settings();
    let name = args.rule.name();
    let working = Working::on("labelling", args.table.quiet);
    if scores.counts().is_some() {
        let allotted = rule.allot(&scores, &settings).map_err(explain)?;
        drop(working);
        let paths = args.output.write_people(&args.table, &input, &table, &allotted.allotment)?;
        if args.table.json {
            let people = json!({
                "rule": name,
                "rows": scores.rows(),
                "people": scores.people(),
                "classes": table.classes().names(),
                "counts": allotted.allotment.counts(),
                "targets": allotted.joint.as_ref().map(|joint| &joint.targets),
                "seed": settings.seed,
            });
            text::print(people)?;
        }
        args.table.say(&format!("{}\n\n{}", counted(&table, &allotted.allotment), written(&paths)));
        return Ok(());
    }
    let labelled = rule.label(&scores, &settings).map_err(explain)?;
    let mut draws = vec![labelled.labels];
    for draw in 1..args.rule.draws() {
        draws.push(labelled.decision.draw(&scores, draw).map_err(explain)?);
    }
    drop(working);
    let paths = args.output.write(&args.table, &input, &table, &draws)?;
    let outcome = Outcome::new(&name, &scores, &draws[0], labelled.joint)?;
    if args.table.json {
        text::print(outcome.json(settings.seed, Some(&labelled.decision)))?;
    }
    let argmax = Outcome::new("argmax", &scores, &Rule::Argmax.label(&scores, &settings)?.labels, None)?;
    args.table.say(&format!("{}\n\n{}", summary(&argmax, &outcome), written(&paths)));
    Ok(())
}

impl OutputArgs {
    /// Refuses what cannot go together before anything is read.
    pub(crate) fn check(&self, table: &TableArgs) -> Result<()> {
        if self.output == "-" && table.json {
            return Err(usage("-o - and --json both write to standard output; choose one"));
        }
        if self.only_label && table.id.is_none() {
            return Err(usage("--only-label writes the identifier and the label; name the identifier with --id"));
        }
        Ok(())
    }

    /// Writes labels, and the score of each.
    pub(crate) fn write(
        &self,
        options: &TableArgs,
        input: &Input,
        table: &Table,
        draws: &[Labels],
    ) -> Result<Vec<std::path::PathBuf>> {
        let mut fields: Vec<FieldRef> = Vec::new();
        for draw in 0..draws.len() {
            let name = if draws.len() == 1 { self.name.clone() } else { format!("{}_{}", self.name, draw + 1) };
            fields.push(Arc::new(Field::new(&name, DataType::Utf8, table.kept().all() > table.rows())));
            let number = if table.is_single() { DataType::Float32 } else { DataType::Float64 };
            fields.push(Arc::new(Field::new(format!("{name}_score"), number, true)));
        }
        let mut values = |rows: Taken| -> apportion_table::Result<Vec<ArrayRef>> {
            let mut columns = Vec::new();
            for labels in draws {
                columns.extend(label_columns(table, labels.values(), &rows)?);
            }
            Ok(columns)
        };
        self.finish(options, input, table, fields, &mut values)
    }

    /// Writes how many of each row's people have each class.
    fn write_people(
        &self,
        options: &TableArgs,
        input: &Input,
        table: &Table,
        allotment: &Allotment,
    ) -> Result<Vec<std::path::PathBuf>> {
        let names = table.classes().names().iter().map(String::as_str).chain(["uncoded"]);
        let may_miss = table.kept().all() > table.rows();
        let fields: Vec<FieldRef> =
            names.map(|name| Arc::new(Field::new(format!("n_{name}"), DataType::UInt64, may_miss))).collect();
        let mut values = |rows: Taken| -> apportion_table::Result<Vec<ArrayRef>> {
            let people = |class: usize| rows.spread((rows.first..rows.end).map(move |row| allotment.row(row)[class]));
            let column = |class: usize| Arc::new(people(class).collect::<UInt64Array>()) as ArrayRef;
            Ok((0..=table.classes().len()).map(column).collect())
        };
        self.finish(options, input, table, fields, &mut values)
    }

    fn finish(
        &self,
        options: &TableArgs,
        input: &Input,
        table: &Table,
        fields: Vec<FieldRef>,
        values: &mut dyn FnMut(Taken) -> apportion_table::Result<Vec<ArrayRef>>,
    ) -> Result<Vec<std::path::PathBuf>> {
        let keep = self.only_label.then(|| options.id.iter().cloned().collect::<Vec<_>>());
        if keep.is_none() {
            let names = input.open(0)?.names();
            if let Some(taken) = fields.iter().find(|field| names.contains(field.name())) {
                bail!(text::taken(taken.name(), &names, &self.name));
            }
        }
        let output = Output { path: self.output.clone(), force: self.force };
        let mut done = 0;
        let mut next = |first: usize, rows: usize| {
            let kept: Vec<bool> = (first..first + rows).map(|row| table.kept().has(row)).collect();
            let end = done + kept.iter().filter(|&&kept| kept).count();
            let taken = Taken { kept, first: done, end };
            done = end;
            values(taken)
        };
        Ok(write_labelled(input, &output, Added { fields, values: &mut next, keep })?)
    }
}

/// Rows of the files that are written next, and those of the table that they are.
struct Taken {
    /// Whether the table has the row.
    kept: Vec<bool>,
    /// The rows of the table.
    first: usize,
    end: usize,
}

impl Taken {
    /// What the rows of the table have, and nothing for the rows that were left out.
    fn spread<T>(&self, mut own: impl Iterator<Item = T>) -> impl Iterator<Item = Option<T>> {
        self.kept.iter().map(move |&kept| if kept { own.next() } else { None })
    }
}

/// The labels' names, and their scores as the file has them.
fn label_columns(table: &Table, labels: &[Label], rows: &Taken) -> apportion_table::Result<Vec<ArrayRef>> {
    let labels = &labels[rows.first..rows.end];
    let names = rows.spread(labels.iter().map(|&label| table.classes().name(label)));
    let scores = table.label_scores(rows.first, labels)?;
    let scores = rows.spread(scores.into_iter()).map(Option::flatten);
    let scores: ArrayRef = if table.is_single() {
        Arc::new(scores.map(|score| score.map(|score| score as f32)).collect::<Float32Array>())
    } else {
        Arc::new(scores.collect::<Float64Array>())
    };
    Ok(vec![Arc::new(names.collect::<StringArray>()), scores])
}

/// Counts before and after, the worst bias, and the cost.
fn summary(argmax: &Outcome, outcome: &Outcome) -> String {
    let rows: Vec<Vec<String>> = outcome
        .section()
        .classes
        .iter()
        .zip(&argmax.section().classes)
        .map(|(own, before)| {
            let percent =
                |class: &apportion::ClassAudit| class.against_posterior.as_ref().and_then(|bias| bias.percent);
            vec![
                own.class.clone(),
                format!("{:.1}", own.posterior_sum),
                text::count(before.labels),
                text::signed(percent(before), 1, "%"),
                text::count(own.labels),
                text::signed(percent(own), 1, "%"),
            ]
        })
        .collect();
    let table = text::columns(&["class", "scores sum to", "argmax", "off by", &outcome.name, "off by"], &rows);
    let (before, after) = (argmax.section().expected_accuracy, outcome.section().expected_accuracy);
    let cost = before.zip(after).map(|(before, after)| 100.0 * (after - before));
    format!(
        "{table}\nexpected accuracy {} (argmax {}: {})",
        text::plain(after, 4),
        text::plain(before, 4),
        text::signed(cost, 2, " points")
    )
}

fn counted(table: &Table, allotment: &Allotment) -> String {
    let counts = allotment.counts();
    let rows: Vec<Vec<String>> = table
        .classes()
        .names()
        .iter()
        .zip(counts)
        .map(|(class, people)| vec![class.clone(), text::count(people)])
        .collect();
    text::columns(&["class", "people"], &rows)
}

pub(crate) fn written(paths: &[std::path::PathBuf]) -> String {
    match paths {
        [] => "written to standard output".into(),
        [path] => format!("written to {}", path.display()),
        paths => format!("written to {} files in {}", paths.len(), paths[0].parent().unwrap_or(&paths[0]).display()),
    }
}
