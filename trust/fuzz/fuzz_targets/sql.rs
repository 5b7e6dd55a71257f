//! Fuzzes the target `sql`.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| {
    apportion_fuzz::run("sql", data);
});
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    apportion_fuzz::mutate("sql", data, size, most, seed)
});
