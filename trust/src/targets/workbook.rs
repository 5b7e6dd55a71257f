//! Excel workbooks.
//!
//! Oracle: calamine, without our code, finds values in the same number of rows of the first sheet.

use std::collections::BTreeSet;
use std::io::{Cursor, Read as _, Write};

use apportion_io::InputOptions;
use calamine::{DataRef, Reader, SheetType, SheetVisible, Xlsx};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::files::{Read, check_program, check_table, in_threads};
use crate::Outcome;
use crate::draw::{Draw, hash};
use crate::mutate::LONGEST;
use crate::scratch;

const NAME: &str = "table.xlsx";

/// Reads bytes as a workbook.
pub(super) fn run(data: &[u8]) -> Outcome {
    let choice = hash(data);
    let options = InputOptions { batch_rows: [1, 3, 1 << 16][(choice >> 20) as usize % 3], ..InputOptions::default() };
    scratch::with_files(&[(NAME, data)], |folder| {
        let path = folder.join(NAME).to_string_lossy().into_owned();
        let several = choice & 1 == 0;
        let Some(read) = in_threads(several, || Read::file(&path, &options)) else { return Outcome::Refused };
        read.check_arrays();
        let rows = read.rows();
        assert_eq!(rows_seen(data), Some(rows + 1), "rows that calamine sees, and rows that were read with the header");
        let has_labels = in_threads(several, || check_table(&path, &options, rows));
        if has_labels && choice >> 8 & 3 == 0 {
            let output = ["out.csv", "out.parquet"][(choice >> 10 & 1) as usize];
            in_threads(several, || check_program(folder, NAME, output, rows));
        }
        Outcome::Accepted
    })
}

/// Returns the number of rows with values in the first visible sheet; `None` if it cannot be read.
fn rows_seen(data: &[u8]) -> Option<usize> {
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(data.to_vec())).ok()?;
    let sheets = workbook.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let sheets: Vec<_> = sheets.cloned().collect();
    let sheet = sheets.iter().find(|sheet| sheet.visible == SheetVisible::Visible).or(sheets.first())?;
    let mut cells = workbook.worksheet_cells_reader(&sheet.name).ok()?;
    let mut rows = BTreeSet::new();
    while let Some(cell) = cells.next_cell().ok()? {
        let is_empty = match cell.get_value() {
            DataRef::Empty => true,
            DataRef::String(text) => text.is_empty(),
            DataRef::SharedString(text) => text.is_empty(),
            _ => false,
        };
        if !is_empty {
            rows.insert(cell.get_position().0);
        }
    }
    Some(rows.len())
}

/// Damages bytes, or the text of one part.
pub(super) fn mutate(input: &[u8], draw: &mut Draw<'_>) -> Vec<u8> {
    let inside = if draw.one_in(3) { None } else { mutated_part(input, draw) };
    inside.unwrap_or_else(|| crate::mutate::bytes(input, draw))
}

/// Returns the workbook with one part damaged, and valid checksums.
fn mutated_part(input: &[u8], draw: &mut Draw<'_>) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(input)).ok()?;
    let chosen = draw.below(archive.len().max(1) as u64) as usize;
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let part = archive.by_index(index).ok()?;
        let (name, mut text) = (part.name().ok()?.into_owned(), Vec::new());
        part.take(LONGEST as u64).read_to_end(&mut text).ok()?;
        if index == chosen {
            text = crate::mutate::text(&text, draw);
        }
        writer.start_file(name, SimpleFileOptions::default()).ok()?;
        writer.write_all(&text).ok()?;
    }
    Some(writer.finish().ok()?.into_inner())
}
