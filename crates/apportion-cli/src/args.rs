//! Builds the command line of a job from the declarations of its settings, and converts its values to data for a
//! request.

use apportion::text::Setting;
use apportion_app::settings::{self, Declaration, Job, Kind};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};

use crate::message::{option, render};

/// The heading of required options.
const REQUIRED: &str = "Required";

/// The headings of options in the order of the help. Others come before the output.
const HEADINGS: [&str; 8] = [REQUIRED, "Input", "Model", "Calibration", "Rule", "Target", "Groups", "Labels"];
const LAST_HEADINGS: [&str; 3] = ["Output", "Report", "Performance"];

/// Adds the options of a job to its command: required options first, then by heading.
pub(crate) fn with_options(mut command: Command, job: Job) -> Command {
    let headed =
        |(heading, own): (&'static str, &'static Declaration)| (if own.is_required { REQUIRED } else { heading }, own);
    let mut options: Vec<(&str, &Declaration)> = settings::of_job(job).map(headed).collect();
    options.sort_by_key(|(heading, _)| rank(heading));
    for (heading, declaration) in options {
        command = command.arg(argument(job, heading, declaration));
    }
    for &(setting, old) in renamed(job) {
        command = command.arg(old_spelling(setting, old));
    }
    command
}

/// Returns the values given on the command line, by the ids of their settings.
///
/// # Errors
/// If a value is invalid for its setting.
pub(crate) fn values(job: Job, matches: &ArgMatches) -> Result<Map<String, Value>, String> {
    let mut values = Map::new();
    for (_, declaration) in settings::of_job(job) {
        let id = declaration.setting.id();
        if matches.value_source(id) != Some(ValueSource::CommandLine) || is_of_terminal(declaration.setting) {
            continue;
        }
        let texts: Vec<String> = match declaration.kind {
            Kind::Flag => Vec::new(),
            _ => matches.get_many::<String>(id).into_iter().flatten().cloned().collect(),
        };
        let value = declaration.kind.read(&texts);
        values.insert(id.into(), value.map_err(|problem| format!("{}: {problem}", option(declaration.setting, None)))?);
    }
    Ok(values)
}

/// Returns the position of a heading in the help.
fn rank(heading: &str) -> usize {
    let first = HEADINGS.iter().position(|own| *own == heading);
    let last = LAST_HEADINGS.iter().position(|own| *own == heading).map(|index| HEADINGS.len() + 1 + index);
    first.or(last).unwrap_or(HEADINGS.len())
}

/// Returns whether a setting only concerns the terminal: jobs print nothing, and read no options.
fn is_of_terminal(setting: Setting) -> bool {
    matches!(setting, Setting::Json | Setting::Quiet | Setting::Config)
}

fn argument(job: Job, heading: &'static str, declaration: &'static Declaration) -> Arg {
    let (setting, kind) = (declaration.setting, declaration.kind);
    let mut argument = Arg::new(setting.id()).help(render(&declaration.help())).required(declaration.is_required);
    let is_positional = positional(job) == Some(setting);
    if !is_positional {
        argument = argument.long(long_name(setting)).help_heading(heading);
    }
    if let Some(letter) = short_name(setting).filter(|_| !is_positional) {
        argument = argument.short(letter);
    }
    if setting == Setting::Zcta {
        argument = argument.alias("zip");
    }
    if !declaration.value.is_empty() {
        argument = argument.value_name(declaration.value);
    }
    if let Some(default) = declaration.default {
        argument = argument.default_value(default);
    }
    match kind {
        Kind::Flag => argument.action(ArgAction::SetTrue),
        Kind::Choice(choices) => {
            let value = |(name, help): &(&'static str, &'static str)| PossibleValue::new(*name).help(*help);
            argument.value_parser(PossibleValuesParser::new(choices.iter().map(value)))
        }
        _ => {
            argument = argument.value_parser(move |text: &str| kind.read(&[text.to_owned()]).map(|_| text.to_owned()));
            let is_paths = is_positional || (job, setting) == (Job::Verify, Setting::Against);
            match (kind.is_list(), is_paths) {
                (true, true) => argument.num_args(1..).action(ArgAction::Append),
                (true, false) => argument.value_delimiter(',').action(ArgAction::Append),
                (false, _) => argument,
            }
        }
    }
}

/// Returns the setting that is given as a positional argument.
fn positional(job: Job) -> Option<Setting> {
    match job {
        Job::Label | Job::Audit | Job::Compare | Job::Disparity | Job::Frontier | Job::Fit | Job::Apply => {
            Some(Setting::Inputs)
        }
        Job::Calibrate | Job::Predict | Job::Explain | Job::Describe | Job::Provenance | Job::TablesImport => {
            Some(Setting::Inputs)
        }
        Job::Verify => Some(Setting::Output),
        Job::Export => Some(Setting::Decision),
        Job::TablesShow | Job::TablesExport | Job::TablesCheck => Some(Setting::Table),
        Job::TablesList
        | Job::SimulateVoters
        | Job::SimulateNormal
        | Job::SimulateCategorical
        | Job::SimulateWorstCase
        | Job::Reproduce
        | Job::Demo => None,
    }
}

pub(crate) fn long_name(setting: Setting) -> String {
    match setting {
        Setting::Output => "output".into(),
        other => option(other, None).trim_start_matches('-').to_owned(),
    }
}

fn short_name(setting: Setting) -> Option<char> {
    match setting {
        Setting::Output => Some('o'),
        Setting::Quiet => Some('q'),
        _ => None,
    }
}

/// Returns the renamed options of a job: the setting, and its old name.
fn renamed(job: Job) -> &'static [(Setting, &'static str)] {
    match job {
        Job::Label | Job::Fit | Job::Verify => &[(Setting::Tolerance, "margin"), (Setting::TrainRows, "batch")],
        _ => &[],
    }
}

/// Returns a hidden option that is refused with a message that gives its new name.
fn old_spelling(setting: Setting, old: &'static str) -> Arg {
    let problem = format!("it has been renamed to {}", option(setting, None));
    let refuse = move |_: &str| -> Result<String, String> { Err(problem.clone()) };
    Arg::new(format!("old_{old}")).long(old).hide(true).value_name("VALUE").value_parser(refuse)
}
