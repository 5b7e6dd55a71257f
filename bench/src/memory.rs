//! The memory of this process, as Linux tells it.

use std::fs;

/// The most memory that this process has held at once. (`getrusage` would count what was there before `exec`.)
pub fn peak_kib() -> Option<u64> {
    status("VmHWM:")
}

/// What it holds now.
pub fn held_kib() -> Option<u64> {
    status("VmRSS:")
}

fn status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
