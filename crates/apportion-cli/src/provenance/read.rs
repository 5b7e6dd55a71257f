//! Provenance of a file that exists: in the metadata of Parquet and Arrow, in a decision, or in a JSON file of its own.

use std::fs;
use std::path::Path;

use anyhow::{Result, anyhow};
use apportion_io::{Error, METADATA_KEY, read_metadata};
use serde_json::Value;

use super::{FORMAT, Provenance};

/// Provenance, and the JSON that it was read from.
pub(crate) struct Found {
    pub(crate) provenance: Provenance,
    pub(crate) json: Value,
}

/// The provenance of a file; none if it has none, or cannot hold it.
pub(crate) fn find(path: &Path) -> Result<Option<Found>> {
    if let Some(text) = read_metadata(path, METADATA_KEY)? {
        return parse(path, serde_json::from_str(&text)).map(Some);
    }
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if !is_json {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|error| Error::io(path, &error))?;
    let mut json: Value = serde_json::from_str(&text)
        .map_err(|error| Error::file(path, format!("it is not JSON ({error}); name a file that apportion wrote")))?;
    match json.get("provenance") {
        None => Ok(None),
        Some(Value::Object(_)) => parse(path, Ok(json["provenance"].take())).map(Some),
        Some(_) => parse(path, Ok(json)).map(Some),
    }
}

fn parse(path: &Path, json: serde_json::Result<Value>) -> Result<Found> {
    let failed =
        |problem: String| anyhow!("{}: its provenance cannot be read ({problem}); make the file again", path.display());
    let json = json.map_err(|error| failed(error.to_string()))?;
    match json.get("provenance").and_then(Value::as_u64) {
        Some(version) if version == u64::from(FORMAT) => {}
        Some(version) => {
            return Err(failed(format!("it is of version {version}, and this program reads version {FORMAT}")));
        }
        None => return Err(failed("it has no version".into())),
    }
    let provenance = serde_json::from_value(json.clone()).map_err(|error| failed(error.to_string()))?;
    Ok(Found { provenance, json })
}
