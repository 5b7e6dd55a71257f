//! `apportion predict` on names as files have them: whole names in one column, words that are dropped, and middle names.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::collections::HashMap;
use std::fs;

use common::{apportion, json, misused, refused, run, text};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

fn split(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Returns the rows of a CSV file, by column.
fn rows(text: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    let row = |record: csv::StringRecord| header.iter().cloned().zip(record.iter().map(String::from)).collect();
    reader.records().map(|record| row(record.unwrap())).collect()
}

const PARTS: &str = "\
surname,first_name,county_fips
Smith,John,37063
Smith,John,37063
Smith,John,37063
de la Cruz,Maria,37063
García López,Juan,37063
Do,Minh,37063
Smith,John,37063
";
const WHOLE: &str = "\
name,county_fips
\"SMITH, JOHN A\",37063
\"Smith, John \"\"Jack\"\", Jr.\",37063
Dr. John Smith MD,37063
Maria de la Cruz,37063
\"García López, Juan Carlos\",37063
Minh Do,37063
SMITH JOHN A,37063
";

#[test]
fn whole_names_give_the_scores_of_their_parts() {
    let folder = folder(&[("parts.csv", PARTS), ("whole.csv", WHOLE)]);
    for model in ["bisg", "bifsg"] {
        let parts = rows(&run(folder.path(), &split(&format!("predict parts.csv -o - -q --model {model}"))));
        let whole =
            rows(&run(folder.path(), &split(&format!("predict whole.csv -o - -q --full-name name --model {model}"))));
        for (parts, whole) in parts.iter().zip(&whole) {
            for class in ["white", "black", "hispanic", "asian", "aian", "other"] {
                assert_eq!(parts[&format!("p_{class}")], whole[&format!("p_{class}")], "{}", whole["name"]);
            }
        }
        let changes: Vec<&str> = whole.iter().map(|row| row["name_changes"].as_str()).collect();
        assert_eq!(changes, ["", "suffix dropped+nickname dropped", "title dropped", "", "", "", ""]);
    }
    let result = json(folder.path(), &split("predict whole.csv -o out.csv -q --full-name name --json"));
    assert_eq!(result["columns"], serde_json::json!({ "full name": "name", "county": "county_fips" }));
    assert_eq!((&result["name_changes"]["nickname dropped"], &result["surname_match"]["none"]), (&1.into(), &0.into()));
}

#[test]
fn what_was_dropped_is_in_each_row_and_in_the_summary() {
    let people = "surname,county_fips\nSMITH,37063\nSMITH VI,37063\nSMITHJR,37063\n\"Smith, Esq.\",37063\n\
                  Smith née Jones,37063\nSmith (Smitty),37063\nSMITH J,37063\n\"Smith, John\",37063\nDO,37063\n";
    let folder = folder(&[("people.csv", people)]);
    let found = rows(&run(folder.path(), &split("predict people.csv -o - -q")));
    let changes: Vec<&str> = found.iter().map(|row| row["name_changes"].as_str()).collect();
    let expected = [
        "",
        "suffix dropped",
        "suffix dropped",
        "title dropped",
        "former name dropped",
        "nickname dropped",
        "initial dropped",
        "text after comma dropped",
        "",
    ];
    assert_eq!(changes, expected);
    assert!(found[..8].iter().all(|row| row["p_white"] == found[0]["p_white"]));
    assert_eq!((found[8]["surname_match"].as_str(), found[1]["surname_match"].as_str()), ("exact", "cleaned"));
    // The same names in another order, and as a dictionary of Parquet, have the same scores.
    run(folder.path(), &split("predict people.csv -o scores.parquet -q"));
    let mut lines: Vec<&str> = people.lines().collect();
    lines[1..].reverse();
    fs::write(folder.path().join("reversed.csv"), lines.join("\n")).unwrap();
    let reversed = rows(&run(folder.path(), &split("predict reversed.csv -o - -q")));
    for (one, other) in found.iter().zip(reversed.iter().rev()) {
        assert_eq!(one, other);
    }
    let output = apportion(folder.path(), &split("predict people.csv -o out.csv"));
    let said = text(&output.stderr);
    assert!(said.contains("suffix dropped       2   22.2%"), "{said}");
}

const SURNAMES: &str = "surname,n_white,n_black\nADAMS,30,10\nBAKER,20,40\n";
const FIRST: &str = "first_name,n_white,n_black\nANN,10,30\nZOE,30,10\n";
const MIDDLE: &str = "middle_name,n_white,n_black\nMAE,5,45\nLEE,20,30\n";
const COUNTIES: &str = "county_fips,n_white,n_black\n37001,60,40\n";

/// .6 · .25 · .2 · 60 to .2 · .75 · .6 · 40 is 1 to 2; without the middle name it is 3 to 2.
#[test]
fn middle_names_multiply_the_scores() {
    let folder = folder(&[
        ("surnames.csv", SURNAMES),
        ("first.csv", FIRST),
        ("middle.csv", MIDDLE),
        ("counties.csv", COUNTIES),
        (
            "people.csv",
            "surname,first_name,middle_name,county_fips\nADAMS,ANN,MAE,37001\nADAMS,ANN,,37001\nADAMS,ANN,Q,37001\n",
        ),
        ("whole.csv", "name,county_fips\n\"Adams, Ann Mae\",37001\nAnn Adams,37001\nAnn Q Adams,37001\n"),
    ]);
    let tables = "--surnames surnames.csv --first-names first.csv --middle-names middle.csv --geography counties.csv";
    for people in ["people.csv", "whole.csv --full-name name"] {
        let line = format!("predict {people} -o - -q --model bifsg {tables}");
        let found = rows(&run(folder.path(), &split(&line)));
        for (row, expected) in found.iter().zip([1.0 / 3.0, 0.6, 0.6]) {
            assert!((row["p_white"].parse::<f64>().unwrap() - expected).abs() < 1e-12, "{row:?}");
        }
        let of = |column: &str| found.iter().map(|row| row[column].clone()).collect::<Vec<_>>();
        assert_eq!(of("middle_name_match"), ["exact", "none", "none"]);
        assert_eq!(of("dropped"), ["", "middle name", "middle name"]);
    }
    let result =
        json(folder.path(), &split(&format!("predict people.csv -o out.csv -q --json --model bifsg {tables}")));
    assert_eq!((&result["middle_name_match"]["exact"], &result["dropped"]["middle name"]), (&1.into(), &2.into()));
    assert_eq!(result["columns"]["middle name"], "middle_name");
    let line = format!("predict people.csv -o drawn.csv -q --model fbisg {tables}");
    run(folder.path(), &split(&line));
}

#[test]
fn settings_of_names_that_do_not_fit_are_refused() {
    let folder = folder(&[("people.csv", "name,county_fips\nJohn Smith,37063\n"), ("middle.csv", MIDDLE)]);
    for (options, expected) in [
        ("--full-name name --surname name", "--full-name and --surname cannot be used together; leave one out"),
        (
            "--full-name name --middle-names middle.csv",
            "--middle-names: bisg uses surname and place only; use --model bifsg",
        ),
        (
            "--surname name --middle-name name --model bifsg",
            "--middle-name: no list of middle names is built in; give a table of them with --middle-names FILE",
        ),
    ] {
        let line = format!("predict people.csv -o out.csv {options}");
        assert_eq!(misused(folder.path(), &split(&line)), expected);
    }
    assert_eq!(
        refused(folder.path(), &split("predict people.csv -o out.csv")),
        "people.csv: no surname column was recognized among name, county_fips; name it with --surname, or, if it contains \
         whole names, use --full-name name"
    );
    let line = "predict people.csv -o out.csv --full-name nam";
    let said = refused(folder.path(), &split(line));
    assert!(
        said.starts_with("people.csv: --full-name: there is no column \"nam\" (did you mean \"name\"?);"),
        "{said}"
    );
}
