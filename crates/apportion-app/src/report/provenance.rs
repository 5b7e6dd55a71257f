//! Provenance in a report: files with their SHA-256, the command, and a description of the settings.

use std::path::Path;

use apportion_io::Table;
use apportion_report::Provenance;

use crate::Context;
use crate::provenance::{Found, InputFile, find};
use crate::table::{Grouping, TableSettings};

/// Returns the provenance of a report's numbers.
pub fn report_provenance(
    files: &[InputFile],
    table: &Table,
    settings: &TableSettings,
    by: Grouping<'_>,
    context: &Context,
    more: Vec<(&str, String)>,
) -> Provenance {
    let file = |file: &InputFile| {
        let name = match file.role.as_str() {
            "scores" => file.name.clone(),
            "reference" => format!("{} (the reference)", file.name),
            role => format!("{} ({role})", file.name),
        };
        (name, file.rows.unwrap_or(0), file.sha256.clone().unwrap_or_else(|| "in memory".into()))
    };
    let facts = settings.facts(table, by).into_iter().chain(more).map(|(name, fact)| (name.to_owned(), fact));
    Provenance {
        files: files.iter().chain(&context.config).map(file).collect(),
        facts: facts.chain(files.iter().flat_map(origin)).collect(),
        command: context.command.clone(),
    }
}

/// Returns how the scores of a file were made, and the versions of the tables that were used, if the file says so.
fn origin(file: &InputFile) -> Vec<(String, String)> {
    // A file without readable provenance is an ordinary input.
    let is_file = file.role == "scores" && file.sha256.is_some();
    let found = if is_file { find(Path::new(&file.name)).ok().flatten() } else { None };
    let Some(Found { provenance, .. }) = found else { return Vec::new() };
    let name = &file.name;
    let mut facts =
        vec![(format!("{name}, made by"), format!("apportion {}: {}", provenance.apportion, provenance.command))];
    if !provenance.tables.is_empty() {
        facts.push((format!("{name}, tables"), provenance.tables.join("; ")));
    }
    facts
}
