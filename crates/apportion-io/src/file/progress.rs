//! How far a pass over the files has come, for whoever wants to know.

use std::fmt::Debug;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Is told how far a pass has come.
pub trait Progress: Debug + Send + Sync {
    /// A pass begins, over files of so many bytes in all.
    fn begin(&self, what: &'static str, bytes: u64);
    /// So many rows have been read, and so many bytes, about, of all files.
    fn update(&self, rows: u64, bytes: u64);
    /// The pass has come to its end.
    fn end(&self);
    /// Whether the work is to go on; once it is not, the next batch is not read, and nothing is written.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl<P: Progress + ?Sized> Progress for Arc<P> {
    fn begin(&self, what: &'static str, bytes: u64) {
        (**self).begin(what, bytes);
    }
    fn update(&self, rows: u64, bytes: u64) {
        (**self).update(rows, bytes);
    }
    fn end(&self) {
        (**self).end();
    }
    fn is_cancelled(&self) -> bool {
        (**self).is_cancelled()
    }
}

/// Nobody wants to know.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _: &'static str, _: u64) {}
    fn update(&self, _: u64, _: u64) {}
    fn end(&self) {}
}

/// A reader that counts what is read.
pub(crate) struct CountingReader<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R> CountingReader<R> {
    pub(crate) fn new(inner: R) -> (CountingReader<R>, Arc<AtomicU64>) {
        let read = Arc::new(AtomicU64::new(0));
        (CountingReader { inner, read: read.clone() }, read)
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: Seek> Seek for CountingReader<R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.inner.seek(position)
    }
}
