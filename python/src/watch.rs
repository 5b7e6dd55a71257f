//! Progress and cancellation, shared by the working thread and the waiting thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use apportion_io::Progress;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The time between two checks of the waiting thread.
const PAUSE: Duration = Duration::from_millis(50);

/// The progress of a job.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    what: Mutex<&'static str>,
    bytes: AtomicU64,
    read: AtomicU64,
    stopped: AtomicBool,
}

impl Progress for Watch {
    fn begin(&self, what: &'static str, bytes: u64) {
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = what;
        self.read.store(0, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    fn update(&self, _rows: u64, bytes: u64) {
        self.read.store(bytes, Ordering::Relaxed);
    }

    fn end(&self) {
        self.bytes.store(0, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl Watch {
    /// Returns the name of the current work and the fraction that is done; `None` if its length is unknown.
    fn state(&self) -> (&'static str, Option<f64>) {
        let what = *self.what.lock().unwrap_or_else(PoisonError::into_inner);
        match self.bytes.load(Ordering::Relaxed) {
            0 => ("working", None),
            all => (what, Some(self.read.load(Ordering::Relaxed) as f64 / all as f64)),
        }
    }
}

/// Runs short work in this thread, with the GIL released.
pub(crate) fn at_once<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    // A panic is an error like that of a thread.
    py.detach(move || catch_unwind(AssertUnwindSafe(work))).map_err(|_| PyRuntimeError::new_err(PANICKED))
}

/// The message if a job panicked.
const PANICKED: &str = "the job ended without a result; please report this bug";

/// Runs work in another thread, with the GIL released, until it is done or a signal cancels it. Waits for a cancelled
/// thread, so that it leaves no incomplete file behind.
pub(crate) fn attend<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (done, result) = sync_channel(1);
        let worker = scope.spawn(move || {
            let _ = done.send(work());
        });
        // A receiver is not shared between threads: it is moved into the closure that releases the GIL, and back.
        let mut result = Some(result);
        loop {
            let receiver = result.take();
            let (receiver, waited) = py.detach(move || {
                let waited = receiver.as_ref().map(|receiver| receiver.recv_timeout(PAUSE));
                (receiver, waited)
            });
            result = receiver;
            match waited {
                Some(Ok(value)) => return Ok(value),
                Some(Err(RecvTimeoutError::Timeout)) => {}
                _ => {
                    // The work panicked. Joining the thread here keeps the panic from propagating.
                    let _ = worker.join();
                    return Err(PyRuntimeError::new_err(PANICKED));
                }
            }
            let reported = py.check_signals().and_then(|()| match progress {
                Some(progress) => progress.call1(py, watch.state()).map(drop),
                None => Ok(()),
            });
            if let Err(error) = reported {
                watch.stopped.store(true, Ordering::Relaxed);
                py.detach(move || result.map(|result| result.recv()));
                return Err(error);
            }
        }
    })
}
