//! The output of labels: the input rows with a label and its score, or with the number of people in each class.

use std::path::{Path, PathBuf};

use apportion::text::{Message, Setting};
use apportion_io::{Input, LabelColumns, Output, Table, refuse_nested_columns};
use serde::{Deserialize, Serialize};

use crate::labels::Assignment;
use crate::protect::{SideInput, refuse_overwriting_outputs, refuse_unsafe_formats};
use crate::provenance::{Provenance, ProvenanceSettings, Recorded, holds_metadata};
use crate::table::TableSettings;
use crate::{Error, Result};

/// The output of labels. Labels of a table in memory are not written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputSettings {
    /// A file, a folder, or `-` for standard output.
    pub output: String,
    /// Whether to replace existing files.
    pub force: bool,
    /// Whether to escape formulas in CSV.
    pub safe_csv: bool,
    /// Whether to write only the ID and the label.
    pub only_label: bool,
    /// The name of the label column.
    pub label_name: String,
    /// Whether and where provenance is written.
    #[serde(flatten)]
    pub provenance: ProvenanceSettings,
}

impl Default for OutputSettings {
    fn default() -> OutputSettings {
        OutputSettings {
            output: String::new(),
            force: false,
            safe_csv: false,
            only_label: false,
            label_name: "label".into(),
            provenance: ProvenanceSettings::default(),
        }
    }
}

impl OutputSettings {
    /// Refuses settings that cannot be combined and outputs that cannot be written, before any rows are read.
    ///
    /// # Errors
    /// If a setting or the output is refused.
    pub fn check(&self, table: &TableSettings, input: &Input, side: &[SideInput]) -> Result<()> {
        if table.source.is_in_memory() {
            return Ok(());
        }
        if self.output.is_empty() {
            return Err(Error::settings(Message::from(Setting::Output) + " is required: name a file for the labels"));
        }
        if self.label_name.trim().is_empty() {
            return Err(Error::settings(Message::from(Setting::LabelName) + ": the name must not be empty"));
        }
        if table.count.is_some() && self.label_name != "label" {
            let with = Message::from(Setting::LabelName) + ": with " + Setting::Count;
            return Err(Error::Settings(
                with + ", the output has the number of people per class (n_CLASS) and no label column; leave it out",
            ));
        }
        if self.only_label && table.id.is_none() {
            let problem = " writes the ID and the label; name the ID column with ";
            return Err(Error::settings(Message::from(Setting::OnlyLabel) + problem + Setting::Id));
        }
        refuse_unsafe_formats(self.safe_csv, &self.output)?;
        refuse_overwriting_outputs(&self.output, input, side)?;
        let output = self.place(table, Vec::new());
        output.check(Some(input))?;
        Ok(refuse_nested_columns(input, &output)?)
    }

    /// Returns the path of the output.
    pub fn path(&self) -> &Path {
        Path::new(&self.output)
    }

    fn place(&self, table: &TableSettings, metadata: Vec<(String, String)>) -> Output {
        let keep = self.only_label.then(|| table.id.iter().cloned().collect());
        Output { path: self.output.clone(), force: self.force, keep, metadata, safe_csv: self.safe_csv }
    }

    /// Returns whether provenance is collected: if requested, or if the output can contain it.
    pub fn wants_provenance(&self, table: &TableSettings, input: &Input) -> bool {
        let is_folder = self.output.ends_with('/') || self.path().is_dir();
        let holds = holds_metadata(&self.output)
            || is_folder && input.names().any(|name| holds_metadata(&name.to_string_lossy()));
        !table.source.is_in_memory() && self.provenance.is_wanted(holds)
    }

    /// Records the settings that the output depends on.
    pub fn record(&self, table: &Table, into: &mut Recorded) {
        into.label = (!table.has_counts()).then(|| self.label_name.clone());
        into.only_label = self.only_label;
    }

    /// Refuses new columns whose names exist in the input.
    ///
    /// # Errors
    /// If a name exists.
    pub fn check_names(&self, input: &Input, table: &Table, draws: u64) -> Result<()> {
        if input.memory_table(0).is_some() || self.only_label {
            return Ok(());
        }
        let names = input.columns(0)?;
        match self.columns().names(table, draws).iter().find(|name| names.contains(name)) {
            Some(taken) => Err(Error::Data(taken_name(taken, &names, &self.label_name))),
            None => Ok(()),
        }
    }

    fn columns(&self) -> LabelColumns {
        LabelColumns { name: self.label_name.clone(), with_scores: !self.only_label }
    }

    /// Writes the rows with their labels, and the provenance. Nothing is written for a table in memory.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(
        &self,
        settings: &TableSettings,
        input: &Input,
        table: &Table,
        assignment: &Assignment,
        provenance: Option<&Provenance>,
    ) -> Result<Vec<PathBuf>> {
        if settings.source.is_in_memory() {
            return Ok(Vec::new());
        }
        let metadata = provenance.map(Provenance::metadata).transpose()?.unwrap_or_default();
        let place = self.place(settings, metadata);
        let paths = self.columns().write(input, &place, table, assignment.assigned())?;
        self.provenance.write(provenance).map_err(|error| after_output(&error, &paths))?;
        Ok(paths)
    }
}

/// Returns the message for a new column whose name exists in the input, with an available name if it can be changed.
fn taken_name(column: &str, names: &[String], wanted: &str) -> Message {
    let begins = |name: &str, start: &str| name == start || name.starts_with(&format!("{start}_"));
    let exists = Message::from(format!("the input already has a column {column:?}; "));
    if !begins(column, wanted) {
        return exists + "rename it, or use " + Setting::OnlyLabel + " with " + Setting::Id;
    }
    let is_free = |name: &String| names.iter().all(|own| !begins(own, name));
    let free = (2..).map(|number| format!("{wanted}_{number}")).find(is_free).unwrap_or_default();
    exists + "name the new one with " + Setting::LabelName.with(free)
}

/// Returns a sentence with the files that were written.
pub fn written(paths: &[PathBuf]) -> String {
    match paths {
        [] => "written to standard output".into(),
        [path] => format!("written to {}", path.display()),
        paths => {
            let holds_all = |folder: &&Path| paths.iter().all(|path| path.starts_with(folder));
            let folder = paths[0].ancestors().skip(1).find(holds_all).unwrap_or(Path::new("."));
            format!("written to {} files in {}", crate::text::count(paths.len() as u64), folder.display())
        }
    }
}

/// Returns an error that occurred after the output was written; the output is kept.
pub fn after_output(error: &Error, paths: &[PathBuf]) -> Error {
    let output = written(paths);
    Error::Data(Message::from(format!("the labels were {output}, but the report failed: ")) + error.message())
}
