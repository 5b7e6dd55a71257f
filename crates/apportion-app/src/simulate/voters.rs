//! Rows of a simulated voter file: people with names and places, party and turnout, and the scores that BISG would
//! compute from the surname and the county.

use std::collections::HashSet;

use apportion::simulate::{Attribute, Voter, VoterOptions, VoterTables};
use apportion_bisg::census::{ALL_OTHER_NAMES, CensusTable, NC_VOTER_SHARES, counties, surnames};
use apportion_io::{PlainColumn, PlainRows, PlainValues};

use super::attributes::{Attributes, PersonAttributes};
use super::merged_classes::MergedClasses;
use super::{RowMaker, Voters, score_columns};
use crate::Result;

/// The number of the attribute rare surname.
const RARE_SURNAME: u16 = 0;

/// Makes rows with the columns `id`, `county`, `county_fips`, `tract`, `block_group`, `zip`, `first_name`, `surname`,
/// `party`, `voted`, `race` and, unless left out, scores.
pub(super) struct VoterRows {
    voters: apportion::simulate::Voters,
    rare: Attribute,
    /// The names that the row for all other names represents.
    rare_names: Vec<String>,
    attributes: Attributes,
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
        let (attributes, (rare_names, people)) = rayon::join(|| Attributes::new(&merged, seed), || rare_names(&merged));
        let rare = Attribute::new(&people, "rare surname", RARE_SURNAME, seed)?;
        let (attributes, has_scores) = (attributes?, !settings.no_scores);
        Ok(VoterRows { voters, rare, rare_names, attributes, classes: merged.classes, has_scores, double })
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
        let attributes: Vec<PersonAttributes<'_>> =
            people.iter().map(|(index, voter)| self.attributes.of(*index, voter)).collect();
        let county = |voter: &Voter| &counties()[voter.county as usize];
        let surnames = people.iter().map(|(index, voter)| self.surname(*index, voter));
        let text = |name: &str, texts| PlainColumn::new(name, PlainValues::Text(texts));
        let whole = |name: &str, numbers| PlainColumn::new(name, PlainValues::Whole(numbers));
        let mut columns = vec![
            whole("id", (start + 1..=start + rows).collect()),
            text("county", people.iter().map(|(_, voter)| county(voter).name).collect()),
            text("county_fips", people.iter().map(|(_, voter)| county(voter).fips).collect()),
            text("tract", attributes.iter().map(|own| own.tract).collect()),
            text("block_group", attributes.iter().map(|own| own.block_group).collect()),
            text("zip", attributes.iter().map(|own| own.zip).collect()),
            text("first_name", attributes.iter().map(|own| own.first_name).collect()),
            text("surname", surnames.collect()),
            text("party", attributes.iter().map(|own| own.party).collect()),
            whole("voted", attributes.iter().map(|own| own.voted.into()).collect()),
            text("race", people.iter().map(|(_, voter)| self.classes[usize::from(voter.truth)]).collect()),
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

/// Returns the surnames that the row for all other names represents, and their people by class.
fn rare_names(merged: &MergedClasses) -> (Vec<String>, Vec<Vec<f64>>) {
    let common: HashSet<&str> = surnames().iter().map(|surname| surname.name).collect();
    let all = CensusTable::Surnames2020.load();
    let people = merged.people(all.counts.iter().flatten().map(|&count| count as f64), &all.values);
    let rare = all.keys().zip(people).filter(|(name, _)| !common.contains(name));
    rare.map(|(name, people)| (name.to_owned(), people)).unzip()
}
