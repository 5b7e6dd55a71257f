//! A panic anywhere ends the program like any other error: one message, a non-zero exit code, and no output.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow};

/// The message and location of the first panic.
static FIRST: Mutex<Option<String>> = Mutex::new(None);

/// Keeps panics from printing stack traces; [`caught`] reports them.
pub(crate) fn keep_silent() {
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        return;
    }
    set_hook(Box::new(|panic| {
        let said = panic.payload_as_str().and_then(|said| said.lines().next()).unwrap_or("unknown").to_owned();
        let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
        FIRST.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(format!("{said}{place}"));
    }));
}

/// Runs a command; a panic of any of its threads becomes an error.
pub(crate) fn caught<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let first = FIRST.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        Err(anyhow!(
            "internal error ({first}); no incomplete output was left. Please report it with the command and, if you can share it, \
             the input"
        ))
    })
}
