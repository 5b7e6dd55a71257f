//! Runs jobs by name: converts values to a request, and the response to a result for R.

use apportion::text::{Message, Part, Setting};
use apportion_app::label::OnlyColumn;
use apportion_app::labels::GroupLabels;
use apportion_app::reference::SHARES_IN_MEMORY;
use apportion_app::report::WrittenReport;
use apportion_app::settings::{Job, from_values};
use apportion_app::summary::drift_warning;
use apportion_app::text::count;
use apportion_app::{
    Context, Error, Result, apply, audit, calibrate, compare, disparity, explain, export, fit, frontier, label,
    predict, simulate, verify,
};
use apportion_io::{MemoryTable, PlainColumn, PlainRows};
use apportion_report::Document;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::names::{argument, render};

/// The jobs that R runs, by name.
const JOBS: [(&str, Job); 15] = [
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
    ("simulate_voters", Job::SimulateVoters),
    ("simulate_normal", Job::SimulateNormal),
    ("simulate_categorical", Job::SimulateCategorical),
    ("verify", Job::Verify),
];

/// The name in messages of a decision in memory.
const DECISION: &str = "decision";

/// The prefix of a warning.
pub(crate) const WARNING: &str = "warning: ";

/// The maximum number of rows of a short job.
const SHORT_ROWS: usize = 10_000;

/// Returns the job with a name.
pub(crate) fn find(name: &str) -> Option<Job> {
    JOBS.iter().find(|(own, _)| *own == name).map(|(_, job)| *job)
}

/// The data that a job reads from memory.
#[derive(Default)]
pub(crate) struct Input {
    /// The table.
    pub(crate) table: Option<MemoryTable>,
    /// The scores of labels to verify.
    pub(crate) against: Option<MemoryTable>,
    /// Shares for the reference or the margin.
    pub(crate) shares: Option<MemoryTable>,
    /// Training shares.
    pub(crate) training: Option<MemoryTable>,
    /// Tables of names and places, by the name that a setting has for them.
    pub(crate) tables: Vec<(String, MemoryTable)>,
    /// A decision or a calibration as JSON.
    pub(crate) decision: Option<String>,
    /// Whether to count the labels of each group.
    pub(crate) with_groups: bool,
}

/// The result of a job.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The response.
    pub(crate) result: Value,
    /// The response as JSON, if it is saved: a decision.
    pub(crate) json: Option<String>,
    /// The decision of labels, if the labels of each group were requested.
    pub(crate) decision: Value,
    /// The response as text.
    pub(crate) text: String,
    /// The classes.
    pub(crate) classes: Vec<String>,
    /// Labels.
    pub(crate) labels: Vec<OnlyColumn>,
    /// The labels of each group, if they were requested.
    pub(crate) groups: Vec<GroupLabels>,
    /// A warning that counts have drifted, without its prefix.
    pub(crate) drift: Option<String>,
    /// Computed rows.
    pub(crate) rows: Vec<PlainColumn>,
    /// The blocks of simulated rows, as columns.
    pub(crate) blocks: Vec<PlainRows>,
    /// The report.
    pub(crate) document: Option<Document>,
}

impl Outcome {
    fn of(response: &impl Serialize) -> Result<Outcome> {
        let result = serde_json::to_value(response).map_err(|error| Error::data(error.to_string()))?;
        Ok(Outcome { result, ..Outcome::default() })
    }

    /// Adds the response as text. Warnings in it are also sent as notices.
    fn with_text(self, text: impl Into<Message>, context: &Context) -> Outcome {
        let text = render(&text.into());
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
/// small table by a rule that is not learned.
pub(crate) fn is_short(job: Job, values: &Map<String, Value>, input: &Input) -> bool {
    let is_small = input.table.as_ref().is_some_and(|table| table.rows() <= SHORT_ROWS);
    let is_plain = !values.contains_key("report") && !values.contains_key("figures");
    let is_learned = values.get("rule").is_some_and(|rule| rule == "learned");
    matches!(job, Job::Label | Job::Apply) && is_small && is_plain && !is_learned
}

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
            let mut request: label::Request = from_values(job, values)?;
            (request.table.source.table, request.rule.reference_table) = (input.table, input.shares);
            request.rule.training.training_table = input.training;
            request.with_groups = input.with_groups;
            if !input.with_groups {
                let only = label::run_for_labels(&request, context)?;
                warn_of_repeated_keys(only.repeated_keys, context);
                return Ok(Outcome { labels: only.labels, classes: only.classes, ..Outcome::default() });
            }
            let response = label::run(&request, context)?;
            let decision = Outcome::of(&response.decision)?.result;
            Ok(Outcome { decision, ..labeled(response, context)? })
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
            with_json(Outcome::of(&fit::run(&request, context)?)?)
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
            let (rows, text) = (std::mem::take(&mut response.scores), render(&response.text().into()));
            let mut outcome = Outcome::of(&response)?;
            outcome.json = outcome.result.get("calibration").map(Value::to_string);
            Ok(Outcome { rows, classes: response.classes.clone(), text, ..outcome })
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
            Ok(outcome.with_text(response.text(), context).with_report(response.report))
        }
        Job::Compare => {
            let mut request: compare::Request = from_values(job, values)?;
            request.table.source.table = input.table;
            request.report.in_memory = true;
            let response = compare::run(&request, context)?;
            Ok(Outcome::of(&response)?.with_text(response.text(), context).with_report(response.report))
        }
        Job::Predict => {
            let mut request: predict::Request = from_values(job, values)?;
            (request.source.table, request.margin_table) = (input.table, input.shares);
            request.tables = input.tables.into_iter().collect();
            predicted(&request, context)
        }
        Job::Explain => {
            let mut request: explain::Request = from_values(job, values)?;
            (request.predict.source.table, request.predict.margin_table) = (input.table, input.shares);
            request.predict.tables = input.tables.into_iter().collect();
            let response = explain::run(&request, context)?;
            Ok(Outcome::of(&response)?.with_text(response.text(), context))
        }
        Job::Disparity => {
            let mut request: disparity::Request = from_values(job, values)?;
            request.table.source.table = input.table;
            request.report.in_memory = true;
            let mut response = disparity::run(&request, context)?;
            let rows = std::mem::take(&mut response.scores);
            let outcome = Outcome::of(&response)?.with_text(response.text(), context);
            Ok(Outcome { rows, ..outcome.with_report(response.report) })
        }
        Job::Frontier => {
            let mut request: frontier::Request = from_values(job, values)?;
            (request.table.source.table, request.reference_table) = (input.table, input.shares);
            request.training.training_table = input.training;
            let response = frontier::run(&request, context)?;
            let outcome = Outcome::of(&response)?.with_text(response.summary(), context);
            Ok(Outcome { document: Some(response.document()), ..outcome })
        }
        Job::SimulateVoters | Job::SimulateNormal | Job::SimulateCategorical => {
            let response = simulate::run(&simulate::Request::from_values(job, values)?, context)?;
            let outcome = Outcome::of(&response)?;
            Ok(Outcome { blocks: response.blocks, ..outcome })
        }
        Job::Verify => {
            let mut request = verify::Request::from_values(values)?;
            (request.inputs.table, request.against.table) = (input.table, input.against);
            request.reference_table = input.shares;
            if input.decision.is_some() {
                (request.decision, request.decision_json) = (Some(DECISION.into()), input.decision);
            }
            let response = verify::run(&request, context)?;
            let text = response.lines().join("\n");
            Ok(Outcome { text, ..Outcome::of(&response)? })
        }
        _ => Err(Error::settings("this job is not available in R")),
    }
}

/// Adds the response as JSON, without its files.
fn with_json(outcome: Outcome) -> Result<Outcome> {
    let json = serde_json::to_string_pretty(&outcome.result).map_err(|error| Error::data(error.to_string()))?;
    Ok(Outcome { json: Some(json), ..outcome })
}

fn labeled(mut response: label::Response, context: &Context) -> Result<Outcome> {
    warn_of_repeated_keys(response.measured.result.joint.as_ref().map_or(0, |joint| joint.repeated_keys), context);
    let outcome = Outcome::of(&response)?;
    let (labels, groups) = (std::mem::take(&mut response.labels), std::mem::take(&mut response.groups));
    let labels = labels.into_iter().map(OnlyColumn::Column).collect();
    Ok(Outcome { labels, groups, classes: response.contract.classes, ..outcome }.with_report(response.report))
}

fn warn_of_repeated_keys(repeated: u64, context: &Context) {
    if repeated > 0 {
        let rows = if repeated == 1 { "1 tied row has".into() } else { format!("{} tied rows have", count(repeated)) };
        let problem = format!("{rows} the same ID as other rows, so the labels depend on the order of the rows. ");
        context.warn(Message::from(problem) + "Name a column that identifies rows with " + Setting::Id);
    }
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
    let rows = std::mem::take(&mut response.scores);
    Ok(Outcome { rows, classes: response.classes.clone(), ..Outcome::of(&response)? })
}

/// What R needs to know about an error.
pub(crate) struct Problem {
    pub(crate) message: String,
    /// The row, counted from 1.
    pub(crate) row: Option<u64>,
    pub(crate) column: Option<String>,
    /// The argument that the error is about, or that fixes it.
    pub(crate) setting: Option<&'static str>,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), row: None, column: None, setting: None }
    }

    /// Converts an error, with a suggestion if a class is unknown.
    pub(crate) fn of(error: &Error) -> Problem {
        use apportion::Error as Core;
        use apportion_io::Error as Io;
        let core = match error {
            Error::Core(core) | Error::Setting(_, core) | Error::Io(Io::Core { error: core, .. }) => Some(core),
            _ => None,
        };
        let near = match core {
            Some(Core::UnknownClass { name, classes }) => apportion_io::did_you_mean(name, classes.split(", ")),
            _ => String::new(),
        };
        let message = error.message() + near;
        let named = |part: &Part| match part {
            Part::Setting(setting, _) => Some(argument(*setting)),
            Part::Text(_) => None,
        };
        let (row, column) = match error {
            Error::Io(Io::Value { row, column, .. }) => (Some(*row), Some(column.clone())),
            Error::Io(Io::Row { row, .. }) => (Some(*row), None),
            Error::Io(Io::Core { location: Some(location), .. }) => (Some(location.row), location.column.clone()),
            _ => (None, None),
        };
        Problem { setting: message.parts().iter().find_map(named), message: render(&message), row, column }
    }
}
