//! Parquet files.
//!
//! Oracle: the number of rows is the one in the footer, which is read here without the parquet crate; every array is
//! valid. If only the parquet crate accepts the footer, because it tolerates violations of the format, the row count
//! that it finds there is used.

use std::panic::catch_unwind;

use ::parquet::file::metadata::ParquetMetaDataReader;
use apportion_io::InputOptions;
use bytes::Bytes;

use super::files::{Read, check_program, check_table, in_threads};
use crate::Outcome;
use crate::draw::hash;
use crate::parquet_file::ParquetFile;
use crate::scratch;

const NAME: &str = "table.parquet";

/// Reads bytes as a Parquet file.
pub(super) fn run(data: &[u8]) -> Outcome {
    let choice = hash(data);
    let options = InputOptions { batch_rows: [7, 1 << 16][(choice & 1) as usize], ..InputOptions::default() };
    let stated = ParquetFile::parse(data).and_then(|file| file.rows()).or_else(|| forgiven(data));
    scratch::with_files(&[(NAME, data)], |folder| {
        let path = folder.join(NAME).to_string_lossy().into_owned();
        let several = choice >> 1 & 3 != 0;
        let read = in_threads(several, || Read::file(&path, &options));
        if let Some(read) = &read {
            assert_eq!(stated, Some(read.rows() as i64), "rows that the footer states, and rows that were read");
            read.check_arrays();
        }
        // A table reads only some of the columns; the others may be damaged.
        let Some(rows) = stated.and_then(|rows| usize::try_from(rows).ok()) else { return Outcome::Refused };
        let has_labels = in_threads(several, || check_table(&path, &options, rows));
        if has_labels && choice >> 8 & 3 == 0 {
            let output = ["out.csv", "out.parquet"][(choice >> 10 & 1) as usize];
            in_threads(several, || check_program(folder, NAME, output, rows));
        }
        if read.is_some() || has_labels { Outcome::Accepted } else { Outcome::Refused }
    })
}

/// Returns the number of rows that the parquet crate finds in a footer.
fn forgiven(data: &[u8]) -> Option<i64> {
    let data = Bytes::copy_from_slice(data);
    let reader = catch_unwind(|| ParquetMetaDataReader::new().parse_and_finish(&data)).ok()?.ok()?;
    Some(reader.file_metadata().num_rows())
}
