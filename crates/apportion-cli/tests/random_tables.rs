//! Random tables and options: the library and the program give the same labels, `audit` agrees with `label`, `verify`
//! accepts the output, and detects a changed label.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::fs;
use std::path::Path;

use apportion::rule::Thresholds;
use apportion::{
    Balance, Classes, Groups, Keys, Label, Match, Matrix, Penalty, Reference, Rule, Scores, Settings, UNCODED, seed,
};
use common::{json, refused, run};
use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

/// A table, and a rule for the program and for the library.
#[derive(Clone, Debug)]
struct Case {
    /// The scores, row by row.
    rows: Vec<Vec<f64>>,
    groups: Vec<u8>,
    options: String,
    rule: Rule,
}

fn cases() -> impl Strategy<Value = Case> {
    let size = (2usize..6, 1usize..50);
    (size, rules(), any::<bool>()).prop_flat_map(|((classes, rows), (options, rule), coarse)| {
        // A small number of distinct weights causes many ties.
        let weight = if coarse { (1u32..4).boxed() } else { (1u32..100_000).boxed() };
        let row = prop::collection::vec(weight, classes).prop_map(|weights| {
            let sum: u32 = weights.iter().sum();
            weights.iter().map(|&weight| f64::from(weight) / f64::from(sum)).collect::<Vec<f64>>()
        });
        let (scores, groups) = (prop::collection::vec(row, rows), prop::collection::vec(0u8..3, rows));
        (scores, groups).prop_map(move |(rows, groups)| Case {
            rows,
            groups,
            options: options.clone(),
            rule: rule.clone(),
        })
    })
}

fn rules() -> impl Strategy<Value = (String, Rule)> {
    let overall = || Match::overall(Reference::Posterior);
    let balance =
        move |gamma: f64, penalty: Penalty| Rule::Balance(Balance::new(gamma, overall()).with_penalty(penalty));
    prop::sample::select(vec![
        ("--rule argmax", Rule::Argmax),
        ("--rule threshold --at 0.4,c1=0.3", Rule::Threshold(Thresholds::at(0.4).with("c1", 0.3))),
        ("--rule thompson --seed 3", Rule::Thompson),
        ("--rule top-k --k 2 --seed 4", Rule::TopK(2)),
        ("", Rule::Match(overall())),
        ("--by g", Rule::Match(Match::by_group(Reference::Posterior))),
        ("--reference uniform --seed 5", Rule::Match(Match::overall(Reference::Uniform))),
        ("--coverage 0.6", Rule::Match(Match { coverage: Some(0.6), ..overall() })),
        ("--rule balance --gamma 0.8", balance(0.8, Penalty::L1)),
        ("--rule balance --gamma 0.6 --penalty l2-squared", balance(0.6, Penalty::L2Squared)),
        ("--rule balance --gamma 0.7 --penalty kl", balance(0.7, Penalty::Kl)),
    ])
    .prop_map(|(options, rule)| (options.to_owned(), rule))
}

impl Case {
    fn classes(&self) -> Vec<String> {
        (0..self.rows[0].len()).map(|class| format!("c{class}")).collect()
    }

    fn write(&self, path: &Path) {
        let mut text =
            format!("id,g,{}\n", self.classes().iter().map(|class| format!("p_{class}")).collect::<Vec<_>>().join(","));
        for (row, scores) in self.rows.iter().enumerate() {
            let scores: Vec<String> = scores.iter().map(f64::to_string).collect();
            text += &format!("v{row},g{},{}\n", self.groups[row], scores.join(","));
        }
        fs::write(path, text).unwrap();
    }

    /// Returns the labels of the library.
    fn labels(&self) -> Vec<Label> {
        let classes = Classes::new(self.classes()).unwrap();
        let keys: Vec<u64> = (0..self.rows.len()).map(|row| seed::key_of_text(&format!("v{row}"))).collect();
        let mut names: Vec<String> = self.groups.iter().map(|group| format!("g{group}")).collect();
        names.sort();
        names.dedup();
        let code = |group: &u8| names.binary_search(&format!("g{group}")).unwrap() as u32;
        let codes: Vec<u32> = self.groups.iter().map(code).collect();
        let scores = self.rows.concat();
        let scores = Scores::new(&classes, Matrix::RowsF64(&scores)).unwrap().with_keys(Keys::Given(&keys)).unwrap();
        let scores = scores.with_groups(Groups { codes: &codes, names: &names }).unwrap();
        let seed = self.options.split("--seed ").nth(1).map_or(0, |seed| seed.parse().unwrap());
        self.rule.label(&scores, &Settings { seed, ..Settings::default() }).unwrap().labels.values().to_vec()
    }
}

/// Returns the labels in an output of the program.
fn read_labels(path: &Path, classes: &[String]) -> Vec<Label> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let column = reader.headers().unwrap().iter().position(|name| name == "label").unwrap();
    let label = |name: &str| classes.iter().position(|class| class == name).map_or(UNCODED, |class| class as Label);
    reader.records().map(|record| label(&record.unwrap()[column])).collect()
}

/// Changes the label of the first labeled row, together with its score.
fn change_a_label(from: &Path, to: &Path, case: &Case) -> bool {
    let mut reader = csv::Reader::from_path(from).unwrap();
    let header = reader.headers().unwrap().clone();
    let mut records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    let Some(row) = records.iter().position(|record| &record[header.len() - 2] != "Uncoded") else { return false };
    let own: usize = records[row][header.len() - 2][1..].parse().unwrap();
    let other = (own + 1) % case.rows[row].len();
    let mut cells: Vec<String> = records[row].iter().map(str::to_owned).collect();
    let score = cells.len() - 1;
    cells[score - 1] = format!("c{other}");
    cells[score] = case.rows[row][other].to_string();
    records[row] = cells.into();
    let mut writer = csv::Writer::from_path(to).unwrap();
    writer.write_record(&header).unwrap();
    records.iter().for_each(|record| writer.write_record(record).unwrap());
    writer.flush().unwrap();
    true
}

fn words<'a>(fixed: &[&'a str], options: &'a str) -> Vec<&'a str> {
    fixed.iter().copied().chain(options.split_whitespace()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn library_program_audit_and_verify_agree(case in cases()) {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        case.write(&folder.join("in.csv"));
        let label = ["label", "in.csv", "-o", "out.csv", "--id", "id", "--json", "-q", "--provenance", "p.json"];
        let said = json(folder, &words(&label, &case.options));
        prop_assert_eq!(read_labels(&folder.join("out.csv"), &case.classes()), case.labels());

        let audited = json(folder, &["audit", "out.csv", "--label", "label", "--uncoded", "Uncoded=keep", "--json", "-q"]);
        for figure in ["rows", "labeled", "counts", "expected_accuracy", "fidelity"] {
            prop_assert_eq!(&audited[figure], &said[figure], "{}", figure);
        }
        let verify = |output| ["verify", output, "--against", "in.csv", "--provenance", "p.json", "-q"];
        run(folder, &verify("out.csv"));
        let without: Value = json(folder, &words(&["verify", "out.csv", "--against", "in.csv", "--id", "id", "--json", "-q"], &with_rule(&case.options)));
        prop_assert_eq!(&without["verified"], &Value::Bool(true));
        if change_a_label(&folder.join("out.csv"), &folder.join("changed.csv"), &case) {
            refused(folder, &verify("changed.csv"));
        }
    }
}

/// Returns the options with an explicit rule, so that `verify` knows it without provenance.
fn with_rule(options: &str) -> String {
    if options.contains("--rule") { options.to_owned() } else { format!("--rule match {options}") }
}
