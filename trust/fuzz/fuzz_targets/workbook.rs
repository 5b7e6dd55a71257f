//! Fuzzes the target `workbook`.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|data: &[u8]| {
    apportion_fuzz::run("workbook", data);
});
fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    apportion_fuzz::mutate("workbook", data, size, most, seed)
});
