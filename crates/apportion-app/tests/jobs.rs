//! Jobs called from a program: requests with defaults, responses that serialize, and errors that name settings by id.
#![allow(clippy::unwrap_used)] // also in helpers

use std::fs;

use apportion::text::Setting;
use apportion_app::input::Source;
use apportion_app::simulate::{Normal, Population, Voters};
use apportion_app::{Context, Error, audit, compare, demo, export, provenance, reproduce, simulate, verify};
use apportion_io::PlainValues;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tempfile::TempDir;

fn message(error: &Error) -> String {
    error.message().to_string()
}

/// Checks that an empty JSON object is the default request, and that a request can be saved and read back.
fn check_defaults<R: Default + Serialize + DeserializeOwned>() {
    let empty: R = serde_json::from_value(json!({})).unwrap();
    let saved = serde_json::to_value(&empty).unwrap();
    assert_eq!(saved, serde_json::to_value(R::default()).unwrap());
    let again: R = serde_json::from_value(saved.clone()).unwrap();
    assert_eq!(serde_json::to_value(&again).unwrap(), saved);
}

#[test]
fn an_empty_request_has_defaults_and_every_request_survives_json() {
    check_defaults::<audit::Request>();
    check_defaults::<compare::Request>();
    check_defaults::<verify::Request>();
    check_defaults::<provenance::show::Request>();
    check_defaults::<export::Request>();
    check_defaults::<simulate::Request>();
    check_defaults::<reproduce::Request>();
    check_defaults::<demo::Request>();
    let given: verify::Request =
        serde_json::from_value(json!({ "settings": { "rule": "match" }, "given": ["rule", "at_least"] })).unwrap();
    assert!(given.given.contains(&Setting::AtLeast) && given.given.len() == 2);
    let simulated: simulate::Request =
        serde_json::from_value(json!({ "population": { "worst-case": { "classes": 3 } }, "rows": 5 })).unwrap();
    assert_eq!((simulated.population.name(), simulated.population.default_rows()), ("worst-case", 5000));
    assert_eq!(serde_json::to_value(export::Dialect::PostgreSql).unwrap(), export::Dialect::PostgreSql.name());
}

#[test]
fn simulated_rows_are_returned_or_written() {
    let voters = simulate::Request { rows: Some(70_000), ..simulate::Request::default() };
    let response = simulate::run(&voters, &Context::default()).unwrap();
    assert_eq!(serde_json::to_value(&response).unwrap(), json!({ "rows": 70_000, "written": [] }));
    let rows: Vec<usize> = response.blocks.iter().map(apportion_io::PlainRows::len).collect();
    assert_eq!(rows, [65_536, 4_464]);
    let last = response.blocks[1].columns();
    assert!(matches!(&last[0].values, PlainValues::Whole(ids) if ids.last() == Some(&70_000)));
    assert!(matches!(&last[11].values, PlainValues::Single(_)) && last[11].name == "p_white");

    let folder = TempDir::new().unwrap();
    let path = folder.path().join("normal.csv");
    let normal = Normal { prior: vec![0.5, 0.5], ..Normal::default() };
    let request = simulate::Request {
        population: Population::Normal(normal),
        rows: Some(3),
        output: Some(path.display().to_string()),
        ..simulate::Request::default()
    };
    let response = simulate::run(&request, &Context::default()).unwrap();
    assert_eq!((response.written, response.blocks.len()), (vec![path.clone()], 0));
    let text = fs::read_to_string(path).unwrap();
    assert!(text.starts_with("id,truth,p_1,p_2\n1,") && text.lines().count() == 4, "{text}");
}

#[test]
fn errors_name_settings_by_id() {
    let merge = [("aian".to_owned(), "martian".to_owned())].into();
    let voters = Population::Voters(Voters { merge, ..Voters::default() });
    let request = simulate::Request { population: voters, rows: Some(1), ..simulate::Request::default() };
    let error = simulate::run(&request, &Context::default()).unwrap_err();
    assert!(error.is_usage() && message(&error).starts_with("`merge`: \"aian=martian\" is not CLASS=CLASS"), "{error}");
    let request = simulate::Request { rows: Some(0), ..simulate::Request::default() };
    let error = simulate::run(&request, &Context::default()).unwrap_err();
    assert!(error.is_usage() && message(&error).starts_with("`rows`: it must be from 1"), "{error}");
    let folder = TempDir::new().unwrap();
    let request = demo::Request { folder: folder.path().into(), ..demo::Request::default() };
    let error = demo::run(&request, &Context::default()).unwrap_err();
    assert!(
        message(&error).ends_with("choose another folder with `folder`, or replace its files with `force`"),
        "{error}"
    );
}

#[test]
fn labels_are_verified_and_a_difference_is_a_result() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let scores = write("scores.csv", "p_a,p_b\n0.9,0.1\n0.6,0.4\n0.5,0.5\n");
    let good = write("good.csv", "p_a,p_b,label\n0.9,0.1,a\n0.6,0.4,a\n0.5,0.5,b\n");
    let bad = write("bad.csv", "p_a,p_b,label\n0.9,0.1,b\n0.6,0.4,a\n0.5,0.5,a\n");
    let request = |output: String| verify::Request {
        inputs: Source::files([output]),
        against: Source::files([scores.clone()]),
        given: [Setting::Reference].into(),
        ..verify::Request::default()
    };
    let response = verify::run(&request(good), &Context::default()).unwrap();
    assert!(response.verified && response.difference.is_none());
    assert_eq!((response.counts, response.targets), (Some(vec![2, 1]), Some(vec![2, 1])));
    let response = verify::run(&request(bad), &Context::default()).unwrap();
    let json = serde_json::to_value(&response).unwrap();
    let difference = json["difference"].as_str().unwrap();
    assert!(
        !response.verified && difference.starts_with("the labels are not optimal: these changes keep the counts "),
        "{difference}"
    );
    assert!(difference.ends_with("or name the provenance file with `provenance`"), "{difference}");
}

/// A public file in the layout of Greengard and Gelman: two cells of one county, with voters of unknown class.
fn public_file() -> Vec<(String, [String; 2])> {
    let classes = ["nh_white", "nh_black", "hispanic", "nh_api", "nh_aian", "other"];
    let mut columns: Vec<(String, [String; 2])> = vec![
        ("name".into(), ["smith".into(), "jones".into()]),
        ("county".into(), ["durham".into(), "durham".into()]),
        ("vf_tot".into(), ["70".into(), "50".into()]),
    ];
    for (class, counts) in
        classes.iter().zip([["40.0", "10"], ["20", "30"], ["3", "1"], ["1", "0"], ["1", "2"], ["0", "2"]])
    {
        columns.push((format!("vf_{class}"), counts.map(String::from)));
    }
    for prefix in ["bisg_bayes_", "rake_"] {
        for (class, scores) in classes.iter().zip([
            ["0.6", "0.2"],
            ["0.3", "0.7"],
            ["0.05", "0.04"],
            ["0.02", "0.02"],
            ["0.02", "0.02"],
            ["0.01", "0.02"],
        ]) {
            columns.push((format!("{prefix}{class}"), scores.map(String::from)));
        }
    }
    columns
}

#[test]
fn the_public_file_is_read_by_column_names() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("public.csv");
    let run = |columns: &[(String, [String; 2])]| {
        let line = |cells: Vec<&str>| cells.join(",") + "\n";
        let mut text = line(columns.iter().map(|(name, _)| name.as_str()).collect());
        (0..2).for_each(|row| text += &line(columns.iter().map(|(_, cells)| cells[row].as_str()).collect()));
        fs::write(&path, text).unwrap();
        let request = reproduce::Request {
            output: folder.path().join("paper"),
            datasets: 2,
            rows: 100,
            voters: 100,
            public: Some(path.clone()),
            force: true,
            ..Default::default()
        };
        reproduce::run(&request, &Context::default())
    };
    run(&public_file()).unwrap();
    let page = fs::read_to_string(folder.path().join("paper/report.html")).unwrap();
    assert!(page.contains("public.csv: 110 voters in 2 cells"));
    // Argmax labels 65 people white and 45 black; 40 and 30 are right.
    let tables = fs::read_to_string(folder.path().join("paper/tables.csv")).unwrap();
    let argmax = tables.lines().find(|line| line.contains("table-bisg,argmax")).unwrap();
    let accuracy: f64 = argmax.split(',').nth(6).unwrap().parse().unwrap();
    assert!((accuracy - 70.0 / 110.0).abs() < 1e-12, "{argmax}");

    let changed = |column: &str, value: &str| {
        let mut columns = public_file();
        columns.iter_mut().find(|(name, _)| name == column).unwrap().1[1] = value.into();
        message(&run(&columns).unwrap_err())
    };
    let mut without = public_file();
    without.retain(|(name, _)| name != "rake_nh_api");
    let said = message(&run(&without).unwrap_err());
    assert!(said.contains("no column \"rake_nh_api\"") && said.contains("bisg_bayes_CLASS"), "{said}");
    for (column, value, expected) in [
        ("vf_nh_black", "2.5", "2.5 is not a number of voters"),
        ("vf_nh_black", "many", "\"many\" is not a number"),
        ("vf_tot", "44", "smaller than the sum of the classes, 45"),
        ("rake_nh_white", "", "the value is missing"),
        ("rake_nh_white", "0.5", "sum to 1.3"),
        ("bisg_bayes_other", "-0.02", "-0.02 is not a score"),
        ("county", " ", "it is empty"),
    ] {
        let said = changed(column, value);
        assert!(said.contains(expected) && said.contains("row 2") && said.contains("public.csv"), "{said}");
        assert!(expected.contains("sum to") || said.contains(column), "{said}");
    }
    fs::rename(&path, folder.path().join("public.pkl")).unwrap();
    let request = reproduce::Request {
        output: folder.path().join("other"),
        public: Some(folder.path().join("public.pkl")),
        ..Default::default()
    };
    let said = message(&reproduce::run(&request, &Context::default()).unwrap_err());
    assert!(said.contains("it is a pickle") && said.contains("read_pickle"), "{said}");
    assert!(!folder.path().join("other").exists());
}
