//! JSON Schemas of all responses, for programs that read the JSON. Requires the feature `schema`.

use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::settings::Job;
use crate::{
    audit, calibrate, compare, demo, describe, disparity, explain, export, fit, frontier, label, predict, provenance,
    reproduce, simulate, tables, verify,
};

/// Returns the schemas by job name. Related jobs, such as those about tables, share a schema.
pub fn all() -> BTreeMap<&'static str, Schema> {
    Job::ALL.into_iter().map(named).collect()
}

/// Returns the schema of a job's response, with its name.
fn named(job: Job) -> (&'static str, Schema) {
    match job {
        Job::Label => schema::<label::Response>("label"),
        Job::Audit => schema::<audit::Response>("audit"),
        Job::Compare => schema::<compare::Response>("compare"),
        Job::Disparity => schema::<disparity::Response>("disparity"),
        Job::Frontier => schema::<frontier::Response>("frontier"),
        Job::Fit => schema::<fit::Response>("fit"),
        Job::Apply => schema::<label::Response>("apply"),
        Job::Calibrate => schema::<calibrate::Response>("calibrate"),
        Job::Export => schema::<export::Response>("export"),
        Job::Verify => schema::<verify::Response>("verify"),
        Job::Provenance => schema::<provenance::show::Response>("provenance"),
        Job::Predict => schema::<predict::Response>("predict"),
        Job::Describe => schema::<describe::Response>("describe"),
        Job::Explain => schema::<explain::Response>("explain"),
        Job::TablesList | Job::TablesShow | Job::TablesExport | Job::TablesImport | Job::TablesCheck => {
            schema::<tables::Response>("tables")
        }
        Job::SimulateVoters | Job::SimulateNormal | Job::SimulateCategorical | Job::SimulateWorstCase => {
            schema::<simulate::Response>("simulate")
        }
        Job::Reproduce => schema::<reproduce::Response>("reproduce"),
        Job::Demo => schema::<demo::Response>("demo"),
    }
}

fn schema<T: JsonSchema>(name: &'static str) -> (&'static str, Schema) {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    RecursiveTransform(refuse_null).transform(&mut schema);
    schema.insert("title".into(), format!("Response of apportion {name}").into());
    (name, schema)
}

/// Marks a field whose key can be left out and can also be null.
const NULLABLE: &str = "x-nullable";

/// Refuses null for optional keys: a key without a value is left out.
fn refuse_null(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for (key, value) in properties {
        let Value::Object(own) = value else { continue };
        if own.remove(NULLABLE).is_some() || required.iter().any(|name| name == key) {
            continue;
        }
        if let Some(Value::Array(types)) = own.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [only] = &types[..] {
                let only = only.clone();
                own.insert("type".into(), only);
            }
        }
        if let Some(Value::Array(parts)) = own.get_mut("anyOf") {
            parts.retain(|part| part.get("type").is_none_or(|kind| kind != "null"));
            if let [Value::Object(only)] = &parts[..] {
                let only = only.clone();
                own.remove("anyOf");
                own.extend(only);
            }
        }
    }
}
