//! Progress reports of passes over the files, and cancellation.

use std::fmt::Debug;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Receives progress reports and can cancel the operation.
pub trait Progress: Debug + Send + Sync {
    /// A pass starts, over files of `bytes` bytes in total.
    fn begin(&self, what: &'static str, bytes: u64);
    /// In total `rows` rows and about `bytes` bytes have been read.
    fn update(&self, rows: u64, bytes: u64);
    /// The pass has ended.
    fn end(&self);
    /// Returns whether the operation was cancelled. No further batch is read then, and nothing is
    /// written.
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

/// Ignores progress reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _: &'static str, _: u64) {}
    fn update(&self, _: u64, _: u64) {}
    fn end(&self) {}
}

/// Counts the bytes read from another reader.
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
