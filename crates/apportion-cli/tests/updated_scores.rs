//! `apportion disparity --write-scores` and `--covariates`: compared with the estimates and with sums over the rows.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use common::{json, misused, refused, run};
use tempfile::TempDir;

const CLASSES: [&str; 4] = ["white", "black", "hispanic", "other"];

/// Creates voters; the outcome of every tenth is missing.
fn voters(rows: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let line = ["simulate", "voters", "--rows", rows, "--seed", "5", "--merge", "asian=other,aian=other"];
    run(folder.path(), &[&line[..], &["-o", "made.csv", "-q"]].concat());
    let table = fs::read_to_string(folder.path().join("made.csv")).unwrap();
    let voted = table.lines().next().unwrap().split(',').position(|name| name == "voted").unwrap();
    let line = |(row, line): (usize, &str)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if row > 0 && row % 10 == 0 {
            cells[voted] = "";
        }
        cells.join(",") + "\n"
    };
    fs::write(folder.path().join("voters.csv"), table.lines().enumerate().map(line).collect::<String>()).unwrap();
    folder
}

fn rows(folder: &Path, file: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn score(row: &HashMap<String, String>, class: &str) -> f64 {
    row[&format!("p_{class}")].parse().unwrap()
}

#[test]
fn updated_scores_sum_to_the_estimates_and_can_be_labeled() {
    let folder = voters("3000");
    let path = folder.path();
    let base = ["disparity", "voters.csv", "--outcome", "voted", "--no-bootstrap", "--by", "county", "--json", "-q"];
    let result = json(path, &[&base[..], &["--write-scores", "updated.csv"]].concat());
    let (before, after) = (rows(path, "voters.csv"), rows(path, "updated.csv"));
    assert_eq!(before.len(), after.len());
    let estimators = result["estimators"].as_array().unwrap();
    let birdie = estimators.iter().find(|own| own["name"] == "BIRDiE").unwrap();
    let mut changed = 0;
    for (class, name) in CLASSES.iter().enumerate() {
        let (mut hits, mut all) = (0.0, 0.0);
        for (before, after) in before.iter().zip(&after) {
            let same = |(name, value): (&String, &String)| name.starts_with("p_") || after[name] == *value;
            assert!(before.iter().all(same), "only scores change");
            match &*before["voted"] {
                "" => assert!(
                    (score(before, name) - score(after, name)).abs() < 1e-11,
                    "an unknown outcome changes nothing"
                ),
                voted => {
                    changed += usize::from((score(before, name) - score(after, name)).abs() > 1e-6);
                    all += score(after, name);
                    hits += if voted == "1" { score(after, name) } else { 0.0 };
                }
            }
        }
        let found = birdie["values"][0]["classes"][class]["estimate"].as_f64().unwrap();
        assert!((found - hits / all).abs() < 1e-9, "{name}: {found} {}", hits / all);
    }
    assert!(changed > 5000, "{changed}");

    // Counts of match by outcome are the sums of the updated scores, rounded.
    run(path, &["label", "updated.csv", "--by", "voted", "-o", "labels.csv", "-q"]);
    let labels = rows(path, "labels.csv");
    for voted in ["0", "1", ""] {
        for class in CLASSES {
            let own = || labels.iter().filter(|row| row["voted"] == voted);
            let sum: f64 = own().map(|row| score(row, class)).sum();
            let count = own().filter(|row| row["label"] == class).count() as f64;
            assert!((sum - count).abs() < 1.0, "{voted} {class}: {sum} {count}");
        }
    }

    let again = refused(path, &[&base[..], &["--write-scores", "updated.csv"]].concat());
    assert!(again.contains("updated.csv") && again.contains("--force"), "{again}");
    run(path, &[&base[..], &["--write-scores", "updated.csv", "--force"]].concat());
    let message = refused(path, &[&base[..], &["--write-scores", "voters.csv", "--force"]].concat());
    assert!(message.contains("voters.csv"), "{message}");
    let message = misused(path, &[&base[..], &["--write-scores", "-"]].concat());
    assert!(message.contains("--write-scores: name a file or a directory"), "{message}");
}

#[test]
fn updated_scores_are_written_in_all_formats_with_provenance() {
    let folder = voters("600");
    let path = folder.path();
    let line = |file: &'static str| {
        ["disparity", "voters.csv", "--outcome", "voted", "--no-bootstrap", "-q", "--id", "id", "--write-scores", file]
    };
    let mut labels = Vec::new();
    for file in ["own.csv", "own.tsv", "own.parquet", "own.arrow"] {
        run(path, &line(file));
        run(path, &["label", file, "--id", "id", "--only-label", "-o", "labels.csv", "--force", "-q"]);
        labels.push(fs::read_to_string(path.join("labels.csv")).unwrap());
    }
    assert!(labels.iter().all(|own| *own == labels[0]));
    for file in ["own.parquet", "own.arrow"] {
        let bytes = fs::read(path.join(file)).unwrap();
        let has = |text: &[u8]| bytes.windows(text.len()).any(|own| own == text);
        assert!(has(b"birdie") && has(b"disparity"), "{file} has the provenance");
    }
    // With a report, the scores are the same.
    run(path, &[&line("again.csv")[..], &["--report", "report.html"]].concat());
    assert_eq!(fs::read(path.join("again.csv")).unwrap(), fs::read(path.join("own.csv")).unwrap());
}

#[test]
fn covariates_are_groups_of_birdie_only() {
    let folder = voters("2000");
    let path = folder.path();
    let of = |more: &[&str]| {
        let base = ["disparity", "voters.csv", "--outcome", "voted", "--no-bootstrap", "--id", "id", "--json", "-q"];
        let result = json(path, &[&base[..], more].concat());
        let all = result["estimators"].as_array().unwrap().clone();
        let find = |name: &str| all.iter().find(|own| own["name"] == name).unwrap().clone();
        (find("BIRDiE"), find("match by group"), result["birdie"]["groups"].as_u64().unwrap())
    };
    let (own, combined, plain) =
        (of(&["--by", "county", "--covariates", "party"]), of(&["--by", "county,party"]), of(&["--by", "county"]));
    assert_eq!((&own.0, own.2), (&combined.0, combined.2));
    assert_eq!(own.1, plain.1);
    assert!(own.0 != plain.0 && own.1 != combined.1 && own.2 > plain.2);
    let base = ["disparity", "voters.csv", "--outcome", "voted"];
    let message = refused(path, &[&base[..], &["--covariates", "id"]].concat());
    assert!(
        message.starts_with("--covariates: ") && message.contains("have 2,000 combinations in 2,000 rows"),
        "{message}"
    );
    let message = misused(path, &["compare", "voters.csv", "--covariates", "party"]);
    assert!(message.starts_with("--covariates needs --outcome"), "{message}");
}

#[test]
fn classes_that_scores_hardly_identify_are_named() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    // A tenth of the rows has a large score of class c; the mean score of its expected members depends on it.
    let table = |large: f64| {
        let row = |index: usize| {
            let scores = match index % 10 {
                0 => format!("{:.3},0.05,{large:.3}", 0.95 - large),
                _ => "0.45,0.45,0.10".to_owned(),
            };
            format!("{scores},{}\n", u8::from(index.is_multiple_of(3)))
        };
        format!("p_a,p_b,p_c,voted\n{}", (0..1000).map(row).collect::<String>())
    };
    fs::write(path.join("weak.csv"), table(0.15)).unwrap();
    fs::write(path.join("strong.csv"), table(0.9)).unwrap();
    let text = |file| run(path, &["disparity", file, "--outcome", "voted", "--no-bootstrap", "-q"]);
    let (weak, strong) = (text("weak.csv"), text("strong.csv"));
    let remark = "The scores hardly identify these classes (mean score of their expected members): c (0.11).";
    assert!(weak.contains(remark) && !strong.contains("hardly identify"), "{weak} {strong}");
}
