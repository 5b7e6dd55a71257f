//! The built-in maps of voter files: North Carolina's race and ethnicity codes, L2's and TargetSmart's groups.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{json, misused, run};
use tempfile::TempDir;

/// The race and ethnicity codes of some voters, and their class.
const NORTH_CAROLINA: [(&str, &str, &str); 14] = [
    ("W", "NL", "white"),
    ("W", "UN", "white"),
    ("W", "HL", "hispanic"),
    ("B", "NL", "black"),
    ("B", "HL", "hispanic"),
    ("O", "HL", "hispanic"),
    ("O", "NL", "other"),
    ("M", "UN", "other"),
    ("A", "NL", "asian"),
    ("P", "NL", "asian"),
    ("I", "", "aian"),
    ("U", "HL", "hispanic"),
    ("U", "UN", ""),
    ("", "NL", ""),
];

const SCORES: &str = "p_white,p_black,p_hispanic,p_asian,p_aian,p_other";

/// Returns the scores of a row.
fn scores(row: usize) -> String {
    let mut scores = [0.1; 6];
    scores[row % 6] = 0.5;
    scores.map(|score| score.to_string()).join(",")
}

/// Writes voters with codes and plain classes, each twice.
fn north_carolina(folder: &Path, ethnicity: &str, native: &str) {
    let mut text = format!("race_code,{ethnicity},race,label,{SCORES}\n");
    for (row, (race, ethnic, class)) in NORTH_CAROLINA.iter().chain(&NORTH_CAROLINA).enumerate() {
        let class = if *class == "aian" { native } else { class };
        let label = ["white", "black", "hispanic", "asian", "aian", "other"][row % 6];
        text += &format!("{race},{ethnic},{class},{label},{}\n", scores(row));
    }
    fs::write(folder.join("voters.csv"), text).unwrap();
}

fn audit(folder: &Path, truth: &str) -> serde_json::Value {
    let line = format!("audit voters.csv --label label --json -q {truth}");
    json(folder, &line.split(' ').collect::<Vec<_>>())
}

#[test]
fn the_codes_of_north_carolina_are_known() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    north_carolina(folder, "ethnic_code", "aian");
    let expected = audit(folder, "--truth race");
    assert_eq!(expected["with_truth"], 24);
    assert_eq!(audit(folder, "--truth race_code --truth-map nc"), expected);
    let only = audit(folder, "--truth race_code --truth-map nc --only-with-truth");
    assert_eq!(only, audit(folder, "--truth race --only-with-truth"));
    // Pairs override it.
    north_carolina(folder, "ethnic_code", "other");
    let expected = audit(folder, "--truth race");
    assert_eq!(audit(folder, "--truth race_code --truth-map nc,I=other"), expected);
    // Another name of the ethnicity.
    north_carolina(folder, "Hispanic", "aian");
    let expected = audit(folder, "--truth race");
    assert_eq!(audit(folder, "--truth race_code --truth-map nc --truth-ethnicity hispanic"), expected);
}

#[test]
fn a_missing_ethnicity_is_named() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    north_carolina(folder, "x", "aian");
    let audit = |options: &str| {
        let line = format!("audit voters.csv --label label -q {options}");
        misused_or_refused(folder, &line.split(' ').collect::<Vec<_>>())
    };
    let message = audit("--truth race_code --truth-map nc");
    let expected = "--truth-map nc also needs the column \"ethnic_code\", which does not exist; name it with --truth-ethnicity COL";
    assert!(message.starts_with(expected), "{message}");
    let message = audit("--truth race_code");
    assert!(message.contains("--truth-map nc"), "{message}");
    assert_eq!(audit("--truth race --truth-ethnicity x"), "--truth-ethnicity needs --truth-map nc");
    let message = misused(folder, &["audit", "voters.csv", "--truth", "race", "--truth-map", "nx"]);
    assert!(message.contains("a built-in map (nc, l2, targetsmart)"), "{message}");
}

/// Returns the message of a command that must fail.
fn misused_or_refused(folder: &Path, args: &[&str]) -> String {
    let output = common::apportion(folder, args);
    common::message(&output, output.status.code().filter(|&code| code != 0).unwrap())
}

/// A labeler that writes W for everyone must not get Hispanic labels from the ethnicity, which is part of the truth.
#[test]
fn labels_do_not_use_the_ethnicity() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let rows: String = (0..6).map(|row| format!("W,{},{}\n", if row < 3 { "HL" } else { "NL" }, scores(row))).collect();
    fs::write(folder.join("voters.csv"), format!("code,ethnic_code,{SCORES}\n{rows}")).unwrap();
    let found = json(folder, &["audit", "voters.csv", "--label", "code", "--label-map", "nc", "--json", "-q"]);
    assert_eq!(found["counts"], serde_json::json!([6, 0, 0, 0, 0, 0]));
}

#[test]
fn the_groups_of_vendors_are_known() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let (l2, targetsmart, classes) = (
        ["European", "Likely African-American", "Hispanic and Portuguese", "East and South Asian", "Other", ""],
        ["Caucasian", "African-American", "Hispanic", "Asian", "Other", "Uncoded"],
        ["white", "black", "hispanic", "asian", "other", ""],
    );
    let mut text = format!("l2,targetsmart,class,{SCORES}\n");
    for row in 0..12 {
        let value = row % 6;
        text += &format!("{},{},{},{}\n", l2[value], targetsmart[value], classes[value], scores(row / 2));
    }
    fs::write(folder.join("voters.csv"), text).unwrap();
    let audit = |options: &str| {
        let line = format!("audit voters.csv --json -q {options}");
        json(folder, &line.split(' ').collect::<Vec<_>>())
    };
    let expected = audit("--label class --truth class");
    assert_eq!(expected["labeled"], 10);
    assert_eq!(audit("--label l2 --label-map l2 --truth targetsmart --truth-map targetsmart"), expected);
    assert_eq!(audit("--label targetsmart --label-map targetsmart --truth l2 --truth-map l2"), expected);
}

#[test]
fn the_map_is_recorded_and_verified() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    north_carolina(folder, "ethnic_code", "aian");
    let label =
        "label voters.csv -o out.parquet --as race_label -q --reference truth --truth race_code --truth-map nc,M=aian";
    run(folder, &label.split(' ').collect::<Vec<_>>());
    let provenance = json(folder, &["provenance", "out.parquet", "--json"]);
    assert_eq!(provenance["options"]["truth_map"], serde_json::json!(["nc", "M=aian"]));
    let checks = run(folder, &["verify", "out.parquet", "--against", "voters.csv", "-q"]);
    assert!(checks.contains("the counts meet their targets"), "{checks}");
}
