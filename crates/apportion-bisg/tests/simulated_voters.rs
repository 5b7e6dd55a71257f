//! The synthetic voter file, drawn from the Census tables, matches its settings within sampling error.
#![allow(clippy::unwrap_used)] // also in helpers

use apportion::simulate::*;
use apportion::{Error, Label};
use apportion_bisg::census::{NC_VOTER_SHARES, counties, surnames};
use rayon::prelude::*;

const K: usize = 6;
const PEOPLE: u64 = 200_000;

fn tables() -> VoterTables {
    let weights = |people: [u64; K]| people.map(|people| people as f64).to_vec();
    VoterTables {
        counties: counties().iter().map(|county| weights(county.people)).collect(),
        surnames: surnames().iter().map(|surname| weights(surname.people)).collect(),
    }
}

/// Returns calibrated North Carolina voters.
fn plain() -> VoterOptions {
    VoterOptions { seed: 20, margin: Some(NC_VOTER_SHARES.to_vec()), ..VoterOptions::default() }
}

struct File {
    people: Vec<Voter>,
    scores: Vec<[f64; K]>,
}

fn file(options: &VoterOptions) -> File {
    let voters = Voters::new(&tables(), options).unwrap();
    let people: Vec<Voter> = (0..PEOPLE).map(|index| voters.person(index)).collect();
    let scores = people.iter().map(|voter| scores_of(&voters, voter)).collect();
    File { people, scores }
}

fn scores_of(voters: &Voters, voter: &Voter) -> [f64; K] {
    let mut scores = [0.0; K];
    voters.scores(voter, &mut scores);
    scores
}

impl File {
    fn mean_of_largest(&self) -> f64 {
        self.scores.iter().map(|row| row.iter().copied().fold(0.0, f64::max)).sum::<f64>() / PEOPLE as f64
    }

    /// Returns the difference between the sum of a class's scores and its true count among some rows, in standard
    /// deviations of the count.
    fn off(&self, class: usize, rows: &[usize]) -> f64 {
        let score = |&row: &usize| self.scores[row][class];
        let expected: f64 = rows.iter().map(score).sum();
        let variance: f64 = rows.iter().map(score).map(|score| score * (1.0 - score)).sum();
        let found = rows.iter().filter(|&&row| usize::from(self.people[row].truth) == class).count();
        (expected - found as f64) / variance.sqrt()
    }

    /// Returns the largest such difference of a class, among all rows and in each decile of the class's score.
    fn most_off(&self, class: usize) -> f64 {
        let mut rows: Vec<usize> = (0..self.people.len()).collect();
        rows.sort_by(|&a, &b| self.scores[a][class].total_cmp(&self.scores[b][class]));
        let tenths = rows.chunks(rows.len() / 10).map(|tenth| self.off(class, tenth).abs());
        tenths.fold(self.off(class, &rows).abs(), f64::max)
    }
}

/// Checks that counts of `PEOPLE` draws are within five standard deviations of their expectation.
fn within_chance(what: &str, counts: &[u64], likelihoods: &[f64]) {
    assert!((likelihoods.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert_eq!(counts.iter().sum::<u64>(), PEOPLE);
    for (index, (&count, chance)) in counts.iter().zip(likelihoods).enumerate() {
        let (expected, variance) = (PEOPLE as f64 * chance, PEOPLE as f64 * chance * (1.0 - chance));
        // Small counts are not normally distributed, so their tolerance is five people larger.
        let scratch = 5.0 * variance.sqrt() + if expected < 50.0 { 5.0 } else { 0.0 };
        assert!((count as f64 - expected).abs() <= scratch, "{what} {index}: {count} where {expected} were expected");
    }
}

fn count(codes: impl Iterator<Item = usize>, of: usize) -> Vec<u64> {
    let mut counts = vec![0; of];
    codes.for_each(|code| counts[code] += 1);
    counts
}

/// Returns the sum of each class over a table's rows.
fn totals(table: &[Vec<f64>]) -> [f64; K] {
    std::array::from_fn(|class| table.iter().map(|row| row[class]).sum())
}

/// Returns the joint probability of each row and class of a table, with the class shares of the voters.
fn cells(table: &[Vec<f64>]) -> Vec<f64> {
    let totals = totals(table);
    let chance = |row: &[f64], class: usize| NC_VOTER_SHARES[class] * row[class] / totals[class];
    table.iter().flat_map(|row| (0..K).map(move |class| chance(row, class))).collect()
}

/// Returns the probability of each row of a table.
fn likelihoods(table: &[Vec<f64>]) -> Vec<f64> {
    cells(table).chunks(K).map(|row| row.iter().sum()).collect()
}

fn cell_of(voter: &Voter) -> usize {
    voter.county as usize * K + usize::from(voter.truth)
}

#[test]
fn counties_classes_and_surnames_come_as_often_as_they_should() {
    let (tables, people) = (tables(), file(&plain()).people);
    within_chance("class", &count(people.iter().map(|voter| usize::from(voter.truth)), K), &NC_VOTER_SHARES);
    let by_county = count(people.iter().map(|voter| voter.county as usize), tables.counties.len());
    within_chance("county", &by_county, &likelihoods(&tables.counties));
    let by_surname = count(people.iter().map(|voter| voter.surname as usize), tables.surnames.len());
    within_chance("surname", &by_surname, &likelihoods(&tables.surnames));
    let cells = cells(&tables.counties);
    within_chance("cell", &count(people.iter().map(cell_of), cells.len()), &cells);
}

#[test]
fn without_a_margin_people_follow_the_county_table() {
    let people = file(&VoterOptions::default()).people;
    let totals = totals(&tables().counties);
    let shares = totals.map(|total| total / totals.iter().sum::<f64>());
    within_chance("class", &count(people.iter().map(|voter| usize::from(voter.truth)), K), &shares);
}

#[test]
fn scores_are_bayes_rule_and_sum_to_one() {
    let (tables, file) = (tables(), file(&plain()));
    let (of_counties, of_surnames) = (totals(&tables.counties), totals(&tables.surnames));
    for (voter, scores) in file.people.iter().zip(&file.scores) {
        let (county, surname) = (&tables.counties[voter.county as usize], &tables.surnames[voter.surname as usize]);
        let joint: [f64; K] = std::array::from_fn(|class| {
            NC_VOTER_SHARES[class] * (county[class] / of_counties[class]) * (surname[class] / of_surnames[class])
        });
        let sum: f64 = joint.iter().sum();
        assert!((0..K).all(|class| (scores[class] - joint[class] / sum).abs() < 1e-12));
        assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(scores[usize::from(voter.truth)] > 0.0);
    }
}

#[test]
fn scores_are_calibrated_by_construction() {
    let told_less = VoterOptions { blend: 0.5, ..plain() };
    for options in [plain(), VoterOptions { seed: 21, ..plain() }, VoterOptions::default(), told_less] {
        let file = file(&options);
        for class in 0..K {
            assert!(file.most_off(class) < 5.0, "class {class} is off by {} with {options:?}", file.most_off(class));
        }
    }
}

#[test]
fn rows_are_the_same_in_any_order_and_by_any_threads() {
    let voters = Voters::new(&tables(), &plain()).unwrap();
    let row = |index: u64| (voters.person(index), scores_of(&voters, &voters.person(index)));
    let forwards: Vec<_> = (0..PEOPLE).map(row).collect();
    let mut backwards: Vec<_> = (0..PEOPLE).rev().map(row).collect();
    backwards.reverse();
    assert_eq!(forwards, backwards);
    assert_eq!(forwards, (0..PEOPLE).into_par_iter().map(row).collect::<Vec<_>>());
    let others = Voters::new(&tables(), &VoterOptions { seed: 21, ..plain() }).unwrap();
    assert!((0..100).any(|index| others.person(index) != forwards[index as usize].0));
}

#[test]
fn sharpening_raises_odds_to_the_power() {
    let (before, after) = (file(&plain()), file(&VoterOptions { sharpen: 1.5, ..plain() }));
    assert_eq!(before.people, after.people);
    assert!(after.mean_of_largest() > before.mean_of_largest() + 0.03);
    let timid = file(&VoterOptions { sharpen: 0.5, ..plain() });
    assert!(timid.mean_of_largest() < before.mean_of_largest() - 0.03);
    for (before, after) in before.scores.iter().zip(&after.scores) {
        let raised = before.map(|score| score.powf(1.5));
        let sum: f64 = raised.iter().sum();
        assert!((0..K).all(|class| (after[class] - raised[class] / sum).abs() < 1e-12));
        assert!((after.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_shifted_prior_makes_the_aggregate_posterior_miss_the_truth() {
    let everyone: Vec<usize> = (0..PEOPLE as usize).collect();
    let matched = file(&plain());
    let hispanic = 2;
    let mut off = matched.off(hispanic, &everyone);
    assert!(off.abs() < 5.0);
    for prior_shift in [0.25, 0.5, 0.75, 1.0] {
        let shifted = file(&VoterOptions { prior_shift, ..plain() });
        assert_eq!(shifted.people, matched.people);
        let further = shifted.off(hispanic, &everyone);
        assert!(further > off + 5.0, "{further} after {off}");
        off = further;
    }
    // At the maximum shift, the prior is that of people who follow the county table.
    let (shifted, census) = (VoterOptions { prior_shift: 1.0, ..plain() }, VoterOptions { margin: None, ..plain() });
    let [shifted, census] = [shifted, census].map(|options| Voters::new(&tables(), &options).unwrap());
    for voter in &matched.people {
        let (shifted, census) = (scores_of(&shifted, voter), scores_of(&census, voter));
        assert!((0..K).all(|class| (shifted[class] - census[class]).abs() < 1e-12));
    }
}

#[test]
fn noise_moves_the_people_and_not_the_scores() {
    let options = VoterOptions { noise: 0.5, ..plain() };
    let noisy = file(&options);
    assert!((0..K).any(|class| noisy.most_off(class) > 10.0));
    let quiet = Voters::new(&tables(), &plain()).unwrap();
    assert!(noisy.people.iter().zip(&noisy.scores).all(|(voter, scores)| scores_of(&quiet, voter) == *scores));
    assert_ne!(noisy.people, file(&plain()).people);
    assert_eq!(noisy.people, file(&options).people);
    // The logarithms of counts over expected counts vary as much as the noise.
    let cells = cells(&tables().counties);
    let counts = count(noisy.people.iter().map(cell_of), cells.len());
    let expected = cells.iter().map(|chance| chance * PEOPLE as f64);
    let many = counts.iter().zip(expected).filter(|(_, expected)| *expected >= 300.0);
    let logs: Vec<f64> = many.map(|(&count, expected)| (count as f64 / expected).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let spread = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64).sqrt();
    assert!(logs.len() > 100 && (spread - 0.5).abs() < 0.15, "{spread} in {} cells", logs.len());
}

#[test]
fn blended_names_say_less_and_in_the_end_nothing() {
    let mean = |blend| file(&VoterOptions { blend, ..plain() }).mean_of_largest();
    assert!(mean(0.5) < mean(0.0) - 0.01);
    let voters = Voters::new(&tables(), &VoterOptions { blend: 1.0, ..plain() }).unwrap();
    let mut of_county: Vec<Option<[f64; K]>> = vec![None; counties().len()];
    for voter in (0..PEOPLE).map(|index| voters.person(index)) {
        let scores = scores_of(&voters, &voter);
        let first = of_county[voter.county as usize].get_or_insert(scores);
        assert!((0..K).all(|class| (scores[class] - first[class]).abs() < 1e-12));
    }
}

#[test]
fn a_class_that_nobody_votes_in_is_never_drawn() {
    let margin = Some(vec![0.5, 0.5, 0.0, 0.0, 0.0, 0.0]);
    let voters = Voters::new(&tables(), &VoterOptions { margin, ..VoterOptions::default() }).unwrap();
    assert!((0..PEOPLE).all(|index| voters.person(index).truth < 2 as Label));
    assert_eq!(scores_of(&voters, &voters.person(0))[2..], [0.0; 4]);
}

#[test]
fn unsound_tables_and_options_are_refused() {
    let small = || VoterTables { counties: vec![vec![3.0, 1.0]; 2], surnames: vec![vec![1.0, 2.0]; 3] };
    let table = |change: &dyn Fn(&mut VoterTables)| {
        let mut tables = small();
        change(&mut tables);
        Voters::new(&tables, &VoterOptions::default()).unwrap_err().to_string()
    };
    let option = |change: &dyn Fn(&mut VoterOptions)| {
        let mut options = VoterOptions::default();
        change(&mut options);
        Voters::new(&small(), &options).unwrap_err()
    };
    assert!(Voters::new(&small(), &VoterOptions::default()).is_ok());
    let cases = [
        (table(&|tables| tables.counties.clear()), "the number of rows of the county table is 0"),
        (table(&|tables| tables.surnames.clear()), "the number of rows of the surname table is 0"),
        (table(&|tables| tables.counties[0].clear()), "there are no classes"),
        (table(&|tables| tables.counties[0] = vec![1.0; 251]), "251 classes are too many"),
        (table(&|tables| tables.counties[1].push(1.0)), "the number of weights of county 1 is 3"),
        (table(&|tables| tables.surnames[2].truncate(1)), "the number of weights of surname 2 is 1"),
        (table(&|tables| tables.surnames[2][1] = -1.0), "the weight of class 1 in surname 2 is -1"),
        (table(&|tables| tables.counties[0][1] = f64::NAN), "the weight of class 1 in county 0 is NaN"),
        (table(&|tables| tables.counties[0][1] = f64::INFINITY), "the weight of class 1 in county 0 is inf"),
        (table(&|tables| tables.counties = vec![vec![1.0, 0.0]]), "the total of class 1 in the county table is 0"),
        (table(&|tables| tables.surnames = vec![vec![0.0, 1.0]]), "the total of class 0 in the surname table is 0"),
        (table(&|tables| tables.surnames = vec![vec![1e308, 1e308]]), "the total of the surname table is inf"),
        (option(&|options| options.margin = Some(vec![1.0])).to_string(), "the margin has 1 entry; expected 2"),
        (option(&|options| options.margin = Some(vec![1.5, -0.5])).to_string(), "the share of class 1 in the margin"),
        (option(&|options| options.margin = Some(vec![0.5, 0.4])).to_string(), "the sum of the margin is 0.9"),
        (option(&|options| options.sharpen = 0.0).to_string(), "the sharpening exponent is 0"),
        (option(&|options| options.sharpen = f64::NAN).to_string(), "the sharpening exponent is NaN"),
        (option(&|options| options.noise = -0.1).to_string(), "the noise is -0.1"),
        (option(&|options| options.noise = 11.0).to_string(), "the noise is 11"),
        (option(&|options| options.blend = 1.1).to_string(), "the blend is 1.1"),
    ];
    for (text, expected) in cases {
        assert!(text.starts_with(expected), "{text}");
    }
    let margin = || Some(vec![0.5, 0.5]);
    let shift = option(&|options| (options.prior_shift, options.margin) = (2.0, margin()));
    assert!(matches!(shift, Error::Parameter { value: 2.0, .. }));
    assert!(matches!(option(&|options| options.prior_shift = 0.5), Error::Incompatible { .. }));
}

/// An attribute depends only on the class, and is the same for the same seed, number and person.
#[test]
fn attributes_are_drawn_by_class() {
    let voters = Voters::new(&tables(), &VoterOptions::default()).unwrap();
    let k = voters.classes();
    // One name for each class, and one that all classes share.
    let weights =
        |name: usize| (0..k).map(|class| if name == class || name == k { 3.0 } else { 0.0 }).collect::<Vec<f64>>();
    let names: Vec<Vec<f64>> = (0..=k).map(weights).collect();
    let attribute = |number, seed| Attribute::new(&names, "rare name", number, seed).unwrap();
    let is_shared = |attribute: &Attribute, index: u64| {
        let voter = voters.person(index);
        let name = attribute.of(index, &voter) as usize;
        assert!(name == usize::from(voter.truth) || name == k);
        name == k
    };
    let (first, second) = (attribute(0, 0), attribute(1, 0));
    let mut counts = [[0_u32; 2]; 2];
    for index in 0..20_000 {
        counts[usize::from(is_shared(&first, index))][usize::from(is_shared(&second, index))] += 1;
    }
    let again = attribute(0, 0);
    assert!((0..64).all(|index| is_shared(&first, index) == is_shared(&again, index)));
    // Five standard deviations: attributes with different numbers are independent.
    assert!(counts.iter().flatten().all(|count| (4_694..=5_306).contains(count)), "{counts:?}");
    assert!((0..64).any(|index| is_shared(&first, index) != is_shared(&attribute(0, 1), index)));
    // Do not change: published files depend on these values.
    let frozen = |attribute: &Attribute| (0..8).map(|index| u32::from(is_shared(attribute, index))).collect::<Vec<_>>();
    assert_eq!(frozen(&first), [0, 0, 0, 1, 1, 0, 0, 0]);
    assert_eq!(frozen(&second), [1, 0, 1, 0, 0, 1, 1, 0]);
    let error = Attribute::new(&[vec![1.0, 0.0]], "ZIP code", 0, 0).unwrap_err().to_string();
    assert!(error.starts_with("the total of class 1 in the ZIP code table is 0"), "{error}");
}
