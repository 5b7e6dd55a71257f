//! CSV and TSV: plain, gzip or Zstandard; UTF-8, UTF-16 or Latin-1; any separator.
//!
//! Oracle: the csv crate reads the same cells, all of them in UTF-8; the program writes as many rows as it reads.

use apportion_io::{InputOptions, TextEncoding};

use super::files::{Read, check_program, check_table, in_threads};
use crate::Outcome;
use crate::draw::hash;
use crate::mutate::{GZIP, LONGEST, ZSTANDARD, gzip, unpack, zstandard};
use crate::scratch;

/// The separators that are detected from the first line.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Reads bytes as a text table. Options are derived from the bytes.
#[allow(clippy::needless_update)] // options added later keep their defaults
pub(super) fn run(data: &[u8]) -> Outcome {
    let choice = hash(data);
    let is_packed = data.starts_with(&GZIP) || data.starts_with(&ZSTANDARD);
    let Some(plain) = (if is_packed { unpack(data) } else { Some(data.to_vec()) }) else {
        return refused(data, choice);
    };
    let options = InputOptions {
        encoding: if choice >> 8 & 7 == 0 && encoding_rs::Encoding::for_bom(&plain).is_none() {
            TextEncoding::Windows1252
        } else {
            TextEncoding::Auto
        },
        delimiter: (choice >> 16 & 3 == 0).then(|| SEPARATORS[(choice >> 18 & 3) as usize]),
        batch_rows: [1, 3, 1 << 16][(choice >> 20) as usize % 3],
        ..InputOptions::default()
    };
    // Plain text is sometimes compressed here; it must then be read in the same way.
    let (name, bytes) = match choice >> 24 & 7 {
        _ if data.starts_with(&GZIP) => ("table.csv.gz", data.to_vec()),
        _ if data.starts_with(&ZSTANDARD) => ("table.csv.zst", data.to_vec()),
        0 => ("table.csv.gz", gzip(data)),
        1 => ("table.tsv.zst", zstandard(data)),
        2 => ("table.tsv", data.to_vec()),
        _ => ("table.csv", data.to_vec()),
    };
    scratch::with_files(&[(name, &bytes)], |folder| {
        let path = folder.join(name).to_string_lossy().into_owned();
        let several = choice >> 28 & 1 == 0;
        let Some(read) = in_threads(several, || Read::file(&path, &options)) else { return Outcome::Refused };
        if plain.len() < LONGEST {
            check_cells(&read, &plain, &options);
        }
        let rows = read.rows();
        let has_labels = in_threads(several, || check_table(&path, &options, rows));
        let defaults = options.encoding == TextEncoding::Auto && options.delimiter.is_none();
        if defaults && has_labels && choice >> 32 & 7 == 0 {
            let output = ["out.csv", "out.parquet"][(choice >> 36 & 1) as usize];
            in_threads(several, || check_program(folder, name, output, rows));
        }
        Outcome::Accepted
    })
}

/// Checks that input that cannot be decompressed is refused.
fn refused(data: &[u8], choice: u64) -> Outcome {
    let name = if data.starts_with(&GZIP) { "table.csv.gz" } else { "table.csv.zst" };
    let read = scratch::with_file(name, data, |path| {
        in_threads(choice & 1 == 0, || Read::file(path, &InputOptions::default()).is_some())
    });
    assert!(!read, "a damaged {name} was accepted");
    Outcome::Refused
}

/// Checks names and cells against those that the csv crate reads.
fn check_cells(read: &Read, plain: &[u8], options: &InputOptions) {
    let text = decoded(plain, options.encoding == TextEncoding::Windows1252);
    let (named, text) = split_separator(&text);
    let separators = options.delimiter.or(named).map_or(SEPARATORS.to_vec(), |own| vec![own]);
    let cells = read.cells();
    let is_same = |separator: &u8| {
        expected(text, *separator).is_some_and(|(names, rows)| names.len() == read.names.len() && rows == cells)
    };
    assert!(separators.iter().any(is_same), "other cells than the csv crate sees, among {} rows", cells.len());
}

/// Returns the text in UTF-8 without a byte order mark. Invalid text is unchanged.
fn decoded(plain: &[u8], windows_1252: bool) -> Vec<u8> {
    match encoding_rs::Encoding::for_bom(plain) {
        Some((encoding, length)) if encoding == encoding_rs::UTF_8 => plain[length..].to_vec(),
        Some((encoding, _)) => encoding.decode(plain).0.into_owned().into_bytes(),
        None if windows_1252 || is_windows_1252(plain) => {
            encoding_rs::WINDOWS_1252.decode(plain).0.into_owned().into_bytes()
        }
        None => plain.to_vec(),
    }
}

/// Returns whether text is not UTF-8, has no UTF-8 character except ASCII, and is defined in Windows-1252.
fn is_windows_1252(text: &[u8]) -> bool {
    let is_character = |at: usize| {
        (2..=4).any(|length| text.get(at..at + length).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok()))
    };
    let others: Vec<usize> = (0..text.len()).filter(|&at| !text[at].is_ascii()).collect();
    let undefined = [0x81, 0x8d, 0x8f, 0x90, 0x9d];
    !others.is_empty() && !others.iter().any(|&at| is_character(at) || undefined.contains(&text[at]))
}

/// Splits a first line such as `sep=;` from the text.
fn split_separator(text: &[u8]) -> (Option<u8>, &[u8]) {
    let is_line = |line: &[u8]| line.len() == 5 && line[..4].eq_ignore_ascii_case(b"sep=") && line[4] != b'"';
    let end = text.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(text.len());
    match text[..end].last() {
        Some(&own) if is_line(&text[..end]) && (own == b'\t' || own.is_ascii_punctuation()) && end < text.len() => {
            (Some(own), &text[end..])
        }
        _ => (None, text),
    }
}

type Cells = (Vec<String>, Vec<Vec<String>>);

/// Returns names and cells, or `None` if a line has another number of cells or a cell is not UTF-8.
fn expected(text: &[u8], separator: u8) -> Option<Cells> {
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(text);
    let fields = |record: &csv::ByteRecord| -> Option<Vec<String>> {
        record.iter().map(|field| String::from_utf8(field.to_vec()).ok()).collect()
    };
    let names = fields(reader.byte_headers().ok()?)?;
    let rows = reader.byte_records().map(|record| fields(&record.ok()?)).collect::<Option<Vec<_>>>()?;
    Some((names, rows))
}
