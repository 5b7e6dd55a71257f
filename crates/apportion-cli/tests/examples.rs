//! All examples in help texts and in the README run unchanged.
#![cfg(unix)] // the examples are shell commands
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{commands_of, run, text};
use tempfile::TempDir;

/// Creates the files that the examples use.
fn files(folder: &Path) {
    let made = "made.csv";
    run(folder, &["simulate", "voters", "--rows", "300", "--seed", "5", "-o", made, "-q"]);
    let table = fs::read_to_string(folder.join(made)).unwrap().replacen("id,", "voter_id,", 1);
    let table = table.replacen("party,voted,", "simulated_party,simulated_voted,", 1);
    fs::write(folder.join("scores.csv"), &table).unwrap();
    run(folder, &["label", "scores.csv", "-o", "labeled.csv", "-q"]);
    run(folder, &["label", "scores.csv", "-o", "scores.parquet", "--as", "other", "-q"]);
    run(folder, &["fit", "scores.csv", "-o", "decision.json", "--by", "county", "-q"]);
    run(folder, &["label", "scores.parquet", "-o", "labeled.parquet", "-q"]);
    fs::copy(folder.join("scores.parquet"), folder.join("more.parquet")).unwrap();
    for name in ["csv", "parquet"] {
        fs::copy(folder.join(format!("labeled.{name}")), folder.join(format!("labels.{name}"))).unwrap();
    }

    let people = "id,first_name,surname,county_fips,zip\n1,Maria,García,37063,27701\n2,John,Smith Jr,37183,27601\n";
    fs::write(folder.join("people.csv"), people).unwrap();
    let margin = "class,share\nwhite,0.7\nblack,0.22\nhispanic,0.03\nasian,0.015\naian,0.01\nother,0.025\n";
    fs::write(folder.join("margin.csv"), margin).unwrap();
    let shares = "n_white,n_black,n_hispanic,n_asian,n_aian,n_other";
    let [garcia, smith] = ["8,2,80,4,3,3", "70,20,4,2,2,2"];
    fs::write(folder.join("by_surname.csv"), format!("surname,{shares}\nGARCIA,{garcia}\nSMITH,{smith}\n")).unwrap();
    fs::write(folder.join("by_county.csv"), format!("county_fips,{shares}\n37063,{garcia}\n37183,{smith}\n")).unwrap();
    fs::write(folder.join("surnames.csv"), "surname,n_white,n_black\nSMITH,70,23\nGARCIA,5,1\n").unwrap();
    fs::write(folder.join("counties.csv"), "county_fips,n_white,n_black\n37063,114,100\n").unwrap();
    census_table(folder);

    // A calibration needs several people of each class.
    run(folder, &["simulate", "voters", "--rows", "4000", "--seed", "5", "-o", "sample.csv", "-q"]);
    let save = ["--save", "calibration.json", "-q"];
    run(folder, &[&["calibrate", "sample.csv", "--truth", "race", "-o", "others.parquet"][..], &save].concat());

    // Labels in the vocabularies of zrp and TargetSmart; some rows are unlabeled.
    let labeled = fs::read_to_string(folder.join("labeled.csv")).unwrap();
    let with = |name: &str, words: [&str; 2], uncoded: &str| {
        let place = labeled.lines().next().unwrap().split(',').position(|column| column == "label").unwrap();
        let line = |(row, line): (usize, &str)| {
            let value = match line.split(',').nth(place).unwrap() {
                "label" => name,
                _ if row % 7 == 0 => uncoded,
                "white" => words[0],
                "black" => words[1],
                other => other,
            };
            format!("{line},{value}\n")
        };
        labeled.lines().enumerate().map(line).collect::<String>()
    };
    let voters = with("race_proxy", ["W", "B"], "");
    // Turnout, votes and prices that are independent of the other columns.
    let outcome = |(row, line): (usize, &str)| match row {
        0 => format!("{line},voted,party,price\n"),
        _ => {
            format!("{line},{},{},{}\n", ["yes", "no", ""][row * row % 3], ["D", "R", "I"][row % 5 % 3], row * 7 % 100)
        }
    };
    fs::write(folder.join("turnout.csv"), voters.lines().enumerate().map(outcome).collect::<String>()).unwrap();
    fs::write(folder.join("voters.csv"), voters).unwrap();
    fs::write(folder.join(made), with("vb_voterbase_race", ["Caucasian", "African-American"], "Uncoded")).unwrap();
    run(folder, &["label", made, "-o", "voters.parquet", "--as", "again", "-q"]);
    fs::remove_file(folder.join(made)).unwrap();
}

/// Writes a table in the layout of data.census.gov, and imports it.
fn census_table(folder: &Path) {
    let codes: Vec<String> = (1..=73).map(|cell| format!("P11_{cell:03}N")).collect();
    let counts = |cell: usize| match cell {
        1 => "60",
        2 => "20",
        5 | 6 => "20",
        _ => "0",
    };
    let values: Vec<&str> = (1..=73).map(counts).collect();
    let mut table = format!("GEO_ID,NAME,{},\n", codes.join(","));
    for tract in ["37063000101", "37183050100"] {
        table += &format!("1400000US{tract},Tract,{},\n", values.join(","));
    }
    fs::write(folder.join("DECENNIALDHC2020.P11-Data.csv"), table).unwrap();
    run(folder, &["tables", "import", "DECENNIALDHC2020.P11-Data.csv", "-o", "tracts.parquet", "-q"]);
}

/// Runs a command in a temporary folder that contains its inputs.
fn run_line(files: &Path, line: &str) {
    let folder = TempDir::new().unwrap();
    for (word, before) in line.split_whitespace().zip(std::iter::once("").chain(line.split_whitespace())) {
        if files.join(word).is_file() && !["-o", ">", "--save"].contains(&before) {
            fs::copy(files.join(word), folder.path().join(word)).unwrap();
        }
    }
    let program = assert_cmd::cargo::cargo_bin("apportion");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let output = shell.current_dir(folder.path()).env("PATH", path).args(["-e", "-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
}

/// Returns a command with a smaller number of people, which takes less time, and without its description.
fn shortened(line: &str) -> String {
    let line = line.split("    ").next().unwrap().split(" #").next().unwrap().trim();
    let line = line.replace("1000000", "1000").replace("100000", "1000").replace("/tmp/demo", "demo");
    match line.as_str() {
        "apportion demo" => format!("{line} --rows 1000"),
        "apportion reproduce -o paper" => format!("{line} --datasets 2 --rows 500 --voters 1000"),
        _ => line,
    }
}

/// Returns the commands in a text that run the program; a backslash continues a line.
fn examples(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        match lines.last_mut().and_then(|last| Some((last.strip_suffix('\\')?.trim().to_owned(), last))) {
            Some((begun, last)) => *last = format!("{begun} {line}"),
            None => lines.push(line.to_owned()),
        }
    }
    lines.into_iter().filter(|line| line.starts_with("apportion ")).collect()
}

/// Collects all help texts: of the program, its commands, and their subcommands.
fn helps(folder: &Path, command: &[String], found: &mut Vec<(String, String)>) {
    let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
    args.push("--help");
    let help = run(folder, &args);
    for below in commands_of(&help) {
        helps(folder, &[command, &[below]].concat(), found);
    }
    found.push((command.join(" "), help));
}

#[test]
fn examples_of_every_help_run() {
    let folder = TempDir::new().unwrap();
    files(folder.path());
    let mut all = Vec::new();
    helps(folder.path(), &[], &mut all);
    assert!(all.len() > 11, "{}", all.len());
    for (command, help) in all {
        let examples = examples(&help);
        // The help of a command that only has subcommands has no examples.
        assert_eq!(examples.is_empty(), command == "simulate", "{command}");
        examples.iter().for_each(|line| run_line(folder.path(), &shortened(line)));
    }
}

#[test]
fn lines_that_go_on_are_one_example() {
    let text = "Examples:\n  apportion a b \\\n      --c d\n  apportion e    what it does\n\nelse";
    assert_eq!(examples(text), ["apportion a b --c d", "apportion e    what it does"]);
    assert_eq!(shortened("apportion e    what it does"), "apportion e");
}

#[test]
fn examples_of_the_readme_run() {
    let folder = TempDir::new().unwrap();
    files(folder.path());
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let examples = examples(&readme);
    assert!(examples.len() > 3, "{examples:?}");
    examples.iter().for_each(|line| run_line(folder.path(), &shortened(line)));
}
