//! Converts Python values to JSON values of settings, and JSON values of results to Python values.

use apportion_app::settings::{Job, Kind, find};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString};
use serde_json::{Map, Number, Value};

use crate::names::keyword;

/// Maximum depth of nested lists: settings need no more, and a list that contains itself is infinite.
const MAX_DEPTH: usize = 4;

/// Converts Python values by setting id to the settings of a job. `None` is left out.
///
/// # Errors
/// If the type of a value is invalid for the setting.
pub(crate) fn settings(job: Job, values: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    let mut settings = Map::new();
    for (id, value) in values {
        if value.is_none() {
            continue;
        }
        let id: String = id.extract()?;
        let declaration = find(job, &id);
        let name = declaration.map_or(id.as_str(), |declaration| keyword(declaration.setting));
        let value = match declaration.map(|declaration| declaration.kind) {
            Some(Kind::Flag) => Value::Bool(value.is_truthy()?),
            Some(Kind::Whole(..)) => whole(name, &value)?,
            _ => json(name, &value, MAX_DEPTH)?,
        };
        settings.insert(id, value);
    }
    Ok(settings)
}

/// Converts a whole number; a float must have no fraction.
fn whole(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let own = plain(value)?;
    let is_whole = match own.cast::<PyFloat>() {
        Ok(number) => number.value().fract() == 0.0,
        Err(_) => own.is_instance_of::<PyInt>() && !own.is_instance_of::<PyBool>(),
    };
    if !is_whole {
        let shown = own.repr()?;
        return Err(PyTypeError::new_err(format!("{name}: it must be a whole number, not {shown}")));
    }
    json(name, &own, MAX_DEPTH)
}

/// Converts a numpy scalar to a Python value; other values are unchanged.
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let is_scalar = value.hasattr("dtype")? && value.hasattr("item")? && {
        let dimensions: Option<usize> = value.getattr("ndim").ok().and_then(|ndim| ndim.extract().ok());
        dimensions == Some(0)
    };
    if is_scalar { value.call_method0("item") } else { Ok(value.clone()) }
}

fn json(name: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    let value = plain(value)?;
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return integer(name, &value);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return finite(name, &value, number.value());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_str()?.to_owned()));
    }
    if value.hasattr("__fspath__")? {
        return Ok(Value::String(value.call_method0("__fspath__")?.extract()?));
    }
    let refuse = || {
        let kind = value.get_type().name()?;
        Err(PyTypeError::new_err(format!("{name}: unsupported type {kind}")))
    };
    if depth == 0 || value.is_instance_of::<PyBytes>() {
        return refuse();
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let mut object = Map::new();
        for item in mapping.items()? {
            let (key, own): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            // A value with the key `None` applies to all classes.
            let key = if key.is_none() { String::new() } else { plain(&key)?.str()?.to_str()?.to_owned() };
            object.insert(key, json(name, &own, depth - 1)?);
        }
        return Ok(Value::Object(object));
    }
    match value.try_iter() {
        Ok(items) => items.map(|item| json(name, &item?, depth - 1)).collect::<PyResult<Vec<_>>>().map(Value::Array),
        Err(_) => refuse(),
    }
}

fn integer(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(number) = value.extract::<i64>() {
        return Ok(number.into());
    }
    if let Ok(number) = value.extract::<u64>() {
        return Ok(number.into());
    }
    Err(PyValueError::new_err(format!("{name}: the number is out of range")))
}

fn finite(name: &str, value: &Bound<'_, PyAny>, number: f64) -> PyResult<Value> {
    match Number::from_f64(number) {
        Some(number) => Ok(Value::Number(number)),
        None => Err(PyValueError::new_err(format!("{name}: it must be a finite number, not {}", value.repr()?))),
    }
}

/// Converts a JSON value to Python: dicts, lists, numbers and text.
///
/// # Errors
/// If Python is out of memory.
pub(crate) fn python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(values) => {
            let values = values.iter().map(|value| python(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Object(object) => {
            let dict = PyDict::new(py);
            for (key, value) in object {
                dict.set_item(key, python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}
