//! Runs every stored input, including those that once failed, through its target, with a few hundred mutations of each
//! target's inputs, a few hundred damaged files, and a few thousand problems for the solver. Seeds are fixed.

#![allow(clippy::unwrap_used)] // in helpers

use std::process::Command;

use serde_json::Value;

/// Runs a campaign and returns its report, which must have no failures.
fn trials(words: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_trials")).args(words).output().unwrap();
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "trials {}:\n{problems}", words.join(" "));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["failures"], 0, "{problems}");
    report
}

#[test]
fn stored_inputs_and_their_mutations_keep_every_promise() {
    for target in apportion_trust::TARGETS {
        let inputs = apportion_trust::corpus::of_target(target.name).len() as u64;
        assert!(inputs >= 2, "{} has {inputs} inputs", target.name);
        // Reference files go through the whole program, which is slower.
        let mutations = if target.name == "reference" { 60 / inputs } else { 300 / inputs };
        let report = trials(&["replay", target.name, "--mutations", &mutations.to_string(), "--seed", "16"]);
        assert_eq!(report["trials"], inputs * (mutations + 1), "{}: every trial was run", target.name);
    }
}

#[test]
fn damaged_files_are_read_right_or_refused() {
    let report = trials(&["files", "--count", "400", "--seed", "2"]);
    assert_eq!(report["trials"], 400);
    let kinds = report["kinds"].as_object().unwrap();
    let sum = |what: &str| kinds.values().map(|kind| kind[what].as_u64().unwrap()).sum::<u64>();
    assert!(
        sum("accepted") > 40 && sum("refused") > 40,
        "mutations are neither all harmless nor all hopeless: {report}"
    );
}

#[test]
fn random_problems_are_solved_to_the_optimum() {
    let report = trials(&["solver", "--small", "4000", "--large", "12", "--seed", "3"]);
    assert_eq!(report["trials"], 4012);
    assert!(report["kinds"]["small"]["accepted"].as_u64() > Some(2500), "{report}");
    assert!(report["kinds"]["small"]["refused"].as_u64() > Some(50), "{report}");
}
