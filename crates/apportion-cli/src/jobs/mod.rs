//! Runs jobs: options become a request, and the response is printed as text or JSON.

mod demo;
mod describe;
mod provenance_text;
mod simulate;
mod tables;
mod verify;

use std::slice::from_ref;

use anyhow::Result;
use apportion_app::output::written;
use apportion_app::settings::Job;
use apportion_app::summary::{drift_warning, summary};
use apportion_app::{
    apply, audit, calibrate, compare, disparity, explain, export, fit, frontier, label, predict, provenance, reproduce,
};
use clap::ArgMatches;

use crate::config::Config;
use crate::message::render;
use crate::terminal::Terminal;
use crate::text;

/// Runs a job.
///
/// # Errors
/// If the job fails, or its result cannot be printed.
pub(crate) fn run(job: Job, matches: &ArgMatches, line: &[String], config: Option<&Config>) -> Result<()> {
    let terminal = Terminal::new(job, matches, line, config)?;
    match job {
        Job::Label => label(&terminal),
        Job::Audit => audit(&terminal),
        Job::Compare => compare(&terminal),
        Job::Disparity => disparity(&terminal),
        Job::Frontier => frontier(&terminal),
        Job::Fit => fit(&terminal),
        Job::Apply => apply(&terminal),
        Job::Calibrate => calibrate(&terminal),
        Job::Export => export(&terminal),
        Job::Verify => verify::run(&terminal),
        Job::Provenance => provenance(&terminal),
        Job::Predict => predict(&terminal),
        Job::Explain => explain(&terminal),
        Job::Describe => describe::run(&terminal),
        Job::TablesList | Job::TablesShow | Job::TablesExport | Job::TablesImport | Job::TablesCheck => {
            tables::run(job, &terminal)
        }
        Job::SimulateVoters | Job::SimulateNormal | Job::SimulateCategorical | Job::SimulateWorstCase => {
            simulate::run(job, &terminal)
        }
        Job::Reproduce => reproduce(&terminal),
        Job::Demo => demo::run(&terminal),
    }
}

fn label(terminal: &Terminal) -> Result<()> {
    terminal.refuse_two_outputs()?;
    let request = label::Request { with_argmax: !terminal.quiet, ..terminal.request()? };
    let response = label::run(&request, &terminal.context())?;
    terminal.print_json(&response)?;
    say_labels(terminal, &response);
    terminal.say_report(response.report.as_ref());
    Ok(())
}

fn apply(terminal: &Terminal) -> Result<()> {
    terminal.refuse_two_outputs()?;
    let request = apply::Request { with_argmax: !terminal.quiet, ..terminal.request()? };
    let response = apply::run(&request, &terminal.context())?;
    terminal.print_json(&response)?;
    say_labels(terminal, &response);
    Ok(())
}

/// Prints a summary of the labels, a warning if their counts drifted, and the output paths.
fn say_labels(terminal: &Terminal, response: &label::Response) {
    let measured = &response.measured;
    if let Some(summary) = summary(measured) {
        terminal.say(render(&summary));
    }
    let drift = measured.result.drift.as_ref();
    let warning = drift.and_then(|drift| drift_warning(&response.decision, drift, &measured.result.summary));
    if let Some(warning) = warning {
        terminal.say(render(&warning));
    }
    terminal.say_written(&response.paths);
}

fn fit(terminal: &Terminal) -> Result<()> {
    terminal.refuse_two_outputs()?;
    let request = fit::Request { with_argmax: !terminal.quiet, ..terminal.request()? };
    let response = fit::run(&request, &terminal.context())?;
    let to_stdout = request.output == "-";
    if to_stdout || terminal.json {
        text::print(serde_json::to_string_pretty(&response)?)?;
    }
    if to_stdout {
        return Ok(());
    }
    if let Some(summary) = summary(&response.measured) {
        terminal.say(render(&summary));
    }
    terminal.say_written(from_ref(&request.output.into()));
    Ok(())
}

fn audit(terminal: &Terminal) -> Result<()> {
    let request: audit::Request = terminal.request()?;
    let response = audit::run(&request, &terminal.context())?;
    terminal.say_report(response.report.as_ref());
    terminal.say_results(request.output.as_deref());
    terminal.print_either(&response, || render(&response.text()))
}

fn compare(terminal: &Terminal) -> Result<()> {
    let request: compare::Request = terminal.request()?;
    let response = compare::run(&request, &terminal.context())?;
    terminal.say_report(response.report.as_ref());
    terminal.say_results(request.output.as_deref());
    terminal.print_either(&response, || response.text())
}

fn disparity(terminal: &Terminal) -> Result<()> {
    let request: disparity::Request = terminal.request()?;
    let response = disparity::run(&request, &terminal.context())?;
    terminal.say_report(response.report.as_ref());
    if !response.paths.is_empty() {
        terminal.say_written(&response.paths);
    }
    terminal.say_results(request.output.as_deref());
    terminal.print_either(&response, || render(&response.text()))
}

fn frontier(terminal: &Terminal) -> Result<()> {
    let request: frontier::Request = terminal.request()?;
    let response = frontier::run(&request, &terminal.context())?;
    terminal.say_results(request.output.as_deref());
    match request.output {
        // All points are in the file.
        Some(_) => terminal.print_json(&response),
        None => terminal.print_either(&response, || render(&response.text())),
    }
}

fn export(terminal: &Terminal) -> Result<()> {
    let response = export::run(&terminal.request()?, &terminal.context())?;
    if let Some(path) = &response.prices {
        terminal.say(written(from_ref(path)));
    }
    match &response.written {
        Some(path) => terminal.say(written(from_ref(path))),
        None => text::print(response.sql.trim_end())?,
    }
    Ok(())
}

fn provenance(terminal: &Terminal) -> Result<()> {
    let response = provenance::show::run(&terminal.request()?, &terminal.context())?;
    if terminal.json {
        text::print(serde_json::to_string_pretty(&response)?)
    } else {
        text::print_text(provenance_text::text(&response.provenance))
    }
}

fn predict(terminal: &Terminal) -> Result<()> {
    terminal.refuse_two_outputs()?;
    let request: predict::Request = terminal.request()?;
    let response = predict::run(&request, &terminal.context())?;
    terminal.print_json(&response)?;
    for remark in &response.remarks {
        terminal.say(format!("warning: {remark}"));
    }
    let parts = response.text(&request);
    let (sentences, tables) = parts.split_at(parts.len().saturating_sub(2));
    sentences.iter().for_each(|sentence| terminal.say(sentence));
    tables.iter().for_each(|table| terminal.say(format!("\n{table}")));
    terminal.say_written(&response.paths);
    Ok(())
}

fn calibrate(terminal: &Terminal) -> Result<()> {
    terminal.refuse_two_outputs()?;
    let request: calibrate::Request = terminal.request()?;
    let response = calibrate::run(&request, &terminal.context())?;
    terminal.print_json(&response)?;
    terminal.say(response.text());
    terminal.say_written(&response.paths);
    if let Some(path) = &request.save {
        terminal.say(format!("calibration written to {}", path.display()));
    }
    Ok(())
}

fn explain(terminal: &Terminal) -> Result<()> {
    let response = explain::run(&terminal.request()?, &terminal.context())?;
    terminal.print_either(&response, || response.text())
}

fn reproduce(terminal: &Terminal) -> Result<()> {
    let response = reproduce::run(&terminal.request()?, &terminal.context())?;
    terminal.say(format!("written to {}", response.written.display()));
    Ok(())
}
