//! Key-value metadata of Parquet and Arrow files.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::ArrowError;
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::file::metadata::KeyValue;

use super::guard::guarded;
use super::ipc::IpcBatches;
use super::stable_file::{StableChunks, StableFile};
use crate::error::{Error, Result};
use crate::output::METADATA_KEY as KEY;

/// Returns the key under which the input's value is kept if the output has a value for the same key.
fn input_key(key: &str) -> String {
    format!("{key}.input")
}

/// Returns the schema with added metadata; an existing value of the same key is kept under the
/// input's key.
pub(crate) fn with_metadata(schema: &SchemaRef, added: &[(String, String)]) -> SchemaRef {
    let mut metadata = schema.metadata().clone();
    replace(&mut metadata, added);
    Arc::new(Schema::new_with_metadata(schema.fields().clone(), metadata))
}

/// Adds values and moves the input's provenance to another key.
pub(crate) fn replace(metadata: &mut HashMap<String, String>, added: &[(String, String)]) {
    // The input's provenance must never be mistaken for the output's.
    if let Some(before) = metadata.remove(KEY) {
        metadata.insert(input_key(KEY), before);
    }
    metadata.extend(added.iter().cloned());
}

/// Like [`replace`], for the metadata of a Parquet file.
pub(crate) fn replace_in_parquet(metadata: &mut Vec<KeyValue>, added: &[(String, String)]) {
    if let Some(before) = metadata.iter().position(|entry| entry.key == KEY).map(|index| metadata.remove(index)) {
        metadata.retain(|entry| entry.key != input_key(KEY));
        metadata.push(KeyValue { key: input_key(KEY), value: before.value });
    }
    metadata.extend(added.iter().map(|(key, value)| KeyValue { key: key.clone(), value: Some(value.clone()) }));
}

/// Returns apportion's own metadata of a schema as Parquet key-values, for readers that ignore the
/// Arrow schema.
pub(crate) fn apportion_key_values(schema: &Schema) -> Option<Vec<KeyValue>> {
    let mut entries = Vec::new();
    for (key, value) in schema.metadata() {
        if *key == KEY || *key == input_key(KEY) {
            entries.push(KeyValue { key: key.clone(), value: Some(value.clone()) });
        }
    }
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    (!entries.is_empty()).then_some(entries)
}

/// Returns the value of a key in a Parquet or Arrow file; `None` if the key is missing or the file
/// has another format.
pub fn read_metadata(path: &Path, key: &str) -> Result<Option<String>> {
    let mut file = File::open(path).map_err(|error| Error::io(path, &error))?;
    let mut start = Vec::new();
    file.by_ref().take(6).read_to_end(&mut start).map_err(|error| Error::io(path, &error))?;
    let stable = StableFile::new(path, &file).map_err(|error| Error::io(path, &error))?;
    let value = guarded(|| match &start[..] {
        [b'P', b'A', b'R', b'1', ..] => parquet_value(&StableChunks::new(&Arc::new(stable), file), key),
        b"ARROW1" | [0xff, 0xff, 0xff, 0xff, ..] => {
            let batches = IpcBatches::open(&Arc::new(stable), file, 1, Arc::default())?;
            Ok(batches.schema().metadata().get(key).cloned())
        }
        _ => Ok(None),
    });
    value.map_err(|error| Error::file(path, format!("its metadata cannot be read ({error}); copy the file again")))
}

fn parquet_value(chunks: &StableChunks, key: &str) -> std::result::Result<Option<String>, ArrowError> {
    let metadata = ArrowReaderMetadata::load(chunks, ArrowReaderOptions::new())?;
    let entries = metadata.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    Ok(entries.filter(|entry| entry.key == key).find_map(|entry| entry.value.clone()))
}
