//! Where labels go: the files' rows again, with a label and its score, or with the people of each class, beside them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use apportion::Label;
use apportion::rule::Allotment;
use apportion_io::{AddedColumns, Input, Output, Table, refuse_nested_columns, write_with_columns};
use arrow::array::{ArrayRef, Float32Array, Float64Array, StringArray, UInt64Array};
use arrow::datatypes::{DataType, Field, FieldRef};
use clap::Args;

use crate::options::TableArgs;
use crate::protect::{SideInput, refuse_overwriting_outputs};
use crate::provenance::{Provenance, ProvenanceArgs, Recorded, holds_metadata};
use crate::rule_result::Assignment;
use crate::text;
use crate::usage::usage;

/// Where labels go.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArgs {
    /// The output; its ending says the format. A folder for one output an input, or - for CSV on standard output.
    #[arg(short, long, value_name = "OUT")]
    output: String,
    /// Replaces the output where it exists.
    #[arg(long)]
    pub(crate) force: bool,
    /// CSV and TSV: an apostrophe before text that a spreadsheet would take for a formula (beginning with = + - or @).
    #[arg(long)]
    safe_csv: bool,
    /// Writes the identifier and the label alone.
    #[arg(long)]
    only_label: bool,
    /// The name of the label's column; that of its score is NAME_score.
    #[arg(long = "as", default_value = "label", value_name = "NAME")]
    name: String,
    #[command(flatten)]
    pub(crate) provenance: ProvenanceArgs,
}

impl OutputArgs {
    /// Refuses what cannot go together, and what could not be written, before anything is read.
    pub(crate) fn check(&self, table: &TableArgs, input: &Input, side: &[SideInput]) -> Result<()> {
        let in_memory = table.memory_host().is_some();
        if self.output == "-" && table.json && !in_memory {
            return Err(usage("-o - and --json both write to standard output; choose one"));
        }
        if in_memory {
            return Ok(());
        }
        if self.name.trim().is_empty() {
            return Err(usage("--as: a column needs a name"));
        }
        if table.count.is_some() && self.name != "label" {
            return Err(usage("--as: with --count there is no label, but how many people have each class, in n_CLASS"));
        }
        if self.only_label && table.id.is_none() {
            return Err(usage("--only-label writes the identifier and the label; name the identifier with --id"));
        }
        refuse_unsafe_formats(self.safe_csv, &self.output)?;
        refuse_overwriting_outputs(&self.output, input, side)?;
        let output = self.place(table, Vec::new());
        output.check(Some(input))?;
        Ok(refuse_nested_columns(input, &output)?)
    }

    /// Where the labels go.
    pub(crate) fn path(&self) -> &Path {
        Path::new(&self.output)
    }

    fn place(&self, options: &TableArgs, metadata: Vec<(String, String)>) -> Output {
        let keep = self.only_label.then(|| options.id.iter().cloned().collect());
        Output { path: self.output.clone(), force: self.force, keep, metadata, safe_csv: self.safe_csv }
    }

    /// Whether provenance is collected: it is asked for, or the output can hold it.
    pub(crate) fn wants_provenance(&self, options: &TableArgs, input: &Input) -> bool {
        let is_folder = self.output.ends_with('/') || std::path::Path::new(&self.output).is_dir();
        let holds = holds_metadata(&self.output)
            || is_folder && input.names().any(|name| holds_metadata(&name.to_string_lossy()));
        options.memory_host().is_none() && self.provenance.is_wanted(holds)
    }

    /// The options that the output depends on.
    pub(crate) fn record(&self, table: &Table, into: &mut Recorded) {
        into.label = (!table.has_counts()).then(|| self.name.clone());
        into.only_label = self.only_label;
    }

    /// Refuses new columns with names that the input has.
    pub(crate) fn check_names(&self, input: &Input, table: &Table, draws: u64) -> Result<()> {
        if input.memory_table(0).is_some() {
            return Ok(());
        }
        let names = input.columns(0)?;
        match self.fields(table, draws).iter().find(|field| !self.only_label && names.contains(field.name())) {
            Some(taken) => bail!(text::taken(taken.name(), &names, &self.name)),
            None => Ok(()),
        }
    }

    /// The new columns.
    fn fields(&self, table: &Table, draws: u64) -> Vec<FieldRef> {
        let may_miss = table.row_mask().total() > table.rows();
        if table.has_counts() {
            let names = table.classes().names().iter().map(String::as_str).chain(["uncoded"]);
            return names.map(|name| Arc::new(Field::new(format!("n_{name}"), DataType::UInt64, may_miss))).collect();
        }
        let number = if table.is_single_precision() { DataType::Float32 } else { DataType::Float64 };
        let mut fields: Vec<FieldRef> = Vec::new();
        for draw in 1..=draws {
            let name = if draws == 1 { self.name.clone() } else { format!("{}_{draw}", self.name) };
            fields.push(Arc::new(Field::new(&name, DataType::Utf8, may_miss)));
            if !self.only_label {
                fields.push(Arc::new(Field::new(format!("{name}_score"), number.clone(), true)));
            }
        }
        fields
    }

    /// Writes the rows, and what they were given.
    pub(crate) fn write(
        &self,
        options: &TableArgs,
        input: &Input,
        table: &Table,
        given: &Assignment,
        provenance: Option<&Provenance>,
    ) -> Result<Vec<PathBuf>> {
        if let Some(host) = options.memory_host() {
            host.keep(table, given);
            return Ok(Vec::new());
        }
        let draws = if let Assignment::Labels(draws) = given { draws.len() as u64 } else { 1 };
        let mut done = 0;
        let mut next = |first: usize, rows: usize| {
            // Rows beyond those that were read are refused when all are counted.
            let kept: Vec<bool> = (first..first + rows)
                .map(|row| row < table.row_mask().total() && table.row_mask().contains(row))
                .collect();
            let end = done + kept.iter().filter(|&&kept| kept).count();
            let taken = Taken { kept, first: done, end };
            done = end;
            match given {
                Assignment::People(allotment) => Ok(people_columns(table, allotment, &taken)),
                Assignment::Labels(draws) => {
                    let with_scores = !self.only_label;
                    let columns = draws.iter().map(|labels| label_columns(table, labels.values(), &taken, with_scores));
                    Ok(columns.collect::<apportion_io::Result<Vec<_>>>()?.concat())
                }
            }
        };
        let added =
            AddedColumns { fields: self.fields(table, draws), rows: Some(table.row_mask().total()), values: &mut next };
        let metadata = provenance.map(Provenance::metadata).transpose()?.unwrap_or_default();
        let paths = write_with_columns(input, &self.place(options, metadata), added)?;
        self.provenance.write(provenance).map_err(|error| after_output(error, &paths))?;
        Ok(paths)
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
fn label_columns(
    table: &Table,
    labels: &[Label],
    rows: &Taken,
    with_scores: bool,
) -> apportion_io::Result<Vec<ArrayRef>> {
    let labels = &labels[rows.first..rows.end];
    let names = rows.spread(labels.iter().map(|&label| table.classes().name(label))).collect::<StringArray>();
    if !with_scores {
        return Ok(vec![Arc::new(names)]);
    }
    let scores = table.label_scores(rows.first, labels)?;
    let scores = rows.spread(scores.into_iter()).map(Option::flatten);
    let scores: ArrayRef = if table.is_single_precision() {
        Arc::new(scores.map(|score| score.map(|score| score as f32)).collect::<Float32Array>())
    } else {
        Arc::new(scores.collect::<Float64Array>())
    };
    Ok(vec![Arc::new(names), scores])
}

/// How many of each row's people have each class.
fn people_columns(table: &Table, allotment: &Allotment, rows: &Taken) -> Vec<ArrayRef> {
    let people = |class: usize| rows.spread((rows.first..rows.end).map(move |row| allotment.row(row)[class]));
    (0..=table.classes().len()).map(|class| Arc::new(people(class).collect::<UInt64Array>()) as ArrayRef).collect()
}

/// Refuses `--safe-csv` for an output that is not text.
pub(crate) fn refuse_unsafe_formats(safe_csv: bool, output: &str) -> Result<()> {
    let ending = |ending: &&&str| output.to_lowercase().ends_with(**ending);
    let others = [".parquet", ".pq", ".arrow", ".ipc", ".feather", ".arrows"];
    match others.iter().find(ending).filter(|_| safe_csv) {
        Some(ending) => {
            Err(usage(format!("--safe-csv: it is for CSV and TSV outputs, and not for {ending}; leave it out")))
        }
        None => Ok(()),
    }
}

/// Which files were written.
pub(crate) fn written(paths: &[PathBuf]) -> String {
    match paths {
        [] => "written to standard output".into(),
        [path] => format!("written to {}", path.display()),
        paths => {
            let holds_all = |folder: &&Path| paths.iter().all(|path| path.starts_with(folder));
            let folder = paths[0].ancestors().skip(1).find(holds_all).unwrap_or(Path::new("."));
            format!("written to {} files in {}", paths.len(), folder.display())
        }
    }
}

/// An error after the output was written, which stays.
pub(crate) fn after_output(error: anyhow::Error, paths: &[PathBuf]) -> anyhow::Error {
    let output = written(paths);
    error.context(format!("the labels were {output}, but the report failed"))
}
