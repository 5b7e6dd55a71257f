//! Attributes of simulated voters that their scores do not use: places within the county, ZIP code, first name, party
//! and turnout.
//!
//! A person of class r in county g has
//!
//! ```text
//! a block group     with probability ∝ adults of class r in the block groups of county g (Census of 2020)
//! a ZIP code        with probability ∝ adults of class r in the ZIP code areas of North Carolina, in any county
//! a first name      with probability ∝ people of class r with that name (Census of 2020)
//! a party p         with probability (1 − t) · PARTIES[r][p][0] + t · PARTIES[r][p][1]
//! and has voted     with probability (1 − w) · TURNOUT[r][0] + w · TURNOUT[r][1]
//! ```
//!
//! where t and w are the shares of white people among the adults of the tract and of the county. [`PARTIES`] and
//! [`TURNOUT`] are realistic, but made up. A merged class has the sums of the tables, and the mean probabilities of its
//! voters.
//!
//! Given class and county, all attributes are independent of the surname, and turnout is independent of all other
//! attributes. So an analysis of turnout by county satisfies the assumption of BIRDiE, also with scores by block group.
//! The party depends on the tract, so an analysis of parties by county satisfies it only with scores by county.

use std::collections::HashSet;
use std::ops::Range;

use apportion::simulate::{Attribute, Voter};
use apportion_bisg::census::{ALL_OTHER_NAMES, CLASSES, CensusRows, CensusTable, NC_VOTER_SHARES, counties};

use super::merged_classes::MergedClasses;
use crate::Result;

/// The numbers of the attributes. Rare surnames have the number 0.
const FIRST_NAME: u16 = 1;
const RARE_FIRST_NAME: u16 = 2;
const BLOCK_GROUP: u16 = 3;
const ZIP_CODE: u16 = 4;
const PARTY: u16 = 5;
const VOTED: u16 = 6;

/// The parties, as North Carolina writes them: Democratic, Republican and unaffiliated.
const PARTY_NAMES: [&str; 3] = ["DEM", "REP", "UNA"];

/// The shares of the first two parties by class, in a tract without white adults and in one with only white adults.
const PARTIES: [[[f64; 2]; 2]; CLASSES.len()] = [
    [[0.50, 0.14], [0.14, 0.50]], // white
    [[0.84, 0.72], [0.02, 0.05]], // black
    [[0.42, 0.30], [0.10, 0.24]], // hispanic
    [[0.38, 0.28], [0.12, 0.22]], // asian
    [[0.50, 0.36], [0.14, 0.34]], // aian
    [[0.44, 0.28], [0.10, 0.24]], // other
];

/// The turnout by class, in a county without white adults and in one with only white adults.
const TURNOUT: [[f64; 2]; CLASSES.len()] = [
    [0.66, 0.82], // white
    [0.70, 0.64], // black
    [0.50, 0.60], // hispanic
    [0.62, 0.70], // asian
    [0.50, 0.66], // aian
    [0.56, 0.68], // other
];

/// Codes of ZIP code areas in North Carolina.
const NC_ZIP_CODES: Range<u64> = 27_000..29_000;

/// The attributes of all people.
pub(super) struct Attributes {
    first_names: FirstNames,
    zip_codes: Vec<String>,
    zip_code: Attribute,
    /// The block groups of North Carolina, in order.
    block_groups: Vec<BlockGroup>,
    /// The party by tract.
    parties: Vec<Attribute>,
    /// In the order of the counties.
    counties: Vec<CountyAttributes>,
}

struct BlockGroup {
    /// Twelve digits; the first eleven are the tract.
    code: String,
    /// Index of the tract.
    tract: usize,
}

struct CountyAttributes {
    /// Index of the first block group.
    first: usize,
    block_group: Attribute,
    voted: Attribute,
}

/// The attributes of one person.
pub(super) struct PersonAttributes<'a> {
    pub(super) tract: &'a str,
    pub(super) block_group: &'a str,
    pub(super) zip: &'a str,
    pub(super) first_name: &'a str,
    pub(super) party: &'static str,
    pub(super) voted: bool,
}

impl Attributes {
    pub(super) fn new(merged: &MergedClasses, seed: u64) -> Result<Attributes> {
        let (places, names) = rayon::join(|| CensusTable::BlockGroups2020.load(), || FirstNames::new(merged, seed));
        let (zip_codes, zip_code) = zip_codes(merged, seed)?;
        let codes = places.codes().unwrap_or_default();
        let rows_of = |start: u64, end: u64| {
            codes.partition_point(|&code| code < start)..codes.partition_point(|&code| code < end)
        };
        let state = rows_of(37 * 10_u64.pow(10), 38 * 10_u64.pow(10));
        let (mut block_groups, mut parties) = (Vec::new(), Vec::new());
        for tract in codes[state.clone()].chunk_by(|one, other| one / 10 == other / 10) {
            let rows = state.start + block_groups.len()..state.start + block_groups.len() + tract.len();
            let shares = party_shares(merged, white_share(&places, rows));
            let own = tract.iter().map(|code| BlockGroup { code: format!("{code:012}"), tract: parties.len() });
            block_groups.extend(own);
            parties.push(Attribute::new(&shares, "party", PARTY, seed)?);
        }
        let county = |fips: &str| {
            let fips = fips.parse().unwrap_or(0) * 10_u64.pow(7);
            let rows = rows_of(fips, fips + 10_u64.pow(7));
            let adults: Vec<Vec<f64>> = people(&places, rows.clone()).map(|people| merged.sums(people)).collect();
            let turnout = turnout(merged, white_share(&places, rows.clone()));
            Ok(CountyAttributes {
                first: rows.start - state.start,
                block_group: Attribute::new(&with_all_classes(adults), "block group", BLOCK_GROUP, seed)?,
                voted: Attribute::new(&turnout, "turnout", VOTED, seed)?,
            })
        };
        let counties = counties().iter().map(|own| county(own.fips)).collect::<Result<_>>()?;
        Ok(Attributes { first_names: names?, zip_codes, zip_code, block_groups, parties, counties })
    }

    /// Returns the attributes of the person at an index.
    pub(super) fn of(&self, index: u64, voter: &Voter) -> PersonAttributes<'_> {
        let county = &self.counties[voter.county as usize];
        let block_group = &self.block_groups[county.first + county.block_group.of(index, voter) as usize];
        PersonAttributes {
            tract: &block_group.code[..11],
            block_group: &block_group.code,
            zip: &self.zip_codes[self.zip_code.of(index, voter) as usize],
            first_name: self.first_names.of(index, voter),
            party: PARTY_NAMES[self.parties[block_group.tract].of(index, voter) as usize],
            voted: county.voted.of(index, voter) == 1,
        }
    }
}

/// First names by class.
struct FirstNames {
    /// The names of the Census list, one of which stands for all other names.
    names: Vec<String>,
    name: Attribute,
    /// Names of registered voters that are not on the Census list.
    rare_names: Vec<String>,
    rare_name: Attribute,
}

impl FirstNames {
    fn new(merged: &MergedClasses, seed: u64) -> Result<FirstNames> {
        let (list, voters) = rayon::join(|| CensusTable::FirstNames2020.load(), || CensusTable::VoterFirstNames.load());
        let names: Vec<String> = list.keys().map(str::to_owned).collect();
        let counts = list.counts.iter().flatten().map(|&count| count as f64);
        let weights = merged.people(counts, &list.values);
        let name = Attribute::new(&weights, "first name", FIRST_NAME, seed)?;

        // The voter list has no counts. Its samples are the smallest numbers of people that can have these shares.
        let common: HashSet<&str> = list.keys().collect();
        let samples = voters.samples.iter().flatten().map(|&sample| f64::from(sample));
        let weights = merged.people(samples, &voters.voter_shares(&NC_VOTER_SHARES));
        let rare = voters.keys().zip(weights).filter(|(name, _)| !common.contains(name));
        let (rare_names, weights): (Vec<String>, Vec<Vec<f64>>) =
            rare.map(|(name, own)| (name.to_owned(), own)).unzip();
        let rare_name = Attribute::new(&weights, "rare first name", RARE_FIRST_NAME, seed)?;
        Ok(FirstNames { names, name, rare_names, rare_name })
    }

    fn of(&self, index: u64, voter: &Voter) -> &str {
        match self.names[self.name.of(index, voter) as usize].as_str() {
            ALL_OTHER_NAMES => &self.rare_names[self.rare_name.of(index, voter) as usize],
            name => name,
        }
    }
}

/// Returns the ZIP codes of North Carolina, and their distribution.
fn zip_codes(merged: &MergedClasses, seed: u64) -> Result<(Vec<String>, Attribute)> {
    let areas = CensusTable::Zctas2020.load();
    let codes = areas.codes().unwrap_or_default();
    let rows = people(&areas, 0..areas.rows()).zip(&codes).filter(|(_, code)| NC_ZIP_CODES.contains(code));
    let (codes, adults): (Vec<String>, Vec<Vec<f64>>) =
        rows.map(|(people, code)| (format!("{code:05}"), merged.sums(people))).unzip();
    let zip_code = Attribute::new(&adults, "ZIP code", ZIP_CODE, seed)?;
    Ok((codes, zip_code))
}

/// Returns the people of some places by class of the Census.
fn people(places: &CensusRows, rows: Range<usize>) -> impl Iterator<Item = &[f64; CLASSES.len()]> {
    places.values.as_chunks().0[rows].iter()
}

/// Returns the share of white people in some places; 0 if they have no people.
fn white_share(places: &CensusRows, rows: Range<usize>) -> f64 {
    let white: f64 = people(places, rows.clone()).map(|people| people[0]).sum();
    let all: f64 = people(places, rows).flatten().sum();
    if all == 0.0 { 0.0 } else { white / all }
}

/// Gives a class without people in any place the places of all classes.
fn with_all_classes(mut places: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let classes = places.first().map_or(0, Vec::len);
    let missing: Vec<usize> = (0..classes).filter(|&class| places.iter().all(|people| people[class] == 0.0)).collect();
    for people in &mut places {
        let all: f64 = people.iter().sum();
        missing.iter().for_each(|&class| people[class] = all);
    }
    places
}

/// Returns the share of each party by class in a tract, as a row for each party.
fn party_shares(merged: &MergedClasses, white: f64) -> Vec<Vec<f64>> {
    let share = |party: usize| merged.means(&PARTIES.map(|class| between(class[party], white)));
    let (democratic, republican) = (share(0), share(1));
    let unaffiliated = democratic.iter().zip(&republican).map(|(one, other)| 1.0 - one - other).collect();
    vec![democratic, republican, unaffiliated]
}

/// Returns the shares of people who have not voted and who have, by class in a county.
fn turnout(merged: &MergedClasses, white: f64) -> Vec<Vec<f64>> {
    let voted = merged.means(&TURNOUT.map(|class| between(class, white)));
    vec![voted.iter().map(|voted| 1.0 - voted).collect(), voted]
}

/// Interpolates linearly from the first value (at 0) to the second (at 1).
fn between([first, second]: [f64; 2], at: f64) -> f64 {
    (1.0 - at) * first + at * second
}
