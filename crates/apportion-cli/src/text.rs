//! Prints text for people.

use std::fmt::Display;
use std::io::{Write, stderr, stdout};

use anyhow::{Result, anyhow};

pub(crate) use apportion_app::text::{columns, count, counted, plain, shown};

/// Prints a result on standard output. A full disk is an error, not a panic.
pub(crate) fn print(result: impl Display) -> Result<()> {
    let mut stdout = stdout().lock();
    let done = writeln!(stdout, "{result}").and_then(|()| stdout.flush());
    done.map_err(|error| anyhow!("standard output: {error}; free some space, or write elsewhere"))
}

/// Prints text for people on standard output, with control characters escaped.
pub(crate) fn print_text(text: impl Display) -> Result<()> {
    print(shown(&text.to_string()))
}

/// Prints a message on standard error, with control characters escaped. A closed standard error is ignored.
pub(crate) fn say(word: impl Display) {
    let _ = writeln!(stderr(), "{}", shown(&word.to_string()));
}
