//! Hash maps from names and codes to rows. Most names fit into sixteen bytes and are stored in the map itself: the
//! tables are larger than the processor's caches, so each further memory access would dominate the cost of a lookup.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use apportion::seed;

/// Names and their rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    short: HashMap<u128, u32, BuildHasherDefault<Mixed>>,
    long: HashMap<Box<str>, u32>,
}

impl Index {
    /// Returns an empty index with room for a number of names.
    pub(crate) fn with_capacity(names: usize) -> Index {
        Index { short: HashMap::with_capacity_and_hasher(names, BuildHasherDefault::default()), ..Index::default() }
    }

    /// Adds a name and returns whether it is new; an existing entry is kept.
    pub(crate) fn insert(&mut self, name: &str, row: u32) -> bool {
        fn put<K>(entry: Entry<'_, K, u32>, row: u32) -> bool {
            let is_new = matches!(entry, Entry::Vacant(_));
            entry.or_insert(row);
            is_new
        }
        match packed(name) {
            Some(key) => put(self.short.entry(key), row),
            None => put(self.long.entry(name.into()), row),
        }
    }

    /// Returns the row of a name.
    #[inline]
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        match packed(name) {
            Some(key) => self.short.get(&key).copied(),
            None => self.long.get(name).copied(),
        }
    }

    /// Returns the row of a short name, given as a number.
    #[inline]
    pub(crate) fn get_packed(&self, name: u128) -> Option<u32> {
        self.short.get(&name).copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.short.is_empty() && self.long.is_empty()
    }
}

/// Returns a short name as a number, padded with zeros.
#[inline]
pub(crate) fn packed(name: &str) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
    Some(u128::from_le_bytes(bytes))
}

/// Rows by place code.
pub(crate) type Codes = HashMap<u64, u32, BuildHasherDefault<Mixed>>;

/// A fast hash of numbers. It does not resist attacks: the keys come from the owner of the table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = seed::hash(self.0, u64::from(byte), 0));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = seed::hash(0, number, 0);
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.0 = seed::hash(number as u64, (number >> 64) as u64, 0);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_are_found() {
        let names = ["A", "SMITH", "SIXTEEN LETTERS.", "SEVENTEEN LETTERS", "ALL OTHER FIRST NAMES"];
        let mut index = Index::default();
        assert!(index.is_empty());
        for (row, name) in names.iter().enumerate() {
            assert!(index.insert(name, row as u32));
            assert!(!index.insert(name, 99));
        }
        for (row, name) in names.iter().enumerate() {
            assert_eq!(index.get(name), Some(row as u32), "{name}");
        }
        assert_eq!(
            (index.get("SMIT"), index.get("SMITHS"), index.get(""), index.get("SEVENTEEN LETTER")),
            (None, None, None, None)
        );
    }
}
