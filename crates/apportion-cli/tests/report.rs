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
    assert!(page.contains("with equally good totals, the line: ") && page.contains("learned, at each γ"));
    assert!(page.len() < 1_600_000, "{} bytes", page.len());
    let markdown = ["label", "voters.csv", "-o", "again.csv", "-q", "--report", "label.md"];
    run(path, &markdown);
    let label = read(path, "label.md");
    assert!(
        label.contains("Match has the counts that the scores add up to, so other labels would not improve them"),
        "{label}"
    );
    assert!(label.contains("Argmax would overcount white by "), "{label}");
    assert!(read(path, "audit.md").contains(
        "The truth is not known. To see how often the scores are right, name a column of known classes (--truth COL)"
    ));
    assert!(path.join("figures/trade.json").exists() && path.join("figures/counts.csv").exists());
    let demo = read(path, "demo.md");
    assert!(
        demo.contains("## Map\n\nCompared with the scores, argmax ")
            && demo.contains("--geometry demo/counties.topojson")
    );
    assert!(demo.contains("This report was made from 2 files by the command below."));
    assert!(demo.contains("demo/voters.parquet, tables |"), "{demo}");
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
            "error: --geometry: none.json: no such file; check the path\n",
        ),
        ("--report r.html --geometry-key name", 2, "--geometry"),
        ("--report r.html --focus whit", 1, "--focus"),
        ("--title Voters", 2, "--report FILE.html"),
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
        let number = |column: &str| figure(path, "trade.csv", &["your labels"], column);
        assert!(same(&number("fidelity_to_truth"), &json["fidelity"]["truth"]), "{policy}");
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
    let people = |column: usize| -> u64 {
        let sheet = read(path, "figures/scores.csv");
        let rows = sheet.lines().skip(1).filter(|line| line.starts_with("a,"));
        rows.map(|line| line.split(',').nth(column).unwrap().parse::<u64>().unwrap()).sum()
    };
    assert_eq!((3..7).map(people).sum::<u64>(), 120, "each person is in one bin of scores for a");
    assert_eq!(people(3) + people(5), 120, "argmax gives everyone a");
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

/// Counts the rows of a CSV file with a value in a column.
fn count(path: &Path, column: &str, value: &str) -> i64 {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let place = reader.headers().unwrap().iter().position(|own| own == column).unwrap();
    reader.records().filter(|row| &row.as_ref().unwrap()[place] == value).count() as i64
}

#[test]
fn scores_that_are_wrong_are_the_first_sentence() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    run(path, &["simulate", "voters", "--no-scores", "--rows", "6000", "--seed", "5", "-o", "people.csv", "-q"]);
    // Scores of all inhabitants for voters: far too many Hispanic people.
    run(path, &["predict", "people.csv", "-o", "scores.csv", "-q"]);
    run(path, &["label", "scores.csv", "-o", "labeled.csv", "--by", "county", "--id", "id", "-q"]);
    run(
        path,
        &["audit", "labeled.csv", "--label", "label", "--truth", "race", "--by", "county", "-q", "--report", "r.md"],
    );
    let labeled = path.join("labeled.csv");
    let (labels, truth) = (count(&labeled, "label", "hispanic"), count(&labeled, "race", "hispanic"));
    let percent = 100.0 * (labels as f64 / truth as f64 - 1.0);
    assert!(percent > 50.0, "the scores are not wrong enough: {labels} {truth}");
    let report = read(path, "r.md");
    let sentence = report.lines().skip_while(|line| *line != "## The answer").nth(2).unwrap();
    let begin = format!(
        "Your labels overcount hispanic by {} people (+{percent:.1}%: {labels} labels, {truth} in truth). The cause is the \
         scores of hispanic, which add up to",
        labels - truth
    );
    assert!(sentence.starts_with(&begin), "{sentence}\n{begin}");
    assert!(sentence.contains(
        "correct the scores, for example by predicting them again with the known share of each class among these people"
    ));
    assert!(sentence.contains("Other labels would not help"), "{sentence}");
}

#[test]
fn a_report_has_a_title_and_a_date() {
    let folder = voters();
    let path = folder.path();
    let report = |day: &str, name: &str| {
        let mut command = assert_cmd::Command::cargo_bin("apportion").unwrap();
        let words =
            ["label", "voters.csv", "-o", "out.csv", "--force", "-q", "--title", "Voters & <more>", "--report", name];
        let output = command.current_dir(path).env("SOURCE_DATE_EPOCH", day).args(words).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        read(path, name)
    };
    let first = report("951782400", "r.md");
    assert!(
        first.starts_with("# Voters &amp; &lt;more&gt;\n\nLabels: match. 3,000 people, 6 classes. 2000-02-29\n"),
        "{first}"
    );
    assert_eq!(report("951782400", "r.md"), first, "reports can be reproduced");
}

#[test]
fn a_group_without_a_name_is_shown() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let rows = "0.6,0.4,x\n0.4,0.6,\n".repeat(6);
    fs::write(path.join("s.csv"), format!("p_a,p_b,place\n{rows}")).unwrap();
    run(path, &["compare", "s.csv", "--by", "place", "-q", "--report", "r.md"]);
    assert!(read(path, "r.md").contains("| (none) ° | 6 |"), "{}", read(path, "r.md"));
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
    assert!(drawn.contains("Labels: thompson. ") && drawn.contains("Counts over 4 draws of thompson"), "{drawn}");
    let by_county = label("--by county", "by.md");
    assert!(by_county.contains("| match by group |") && by_county.contains("| match |"), "{by_county}");
}

/// Matching the state leaves counties off; matching each county does not.
#[test]
fn a_demonstration_ends_with_labels_that_are_right_in_each_county() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let said = run(path, &["demo", "--rows", "3000", "--folder", "demo", "--report", "demo.md"]);
    let lines = said.lines().filter(|line| line.contains("by one person or more in"));
    let short: Vec<u64> = lines.map(|line| numbers_in(line)[0]).collect();
    assert!(short.len() == 2 && short[0] > 0 && short[1] == 0, "{short:?}");
    assert!(
        said.ends_with(
            "(open in a browser): demo.md\n# Labels of all people (open in a spreadsheet): demo/labeled.csv\n"
        )
    );
    let labeled = read(path, "demo/labeled.csv");
    assert_eq!(labeled.lines().count(), 3001);
    assert!(
        labeled.starts_with("id,county,county_fips,tract,block_group,zip,first_name,surname,party,voted,race,p_white,")
    );
}

/// Returns the whole numbers of a line.
fn numbers_in(line: &str) -> Vec<u64> {
    line.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
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
