//! Converts R values to JSON values of settings, and JSON values of results to R values.

use apportion_app::settings::{Job, Kind, find};
use savvy::{
    ListSexp, NullSexp, OwnedListSexp, OwnedLogicalSexp, OwnedRealSexp, OwnedStringSexp, Sexp, StringSexp, TypedSexp,
};
use serde_json::{Map, Number, Value};

use crate::names::argument;
use crate::table::whole;

/// Maximum depth of nested lists: settings need no more.
const MAX_DEPTH: usize = 4;

/// A setting with an invalid value: its argument, and the problem.
pub(crate) struct Invalid {
    pub(crate) argument: String,
    pub(crate) problem: String,
}

/// Converts a named list of values by setting id to the settings of a job. `NULL` is left out.
///
/// # Errors
/// If the type of a value is invalid for the setting.
pub(crate) fn settings(job: Job, values: &ListSexp) -> Result<Map<String, Value>, Invalid> {
    let mut settings = Map::new();
    for (id, value) in values.iter() {
        if value.is_null() {
            continue;
        }
        let declaration = find(job, id);
        let kind = declaration.map(|declaration| declaration.kind);
        let invalid = |problem| Invalid {
            argument: declaration.map_or(id, |declaration| argument(declaration.setting)).to_owned(),
            problem,
        };
        let value = json(&value, kind, MAX_DEPTH).map_err(invalid)?;
        if matches!(kind, Some(Kind::Flag)) && !value.is_boolean() {
            return Err(invalid("it must be TRUE or FALSE".into()));
        }
        settings.insert(id.to_owned(), value);
    }
    Ok(settings)
}

fn json(value: &Sexp, kind: Option<Kind>, depth: usize) -> Result<Value, String> {
    let names = value.get_names();
    let values: Vec<Value> = match Sexp(value.0).into_typed() {
        TypedSexp::Null(_) => return Ok(Value::Null),
        TypedSexp::Logical(flags) => flags.iter().map(Value::Bool).collect(),
        TypedSexp::Integer(numbers) => {
            let number = |&number: &i32| match number {
                i32::MIN => Err("it must not be NA".to_owned()),
                number => Ok(Value::from(number)),
            };
            numbers.iter().map(number).collect::<Result<_, _>>()?
        }
        TypedSexp::Real(numbers) => numbers.iter().map(|&own| number(own, kind)).collect::<Result<_, _>>()?,
        TypedSexp::String(texts) => crate::table::texts(&texts.into())?.into_iter().map(Value::String).collect(),
        TypedSexp::List(list) if depth > 0 => {
            let parts = list.values_iter().map(|part| json(&part, kind, depth - 1));
            parts.collect::<Result<_, _>>()?
        }
        _ => return Err("its type is not supported; use text, numbers, TRUE or FALSE, or a vector of these".into()),
    };
    if let Some(names) = names {
        return Ok(names.into_iter().map(str::to_owned).zip(values).collect::<Map<_, _>>().into());
    }
    let is_list = value.is_list();
    match <[Value; 1]>::try_from(values) {
        Ok([one]) if !is_list => Ok(one),
        Ok([one]) => Ok(vec![one].into()),
        Err(several) => Ok(several.into()),
    }
}

/// Converts a number. Numbers without a fraction become integers, except bounds up to 1, which are shares.
fn number(number: f64, kind: Option<Kind>) -> Result<Value, String> {
    const MAX: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= MAX && !(matches!(kind, Some(Kind::Bounds)) && number <= 1.0) {
        return Ok(Value::from(number as i64));
    }
    Number::from_f64(number).map(Value::Number).ok_or_else(|| "it must be a finite number".into())
}

/// Converts a JSON value to R: named lists, vectors, and lists if the values of an array differ in type. Missing numbers
/// and texts of an array are `NA`.
pub(crate) fn r_value(value: &Value) -> savvy::Result<Sexp> {
    match value {
        Value::Null => Ok(NullSexp.into()),
        Value::Array(values) => array(values),
        Value::Object(object) => {
            let mut list = OwnedListSexp::new(object.len(), true)?;
            for (index, (key, value)) in object.iter().enumerate() {
                list.set_name_and_value(index, key, r_value(value)?)?;
            }
            Ok(list.into())
        }
        one => array(std::slice::from_ref(one)),
    }
}

fn array(values: &[Value]) -> savvy::Result<Sexp> {
    let are = |is: fn(&Value) -> bool| values.iter().any(is) && values.iter().all(|value| value.is_null() || is(value));
    if are(Value::is_u64) {
        return whole(values.iter().map(Value::as_u64));
    }
    if are(Value::is_number) {
        let mut vector = OwnedRealSexp::new(values.len())?;
        for (index, value) in values.iter().enumerate() {
            match value.as_f64() {
                Some(number) => vector.set_elt(index, number)?,
                None => vector.set_na(index)?,
            }
        }
        return Ok(vector.into());
    }
    if are(Value::is_string) {
        let mut vector = OwnedStringSexp::new(values.len())?;
        for (index, value) in values.iter().enumerate() {
            match value.as_str() {
                Some(text) => vector.set_elt(index, text)?,
                None => vector.set_na(index)?,
            }
        }
        return Ok(vector.into());
    }
    if values.iter().all(Value::is_boolean) && !values.is_empty() {
        let mut vector = OwnedLogicalSexp::new(values.len())?;
        for (index, value) in values.iter().enumerate() {
            vector.set_elt(index, value == &Value::Bool(true))?;
        }
        return Ok(vector.into());
    }
    let mut list = OwnedListSexp::new(values.len(), false)?;
    for (index, value) in values.iter().enumerate() {
        list.set_value(index, r_value(value)?)?;
    }
    Ok(list.into())
}

/// Returns texts as a character vector.
pub(crate) fn characters<S: AsRef<str>>(texts: &[S]) -> savvy::Result<Sexp> {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    Ok(StringSexp(OwnedStringSexp::try_from_slice(&texts[..])?.inner()).into())
}
