//! Converts data frames and matrices of R to tables. Vectors of doubles and integers are not copied.

use std::collections::HashMap;

use apportion_io::{MemoryTable, PlainColumn, PlainValues, Shared, SharedColumn, SharedValues};
use savvy::{ListSexp, OwnedIntegerSexp, OwnedListSexp, OwnedRealSexp, OwnedStringSexp, Sexp, StringSexp};

use crate::memory::{self, Borrowed};

/// The missing value of integers, factors and logical values.
const NA: i32 = i32::MIN;

/// Returns a named list of vectors as a table, after the columns of a matrix if there is one.
pub(crate) fn read(list: &ListSexp, scores: Option<&ListSexp>) -> Result<MemoryTable, String> {
    let mut columns = Vec::new();
    if let Some(scores) = scores {
        let part = |index| scores.get_by_index(index).ok_or("a matrix needs its values and its names");
        columns.extend(matrix(&part(0)?, texts(&part(1)?)?)?);
    }
    for (name, vector) in list.iter() {
        columns.push((name.to_owned(), column(name, &vector)?));
    }
    MemoryTable::from_columns(columns).map_err(|error| error.to_string())
}

/// Returns the columns of a column-major matrix.
fn matrix(values: &Sexp, classes: Vec<String>) -> Result<Vec<(String, SharedColumn)>, String> {
    let all = memory::doubles(values).ok_or("a matrix of scores must contain numbers")?;
    let rows = all.as_ref().len() / classes.len().max(1);
    let column = |(index, name): (usize, String)| {
        let part = all.part(index * rows, rows).ok_or("the matrix has too few values")?;
        Ok((name, SharedValues::F64(Shared::new(part)).into()))
    };
    classes.into_iter().enumerate().map(column).collect()
}

fn column(name: &str, vector: &Sexp) -> Result<SharedColumn, String> {
    let is = |class: &str| vector.get_class().is_some_and(|classes| classes.contains(&class));
    if is("integer64")
        && let Some(values) = memory::longs(vector)
    {
        let validity = validity(&values, |&value| value != i64::MIN);
        return Ok(with_validity(SharedValues::I64(Shared::new(values)), validity));
    }
    if let Some(values) = memory::doubles(vector) {
        let is_marked = vector.get_attrib("apportion_whole").is_ok_and(|mark| mark.is_some());
        if let Some(column) = is_marked.then(|| whole_numbers(values.as_ref())).flatten() {
            return Ok(column);
        }
        return Ok(SharedValues::F64(Shared::new(values)).into());
    }
    if is("factor")
        && let (Some(codes), Ok(Some(levels))) = (memory::integers(vector), vector.get_attrib("levels"))
    {
        // R counts from 1.
        let codes: Vec<i32> = codes.as_ref().iter().map(|&code| if code == NA { -1 } else { code - 1 }).collect();
        return Ok(SharedValues::Dictionary(codes.into(), texts(&levels)?.into()).into());
    }
    if let Some(values) = memory::integers(vector) {
        let validity = validity(&values, |&value| value != NA);
        return Ok(with_validity(SharedValues::I32(Shared::new(values)), validity));
    }
    if let Some(values) = memory::logicals(vector) {
        let validity = validity(&values, |&value| value != NA);
        let values: Vec<bool> = values.as_ref().iter().map(|&value| value == 1).collect();
        return Ok(with_validity(SharedValues::Booleans(values.into()), validity));
    }
    dictionary(vector).ok_or_else(|| format!("column {name:?} contains neither numbers nor text"))
}

/// Returns doubles without fractions as integers, so that 7 is the ID "7"; `None` if one has a fraction or is too large.
fn whole_numbers(values: &[f64]) -> Option<SharedColumn> {
    const MAX: f64 = 9_007_199_254_740_992.0;
    if !values.iter().all(|value| value.is_nan() || value.fract() == 0.0 && value.abs() <= MAX) {
        return None;
    }
    let validity =
        values.iter().any(|value| value.is_nan()).then(|| values.iter().map(|value| !value.is_nan()).collect());
    let whole: Vec<i64> = values.iter().map(|&value| value as i64).collect();
    Some(with_validity(SharedValues::I64(whole.into()), validity))
}

/// Returns whether each row has a value; `None` if all do.
fn validity<T>(values: &Borrowed<T>, is_valid: impl Fn(&T) -> bool) -> Option<Vec<bool>> {
    let values = values.as_ref();
    (!values.iter().all(&is_valid)).then(|| values.iter().map(is_valid).collect())
}

fn with_validity(values: SharedValues, validity: Option<Vec<bool>>) -> SharedColumn {
    match validity {
        Some(validity) => SharedColumn::from(values).with_validity(validity.into()),
        None => values.into(),
    }
}

/// Returns a character vector as a dictionary. R stores equal texts once, so that most are found by their address.
fn dictionary(vector: &Sexp) -> Option<SharedColumn> {
    let (mut codes, mut words, mut found) = (Vec::new(), Vec::new(), HashMap::new());
    let is_text = memory::each_text(vector, |address, text| {
        codes.push(text.map_or(-1, |text| {
            *found.entry(address).or_insert_with(|| {
                words.push(String::from_utf8_lossy(text).into_owned());
                words.len() as i32 - 1
            })
        }));
    });
    is_text.then(|| SharedValues::Dictionary(codes.into(), words.into()).into())
}

/// Returns the texts of a character vector; missing ones are empty.
pub(crate) fn texts(vector: &Sexp) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    let is_text = memory::each_text(vector, |_, text| {
        texts.push(text.map_or_else(String::new, |text| String::from_utf8_lossy(text).into_owned()));
    });
    if is_text { Ok(texts) } else { Err("expected a character vector".into()) }
}

/// Returns columns as a named list of vectors.
pub(crate) fn list(columns: &[PlainColumn]) -> savvy::Result<OwnedListSexp> {
    let mut list = OwnedListSexp::new(columns.len(), true)?;
    for (index, column) in columns.iter().enumerate() {
        list.set_name_and_value(index, &column.name, vector(&column.values)?)?;
    }
    Ok(list)
}

fn vector(values: &PlainValues) -> savvy::Result<Sexp> {
    match values {
        PlainValues::Text(texts) => {
            let texts: Vec<&str> = texts.iter().collect();
            Ok(StringSexp(OwnedStringSexp::try_from_slice(&texts[..])?.inner()).into())
        }
        PlainValues::Words { codes, words } => factor(codes.iter().map(|&code| i32::from(code)), codes.len(), words),
        PlainValues::Whole(numbers) => whole(numbers.iter().map(|&number| Some(number))),
        PlainValues::Single(numbers) => doubles(numbers.len(), numbers.iter().map(|&number| f64::from(number))),
        PlainValues::Double(numbers) => doubles(numbers.len(), numbers.iter().copied()),
        PlainValues::OptionalDouble(numbers) => {
            let mut vector = OwnedRealSexp::new(numbers.len())?;
            for (index, number) in numbers.iter().enumerate() {
                match number {
                    Some(number) => vector.set_elt(index, *number)?,
                    None => vector.set_na(index)?,
                }
            }
            Ok(vector.into())
        }
    }
}

fn doubles(len: usize, numbers: impl Iterator<Item = f64>) -> savvy::Result<Sexp> {
    let mut vector = OwnedRealSexp::new(len)?;
    vector.as_mut_slice().iter_mut().zip(numbers).for_each(|(own, number)| *own = number);
    Ok(vector.into())
}

/// Returns whole numbers as integers if all fit, otherwise as doubles.
pub(crate) fn whole(numbers: impl Iterator<Item = Option<u64>> + Clone) -> savvy::Result<Sexp> {
    let len = numbers.clone().count();
    if numbers.clone().flatten().all(|number| i32::try_from(number).is_ok()) {
        let mut vector = OwnedIntegerSexp::new(len)?;
        let own = numbers.map(|number| number.and_then(|number| i32::try_from(number).ok()).unwrap_or(NA));
        vector.as_mut_slice().iter_mut().zip(own).for_each(|(own, number)| *own = number);
        return Ok(vector.into());
    }
    let mut vector = OwnedRealSexp::new(len)?;
    for (index, number) in numbers.enumerate() {
        match number {
            Some(number) => vector.set_elt(index, number as f64)?,
            None => vector.set_na(index)?,
        }
    }
    Ok(vector.into())
}

/// Returns codes from 0 as a factor; negative codes are missing values.
pub(crate) fn factor(codes: impl Iterator<Item = i32>, len: usize, levels: &[String]) -> savvy::Result<Sexp> {
    let mut vector = OwnedIntegerSexp::new(len)?;
    let own = codes.map(|code| if code < 0 { NA } else { code + 1 });
    vector.as_mut_slice().iter_mut().zip(own).for_each(|(own, code)| *own = code);
    let levels: Sexp = OwnedStringSexp::try_from_slice(levels)?.into();
    vector.set_attrib("levels", levels)?;
    vector.set_class(["factor"])?;
    Ok(vector.into())
}
