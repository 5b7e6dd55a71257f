//! Shell completions and manual pages.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // also in helpers

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{commands_of, misused, names_in, run};
use tempfile::TempDir;

/// Returns whether a program is installed.
fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: there is no {program}");
    }
    there
}

#[test]
fn completions_are_for_every_shell() {
    let folder = TempDir::new().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(folder.path(), &["completions", shell]);
        for command in commands_of(&run(folder.path(), &["--help"])) {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert!(script.contains("truth-exclude"), "{shell}");
    }
    let found = misused(folder.path(), &["completions", "sch"]);
    assert!(found.starts_with("invalid value 'sch' for '<SHELL>'"), "{found}");
}

#[test]
fn bash_reads_its_completions_and_uses_them() {
    if !has("bash") {
        return;
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("apportion.bash");
    fs::write(&path, run(folder.path(), &["completions", "bash"])).unwrap();
    let bash = |line: &str| {
        let output = Command::new("bash").args(["--norc", "-c", line]).arg(&path).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
        common::text(&output.stdout)
    };
    bash("bash -n \"$0\"");
    let complete = |words: &str, typed: &str| {
        let count = words.split(' ').count();
        bash(&format!(
            "source \"$0\"; COMP_WORDS=({words} {typed}); COMP_CWORD={count}; _apportion apportion {typed} x; \
             echo \"${{COMPREPLY[@]}}\""
        ))
    };
    assert_eq!(complete("apportion", "la").trim(), "label");
    assert_eq!(complete("apportion label", "--truth-ex").trim(), "--truth-exclude");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut names = vec!["apportion".to_owned()];
    names.extend(commands_of(&run(folder, &["--help"])).iter().map(|command| format!("apportion-{command}")));
    for outer in ["simulate", "tables"] {
        let inner = commands_of(&run(folder, &[outer, "--help"]));
        names.extend(inner.iter().map(|inner| format!("apportion-{outer}-{inner}")));
    }
    assert!(names.len() > 10, "{names:?}");
    names.sort();

    run(folder, &["man", "-o", "pages"]);
    let pages = folder.join("pages");
    let files: Vec<String> = names.iter().map(|name| format!("{name}.1")).collect();
    assert_eq!(names_in(&pages).into_iter().collect::<std::collections::BTreeSet<_>>(), files.into_iter().collect());
    let all = run(folder, &["man"]);
    for name in &names {
        assert!(all.contains(&format!(".TH {} 1", name.to_uppercase())), "{name}");
        check_page(&pages.join(format!("{name}.1")), name);
    }
    assert!(all.contains(".SH EXAMPLES"));
}

#[test]
fn the_manual_of_one_command_is_printed() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    run(folder, &["man", "-o", "pages"]);
    for (words, name) in [(&["man", "label"][..], "label"), (&["man", "tables", "export"], "tables-export")] {
        let page = fs::read_to_string(folder.join(format!("pages/apportion-{name}.1"))).unwrap();
        assert_eq!(run(folder, words).trim_end(), page.trim_end());
    }
    let message = misused(folder, &["man", "lable"]);
    assert!(
        message.starts_with("there is no command \"lable\" (did you mean \"label\"?); the commands are "),
        "{message}"
    );
    misused(folder, &["man", "label", "-o", "pages"]);
}

fn check_page(path: &Path, name: &str) {
    let page = fs::read_to_string(path).unwrap();
    assert!(page.contains(&name.replace('-', "\\-")), "{name}");
    assert!(page.contains(".SH OPTIONS") && page.contains(".SH SYNOPSIS"), "{name}");
    if name == "apportion" {
        for command in
            ["label", "audit", "compare", "frontier", "fit", "apply", "simulate", "demo", "completions", "man"]
        {
            assert!(page.contains(&format!("apportion\\-{command}(1)")), "{command}");
        }
    }
}
