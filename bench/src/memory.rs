//! Memory use of this process, as reported by Linux.

use std::fs;

/// Returns the peak memory of this process. (`getrusage` would include memory from before `exec`.)
pub fn peak_kib() -> Option<u64> {
    status("VmHWM:")
}

/// Returns the current memory of this process.
pub fn held_kib() -> Option<u64> {
    status("VmRSS:")
}

fn status(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
