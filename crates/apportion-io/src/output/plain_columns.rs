//! Columns that a program computed, as plain values: written to a new file, added to the rows of an input, or used as a
//! table in memory.

use crate::error::Result;
use crate::table::{MemoryTable, SharedColumn, SharedValues};

/// A named column of plain values.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainColumn {
    /// The name.
    pub name: String,
    /// The values, row by row.
    pub values: PlainValues,
}

/// The values of a column. A column without rows still has a type.
#[derive(Clone, Debug, PartialEq)]
pub enum PlainValues {
    /// Text.
    Text(TextList),
    /// One of a few words for each row.
    Words {
        /// The index of each row's word.
        codes: Vec<u8>,
        /// All words.
        words: Vec<String>,
    },
    /// Whole numbers.
    Whole(Vec<u64>),
    /// Numbers in single precision.
    Single(Vec<f32>),
    /// Numbers in double precision.
    Double(Vec<f64>),
    /// Numbers in double precision, some of them missing.
    OptionalDouble(Vec<Option<f64>>),
}

/// Texts, stored one after another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextList {
    text: String,
    /// The end of each text in `text`.
    ends: Vec<usize>,
}

/// Some rows as named columns of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlainRows {
    columns: Vec<PlainColumn>,
}

impl PlainRows {
    /// Creates rows from columns, which must have the same length.
    pub fn new(columns: Vec<PlainColumn>) -> PlainRows {
        PlainRows { columns }
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[PlainColumn] {
        &self.columns
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the columns.
    pub fn into_columns(self) -> Vec<PlainColumn> {
        self.columns
    }
}

impl PlainColumn {
    /// Creates a column.
    pub fn new(name: impl Into<String>, values: PlainValues) -> PlainColumn {
        PlainColumn { name: name.into(), values }
    }
}

impl PlainValues {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            PlainValues::Text(texts) => texts.ends.len(),
            PlainValues::Words { codes, .. } => codes.len(),
            PlainValues::Whole(numbers) => numbers.len(),
            PlainValues::Single(numbers) => numbers.len(),
            PlainValues::Double(numbers) => numbers.len(),
            PlainValues::OptionalDouble(numbers) => numbers.len(),
        }
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl TextList {
    /// Returns the texts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let text = &self.text[start..end];
            start = end;
            text
        })
    }
}

impl<S: AsRef<str>> FromIterator<S> for TextList {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> TextList {
        let mut all = TextList::default();
        for text in texts {
            all.text.push_str(text.as_ref());
            all.ends.push(all.text.len());
        }
        all
    }
}

impl From<PlainValues> for SharedColumn {
    fn from(values: PlainValues) -> SharedColumn {
        match values {
            PlainValues::Text(texts) => texts.iter().map(str::to_owned).collect::<Vec<String>>().into(),
            PlainValues::Words { codes, words } => {
                let codes: Vec<i32> = codes.into_iter().map(i32::from).collect();
                SharedValues::Dictionary(codes.into(), words.into()).into()
            }
            PlainValues::Whole(numbers) => numbers.into(),
            PlainValues::Single(numbers) => numbers.into(),
            PlainValues::Double(numbers) => numbers.into(),
            PlainValues::OptionalDouble(numbers) => {
                let validity: Vec<bool> = numbers.iter().map(Option::is_some).collect();
                let values: Vec<f64> = numbers.into_iter().map(Option::unwrap_or_default).collect();
                SharedColumn::from(values).with_validity(validity.into())
            }
        }
    }
}

impl MemoryTable {
    /// Creates a table from columns that a job returned. Numbers are not copied.
    ///
    /// # Errors
    /// If the columns differ in length, or two have the same name.
    pub fn from_plain(columns: Vec<PlainColumn>) -> Result<MemoryTable> {
        MemoryTable::from_columns(columns.into_iter().map(|column| (column.name, column.values.into())).collect())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_a_table() {
        let texts: TextList = ["b", "", "cd"].into_iter().collect();
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["b", "", "cd"]);
        let words = PlainValues::Words { codes: vec![1, 0, 1], words: vec!["x".into(), "y".into()] };
        let columns = vec![
            PlainColumn::new("text", PlainValues::Text(texts)),
            PlainColumn::new("word", words),
            PlainColumn::new("number", PlainValues::OptionalDouble(vec![Some(0.5), None, Some(f64::NAN)])),
        ];
        let input = crate::Input::from_memory("t", MemoryTable::from_plain(columns).unwrap(), Default::default());
        let rows = input.read_text(0).unwrap().rows;
        assert_eq!(rows, [["b", "y", "0.5"], ["", "x", ""], ["cd", "y", "NaN"]]);
        let short =
            vec![PlainColumn::new("a", PlainValues::Whole(vec![1])), PlainColumn::new("b", PlainValues::Whole(vec![]))];
        assert!(MemoryTable::from_plain(short).is_err());
    }
}
