//! Helpers shared by the tests of the program: running it, and reading its messages.
#![allow(dead_code, clippy::unwrap_used)] // no test file uses all of it

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

/// Runs the program without progress lines, which a slow machine would add.
pub(crate) fn apportion(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("apportion").unwrap();
    command.current_dir(folder).args(args).env("APPORTION_PROGRESS", "off").output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a command that must succeed; returns standard output.
pub(crate) fn run(folder: &Path, args: &[&str]) -> String {
    let output = apportion(folder, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Runs a command that must fail because of the data; returns the message.
pub(crate) fn refused(folder: &Path, args: &[&str]) -> String {
    message(&apportion(folder, args), 1)
}

/// Runs a command that must fail because of the command line; returns the message.
pub(crate) fn misused(folder: &Path, args: &[&str]) -> String {
    message(&apportion(folder, args), 2)
}

/// Returns the single message of a failed run.
pub(crate) fn message(output: &Output, code: i32) -> String {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{}{said}", text(&output.stdout));
    let errors: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("error: ")).collect();
    assert_eq!(errors.len(), 1, "one message: {said}");
    errors[0].to_owned()
}

pub(crate) fn json(folder: &Path, args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&run(folder, args)).unwrap()
}

/// Returns the names of all entries in a folder, including hidden ones, in order.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns the commands that a help text lists, except `help`.
pub(crate) fn commands_of(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(String::from).collect()
}
