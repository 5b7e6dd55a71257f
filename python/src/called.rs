//! What a command gave, for Python to take.

use std::sync::Arc;

use apportion_cli::{ResultColumn, Results};
use arrow::array::{ArrayRef, Int16Array, RecordBatch, UInt64Array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

/// What a command gave.
#[pyclass(frozen)]
pub(crate) struct Called {
    /// What it would have printed.
    #[pyo3(get)]
    printed: Vec<String>,
    /// What it would have said on the way.
    #[pyo3(get)]
    said: Vec<String>,
    /// The classes.
    #[pyo3(get)]
    classes: Vec<String>,
    columns: Vec<ArrayRef>,
    rows: Vec<RecordBatch>,
    document: Option<apportion_report::Document>,
}

impl From<Results> for Called {
    fn from(results: Results) -> Called {
        let Results { printed, said, classes, columns, rows, document, .. } = results;
        let columns = columns.into_iter().map(array).collect();
        Called { printed, said, classes, columns, rows, document }
    }
}

/// A column as an Arrow array; codes are not copied.
fn array(column: ResultColumn) -> ArrayRef {
    match column {
        ResultColumn::Codes(codes) => Arc::new(Int16Array::from(codes)),
        ResultColumn::People(people) => Arc::new(UInt64Array::from(people)),
    }
}

#[pymethods]
impl Called {
    /// Columns of labels, as a table of pyarrow's in one piece: nothing is copied.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let named = self.columns.iter().enumerate().map(|(place, column)| (place.to_string(), column.clone()));
        let batch = RecordBatch::try_from_iter(named).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let schema = batch.schema();
        PyTable::try_new(vec![batch], schema)?.into_pyarrow(py)
    }

    /// Rows that were made, as a table of pyarrow's.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(first) = self.rows.first() else { return Ok(None) };
        PyTable::try_new(self.rows.clone(), first.schema())?.into_pyarrow(py).map(Some)
    }

    /// What there is to look at.
    fn document(&self) -> Option<Document> {
        self.document.clone().map(Document)
    }
}

/// A report, and its charts.
#[pyclass(frozen)]
pub(crate) struct Document(apportion_report::Document);

#[pymethods]
impl Document {
    /// The charts: name, heading, and specification for Plotly as JSON.
    fn charts(&self) -> Vec<(String, String, String)> {
        let chart = |chart: &apportion_report::Chart| {
            (chart.id.clone(), chart.title.clone(), self.0.specification(chart).to_string())
        };
        self.0.charts().map(chart).collect()
    }

    /// A page that needs nothing but itself.
    fn html(&self) -> String {
        self.0.to_html()
    }

    /// The same as Markdown.
    fn markdown(&self) -> String {
        self.0.to_markdown()
    }
}
