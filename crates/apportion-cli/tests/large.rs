//! Files that do not fit into the memory that is allowed, rows that are left out, and units inside units.
#![allow(clippy::unwrap_used)] // in helpers, too

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{json, misused, refused, run};
use tempfile::TempDir;

/// Labels of all rows, with options; what was said on standard error is checked to be as it must be.
fn labels(folder: &Path, input: &str, options: &str) -> String {
    let options = options.split_whitespace();
    let args: Vec<&str> =
        ["label", input, "-o", "out.csv", "--force", "--only-label", "--id", "id"].into_iter().chain(options).collect();
    run(folder, &args);
    fs::read_to_string(folder.join("out.csv")).unwrap()
}

/// So many rows that they are read in several stretches.
#[test]
fn labels_do_not_depend_on_memory_batches_or_threads() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for (file, rows, more) in [("single.parquet", "70000", &[][..]), ("double.csv", "7000", &["--double"])] {
        run(folder, &[&["simulate", "voters", "--rows", rows, "--seed", "4", "-q", "-o", file], more].concat());
        for rule in ["--rule match", "--rule match --by county", "--rule balance --gamma 0.95", "--rule threshold"] {
            let expected = labels(folder, file, &format!("{rule} --memory 4G"));
            for room in ["--memory 0", "--memory 300K --batch-rows 999 --threads 1"] {
                assert!(labels(folder, file, &format!("{rule} {room}")) == expected, "{file}, {rule}, {room}");
            }
        }
    }
    let said = common::apportion(folder, &["audit", "single.parquet", "--label", "race", "--memory", "1M"]);
    assert!(common::text(&said.stderr).contains("temporary file"), "{}", common::text(&said.stderr));
    assert_eq!(common::names_in(folder), ["double.csv", "out.csv", "single.parquet"]);
}

#[test]
fn all_commands_work_from_a_temporary_file() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    run(folder, &["simulate", "voters", "--rows", "3000", "-o", "voters.parquet", "-q"]);
    for command in
        ["compare voters.parquet --truth race --by county --json -q", "frontier voters.parquet --points 9 -q"]
    {
        let words: Vec<&str> = command.split(' ').collect();
        let expected = run(folder, &words);
        assert_eq!(run(folder, &[&words[..], &["--memory", "1K"]].concat()), expected, "{command}");
    }
    run(folder, &["fit", "voters.parquet", "-o", "a.json", "-q", "--by", "county"]);
    run(folder, &["fit", "voters.parquet", "-o", "b.json", "-q", "--by", "county", "--memory", "1K"]);
    assert_eq!(fs::read(folder.join("a.json")).unwrap(), fs::read(folder.join("b.json")).unwrap());
    assert!(misused(folder, &["label", "voters.parquet", "-o", "x.csv", "--memory", "much"]).contains("--memory"));
}

#[test]
fn rows_without_scores_can_be_left_out() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let people = "id,p_a,p_b\n1,0.6,0.4\n2,,NA\n3,0.7,0.3\n4,NaN,\n5,0.9,0.1\n";
    fs::write(folder.join("people.csv"), people).unwrap();
    let message = refused(folder, &["label", "people.csv", "-o", "out.csv"]);
    assert!(message.starts_with("people.csv: row 2, column \"p_a\": there is no number"), "{message}");
    let found = json(folder, &["label", "people.csv", "-o", "out.csv", "--skip-missing", "--json"]);
    assert_eq!((&found["rows"], &found["counts"]), (&3.into(), &serde_json::json!([2, 1])));
    let out = fs::read_to_string(folder.join("out.csv")).unwrap();
    assert_eq!(
        out,
        "id,p_a,p_b,label,label_score\n1,0.6,0.4,b,0.4\n2,,NA,,\n3,0.7,0.3,a,0.7\n4,NaN,,,\n5,0.9,0.1,a,0.9\n"
    );

    // A score that is half missing is a fault, and its row is named by its place in the file.
    fs::write(folder.join("half.csv"), people.replace("5,0.9,0.1", "5,0.9,")).unwrap();
    let message = refused(folder, &["label", "half.csv", "-o", "x.csv", "--skip-missing"]);
    assert!(message.starts_with("half.csv: row 5, column \"p_b\": there is no number"), "{message}");
    fs::write(folder.join("word.csv"), people.replace("5,0.9,0.1", "5,0.9,x")).unwrap();
    let message = refused(folder, &["label", "word.csv", "-o", "x.csv", "--skip-missing"]);
    assert!(message.starts_with("word.csv: row 5, column \"p_b\": \"x\" is no number"), "{message}");
    fs::write(folder.join("none.csv"), "p_a,p_b\n,\n,\n").unwrap();
    let message = refused(folder, &["label", "none.csv", "-o", "x.csv", "--skip-missing"]);
    assert!(message.contains("all rows are left out"), "{message}");
}

#[test]
fn rows_without_truth_can_be_left_out() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let people = "race,p_a,p_b\na,0.6,0.4\n,0.1,0.9\nb,0.7,0.3\nU,0.2,0.8\na,0.9,0.1\n";
    fs::write(folder.join("people.csv"), people).unwrap();
    let truth = ["--truth", "race", "--truth-exclude", "U"];
    let all = json(folder, &[&["label", "people.csv", "-o", "all.csv", "--json"], &truth[..]].concat());
    assert_eq!(all["rows"], 5);
    let known = ["label", "people.csv", "-o", "known.csv", "--json", "--only-with-truth"];
    let known = json(folder, &[&known[..], &truth].concat());
    assert_eq!((&known["rows"], &known["counts"]), (&3.into(), &serde_json::json!([2, 1])));
    let out = fs::read_to_string(folder.join("known.csv")).unwrap();
    assert_eq!(out.lines().nth(2), Some(",0.1,0.9,,"));
    misused(folder, &["label", "people.csv", "-o", "x.csv", "--only-with-truth"]);
}

/// Counties' counts are near their own, and those of each state and of all are right.
#[test]
fn units_inside_units_add_up() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut people = String::from("state,county,p_a,p_b,p_c\n");
    let mut scores: BTreeMap<String, [f64; 3]> = BTreeMap::new();
    for row in 0..600u32 {
        let (state, county) = (row % 3, row * 7919 % 23);
        let (a, b) = (f64::from(row * 37 % 50) / 100.0, f64::from(row * 91 % 49) / 100.0);
        let row = [a, b, 1.0 - a - b];
        people += &format!("S{state},C{county},{},{},{}\n", row[0], row[1], row[2]);
        let sums = scores.entry(format!("S{state}")).or_default();
        sums.iter_mut().zip(row).for_each(|(sum, score)| *sum += score);
    }
    fs::write(folder.join("people.csv"), &people).unwrap();
    run(folder, &["label", "people.csv", "-o", "out.csv", "--nested", "state,county", "-q"]);
    let mut counts: BTreeMap<String, [f64; 3]> = BTreeMap::new();
    for line in fs::read_to_string(folder.join("out.csv")).unwrap().lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        counts.entry(cells[0].into()).or_default()[["a", "b", "c"].iter().position(|c| *c == cells[5]).unwrap()] += 1.0;
    }
    for (state, sums) in &scores {
        for (sum, count) in sums.iter().zip(counts[state]) {
            assert!((sum - count).abs() < 1.0, "{state}: {sum} and {count}");
        }
    }
    // One kind of unit is inside the whole, whose counts are those of a match of all rows.
    let whole = json(folder, &["label", "people.csv", "-o", "whole.csv", "--json", "-q"]);
    let nested = json(folder, &["label", "people.csv", "-o", "nested.csv", "--nested", "county", "--json", "-q"]);
    let apart = json(folder, &["label", "people.csv", "-o", "apart.csv", "--by", "county", "--json", "-q"]);
    assert_eq!(nested["counts"], whole["counts"]);
    assert_ne!(apart["counts"], whole["counts"]);
    let both = ["label", "people.csv", "-o", "x.csv", "--nested", "state,county", "--by", "state"];
    assert!(misused(folder, &both).contains("cannot be used with"));
}
