//! Results in a file: a table as CSV, or all figures as JSON, by the extension of the file.

use std::path::{Path, PathBuf};

use apportion::text::{Message, Setting};
use apportion_io::{Input, escape_formula, refuse_overwrite, write_atomically};
use serde::Serialize;

use crate::protect::{SideInput, refuse_overwriting_outputs};
use crate::provenance::refuse_missing_folder;
use crate::{Error, Result};

/// A file for results that may be written.
#[derive(Clone, Debug)]
pub(crate) struct ResultsFile {
    path: PathBuf,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    Json,
}

impl ResultsFile {
    /// Checks the file before any rows are read. Returns `None` if no file is requested.
    ///
    /// # Errors
    /// If its format is unknown, or it must not be written.
    pub(crate) fn prepare(
        path: Option<&Path>,
        input: &Input,
        side: &[SideInput],
        force: bool,
    ) -> Result<Option<ResultsFile>> {
        let Some(path) = path else { return Ok(None) };
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let format = match extension.as_deref() {
            Some("csv") => Format::Csv,
            Some("json") => Format::Json,
            _ => {
                let file = Message::from(Setting::Output.with(path.display().to_string()));
                return Err(Error::Settings(file + ": unknown format of results; use .csv or .json"));
            }
        };
        refuse_overwriting_outputs(&path.to_string_lossy(), input, side)?;
        refuse_overwrite(path, Some(input), force)?;
        refuse_missing_folder(path)?;
        Ok(Some(ResultsFile { path: path.to_owned(), format }))
    }

    /// Writes the table or the response.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn write(&self, table: impl FnOnce() -> CsvTable, response: &impl Serialize) -> Result<()> {
        let text = match self.format {
            Format::Csv => table().text,
            Format::Json => {
                let value = serde_json::to_value(response).map_err(|error| Error::data(error.to_string()))?;
                format!("{value}\n")
            }
        };
        Ok(write_atomically(&self.path, text.as_bytes())?)
    }
}

/// A table as CSV text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CsvTable {
    text: String,
}

impl CsvTable {
    /// Creates a table with a header.
    pub(crate) fn new<S: AsRef<str>>(header: impl IntoIterator<Item = S>) -> CsvTable {
        let mut table = CsvTable { text: String::new() };
        table.push(header.into_iter().map(|name| cell(name.as_ref())));
        table
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Adds a row of cells made by [`cell`] or [`number`].
    pub(crate) fn push(&mut self, cells: impl IntoIterator<Item = String>) {
        let line = cells.into_iter().collect::<Vec<_>>().join(",");
        self.text += &line;
        self.text.push('\n');
    }
}

/// Returns text as a cell, in quotes if necessary. A spreadsheet does not run it as a formula.
pub(crate) fn cell(text: &str) -> String {
    let text = escape_formula(text);
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
}

/// Returns a number as a cell; an empty cell for `None`.
pub(crate) fn number<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_escaped_and_numbers_are_not() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("@cmd", "'@cmd"),
            ("-x", "'-x"),
            ("+a,b", "\"'+a,b\""),
            ("\t=1", "'\t=1"),
            ("-5", "-5"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(cell(text), expected);
        }
        assert_eq!(number(Some(-0.5)), "-0.5");
    }

    #[test]
    fn cells_are_quoted_if_necessary() {
        let mut table = CsvTable::new(["class", "n_a,b"]);
        table.push([cell("a \"b\""), number(Some(0.5))]);
        table.push([cell("plain"), number(None::<u64>)]);
        assert_eq!(table.text, "class,\"n_a,b\"\n\"a \"\"b\"\"\",0.5\nplain,\n");
    }
}
