//! The text of a file: decompressed and decoded to UTF-8.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use encoding_rs_io::DecodeReaderBytesBuilder;

use super::counting_reader::CountingReader;
use super::encoding::{DetectingDecoder, Detection};
use super::explain::explain;
use super::format::Compression;
use super::source::Source;
use super::stable_file::SequentialReader;
use super::text::non_table_content;
use crate::error::Result;
use crate::input::{InputOptions, TextEncoding};

/// Decompresses a file and decodes it to UTF-8. The counter holds the bytes read from the file.
pub(crate) fn decode(
    source: &Source,
    file: SequentialReader,
    options: &InputOptions,
) -> Result<(Box<dyn Read + Send>, Arc<AtomicU64>)> {
    let (file, read) = CountingReader::new(file);
    let file = BufReader::with_capacity(1 << 18, file);
    let decompressed = decompress(source.compression, file).map_err(|error| explain(source, &error.into()))?;
    let mut decompressed = BufReader::with_capacity(1 << 16, decompressed);
    let start = decompressed.fill_buf().map_err(|error| explain(source, &error.into()))?;
    let is_utf16 = start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]);
    let has_mark = is_utf16 || start.starts_with(&[0xef, 0xbb, 0xbf]);
    // Binary files are refused later by their first bytes, which must not be decoded.
    let is_text = non_table_content(start).is_none();
    if !has_mark
        && is_text
        && options.encoding == TextEncoding::Auto
        && let Some(stable) = source.file()
    {
        let (stable, compression) = (stable.clone(), source.compression);
        let detection = Detection { stable, compression, is_windows_1252: source.is_windows_1252.clone() };
        return Ok((Box::new(DetectingDecoder::new(decompressed, detection)), read));
    }
    let is_windows_1252 = options.encoding == TextEncoding::Windows1252 && !has_mark;
    let encoding = is_windows_1252.then_some(encoding_rs::WINDOWS_1252);
    // A byte order mark takes precedence. UTF-8 is passed through unchanged, so that invalid bytes
    // are detected later.
    let mut builder = DecodeReaderBytesBuilder::new();
    builder.encoding(encoding).utf8_passthru(true).strip_bom(true).bom_override(true);
    let text = builder.build(decompressed);
    let text: Box<dyn Read + Send> =
        if is_utf16 { Box::new(RefuseReplacements { text, matched: 0 }) } else { Box::new(text) };
    Ok((text, read))
}

/// Refuses text in which the decoder replaced invalid characters.
struct RefuseReplacements<R> {
    text: R,
    /// How many bytes of the replacement character the last bytes match.
    matched: usize,
}

impl<R: Read> Read for RefuseReplacements<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();
        let read = self.text.read(into)?;
        for &byte in &into[..read] {
            self.matched = match byte {
                byte if byte == REPLACEMENT[self.matched] => self.matched + 1,
                byte => usize::from(byte == REPLACEMENT[0]),
            };
            if self.matched == REPLACEMENT.len() {
                return Err(std::io::Error::other(
                    "it is not valid UTF-16; it may be damaged: copy it again, or convert it to UTF-8",
                ));
            }
        }
        Ok(read)
    }
}

/// Returns a reader of decompressed bytes.
pub(crate) fn decompress(
    compression: Compression,
    file: impl BufRead + Send + 'static,
) -> std::io::Result<Box<dyn Read + Send>> {
    Ok(match compression {
        Compression::None => Box::new(file),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Compression::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
    })
}
