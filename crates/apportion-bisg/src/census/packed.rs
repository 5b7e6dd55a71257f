//! Unpacks the tables that `data/make.py` writes. They are compressed with Zstandard.
//!
//! Functions panic if a table is damaged. The tables are built in, and a test reads every row.

use super::CLASSES;
use super::tables::{CensusRows, VOTER_CLASSES};
use crate::places::Level;

/// Number of classes.
const K: usize = CLASSES.len();

/// The largest sample that is looked for behind the shares of a name. Larger ones stand for shares in 4095 parts.
const LARGEST_SAMPLE: u16 = 1000;

/// Unpacks names with the number of people and the shares of the classes, stored as whole numbers of `width` bytes.
pub(super) fn names(packed: &[u8], width: usize, unit: f64) -> CensusRows {
    let bytes = unpack(packed);
    let mut rest = bytes.as_slice();
    let (rows, text) = keys(&mut rest);
    let counts = take(&mut rest, 4 * rows).chunks_exact(4).map(number).collect();
    let values = columns(&mut rest, rows, width, |bytes| number(bytes) as f64 / unit);
    let mut all = CensusRows::named(text, K, values);
    all.counts = Some(counts);
    all
}

/// Unpacks places with a text as key, and whole numbers or numbers in double precision.
pub(super) fn keyed(packed: &[u8], width: usize) -> CensusRows {
    let bytes = unpack(packed);
    let mut rest = bytes.as_slice();
    let (rows, text) = keys(&mut rest);
    let value = |bytes: &[u8]| if width == 8 { f64::from_bits(number(bytes)) } else { number(bytes) as f64 };
    CensusRows::named(text, K, columns(&mut rest, rows, width, value))
}

/// Unpacks places with a code as key: the difference of each code from the one before, then people by class.
pub(super) fn coded(packed: &[u8], level: Level) -> CensusRows {
    let bytes = unpack(packed);
    let mut rest = bytes.as_slice();
    let rows = number(take(&mut rest, 4)) as usize;
    let mut code = 0;
    let codes = (0..rows).map(|_| {
        code += varint(&mut rest);
        code
    });
    let codes: Vec<u64> = codes.collect();
    let mut values = vec![0.0; rows * K];
    for class in 0..K {
        let people = planes(&mut rest, rows, 4);
        people
            .into_iter()
            .zip(values[class..].iter_mut().step_by(K))
            .for_each(|(people, value)| *value = people as f64);
    }
    CensusRows::coded(level, codes, values)
}

/// Unpacks a voter list: each name as the length of the start that it shares with the one before and the rest, the
/// sample behind the shares, and its people of all classes but the first.
pub(super) fn voter_names(packed: &[u8]) -> CensusRows {
    const K: usize = VOTER_CLASSES.len();
    let bytes = unpack(packed);
    let mut rest = bytes.as_slice();
    let rows = number(take(&mut rest, 4)) as usize;
    let length = number(take(&mut rest, 4)) as usize;
    let shared = take(&mut rest, rows);
    let ends = str::from_utf8(take(&mut rest, length)).expect("names in UTF-8").split('\n');
    let mut text = String::with_capacity(rows * 9);
    let mut before = 0;
    for (shared, end) in shared.iter().zip(ends) {
        let start = text.len();
        text.extend_from_within(before..before + usize::from(*shared));
        text.push_str(end);
        text.push('\n');
        before = start;
    }
    text.pop();
    let samples = planes(&mut rest, rows, 2);
    let mut values = vec![0.0; rows * K];
    for class in 1..K {
        let people = planes(&mut rest, rows, 2);
        people
            .into_iter()
            .zip(values[class..].iter_mut().step_by(K))
            .for_each(|(people, value)| *value = people as f64);
    }
    for (values, sample) in values.chunks_exact_mut(K).zip(&samples) {
        values[0] = *sample as f64 - values[1..].iter().sum::<f64>();
        values.iter_mut().for_each(|value| *value /= *sample as f64);
    }
    let mut all = CensusRows::named(text, K, values);
    all.samples = Some(samples.into_iter().map(|sample| (sample as u16).min(LARGEST_SAMPLE)).collect());
    all
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    zstd::decode_all(packed).expect("a table that is whole")
}

/// Takes the number of rows and the keys, line by line.
fn keys(rest: &mut &[u8]) -> (usize, String) {
    let rows = number(take(rest, 4)) as usize;
    let length = number(take(rest, 4)) as usize;
    (rows, String::from_utf8(take(rest, length).to_vec()).expect("keys in UTF-8"))
}

/// Takes a column per class and returns the values row by row.
fn columns(rest: &mut &[u8], rows: usize, width: usize, value: impl Fn(&[u8]) -> f64) -> Vec<f64> {
    let mut values = vec![0.0; rows * K];
    for class in 0..K {
        let column = take(rest, width * rows).chunks_exact(width);
        column.zip(values[class..].iter_mut().step_by(K)).for_each(|(bytes, into)| *into = value(bytes));
    }
    values
}

/// Takes a column whose lowest bytes come first, then the next bytes, and so on.
fn planes(rest: &mut &[u8], rows: usize, width: usize) -> Vec<u32> {
    let mut numbers = vec![0; rows];
    for byte in 0..width {
        let plane = take(rest, rows).iter();
        plane.zip(&mut numbers).for_each(|(part, number)| *number |= u32::from(*part) << (8 * byte));
    }
    numbers
}

/// Takes a number in groups of seven bits, the lowest first.
fn varint(rest: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let group = take(rest, 1)[0];
        number |= u64::from(group & 127) << shift;
        if group < 128 {
            return number;
        }
        shift += 7;
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(length);
    *rest = left;
    taken
}

/// Decodes a little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
