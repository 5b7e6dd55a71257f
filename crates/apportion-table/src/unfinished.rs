//! Files that are not finished yet, so that an interruption leaves none behind.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes every file that is not finished. To be called when the program is interrupted, just before it ends.
pub fn remove_unfinished() {
    let mut paths = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    paths.drain(..).for_each(|path| drop(std::fs::remove_file(path)));
}

/// A file under another name, beside where it is to be. Others may read it as they may read any new file.
pub(crate) fn new_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".apportion-unfinished-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666)); // less what the umask forbids
    }
    remembered(builder.tempfile_in(folder)?)
}

/// A file of the system's own kind, for what only this program may read.
pub(crate) fn new_private() -> io::Result<NamedTempFile> {
    remembered(NamedTempFile::new()?)
}

fn remembered(file: NamedTempFile) -> io::Result<NamedTempFile> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(file.path().to_owned());
    Ok(file)
}
