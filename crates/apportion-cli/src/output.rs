//! Where labels go: the files' rows again, with a label and its score, or with the people of each class, beside them.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use apportion_io::{Assigned, Input, LabelColumns, Output, Table, refuse_nested_columns};
use clap::Args;

use crate::options::TableArgs;
use crate::provenance::ProvenanceArgs;
use crate::rule_result::Assignment;
use crate::text;
use crate::usage::usage;
use apportion_app::protect::{SideInput, refuse_overwriting_outputs, refuse_unsafe_formats};
use apportion_app::provenance::{Provenance, Recorded, holds_metadata};

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
        options.memory_host().is_none() && self.provenance.settings().is_wanted(holds)
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
        match self.columns().names(table, draws).iter().find(|name| !self.only_label && names.contains(name)) {
            Some(taken) => bail!(text::taken(taken, &names, &self.name)),
            None => Ok(()),
        }
    }

    /// The new columns.
    fn columns(&self) -> LabelColumns {
        LabelColumns { name: self.name.clone(), with_scores: !self.only_label }
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
        let assigned = match given {
            Assignment::Labels(draws) => Assigned::Labels(draws),
            Assignment::People(allotment) => Assigned::People(allotment),
        };
        let metadata = provenance.map(Provenance::metadata).transpose()?.unwrap_or_default();
        let paths = self.columns().write(input, &self.place(options, metadata), table, assigned)?;
        self.provenance.settings().write(provenance).map_err(|error| after_output(error.into(), &paths))?;
        Ok(paths)
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
