//! Parses numbers: decimal commas, thousands separators, percent signs, and the Census's `(S)` for
//! suppressed values.

/// Represents `(S)`, the Census's mark for a suppressed share: a NaN with this bit pattern.
const SUPPRESSED: f64 = f64::from_bits(0x7ff8_0000_0000_0053);

pub(crate) fn is_suppressed(score: f64) -> bool {
    score.to_bits() == SUPPRESSED.to_bits()
}

/// Parses a number; NaN if it is missing. A percent sign is ignored, because percentages are
/// detected by row sums.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    match text {
        "(S)" => Some(SUPPRESSED),
        "" | "NA" | "N/A" | "null" | "NULL" | "." => Some(f64::NAN),
        other => {
            let number = other.strip_suffix('%').map_or(other, str::trim_end);
            let commas = number.matches(',').count();
            if commas == 1 && !number.contains('.') {
                return number.replace(',', ".").parse().ok();
            }
            number.parse().ok()
        }
    }
}

/// A number of people or a share. The meaning of a comma can be ambiguous.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    /// Without a comma.
    Plain(f64),
    /// With commas between thousands: `1,234,567`, `1,234.5`.
    Thousands(f64),
    /// With a decimal comma: `0,25`, `12,5`.
    Decimal(f64),
    /// With a comma that can be either: `101,718`.
    Ambiguous {
        /// The number if the comma separates thousands.
        thousands: f64,
        /// The number if the comma is a decimal comma.
        decimal: f64,
    },
}

/// Returns whether a character other than a comma separates thousands: spaces of all widths and
/// apostrophes.
fn is_thousands_mark(letter: char) -> bool {
    matches!(letter, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' | '\'' | '’')
}

/// Parses a number of people or a share; NaN if it is missing.
pub(crate) fn parse_amount(text: &str) -> Option<Amount> {
    let text = text.trim();
    let end = text.rfind(['.', ',']).unwrap_or(text.len());
    let unmarked = without_thousands_marks(&text[..end], is_thousands_mark).map(|whole| whole + &text[end..]);
    let text = unmarked.as_deref().unwrap_or(text);
    let decimal = parse_number(text);
    let (whole, fraction) = text.split_at(text.find(['.', '%']).unwrap_or(text.len()));
    let thousands =
        without_thousands_marks(whole, |letter| letter == ',').and_then(|whole| parse_number(&(whole + fraction)));
    match (thousands, decimal) {
        (Some(thousands), Some(decimal)) => Some(Amount::Ambiguous { thousands, decimal }),
        (Some(thousands), None) => Some(Amount::Thousands(thousands)),
        (None, Some(decimal)) if text.contains(',') => Some(Amount::Decimal(decimal)),
        (None, decimal) => decimal.map(Amount::Plain),
    }
}

/// Returns the message for an ambiguous comma.
pub(crate) fn ambiguous_comma(thousands: f64, decimal: f64) -> String {
    format!("it is ambiguous: {thousands} or {decimal}; write thousands without commas, and decimals with a point")
}

/// Parses a number of people. It must be whole, so an ambiguous comma separates thousands.
pub(crate) fn parse_count(text: &str) -> Option<f64> {
    parse_amount(text).map(|amount| match amount {
        Amount::Plain(number) | Amount::Thousands(number) | Amount::Decimal(number) => number,
        Amount::Ambiguous { thousands, .. } => thousands,
    })
}

/// Removes thousands separators from a whole number; `None` if it has no separators or they are misplaced.
fn without_thousands_marks(number: &str, is_mark: impl Fn(char) -> bool) -> Option<String> {
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = number.strip_prefix('-').unwrap_or(number).split(&is_mark);
    let first = groups.next()?;
    let (mut marks, mut is_grouped) =
        (0, (1..=3).contains(&first.len()) && is_digits(first) && !first.starts_with('0'));
    groups.for_each(|group| {
        marks += 1;
        is_grouped &= group.len() == 3 && is_digits(group);
    });
    (marks > 0 && is_grouped).then(|| number.replace(is_mark, ""))
}

/// Divides the remainder of the published shares equally among the suppressed ones. Does nothing if
/// all are suppressed.
pub(crate) fn fill_suppressed(row: &mut [f64], percent: bool) {
    let suppressed = row.iter().filter(|&&score| is_suppressed(score)).count();
    if suppressed == 0 || suppressed == row.len() {
        return;
    }
    let sum: f64 = row.iter().filter(|&&score| !is_suppressed(score)).sum();
    let whole = if percent || sum > 1.5 { 100.0 } else { 1.0 };
    let each = f64::max(whole - sum, 0.0) / suppressed as f64;
    row.iter_mut().filter(|score| is_suppressed(**score)).for_each(|score| *score = each);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parsed() {
        for (text, number) in [("0.5", 0.5), (" 1e-3 ", 1e-3), ("0,25", 0.25), ("12.5%", 12.5), ("12,5 %", 12.5)] {
            assert_eq!(parse_number(text), Some(number), "{text}");
        }
        for nothing in ["", "NA", "N/A", "NaN", "nan"] {
            assert!(parse_number(nothing).is_some_and(f64::is_nan), "{nothing}");
        }
        for no_number in ["abc", "1,234.5", "1,2,3", "%", "0.5x", "--"] {
            assert_eq!(parse_number(no_number), None, "{no_number}");
        }
    }

    #[test]
    fn thousands_and_decimals_are_distinguished() {
        use Amount::{Ambiguous, Decimal, Plain, Thousands};
        for (text, expected) in [
            ("101718", Plain(101_718.0)),
            ("1e-3", Plain(1e-3)),
            ("101.718", Plain(101.718)),
            ("101,718", Ambiguous { thousands: 101_718.0, decimal: 101.718 }),
            ("-1,718", Ambiguous { thousands: -1718.0, decimal: -1.718 }),
            ("1,234,567", Thousands(1_234_567.0)),
            ("1,234.5", Thousands(1234.5)),
            ("0,123", Decimal(0.123)),
            ("12,5 %", Decimal(12.5)),
            ("1234,567", Decimal(1234.567)),
            ("101 718", Plain(101_718.0)),
            ("101\u{a0}718", Plain(101_718.0)),
            ("1\u{202f}101\u{202f}718", Plain(1_101_718.0)),
            ("101'718.5", Plain(101_718.5)),
            ("101’718", Plain(101_718.0)),
            ("101 718,5", Decimal(101_718.5)),
        ] {
            assert_eq!(parse_amount(text), Some(expected), "{text}");
        }
        for no_number in ["12 34", "1 2", "1,2,3", "1,23,456", "0,123,456", "1,2345.6", "abc", "101,718,", "1,234 567"]
        {
            assert_eq!(parse_amount(no_number), None, "{no_number}");
        }
        assert_eq!(["1,000", "1,234,567", "12"].map(parse_count), [Some(1000.0), Some(1_234_567.0), Some(12.0)]);
        assert!(matches!(parse_amount(""), Some(Plain(number)) if number.is_nan()));
        assert!(matches!(parse_amount("(S)"), Some(Plain(number)) if is_suppressed(number)));
    }

    #[test]
    fn suppressed_shares_are_filled_equally() {
        let mut row = [98.0, SUPPRESSED, 1.0, SUPPRESSED];
        fill_suppressed(&mut row, false);
        assert_eq!(row, [98.0, 0.5, 1.0, 0.5]);
        let mut row = [0.5, SUPPRESSED];
        fill_suppressed(&mut row, false);
        assert_eq!(row, [0.5, 0.5]);
        let mut row = [1.2, SUPPRESSED, SUPPRESSED];
        fill_suppressed(&mut row, true);
        assert_eq!(row, [1.2, 49.4, 49.4]);
        let mut row = [SUPPRESSED, SUPPRESSED];
        fill_suppressed(&mut row, true);
        assert!(row.iter().all(|score| score.is_nan()));
    }
}
