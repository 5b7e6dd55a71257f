//! Tables and numbers in messages.

use apportion::text::Message;
pub use apportion::text::{count, counted};

/// Returns a number with its sign and unit, or a dash for `None`. A number that rounds to zero has no sign.
pub fn signed(number: Option<f64>, decimals: usize, unit: &str) -> String {
    number.map_or_else(|| "–".into(), |number| without_zero_sign(format!("{number:+.decimals$}")) + unit)
}

/// Returns a number, or a dash for `None`. A number that rounds to zero has no sign.
pub fn plain(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| "–".into(), |number| without_zero_sign(format!("{number:.decimals$}")))
}

/// Returns an expected number of people: with thousands separators and one decimal.
pub fn expected_count(number: f64) -> String {
    let text = format!("{number:.1}");
    let parts = text.split_once('.').and_then(|(whole, tenths)| Some((whole.parse::<u64>().ok()?, tenths)));
    parts.map_or_else(|| text.clone(), |(whole, tenths)| format!("{}.{tenths}", count(whole)))
}

/// Returns a margin of error in people: "±134".
pub fn margin(people: f64) -> String {
    format!("±{}", count(people.round() as u64))
}

/// Removes the sign of a formatted number without digits other than 0.
fn without_zero_sign(text: String) -> String {
    let is_zero = text.contains('0') && !text.contains(|digit: char| matches!(digit, '1'..='9'));
    if is_zero { text.trim_start_matches(['+', '-']).to_owned() } else { text }
}

/// Returns a table as text, with the first column aligned to the left and the others to the right. Control characters in
/// cells are escaped, so that a name cannot add a line.
pub fn columns(header: &[&str], rows: &[Vec<String>]) -> String {
    let safe = |cell: &String| escaped(cell, is_control);
    let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let all: Vec<Vec<String>> =
        std::iter::once(&header).chain(rows).map(|row| row.iter().map(safe).collect()).collect();
    let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns text that is safe to show in a terminal: control characters and bidirectional text marks, which names from
/// files may contain, are escaped. Line breaks and tabs are kept.
pub fn shown(text: &str) -> String {
    escaped(text, |letter| is_control(letter) && !matches!(letter, '\n' | '\t'))
}

fn escaped(text: &str, is_unsafe: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_unsafe(letter) { safe.extend(letter.escape_default()) } else { safe.push(letter) }
    }
    safe
}

/// Returns whether a character is an ASCII or Latin-1 control character, a line separator, or a bidirectional text
/// mark.
fn is_control(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Joins messages as lines.
pub fn lines(messages: impl IntoIterator<Item = Message>) -> Message {
    let joined = messages.into_iter().reduce(|all, line| all + "\n" + line);
    joined.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(
            [-0.04, 0.04, -0.06, 0.06].map(|number| signed(Some(number), 1, "%")),
            ["0.0%", "0.0%", "-0.1%", "+0.1%"]
        );
        assert_eq!([-0.0, -0.00004, -0.5].map(|number| plain(Some(number), 4)), ["0.0000", "0.0000", "-0.5000"]);
        assert_eq!([0.04, 999.96, 1234567.8].map(expected_count), ["0.0", "1,000.0", "1,234,567.8"]);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(shown("a\u{1b}[31mb\r\u{7}"), "a\\u{1b}[31mb\\r\\u{7}");
        assert_eq!(shown("\u{9b}2J\u{202e}x\u{7f}"), "\\u{9b}2J\\u{202e}x\\u{7f}");
        assert_eq!(shown("one\ttwo\nÅ 民族 – …"), "one\ttwo\nÅ 民族 – …");
    }

    #[test]
    fn a_name_cannot_add_a_line_to_a_table() {
        let table = columns(&["class", "labels"], &[vec!["a\nproved".into(), "1".into()]]);
        assert_eq!(table, "class      labels\na\\nproved       1");
    }
}
