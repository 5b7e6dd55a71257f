//! Detects the encoding of text without a byte order mark: UTF-8, or Windows-1252 if the file is not UTF-8 at all.
//!
//! Text is read as UTF-8 until the first invalid byte. Then the whole file is scanned: if no byte sequence in it is a
//! UTF-8 character other than ASCII, and all bytes are defined in Windows-1252, the rest is decoded as Windows-1252.
//! The text before the first invalid byte is ASCII in that case, which is the same in both encodings.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, OnceLock};

use encoding_rs::WINDOWS_1252;

use super::decode::decompress;
use super::format::Compression;
use super::stable_file::{SequentialReader, StableFile};

/// Whether a file is Windows-1252, decided once for all passes.
#[derive(Clone, Debug)]
pub(crate) struct Detection {
    pub(crate) stable: Arc<StableFile>,
    pub(crate) compression: Compression,
    pub(crate) is_windows_1252: Arc<OnceLock<bool>>,
}

impl Detection {
    /// Scans the file, unless it was scanned before.
    fn is_windows_1252(&self) -> io::Result<bool> {
        if let Some(known) = self.is_windows_1252.get() {
            return Ok(*known);
        }
        let file = BufReader::with_capacity(1 << 18, SequentialReader::new(&self.stable, self.stable.open()?));
        let found = is_windows_1252(decompress(self.compression, file)?)?;
        Ok(*self.is_windows_1252.get_or_init(|| found))
    }
}

/// Returns whether text has no UTF-8 character other than ASCII, and only bytes that Windows-1252 defines.
fn is_windows_1252(mut text: impl Read) -> io::Result<bool> {
    let (mut buffer, mut kept) = (vec![0; 1 << 16], 0);
    loop {
        let read = text.read(&mut buffer[kept..])?;
        let mut rest = &buffer[..kept + read];
        while let Err(error) = std::str::from_utf8(rest) {
            let (valid, invalid) = rest.split_at(error.valid_up_to());
            let length = match error.error_len() {
                Some(length) => length,
                None if read == 0 => invalid.len(),
                None => 0, // a character that the next bytes may complete
            };
            if !valid.is_ascii() || invalid[..length].iter().any(is_undefined) {
                return Ok(false);
            }
            rest = &invalid[length..];
            if length == 0 {
                break;
            }
        }
        let is_incomplete = std::str::from_utf8(rest).is_err();
        if !is_incomplete && !rest.is_ascii() {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
        let end = kept + read;
        kept = if is_incomplete { rest.len() } else { 0 };
        buffer.copy_within(end - kept..end, 0);
    }
}

/// Returns whether Windows-1252 has no character for a byte.
fn is_undefined(byte: &u8) -> bool {
    matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// All bytes so far are valid UTF-8.
    Utf8,
    /// The file is Windows-1252.
    Windows1252,
    /// The file is neither. Bytes are passed on unchanged, and the parser reports the invalid field.
    Invalid,
}

/// Decodes text to UTF-8, and detects Windows-1252.
pub(crate) struct DetectingDecoder<R> {
    text: R,
    detection: Detection,
    state: State,
    has_multibyte: bool,
    /// The start of a character that the next bytes may complete.
    incomplete: Vec<u8>,
    /// Decoded bytes, and how many of them have been returned.
    decoded: Vec<u8>,
    returned: usize,
}

impl<R: BufRead> DetectingDecoder<R> {
    pub(crate) fn new(text: R, detection: Detection) -> DetectingDecoder<R> {
        let (state, has_multibyte) = (State::Utf8, false);
        let (incomplete, decoded, returned) = (Vec::new(), Vec::new(), 0);
        DetectingDecoder { text, detection, state, has_multibyte, incomplete, decoded, returned }
    }

    /// Decodes the next bytes. Returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let mut bytes = std::mem::take(&mut self.incomplete);
        let next = self.text.fill_buf()?;
        let length = next.len();
        bytes.extend_from_slice(next);
        self.text.consume(length);
        self.decoded.clear();
        self.returned = 0;
        self.decode(&bytes, length == 0)?;
        Ok(!bytes.is_empty())
    }

    fn decode(&mut self, bytes: &[u8], is_end: bool) -> io::Result<()> {
        match self.state {
            State::Windows1252 => {
                self.decoded.extend_from_slice(WINDOWS_1252.decode_without_bom_handling(bytes).0.as_bytes());
            }
            State::Invalid => self.decoded.extend_from_slice(bytes),
            State::Utf8 => {
                let error = std::str::from_utf8(bytes).err();
                let (valid, rest) = bytes.split_at(error.map_or(bytes.len(), |error| error.valid_up_to()));
                self.has_multibyte |= !valid.is_ascii();
                self.decoded.extend_from_slice(valid);
                let is_invalid = is_end || error.is_some_and(|error| error.error_len().is_some());
                if !is_invalid || rest.is_empty() {
                    self.incomplete = rest.to_vec();
                    return Ok(());
                }
                let is_windows_1252 = !self.has_multibyte && self.detection.is_windows_1252()?;
                self.state = if is_windows_1252 { State::Windows1252 } else { State::Invalid };
                self.decode(rest, is_end)?;
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for DetectingDecoder<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.returned == self.decoded.len() {
            // ASCII, which is most text, is copied once.
            if self.incomplete.is_empty() {
                let next = self.text.fill_buf()?;
                let length = next.len().min(into.len());
                if next[..length].is_ascii() {
                    into[..length].copy_from_slice(&next[..length]);
                    self.text.consume(length);
                    return Ok(length);
                }
            }
            if !self.fill()? {
                return Ok(0);
            }
        }
        let length = into.len().min(self.decoded.len() - self.returned);
        into[..length].copy_from_slice(&self.decoded[self.returned..self.returned + length]);
        self.returned += length;
        Ok(length)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::File;

    use super::*;

    /// Returns text one byte at a time, so that every character is split.
    struct ByteByByte<'a>(&'a [u8]);

    impl Read for ByteByByte<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let length = 1.min(self.0.len()).min(into.len());
            self.0.read(&mut into[..length])
        }
    }

    /// Decodes bytes with buffers of different sizes.
    fn decoded(bytes: &[u8]) -> Vec<u8> {
        let mut results = Vec::new();
        for size in [1, 2, 7, 1 << 16] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), bytes).unwrap();
            let stable = Arc::new(StableFile::new(file.path(), &File::open(file.path()).unwrap()).unwrap());
            let detection = Detection { stable, compression: Compression::None, is_windows_1252: Arc::default() };
            let mut text = Vec::new();
            DetectingDecoder::new(BufReader::with_capacity(size, bytes), detection).read_to_end(&mut text).unwrap();
            results.push(text);
        }
        assert!(results.iter().all(|result| *result == results[0]));
        results.swap_remove(0)
    }

    #[test]
    fn only_a_file_without_utf8_characters_is_windows_1252() {
        let long = [&b"a".repeat(1 << 17)[..], b"\xf1"].concat();
        let late = [&b"\xf1"[..], &b"a".repeat(1 << 17), "ñ".as_bytes()].concat();
        for (bytes, expected) in [
            (&b"Mu\xf1oz,\x80\n"[..], "Muñoz,€\n".as_bytes()),
            (b"\xe9", "é".as_bytes()),
            (b"\xe9\xe8t\xe9", "éèté".as_bytes()),
            (b"\xe2\x82", "â‚".as_bytes()),
            ("Muñoz\n".as_bytes(), "Muñoz\n".as_bytes()),
            // UTF-8 with one invalid byte stays invalid, wherever the UTF-8 is.
            ("ñ\u{20ac}\n".as_bytes(), "ñ\u{20ac}\n".as_bytes()),
            (b"\xc3\xb1\n\xf1\n", b"\xc3\xb1\n\xf1\n"),
            (b"\xf1\n\xc3\xb1\n", b"\xf1\n\xc3\xb1\n"),
            (&late, &late),
            // Bytes without a character.
            (b"\xf1\n\x81\n", b"\xf1\n\x81\n"),
            (b"\x9d", b"\x9d"),
            (b"", b""),
        ] {
            assert_eq!(decoded(bytes), expected, "{:?}", &bytes[..bytes.len().min(20)]);
        }
        assert!(decoded(&long).ends_with("aañ".as_bytes()));
    }

    #[test]
    fn characters_may_be_split_between_reads() {
        for (bytes, expected) in
            [(&b"\xe9\xe8t\xe9\n"[..], true), ("\u{10348}".as_bytes(), false), (b"\xf0\x90\x8d", false), (b"a", true)]
        {
            assert_eq!(is_windows_1252(ByteByByte(bytes)).unwrap(), expected, "{bytes:?}");
            assert_eq!(is_windows_1252(bytes).unwrap(), expected, "{bytes:?}");
        }
    }
}
