//! Cancellation of long computations.

use std::fmt;

use crate::error::{Error, Result};

/// A function that tells a computation to stop. Passes over the scores call it before each block of rows.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cancel<'a>(Option<&'a (dyn Fn() -> bool + Sync)>);

impl<'a> Cancel<'a> {
    pub(crate) fn new(is_cancelled: &'a (dyn Fn() -> bool + Sync)) -> Cancel<'a> {
        Cancel(Some(is_cancelled))
    }

    /// Returns [`Error::Cancelled`] if the computation must stop.
    pub(crate) fn check(self) -> Result<()> {
        if self.0.is_some_and(|is_cancelled| is_cancelled()) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

impl fmt::Debug for Cancel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Cancel" } else { "None" })
    }
}
