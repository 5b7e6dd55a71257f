//! Connects Python to the jobs of apportion: converts tables and settings to requests, and responses to results.
//!
//! [`run`] runs a job on tables that Python shares through the Arrow PyCapsule interface. The GIL is released while the
//! job runs; the calling thread checks for signals, so that Ctrl-C cancels the job, and reports progress.

mod done;
mod jobs;
mod names;
mod values;
mod watch;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use apportion_app::{Context, Notice};
use apportion_io::{MemoryTable, refuse_overwrite, write_atomically};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::{PyArray, PyTable};

use done::{Document, Done};
use watch::{Watch, at_once, attend};

/// The data that Python shares with a job.
#[derive(FromPyObject)]
struct Input {
    #[pyo3(item)]
    table: Option<PyTable>,
    /// The column names of a matrix, and its values, row by row.
    #[pyo3(item)]
    matrix: Option<(Vec<String>, PyArray)>,
    #[pyo3(item)]
    reference: Option<PyTable>,
    #[pyo3(item)]
    training: Option<PyTable>,
    #[pyo3(item)]
    decision: Option<String>,
    /// Whether to count the labels of each group.
    #[pyo3(item)]
    groups: bool,
}

impl Input {
    fn read(self) -> PyResult<jobs::Input> {
        let in_memory = |table: PyTable| {
            let (batches, schema) = table.into_inner();
            MemoryTable::new(schema, batches)
        };
        let mut table = self.table.map(in_memory);
        if let Some((names, values)) = self.matrix {
            let others =
                table.unwrap_or_else(|| MemoryTable::new(Arc::new(arrow::datatypes::Schema::empty()), Vec::new()));
            let whole = others.with_matrix(names, &values.into_inner().0);
            table = Some(whole.map_err(|error| PyValueError::new_err(names::render(&error.message())))?);
        }
        let (shares, training) = (self.reference.map(in_memory), self.training.map(in_memory));
        Ok(jobs::Input { table, shares, training, decision: self.decision, with_groups: self.groups })
    }
}

/// Runs a job. `values` are its settings by id; `threads` is the number of threads; `progress` is called with the name
/// of the current work and the fraction that is done.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python passes values by ownership
fn run(
    py: Python<'_>,
    job: &str,
    values: &Bound<'_, PyDict>,
    input: Input,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Done> {
    let job = jobs::find(job).ok_or_else(|| PyValueError::new_err(format!("unknown job {job:?}")))?;
    let (values, input) = (values::settings(job, values)?, input.read()?);
    let is_short = jobs::is_short(job, &values, &input);
    let watch = Arc::new(Watch::default());
    let notices: Arc<Mutex<Vec<(bool, String)>>> = Arc::default();
    let heard = notices.clone();
    let context = Context {
        progress: watch.clone(),
        notices: Arc::new(move |notice| {
            let (is_warning, message) = match notice {
                Notice::Note(message) => (false, message),
                Notice::Warning(message) => (true, message),
            };
            let text = names::render(&message);
            let (is_warning, text) = match text.strip_prefix(jobs::WARNING) {
                Some(text) => (true, text.to_owned()),
                None => (is_warning, text),
            };
            heard.lock().unwrap_or_else(PoisonError::into_inner).push((is_warning, text));
        }),
        threads,
        command: String::new(),
        config: None,
        name_setting: names::python_name,
    };
    let work = move || jobs::run(job, values, input, &context);
    let outcome = if is_short { at_once(py, work) } else { attend(py, &watch, progress.as_ref(), work) }?;
    let outcome = outcome.map_err(|error| jobs::exception(&error))?;
    let notices = std::mem::take(&mut *notices.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Done::new(outcome, notices))
}

/// Returns the score columns among some names, if they are recognized.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python passes values by ownership
fn score_columns(names: Vec<String>) -> Vec<String> {
    let found = apportion_io::find_scores(&names).ok().flatten();
    found.map(|found| found.scores.columns).unwrap_or_default()
}

/// Writes text to a file, which is complete or absent.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // Python passes values by ownership
fn write(path: PathBuf, text: &str, overwrite: bool) -> PyResult<()> {
    let written = refuse_overwrite(&path, None, overwrite).and_then(|()| write_atomically(&path, text.as_bytes()));
    written.map_err(|error| jobs::exception(&error.into()))
}

/// Returns the settings of a job: keyword, default if there is one, and help.
#[pyfunction]
fn settings(job: &str) -> PyResult<Vec<(&'static str, Option<&'static str>, String)>> {
    let job = jobs::find(job).ok_or_else(|| PyValueError::new_err(format!("unknown job {job:?}")))?;
    let own = apportion_app::settings::of_job(job).map(|(_, own)| own);
    Ok(own.map(|own| (names::keyword(own.setting), own.default, names::render(&own.help()))).collect())
}

/// The functions and classes that the Python package uses.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Done>()?;
    module.add_class::<Document>()?;
    module.add_function(wrap_pyfunction!(score_columns, module)?)?;
    module.add_function(wrap_pyfunction!(settings, module)?)?;
    module.add_function(wrap_pyfunction!(write, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)
}
