//! Progress reports of passes over the files, and cancellation.

use std::fmt::Debug;
use std::sync::Arc;

use apportion::text::Message;

/// Receives progress reports and can cancel the operation.
pub trait Progress: Debug + Send + Sync {
    /// A pass starts, over files of `bytes` bytes in total.
    fn begin(&self, what: &'static str, bytes: u64);
    /// In total `rows` rows and about `bytes` bytes have been read.
    fn update(&self, rows: u64, bytes: u64);
    /// The pass has ended.
    fn end(&self);
    /// A pass detected how a file is written, such as its encoding.
    fn note(&self, _: Message) {}
    /// Returns whether the operation was cancelled. If so, no further batch is read, and nothing is
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
    fn note(&self, message: Message) {
        (**self).note(message);
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
