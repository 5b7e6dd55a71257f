//! `apportion verify`: whether an output is what it should be, checked without the code that made it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Result, anyhow};
use apportion::text::Setting;
use apportion_app::input::{Encoding, Source};
use apportion_app::provenance::Recorded;
use apportion_app::verify::{self, Request, Response};
use clap::parser::ValueSource;
use clap::{Args, CommandFactory};
use serde_json::Value;

use crate::job_context::job_context;
use crate::message::render;
use crate::options::TableArgs;
use crate::rule::RuleArgs;

/// Options of `verify`.
#[derive(Args)]
#[command(mut_arg("inputs", |arg| arg.value_name("OUT").help("The output of `label` or `apply`: a file, or a folder")))]
#[command(after_help = "\
Examples:
  apportion verify labelled.parquet --against scores.parquet
  apportion verify labelled.csv --against scores.csv --rule match

Checks that every row of the scores is in the output once, in order and unchanged; that labels are classes and have the
scores beside them; that counts meet their targets; and that no other labels are better. How the labels were made is
taken from the provenance inside Parquet and Arrow outputs, from --provenance FILE.json, or from the options. Ends with 1 at
the first difference, and names what could not be checked.")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(super) table: TableArgs,
    #[command(flatten)]
    rule: RuleArgs,
    /// The scores that the labels were made from: files, folders or globs.
    #[arg(long, required = true, num_args = 1.., value_name = "SCORES")]
    against: Vec<String>,
    /// The decision with the prices of the labels, as `fit` wrote it; that of the provenance if not given.
    #[arg(long, value_name = "DECISION.json")]
    decision: Option<PathBuf>,
    /// The provenance of an output that does not hold it, as --provenance wrote it.
    #[arg(long, value_name = "FILE.json")]
    provenance: Option<PathBuf>,
    /// The column of the labels [default: that of the provenance, or label].
    #[arg(long, value_name = "COL")]
    label: Option<String>,
}

pub(crate) fn run(args: &VerifyArgs, line: &[String]) -> Result<()> {
    args.table.use_threads()?;
    let context = job_context(args.table.quiet, args.table.host.as_ref(), line);
    let response = verify::run(&args.request(line)?, &context)?;
    if args.table.json {
        args.table.print(json(&response)?)?;
    } else {
        text(&response).iter().try_for_each(|line| args.table.print(line))?;
    }
    match &response.difference {
        Some(difference) => Err(anyhow!(render(difference))),
        None => Ok(()),
    }
}

impl VerifyArgs {
    fn request(&self, line: &[String]) -> Result<Request> {
        let source = self.table.source()?;
        let mut settings = Recorded::default();
        self.table.record(&mut settings);
        self.rule.record(&mut settings);
        Ok(Request {
            // The program writes text in UTF-8, with the usual separator.
            inputs: Source { encoding: Encoding::Utf8, delimiter: None, ..source.clone() },
            against: Source { inputs: self.against.clone(), ..source },
            settings,
            given: given_settings(line),
            decision: self.decision.clone(),
            provenance: self.provenance.clone(),
            label: self.label.clone(),
            memory: Some(self.table.memory()),
        })
    }
}

/// Returns the settings that the command line gives, without defaults.
fn given_settings(line: &[String]) -> BTreeSet<Setting> {
    let matches = crate::Program::command().try_get_matches_from(line).ok();
    let Some(own) = matches.as_ref().and_then(|matches| matches.subcommand_matches("verify")) else {
        return BTreeSet::new();
    };
    let ids = own.ids().map(clap::Id::as_str);
    let given = ids.filter(|id| own.value_source(id) == Some(ValueSource::CommandLine));
    given.filter_map(setting_of).collect()
}

/// Returns the setting of an option, given the id of the option.
fn setting_of(id: &str) -> Option<Setting> {
    match id {
        "margin" => Some(Setting::Tolerance),
        "batch" => Some(Setting::TrainRows),
        id => Setting::ALL.iter().copied().find(|setting| setting.id() == id),
    }
}

/// Returns the response as JSON, with settings written as options.
fn json(response: &Response) -> Result<Value> {
    let mut json = serde_json::to_value(response)?;
    json["difference"] = response.difference.as_ref().map(render).into();
    for (index, own) in response.not_checked.iter().enumerate() {
        json["not_checked"][index]["why"] = render(&own.why).into();
    }
    Ok(json)
}

/// Returns the response as lines of text.
fn text(response: &Response) -> Vec<String> {
    let asked = response.asked.iter().map(|line| format!("asked for: {line}"));
    let checks = response.checks.iter().map(|line| format!("verified: {line}"));
    let remarks = response.remarks.iter().map(|line| format!("remark: {line}"));
    let not_checked = response.not_checked.iter();
    let not_checked = not_checked.map(|own| format!("not checked: {}, because {}", own.what, render(&own.why)));
    asked.chain(checks).chain(remarks).chain(not_checked).collect()
}
