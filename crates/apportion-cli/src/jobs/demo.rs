//! Demonstrates the program on built-in data: runs the steps of the demonstration in order.

use anyhow::Result;
use apportion::text::Setting;
use apportion_app::demo::{self, Step};

use crate::message::option;
use crate::terminal::Terminal;
use crate::{program, text};

pub(super) fn run(terminal: &Terminal) -> Result<()> {
    let response = demo::run(&terminal.request()?, &terminal.context())?;
    for step in &response.steps {
        let shown = words(step, |setting| setting != Setting::Force).join(" ");
        text::print(format!("\n# {}\n$ {shown}", step.title))?;
        let line = words(step, |_| true);
        let matches = program::command().try_get_matches_from(&line)?;
        if let Some((job, matches)) = program::job(&matches) {
            super::run(job, matches, &line, None)?;
        }
    }
    let (report, labeled) = (response.report.display(), response.labeled.display());
    text::print_text(format!(
        "\n# Report with all results (open in a browser): {report}\n# Labels of all people (open in a spreadsheet): {labeled}"
    ))
}

/// Returns the command of a step, with some of its settings.
pub(super) fn words(step: &Step, is_included: impl Fn(Setting) -> bool) -> Vec<String> {
    let mut words = vec!["apportion".to_owned()];
    words.extend(step.job.split(' ').map(String::from));
    words.extend(step.inputs.iter().cloned());
    for (setting, value) in step.settings.iter().filter(|(setting, _)| is_included(*setting)) {
        words.push(option(*setting, None));
        words.extend(value.clone());
    }
    words
}
