//! SIMD chosen at run time: the same safe code, compiled once for each level of the machine.
//!
//! The loops of [`kernel`](crate::kernel) are plain Rust over fixed-size chunks, which the compiler turns into
//! vector code for whatever instructions it may assume. This file only widens that assumption: [`Level::run`] calls
//! the work from inside a function compiled for the level, after asking the processor. It is the one file of the
//! crate with `unsafe` code: two blocks call a safe function whose instructions were just found, and one prefetches.
#![allow(unsafe_code)]

use std::fmt;

/// Instructions that a pass over the rows may use. Results never depend on it; speed does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every processor of the architecture has.
    Baseline,
    /// x86-64-v3: AVX2 and FMA.
    Avx2,
    /// x86-64-v4: AVX-512 with the byte, double-word and vector-length extensions.
    Avx512,
}

/// A pass written to be compiled once per level. Implementations mark `run`, and all that it calls in its loops,
/// `#[inline(always)]`: only what is inlined is compiled for the level.
pub(crate) trait Kernel {
    type Output;
    fn run(self) -> Self::Output;
}

impl Level {
    /// The levels that this machine has, lowest first.
    pub fn available() -> impl Iterator<Item = Level> {
        [Level::Baseline, Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available())
    }

    /// The highest level of this machine.
    pub fn best() -> Level {
        if Level::Avx512.is_available() {
            Level::Avx512
        } else if Level::Avx2.is_available() {
            Level::Avx2
        } else {
            Level::Baseline
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_available(self) -> bool {
        match self {
            Level::Baseline => true,
            Level::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_available(self) -> bool {
        self == Level::Baseline
    }

    /// Runs the work at this level, or at the baseline where the machine does not have it.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, work: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        {
            if self == Level::Avx512 && self.is_available() {
                // SAFETY: the processor was just found to have every feature that `with_avx512` enables.
                return unsafe { with_avx512(work) };
            }
            if self == Level::Avx2 && self.is_available() {
                // SAFETY: the processor was just found to have every feature that `with_avx2` enables.
                return unsafe { with_avx2(work) };
            }
        }
        work.run()
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<K: Kernel>(work: K) -> K::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512<K: Kernel>(work: K) -> K::Output {
    work.run()
}

/// Asks for the memory of an element to be brought into the cache. Nothing happens where there is no such element.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = values.get(index) {
        // SAFETY: the address is that of an element; a prefetch reads nothing and cannot fault.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(value).cast());
        };
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Baseline => "baseline",
            Level::Avx2 => "AVX2",
            Level::Avx512 => "AVX-512",
        })
    }
}
