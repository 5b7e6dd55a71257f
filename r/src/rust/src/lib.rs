//! Connects R to the jobs of apportion: converts data frames and settings to requests, and responses to results.
//!
//! [`run`] runs a job on vectors of R, which are not copied. The job runs in another thread, and the main thread of R
//! checks for interrupts, which cancel the job, and reports progress.

mod jobs;
mod memory;
mod names;
mod table;
mod values;
mod watch;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use apportion::UNCODED;
use apportion_app::label::OnlyColumn;
use apportion_app::labels::LabelColumn;
use apportion_app::report::write_figures;
use apportion_app::{Context, Notice};
use apportion_io::{PlainRows, refuse_overwrite, write_atomically};
use savvy::{FunctionSexp, ListSexp, NullSexp, OwnedListSexp, Sexp, StringSexp, savvy};

use jobs::{Outcome, Problem};
use values::{characters, r_value};
use watch::{Stopped, Watch, at_once, attend};

/// The report of a result.
#[savvy]
struct ApportionReport {
    document: apportion_report::Document,
}

/// Notices of a job, each with whether it is a warning.
type Notices = Vec<(bool, String)>;

/// Runs a job. `values` are its settings by id; `input` its data; `threads` the number of threads, or `NULL`; `progress` a
/// function of the name of the current work and the part that is done, or `NULL`.
///
/// Returns a list with the result, or with `error` or `interrupted`.
#[savvy]
fn apportion_run(job: &str, values: ListSexp, input: ListSexp, threads: Sexp, progress: Sexp) -> savvy::Result<Sexp> {
    watch::record_panics();
    let Some(job) = jobs::find(job) else { return failed(&Problem::new(format!("unknown job {job:?}"))) };
    let values = match values::settings(job, &values) {
        Ok(values) => values,
        Err(invalid) => return failed(&Problem::new(format!("`{}`: {}", invalid.argument, invalid.problem))),
    };
    let input = match read_input(&input) {
        Ok(input) => input,
        Err(problem) => return failed(&Problem::new(problem)),
    };
    let progress = if progress.is_null() { None } else { Some(FunctionSexp::try_from(progress)?) };
    let threads = if threads.is_null() { None } else { Some(i32::try_from(threads)?.max(1) as usize) };
    let (watch, notices) = (Arc::new(Watch::default()), Arc::new(Mutex::new(Notices::new())));
    let context = context(watch.clone(), notices.clone(), threads);
    let is_short = jobs::is_short(job, &values, &input);
    let work = move || jobs::run(job, values, input, &context);
    let mut interrupted = Ok(());
    let outcome = if is_short {
        at_once(work)
    } else {
        attend(&watch, work, || {
            interrupted = report_progress(progress.as_ref(), watch.state());
            interrupted.is_ok() && !memory::is_interrupted()
        })
    };
    interrupted?;
    match outcome {
        Ok(Ok(outcome)) => {
            let notices = std::mem::take(&mut *notices.lock().unwrap_or_else(PoisonError::into_inner));
            done(outcome, &notices)
        }
        Ok(Err(error)) => failed(&Problem::of(&error)),
        Err(Stopped::Panicked(problem)) => failed(&Problem::new(problem)),
        Err(Stopped::Cancelled) => {
            let mut list = OwnedListSexp::new(1, true)?;
            list.set_name_and_value(0, "interrupted", Sexp::try_from(true)?)?;
            Ok(list.into())
        }
    }
}

fn report_progress(progress: Option<&FunctionSexp>, (what, part): (&str, Option<f64>)) -> savvy::Result<()> {
    let Some(progress) = progress else { return Ok(()) };
    let mut arguments = savvy::FunctionArgs::new();
    arguments.add("what", what)?;
    arguments.add("part", part.unwrap_or(f64::NAN))?;
    progress.call(arguments)?;
    Ok(())
}

fn context(watch: Arc<Watch>, heard: Arc<Mutex<Notices>>, threads: Option<usize>) -> Context {
    Context {
        progress: watch,
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
        name_setting: names::r_name,
    }
}

/// Panics like a job that fails, in this thread, in the worker thread or in a thread of the pool. For tests.
#[savvy]
fn apportion_panic(thread: &str) -> savvy::Result<Sexp> {
    watch::record_panics();
    let watch = Watch::default();
    let panicked: Result<(), Stopped> = match thread {
        "main" => at_once(|| panic!("a test")),
        "worker" => attend(&watch, || panic!("a test"), || true),
        _ => attend(&watch, || rayon::join(|| panic!("a test"), || ()).1, || true),
    };
    match panicked {
        Err(Stopped::Panicked(problem)) => failed(&Problem::new(problem)),
        _ => Ok(NullSexp.into()),
    }
}

/// Reads the data of a job.
fn read_input(input: &ListSexp) -> Result<jobs::Input, String> {
    let part = |name: &str| -> Result<Option<ListSexp>, String> {
        let own = input.get(name).filter(|own| !own.is_null());
        own.map(|own| ListSexp::try_from(own).map_err(|error| error.to_string())).transpose()
    };
    let table = |name: &str| part(name)?.map(|own| table::read(&own, None)).transpose();
    let main = match (part("table")?, part("matrix")?) {
        (None, None) => None,
        (Some(columns), matrix) => Some(table::read(&columns, matrix.as_ref())?),
        (None, Some(_)) => return Err("a matrix needs a list of other columns".into()),
    };
    let decision = input.get("decision").filter(|own| !own.is_null()).map(|own| table::texts(&own)).transpose()?;
    let mut tables = Vec::new();
    if let Some(own) = input.get("tables").filter(|own| !own.is_null()) {
        for (name, own) in ListSexp::try_from(own).map_err(|error| error.to_string())?.iter() {
            let own = ListSexp::try_from(own).map_err(|error| error.to_string())?;
            tables.push((name.to_owned(), table::read(&own, None)?));
        }
    }
    Ok(jobs::Input {
        table: main,
        against: table("against")?,
        shares: table("shares")?,
        training: table("training")?,
        tables,
        decision: decision.and_then(|texts| texts.into_iter().next()),
        with_groups: input.get("groups").is_some_and(|own| bool::try_from(own).unwrap_or(false)),
    })
}

/// Returns a list about an error, which R raises.
fn failed(problem: &Problem) -> savvy::Result<Sexp> {
    let mut error = OwnedListSexp::new(4, true)?;
    error.set_name_and_value(0, "message", Sexp::try_from(problem.message.as_str())?)?;
    match problem.row {
        Some(row) => error.set_name_and_value(1, "row", Sexp::try_from(row as f64)?)?,
        None => error.set_name_and_value(1, "row", NullSexp)?,
    }
    match &problem.column {
        Some(column) => error.set_name_and_value(2, "column", Sexp::try_from(column.as_str())?)?,
        None => error.set_name_and_value(2, "column", NullSexp)?,
    }
    match problem.setting {
        Some(setting) => error.set_name_and_value(3, "setting", Sexp::try_from(setting)?)?,
        None => error.set_name_and_value(3, "setting", NullSexp)?,
    }
    let mut list = OwnedListSexp::new(1, true)?;
    list.set_name_and_value(0, "error", Sexp::from(error))?;
    Ok(list.into())
}

/// Returns the result of a job.
fn done(outcome: Outcome, notices: &[(bool, String)]) -> savvy::Result<Sexp> {
    let texts = |wanted: bool| -> Vec<&str> {
        notices.iter().filter(|(is_warning, _)| *is_warning == wanted).map(|(_, text)| text.as_str()).collect()
    };
    let mut list = OwnedListSexp::new(12, true)?;
    list.set_name_and_value(0, "result", r_value(&outcome.result)?)?;
    list.set_name_and_value(1, "text", Sexp::try_from(outcome.text.as_str())?)?;
    list.set_name_and_value(2, "notes", characters(&texts(false))?)?;
    list.set_name_and_value(3, "warnings", characters(&texts(true))?)?;
    match &outcome.drift {
        Some(drift) => list.set_name_and_value(4, "drift", Sexp::try_from(drift.as_str())?)?,
        None => list.set_name_and_value(4, "drift", NullSexp)?,
    }
    list.set_name_and_value(5, "classes", characters(&outcome.classes)?)?;
    let mut labels = OwnedListSexp::new(outcome.labels.len(), false)?;
    for (index, column) in outcome.labels.iter().enumerate() {
        let column = match column {
            OnlyColumn::Labels(labels) => {
                let code = |&label: &u8| if label == UNCODED { -1 } else { i32::from(label) };
                table::factor(labels.values().iter().map(code), labels.values().len(), &outcome.classes)?
            }
            OnlyColumn::Column(LabelColumn::Codes(codes)) => {
                table::factor(codes.iter().map(|&code| i32::from(code)), codes.len(), &outcome.classes)?
            }
            OnlyColumn::Column(LabelColumn::People(people)) => table::whole(people.iter().copied())?,
        };
        labels.set_value(index, column)?;
    }
    list.set_name_and_value(6, "labels", Sexp::from(labels))?;
    let mut groups = OwnedListSexp::new(outcome.groups.len(), true)?;
    for (index, own) in outcome.groups.iter().enumerate() {
        let mut group = OwnedListSexp::new(2, true)?;
        group.set_name_and_value(0, "counts", table::whole(own.counts.iter().map(|&count| Some(count)))?)?;
        match &own.targets {
            Some(targets) => {
                group.set_name_and_value(1, "targets", table::whole(targets.iter().map(|&own| Some(own)))?)?;
            }
            None => group.set_name_and_value(1, "targets", NullSexp)?,
        }
        groups.set_name_and_value(index, &own.name, Sexp::from(group))?;
    }
    list.set_name_and_value(7, "groups", Sexp::from(groups))?;
    list.set_name_and_value(8, "rows", rows(&outcome)?)?;
    match outcome.json {
        Some(json) => list.set_name_and_value(9, "json", Sexp::try_from(json.as_str())?)?,
        None => list.set_name_and_value(9, "json", NullSexp)?,
    }
    list.set_name_and_value(11, "decision", r_value(&outcome.decision)?)?;
    match outcome.document {
        Some(document) => list.set_name_and_value(10, "report", Sexp::try_from(ApportionReport { document })?)?,
        None => list.set_name_and_value(10, "report", NullSexp)?,
    }
    Ok(list.into())
}

/// Returns computed rows as a list of vectors, or a list of such lists for blocks of rows.
fn rows(outcome: &Outcome) -> savvy::Result<Sexp> {
    if outcome.blocks.is_empty() {
        return Ok(table::list(&outcome.rows)?.into());
    }
    let mut blocks = OwnedListSexp::new(outcome.blocks.len(), false)?;
    for (index, block) in outcome.blocks.iter().map(PlainRows::columns).enumerate() {
        blocks.set_value(index, Sexp::from(table::list(block)?))?;
    }
    Ok(blocks.into())
}

/// Returns the score columns among some names, if they are recognized.
#[savvy]
fn apportion_score_columns(names: StringSexp) -> savvy::Result<Sexp> {
    let names: Vec<String> = names.iter().map(str::to_owned).collect();
    let found = apportion_io::find_scores(&names).ok().flatten();
    characters(&found.map(|found| found.scores.columns).unwrap_or_default())
}

/// Returns a list with the content of JSON, or with `error`.
#[savvy]
fn apportion_parse_json(json: &str) -> savvy::Result<Sexp> {
    let content: serde_json::Value = match serde_json::from_str(json) {
        Ok(content) => content,
        Err(error) => return failed(&Problem::new(format!("invalid JSON: {error}"))),
    };
    let mut list = OwnedListSexp::new(1, true)?;
    list.set_name_and_value(0, "content", r_value(&content)?)?;
    Ok(list.into())
}

/// Writes text to a file, which is complete or absent. Returns the error, or `NULL`.
#[savvy]
fn apportion_write(path: &str, text: &str, overwrite: bool) -> savvy::Result<Sexp> {
    written(path, text, overwrite)
}

/// Writes a report: as Markdown if the extension is `.md`, otherwise as a self-contained page. Returns the error, or
/// `NULL`.
#[savvy]
fn apportion_write_report(report: &ApportionReport, path: &str, overwrite: bool) -> savvy::Result<Sexp> {
    let extension = Path::new(path).extension();
    let is_markdown = extension.is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    let document = &report.document;
    written(path, &if is_markdown { document.to_markdown() } else { document.to_html() }, overwrite)
}

/// Writes the data and the specification of every chart to a folder. Returns the error, or `NULL`.
#[savvy]
fn apportion_write_figures(report: &ApportionReport, folder: &str, overwrite: bool) -> savvy::Result<Sexp> {
    match write_figures(Path::new(folder), &report.document.figures(), overwrite) {
        Ok(()) => Ok(NullSexp.into()),
        Err(error) => failed(&Problem::of(&error)),
    }
}

fn written(path: &str, text: &str, overwrite: bool) -> savvy::Result<Sexp> {
    let path = Path::new(path);
    let written = refuse_overwrite(path, None, overwrite).and_then(|()| write_atomically(path, text.as_bytes()));
    match written {
        Ok(()) => Ok(NullSexp.into()),
        Err(error) => failed(&Problem::of(&error.into())),
    }
}
