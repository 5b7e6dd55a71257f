//! The date of a report: of the environment variable `SOURCE_DATE_EPOCH`, if it is set, so that reports can be reproduced;
//! otherwise of today (UTC).

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the date as text, such as 2026-01-31; `None` if it is unknown.
pub(super) fn today() -> Option<String> {
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.trim().parse::<u64>().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs());
    given.or_else(now).map(|seconds| date(seconds / 86_400))
}

/// Returns the date of a day since 1970-01-01, in the Gregorian calendar.
fn date(mut days: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    // Every 400 years have the same number of days.
    let mut year = 1970 + 400 * (days / 146_097);
    days %= 146_097;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        let known = [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (11_017, "2000-03-01")];
        for (day, text) in known.into_iter().chain([(20_089, "2025-01-01"), (20_453, "2025-12-31")]) {
            assert_eq!(date(day), text);
        }
        assert_eq!(date(146_097 + 59), "2370-03-01");
    }
}
