//! Runs every job on tables in memory. `cargo test -p apportion-app --no-default-features --test without_files` runs
//! this without Arrow, Parquet and CSV; with the feature `files`, the results are compared with those of a CSV file.
#![allow(clippy::unwrap_used)] // also in helpers

use std::fs;
use std::sync::{Arc, Mutex};

use apportion::text::Setting;
use apportion_app::disparity::{OutcomeSettings, SmallCells};
use apportion_app::input::Source;
use apportion_app::label::OnlyColumn;
use apportion_app::labels::LabelColumn;
use apportion_app::provenance::{Provenance, Recorded, show};
use apportion_app::rule::{RuleName, RuleSettings};
use apportion_app::simulate::{Population, Voters};
use apportion_app::table::TableSettings;
use apportion_app::{
    Context, Error, apply, audit, compare, demo, disparity, explain, export, fit, frontier, label, predict, reproduce,
    simulate, tables, verify,
};
use apportion_io::{MemoryTable, PlainColumn, PlainValues, Progress, SharedColumn, SharedValues};
use serde::Serialize;
use serde_json::{Value, json};
use tempfile::TempDir;

const P_A: [f64; 8] = [0.9, 0.8, 0.7, 0.6, 0.9, 0.6, 0.4, 0.1];
const P_B: [f64; 8] = [0.1, 0.2, 0.3, 0.4, 0.1, 0.4, 0.6, 0.9];
const TRUTH: [&str; 8] = ["a", "a", "b", "b", "a", "a", "b", "b"];
/// The labels of argmax: all four rows in x are a, although the expected number is 3.
const ARGMAX: [&str; 8] = ["a", "a", "a", "a", "a", "a", "b", "b"];
/// The most accurate labels with counts 3 and 1 in x, and 2 and 2 in y.
const BY_COUNTY: [i16; 8] = [0, 0, 0, 1, 0, 0, 1, 1];
const OUTCOME: [i64; 8] = [1, 1, 0, 0, 1, 0, 0, 1];

fn texts(texts: &[&str]) -> SharedColumn {
    texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>().into()
}

/// Returns the rows as columns: numbers, texts, and counties as codes.
fn columns() -> Vec<(String, SharedColumn)> {
    let counties =
        SharedValues::Dictionary(vec![0, 0, 0, 0, 1, 1, 1, 1].into(), ["x", "y"].map(String::from).to_vec().into());
    vec![
        ("id".into(), (1..=8).collect::<Vec<i64>>().into()),
        ("county".into(), counties.into()),
        ("p_a".into(), P_A.to_vec().into()),
        ("p_b".into(), P_B.to_vec().into()),
        ("truth".into(), texts(&TRUTH)),
        ("existing".into(), texts(&ARGMAX)),
        ("outcome".into(), OUTCOME.to_vec().into()),
    ]
}

fn in_memory(columns: Vec<(String, SharedColumn)>) -> Source {
    let table = MemoryTable::from_columns(columns).unwrap();
    Source { table: Some(table), ..Source::files(["people"]) }
}

/// Returns the table by county, with its truth.
fn people() -> TableSettings {
    TableSettings {
        source: in_memory(columns()),
        by: vec!["county".into()],
        truth: Some("truth".into()),
        id: Some("id".into()),
        ..TableSettings::default()
    }
}

/// Returns shares: half of x is a, and a quarter of y.
fn shares() -> MemoryTable {
    let columns = [("county", texts(&["x", "y"])), ("a", vec![0.5, 0.25].into()), ("b", vec![0.5, 0.75].into())];
    MemoryTable::from_columns(columns.map(|(name, column)| (name.to_owned(), column)).to_vec()).unwrap()
}

fn context() -> Context {
    Context { threads: Some(1), ..Context::default() }
}

fn to_json(response: &impl Serialize) -> Value {
    serde_json::to_value(response).unwrap()
}

fn message(error: &Error) -> String {
    error.message().to_string()
}

fn near(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
}

#[test]
fn labels_match_the_scores_of_each_county() {
    let request = label::Request { table: people(), ..label::Request::default() };
    let response = label::run(&request, &context()).unwrap();
    assert_eq!(response.labels, [LabelColumn::Codes(BY_COUNTY.to_vec())]);
    assert!(response.paths.is_empty() && response.provenance.is_none());
    let contract = &response.contract;
    assert_eq!((&contract.counts, &contract.targets), (&vec![5, 3], &Some(vec![5, 3])));
    assert_eq!((contract.accuracy, contract.certificate.as_ref().unwrap().gap), (Some(0.875), 0.0));

    // Rows that represent several people.
    let cells = vec![
        ("p_a".to_owned(), vec![0.5, 1.0].into()),
        ("p_b".to_owned(), vec![0.5, 0.0].into()),
        ("n".to_owned(), vec![4i64, 3].into()),
    ];
    let table = TableSettings { source: in_memory(cells), count: Some("n".into()), ..TableSettings::default() };
    let response = label::run(&label::Request { table, ..label::Request::default() }, &context()).unwrap();
    let people = |people: [u64; 2]| LabelColumn::People(people.map(Some).to_vec());
    assert_eq!(response.labels, [people([2, 3]), people([2, 0]), people([0, 0])]);
}

#[test]
fn labels_without_figures_are_the_same() {
    let notices = Arc::new(Mutex::new(Vec::new()));
    let heard = notices.clone();
    let context = Context { notices: Arc::new(move |notice| heard.lock().unwrap().push(notice)), ..context() };
    for (by, rule, coverage) in [
        (vec!["county".to_owned()], RuleName::Match, None),
        (Vec::new(), RuleName::Match, None),
        (Vec::new(), RuleName::Match, Some(0.5)),
        (Vec::new(), RuleName::Argmax, None),
        (Vec::new(), RuleName::Thompson, None),
    ] {
        let table = TableSettings { by, ..people() };
        let rule = RuleSettings { rule, coverage, ..RuleSettings::default() };
        let request = label::Request { table, rule, ..label::Request::default() };
        let complete = label::run(&request, &context).unwrap();
        let expected = std::mem::take(&mut *notices.lock().unwrap());
        let only = label::run_for_labels(&request, &context).unwrap();
        let labels: Vec<LabelColumn> = only.labels.into_iter().map(OnlyColumn::into_column).collect();
        assert_eq!((labels, only.classes), (complete.labels, complete.contract.classes));
        assert_eq!(std::mem::take(&mut *notices.lock().unwrap()), expected);
    }
    let rule = RuleSettings { rule: RuleName::Argmax, reference: Some("truth".into()), ..RuleSettings::default() };
    let request = label::Request { table: people(), rule, ..label::Request::default() };
    let error = label::run_for_labels(&request, &context).unwrap_err();
    assert_eq!(message(&error), message(&label::run(&request, &context).unwrap_err()));
    let mut request = label::Request { table: people(), ..label::Request::default() };
    request.report.focus = Some("white".into());
    let error = label::run_for_labels(&request, &context).unwrap_err();
    assert_eq!(message(&error), message(&label::run(&request, &context).unwrap_err()));
}

/// Cancels at once.
#[derive(Debug)]
struct Cancelled;

impl Progress for Cancelled {
    fn begin(&self, _: &'static str, _: u64) {}
    fn update(&self, _: u64, _: u64) {}
    fn end(&self) {}
    fn is_cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_cancelled_job_has_no_result() {
    let context = Context { progress: Arc::new(Cancelled), ..context() };
    let request = label::Request { table: people(), ..label::Request::default() };
    let error = label::run(&request, &context).unwrap_err();
    assert_eq!(message(&error), "cancelled; nothing was written");
}

#[test]
fn a_reference_in_memory_needs_no_name() {
    let rule = RuleSettings { reference_table: Some(shares()), ..RuleSettings::default() };
    let mut request = label::Request { table: people(), rule, ..label::Request::default() };
    let response = label::run(&request, &context()).unwrap();
    assert_eq!(response.labels, [LabelColumn::Codes(vec![0, 0, 1, 1, 0, 1, 1, 1])]);
    assert_eq!(response.contract.targets, Some(vec![3, 5]));
    request.rule.reference = Some("posterior".into());
    let error = label::run(&request, &context()).unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(message(&error), "`reference` posterior: a table of shares is also given; leave one of them out");
    (request.rule.reference, request.rule.rule) = (None, RuleName::Argmax);
    let error = label::run(&request, &context()).unwrap_err();
    assert!(error.is_usage() && message(&error).starts_with("`reference`: argmax has no reference"), "{error}");
    let one = vec![("class".to_owned(), texts(&["a", "b"])), ("share".to_owned(), vec![0.25, 0.75].into())];
    let request = frontier::Request {
        table: TableSettings { by: Vec::new(), ..people() },
        reference_table: Some(MemoryTable::from_columns(one).unwrap()),
        ..frontier::Request::default()
    };
    let points = frontier::run(&request, &context()).unwrap().points;
    assert_eq!((&points[0].counts, &points.last().unwrap().counts), (&vec![6, 2], &vec![2, 6]));
}

#[test]
fn a_decision_is_fitted_applied_and_exported() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("decision.json");
    let request = fit::Request {
        table: TableSettings { truth: None, ..people() },
        output: path.display().to_string(),
        ..fit::Request::default()
    };
    let saved = fit::run(&request, &context()).unwrap().saved;
    let decision = serde_json::to_string(&saved).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&fs::read_to_string(&path).unwrap()).unwrap(), to_json(&saved));
    let table = TableSettings { source: in_memory(columns()), id: Some("id".into()), ..TableSettings::default() };
    let in_memory = apply::Request {
        table: table.clone(),
        decision: "the decision".into(),
        decision_json: Some(decision.clone()),
        ..apply::Request::default()
    };
    let from_file = apply::Request { table, decision: path, ..apply::Request::default() };
    for request in [in_memory, from_file] {
        let response = apply::run(&request, &context()).unwrap();
        assert_eq!(response.labels, [LabelColumn::Codes(BY_COUNTY.to_vec())]);
        assert_eq!(response.contract.counts, [5, 3]);
    }
    let request = export::Request { decision_json: Some(decision), ..export::Request::default() };
    let sql = export::run(&request, &context()).unwrap().sql;
    assert!(sql.contains("CASE") && sql.contains("\"p_a\"") && sql.contains("\"county\""), "{sql}");
}

#[test]
fn labels_are_audited_and_rules_compared() {
    let request = audit::Request { table: people(), label: "existing".into(), ..audit::Request::default() };
    let audited = to_json(&audit::run(&request, &context()).unwrap());
    assert_eq!((&audited["counts"], &audited["accuracy"]), (&json!([6, 2]), &json!(0.75)));
    assert_eq!(audited["confusion"].as_array().unwrap().len(), 2);
    near(&audited["posterior_sums"][0], 5.0);
    near(&audited["bias_people"]["posterior"][0], 1.0);
    assert_eq!((&audited["groups"][1]["group"], &audited["groups"][1]["counts"]), (&json!("y"), &json!([2, 2])));

    let request = compare::Request { table: people(), label: Some("existing".into()), ..compare::Request::default() };
    let rules = to_json(&compare::run(&request, &context()).unwrap());
    let counts = |name: &str| {
        let rule = rules.as_array().unwrap().iter().find(|rule| rule["rule"] == name);
        rule.unwrap_or_else(|| panic!("{name} in {rules}"))["counts"].clone()
    };
    assert_eq!(
        (counts("your labels"), counts("argmax"), counts("match")),
        (json!([6, 2]), json!([6, 2]), json!([5, 3]))
    );
}

#[test]
fn an_outcome_is_compared_between_classes() {
    // Every class has fewer than 5 people.
    let small_cells = SmallCells::Show;
    let outcome = OutcomeSettings { outcome: Some("outcome".into()), small_cells, ..OutcomeSettings::default() };
    let request = disparity::Request { table: people(), outcome, ..disparity::Request::default() };
    let found = to_json(&disparity::run(&request, &context()).unwrap());
    let estimates = |method: &str| {
        let all = found["estimators"].as_array().unwrap();
        let own = all.iter().find(|own| own["method"] == method).unwrap_or_else(|| panic!("{method} in {found}"));
        own["values"][0]["classes"].clone()
    };
    // The sums of scores with and without the outcome.
    near(&estimates("weighted")[0]["estimate"], 2.7 / 5.0);
    near(&estimates("weighted")[1]["estimate"], 1.3 / 3.0);
    near(&estimates("truth")[0]["estimate"], 0.75);
    near(&estimates("truth")[1]["estimate"], 0.25);
}

#[test]
fn reports_are_pages_in_memory_and_in_files() {
    let folder = TempDir::new().unwrap();
    let mut request = label::Request { table: people(), ..label::Request::default() };
    let page = folder.path().join("report.html");
    request.report.report = Some(page.clone());
    request.report.figures = Some(folder.path().join("figures"));
    let report = label::run(&request, &context()).unwrap().report.unwrap();
    assert_eq!(fs::read_to_string(page).unwrap(), report.document.to_html());
    assert!(report.document.to_html().contains("</html>") && report.document.to_markdown().contains("match"));
    assert!(fs::read_dir(folder.path().join("figures")).unwrap().count() > 2);
    let mut request = audit::Request { table: people(), label: "existing".into(), ..audit::Request::default() };
    request.report.in_memory = true;
    let report = audit::run(&request, &context()).unwrap().report.unwrap();
    assert!(report.report.is_none() && report.document.to_markdown().contains("existing"));
}

/// Returns two surnames and two counties, with their people.
fn names_and_places() -> [(String, MemoryTable); 2] {
    let table = |key: (&str, SharedColumn), white: [i64; 2], black: [i64; 2]| {
        let columns = vec![
            (key.0.to_owned(), key.1),
            ("n_white".to_owned(), white.to_vec().into()),
            ("n_black".to_owned(), black.to_vec().into()),
        ];
        MemoryTable::from_columns(columns).unwrap()
    };
    [
        ("my names".into(), table(("name", texts(&["SMITH", "JONES"])), [60, 40], [40, 60])),
        ("my places".into(), table(("county_fips", vec![37001i64, 37003].into()), [300, 100], [100, 300])),
    ]
}

fn voters(surnames: SharedColumn, counties: SharedColumn) -> predict::Request {
    let columns = vec![("surname".to_owned(), surnames), ("county_fips".to_owned(), counties)];
    predict::Request { source: in_memory(columns), ..predict::Request::default() }
}

fn doubles(columns: &[PlainColumn], name: &str) -> Vec<f64> {
    match columns.iter().find(|column| column.name == name).map(|column| &column.values) {
        Some(PlainValues::Double(numbers)) => numbers.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn scores_are_made_from_names_and_places_in_memory() {
    let counties: SharedColumn = vec![37001i64, 37003, 37003].into();
    let mut request = voters(texts(&["Smith", "Jones", "Smith"]), counties);
    request.tables = names_and_places().into();
    (request.surnames, request.geography) = (Some("my names".into()), vec!["my places".into()]);
    let response = predict::run(&request, &context()).unwrap();
    // P(class | surname) · P(place | class).
    let expected = [[0.6 * 0.75, 0.4 * 0.25], [0.4 * 0.25, 0.6 * 0.75], [0.6 * 0.25, 0.4 * 0.75]];
    let white = doubles(&response.scores, "p_white");
    for (found, [white, black]) in white.iter().zip(expected) {
        assert!((found - white / (white + black)).abs() < 1e-12, "{found} for {white}, {black}");
    }
    // A dictionary, codes as text, and other block boundaries give the same result.
    let words = SharedValues::Dictionary(vec![1, 0, 1].into(), ["Jones", "Smith"].map(String::from).to_vec().into());
    let mut other = voters(words.into(), texts(&["37001", "37003", "37003"]));
    (other.tables, other.surnames, other.geography) =
        (request.tables.clone(), request.surnames.clone(), request.geography.clone());
    other.source.batch_rows = 2;
    assert_eq!(predict::run(&other, &context()).unwrap().scores, response.scores);
    // Each row is explained, also if its name is a word of a dictionary.
    for (row, (score, name)) in (1..).zip(white.iter().zip(["SMITH", "JONES", "SMITH"])) {
        let explained = explain::run(&explain::Request { predict: other.clone(), row }, &context()).unwrap();
        assert_eq!((explained.scores[0], explained.surname.rows[0].key.as_str()), (*score, name));
    }

    // Raking to shares in memory without a name, and to named margins by surname and place.
    let margin = vec![("class".to_owned(), texts(&["white", "black"])), ("share".to_owned(), vec![0.5, 0.5].into())];
    request.margin_table = Some(MemoryTable::from_columns(margin).unwrap());
    request.model = Some(predict::Model::Rake);
    let raked = predict::run(&request, &context()).unwrap();
    assert!(raked.posterior.iter().all(|share| (share - 0.5).abs() < 1e-6), "{:?}", raked.posterior);
    request.margin_table = None;
    let places = vec![
        ("county_fips".to_owned(), vec![37001i64, 37003].into()),
        ("n_white".to_owned(), vec![0.5, 1.5].into()),
        ("n_black".to_owned(), vec![0.5, 0.5].into()),
    ];
    request.tables.insert("margin by place".into(), MemoryTable::from_columns(places).unwrap());
    request.place_margin = Some("margin by place".into());
    let raked = doubles(&predict::run(&request, &context()).unwrap().scores, "p_white");
    assert!((raked[0] - 0.5).abs() < 1e-6 && (raked[1] + raked[2] - 1.5).abs() < 1e-6, "{raked:?}");

    // Built-in tables.
    let durham_and_wake: SharedColumn = vec![37063i64, 37183].into();
    let response = predict::run(&voters(texts(&["Washington", "García"]), durham_and_wake), &context()).unwrap();
    assert!(doubles(&response.scores, "p_black")[0] > 0.5 && doubles(&response.scores, "p_hispanic")[1] > 0.5);
    assert_eq!(to_json(&response)["place_used"]["county"], 2);
}

#[test]
fn tables_are_listed_exported_and_checked() {
    let tables::Response::List(listed) = tables::run(&tables::Request::List, &context()).unwrap() else { panic!() };
    assert!(listed.iter().any(|table| table.name == "counties-2010"));
    let request = tables::ExportRequest { table: "counties-2010".into(), ..tables::ExportRequest::default() };
    let exported = tables::export(&request).unwrap();
    let rows = listed.iter().find(|table| table.name == "counties-2010").unwrap().rows;
    assert_eq!((exported.columns[0].values.len() as u64, exported.paths.len()), (rows, 0));
    let in_memory = Some(MemoryTable::from_plain(exported.columns).unwrap());
    let request = tables::CheckRequest { table: "counties".into(), in_memory, ..tables::CheckRequest::default() };
    let checked = tables::check(&request, &Context::default()).unwrap();
    assert_eq!((checked.of, checked.level, checked.rows as u64), ("places", Some("county"), rows));
    assert_eq!((checked.numbers, checked.largest.unwrap().key.as_str()), ("people", "06037"));
    let [(name, names), _] = names_and_places();
    let request = tables::CheckRequest { table: name, in_memory: Some(names), ..tables::CheckRequest::default() };
    let checked = tables::check(&request, &Context::default()).unwrap();
    assert_eq!((checked.of, checked.people, checked.margin), ("surnames", Some(200.0), Some(vec![0.5, 0.5])));
}

#[test]
fn simulated_people_are_scored_and_labeled() {
    let population = Population::Voters(Voters { no_scores: true, ..Voters::default() });
    let request = simulate::Request { population, rows: Some(300), ..simulate::Request::default() };
    let people = simulate::run(&request, &context()).unwrap().blocks.remove(0).into_columns();
    let source = Source { table: Some(MemoryTable::from_plain(people.clone()).unwrap()), ..Source::files(["voters"]) };
    let scored = predict::run(&predict::Request { source, ..predict::Request::default() }, &context()).unwrap();
    let all = people.into_iter().chain(scored.scores).collect();
    let source = Source { table: Some(MemoryTable::from_plain(all).unwrap()), ..Source::files(["voters"]) };
    let table = TableSettings { source, truth: Some("race".into()), ..TableSettings::default() };
    let labeled = label::run(&label::Request { table, ..label::Request::default() }, &context()).unwrap();
    let contract = labeled.contract;
    assert_eq!((contract.counts.iter().sum::<u64>(), Some(&contract.counts)), (300, contract.targets.as_ref()));
    for (count, share) in contract.counts.iter().zip(&scored.posterior) {
        assert!((*count as f64 - 300.0 * share).abs() < 1.0, "{count} for {}", 300.0 * share);
    }
    assert_eq!(contract.certificate.unwrap().gap, 0.0);
}

/// Verifies labels of the rows; both tables are read in small blocks.
fn verified(labels: &[&str], change: impl FnOnce(&mut Vec<(String, SharedColumn)>)) -> verify::Response {
    let mut output = columns();
    output.push(("label".into(), texts(labels)));
    change(&mut output);
    let request = verify::Request {
        inputs: Source { batch_rows: 3, ..in_memory(output) },
        against: Source { batch_rows: 2, ..in_memory(columns()) },
        settings: Recorded { rule: Some("match".into()), by: vec!["county".into()], ..Recorded::default() },
        given: [Setting::Rule, Setting::By].into(),
        ..verify::Request::default()
    };
    verify::run(&request, &context()).unwrap()
}

#[test]
fn labels_in_memory_are_verified() {
    let good: Vec<&str> = BY_COUNTY.iter().map(|&code| ["a", "b"][code as usize]).collect();
    let response = verified(&good, |_| {});
    assert!(response.verified, "{:?}", response.difference);
    assert_eq!((response.counts, response.targets), (Some(vec![5, 3]), Some(vec![5, 3])));
    let certificate = response.certificate.unwrap();
    assert_eq!(certificate.primal, certificate.dual);
    let difference = |response: verify::Response| response.difference.unwrap().to_string();
    // The counts are the same, but row 3 is more likely to be a than row 4.
    let worse = difference(verified(&["a", "a", "b", "a", "a", "a", "b", "b"], |_| {}));
    assert!(worse.contains("the labels are not optimal"), "{worse}");
    let counts = difference(verified(&ARGMAX, |_| {}));
    assert!(counts.contains("\"x\""), "{counts}");
    let changed = difference(verified(&good, |columns| {
        columns[3].1 = [0.1, 0.2, 0.3, 0.4, 0.11, 0.4, 0.6, 0.9].to_vec().into();
    }));
    assert_eq!(changed, "people: row 5, column \"p_b\": the value is \"0.11\", but the input has \"0.1\"");
    let unknown = difference(verified(&["a", "a", "a", "b", "a", "z", "b", "b"], |_| {}));
    assert_eq!(unknown, "people: row 6, column \"label\": unknown class");

    // With a reference and a decision in memory.
    let rule = RuleSettings { reference_table: Some(shares()), ..RuleSettings::default() };
    let table = TableSettings { truth: None, ..people() };
    let decision = fit::run(&fit::Request { table, rule, ..fit::Request::default() }, &context()).unwrap().saved;
    let mut output = columns();
    output.push(("label".into(), texts(&["a", "a", "b", "b", "a", "b", "b", "b"])));
    let request = verify::Request {
        inputs: in_memory(output),
        against: in_memory(columns()),
        settings: Recorded {
            rule: Some("match".into()),
            by: vec!["county".into()],
            id: Some("id".into()),
            ..Recorded::default()
        },
        given: [Setting::Rule, Setting::By, Setting::Id].into(),
        reference_table: Some(shares()),
        decision_json: Some(serde_json::to_string(&decision).unwrap()),
        ..verify::Request::default()
    };
    let response = verify::run(&request, &context()).unwrap();
    assert!(response.verified, "{:?}", response.difference);
    assert_eq!(response.targets, Some(vec![3, 5]));
    assert!(response.checks.iter().any(|check| check.contains("agrees with the decision")), "{:?}", response.checks);
}

#[test]
fn provenance_is_read_from_json() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("provenance.json");
    let context = Context { command: "some command".into(), ..context() };
    let provenance = Provenance::new("label", &context, Recorded::default(), Vec::new());
    fs::write(&path, serde_json::to_string(&provenance).unwrap()).unwrap();
    let response = show::run(&show::Request { inputs: path }, &context).unwrap();
    assert_eq!((response.provenance.job.as_str(), response.provenance.command.as_str()), ("label", "some command"));
}

#[test]
fn the_paper_is_reproduced() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("paper");
    let request =
        reproduce::Request { output: output.clone(), datasets: 2, rows: 100, voters: 100, ..Default::default() };
    let response = reproduce::run(&request, &context()).unwrap();
    assert!(response.files.iter().any(|name| name.ends_with(".html")), "{:?}", response.files);
    assert!(response.files.iter().all(|name| output.join(name).is_file()));
}

/// Jobs on files return an error and write nothing.
#[cfg(not(feature = "files"))]
#[test]
fn files_of_tables_are_refused() {
    const REFUSED: &str = "this build of apportion does not read or write table files; use a table in memory";
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::write(path("scores.csv"), "p_a,p_b\n0.5,0.5\n").unwrap();
    fs::write(path("scores.parquet"), "PAR1").unwrap();
    let source = Source::files([path("scores.csv")]);
    let table = TableSettings { source: source.clone(), ..TableSettings::default() };
    let errors = [
        label::run(&label::Request { table, ..label::Request::default() }, &context()).unwrap_err(),
        predict::run(&predict::Request { source, ..predict::Request::default() }, &context()).unwrap_err(),
        tables::check(&tables::CheckRequest { table: path("scores.csv"), ..Default::default() }, &Context::default())
            .unwrap_err(),
    ];
    for error in errors {
        assert_eq!(message(&error), format!("{}: {REFUSED}", path("scores.csv")));
    }
    let request = simulate::Request { output: Some(path("new.csv")), ..simulate::Request::default() };
    let error = simulate::run(&request, &context()).unwrap_err();
    assert_eq!(message(&error), format!("{}: {REFUSED}", path("new.csv")));
    let error = show::run(&show::Request { inputs: path("scores.parquet").into() }, &context()).unwrap_err();
    assert_eq!(message(&error), format!("{}: {REFUSED}", path("scores.parquet")));
    let error = demo::run(&demo::Request { folder: path("demo").into(), ..demo::Request::default() }, &context());
    assert!(message(&error.unwrap_err()).contains("does not support files"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// The same rows in a CSV file give the same results.
#[cfg(feature = "files")]
#[test]
fn results_are_those_of_a_file() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut text = "id,county,p_a,p_b,truth,existing,outcome\n".to_owned();
    for row in 0..8 {
        let county = if row < 4 { "x" } else { "y" };
        let (truth, existing, outcome) = (TRUTH[row], ARGMAX[row], OUTCOME[row]);
        text += &format!("{},{county},{},{},{truth},{existing},{outcome}\n", row + 1, P_A[row], P_B[row]);
    }
    fs::write(path("people.csv"), text).unwrap();
    let both = [people(), TableSettings { source: Source::files([path("people.csv")]), ..people() }];
    let [own, file] = both.clone().map(|table| {
        let mut request = label::Request { table, ..label::Request::default() };
        request.output.output = path("labels.csv");
        to_json(&label::run(&request, &context()).unwrap().contract)
    });
    assert_eq!(own, file);
    let labels = fs::read_to_string(path("labels.csv")).unwrap();
    let labels: Vec<&str> = labels.lines().skip(1).map(|line| line.split(',').nth(7).unwrap()).collect();
    assert_eq!(labels, BY_COUNTY.map(|code| ["a", "b"][code as usize]));
    let [own, file] = both.clone().map(|table| {
        let request =
            audit::Request { table, label: "existing".into(), bootstrap: Some(20), ..audit::Request::default() };
        to_json(&audit::run(&request, &context()).unwrap())
    });
    assert_eq!(own, file);
    let [own, file] = both.clone().map(|table| {
        to_json(&compare::run(&compare::Request { table, ..compare::Request::default() }, &context()).unwrap())
    });
    assert_eq!(own, file);
    let [own, file] = both.clone().map(|table| {
        let outcome = OutcomeSettings { outcome: Some("outcome".into()), ..OutcomeSettings::default() };
        let request = disparity::Request { table, outcome, ..disparity::Request::default() };
        to_json(&disparity::run(&request, &context()).unwrap())
    });
    assert_eq!(own, file);
    let [own, file] = both.clone().map(|table| {
        to_json(&frontier::run(&frontier::Request { table, ..frontier::Request::default() }, &context()).unwrap())
    });
    assert_eq!(own, file);
    let [own, file] = both.map(|table| {
        to_json(&fit::run(&fit::Request { table, ..fit::Request::default() }, &context()).unwrap().saved.decision)
    });
    assert_eq!(own, file);
    let tour =
        demo::run(&demo::Request { folder: path("demo").into(), ..demo::Request::default() }, &context()).unwrap();
    assert_eq!(tour.steps.len(), 8);
}
