//! The voter list tells the class of people whose names are not on the Census list, and excludes no class.
#![allow(clippy::unwrap_used)] // in helpers

use std::collections::HashMap;

use apportion_bisg::census::{CensusRows, CensusTable, UNLISTED, VOTER_SHARES};
use apportion_bisg::*;

/// Returns P(class) among all people of a table.
fn margin(rows: &CensusRows) -> [f64; 6] {
    let mut margin = [0.0; 6];
    for (shares, count) in rows.values.chunks_exact(6).zip(rows.counts.as_ref().unwrap()) {
        margin.iter_mut().zip(shares).for_each(|(all, share)| *all += *count as f64 * share);
    }
    let sum: f64 = margin.iter().sum();
    margin.map(|share| share / sum)
}

/// Names that are in both lists are scored as if the Census list did not have them. The expected log loss, by the shares
/// of the Census, is lower with the voter list than with the row for all other names.
#[test]
fn names_hidden_from_the_census_list_are_scored_better_with_the_voter_list() {
    let (census, voters) = (CensusTable::Surnames2020.load(), CensusTable::VoterSurnames.load());
    let margin = margin(&census);
    let shares = voters.voter_shares(&margin);
    let rows: HashMap<&str, usize> = voters.keys().enumerate().map(|(row, name)| (name, row)).collect();
    let all_others: f64 = (0..6).map(|class| UNLISTED[class] * margin[class]).sum();
    let (mut names, mut with, mut without) = (0.0, 0.0, 0.0);
    for (name, truth) in census.keys().zip(census.values.chunks_exact(6)).filter(|(name, _)| !name.contains(' ')) {
        let Some(row) = rows.get(name) else { continue };
        names += 1.0;
        for class in 0..6 {
            with -= truth[class] * shares[row * 6 + class].ln();
            without -= truth[class] * (UNLISTED[class] * margin[class] / all_others).ln();
        }
    }
    let (with, without) = (with / names, without / names);
    assert!(names > 100_000.0, "{names}");
    assert!(with < 0.75 * without, "{with} with the list, {without} without it");
}

/// A small model: one name on the Census list, and a voter list with a name that has no black voters.
#[test]
fn likelihoods_of_the_voter_list_are_smoothed() {
    let (census, voters) = (CensusTable::Surnames2020.load(), CensusTable::VoterSurnames.load());
    let margin = margin(&census);
    // A name of few voters, of whom none is black.
    let samples = voters.samples.as_ref().unwrap();
    let on_census: std::collections::HashSet<&str> = census.keys().collect();
    let (row, name) = voters
        .keys()
        .enumerate()
        .find(|(row, name)| samples[*row] == 4 && voters.values[row * 5 + 1] == 0.0 && !on_census.contains(name))
        .unwrap();
    let counts = census.counts.clone().unwrap().into_iter().map(|count| count as f64).collect();
    let table = NameTable::new(6, census.keys(), census.values.clone(), Numbers::Shares, Some(counts)).unwrap();
    let list = NameTable::new(6, voters.keys(), voters.voter_shares(&margin), Numbers::Shares, None).unwrap();
    let surnames = table.with_voter_list(list).unwrap();
    let people = [500.0, 300.0, 100.0, 50.0, 30.0, 20.0];
    let places = PlaceTable::by_code(Level::County, 6, [37063], people.to_vec(), Numbers::People).unwrap();
    let tables = ModelTables { surnames, first_names: None, places: vec![places], prior: None };
    let model = Bisg::new(tables, &Population::Everybody).unwrap();
    let durham = Place { code: Some((Level::County, 37063)), ..Place::default() };
    let mut scores = [0.0; 6];
    let mut score = |name: &str| {
        let info = model.predict(name, "", &durham, &mut Scratch::default(), &mut scores);
        (info.surname, scores)
    };
    let (kind, found) = score(&name.to_lowercase());
    let mut expected = [0.0; 6];
    for class in 0..6 {
        let voter = class.min(4);
        let share = (4.0 * voters.values[row * 5 + voter] + 5.0 * VOTER_SHARES[voter]) / 9.0;
        expected[class] = share / VOTER_SHARES[voter] * people[class];
    }
    let sum: f64 = expected.iter().sum();
    assert_eq!(kind, NameMatch::VoterList);
    for class in 0..6 {
        assert!((found[class] - expected[class] / sum).abs() < 1e-6, "{name}: {found:?}");
        assert!(found[class] > 0.0);
    }
    // A name on no list has the likelihoods of unlisted names; a missing name has none.
    let (kind, found) = score("Qxzqxz");
    let sum: f64 = (0..6).map(|class| UNLISTED[class] * people[class]).sum();
    assert_eq!(kind, NameMatch::None);
    for class in 0..6 {
        assert!((found[class] - UNLISTED[class] * people[class] / sum).abs() < 1e-6, "{found:?}");
    }
    let (_, found) = score("");
    assert!((found[0] - 0.5).abs() < 1e-9 && (found[5] - 0.02).abs() < 1e-9, "{found:?}");
    assert_eq!((score("Smith").0, score("Smith Jr.").0), (NameMatch::Exact, NameMatch::Cleaned));
}
