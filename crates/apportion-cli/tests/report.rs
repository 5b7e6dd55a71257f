//! Reports from the command line: what is written, what is refused, and that the numbers are those of --json.
#![allow(clippy::unwrap_used)] // in helpers, too

mod common;

use std::fs;
use std::path::Path;

use common::{apportion, run, text};
use serde_json::Value;
use tempfile::TempDir;

fn voters() -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["simulate", "voters", "--rows", "3000", "--seed", "5", "-o", "voters.csv", "-q"]);
    folder
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// A chart's numbers: the cell of a column, in the row that begins with some values.
fn figure(folder: &Path, name: &str, row: &[&str], column: &str) -> String {
    let mut reader = csv::Reader::from_path(folder.join("figures").join(name)).unwrap();
    let place = reader.headers().unwrap().iter().position(|own| own == column).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let own = rows.iter().find(|own| row.iter().enumerate().all(|(place, value)| &own[place] == *value)).unwrap();
    own[place].to_owned()
}

/// Whether a number in CSV is one in JSON, but for the last digit of its text.
fn same(own: &str, json: &Value) -> bool {
    match (own.parse::<f64>().ok(), json.as_f64()) {
        (Some(own), Some(json)) => (own - json).abs() <= 1e-12 * json.abs(),
        (own, json) => own == json,
    }
}

#[test]
fn every_command_writes_a_report() {
    let folder = voters();
    let path = folder.path();
    run(path, &["compare", "voters.csv", "--truth", "race", "--by", "county", "-q", "--report", "compare.html"]);
    run(path, &["label", "voters.csv", "-o", "labelled.csv", "-q", "--report", "label.html"]);
    run(path, &["audit", "labelled.csv", "--label", "label", "-q", "--report", "audit.md", "--figures", "figures"]);
    run(path, &["demo", "--rows", "500", "--folder", "demo", "--report", "demo.md"]);
    let page = read(path, "compare.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Plotly.react") && !page.contains("MathJax-script"));
    assert!(page.contains("apportion compare voters.csv --truth race --by county -q --report compare.html"));
    assert!(page.contains("Below the frontier to the posterior") && page.contains("learned, at each γ"));
    assert!(read(path, "label.html").contains("Match undercounts no class by a person or more; argmax would count"));
    assert!(read(path, "audit.md").contains("No truth was given: --truth COL"));
    assert!(path.join("figures/trade.json").exists() && path.join("figures/frontier.csv").exists());
    let demo = read(path, "demo.md");
    assert!(demo.contains("## Map\n\nArgmax takes most") && demo.contains("--geometry demo/counties.topojson"));
}

#[test]
fn what_cannot_be_written_or_drawn_is_refused_first() {
    let folder = voters();
    let path = folder.path();
    fs::write(path.join("there.html"), "mine").unwrap();
    fs::write(path.join("map.json"), "{}").unwrap();
    fs::create_dir(path.join("full")).unwrap();
    fs::write(path.join("full/file"), "mine").unwrap();
    for (line, code, said) in [
        ("--report there.html", 1, "it exists already"),
        ("--report nowhere/report.html", 1, "there is no such folder"),
        ("--report report.pdf", 2, ".html for a page, .md for Markdown"),
        ("--figures full", 1, "it has files already"),
        ("--figures there.html", 1, "it is no folder"),
        ("--figures . --force", 1, "voters.csv: it is an input in the folder for the figures"),
        ("--focus white", 2, "--focus: it is for --report"),
        ("--geometry map.json", 2, "name one with --report"),
        ("--report r.html --geometry map.json", 2, "name their column with --by"),
        ("--report r.html --by county --geometry map.json", 1, "neither GeoJSON"),
        ("--report r.html --by county --geometry none.json", 1, "--geometry none.json: No such file"),
        ("--report r.html --geometry-key name", 2, "--geometry"),
        ("--report r.html --simplex white", 2, "two classes"),
        ("--report r.html --simplex white,white", 2, "two different classes"),
        ("--report r.html --simplex white,blak", 1, "did you mean \"black\""),
        ("--report r.html --focus whit", 1, "--focus"),
        ("--simplex white,black", 2, "--report FILE.html"),
    ] {
        let words: Vec<&str> = ["compare", "voters.csv", "-q"].into_iter().chain(line.split(' ')).collect();
        let output = apportion(path, &words);
        assert_eq!(output.status.code(), Some(code), "{line}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(said), "{line}: {}", text(&output.stderr));
        assert!(!path.join("r.html").exists(), "{line}");
    }
    assert_eq!(read(path, "there.html"), "mine");
    run(path, &["compare", "voters.csv", "-q", "--report", "there.html", "--figures", "full", "--force"]);
    assert!(read(path, "there.html").len() > 1_000_000 && path.join("full/trade.csv").exists());
}

#[test]
fn an_audit_and_its_report_have_the_same_numbers() {
    let folder = voters();
    let path = folder.path();
    run(path, &["label", "voters.csv", "-o", "labelled.csv", "--rule", "threshold", "-q"]);
    for policy in ["keep", "argmax", "drop"] {
        let uncoded = format!("Uncoded={policy}");
        let words =
            ["audit", "labelled.csv", "--label", "label", "--truth", "race", "--by", "county", "--uncoded", &uncoded];
        let more = ["-q", "--json", "--figures", "figures", "--force"];
        let json: Value = serde_json::from_str(&run(path, &[&words[..], &more].concat())).unwrap();
        for (class, name) in json["classes"].as_array().unwrap().iter().enumerate() {
            let name = name.as_str().unwrap();
            let number = |column: &str| figure(path, "counts-percent.csv", &["your labels", name], column);
            assert_eq!(number("labels"), json["counts"][class].to_string(), "{policy} {name}");
            assert!(same(&number("difference"), &json["bias"]["truth"][class]), "{policy} {name}");
            let parts = &json["split"][class];
            assert!(same(&number("discretization_percent"), &parts["discretization"]), "{policy} {name}");
        }
        let number = |column: &str| figure(path, "trade.csv", &["your labels", "truth"], column);
        assert!(same(&number("fidelity"), &json["fidelity"]["truth"]), "{policy}");
        assert!(same(&number("expected_accuracy"), &json["expected_accuracy"]), "{policy}");
        assert!(same(&number("accuracy"), &json["accuracy"]), "{policy}");
        let white = json["classes"].as_array().unwrap().iter().position(|name| name == "white").unwrap();
        for group in json["groups"].as_array().unwrap().iter().take(20) {
            let own = figure(path, "groups.csv", &["your labels", group["group"].as_str().unwrap()], "difference");
            let bias = group["bias"]["posterior"][white].as_f64();
            match (own.parse::<f64>().ok(), bias) {
                (Some(others), Some(white)) => assert!((others + white).abs() < 1e-6, "{policy}: {others} {white}"),
                // What is said of very few is said of each of them.
                (None, Some(_)) => {
                    let people = &group[if policy == "drop" { "labelled" } else { "rows" }];
                    assert!(people.as_u64().is_some_and(|people| people < 5), "{policy}: {group}");
                }
                (own, bias) => assert_eq!(own, bias),
            }
        }
    }
}

#[test]
fn rows_that_stand_for_many_people_have_a_report() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("cells.csv"), "p_a,p_b,p_c,n,place\n0.6,0.3,0.1,50,x\n0.4,0.35,0.25,70,y\n0.9,0.05,0.05,0,y\n")
        .unwrap();
    let words =
        ["compare", "cells.csv", "--count", "n", "--by", "place", "-q", "--figures", "figures", "--report", "r.md"];
    run(path, &words);
    assert!(read(path, "r.md").contains("120 people, 3 classes"));
    let lines = read(path, "figures/simplex.csv").lines().count();
    assert_eq!(lines, 1 + 2, "a row of nobody is not drawn");
}

#[test]
fn names_stay_text() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let hostile = "<script>alert(1)</script>";
    fs::write(path.join("s.csv"), format!("p_a,p_b,p_c,place\n0.6,0.3,0.1,{hostile}\n0.4,0.35,0.25,</script>|x\n"))
        .unwrap();
    let classes = format!("{hostile},b,c");
    run(path, &["compare", "s.csv", "--classes", &classes, "--by", "place", "-q", "--report", "r.html"]);
    run(path, &["compare", "s.csv", "--classes", &classes, "--by", "place", "-q", "--report", "r.md"]);
    assert!(!read(path, "r.html").contains("<script>alert"));
    let markdown = read(path, "r.md");
    let before_the_command = markdown.split("```sh").next().unwrap();
    assert!(!before_the_command.contains("<script>") && before_the_command.contains("&lt;/script&gt;\\|x"));
}

#[test]
fn a_sample_depends_on_the_seed_and_the_keys_alone() {
    let folder = voters();
    let path = folder.path();
    let table = read(path, "voters.csv");
    let mut lines: Vec<&str> = table.lines().collect();
    lines[1..].reverse();
    fs::write(path.join("reversed.csv"), lines.join("\n")).unwrap();
    let sample = |file: &str, seed: &str| {
        let words = ["label", file, "--rule", "argmax", "-o", "out.csv", "--id", "id", "--seed", seed, "-q"];
        run(path, &[&words[..], &["--figures", "figures", "--force"]].concat());
        read(path, "figures/simplex.csv")
    };
    assert_eq!(sample("voters.csv", "1"), sample("reversed.csv", "1"));
    assert_ne!(sample("voters.csv", "1"), sample("voters.csv", "2"));
}

#[test]
fn a_report_says_which_rule_and_reference_were_used() {
    let folder = voters();
    let path = folder.path();
    let label = |line: &str, report: &str| {
        let mut words = vec!["label", "voters.csv", "-o", "labelled.csv", "--force", "-q", "--report", report];
        words.extend(line.split_whitespace());
        run(path, &words);
        read(path, report)
    };
    let uniform = label("--reference uniform", "uniform.md");
    assert!(uniform.contains("all classes alike") && uniform.contains("match, as asked"), "{uniform}");
    let balance = label("--rule balance", "balance.md");
    assert!(balance.contains("balance, γ 0.9, distance l1"), "{balance}");
    let by_county = label("--by county", "by.md");
    assert!(by_county.contains("| match by group |") && by_county.contains("| match |"), "{by_county}");
}

#[test]
fn a_demonstration_replaces_no_report_unasked() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("mine.md"), "mine").unwrap();
    let line = ["demo", "--rows", "300", "--folder", "demo", "--report", "mine.md"];
    let output = apportion(folder.path(), &line);
    assert!(!output.status.success() && text(&output.stderr).contains("it exists already"));
    assert_eq!(read(folder.path(), "mine.md"), "mine");
}
