//! The identity of a file, which all of its paths share.

use std::fs::Metadata;
use std::path::Path;

/// The device and inode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Returns the identity of a file; `None` on systems without inodes.
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        Some(FileId { device: metadata.dev(), inode: metadata.ino() })
    }

    /// Returns the identity of a file; `None` on systems without inodes.
    #[cfg(not(unix))]
    pub(crate) fn of(_: &Metadata) -> Option<FileId> {
        None
    }
}

/// Returns whether two paths refer to the same file, through any links.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| FileId::of(&std::fs::metadata(path).ok()?);
    if let (Some(one), Some(other)) = (id(one), id(other)) {
        return one == other;
    }
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
