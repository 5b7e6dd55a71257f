//! Arrow files and streams.
//!
//! Oracle: the arrow crate, in one thread and without our code, reads the same number of rows; every array is valid.

use std::io::Cursor;
use std::panic::catch_unwind;

use apportion_io::InputOptions;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::ArrowError;

use super::files::{Read, check_program, check_table, in_threads};
use crate::Outcome;
use crate::draw::{Draw, hash};
use crate::scratch;

const NAME: &str = "table.arrow";

/// Reads bytes as an Arrow file or stream.
pub(super) fn run(data: &[u8]) -> Outcome {
    let choice = hash(data);
    let options = InputOptions::default();
    scratch::with_files(&[(NAME, data)], |folder| {
        let path = folder.join(NAME).to_string_lossy().into_owned();
        let several = choice & 1 == 0;
        let Some(read) = in_threads(several, || Read::file(&path, &options)) else { return Outcome::Refused };
        read.check_arrays();
        // The arrow crate reads only accepted input, because it may end the process on input that we must refuse.
        let rows = read.rows();
        assert_eq!(rows_seen(data), Some(rows), "rows that the arrow crate sees, and rows that were read");
        let has_labels = in_threads(several, || check_table(&path, &options, rows));
        if has_labels && choice >> 8 & 3 == 0 {
            let output = ["out.csv", "out.parquet"][(choice >> 10 & 1) as usize];
            in_threads(several, || check_program(folder, NAME, output, rows));
        }
        Outcome::Accepted
    })
}

/// Returns the number of rows that the arrow crate reads, from a file or a stream depending on the first bytes, or
/// `None` if it fails.
fn rows_seen(data: &[u8]) -> Option<usize> {
    let sum = |batches: &mut dyn Iterator<Item = Result<RecordBatch, ArrowError>>| -> Option<usize> {
        batches.map(|batch| batch.ok().map(|batch| batch.num_rows())).sum()
    };
    let read = || match data.starts_with(b"ARROW1") {
        true => sum(&mut FileReader::try_new(Cursor::new(data), None).ok()?),
        false => sum(&mut StreamReader::try_new(Cursor::new(data), None).ok()?),
    };
    catch_unwind(read).ok().flatten()
}

/// Damages bytes, mostly near the start and the end, where the metadata is.
pub(super) fn mutate(input: &[u8], draw: &mut Draw<'_>) -> Vec<u8> {
    const NEAR: usize = 1200;
    let at = match draw.below(3) {
        0 => 0..input.len().min(NEAR),
        1 => input.len().saturating_sub(NEAR)..input.len(),
        _ => 0..input.len(),
    };
    let damaged = crate::mutate::bytes(&input[at.clone()], draw);
    [&input[..at.start], &damaged, &input[at.end..]].concat()
}
