//! `apportion disparity` with survey weights, and with inference about the file: its numbers, compared with formulas applied
//! to the file's rows; its messages; and its report.
#![allow(clippy::unwrap_used, clippy::needless_range_loop)] // also in helpers; classes are numbers here

mod common;

use std::fs;
use std::path::Path;

use apportion::seed;
use common::{json, misused, refused, run};
use serde_json::Value;
use tempfile::TempDir;

const CLASSES: [&str; 3] = ["white", "black", "other"];

struct Row {
    scores: [f64; 3],
    truth: usize,
    voted: Option<f64>,
    weight: Option<f64>,
}

/// Creates people; every ninth has no outcome, every tenth no weight, and every eleventh the weight 0.
fn people() -> Vec<Row> {
    let row = |row: usize| {
        let chance = |salt: u64| seed::hash(3, row as u64, salt) as f64 / u64::MAX as f64;
        let other = (chance(1) * 30.0).round() / 100.0;
        let black = ((1.0 - other) * chance(2) * 100.0).round() / 100.0;
        let scores = [(100.0 - 100.0 * other - 100.0 * black).round() / 100.0, black, other];
        let drawn = chance(3);
        let truth = if drawn < scores[0] { 0 } else { 1 + usize::from(drawn > 1.0 - other) };
        let voted = f64::from(u8::from(chance(4) < if truth == 0 { 0.7 } else { 0.4 }));
        let weight =
            if row.is_multiple_of(11) { 0.0 } else { (1.0 + 200.0 * chance(5) * (1.0 + voted)).round() / 100.0 };
        Row {
            scores,
            truth,
            voted: Some(voted).filter(|_| !row.is_multiple_of(9)),
            weight: Some(weight).filter(|_| !row.is_multiple_of(10)),
        }
    };
    (0..500).map(row).collect()
}

fn write(folder: &Path, people: &[Row]) {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let line = |row: &Row| {
        let [a, b, c] = row.scores;
        format!("{a},{b},{c},{},{},{}\n", CLASSES[row.truth], number(row.voted), number(row.weight))
    };
    let header = "p_white,p_black,p_other,race,voted,w\n";
    fs::write(folder.join("people.csv"), header.to_owned() + &people.iter().map(line).collect::<String>()).unwrap();
}

const LINE: [&str; 8] = ["disparity", "people.csv", "--outcome", "voted", "--truth", "race", "--no-bootstrap", "-q"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&LINE[..], more].concat()
}

fn of<'a>(result: &'a Value, name: &str) -> &'a Value {
    result["estimators"].as_array().unwrap().iter().find(|own| own["name"] == name).unwrap()
}

fn near(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1e-3), "{found} and not {expected}");
}

/// Returns the weighted mean, and the error that each person's term has with a variance.
fn mean(known: &[(&Row, f64, f64)], of: impl Fn(&Row) -> f64, variance: impl Fn(f64) -> f64) -> (f64, f64) {
    let all: f64 = known.iter().map(|(row, _, weight)| weight * of(row)).sum();
    let mean = known.iter().map(|(row, y, weight)| weight * of(row) * y).sum::<f64>() / all;
    let terms = known.iter().map(|(row, y, weight)| variance(of(row)) * (weight * (y - mean) / all).powi(2));
    (mean, terms.sum::<f64>().sqrt())
}

#[test]
fn weights_are_those_of_the_formulas() {
    let (folder, people) = (TempDir::new().unwrap(), people());
    write(folder.path(), &people);
    let known: Vec<(&Row, f64, f64)> = people.iter().filter_map(|row| Some((row, row.voted?, row.weight?))).collect();
    for file in [false, true] {
        let more: &[&str] = if file { &["--inference", "file"] } else { &[] };
        let result = json(folder.path(), &[&with(&["--weight", "w", "--json"])[..], more].concat());
        for class in 0..3 {
            let variance = |q: f64| if file { q * (1.0 - q) } else { q * q };
            let is_of = |row: &Row| f64::from(u8::from(row.truth == class));
            for (name, (mean, error)) in [
                ("weighted", mean(&known, |row| row.scores[class], variance)),
                ("truth", mean(&known, is_of, |own| own)),
            ] {
                let own = &of(&result, name)["values"][0]["classes"][class];
                near(&own["estimate"], mean);
                near(&own["error"], error);
            }
        }
        assert_eq!(result["rows"], known.len());
        assert_eq!(result["without_outcome"]["rows"], 500 - known.len());
        near(&result["weight"]["sum"], known.iter().map(|(.., weight)| weight).sum());
        assert_eq!((&result["weight"]["column"], &result["weight"]["rows_without"]), (&"w".into(), &50.into()));
        for own in result["estimators"].as_array().unwrap() {
            let expected = if file && own["name"] == "weighted" { "file" } else { "population" };
            assert_eq!(own["inference"], expected, "{}", own["name"]);
        }
        let text = run(folder.path(), &[&with(&["--weight", "w"])[..], more].concat());
        let about_file = "The intervals of weighted are about the means of this file's own people";
        assert_eq!(text.contains(about_file), file, "{text}");
        for expected in [
            "50 of 500 rows have no weight and are left out of all estimates.",
            "50 of 500 rows have no outcome and are left out of all estimates.",
            "Estimates are weighted by the survey weights in column w. The weights of people with an outcome sum to ",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
    let plain = json(folder.path(), &with(&["--json"]));
    assert_eq!(plain["weight"], Value::Null);
    assert!(!run(folder.path(), &with(&[])).contains("weights"));
    // A multiple of all weights gives the same estimates.
    let doubled = people.iter().map(|row| Row { weight: row.weight.map(|weight| 2.0 * weight), ..*row });
    let result = json(folder.path(), &with(&["--weight", "w", "--json"]));
    write(folder.path(), &doubled.collect::<Vec<_>>());
    let again = json(folder.path(), &with(&["--weight", "w", "--json"]));
    for name in ["truth", "argmax", "match", "weighted", "imputed", "linear"] {
        assert_eq!(of(&result, name), of(&again, name));
    }
}

#[test]
fn weights_are_in_the_report_of_every_command() {
    let (folder, people) = (TempDir::new().unwrap(), people());
    let path = folder.path();
    write(path, &people);
    let outcome = ["--outcome", "voted", "--weight", "w", "--no-bootstrap", "--report"];
    for command in
        [&["disparity", "people.csv"][..], &["compare", "people.csv"], &["audit", "people.csv", "--label", "race"]]
    {
        let name = format!("{}.md", command[0]);
        run(path, &[command, &outcome, &[&name, "-q"]].concat());
        let report = fs::read_to_string(path.join(&name)).unwrap();
        assert!(report.contains("Estimates are weighted by the survey weights in column w."), "{report}");
        assert!(report.contains("Survey weights") && report.contains("column w"), "{report}");
    }
}

#[test]
fn invalid_weights_name_the_row() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let write = |weights: [&str; 4]| {
        let line = |(row, weight): (usize, &&str)| format!("0.{},0.{},{},\"{weight}\"\n", 9 - row, 1 + row, row % 2);
        let text = weights.iter().enumerate().map(line).collect::<String>();
        fs::write(path.join("few.csv"), format!("p_a,p_b,y,w\n{text}")).unwrap();
    };
    let line = ["disparity", "few.csv", "--outcome", "y", "--weight", "w", "-q"];
    for (weight, problem) in [
        ("-2", "the weight -2 is negative; use a number from 0 to 1e30, or leave it empty to leave the row out"),
        ("inf", "the weight is infinite; use a number from 0 to 1e30, or leave it empty to leave the row out"),
        ("heavy", "the weight \"heavy\" is not a number; correct it, or leave it empty to leave the row out"),
        ("1,234", "it is ambiguous: 1234 or 1.234; write thousands without commas, and decimals with a point"),
    ] {
        write(["1", "1", weight, "2"]);
        assert_eq!(refused(path, &line), format!("few.csv: row 3, column \"w\": {problem}"));
    }
    write(["0", "", "0", "0.0"]);
    let message = refused(path, &line);
    let expected = "--weight: column \"w\": it is 0 or empty in every row with an outcome; name another column";
    assert_eq!(message, expected);
    write(["1", "2", "NA", "0"]);
    assert!(run(path, &line).contains("1 of 4 rows have no weight"));
    let message = refused(path, &["disparity", "few.csv", "--outcome", "y", "--weight", "wt", "-q"]);
    assert!(message.starts_with("--weight: ") && message.contains("wt"), "{message}");
    for (setting, value) in [("--weight", "w"), ("--inference", "file")] {
        let message = misused(path, &["compare", "few.csv", setting, value]);
        assert_eq!(message, format!("{setting} needs --outcome COL"));
    }
}
