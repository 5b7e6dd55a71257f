//! Arrow arrays as table columns. Numbers and text are borrowed; other types are converted when needed.

use std::any::Any;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use apportion::text::{Message, Setting};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Float32Array, Float64Array, GenericStringArray, Int32Array,
    OffsetSizeTrait, PrimitiveArray, RecordBatch, StringArray,
};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use arrow_select::concat::concat;

use crate::error::{Error, Result};
use crate::table::{
    Bits, Block, BlockColumn, Column, Integers, OtherColumn, Shared, TextBuffer, Texts, Validity, Values,
};

/// An array as a column of a block.
#[derive(Clone, Debug)]
pub(crate) struct ArrowColumn(ArrayRef);

/// Texts of an array, which are not copied.
#[derive(Clone, Debug)]
pub(crate) struct ArrowTexts(StringArray);

/// Indices of words in a dictionary.
#[derive(Clone, Debug)]
pub(crate) struct ArrowCodes(Int32Array);

/// Returns the rows of a batch, with these column names.
pub(crate) fn block_of(names: &Arc<[String]>, batch: &RecordBatch) -> Block {
    let columns = batch.columns().iter().map(|array| BlockColumn::Arrow(ArrowColumn(array.clone()))).collect();
    Block::new(names.clone(), columns, batch.num_rows())
}

impl ArrowColumn {
    pub(crate) fn column(&self) -> Column<'_> {
        column_of(&self.0)
    }

    pub(crate) fn slice(&self, rows: &Range<usize>) -> ArrowColumn {
        ArrowColumn(self.0.slice(rows.start, rows.len()))
    }

    /// Returns all values if they are numbers in single precision without missing values.
    pub(crate) fn singles(&self) -> Option<Shared<f32>> {
        numbers::<Float32Type>(&self.0)
    }

    /// Returns all values if they are numbers in double precision without missing values.
    pub(crate) fn doubles(&self) -> Option<Shared<f64>> {
        numbers::<Float64Type>(&self.0)
    }

    /// Returns pieces of a column as one; `None` if their types differ.
    ///
    /// # Errors
    /// If they do not fit into one array.
    pub(crate) fn join(pieces: &[ArrowColumn]) -> Result<Option<ArrowColumn>> {
        let arrays: Vec<&dyn Array> = pieces.iter().map(|piece| piece.0.as_ref()).collect();
        if arrays.iter().any(|array| array.data_type() != arrays[0].data_type()) {
            return Ok(None);
        }
        match concat(&arrays) {
            Ok(array) => Ok(Some(ArrowColumn(array))),
            Err(error) => Err(Error::settings(
                Message::from(format!("too many values to read at a time ({error}); read fewer rows with "))
                    + Setting::BatchRows,
            )),
        }
    }

    /// Returns the values as text, if that is possible.
    pub(crate) fn texts(&self) -> Option<ArrowTexts> {
        Some(ArrowTexts(cast(&self.0, &DataType::Utf8).ok()?.as_string().clone()))
    }

    /// Returns the indices and words of a dictionary of text.
    pub(crate) fn dictionary(&self) -> Option<(ArrowCodes, ArrowTexts)> {
        let DataType::Dictionary(_, words) = self.0.data_type() else { return None };
        if !words.is_string() {
            return None;
        }
        let wanted = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let column = cast(&self.0, &wanted).ok()?;
        let column = column.as_dictionary_opt::<Int32Type>()?;
        Some((ArrowCodes(column.keys().clone()), ArrowTexts(column.values().as_string().clone())))
    }
}

fn numbers<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<Shared<T::Native>> {
    let numbers: &PrimitiveArray<T> = array.as_primitive_opt()?;
    (numbers.null_count() == 0).then(|| Shared::new(numbers.values().clone()))
}

impl ArrowTexts {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns a text; an empty string if it is missing.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> &str {
        if self.0.is_null(row) { "" } else { self.0.value(row) }
    }

    pub(crate) fn is_same_memory(&self, other: &ArrowTexts) -> bool {
        let (own, other) = (&self.0, &other.0);
        own.len() == other.len()
            && own.value_offsets().as_ptr() == other.value_offsets().as_ptr()
            && own.value_data().as_ptr() == other.value_data().as_ptr()
    }
}

impl ArrowCodes {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the index of a row's word, if it has one.
    #[inline]
    pub(crate) fn get(&self, row: usize) -> Option<usize> {
        if self.0.is_null(row) { None } else { Some(self.0.value(row) as usize) }
    }
}

/// Returns an array as a column.
pub(crate) fn column_of(array: &ArrayRef) -> Column<'_> {
    match array.data_type() {
        DataType::Float32 => Column::F32(values_of::<Float32Type>(array)),
        DataType::Float64 => Column::F64(values_of::<Float64Type>(array)),
        DataType::Boolean => {
            let values = array.as_boolean().values();
            let bits = Bits::Packed { bytes: values.values(), offset: values.offset(), len: values.len() };
            Column::Booleans(bits, validity_of(array))
        }
        DataType::Utf8 | DataType::LargeUtf8 => texts_of(array).map_or(Column::Other(array), Column::Text),
        DataType::Dictionary(..) => dictionary_of(array).unwrap_or(Column::Other(array)),
        _ => integers_of(array).map_or(Column::Other(array), Column::Integers),
    }
}

fn validity_of(array: &dyn Array) -> Validity<'_> {
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0)?;
    Some(Bits::Packed { bytes: nulls.validity(), offset: nulls.offset(), len: nulls.len() })
}

fn values_of<T: ArrowPrimitiveType>(array: &dyn Array) -> Values<'_, T::Native> {
    Values { values: array.as_primitive::<T>().values(), validity: validity_of(array) }
}

fn integers_of(array: &dyn Array) -> Option<Integers<'_>> {
    Some(match array.data_type() {
        DataType::Int8 => Integers::I8(values_of::<Int8Type>(array)),
        DataType::Int16 => Integers::I16(values_of::<Int16Type>(array)),
        DataType::Int32 => Integers::I32(values_of::<Int32Type>(array)),
        DataType::Int64 => Integers::I64(values_of::<Int64Type>(array)),
        DataType::UInt8 => Integers::U8(values_of::<UInt8Type>(array)),
        DataType::UInt16 => Integers::U16(values_of::<UInt16Type>(array)),
        DataType::UInt32 => Integers::U32(values_of::<UInt32Type>(array)),
        DataType::UInt64 => Integers::U64(values_of::<UInt64Type>(array)),
        _ => return None,
    })
}

/// Returns text; `None` if the bytes outside its values are not valid UTF-8.
fn texts_of(array: &dyn Array) -> Option<Texts<'_>> {
    match array.data_type() {
        DataType::Utf8 => {
            let text = array.as_string::<i32>();
            Texts::from_offsets32(text.value_offsets(), used_bytes(text)?, validity_of(array))
        }
        DataType::LargeUtf8 => {
            let text = array.as_string::<i64>();
            Texts::from_offsets64(text.value_offsets(), used_bytes(text)?, validity_of(array))
        }
        _ => None,
    }
}

/// Returns the bytes from the first text to the last.
fn used_bytes<O: OffsetSizeTrait>(text: &GenericStringArray<O>) -> Option<&[u8]> {
    let offsets = text.value_offsets();
    let (first, last) = (offsets.first()?.as_usize(), offsets.last()?.as_usize());
    text.value_data().get(first..last)
}

/// Returns a dictionary of text.
fn dictionary_of(array: &dyn Array) -> Option<Column<'_>> {
    let dictionary = array.as_any_dictionary_opt()?;
    Some(Column::Dictionary(integers_of(dictionary.keys())?, texts_of(dictionary.values().as_ref())?))
}

impl OtherColumn for ArrayRef {
    fn len(&self) -> usize {
        Array::len(self)
    }

    fn kind(&self) -> String {
        self.data_type().to_string()
    }

    fn is_text(&self) -> bool {
        match self.data_type() {
            DataType::Dictionary(_, values) => matches!(**values, DataType::Utf8 | DataType::LargeUtf8),
            kind => matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
        }
    }

    fn is_numeric(&self) -> bool {
        self.data_type().is_numeric()
    }

    fn is_valid(&self, row: usize) -> bool {
        Array::is_valid(self, row)
    }

    fn numbers(&self) -> Option<Vec<f64>> {
        let numbers = cast(self, &DataType::Float64).ok()?;
        let numbers = numbers.as_primitive::<Float64Type>();
        Some(numbers.iter().map(|number| number.unwrap_or(f64::NAN)).collect())
    }

    fn texts(&self) -> Option<TextBuffer> {
        let converted = cast(self, &DataType::Utf8).ok()?;
        let mut texts = TextBuffer::default();
        converted.as_string::<i32>().iter().for_each(|text| texts.push(text.unwrap_or("")));
        Some(texts)
    }

    fn shown(&self) -> Option<TextBuffer> {
        let options = FormatOptions::new();
        let formatter = ArrayFormatter::try_new(self.as_ref(), &options).ok()?;
        let (mut texts, mut text) = (TextBuffer::default(), String::new());
        for row in 0..Array::len(self) {
            text.clear();
            write!(text, "{}", formatter.value(row)).ok()?;
            texts.push(&text);
        }
        Some(texts)
    }

    fn is_same(&self, other: &dyn OtherColumn) -> bool {
        let Some(other) = other.as_any().downcast_ref::<ArrayRef>() else { return false };
        self.data_type() == other.data_type() && self.to_data() == other.to_data()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Returns a column of a block as an array. Columns of another program are copied.
pub(crate) fn array_of(column: &BlockColumn) -> ArrayRef {
    match column {
        BlockColumn::Arrow(ArrowColumn(array)) => array.clone(),
        BlockColumn::Shared(..) => copied(&column.column()),
    }
}

fn copied(column: &Column<'_>) -> ArrayRef {
    match column {
        Column::F32(values) => Arc::new((0..column.len()).map(|row| values.get(row)).collect::<Float32Array>()),
        Column::F64(values) => Arc::new((0..column.len()).map(|row| values.get(row)).collect::<Float64Array>()),
        Column::Integers(integers) => integer_array(integers),
        Column::Booleans(bits, validity) => {
            let is_valid = |row: usize| validity.is_none_or(|valid| valid.get(row));
            Arc::new((0..column.len()).map(|row| is_valid(row).then(|| bits.get(row))).collect::<BooleanArray>())
        }
        Column::Text(_) | Column::Dictionary(..) | Column::Other(_) => {
            let texts = column.texts();
            let text = |row: usize| texts.as_ref().filter(|_| column.has_value(row)).map(|texts| texts.get(row));
            Arc::new((0..column.len()).map(text).collect::<StringArray>())
        }
    }
}

fn integer_array(integers: &Integers<'_>) -> ArrayRef {
    fn array<T: ArrowPrimitiveType>(values: &Values<'_, T::Native>) -> ArrayRef {
        let values = (0..values.values.len()).map(|row| values.get(row));
        Arc::new(values.collect::<PrimitiveArray<T>>())
    }
    match integers {
        Integers::I8(values) => array::<Int8Type>(values),
        Integers::I16(values) => array::<Int16Type>(values),
        Integers::I32(values) => array::<Int32Type>(values),
        Integers::I64(values) => array::<Int64Type>(values),
        Integers::U8(values) => array::<UInt8Type>(values),
        Integers::U16(values) => array::<UInt16Type>(values),
        Integers::U32(values) => array::<UInt32Type>(values),
        Integers::U64(values) => array::<UInt64Type>(values),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use arrow_array::{Date32Array, Decimal128Array, DictionaryArray, Int64Array, StringViewArray};

    use super::*;

    /// Text and numbers equal those of Arrow's casts, for every type and for slices.
    #[test]
    fn columns_are_converted_as_arrow_converts_them() {
        let floats = [0.0, -0.0, 1.0, 1e15, 1e16, 1.5e17, 0.1, 1e-4, 1e-5, 1.25e-7, f64::NAN, f64::INFINITY];
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(Float64Array::from_iter(floats.into_iter().map(Some).chain([None]))),
            Arc::new(Float32Array::from_iter(floats.into_iter().map(|value| Some(value as f32)).chain([None]))),
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(37063), Some(0)])),
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)])),
            Arc::new(StringArray::from(vec![Some("é"), None, Some(""), Some("x, y")])),
            Arc::new(StringViewArray::from(vec![Some("a text that is not inlined"), None, Some("b")])),
            Arc::new(Date32Array::from(vec![Some(19_000), None, Some(0)])),
            Arc::new(Decimal128Array::from(vec![Some(1250), None, Some(7)]).with_precision_and_scale(5, 2).unwrap()),
            Arc::new(vec![Some("b"), None, Some("a"), Some("b")].into_iter().collect::<DictionaryArray<Int8Type>>()),
        ];
        for array in arrays {
            let len = Array::len(&array);
            for array in [array.slice(0, len), array.slice(1, len - 1)] {
                let column = column_of(&array);
                assert_eq!(column.len(), Array::len(&array));
                let expected = cast(&array, &DataType::Utf8).unwrap();
                let texts = column.texts().unwrap();
                let found: Vec<&str> = (0..column.len()).map(|row| texts.get(row)).collect();
                let expected: Vec<&str> = expected.as_string::<i32>().iter().map(|text| text.unwrap_or("")).collect();
                assert_eq!(found, expected, "{}", array.data_type());
                if column.is_text() {
                    continue;
                }
                let mut found = Vec::new();
                let numbers = column.each_number(0..column.len(), |_, number| found.push(number.to_bits()));
                let expected = OtherColumn::numbers(&array);
                assert_eq!(numbers.map(|()| found), expected.map(|all| all.iter().map(|n| n.to_bits()).collect()));
            }
        }
    }

    #[test]
    fn columns_become_arrays_again() {
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(Float32Array::from(vec![Some(0.5), None])),
            Arc::new(Int64Array::from(vec![None, Some(3)])),
            Arc::new(BooleanArray::from(vec![Some(true), None])),
            Arc::new(StringArray::from(vec![Some("a"), None])),
        ];
        for array in arrays {
            let column = column_of(&array);
            assert_eq!(&copied(&column), &array);
        }
    }
}
