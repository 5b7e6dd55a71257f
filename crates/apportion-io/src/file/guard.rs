//! Turns panics into errors: decoders may panic on damaged files.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use arrow_schema::ArrowError;

thread_local! {
    /// Whether panics of this thread are caught and need no report.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder and turns a panic into an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    quiet_while_guarded();
    let outer = GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    done.unwrap_or_else(|panic| Err(ArrowError::ExternalError(message(panic.as_ref()).into())))
}

/// Installs a panic hook that does not print caught panics.
fn quiet_while_guarded() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                others(panic);
            }
        }));
    });
}

/// Returns the first line of a panic message.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.and_then(|text| text.lines().next()).unwrap_or("its content is invalid").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_one_line() {
        let failed = guarded::<()>(|| panic!("range end index 7\nsecond line"));
        assert_eq!(failed.map_err(|error| error.to_string()), Err("External error: range end index 7".to_owned()));
        assert!(guarded(|| Ok(())).is_ok());
    }
}
