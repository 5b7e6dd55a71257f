//! Temporary files for readers that need a path, in memory if the system has a folder for that.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The environment variable that names the folder for temporary files.
pub const VARIABLE: &str = "APPORTION_TRUST_SCRATCH";

thread_local! {
    static FOLDER: OnceCell<TempDir> = const { OnceCell::new() };
}

/// Returns the folder in which temporary folders are created.
pub fn root() -> PathBuf {
    let memory = Path::new("/dev/shm");
    match std::env::var_os(VARIABLE) {
        Some(folder) => folder.into(),
        None if memory.is_dir() => memory.to_owned(),
        None => std::env::temp_dir(),
    }
}

/// Calls a function with the path of a file with this name and content. Each thread has its own folder, which contains
/// only this file.
///
/// # Panics
/// If the file cannot be written, because then nothing can be tested.
pub fn with_file<T>(name: &str, bytes: &[u8], call: impl FnOnce(&str) -> T) -> T {
    with_files(&[(name, bytes)], |folder| call(&text(&folder.join(name))))
}

/// Calls a function with a folder that contains only these files.
///
/// # Panics
/// If a file cannot be written, because then nothing can be tested.
pub fn with_files<T>(files: &[(&str, &[u8])], call: impl FnOnce(&Path) -> T) -> T {
    FOLDER.with(|folder| {
        let folder = folder.get_or_init(|| {
            let made = tempfile::Builder::new().prefix("apportion-trust-").tempdir_in(root());
            made.unwrap_or_else(|error| panic!("no temporary folder: {error}"))
        });
        clear(folder.path());
        for (name, bytes) in files {
            let written = std::fs::write(folder.path().join(name), bytes);
            assert!(written.is_ok(), "{name}: {written:?}");
        }
        let result = call(folder.path());
        clear(folder.path());
        result
    })
}

/// Returns the path as text. Temporary folders have ASCII names.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Removes all files, including those that remained after a call panicked.
fn clear(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let removed = std::fs::remove_file(entry.path());
        assert!(removed.is_ok(), "{}: {removed:?}", entry.path().display());
    }
}
