//! The input of a job, and how text files are read.

use apportion::text::{Message, Setting};
use apportion_io::{Input, InputOptions, MemoryTable};
use serde::{Deserialize, Serialize};

use crate::{Context, Error, Result};

/// Files, or a table in memory instead.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// Files, folders or glob patterns; `-` for standard input. For a table in memory, its name.
    pub inputs: Vec<String>,
    /// A table in memory.
    #[serde(skip)]
    pub table: Option<MemoryTable>,
    /// The encoding of text files without a byte order mark.
    pub encoding: Encoding,
    /// The character between the values of text files; detected if not set.
    pub delimiter: Option<char>,
    /// The number of rows read at a time.
    pub batch_rows: usize,
    /// The maximum length of a line of text, in bytes.
    pub max_line: usize,
}

/// The encoding of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// UTF-8, or UTF-16 with a byte order mark.
    #[default]
    Utf8,
    /// Latin-1 (Windows 1252).
    Latin1,
}

impl Default for Source {
    fn default() -> Source {
        let InputOptions { batch_rows, max_line, .. } = InputOptions::default();
        Source { inputs: Vec::new(), table: None, encoding: Encoding::Utf8, delimiter: None, batch_rows, max_line }
    }
}

impl Source {
    /// Returns a source of files with default settings.
    pub fn files<S: Into<String>>(inputs: impl IntoIterator<Item = S>) -> Source {
        Source { inputs: inputs.into_iter().map(Into::into).collect(), ..Source::default() }
    }

    /// Returns whether the rows are in memory; if so, results are also returned in memory.
    pub fn is_in_memory(&self) -> bool {
        self.table.is_some()
    }

    /// Opens the files, and sends notes about what was detected.
    ///
    /// # Errors
    /// If a file cannot be found or read.
    pub fn open(&self, context: &Context) -> Result<Input> {
        let delimiter = match self.delimiter.map(u8::try_from) {
            None => None,
            Some(Ok(byte)) => Some(byte),
            Some(Err(_)) => {
                return Err(Error::settings(Message::from(Setting::Delimiter) + ": it must be an ASCII character"));
            }
        };
        let latin1 = matches!(self.encoding, Encoding::Latin1);
        let options = InputOptions { latin1, delimiter, batch_rows: self.batch_rows, max_line: self.max_line };
        let input = match self.table.clone() {
            Some(table) => Input::from_memory(&self.inputs.join(" "), table, options),
            None => Input::new(&self.inputs, options)?,
        };
        if let Some(note) = input.separator_note() {
            context.note(note);
        }
        if let Some(note) = input.skipped_note() {
            context.note(note);
        }
        Ok(input.with_progress(Box::new(context.progress.clone())))
    }
}
