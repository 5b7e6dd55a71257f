//! Columns of a table in memory that several owners share, without Arrow.

use std::fmt;
use std::sync::Arc;

use super::column::{Bits, Column, Integers, Texts, Validity, Values};

/// Values that are shared, not copied: a vector, or memory that its owner keeps alive.
pub struct Shared<T>(Arc<dyn AsRef<[T]> + Send + Sync>);

impl<T> Shared<T> {
    /// Shares values with their owner.
    pub fn new(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Shared<T> {
        Shared(Arc::new(owner))
    }

    /// Returns the values.
    pub fn as_slice(&self) -> &[T] {
        (*self.0).as_ref()
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(self.0.clone())
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared({} values)", self.as_slice().len())
    }
}

impl<T: Send + Sync + 'static> From<Vec<T>> for Shared<T> {
    fn from(values: Vec<T>) -> Shared<T> {
        Shared::new(values)
    }
}

/// A column of a table in memory.
#[derive(Clone, Debug)]
pub struct SharedColumn {
    values: SharedValues,
    /// Whether each row has a value; `None` if all rows do.
    validity: Option<Shared<bool>>,
}

/// The values of a column.
#[derive(Clone, Debug)]
pub enum SharedValues {
    /// Numbers in single precision; NaN is a missing value.
    F32(Shared<f32>),
    /// Numbers in double precision; NaN is a missing value.
    F64(Shared<f64>),
    /// 32-bit integers.
    I32(Shared<i32>),
    /// 64-bit integers.
    I64(Shared<i64>),
    /// Unsigned 64-bit integers.
    U64(Shared<u64>),
    /// True or false.
    Booleans(Shared<bool>),
    /// Text; an empty string is a missing value.
    Text(Shared<String>),
    /// For each row an index into the names, as in factors and categories. An index without a name,
    /// such as −1, is a missing value.
    Dictionary(Shared<i32>, Shared<String>),
}

impl From<SharedValues> for SharedColumn {
    fn from(values: SharedValues) -> SharedColumn {
        SharedColumn { values, validity: None }
    }
}

impl From<Vec<f32>> for SharedColumn {
    fn from(values: Vec<f32>) -> SharedColumn {
        SharedValues::F32(values.into()).into()
    }
}

impl From<Vec<f64>> for SharedColumn {
    fn from(values: Vec<f64>) -> SharedColumn {
        SharedValues::F64(values.into()).into()
    }
}

impl From<Vec<i64>> for SharedColumn {
    fn from(values: Vec<i64>) -> SharedColumn {
        SharedValues::I64(values.into()).into()
    }
}

impl From<Vec<u64>> for SharedColumn {
    fn from(values: Vec<u64>) -> SharedColumn {
        SharedValues::U64(values.into()).into()
    }
}

impl From<Vec<String>> for SharedColumn {
    fn from(values: Vec<String>) -> SharedColumn {
        SharedValues::Text(values.into()).into()
    }
}

impl SharedColumn {
    /// Marks rows without a value: `validity` has one flag for each row.
    pub fn with_validity(self, validity: Shared<bool>) -> SharedColumn {
        SharedColumn { validity: Some(validity), ..self }
    }

    /// Returns the values.
    pub(crate) fn values(&self) -> &SharedValues {
        &self.values
    }

    /// Returns whether all rows have a value.
    pub(crate) fn is_complete(&self) -> bool {
        self.validity.as_ref().is_none_or(|validity| validity.as_slice().iter().all(|&valid| valid))
    }

    /// Returns whether both refer to the same values in memory.
    pub(crate) fn is_same_memory(&self, other: &SharedColumn) -> bool {
        fn same<T>(one: &Shared<T>, other: &Shared<T>) -> bool {
            std::ptr::eq(one.as_slice(), other.as_slice())
        }
        let validity = match (&self.validity, &other.validity) {
            (None, None) => true,
            (Some(one), Some(other)) => same(one, other),
            (Some(_), None) | (None, Some(_)) => false,
        };
        validity
            && match (&self.values, &other.values) {
                (SharedValues::F32(one), SharedValues::F32(other)) => same(one, other),
                (SharedValues::F64(one), SharedValues::F64(other)) => same(one, other),
                (SharedValues::I32(one), SharedValues::I32(other)) => same(one, other),
                (SharedValues::I64(one), SharedValues::I64(other)) => same(one, other),
                (SharedValues::U64(one), SharedValues::U64(other)) => same(one, other),
                (SharedValues::Booleans(one), SharedValues::Booleans(other)) => same(one, other),
                (SharedValues::Text(one), SharedValues::Text(other)) => same(one, other),
                (SharedValues::Dictionary(one, own), SharedValues::Dictionary(other, names)) => {
                    same(one, other) && same(own, names)
                }
                _ => false,
            }
    }

    /// Returns whether each row has a value; `None` if all rows do.
    pub(crate) fn validity(&self) -> Option<&Shared<bool>> {
        self.validity.as_ref()
    }

    /// Returns the number of rows; `None` if the validity has a different length.
    pub(crate) fn checked_len(&self) -> Option<usize> {
        let len = self.column().len();
        self.validity.as_ref().is_none_or(|validity| validity.as_slice().len() == len).then_some(len)
    }

    /// Borrows the column.
    pub fn column(&self) -> Column<'_> {
        let validity: Validity<'_> = self.validity.as_ref().map(|validity| Bits::Flags(validity.as_slice()));
        fn with<'a, T>(shared: &'a Shared<T>, validity: Validity<'a>) -> Values<'a, T> {
            Values { values: shared.as_slice(), validity }
        }
        match &self.values {
            SharedValues::F32(values) => Column::F32(with(values, validity)),
            SharedValues::F64(values) => Column::F64(with(values, validity)),
            SharedValues::I32(values) => Column::Integers(Integers::I32(with(values, validity))),
            SharedValues::I64(values) => Column::Integers(Integers::I64(with(values, validity))),
            SharedValues::U64(values) => Column::Integers(Integers::U64(with(values, validity))),
            SharedValues::Booleans(values) => Column::Booleans(Bits::Flags(values.as_slice()), validity),
            SharedValues::Text(texts) => Column::Text(Texts::from(texts.as_slice()).with_validity(validity)),
            SharedValues::Dictionary(codes, names) => {
                Column::Dictionary(Integers::I32(with(codes, validity)), Texts::from(names.as_slice()))
            }
        }
    }
}
