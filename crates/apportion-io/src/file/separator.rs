//! Detects the separator of delimited text: the default of the file extension, unless the first
//! line only has another one, or names one.

use std::io::Read;

use super::decode::decode;
use super::format::{default_delimiter, is_text};
use super::source::Source;
use super::stable_file::SequentialReader;
use crate::input::InputOptions;

/// Possible separators and their names in messages.
pub(crate) const SEPARATORS: [(u8, &str); 4] =
    [(b',', "commas"), (b';', "semicolons"), (b'\t', "tabs"), (b'|', "bars")];

/// Bytes to search for the end of the first line.
const MAX_HEADER_BYTES: u64 = 1 << 16;

/// Detects the separator of a file from its start. Read errors are ignored here; they are reported
/// when the file is read.
pub(crate) fn detect_separator(source: &Source, file: SequentialReader, options: &InputOptions) -> u8 {
    let default = default_delimiter(source.format);
    if !is_text(source.format) {
        return default;
    }
    let Ok((text, _)) = decode(source, file, options) else { return default };
    let mut start = Vec::new();
    match text.take(MAX_HEADER_BYTES).read_to_end(&mut start) {
        Ok(_) => separator_line(&start).map_or_else(|| in_first_line(&start, default), |(separator, _)| separator),
        Err(_) => default,
    }
}

/// Returns the separator that a first line such as `sep=;` names, as Excel writes it, and the length of the line.
pub(crate) fn separator_line(text: &[u8]) -> Option<(u8, usize)> {
    let (word, rest) = text.split_at_checked(4)?;
    let (&separator, rest) = rest.split_first()?;
    let is_separator = (separator == b'\t' || separator.is_ascii_punctuation()) && separator != b'"';
    if !word.eq_ignore_ascii_case(b"sep=") || !is_separator {
        return None;
    }
    let end = match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => return None,
    };
    Some((separator, 5 + end))
}

/// Returns the default separator if the first line contains it or contains no separator, otherwise
/// the most frequent separator. Quoted text is ignored.
fn in_first_line(text: &[u8], default: u8) -> u8 {
    let is_end = |byte: u8| byte == b'\n' || byte == b'\r';
    let (mut quoted, mut counts) = (false, [0usize; SEPARATORS.len()]);
    for &byte in text.iter().skip_while(|byte| is_end(**byte)) {
        quoted ^= byte == b'"';
        if !quoted && is_end(byte) {
            break;
        }
        let index = SEPARATORS.iter().position(|(separator, _)| *separator == byte);
        if let Some(index) = index.filter(|_| !quoted) {
            counts[index] += 1;
        }
    }
    let found = SEPARATORS.iter().zip(counts).filter(|(_, count)| *count > 0);
    let best = found.max_by_key(|((separator, _), count)| (*separator == default, *count));
    best.map_or(default, |((separator, _), _)| *separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_detected_from_the_first_line() {
        for (text, default, expected) in [
            ("id,name\n", b',', b','),
            ("id;name\n1,2;3,4\n", b',', b';'),
            ("id\tname\r\n", b',', b'\t'),
            ("id|name|other;one\n", b',', b'|'),
            ("\n\nid;name\n", b',', b';'),
            ("id;last, first\n", b',', b','),
            ("id,a;b;c\n", b',', b','),
            ("\"id; or number\"\n1\n", b',', b','),
            ("\"id, or number\";name\n", b',', b';'),
            ("id\n1;2\n", b',', b','),
            ("id,name\n", b'\t', b','),
            ("id,name\tzip\n", b'\t', b'\t'),
        ] {
            assert_eq!(in_first_line(text.as_bytes(), default), expected, "{text}");
        }
    }

    #[test]
    fn the_first_line_may_name_the_separator() {
        for (text, expected) in [
            ("sep=;\na;b\n", Some((b';', 6))),
            ("SEP=,\r\na,b\r\n", Some((b',', 7))),
            ("sep=\t\na\tb\n", Some((b'\t', 6))),
            ("sep=^\n", Some((b'^', 6))),
            ("sep=;", None),
            ("sep=\n", None),
            ("sep=\"\n", None),
            ("sep=a\n", None),
            ("sep=;b\n", None),
            ("separator\n", None),
        ] {
            assert_eq!(separator_line(text.as_bytes()), expected, "{text:?}");
        }
    }
}
