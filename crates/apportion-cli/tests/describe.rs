//! The command `describe`: the content of columns, what commands then recognize, and commands that run as suggested.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{json, refused, run};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Writes a file with two rows of ones, which are never printed, and returns its description as JSON.
fn described(folder: &Path, name: &str, header: &str) -> Value {
    let row = vec!["1"; header.split(',').count()].join(",");
    fs::write(folder.join(name), format!("{header}\n{row}\n{row}\n")).unwrap();
    json(folder, &["describe", name, "--json"])
}

/// Returns the recognized columns with their contents.
fn contents(description: &Value) -> Vec<(&str, &str)> {
    let columns = description["columns"].as_array().unwrap();
    columns.iter().filter_map(|own| Some((own["name"].as_str()?, own["content"].as_str()?))).collect()
}

/// Returns the suggested commands as they are printed.
fn commands(folder: &Path, name: &str) -> Vec<String> {
    let printed = run(folder, &["describe", name]);
    printed.lines().filter(|line| line.starts_with("apportion ")).map(str::to_owned).collect()
}

#[test]
fn columns_are_taken_for_what_the_commands_take_them_for() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let voters = described(folder, "v.csv", "voter_id,Last Name,FIRST_NAME,zip,county_fips,race_code,age,party");
    let expected = [
        ("voter_id", "id"),
        ("Last Name", "surname"),
        ("FIRST_NAME", "first_name"),
        ("zip", "zcta"),
        ("county_fips", "county"),
        ("race_code", "truth"),
    ];
    assert_eq!(contents(&voters), expected);
    assert_eq!((&voters["rows"], &voters["columns"][6]), (&json!(2), &json!({"name": "age"})));
    assert_eq!(voters["columns"][5]["setting"], "truth");
    assert_eq!(voters["columns"][1].get("setting"), None);
    // `predict` finds the same columns.
    fs::write(folder.join("v.csv"), "voter_id,Last Name,FIRST_NAME,zip,county_fips\n1,Garcia,Ann,27601,37183\n")
        .unwrap();
    let predicted = json(folder, &["predict", "v.csv", "-o", "s.csv", "--model", "bifsg", "--json", "--quiet"]);
    let used = &predicted["columns"];
    assert_eq!(
        (&used["surname"], &used["first name"], &used["county"], &used["zcta"]),
        (&json!("Last Name"), &json!("FIRST_NAME"), &json!("county_fips"), &json!("zip"))
    );

    let scores = described(folder, "w.csv", "id,county,pred.whi,pred.bla,pred.his,pred.asi,pred.oth,label");
    assert_eq!(scores["score_format"], "wru");
    let classes: Vec<&Value> = scores["columns"].as_array().unwrap()[2..7].iter().map(|own| &own["class"]).collect();
    assert_eq!(classes, ["white", "black", "hispanic", "asian", "other"]);
    assert_eq!(contents(&scores)[7], ("label", "label"));
}

#[test]
fn the_suggested_commands_run() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    run(folder, &["simulate", "voters", "--rows", "300", "-o", "my voters.csv"]);
    let check = |name: &str, expected: &[&str]| {
        let commands = commands(folder, name);
        assert_eq!(commands, expected);
        for command in commands {
            let words: Vec<&str> = command.split(' ').skip(1).collect();
            // Two words in quotes are the name of the file.
            let words: Vec<String> = words
                .join(" ")
                .replace("'my voters.csv'", "my\u{a0}voters.csv")
                .split(' ')
                .map(|word| word.replace('\u{a0}', " "))
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).chain(["--quiet"]).collect();
            let force = if words.contains(&"-o") { vec!["--force"] } else { Vec::new() };
            run(folder, &[words, force].concat());
        }
    };
    check(
        "my voters.csv",
        &[
            "apportion label 'my voters.csv' -o labels.csv --id id",
            "apportion label 'my voters.csv' -o labels.csv --by county --id id",
            "apportion compare 'my voters.csv' --truth race",
        ],
    );
    check("labels.csv", &["apportion audit labels.csv --truth race", "apportion compare labels.csv --truth race"]);
    let people =
        |name: &str, header: &str, row: &str| fs::write(folder.join(name), format!("{header}\n{row}\n")).unwrap();
    people("p.csv", "surname,county_fips", "Garcia,37183");
    check("p.csv", &["apportion predict p.csv -o scores.csv"]);
    people("n.csv", "surname,county", "Garcia,Wake");
    check("n.csv", &["apportion predict n.csv -o scores.csv --within NC"]);
    people("f.csv", "name,zip", "Ana Garcia,27601");
    check("f.csv", &["apportion predict f.csv -o scores.csv --full-name name"]);
    people("s.csv", "surname", "Garcia");
    check("s.csv", &["apportion predict s.csv -o scores.csv --geography none"]);
}

#[test]
fn unknown_columns_are_listed_and_values_never_are() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let header = (0..15).map(|index| format!("x{index}")).collect::<Vec<_>>().join(",");
    fs::write(folder.join("x.csv"), format!("{header}\n{}\n", vec!["Secret"; 15].join(","))).unwrap();
    let printed = run(folder, &["describe", "x.csv"]);
    assert_eq!(
        printed,
        "x.csv: 1 row, 15 columns\n\
         not recognized: x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 and 3 more\n\
         no scores and no surnames were recognized; name the score columns with --scores COL,COL,…, or the surnames with \
         --surname COL\n"
    );
    let two = described(folder, "two.csv", "a_white,a_black,a_asian,b_white,b_black,b_asian");
    let remark = two["remarks"][0].as_str().unwrap();
    assert_eq!(
        remark,
        "there are several sets of score columns, a_* and b_*; choose one with --scores, such as --scores 'a_*'"
    );
    let error = refused(folder, &["describe", "none.csv"]);
    assert!(error.contains("none.csv"), "{error}");
}
