//! `calibrate` replaces scores by corrected ones, saves and applies calibrations, and refuses truth that it cannot use.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{json, misused, refused, run};
use tempfile::TempDir;

/// Writes simulated voters whose scores are off.
fn voters() -> TempDir {
    let folder = TempDir::new().unwrap();
    let simulate = ["simulate", "voters", "--rows", "3000", "--seed", "5", "--sharpen", "1.5", "-q", "-o"];
    for name in ["voters.csv", "voters.parquet"] {
        let args: Vec<&str> = simulate.into_iter().chain([name, "--double"]).collect();
        run(folder.path(), &args);
    }
    folder
}

/// Returns the header and the rows of a CSV file.
fn rows(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    (header, reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect())
}

/// Returns the arguments of a fit.
fn fit<'a>(input: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["calibrate", input][..], &["--truth", "race", "--id", "id", "-q", "--force"], more].concat()
}

#[test]
fn only_the_scores_are_replaced() {
    let folder = voters();
    let path = folder.path();
    run(path, &fit("voters.csv", &["-o", "out.csv"]));
    let ((header, before), (new_header, after)) = (rows(&path.join("voters.csv")), rows(&path.join("out.csv")));
    assert_eq!(header, new_header);
    assert_eq!(before.len(), after.len());
    let mut changed = 0;
    for (before, after) in before.iter().zip(&after) {
        let mut sum = 0.0;
        for ((name, before), after) in header.iter().zip(before).zip(after) {
            if name.starts_with("p_") {
                changed += usize::from(before != after);
                sum += after.parse::<f64>().unwrap();
            } else {
                assert_eq!(before, after);
            }
        }
        assert!((sum - 1.0).abs() < 1e-9);
    }
    assert!(changed > 17_000, "{changed}");
    // Parquet, batches and threads change nothing.
    run(path, &fit("voters.parquet", &["-o", "out.parquet", "--threads", "1", "--batch-rows", "7"]));
    run(path, &["label", "out.parquet", "-o", "labels.csv", "-q"]);
    let (labeled_header, labeled) = rows(&path.join("labels.csv"));
    assert_eq!(labeled_header[..header.len()], header);
    for (one, other) in after.iter().zip(&labeled) {
        assert_eq!(one[..], other[..header.len()]);
    }
    // The output is a table of scores, with provenance.
    assert!(run(path, &["provenance", "out.parquet"]).contains("option method: logistic"));
    run(path, &["label", "out.csv", "-o", "labels.csv", "-q", "--force"]);
    // To standard output.
    assert_eq!(run(path, &fit("voters.csv", &["-o", "-"])), fs::read_to_string(path.join("out.csv")).unwrap());
}

#[test]
fn a_saved_calibration_is_applied_without_truth() {
    let folder = voters();
    let path = folder.path();
    for method in ["logistic", "isotonic"] {
        let args = fit("voters.csv", &["-o", "out.csv", "--method", method, "--save", "c.json", "--json"]);
        let fitted = json(path, &args);
        assert_eq!((fitted["folds"].as_u64(), fitted["method"].as_str()), (Some(5), Some(method)));
        let (before, after) = (&fitted["before"], &fitted["after"]);
        assert!(after["log_loss"].as_f64() < before["log_loss"].as_f64(), "{method}");
        let saved: serde_json::Value = serde_json::from_str(&fs::read_to_string(path.join("c.json")).unwrap()).unwrap();
        assert_eq!(saved, fitted["calibration"]);
        let apply = ["calibrate", "voters.csv", "--calibration", "c.json", "-o", "again.csv", "--force", "-q"];
        let applied = json(path, &[&apply[..], &["--json"]].concat());
        assert_eq!(applied["calibration"], saved);
        assert!(applied.get("folds").is_none() && applied.get("after").is_none());
        // The model of all rows is not that of a fold.
        assert_ne!(rows(&path.join("out.csv")), rows(&path.join("again.csv")));
        let measured = json(path, &[&apply[..], &["--json", "--truth", "race"]].concat());
        assert!(measured["after"]["log_loss"].as_f64() < before["log_loss"].as_f64());
    }
    let both = ["calibrate", "voters.csv", "--calibration", "c.json", "-o", "x.csv", "--method", "isotonic"];
    assert!(misused(path, &both).contains("--method cannot be used with --calibration"));
    fs::write(path.join("small.csv"), "p_a,p_b\n0.5,0.5\n").unwrap();
    let said = refused(path, &["calibrate", "small.csv", "--calibration", "c.json", "-o", "x.csv", "-q"]);
    assert!(said.contains("it is for the classes white, black") && said.contains("--classes white,black"), "{said}");
    fs::write(path.join("bad.json"), "{\"version\": 7}").unwrap();
    let said = refused(path, &["calibrate", "voters.csv", "--calibration", "bad.json", "-o", "x.csv", "-q"]);
    assert!(said.contains("not a valid calibration") && said.contains("--save"), "{said}");
    let own = ["calibrate", "voters.csv", "--calibration", "c.json", "-o", "c.json", "--force", "-q"];
    refused(path, &own);
    assert!(!path.join("x.csv").exists());
}

#[test]
fn percentages_and_excluded_rows_keep_their_form() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut text = "race,p_a,p_b\n".to_owned();
    for row in 0..200 {
        let race = if row % 10 < 6 { "a" } else { "b" };
        text += &format!("{race},80,20\n{},30,70\n", if row % 10 < 2 { "a" } else { "b" });
    }
    text += "a,,\n,80,20\n";
    fs::write(path.join("t.csv"), text).unwrap();
    run(
        path,
        &["calibrate", "t.csv", "--truth", "race", "-o", "o.csv", "-q", "--skip-missing", "--method", "isotonic"],
    );
    let (_, rows) = rows(&path.join("o.csv"));
    assert_eq!(rows[400], ["a", "", ""]);
    // Six of ten people with 80% are a; the row without truth is corrected by the model of all rows.
    assert_eq!(rows[401][0], "");
    let value: f64 = rows[401][1].parse().unwrap();
    assert!((value - 60.0).abs() < 1e-9, "{value}");
}

#[test]
fn truth_that_cannot_be_used_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let table = |truth: &dyn Fn(usize) -> &'static str| {
        let rows = (0..60).map(|row| format!("{},{},{}\n", truth(row), 0.3, 0.7));
        fs::write(path.join("t.csv"), format!("race,p_a,p_b\n{}", rows.collect::<String>())).unwrap();
        refused(path, &["calibrate", "t.csv", "--truth", "race", "-o", "o.csv", "-q"])
    };
    assert!(table(&|_| "").contains("no row has a true class"));
    assert!(table(&|_| "a").contains("all people with known truth are \"a\""));
    assert!(table(&|row| if row == 0 { "b" } else { "a" }).contains("too few people have the true class \"b\""));
    fs::write(path.join("t.csv"), "race,p_a,p_b,p_c\na,0.3,0.3,0.4\nb,0.3,0.3,0.4\n").unwrap();
    let said = refused(path, &["calibrate", "t.csv", "--truth", "race", "-o", "o.csv", "-q"]);
    assert!(said.contains("no person with known truth is \"c\""), "{said}");
    assert!(misused(path, &["calibrate", "t.csv", "-o", "o.csv"]).contains("--truth is required"));
    let by_truth = misused(path, &["calibrate", "t.csv", "-o", "o.csv", "--truth", "race", "--by", "race"]);
    assert!(by_truth.contains("--by: race is also the true class or the ID"), "{by_truth}");
    assert!(!path.join("o.csv").exists());
    // A constant score column is no problem: all scores become the shares of the truth.
    let rows: String = (0..60).map(|row| format!("{},0.3,0.7\n", if row % 3 == 0 { "b" } else { "a" })).collect();
    fs::write(path.join("t.csv"), format!("race,p_a,p_b\n{rows}")).unwrap();
    for method in ["logistic", "isotonic"] {
        let args = ["calibrate", "t.csv", "--truth", "race", "-o", "o.csv", "-q", "--force", "--save", "c.json"];
        run(path, &[&args[..], &["--method", method]].concat());
        let apply = ["calibrate", "t.csv", "--calibration", "c.json", "-o", "o.csv", "-q", "--force", "--json"];
        let mean = json(path, &apply)["posterior_after"][0].as_f64().unwrap();
        assert!((mean - 2.0 / 3.0).abs() < 1e-9, "{method}: {mean}");
    }
}
