//! Decoder errors as messages with the file and the next step.

use apportion::text::{Message, Setting};
use arrow_schema::ArrowError;

use super::format::Format;
use super::source::{Content, Source};
use super::stable_file::is_changed;
use crate::error::Error;

/// An error of our own decoders, with a complete message to which nothing is added.
#[derive(Debug)]
pub(crate) struct Explained(pub(crate) Message);

impl std::fmt::Display for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Explained {}

/// Turns a decoder error into a message with the file and the next step.
pub(crate) fn explain(source: &Source, error: &ArrowError) -> Error {
    if is_changed(error) {
        return Error::changed(&source.name);
    }
    if let Some(error) = system_error(error) {
        return Error::io(&source.name, error);
    }
    if let ArrowError::ExternalError(inner) = error
        && let Some(Explained(problem)) = inner.downcast_ref()
    {
        return Error::file(&source.name, problem.clone());
    }
    let text = match error {
        ArrowError::CsvError(text) | ArrowError::ParquetError(text) | ArrowError::IpcError(text) => text.clone(),
        ArrowError::IoError(text, _) => text.clone(),
        ArrowError::ExternalError(inner) => inner.to_string(),
        other => other.to_string(),
    };
    let text = text.lines().next().unwrap_or_default();
    let problem: Message = match source.format {
        _ if matches!(source.content, Content::Memory(_)) => text.into(),
        Format::Csv | Format::Tsv => explain_text(text).into(),
        Format::Parquet if text.contains("overflow") => {
            let problem =
                format!("a batch of its text needs more than 2 GiB ({text}); read fewer rows at a time with ");
            Message::from(problem) + Setting::BatchRows.with("1000")
        }
        Format::Parquet => {
            format!("it is not a valid Parquet file ({text}); it may be damaged or cut off: copy it again").into()
        }
        Format::Xlsx => {
            format!("it is not a valid Excel workbook ({text}); it may be damaged or cut off: copy it again").into()
        }
        Format::Ipc => {
            format!("it is not a valid Arrow file ({text}); it may be damaged or cut off: copy it again").into()
        }
    };
    Error::file(&source.name, problem)
}

/// Returns the operating system error inside another error, if any.
fn system_error(error: &ArrowError) -> Option<&std::io::Error> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(system) = error.downcast_ref::<std::io::Error>() {
            return Some(system).filter(|system| system.raw_os_error().is_some());
        }
        next = error.source();
    }
    None
}

fn explain_text(text: &str) -> String {
    let lower = text.to_lowercase();
    if lower.contains("invalid gzip header") {
        return "its compressed data is followed by something that is not gzip; it may be damaged: copy it again"
            .into();
    }
    if ["corrupt", "unexpected end", "incomplete", "unknown frame"].iter().any(|word| lower.contains(word)) {
        return format!("it cannot be decompressed ({text}); it may be damaged or cut off: copy it again");
    }
    text.to_owned()
}
