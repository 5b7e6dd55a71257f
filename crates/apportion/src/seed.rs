//! Seeded hashes that depend on the row, not on the order in which rows are read.
//!
//! Every draw and every tie is decided by a hash of (seed, key, salt), so the same rows get the same labels for any
//! number of threads, batch size and row order. The functions are frozen: changing one of them changes published
//! labels. The tests below check their values.

/// Returns the key of a row from the text of its ID: 5, `"5"` and a 5 in a CSV file have the same key.
///
/// FNV-1a with a final mix, 64 bits.
pub fn key_of_text(text: &str) -> u64 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    mix(hash)
}

/// Returns a 64-bit hash of (seed, key, salt). Hashes behave like independent uniform numbers.
#[inline]
pub fn hash(seed: u64, key: u64, salt: u64) -> u64 {
    mix(mix(mix(seed ^ 0x6a09_e667_f3bc_c908).wrapping_add(key)) ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Returns an integer below `bound`, uniform up to a relative error of `bound` / 2^64.
#[inline]
pub fn below(hash: u64, bound: u64) -> u64 {
    ((u128::from(hash) * u128::from(bound)) >> 64) as u64
}

/// The finalizer of splitmix64: each input bit flips each output bit with probability close to one half.
#[inline]
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if published labels change, which requires a changelog entry.
    #[test]
    fn values_are_frozen() {
        assert_eq!(key_of_text("5"), 13_683_418_873_442_356_643);
        assert_eq!(key_of_text(""), 14_087_677_454_934_409_008);
        assert_eq!(hash(0, 0, 0), 17_855_327_249_277_964_158);
        assert_eq!(hash(1, 2, 3), 7_068_402_127_058_948_813);
        assert_eq!(below(u64::MAX, 10), 9);
        assert_eq!(below(0, 10), 0);
    }
}
