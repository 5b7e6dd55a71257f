//! Checks an output against its scores, and prints the checks.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use apportion::text::Setting;
use apportion_app::input::{Encoding, Source};
use apportion_app::provenance::Recorded;
use apportion_app::rule::RuleSettings;
use apportion_app::table::TableSettings;
use apportion_app::verify::{self, Request, Response};
use serde::Deserialize;

use crate::terminal::Terminal;
use crate::text;

/// The options of the command.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Options {
    #[serde(flatten)]
    table: TableSettings,
    #[serde(flatten)]
    rule: RuleSettings,
    output: Vec<String>,
    against: Vec<String>,
    decision: Option<PathBuf>,
    provenance: Option<PathBuf>,
    label: Option<String>,
    unknown_groups: Option<String>,
}

pub(super) fn run(terminal: &Terminal) -> Result<()> {
    let response = verify::run(&request(terminal)?, &terminal.context())?;
    if terminal.json {
        terminal.print_json(&response)?;
    } else {
        lines(&response).iter().try_for_each(text::print_text)?;
    }
    match response.difference {
        Some(difference) => Err(anyhow!(difference)),
        None => Ok(()),
    }
}

fn request(terminal: &Terminal) -> Result<Request> {
    let options: Options = terminal.request()?;
    let mut settings = Recorded::default();
    options.table.record(&mut settings);
    options.rule.record(&mut settings);
    settings.unknown_groups = options.unknown_groups;
    let given: BTreeSet<Setting> =
        Setting::ALL.iter().copied().filter(|setting| terminal.values().contains_key(setting.id())).collect();
    let (source, memory) = (options.table.source, options.table.memory);
    Ok(Request {
        // Outputs are UTF-8 text with the default separator, and never workbooks.
        inputs: Source {
            inputs: options.output,
            encoding: Encoding::Utf8,
            delimiter: None,
            sheet: None,
            ..source.clone()
        },
        against: Source { inputs: options.against, ..source },
        settings,
        given,
        decision: options.decision,
        provenance: options.provenance,
        label: options.label,
        memory,
        ..Request::default()
    })
}

/// Returns the response as lines of text.
fn lines(response: &Response) -> Vec<String> {
    let asked = response.asked.iter().map(|line| format!("options: {line}"));
    let checks = response.checks.iter().map(|line| format!("verified: {line}"));
    let remarks = response.remarks.iter().map(|line| format!("note: {line}"));
    let not_checked = response.not_checked.iter();
    let not_checked = not_checked.map(|own| format!("not checked: {}, because {}", own.what, own.why));
    asked.chain(checks).chain(remarks).chain(not_checked).collect()
}
