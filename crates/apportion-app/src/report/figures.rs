//! A folder of figures, written atomically. Only figures that apportion wrote are replaced or removed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use apportion_io::{Error, write_folder_atomically};
use apportion_report::is_own_figure;

use crate::Result;
use crate::protect::refuse_filled_folder;
use crate::provenance::refuse_missing_folder;

/// Refuses a folder into which figures cannot be written, before any rows are read. The folder may contain the report.
pub(super) fn check<'p>(
    folder: &Path,
    inputs: impl Iterator<Item = &'p Path>,
    report: Option<&Path>,
    force: bool,
) -> Result<()> {
    refuse_missing_folder(folder)?;
    refuse_beside_inputs(folder, inputs)?;
    refuse_filled_folder(folder, force)?;
    let (_, others) = files_in(folder)?;
    let is_report = |other: &&PathBuf| match (other.canonicalize(), report.map(Path::canonicalize)) {
        (Ok(other), Some(Ok(report))) => other == report,
        _ => false,
    };
    match others.iter().find(|other| !is_report(other)) {
        Some(other) => Err(Error::file(
            other,
            "it is no figure of ours, and lies in the folder for the figures; choose another folder",
        )
        .into()),
        None => Ok(()),
    }
}

/// Writes figures into a folder, all or none, and then removes figures of an earlier run that are not among them.
pub(super) fn write(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    let (ours, _) = files_in(folder)?;
    write_folder_atomically(folder, files)?;
    let names: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let is_stale =
        |path: &&PathBuf| !path.file_name().and_then(|name| name.to_str()).is_some_and(|name| names.contains(name));
    for path in ours.iter().filter(is_stale) {
        std::fs::remove_file(path).map_err(|error| Error::io(path, &error))?;
    }
    Ok(())
}

/// Returns the files in a folder, if it exists: first the figures that apportion wrote (marked specifications, and the
/// numbers with the same name), then all other files.
fn files_in(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    if !folder.is_dir() {
        return Ok((Vec::new(), Vec::new()));
    }
    let failed = |error: std::io::Error| Error::io(folder, &error);
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        all.push(entry.map_err(failed)?.path());
    }
    all.sort();
    let has_ending = |path: &Path, ending: &str| path.extension().is_some_and(|own| own == ending);
    let is_specification = |path: &Path| {
        path.is_file() && has_ending(path, "json") && std::fs::read(path).is_ok_and(|bytes| is_own_figure(&bytes))
    };
    let specifications: BTreeSet<PathBuf> = all.iter().filter(|path| is_specification(path)).cloned().collect();
    let is_numbers = |path: &Path| {
        path.is_file() && has_ending(path, "csv") && specifications.contains(&path.with_extension("json"))
    };
    Ok(all.into_iter().partition(|path| specifications.contains(path) || is_numbers(path)))
}

/// Refuses a folder that contains an input, because figures must not replace inputs.
fn refuse_beside_inputs<'p>(folder: &Path, mut inputs: impl Iterator<Item = &'p Path>) -> Result<()> {
    let Ok(folder) = folder.canonicalize() else { return Ok(()) };
    let lies_there = |input: &&Path| input.canonicalize().is_ok_and(|input| input.parent() == Some(&folder));
    match inputs.find(lies_there) {
        Some(input) => {
            Err(Error::file(input, "it is an input in the folder for the figures; choose another folder").into())
        }
        None => Ok(()),
    }
}
