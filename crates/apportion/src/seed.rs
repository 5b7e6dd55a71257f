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

#[cfg(test)]
mod tests {
    use super::*;

    /// A change here changes published labels: it needs a line in the changelog.
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
