//! The columns of simulated voters: frozen rows, and draws that agree with the tables and the stated rates.
//!
//! All rates and shares here are computed from the built-in tables by other code than that of the job.
#![allow(clippy::unwrap_used)] // also in helpers

use std::collections::{BTreeMap, HashMap, HashSet};

use apportion_app::input::Source;
use apportion_app::simulate::{Population, Voters};
use apportion_app::table::TableSettings;
use apportion_app::{Context, label, predict, simulate};
use apportion_bisg::census::{ALL_OTHER_NAMES, CLASSES, CensusTable, NC_VOTER_SHARES, counties};
use apportion_io::{MemoryTable, PlainRows, PlainValues};

const K: usize = CLASSES.len();
const PEOPLE: u64 = 300_000;

/// Shares of DEM and REP by class, in a tract without white adults and in one with only white adults.
const PARTIES: [[(f64, f64); 2]; K] = [
    [(0.50, 0.14), (0.14, 0.50)],
    [(0.84, 0.72), (0.02, 0.05)],
    [(0.42, 0.30), (0.10, 0.24)],
    [(0.38, 0.28), (0.12, 0.22)],
    [(0.50, 0.36), (0.14, 0.34)],
    [(0.44, 0.28), (0.10, 0.24)],
];
/// Turnout by class, in a county without white adults and in one with only white adults.
const TURNOUT: [(f64, f64); K] = [(0.66, 0.82), (0.70, 0.64), (0.50, 0.60), (0.62, 0.70), (0.50, 0.66), (0.56, 0.68)];

fn request(rows: u64, seed: u64, voters: Voters) -> simulate::Request {
    let population = Population::Voters(voters);
    simulate::Request { population, rows: Some(rows), seed, ..simulate::Request::default() }
}

fn merging(pairs: &[(&str, &str)]) -> Voters {
    let merge = pairs.iter().map(|(from, to)| (from.to_string(), to.to_string())).collect();
    Voters { merge, ..Voters::default() }
}

fn blocks(request: &simulate::Request, threads: usize) -> Vec<PlainRows> {
    simulate::run(request, &Context { threads: Some(threads), ..Context::default() }).unwrap().blocks
}

/// A simulated file, column by column.
struct File {
    columns: Vec<(String, Vec<String>)>,
}

impl File {
    fn new(rows: u64, seed: u64, voters: Voters) -> File {
        let mut columns: Vec<(String, Vec<String>)> = Vec::new();
        for block in blocks(&request(rows, seed, voters), 2) {
            for (index, column) in block.columns().iter().enumerate() {
                let values: Vec<String> = match &column.values {
                    PlainValues::Text(texts) => texts.iter().map(str::to_owned).collect(),
                    PlainValues::Whole(numbers) => numbers.iter().map(u64::to_string).collect(),
                    PlainValues::Single(numbers) => numbers.iter().map(f32::to_string).collect(),
                    other => panic!("{other:?}"),
                };
                if columns.len() == index {
                    columns.push((column.name.clone(), Vec::new()));
                }
                columns[index].1.extend(values);
            }
        }
        File { columns }
    }

    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn column(&self, name: &str) -> &[String] {
        &self.columns.iter().find(|(own, _)| own == name).unwrap().1
    }

    /// Returns the cells of a row before the scores, separated by commas.
    fn row(&self, index: usize) -> String {
        let cells: Vec<&str> = self.columns.iter().take(11).map(|(_, values)| values[index].as_str()).collect();
        cells.join(",")
    }

    fn classes(&self) -> Vec<usize> {
        self.column("race").iter().map(|race| CLASSES.iter().position(|class| class == race).unwrap()).collect()
    }
}

/// Returns a built-in table of places: code, and adults by class.
fn places(table: CensusTable, prefix: &str) -> BTreeMap<String, [f64; K]> {
    let rows = table.load();
    let people = rows.values.chunks_exact(K).map(|row| <[f64; K]>::try_from(row).unwrap());
    let code = |key: &str| key.split('\t').next().unwrap().to_owned();
    rows.keys().map(code).zip(people).filter(|(code, _)| code.starts_with(prefix)).collect()
}

/// Returns the share of white adults in each place of North Carolina.
fn white_shares(table: CensusTable) -> HashMap<String, f64> {
    places(table, "37").into_iter().map(|(code, people)| (code, people[0] / people.iter().sum::<f64>())).collect()
}

/// The probability of each value in each stratum.
type Expected = HashMap<String, BTreeMap<String, f64>>;

/// Compares counts with probabilities, within strata: returns the difference between chi-square and its expectation, in
/// standard deviations. Values of a stratum with fewer than five expected people are combined.
fn deviation(counts: &HashMap<(String, String), f64>, expected: &Expected) -> f64 {
    let mut totals: HashMap<&str, f64> = HashMap::new();
    for ((stratum, value), count) in counts {
        *totals.entry(stratum).or_default() += count;
        assert!(expected[stratum].get(value).is_some_and(|chance| *chance > 0.0), "{value} in {stratum}");
    }
    let (mut statistic, mut freedom) = (0.0, 0.0);
    for (stratum, total) in totals {
        let (mut rest, mut terms) = ((0.0, 0.0), Vec::new());
        for (value, chance) in &expected[stratum] {
            let count = counts.get(&(stratum.to_owned(), value.clone())).copied().unwrap_or(0.0);
            match chance * total {
                few if few < 5.0 => rest = (rest.0 + count, rest.1 + few),
                enough => terms.push((count, enough)),
            }
        }
        terms.extend((rest.1 >= 5.0).then_some(rest));
        // Without the rest, the terms are not all people of the stratum, so they have no lost degree of freedom.
        freedom += terms.len() as f64 - f64::from(u8::from(rest.1 >= 5.0 || rest.1 == 0.0));
        statistic += terms.iter().map(|(count, expected)| (count - expected).powi(2) / expected).sum::<f64>();
    }
    assert!(freedom > 0.0);
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

fn count<'a>(pairs: impl Iterator<Item = (String, &'a String)>) -> HashMap<(String, String), f64> {
    let mut counts = HashMap::new();
    pairs.for_each(|(stratum, value)| *counts.entry((stratum, value.clone())).or_default() += 1.0);
    counts
}

/// Returns P(value | class) by class from people by class.
fn shares_by_class<'a>(people: impl Iterator<Item = (&'a String, [f64; K])>) -> Expected {
    let people: Vec<(&String, [f64; K])> = people.collect();
    let shares = |class: usize| {
        let total: f64 = people.iter().map(|(_, people)| people[class]).sum();
        people.iter().map(|(value, people)| ((*value).clone(), people[class] / total)).collect()
    };
    (0..K).map(|class| (CLASSES[class].to_owned(), shares(class))).collect()
}

/// Fails if published files change, which requires a changelog entry.
#[test]
fn rows_are_frozen() {
    let file = File::new(70_000, 0, Voters::default());
    let scores = CLASSES.map(|class| format!("p_{class}"));
    let names = "id,county,county_fips,tract,block_group,zip,first_name,surname,party,voted,race";
    assert_eq!(file.names(), names.split(',').chain(scores.iter().map(String::as_str)).collect::<Vec<_>>());
    let rows = [0, 1, 2, 3, 4, 69_999].map(|index| file.row(index));
    assert_eq!(
        rows,
        [
            "1,Lincoln,37109,37109071201,371090712011,28208,TRISTAN,HERNANDEZ,REP,1,white",
            "2,Davidson,37057,37057060601,370570606012,28658,SAUL,CONSTANTINE,DEM,1,white",
            "3,Orange,37135,37135011107,371350111073,28803,THERESA,LUSK,REP,1,white",
            "4,Cumberland,37051,37051002501,370510025013,27822,JOSE,HINES,UNA,0,hispanic",
            "5,Union,37179,37179020317,371790203172,27582,MIRIELYS,HERNANDEZ,UNA,1,hispanic",
            "70000,Wilson,37195,37195000300,371950003002,28387,LORETTA,NELSON,DEM,1,black",
        ]
    );
    let no_scores = File::new(5, 0, Voters { no_scores: true, ..Voters::default() });
    assert_eq!(no_scores.names(), names.split(',').collect::<Vec<_>>());
    assert_eq!(no_scores.row(3), rows[3]);
}

#[test]
fn rows_do_not_depend_on_threads_or_their_number() {
    let all = blocks(&request(140_000, 4, Voters::default()), 2);
    assert_eq!(all, blocks(&request(140_000, 4, Voters::default()), 1));
    let fewer = blocks(&request(65_540, 4, Voters::default()), 1);
    assert_eq!(fewer[0], all[0]);
    for (one, other) in fewer[1].columns().iter().zip(all[1].columns()) {
        if let (PlainValues::Text(one), PlainValues::Text(other)) = (&one.values, &other.values) {
            assert!(one.iter().eq(other.iter().take(4)));
        }
    }
}

#[test]
fn block_groups_follow_the_adults_of_their_class_in_the_county() {
    let file = File::new(PEOPLE, 1, Voters::default());
    let (fips, races) = (file.column("county_fips"), file.column("race"));
    let (tracts, block_groups) = (file.column("tract"), file.column("block_group"));
    for ((fips, tract), code) in fips.iter().zip(tracts).zip(block_groups) {
        assert!(code.len() == 12 && code.starts_with(tract) && tract.len() == 11 && tract.starts_with(fips));
    }
    let adults = places(CensusTable::BlockGroups2020, "37");
    let mut by_class: Expected = HashMap::new();
    let mut by_county: Expected = HashMap::new();
    for county in counties() {
        let own: Vec<_> = adults.iter().filter(|(code, _)| code.starts_with(county.fips)).collect();
        let everyone: f64 = own.iter().flat_map(|(_, people)| people.iter()).sum();
        for (class, name) in CLASSES.iter().enumerate() {
            let total: f64 = own.iter().map(|(_, people)| people[class]).sum();
            let shares = own.iter().map(|(code, people)| ((*code).clone(), people[class] / total));
            by_class.insert(format!("{} {name}", county.fips), shares.collect());
            let shares = own.iter().map(|(code, people)| ((*code).clone(), people.iter().sum::<f64>() / everyone));
            by_county.insert(format!("{} {name}", county.fips), shares.collect());
        }
    }
    let strata = fips.iter().zip(races).map(|(fips, race)| format!("{fips} {race}"));
    let counts = count(strata.zip(block_groups));
    let off = deviation(&counts, &by_class);
    assert!(off.abs() < 5.0, "{off}");
    // The test has power: block groups that ignore the class would fail it.
    assert!(deviation(&counts, &by_county) > 100.0);
}

#[test]
fn zip_codes_and_first_names_follow_their_class() {
    let file = File::new(PEOPLE, 2, Voters::default());
    let (races, zips, names) = (file.column("race"), file.column("zip"), file.column("first_name"));
    let areas = places(CensusTable::Zctas2020, "2");
    let areas = areas.iter().filter(|(code, _)| ("270".."290").contains(&&code[..3]));
    let zip_codes = shares_by_class(areas.map(|(code, people)| (code, *people)));
    let off = deviation(&count(races.iter().cloned().zip(zips)), &zip_codes);
    assert!(off.abs() < 5.0, "{off}");
    // ZIP codes do not depend on the county.
    let counties = file.column("county").iter().zip(races).map(|(county, race)| format!("{county} {race}"));
    let counts = count(counties.zip(zips));
    let strata: HashSet<&String> = counts.keys().map(|(stratum, _)| stratum).collect();
    let of_class = |stratum: &String| zip_codes[stratum.rsplit(' ').next().unwrap()].clone();
    let by_county = strata.into_iter().map(|stratum| (stratum.clone(), of_class(stratum))).collect();
    let off = deviation(&counts, &by_county);
    assert!(off.abs() < 5.0, "{off}");

    let list = CensusTable::FirstNames2020.load();
    let keys: Vec<String> = list.keys().map(str::to_owned).collect();
    let counted = list.counts.as_ref().unwrap().iter().zip(list.values.chunks_exact(K));
    let people: Vec<[f64; K]> = counted.map(|(&n, row)| std::array::from_fn(|class| n as f64 * row[class])).collect();
    let expected = shares_by_class(keys.iter().zip(people));
    let (known, other): (HashSet<&String>, String) = (keys.iter().collect(), ALL_OTHER_NAMES.into());
    let listed = names.iter().map(|name| if known.contains(name) { name } else { &other });
    let off = deviation(&count(races.iter().cloned().zip(listed)), &expected);
    assert!(off.abs() < 5.0, "{off}");
    let voters = CensusTable::VoterFirstNames.load();
    let voters: HashSet<&str> = voters.keys().collect();
    let rare: Vec<&String> = names.iter().filter(|name| !known.contains(name)).collect();
    assert!(rare.len() > 10_000 && rare.iter().all(|name| voters.contains(name.as_str())));
    assert!(!names.contains(&other));
}

/// Returns the sum and the variance of independent events.
fn sum(chances: impl Iterator<Item = f64>) -> (f64, f64) {
    chances.fold((0.0, 0.0), |(sum, variance), chance| (sum + chance, variance + chance * (1.0 - chance)))
}

/// Returns the difference between the number of events and its expectation, in standard deviations.
fn off(events: impl Iterator<Item = bool>, chances: impl Iterator<Item = f64>) -> f64 {
    let (expected, variance) = sum(chances);
    (events.filter(|event| *event).count() as f64 - expected) / variance.sqrt()
}

#[test]
fn turnout_and_party_have_the_stated_rates() {
    let file = File::new(PEOPLE, 4, Voters::default());
    let classes = file.classes();
    let white_in_county = white_shares(CensusTable::Counties2020);
    let white_in_tract = white_shares(CensusTable::Tracts2020);
    let between = |(zero, one): (f64, f64), at: f64| zero + (one - zero) * at;
    let fips = file.column("county_fips");
    let turnout = |row: usize| between(TURNOUT[classes[row]], white_in_county[fips[row].as_str()]);
    let tracts = file.column("tract");
    let share = |row: usize, party: usize| between(PARTIES[classes[row]][party], white_in_tract[tracts[row].as_str()]);
    let (voted, parties) = (file.column("voted"), file.column("party"));
    assert!(voted.iter().all(|voted| voted == "0" || voted == "1"));
    assert!(parties.iter().all(|party| ["DEM", "REP", "UNA"].contains(&party.as_str())));

    // By class, by county, by class and first letter of the surname, and, for turnout, by class and party.
    let rows = 0..classes.len();
    let surnames = file.column("surname");
    type Stratum<'a> = Box<dyn Fn(usize) -> String + 'a>;
    let strata: [Stratum<'_>; 4] = [
        Box::new(|row| CLASSES[classes[row]].into()),
        Box::new(|row| fips[row].clone()),
        Box::new(|row| format!("{} {}", CLASSES[classes[row]], &surnames[row][..1])),
        Box::new(|row| format!("{} {}", CLASSES[classes[row]], parties[row])),
    ];
    for (number, stratum) in strata.iter().enumerate() {
        let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        rows.clone().for_each(|row| members.entry(stratum(row)).or_default().push(row));
        for (name, rows) in members.into_iter().filter(|(_, rows)| rows.len() > 200) {
            let far = off(rows.iter().map(|&row| voted[row] == "1"), rows.iter().map(|&row| turnout(row)));
            assert!(far.abs() < 4.5, "turnout in {name}: {far}");
            let shares = |party: usize| rows.iter().map(move |&row| share(row, party));
            for (party, code) in ["DEM", "REP"].iter().enumerate().filter(|_| number < 3) {
                let far = off(rows.iter().map(|&row| parties[row] == *code), shares(party));
                assert!(far.abs() < 4.5, "{code} in {name}: {far}");
            }
        }
    }

    // The rates of the whole state by class, in percent, as the help states them.
    let stated = [76.8, 66.6, 56.2, 66.7, 57.2, 63.4];
    for class in 0..K {
        let all: f64 = counties().iter().map(|county| county.people[class] as f64).sum();
        let share = |fips: &str, people: u64| people as f64 / all * between(TURNOUT[class], white_in_county[fips]);
        let rate: f64 = counties().iter().map(|county| share(county.fips, county.people[class])).sum();
        assert!((100.0 * rate - stated[class]).abs() < 0.051, "{}: {rate}", CLASSES[class]);
    }
}

/// Merged classes have the sums of the tables, and the mean rates of their voters.
#[test]
fn merged_classes_have_all_columns() {
    let file = File::new(PEOPLE, 3, merging(&[("asian", "other"), ("aian", "other"), ("black", "white")]));
    assert_eq!(file.names()[10..], ["race", "p_white", "p_hispanic", "p_other"]);
    let (fips, races) = (file.column("county_fips"), file.column("race"));
    let rows: Vec<usize> = (0..races.len()).filter(|&row| races[row] == "other").collect();
    let merged = [3, 4, 5];
    let white = white_shares(CensusTable::Counties2020);
    let voters: f64 = merged.iter().map(|&class| NC_VOTER_SHARES[class]).sum();
    let turnout = |row: usize| {
        let rate = |class: usize| TURNOUT[class].0 + (TURNOUT[class].1 - TURNOUT[class].0) * white[fips[row].as_str()];
        merged.iter().map(|&class| NC_VOTER_SHARES[class] / voters * rate(class)).sum()
    };
    let voted = file.column("voted");
    let far = off(rows.iter().map(|&row| voted[row] == "1"), rows.iter().map(|&row| turnout(row)));
    assert!(far.abs() < 4.5, "{far}");
    let areas = places(CensusTable::Zctas2020, "2");
    let areas = areas.iter().filter(|(code, _)| ("270".."290").contains(&&code[..3]));
    let total: f64 = areas.clone().flat_map(|(_, people)| merged.map(|class| people[class])).sum();
    let share = |people: &[f64; K]| merged.iter().map(|&class| people[class]).sum::<f64>() / total;
    let expected = [("other".to_owned(), areas.map(|(code, people)| (code.clone(), share(people))).collect())].into();
    let zips = file.column("zip");
    let far = deviation(&count(rows.iter().map(|&row| (races[row].clone(), &zips[row]))), &expected);
    assert!(far.abs() < 5.0, "{far}");
    let block_groups = file.column("block_group");
    assert!(fips.iter().zip(block_groups).all(|(fips, code)| code.starts_with(fips.as_str())));
}

/// Jobs read scores, names and places by name: party and turnout are neither.
#[test]
fn jobs_recognize_the_columns() {
    let mut blocks = blocks(&request(2000, 5, Voters::default()), 1);
    let columns = blocks.remove(0).into_columns();
    let source =
        |columns| Source { table: Some(MemoryTable::from_plain(columns).unwrap()), ..Source::files(["voters"]) };
    let table =
        TableSettings { source: source(columns.clone()), truth: Some("race".into()), ..TableSettings::default() };
    let labeled = label::run(&label::Request { table, ..label::Request::default() }, &Context::default()).unwrap();
    assert_eq!(labeled.contract.classes, CLASSES);

    let people: Vec<_> = columns.into_iter().take(11).collect();
    let request = predict::Request { source: source(people), ..predict::Request::default() };
    let scored = predict::run(&request, &Context::default()).unwrap();
    let found: Vec<(&str, &str)> = scored.columns.iter().map(|(what, name)| (*what, name.as_str())).collect();
    let expected = [
        ("block group", "block_group"),
        ("county", "county_fips"),
        ("first name", "first_name"),
        ("surname", "surname"),
        ("tract", "tract"),
        ("zcta", "zip"),
    ];
    assert_eq!(found, expected);
    assert!(scored.remarks.iter().any(|remark| remark.contains("look like voters (column \"party\")")));
}
