//! The stored inputs of each target: valid and damaged files (`corpus`), and inputs that once failed (`crashes`).

use std::path::{Path, PathBuf};

/// An input.
#[derive(Clone, Debug)]
pub struct Input {
    /// The path relative to the folder of this crate.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
}

impl Input {
    /// Returns whether the input must be accepted.
    pub fn is_valid(&self) -> bool {
        Path::new(&self.name).file_name().is_some_and(|name| name.to_string_lossy().starts_with("valid-"))
    }

    /// Returns the format that trials count it under: its target and extension.
    pub fn format(&self) -> String {
        let target = self.name.split('/').nth(1).unwrap_or_default();
        let file = self.name.rsplit('/').next().unwrap_or_default();
        format!("{target} ({})", file.split_once('.').map_or("bytes", |(_, ending)| ending))
    }
}

/// Returns the folder of this crate.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the inputs of a target, sorted by name, with those of its corpus first.
pub fn of_target(target: &str) -> Vec<Input> {
    ["corpus", "crashes"].iter().flat_map(|kind| in_folder(&format!("{kind}/{target}"))).collect()
}

fn in_folder(below: &str) -> Vec<Input> {
    let entries = std::fs::read_dir(folder().join(below)).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| format!("{below}/{}", entry.file_name().to_string_lossy())).collect();
    names.sort();
    let read = |name: String| Some(Input { bytes: std::fs::read(folder().join(&name)).ok()?, name });
    names.into_iter().filter_map(read).collect()
}
