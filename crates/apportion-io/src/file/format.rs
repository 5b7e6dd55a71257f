//! File formats and compression, detected by a file's extension and its first bytes.

use std::path::Path;

use crate::error::{Error, Result};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, as a file or a stream (also known as Feather).
    Ipc,
    /// A sheet of an Excel workbook. It is read, but not written.
    Xlsx,
}

/// Compression of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not compressed.
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// Returns the format and compression for a file extension, if it is known.
pub(crate) fn format_of_path(path: &Path) -> Option<(Format, Compression)> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    let (stem, compression) = without_compression(&name);
    let format = match stem.rsplit_once('.')?.1 {
        "csv" => Format::Csv,
        "tsv" | "txt" | "tab" => Format::Tsv,
        "parquet" | "pq" => Format::Parquet,
        "arrow" | "ipc" | "feather" | "arrows" => Format::Ipc,
        "xlsx" | "xlsm" => Format::Xlsx,
        _ => return None,
    };
    Some((format, compression))
}

/// Splits the extension of a compression from a lowercase file name.
pub(crate) fn without_compression(name: &str) -> (&str, Compression) {
    match name.rsplit_once('.') {
        Some((stem, "gz")) => (stem, Compression::Gzip),
        Some((stem, "zst" | "zstd")) => (stem, Compression::Zstd),
        _ => (name, Compression::None),
    }
}

/// Returns the format and compression that the first bytes of a file suggest.
pub(crate) fn format_of_content(start: &[u8]) -> (Format, Compression) {
    match start {
        // A letter after the magic bytes would be part of a column name.
        [b'P', b'A', b'R', b'1', next, ..] if !next.is_ascii_graphic() => (Format::Parquet, Compression::None),
        [b'A', b'R', b'R', b'O', b'W', b'1', 0, ..] | [0xff, 0xff, 0xff, 0xff, ..] => (Format::Ipc, Compression::None),
        // Any ZIP archive: the parts inside show whether it is a workbook.
        [b'P', b'K', 3, 4, ..] => (Format::Xlsx, Compression::None),
        [0x1f, 0x8b, ..] => (Format::Csv, Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => (Format::Csv, Compression::Zstd),
        _ => (Format::Csv, Compression::None),
    }
}

pub(crate) fn is_text(format: Format) -> bool {
    matches!(format, Format::Csv | Format::Tsv)
}

/// Refuses a file whose first bytes clearly contradict its extension.
pub(crate) fn refuse_mismatched_extension(
    path: &Path,
    extension: (Format, Compression),
    content: (Format, Compression),
) -> Result<()> {
    let same = extension.0 == content.0 || is_text(extension.0) && is_text(content.0);
    // Compressed content has not been inspected, and Arrow streams can start in several ways.
    let unseen = extension.1 != Compression::None || extension.0 == Format::Ipc;
    if extension.1 == content.1 && (same || unseen) {
        return Ok(());
    }
    let name = |(format, compression): (Format, Compression)| match (format, compression) {
        (_, Compression::Gzip) => "gzip",
        (_, Compression::Zstd) => "Zstandard",
        (Format::Parquet, _) => "Parquet",
        (Format::Ipc, _) => "Arrow",
        (Format::Xlsx, _) => "an Excel workbook",
        _ => "plain text",
    };
    let (declared, found) = (name(extension), name(content));
    Err(Error::file(
        path,
        format!("its extension says {declared}, but its content is {found}; rename it, or copy it again"),
    ))
}

/// Returns the default separator of a text format.
pub(crate) fn default_delimiter(format: Format) -> u8 {
    match format {
        Format::Tsv => b'\t',
        _ => b',',
    }
}
