//! The command `explain`: scores recomputed by hand from exported tables, the text, and messages.
#![allow(clippy::unwrap_used)] // also in helpers

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use common::{apportion, json, misused, refused, run, text};
use serde_json::Value;
use tempfile::TempDir;

const CLASSES: [&str; 6] = ["white", "black", "hispanic", "asian", "aian", "other"];
/// Shares of white, black, hispanic, asian and other among all voters of the voter lists, and the weight of these
/// shares.
const VOTERS: [f64; 5] = [0.656992573, 0.227499497, 0.082567264, 0.017141924, 0.015798742];
const KAPPA: f64 = 5.0;

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let people = "id,first_name,surname,county_fips\n1,Maria,García,37063\n2,John,Smith Jr.,37183\n\
                  3,Ann,Nguyen-Smith,37183\n4,Ann,Forem,37063\n";
    fs::write(folder.path().join("people.csv"), people).unwrap();
    folder
}

fn split(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// A table as exported: rows of numbers by key and column.
type Exported = HashMap<String, HashMap<String, f64>>;

fn exported(folder: &Path, table: &str) -> Exported {
    run(folder, &["tables", "export", table, "-o", "table.csv", "--force"]);
    let text = fs::read_to_string(folder.join("table.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let row = |line: Vec<&str>| {
        let numbers =
            header.iter().zip(&line).filter_map(|(name, value)| Some(((*name).to_owned(), value.parse().ok()?)));
        (line[0].to_owned(), numbers.collect())
    };
    lines.map(row).collect()
}

/// Returns the class shares of a row, which sum to one.
fn shares(row: &HashMap<String, f64>) -> [f64; 6] {
    let shares = CLASSES.map(|class| row[&format!("p_{class}")]);
    let sum: f64 = shares.iter().sum();
    shares.map(|share| share / sum)
}

/// Returns the class shares of all people of a list.
fn margin(list: &Exported) -> [f64; 6] {
    let (mut sums, mut all) = ([0.0; 6], 0.0);
    for row in list.values() {
        all += row["count"];
        sums.iter_mut().zip(shares(row)).for_each(|(sum, share)| *sum += row["count"] * share);
    }
    sums.map(|sum| sum / all)
}

fn normalized(numbers: [f64; 6]) -> [f64; 6] {
    let sum: f64 = numbers.iter().sum();
    numbers.map(|number| number / sum)
}

/// Returns numbers, which may differ in the last bit, because the JSON reader rounds them.
fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn assert_near(found: &Value, expected: [f64; 6]) {
    let found = numbers(found);
    assert!(
        found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12),
        "{found:?} {expected:?}"
    );
}

/// Scores of `predict`, by row and class.
fn predicted(folder: &Path, options: &str) -> Vec<[f64; 6]> {
    let output = run(folder, &split(&format!("predict people.csv -o - -q{options}")));
    let mut lines = output.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let index = CLASSES.map(|class| header.iter().position(|name| *name == format!("p_{class}")).unwrap());
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        index.map(|index| fields[index].parse().unwrap())
    };
    lines.map(row).collect()
}

/// BIFSG by hand: P(r|s) / P_sur(r) · P(r|f) / P_first(r) · N_gr.
#[test]
fn scores_are_recomputed_from_exported_tables() {
    let folder = folder();
    let folder = folder.path();
    let [surnames, first_names] = ["surnames-2020", "first-names-2020"].map(|table| exported(folder, table));
    let (counties, voters) = (exported(folder, "counties-2020"), exported(folder, "voter-surnames"));
    let [by_surname, by_first_name] = [margin(&surnames), margin(&first_names)];
    let scores = predicted(folder, "");
    // Nine of ten voters called Forem are white: the smallest consistent number of people is 10.
    let forem = ["p_white", "p_black", "p_hispanic", "p_asian", "p_other"].map(|class| voters["FOREM"][class]);
    let likelihoods: [f64; 5] =
        std::array::from_fn(|class| (10.0 * forem[class] + KAPPA * VOTERS[class]) / (10.0 + KAPPA) / VOTERS[class]);
    let forem = normalized(std::array::from_fn(|class| likelihoods[class.min(4)] * by_surname[class]));
    let [nguyen, smith] = ["NGUYEN", "SMITH"].map(|name| shares(&surnames[name]));
    let by_hand = [
        (shares(&surnames["GARCIA"]), "MARIA", "37063"),
        (smith, "JOHN", "37183"),
        (std::array::from_fn(|class| (nguyen[class] + smith[class]) / 2.0), "ANN", "37183"),
        (forem, "ANN", "37063"),
    ];
    for (row, (surname, first_name, county)) in by_hand.into_iter().enumerate() {
        let first_name = shares(&first_names[first_name]);
        let people = CLASSES.map(|class| counties[county][&format!("n_{class}")]);
        let product: [f64; 6] = std::array::from_fn(|class| {
            surname[class] / by_surname[class] * first_name[class] / by_first_name[class] * people[class]
        });
        let found = json(folder, &split(&format!("explain people.csv --row {} --json -q", row + 1)));
        let expected = [surname, by_surname, first_name, by_first_name, people];
        for (factor, expected) in found["factors"].as_array().unwrap().iter().zip(expected) {
            assert_near(&factor["values"], expected);
        }
        assert_eq!(found["factors"].as_array().unwrap().len(), 5);
        assert_near(&found["scores"], normalized(product));
        assert_near(&found["scores"], scores[row]);
    }
    let found = json(folder, &split("explain people.csv --row 4 --json -q"));
    let smoothing = &found["surname"]["rows"][0]["smoothing"];
    assert_eq!((&smoothing["n"], &smoothing["kappa"]), (&10.into(), &5.0.into()));
    let ratios = numbers(&smoothing["ratios"]);
    assert!(ratios.iter().zip(likelihoods).all(|(found, expected)| (found - expected).abs() < 1e-12), "{ratios:?}");
}

/// Raking by hand, from its weights.
#[test]
fn weights_lead_to_the_raked_scores() {
    let folder = folder();
    let folder = folder.path();
    let margin = "class,share\nwhite,0.5\nblack,0.2\nhispanic,0.2\nasian,0.07\naian,0.01\nother,0.02\n";
    fs::write(folder.join("margin.csv"), margin).unwrap();
    let options = " --model rake --margin margin.csv";
    let (raked, plain) = (predicted(folder, options), predicted(folder, " --model bisg"));
    for row in 0..4 {
        let found = json(folder, &split(&format!("explain people.csv --row {}{options} --json -q", row + 1)));
        assert_near(&found["before"], plain[row]);
        assert_near(&found["scores"], raked[row]);
        let weights = numbers(&found["weights"]);
        assert_near(&found["scores"], normalized(std::array::from_fn(|class| plain[row][class] * weights[class])));
        let share = |class: usize| raked.iter().map(|row| row[class]).sum::<f64>() / 4.0;
        assert!((share(0) - 0.5).abs() < 1e-9 && (share(3) - 0.07).abs() < 1e-9);
    }
}

#[test]
fn the_text_has_names_places_factors_and_formula() {
    let folder = folder();
    let output = apportion(folder.path(), &split("explain people.csv --row 3"));
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    let columns =
        "people.csv: BIFSG; surname in \"surname\", first name in \"first_name\", county in \"county_fips\"\n";
    assert_eq!(said, columns);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "row 3 of people.csv: BIFSG");
    let surname = "surname: \"Nguyen-Smith\" → NGUYEN SMITH (both parts): NGUYEN in surnames-2020, 531,404 people; SMITH \
                   in surnames-2020, 2,369,644 people";
    assert_eq!(lines[1], surname);
    assert_eq!(lines[3], "place: county 37183 (counties-2020): used");
    // Columns are aligned, and the sums of products and scores are last.
    let table: Vec<&str> = lines[5..13].to_vec();
    assert!(table.iter().all(|line| line.chars().count() == table[0].chars().count()), "{table:#?}");
    assert_eq!(
        table[0].split_whitespace().collect::<Vec<_>>(),
        ["class", "P(r|s)", "P_sur(r)", "P(r|f)", "P_first(r)", "N_gr", "product", "score"]
    );
    assert!(table[7].starts_with("sum") && table[7].ends_with("1.000000"), "{}", table[7]);
    assert!(shown.contains("\nscore(r) ∝ P(r|s) / P_sur(r) · P(r|f) / P_first(r) · N_gr\n"));
    assert!(shown.contains("\nclass       NGUYEN     SMITH      mean\n"));
    let shown = run(folder.path(), &split("explain people.csv --row 4 -q"));
    assert!(shown.contains("FOREM in voter-surnames: n = 10 people, κ = 5\n"), "{shown}");
    // Names cannot add lines or control characters.
    fs::write(folder.path().join("odd.csv"), "surname,county_fips\n\"Smith\u{1b}[31m\nplace: none\",37063\n").unwrap();
    let shown = run(folder.path(), &split("explain odd.csv --row 1 -q"));
    assert!(!shown.contains('\u{1b}') && !shown.contains("\nplace: none"), "{shown}");
}

#[test]
fn rows_are_counted_over_all_inputs() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("more.csv"), "surname,first_name,county_fips\nWashington,Denise,37063\n").unwrap();
    let shown = run(folder, &split("explain people.csv more.csv --row 5 -q"));
    assert!(shown.starts_with("row 5 of 2 inputs: BIFSG\nsurname: \"Washington\" → WASHINGTON (exact)"), "{shown}");
    let message = refused(folder, &split("explain people.csv more.csv --row 6"));
    let expected = "--row 6: the 2 inputs have 5 rows; choose a row from 1 to 5 (headers are not counted)";
    assert_eq!(message, expected);
}

#[test]
fn problems_are_named() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("empty.csv"), "surname,county_fips\n").unwrap();
    let refused = |line: &str| refused(folder, &split(line));
    let people = "--row 9: people.csv has 4 rows; choose a row from 1 to 4 (headers are not counted)";
    assert_eq!(refused("explain people.csv --row 9"), people);
    let empty = "--row 1: empty.csv has no rows; check how the input was made";
    assert_eq!(refused("explain empty.csv --row 1"), empty);
    // The messages of predict.
    for options in
        ["people.csv --surname sirname", "people.csv --county nope", "nowhere.csv", "people.csv --surnames surname"]
    {
        let expected = refused(&format!("predict {options} -o out.csv"));
        assert_eq!(refused(&format!("explain {options} --row 1")), expected);
    }
    let misused = |line: &str| misused(folder, &split(line));
    assert_eq!(misused("explain people.csv --row 0"), "invalid value '0' for '--row <ROW>': it must be 1 or more");
    assert!(misused("explain people.csv --row two").contains("is not a whole number"));
    assert!(misused("explain people.csv").contains("required arguments were not provided"));
    assert!(misused("explain people.csv --row 1 -o out.csv").contains("unexpected argument '-o'"));
    assert_eq!(
        misused("explain people.csv --row 1 --model voter"),
        misused("predict people.csv -o o.csv --model voter")
    );
}

/// A row without names and places has the scores of everyone without them.
#[test]
fn a_row_without_names_and_places_is_explained() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("people.csv"), "surname,county_fips\n,\nSmith,37063\n").unwrap();
    let shown = run(folder.path(), &split("explain people.csv --row 1 -q"));
    for line in [
        "surname: \"\" (none): not used, because it is missing or not a name",
        "place: county (counties-2020): no valid code in the row",
        "place: the nation (sums of counties-2020): used",
        "score(r) ∝ N_gr",
        "no name and no place of this row are known; all such rows have the same factors",
    ] {
        assert!(shown.lines().any(|own| own == line), "{line}: {shown}");
    }
    let found = json(folder.path(), &split("explain people.csv --row 1 --json -q"));
    assert_near(&found["scores"], predicted(folder.path(), "")[0]);
}
