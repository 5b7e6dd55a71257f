//! Errors of the command line, told from those of the data: the program ends with 2, and not with 1.

use std::fmt;

/// What is wrong with the command line.
#[derive(Debug)]
struct Usage(String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of the command line that no single value shows.
pub(crate) fn usage(problem: impl Into<String>) -> anyhow::Error {
    Usage(problem.into()).into()
}

/// Whether the command line is to blame: the values in it, or how they go together.
pub(crate) fn is_usage(error: &anyhow::Error) -> bool {
    use apportion::Error as Core;
    let of_core = |error: &Core| matches!(error, Core::Parameter { .. } | Core::Together { .. });
    error.downcast_ref::<Usage>().is_some() || core(error).is_some_and(of_core)
}

/// What is wrong with words, without what only a terminal's user can do about it.
pub(crate) fn without_help(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.split("\n\nUsage:").next().and_then(|text| text.split("\n\nFor more information").next());
    let lines = text.unwrap_or_default().trim_start_matches("error: ").lines().map(str::trim);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The library's error in another.
pub(crate) fn core(error: &anyhow::Error) -> Option<&apportion::Error> {
    match error.downcast_ref::<apportion_table::Error>() {
        Some(apportion_table::Error::Core(core)) => Some(core),
        Some(_) => None,
        None => error.downcast_ref(),
    }
}
