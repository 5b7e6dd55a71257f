//! `apply` lists groups that are not in the decision, and labels their rows as requested; `verify` repeats it.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::path::Path;

use common::{apportion, json, misused, refused, run, text};
use tempfile::TempDir;

/// Writes simulated voters, a decision by county, and the voters with other names of counties.
fn fitted(rename: impl Fn(usize, &str) -> String) -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    run(path, &["simulate", "voters", "--rows", "1500", "--seed", "5", "-o", "voters.csv", "-q"]);
    run(path, &["fit", "voters.csv", "-o", "decision.json", "--by", "county", "--id", "id", "-q"]);
    let mut reader = csv::Reader::from_path(path.join("voters.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let county = header.iter().position(|name| name == "county").unwrap();
    let mut writer = csv::Writer::from_path(path.join("renamed.csv")).unwrap();
    writer.write_record(&header).unwrap();
    for (row, record) in reader.records().enumerate() {
        let record = record.unwrap();
        let cells = record.iter().enumerate();
        let cells = cells.map(|(index, cell)| if index == county { rename(row, cell) } else { cell.to_owned() });
        writer.write_record(cells).unwrap();
    }
    writer.flush().unwrap();
    folder
}

/// Returns a column of a CSV file.
fn column(path: &Path, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let index = reader.headers().unwrap().iter().position(|own| own == name).unwrap();
    reader.records().map(|record| record.unwrap()[index].to_owned()).collect()
}

fn apply<'a>(output: &'a str, policy: &'a str) -> Vec<&'a str> {
    vec!["apply", "renamed.csv", "--decision", "decision.json", "-o", output, "--id", "id", "--unknown-groups", policy]
}

#[test]
fn all_unknown_groups_are_listed_with_their_rows() {
    let folder = fitted(|row, county| match row {
        0..3 => "Wake County".to_owned(),
        3..5 => "DURHAM".to_owned(),
        5..17 => format!("nowhere {row}"),
        _ => county.to_owned(),
    });
    let args = ["apply", "renamed.csv", "--decision", "decision.json", "-o", "out.csv", "-q"];
    let message = refused(folder.path(), &args);
    let start = "14 groups (17 rows) are not in the decision: \"Wake County\" (3 rows; did you mean \"Wake\"?), \"DURHAM\" (2 \
                 rows; did you mean \"Durham\"?), \"nowhere 10\" (1 row)";
    assert!(message.starts_with(start), "{message}");
    assert!(message.contains(" and 4 more; correct the names, fit again with these rows, or use "), "{message}");
    assert!(message.ends_with("--unknown-groups overall or --unknown-groups unlabeled"), "{message}");
    assert!(!folder.path().join("out.csv").exists());
}

#[test]
fn rows_of_unknown_groups_can_stay_unlabeled() {
    let folder = fitted(|row, county| if row < 40 { "nowhere".into() } else { county.to_owned() });
    let path = folder.path();
    let output = apportion(path, &apply("out.csv", "unlabeled"));
    assert!(output.status.success());
    let said = text(&output.stderr);
    let warning = "warning: 1 group (40 rows) is not in the decision: \"nowhere\" (40 rows); these rows are unlabeled";
    assert!(said.contains(warning), "{said}");
    run(path, &["label", "voters.csv", "-o", "labeled.csv", "--by", "county", "--id", "id", "-q"]);
    let mut expected = column(&path.join("labeled.csv"), "label");
    expected[..40].fill("Uncoded".into());
    assert_eq!(column(&path.join("out.csv"), "label"), expected);
}

/// The overall prices of a decision by group are those of the same rule without groups.
#[test]
fn rows_of_unknown_groups_can_have_the_overall_prices() {
    let folder = fitted(|_, _| "nowhere".into());
    let path = folder.path();
    run(path, &apply("out.csv", "overall"));
    run(path, &["label", "voters.csv", "-o", "labeled.csv", "--id", "id", "-q"]);
    assert_eq!(column(&path.join("out.csv"), "label"), column(&path.join("labeled.csv"), "label"));
    // People of cells likewise.
    run(path, &[&apply("cells.csv", "unlabeled")[..], &["--count", "id"]].concat());
    let (people, unlabeled) = (column(&path.join("cells.csv"), "id"), column(&path.join("cells.csv"), "n_uncoded"));
    assert_eq!(people, unlabeled);
}

#[test]
fn the_policy_is_recorded_and_verified() {
    let folder = fitted(|row, county| if row < 40 { "nowhere".into() } else { county.to_owned() });
    let path = folder.path();
    for policy in ["overall", "unlabeled"] {
        let name = format!("{policy}.parquet");
        run(path, &[&apply(&name, policy)[..], &["-q"]].concat());
        assert_eq!(json(path, &["provenance", &name, "--json"])["options"]["unknown_groups"], policy);
        let checks = run(path, &["verify", &name, "--against", "renamed.csv", "-q"]);
        assert!(checks.contains("every label agrees with the decision"), "{checks}");
        // Without provenance, the options say it.
        let name = format!("{policy}.csv");
        run(path, &[&apply(&name, policy)[..], &["-q"]].concat());
        let verify = ["verify", &name, "--against", "renamed.csv", "--decision", "decision.json", "--id", "id", "-q"];
        assert!(refused(path, &verify).contains("group \"nowhere\" is not in the decision"));
        run(path, &[&verify[..], &["--unknown-groups", policy]].concat());
        let other = if policy == "overall" { "unlabeled" } else { "overall" };
        let message = refused(path, &[&verify[..], &["--unknown-groups", other]].concat());
        assert!(message.contains("renamed.csv") || message.contains(&name), "{message}");
    }
}

#[test]
fn a_decision_with_bounds_has_no_overall_prices() {
    let folder = fitted(|_, _| "nowhere".into());
    let path = folder.path();
    let fit = ["fit", "voters.csv", "-o", "decision.json", "--by", "county", "--at-most", "other=50%", "--force", "-q"];
    run(path, &fit);
    let message = refused(path, &["apply", "renamed.csv", "--decision", "decision.json", "-o", "out.csv", "-q"]);
    assert!(message.ends_with("or use --unknown-groups unlabeled"), "{message}");
    let message = refused(path, &apply("out.csv", "overall"));
    assert!(message.starts_with("--unknown-groups: the decision has no overall prices; fit it again"), "{message}");
    misused(path, &apply("out.csv", "skip"));
}
