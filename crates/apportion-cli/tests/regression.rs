//! `apportion disparity --controls`: its results in every output, and its messages about columns that cannot be used.
//! crates/apportion/tests/regression.rs compares the numbers with dense normal equations.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{json, misused, refused, run};
use serde_json::Value;
use tempfile::TempDir;

const ROWS: usize = 1500;

/// Creates voters with columns that can or cannot be controls.
fn voters() -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let count = ROWS.to_string();
    let merged = ["--merge", "asian=other,aian=other"];
    run(
        path,
        &[&["simulate", "voters", "--rows", &count, "--seed", "3", "-o", "made.csv", "-q"][..], &merged].concat(),
    );
    let table = fs::read_to_string(path.join("made.csv")).unwrap();
    let line = |(row, line): (usize, &str)| match row {
        0 => format!("{line},age,months,same,one,many,gap,region,price\n"),
        _ => {
            let age = 18 + row * 7919 % 70;
            let missing = if row % 50 == 0 { String::new() } else { age.to_string() };
            format!("{line},{age},{},same,1,text {row},{missing},{},{}.5\n", 12 * age, row % 40, 100 + row % 97)
        }
    };
    fs::write(path.join("voters.csv"), table.lines().enumerate().map(line).collect::<String>()).unwrap();
    folder
}

fn command<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["disparity", "voters.csv", "--no-bootstrap"][..], more].concat()
}

fn remarks(own: &Value) -> String {
    own["remarks"].as_array().unwrap().iter().map(|own| own.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

fn regressions(path: &Path, more: &[&str]) -> Value {
    json(path, &command(&[&["--outcome", "voted", "--json", "-q"][..], more].concat()))["regressions"].clone()
}

#[test]
fn gaps_are_in_text_json_and_reports() {
    let folder = voters();
    let path = folder.path();
    let args = ["--outcome", "voted", "--truth", "race", "--controls", "party,age", "--cluster", "region"];
    let text = run(path, &command(&[&args[..], &["--report", "report.html", "-q"]].concat()));
    let table = text.split("\n\n").find(|block| block.starts_with("adjusted gap to white, points")).unwrap();
    let names: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split("  ").next()).collect();
    assert_eq!(names, ["truth", "argmax", "threshold 0.8", "match", "weighted", "imputed", "linear"]);
    assert!(text.contains("mixtures of the gaps of all classes"), "{text}");
    let method = text.lines().find(|line| line.starts_with("Method: ")).unwrap();
    for part in
        ["voted (1 if it is 1", "white as the baseline", "age", "clustered by region (40 clusters, CR1)", "1,500"]
    {
        assert!(method.contains(part), "{part}: {method}");
    }
    let report = fs::read_to_string(path.join("report.html")).unwrap();
    for part in ["Adjusted gap to white", "mixtures of the gaps", "clustered by region (40 clusters, CR1)"] {
        assert!(report.contains(part), "{part}");
    }
    let own = regressions(path, &args[2..]);
    assert_eq!((&own["model"], &own["covariance"], &own["left_out"]), (&"linear".into(), &"CR1".into(), &0.into()));
    let weighted = own["estimators"].as_array().unwrap().iter().find(|own| own["name"] == "weighted").unwrap();
    assert_eq!(weighted["classes"][0]["gap"], Value::Null);
    let gap = &weighted["classes"][1]["gap"];
    let number = |name: &str| gap[name].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&number("p_value")) && number("error") > 0.0);
    let shown = format!("{:.1}", 100.0 * number("estimate").abs());
    assert!(table.lines().find(|line| line.starts_with("weighted")).unwrap().contains(&shown), "{shown}: {table}");
    // Without controls there are no regressions.
    assert_eq!(json(path, &command(&["--outcome", "voted", "--json", "-q"]))["regressions"], Value::Null);
}

#[test]
fn the_logistic_model_has_odds_ratios_and_average_effects() {
    let folder = voters();
    let path = folder.path();
    let args = ["--controls", "age", "--regression", "logistic"];
    let own = regressions(path, &args);
    let names: Vec<&str> =
        own["estimators"].as_array().unwrap().iter().map(|own| own["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"weighted") && !names.contains(&"linear"), "{names:?}");
    let class = &own["estimators"][0]["classes"][1];
    let odds = class["odds_ratio"]["ratio"].as_f64().unwrap();
    assert!((class["log_odds"]["estimate"].as_f64().unwrap() - odds.ln()).abs() < 1e-12);
    // One control that hardly matters: the average effect is near the linear gap.
    let linear = &regressions(path, &args[..2])["estimators"][0]["classes"][1]["gap"]["estimate"];
    assert!((class["gap"]["estimate"].as_f64().unwrap() - linear.as_f64().unwrap()).abs() < 0.01);
    assert!(remarks(&own).contains("not a logistic function of the scores"));
    let text = run(path, &command(&[&["--outcome", "voted", "-q"][..], &args].concat()));
    assert!(text.contains("odds ratio to white"), "{text}");
}

#[test]
fn columns_without_information_are_left_out_with_a_message() {
    let folder = voters();
    let path = folder.path();
    let own = regressions(path, &["--controls", "age,months,same,one,gap"]);
    let said = remarks(&own);
    for part in [
        "30 of 1,500 rows with an outcome are left out of the regressions: 30 without a control (missing: gap in 30)",
        "Controls that are the same for everyone are left out: same, one.",
        "linear for months, gap: a combination of other columns",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!((&own["people"], &own["left_out"]), (&1470.into(), &30.into()));
    assert!(!own.to_string().contains("NaN"));
    let few = regressions(path, &["--controls", "age", "--cluster", "party"]);
    assert!(remarks(&few).contains("clusters, standard errors clustered by party are usually too small"), "{few}");
}

#[test]
fn categories_that_are_numbers_can_be_named() {
    let folder = voters();
    let path = folder.path();
    let columns = |own: &Value| own["estimators"][0]["controls"].as_array().unwrap().len();
    assert_eq!(columns(&regressions(path, &["--controls", "region"])), 1);
    let own = regressions(path, &["--controls", "region:category"]);
    assert_eq!((columns(&own), own["controls"][0]["categories"].as_array().unwrap().len()), (39, 40));
}

#[test]
fn controls_that_cannot_be_used_are_refused() {
    let folder = voters();
    let path = folder.path();
    let outcome = ["--outcome", "voted"];
    let with = |args: &[&'static str]| command(&[&outcome[..], args].concat());
    for (args, parts) in [
        (&["--controls", "many"][..], &["at most 100 categories", "--cluster"][..]),
        (&["--controls", "voted"], &["--controls: column \"voted\" is also the outcome"]),
        (&["--controls", "p_white"], &["\"p_white\" is also a score column"]),
        (&["--controls", "race", "--truth", "race"], &["\"race\" is also the true class"]),
        (&["--controls", "age,age"], &["\"age\" is named twice"]),
        (&["--controls", "agee"], &["--controls", "agee"]),
    ] {
        let said = refused(path, &with(args));
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
    for (args, parts) in [
        (&["--cluster", "region"][..], &["--cluster needs --controls"][..]),
        (&["--regression", "logistic"], &["--regression needs --controls"]),
        (&["--controls", "age", "--cluster", "same"], &["--cluster", "same cluster"]),
    ] {
        let said = misused(path, &with(args));
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
    let price = ["--outcome", "price", "--controls", "age", "--regression", "logistic"];
    let said = misused(path, &command(&price));
    assert!(said.contains("price is a number") && said.contains("--regression linear"), "{said}");
    let said = misused(path, &command(&["--outcome", "party", "--controls", "age"]));
    assert!(said.contains("--outcome-value VALUE"), "{said}");
    // Everyone has the same outcome.
    let own = json(path, &command(&["--outcome", "one", "--controls", "age", "--json", "-q"]))["regressions"].clone();
    assert!(own["estimators"].as_array().unwrap().is_empty());
    assert!(remarks(&own).contains("everyone has the same outcome"));
}
