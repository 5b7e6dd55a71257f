//! Untrusted decisions can only produce labels or a clear error. They cannot name files or run code.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use common::{apportion, names_in, text};
use serde_json::{Value, json};
use tempfile::TempDir;

const TABLE: &str = "id,county,p_a,p_b\n1,x,0.6,0.4\n2,x,0.3,0.7\n3,y,0.9,0.1\n4,y,0.2,0.8\n";

/// Returns a valid decision with another rule.
fn with_rule(rule: &Value) -> String {
    json!({"version": 2, "classes": ["a", "b"], "seed": 0, "rule": rule}).to_string()
}

fn prices(prices: &Value) -> String {
    with_rule(&json!({ "prices": [{ "prices": prices }] }))
}

/// Returns decisions with one error each. Numbers that JSON values cannot represent are written as text.
fn hostile() -> Vec<(String, String)> {
    let by_hand = |rule: &str| format!(r#"{{"version":2,"classes":["a","b"],"seed":0,"rule":{rule}}}"#);
    let plane = |weights: &Value, intercept: &Value| json!({"weights": weights, "intercept": intercept});
    let svm = |planes: &Value| with_rule(&json!({"learned": {"learner": "svm", "planes": planes}}));
    let deep = |open: &str, close: &str| by_hand(&(open.repeat(100_000) + &close.repeat(100_000)));
    let many: Vec<Value> =
        (0..1_000_000).map(|group| json!({"group": format!("g{group}"), "prices": [0.0, 0.25]})).collect();
    let classes = |classes: &Value| json!({"version": 2, "classes": classes, "seed": 0, "rule": "argmax"}).to_string();
    let fit_info = |fit_info: &Value| {
        json!({"version": 2, "classes": ["a", "b"], "seed": 0, "rule": "argmax", "fit_info": fit_info}).to_string()
    };
    let mut all = vec![
        ("huge prices".to_owned(), prices(&json!([1e300, -1e300]))),
        ("prices beyond the grid".into(), prices(&json!([1025.0, 0.0]))),
        ("prices at the edge".into(), prices(&json!([1024.0, -1024.0]))),
        ("infinite prices".into(), by_hand(r#"{"prices":[{"prices":[1e999,0]}]}"#)),
        ("NaN prices".into(), by_hand(r#"{"prices":[{"prices":[NaN,0]}]}"#)),
        ("subnormal prices".into(), prices(&json!([5e-324, 0.0]))),
        ("too few prices".into(), prices(&json!([0.0]))),
        ("too many prices".into(), prices(&json!([0.0, 0.0, 0.0, 0.0]))),
        ("no prices".into(), prices(&json!([null, null]))),
        ("no groups".into(), with_rule(&json!({"prices": []}))),
        (
            "a group twice".into(),
            with_rule(&json!({"prices": [{"group": "x", "prices": [0, 0]}, {"group": "x", "prices": [0, 0]}]})),
        ),
        ("a million groups".into(), with_rule(&json!({ "prices": many }))),
        ("groups that are not there".into(), with_rule(&json!({"prices": [{"group": "z", "prices": [0, 0]}]}))),
        (
            "ties without end".into(),
            with_rule(&json!({"prices": [{"prices": [0, 0], "ties": vec![[0.5, 0.5]; 100_000]}]})),
        ),
        ("ties of another length".into(), with_rule(&json!({"prices": [{"prices": [0, 0], "ties": [[0.5]]}]}))),
        ("negative k".into(), by_hand(r#"{"top-k":{"k":-1}}"#)),
        ("k of 0".into(), by_hand(r#"{"top-k":{"k":0}}"#)),
        ("huge k".into(), by_hand(r#"{"top-k":{"k":18446744073709551615}}"#)),
        ("k beyond numbers".into(), by_hand(r#"{"top-k":{"k":1e30}}"#)),
        ("negative thresholds".into(), with_rule(&json!({"threshold": {"at": [-1.0, 0.5]}}))),
        ("huge thresholds".into(), with_rule(&json!({"threshold": {"at": [1e9, 0.5]}}))),
        ("few thresholds".into(), with_rule(&json!({"threshold": {"at": []}}))),
        (
            "huge weights".into(),
            svm(&json!([plane(&json!([1e308, 1e308]), &json!(1e308)), plane(&json!([0, 0]), &json!(0))])),
        ),
        (
            "infinite weights".into(),
            by_hand(r#"{"learned":{"learner":"svm","planes":[{"weights":[1e999,0],"intercept":0},null]}}"#),
        ),
        ("few weights".into(), svm(&json!([plane(&json!([1]), &json!(0)), null]))),
        ("no planes".into(), svm(&json!([]))),
        (
            "an endless tree".into(),
            with_rule(&json!({"learned": {"learner": "forest", "trees": [[{"split": [0, 0.5, 0, 0]}]]}})),
        ),
        ("deep lists".into(), deep("[", "]")),
        ("deep objects".into(), deep(r#"{"prices":["#, "]}")),
        ("an unknown rule".into(), by_hand(r#""run""#)),
        ("a command".into(), by_hand(r#"{"command":"rm -rf /"}"#)),
        (
            "another version".into(),
            json!({"version": 4_000_000_000u32, "classes": ["a", "b"], "seed": 0, "rule": "argmax"}).to_string(),
        ),
        ("negative seed".into(), r#"{"version":2,"classes":["a","b"],"seed":-1,"rule":"argmax"}"#.into()),
        ("no classes".into(), classes(&json!([]))),
        ("too many classes".into(), classes(&json!((0..300).map(|class| class.to_string()).collect::<Vec<_>>()))),
        ("a class twice".into(), classes(&json!(["a", "a"]))),
        ("an empty class".into(), classes(&json!(["a", ""]))),
        ("a reserved class".into(), classes(&json!(["a", "uncoded"]))),
        ("other classes".into(), classes(&json!(["\u{1b}[31mred", "b"]))),
        ("columns elsewhere".into(), fit_info(&json!({"scores": ["/etc/passwd", "../../x"], "people": 1, "tied": 0}))),
        (
            "groups elsewhere".into(),
            fit_info(&json!({"scores": ["p_a", "p_b"], "groups": ["/etc/passwd"], "people": 1, "tied": 0})),
        ),
        (
            "more tied than there are".into(),
            fit_info(&json!({"scores": ["p_a", "p_b"], "people": 0, "tied": u64::MAX})),
        ),
        (
            "a foreign aim".into(),
            fit_info(
                &json!({"scores": ["p_a", "p_b"], "people": 1, "tied": 0, "expected_shares": {"shares": [1e308, -1e308]}}),
            ),
        ),
        ("no JSON".into(), "\u{0}\u{1}".into()),
        ("nothing".into(), String::new()),
        ("a list".into(), "[]".into()),
        ("an unfinished object".into(), r#"{"version":2,"classes":["a""#.into()),
        ("a key twice".into(), r#"{"version":2,"version":2,"classes":["a","b"],"seed":0,"rule":"argmax"}"#.into()),
    ];
    let text = "a".repeat(1 << 20);
    all.push(("a long word".into(), by_hand(&format!("\"{text}\""))));
    all
}

/// Runs a command on a decision, which must succeed or print one short error. Returns whether it succeeded.
fn check(folder: &Path, name: &str, args: &[&str]) -> bool {
    let output = apportion(folder, args);
    let said = text(&output.stderr);
    let errors = said.lines().filter(|line| line.starts_with("error: ")).count();
    assert!(!said.contains("panicked") && said.len() < 2_000, "{name}: {args:?}: {said}");
    assert!(said.chars().all(|letter| letter == '\n' || !letter.is_control()), "{name}: {said:?}");
    match output.status.code() {
        Some(0) => true,
        Some(1 | 2) => {
            assert_eq!(errors, 1, "{name}: {args:?}: {said}");
            false
        }
        code => panic!("{name}: {args:?}: ended with {code:?}: {said}"),
    }
}

#[test]
fn hostile_decisions_give_labels_or_an_error() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("t.csv"), TABLE).unwrap();
    let (mut trials, mut labeled) = (0, 0);
    for (name, decision) in hostile() {
        fs::write(folder.join("d.json"), decision).unwrap();
        trials += 3;
        if check(folder, &name, &["apply", "t.csv", "--decision", "d.json", "-o", "o.csv", "--force"]) {
            labeled += 1;
            let written = fs::read_to_string(folder.join("o.csv")).unwrap();
            let labels: Vec<&str> = written.lines().skip(1).map(|line| line.rsplit(',').nth(1).unwrap()).collect();
            assert!(
                labels.len() == 4 && labels.iter().all(|label| ["a", "b", "Uncoded"].contains(label)),
                "{name}: {written}"
            );
        }
        check(folder, &name, &["export", "d.json", "--sql", "sqlite", "-o", "o.sql", "--force"]);
        check(folder, &name, &["audit", "t.csv", "--label", "county", "--uncoded", "x,y=keep", "--decision", "d.json"]);
        let known = |name: &String| ["d.json", "o.csv", "o.sql", "t.csv"].contains(&name.as_str());
        assert!(names_in(folder).iter().all(known), "{name}: {:?}", names_in(folder));
    }
    eprintln!("hostile decisions: {trials} trials, {labeled} of them gave labels");
    assert!(trials >= 140 && labeled > 0);
}
