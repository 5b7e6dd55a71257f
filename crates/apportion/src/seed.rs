//! Randomness that belongs to a row, not to the order in which rows are read.
//!
//! Every draw and every tie is settled by a hash of (seed, key, salt), so that the same rows get the same labels
//! whatever the number of threads, the size of the batches or the order of the file. The functions are frozen: a change
//! to one of them changes published labels, and the tests below hold their values.

/// The key of a row from the text of its identifier: 5, `"5"` and the 5 of a CSV file are one key.
///
/// FNV-1a with a final mix, 64 bits.
pub fn key_of_text(text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    mix(hash)
}

/// A hash of (seed, key, salt): 64 bits that look uniform and independent.
#[inline]
pub fn hash(seed: u64, key: u64, salt: u64) -> u64 {
    mix(mix(mix(seed ^ 0x6a09_e667_f3bc_c908).wrapping_add(key)) ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A whole number below `bound`, uniform up to a relative error of `bound` / 2^64.
#[inline]
pub fn below(hash: u64, bound: u64) -> u64 {
    ((u128::from(hash) * u128::from(bound)) >> 64) as u64
}

/// The finaliser of splitmix64: each bit of the input flips each bit of the output with probability near one half.
#[inline]
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
