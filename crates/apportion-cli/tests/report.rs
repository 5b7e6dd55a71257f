//! Reports from the command line: their files, their errors, and that their numbers equal those of --json.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{apportion, refused, run, text};
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

/// Returns a number of a chart: the value of a column in the row that starts with some values.
fn figure(folder: &Path, name: &str, row: &[&str], column: &str) -> String {
    find_figure(folder, name, row, column).unwrap()
}

fn find_figure(folder: &Path, name: &str, row: &[&str], column: &str) -> Option<String> {
    let mut reader = csv::Reader::from_path(folder.join("figures").join(name)).unwrap();
    let place = reader.headers().unwrap().iter().position(|own| own == column).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let own = rows.iter().find(|own| row.iter().enumerate().all(|(place, value)| &own[place] == *value))?;
    Some(own[place].to_owned())
}

/// Returns whether a number in CSV equals one in JSON, within rounding.
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
    run(path, &["label", "voters.csv", "-o", "labeled.csv", "-q", "--report", "label.html"]);
    run(path, &["audit", "labeled.csv", "--label", "label", "-q", "--report", "audit.md", "--figures", "figures"]);
    run(path, &["demo", "--rows", "3000", "--folder", "demo", "--report", "demo.md"]);
    let page = read(path, "compare.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Plotly.react") && !page.contains("MathJax-script"));
    assert!(page.contains("apportion compare voters.csv --truth race --by county -q --report compare.html"));
    assert!(page.contains("Below the frontier to the posterior") && page.contains("learned, at each γ"));
    assert!(read(path, "label.html").contains("Match undercounts no class by a person or more; argmax would count"));
    assert!(read(path, "audit.md").contains("No truth was given: --truth COL"));
    assert!(path.join("figures/trade.json").exists() && path.join("figures/frontier.csv").exists());
    let demo = read(path, "demo.md");
    assert!(demo.contains("## Map\n\nArgmax takes most") && demo.contains("--geometry demo/counties.topojson"));
    assert!(demo.contains("This page was made from 2 files"));
    let hash = sha256(&path.join("demo/counties.topojson"));
    assert!(demo.contains(&format!("| demo/counties.topojson (outlines) | 100 | {hash} |")));
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
        ("--report there.html", 1, "already exists"),
        ("--report nowhere/report.html", 1, "the folder does not exist"),
        ("--report report.pdf", 2, "it must be a file that ends in .html (a page) or .md (Markdown)"),
        ("--figures full", 1, "the folder is not empty"),
        ("--figures there.html", 1, "it is not a folder"),
        ("--figures nowhere/figures", 1, "nowhere: the folder does not exist; create it first"),
        ("--figures full --force", 1, "full/file: it is no figure of ours"),
        ("--figures . --force", 1, "voters.csv: it is an input in the folder for the figures"),
        ("--focus white", 2, "--focus: it is for --report"),
        ("--geometry map.json", 2, "name one with --report"),
        ("--report r.html --geometry map.json", 2, "name their column with --by"),
        ("--report r.html --by county --geometry map.json", 1, "neither GeoJSON"),
        (
            "--report r.html --by county --geometry none.json",
            1,
            "error: --geometry: none.json: there is no such file; check the path\n",
        ),
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
    assert_eq!((read(path, "there.html"), read(path, "full/file")), ("mine".into(), "mine".into()));
    run(path, &["compare", "voters.csv", "-q", "--report", "there.html", "--force"]);
    assert!(read(path, "there.html").len() > 1_000_000);
}

/// Returns the names of the files in a folder.
fn names_in(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn figures_replace_figures_and_nothing_else() {
    let folder = voters();
    let path = folder.path();
    let compare = |line: &str| {
        let words: Vec<&str> = ["compare", "voters.csv", "-q"].into_iter().chain(line.split(' ')).collect();
        apportion(path, &words)
    };
    fs::create_dir(path.join("figures")).unwrap(); // an empty folder is treated as missing
    assert!(compare("--truth race --by county --figures figures --report figures/report.html").status.success());
    let before = names_in(&path.join("figures"));
    assert!(before.contains(&"calibration.csv".to_owned()) && before.contains(&"groups.json".to_owned()));
    // Figures that the second run does not produce are removed.
    assert!(compare("--figures figures --report figures/report.html --force").status.success());
    let after = names_in(&path.join("figures"));
    let gone = ["calibration.csv", "calibration.json", "groups.csv", "groups.json"].map(String::from);
    assert!(gone.iter().all(|name| before.contains(name) && !after.contains(name)), "{after:?}");
    assert!(after.contains(&"trade.csv".to_owned()) && after.contains(&"report.html".to_owned()));
    // Files of the same name that the program did not write are not replaced or removed.
    fs::write(path.join("figures/trade.json"), r#"{"data": [], "layout": {}}"#).unwrap();
    let output = compare("--figures figures --report figures/report.html --force");
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("figures/trade.csv: it is no figure of ours"), "{said}");
    assert_eq!(read(path, "figures/trade.json"), r#"{"data": [], "layout": {}}"#);
    assert_eq!(names_in(path), ["figures", "voters.csv"], "nothing half written");
}

#[test]
fn no_identifier_is_in_a_report() {
    let folder = voters();
    let path = folder.path();
    // IDs that cannot occur in the report by chance.
    let table = read(path, "voters.csv");
    let ids: Vec<String> = (0..table.lines().count()).map(|line| format!("N{:05}X", 7 * line)).collect();
    let lines = table.lines().zip(&ids).enumerate();
    let lines = lines.map(|(line, (row, id))| format!("{row},{}\n", if line == 0 { "voter" } else { id }));
    fs::write(path.join("voters.csv"), lines.collect::<String>()).unwrap();
    let words = ["compare", "voters.csv", "--by", "voter", "--report", "r.html", "--figures", "figures", "--force"];
    let output = apportion(path, &words);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let warning = "warning: the report shows no groups: 3,000 of 3,000 groups have fewer than 5 people";
    assert!(said.contains(warning) && said.contains("with --id"), "{said}");
    run(path, &["compare", "voters.csv", "--by", "voter", "-q", "--report", "r.md"]);
    let page = read(path, "r.html");
    let ours = page.split("id=\"looks\"").next().unwrap();
    let files = names_in(&path.join("figures")).into_iter().map(|name| read(path, &format!("figures/{name}")));
    for text in [ours.to_owned(), read(path, "r.md")].into_iter().chain(files) {
        assert_eq!(ids.iter().find(|id| text.contains(id.as_str())), None);
    }
    assert!(ours.contains("3,000 of 3,000 groups have fewer than 5 people"));
}

#[test]
fn a_truth_that_nobody_has_is_said_to_be_empty() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("s.csv"), "p_a,p_b,race\n0.6,0.4,\n0.3,0.7,\n").unwrap();
    for more in [&[][..], &["--report", "r.html"]] {
        let said = refused(folder.path(), &[&["compare", "s.csv", "--truth", "race"], more].concat());
        assert_eq!(
            said,
            "--truth race: no row has a true class: all values are empty or excluded; name another column, or leave out --truth"
        );
    }
    assert_eq!(names_in(folder.path()), ["s.csv"]);
}

/// Returns the SHA-256 of a file, by `sha256sum`.
fn sha256(path: &Path) -> String {
    let output = std::process::Command::new("sha256sum").arg(path).output().unwrap();
    text(&output.stdout).split(' ').next().unwrap().to_owned()
}

#[test]
fn an_audit_and_its_report_have_the_same_numbers() {
    let folder = voters();
    let path = folder.path();
    run(path, &["label", "voters.csv", "-o", "labeled.csv", "--rule", "threshold", "-q"]);
    for policy in ["keep", "argmax", "drop"] {
        let uncoded = format!("Uncoded={policy}");
        let words =
            ["audit", "labeled.csv", "--label", "label", "--truth", "race", "--by", "county", "--uncoded", &uncoded];
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
            let name = group["group"].as_str().unwrap();
            let own = find_figure(path, "groups.csv", &["your labels", name], "difference");
            let bias = group["bias"]["posterior"][white].as_f64();
            match (own.and_then(|own| own.parse::<f64>().ok()), bias) {
                (Some(others), Some(white)) => assert!((others + white).abs() < 1e-6, "{policy}: {others} {white}"),
                // Values of groups with very few people are hidden, because they could identify individuals.
                (None, Some(_)) => {
                    let people = &group[if policy == "drop" { "labeled" } else { "rows" }];
                    assert!(people.as_u64().is_some_and(|people| people < 5), "{policy}: {group}");
                }
                (own, bias) => assert_eq!(own, bias),
            }
            for (class, own) in json["classes"].as_array().unwrap().iter().enumerate() {
                let row = ["your labels", name, own.as_str().unwrap()];
                let Some(labels) = find_figure(path, "groups.csv", &row, "labels") else { continue };
                assert_eq!(labels, group["counts"][class].to_string(), "{policy} {name} {own}");
                let difference = figure(path, "groups.csv", &row, "difference");
                let same = (difference.parse::<f64>().ok(), group["bias"]["posterior"][class].as_f64());
                assert!(matches!(same, (Some(own), Some(json)) if (own - json).abs() < 1e-12) || same == (None, None));
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
    let rows = format!("0.6,0.3,0.1,{hostile}\n0.4,0.35,0.25,</script>|x\n").repeat(5);
    fs::write(path.join("s.csv"), format!("p_a,p_b,p_c,place\n{rows}")).unwrap();
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
        let mut words = vec!["label", "voters.csv", "-o", "labeled.csv", "--force", "-q", "--report", report];
        words.extend(line.split_whitespace());
        run(path, &words);
        read(path, report)
    };
    let uniform = label("--reference uniform", "uniform.md");
    assert!(uniform.contains("equal shares for all classes") && uniform.contains("match, as requested"), "{uniform}");
    let balance = label("--rule balance", "balance.md");
    assert!(balance.contains("balance, γ 0.9, distance l1"), "{balance}");
    fs::write(path.join("shares.csv"), "class,share\nwhite,0.5\nblack,0.5\n").unwrap();
    let shares = label("--reference shares.csv", "shares.md");
    let hash = sha256(&path.join("shares.csv"));
    assert!(shares.contains(&format!("| shares.csv (the reference) | 2 | {hash} |")), "{shares}");
    let drawn = label("--rule thompson --draws 4", "drawn.md");
    assert!(
        drawn.contains("about thompson, the first of 4 draws.") && drawn.contains("Labels over 4 draws of thompson")
    );
    let by_county = label("--by county", "by.md");
    assert!(by_county.contains("| match by group |") && by_county.contains("| match |"), "{by_county}");
}

#[test]
fn a_demonstration_replaces_no_report_unasked() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("mine.md"), "mine").unwrap();
    let line = ["demo", "--rows", "300", "--folder", "demo", "--report", "mine.md"];
    let output = apportion(folder.path(), &line);
    assert!(!output.status.success() && text(&output.stderr).contains("already exists"));
    assert_eq!(read(folder.path(), "mine.md"), "mine");
}
