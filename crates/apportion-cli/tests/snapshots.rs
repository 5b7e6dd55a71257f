//! Snapshots of the program's output: help texts, summaries, results and errors. Use `cargo insta review` or
//! INSTA_UPDATE=always to accept changes in crates/apportion-cli/tests/snapshots.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::path::Path;

use common::{apportion, commands_of, run, text};
use tempfile::TempDir;

fn voters() -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["simulate", "voters", "--rows", "2000", "--seed", "5", "-o", "voters.csv", "-q"]);
    folder
}

/// Returns a command with its output: standard output, standard error and exit code.
fn said(folder: &Path, line: &str) -> String {
    let output = apportion(folder, &line.split(' ').collect::<Vec<_>>());
    let code = output.status.code().unwrap();
    format!("$ apportion {line}\n{}{}(ends with {code})\n", text(&output.stdout), text(&output.stderr))
}

#[test]
fn help() {
    let folder = TempDir::new().unwrap();
    let all = text(&apportion(folder.path(), &["--help"]).stdout);
    insta::assert_snapshot!("help", all);
    for command in commands_of(&all) {
        let help = text(&apportion(folder.path(), &[&command, "--help"]).stdout);
        insta::assert_snapshot!(format!("help_{command}"), help);
    }
    for outer in ["simulate", "tables"] {
        for inner in commands_of(&text(&apportion(folder.path(), &[outer, "--help"]).stdout)) {
            let help = text(&apportion(folder.path(), &[outer, &inner, "--help"]).stdout);
            insta::assert_snapshot!(format!("help_{outer}_{}", inner.replace('-', "_")), help);
        }
    }
}

#[test]
fn summaries() {
    let folder = voters();
    let lines = [
        "label voters.csv -o match.csv",
        "label voters.csv -o county.csv --by county",
        "label voters.csv -o uniform.csv --reference uniform",
        "label voters.csv -o threshold.csv --rule threshold --at 0.8",
        "label voters.csv -o coverage.csv --coverage 0.7",
        "label voters.csv -o match.parquet --json -q",
        "fit voters.csv -o decision.json",
        "apply voters.csv --decision decision.json -o applied.csv",
        "label voters.csv -o sampled.csv --from-sample 500",
        "label voters.csv -o learned.csv --rule learned --train-rows 500",
        "label voters.csv -o balanced.csv --rule learned --gamma 0.95",
        "audit match.csv --label label --truth race --by county",
        "audit match.csv --label label",
        "frontier voters.csv --points 5",
    ];
    insta::assert_snapshot!(lines.map(|line| said(folder.path(), line)).join("\n"));
}

#[test]
fn comparisons() {
    let folder = voters();
    let compared = said(folder.path(), "compare voters.csv --truth race --by county --batch 500");
    // Running times differ between runs.
    let table = compared.lines().map(|line| match line.rsplit_once("  ") {
        Some((rest, seconds)) if seconds.parse::<f64>().is_ok() => format!("{rest}  (seconds)"),
        _ => line.to_owned(),
    });
    insta::assert_snapshot!(table.collect::<Vec<_>>().join("\n"));
}

#[test]
fn errors() {
    let folder = voters();
    std::fs::write(folder.path().join("there.csv"), "").unwrap();
    std::fs::write(folder.path().join("two.csv"), "p_a,p_b\n0.5,0.5\n0.9,0.9\n").unwrap();
    let lines = [
        "label voters.csv",
        "label nowhere.csv -o out.csv",
        "label there.csv -o out.csv",
        "label voters.csv -o there.csv",
        "label voters.csv -o voters.csv --force",
        "label voters.csv -o out.xlsx",
        "label voters.csv -o out.csv --rule mach",
        "label voters.csv -o out.csv --by countty",
        "label voters.csv -o out.csv --rule match --gamma 0.9",
        "label voters.csv -o out.csv --rule balance --gamma 2",
        "label two.csv -o out.csv",
        "audit voters.csv --label county",
        "compare voters.csv --truth surname_",
        "apply voters.csv --decision nowhere.json -o out.csv",
    ];
    insta::assert_snapshot!(lines.map(|line| said(folder.path(), line)).join("\n"));
}
