//! Excel workbooks (.xlsx): the cells of one sheet become batches of text columns.
//!
//! The file is read into memory as a whole, and its parts are unpacked once before anything else, so that their size is
//! known and damage is found by their checksums. The cells of the sheet are then decoded row by row.

use std::fmt::Write;
use std::fs::File;
use std::io::{Cursor, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use apportion::text::{Message, Setting, count};
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use calamine::{Cell, CellErrorType, DataRef, ExcelDateTime, Reader, SheetType, SheetVisible, Xlsx, XlsxCellReader};
use zip::ZipArchive;

use super::batches::{OpenedFile, column_indices, refuse_compressed};
use super::explain::explain;
use super::foreign::{ODS, XLSB, ZIP};
use super::guard::guarded;
use super::read_ahead::produce;
use super::source::Source;
use super::stable_file::{SequentialReader, StableFile};
use super::text::{BATCH_BYTES, BATCH_CELLS, Column, csv_error};
use crate::error::Result;
use crate::input::{InputOptions, Reading};
use crate::table::did_you_mean;

/// Maximum size of a workbook, and of its parts when they are unpacked, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// Maximum number of shared strings of a workbook, which are all held in memory.
const MAX_STRINGS: u64 = 1 << 23;

/// Limits of a sheet in Excel.
const MAX_ROWS: u32 = 1 << 20;
const MAX_COLUMNS: u32 = 1 << 14;

/// The first number beyond the dates of Excel: January 1, 10000.
const MAX_DAYS: f64 = 2_958_466.0;

/// Maximum number of sheets that a message lists.
const LISTED: usize = 5;

type Workbook = Xlsx<Cursor<Vec<u8>>>;

/// The sheet that is read, and its columns.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    name: String,
    /// The names of the other sheets.
    others: Vec<String>,
    names: Vec<String>,
    /// The first column, and the row of the names.
    first_column: u32,
    header: u32,
}

impl Sheet {
    /// Returns a sentence about the choice of the sheet, if there are several.
    pub(super) fn note(&self, path: &Path) -> Option<Message> {
        let note = || {
            let (path, name, others) = (path.display(), &self.name, quoted_list(&self.others));
            let note = format!("{path}: sheet {name:?} is read, not {others}; choose another with ");
            Message::from(note) + Setting::Sheet.with("NAME")
        };
        (!self.others.is_empty()).then(note)
    }

    /// Returns the schema. All columns are text, as in text files.
    pub(super) fn schema(&self) -> SchemaRef {
        let fields = self.names.iter().map(|name| Field::new(name, DataType::Utf8, true));
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }
}

/// Finds the sheet to read and the names of its columns.
pub(crate) fn find_sheet(source: &Source, options: &InputOptions) -> Result<Sheet> {
    refuse_compressed(source)?;
    let Some(stable) = source.file() else { return Ok(Sheet::default()) };
    let found = guarded(|| {
        let bytes = read_file(stable, stable.open()?)?;
        check_parts(&bytes, MAX_BYTES, MAX_STRINGS)?;
        let mut workbook = open(bytes)?;
        let (name, others) = choose_sheet(&workbook, options.sheet.as_deref())?;
        let mut rows = SheetRows::new(&mut workbook, &name, options.max_line)?;
        let header = rows.read_header()?;
        let (first_column, names) = (rows.first_column, std::mem::take(&mut rows.names));
        Ok(Sheet { name, others, names, first_column, header })
    });
    found.map_err(|error| explain(source, &error))
}

/// Opens the sheet that was found, and reads the columns for which `include` returns true.
pub(crate) fn open_workbook(
    source: &Source,
    stable: &Arc<StableFile>,
    options: &InputOptions,
    include: &dyn Fn(&str) -> bool,
    reading: Reading,
) -> Result<OpenedFile> {
    let (sheet, failed) = (source.sheet.clone(), |error: ArrowError| explain(source, &error));
    let indices = column_indices(source, &sheet.schema(), include)?;
    let schema = Arc::new(sheet.schema().project(&indices).map_err(failed)?);
    let bytes = stable.open().map_err(ArrowError::from).and_then(|file| read_file(stable, file)).map_err(failed)?;
    let batch_rows = options.batch_rows.min(BATCH_CELLS / sheet.names.len().max(1)).max(1);
    let (read, size, max_line) = (Arc::new(AtomicU64::new(0)), stable.size(), options.max_line);
    let (batch_schema, progress) = (schema.clone(), read.clone());
    let rows = produce(move |send| {
        let mut workbook = open(bytes)?;
        let mut rows = SheetRows::new(&mut workbook, &sheet.name, max_line)?;
        rows.skip_header(&sheet)?;
        rows.refused =
            (0..sheet.names.len()).map(|index| reading != Reading::Copy && indices.contains(&index)).collect();
        while let Some(batch) = rows.batch(&batch_schema, &indices, batch_rows)? {
            progress.store((rows.share_read() * size as f64) as u64, Ordering::Relaxed);
            if !send(batch) {
                break;
            }
        }
        Ok(())
    });
    Ok(OpenedFile { schema, rows, read })
}

fn read_file(stable: &Arc<StableFile>, file: File) -> std::result::Result<Vec<u8>, ArrowError> {
    if stable.size() > MAX_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    SequentialReader::new(stable, file).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn too_large() -> ArrowError {
    csv_error(format!("the workbook takes more than {} GiB; save the sheet as CSV", MAX_BYTES >> 30))
}

/// Returns the error of a decoder.
fn damaged(error: impl std::error::Error) -> ArrowError {
    ArrowError::ExternalError(error.to_string().into())
}

/// Unpacks all parts, to check their size, the number of shared strings and checksums: any of them may be a sheet.
/// Refuses archives that are not workbooks.
fn check_parts(bytes: &[u8], max_bytes: u64, max_strings: u64) -> std::result::Result<(), ArrowError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    let has = |part: &str| archive.file_names().flatten().any(|name| name.eq_ignore_ascii_case(part));
    match () {
        () if has("xl/workbook.bin") => return Err(csv_error(XLSB)),
        () if has("content.xml") && has("mimetype") => return Err(csv_error(ODS)),
        () if !has("_rels/.rels") => return Err(csv_error(ZIP)),
        () => {}
    }
    let (mut left, mut strings) = (max_bytes, StringCounter { left: max_strings, ..StringCounter::default() });
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(damaged)?;
        // The names have no checksum, but they are stored twice. Without its name, a part would be missed silently.
        if local_name(bytes, part.header_start()) != Some(part.name_raw()) {
            return Err(ArrowError::ExternalError("a part has two names".into()));
        }
        let unpacked = std::io::copy(&mut part.take(left + 1), &mut strings);
        if strings.is_exceeded {
            let limit = count(max_strings);
            return Err(csv_error(format!(
                "the workbook has more than {limit} different texts; save the sheet as CSV"
            )));
        }
        let unpacked = unpacked.map_err(damaged)?;
        left = left.checked_sub(unpacked).ok_or_else(too_large)?;
    }
    Ok(())
}

/// Counts the shared strings of XML that is written to it: the elements `si`, with any prefix. Fails if there are too
/// many.
#[derive(Default)]
struct StringCounter {
    left: u64,
    is_exceeded: bool,
    /// The position in the name of an element, without its prefix.
    name: Name,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Name {
    /// Outside of the name of an element.
    #[default]
    Outside,
    Start,
    S,
    Si,
    Other,
}

impl std::io::Write for StringCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for &byte in bytes {
            self.name = match (self.name, byte) {
                (_, b'<') => Name::Start,
                (Name::Outside, _) => Name::Outside,
                (Name::Si, b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n') => {
                    self.is_exceeded |= self.left == 0;
                    self.left = self.left.saturating_sub(1);
                    Name::Outside
                }
                (_, b'>' | b'/' | b' ' | b'\t' | b'\r' | b'\n') => Name::Outside,
                (_, b':') => Name::Start,
                (Name::Start, b's') => Name::S,
                (Name::S, b'i') => Name::Si,
                _ => Name::Other,
            };
        }
        if self.is_exceeded { Err(std::io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the name in the header before a part.
fn local_name(bytes: &[u8], header: u64) -> Option<&[u8]> {
    let header = bytes.get(usize::try_from(header).ok()?..)?;
    let length = u16::from_le_bytes([*header.get(26)?, *header.get(27)?]);
    header.get(30..30 + usize::from(length))
}

fn open(bytes: Vec<u8>) -> std::result::Result<Workbook, ArrowError> {
    Xlsx::new(Cursor::new(bytes)).map_err(damaged)
}

/// Returns the sheet with a name, or the first visible one, and the names of the others.
fn choose_sheet(workbook: &Workbook, wanted: Option<&str>) -> std::result::Result<(String, Vec<String>), ArrowError> {
    let sheets = workbook.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let sheets: Vec<_> = sheets.collect();
    let mut names: Vec<String> = sheets.iter().map(|sheet| sheet.name.clone()).collect();
    let index = match wanted {
        Some(wanted) => names.iter().position(|name| name == wanted).ok_or_else(|| no_sheet(wanted, &names))?,
        None => sheets.iter().position(|sheet| sheet.visible == SheetVisible::Visible).unwrap_or(0),
    };
    if names.is_empty() {
        return Err(csv_error("the workbook has no sheet with cells; save the table as CSV"));
    }
    let name = names.remove(index);
    Ok((name, names))
}

fn no_sheet(wanted: &str, names: &[String]) -> ArrowError {
    let suggestion = did_you_mean(wanted, names.iter().map(String::as_str));
    csv_error(format!("there is no sheet {wanted:?}{suggestion}; the sheets are {}", quoted_list(names)))
}

/// Lists the first few names and the number of others.
fn quoted_list(names: &[String]) -> String {
    let listed = names.iter().take(LISTED).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if names.len() > LISTED { format!("{listed} and {} more", names.len() - LISTED) } else { listed }
}

/// Reads the rows of a sheet that have values, one at a time.
struct SheetRows<'a> {
    cells: XlsxCellReader<'a, Cursor<Vec<u8>>>,
    sheet: String,
    /// The first cell of the next row.
    pending: Option<Cell<DataRef<'a>>>,
    is_ended: bool,
    /// The row and the number of rows with values so far, including the header.
    row: Option<u32>,
    rows: u64,
    /// The values of the row: the column of each, and its text.
    fields: Vec<(u32, Range<usize>)>,
    text: String,
    names: Vec<String>,
    first_column: u32,
    /// Whether error values of each column are refused; all are if empty. Others are text, such as `#N/A`.
    refused: Vec<bool>,
    max_line: usize,
}

type Rows<T> = std::result::Result<T, ArrowError>;

impl<'a> SheetRows<'a> {
    fn new(workbook: &'a mut Workbook, sheet: &str, max_line: usize) -> Rows<SheetRows<'a>> {
        let cells = workbook.worksheet_cells_reader(sheet).map_err(damaged)?;
        Ok(SheetRows {
            cells,
            sheet: sheet.to_owned(),
            pending: None,
            is_ended: false,
            row: None,
            rows: 0,
            fields: Vec::new(),
            text: String::new(),
            names: Vec::new(),
            first_column: 0,
            refused: Vec::new(),
            max_line,
        })
    }

    /// Reads the names of the columns from the first row with values. Returns the row.
    fn read_header(&mut self) -> Rows<u32> {
        let Some(row) = self.advance()? else {
            return Err(csv_error(format!("the sheet {:?} is empty; choose another", self.sheet)));
        };
        let (first, last) = (self.fields.first().map_or(0, |own| own.0), self.fields.last().map_or(0, |own| own.0));
        // A column without a name at the left, such as row numbers, is part of the table.
        self.first_column = self.cells.dimensions().start.1.min(first);
        for column in self.first_column..=last {
            let name = self.fields.iter().find(|(own, _)| *own == column).map(|(_, range)| &self.text[range.clone()]);
            self.names.push(name.map_or_else(|| column_letters(column), str::to_owned));
        }
        Ok(row)
    }

    /// Moves to the header that was found before.
    fn skip_header(&mut self, sheet: &Sheet) -> Rows<()> {
        self.names.clone_from(&sheet.names);
        self.first_column = sheet.first_column;
        match self.advance()? {
            Some(row) if row == sheet.header => Ok(()),
            _ => Err(csv_error("the sheet has other rows than before; run the command again")),
        }
    }

    /// Moves to the next row with values.
    fn advance(&mut self) -> Rows<Option<u32>> {
        self.fields.clear();
        self.text.clear();
        let mut current = None;
        loop {
            let cell = match self.pending.take() {
                Some(cell) => Some(cell),
                None if self.is_ended => None,
                None => self.cells.next_cell().map_err(damaged)?,
            };
            let Some(cell) = cell else {
                self.is_ended = true;
                break;
            };
            let (row, column) = cell.get_position();
            if current.is_some_and(|current| current != row) {
                self.pending = Some(cell);
                break;
            }
            let start = self.text.len();
            if let Err(error) = write_value(cell.get_value(), &mut self.text) {
                if self.is_refused(column) {
                    return Err(self.error_value(row, column, error));
                }
                self.text += &error.to_string();
            }
            if self.text.len() == start {
                continue;
            }
            if current.is_none() {
                self.rows += 1;
            }
            self.check_position(row, column)?;
            self.fields.push((column, start..self.text.len()));
            (current, self.row) = (Some(row), Some(row));
            if self.text.len() > self.max_line {
                let problem =
                    format!("row {} is longer than {} MiB; allow longer rows with ", row + 1, self.max_line >> 20);
                return Err(csv_error(Message::from(problem) + Setting::MaxLine));
            }
        }
        Ok(current)
    }

    /// Refuses cells that are out of order or beyond the limits of Excel.
    fn check_position(&self, row: u32, column: u32) -> Rows<()> {
        let is_after = match (self.row, self.fields.last()) {
            (Some(last), Some((last_column, _))) => row == last && column > *last_column,
            (Some(last), None) => row > last,
            (None, _) => true,
        };
        if is_after && row < MAX_ROWS && column < MAX_COLUMNS {
            return Ok(());
        }
        Err(ArrowError::ExternalError(format!("the cell {} is out of place", cell_name(row, column)).into()))
    }

    /// Returns whether an error value of a column is refused.
    fn is_refused(&self, column: u32) -> bool {
        let index = column.checked_sub(self.first_column);
        index.and_then(|index| self.refused.get(index as usize)).copied().unwrap_or(true)
    }

    fn error_value(&self, row: u32, column: u32, value: &CellErrorType) -> ArrowError {
        let (sheet, cell) = (&self.sheet, cell_name(row, column));
        let name = column.checked_sub(self.first_column).and_then(|index| self.names.get(index as usize));
        let place = match name {
            Some(name) => format!("sheet {sheet:?}, row {}, column {name:?} (cell {cell})", self.data_row()),
            None => format!("sheet {sheet:?}, cell {cell}"),
        };
        csv_error(format!("{place}: the value is the error {value}; correct the formula, or clear the cell"))
    }

    /// Returns the number of the row that is read, counted from 1 without the header.
    fn data_row(&self) -> u64 {
        if self.fields.is_empty() { self.rows } else { self.rows - 1 }
    }

    /// Returns about how much of the sheet has been read, from 0 to 1.
    fn share_read(&self) -> f64 {
        let (row, last) = (self.row.unwrap_or(0), self.cells.dimensions().end.0);
        f64::from(row.min(last) + 1) / f64::from(last + 1)
    }

    /// Returns the next rows of some columns; `None` at the end.
    fn batch(&mut self, schema: &SchemaRef, indices: &[usize], batch_rows: usize) -> Rows<Option<RecordBatch>> {
        let mut columns: Vec<Column> = indices.iter().map(|_| Column::new(batch_rows)).collect();
        let mut by_column: Vec<Range<usize>> = vec![0..0; self.names.len()];
        let (mut rows, mut bytes) = (0, 0);
        while rows < batch_rows && bytes < BATCH_BYTES {
            let Some(row) = self.advance()? else { break };
            by_column.fill(0..0);
            for (column, range) in &self.fields {
                let index = column.checked_sub(self.first_column).map(|index| index as usize);
                match index.and_then(|index| by_column.get_mut(index)) {
                    Some(own) => *own = range.clone(),
                    None => return Err(self.unnamed_column(row, *column)),
                }
            }
            for (column, &index) in columns.iter_mut().zip(indices) {
                column.push(self.text[by_column[index].clone()].as_bytes());
            }
            rows += 1;
            bytes += self.text.len();
        }
        if rows == 0 {
            return Ok(None);
        }
        let arrays = columns.into_iter().map(Column::into_array).collect::<Rows<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(schema.clone(), arrays, &options).map(Some)
    }

    fn unnamed_column(&self, row: u32, column: u32) -> ArrowError {
        let (sheet, cell) = (&self.sheet, cell_name(row, column));
        csv_error(format!(
            "sheet {sheet:?}, cell {cell}: its column has no name in the first row; name the column, or clear the cell"
        ))
    }
}

/// Writes a value as text; nothing if it is missing.
fn write_value<'v>(value: &'v DataRef<'_>, into: &mut String) -> std::result::Result<(), &'v CellErrorType> {
    // Writing to a string does not fail.
    let _: std::fmt::Result = match value {
        DataRef::Empty => Ok(()),
        DataRef::Int(number) => write!(into, "{number}"),
        // All digits, without an exponent: IDs may have many.
        DataRef::Float(number) => write!(into, "{number}"),
        DataRef::String(text) => into.write_str(text),
        DataRef::SharedString(text) => into.write_str(text),
        DataRef::Bool(value) => into.write_str(if *value { "TRUE" } else { "FALSE" }),
        DataRef::DateTime(date) => write_date(date, into),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => into.write_str(text),
        DataRef::Error(error) => return Err(error),
    };
    Ok(())
}

/// Writes a date as `2024-05-31`, with the time if it has one; a time or duration as `13:45:00`; a number outside
/// the dates of Excel as a number.
fn write_date(date: &ExcelDateTime, into: &mut String) -> std::fmt::Result {
    let days = date.as_f64();
    if !(0.0..MAX_DAYS).contains(&days) {
        return write!(into, "{days}");
    }
    if date.is_duration() || days < 1.0 {
        let seconds = (days * 86_400.0).round() as u64;
        return write!(into, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    write!(into, "{year:04}-{month:02}-{day:02}")?;
    if days.fract() != 0.0 {
        write!(into, "T{hour:02}:{minute:02}:{second:02}")?;
    }
    Ok(())
}

/// Returns the name of a cell, such as `D17`.
fn cell_name(row: u32, column: u32) -> String {
    format!("{}{}", column_letters(column), u64::from(row) + 1)
}

/// Returns the letters of a column: A, B, …, Z, AA, AB, ….
fn column_letters(column: u32) -> String {
    let (mut letters, mut rest) = (Vec::new(), u64::from(column) + 1);
    while rest > 0 {
        rest -= 1;
        letters.push(char::from(b'A' + (rest % 26) as u8));
        rest /= 26;
    }
    letters.into_iter().rev().collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Write as _;

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;

    /// A small file that unpacks to more than the limit is refused before it is read.
    #[test]
    fn the_size_of_unpacked_parts_is_limited() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let packed = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        for name in ["_rels/.rels", "xl/sharedStrings.xml", "xl/media/image1.png"] {
            writer.start_file(name, packed).unwrap();
            writer.write_all(&[b' '; 100_000]).unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();
        assert!(bytes.len() < 2_000);
        // Parts with any name count, because the workbook can name any of them as a sheet.
        assert!(check_parts(&bytes, 300_000, 0).is_ok());
        let refused = check_parts(&bytes, 299_999, 0).unwrap_err().to_string();
        assert!(refused.contains("the workbook takes more than 1 GiB"), "{refused}");
    }

    #[test]
    fn the_number_of_shared_strings_is_limited() {
        let strings = "<sst><si><t>a</t></si><x:si\n><t/></x:si><si/><sip/><s:i/> si>".repeat(5_000);
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in [("_rels/.rels", ""), ("xl/sharedStrings.xml", strings.as_str())] {
            writer.start_file(name, SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        }
        let bytes = writer.finish().unwrap().into_inner();
        assert!(check_parts(&bytes, MAX_BYTES, 15_000).is_ok());
        let refused = check_parts(&bytes, MAX_BYTES, 14_999).unwrap_err().to_string();
        assert!(
            refused.contains("the workbook has more than 14,999 different texts; save the sheet as CSV"),
            "{refused}"
        );
    }

    #[test]
    fn cells_are_named_as_in_excel() {
        for (column, expected) in [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16_383, "XFD")] {
            assert_eq!(column_letters(column), expected);
        }
        assert_eq!(cell_name(16, 3), "D17");
    }

    #[test]
    fn numbers_keep_all_digits() {
        for (number, expected) in [
            (27713.0, "27713"),
            (0.1, "0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e15, "1000000000000000"),
            (-0.0000001, "-0.0000001"),
        ] {
            let mut text = String::new();
            assert!(write_value(&DataRef::Float(number), &mut text).is_ok());
            assert_eq!(text, expected);
        }
    }
}
