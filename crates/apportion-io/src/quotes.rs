//! Finds quotes that swallow rows: a quoted field that spans lines must end before a separator or a line end.
//!
//! A stray quote begins a field that goes on to the next stray quote, perhaps thousands of rows later. What follows that quote then
//! gives it away. Quotes within one line are left to the parser.

/// Where a scan of delimited text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    FieldStart,
    InField,
    InQuotes { spans_lines: bool },
    AfterQuote { spans_lines: bool },
}

/// Follows the quotes of a text, piece by piece.
#[derive(Debug)]
pub(crate) struct Quotes {
    separator: u8,
    place: Place,
    /// The line at hand, and the one in which the last quoted field began; from 1.
    line: u64,
    began: u64,
}

impl Quotes {
    pub(crate) fn new(separator: u8) -> Quotes {
        Quotes { separator, place: Place::FieldStart, line: 1, began: 1 }
    }

    /// Reads the next piece; the line of a quote that swallows rows, if one does.
    pub(crate) fn read(&mut self, piece: &[u8]) -> Option<u64> {
        let is_open = matches!(self.place, Place::InQuotes { .. } | Place::AfterQuote { .. });
        if !is_open && !piece.contains(&b'"') {
            self.line += piece.iter().filter(|&&byte| byte == b'\n').count() as u64;
            if let Some(&last) = piece.last() {
                self.place = if self.ends_field(last) { Place::FieldStart } else { Place::InField };
            }
            return None;
        }
        piece.iter().find_map(|&byte| self.step(byte))
    }

    fn step(&mut self, byte: u8) -> Option<u64> {
        self.place = match (self.place, byte) {
            (Place::FieldStart, b'"') => {
                self.began = self.line;
                Place::InQuotes { spans_lines: false }
            }
            (Place::InQuotes { spans_lines }, b'"') => Place::AfterQuote { spans_lines },
            (Place::InQuotes { spans_lines }, _) => Place::InQuotes { spans_lines: spans_lines || byte == b'\n' },
            (Place::AfterQuote { spans_lines }, b'"') => Place::InQuotes { spans_lines },
            (_, _) if self.ends_field(byte) => Place::FieldStart,
            (Place::AfterQuote { spans_lines: true }, _) => return Some(self.began),
            _ => Place::InField,
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
                let mut quotes = Quotes::new(b',');
                let found = text.as_bytes().chunks(size).find_map(|piece| quotes.read(piece));
                assert_eq!(found, expected, "{text} in pieces of {size}");
            }
        }
    }
}
