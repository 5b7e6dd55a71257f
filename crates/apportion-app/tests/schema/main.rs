//! The JSON of every job has a schema in docs/schema and a table in docs/json.md, both generated from the response
//! types.
//!
//! If a response was changed on purpose, `SCHEMA=write cargo test -p apportion-app --test schema` updates both; review
//! the changes before committing them.
#![allow(clippy::unwrap_used)] // also in helpers

mod page;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use apportion_app::schema;
use serde_json::{Map, Value};

/// The jobs that have their own schema.
const JOBS: [&str; 18] = [
    "apply",
    "audit",
    "calibrate",
    "compare",
    "demo",
    "describe",
    "disparity",
    "explain",
    "export",
    "fit",
    "frontier",
    "label",
    "predict",
    "provenance",
    "reproduce",
    "simulate",
    "tables",
    "verify",
];

fn docs(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../docs", name].iter().collect()
}

/// Returns all schemas, with keys in alphabetical order.
fn schemas() -> BTreeMap<&'static str, Value> {
    schema::all().into_iter().map(|(job, schema)| (job, sorted(schema.to_value()))).collect()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let keys: BTreeMap<String, Value> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(keys.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Compares a file with its expected content, or writes it.
fn check(path: &PathBuf, expected: &str) {
    if std::env::var("SCHEMA").is_ok_and(|value| value == "write") {
        fs::write(path, expected).unwrap();
        return;
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    let first = found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
    let line = first.unwrap_or(found.lines().count().min(expected.lines().count()));
    let shown = |text: &str| text.lines().nth(line).unwrap_or("(end of file)").to_owned();
    assert!(
        found == expected,
        "{}, line {}: it has {:?}, and the types of the responses say {:?}; write it with SCHEMA=write",
        path.display(),
        line + 1,
        shown(&found),
        shown(expected),
    );
}

#[test]
fn every_job_has_the_schema_in_docs() {
    let schemas = schemas();
    assert_eq!(schemas.keys().copied().collect::<Vec<_>>(), JOBS);
    for (job, schema) in &schemas {
        check(&docs(&format!("schema/{job}.json")), &(serde_json::to_string_pretty(schema).unwrap() + "\n"));
    }
    let files = fs::read_dir(docs("schema")).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.collect();
    files.sort();
    assert_eq!(files, JOBS.map(|job| format!("{job}.json")));
}

#[test]
fn the_page_has_a_table_of_each_jobs_keys() {
    let path = docs("json.md");
    let page = fs::read_to_string(&path).unwrap();
    check(&path, &page::with_tables(&page, &schemas()));
}

/// Schemas refuse unknown keys, so that no key can be left undocumented.
#[test]
fn schemas_name_all_keys() {
    for (job, schema) in schemas() {
        let mut objects = 0;
        check_closed(&schema, false, job, &mut objects);
        assert!(objects > 0 && schema["description"].is_string(), "{job}");
    }
}

/// Checks that every object is closed, by itself or as part of a closed one.
fn check_closed(schema: &Value, is_part: bool, place: &str, objects: &mut usize) {
    let Some(map) = schema.as_object() else { return };
    let closed = [&schema["additionalProperties"], &schema["unevaluatedProperties"]].contains(&&Value::Bool(false));
    if map.contains_key("properties") {
        assert!(closed || is_part, "{place}: other keys are allowed");
        *objects += 1;
    }
    for (key, value) in map {
        let place = format!("{place}/{key}");
        match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => {
                named.iter().for_each(|(name, own)| check_closed(own, false, &format!("{place}/{name}"), objects));
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(parts)) => {
                let is_part = is_part || map.contains_key("properties");
                parts.iter().for_each(|part| check_closed(part, is_part, &place, objects));
            }
            ("prefixItems", Value::Array(items)) => {
                items.iter().for_each(|item| check_closed(item, false, &place, objects));
            }
            ("items" | "additionalProperties", _) => check_closed(value, false, &place, objects),
            _ => {}
        }
    }
}
