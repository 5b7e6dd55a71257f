//! The result of a job, for Python.

use std::path::PathBuf;
use std::sync::Arc;

use apportion_app::labels::LabelColumn;
use arrow::array::{ArrayRef, Int16Array, RecordBatch, UInt64Array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3_arrow::PyTable;
use serde_json::Value;

use crate::jobs::{Outcome, exception};
use crate::values;

/// The result of a job.
#[pyclass(frozen)]
pub(crate) struct Done {
    result: Value,
    /// The response as text, if the job has one.
    #[pyo3(get)]
    text: String,
    /// Notes from the job.
    #[pyo3(get)]
    notes: Vec<String>,
    /// Warnings that the result may be misleading.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// The warning that counts have drifted.
    #[pyo3(get)]
    drift: Option<String>,
    /// The classes.
    #[pyo3(get)]
    classes: Vec<String>,
    /// The labels of each group, if they were requested: name, counts, and targets if there are any.
    #[pyo3(get)]
    groups: Vec<(String, Vec<u64>, Option<Vec<u64>>)>,
    columns: Vec<ArrayRef>,
    rows: Vec<RecordBatch>,
    document: Option<apportion_report::Document>,
}

impl Done {
    /// Converts the result of a job and its notices, each with whether it is a warning, to Python.
    pub(crate) fn new(outcome: Outcome, notices: Vec<(bool, String)>) -> Done {
        let Outcome { result, text, classes, labels, groups, drift, rows, document } = outcome;
        let (warnings, notes): (Vec<_>, Vec<_>) = notices.into_iter().partition(|(is_warning, _)| *is_warning);
        let texts = |notices: Vec<(bool, String)>| notices.into_iter().map(|(_, text)| text).collect();
        Done {
            result,
            text,
            notes: texts(notes),
            warnings: texts(warnings),
            drift,
            classes,
            groups: groups.into_iter().map(|own| (own.name, own.counts, own.targets)).collect(),
            columns: labels.into_iter().map(array).collect(),
            rows,
            document,
        }
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
    /// Returns the response: dicts, lists, numbers and text. It is converted only if it is needed.
    #[getter]
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        values::python(py, &self.result)
    }

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
        self.document.clone().map(|document| Document(Content::Complete(document)))
    }
}

/// The charts of a report: name, heading, and Plotly specification as JSON.
type Charts = Vec<(String, String, String)>;

/// The files of figures: name and content.
type Figures = Vec<(String, Vec<u8>)>;

/// A report and its charts.
#[pyclass(frozen, module = "apportion._native")]
pub(crate) struct Document(Content);

/// The content of a report.
enum Content {
    /// A report that is written on request.
    Complete(apportion_report::Document),
    /// A report as it was pickled.
    Pickled(Parts),
}

/// What a pickle of a report contains: charts, page, Markdown and figures.
type Parts = (Charts, String, String, Figures);

#[pymethods]
impl Document {
    /// Creates a report from what `__reduce__` returned.
    #[new]
    fn new(charts: Charts, page: String, markdown: String, figures: Figures) -> Document {
        Document(Content::Pickled((charts, page, markdown, figures)))
    }

    /// Returns the class and its arguments, for pickle.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, Parts) {
        let own = slf.get();
        (slf.as_any().get_type(), (own.charts(), own.page(), own.markdown(), own.figures()))
    }

    /// Returns the same report: it never changes.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'_, PyAny>) -> Bound<'py, Self> {
        slf
    }

    /// Returns the charts: name, heading, and Plotly specification as JSON.
    fn charts(&self) -> Charts {
        match &self.0 {
            Content::Complete(document) => {
                let chart = |chart: &apportion_report::Chart| {
                    (chart.id.clone(), chart.title.clone(), document.specification(chart).to_string())
                };
                document.charts().map(chart).collect()
            }
            Content::Pickled((charts, ..)) => charts.clone(),
        }
    }

    /// Writes the report: as Markdown if the extension is `.md`, otherwise as a self-contained page.
    fn write(&self, path: PathBuf, overwrite: bool) -> PyResult<()> {
        let is_markdown = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
        crate::write(path, &if is_markdown { self.markdown() } else { self.page() }, overwrite)
    }

    /// Writes the data and the specification of every chart to a folder.
    #[allow(clippy::needless_pass_by_value)] // Python passes values by ownership
    fn write_figures(&self, folder: PathBuf, overwrite: bool) -> PyResult<()> {
        apportion_app::report::write_figures(&folder, &self.figures(), overwrite).map_err(|error| exception(&error))
    }
}

impl Document {
    fn page(&self) -> String {
        match &self.0 {
            Content::Complete(document) => document.to_html(),
            Content::Pickled((_, page, ..)) => page.clone(),
        }
    }

    fn markdown(&self) -> String {
        match &self.0 {
            Content::Complete(document) => document.to_markdown(),
            Content::Pickled((_, _, markdown, _)) => markdown.clone(),
        }
    }

    fn figures(&self) -> Figures {
        match &self.0 {
            Content::Complete(document) => document.figures(),
            Content::Pickled((.., figures)) => figures.clone(),
        }
    }
}
