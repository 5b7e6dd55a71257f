//! Refuses list and struct columns for CSV output, before any work is done.

use std::path::Path;

use apportion::text::{Message, Setting};

use super::format::{Format, format_of_path};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::output::Output;
use crate::table::same_name;

/// Refuses to write columns of lists or structs as CSV or TSV.
pub fn refuse_nested_columns(input: &Input, output: &Output) -> Result<()> {
    let path = Path::new(&output.path);
    let is_text = match format_of_path(path) {
        Some((format, _)) => matches!(format, Format::Csv | Format::Tsv),
        // Standard output is CSV; a folder contains files in the formats of the inputs.
        None => output.path == "-",
    };
    if !is_text {
        return Ok(());
    }
    let is_kept = |name: &str| match &output.keep {
        None => true,
        Some(keep) => keep.iter().any(|kept| same_name(kept, name)),
    };
    for file in 0..input.names().len() {
        let schema = input.schema(file)?;
        let mut fields = schema.fields().iter().filter(|field| is_kept(field.name()));
        if let Some(field) = fields.find(|field| field.data_type().is_nested()) {
            let (name, kind) = (field.name(), kind(field.data_type()));
            let problem = format!("column {name:?} contains {kind}, which CSV cannot store; write Parquet or Arrow (");
            let problem = Message::from(problem) + Setting::Output.with("FILE.parquet");
            let problem = problem + "), or keep only the label with " + Setting::OnlyLabel;
            return Err(Error::file(input.name(file), problem));
        }
    }
    Ok(())
}

/// Returns the plural name of a nested type.
fn kind(kind: &arrow_schema::DataType) -> &'static str {
    use arrow_schema::DataType as Kind;
    match kind {
        Kind::Struct(_) => "structures",
        Kind::Map(..) => "maps",
        Kind::Union(..) => "unions",
        _ => "lists",
    }
}
