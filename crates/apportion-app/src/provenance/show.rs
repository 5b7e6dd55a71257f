//! The job `provenance`: shows how an output was made.

use std::path::PathBuf;

use apportion::text::{Message, Setting};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Provenance, find};
use crate::{Context, Error, Result};

/// The file whose provenance to show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// A Parquet or Arrow file, a decision, or a JSON file of provenance.
    pub inputs: PathBuf,
}

/// The provenance of a file. It serializes to the JSON in the file.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Response {
    /// The JSON of the file.
    pub json: Value,
    /// The provenance.
    #[serde(skip)]
    pub provenance: Provenance,
}

/// A response has the schema of provenance.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Response {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Provenance::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Provenance::json_schema(generator)
    }
}

/// Reads the provenance of a file.
///
/// # Errors
/// If the file cannot be read, or contains no provenance.
pub fn run(request: &Request, _: &Context) -> Result<Response> {
    let Some(found) = find(&request.inputs)? else {
        let problem = format!("{}: it contains no provenance. ", request.inputs.display());
        let places = Message::from("Parquet and Arrow outputs and decisions contain it, unless ");
        let places = places + Setting::NoProvenance + " was used; ";
        let fix = Message::from("for CSV, write it with ") + Setting::Provenance.with("FILE.json");
        return Err(Error::Data(Message::from(problem) + places + fix + " and use that file here"));
    };
    Ok(Response { json: found.json, provenance: found.provenance })
}
