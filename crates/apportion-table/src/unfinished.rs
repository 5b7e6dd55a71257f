//! Files and folders that are not finished yet, so that an interruption leaves none behind.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes every file and folder that is not finished. To be called when the program is interrupted, just before it ends.
pub fn remove_unfinished() {
    let mut paths = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for path in paths.drain(..) {
        // What was a file is none any more, or is removed here; what is a folder goes with all that is in it.
        drop(std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path)));
    }
}

/// Writes small files into a folder, all of them or none: they are written elsewhere, and moved when all are there. A folder
/// that exists already keeps its other files.
pub fn write_whole_folder(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    let failed = |error: io::Error| Error::io(folder, &error);
    let unfinished =
        tempfile::Builder::new().prefix(".apportion-unfinished-").tempdir_in(folder_of(folder)?).map_err(failed)?;
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(unfinished.path().to_owned());
    for (name, bytes) in files {
        std::fs::write(unfinished.path().join(name), bytes).map_err(failed)?;
    }
    std::fs::create_dir_all(folder).map_err(failed)?;
    for (name, _) in files {
        std::fs::rename(unfinished.path().join(name), folder.join(name)).map_err(failed)?;
    }
    Ok(())
}

/// Writes a small file whole or not at all, in place of one that may be there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error: io::Error| Error::io(path, &error);
    let mut file = new_in(folder_of(path)?).map_err(failed)?;
    file.as_file_mut().write_all(bytes).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

/// The folder that a file is to be in.
pub(crate) fn folder_of(path: &Path) -> Result<&Path> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() { Ok(folder) } else { Err(Error::file(folder, "there is no such folder; make it first")) }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> io::Result<Vec<String>> {
        let mut names: Vec<String> = std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<_>>()?;
        names.sort();
        Ok(names)
    }

    #[test]
    fn a_folder_is_written_whole_or_not_at_all() -> io::Result<()> {
        let outer = tempfile::tempdir()?;
        let inner = outer.path().join("inner");
        let file = |name: &str| (name.to_owned(), b"new".to_vec());
        // The second cannot be written, so the first is not either.
        assert!(write_whole_folder(&inner, &[file("a"), file("no/such/place")]).is_err());
        assert!(names_in(outer.path())?.is_empty());

        std::fs::create_dir(&inner)?;
        std::fs::write(inner.join("a"), "old")?;
        std::fs::write(inner.join("other"), "kept")?;
        assert!(write_whole_folder(&inner, &[file("a"), file("b")]).is_ok());
        assert_eq!(
            (names_in(outer.path())?, names_in(&inner)?),
            (vec!["inner".into()], vec!["a".into(), "b".into(), "other".into()])
        );
        assert_eq!(std::fs::read_to_string(inner.join("a"))?, "new");
        Ok(())
    }
}
