//! `audit`, `compare`, `disparity` and `frontier` write their results to files, as a table or as JSON.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{json, misused, refused, run};
use serde_json::Value;
use tempfile::TempDir;

const COMMANDS: [&str; 4] = [
    "audit labeled.csv --label label --truth race --by county",
    "compare labeled.csv --truth race --by county",
    "disparity labeled.csv --outcome race --outcome-value black --truth race",
    "frontier labeled.csv --points 9",
];

fn labeled() -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["simulate", "voters", "--rows", "400", "--seed", "5", "-o", "voters.csv", "-q"]);
    run(folder.path(), &["label", "voters.csv", "-o", "labeled.csv", "-q"]);
    folder
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

type Row = BTreeMap<String, String>;

fn rows(path: &Path) -> Vec<Row> {
    csv::Reader::from_path(path).unwrap().deserialize().map(|row| row.unwrap()).collect()
}

fn is_near(cell: &str, number: &Value) -> bool {
    match number.as_f64() {
        Some(number) => cell.parse::<f64>().is_ok_and(|cell| (cell - number).abs() < 1e-12),
        None => cell.is_empty(),
    }
}

#[test]
fn the_json_file_is_that_of_standard_output() {
    let folder = labeled();
    let folder = folder.path();
    // The running times of rules are not in the JSON.
    for line in COMMANDS {
        let printed = run(folder, &words(&format!("{line} -q --json -o out.json --force")));
        assert_eq!(fs::read_to_string(folder.join("out.json")).unwrap(), printed, "{line}");
    }
}

#[test]
fn the_table_has_the_figures_of_the_json() {
    let folder = labeled();
    let folder = folder.path();
    let both = |line: &str| {
        let found = json(folder, &words(&format!("{line} -q --json -o out.csv --force")));
        (found, rows(&folder.join("out.csv")))
    };
    let (audit, table) = both(COMMANDS[0]);
    let groups = audit["groups"].as_array().unwrap();
    assert_eq!(table.len(), 6 * (1 + groups.len()));
    let sections: Vec<(&str, &Value)> =
        std::iter::once(("", &audit)).chain(groups.iter().map(|own| (own["group"].as_str().unwrap(), own))).collect();
    for ((group, section), rows) in sections.iter().zip(table.chunks(6)) {
        for (class, row) in rows.iter().enumerate() {
            assert_eq!(
                (row["group"].as_str(), &audit["classes"][class]),
                (*group, &Value::from(row["class"].as_str()))
            );
            assert_eq!(row["level"], if group.is_empty() { "all" } else { "group" });
            assert!(is_near(&row["labels"], &section["counts"][class]), "{row:?}");
            assert!(is_near(&row["bias"], &section["bias"]["posterior"][class]), "{row:?}");
            assert!(is_near(&row["expected_precision"], &section["expected_precision"][class]), "{row:?}");
            assert!(is_near(&row["truth"], &section["truth_counts"][class]), "{row:?}");
            assert!(is_near(&row["error_vs_truth"], &section["bias_people"]["truth"][class]), "{row:?}");
            assert!(is_near(&row["error_vs_truth_percent"], &section["bias_percent"]["truth"][class]), "{row:?}");
            assert!(is_near(&row["bias_to_truth"], &section["bias"]["truth"][class]), "{row:?}");
            let split = &section["split"][class];
            assert!(is_near(&row["miscalibration_percent"], &split["miscalibration"]), "{row:?}");
            assert!(is_near(&row["discretization_percent"], &split["discretization"]), "{row:?}");
            assert!(is_near(&row["kuiper"], &section["kuiper"][class]), "{row:?}");
            assert!(is_near(&row["correlation"], &section["correlation"][class]), "{row:?}");
        }
    }
    let (compare, table) = both(COMMANDS[1]);
    assert_eq!(compare.as_array().unwrap().len(), table.len());
    for (rule, row) in compare.as_array().unwrap().iter().zip(&table) {
        assert_eq!(rule["rule"], row["rule"].as_str());
        assert!(
            is_near(&row["expected_accuracy"], &rule["expected_accuracy"])
                && is_near(&row["n_black"], &rule["counts"][1])
        );
        assert!(is_near(&row["fidelity_in_groups"], &rule["fidelity"]["posterior_in_groups"]), "{row:?}");
    }
    let (disparity, table) = both(COMMANDS[2]);
    let estimators = disparity["estimators"].as_array().unwrap();
    assert_eq!(table.len(), 6 * estimators.len());
    for (estimator, rows) in estimators.iter().zip(table.chunks(6)) {
        for (class, row) in estimator["values"][0]["classes"].as_array().unwrap().iter().zip(rows) {
            assert_eq!(
                (&estimator["name"], &class["class"]),
                (&row["estimator"].as_str().into(), &row["class"].as_str().into())
            );
            assert!(is_near(&row["estimate"], &class["estimate"]) && is_near(&row["low"], &class["interval"]["low"]));
            assert!(is_near(&row["gap"], &class["gap"]["difference"]), "{row:?}");
        }
    }
    let printed = run(folder, &words("frontier labeled.csv --points 9 -q"));
    assert_eq!(run(folder, &words("frontier labeled.csv --points 9 -q -o out.csv --force")), "");
    assert_eq!(fs::read_to_string(folder.join("out.csv")).unwrap(), printed);
}

/// A spreadsheet must not run the names of groups and classes, and the same results are written again.
#[test]
fn tables_have_no_formulas_and_no_running_times() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let scores = "county,label,voted,p_=1+1,p_b\n@sum,=1+1,1,0.9,0.1\n-5,b,0,0.2,0.8\n@sum,b,1,0.3,0.7\n";
    fs::write(folder.join("scores.csv"), scores).unwrap();
    for line in [
        "audit scores.csv --by county",
        "compare scores.csv --by county",
        "disparity scores.csv --outcome voted",
        "frontier scores.csv",
    ] {
        run(folder, &words(&format!("{line} -q -o out.csv --force")));
        let table = fs::read_to_string(folder.join("out.csv")).unwrap();
        let cells = table.lines().flat_map(|line| line.split(','));
        let formulas: Vec<&str> = cells.filter(|cell| cell.starts_with(['=', '@'])).collect();
        assert!(formulas.is_empty() && table.contains("=1+1"), "{line}: {table}");
        assert!(!line.starts_with("audit") || table.contains("'@sum") && table.contains(",-5,"), "{table}");
        run(folder, &words(&format!("{line} -q -o again.csv --force")));
        assert_eq!(fs::read_to_string(folder.join("again.csv")).unwrap(), table, "{line}");
    }
}

#[test]
fn files_are_protected() {
    let folder = labeled();
    let folder = folder.path();
    fs::write(folder.join("old.csv"), "old").unwrap();
    for line in COMMANDS {
        assert!(refused(folder, &words(&format!("{line} -q -o old.csv"))).contains("already exists"), "{line}");
        let message = refused(folder, &words(&format!("{line} -q -o labeled.csv --force")));
        assert!(message.contains("inputs"), "{message}");
        let message = misused(folder, &words(&format!("{line} -q -o out.txt")));
        assert_eq!(message, "-o out.txt: unknown format of results; use .csv or .json");
        refused(folder, &words(&format!("{line} -q -o nowhere/out.csv")));
    }
    assert_eq!(fs::read_to_string(folder.join("old.csv")).unwrap(), "old");
}

#[test]
fn files_of_the_report_and_the_options_and_input_folders_are_protected() {
    let folder = labeled();
    let folder = folder.path();
    fs::write(folder.join("outlines.json"), "{}").unwrap();
    fs::write(folder.join("options.json"), "[audit]\nseed = 3\n").unwrap();
    fs::create_dir(folder.join("parts")).unwrap();
    fs::copy(folder.join("labeled.csv"), folder.join("parts/a.csv")).unwrap();
    let report = "--by county --report page.html --geometry outlines.json";
    for line in ["audit labeled.csv --label label", "compare labeled.csv"] {
        let message = refused(folder, &words(&format!("{line} -q {report} -o outlines.json --force")));
        assert!(message.contains("this is the file of --geometry"), "{message}");
    }
    let line = "audit labeled.csv --label label -q --config options.json -o options.json --force";
    assert!(refused(folder, &words(line)).contains("inputs are never overwritten"));
    let line = "fit labeled.csv -q --config options.json -o options.json --force";
    assert!(refused(folder, &words(line)).contains("inputs are never overwritten"));
    let message = refused(folder, &words("audit parts --label label -q -o parts/results.csv"));
    assert!(message.contains("it is inside the input folder"), "{message}");
    assert_eq!(fs::read_to_string(folder.join("outlines.json")).unwrap(), "{}");
    assert_eq!(fs::read_to_string(folder.join("options.json")).unwrap(), "[audit]\nseed = 3\n");
}

#[test]
fn compare_says_that_the_learned_rule_is_left_out() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("cells.csv"), "p_a,p_b,people\n0.6,0.4,3\n0.2,0.8,5\n").unwrap();
    let compare = |options: &[&str]| common::apportion(folder, &[&["compare", "cells.csv"], options].concat());
    let output = compare(&["--count", "people"]);
    assert!(output.status.success() && !common::text(&output.stdout).contains("learned"));
    let said = common::text(&output.stderr);
    assert!(
        said.contains("the learned rule is left out: it labels rows, and with --count a row can have several"),
        "{said}"
    );
    let output = compare(&[]);
    assert!(common::text(&output.stdout).contains("learned") && !common::text(&output.stderr).contains("left out"));
}

#[test]
fn known_shares_are_compared_with_the_labels() {
    let folder = labeled();
    let folder = folder.path();
    fs::write(
        folder.join("known.csv"),
        "class,share\nwhite,0.6\nblack,0.3\nhispanic,0.04\nasian,0.03\naian,0.02\nother,0.01\n",
    )
    .unwrap();
    let line = "audit labeled.csv --reference known.csv -q --json -o out.csv --force";
    let (audit, table) = (json(folder, &words(line)), rows(&folder.join("out.csv")));
    let known = [0.6, 0.3, 0.04, 0.03, 0.02, 0.01];
    for (class, (share, row)) in known.into_iter().zip(&table).enumerate() {
        let labels = audit["counts"][class].as_f64().unwrap();
        let (error, percent) = (labels - 400.0 * share, 100.0 * (labels / 400.0 / share - 1.0));
        let found = &audit["reference"];
        assert!((found["shares"][class].as_f64().unwrap() - share).abs() < 1e-12, "{found}");
        assert!((found["bias_people"][class].as_f64().unwrap() - error).abs() < 1e-9, "{found}");
        assert!((found["bias_percent"][class].as_f64().unwrap() - percent).abs() < 1e-9, "{found}");
        assert!(is_near(&row["reference_share"], &found["shares"][class]), "{row:?}");
        assert!(is_near(&row["error_vs_reference"], &found["bias_people"][class]), "{row:?}");
        assert!(is_near(&row["error_vs_reference_percent"], &found["bias_percent"][class]), "{row:?}");
    }
    let text = run(folder, &words("audit labeled.csv --reference known.csv"));
    assert!(text.contains("compared with the known shares:\nclass") && text.contains("60.00%"), "{text}");
    assert!(json(folder, &words("audit labeled.csv -q --json")).get("reference").is_none());
    // The scores and the truth are always compared.
    let told = misused(folder, &words("audit labeled.csv --reference posterior"));
    assert!(told.contains("an audit always compares the labels with the scores"), "{told}");
    // Shares of groups need the groups, and all of them.
    fs::write(folder.join("known.csv"), "county,white,black,hispanic,asian,aian,other\nWake,1,0,0,0,0,0\n").unwrap();
    let told = refused(folder, &words("audit labeled.csv --reference known.csv"));
    assert!(told.contains("it has shares of groups; name their column with --by"), "{told}");
    let told = refused(folder, &words("audit labeled.csv --by county --reference known.csv"));
    assert!(told.contains("there are no shares for the group"), "{told}");
}
