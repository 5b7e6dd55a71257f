//! Choices drawn from bytes, as a fuzzer provides them, or from a seed.

/// A sequence of choices. The same bytes or seed give the same choices.
#[derive(Clone, Debug)]
pub struct Draw<'a> {
    bytes: &'a [u8],
    /// The state of the generator, if choices continue after the bytes. Otherwise all further choices are 0.
    state: Option<u64>,
}

impl Draw<'_> {
    /// Draws an unlimited number of choices from a seed.
    pub fn from_seed(seed: u64) -> Draw<'static> {
        Draw { bytes: &[], state: Some(seed ^ 0x6a09_e667_f3bc_c909) }
    }
}

impl<'a> Draw<'a> {
    /// Draws choices from bytes; all choices after their end are 0.
    pub fn from_bytes(bytes: &'a [u8]) -> Draw<'a> {
        Draw { bytes, state: None }
    }

    /// Returns whether no bytes are left.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.state.is_none()
    }

    /// Returns the bytes that are left.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => (self.word() >> 56) as u8,
        }
    }

    /// Returns the next number of the generator (SplitMix64).
    fn word(&mut self) -> u64 {
        let Some(state) = &mut self.state else { return 0 };
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = *state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Returns any number.
    pub fn any(&mut self) -> u64 {
        if self.bytes.is_empty() {
            return self.word();
        }
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// Returns a number below a bound, which must be above 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound <= 1 {
            return 0;
        }
        if self.bytes.is_empty() {
            return ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64;
        }
        let bytes = (64 - (bound - 1).leading_zeros()).div_ceil(8);
        (0..bytes).fold(0, |number, _| number << 8 | u64::from(self.byte())) % bound
    }

    /// Returns an index into something of this length, which must be above 0.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns true with probability 1 / `bound`.
    pub fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    /// Returns one of the values.
    pub fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.index(values.len())]
    }

    /// Returns a number from 0 to 1, excluding 1.
    pub fn unit(&mut self) -> f64 {
        self.below(1 << 53) as f64 / (1u64 << 53) as f64
    }
}

/// Returns a hash of bytes (FNV-1a), to derive options from a whole input.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
