//! The bridge between Python and the program's commands: tables in, results out, and nothing decided here.
//!
//! [`call`] runs a command with the words of the command line on tables that Python lends by the Arrow PyCapsule interface.
//! Python's lock is released while it works; meanwhile the thread that called looks for signals, so that Ctrl-C ends the
//! work, and tells whoever wants to know how far it has come.

mod called;
mod watch;

use std::sync::Arc;

use apportion_cli::Host;
use apportion_io::MemoryTable;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::{PyArray, PyTable};

use called::{Called, Document};
use watch::{Watch, attend};

/// What Python lends to a command.
#[derive(FromPyObject)]
struct Lent {
    #[pyo3(item)]
    table: Option<PyTable>,
    /// The names of a matrix's columns, and its values, row by row.
    #[pyo3(item)]
    matrix: Option<(Vec<String>, PyArray)>,
    #[pyo3(item)]
    reference: Option<PyTable>,
    #[pyo3(item)]
    decision: Option<String>,
}

impl Lent {
    fn host(self) -> PyResult<Host> {
        let held = |table: PyTable| {
            let (batches, schema) = table.into_inner();
            MemoryTable::new(schema, batches)
        };
        let mut table = self.table.map(held);
        if let Some((names, values)) = self.matrix {
            let beside =
                table.unwrap_or_else(|| MemoryTable::new(Arc::new(arrow::datatypes::Schema::empty()), Vec::new()));
            let whole = beside.with_matrix(names, values.into_inner().0);
            table = Some(whole.map_err(|error| PyValueError::new_err(error.to_string()))?);
        }
        let mut host = Host::default();
        (host.table, host.reference, host.decision) = (table, self.reference.map(held), self.decision);
        Ok(host)
    }
}

/// Runs a command. `threads` is how many may work at once; `progress` is called with what is done, and the part of it that is
/// done already.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what Python gives is ours
fn call(
    py: Python<'_>,
    words: Vec<String>,
    lent: Lent,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Called> {
    let watch = Arc::new(Watch::default());
    let mut host = lent.host()?;
    host.progress = Some(watch.clone());
    let pool = threads.map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build()).transpose();
    let pool = pool.map_err(|error| PyValueError::new_err(format!("threads: {error}")))?;
    let work = move || match pool {
        Some(pool) => pool.install(|| apportion_cli::call(&words, &host)),
        None => apportion_cli::call(&words, &host),
    };
    attend(py, &watch, progress.as_ref(), work)?.map(Called::from).map_err(PyValueError::new_err)
}

/// The score columns among some names, where they are recognised.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // what Python gives is ours
fn score_columns(names: Vec<String>) -> Vec<String> {
    let found = apportion_io::find_scores(&names).ok().flatten();
    found.map(|found| found.scores.columns).unwrap_or_default()
}

/// What the Python package calls.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Called>()?;
    module.add_class::<Document>()?;
    module.add_function(wrap_pyfunction!(score_columns, module)?)?;
    module.add_function(wrap_pyfunction!(call, module)?)
}
