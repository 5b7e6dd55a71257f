//! Tables and numbers for people, and where they are printed.

use std::fmt::Display;
use std::io::{Write, stderr, stdout};

use anyhow::{Result, anyhow};

/// A result on standard output. A full disk is an error, not a panic.
pub(crate) fn print(result: impl Display) -> Result<()> {
    let mut stdout = stdout().lock();
    let done = writeln!(stdout, "{result}").and_then(|()| stdout.flush());
    done.map_err(|error| anyhow!("standard output: {error}; make room, or write elsewhere"))
}

/// Prints text for people on standard output, with control characters escaped.
pub(crate) fn print_text(text: impl Display) -> Result<()> {
    print(shown(&text.to_string()))
}

/// A word on standard error, with control characters escaped. A closed standard error is ignored.
pub(crate) fn say(word: impl Display) {
    let _ = writeln!(stderr(), "{}", shown(&word.to_string()));
}

/// Returns text that is safe to show: names from files may contain sequences that a terminal obeys, and marks that reverse
/// the order of letters. Line breaks and tabs stay.
pub(crate) fn shown(text: &str) -> String {
    escaped(text, |letter| is_control(letter) && !matches!(letter, '\n' | '\t'))
}

fn escaped(text: &str, is_unsafe: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_unsafe(letter) { safe.extend(letter.escape_default()) } else { safe.push(letter) }
    }
    safe
}

/// Control characters of ASCII and Latin-1, line separators, and marks for the direction of text.
fn is_control(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What to say where a new column has a name that the input has: a name that is free, where the name can be chosen.
pub(crate) fn taken(column: &str, names: &[String], wanted: &str) -> String {
    let begins = |name: &str, start: &str| name == start || name.starts_with(&format!("{start}_"));
    if !begins(column, wanted) {
        return format!("the input has a column {column:?} already; rename it there, or write --only-label with --id");
    }
    let is_free = |name: &String| names.iter().all(|own| !begins(own, name));
    let free = (2..).map(|number| format!("{wanted}_{number}")).find(is_free).unwrap_or_default();
    format!("the input has a column {column:?} already; name the new one with --as {free}")
}

/// Columns of text, the first to the left and the others to the right.
pub(crate) fn columns(header: &[&str], rows: &[Vec<String>]) -> String {
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

/// A whole number with its thousands apart.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap_or("")).collect();
    groups.join(",")
}

/// A number of things, with the right word for them.
pub(crate) fn counted(number: u64, one: &str, several: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { several })
}

/// A number with its sign, or a dash.
pub(crate) fn signed(number: Option<f64>, decimals: usize, unit: &str) -> String {
    number.map_or_else(|| "–".into(), |number| format!("{number:+.decimals$}{unit}"))
}

/// A number, or a dash.
pub(crate) fn plain(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| "–".into(), |number| format!("{number:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
