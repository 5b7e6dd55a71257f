//! Checks the tables for consistency, and against their source files if these are available.
#![allow(clippy::print_stderr, clippy::unwrap_used)] // also in helpers

mod common;

use std::collections::{HashMap, HashSet};
use std::fs::File;

use apportion_bisg::census::*;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use common::shared;

/// Shares of white, black, hispanic, asian, aian and other in the list of 2020, in hundredths of a percent.
const KNOWN: [(&str, u64, [u64; 6]); 4] = [
    ("SMITH", 2_369_644, [6799, 2262, 350, 68, 83, 437]),
    ("GARCIA", 1_149_510, [570, 55, 9120, 164, 49, 43]),
    ("NGUYEN", 531_404, [134, 22, 83, 9545, 2, 214]),
    ("WASHINGTON", 172_075, [582, 8358, 347, 43, 65, 604]),
];

#[test]
fn counties_are_those_of_north_carolina() {
    assert_eq!(counties().len(), 100);
    assert!(counties().is_sorted_by(|a, b| a.fips < b.fips));
    assert!(counties().iter().all(|county| county.fips.len() == 5 && county.fips.starts_with("37")));
    assert_eq!(counties().iter().map(|county| county.name).collect::<HashSet<_>>().len(), 100);
    // The Census has 9,535,483 people; the source lacks three people in Mecklenburg County.
    assert_eq!(counties().iter().flat_map(|county| county.people).sum::<u64>(), 9_535_480);
    let mecklenburg = counties().iter().find(|county| county.name == "Mecklenburg").unwrap();
    assert_eq!(mecklenburg.people.iter().sum::<u64>(), 919_628 - 3);
}

#[test]
fn surnames_are_the_most_common_and_all_others() {
    let (rest, names) = surnames().split_last().unwrap();
    assert_eq!((names.len(), rest.name), (20_000, ALL_OTHER_NAMES));
    assert!(names.is_sorted_by_key(|surname| u64::MAX - people(surname)));
    assert!(names.iter().all(|surname| surname.name.bytes().all(|byte| byte.is_ascii_uppercase())));
    assert_eq!(surnames().iter().map(|surname| surname.name).collect::<HashSet<_>>().len(), surnames().len());
    let total: u64 = surnames().iter().map(people).sum();
    assert_eq!(total, 262_612_981);
    assert!((people(rest) as f64 / total as f64 - 0.173).abs() < 0.001);
}

#[test]
fn well_known_names_have_their_shares() {
    for (name, count, shares) in KNOWN {
        let surname = surnames().iter().find(|surname| surname.name == name).unwrap();
        assert_eq!(people(surname), count);
        close(surname, &shares.map(|share| share as f64 / 100.0));
    }
}

#[test]
fn voter_shares_sum_to_one() {
    assert!((NC_VOTER_SHARES.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn counties_are_those_of_the_source() {
    let Some(path) = shared("nc_county_race_2010.csv") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    // county_fips, county, n_total, then the classes in order of `CLASSES`
    for (line, county) in text.lines().skip(1).zip(counties()) {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!((fields[0], fields[1]), (county.fips, county.name));
        let numbers: Vec<u64> = fields[2..].iter().map(|field| field.parse().unwrap()).collect();
        assert_eq!(numbers[1..], county.people);
        assert_eq!(numbers[0], county.people.iter().sum::<u64>());
    }
    assert_eq!(text.lines().count(), counties().len() + 1);
}

#[test]
fn surnames_are_those_of_the_source() {
    let Some(path) = shared("census_surnames_2020.parquet") else { return };
    let ours: HashMap<&str, &Surname> = surnames().iter().map(|surname| (surname.name, surname)).collect();
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let (mut found, mut others, mut expected) = (0, 0, [0.0; 6]);
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        // name, rank, count, prop100k, white, black, api, aian, two or more races, hispanic
        let count = row.get_long(2).unwrap() as u64;
        let percent = [4, 5, 9, 6, 7, 8].map(|column| f64::from(row.get_float(column).unwrap()));
        if let Some(surname) = ours.get(row.get_string(0).unwrap().as_str()) {
            assert_eq!(people(surname), count, "{}", surname.name);
            close(surname, &percent);
            found += 1;
        } else {
            others += count;
            (0..6).for_each(|class| expected[class] += count as f64 * percent[class] / 100.0);
        }
    }
    let rest = surnames().last().unwrap();
    assert_eq!((found, others), (20_000, people(rest)));
    close(rest, &expected.map(|people| people / others as f64 * 100.0));
}

fn people(surname: &Surname) -> u64 {
    surname.people.iter().sum()
}

/// Checks that the people match the shares (in percent) of their sum, within the rounding to whole people and
/// hundredths of a percent.
fn close(surname: &Surname, percent: &[f64; 6]) {
    let sum = people(surname) as f64;
    for (&people, percent) in surname.people.iter().zip(percent) {
        let off = (people as f64 - sum * percent / 100.0).abs();
        // The list's percentages sum to 100 ± 0.02.
        assert!(off <= 1.0 + 0.0002 * sum * percent / 100.0 + 1e-6, "{}: {people} where {percent}%", surname.name);
    }
}
