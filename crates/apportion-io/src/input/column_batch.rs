//! Batches of some columns as text, dictionaries or numbers, for passes that look up values.

use std::ops::Range;
use std::sync::Arc;

use super::Input;
use super::blocks::{BlockReader, Reading};
use crate::error::{Error, Result};
use crate::file::{ArrowCodes, ArrowTexts};
use crate::table::{Block, BlockColumn, Shared, SharedColumn, SharedValues, TextBuffer};

/// Reads batches of some columns, as many rows at a time as requested.
pub struct ColumnBatches<'a>(BlockReader<'a>);

impl<'a> ColumnBatches<'a> {
    /// Starts at the first row.
    pub fn new(input: &'a Input, columns: &[String]) -> ColumnBatches<'a> {
        ColumnBatches(BlockReader::new(input, columns.to_vec(), Reading::Lookup))
    }

    /// Returns the next `rows` rows in one or more batches; fewer at the end of the input.
    ///
    /// # Errors
    /// If a file cannot be read, or lacks a column.
    pub fn next_rows(&mut self, rows: usize) -> Result<Vec<ColumnBatch>> {
        Ok(self.0.next_rows(rows, refuse_missing_columns)?.into_iter().map(ColumnBatch).collect())
    }
}

fn refuse_missing_columns(input: &Input, file: usize, columns: &[String]) -> Result<()> {
    let names = input.columns(file)?;
    match columns.iter().find(|column| !names.contains(column)) {
        Some(missing) => {
            let problem = format!("it has no column {missing:?}, unlike {}", input.name(0).display());
            Err(Error::file(input.name(file), problem))
        }
        None => Ok(()),
    }
}

/// Some rows of some columns.
#[derive(Clone, Debug)]
pub struct ColumnBatch(Block);

/// A column of text.
#[derive(Clone, Debug)]
pub enum TextColumn {
    /// A text for each row.
    Plain(PlainTexts),
    /// A dictionary, with an index for each row.
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
        self.0.len()
    }

    /// Returns a column as text. A dictionary is not decoded.
    ///
    /// # Errors
    /// If it cannot be converted to text.
    pub fn text_column(&self, name: &str) -> Result<TextColumn> {
        match DictionaryTexts::of(self.column(name)?) {
            Some(dictionary) => Ok(TextColumn::Dictionary(dictionary)),
            None => self.texts(name).map(TextColumn::Plain),
        }
    }

    /// Returns a column as numbers if it has a numeric type, and as text otherwise.
    ///
    /// # Errors
    /// If it cannot be converted to either.
    pub fn value_column(&self, name: &str) -> Result<ValueColumn> {
        let column = self.column(name)?.column();
        if !column.is_numeric() {
            return self.text_column(name).map(ValueColumn::Text);
        }
        let mut numbers = Vec::with_capacity(column.len());
        let found = column.each_number(0..column.len(), |_, number| numbers.push(number));
        found.map(|()| ValueColumn::Numbers(NumberColumn(numbers))).ok_or_else(|| unreadable(name))
    }

    /// Returns a column as one text per row, decoded if it is a dictionary.
    ///
    /// # Errors
    /// If it cannot be converted to text.
    pub fn texts(&self, name: &str) -> Result<PlainTexts> {
        PlainTexts::of(self.column(name)?).ok_or_else(|| unreadable(name))
    }

    fn column(&self, name: &str) -> Result<&BlockColumn> {
        let missing = || Error::settings(format!("column {name:?} no longer exists; run the command again"));
        self.0.get(name).ok_or_else(missing)
    }
}

fn unreadable(name: &str) -> Error {
    Error::settings(format!("column {name:?} is neither text nor numbers; name another"))
}

/// One text per row.
#[derive(Clone, Debug)]
pub struct PlainTexts(TextSource);

/// The storage of texts.
#[derive(Clone, Debug)]
enum TextSource {
    Arrow(ArrowTexts),
    /// Some texts of another program.
    Shared {
        texts: Shared<String>,
        rows: Range<usize>,
        validity: Option<Shared<bool>>,
    },
    /// Texts converted from other values.
    Made(Arc<TextBuffer>),
}

impl PlainTexts {
    fn of(column: &BlockColumn) -> Option<PlainTexts> {
        if let BlockColumn::Arrow(array) = column {
            return array.texts().map(|texts| PlainTexts(TextSource::Arrow(texts)));
        }
        if let BlockColumn::Shared(shared, rows) = column
            && let SharedValues::Text(texts) = shared.values()
        {
            return Some(PlainTexts::shared(texts, rows.clone(), shared.validity()));
        }
        let (texts, mut made) = (column.column().texts()?, TextBuffer::default());
        (0..column.column().len()).for_each(|row| made.push(texts.get(row)));
        Some(PlainTexts(TextSource::Made(Arc::new(made))))
    }

    fn shared(texts: &Shared<String>, rows: Range<usize>, validity: Option<&Shared<bool>>) -> PlainTexts {
        PlainTexts(TextSource::Shared { texts: texts.clone(), rows, validity: validity.cloned() })
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        match &self.0 {
            TextSource::Arrow(texts) => texts.len(),
            TextSource::Shared { rows, .. } => rows.len(),
            TextSource::Made(texts) => texts.len(),
        }
    }

    /// Returns whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a text; an empty string if it is missing.
    #[inline]
    pub fn get(&self, row: usize) -> &str {
        match &self.0 {
            TextSource::Arrow(texts) => texts.get(row),
            TextSource::Shared { texts, rows, validity } => {
                let row = rows.start + row;
                let is_valid = validity.as_ref().is_none_or(|validity| validity.as_slice()[row]);
                if is_valid { &texts.as_slice()[row] } else { "" }
            }
            TextSource::Made(texts) => texts.get(row),
        }
    }

    /// Returns whether both are the same texts in memory. The batches of a Parquet row group share their words.
    /// `PlainTexts` keep their memory alive, so it cannot be reused for other texts.
    pub fn is_same_memory(&self, other: &PlainTexts) -> bool {
        match (&self.0, &other.0) {
            (TextSource::Arrow(own), TextSource::Arrow(other)) => own.is_same_memory(other),
            (
                TextSource::Shared { texts, rows, validity: None },
                TextSource::Shared { texts: others, rows: other_rows, validity: None },
            ) => rows == other_rows && std::ptr::eq(texts.as_slice(), others.as_slice()),
            _ => false,
        }
    }
}

/// The index of each row's word, and all words.
#[derive(Clone, Debug)]
pub struct DictionaryTexts {
    codes: Codes,
    words: PlainTexts,
}

/// The storage of word indices.
#[derive(Clone, Debug)]
enum Codes {
    Arrow(ArrowCodes),
    /// Some rows of another program. An index without a word is a missing value.
    Shared {
        codes: Shared<i32>,
        rows: Range<usize>,
        validity: Option<Shared<bool>>,
        words: usize,
    },
}

impl DictionaryTexts {
    /// Returns the indices and words of a column, if it is a dictionary of text.
    fn of(column: &BlockColumn) -> Option<DictionaryTexts> {
        match column {
            BlockColumn::Arrow(array) => {
                let (codes, words) = array.dictionary()?;
                Some(DictionaryTexts { codes: Codes::Arrow(codes), words: PlainTexts(TextSource::Arrow(words)) })
            }
            BlockColumn::Shared(shared, rows) => DictionaryTexts::of_shared(shared, rows),
        }
    }

    fn of_shared(column: &SharedColumn, rows: &Range<usize>) -> Option<DictionaryTexts> {
        let SharedValues::Dictionary(codes, words) = column.values() else { return None };
        let count = words.as_slice().len();
        let (rows, validity) = (rows.clone(), column.validity().cloned());
        Some(DictionaryTexts {
            codes: Codes::Shared { codes: codes.clone(), rows, validity, words: count },
            words: PlainTexts::shared(words, 0..count, None),
        })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match &self.codes {
            Codes::Arrow(codes) => codes.len(),
            Codes::Shared { rows, .. } => rows.len(),
        }
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all words.
    pub fn words(&self) -> &PlainTexts {
        &self.words
    }

    /// Returns the index of a row's word, if it has one.
    #[inline]
    pub fn code(&self, row: usize) -> Option<usize> {
        match &self.codes {
            Codes::Arrow(codes) => codes.get(row),
            Codes::Shared { codes, rows, validity, words } => {
                let row = rows.start + row;
                let is_valid = validity.as_ref().is_none_or(|validity| validity.as_slice()[row]);
                let code = usize::try_from(codes.as_slice()[row]).ok()?;
                (is_valid && code < *words).then_some(code)
            }
        }
    }
}

/// One number per row; NaN if it is missing.
#[derive(Clone, Debug)]
pub struct NumberColumn(Vec<f64>);

impl NumberColumn {
    /// Returns the number of a row, if it has one.
    #[inline]
    pub fn get(&self, row: usize) -> Option<f64> {
        Some(self.0[row]).filter(|number| !number.is_nan())
    }
}
