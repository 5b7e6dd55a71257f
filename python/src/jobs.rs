//! Runs jobs by name: converts values to a request, and the response to a result for Python.

use apportion::text::{Message, Setting};
use apportion_app::label::OnlyColumn;
use apportion_app::labels::{GroupLabels, LabelColumn};
use apportion_app::output::written;
use apportion_app::reference::SHARES_IN_MEMORY;
use apportion_app::report::WrittenReport;
use apportion_app::settings::{Job, from_values};
use apportion_app::summary::drift_warning;
use apportion_app::text::count;
use apportion_app::{
    Context, Error, Result, apply, audit, calibrate, compare, describe, disparity, explain, export, fit, frontier,
    label, predict, provenance, reproduce, simulate, tables, verify,
};
use apportion_io::{MemoryTable, PlainColumn, PlainRows, plain_batch};
use apportion_report::Document;
use arrow_array::RecordBatch;
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyNotADirectoryError, PyOSError, PyPermissionError,
    PyValueError,
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::names::{render, render_result};

/// The jobs that Python runs, by name.
const JOBS: [(&str, Job); 24] = [
    ("label", Job::Label),
    ("audit", Job::Audit),
    ("compare", Job::Compare),
    ("disparity", Job::Disparity),
    ("frontier", Job::Frontier),
    ("fit", Job::Fit),
    ("apply", Job::Apply),
    ("export", Job::Export),
    ("calibrate", Job::Calibrate),
    ("predict", Job::Predict),
    ("explain", Job::Explain),
    ("describe", Job::Describe),
    ("simulate_voters", Job::SimulateVoters),
    ("simulate_normal", Job::SimulateNormal),
    ("simulate_categorical", Job::SimulateCategorical),
    ("simulate_worst_case", Job::SimulateWorstCase),
    ("verify", Job::Verify),
    ("provenance", Job::Provenance),
    ("tables_list", Job::TablesList),
    ("tables_show", Job::TablesShow),
    ("tables_export", Job::TablesExport),
    ("tables_import", Job::TablesImport),
    ("tables_check", Job::TablesCheck),
    ("reproduce", Job::Reproduce),
];

/// The name in messages of a decision in memory.
const DECISION: &str = "decision";

/// The method that returns a result as a table.
const TABLE: &str = ".to_arrow()";

/// The prefix of a warning.
pub(crate) const WARNING: &str = "warning: ";

/// Returns the job with a name.
pub(crate) fn find(name: &str) -> Option<Job> {
    JOBS.iter().find(|(own, _)| *own == name).map(|(_, job)| *job)
}

/// The data that a job reads from memory.
#[derive(Default)]
pub(crate) struct Input {
    /// The table, instead of files.
    pub(crate) table: Option<MemoryTable>,
    /// Shares for the reference or the margin, instead of a file.
    pub(crate) shares: Option<MemoryTable>,
    /// Training shares, instead of a file.
    pub(crate) training: Option<MemoryTable>,
    /// A decision as JSON, instead of a file.
    pub(crate) decision: Option<String>,
    /// Whether to count the labels of each group.
    pub(crate) with_groups: bool,
}

/// The result of a job.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The response.
    pub(crate) result: Value,
    /// The response as text.
    pub(crate) text: String,
    /// The classes.
    pub(crate) classes: Vec<String>,
    /// Labels of a table in memory.
    pub(crate) labels: Vec<LabelColumn>,
    /// The labels of each group, if they were requested.
    pub(crate) groups: Vec<GroupLabels>,
    /// A warning that counts have drifted, without its prefix.
    pub(crate) drift: Option<String>,
    /// Generated rows.
    pub(crate) rows: Vec<RecordBatch>,
    /// The report.
    pub(crate) document: Option<Document>,
}

impl Outcome {
    fn of(response: &impl Serialize) -> Result<Outcome> {
        let result = serde_json::to_value(response).map_err(|error| Error::data(error.to_string()))?;
        Ok(Outcome { result, ..Outcome::default() })
    }

    /// Adds the response as text, which refers to the method that returns all rows. Warnings in it are also sent as
    /// notices.
    fn with_text(self, text: impl Into<Message>, all_rows: &str, context: &Context) -> Outcome {
        let text = render_result(&text.into(), all_rows);
        for warning in text.lines().filter_map(|line| line.strip_prefix(WARNING)) {
            if self.drift.as_deref() != Some(warning) {
                context.warn(warning);
            }
        }
        Outcome { text, ..self }
    }

    fn with_report(self, report: Option<WrittenReport>) -> Outcome {
        Outcome { document: report.map(|report| report.document), ..self }
    }
}

/// Returns whether a job takes milliseconds, so that starting a thread for it and watching it is not worthwhile: labels of a
/// small table in memory by a rule that is not learned.
pub(crate) fn is_short(job: Job, values: &Map<String, Value>, input: &Input) -> bool {
    let is_small = input.table.as_ref().is_some_and(|table| table.rows() <= SHORT_ROWS);
    let is_plain = !values.contains_key("report") && !values.contains_key("figures");
    let is_learned = values.get("rule").is_some_and(|rule| rule == "learned");
    matches!(job, Job::Label | Job::Apply) && is_small && is_plain && !is_learned
}

/// The maximum number of rows of a short job.
const SHORT_ROWS: usize = 10_000;

/// Runs a job.
///
/// # Errors
/// If the settings or the data are invalid.
pub(crate) fn run(job: Job, mut values: Map<String, Value>, input: Input, context: &Context) -> Result<Outcome> {
    if input.shares.is_some() {
        let setting = if matches!(job, Job::Predict | Job::Explain) { "margin" } else { "reference" };
        values.insert(setting.into(), SHARES_IN_MEMORY.into());
    }
    if input.training.is_some() {
        values.insert("training_shares".into(), SHARES_IN_MEMORY.into());
    }
    match job {
        Job::Label => {
            let files = ["output", "report", "figures", "provenance"];
            let wants_only_labels =
                input.table.is_some() && !input.with_groups && !files.iter().any(|&file| values.contains_key(file));
            let mut request: label::Request = from_values(job, values)?;
            (request.table.source.table, request.rule.reference_table) = (input.table, input.shares);
            request.rule.training.training_table = input.training;
            request.with_groups = input.with_groups;
            if wants_only_labels {
                let only = label::run_for_labels(&request, context)?;
                warn_of_repeated_keys(only.repeated_keys, context);
                let labels = only.labels.into_iter().map(OnlyColumn::into_column).collect();
                return Ok(Outcome { labels, classes: only.classes, ..Outcome::default() });
            }
            labeled(label::run(&request, context)?, context)
        }
        Job::Apply => {
            let mut request: apply::Request = from_values(job, values)?;
            request.table.source.table = input.table;
            (request.decision, request.decision_json) = (DECISION.into(), input.decision);
            let response = apply::run(&request, context)?;
            let result = &response.measured.result;
            let warning = result.drift.as_ref();
            let warning = warning.and_then(|drift| drift_warning(&response.decision, drift, &result.summary));
            Ok(Outcome { drift: warning.map(|warning| without_prefix(&warning)), ..labeled(response, context)? })
        }
        Job::Fit => {
            let mut request: fit::Request = from_values(job, values)?;
            (request.table.source.table, request.rule.reference_table) = (input.table, input.shares);
            request.rule.training.training_table = input.training;
            Outcome::of(&fit::run(&request, context)?)
        }
        Job::Export => {
            let mut request: export::Request = from_values(job, values)?;
            (request.decision, request.decision_json) = (DECISION.into(), input.decision);
            Outcome::of(&export::run(&request, context)?)
        }
        Job::Calibrate => {
            let mut request: calibrate::Request = from_values(job, values)?;
            (request.table.source.table, request.calibration_json) = (input.table, input.decision);
            let mut response = calibrate::run(&request, context)?;
            note_written(&response.paths, context);
            let scores = std::mem::take(&mut response.scores);
            let rows = if request.table.source.is_in_memory() { vec![plain_batch(scores)?] } else { Vec::new() };
            let text = response.text();
            Ok(Outcome { rows, classes: response.classes.clone(), text, ..Outcome::of(&response)? })
        }
        Job::Audit => {
            let mut request: audit::Request = from_values(job, values)?;
            (request.table.source.table, request.reference_table) = (input.table, input.shares);
            request.decision = input.decision.is_some().then(|| DECISION.into());
            request.decision_json = input.decision;
            request.report.in_memory = true;
            let response = audit::run(&request, context)?;
            let drifted = response.drifted.as_ref();
            let drifted = drifted.filter(|own| own.drift.as_ref().is_some_and(|drift| !drift.beyond().is_empty()));
            let drift = drifted.map(|drifted| without_prefix(&drifted.words));
            let outcome = Outcome { drift, ..Outcome::of(&response)? };
            Ok(outcome.with_text(response.text(), ".by_group()", context).with_report(response.report))
        }
        Job::Compare => {
            let mut request: compare::Request = from_values(job, values)?;
            request.table.source.table = input.table;
            request.report.in_memory = true;
            let response = compare::run(&request, context)?;
            Ok(Outcome::of(&response)?.with_text(response.text(), TABLE, context).with_report(response.report))
        }
        Job::Predict => {
            let mut request: predict::Request = from_values(job, values)?;
            (request.source.table, request.margin_table) = (input.table, input.shares);
            predicted(&request, context)
        }
        Job::Explain => {
            let mut request: explain::Request = from_values(job, values)?;
            (request.predict.source.table, request.predict.margin_table) = (input.table, input.shares);
            let response = explain::run(&request, context)?;
            Ok(Outcome::of(&response)?.with_text(response.text(), ".details", context))
        }
        Job::Describe => {
            let mut request: describe::Request = from_values(job, values)?;
            request.source.table = input.table;
            let response = describe::run(&request, context)?;
            Ok(Outcome::of(&response)?.with_text(response.text(), ".details", context))
        }
        Job::Disparity => {
            let mut request: disparity::Request = from_values(job, values)?;
            request.table.source.table = input.table;
            request.report.in_memory = true;
            let mut response = disparity::run(&request, context)?;
            note_written(&response.paths, context);
            let scores = std::mem::take(&mut response.scores);
            let rows = if scores.is_empty() { Vec::new() } else { vec![plain_batch(scores)?] };
            let outcome = Outcome::of(&response)?.with_text(response.text(), TABLE, context);
            Ok(Outcome { rows, ..outcome.with_report(response.report) })
        }
        Job::Frontier => {
            let mut request: frontier::Request = from_values(job, values)?;
            (request.table.source.table, request.reference_table) = (input.table, input.shares);
            request.training.training_table = input.training;
            let response = frontier::run(&request, context)?;
            let outcome = Outcome::of(&response)?.with_text(response.summary(), TABLE, context);
            Ok(Outcome { document: Some(response.document()), ..outcome })
        }
        Job::SimulateVoters | Job::SimulateNormal | Job::SimulateCategorical | Job::SimulateWorstCase => {
            let response = simulate::run(&simulate::Request::from_values(job, values)?, context)?;
            let rows = response.blocks.iter().map(PlainRows::to_batch).collect::<std::result::Result<_, _>>()?;
            Ok(Outcome { rows, ..Outcome::of(&response)? })
        }
        Job::Verify => {
            let mut request = verify::Request::from_values(values)?;
            request.reference_table = input.shares;
            if input.decision.is_some() {
                (request.decision, request.decision_json) = (Some(DECISION.into()), input.decision);
            }
            let response = verify::run(&request, context)?;
            let text = response.lines().join("\n");
            Ok(Outcome { text, ..Outcome::of(&response)? })
        }
        Job::Provenance => {
            let request: provenance::show::Request = from_values(job, values)?;
            Outcome::of(&provenance::show::run(&request, context)?)
        }
        Job::TablesList | Job::TablesShow | Job::TablesExport | Job::TablesImport | Job::TablesCheck => {
            let mut request = tables::Request::from_values(job, values)?;
            if let tables::Request::Check(check) = &mut request {
                check.in_memory = input.table;
            }
            of_tables(tables::run(&request, context)?, context)
        }
        Job::Reproduce => {
            let request: reproduce::Request = from_values(job, values)?;
            Outcome::of(&reproduce::run(&request, context)?)
        }
        Job::Demo => Err(Error::settings("the demonstration is a command of the program")),
    }
}

fn labeled(mut response: label::Response, context: &Context) -> Result<Outcome> {
    note_written(&response.paths, context);
    warn_of_repeated_keys(response.measured.result.joint.as_ref().map_or(0, |joint| joint.repeated_keys), context);
    let outcome = Outcome::of(&response)?;
    let (labels, groups) = (std::mem::take(&mut response.labels), std::mem::take(&mut response.groups));
    Ok(Outcome { labels, groups, classes: response.contract.classes, ..outcome }.with_report(response.report))
}

fn warn_of_repeated_keys(repeated: u64, context: &Context) {
    if repeated > 0 {
        let rows = if repeated == 1 { "1 tied row has".into() } else { format!("{} tied rows have", count(repeated)) };
        let problem = format!("{rows} the same ID as other rows, so the labels depend on the order of the rows. ");
        context.warn(Message::from(problem) + "Name a column that identifies rows with " + Setting::Id);
    }
}

fn of_tables(response: tables::Response, context: &Context) -> Result<Outcome> {
    let mut outcome = Outcome::of(&response)?;
    let (columns, paths, remarks) = match response {
        tables::Response::Export(own) => (own.columns, own.paths, Vec::new()),
        tables::Response::Import(own) => (own.columns, own.paths, own.remarks),
        tables::Response::Check(own) => (Vec::new(), Vec::new(), own.remarks),
        tables::Response::List(_) | tables::Response::Show(_) => Default::default(),
    };
    remarks.iter().for_each(|remark| context.note(remark.as_str()));
    note_written(&paths, context);
    outcome.rows = rows_of(columns)?;
    Ok(outcome)
}

/// Returns columns as rows; no rows if there are no columns.
fn rows_of(columns: Vec<PlainColumn>) -> Result<Vec<RecordBatch>> {
    Ok(if columns.is_empty() { Vec::new() } else { vec![plain_batch(columns)?] })
}

/// Returns a warning without its prefix.
fn without_prefix(warning: &Message) -> String {
    let text = render(warning);
    text.strip_prefix(WARNING).map_or_else(|| text.clone(), str::to_owned)
}

fn predicted(request: &predict::Request, context: &Context) -> Result<Outcome> {
    let mut response = predict::run(request, context)?;
    for remark in &response.remarks {
        context.warn(remark.as_str());
    }
    for part in response.text(request) {
        context.note(part);
    }
    note_written(&response.paths, context);
    let scores = std::mem::take(&mut response.scores);
    let rows = if request.source.is_in_memory() { vec![plain_batch(scores)?] } else { Vec::new() };
    Ok(Outcome { rows, classes: response.classes.clone(), ..Outcome::of(&response)? })
}

/// Sends a note with the files that were written; labels in memory have no files.
fn note_written(paths: &[std::path::PathBuf], context: &Context) {
    if !paths.is_empty() {
        context.note(written(paths));
    }
}

/// Returns the exception of an error: an `OSError` for missing and existing files and failed system calls.
pub(crate) fn exception(error: &Error) -> PyErr {
    use std::io::ErrorKind as Kind;
    let text = sentence(error);
    match error.kind() {
        Some(Kind::NotFound) => PyFileNotFoundError::new_err(text),
        Some(Kind::AlreadyExists) => PyFileExistsError::new_err(text),
        Some(Kind::PermissionDenied) => PyPermissionError::new_err(text),
        Some(Kind::IsADirectory) => PyIsADirectoryError::new_err(text),
        Some(Kind::NotADirectory) => PyNotADirectoryError::new_err(text),
        Some(Kind::StorageFull | Kind::FileTooLarge | Kind::QuotaExceeded) => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Returns the message of an error, with a suggestion if a class is unknown.
pub(crate) fn sentence(error: &Error) -> String {
    use apportion::Error as Core;
    let core = match error {
        Error::Core(core) | Error::Setting(_, core) | Error::Io(apportion_io::Error::Core { error: core, .. }) => {
            Some(core)
        }
        _ => None,
    };
    let near = match core {
        Some(Core::UnknownClass { name, classes }) => apportion_io::did_you_mean(name, classes.split(", ")),
        _ => String::new(),
    };
    render(&(error.message() + near))
}
