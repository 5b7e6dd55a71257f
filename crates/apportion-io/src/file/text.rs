//! Delimited text: records become batches of text columns, bounded in rows and in bytes.
//!
//! Each field is checked to be valid UTF-8. Lines, headers and columns have limits, so that a small
//! compressed file cannot exhaust memory.

use std::io::Read;
use std::sync::Arc;

use apportion::text::{Message, Setting, count, counted};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use csv_core::ReadRecordResult;

use super::explain::Explained;
use super::foreign;
use super::quotes::QuoteScanner;
use super::read_ahead::BatchResult;
use super::separator::separator_line;

/// Maximum number of columns.
pub(crate) const MAX_COLUMNS: usize = 100_000;

/// Approximate bytes of records in one batch; a few batches are queued at a time.
pub(super) const BATCH_BYTES: usize = 16 << 20;

/// Maximum number of cells in one batch, because voter files can have hundreds of columns.
pub(super) const BATCH_CELLS: usize = 1 << 21;

/// Bytes read at a time.
const BUFFER: usize = 1 << 18;

/// Reads the records of delimited text, one at a time.
struct Records<R> {
    input: R,
    parser: csv_core::Reader,
    quotes: QuoteScanner,
    buffer: Vec<u8>,
    /// The bytes of the buffer that are not parsed yet.
    unread: std::ops::Range<usize>,
    /// The fields of the current record, concatenated.
    fields: Vec<u8>,
    ends: Vec<usize>,
    columns: usize,
    /// The number of the record; the header is 1.
    number: u64,
    /// Whether the last record has its line end.
    is_completed: bool,
    max_line: usize,
}

impl<R: Read> Records<R> {
    fn new(input: R, delimiter: u8, max_line: usize) -> Records<R> {
        Records {
            input,
            parser: csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
            quotes: QuoteScanner::new(delimiter),
            buffer: vec![0; BUFFER],
            unread: 0..0,
            fields: vec![0; max_line.min(1 << 12)],
            ends: vec![0; 64],
            columns: 0,
            number: 0,
            is_completed: false,
            max_line,
        }
    }

    /// Moves to the next record. Returns false at the end.
    fn advance(&mut self) -> Result<bool, ArrowError> {
        let (mut filled, mut columns) = (0, 0);
        self.number += 1;
        loop {
            let ended = self.unread.is_empty() && self.refill()? == 0;
            // At the end of the file, a line end completes the last record, unless it is inside
            // quotes.
            let input = match (ended, self.is_completed) {
                (false, _) => &self.buffer[self.unread.clone()],
                (true, false) => b"\n",
                (true, true) => b"",
            };
            let (result, read, written, ends) =
                self.parser.read_record(input, &mut self.fields[filled..], &mut self.ends[columns..]);
            if ended {
                let in_quotes = !self.is_completed && read == 1 && written == 1;
                self.is_completed |= read == 1;
                if in_quotes {
                    return Err(self.unclosed_quote());
                }
            } else {
                self.unread.start += read;
            }
            filled += written;
            columns += ends;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if filled >= self.max_line => return Err(self.line_too_long()),
                ReadRecordResult::OutputFull => self.fields.resize((2 * filled).min(self.max_line), 0),
                ReadRecordResult::OutputEndsFull if columns > MAX_COLUMNS => return Err(too_many_columns()),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * columns, 0),
                ReadRecordResult::Record => {
                    self.columns = columns;
                    return Ok(true);
                }
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    fn refill(&mut self) -> Result<usize, ArrowError> {
        let read = self.input.read(&mut self.buffer)?;
        self.unread = 0..read;
        self.check_quotes()?;
        Ok(read)
    }

    /// Reads enough bytes to recognize the kind of file, because decoders may return a few bytes at
    /// first.
    fn read_start(&mut self) -> Result<(), ArrowError> {
        while self.unread.end < 512 {
            match self.input.read(&mut self.buffer[self.unread.end..])? {
                0 => break,
                read => self.unread.end += read,
            }
        }
        self.check_quotes()
    }

    /// Skips a first line that names the separator.
    fn skip_separator_line(&mut self) {
        if let Some((_, length)) = separator_line(&self.buffer[self.unread.clone()]) {
            self.unread.start += length;
            self.number += 1;
        }
    }

    /// Refuses quotes that swallow rows in the bytes read last.
    fn check_quotes(&mut self) -> Result<(), ArrowError> {
        match self.quotes.read(&self.buffer[self.unread.clone()]) {
            Some(line) => Err(csv_error(format!(
                "line {line} opens a quote that closes in the middle of a later line; close it, double it, or remove it"
            ))),
            None => Ok(()),
        }
    }

    fn field(&self, column: usize) -> &[u8] {
        let start = if column == 0 { 0 } else { self.ends[column - 1] };
        &self.fields[start..self.ends[column]]
    }

    /// Returns the total length of the fields in bytes.
    fn length(&self) -> usize {
        self.columns.checked_sub(1).map_or(0, |last| self.ends[last])
    }

    fn unclosed_quote(&self) -> ArrowError {
        let line = self.number;
        csv_error(format!(
            "line {line} opens a quote that is never closed; close it, or copy the file again if it is cut off"
        ))
    }

    fn line_too_long(&self) -> ArrowError {
        let (line, limit) = (self.number, self.max_line >> 20);
        let problem =
            format!("line {line} is longer than {limit} MiB; check its quotes and line endings, or allow longer");
        csv_error(Message::from(problem + " lines with ") + Setting::MaxLine)
    }
}

/// Returns an error with a complete message, to which nothing is added.
pub(super) fn csv_error(problem: impl Into<Message>) -> ArrowError {
    ArrowError::ExternalError(Box::new(Explained(problem.into())))
}

fn too_many_columns() -> ArrowError {
    let most = count(MAX_COLUMNS as u64);
    csv_error(format!("it has more than {most} columns; check the separator, or leave columns out"))
}

/// Batches of delimited text.
pub(crate) struct TextBatches<R> {
    records: Records<R>,
    names: Vec<String>,
    /// The indices of the columns to read, and their schema.
    projection: Vec<usize>,
    schema: SchemaRef,
    batch_rows: usize,
}

impl<R: Read> TextBatches<R> {
    /// Reads the header.
    pub(crate) fn open(input: R, delimiter: u8, max_line: usize) -> Result<TextBatches<R>, ArrowError> {
        let mut records = Records::new(input, delimiter, max_line.max(1));
        records.read_start()?;
        if let Some(problem) = non_table_content(&records.buffer[records.unread.clone()]) {
            return Err(csv_error(problem));
        }
        records.skip_separator_line();
        if !records.advance()? {
            return Err(csv_error("it has no header; its first line must name the columns"));
        }
        if records.columns > MAX_COLUMNS {
            return Err(too_many_columns());
        }
        let name = |column: usize| match std::str::from_utf8(records.field(column)) {
            Ok(name) => Ok(name.trim_start_matches('\u{feff}').to_owned()),
            Err(_) => Err(invalid_utf8(records.number, column)),
        };
        let names: Vec<String> = (0..records.columns).map(name).collect::<Result<_, _>>()?;
        Ok(TextBatches { records, names, projection: Vec::new(), schema: Arc::new(Schema::empty()), batch_rows: 1 })
    }

    /// Returns the names of all columns.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Sets the columns to read and the maximum number of rows per batch.
    pub(crate) fn with_columns(mut self, projection: Vec<usize>, batch_rows: usize) -> TextBatches<R> {
        let field = |&column: &usize| Field::new(&self.names[column], DataType::Utf8, true);
        self.schema = Arc::new(Schema::new(projection.iter().map(field).collect::<Vec<_>>()));
        self.projection = projection;
        self.batch_rows = batch_rows.min(BATCH_CELLS / self.names.len().max(1)).max(1);
        self
    }

    /// Returns the schema of the columns that are read.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let mut columns: Vec<Column> = self.projection.iter().map(|_| Column::new(self.batch_rows)).collect();
        let (first, mut rows, mut bytes) = (self.records.number + 1, 0, 0);
        // All fields count, so that batches have the same rows for any selection of columns.
        while rows < self.batch_rows && bytes < BATCH_BYTES && self.records.advance()? {
            let (records, expected) = (&self.records, self.names.len());
            if records.columns != expected {
                let fields = counted(records.columns as u64, "field", "fields");
                let problem = format!("line {} has {fields}, expected {expected}", records.number);
                let fix = "; fix or quote that line, or name the separator with ";
                return Err(csv_error(Message::from(problem + fix) + Setting::Delimiter));
            }
            for (column, &index) in columns.iter_mut().zip(&self.projection) {
                column.push(records.field(index));
            }
            rows += 1;
            bytes += records.length();
        }
        if rows == 0 {
            return Ok(None);
        }
        if !columns.iter().all(Column::is_valid) {
            return Err(first_invalid(&columns, &self.projection, first));
        }
        let arrays = columns.into_iter().map(Column::into_array).collect::<Result<Vec<_>, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map(Some)
    }
}

impl<R: Read> Iterator for TextBatches<R> {
    type Item = BatchResult;

    fn next(&mut self) -> Option<BatchResult> {
        self.batch().transpose()
    }
}

/// A column of a batch under construction.
pub(super) struct Column {
    data: Vec<u8>,
    offsets: Vec<i32>,
}

impl Column {
    pub(super) fn new(rows: usize) -> Column {
        let mut offsets = Vec::with_capacity(rows + 1);
        offsets.push(0);
        Column { data: Vec::new(), offsets }
    }

    pub(super) fn push(&mut self, field: &[u8]) {
        self.data.extend_from_slice(field);
        // A batch ends long before 2 GiB.
        self.offsets.push(self.data.len() as i32);
    }

    /// Returns whether each field is valid UTF-8: a character split over two fields is not.
    fn is_valid(&self) -> bool {
        let Ok(text) = std::str::from_utf8(&self.data) else { return false };
        text.is_ascii() || self.offsets.iter().all(|&end| text.is_char_boundary(end as usize))
    }

    /// Returns the column as an array, with empty fields as nulls.
    pub(super) fn into_array(self) -> Result<ArrayRef, ArrowError> {
        let has_empty = self.offsets.windows(2).any(|pair| pair[0] == pair[1]);
        let nulls = has_empty.then(|| self.offsets.windows(2).map(|pair| pair[0] < pair[1]).collect::<NullBuffer>());
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        Ok(Arc::new(StringArray::try_new(offsets, Buffer::from_vec(self.data), nulls)?))
    }

    fn first_invalid(&self) -> Option<usize> {
        let field = |pair: &[i32]| std::str::from_utf8(&self.data[pair[0] as usize..pair[1] as usize]).is_err();
        self.offsets.windows(2).position(field)
    }
}

/// Returns the error for the first field that is not valid UTF-8.
fn first_invalid(columns: &[Column], projection: &[usize], first: u64) -> ArrowError {
    let invalid = columns.iter().zip(projection).filter_map(|(column, &index)| Some((column.first_invalid()?, index)));
    let (row, column) = invalid.min().unwrap_or((0, 0));
    invalid_utf8(first + row as u64, column)
}

fn invalid_utf8(line: u64, column: usize) -> ArrowError {
    let column = column + 1;
    let problem = Message::from(format!("line {line}, column {column}: not valid UTF-8; use "));
    csv_error(problem + Setting::Encoding.with("windows-1252") + ", or convert the file to UTF-8")
}

/// Returns a message if the first bytes show that a file is not delimited text.
pub(super) fn non_table_content(start: &[u8]) -> Option<&'static str> {
    if start.starts_with(&[0x1f, 0x8b]) || start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return Some("it is compressed twice; decompress it once");
    }
    if let Some(problem) = foreign::of_content(start) {
        return Some(problem);
    }
    if start.iter().take(64).any(|&byte| byte == 0) {
        return Some(
            "it contains zero bytes: it may be UTF-16 or UTF-32 without a byte order mark; convert it to UTF-8",
        );
    }
    start.trim_ascii().is_empty().then_some("it has no header; its first line must name the columns")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;

    fn read(text: &[u8], batch_rows: usize) -> Result<Vec<Vec<String>>, String> {
        let batches = TextBatches::open(text, b',', 1 << 10).map_err(|error| error.to_string())?;
        let all = (0..batches.names().len()).collect();
        let mut rows = Vec::new();
        for batch in batches.with_columns(all, batch_rows) {
            let batch = batch.map_err(|error| error.to_string())?;
            assert!(batch.num_rows() <= batch_rows);
            for row in 0..batch.num_rows() {
                let cell = |column: &ArrayRef| column.as_string::<i32>().value(row).to_owned();
                rows.push(batch.columns().iter().map(cell).collect());
            }
        }
        Ok(rows)
    }

    #[test]
    fn records_are_read_as_the_csv_crate_reads_them() {
        for text in ["a,b\r\n1,\"x, \"\"y\"\"\nz\"\n\n,é\n3,", "a\n1\n2", "a\r1\r\n2\n\n", "a,b\n1,\"2\"", "a,b\n"] {
            agrees_with_the_csv_crate(text);
        }
    }

    fn agrees_with_the_csv_crate(text: &str) {
        let mut expected = Vec::new();
        for record in csv::Reader::from_reader(text.as_bytes()).records() {
            expected.push(record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>());
        }
        for rows in [1, 2, 100] {
            assert_eq!(read(text.as_bytes(), rows).unwrap(), expected);
        }
    }

    #[test]
    fn empty_fields_are_null() {
        let batches = TextBatches::open(&b"a,b\n1,\n,2\n"[..], b',', 1 << 10).unwrap();
        let batch = batches.with_columns(vec![1], 10).next().unwrap().unwrap();
        assert!(batch.column(0).is_null(0) && batch.column(0).is_valid(1));
    }

    #[test]
    fn errors_name_the_line() {
        let long = [b"a,b\n1,2\n3,".as_slice(), &[b'x'; 2000], b"\n"].concat();
        for (text, expected) in [
            (&b"a,b\n1,2\n3\n"[..], "line 3 has 1 field, expected 2"),
            (b"a,b\n1,2,3\n", "line 2 has 3 fields, expected 2"),
            (b"a,b\n1,2\n\xdc,\x9e\n", "line 3, column 1: not valid UTF-8"),
            (b"a,\xff\n", "line 1, column 2: not valid UTF-8"),
            (&long, "line 3 is longer than 0 MiB"),
            (b"\n\n", "no header"),
            (b"a,b\n1,2\n3,\"x\n4,y\n", "line 3 opens a quote that is never closed"),
            (b"a,b\n1,2\n3,\"x", "line 3 opens a quote that is never closed"),
            (b"a,\"b\n1,2\n", "line 1 opens a quote that is never closed"),
            (b"sep=,\na,b\n1,2\n3\n", "line 4 has 1 field, expected 2"),
            (b"sep=,\na,\xff\n", "line 2, column 2: not valid UTF-8"),
            (b"{\"a\": 1}", "JSON"),
            (b"a\0,\0b\0", "UTF-16"),
            (b"<html>", "web pages"),
        ] {
            let found = read(text, 10).unwrap_err();
            assert!(found.contains(expected), "{found}");
        }
    }
}
