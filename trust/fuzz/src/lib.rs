//! Connects libFuzzer with the targets of apportion-trust.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use apportion_trust::draw::Draw;
use libfuzzer_sys::fuzzer_mutate;

/// Tries an input. Aborts the process, so that libFuzzer notices, if the target panics. Panics that the program catches
/// itself are ignored.
pub fn run(target: &str, data: &[u8]) {
    static HOOK: Once = Once::new();
    // libFuzzer's own hook ends the process at any panic, caught or not.
    HOOK.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let Some(target) = apportion_trust::target(target) else { return };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(data))) {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        eprintln!("{}: {}", target.name, text.unwrap_or("a panic without a message"));
        std::process::abort();
    }
}

/// Damages an input in place, with the target's own mutator or libFuzzer's.
pub fn mutate(target: &str, data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let mut draw = Draw::from_seed(u64::from(seed));
    let own = apportion_trust::target(target).filter(|_| draw.below(3) > 0);
    let Some(target) = own else { return fuzzer_mutate(data, size, most) };
    let damaged = (target.mutate)(&data[..size], &mut draw);
    let length = damaged.len().min(most);
    data[..length].copy_from_slice(&damaged[..length]);
    length
}
