//! Advice to users: counts that are off because of the scores or the labels, labels that are mostly wrong, groups that
//! may be the same, and classes that rounding or bounds leave without labels.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{apportion, json, run, text};
use tempfile::TempDir;

fn split(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Writes people with the scores 0.7 and 0.3: some with the true class a, the others b, and some with the label a.
fn write_people(folder: &Path, people: usize, true_a: usize, labels_a: usize) {
    let class = |is_a: bool| if is_a { "a" } else { "b" };
    let row = |i: usize| format!("0.7,0.3,{},{}\n", class(i < true_a), class(i < labels_a));
    let rows: String = (0..people).map(row).collect();
    fs::write(folder.join("people.csv"), format!("p_a,p_b,truth,label\n{rows}")).unwrap();
}

fn audited(folder: &Path) -> String {
    run(folder, &split("audit people.csv --label label --truth truth -q"))
}

/// Returns the sentences of advice.
fn advice(audit: &str) -> Vec<&str> {
    let is_advice =
        |line: &&str| line.starts_with("The scores") || line.starts_with("Compared with the scores, the labels");
    audit.lines().filter(is_advice).collect()
}

#[test]
fn audit_says_for_each_class_what_to_correct() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let shares = "for example with known class shares (--margin of predict)";
    // The scores sum to 700 and 300; true are 500 and 500; all 1,000 labels are a.
    write_people(folder, 1000, 500, 1000);
    let both = |verb, class, scores, labels| {
        format!(
            "The scores {verb} {class} by {scores}; compared with them, the labels {verb} it by {labels}: recalibrate the scores, \
             {shares}, and use --rule match."
        )
    };
    let expected = [both("overcount", "a", "40.0%", "42.9%"), both("undercount", "b", "40.0%", "100.0%")];
    assert_eq!(advice(&audited(folder)), expected);
    write_people(folder, 1000, 700, 1000);
    let expected = [
        "Compared with the scores, the labels overcount a by 42.9%: use --rule match.",
        "Compared with the scores, the labels undercount b by 100.0%: use --rule match.",
    ];
    assert_eq!(advice(&audited(folder)), expected);
    write_people(folder, 1000, 500, 700);
    let expected = [
        format!("The scores overcount a by 40.0%: recalibrate them, {shares}."),
        format!("The scores undercount b by 40.0%: recalibrate them, {shares}."),
    ];
    assert_eq!(advice(&audited(folder)), expected);
    // Chance explains a difference of 2 people if the scores sum to 7: the standard deviation is at most 2.6.
    write_people(folder, 10, 5, 7);
    assert!(advice(&audited(folder)).is_empty());
    write_people(folder, 1000, 700, 700);
    assert!(advice(&audited(folder)).is_empty());
}

/// Ten groups of ten people with the scores 0.96 and 0.04: matched by group, no one is labeled b.
#[test]
fn audit_recognizes_the_rounding_of_groups() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let row = |i: usize| format!("0.96,0.04,{},g{},a\n", if i < 96 { "a" } else { "b" }, i / 10);
    let rows: String = (0..100).map(row).collect();
    fs::write(folder.join("people.csv"), format!("p_a,p_b,truth,group,label\n{rows}")).unwrap();
    let found = run(folder, &split("audit people.csv --label label --truth truth --by group -q"));
    let expected = "Compared with the scores, the labels undercount b by 100.0%: each group is rounded, so use larger groups or --nested.";
    assert_eq!(advice(&found), [expected]);
    assert_eq!(
        advice(&audited(folder)),
        ["Compared with the scores, the labels undercount b by 100.0%: use --rule match."]
    );
}

#[test]
fn audit_shows_how_often_labels_are_expected_to_be_right() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write_people(folder, 10, 5, 7);
    let found = audited(folder);
    let row = |class: &str| found.lines().find(|line| line.starts_with(&format!("{class} "))).unwrap().to_owned();
    assert_eq!(split(&row("a"))[..3], ["a", "7", "0.700"]);
    assert_eq!(split(&row("b"))[..3], ["b", "3", "0.300"]);
    let expected = "Most labels of these classes are expected to be wrong: b (0.300). Use them for counts, not for decisions about \
                    a person.\n";
    assert!(found.contains(expected), "{found}");
    let found = json(folder, &split("audit people.csv --label label -q --json"));
    let precision: Vec<f64> =
        found["expected_precision"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
    assert!((precision[0] - 0.7).abs() < 1e-9 && (precision[1] - 0.3).abs() < 1e-9, "{precision:?}");
    write_people(folder, 10, 5, 10);
    assert!(!audited(folder).contains("expected to be wrong"));
    let found = json(folder, &split("audit people.csv --label label -q --json"));
    assert!(found["expected_precision"][1].is_null());
}

#[test]
fn groups_that_may_be_the_same_are_pointed_out() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let rows = ["Wake", "wake", "Wake County", "Durham"].map(|county| format!("0.7,0.3,{county},a\n"));
    fs::write(folder.join("people.csv"), format!("p_a,p_b,county,class\n{}", rows.concat())).unwrap();
    let warning = "warning: groups that may be the same are treated separately: \"Wake\", \"Wake County\" and \"wake\". Make their \
                   names equal, or name a column of codes, such as county_fips, with ";
    for (line, setting) in [
        ("label people.csv -o out.csv --by county", "--by"),
        ("label people.csv -o nested.csv --nested county", "--nested"),
        ("audit people.csv --label class --by county", "--by"),
        ("compare people.csv --by county", "--by"),
    ] {
        let told = text(&apportion(folder, &split(line)).stderr);
        assert!(told.contains(&format!("{warning}{setting}\n")), "{line}: {told}");
    }
    let told = text(&apportion(folder, &split("audit people.csv --label class")).stderr);
    assert!(!told.contains("may be the same"), "{told}");
}

/// 100 groups of 10 people: each sums to 0.4 people of b, which rounds to 0.
#[test]
fn rounding_that_loses_a_class_is_warned_of() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let rows: String = (0..1000).map(|i| format!("0.96,0.04,g{},{}\n", i / 10, i / 500)).collect();
    fs::write(folder.join("people.csv"), format!("p_a,p_b,small,large\n{rows}")).unwrap();
    let told = |options: &str| {
        text(&apportion(folder, &split(&format!("label people.csv -o out.csv --force {options}"))).stderr)
    };
    let expected = "warning: rounding in 100 groups changes the totals: b has 0 labels for 40.0 expected (-100.0%). Use larger \
                    groups, or keep the totals with --nested small\n";
    assert!(told("--by small").contains(expected), "{}", told("--by small"));
    for options in ["--by large", "--nested small", "--by small --rule argmax", ""] {
        assert!(!told(options).contains("warning"), "{options}: {}", told(options));
    }
}

#[test]
fn bounds_that_empty_a_class_are_warned_of() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("people.csv"), format!("p_a,p_b\n{}", "0.96,0.04\n".repeat(1000))).unwrap();
    let told = |options: &str| {
        text(&apportion(folder, &split(&format!("label people.csv -o out.csv --force {options}"))).stderr)
    };
    let expected = "warning: no one is labeled \"b\", but 40.0 are expected. The bounds (--tolerance) allow this; to keep the class, \
                    loosen them or add --at-least b=40\n";
    let tolerant = "--rule balance --gamma 1 --tolerance 0.05";
    assert!(told(tolerant).contains(expected), "{}", told(tolerant));
    for options in [&format!("{tolerant} --at-least b=40")[..], "--at-most b=0", "--rule argmax", ""] {
        assert!(!told(options).contains("warning: no one"), "{options}: {}", told(options));
    }
}
