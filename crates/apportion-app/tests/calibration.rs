//! On people drawn from the tables of 2020, the mean score of each class is its share, for each level of places.
//!
//! The sampler is independent of the model: it draws a class and a place from the adults of North Carolina, and a surname
//! from the Census list, or a name that is on no list with the frequency of such names in each class.
#![allow(clippy::unwrap_used)] // in helpers

use apportion_app::Context;
use std::collections::HashSet;

use apportion_app::input::Source;
use apportion_app::predict::{self, Model, NameLists, Request, Vintage};
use apportion_bisg::census::{CLASSES, CensusTable, UNLISTED};
use apportion_io::{MemoryTable, PlainColumn, PlainValues};

const K: usize = CLASSES.len();
const PEOPLE: usize = 40_000;
/// Prefixes of ZIP codes in North Carolina.
const PREFIXES: std::ops::RangeInclusive<u64> = 270..=289;

/// A generator of random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Cumulative weights.
struct Weights(Vec<f64>);

impl Weights {
    fn new(weights: impl Iterator<Item = f64>) -> Weights {
        let mut sum = 0.0;
        Weights(
            weights
                .map(|weight| {
                    sum += weight;
                    sum
                })
                .collect(),
        )
    }

    fn draw(&self, random: &mut Random) -> usize {
        let at = random.next() * self.0.last().unwrap();
        self.0.partition_point(|upto| *upto <= at)
    }
}

/// People with their true classes.
struct Drawn {
    surnames: Vec<String>,
    codes: Vec<u64>,
    truth: [f64; K],
}

/// Draws people from the places of a table whose codes are accepted.
fn draw(table: CensusTable, accepts: impl Fn(u64) -> bool) -> Drawn {
    let (names, places) = (CensusTable::Surnames2020.load(), table.load());
    let keys: Vec<&str> = names.keys().collect();
    // The last row stands for all other names.
    let counts = &names.counts.as_ref().unwrap()[..keys.len() - 1];
    let by_class: [Weights; K] = std::array::from_fn(|class| {
        Weights::new(
            counts.iter().zip(names.values.chunks_exact(K)).map(|(count, shares)| *count as f64 * shares[class]),
        )
    });
    let codes: Vec<u64> = places.codes().unwrap();
    let people = codes.iter().zip(places.values.chunks_exact(K));
    let people: Vec<(u64, &[f64])> =
        people.filter(|(code, _)| accepts(**code)).map(|(code, row)| (*code, row)).collect();
    let cells = Weights::new(people.iter().flat_map(|(_, row)| row.iter().copied()));
    let mut random = Random(7);
    let mut drawn = Drawn { surnames: Vec::new(), codes: Vec::new(), truth: [0.0; K] };
    for _ in 0..PEOPLE {
        let cell = cells.draw(&mut random);
        let (code, class) = (people[cell / K].0, cell % K);
        let is_unlisted = random.next() < UNLISTED[class];
        drawn.surnames.push(if is_unlisted { "QXZQXZ".into() } else { keys[by_class[class].draw(&mut random)].into() });
        drawn.codes.push(code);
        drawn.truth[class] += 1.0;
    }
    drawn
}

fn column(name: &str, values: PlainValues) -> PlainColumn {
    PlainColumn { name: name.into(), values }
}

/// Scores people with places in one column.
fn predict(surnames: &[String], place: PlainColumn, request: Request) -> predict::Response {
    let surnames = column("surname", PlainValues::Text(surnames.iter().cloned().collect()));
    let table = MemoryTable::from_plain(vec![surnames, place]).unwrap();
    let request = Request { source: Source { table: Some(table), ..Source::files(["people"]) }, ..request };
    predict::run(&request, &Context::default()).unwrap()
}

fn text(codes: &[u64], digits: usize) -> PlainValues {
    PlainValues::Text(codes.iter().map(|code| format!("{code:0digits$}")).collect())
}

/// Returns the scores of a class.
fn scores(response: &predict::Response, class: usize) -> &[f64] {
    match &response.scores[class].values {
        PlainValues::Double(scores) => scores,
        other => panic!("{other:?}"),
    }
}

#[test]
fn mean_scores_are_the_shares_at_each_level() {
    let block_groups = draw(CensusTable::BlockGroups2020, |code| code / 10_000_000_000 == 37);
    let by_zip = draw(CensusTable::Zctas2020, |code| PREFIXES.contains(&(code / 100)));
    let [tracts, counties, states] = [10, 10_000_000, 10_000_000_000]
        .map(|divisor| block_groups.codes.iter().map(|code| code / divisor).collect::<Vec<u64>>());
    for (name, digits, codes, drawn) in [
        ("block_group", 12, &block_groups.codes, &block_groups),
        ("tract", 11, &tracts, &block_groups),
        ("county_fips", 5, &counties, &block_groups),
        ("state", 2, &states, &block_groups),
        ("zip", 5, &by_zip.codes, &by_zip),
    ] {
        let response = predict(&drawn.surnames, column(name, text(codes, digits)), Request::default());
        for (class, class_name) in CLASSES.iter().enumerate() {
            let scores = scores(&response, class);
            let (sum, variance) = (scores.iter().sum::<f64>(), scores.iter().map(|q| q * (1.0 - q)).sum::<f64>());
            let off = sum - drawn.truth[class];
            assert!(
                off.abs() < 0.02 * drawn.truth[class] || off.abs() < 3.0 * variance.sqrt(),
                "{name}, {class_name}: {sum} scored, {} drawn",
                drawn.truth[class]
            );
        }
    }
}

/// Returns the words of a column with match information.
fn words(response: &predict::Response, name: &str) -> Vec<String> {
    let column = response.scores.iter().find(|column| column.name == name).unwrap();
    match &column.values {
        PlainValues::Words { codes, words } => codes.iter().map(|code| words[usize::from(*code)].clone()).collect(),
        other => panic!("{other:?}"),
    }
}

fn texts(name: &str, values: &[&str]) -> PlainColumn {
    column(name, PlainValues::Text(values.iter().map(|value| (*value).to_owned()).collect()))
}

/// Scores people with several columns.
fn predict_columns(columns: Vec<PlainColumn>, request: Request) -> predict::Response {
    let table = MemoryTable::from_plain(columns).unwrap();
    let request = Request { source: Source { table: Some(table), ..Source::files(["people"]) }, ..request };
    predict::run(&request, &Context::default()).unwrap()
}

/// The adults of the ZIP code areas that begin with some digits, by class.
fn adults_of_prefix(prefix: u64) -> [f64; K] {
    let rows = CensusTable::Zctas2020.load();
    let mut sums = [0.0; K];
    for (code, people) in rows.codes().unwrap().into_iter().zip(rows.values.chunks_exact(K)) {
        if code / 100 == prefix {
            sums.iter_mut().zip(people).for_each(|(sum, people)| *sum += people);
        }
    }
    sums
}

/// A ZIP code without an area is looked up as its county, then by its first three digits, its state, and the nation.
#[test]
fn places_that_are_unknown_fall_back_to_larger_ones() {
    // 27602 is a ZIP code of PO boxes in Raleigh; 00001 and 09001 are not in any state.
    let zips = ["27601", "27602", "27602", "27602", "00001", "09001", "27602"];
    let states = ["NC", "NC", "", "VA", "NC", "", ""];
    let counties = ["", "", "", "", "", "", "37183"];
    let columns = || {
        vec![texts("surname", &[""; 7]), texts("zip", &zips), texts("state", &states), texts("county_fips", &counties)]
    };
    let response = predict_columns(columns(), Request::default());
    let used = ["zcta", "zip prefix", "zip prefix", "state", "state", "nation", "county"];
    assert_eq!(words(&response, "place_used"), used);
    // Without a surname, scores are the shares of the adults.
    let adults = adults_of_prefix(276);
    let all: f64 = adults.iter().sum();
    for class in 0..K {
        assert!((scores(&response, class)[1] - adults[class] / all).abs() < 1e-9, "{}", CLASSES[class]);
    }
    // Within a state, areas of other states are unknown.
    let within = Request { within: Some("NC".into()), ..Request::default() };
    let response =
        predict_columns(vec![texts("surname", &["", "", ""]), texts("zip", &["27601", "27602", "22003"])], within);
    assert_eq!(words(&response, "place_used"), ["zcta", "zip prefix", "state"]);
}

/// Codes of 2010 that no longer exist are looked up as their county, and counted.
#[test]
fn tracts_of_2010_fall_back_to_the_county() {
    let codes: HashSet<u64> = CensusTable::Tracts2020.load().codes().unwrap().into_iter().collect();
    assert!(codes.contains(&37_063_000_102) && !codes.contains(&37_063_999_900));
    let tracts = ["37063000102", "37063999900", "99063999900"];
    let response = predict_columns(vec![texts("surname", &["Smith"; 3]), texts("tract", &tracts)], Request::default());
    assert_eq!(words(&response, "place_used"), ["tract", "county", "nation"]);
    let counts: Vec<(&str, u64)> = response.place_used.0.iter().copied().filter(|(_, people)| *people > 0).collect();
    assert_eq!(counts, [("tract", 1), ("county", 1), ("nation", 1)]);
}

/// The shares beside the mean scores are those of the places in the file, each counted once.
#[test]
fn shares_of_the_tables_are_those_of_the_places_in_the_file() {
    let zips = ["27601", "27601", "27705"];
    let response = predict_columns(vec![texts("surname", &["Smith"; 3]), texts("zip", &zips)], Request::default());
    let rows = CensusTable::Zctas2020.load();
    let mut sums = [0.0; K];
    for (code, people) in rows.codes().unwrap().into_iter().zip(rows.values.chunks_exact(K)) {
        if [27601, 27705].contains(&code) {
            sums.iter_mut().zip(people).for_each(|(sum, people)| *sum += people);
        }
    }
    let all: f64 = sums.iter().sum();
    for (own, sum) in response.in_tables.as_ref().unwrap().iter().zip(sums) {
        assert!((own - sum / all).abs() < 1e-12);
    }
    assert!(
        response.population.starts_with("adults, Census 2020 (name lists: surnames, Census 2020"),
        "{}",
        response.population
    );
}

/// Models that need people by class work with ZIP codes.
#[test]
fn zip_codes_work_with_every_model() {
    let columns = || vec![texts("surname", &["Smith", "Garcia", "Nguyen"]), texts("zip", &["27601", "28202", "27602"])];
    let margin = || {
        let shares = [0.70, 0.22, 0.03, 0.02, 0.01, 0.02];
        let classes = PlainColumn {
            name: "class".into(),
            values: PlainValues::Text(CLASSES.map(String::from).into_iter().collect()),
        };
        let shares = PlainColumn { name: "share".into(), values: PlainValues::Double(shares.to_vec()) };
        Some(MemoryTable::from_plain(vec![classes, shares]).unwrap())
    };
    let within = Some("NC".to_owned());
    for request in [
        Request { model: Some(Model::Fbisg), sweeps: Some(50), ..Request::default() },
        Request { model: Some(Model::Voter), margin_table: margin(), within: within.clone(), ..Request::default() },
        Request { model: Some(Model::Rake), margin_table: margin(), within, ..Request::default() },
    ] {
        let model = request.model;
        let response = predict_columns(columns(), request);
        assert_eq!(words(&response, "place_used"), ["zcta", "zcta", "zip prefix"], "{model:?}");
        for row in 0..3 {
            let sum: f64 = (0..K).map(|class| scores(&response, class)[row]).sum();
            assert!((sum - 1.0).abs() < 1e-9);
            assert!((0..K).all(|class| scores(&response, class)[row] > 0.0 || model != Some(Model::Fbisg)));
        }
    }
}

/// Names that only the voter list has, and the setting that leaves it out.
#[test]
fn the_voter_list_is_used_for_names_that_the_census_lacks() {
    let census: HashSet<String> = CensusTable::Surnames2020.load().keys().map(str::to_owned).collect();
    let voters = CensusTable::VoterSurnames.load();
    let name = voters.keys().find(|name| name.len() == 9 && !census.contains(*name)).unwrap();
    let columns = || vec![texts("surname", &[name, "Smith"]), texts("county_fips", &["37063", "37063"])];
    let response = predict_columns(columns(), Request::default());
    assert_eq!(words(&response, "surname_match"), ["voter list", "exact"]);
    let response = predict_columns(columns(), Request { names: NameLists::Census, ..Request::default() });
    assert_eq!(words(&response, "surname_match"), ["none", "exact"]);
}

/// First names are used if there are any, unless the model leaves them out.
#[test]
fn first_names_are_used_by_default() {
    let columns = || {
        vec![texts("surname", &["Lee", "Lee"]), texts("first_name", &["Minh", "Tyrone"]), texts("state", &["NC", "NC"])]
    };
    let response = predict_columns(columns(), Request::default());
    assert_eq!(response.model, Model::Bifsg);
    assert!(scores(&response, 3)[0] > scores(&response, 3)[1]);
    let response = predict_columns(columns(), Request { model: Some(Model::Bisg), ..Request::default() });
    assert!(scores(&response, 3)[0] == scores(&response, 3)[1]);
}

/// A file of voters is recognized, and the remark ends with the fix.
#[test]
fn voters_are_told_that_the_scores_are_those_of_adults() {
    let columns = || vec![texts("surname", &["Lee"]), texts("state", &["NC"]), texts("party_cd", &["DEM"])];
    let response = predict_columns(columns(), Request::default());
    assert!(
        response.remarks.iter().any(|remark| remark.contains("party_cd") && remark.contains("`margin`")),
        "{response:?}"
    );
    let response = predict_columns(columns()[..2].to_vec(), Request::default());
    assert!(response.remarks.is_empty(), "{:?}", response.remarks);
}

/// The tables of 2010 stay available as a pair.
#[test]
fn the_tables_of_2010_are_a_pair() {
    let columns = || vec![texts("surname", &["Null"]), texts("county_fips", &["37063"]), texts("zip", &["27705"])];
    let request = Request { vintage: Vintage::Census2010, names: NameLists::Census, ..Request::default() };
    let response = predict_columns(columns(), request);
    let tables: Vec<&str> = response.tables.iter().filter_map(|table| table.split(':').next()).collect();
    assert_eq!(tables, ["surnames-2010", "zctas-2010", "counties-2010"]);
    assert_eq!(
        (words(&response, "surname_match"), words(&response, "place_used")),
        (vec!["exact".into()], vec!["zcta".into()])
    );
}
