//! Scores that are not in memory: read in parts, repeatedly.

use std::fmt::Debug;
use std::ops::Range;

use crate::cancel::Cancel;
use crate::error::Result;
use crate::kernel::{Real, Rows, Source};

/// Rows of scores that are stored elsewhere, such as in a file. They are read in ranges, in any order and by several
/// threads; they must not change.
///
/// ```
/// use apportion::{Classes, Error, Matrix, Result, Rule, Scores, Settings, Store};
///
/// #[derive(Debug)]
/// struct Halves; // a million people with equal scores
///
/// impl Store<f32> for Halves {
///     fn rows(&self) -> usize {
///         1_000_000
///     }
///     fn read(&self, first: usize, into: &mut [f32]) -> Result<()> {
///         into.fill(0.5);
///         Ok(())
///     }
/// }
///
/// let classes = Classes::new(["a", "b"])?;
/// let scores = Scores::new(&classes, Matrix::StoredF32(&Halves))?;
/// assert_eq!(Rule::Argmax.label(&scores, &Settings::default())?.labels.counts(), [1_000_000, 0]);
/// # Ok::<(), Error>(())
/// ```
pub trait Store<T>: Debug + Sync {
    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Reads rows from `first` on, row-major, until `into` is full. Report failures as
    /// [`Error::Store`](crate::Error::Store).
    fn read(&self, first: usize, into: &mut [T]) -> Result<()>;

    /// Returns how many bytes of memory may be used to gather the rows of groups.
    fn most_bytes(&self) -> usize {
        1 << 28
    }
}

/// A store as a source of rows.
pub(crate) struct Stored<'a, T> {
    pub(crate) store: &'a dyn Store<T>,
    pub(crate) classes: usize,
    pub(crate) magnitude: f32,
    pub(crate) weights: Option<&'a [u64]>,
    pub(crate) cancel: Cancel<'a>,
}

impl<T: Real> Source<T> for Stored<'_, T> {
    fn rows(&self) -> usize {
        self.store.rows()
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn weights(&self) -> Option<&[u64]> {
        self.weights
    }

    fn magnitude(&self) -> f32 {
        self.magnitude
    }

    fn window<'w>(&'w self, rows: Range<usize>, buffer: &'w mut Vec<T>) -> Result<Rows<'w, T>> {
        self.cancel.check()?;
        buffer.resize(rows.len() * self.classes, T::default());
        self.store.read(rows.start, buffer)?;
        Ok(Rows::matrix(buffer, self.classes, self.magnitude, None).part_of(self, rows.start))
    }

    fn most_bytes(&self) -> usize {
        self.store.most_bytes()
    }
}
