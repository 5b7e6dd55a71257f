//! Text for people, and where it is printed.

use std::fmt::Display;
use std::io::{Write, stderr, stdout};

use anyhow::{Result, anyhow};

pub(crate) use apportion_app::text::{columns, count, counted, plain, shown, signed};

/// A result on standard output. A full disk is an error, not a panic.
pub(crate) fn print(result: impl Display) -> Result<()> {
    let mut stdout = stdout().lock();
    let done = writeln!(stdout, "{result}").and_then(|()| stdout.flush());
    done.map_err(|error| anyhow!("standard output: {error}; make room, or write elsewhere"))
}

/// Prints text for people on standard output, with control characters escaped.
pub(crate) fn print_text(text: impl Display) -> Result<()> {
    print(shown(&text.to_string()))
}

/// A word on standard error, with control characters escaped. A closed standard error is ignored.
pub(crate) fn say(word: impl Display) {
    let _ = writeln!(stderr(), "{}", shown(&word.to_string()));
}

/// What to say where a new column has a name that the input has: a name that is free, where the name can be chosen.
pub(crate) fn taken(column: &str, names: &[String], wanted: &str) -> String {
    let begins = |name: &str, start: &str| name == start || name.starts_with(&format!("{start}_"));
    if !begins(column, wanted) {
        return format!("the input has a column {column:?} already; rename it there, or write --only-label with --id");
    }
    let is_free = |name: &String| names.iter().all(|own| !begins(own, name));
    let free = (2..).map(|number| format!("{wanted}_{number}")).find(is_free).unwrap_or_default();
    format!("the input has a column {column:?} already; name the new one with --as {free}")
}
