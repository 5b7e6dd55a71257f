//! Reads the provenance of an existing file: from the metadata of Parquet and Arrow, a decision, or a JSON file.

use std::fs;
use std::path::Path;

use apportion_io::{METADATA_KEY, read_metadata};
use serde_json::Value;

use super::{FORMAT, Provenance};
use crate::{Error, Result};

/// Provenance, and the JSON from which it was read.
#[derive(Clone, Debug)]
pub struct Found {
    /// The provenance.
    pub provenance: Provenance,
    /// The JSON, including keys of later versions.
    pub json: Value,
}

/// Returns the provenance of a file; `None` if the file does not contain it.
///
/// # Errors
/// If the file cannot be read, or its provenance is invalid.
pub fn find(path: &Path) -> Result<Option<Found>> {
    if let Some(text) = read_metadata(path, METADATA_KEY)? {
        return parse(path, serde_json::from_str(&text)).map(Some);
    }
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if !is_json {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|error| apportion_io::Error::io(path, &error))?;
    let mut json: Value = serde_json::from_str(&text)
        .map_err(|error| format!("it is not valid JSON ({error}); use a file written by apportion"))
        .map_err(|problem| apportion_io::Error::file(path, problem))?;
    match json.get("provenance") {
        None => Ok(None),
        Some(Value::Object(_)) => parse(path, Ok(json["provenance"].take())).map(Some),
        Some(_) => parse(path, Ok(json)).map(Some),
    }
}

fn parse(path: &Path, json: serde_json::Result<Value>) -> Result<Found> {
    let failed = |problem: String| -> Error {
        apportion_io::Error::file(path, format!("its provenance cannot be read ({problem}); make the file again"))
            .into()
    };
    let json = json.map_err(|error| failed(error.to_string()))?;
    match json.get("provenance").and_then(Value::as_u64) {
        Some(version) if version == u64::from(FORMAT) => {}
        Some(version) => {
            return Err(failed(format!("it has version {version}, but this program reads version {FORMAT}")));
        }
        None => return Err(failed("it has no version".into())),
    }
    let provenance = serde_json::from_value(json.clone()).map_err(|error| failed(error.to_string()))?;
    Ok(Found { provenance, json })
}
