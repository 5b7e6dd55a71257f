//! Provenance in a report: files with their SHA-256, the command, and a description of the settings.

use apportion_io::Table;
use apportion_report::Provenance;

use crate::Context;
use crate::provenance::InputFile;
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
    let facts = settings.facts(table, by).into_iter().chain(more);
    Provenance {
        files: files.iter().chain(&context.config).map(file).collect(),
        facts: facts.map(|(name, fact)| (name.to_owned(), fact)).collect(),
        command: context.command.clone(),
    }
}
