//! Labels that exist: the column called `label` is found by its name, and values that mean unlabeled have one grammar.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{apportion, json, misused, refused, run, text};
use tempfile::TempDir;

fn labeled(rule: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["simulate", "voters", "--rows", "600", "--seed", "5", "-o", "voters.csv", "-q"]);
    run(folder.path(), &["label", "voters.csv", "-o", "labeled.csv", "--rule", rule, "-q"]);
    folder
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn found(folder: &Path, line: &str) -> serde_json::Value {
    json(folder, &words(&format!("{line} --json -q")))
}

#[test]
fn the_column_called_label_is_found() {
    let folder = labeled("argmax");
    let folder = folder.path();
    assert_eq!(found(folder, "audit labeled.csv"), found(folder, "audit labeled.csv --label label"));
    let output = apportion(folder, &["audit", "labeled.csv"]);
    assert!(text(&output.stderr).contains("labels: column \"label\"; name another with --label"));
    let message = misused(folder, &["audit", "voters.csv", "-q"]);
    assert_eq!(message, "no column is called \"label\"; name the column of the labels with --label COL");
    // Rules are compared without labels, unless an option is about labels.
    assert!(!run(folder, &["compare", "labeled.csv", "-q"]).contains("your labels"));
    let compared = run(folder, &["compare", "labeled.csv", "--label-map", "W=white", "-q"]);
    assert!(compared.contains("your labels"), "{compared}");
    let line = "compare voters.csv --label-map W=white -q";
    assert_eq!(misused(folder, &words(line)), "--label-map needs --label COL");
    fs::copy(folder.join("labeled.csv"), folder.join("outcome.csv")).unwrap();
    let disparity =
        run(folder, &words("disparity outcome.csv --outcome race --outcome-value white --label-map W=white -q"));
    assert!(disparity.contains("your labels"), "{disparity}");
}

#[test]
fn values_that_mean_unlabeled_have_one_form_in_all_commands() {
    let folder = labeled("threshold");
    let folder = folder.path();
    let rows = fs::read_to_string(folder.join("labeled.csv")).unwrap();
    let changed = rows.replacen(",Uncoded,", ",U,", 5).replacen(",Uncoded,", ",X,", 5);
    assert_ne!(changed, rows);
    fs::write(folder.join("labeled.csv"), changed).unwrap();
    let audit = |options: &str| run(folder, &words(&format!("audit labeled.csv -q {options}")));
    assert_eq!(audit("--uncoded Uncoded,U,X"), audit("--uncoded Uncoded,U,X=keep"));
    assert_eq!(audit("--uncoded Uncoded --uncoded U --uncoded X"), audit("--uncoded Uncoded,U,X=keep"));
    let size = |options: &str| audit(options).lines().next().unwrap().to_owned();
    let unlabeled = rows.matches(",Uncoded,").count();
    let size_of = |rest: &str| format!("600 rows, {} labeled{rest}", 600 - unlabeled);
    assert_eq!(size("--uncoded Uncoded,U,X"), size_of(""));
    assert_eq!(size("--uncoded Uncoded,U,X=drop"), size_of(&format!(", {unlabeled} unlabeled left out")));
    let counted = format!(", {unlabeled} unlabeled counted as their most likely class");
    assert_eq!(size("--uncoded Uncoded,U,X=argmax"), size_of(&counted));
    for command in [
        "compare labeled.csv --label label",
        "disparity labeled.csv --outcome race --outcome-value white --label label",
    ] {
        let table = run(folder, &words(&format!("{command} -q --uncoded Uncoded,U,X")));
        assert!(table.contains("your labels"), "{table}");
        let message = misused(folder, &words(&format!("{command} -q --uncoded Uncoded,U,X=argmax")));
        assert!(message.ends_with("use --uncoded Uncoded,U,X=keep"), "{message}");
    }
}

/// Classes of wru have plain names. Labels with the names of its columns need `--classes`, or with truth a map.
#[test]
fn names_of_the_score_columns_are_suggested() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let columns = "pred.whi,pred.bla,pred.his,pred.asi,pred.oth";
    let rows = "whi,white,0.6,0.1,0.1,0.1,0.1\nbla,black,0.2,0.5,0.1,0.1,0.1\n";
    fs::write(folder.join("wru.csv"), format!("label,race,{columns}\n{rows}")).unwrap();
    let message = refused(folder, &words("audit wru.csv -q"));
    assert!(message.contains("\"whi\" (1 row), \"bla\" (1 row)"), "{message}");
    let fix =
        "the score columns have these names, so name the classes in the same way with --classes whi,bla,his,asi,oth";
    assert!(message.ends_with(fix), "{message}");
    run(folder, &words("audit wru.csv -q --classes whi,bla,his,asi,oth"));
    let message = refused(folder, &words("audit wru.csv -q --truth race"));
    assert!(message.contains("(such as --label-map whi=white,bla=black)"), "{message}");
    run(folder, &words("audit wru.csv -q --truth race --label-map whi=white,bla=black"));
    // Scores of another tool.
    let plain = columns.replace("pred.whi", "p_white").replace("pred.bla", "p_black").replace("pred.", "p_");
    fs::write(folder.join("plain.csv"), format!("label,race,{plain}\n{rows}")).unwrap();
    let message = refused(folder, &words("audit plain.csv -q"));
    assert!(message.contains("(such as --label-map whi=white,bla=black)"), "{message}");
}

#[test]
fn names_of_other_columns_are_refused() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("s.csv"), "p_white,p_black,p_api\n0.6,0.3,0.1\n0.2,0.7,0.1\n").unwrap();
    let label = |classes: &str| format!("label s.csv -o out.csv --force -q --classes {classes}");
    let message = refused(folder, &words(&label("black,white,asian")));
    assert_eq!(
        message,
        "--classes: the name \"black\" for column \"p_white\" is that of column \"p_black\"; give the names in the order \
         of the columns: p_white, p_black, p_api"
    );
    // The same names in another order, and new names.
    for (classes, first) in [("black,white,api", "white"), ("white,black,asian", "white"), ("W,B,A", "W")] {
        run(folder, &words(&label(classes)));
        let rows = fs::read_to_string(folder.join("out.csv")).unwrap();
        let label = rows.lines().nth(1).unwrap().split(',').nth(3).unwrap().to_owned();
        assert_eq!(label, first, "{classes}");
    }
}
