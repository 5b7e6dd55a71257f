//! `reproduce` and the paper's simulations from the command line: files, folders, and reproducible numbers.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use common::{misused, names_in, refused, run};
use tempfile::TempDir;

const SMALL: [&str; 8] = ["--datasets", "2", "--rows", "300", "--voters", "500", "--seed", "3"];

fn reproduce(folder: &Path, more: &[&str]) {
    run(folder, &[&["reproduce", "-o", "paper", "-q"], &SMALL[..], more].concat());
}

/// Returns the files with numbers.
fn numbers(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let tables = names_in(folder).into_iter().filter(|name| name.ends_with(".csv"));
    tables.map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

#[test]
fn a_folder_is_written_whole_and_is_always_the_same() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    reproduce(folder, &[]);
    let paper = folder.join("paper");
    let first = numbers(&paper);
    let names: Vec<&str> = first.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "biasmap-NC.csv",
        "biasmap-bisg.csv",
        "biasmap-raking.csv",
        "calibration-bisg.csv",
        "calibration-nc.csv",
        "calibration-raking.csv",
        "info-bias.csv",
        "info-pareto.csv",
        "learners.csv",
        "order.csv",
        "pareto-NC.csv",
        "pareto-bisg.csv",
        "pareto-dropuncoded.csv",
        "pareto-raking.csv",
        "pareto-simulation.csv",
        "pocrep.csv",
        "popmap.csv",
        "simplex-appendix.csv",
        "simplex-main.csv",
        "tables.csv",
        "variants-NC.csv",
        "variants-bisg.csv",
        "variants-dropuncoded.csv",
        "variants-raking.csv",
        "votercounts-NC.csv",
        "votercounts-bisg.csv",
        "votercounts-dropuncoded.csv",
        "votercounts-raking.csv",
        "worstcasebias.csv",
    ];
    assert_eq!(names, expected);
    assert_eq!(names_in(&paper).len(), 56, "and 26 specifications and a page");
    assert_eq!(names_in(folder), ["paper"], "nothing unfinished is left");
    let page = fs::read_to_string(paper.join("report.html")).unwrap();
    assert!(page.contains("apportion reproduce -o paper -q --datasets 2"), "what to do to have it again");

    let again = [&["reproduce", "-o", "paper", "-q"], &SMALL[..]].concat();
    assert!(refused(folder, &again).contains("--force"));
    fs::write(paper.join("info-bias.csv"), "old").unwrap();
    fs::write(paper.join("mine.txt"), "mine").unwrap();
    let mut command = Command::cargo_bin("apportion").unwrap();
    let output =
        command.current_dir(folder).env("RAYON_NUM_THREADS", "1").args(&again).arg("--force").output().unwrap();
    assert!(output.status.success());
    assert_eq!(numbers(&paper), first, "by one thread, too");
    assert_eq!(fs::read_to_string(paper.join("mine.txt")).unwrap(), "mine");
}

#[test]
fn what_cannot_be_written_or_computed_is_refused_at_once() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    assert!(refused(folder, &["reproduce", "-o", "no/paper"]).contains("the folder does not exist"));
    fs::write(folder.join("file"), "").unwrap();
    assert!(refused(folder, &["reproduce", "-o", "file"]).contains("it is not a folder"));
    assert!(!misused(folder, &["reproduce", "-o", "paper", "--datasets", "1"]).is_empty());
    let said = misused(folder, &["simulate", "normal", "--variance", "0", "-o", "out.csv"]);
    assert!(said.contains("variance"), "{said}");
    let said = misused(folder, &["simulate", "worst-case", "--unknown", "0.8", "--others", "0.3", "-o", "out.csv"]);
    assert!(said.contains("at most 1"), "{said}");
    assert_eq!(names_in(folder), ["file"]);
}

/// A row depends only on the seed and its row number, so a longer file starts with the shorter one, for any number of
/// threads.
#[test]
fn simulated_rows_depend_on_seed_and_number_alone() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for what in ["normal", "categorical", "worst-case"] {
        let with = |rows: &str, seed: &str, threads: &str| {
            let mut command = Command::cargo_bin("apportion").unwrap();
            let args = ["simulate", what, "--rows", rows, "--seed", seed, "-o", "-", "-q"];
            let output = command.current_dir(folder).env("RAYON_NUM_THREADS", threads).args(args).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let long = with("150000", "4", "2"); // three batches
        assert_eq!(long.lines().count(), 150_001);
        assert_eq!(long, with("150000", "4", "1"), "{what}");
        assert!(long.starts_with(&with("70000", "4", "2")), "{what}");
        assert_ne!(with("1000", "4", "2"), with("1000", "5", "2"), "{what}");
        assert!(long.starts_with("id,truth,p_1,p_2,p_3,p_4,p_5,p_6\n1,"), "{what}");
    }
}
