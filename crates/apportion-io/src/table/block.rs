//! Some rows of some columns, which they keep alive. Passes over an input yield blocks, from files or from memory.

use std::ops::Range;
use std::sync::Arc;

use super::column::Column;
use super::shared_column::{Shared, SharedColumn, SharedValues};
use crate::error::Result;
use crate::file::ArrowColumn;

/// Some rows of some columns.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    names: Arc<[String]>,
    columns: Vec<BlockColumn>,
    rows: usize,
}

/// Some rows of a column.
#[derive(Clone, Debug)]
pub(crate) enum BlockColumn {
    /// A column of another program, and the range of its rows.
    Shared(SharedColumn, Range<usize>),
    /// An Arrow array.
    #[cfg_attr(not(feature = "files"), allow(dead_code))] // never constructed
    Arrow(ArrowColumn),
}

impl Block {
    /// Creates a block from columns of the same length, with one name for each.
    pub(crate) fn new(names: Arc<[String]>, columns: Vec<BlockColumn>, rows: usize) -> Block {
        Block { names, columns, rows }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// Returns all columns.
    pub(crate) fn columns(&self) -> Vec<Column<'_>> {
        self.columns.iter().map(BlockColumn::column).collect()
    }

    /// Returns the column at an index.
    pub(crate) fn at(&self, index: usize) -> &BlockColumn {
        &self.columns[index]
    }

    /// Returns the column with a name.
    pub(crate) fn get(&self, name: &str) -> Option<&BlockColumn> {
        self.names.iter().position(|own| own == name).map(|index| &self.columns[index])
    }

    /// Returns some of the rows.
    pub(crate) fn slice(&self, rows: &Range<usize>) -> Block {
        let columns = self.columns.iter().map(|column| column.slice(rows)).collect();
        Block { names: self.names.clone(), columns, rows: rows.len() }
    }

    /// Returns the rows of several blocks as one, with the columns of the first; `None` if there is no block, or if their
    /// columns differ.
    ///
    /// # Errors
    /// If the columns cannot be joined, for example because their text takes more than 2 GiB.
    pub(crate) fn join(mut blocks: Vec<Block>) -> Result<Option<Block>> {
        if blocks.len() < 2 {
            return Ok(blocks.pop());
        }
        let names = blocks[0].names.clone();
        let mut columns = Vec::with_capacity(names.len());
        for name in names.iter() {
            let pieces = blocks.iter().map(|block| block.get(name)).collect::<Option<Vec<_>>>();
            let Some(pieces) = pieces else { return Ok(None) };
            let Some(column) = BlockColumn::join(&pieces)? else { return Ok(None) };
            columns.push(column);
        }
        Ok(Some(Block { names, columns, rows: blocks.iter().map(Block::len).sum() }))
    }
}

impl BlockColumn {
    /// Borrows the column.
    pub(crate) fn column(&self) -> Column<'_> {
        match self {
            BlockColumn::Shared(column, rows) => column.column().slice(rows),
            BlockColumn::Arrow(array) => array.column(),
        }
    }

    /// Returns some of the rows.
    pub(crate) fn slice(&self, rows: &Range<usize>) -> BlockColumn {
        match self {
            BlockColumn::Shared(column, own) => {
                BlockColumn::Shared(column.clone(), own.start + rows.start..own.start + rows.end)
            }
            BlockColumn::Arrow(array) => BlockColumn::Arrow(array.slice(rows)),
        }
    }

    /// Returns all values if they are numbers in single precision without missing values. They are not copied, so
    /// `None` is returned for a part of a column.
    pub(crate) fn singles(&self) -> Option<Shared<f32>> {
        match self {
            BlockColumn::Shared(column, rows) => match column.values() {
                SharedValues::F32(values) if is_whole(column, rows) => Some(values.clone()),
                _ => None,
            },
            BlockColumn::Arrow(array) => array.singles(),
        }
    }

    /// Like [`BlockColumn::singles`], in double precision.
    pub(crate) fn doubles(&self) -> Option<Shared<f64>> {
        match self {
            BlockColumn::Shared(column, rows) => match column.values() {
                SharedValues::F64(values) if is_whole(column, rows) => Some(values.clone()),
                _ => None,
            },
            BlockColumn::Arrow(array) => array.doubles(),
        }
    }

    /// Returns pieces of a column as one; `None` if their types differ.
    fn join(pieces: &[&BlockColumn]) -> Result<Option<BlockColumn>> {
        let array = |piece: &&BlockColumn| match piece {
            BlockColumn::Arrow(array) => Some(array.clone()),
            BlockColumn::Shared(..) => None,
        };
        match pieces.iter().map(array).collect::<Option<Vec<_>>>() {
            Some(arrays) => Ok(ArrowColumn::join(&arrays)?.map(BlockColumn::Arrow)),
            None => Ok(join_shared(pieces)),
        }
    }
}

/// Returns pieces of columns of another program as one; `None` if their types differ.
fn join_shared(pieces: &[&BlockColumn]) -> Option<BlockColumn> {
    let BlockColumn::Shared(column, rows) = pieces.first()? else { return None };
    let mut end = rows.start;
    for piece in pieces {
        let BlockColumn::Shared(other, own) = piece else { return None };
        if !other.is_same_memory(column) || own.start != end {
            return copied(pieces);
        }
        end = own.end;
    }
    Some(BlockColumn::Shared(column.clone(), rows.start..end))
}

/// Returns whether the range covers all rows of a column without missing values.
fn is_whole(column: &SharedColumn, rows: &Range<usize>) -> bool {
    column.is_complete() && *rows == (0..column.column().len())
}

/// Copies pieces of numeric columns, such as those of a matrix, into one column.
fn copied(pieces: &[&BlockColumn]) -> Option<BlockColumn> {
    let rows = pieces.iter().map(|piece| piece.column().len()).sum();
    let column: SharedColumn = match pieces.first()?.column() {
        Column::F32(_) => {
            let mut numbers: Vec<f32> = Vec::with_capacity(rows);
            for piece in pieces {
                let Column::F32(values) = piece.column() else { return None };
                numbers.extend((0..values.values.len()).map(|row| values.get(row).unwrap_or(f32::NAN)));
            }
            numbers.into()
        }
        Column::F64(_) => {
            let mut numbers: Vec<f64> = Vec::with_capacity(rows);
            for piece in pieces {
                let Column::F64(values) = piece.column() else { return None };
                numbers.extend((0..values.values.len()).map(|row| values.get(row).unwrap_or(f64::NAN)));
            }
            numbers.into()
        }
        _ => return None,
    };
    Some(BlockColumn::Shared(column, 0..rows))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn block(texts: &SharedColumn, numbers: Vec<f64>, rows: Range<usize>) -> Block {
        let len = rows.len();
        let columns = vec![BlockColumn::Shared(texts.clone(), rows), BlockColumn::Shared(numbers.into(), 0..len)];
        Block::new(["t".to_owned(), "n".to_owned()].into(), columns, len)
    }

    #[test]
    fn blocks_are_cut_and_joined() {
        let texts: SharedColumn = ["a", "b", "c", "d"].map(String::from).to_vec().into();
        let two = vec![block(&texts, vec![1.0, 2.0], 0..2), block(&texts, vec![3.0], 2..3)];
        let joined = Block::join(two).unwrap().unwrap();
        assert_eq!(joined.len(), 3);
        let cut = joined.slice(&(1..3));
        let texts_of = cut.get("t").unwrap().column().texts().unwrap();
        assert_eq!((texts_of.get(0), texts_of.get(1)), ("b", "c"));
        let mut numbers = Vec::new();
        cut.get("n").unwrap().column().each_number(0..2, |_, number| numbers.push(number)).unwrap();
        assert_eq!(numbers, [2.0, 3.0]);
        assert!(joined.get("n").unwrap().doubles().is_some_and(|all| all.as_slice() == [1.0, 2.0, 3.0]));
        assert!(cut.get("n").unwrap().doubles().is_none());
        // Rows that are not contiguous, of a type that is never copied.
        assert!(Block::join(vec![block(&texts, vec![1.0], 0..1), block(&texts, vec![2.0], 2..3)]).unwrap().is_none());
    }
}
