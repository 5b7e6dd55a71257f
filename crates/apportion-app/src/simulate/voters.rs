//! Rows of a simulated voter file: people with names and counties, and the scores that BISG would compute.

use std::collections::BTreeMap;

use std::collections::HashSet;

use apportion::simulate::{RareNames, Voter, VoterOptions, VoterTables};
use apportion::text::{Message, Setting};
use apportion_bisg::census::{ALL_OTHER_NAMES, CLASSES, CensusTable, NC_VOTER_SHARES, counties, surnames};
use apportion_io::{PlainColumn, PlainRows, PlainValues};

use super::{RowMaker, Voters, score_columns};
use crate::{Error, Result};

/// Makes rows with the columns `id`, `county`, `county_fips`, `surname`, `race` and, unless left out, scores.
pub(super) struct VoterRows {
    voters: apportion::simulate::Voters,
    rare: RareNames,
    /// The names that the row for all other names represents.
    rare_names: Vec<String>,
    classes: Vec<&'static str>,
    has_scores: bool,
    double: bool,
}

impl VoterRows {
    pub(super) fn new(settings: &Voters, seed: u64, double: bool) -> Result<VoterRows> {
        let merged = MergedClasses::new(&settings.merge)?;
        let people = |people: &[u64; 6]| merged.sums(&people.map(|count| count as f64));
        let tables = VoterTables {
            counties: counties().iter().map(|county| people(&county.people)).collect(),
            surnames: surnames().iter().map(|surname| people(&surname.people)).collect(),
        };
        let options = VoterOptions {
            seed,
            margin: Some(merged.sums(&NC_VOTER_SHARES)),
            prior_shift: settings.prior_shift,
            sharpen: settings.sharpen,
            noise: settings.noise,
            ..VoterOptions::default()
        };
        let voters = apportion::simulate::Voters::new(&tables, &options)?;
        let (rare_names, people) = rare_names(&merged);
        let rare = RareNames::new(&people, seed)?;
        let has_scores = !settings.no_scores;
        Ok(VoterRows { voters, rare, rare_names, classes: merged.classes, has_scores, double })
    }

    fn surname(&self, index: u64, voter: &Voter) -> &str {
        match surnames()[voter.surname as usize].name {
            ALL_OTHER_NAMES => &self.rare_names[self.rare.of(index, voter) as usize],
            name => name,
        }
    }
}

impl RowMaker for VoterRows {
    fn rows(&self, start: u64, rows: u64) -> PlainRows {
        let people: Vec<(u64, Voter)> = (start..start + rows).map(|index| (index, self.voters.person(index))).collect();
        let county = |voter: &Voter| &counties()[voter.county as usize];
        let county_names = people.iter().map(|(_, voter)| county(voter).name);
        let county_codes = people.iter().map(|(_, voter)| county(voter).fips);
        let surnames = people.iter().map(|(index, voter)| self.surname(*index, voter));
        let truth = people.iter().map(|(_, voter)| self.classes[usize::from(voter.truth)]);
        let mut columns = vec![
            PlainColumn::new("id", PlainValues::Whole((start + 1..=start + rows).collect())),
            PlainColumn::new("county", PlainValues::Text(county_names.collect())),
            PlainColumn::new("county_fips", PlainValues::Text(county_codes.collect())),
            PlainColumn::new("surname", PlainValues::Text(surnames.collect())),
            PlainColumn::new("race", PlainValues::Text(truth.collect())),
        ];
        if self.has_scores {
            let k = self.classes.len();
            let mut scores = vec![0.0; people.len() * k];
            for ((_, voter), row) in people.iter().zip(scores.chunks_exact_mut(k)) {
                self.voters.scores(voter, row);
            }
            columns.extend(score_columns(&scores, &self.classes, self.double));
        }
        PlainRows::new(columns)
    }
}

/// The classes of the Census, some of them merged.
struct MergedClasses {
    classes: Vec<&'static str>,
    /// The index in `classes` of each class of the Census.
    indices: [usize; CLASSES.len()],
}

impl MergedClasses {
    fn new(merge: &BTreeMap<String, String>) -> Result<MergedClasses> {
        let known = |name: &str| CLASSES.iter().position(|class| *class == name.trim());
        let mut into: [usize; CLASSES.len()] = std::array::from_fn(|class| class);
        for (from, to) in merge {
            match (known(from), known(to)) {
                (Some(from), Some(to)) if from != to => into[from] = to,
                (Some(_) | None, Some(_) | None) => {
                    let pair = format!("{from}={to}");
                    let problem = format!(": {pair:?} is not CLASS=CLASS, of {}", CLASSES.join(", "));
                    return Err(Error::Settings(Message::from(Setting::Merge) + problem));
                }
            }
        }
        let kept: Vec<usize> = (0..CLASSES.len()).filter(|&class| into[class] == class).collect();
        let mut indices = [0; CLASSES.len()];
        for class in 0..CLASSES.len() {
            let Some(index) = kept.iter().position(|&kept| kept == into[class]) else {
                let problem = format!(
                    ": {} is merged into a class that is itself merged; merge both into the same class",
                    CLASSES[class]
                );
                return Err(Error::Settings(Message::from(Setting::Merge) + problem));
            };
            indices[class] = index;
        }
        Ok(MergedClasses { classes: kept.iter().map(|&class| CLASSES[class]).collect(), indices })
    }

    /// Returns the people of each class after merging.
    fn sums(&self, people: &[f64; CLASSES.len()]) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes.len()];
        for (people, &index) in people.iter().zip(&self.indices) {
            sums[index] += people;
        }
        sums
    }
}

/// Returns the surnames that the row for all other names represents, and their people by class.
fn rare_names(merged: &MergedClasses) -> (Vec<String>, Vec<Vec<f64>>) {
    let common: HashSet<&str> = surnames().iter().map(|surname| surname.name).collect();
    let all = CensusTable::Surnames2020.load();
    let counts = all.counts.iter().flatten();
    let rows = all.keys().zip(counts).zip(all.values.chunks_exact(CLASSES.len()));
    let people = |count: f64, shares: &[f64]| merged.sums(&std::array::from_fn(|class| count * shares[class]));
    rows.filter(|((name, _), _)| !common.contains(name))
        .map(|((name, &count), shares)| (name.to_owned(), people(count as f64, shares)))
        .unzip()
}
