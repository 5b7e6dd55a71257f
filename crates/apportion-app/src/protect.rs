//! Prevents outputs from overwriting input files, even if overwriting is allowed.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use apportion::text::{Message, Setting};
use apportion_io::{Error, Input, is_same_file};

use crate::Result;

/// A file that a job reads in addition to its tables, and the setting that names it.
#[derive(Clone, Debug)]
pub struct SideInput {
    /// The setting.
    pub setting: Setting,
    /// The file.
    pub path: PathBuf,
}

impl SideInput {
    /// Returns a file that a setting names.
    pub fn new(setting: Setting, path: impl Into<PathBuf>) -> SideInput {
        SideInput { setting, path: path.into() }
    }
}

/// Refuses an output that is one of the input files, under the same path or another.
///
/// # Errors
/// If the output is an input file.
pub fn refuse_overwriting(output: &Path, input: Option<&Input>, side: &[SideInput]) -> Result<()> {
    if let Some(own) = side.iter().find(|own| is_same_file(output, &own.path)) {
        let problem = Message::from(format!("{}: this is the file of ", output.display()));
        let fix = ", and inputs are never overwritten; choose another output";
        return Err(crate::Error::Data(problem + own.setting + fix));
    }
    if input.is_some_and(|input| input.contains(output)) {
        let problem = "this is an input, and inputs are never overwritten; choose another output";
        return Err(Error::file(output, problem).into());
    }
    Ok(())
}

/// Refuses the output of a job if it is an input, or inside an input folder. The output is a file, standard output, or
/// a folder with one file per input.
///
/// # Errors
/// If it is an input, or inside an input folder.
pub fn refuse_overwriting_outputs(output: &str, input: &Input, side: &[SideInput]) -> Result<()> {
    let path = Path::new(output);
    if output == "-" {
        return Ok(());
    }
    if let Some(folder) = input.folder_containing(path) {
        let problem = format!(
            "it is inside the input folder {}, so the next run would read it as an input; choose another output",
            folder.display()
        );
        return Err(Error::file(path, problem).into());
    }
    if !output.ends_with('/') && !path.is_dir() {
        return refuse_overwriting(path, Some(input), side);
    }
    let Ok(folder) = path.canonicalize() else { return Ok(()) };
    let has_name = |own: &SideInput| input.output_names().any(|name| Some(name) == own.path.file_name());
    let is_inside = |own: &SideInput| own.path.canonicalize().is_ok_and(|own| own.starts_with(&folder));
    match side.iter().find(|own| is_inside(own) && has_name(own)) {
        Some(own) => refuse_overwriting(&own.path, Some(input), side),
        None => Ok(()),
    }
}

/// Refuses a folder that contains files, unless they may be replaced.
///
/// # Errors
/// If the path is not a folder, or the folder contains files.
pub fn refuse_filled_folder(folder: &Path, force: bool) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::file(folder, "it is not a folder; choose a new folder").into());
    }
    let is_empty = std::fs::read_dir(folder).map_or(true, |mut files| files.next().is_none());
    if is_empty || force {
        return Ok(());
    }
    let problem = Message::from("the folder is not empty; choose another folder, or replace its files with ");
    Err(Error::of_kind(ErrorKind::AlreadyExists, folder, problem + Setting::Force).into())
}

/// Refuses the safe CSV setting if the output is not text.
///
/// # Errors
/// If the extension is that of a Parquet or Arrow file.
pub fn refuse_unsafe_formats(safe_csv: bool, output: &str) -> Result<()> {
    let output = output.to_lowercase();
    let extensions = [".parquet", ".pq", ".arrow", ".ipc", ".feather", ".arrows"];
    match extensions.iter().find(|extension| output.ends_with(**extension)) {
        Some(extension) if safe_csv => {
            let problem = format!(": it applies only to CSV and TSV outputs, not to {extension}; leave it out");
            Err(crate::Error::settings(Message::from(Setting::SafeCsv) + problem))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_any_of_its_names() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("own.csv"), "a\n").unwrap();
        std::fs::write(path("other.csv"), "a\n").unwrap();
        std::fs::hard_link(path("own.csv"), path("hard.csv")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("own.csv", path("soft.csv")).unwrap();
        #[cfg(not(unix))]
        std::fs::copy(path("own.csv"), path("soft.csv")).unwrap();
        let side = [SideInput::new(Setting::Reference, path("own.csv"))];
        for name in ["own.csv", "hard.csv", "soft.csv"] {
            let refused = refuse_overwriting(&path(name), None, &side);
            assert_eq!(refused.is_err(), cfg!(unix) || name == "own.csv", "{name}");
        }
        assert!(refuse_overwriting(&path("other.csv"), None, &side).is_ok());
        assert!(refuse_overwriting(&path("none.csv"), None, &side).is_ok());
    }
}
