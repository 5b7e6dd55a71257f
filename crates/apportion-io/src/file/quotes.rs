//! Detects stray quotes that swallow rows: a quoted field that spans lines must end before a
//! separator or a line end.
//!
//! A stray quote opens a field that continues to the next stray quote, perhaps thousands of rows
//! later. The text after that quote reveals the problem. Quotes within one line are left to the
//! parser.

/// State of the scanner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    FieldStart,
    InField,
    InQuotes { spans_lines: bool },
    AfterQuote { spans_lines: bool },
}

/// Scans the quotes of delimited text, block by block.
#[derive(Debug)]
pub(crate) struct QuoteScanner {
    separator: u8,
    state: State,
    /// The current line, and the line in which the last quoted field started; counted from 1.
    line: u64,
    quote_line: u64,
}

impl QuoteScanner {
    pub(crate) fn new(separator: u8) -> QuoteScanner {
        QuoteScanner { separator, state: State::FieldStart, line: 1, quote_line: 1 }
    }

    /// Scans the next block. Returns the line of a quote that swallows rows, if any.
    pub(crate) fn read(&mut self, piece: &[u8]) -> Option<u64> {
        let is_open = matches!(self.state, State::InQuotes { .. } | State::AfterQuote { .. });
        if !is_open && !piece.contains(&b'"') {
            self.line += piece.iter().filter(|&&byte| byte == b'\n').count() as u64;
            if let Some(&last) = piece.last() {
                self.state = if self.ends_field(last) { State::FieldStart } else { State::InField };
            }
            return None;
        }
        piece.iter().find_map(|&byte| self.advance(byte))
    }

    fn advance(&mut self, byte: u8) -> Option<u64> {
        self.state = match (self.state, byte) {
            (State::FieldStart, b'"') => {
                self.quote_line = self.line;
                State::InQuotes { spans_lines: false }
            }
            (State::InQuotes { spans_lines }, b'"') => State::AfterQuote { spans_lines },
            (State::InQuotes { spans_lines }, _) => State::InQuotes { spans_lines: spans_lines || byte == b'\n' },
            (State::AfterQuote { spans_lines }, b'"') => State::InQuotes { spans_lines },
            (_, _) if self.ends_field(byte) => State::FieldStart,
            (State::AfterQuote { spans_lines: true }, _) => return Some(self.quote_line),
            _ => State::InField,
        };
        self.line += u64::from(byte == b'\n');
        None
    }

    fn ends_field(&self, byte: u8) -> bool {
        byte == self.separator || byte == b'\n' || byte == b'\r'
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_quotes_that_swallow_rows_are_found() {
        for (text, expected) in [
            ("a,b\n1,2\n", None),
            ("a,b\n\"1\",\"x\ny\"\n2,\"z\"\"\n\"\"\"\n", None),
            ("a,b\n1,\"Ann \"Annie\" Lee\"\n", None),
            ("a,b\n5'10\" tall,2\n", None),
            ("a,b\n1,2\n3,\"SMITH\n4,5\n6,\"JONES\n", Some(3)),
            ("a,b\n\"x\ny\"z,2\n", Some(2)),
        ] {
            for size in [1, 3, 100] {
                let mut quotes = QuoteScanner::new(b',');
                let found = text.as_bytes().chunks(size).find_map(|piece| quotes.read(piece));
                assert_eq!(found, expected, "{text} in pieces of {size}");
            }
        }
    }
}
