//! Estimated references (`em`, `pacc`): shares, intervals, provenance and messages; calibration by group.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use common::{apportion, json, misused, refused, run, text};
use serde_json::Value;
use tempfile::TempDir;

/// Writes people with scores 0.9, 0.5 or 0.1 for class a, which are calibrated if half of the people are a. Here, 20%
/// are.
fn people() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut table = "id,race,known,county,p_a,p_b\n".to_owned();
    let mut id = 0;
    // P(score | class): 0.9 to 0.1 and 0.1 to 0.9 with 40% of the people at 0.5.
    for (race, score, people) in
        [("a", 0.9, 108), ("a", 0.5, 80), ("a", 0.1, 12), ("b", 0.9, 48), ("b", 0.5, 320), ("b", 0.1, 432)]
    {
        for person in 0..people {
            id += 1;
            let known = if person % 4 == 0 { race } else { "" };
            writeln!(table, "{id},{race},{known},{},{score},{:.1}", id % 3, 1.0 - score).unwrap();
        }
    }
    fs::write(folder.path().join("t.csv"), table).unwrap();
    fs::write(folder.path().join("training.csv"), "class,share\na,0.5\nb,0.5\n").unwrap();
    folder
}

const EM: [&str; 6] = ["--id", "id", "--reference", "em", "--training-shares", "training.csv"];
const PACC: [&str; 6] = ["--id", "id", "--reference", "pacc", "--truth", "known"];

fn shares(result: &Value) -> Vec<f64> {
    result["reference_shares"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap()).collect()
}

#[test]
fn labels_match_the_estimate() {
    let folder = people();
    let path = folder.path();
    for reference in [EM, PACC] {
        let args = [&["label", "t.csv", "-o", "o.csv", "--force", "--json", "-q"][..], &reference].concat();
        let result = json(path, &args);
        // 1,000 people, of whom 200 are a: the distributions of scores are exactly those of the classes.
        assert!((shares(&result)[0] - 0.2).abs() < 1e-9, "{result}");
        assert_eq!(result["targets"], serde_json::json!([200, 800]));
        assert_eq!(result["counts"], result["targets"]);
        let interval = &result["reference_interval"][0];
        let (low, high) = (interval["low"].as_f64().unwrap(), interval["high"].as_f64().unwrap());
        assert!((0.08..0.18).contains(&low) && (0.22..0.32).contains(&high), "{interval}");
        // The mean score is 0.385.
        let mean = json(path, &["label", "t.csv", "-o", "o.csv", "--force", "--json", "-q"]);
        assert!(mean["targets"][0].as_u64() > Some(300) && mean.get("reference_shares").is_none(), "{mean}");
        let frontier = json(path, &[&["frontier", "t.csv", "--json", "-q"][..], &reference].concat());
        assert!((shares(&frontier)[0] - 0.2).abs() < 1e-9);
        let said =
            text(&apportion(path, &[&["label", "t.csv", "-o", "o.csv", "--force"][..], &reference].concat()).stderr);
        assert!(said.contains("Labels match the estimate, not the interval") && said.contains("20.00%"), "{said}");
    }
}

#[test]
fn rows_with_counts_are_people() {
    let folder = people();
    let path = folder.path();
    let rows = "n,p_a,p_b\n156,0.9,0.1\n400,0.5,0.5\n444,0.1,0.9\n";
    fs::write(path.join("cells.csv"), rows).unwrap();
    let args = ["label", "cells.csv", "--count", "n", "-o", "o.csv", "--json", "-q"];
    let result = json(path, &[&args[..], &EM[2..]].concat());
    assert!((shares(&result)[0] - 0.2).abs() < 1e-9, "{result}");
    assert_eq!(result["counts"], serde_json::json!([200, 800]));
}

#[test]
fn verify_estimates_the_reference_again() {
    let folder = people();
    let path = folder.path();
    for (reference, output) in [(EM, "em.parquet"), (PACC, "pacc.parquet")] {
        run(path, &[&["label", "t.csv", "-o", output, "-q"][..], &reference].concat());
        let said = run(path, &["verify", output, "--against", "t.csv"]);
        assert!(said.contains("the reference was estimated again") && !said.contains("not checked"), "{said}");
        assert!(said.contains("the counts meet their targets"), "{said}");
    }
    let said = run(path, &["provenance", "em.parquet"]);
    assert!(said.contains("training shares") && said.contains("training.csv"), "{said}");
    // Other training shares.
    fs::write(path.join("training.csv"), "class,share\na,0.4\nb,0.6\n").unwrap();
    let said = refused(path, &["verify", "em.parquet", "--against", "t.csv"]);
    assert!(said.contains("training.csv: the training shares have changed"), "{said}");
    fs::remove_file(path.join("training.csv")).unwrap();
    let said = run(path, &["verify", "em.parquet", "--against", "t.csv"]);
    assert!(said.contains("not checked: the targets"), "{said}");
}

#[test]
fn a_decision_of_an_estimated_reference_is_applied() {
    let folder = people();
    let path = folder.path();
    run(path, &[&["fit", "t.csv", "-o", "d.json", "-q"][..], &EM].concat());
    let applied = json(path, &["apply", "t.csv", "--decision", "d.json", "--id", "id", "-o", "o.csv", "--json", "-q"]);
    assert_eq!(applied["counts"], serde_json::json!([200, 800]));
    let saved: Value = serde_json::from_str(&fs::read_to_string(path.join("d.json")).unwrap()).unwrap();
    assert!((shares(&saved["provenance"])[0] - 0.2).abs() < 1e-9);
}

#[test]
fn references_that_cannot_be_estimated_are_refused() {
    let folder = people();
    let path = folder.path();
    let label = |more: &[&'static str]| [&["label", "t.csv", "-o", "o.csv", "-q"][..], more].concat();
    let wrong = |more: &[&'static str]| misused(path, &label(more));
    assert!(wrong(&["--reference", "em"]).contains("--reference em needs --training-shares FILE"));
    assert!(wrong(&["--reference", "pacc"]).contains("--reference pacc needs --truth COL"));
    let said = wrong(&[&EM[..], &["--by", "county"]].concat());
    assert!(said.contains("not of groups; leave out --by"), "{said}");
    assert!(wrong(&["--training-shares", "training.csv"]).contains("--training-shares requires --reference em"));
    let said = misused(path, &["audit", "t.csv", "--label", "race", "--reference", "em"]);
    assert!(said.contains("an audit compares them with known shares"), "{said}");
    let with_shares = |shares: &str| {
        fs::write(path.join("training.csv"), shares).unwrap();
        refused(path, &label(&EM))
    };
    assert!(with_shares("class,share\na,1\n").contains("there is no share for \"b\""));
    assert!(with_shares("class,share\na,1\nb,0\n").contains("the training share of \"b\" is 0"));
    assert!(with_shares("class,share\na,0.5\nb,0.6\n").contains("the training shares sum to 1.1"));
    assert!(with_shares("class,share\na,half\nb,0.5\n").contains("is not a number"));
    fs::write(path.join("flat.csv"), "race,p_a,p_b\na,0.3,0.7\nb,0.3,0.7\na,0.3,0.7\n").unwrap();
    let flat = ["label", "flat.csv", "-o", "o.csv", "-q", "--reference", "pacc", "--truth", "race"];
    assert!(refused(path, &flat).contains("do not distinguish"));
    assert!(!path.join("o.csv").exists());
}

/// Writes people whose class shares differ between counties, with the same scores.
fn counties(path: &Path, name: &str, counties: &[(&str, usize)]) {
    let mut table = "id,race,county,p_a,p_b\n".to_owned();
    for &(county, members) in counties {
        for person in 0..200 {
            let race = if county == "unknown" { "" } else { ["b", "a"][usize::from(person % 100 < members)] };
            let score = if person % 2 == 0 { 0.4 } else { 0.6 };
            writeln!(table, "{county}-{person},{race},{county},{score},{:.1}", 1.0 - score).unwrap();
        }
    }
    fs::write(path.join(name), table).unwrap();
}

#[test]
fn calibration_by_group_is_saved_and_unknown_groups_use_all_rows() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    counties(path, "t.csv", &[("north", 30), ("south", 70), ("east", 50), ("west", 45), ("unknown", 0)]);
    let fit = ["calibrate", "t.csv", "--truth", "race", "--id", "id", "-o", "o.csv", "--force"];
    let result = json(path, &[&fit[..], &["--by", "county", "--save", "c.json", "--json", "-q"]].concat());
    let groups = &result["calibration"]["groups"];
    assert_eq!((&groups["columns"], result["without_group"].as_u64()), (&serde_json::json!(["county"]), Some(200)));
    let intercept = |county: &str| groups["intercepts"][county][0].as_f64().unwrap();
    assert!(groups["deviation"].as_f64() > Some(0.2) && groups["intercepts"].get("unknown").is_none(), "{groups}");
    assert!(intercept("north") < -0.2 && intercept("south") > 0.2 && intercept("east").abs() < 0.15, "{groups}");
    let overall = json(path, &[&fit[..], &["--json", "-q"]].concat());
    assert!(result["after"]["log_loss"].as_f64().unwrap() + 0.01 < overall["after"]["log_loss"].as_f64().unwrap());
    // The saved calibration names its column.
    counties(path, "others.csv", &[("north", 0), ("elsewhere", 0)]);
    let apply = ["calibrate", "others.csv", "--calibration", "c.json", "-o", "p.csv", "--force"];
    assert_eq!(json(path, &[&apply[..], &["--json", "-q"]].concat())["without_group"].as_u64(), Some(200));
    let said = text(&apportion(path, &apply).stderr);
    assert!(said.contains("200 people in 1 group without known truth in the fit"), "{said}");
    assert!(said.contains("by county with intercepts of 4 groups"), "{said}");
    let isotonic = [&fit[..], &["--by", "county", "--method", "isotonic"]].concat();
    assert!(misused(path, &isotonic).contains("--by requires --method logistic"));
    run(path, &[&fit[..], &["--save", "all.json", "-q"]].concat());
    let not_by_group = ["calibrate", "others.csv", "--calibration", "all.json", "--by", "county", "-o", "q.csv"];
    assert!(misused(path, &not_by_group).contains("the calibration is not by group"));
}
