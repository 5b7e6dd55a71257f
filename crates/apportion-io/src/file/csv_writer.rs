//! Writes batches as CSV or TSV.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::ArrowError;

/// Text is written when this many bytes have been formatted.
const BLOCK_BYTES: usize = 1 << 16;

/// Writes a line of column names, then one line per row. Missing values are empty.
pub(crate) struct CsvWriter<W> {
    writer: W,
    separator: char,
    has_header: bool,
    text: String,
}

impl<W: Write> CsvWriter<W> {
    pub(crate) fn new(writer: W, separator: u8) -> Self {
        CsvWriter { writer, separator: separator.into(), has_header: false, text: String::new() }
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let options = FormatOptions::default();
        let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        if !self.has_header {
            let schema = batch.schema();
            self.write_row(schema.fields(), |field, text| {
                text.push_str(field.name());
                Ok(())
            })?;
            self.has_header = true;
        }
        for row in 0..batch.num_rows() {
            self.write_row(&columns, |column, text| column.value(row).write(text))?;
        }
        self.write_text()?;
        Ok(self.writer.flush()?)
    }

    /// Returns the underlying writer. `write` leaves no text behind.
    pub(crate) fn into_inner(self) -> W {
        self.writer
    }

    fn write_row<T>(
        &mut self,
        fields: &[T],
        format: impl Fn(&T, &mut String) -> Result<(), ArrowError>,
    ) -> Result<(), ArrowError> {
        let line = self.text.len();
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                self.text.push(self.separator);
            }
            let start = self.text.len();
            format(field, &mut self.text)?;
            self.quote_field(start);
        }
        if self.text.len() == line {
            self.text.push_str("\"\""); // an empty line would not be read as a row
        }
        self.text.push('\n');
        if self.text.len() >= BLOCK_BYTES { self.write_text() } else { Ok(()) }
    }

    /// Quotes the field that begins at `start`, if its text could be read in another way.
    fn quote_field(&mut self, start: usize) {
        let separator = self.separator as u8; // an ASCII character
        let is_special = |byte: u8| matches!(byte, b'"' | b'\n' | b'\r') || byte == separator;
        if self.text.bytes().skip(start).any(is_special) {
            let quoted = format!("\"{}\"", self.text[start..].replace('"', "\"\""));
            self.text.replace_range(start.., &quoted);
        }
    }

    fn write_text(&mut self) -> Result<(), ArrowError> {
        self.writer.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Date32Array, Float64Array, Int32Array, StringArray};

    use super::*;

    fn written(columns: Vec<(&str, ArrayRef)>, separator: u8) -> String {
        let mut writer = CsvWriter::new(Vec::new(), separator);
        writer.write(&RecordBatch::try_from_iter(columns).unwrap()).unwrap();
        String::from_utf8(writer.into_inner()).unwrap()
    }

    /// What the writer quotes is read back by an independent reader.
    #[test]
    fn fields_are_read_back() {
        let texts = ["plain", "a,b", "a\tb", "say \"hi\"", "two\nlines", "cr\r", "", " space ", "é\u{1f600}", "\""];
        for separator in [b',', b'\t', b';'] {
            let column: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
            let text = written(vec![("x,\"y\"", column.clone()), ("z", column)], separator);
            let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(text.as_bytes());
            assert_eq!(reader.headers().unwrap(), vec!["x,\"y\"", "z"]);
            let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            assert_eq!(rows.len(), texts.len());
            for (row, text) in rows.iter().zip(texts) {
                assert_eq!(row, &vec![text, text]);
            }
        }
    }

    #[test]
    fn only_fields_that_need_quotes_have_them() {
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("name", Arc::new(StringArray::from(vec![Some("a b"), None, Some("a;b,c")]))),
            ("count", Arc::new(Int32Array::from(vec![Some(-1), None, Some(3)]))),
            ("share", Arc::new(Float64Array::from(vec![0.1, 1.0, 1e-300]))),
            ("day", Arc::new(Date32Array::from(vec![0, 1, 365]))),
        ];
        let expected = "name,count,share,day\na b,-1,0.1,1970-01-01\n,,1.0,1970-01-02\n\"a;b,c\",3,1e-300,1971-01-01\n";
        assert_eq!(written(columns, b','), expected);
    }

    /// A row with one empty field is not an empty line, which readers skip.
    #[test]
    fn an_empty_field_alone_is_quoted() {
        let column: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("")]));
        assert_eq!(written(vec![("x", column)], b','), "x\na\n\"\"\n\"\"\n");
    }

    #[test]
    fn batches_share_one_header_and_long_texts_are_whole() {
        let mut writer = CsvWriter::new(Vec::new(), b',');
        let value = "x".repeat(100);
        let column: ArrayRef = Arc::new(StringArray::from_iter_values(vec![value.as_str(); 2_000]));
        let batch = RecordBatch::try_from_iter([("long", column)]).unwrap();
        writer.write(&batch).unwrap();
        writer.write(&batch).unwrap();
        let text = String::from_utf8(writer.into_inner()).unwrap();
        assert_eq!(text, format!("long\n{}", format!("{value}\n").repeat(4_000)));
    }
}
