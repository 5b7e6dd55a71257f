//! Files that cannot be read, recognized by their extension or first bytes, and how to convert them.

use std::path::Path;

use super::format::without_compression;
use crate::error::{Error, Result};

const STATA: &str = "Stata files cannot be read; in Stata, save it as CSV: export delimited using \"x.csv\"";
const R: &str = "R data files cannot be read; in R, save the data frame as Parquet or CSV: \
                 arrow::write_parquet(x, \"x.parquet\") or write.csv(x, \"x.csv\", row.names = FALSE)";
const SPSS: &str =
    "SPSS files cannot be read; in SPSS, save it as CSV: SAVE TRANSLATE OUTFILE='x.csv' /TYPE=CSV /FIELDNAMES.";
const SAS: &str =
    "SAS files cannot be read; in SAS, save it as CSV: PROC EXPORT DATA=x OUTFILE=\"x.csv\" DBMS=CSV; RUN;";
const JSON: &str = "JSON files cannot be read; convert it to Parquet or CSV, for example in DuckDB: \
                    COPY (FROM 'x.json') TO 'x.parquet'";
const XLS: &str = "old Excel workbooks (.xls) and workbooks with a password cannot be read; in Excel, save it as .xlsx \
                   without a password, or as CSV";
pub(super) const XLSB: &str = "binary Excel workbooks (.xlsb) cannot be read; in Excel, save it as .xlsx or as CSV";
pub(super) const ODS: &str =
    "OpenDocument spreadsheets (.ods) cannot be read; in LibreOffice, save it as .xlsx or as CSV";
pub(super) const ZIP: &str = "ZIP archives cannot be read; unpack it first";
const SQLITE: &str = "SQLite databases cannot be read; export the table as CSV";
const XML: &str = "web pages and XML files cannot be read; download or export the table as CSV";
const BZIP2: &str = "files compressed with bzip2 or xz cannot be read; decompress it, or compress it with gzip or zstd";

/// Refuses a file that another program must convert first.
pub(crate) fn refuse_foreign_formats(path: &Path, start: &[u8]) -> Result<()> {
    match of_extension(path).or_else(|| of_content(start)) {
        Some(problem) => Err(Error::file(path, problem)),
        None => Ok(()),
    }
}

fn of_extension(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    Some(match without_compression(&name).0.rsplit_once('.')?.1 {
        "dta" => STATA,
        "rds" | "rda" | "rdata" => R,
        "sav" | "zsav" | "por" => SPSS,
        "sas7bdat" | "xpt" => SAS,
        "json" | "jsonl" | "ndjson" | "geojson" => JSON,
        "xls" => XLS,
        "xlsb" => XLSB,
        "ods" => ODS,
        "zip" => ZIP,
        _ => return None,
    })
}

/// Returns why a file that starts with these bytes cannot be read. Files that may be text are left to the parser.
pub(crate) fn of_content(start: &[u8]) -> Option<&'static str> {
    let begins = |magic: &[u8]| start.starts_with(magic);
    // Stata before version 13: version, byte order, file type, and an unused byte.
    let is_old_stata = matches!(start, [102..=115, 1 | 2, 1, 0, ..]);
    // Serialized R objects: format, version of the format, version of R.
    let is_serialized = matches!(start, [b'X', b'\n', 0, 0, 0, 2 | 3, ..]);
    let text = start.trim_ascii_start();
    let begins_text = |word: &[u8]| text.len() >= word.len() && text[..word.len()].eq_ignore_ascii_case(word);
    Some(if begins(b"<stata_dta>") || is_old_stata {
        STATA
    } else if begins(b"RDX2\n") || begins(b"RDX3\n") || begins(b"RDA2\n") || begins(b"RDA3\n") || is_serialized {
        R
    } else if begins(b"$FL2@(#)") || begins(b"$FL3@(#)") {
        SPSS
    } else if begins(&SAS_MAGIC) {
        SAS
    } else if begins(&[0xd0, 0xcf, 0x11, 0xe0]) {
        XLS
    } else if begins(b"SQLite format 3\0") {
        SQLITE
    } else if begins(b"BZh") && start.get(4..10) == Some(b"1AY&SY") || begins(b"\xfd7zXZ\0") {
        BZIP2
    } else if begins_text(b"<!doctype") || begins_text(b"<html") || begins_text(b"<?xml") {
        XML
    } else if is_json(text) {
        JSON
    } else {
        return None;
    })
}

/// The first bytes of SAS data sets.
const SAS_MAGIC: [u8; 20] = *b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60\xb3\x14\x11\xcf";

/// Returns whether text starts as a JSON object, or as an array of objects or arrays.
fn is_json(text: &[u8]) -> bool {
    let Some((first, rest)) = text.split_first() else { return false };
    let next = rest.trim_ascii_start().first();
    match first {
        b'{' => matches!(next, Some(b'"')),
        b'[' => matches!(next, Some(b'{' | b'[')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognized_by_extension_and_by_content() {
        for (name, start, expected) in [
            ("x.dta", &b"a,b\n"[..], Some(STATA)),
            ("x.RData", b"\x1f\x8b\x08", Some(R)),
            ("x.rds.gz", b"\x1f\x8b\x08", Some(R)),
            ("x.geojson", b"{}", Some(JSON)),
            ("x.ODS", b"PK\x03\x04", Some(ODS)),
            ("x.csv", b"<stata_dta><header>", Some(STATA)),
            ("x", b"\x72\x02\x01\x00", Some(STATA)),
            ("x", b"RDX3\nX\n", Some(R)),
            ("x", b"X\n\0\0\0\x03\0\x04", Some(R)),
            ("x", b"$FL2@(#) IBM SPSS", Some(SPSS)),
            ("x", b"\n [ {\"a\": 1}]", Some(JSON)),
            ("x.csv", b"{\n  \"type\": 1}", Some(JSON)),
            ("x", b"\xd0\xcf\x11\xe0\xa1\xb1", Some(XLS)),
            ("x.csv", b"{id},p_white\n", None),
            ("x.csv", b"[id],[p_white]\n", None),
            ("x.csv", b"X\nY\n", None),
            ("x.csv", b"BZh\n1\n", None),
            ("x.csv", b"sav,rds\n", None),
            ("x.csv", b"", None),
        ] {
            let found = of_extension(Path::new(name)).or_else(|| of_content(start));
            assert_eq!(found, expected, "{name} {start:?}");
            assert!(found.is_none_or(|problem| problem.contains("cannot be read; ") && !problem.contains('\n')));
        }
    }
}
