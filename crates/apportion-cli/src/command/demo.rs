//! `apportion demo`: all of it, on people who do not exist.

use std::path::PathBuf;

use anyhow::Result;
use apportion::text::Setting;
use apportion_app::demo::{self, Request, Step};
use clap::{Args, Parser};

use crate::Program;
use crate::job_context::job_context;
use crate::message::option;
use crate::text;
use crate::values;

/// Options of `demo`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  apportion demo
  apportion demo --rows 1000000 --folder /tmp/demo
  apportion demo --report demo.html")]
pub(crate) struct DemoArgs {
    /// How many people.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    rows: u64,
    /// Where the files go.
    #[arg(long, default_value = "apportion-demo")]
    folder: PathBuf,
    /// Where the page goes that shows it all (.html, or .md for Markdown); report.html in that folder where it is not given.
    #[arg(long, value_name = "FILE.html|FILE.md", value_parser = values::report)]
    report: Option<PathBuf>,
    /// Writes every chart of the page into a folder: its numbers (.csv), and its specification for Plotly (.json).
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Replaces what an earlier demonstration wrote there.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &DemoArgs, line: &[String]) -> Result<()> {
    let request = Request {
        rows: args.rows,
        folder: args.folder.clone(),
        report: args.report.clone(),
        figures: args.figures.clone(),
        force: args.force,
    };
    let response = demo::run(&request, &job_context(false, None, line))?;
    for step in &response.steps {
        let shown = words(step, |setting| setting != Setting::Force).join(" ");
        text::print(format!("\n# {}\n$ {shown}", step.title))?;
        let line = words(step, |_| true);
        Program::parse_from(&line).command.run(&line)?;
    }
    text::print_text(format!("\n# All of it to look at, in any browser: {}", response.report.display()))
}

/// Returns the command of a step, with some of its settings.
fn words(step: &Step, is_included: impl Fn(Setting) -> bool) -> Vec<String> {
    let mut words = vec!["apportion".to_owned()];
    words.extend(step.job.split(' ').map(String::from));
    words.extend(step.inputs.iter().cloned());
    for (setting, value) in step.settings.iter().filter(|(setting, _)| is_included(*setting)) {
        words.push(option(*setting, None));
        words.extend(value.clone());
    }
    words
}
