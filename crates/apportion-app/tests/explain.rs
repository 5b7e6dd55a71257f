//! The job `explain` on tables in memory: its scores are those of `predict`, and its factors multiply to them, for each
//! model and each way in which names and places are found.
#![allow(clippy::unwrap_used)] // also in helpers

use std::collections::BTreeMap;
use std::sync::Arc;

use apportion_app::explain::{self, PlaceResult, Response};
use apportion_app::input::Source;
use apportion_app::predict::{self, Model, NameLists, Vintage};
use apportion_app::{Context, Error};
use apportion_io::{MemoryTable, PlainColumn, PlainValues, SharedColumn};

/// First name, middle name, surname, ZIP code, county and state.
const PEOPLE: [[&str; 6]; 14] = [
    ["Maria", "", "SMITH", "27701", "37063", "NC"],
    ["María", "Ann", "García Jr.", "27601", "37183", "NC"],
    ["Ann", "Lee", "Nguyen-Smith", "27601", "37183", "NC"],
    ["Ann-Marie", "", "Lee-Qxzqxz", "27601", "37183", "NC"],
    ["Karenja", "", "Forem", "27701", "37063", "NC"],
    ["Qxzqxz", "Qxz", "Qxzqxz", "27701", "37063", "NC"],
    ["", "", "", "27701", "37063", "NC"],
    ["John", "", "Washington", "27706", "37063", "NC"],
    ["John", "", "Washington", "27706", "", "NC"],
    ["John", "", "Washington", "99999", "99999", ""],
    ["", "", "", "", "", ""],
    ["William \"Bill\"", "J", "Dr. O'Brien", "601", "", "PR"],
    ["Bo", "", "Decline to state", "02127", "", "MA"],
    ["Maria", "Ann", "Begay", "27706", "", "VA"],
];

fn texts(texts: &[&str]) -> SharedColumn {
    texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>().into()
}

fn table(columns: Vec<(&str, SharedColumn)>) -> MemoryTable {
    MemoryTable::from_columns(columns.into_iter().map(|(name, column)| (name.to_owned(), column)).collect()).unwrap()
}

fn people() -> MemoryTable {
    let names = ["first_name", "middle_name", "surname", "zip", "county_fips", "state"];
    let column = |index: usize| texts(&PEOPLE.map(|row| row[index]));
    table(names.into_iter().enumerate().map(|(index, name)| (name, column(index))).collect())
}

fn request(model: Option<Model>) -> predict::Request {
    let source = Source { table: Some(people()), batch_rows: 3, ..Source::files(["people"]) };
    predict::Request { source, model, ..predict::Request::default() }
}

fn margin() -> MemoryTable {
    let classes = texts(&["white", "black", "hispanic", "asian", "aian", "other"]);
    table(vec![("class", classes), ("share", vec![0.60, 0.25, 0.08, 0.03, 0.02, 0.02].into())])
}

/// Returns a table of people by class.
fn by_class(key: (&str, SharedColumn), people: &[[f64; 6]]) -> MemoryTable {
    let column = |class: usize| people.iter().map(|row| row[class]).collect::<Vec<f64>>().into();
    let names = ["n_white", "n_black", "n_hispanic", "n_asian", "n_aian", "n_other"];
    let columns = names.into_iter().enumerate().map(|(class, name)| (name, column(class)));
    table(std::iter::once(key).chain(columns).collect())
}

fn explained(request: &predict::Request, row: u64) -> Result<Response, Error> {
    explain::run(
        &explain::Request { predict: request.clone(), row },
        &Context { threads: Some(2), ..Context::default() },
    )
}

/// The columns that `predict` returns.
struct Predicted(Vec<PlainColumn>);

impl Predicted {
    fn scores(&self, row: usize) -> Vec<f64> {
        let scores = self.0.iter().filter_map(|column| match &column.values {
            PlainValues::Double(scores) => Some(scores[row]),
            _ => None,
        });
        scores.collect()
    }

    fn word(&self, name: &str, row: usize) -> Option<&str> {
        let column = self.0.iter().find(|column| column.name == name)?;
        let PlainValues::Words { codes, words } = &column.values else { panic!("{name} has words") };
        Some(&words[usize::from(codes[row])])
    }
}

/// Multiplies numbers by class and divides them by their sum.
fn normalized(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let numbers: Vec<f64> = numbers.collect();
    let sum: f64 = numbers.iter().sum();
    numbers.iter().map(|number| number / sum).collect()
}

fn assert_near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{what}: {found} for {expected}");
    }
}

/// Recomputes the product from the factors of a response.
fn product(response: &Response) -> Vec<f64> {
    let value = |class: usize| {
        let factors = response.factors.iter().map(|factor| match factor.values[class] {
            0.0 => 0.0,
            value => value.powi(factor.power),
        });
        factors.product()
    };
    (0..response.classes.len()).map(value).collect()
}

/// Compares the explanations of some rows with the output of `predict`.
fn compare(name: &str, request: &predict::Request, rows: impl IntoIterator<Item = usize>) -> Vec<Response> {
    let predicted = Predicted(predict::run(request, &Context::default()).unwrap().scores);
    let mut all = Vec::new();
    for row in rows {
        let what = format!("{name}, row {}", row + 1);
        let response = explained(request, row as u64 + 1).unwrap();
        assert_eq!((response.row, &response.scores), (row as u64 + 1, &predicted.scores(row)), "{what}");
        let mut by_hand = product(&response);
        assert_near(&by_hand, &response.product, &what);
        if let Some(before) = &response.before {
            by_hand = normalized(by_hand.into_iter());
            assert_near(&by_hand, before, &what);
        }
        if let Some(weights) = &response.weights {
            by_hand = by_hand.iter().zip(weights).map(|(before, weight)| before * weight).collect();
        }
        if response.draws.is_none() {
            assert_near(&normalized(by_hand.into_iter()), &response.scores, &what);
        }
        assert_eq!(Some(response.surname.how), predicted.word("surname_match", row), "{what}");
        let [first, middle] =
            [&response.first_name, &response.middle_name].map(|name| name.as_ref().map(|own| own.how));
        assert_eq!(first, predicted.word("first_name_match", row), "{what}");
        assert_eq!(middle, predicted.word("middle_name_match", row), "{what}");
        let used = response.places.iter().find(|place| place.result == PlaceResult::Used);
        assert_eq!(Some(used.map_or("none", |place| place.level)), predicted.word("place_used", row), "{what}");
        let mut changes: Vec<&str> = Vec::new();
        for name in [Some(&response.surname), response.first_name.as_ref(), response.middle_name.as_ref()] {
            changes.extend(name.into_iter().flat_map(|name| &name.dropped));
        }
        let written = predicted.word("name_changes", row).unwrap();
        assert!(written.split('+').filter(|own| !own.is_empty()).all(|own| changes.contains(&own)), "{what}");
        assert_eq!(changes.is_empty(), written.is_empty(), "{what}");
        assert!(response.text().contains(&response.formula), "{what}");
        all.push(response);
    }
    all
}

/// Returns the results of the places of a response.
fn places(response: &Response) -> Vec<(&'static str, PlaceResult)> {
    response.places.iter().map(|place| (place.level, place.result)).collect()
}

#[test]
fn each_way_of_finding_names_and_places_is_explained() {
    use PlaceResult::{NoCode, OtherState, Unknown, Used};
    let all = compare("default", &request(None), 0..PEOPLE.len());
    assert_eq!(all[0].model, Model::Bifsg);
    assert_eq!(all[0].formula, "score(r) ∝ P(r|s) / P_sur(r) · P(r|f) / P_first(r) · N_gr");
    let surnames: Vec<&str> = all.iter().map(|own| own.surname.how).collect();
    let expected = [
        "exact",
        "cleaned",
        "both parts",
        "part",
        "voter list",
        "none",
        "none",
        "exact",
        "exact",
        "exact",
        "none",
        "cleaned",
        "none",
        "exact",
    ];
    assert_eq!(surnames, expected);
    let keys = |row: usize| all[row].surname.rows.iter().map(|row| row.key.as_str()).collect::<Vec<_>>();
    assert_eq!((keys(1), keys(2), keys(3)), (vec!["GARCIA"], vec!["NGUYEN", "SMITH"], vec!["LEE"]));
    assert_eq!((keys(4), keys(5), keys(6)), (vec!["FOREM"], vec!["ALL OTHER NAMES"], vec![]));
    assert_eq!((all[1].surname.cleaned.as_str(), &all[1].surname.dropped[..]), ("GARCIA", &["suffix dropped"][..]));
    let reasons = [4, 5, 6].map(|row| (all[row].surname.is_used, all[row].surname.reason));
    let unlisted = "it is on no list, so the row for all other names is used";
    assert_eq!(reasons, [(true, None), (true, Some(unlisted)), (false, Some("it is missing or not a name"))]);
    assert_eq!(all[4].first_name.as_ref().unwrap().how, "voter list");
    assert_eq!(all[6].formula, "score(r) ∝ N_gr");

    assert_eq!(places(&all[0]), [("zcta", Used)]);
    assert_eq!(places(&all[7]), [("zcta", Unknown), ("county", Used)]);
    assert_eq!(places(&all[8]), [("zcta", Unknown), ("county", NoCode), ("zip prefix", Used)]);
    // The county is in an unknown state, 99, and the first digits of the ZIP code are in Alaska.
    let unknown =
        [("zcta", Unknown), ("county", Unknown), ("zip prefix", OtherState), ("state", Unknown), ("nation", Used)];
    assert_eq!(places(&all[9]), unknown);
    assert_eq!(all[9].places[1].codes, ["99999"]);
    assert!(all[10].places[..4].iter().all(|place| place.result == NoCode && place.codes.is_empty()));
    // The ZIP code is in North Carolina, and the state is Virginia.
    assert_eq!(places(&all[13])[2..], [("zip prefix", OtherState), ("state", Used)]);
    assert_eq!((all[11].places[0].codes[0].as_str(), all[12].places[0].codes[0].as_str()), ("00601", "02127"));
    assert_eq!((all[8].places[2].table.as_str(), all[8].places[2].is_sum), ("zctas-2020", true));

    let remark = "no name and no place of this row are known; all such rows have the same factors";
    assert_eq!((&all[10].remarks[..], all[9].remarks.len()), (&[remark.to_owned()][..], 0));
}

#[test]
fn each_model_has_the_scores_of_predict() {
    let some = [0, 2, 4, 5, 8, 9, 10];
    let mut runs: Vec<(&str, predict::Request)> = vec![
        ("bisg", request(Some(Model::Bisg))),
        ("names alone", predict::Request { geography: vec!["none".into()], ..request(None) }),
        ("Census lists", predict::Request { names: NameLists::Census, ..request(None) }),
        ("2010", predict::Request { vintage: Vintage::Census2010, ..request(None) }),
        (
            "merged classes",
            predict::Request {
                crosswalk: [("aian".to_owned(), "other".to_owned())].into(),
                classes: ["black", "white", "other", "asian", "hispanic"].map(String::from).to_vec(),
                ..request(None)
            },
        ),
        ("rake", predict::Request { margin_table: Some(margin()), ..request(Some(Model::Rake)) }),
    ];
    for as_published in [false, true] {
        let voter = predict::Request {
            margin_table: Some(margin()),
            within: Some("NC".into()),
            as_published,
            ..request(Some(Model::Voter))
        };
        runs.push(("voter", voter));
    }
    let mut formulas = BTreeMap::new();
    for (name, request) in &runs {
        for response in compare(name, request, some) {
            formulas.entry(*name).or_insert_with(Vec::new).push(response.formula);
        }
    }
    assert_eq!(formulas["bisg"][0], "score(r) ∝ P(r|s) / P_sur(r) · N_gr");
    assert_eq!(formulas["names alone"][0], "score(r) ∝ P(r|s) · P(r|f) / P_first(r)");
    assert_eq!(formulas["names alone"][6], "score(r) ∝ P_sur(r)");
    assert_eq!(formulas["2010"][0], "score(r) ∝ P(r|s) · P(r|f) / P_first(r) · P(g|r)");
    assert_eq!(formulas["rake"][0], "BISG(r) ∝ P(r|s) / P_sur(r) · N_gr; score(r) ∝ BISG(r) · w_r");
    assert_eq!(formulas["voter"][0], "score(r) ∝ P(r|s) / P_sur(r) · N_gr · c_r / N_r");
    assert_eq!(formulas["voter"][some.len()], "score(r) ∝ P(r|s) / N_r² · N_gr · c_r");
}

/// A place of another state than that of `within`.
#[test]
fn places_outside_the_state_are_not_used() {
    let request =
        predict::Request { margin_table: Some(margin()), within: Some("NC".into()), ..request(Some(Model::Voter)) };
    let response = explained(&request, 13).unwrap();
    assert_eq!(places(&response)[0], ("zcta", PlaceResult::OtherState));
    assert_eq!(places(&response).last().unwrap().1, PlaceResult::Used);
}

#[test]
fn raking_to_margins_by_surname_and_place_is_explained() {
    let mut request = request(Some(Model::Rake));
    let surnames = ("surname", texts(&["WASHINGTON", "SMITH"]));
    let counties = ("county_fips", texts(&["37183", "37063"]));
    let people = [[100.0, 800.0, 30.0, 10.0, 10.0, 50.0], [700.0, 220.0, 30.0, 10.0, 10.0, 30.0]];
    request.tables.insert("by surname".into(), by_class(surnames, &people));
    request.tables.insert("by county".into(), by_class(counties, &people));
    (request.surname_margin, request.place_margin) = (Some("by surname".into()), Some("by county".into()));
    request.tolerance = Some(1e-3);
    let all = compare("three-way", &request, [0, 1, 7, 10]);
    let margins = |row: usize| {
        let rows = all[row].margins.as_ref().unwrap().iter();
        rows.map(|row| (row.table.as_str(), row.key.as_str(), row.values[0])).collect::<Vec<_>>()
    };
    assert_eq!(margins(0), [("by surname", "SMITH", 0.7), ("by county", "37063", 0.7)]);
    assert_eq!(margins(1), [("by county", "37183", 0.1)]);
    assert_eq!(margins(2), [("by surname", "WASHINGTON", 0.1), ("by county", "37063", 0.7)]);
    assert_eq!(margins(3), []);
    // A person in no margin keeps the scores.
    assert_eq!(all[3].before.as_ref(), Some(&all[3].scores));
    assert_ne!(all[0].before.as_ref(), Some(&all[0].scores));
}

#[test]
fn draws_are_those_of_predict() {
    let request =
        predict::Request { burn_in: Some(20), sweeps: Some(200), seed: Some(3), ..request(Some(Model::Fbisg)) };
    let all = compare("fbisg", &request, [0, 4, 5, 6, 10]);
    let people: Vec<u64> = all.iter().map(|own| own.draws.unwrap().people).collect();
    // Four people have the ZIP code 27701, and two have no known place.
    assert_eq!(people, [4, 4, 4, 4, 2]);
    for response in &all {
        let before = response.before.as_ref().unwrap();
        let off = before.iter().zip(&response.scores).map(|(before, score)| (before - score).abs()).fold(0.0, f64::max);
        assert!(off > 0.0 && off < 0.01, "{}: {off}", response.row);
    }
    let first = request.first_names.clone();
    let with_first = predict::Request { first_name: Some("first_name".into()), first_names: first, ..request };
    let all = compare("fbisg with first names", &with_first, [0, 4]);
    assert!(all[0].formula.starts_with("P(r) ∝ P(s|r) · P(f|r) · (N_gr + 1 + n_r); score(r) = mean of P(r) over 200"));
}

/// Shares without counts, P(name | class), P(place | class), own places, and middle names.
#[test]
fn tables_of_the_user_are_explained() {
    let mut request = request(Some(Model::Bifsg));
    let shares = [[0.7, 0.2, 0.04, 0.02, 0.01, 0.03], [0.1, 0.8, 0.03, 0.02, 0.0, 0.05]];
    let column = |rows: &[[f64; 6]], class: usize| rows.iter().map(|row| row[class]).collect::<Vec<f64>>().into();
    let named = |key: (&'static str, SharedColumn), prefix: &str, rows: &[[f64; 6]]| {
        let classes = ["white", "black", "hispanic", "asian", "aian", "other"];
        let columns = classes.iter().enumerate().map(|(class, name)| (format!("{prefix}{name}"), column(rows, class)));
        let all = std::iter::once((key.0.to_owned(), key.1)).chain(columns).collect();
        MemoryTable::from_columns(all).unwrap()
    };
    request.tables.insert("names".into(), named(("surname", texts(&["SMITH", "WASHINGTON"])), "p_", &shares));
    let middle = [[40.0, 10.0, 20.0, 5.0, 1.0, 4.0], [9.0, 1.0, 0.0, 80.0, 1.0, 9.0]];
    request.tables.insert("middle".into(), by_class(("first_name", texts(&["ANN", "LEE"])), &middle));
    let people = [[300.0, 100.0, 50.0, 20.0, 5.0, 25.0], [0.0; 6], [50.0, 400.0, 10.0, 5.0, 1.0, 9.0]];
    request.tables.insert("places".into(), by_class(("county_fips", texts(&["37183", "37063", "37001"])), &people));
    request.surnames = Some("names".into());
    request.middle_names = Some("middle".into());
    request.geography = vec!["places".into()];
    let all = compare("own tables", &request, [0, 1, 2, 7, 10]);
    let middle = |row: usize| all[row].middle_name.as_ref().unwrap();
    assert_eq!((middle(1).how, middle(1).rows[0].people), ("exact", Some(80.0)));
    assert_eq!(middle(0).reason, Some("it is missing or not a name"));
    // The county is in the table, without people.
    assert_eq!(places(&all[0]), [("county", PlaceResult::NoPeople), ("state", PlaceResult::Used)]);
    assert_eq!(all[0].surname.rows[0].table, "names");
    assert_eq!(all[0].formula, "score(r) ∝ P(r|s) / N_r · P(r|f) / P_first(r) · N_gr");
    assert_eq!(all[1].surname.reason, Some("it is on no list"));
    assert_eq!(all[1].formula.matches("P(r|m) / P_mid(r)").count(), 1, "{}", all[1].formula);
}

/// Rows of all batches, dictionaries, and whole names.
#[test]
fn rows_are_counted_over_all_batches() {
    let names = texts(&["Smith, John A", "García López, Juan Carlos", "Dr. Mary Smith-Jones MD"]);
    let columns = vec![("name", names), ("county_fips", texts(&["37063"; 3]))];
    for batch_rows in [1, 2, 100] {
        let source = Source { table: Some(table(columns.clone())), batch_rows, ..Source::files(["people"]) };
        let request = predict::Request {
            source,
            full_name: Some("name".into()),
            model: Some(Model::Bifsg),
            ..predict::Request::default()
        };
        let all = compare("whole names", &request, 0..3);
        let surnames: Vec<&str> = all.iter().map(|own| own.surname.name.as_str()).collect();
        assert_eq!(surnames, ["Smith", "García López", "Smith-Jones"]);
        assert_eq!(all[1].first_name.as_ref().unwrap().name, "Juan");
        assert_eq!(all[2].surname.dropped, ["title dropped"]);
    }
}

#[test]
fn rows_that_do_not_exist_are_refused() {
    let error = explained(&request(None), 0).unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(error.to_string(), "`row`: rows are numbered from 1");
    let error = explained(&request(None), 15).unwrap_err();
    let expected = "`row` 15: people has 14 rows; choose a row from 1 to 14 (headers are not counted)";
    assert_eq!((error.is_usage(), error.to_string().as_str()), (false, expected));
    let error = explained(&request(None), u64::MAX).unwrap_err();
    assert!(error.to_string().contains("people has 14 rows"), "{error}");
    let none: [&str; 0] = [];
    let empty = table(vec![("surname", texts(&none)), ("county_fips", texts(&none))]);
    let source = Source { table: Some(empty), ..Source::files(["people"]) };
    let error = explained(&predict::Request { source, ..predict::Request::default() }, 1).unwrap_err();
    assert_eq!(error.to_string(), "`row` 1: people has no rows; check how the input was made");
}

/// Settings and columns are refused with the messages of `predict`.
#[test]
fn errors_are_those_of_predict() {
    for request in [
        predict::Request { surname: Some("sirname".into()), ..request(None) },
        predict::Request { seed: Some(1), ..request(None) },
        predict::Request { within: Some("XX".into()), ..request(None) },
        predict::Request { surnames: Some("surnames-2000".into()), ..request(None) },
        request(Some(Model::Voter)),
    ] {
        let expected = predict::run(&request, &Context::default()).unwrap_err();
        let error = explained(&request, 1).unwrap_err();
        assert_eq!((error.is_usage(), error.to_string()), (expected.is_usage(), expected.to_string()));
    }
}

/// A request is built from values by setting id, and settings of outputs are unknown.
#[test]
fn requests_are_built_from_settings() {
    use apportion_app::settings::{Job, from_values};
    let values = |text: &str| serde_json::from_str(text).unwrap();
    let request: explain::Request =
        from_values(Job::Explain, values(r#"{"inputs": ["p.csv"], "row": 7, "model": "fbisg", "seed": 3}"#)).unwrap();
    assert_eq!((request.row, request.predict.model, request.predict.seed), (7, Some(Model::Fbisg), Some(3)));
    for (text, expected) in [
        (r#"{"row": 0}"#, "`row`: it must be 1 or more"),
        (r#"{"row": 1, "output": "o.csv"}"#, "unknown setting \"output\""),
    ] {
        let error = from_values::<explain::Request>(Job::Explain, values(text)).unwrap_err();
        assert!(error.is_usage() && error.to_string().starts_with(expected), "{error}");
    }
}

/// Only the names and the place of the row are in the response and in the text.
#[test]
fn nothing_else_of_the_row_is_shown() {
    let columns = vec![
        ("surname", texts(&["Smith", "Washington"])),
        ("county_fips", texts(&["37063", "37183"])),
        ("phone", texts(&["(919) 555-0100", "(919) 555-0199"])),
    ];
    let source = Source { table: Some(table(columns)), ..Source::files(["people"]) };
    let said: Arc<std::sync::Mutex<String>> = Arc::default();
    let heard = said.clone();
    let context = Context {
        notices: Arc::new(move |notice| *heard.lock().unwrap() += &format!("{notice:?}")),
        ..Context::default()
    };
    let request = explain::Request { predict: predict::Request { source, ..predict::Request::default() }, row: 1 };
    let response = explain::run(&request, &context).unwrap();
    let shown = format!("{} {} {}", response.text(), serde_json::to_string(&response).unwrap(), said.lock().unwrap());
    assert!(shown.contains("Smith") && shown.contains("37063"));
    for other in ["Washington", "WASHINGTON", "37183", "555-01"] {
        assert!(!shown.contains(other), "{other}: {shown}");
    }
}
