//! The jobs `predict` and `tables` without a front end: files and tables in memory, notices, and the JSON contract.
#![allow(clippy::unwrap_used)] // in helpers

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use apportion::text::{Message, Setting};
use apportion_app::input::Source;
use apportion_app::predict::{self, Model, PopulationFit, Request};
use apportion_app::{Context, Notice, tables};
use apportion_io::{MemoryTable, PlainColumn, PlainValues, plain_batch};
use tempfile::TempDir;

const PEOPLE: &str = "surname,county_fips\nWashington,37063\nGarcía,37183\nQxzqxz,1001\n";

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("people.csv"), PEOPLE).unwrap();
    folder
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).display().to_string()
}

/// Returns the same people in memory.
fn in_memory() -> MemoryTable {
    let column = |name: &str, index: usize| {
        let texts: Vec<String> =
            PEOPLE.lines().skip(1).map(|line| line.split(',').nth(index).unwrap().to_owned()).collect();
        PlainColumn { name: name.into(), values: PlainValues::Text(texts.into_iter().collect()) }
    };
    let batch = plain_batch(vec![column("surname", 0), column("county_fips", 1)]).unwrap();
    MemoryTable::new(batch.schema(), vec![batch])
}

#[test]
fn files_and_tables_in_memory_have_the_same_scores() {
    let folder = folder();
    let said: Arc<Mutex<Vec<Notice>>> = Arc::default();
    let heard = said.clone();
    let context = Context {
        notices: Arc::new(move |notice| heard.lock().unwrap().push(notice)),
        command: "some command".into(),
        threads: Some(2),
        ..Context::default()
    };
    let files = Request {
        source: Source::files([path(folder.path(), "people.csv")]),
        output: Some(path(folder.path(), "scores.parquet")),
        ..Request::default()
    };
    let written = predict::run(&files, &context).unwrap();
    assert_eq!((written.paths.len(), written.scores.len()), (1, 0));
    assert_eq!(written.provenance.as_ref().unwrap().command, "some command");
    let notes = said.lock().unwrap().clone();
    let first = format!("{}: BISG; surname in \"surname\", county in \"county_fips\"", files.source.inputs[0]);
    assert_eq!(notes[0], Notice::Note(Message::from(first)));

    let source = Source { table: Some(in_memory()), batch_rows: 2, ..Source::files(["people"]) };
    let returned = predict::run(&Request { source, ..Request::default() }, &context).unwrap();
    assert_eq!((&returned.posterior, &returned.surname_match), (&written.posterior, &written.surname_match));
    assert!(returned.paths.is_empty() && returned.provenance.is_none());
    let names: Vec<&str> = returned.scores.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names[..2], ["p_white", "p_black"]);
    assert_eq!(names[6..], ["surname_match", "name_changes", "place_used", "dropped"]);
    let PlainValues::Double(black) = &returned.scores[1].values else { panic!("scores are numbers") };
    assert!(black.len() == 3 && black[0] > 0.5);

    let json = serde_json::to_value(&returned).unwrap();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    let expected = "apportion classes columns dropped in_tables model name_changes people place_used population posterior remarks \
                    repaired_codes surname_match tables unused";
    assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
    assert_eq!((&json["model"], &json["place_used"]["county"]), (&"bisg".into(), &3.into()));
    assert_eq!(
        json["population"],
        "adults, Census 2020 (name lists: surnames, Census 2020; surnames of registered voters)"
    );
    assert_eq!(json["unused"], serde_json::json!([]));
}

#[test]
fn a_fit_is_part_of_the_response() {
    let source = Source { table: Some(in_memory()), ..Source::files(["people"]) };
    let request = Request {
        source,
        model: Some(Model::Fbisg),
        burn_in: Some(5),
        sweeps: Some(20),
        seed: Some(7),
        ..Request::default()
    };
    let response = predict::run(&request, &Context::default()).unwrap();
    assert_eq!(response.fit, Some(PopulationFit::Drawn { seed: 7, burn_in: 5, sweeps: 20 }));
    let json = serde_json::to_value(&response).unwrap();
    assert_eq!((&json["seed"], &json["burn_in"], &json["sweeps"]), (&7.into(), &5.into(), &20.into()));
}

#[test]
fn errors_name_settings_and_not_options() {
    let folder = folder();
    let source = Source::files([path(folder.path(), "people.csv")]);
    let refused = |request: Request| predict::run(&request, &Context::default()).unwrap_err();
    let error = refused(Request { source: source.clone(), ..Request::default() });
    assert!(error.is_usage() && error.to_string().starts_with("`output` is required: "), "{error}");
    let output = Some(path(folder.path(), "scores.csv"));
    let request = Request { source, output, surname: Some("sirname".into()), ..Request::default() };
    let error = refused(request.clone());
    let shown = error.message().render(|setting, _| format!("<{}>", setting.id()));
    assert!(!error.is_usage() && shown.contains("people.csv: <surname>: there is no column \"sirname\""), "{shown}");
    let error = refused(Request { surname: None, model: Some(Model::Voter), ..request });
    let margin = Setting::Margin.with("FILE");
    assert!(error.is_usage() && error.message().parts().contains(&margin), "{error}");
}

#[test]
fn tables_are_exported_and_checked() {
    let folder = TempDir::new().unwrap();
    let file = path(folder.path(), "counties.csv");
    let export = tables::ExportRequest { table: "counties-2010".into(), output: file.clone(), force: false };
    let request: tables::Request =
        serde_json::from_value(serde_json::to_value(tables::Request::Export(export)).unwrap()).unwrap();
    let exported = tables::run(&request, &Context::default()).unwrap();
    assert!(matches!(exported, tables::Response::Export(table) if table.paths.len() == 1));
    let checked =
        tables::check(&tables::CheckRequest { table: file, ..Default::default() }, &Context::default()).unwrap();
    assert_eq!((checked.of, checked.level, checked.numbers), ("places", Some("county"), "people"));
    assert_eq!((checked.rows, checked.largest.unwrap().key.as_str()), (3221, "06037"));
    let error = tables::show("surnames-2000").unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("did you mean"), "{error}");
}
