//! The tables of docs/json.md, generated from the schemas: the keys of each job, and the objects in them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The marks in the page: before the keys of a job, before the objects, and after each.
const KEYS: &str = "<!-- keys of ";
const OBJECTS: &str = "<!-- objects -->";
const END: &str = "<!-- end -->";

/// Returns the page with the tables of the schemas between its marks.
pub(crate) fn with_tables(page: &str, schemas: &BTreeMap<&str, Value>) -> String {
    let mut written = String::new();
    let mut marked = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        written += &format!("{line}\n");
        let table = match line.strip_prefix(KEYS).map(|rest| rest.trim_end_matches(" -->")) {
            Some(job) => {
                marked.push(job);
                root(&schemas[job])
            }
            None if line == OBJECTS => objects(schemas, page),
            None => continue,
        };
        written += &format!("\n{table}\n{END}\n");
        assert!(lines.any(|line| line == END), "{line}: its end is missing");
    }
    assert_eq!(page.matches(OBJECTS).count(), 1, "one list of objects");
    marked.sort_unstable();
    assert_eq!(marked, schemas.keys().copied().collect::<Vec<_>>(), "one table for each job");
    written
}

/// Returns the table of a job's keys, or a description of its JSON if it is not an object.
fn root(schema: &Value) -> String {
    if schema.get("properties").is_some() { keys(schema) } else { format!("{}.\n", begin(&noun(schema, false))) }
}

/// Returns a section for each object in the JSON of any job, unless the page already has one.
fn objects(schemas: &BTreeMap<&str, Value>, page: &str) -> String {
    let mut all = BTreeMap::new();
    for (name, object) in schemas.values().filter_map(|schema| schema["$defs"].as_object()).flatten() {
        let known = all.insert(name, object);
        assert!(known.is_none_or(|known| known == object), "two objects are called {name}");
    }
    let mut sections = Vec::new();
    for (name, object) in all.into_iter().filter(|(name, _)| !page.contains(&format!("\n## {name}\n"))) {
        let table = if object.get("properties").is_some() { keys(object) } else { alternatives(object) };
        sections.push(format!("### {name}\n{}\n\n{table}", description(object, name)));
    }
    sections.join("\n")
}

/// Returns the table of an object's keys.
fn keys(object: &Value) -> String {
    let mut rows = Vec::new();
    add_keys(object, "", false, &mut rows);
    format!("| key | value | meaning |\n|---|---|---|\n{}", rows.concat())
}

fn add_keys(object: &Value, prefix: &str, is_optional: bool, rows: &mut Vec<String>) {
    let required = list(object, "required").iter().filter_map(Value::as_str);
    let required: Vec<&str> = if is_optional { Vec::new() } else { required.collect() };
    let properties = properties(object);
    let others = properties.keys().map(String::as_str).filter(|key| !required.contains(key));
    for key in required.iter().copied().chain(others) {
        let (own, name) = (&properties[key], format!("{prefix}{key}"));
        let optional = if required.contains(&key) { "" } else { "; optional" };
        let value = if own.get("properties").is_some() { "object".into() } else { noun(own, false) };
        let meaning = description(own, &name).replace('|', "\\|");
        rows.push(format!("| `{name}` | {value}{optional} | {meaning} |\n"));
        add_keys(own, &format!("{name}."), false, rows);
    }
    if !properties.is_empty() {
        list(object, "anyOf").iter().for_each(|part| add_keys(part, prefix, true, rows));
    }
}

/// Returns the table of possible values.
fn alternatives(schema: &Value) -> String {
    let mut written = "| value | meaning |\n|---|---|\n".to_owned();
    let parts = [list(schema, "oneOf"), list(schema, "anyOf")].concat();
    assert!(!parts.is_empty(), "{schema}");
    for part in parts {
        let meaning = description(&part, "a value").replace('|', "\\|");
        written += &format!("| {} | {meaning} |\n", noun(&part, false));
    }
    written
}

/// Returns a description of a value, in the singular or plural.
fn noun(schema: &Value, is_plural: bool) -> String {
    let s = if is_plural { "s" } else { "" };
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    let parts = [list(schema, "anyOf"), list(schema, "oneOf")].concat();
    if !parts.is_empty() {
        return either(parts.iter().map(|part| noun(part, is_plural)));
    }
    if !list(schema, "enum").is_empty() {
        return either(list(schema, "enum").iter().map(|value| format!("`{value}`")));
    }
    if let Some(types) = schema["type"].as_array() {
        let one = |kind: &Value| {
            let mut own = schema.clone();
            own["type"] = kind.clone();
            noun(&own, is_plural)
        };
        return either(types.iter().map(one));
    }
    match schema["type"].as_str() {
        Some("integer") => format!("whole number{s}"),
        Some("number") => format!("number{s}"),
        Some("string") => format!("text{s}"),
        Some("boolean") => "true or false".into(),
        Some("null") => format!("null{s}"),
        Some("array") if schema.get("prefixItems").is_some() => {
            let items = list(schema, "prefixItems").iter().map(|item| noun(item, false));
            format!("list{s} ({})", items.collect::<Vec<_>>().join(", "))
        }
        Some("array") => format!("list{s} of {}", noun(&schema["items"], true)),
        Some("object") if schema["additionalProperties"].is_object() => {
            format!("map{s} of {}", noun(&schema["additionalProperties"], true))
        }
        Some("object") => {
            let key = |(key, own): (&String, &Value)| format!("`{key}`: {}", noun(own, false));
            let all = properties(schema).iter().map(key).collect::<Vec<_>>().join(", ");
            format!("object{s} with {all}")
        }
        _ => panic!("a value without a type: {schema}"),
    }
}

fn either(nouns: impl Iterator<Item = String>) -> String {
    let nouns: Vec<String> = nouns.collect();
    let last = nouns.len() - 1;
    // "A list of numbers or null" would be ambiguous.
    let or = if nouns[0].contains(" of ") { ", or " } else { " or " };
    if last == 0 { nouns[0].clone() } else { format!("{}{or}{}", nouns[..last].join(", "), nouns[last]) }
}

fn list<'a>(schema: &'a Value, key: &str) -> &'a [Value] {
    schema[key].as_array().map_or(&[], Vec::as_slice)
}

fn properties(schema: &Value) -> Map<String, Value> {
    schema["properties"].as_object().cloned().unwrap_or_default()
}

fn description(schema: &Value, name: &str) -> String {
    let text = schema["description"].as_str();
    let text = text.unwrap_or_else(|| panic!("{name} has no description: {schema}"));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn begin(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
