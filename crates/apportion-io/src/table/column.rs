//! Table columns: borrowed values of any source, such as Arrow arrays or the vectors of a program.
//!
//! The kind of a column is matched once per column and batch, outside of the loops over its values.

use std::any::Any;
use std::fmt::{Debug, Display, Write};
use std::ops::Range;

use bytemuck::Pod;

/// A borrowed column.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Numbers in single precision.
    F32(Values<'a, f32>),
    /// Numbers in double precision.
    F64(Values<'a, f64>),
    /// Whole numbers.
    Integers(Integers<'a>),
    /// True or false.
    Booleans(Bits<'a>, Validity<'a>),
    /// Text.
    Text(Texts<'a>),
    /// Repeated text: for each row an index into the names.
    Dictionary(Integers<'a>, Texts<'a>),
    /// A type that only its source can convert.
    Other(&'a dyn OtherColumn),
}

/// A column of a type that only its source can convert to numbers or text.
pub trait OtherColumn: Debug + Sync {
    /// Returns the number of rows.
    fn len(&self) -> usize;

    /// Returns whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of the type, for messages.
    fn kind(&self) -> String;

    /// Returns whether it contains text.
    fn is_text(&self) -> bool;

    /// Returns whether it contains numbers.
    fn is_numeric(&self) -> bool;

    /// Returns whether a row has a value.
    fn is_valid(&self, row: usize) -> bool;

    /// Returns the numbers, with NaN for missing values; `None` if the type is not numeric.
    fn numbers(&self) -> Option<Vec<f64>>;

    /// Returns the values as text, with empty strings for missing values; `None` if that is not
    /// possible.
    fn texts(&self) -> Option<TextBuffer>;

    /// Like [`OtherColumn::texts`], but also for types that are not read as text, such as lists, to compare and show
    /// values.
    fn shown(&self) -> Option<TextBuffer>;

    /// Returns whether another column has the same type and the same values.
    fn is_same(&self, other: &dyn OtherColumn) -> bool;

    /// Returns the column as `Any`, for comparison with another column of the same source.
    fn as_any(&self) -> &dyn Any;
}

/// One bit per row.
#[derive(Clone, Copy, Debug)]
pub enum Bits<'a> {
    /// As booleans.
    Flags(&'a [bool]),
    /// Packed, starting with the lowest bit of the first byte.
    Packed {
        /// The bytes.
        bytes: &'a [u8],
        /// The index of the first row's bit.
        offset: usize,
        /// The number of rows.
        len: usize,
    },
}

impl<'a> Bits<'a> {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Bits::Flags(flags) => flags.len(),
            Bits::Packed { len, .. } => *len,
        }
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bit of a row.
    #[inline]
    pub fn get(&self, row: usize) -> bool {
        match self {
            Bits::Flags(flags) => flags[row],
            Bits::Packed { bytes, offset, .. } => bytes[(offset + row) / 8] >> ((offset + row) % 8) & 1 == 1,
        }
    }

    fn slice(self, rows: &Range<usize>) -> Bits<'a> {
        match self {
            Bits::Flags(flags) => Bits::Flags(&flags[rows.clone()]),
            Bits::Packed { bytes, offset, .. } => Bits::Packed { bytes, offset: offset + rows.start, len: rows.len() },
        }
    }
}

/// The rows that have a value; all rows if `None`.
pub type Validity<'a> = Option<Bits<'a>>;

#[inline]
fn is_valid(validity: &Validity<'_>, row: usize) -> bool {
    validity.as_ref().is_none_or(|bits| bits.get(row))
}

/// Values of one type, which may be missing.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a, T> {
    /// A value for each row; arbitrary if the value is missing.
    pub values: &'a [T],
    /// The rows that have a value.
    pub validity: Validity<'a>,
}

impl<'a, T: Copy> Values<'a, T> {
    /// Returns the value of a row, if it has one.
    #[inline]
    pub fn get(&self, row: usize) -> Option<T> {
        is_valid(&self.validity, row).then(|| self.values[row])
    }

    /// Returns whether two columns of the same length have the same bits in all rows.
    pub(crate) fn is_same(&self, other: &Values<'_, T>) -> bool
    where
        T: Pod,
    {
        if self.validity.is_none() && other.validity.is_none() {
            return bytemuck::cast_slice::<T, u8>(self.values) == bytemuck::cast_slice::<T, u8>(other.values);
        }
        (0..self.values.len()).all(|row| match (self.get(row), other.get(row)) {
            (Some(one), Some(other)) => bytemuck::bytes_of(&one) == bytemuck::bytes_of(&other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        })
    }

    fn slice(self, rows: &Range<usize>) -> Values<'a, T> {
        Values { values: &self.values[rows.clone()], validity: self.validity.map(|bits| bits.slice(rows)) }
    }
}

impl<'a, T> From<&'a [T]> for Values<'a, T> {
    fn from(values: &'a [T]) -> Values<'a, T> {
        Values { values, validity: None }
    }
}

/// Integers of any size.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // the variants are the types of the numbers
pub enum Integers<'a> {
    I8(Values<'a, i8>),
    I16(Values<'a, i16>),
    I32(Values<'a, i32>),
    I64(Values<'a, i64>),
    U8(Values<'a, u8>),
    U16(Values<'a, u16>),
    U32(Values<'a, u32>),
    U64(Values<'a, u64>),
}

/// Evaluates an expression for the values of any integer type.
macro_rules! with_integers {
    ($integers:expr, $values:ident => $body:expr) => {
        match $integers {
            Integers::I8($values) => $body,
            Integers::I16($values) => $body,
            Integers::I32($values) => $body,
            Integers::I64($values) => $body,
            Integers::U8($values) => $body,
            Integers::U16($values) => $body,
            Integers::U32($values) => $body,
            Integers::U64($values) => $body,
        }
    };
}

impl<'a> Integers<'a> {
    fn len(&self) -> usize {
        with_integers!(self, values => values.values.len())
    }

    fn is_valid(&self, row: usize) -> bool {
        with_integers!(self, values => is_valid(&values.validity, row))
    }

    /// Returns the value of a row as an index, if it has one.
    #[inline]
    fn index(&self, row: usize) -> Option<usize> {
        with_integers!(self, values => values.get(row).and_then(|value| usize::try_from(value as i128).ok()))
    }

    /// Returns the name at a row's index.
    #[inline]
    fn name<'n>(&self, names: &Texts<'n>, row: usize) -> Option<&'n str> {
        self.index(row).filter(|&code| code < names.len()).and_then(|code| names.get(code))
    }

    /// Returns the values as counts; negative values are treated as missing.
    pub(crate) fn counts(&self) -> Vec<Option<u64>> {
        with_integers!(self, values => {
            let count = |row: usize| values.get(row).and_then(|value| u64::try_from(value as i128).ok());
            (0..values.values.len()).map(count).collect()
        })
    }

    /// Returns whether two columns of the same length have the same type and the same values.
    pub(crate) fn is_same(&self, other: &Integers<'_>) -> bool {
        match (self, other) {
            (Integers::I8(one), Integers::I8(other)) => one.is_same(other),
            (Integers::I16(one), Integers::I16(other)) => one.is_same(other),
            (Integers::I32(one), Integers::I32(other)) => one.is_same(other),
            (Integers::I64(one), Integers::I64(other)) => one.is_same(other),
            (Integers::U8(one), Integers::U8(other)) => one.is_same(other),
            (Integers::U16(one), Integers::U16(other)) => one.is_same(other),
            (Integers::U32(one), Integers::U32(other)) => one.is_same(other),
            (Integers::U64(one), Integers::U64(other)) => one.is_same(other),
            _ => false,
        }
    }

    pub(crate) fn slice(self, rows: &Range<usize>) -> Integers<'a> {
        match self {
            Integers::I8(values) => Integers::I8(values.slice(rows)),
            Integers::I16(values) => Integers::I16(values.slice(rows)),
            Integers::I32(values) => Integers::I32(values.slice(rows)),
            Integers::I64(values) => Integers::I64(values.slice(rows)),
            Integers::U8(values) => Integers::U8(values.slice(rows)),
            Integers::U16(values) => Integers::U16(values.slice(rows)),
            Integers::U32(values) => Integers::U32(values.slice(rows)),
            Integers::U64(values) => Integers::U64(values.slice(rows)),
        }
    }
}

/// Text values, which may be missing.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    storage: TextStorage<'a>,
    validity: Validity<'a>,
}

#[derive(Clone, Copy, Debug)]
enum TextStorage<'a> {
    /// All texts concatenated, and their offsets.
    Offsets32(&'a [i32], &'a str),
    Offsets64(&'a [i64], &'a str),
    Strings(&'a [String]),
    Options(&'a [Option<String>]),
}

impl<'a> Texts<'a> {
    /// Returns texts that are stored together: text i is at `offsets[i]..offsets[i + 1]` of the
    /// bytes, relative to `offsets[0]`. Returns `None` if the bytes are not valid UTF-8.
    pub fn from_offsets32(offsets: &'a [i32], bytes: &'a [u8], validity: Validity<'a>) -> Option<Texts<'a>> {
        let storage = TextStorage::Offsets32(offsets, std::str::from_utf8(bytes).ok()?);
        Some(Texts { storage, validity })
    }

    /// Like [`Texts::from_offsets32`], with large offsets.
    pub fn from_offsets64(offsets: &'a [i64], bytes: &'a [u8], validity: Validity<'a>) -> Option<Texts<'a>> {
        let storage = TextStorage::Offsets64(offsets, std::str::from_utf8(bytes).ok()?);
        Some(Texts { storage, validity })
    }

    /// Sets the rows that have a value.
    pub fn with_validity(self, validity: Validity<'a>) -> Texts<'a> {
        Texts { validity, ..self }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self.storage {
            TextStorage::Offsets32(offsets, _) => offsets.len().saturating_sub(1),
            TextStorage::Offsets64(offsets, _) => offsets.len().saturating_sub(1),
            TextStorage::Strings(texts) => texts.len(),
            TextStorage::Options(texts) => texts.len(),
        }
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the text of a row, if it has one.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'a str> {
        if !is_valid(&self.validity, row) {
            return None;
        }
        match self.storage {
            TextStorage::Offsets32(offsets, text) => {
                let start = offsets[0];
                text.get((offsets[row] - start) as usize..(offsets[row + 1] - start) as usize)
            }
            TextStorage::Offsets64(offsets, text) => {
                let start = offsets[0];
                text.get((offsets[row] - start) as usize..(offsets[row + 1] - start) as usize)
            }
            TextStorage::Strings(texts) => Some(&texts[row]),
            TextStorage::Options(texts) => texts[row].as_deref(),
        }
    }

    /// Returns whether two columns of the same length have the same texts.
    pub(crate) fn is_same(&self, other: &Texts<'_>) -> bool {
        if self.validity.is_none()
            && other.validity.is_none()
            && let TextStorage::Offsets32(own, text) = self.storage
            && let TextStorage::Offsets32(others, other_text) = other.storage
            && let (Some(start), Some(other_start)) = (own.first(), others.first())
        {
            // Both usually have the same bytes, which are compared together.
            let same_ends = own.iter().zip(others).all(|(end, other)| end - start == other - other_start);
            return text == other_text && same_ends;
        }
        (0..self.len()).all(|row| self.get(row) == other.get(row))
    }

    fn slice(self, rows: &Range<usize>) -> Texts<'a> {
        let storage = match self.storage {
            TextStorage::Offsets32(offsets, text) => {
                let start = |row: usize| (offsets[row] - offsets[0]) as usize;
                TextStorage::Offsets32(&offsets[rows.start..=rows.end], &text[start(rows.start)..start(rows.end)])
            }
            TextStorage::Offsets64(offsets, text) => {
                let start = |row: usize| (offsets[row] - offsets[0]) as usize;
                TextStorage::Offsets64(&offsets[rows.start..=rows.end], &text[start(rows.start)..start(rows.end)])
            }
            TextStorage::Strings(texts) => TextStorage::Strings(&texts[rows.clone()]),
            TextStorage::Options(texts) => TextStorage::Options(&texts[rows.clone()]),
        };
        Texts { storage, validity: self.validity.map(|bits| bits.slice(rows)) }
    }
}

impl<'a> From<&'a [String]> for Texts<'a> {
    fn from(texts: &'a [String]) -> Texts<'a> {
        Texts { storage: TextStorage::Strings(texts), validity: None }
    }
}

impl<'a> From<&'a [Option<String>]> for Texts<'a> {
    fn from(texts: &'a [Option<String>]) -> Texts<'a> {
        Texts { storage: TextStorage::Options(texts), validity: None }
    }
}

/// Texts converted from other values, concatenated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextBuffer {
    text: String,
    ends: Vec<usize>,
}

impl TextBuffer {
    /// Adds a text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// Adds a value as text; an empty string if it is missing.
    fn push_value(&mut self, value: Option<impl Display>) {
        if let Some(value) = value {
            // Writing to a string does not fail.
            let _ = write!(self.text, "{value}");
        }
        self.ends.push(self.text.len());
    }

    /// Returns the number of texts.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns a text.
    pub(crate) fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start..self.ends[row]]
    }
}

/// A column as text: borrowed if it is text, otherwise converted.
#[derive(Debug)]
pub(crate) enum ColumnTexts<'a> {
    Borrowed(Texts<'a>),
    Dictionary(Integers<'a>, Texts<'a>),
    Converted(TextBuffer),
}

impl ColumnTexts<'_> {
    /// Returns the text of a row; an empty string if it is missing.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> &str {
        match self {
            ColumnTexts::Borrowed(texts) => texts.get(row).unwrap_or(""),
            ColumnTexts::Dictionary(codes, names) => codes.name(names, row).unwrap_or(""),
            ColumnTexts::Converted(texts) => texts.get(row),
        }
    }
}

impl<'a> Column<'a> {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Column::F32(values) => values.values.len(),
            Column::F64(values) => values.values.len(),
            Column::Integers(integers) | Column::Dictionary(integers, _) => integers.len(),
            Column::Booleans(bits, _) => bits.len(),
            Column::Text(texts) => texts.len(),
            Column::Other(other) => other.len(),
        }
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether it contains text.
    pub(crate) fn is_text(&self) -> bool {
        match self {
            Column::Text(_) | Column::Dictionary(..) => true,
            Column::F32(_) | Column::F64(_) | Column::Integers(_) | Column::Booleans(..) => false,
            Column::Other(other) => other.is_text(),
        }
    }

    /// Returns whether it contains numbers.
    pub(crate) fn is_numeric(&self) -> bool {
        match self {
            Column::F32(_) | Column::F64(_) | Column::Integers(_) => true,
            Column::Booleans(..) | Column::Text(_) | Column::Dictionary(..) => false,
            Column::Other(other) => other.is_numeric(),
        }
    }

    /// Returns the name of its type, for messages.
    pub(crate) fn kind(&self) -> String {
        match self {
            Column::F32(_) => "Float32".into(),
            Column::F64(_) => "Float64".into(),
            Column::Integers(_) => "whole numbers".into(),
            Column::Booleans(..) => "Boolean".into(),
            Column::Text(_) | Column::Dictionary(..) => "text".into(),
            Column::Other(other) => other.kind(),
        }
    }

    /// Returns whether a row has a value, including NaN.
    pub(crate) fn is_valid(&self, row: usize) -> bool {
        match self {
            Column::F32(values) => is_valid(&values.validity, row),
            Column::F64(values) => is_valid(&values.validity, row),
            Column::Integers(_)
            | Column::Booleans(..)
            | Column::Text(_)
            | Column::Dictionary(..)
            | Column::Other(_) => self.has_value(row),
        }
    }

    /// Returns whether a row has a value other than NaN.
    pub(crate) fn has_value(&self, row: usize) -> bool {
        match self {
            Column::F32(values) => values.get(row).is_some_and(|value| !value.is_nan()),
            Column::F64(values) => values.get(row).is_some_and(|value| !value.is_nan()),
            Column::Integers(integers) => integers.is_valid(row),
            Column::Booleans(_, validity) => is_valid(validity, row),
            Column::Text(texts) => texts.get(row).is_some(),
            Column::Dictionary(codes, names) => codes.name(names, row).is_some(),
            Column::Other(other) => other.is_valid(row),
        }
    }

    /// Returns the values as text; `None` if that is not possible.
    pub(crate) fn texts(&self) -> Option<ColumnTexts<'a>> {
        let mut texts = TextBuffer::default();
        match self {
            Column::Text(texts) => return Some(ColumnTexts::Borrowed(*texts)),
            Column::Dictionary(codes, names) => return Some(ColumnTexts::Dictionary(*codes, *names)),
            Column::Other(other) => return other.texts().map(ColumnTexts::Converted),
            Column::F32(values) => {
                let mut buffer = ryu::Buffer::new();
                for row in 0..self.len() {
                    match values.get(row) {
                        Some(value) => texts.push(buffer.format(value)),
                        None => texts.push(""),
                    }
                }
            }
            Column::F64(values) => {
                let mut buffer = ryu::Buffer::new();
                for row in 0..self.len() {
                    match values.get(row) {
                        Some(value) => texts.push(buffer.format(value)),
                        None => texts.push(""),
                    }
                }
            }
            Column::Integers(integers) => {
                with_integers!(integers, values => (0..self.len()).for_each(|row| texts.push_value(values.get(row))));
            }
            Column::Booleans(bits, validity) => {
                let value = |row: usize| is_valid(validity, row).then(|| bits.get(row));
                (0..self.len()).for_each(|row| texts.push_value(value(row)));
            }
        }
        Some(ColumnTexts::Converted(texts))
    }

    /// Like [`Column::texts`], but also for types that are not read as text, to compare and show values.
    pub(crate) fn shown(&self) -> Option<ColumnTexts<'a>> {
        match self {
            Column::Other(other) => other.shown().map(ColumnTexts::Converted),
            _ => self.texts(),
        }
    }

    /// Returns whether two columns of the same length have the same type and the same values.
    pub(crate) fn is_same(&self, other: &Column<'_>) -> bool {
        match (self, other) {
            (Column::F32(one), Column::F32(other)) => one.is_same(other),
            (Column::F64(one), Column::F64(other)) => one.is_same(other),
            (Column::Integers(one), Column::Integers(other)) => one.is_same(other),
            (Column::Booleans(one, own), Column::Booleans(other, others)) => (0..one.len()).all(|row| {
                is_valid(own, row) == is_valid(others, row) && (!is_valid(own, row) || one.get(row) == other.get(row))
            }),
            (Column::Text(one), Column::Text(other)) => one.is_same(other),
            (Column::Dictionary(codes, names), Column::Dictionary(others, other_names)) => {
                (0..codes.len()).all(|row| codes.name(names, row) == others.name(other_names, row))
            }
            (Column::Other(one), Column::Other(other)) => one.is_same(*other),
            _ => false,
        }
    }

    /// Calls `put` with the index and the number of each of some rows; NaN if it is missing. Text is
    /// not parsed. Returns `None` if the column has no numbers.
    pub(crate) fn each_number(&self, rows: impl Iterator<Item = usize>, mut put: impl FnMut(usize, f64)) -> Option<()> {
        let rows = rows.enumerate();
        match self {
            Column::F32(values) => {
                rows.for_each(|(index, row)| put(index, values.get(row).map_or(f64::NAN, f64::from)));
            }
            Column::F64(values) => rows.for_each(|(index, row)| put(index, values.get(row).unwrap_or(f64::NAN))),
            Column::Integers(integers) => {
                with_integers!(integers, values => {
                    rows.for_each(|(index, row)| put(index, values.get(row).map_or(f64::NAN, |value| value as f64)));
                });
            }
            Column::Booleans(bits, validity) => {
                let value = |row: usize| if is_valid(validity, row) { f64::from(bits.get(row)) } else { f64::NAN };
                rows.for_each(|(index, row)| put(index, value(row)));
            }
            Column::Text(_) | Column::Dictionary(..) => return None,
            Column::Other(other) => {
                let numbers = other.numbers()?;
                rows.for_each(|(index, row)| put(index, numbers[row]));
            }
        }
        Some(())
    }

    /// Returns some of the rows. A column that only its source can convert is returned whole.
    pub(crate) fn slice(self, rows: &Range<usize>) -> Column<'a> {
        match self {
            Column::F32(values) => Column::F32(values.slice(rows)),
            Column::F64(values) => Column::F64(values.slice(rows)),
            Column::Integers(integers) => Column::Integers(integers.slice(rows)),
            Column::Booleans(bits, validity) => {
                Column::Booleans(bits.slice(rows), validity.map(|bits| bits.slice(rows)))
            }
            Column::Text(texts) => Column::Text(texts.slice(rows)),
            Column::Dictionary(codes, names) => Column::Dictionary(codes.slice(rows), names),
            Column::Other(other) => Column::Other(other),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn all(column: Column<'_>) -> Vec<String> {
        let texts = column.texts().unwrap();
        (0..column.len()).map(|row| texts.get(row).to_owned()).collect()
    }

    #[test]
    fn values_become_text() {
        let valid = Some(Bits::Flags(&[true, false, true]));
        assert_eq!(all(Column::F64(Values { values: &[1.0, 2.0, 0.1], validity: valid })), ["1.0", "", "0.1"]);
        assert_eq!(all(Column::F32(Values { values: &[1e20, 2.0, 0.1], validity: valid })), ["1e20", "", "0.1"]);
        let integers = Integers::I16(Values { values: &[-7, 0, 37], validity: valid });
        assert_eq!(all(Column::Integers(integers)), ["-7", "", "37"]);
        let bits = Bits::Packed { bytes: &[0b1010], offset: 1, len: 3 };
        assert_eq!(all(Column::Booleans(bits, valid)), ["true", "", "true"]);
        let names = ["x".to_owned(), "yz".to_owned()];
        assert_eq!(all(Column::Text(Texts::from(&names[..]))), ["x", "yz"]);
        let codes = Integers::U8(Values { values: &[1, 0, 0], validity: valid });
        assert_eq!(all(Column::Dictionary(codes, Texts::from(&names[..]))), ["yz", "", "x"]);
        let texts = Texts::from_offsets32(&[2, 3, 3, 5], "aéb".as_bytes(), valid).unwrap();
        assert_eq!(all(Column::Text(texts)), ["a", "", "é"]);
        assert_eq!(all(Column::Text(texts).slice(&(1..3))), ["", "é"]);
        assert!(Texts::from_offsets64(&[0, 1], b"\xff", None).is_none());
    }

    #[test]
    fn values_become_numbers() {
        let numbers = |column: Column<'_>| {
            let mut numbers = Vec::new();
            column.each_number([2, 0].into_iter(), |index, number| numbers.push((index, number)))?;
            Some(numbers)
        };
        let three = [0.5, 0.25, 2.0];
        assert_eq!(numbers(Column::F64(Values::from(&three[..]))), Some(vec![(0, 2.0), (1, 0.5)]));
        let integers = Integers::U64(Values { values: &[4, 5, 6], validity: Some(Bits::Flags(&[true, true, true])) });
        assert_eq!(numbers(Column::Integers(integers)), Some(vec![(0, 6.0), (1, 4.0)]));
        assert_eq!(numbers(Column::Booleans(Bits::Flags(&[true, true, false]), None)), Some(vec![(0, 0.0), (1, 1.0)]));
        assert_eq!(numbers(Column::Text(Texts::from(&["1".to_owned()][..]))), None);
    }
}
