//! Labels that exist: the column called `label` is found by its name, and values that mean unlabeled have one grammar.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{apportion, json, misused, run, text};
use tempfile::TempDir;

fn labeled(rule: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["simulate", "voters", "--rows", "600", "--seed", "5", "-o", "voters.csv", "-q"]);
    run(folder.path(), &["label", "voters.csv", "-o", "labeled.csv", "--rule", rule, "-q"]);
    folder
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn found(folder: &Path, line: &str) -> serde_json::Value {
    json(folder, &words(&format!("{line} --json -q")))
}

#[test]
fn the_column_called_label_is_found() {
    let folder = labeled("argmax");
    let folder = folder.path();
    assert_eq!(found(folder, "audit labeled.csv"), found(folder, "audit labeled.csv --label label"));
    let output = apportion(folder, &["audit", "labeled.csv"]);
    assert!(text(&output.stderr).contains("labels: column \"label\"; name another with --label"));
    let message = misused(folder, &["audit", "voters.csv", "-q"]);
    assert_eq!(message, "no column is called \"label\"; name the column of the labels with --label COL");
    // Rules are compared without labels, unless an option is about labels.
    assert!(!run(folder, &["compare", "labeled.csv", "-q"]).contains("your labels"));
    let compared = run(folder, &["compare", "labeled.csv", "--label-map", "W=white", "-q"]);
    assert!(compared.contains("your labels"), "{compared}");
    let line = "compare voters.csv --label-map W=white -q";
    assert_eq!(misused(folder, &words(line)), "--label-map needs --label COL");
    fs::copy(folder.join("labeled.csv"), folder.join("outcome.csv")).unwrap();
    let disparity = run(folder, &words("disparity outcome.csv --outcome race --outcome-value white --label-map W=white -q"));
    assert!(disparity.contains("your labels"), "{disparity}");
}
