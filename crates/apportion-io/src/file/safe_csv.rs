//! Escapes text that a spreadsheet could run as a formula, with a leading apostrophe.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, FieldRef, Schema};

use crate::output::escape_formula;

/// Returns the batch with an apostrophe before each text and column name that a spreadsheet could
/// run as a formula. Numbers are unchanged, including numbers in text columns.
pub(crate) fn escape_formulas(batch: &RecordBatch) -> RecordBatch {
    let schema = batch.schema();
    let pairs = schema.fields().iter().zip(batch.columns());
    let (fields, columns): (Vec<FieldRef>, Vec<ArrayRef>) =
        pairs.map(|(field, column)| escape_column(field, column)).unzip();
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    // Cannot fail: the columns match the fields in type and length.
    RecordBatch::try_new(schema, columns).unwrap_or_else(|_| batch.clone())
}

fn escape_column(field: &FieldRef, column: &ArrayRef) -> (FieldRef, ArrayRef) {
    let (name, column) = (escape_formula(field.name()), escape_texts(column).unwrap_or_else(|| column.clone()));
    if matches!(name, Cow::Borrowed(_)) && column.data_type() == field.data_type() {
        return (field.clone(), column);
    }
    let field = Field::new(name, column.data_type().clone(), true).with_metadata(field.metadata().clone());
    (Arc::new(field), column)
}

/// Returns a text column with formulas escaped; `None` if it is not text or has no formulas.
fn escape_texts(column: &ArrayRef) -> Option<ArrayRef> {
    let kind = match column.data_type() {
        DataType::Dictionary(_, values) => values.as_ref(),
        kind => kind,
    };
    if !matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        return None;
    }
    let texts = cast(column, &DataType::Utf8).ok()?;
    let texts = texts.as_string::<i32>();
    if !texts.iter().flatten().any(|text| matches!(escape_formula(text), Cow::Owned(_))) {
        return None;
    }
    Some(Arc::new(texts.iter().map(|text| text.map(escape_formula)).collect::<StringArray>()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{DictionaryArray, Float64Array};

    use super::*;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn texts_of(batch: &RecordBatch, column: usize) -> Vec<Option<String>> {
        let text = cast(batch.column(column), &DataType::Utf8).unwrap();
        text.as_string::<i32>().iter().map(|text| text.map(String::from)).collect()
    }

    #[test]
    fn formulas_are_escaped_and_numbers_unchanged() {
        let cells = [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+1-555-0100", "'+1-555-0100"),
            ("-cmd", "'-cmd"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("-0.5", "-0.5"),
            ("+2", "+2"),
            ("-1e-9", "-1e-9"),
            ("-inf", "'-inf"),
            ("a=b", "a=b"),
            ("'=x", "'=x"),
            ("", ""),
        ];
        let text: ArrayRef = Arc::new(StringArray::from_iter_values(cells.map(|(cell, _)| cell)));
        let number: ArrayRef = Arc::new(Float64Array::from_iter_values(cells.map(|_| -0.5)));
        let safe = escape_formulas(&batch(vec![("name", text), ("score", number.clone())]));
        assert_eq!(texts_of(&safe, 0), cells.map(|(_, safe)| Some(safe.to_owned())));
        assert_eq!(safe.column(1), &number);
    }

    #[test]
    fn missing_values_dictionaries_and_names() {
        let text: ArrayRef = Arc::new(StringArray::from(vec![None, Some("=x")]));
        let dictionary: ArrayRef = Arc::new(["=y", "z"].into_iter().collect::<DictionaryArray<Int32Type>>());
        let safe = escape_formulas(&batch(vec![("=cmd", text), ("d", dictionary)]));
        assert_eq!(safe.schema().field(0).name(), "'=cmd");
        assert_eq!(texts_of(&safe, 0), [None, Some("'=x".to_owned())]);
        assert_eq!(texts_of(&safe, 1), [Some("'=y".to_owned()), Some("z".to_owned())]);
    }

    #[test]
    fn harmless_columns_are_unchanged() {
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "-1"]));
        let plain = batch(vec![("name", text)]);
        assert_eq!(escape_formulas(&plain), plain);
    }
}
