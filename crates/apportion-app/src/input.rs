//! The input of a job, and how text files are read.

use apportion::text::{Message, Setting};
use apportion_io::{Input, InputOptions, MemoryTable, Progress, TextEncoding};
use serde::{Deserialize, Serialize};

use crate::provenance::Recorded;
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
    /// The sheet of Excel workbooks; the first one if not set.
    pub sheet: Option<String>,
    /// The number of rows read at a time.
    pub batch_rows: usize,
    /// The maximum length of a line of text, in bytes.
    pub max_line: usize,
}

/// The encoding of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoding {
    /// UTF-8, or Windows-1252 if the file has no multi-byte UTF-8 characters.
    #[default]
    Auto,
    /// UTF-8.
    Utf8,
    /// Windows-1252, which includes Latin-1.
    #[serde(rename = "windows-1252", alias = "latin1")]
    Windows1252,
}

impl Encoding {
    /// Returns the name in settings and provenance; `None` for the default.
    fn recorded(self) -> Option<&'static str> {
        match self {
            Encoding::Auto => None,
            Encoding::Utf8 => Some("utf8"),
            Encoding::Windows1252 => Some("windows-1252"),
        }
    }
}

impl Default for Source {
    fn default() -> Source {
        let InputOptions { batch_rows, max_line, .. } = InputOptions::default();
        Source {
            inputs: Vec::new(),
            table: None,
            encoding: Encoding::Auto,
            delimiter: None,
            sheet: None,
            batch_rows,
            max_line,
        }
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

    /// Records how the files are read.
    pub(crate) fn record(&self, into: &mut Recorded) {
        into.encoding = self.encoding.recorded().map(str::to_owned);
        into.delimiter = self.delimiter;
        into.sheet.clone_from(&self.sheet);
    }

    /// Returns the source with recorded settings instead of defaults. Sheets are for workbooks only, and the same rows
    /// may now be in another file.
    pub(crate) fn with_recorded(&self, recorded: &Recorded) -> Source {
        let is_workbook =
            |input: &String| input.to_lowercase().ends_with(".xlsx") || input.to_lowercase().ends_with(".xlsm");
        let has_sheets = self.inputs.iter().any(is_workbook);
        let name = recorded.encoding.as_deref();
        let encoding = [Encoding::Utf8, Encoding::Windows1252].into_iter().find(|own| own.recorded() == name);
        Source {
            encoding: encoding.unwrap_or(self.encoding),
            delimiter: recorded.delimiter.or(self.delimiter),
            sheet: recorded.sheet.clone().filter(|_| has_sheets).or_else(|| self.sheet.clone()),
            ..self.clone()
        }
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
        let encoding = match self.encoding {
            Encoding::Auto => TextEncoding::Auto,
            Encoding::Utf8 => TextEncoding::Utf8,
            Encoding::Windows1252 => TextEncoding::Windows1252,
        };
        let (sheet, batch_rows, max_line) = (self.sheet.clone(), self.batch_rows, self.max_line);
        let options = InputOptions { encoding, delimiter, sheet, batch_rows, max_line };
        let input = match self.table.clone() {
            Some(table) => Input::from_memory(&self.inputs.join(" "), table, options),
            None => Input::new(&self.inputs, options)?,
        };
        if self.sheet.is_some() && !input.has_workbook() {
            let problem = " is for Excel workbooks (.xlsx), but the input is not a workbook; leave it out";
            return Err(Error::settings(Message::from(Setting::Sheet) + problem));
        }
        if let Some(note) = input.format_note() {
            context.note(note);
        }
        if let Some(note) = input.skipped_note() {
            context.note(note);
        }
        let input = match &context.config {
            Some(config) => input.with_protected(&config.name),
            None => input,
        };
        Ok(input.with_progress(Box::new(Reporter(context.clone()))))
    }
}

/// Sends the progress of passes over files, and notes about what they detect, to the receivers of a job.
#[derive(Debug)]
struct Reporter(Context);

impl Progress for Reporter {
    fn begin(&self, what: &'static str, bytes: u64) {
        self.0.progress.begin(what, bytes);
    }
    fn update(&self, rows: u64, bytes: u64) {
        self.0.progress.update(rows, bytes);
    }
    fn end(&self) {
        self.0.progress.end();
    }
    fn note(&self, message: Message) {
        self.0.note(message);
    }
    fn is_cancelled(&self) -> bool {
        self.0.progress.is_cancelled()
    }
}
