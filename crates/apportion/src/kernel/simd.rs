//! SIMD instructions selected at run time: the same safe code, compiled once per level.
//!
//! The loops of [`kernel`](crate::kernel) are plain Rust over fixed-size chunks, which the compiler vectorizes for
//! the instructions that it may assume. This file only widens that assumption: [`SimdLevel::run`] calls the work from
//! inside a function compiled for the level, after checking the processor. If the compiler does not find good code by
//! itself, a pass uses the vectors of [`Wide`], which exists only if the processor has AVX-512.
//!
//! This is the only file of the crate with `unsafe` code: calls of safe functions whose instructions are available,
//! loads and stores of whole arrays, and a prefetch.
#![allow(unsafe_code)]

use std::fmt;
use std::ops::Range;

/// Instructions that a pass over the rows may use. They affect speed, never results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// The baseline of the architecture.
    Baseline,
    /// x86-64-v3: AVX2 and FMA.
    Avx2,
    /// x86-64-v4: AVX-512 with the byte, double-word and vector-length extensions.
    Avx512,
}

/// A pass written to be compiled once per level. Implementations mark `run` and every function called in its loops
/// `#[inline(always)]`, because only inlined code is compiled for the level.
pub(crate) trait Kernel {
    type Output;
    /// Runs the pass; with vectors of sixteen, if available.
    fn run(self, wide: Option<Wide>) -> Self::Output;
}

impl SimdLevel {
    /// Returns the levels of this machine, lowest first.
    pub fn available() -> impl Iterator<Item = SimdLevel> {
        [SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512].into_iter().filter(|level| level.is_available())
    }

    /// Returns the highest level of this machine.
    pub fn best() -> SimdLevel {
        if SimdLevel::Avx512.is_available() {
            SimdLevel::Avx512
        } else if SimdLevel::Avx2.is_available() {
            SimdLevel::Avx2
        } else {
            SimdLevel::Baseline
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_available(self) -> bool {
        match self {
            SimdLevel::Baseline => true,
            SimdLevel::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            SimdLevel::Avx512 => {
                SimdLevel::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_available(self) -> bool {
        self == SimdLevel::Baseline
    }

    /// Runs the work at this level, or at the baseline if the machine does not have it.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, work: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        {
            if self == SimdLevel::Avx512 && self.is_available() {
                // SAFETY: the processor was just found to have every feature that `with_avx512` enables.
                return unsafe { with_avx512(work) };
            }
            if self == SimdLevel::Avx2 && self.is_available() {
                // SAFETY: the processor was just found to have every feature that `with_avx2` enables.
                return unsafe { with_avx2(work) };
            }
        }
        work.run(None)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<K: Kernel>(work: K) -> K::Output {
    work.run(None)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
fn with_avx512<K: Kernel>(work: K) -> K::Output {
    work.run(Some(Wide(())))
}

/// Proof that the processor has AVX-512, with its vectors of sixteen. It can be created in this file only.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Wide(());

/// Not available on other processors.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
pub(crate) enum Wide {}

/// Bytes per cache line.
const LINE: usize = 64;

/// Numbers per vector.
pub(crate) const WIDTH: usize = 16;

#[cfg(target_arch = "x86_64")]
pub(crate) use wide::{Floats, Ints};

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{WIDTH, Wide};
    use std::arch::x86_64::*;

    /// Sixteen single-precision numbers.
    pub(crate) type Floats = __m512;
    /// Sixteen 32-bit integers.
    pub(crate) type Ints = __m512i;

    /// Defines safe methods that call one instruction each.
    macro_rules! instructions {
        ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) -> $result:ty = $call:expr;)*) => {
            $($(#[$doc])*
            #[inline(always)]
            pub(crate) fn $name(self, $($arg: $type),*) -> $result {
                // SAFETY: `self` exists only if the processor has AVX-512 with its byte, double-word and vector-length
                // extensions; loads and stores access arrays of exactly the required length.
                unsafe { $call }
            })*
        };
    }

    impl Wide {
        instructions! {
            load(from: &[f32; WIDTH]) -> Floats = _mm512_loadu_ps(from.as_ptr());
            load_ints(from: &[i32; WIDTH]) -> Ints = _mm512_loadu_si512(from.as_ptr().cast());
            store_ints(value: Ints, into: &mut [i32; WIDTH]) -> () = _mm512_storeu_si512(into.as_mut_ptr().cast(), value);
            /// Stores the lowest byte of each number.
            store_bytes(value: Ints, into: &mut [u8; WIDTH]) -> () =
                _mm_storeu_si128(into.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(value));
            splat(value: f32) -> Floats = _mm512_set1_ps(value);
            splat_int(value: i32) -> Ints = _mm512_set1_epi32(value);
            add(a: Floats, b: Floats) -> Floats = _mm512_add_ps(a, b);
            sub(a: Floats, b: Floats) -> Floats = _mm512_sub_ps(a, b);
            /// a · b + c, rounded once.
            multiply_add(a: Floats, b: Floats, c: Floats) -> Floats = _mm512_fmadd_ps(a, b, c);
            /// The minimum; `b` if one is NaN.
            min(a: Floats, b: Floats) -> Floats = _mm512_min_ps(a, b);
            /// The maximum; `b` if one is NaN.
            max(a: Floats, b: Floats) -> Floats = _mm512_max_ps(a, b);
            abs(a: Floats) -> Floats = _mm512_abs_ps(a);
            bits(a: Floats) -> Ints = _mm512_castps_si512(a);
            /// The numbers whose bit is set, moved together, followed by zeros.
            compress(mask: u16, a: Ints) -> Ints = _mm512_maskz_compress_epi32(mask, a);
            add_ints(a: Ints, b: Ints) -> Ints = _mm512_add_epi32(a, b);
            /// The mask of a > b.
            above(a: Floats, b: Floats) -> u16 = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b);
            /// The mask of a ≤ b.
            at_most(a: Floats, b: Floats) -> u16 = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
            /// `a` if the bit is set, otherwise `b`.
            select(mask: u16, a: Floats, b: Floats) -> Floats = _mm512_mask_blend_ps(mask, b, a);
            /// `a` if the bit is set, otherwise `b`.
            select_ints(mask: u16, a: Ints, b: Ints) -> Ints = _mm512_mask_blend_epi32(mask, b, a);
            /// The elements of a table at given indices.
            pick(table: Floats, indices: Ints) -> Floats = _mm512_permutexvar_ps(indices, table);
            /// The elements of two concatenated vectors at given indices.
            pick_of_two(a: Floats, b: Floats, indices: Ints) -> Floats = _mm512_permutex2var_ps(a, indices, b);
        }
    }
}

/// Prefetches the memory of some elements, if they exist.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T], range: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(values) = values.get(range) {
        for value in values.iter().step_by(LINE / size_of::<T>()) {
            // SAFETY: the address is that of an element; a prefetch reads nothing and cannot fault.
            unsafe {
                std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(value).cast());
            };
        }
    }
}

impl fmt::Display for SimdLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SimdLevel::Baseline => "baseline",
            SimdLevel::Avx2 => "AVX2",
            SimdLevel::Avx512 => "AVX-512",
        })
    }
}
