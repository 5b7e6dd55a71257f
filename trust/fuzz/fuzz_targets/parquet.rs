//! Fuzzes the target `parquet`.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| {
    apportion_fuzz::run("parquet", data);
});
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    apportion_fuzz::mutate("parquet", data, size, most, seed)
});
