//! Atomic output: files are written under a hidden temporary name and renamed when they are
//! complete.
//!
//! An unfinished file is private, and locked while its writer runs. Files left by a killed program
//! are removed by the next program that writes to the same folder. An interrupt removes all
//! unfinished files: see [`remove_unfinished`]. On Windows, a lock would keep the program itself from
//! opening the file again: files are not locked there, and those of a killed program remain.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempDir, TempPath};

use crate::error::{Error, Result};

/// The prefix of the names of unfinished files and folders.
const PREFIX: &str = ".apportion-unfinished-";

/// Subfolder of an unfinished folder that keeps replaced files until all files are in place.
const REPLACED: &str = ".replaced";

/// The files that this process is writing and has written.
#[derive(Default)]
struct Registry {
    unfinished: Vec<PathBuf>,
    written: Vec<PathBuf>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { unfinished: Vec::new(), written: Vec::new() });

fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all unfinished files and folders, and prevents new ones. Call it when the program is
/// interrupted, just before it exits. Returns the outputs that were already complete.
pub fn remove_unfinished() -> Vec<PathBuf> {
    let mut registry = registry();
    for path in registry.unfinished.drain(..) {
        remove(&path);
    }
    let written = std::mem::take(&mut registry.written);
    // The lock is never released: a thread that wants to create or publish a file blocks until the
    // program exits.
    std::mem::forget(registry);
    written
}

/// Blocks until the program exits if it is being interrupted, because errors caused by removed
/// files should not be reported.
pub fn wait_if_interrupted() {
    drop(registry());
}

/// Removes a file, or a folder with its content.
fn remove(path: &Path) {
    // Another thread may still be writing into the folder.
    for _ in 0..10 {
        if std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path)).is_ok() || !path.exists() {
            return;
        }
    }
}

/// A file that gets its final name when it is complete.
#[derive(Debug)]
pub(crate) struct PendingFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl PendingFile {
    /// Creates an unfinished file in the folder of `path`.
    pub(crate) fn create(path: &Path) -> Result<PendingFile> {
        let folder = folder_of(path)?;
        remove_abandoned(folder);
        let file = new_in(folder).map_err(|error| Error::io(path, &error))?;
        Ok(PendingFile { path: path.to_owned(), file })
    }

    /// Returns another handle for writing.
    #[cfg(feature = "files")]
    pub(crate) fn reopen(&self) -> io::Result<File> {
        self.file.reopen()
    }

    /// Gives the file its final name, after its content is on disk.
    pub(crate) fn commit(self, force: bool) -> Result<()> {
        let PendingFile { path, file } = self;
        make_ready(file.as_file(), &path).map_err(|error| Error::io(&path, &error))?;
        // The handle holds the lock until the file is renamed.
        let (_lock, unfinished) = file.into_parts();
        publish(unfinished, &path, force)
    }
}

/// Syncs a file to disk and gives it the mode of its target, or that of a new file.
fn make_ready(file: &File, target: &Path) -> io::Result<()> {
    file.sync_all()?;
    set_mode(file, target, 0o666)
}

#[cfg(unix)]
fn set_mode(file: &File, target: &Path, new: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let existing = std::fs::symlink_metadata(target).ok().filter(|found| found.is_file() || found.is_dir());
    let mode = existing.map_or(new & !umask(), |found| found.permissions().mode() & 0o7777);
    file.set_permissions(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// Returns the process's umask.
#[cfg(unix)]
fn umask() -> u32 {
    use rustix::fs::Mode;
    use rustix::process::umask;
    // It can only be read by setting it; files created in the meantime are private.
    let mask = umask(Mode::from_raw_mode(0o077));
    umask(mask);
    mask.as_raw_mode()
}

/// Renames a complete file.
fn publish(file: TempPath, path: &Path, force: bool) -> Result<()> {
    let mut registry = registry();
    let unfinished = file.to_path_buf();
    let done = if force { file.persist(path) } else { file.persist_noclobber(path) };
    done.map_err(|error| Error::publishing(path, &error.error))?;
    registry.unfinished.retain(|other| *other != unfinished);
    registry.written.push(path.to_owned());
    drop(registry);
    if let Ok(folder) = folder_of(path) {
        sync_folder(folder);
    }
    Ok(())
}

/// Syncs the names in a folder to disk. Some file systems do not support this; the names are then
/// written later.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// A folder of files that are published together, when all are complete.
#[derive(Debug)]
pub(crate) struct PendingFolder {
    folder: PathBuf,
    /// The folder that contains the files until they are published.
    staging: TempDir,
    /// Its lock; `None` on systems where folders cannot be opened.
    _lock: Option<File>,
    /// The complete files, as paths relative to the folder.
    files: Vec<PathBuf>,
    /// Whether the staging folder can be renamed to the folder.
    is_new: bool,
    /// Parent folders created for it, innermost first; removed if nothing is published.
    made: Vec<PathBuf>,
}

impl PendingFolder {
    /// Starts filling a folder, which may exist.
    pub(crate) fn create(folder: &Path) -> Result<PendingFolder> {
        let failed = |error: io::Error| Error::io(folder, &error);
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made: Vec<PathBuf> = parent.ancestors().take_while(|path| !path.exists()).map(Path::to_owned).collect();
        std::fs::create_dir_all(parent).map_err(failed)?;
        let is_new = std::fs::symlink_metadata(folder).is_err();
        let at = if is_new { parent } else { folder };
        remove_abandoned(at);
        let (staging, lock) = new_folder_in(at).map_err(failed)?;
        let (folder, files) = (folder.to_owned(), Vec::new());
        Ok(PendingFolder { folder, staging, _lock: lock, files, is_new, made })
    }

    /// Adds a file at a path relative to the folder; `fill` writes its content.
    pub(crate) fn add<T>(&mut self, relative_path: &Path, fill: impl FnOnce(&File) -> Result<T>) -> Result<T> {
        let (staged, target) = (self.staging.path().join(relative_path), self.folder.join(relative_path));
        let failed = |error: io::Error| Error::io(&target, &error);
        let file = {
            let _registry = registry();
            staged.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
            create_private(&staged).map_err(failed)?
        };
        let filled = fill(&file)?;
        make_ready(&file, &target).map_err(failed)?;
        self.files.push(relative_path.to_owned());
        Ok(filled)
    }

    /// Publishes all files, or none if one fails.
    pub(crate) fn commit(mut self, force: bool) -> Result<Vec<PathBuf>> {
        let targets: Vec<PathBuf> = self.files.iter().map(|relative_path| self.folder.join(relative_path)).collect();
        let mut registry = registry();
        if !self.is_new || !self.rename_whole() {
            self.rename_each(force)?;
        }
        self.made.clear();
        let staging = self.staging.path().to_owned();
        registry.unfinished.retain(|other| *other != staging);
        registry.written.extend(targets.iter().cloned());
        drop(registry);
        let mut synced: Vec<&Path> = targets.iter().filter_map(|target| target.parent()).collect();
        synced.push(&self.folder);
        synced.extend(self.folder.parent().filter(|parent| !parent.as_os_str().is_empty()));
        synced.sort_unstable();
        synced.dedup();
        synced.into_iter().for_each(sync_folder);
        Ok(targets)
    }

    /// Renames the staging folder to the folder. Returns whether that was possible.
    fn rename_whole(&self) -> bool {
        let open = File::open(self.staging.path());
        let ready = open.and_then(|staging| set_mode(&staging, &self.folder, 0o777));
        ready.is_ok() && std::fs::rename(self.staging.path(), &self.folder).is_ok()
    }

    /// Moves the files one by one. After a failure, moved files are removed and replaced files
    /// restored.
    fn rename_each(&self, force: bool) -> Result<()> {
        for (index, relative_path) in self.files.iter().enumerate() {
            if let Err(error) = self.rename_one(relative_path, force) {
                self.files[..index].iter().for_each(|relative_path| self.take_back(relative_path));
                return Err(error);
            }
        }
        Ok(())
    }

    fn rename_one(&self, relative_path: &Path, force: bool) -> Result<()> {
        let target = self.folder.join(relative_path);
        let failed = |error: io::Error| Error::io(&target, &error);
        refuse_links_below(&self.folder, relative_path)?;
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        if force && target.exists() {
            let kept = self.staging.path().join(REPLACED).join(relative_path);
            kept.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
            // A second link to the old file, or a copy: at any moment the target is the old or the
            // new file, and never missing.
            std::fs::hard_link(&target, &kept)
                .or_else(|_| std::fs::copy(&target, &kept).map(|_| ()))
                .map_err(failed)?;
        }
        let staged = TempPath::try_from_path(self.staging.path().join(relative_path)).map_err(failed)?;
        let done = if force { staged.persist(&target) } else { staged.persist_noclobber(&target) };
        done.map_err(|error| Error::publishing(&target, &error.error))
    }

    fn take_back(&self, relative_path: &Path) {
        let (target, kept) = (self.folder.join(relative_path), self.staging.path().join(REPLACED).join(relative_path));
        if std::fs::rename(kept, &target).is_err() {
            let _ = std::fs::remove_file(&target);
        }
    }
}

impl Drop for PendingFolder {
    fn drop(&mut self) {
        let staging = self.staging.path().to_owned();
        registry().unfinished.retain(|other| *other != staging);
        let _ = std::fs::remove_dir_all(&staging);
        for folder in &self.made {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Refuses a relative path that leads out of the folder through a link.
pub(crate) fn refuse_links_below(folder: &Path, relative_path: &Path) -> Result<()> {
    let mut path = folder.to_owned();
    for part in relative_path.parent().into_iter().flat_map(Path::components) {
        path.push(part);
        if path.is_symlink() {
            return Err(Error::file(
                &path,
                "it is a link, and outputs must stay inside their folder; remove it, or choose another folder",
            ));
        }
    }
    Ok(())
}

/// Writes small files into a folder, all or none. An existing folder keeps its other files.
pub fn write_folder_atomically(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    folder_of(folder)?;
    let mut pending = PendingFolder::create(folder)?;
    for (name, bytes) in files {
        let target = folder.join(name);
        pending.add(Path::new(name), |mut file| file.write_all(bytes).map_err(|error| Error::io(&target, &error)))?;
    }
    pending.commit(true).map(|_| ())
}

/// Writes a small file atomically, replacing an existing one.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let pending = PendingFile::create(path)?;
    pending.file.as_file().write_all(bytes).map_err(|error| Error::io(path, &error))?;
    pending.commit(true)
}

/// Returns the folder of a path, which must exist.
pub(crate) fn folder_of(path: &Path) -> Result<&Path> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() { Ok(folder) } else { Err(Error::missing_folder(folder)) }
}

/// Creates a private file in the temporary folder, for the content of a pipe.
#[cfg(feature = "files")]
pub(crate) fn new_private() -> Result<NamedTempFile> {
    let folder = std::env::temp_dir();
    remove_abandoned(&folder);
    new_in(&folder).map_err(|error| {
        let problem = format!("the folder for temporary files cannot be used ({error}); choose another with TMPDIR");
        Error::file(&folder, problem)
    })
}

/// Creates a private, locked file that an interrupt removes.
fn new_in(folder: &Path) -> io::Result<NamedTempFile> {
    loop {
        let mut registry = registry();
        let file = tempfile::Builder::new().prefix(PREFIX).rand_bytes(12).tempfile_in(folder)?;
        if is_locked(file.as_file(), file.path()) {
            registry.unfinished.push(file.path().to_owned());
            return Ok(file);
        }
    }
}

/// Like [`new_in`], for a folder. The lock lasts as long as the handle.
fn new_folder_in(folder: &Path) -> io::Result<(TempDir, Option<File>)> {
    loop {
        let mut registry = registry();
        let staging = tempfile::Builder::new().prefix(PREFIX).rand_bytes(12).tempdir_in(folder)?;
        let lock = if cfg!(windows) { None } else { Some(File::open(staging.path())?) };
        if lock.as_ref().is_none_or(|lock| is_locked(lock, staging.path())) {
            registry.unfinished.push(staging.path().to_owned());
            return Ok((staging, lock));
        }
    }
}

/// Locks a new file. Returns false if another process already considered it abandoned. If the file
/// system does not support locks, no file is ever considered abandoned.
fn is_locked(file: &File, path: &Path) -> bool {
    if cfg!(windows) {
        return true;
    }
    match file.try_lock() {
        Ok(()) => path.exists(),
        Err(std::fs::TryLockError::WouldBlock) => false,
        Err(std::fs::TryLockError::Error(_)) => true,
    }
}

fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Removes files and folders that killed programs left in a folder: those that are no longer locked.
fn remove_abandoned(folder: &Path) {
    if cfg!(windows) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let kind = entry.file_type().ok().filter(|kind| kind.is_file() || kind.is_dir());
        if kind.is_none() || !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        if let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            restore(&path.join(REPLACED), folder);
            remove(&path);
        }
    }
}

/// Restores files that a killed program had started to replace.
fn restore(kept: &Path, folder: &Path) {
    let Ok(entries) = std::fs::read_dir(kept) else { return };
    for entry in entries.flatten() {
        let target = folder.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            restore(&entry.path(), &target);
        } else {
            let _ = std::fs::rename(entry.path(), target);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn write(pending: &mut PendingFolder, relative_path: &str, content: &str) {
        let fill =
            |mut file: &File| file.write_all(content.as_bytes()).map_err(|error| Error::io(Path::new(""), &error));
        pending.add(Path::new(relative_path), fill).unwrap();
    }

    #[test]
    fn a_folder_is_written_whole_or_not_at_all() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("inner");
        let file = |name: &str| (name.to_owned(), b"new".to_vec());
        // The second file cannot be written, so the first is not written either.
        assert!(write_folder_atomically(&inner, &[file("a"), file("a/b")]).is_err());
        assert!(names_in(outer.path()).is_empty());

        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("a"), "old").unwrap();
        fs::write(inner.join("other"), "kept").unwrap();
        write_folder_atomically(&inner, &[file("a"), file("b")]).unwrap();
        assert_eq!(
            (names_in(outer.path()), names_in(&inner)),
            (vec!["inner".into()], vec!["a".into(), "b".into(), "other".into()])
        );
        assert_eq!(fs::read_to_string(inner.join("a")).unwrap(), "new");
    }

    #[test]
    fn files_that_were_moved_are_taken_back() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("out");
        fs::create_dir_all(folder.join("c")).unwrap(); // a folder at the path of the third file
        fs::write(folder.join("a"), "old").unwrap();
        fs::write(folder.join("c/full"), "").unwrap();
        for force in [true, false] {
            let mut pending = PendingFolder::create(&folder).unwrap();
            ["b", "a", "c"].iter().for_each(|name| write(&mut pending, name, "new"));
            assert!(pending.commit(force).is_err());
            assert_eq!(names_in(&folder), ["a", "c"]);
            assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "old");
        }
    }

    #[test]
    fn a_new_folder_appears_at_once_and_its_parents_only_with_it() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("x/y/out");
        drop(PendingFolder::create(&folder).unwrap());
        assert!(names_in(outer.path()).is_empty());
        let mut pending = PendingFolder::create(&folder).unwrap();
        write(&mut pending, "deep/a", "new");
        assert!(!folder.exists());
        pending.commit(false).unwrap();
        assert_eq!((names_in(&folder), names_in(&outer.path().join("x/y"))), (vec!["deep".into()], vec!["out".into()]));
    }

    #[cfg(unix)]
    #[test]
    fn modes_are_kept_and_unfinished_files_private() {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("out.csv");
        let pending = PendingFile::create(&path).unwrap();
        assert_eq!(mode(pending.file.path()), 0o600);
        pending.commit(false).unwrap();
        assert_eq!(mode(&path), 0o666 & !umask());
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write_atomically(&path, b"new").unwrap();
        assert_eq!(mode(&path), 0o640);
        assert!(PendingFile::create(&path).unwrap().commit(false).unwrap_err().to_string().contains("already exists"));
    }

    #[test]
    fn only_abandoned_files_are_removed() {
        let outer = tempfile::tempdir().unwrap();
        fs::write(outer.path().join(".apportion-unfinished-old"), "abandoned").unwrap();
        fs::create_dir_all(outer.path().join(".apportion-unfinished-older/.replaced/sub")).unwrap();
        fs::write(outer.path().join(".apportion-unfinished-older/.replaced/sub/c"), "old").unwrap();
        fs::create_dir(outer.path().join("sub")).unwrap();
        fs::write(outer.path().join("sub/c"), "new, of a run that was killed").unwrap();
        let live = PendingFile::create(&outer.path().join("a")).unwrap();
        let other = PendingFile::create(&outer.path().join("b")).unwrap();
        assert_eq!(names_in(outer.path()).len(), 3);
        assert_eq!(fs::read_to_string(outer.path().join("sub/c")).unwrap(), "old");
        live.commit(false).unwrap();
        other.commit(false).unwrap();
        assert_eq!(names_in(outer.path()), ["a", "b", "sub"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out_of_a_folder() {
        let outer = tempfile::tempdir().unwrap();
        let (folder, elsewhere) = (outer.path().join("out"), outer.path().join("elsewhere"));
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.join("sub")).unwrap();
        let mut pending = PendingFolder::create(&folder).unwrap();
        write(&mut pending, "sub/a", "new");
        assert!(pending.commit(true).unwrap_err().to_string().contains("it is a link"));
        assert!(names_in(&elsewhere).is_empty());
    }
}
