//! Numbers as files have them: with decimal commas, percent signs, and the Census's `(S)`.

/// Stands for `(S)`, the Census's mark of a share that it does not publish: a number that is none, told by its bits.
const SUPPRESSED: f64 = f64::from_bits(0x7ff8_0000_0000_0053);

fn is_suppressed(score: f64) -> bool {
    score.to_bits() == SUPPRESSED.to_bits()
}

/// A number as text has it; NaN where there is none. A percent sign is left away: a row that sums to 100 is one of
/// percentages anyway.
pub(crate) fn parse(text: &str) -> Option<f64> {
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

/// Shares out what the published shares leave, equally, among those that are not published. Where none is, nothing is known.
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
    fn numbers_are_read_as_people_write_them() {
        for (text, number) in [("0.5", 0.5), (" 1e-3 ", 1e-3), ("0,25", 0.25), ("12.5%", 12.5), ("12,5 %", 12.5)] {
            assert_eq!(parse(text), Some(number), "{text}");
        }
        for nothing in ["", "NA", "N/A", "NaN", "nan"] {
            assert!(parse(nothing).is_some_and(f64::is_nan), "{nothing}");
        }
        for no_number in ["abc", "1,234.5", "1,2,3", "%", "0.5x", "--"] {
            assert_eq!(parse(no_number), None, "{no_number}");
        }
    }

    #[test]
    fn what_is_not_published_is_shared_out() {
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
