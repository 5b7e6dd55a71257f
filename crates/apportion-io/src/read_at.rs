//! Reads from a position in a file, independently of other threads.

use std::fs::File;
use std::io;

/// Fills the buffer from a given position, independently of other threads.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

/// Reads some bytes from a given position; returns 0 at the end.
#[cfg(all(unix, feature = "files"))]
pub(crate) fn read_some_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

/// Fills the buffer from a given position, independently of other threads.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let read = read_some_at(file, bytes, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        at += read as u64;
    }
    Ok(())
}

/// Reads some bytes from a given position; returns 0 at the end.
#[cfg(windows)]
pub(crate) fn read_some_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}
