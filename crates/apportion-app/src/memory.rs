//! The memory limit: set by the user, or a quarter of the machine's memory.

use std::sync::LazyLock;

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// Returns a quarter of the machine's memory, or of a container's limit.
pub fn default() -> u64 {
    *QUARTER
}

/// Read once per process, because it takes longer than labeling a thousand rows.
static QUARTER: LazyLock<u64> = LazyLock::new(|| {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let Ok(system) = System::new_with_specifics(memory) else { return WHERE_UNKNOWN };
    let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.total_memory);
    system.total_memory().min(limit) / 4
});

/// The default limit if the system does not report its memory.
const WHERE_UNKNOWN: u64 = 1 << 30;

/// Parses a size, such as `512M`, `2G` or `1.5GiB`.
///
/// # Errors
/// If the text is not a valid size.
pub fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = (text[..end].trim(), text[end..].trim());
    let power = match unit.to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I') {
        "" => 0,
        "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return Err("it must be a number with K, M, G or T, such as 512M or 2G".into()),
    };
    let number: f64 =
        number.parse().map_err(|_| "it must be a number with K, M, G or T, such as 512M or 2G".to_owned())?;
    if number.is_finite() && number >= 0.0 {
        Ok((number * 1024f64.powi(power)) as u64)
    } else {
        Err("it must not be negative".into())
    }
}

/// Parses a size from 1K to 1G.
///
/// # Errors
/// If the text is not a valid size.
pub fn parse_small(text: &str) -> Result<usize, String> {
    match parse(text)? {
        bytes @ 1_024..=1_073_741_824 => Ok(bytes as usize),
        _ => Err("it must be from 1K to 1G".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [("512M", 512 << 20), ("2g", 2 << 30), ("1.5 GiB", 3 << 29), ("64KB", 64 << 10), ("7", 7)]
        {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
        for bad in ["", "M", "1X", "-1M", "1 2", "infM"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_quarter_of_the_machine_is_something() {
        assert!(default() > 1 << 20);
    }
}
