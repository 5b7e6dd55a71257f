//! Vectors of R, used where they lie, and the check for interrupts: all `unsafe` code of this crate.
//!
//! A [`Borrowed`] slice has no lifetime, because tables own their columns. This is sound because of how [`run`](crate::run)
//! uses them: the vectors are arguments of a call from R, which R protects from its garbage collector until the call
//! returns; the call returns only after the job has ended and its table has been dropped; and no R code that could change a
//! vector runs in between, except the display of progress, which receives no vectors.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;

use savvy_ffi::{
    INTEGER_RO, INTSXP, LGLSXP, LOGICAL_RO, R_CHAR, R_NaString, REAL_RO, REALSXP, Rf_xlength, SEXP, STRING_ELT, STRSXP,
    TYPEOF,
};

unsafe extern "C" {
    fn R_CheckUserInterrupt();
    fn R_ToplevelExec(fun: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) -> c_int;
}

/// Values of an R vector, which the caller keeps alive and unchanged.
pub(crate) struct Borrowed<T> {
    first: *const T,
    len: usize,
    values: PhantomData<T>,
}

// SAFETY: the values are plain numbers that are only read.
unsafe impl<T: Sync> Send for Borrowed<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Borrowed<T> {}

impl<T> AsRef<[T]> for Borrowed<T> {
    fn as_ref(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: the vector has at least `len` values from `first` on; see the module for its lifetime.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

impl<T> Borrowed<T> {
    /// Returns a part of the values, such as a column of a matrix; `None` if there are too few.
    pub(crate) fn part(&self, start: usize, len: usize) -> Option<Borrowed<T>> {
        if start.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: `start` is at most the length of the vector.
        Some(Borrowed { first: unsafe { self.first.add(start) }, len, values: PhantomData })
    }
}

/// Returns the length of a vector of a type; `None` if it is of another type.
fn length(vector: SEXP, kind: u32) -> Option<usize> {
    // SAFETY: both functions only read the header of a valid object.
    unsafe { (TYPEOF(vector) == kind).then(|| Rf_xlength(vector) as usize) }
}

/// Returns the values of a numeric vector.
pub(crate) fn doubles(vector: &savvy::Sexp) -> Option<Borrowed<f64>> {
    let len = length(vector.0, REALSXP)?;
    // SAFETY: the object is a vector of doubles.
    Some(Borrowed { first: unsafe { REAL_RO(vector.0) }, len, values: PhantomData })
}

/// Returns the values of a numeric vector of the class integer64, whose doubles are the bits of 64-bit integers.
pub(crate) fn longs(vector: &savvy::Sexp) -> Option<Borrowed<i64>> {
    let len = length(vector.0, REALSXP)?;
    // SAFETY: the object is a vector of doubles, which have the size and the alignment of 64-bit integers.
    Some(Borrowed { first: unsafe { REAL_RO(vector.0) }.cast(), len, values: PhantomData })
}

/// Returns the values of an integer vector, or the codes of a factor.
pub(crate) fn integers(vector: &savvy::Sexp) -> Option<Borrowed<i32>> {
    let len = length(vector.0, INTSXP)?;
    // SAFETY: the object is a vector of integers.
    Some(Borrowed { first: unsafe { INTEGER_RO(vector.0) }, len, values: PhantomData })
}

/// Returns the values of a logical vector: 0, 1, or the smallest integer for a missing value.
pub(crate) fn logicals(vector: &savvy::Sexp) -> Option<Borrowed<i32>> {
    let len = length(vector.0, LGLSXP)?;
    // SAFETY: the object is a logical vector.
    Some(Borrowed { first: unsafe { LOGICAL_RO(vector.0) }, len, values: PhantomData })
}

/// Calls `each` with every text of a character vector: the address of its storage, which equal texts of the same encoding
/// share, and its bytes; `None` if it is missing. Returns false if the object is not a character vector.
pub(crate) fn each_text(vector: &savvy::Sexp, mut each: impl FnMut(usize, Option<&[u8]>)) -> bool {
    let Some(len) = length(vector.0, STRSXP) else { return false };
    for index in 0..len {
        // SAFETY: the index is below the length; texts are never changed, and live as long as the vector.
        unsafe {
            let text = STRING_ELT(vector.0, index as isize);
            if text == R_NaString {
                each(0, None);
                continue;
            }
            let first: *const c_char = R_CHAR(text);
            each(text as usize, Some(std::ffi::CStr::from_ptr(first).to_bytes()));
        }
    }
    true
}

/// Returns whether the user has interrupted R. Must be called in the main thread.
pub(crate) fn is_interrupted() -> bool {
    unsafe extern "C" fn check(_: *mut c_void) {
        // SAFETY: called by R, in the main thread; no Rust value of this frame needs to be dropped.
        unsafe { R_CheckUserInterrupt() }
    }
    // SAFETY: a long jump out of `check` ends in `R_ToplevelExec`, so it crosses no frame of Rust except that of `check`.
    unsafe { R_ToplevelExec(Some(check), std::ptr::null_mut()) == 0 }
}
