//! Batches of some columns as text, dictionaries or numbers, for passes that look values up.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int32Type};

use super::column_reader::ColumnReader;
use super::input::Input;
use crate::error::{Error, Result};

/// Reads batches of some columns, as many rows at a time as requested.
pub struct ColumnBatches<'a>(ColumnReader<'a>);

impl<'a> ColumnBatches<'a> {
    /// Starts at the first row.
    pub fn new(input: &'a Input, columns: &[String]) -> ColumnBatches<'a> {
        ColumnBatches(ColumnReader::new(input, columns))
    }

    /// Returns the next `rows` rows in one or more batches; fewer at the end of the input.
    ///
    /// # Errors
    /// If a file cannot be read, or lacks a column.
    pub fn next_rows(&mut self, rows: usize) -> Result<Vec<ColumnBatch>> {
        Ok(self.0.next_rows(rows)?.into_iter().map(ColumnBatch).collect())
    }
}

/// Some rows of some columns.
#[derive(Clone, Debug)]
pub struct ColumnBatch(RecordBatch);

/// A column of text.
#[derive(Clone, Debug)]
pub enum TextColumn {
    /// A text for each row.
    Plain(PlainTexts),
    /// Indices of words.
    Dictionary(DictionaryTexts),
}

/// A column of text or numbers.
#[derive(Clone, Debug)]
pub enum ValueColumn {
    /// Numbers of any type.
    Numbers(NumberColumn),
    /// Text.
    Text(TextColumn),
}

impl ColumnBatch {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.0.num_rows()
    }

    /// Returns a column as text. A dictionary is not decoded.
    ///
    /// # Errors
    /// If it cannot be converted to text.
    pub fn text_column(&self, name: &str) -> Result<TextColumn> {
        match dictionary(self.column(name)?) {
            Some(dictionary) => Ok(TextColumn::Dictionary(dictionary)),
            None => self.texts(name).map(TextColumn::Plain),
        }
    }

    /// Returns a column as numbers if it has a numeric type, and as text otherwise.
    ///
    /// # Errors
    /// If it cannot be converted to either.
    pub fn value_column(&self, name: &str) -> Result<ValueColumn> {
        let column = self.column(name)?;
        if !column.data_type().is_numeric() {
            return self.text_column(name).map(ValueColumn::Text);
        }
        let numbers = cast(column, &DataType::Float64).map_err(|_| unreadable(name))?;
        Ok(ValueColumn::Numbers(NumberColumn(numbers.as_primitive::<Float64Type>().clone())))
    }

    /// Returns a column as one text per row, decoded if it is a dictionary.
    ///
    /// # Errors
    /// If it cannot be converted to text.
    pub fn texts(&self, name: &str) -> Result<PlainTexts> {
        let texts = cast(self.column(name)?, &DataType::Utf8).map_err(|_| unreadable(name))?;
        Ok(PlainTexts(texts.as_string().clone()))
    }

    fn column(&self, name: &str) -> Result<&ArrayRef> {
        let missing = || Error::settings(format!("there is no column {name:?} any more; try again"));
        self.0.column_by_name(name).ok_or_else(missing)
    }
}

fn unreadable(name: &str) -> Error {
    Error::settings(format!("column {name:?} is neither text nor numbers; name another"))
}

/// Returns the indices and words of a dictionary of text.
fn dictionary(column: &ArrayRef) -> Option<DictionaryTexts> {
    let DataType::Dictionary(_, words) = column.data_type() else { return None };
    if !words.is_string() {
        return None;
    }
    let wanted = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let column = cast(column, &wanted).ok()?;
    let column = column.as_dictionary_opt::<Int32Type>()?;
    Some(DictionaryTexts { codes: column.keys().clone(), words: PlainTexts(column.values().as_string().clone()) })
}

/// One text per row.
#[derive(Clone, Debug)]
pub struct PlainTexts(StringArray);

impl PlainTexts {
    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a text; an empty one if it is missing.
    #[inline]
    pub fn get(&self, row: usize) -> &str {
        if self.0.is_null(row) { "" } else { self.0.value(row) }
    }

    /// Returns whether both are the same texts in memory. The batches of a Parquet row group share their words. PlainTexts
    /// keep their memory, so that no others can take its place.
    pub fn is_same_memory(&self, other: &PlainTexts) -> bool {
        let (own, other) = (&self.0, &other.0);
        own.len() == other.len()
            && own.value_offsets().as_ptr() == other.value_offsets().as_ptr()
            && own.value_data().as_ptr() == other.value_data().as_ptr()
    }
}

/// The index of each row's word, and all words.
#[derive(Clone, Debug)]
pub struct DictionaryTexts {
    codes: Int32Array,
    words: PlainTexts,
}

impl DictionaryTexts {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Returns all words.
    pub fn words(&self) -> &PlainTexts {
        &self.words
    }

    /// Returns the index of a row's word, if it has one.
    #[inline]
    pub fn code(&self, row: usize) -> Option<usize> {
        if self.codes.is_null(row) { None } else { Some(self.codes.value(row) as usize) }
    }
}

/// One number per row.
#[derive(Clone, Debug)]
pub struct NumberColumn(Float64Array);

impl NumberColumn {
    /// Returns the number of a row, if it has one.
    #[inline]
    pub fn get(&self, row: usize) -> Option<f64> {
        if self.0.is_null(row) { None } else { Some(self.0.value(row)) }
    }
}
