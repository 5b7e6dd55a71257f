//! Places that are in no table of 2020: a larger place is used, `place_used` names it, and the summary counts it.
//! Expected scores are computed from exported tables.
#![allow(clippy::unwrap_used)] // in helpers

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use common::{json, run};
use tempfile::TempDir;

const CLASSES: [&str; 6] = ["white", "black", "hispanic", "asian", "aian", "other"];

/// Returns the rows of a CSV file, by column.
fn rows(text: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    let row = |record: csv::StringRecord| header.iter().cloned().zip(record.iter().map(String::from)).collect();
    reader.records().map(|record| row(record.unwrap())).collect()
}

fn numbers(row: &HashMap<String, String>, prefix: &str) -> [f64; 6] {
    CLASSES.map(|class| row[&format!("{prefix}{class}")].parse().unwrap())
}

/// Returns the people by class in the places of an exported table whose codes a function accepts.
fn people(folder: &Path, table: &str, key: &str, accepts: impl Fn(&str) -> bool) -> [f64; 6] {
    let mut sums = [0.0; 6];
    for row in rows(&run(folder, &["tables", "export", table, "-o", "-"])) {
        if accepts(&row[key]) {
            sums.iter_mut().zip(numbers(&row, "n_")).for_each(|(sum, people)| *sum += people);
        }
    }
    sums
}

/// The scores of a surname in a place, by the formula P(class | surname) / P(class) · people of the class in the place.
struct Surname {
    likelihoods: [f64; 6],
}

impl Surname {
    fn new(folder: &Path, name: &str) -> Surname {
        let (mut own, mut margin) = ([0.0; 6], [0.0; 6]);
        for row in rows(&run(folder, &["tables", "export", "surnames-2020", "-o", "-"])) {
            let (shares, count): (_, f64) = (numbers(&row, "p_"), row["count"].parse().unwrap());
            let sum: f64 = shares.iter().sum();
            margin.iter_mut().zip(shares).for_each(|(all, share)| *all += count * share / sum);
            if row["surname"] == name {
                own = shares;
            }
        }
        Surname { likelihoods: std::array::from_fn(|class| own[class] / margin[class]) }
    }

    fn scores(&self, people: [f64; 6]) -> [f64; 6] {
        let products: [f64; 6] = std::array::from_fn(|class| self.likelihoods[class] * people[class]);
        let sum: f64 = products.iter().sum();
        products.map(|product| product / sum)
    }
}

#[test]
fn larger_places_replace_unknown_ones() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let washington = Surname::new(folder, "WASHINGTON");
    let county = |code: &'static str| people(folder, "counties-2020", "county_fips", move |own| own == code);
    let state = |code: &'static str| people(folder, "states-2020", "state_fips", move |own| own == code);
    let durham = county("37063");
    let (north_carolina, south_carolina) = (state("37"), state("45"));
    let prefix = people(folder, "zctas-2020", "zcta5", |code| code.starts_with("276"));
    // The 50 states and DC, without Puerto Rico.
    let nation = people(folder, "states-2020", "state_fips", |code| code != "72");
    assert_eq!(nation.iter().sum::<f64>(), 258_343_281.0);
    for (columns, values, place_used, expected) in [
        // Durham's tract 20.16 of 2010 was divided before 2020.
        ("tract", "37063002016", "county", durham),
        ("block_group", "370630020161", "county", durham),
        ("tract,county_fips", "37063002016,37063", "county", durham),
        // A county that does not exist.
        ("tract", "37999000100", "state", north_carolina),
        // ZIP codes of offices and of the military, without an area of the Census.
        ("zip,county_fips,state", "27699,37063,NC", "county", durham),
        ("zip,state", "27699,NC", "zip prefix", prefix),
        ("zip", "27699", "zip prefix", prefix),
        ("zip,state", "27699,SC", "state", south_carolina),
        ("zip,state", "09001,NC", "state", north_carolina),
        ("zip", "09001", "nation", nation),
        ("zip,county_fips", "09001,99999", "nation", nation),
    ] {
        let text = format!("surname,{columns}\nWashington,{values}\nWashington,{values}\n");
        fs::write(folder.join("people.csv"), text).unwrap();
        let found = rows(&run(folder, &["predict", "people.csv", "-o", "-"]));
        assert_eq!(found[0]["place_used"], place_used, "{columns}: {values}");
        for (own, expected) in numbers(&found[0], "p_").into_iter().zip(washington.scores(expected)) {
            assert!((own - expected).abs() < 1e-9, "{columns} {values}: {own} is not {expected}");
        }
        let summary = json(folder, &["predict", "people.csv", "-o", "out.csv", "--force", "-q", "--json"]);
        assert_eq!(summary["place_used"][place_used], 2, "{columns} {values}: {summary}");
    }
}

/// With `--within`, places of other states are unknown.
#[test]
fn one_state_limits_zip_codes() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let washington = Surname::new(folder, "WASHINGTON");
    let area = people(folder, "zctas-2020", "zcta5", |code| code == "27701");
    let prefix = people(folder, "zctas-2020", "zcta5", |code| code.starts_with("276"));
    let north_carolina = people(folder, "states-2020", "state_fips", |code| code == "37");
    fs::write(folder.join("people.csv"), "surname,zip\nWashington,27701\nWashington,27699\nWashington,10001\n")
        .unwrap();
    let found = rows(&run(folder, &["predict", "people.csv", "-o", "-", "-q", "--within", "NC"]));
    for (row, (place_used, people)) in
        found.iter().zip([("zcta", area), ("zip prefix", prefix), ("state", north_carolina)])
    {
        assert_eq!(row["place_used"], place_used);
        for (own, expected) in numbers(row, "p_").into_iter().zip(washington.scores(people)) {
            assert!((own - expected).abs() < 1e-9, "{place_used}: {own} is not {expected}");
        }
    }
}
