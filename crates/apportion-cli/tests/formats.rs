//! Files of other programs: workbooks, encodings, formats that are refused, missing scores, and unusual outputs.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use common::{apportion, message, misused, names_in, refused, run, text};
use tempfile::TempDir;

/// A workbook with the sheets `Scores` (three people) and `Notes`.
const PEOPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../apportion-io/tests/people.xlsx");

/// Runs a command with a file as standard input.
fn with_stdin(folder: &Path, file: &str, args: &[&str]) -> Output {
    let stdin = fs::File::open(folder.join(file)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_apportion"));
    command.current_dir(folder).args(args).stdin(stdin).output().unwrap()
}

/// Returns the notes of a command that must succeed.
fn notes(folder: &Path, args: &[&str]) -> String {
    let output = apportion(folder, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stderr)
}

#[test]
fn a_workbook_is_labeled_and_verified() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::copy(PEOPLE, folder.join("people.xlsx")).unwrap();
    let told = notes(folder, &["label", "people.xlsx", "-o", "out.csv"]);
    assert!(told.contains("\"Scores\"") && told.contains("\"Notes\"") && told.contains("--sheet"), "{told}");
    let written = fs::read_to_string(folder.join("out.csv")).unwrap();
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!(lines[0], "id,zip,born,seen,voted,p_white,p_black,label,label_score");
    assert!(lines[1].starts_with("1,02138,1980-05-31,2024-11-05T13:45:00,TRUE,0.6,0.4,"), "{written}");
    assert!(lines[3].starts_with("123456789012345,2138,2000-02-29,,,1,0,white"), "{written}");
    run(folder, &["verify", "out.csv", "--against", "people.xlsx", "--rule", "match"]);
    run(folder, &["verify", "out.csv", "--against", "people.xlsx", "--rule", "match", "--sheet", "Scores"]);
    // A label that was changed is noticed.
    let (from, to) = (lines[3].to_owned(), lines[3].replace("white,1", "black,0"));
    fs::write(folder.join("changed.csv"), written.replace(&from, &to)).unwrap();
    let args = ["verify", "changed.csv", "--against", "people.xlsx", "--rule", "match"];
    assert_eq!(apportion(folder, &args).status.code(), Some(1));
    // The same table as Parquet, and from standard input.
    run(folder, &["label", "people.xlsx", "-o", "out.parquet", "--sheet", "Scores", "-q"]);
    run(folder, &["verify", "out.parquet", "--against", "people.xlsx"]);
    let piped = with_stdin(folder, "people.xlsx", &["label", "-", "-o", "-", "-q"]);
    assert_eq!(text(&piped.stdout), written);
    // A folder of outputs, and a folder of inputs.
    run(folder, &["label", "people.xlsx", "-o", "labeled/", "-q"]);
    assert_eq!(fs::read_to_string(folder.join("labeled/people.csv")).unwrap(), written);
}

#[test]
fn sheets_and_workbooks_that_cannot_be_used() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::copy(PEOPLE, folder.join("people.xlsx")).unwrap();
    fs::write(folder.join("s.csv"), "p_a,p_b\n0.5,0.5\n").unwrap();
    let told = refused(folder, &["label", "people.xlsx", "-o", "out.csv", "--sheet", "Score"]);
    assert!(told.contains("no sheet \"Score\" (did you mean \"Scores\"?)") && told.contains("\"Notes\""), "{told}");
    let told = misused(folder, &["label", "s.csv", "-o", "out.csv", "--sheet", "Scores"]);
    assert!(told.starts_with("--sheet is for Excel workbooks"), "{told}");
    let told = refused(folder, &["label", "people.xlsx", "-o", "out.xlsx"]);
    assert!(told.starts_with("out.xlsx: ") && told.contains(".csv"), "{told}");
    assert_eq!(names_in(folder), ["people.xlsx", "s.csv"]);
}

#[test]
fn files_of_other_programs_are_refused_with_the_next_step() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let sas = [&[0; 12][..], b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\0\x09\xc7\x31\x8c"].concat();
    let cases: [(&str, &[u8], &str); 8] = [
        ("x.dta", b"<stata_dta><header><release>118", "export delimited"),
        ("x.rds", b"X\n\0\0\0\x03\0\x04\x03\x01", "arrow::write_parquet"),
        ("x.RData", b"RDX3\nX\n", "arrow::write_parquet"),
        ("x.sav", b"$FL2@(#) IBM SPSS STATISTICS", "SAVE TRANSLATE"),
        ("x.sas7bdat", &sas, "PROC EXPORT"),
        ("x.json", b"{\"p_a\": [0.5], \"p_b\": [0.5]}", "DuckDB"),
        ("x.geojson", b"{ \"type\": \"FeatureCollection\"}", "DuckDB"),
        ("x.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ".xlsx"),
    ];
    for (name, bytes, expected) in cases {
        fs::write(folder.join(name), bytes).unwrap();
        let by_name = refused(folder, &["label", name, "-o", "out.csv"]);
        assert!(by_name.starts_with(&format!("{name}: ")) && by_name.contains(expected), "{by_name}");
        let by_content = message(&with_stdin(folder, name, &["label", "-", "-o", "out.csv"]), 1);
        assert_eq!(by_content.split_once(": ").unwrap().1, by_name.split_once(": ").unwrap().1);
        fs::remove_file(folder.join(name)).unwrap();
    }
    assert!(names_in(folder).is_empty());
}

#[test]
fn windows_1252_is_detected_noted_and_written_as_utf8() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("latin.csv"), b"id,p_a,p_b,name\n1,0.6,0.4,Lee\n2,0.3,0.7,Mu\xf1oz\n").unwrap();
    let told = notes(folder, &["label", "latin.csv", "-o", "out.csv"]);
    assert!(told.contains("Windows-1252: latin.csv"), "{told}");
    assert!(fs::read_to_string(folder.join("out.csv")).unwrap().contains("Muñoz"));
    run(folder, &["verify", "out.csv", "--against", "latin.csv", "--rule", "match"]);
    for encoding in ["latin1", "windows-1252"] {
        let told = notes(folder, &["label", "latin.csv", "-o", "same.csv", "--force", "--encoding", encoding]);
        assert!(!told.contains("Windows-1252"), "{told}");
        assert_eq!(fs::read(folder.join("same.csv")).unwrap(), fs::read(folder.join("out.csv")).unwrap());
    }
    let expected =
        "latin.csv: line 3, column 4: not valid UTF-8; use --encoding windows-1252, or convert the file to UTF-8";
    assert_eq!(refused(folder, &["label", "latin.csv", "-o", "no.csv", "--encoding", "utf8"]), expected);
    fs::write(folder.join("latin.csv"), b"id,p_a,p_b,name\n1,0.6,0.4,Mu\xc3\xb1oz\n2,0.3,0.7,Mu\xf1oz\n").unwrap();
    assert_eq!(refused(folder, &["label", "latin.csv", "-o", "no.csv"]), expected);
}

#[test]
fn a_first_line_that_names_the_separator_is_understood() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("s.csv"), "\u{feff}sep=;\r\nid;p_a;p_b\r\n1;0,6;0,4\r\n2;x;0,7\r\n").unwrap();
    let told = refused(folder, &["label", "s.csv", "-o", "out.csv"]);
    assert!(told.starts_with("s.csv: row 2, column \"p_a\": \"x\" "), "{told}");
    fs::write(folder.join("s.csv"), "sep=;\nid;p_a;p_b\n1;0,6;0,4\n2;0,3;0,7\n").unwrap();
    let told = notes(folder, &["label", "s.csv", "-o", "out.csv"]);
    assert!(told.contains("values are separated by semicolons: s.csv"), "{told}");
    assert!(fs::read_to_string(folder.join("out.csv")).unwrap().starts_with("id,p_a,p_b,label"));
    run(folder, &["verify", "out.csv", "--against", "s.csv", "--rule", "match"]);
}

#[test]
fn rows_with_missing_scores_can_be_skipped() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let rows = "id,p_a,p_b\n1,0.6,0.4\n2,,0.7\n3,NA,NA\n4,0.3,0.7\n5,0.2,(S)\n6,(S),(S)\n";
    fs::write(folder.join("s.csv"), rows).unwrap();
    let told = refused(folder, &["label", "s.csv", "-o", "out.csv"]);
    assert!(told.starts_with("s.csv: row 2, column \"p_a\": ") && told.ends_with("--skip-missing"), "{told}");
    let told = notes(folder, &["label", "s.csv", "-o", "out.csv", "--skip-missing"]);
    assert!(told.contains("3 of 6 rows are left out"), "{told}");
    assert!(told.contains("1 of them with only some scores"), "{told}");
    let written = fs::read_to_string(folder.join("out.csv")).unwrap();
    let is_labeled: Vec<bool> = written.lines().skip(1).map(|line| !line.ends_with(",,")).collect();
    assert_eq!(is_labeled, [true, false, false, true, true, false], "{written}");
    run(folder, &["verify", "out.csv", "--against", "s.csv", "--rule", "match", "--skip-missing"]);
    // In Parquet, missing values are nulls.
    fs::write(folder.join("t.csv"), "p_a,p_b\n0.5,0.5\n").unwrap();
    run(folder, &["label", "s.csv", "-o", "s.parquet", "--skip-missing", "-q"]);
    let again = notes(folder, &["label", "s.parquet", "-o", "again.csv", "--skip-missing", "--as", "second"]);
    assert!(again.contains("3 of 6 rows are left out"), "{again}");
}

/// The file behind standard input is an input, and never overwritten.
#[cfg(unix)]
#[test]
fn standard_input_is_not_overwritten() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let rows = "id,p_a,p_b\n1,0.6,0.4\n2,0.3,0.7\n";
    fs::write(folder.join("s.csv"), rows).unwrap();
    fs::hard_link(folder.join("s.csv"), folder.join("other.csv")).unwrap();
    for output in ["s.csv", "other.csv"] {
        let told = message(&with_stdin(folder, "s.csv", &["label", "-", "-o", output, "--force"]), 1);
        assert!(told.starts_with(&format!("{output}: ")) && told.contains("inputs"), "{told}");
    }
    let told = with_stdin(folder, "s.csv", &["label", "-", "-o", "new.csv", "--report", "s.csv.html", "--force"]);
    assert!(told.status.success());
    assert_eq!(fs::read_to_string(folder.join("s.csv")).unwrap(), rows);
}

#[cfg(unix)]
#[test]
fn the_null_device_takes_any_output() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("s.csv"), "id,p_a,p_b\n1,0.6,0.4\n2,0.3,0.7\n").unwrap();
    let told = notes(folder, &["label", "s.csv", "-o", "/dev/null"]);
    assert!(told.contains("written to /dev/null"), "{told}");
    run(folder, &["simulate", "voters", "--rows", "10", "-o", "/dev/null", "-q"]);
    assert_eq!(names_in(folder), ["s.csv"]);
}
