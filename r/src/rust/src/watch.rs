//! Progress and cancellation, shared by the working thread and the waiting thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use apportion_io::Progress;

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
    /// Returns the name of the current work and the part that is done; `None` if its length is unknown.
    pub(crate) fn state(&self) -> (&'static str, Option<f64>) {
        let what = *self.what.lock().unwrap_or_else(PoisonError::into_inner);
        match self.bytes.load(Ordering::Relaxed) {
            0 => ("working", None),
            all => (what, Some(self.read.load(Ordering::Relaxed) as f64 / all as f64)),
        }
    }
}

/// Why work has no result.
pub(crate) enum Stopped {
    /// The waiting thread stopped it.
    Cancelled,
    /// It panicked.
    Panicked(String),
}

/// The last panic: its message and position.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Records panics instead of printing them: only the main thread may print in R.
///
/// The hook of savvy, which prints, is set before each call and is replaced here.
pub(crate) fn record_panics() {
    std::panic::set_hook(Box::new(|panic| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
}

fn panicked() -> Stopped {
    let problem = std::mem::take(&mut *PANIC.lock().unwrap_or_else(PoisonError::into_inner));
    Stopped::Panicked(format!("the job ended without a result; please report this bug ({problem})"))
}

/// Runs short work in this thread.
pub(crate) fn at_once<T>(work: impl FnOnce() -> T) -> Result<T, Stopped> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| panicked())
}

/// Runs work in another thread until it is done, or until `go_on` returns false: then it is cancelled. Waits for a
/// cancelled thread, because it reads memory of R.
pub(crate) fn attend<T: Send>(
    watch: &Watch,
    work: impl FnOnce() -> T + Send,
    mut go_on: impl FnMut() -> bool,
) -> Result<T, Stopped> {
    std::thread::scope(|scope| {
        let (done, result) = sync_channel(1);
        let worker = scope.spawn(move || {
            let _ = done.send(work());
        });
        loop {
            match result.recv_timeout(PAUSE) {
                Ok(value) => return Ok(value),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // The work panicked. Joining the thread here keeps the panic from propagating.
                    let _ = worker.join();
                    return Err(panicked());
                }
            }
            if !go_on() {
                watch.stopped.store(true, Ordering::Relaxed);
                let _ = worker.join();
                return Err(Stopped::Cancelled);
            }
        }
    })
}
