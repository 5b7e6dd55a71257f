//! Cancellation of long computations.

use std::fmt::Debug;

/// Tells a computation to stop, for example because a user interrupted it. A pass over the scores asks before each
/// block of rows.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// use apportion::{Cancel, Classes, Error, Matrix, Result, Rule, Scores, Settings};
///
/// #[derive(Debug, Default)]
/// struct Flag(AtomicBool);
///
/// impl Cancel for Flag {
///     fn is_cancelled(&self) -> bool {
///         self.0.load(Ordering::Relaxed)
///     }
/// }
///
/// let (flag, classes) = (Flag::default(), Classes::new(["a", "b"])?);
/// let scores = Scores::new(&classes, Matrix::RowsF64(&[0.6, 0.4, 0.7, 0.3]))?.with_cancel(&flag);
/// flag.0.store(true, Ordering::Relaxed);
/// assert_eq!(Rule::Argmax.label(&scores, &Settings::default()).unwrap_err(), Error::Cancelled);
/// # Ok::<(), Error>(())
/// ```
pub trait Cancel: Debug + Sync {
    /// Returns whether the computation must stop. Then it returns [`Error::Cancelled`](crate::Error::Cancelled).
    fn is_cancelled(&self) -> bool;
}
