//! The result of a job, for Python.

use std::path::PathBuf;
use std::sync::Arc;

use apportion_app::labels::LabelColumn;
use apportion_io::{refuse_overwrite, write_atomically};
use arrow::array::{ArrayRef, Int16Array, RecordBatch, UInt64Array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::jobs::Outcome;
use crate::names::render;
use crate::values;

/// The result of a job.
#[pyclass(frozen)]
pub(crate) struct Done {
    /// The response: dicts, lists, numbers and text.
    #[pyo3(get)]
    result: Py<PyAny>,
    /// The response as text, if the job has one.
    #[pyo3(get)]
    text: String,
    /// Notes from the job.
    #[pyo3(get)]
    notes: Vec<String>,
    /// Warnings that the result may be misleading.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// The classes.
    #[pyo3(get)]
    classes: Vec<String>,
    columns: Vec<ArrayRef>,
    rows: Vec<RecordBatch>,
    document: Option<apportion_report::Document>,
}

impl Done {
    /// Converts the result of a job and its notices, each with whether it is a warning, to Python.
    pub(crate) fn new(py: Python<'_>, outcome: Outcome, notices: Vec<(bool, String)>) -> PyResult<Done> {
        let Outcome { result, text, classes, labels, rows, document } = outcome;
        let (warnings, notes): (Vec<_>, Vec<_>) = notices.into_iter().partition(|(is_warning, _)| *is_warning);
        let texts = |notices: Vec<(bool, String)>| notices.into_iter().map(|(_, text)| text).collect();
        Ok(Done {
            result: values::python(py, &result)?.unbind(),
            text,
            notes: texts(notes),
            warnings: texts(warnings),
            classes,
            columns: labels.into_iter().map(array).collect(),
            rows,
            document,
        })
    }
}

/// Returns a column as an Arrow array; codes are not copied.
fn array(column: LabelColumn) -> ArrayRef {
    match column {
        LabelColumn::Codes(codes) => Arc::new(Int16Array::from(codes)),
        LabelColumn::People(people) => Arc::new(UInt64Array::from(people)),
    }
}

#[pymethods]
impl Done {
    /// Returns the label columns as a pyarrow table with one chunk per column, without copying.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let named = self.columns.iter().enumerate().map(|(index, column)| (index.to_string(), column.clone()));
        let batch = RecordBatch::try_from_iter(named).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let schema = batch.schema();
        PyTable::try_new(vec![batch], schema)?.into_pyarrow(py)
    }

    /// Returns the generated rows as a pyarrow table.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(first) = self.rows.first() else { return Ok(None) };
        PyTable::try_new(self.rows.clone(), first.schema())?.into_pyarrow(py).map(Some)
    }

    /// Returns the report.
    fn document(&self) -> Option<Document> {
        self.document.clone().map(Document)
    }
}

/// A report and its charts.
#[pyclass(frozen)]
pub(crate) struct Document(apportion_report::Document);

#[pymethods]
impl Document {
    /// Returns the charts: name, heading, and Plotly specification as JSON.
    fn charts(&self) -> Vec<(String, String, String)> {
        let chart = |chart: &apportion_report::Chart| {
            (chart.id.clone(), chart.title.clone(), self.0.specification(chart).to_string())
        };
        self.0.charts().map(chart).collect()
    }

    /// Writes the report: as Markdown if the extension is `.md`, otherwise as a self-contained page.
    #[allow(clippy::needless_pass_by_value)] // Python passes values by ownership
    fn write(&self, path: PathBuf, overwrite: bool) -> PyResult<()> {
        let is_markdown = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
        let text = if is_markdown { self.0.to_markdown() } else { self.0.to_html() };
        let written = refuse_overwrite(&path, None, overwrite).and_then(|()| write_atomically(&path, text.as_bytes()));
        written.map_err(|error| PyValueError::new_err(render(&error.message())))
    }
}
