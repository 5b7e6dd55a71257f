//! Fuzzes the target `solver`.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| {
    apportion_fuzz::run("solver", data);
});
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    apportion_fuzz::mutate("solver", data, size, most, seed)
});
