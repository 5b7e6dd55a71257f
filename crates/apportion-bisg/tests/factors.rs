//! The factors of a score: their product, divided by its sum, is the score for every kind of table, population, name
//! and place.
#![allow(clippy::unwrap_used)] // also in helpers

use apportion::seed::hash;
use apportion_bisg::*;

const K: usize = 4;
const SURNAMES: [&str; 5] = ["SMITH", "GARCIA", "LEE", "NGUYEN", "ALL OTHER NAMES"];
const FIRST: [&str; 3] = ["ANN", "BO", "MARIA"];

/// Returns numbers from 1 to 100, some of them zero; the first of each row is positive.
fn numbers(rows: usize, salt: u64) -> Vec<f64> {
    let number = |index: usize| {
        let number = hash(salt, index as u64, 0) % 130;
        if number >= 100 && !index.is_multiple_of(K) { 0.0 } else { (number % 100 + 1) as f64 }
    };
    (0..rows * K).map(number).collect()
}

/// Returns P(key | class): columns that sum to one.
fn given_class(mut values: Vec<f64>) -> Vec<f64> {
    for class in 0..K {
        let sum: f64 = values.iter().skip(class).step_by(K).sum();
        values.iter_mut().skip(class).step_by(K).for_each(|value| *value /= sum.max(1.0));
    }
    values
}

fn names(names: &[&str], numbers_are: Numbers, has_counts: bool, salt: u64) -> NameTable {
    let values = numbers(names.len(), salt);
    let values = if numbers_are == Numbers::KeyGivenClass { given_class(values) } else { values };
    let counts = has_counts.then(|| (0..names.len()).map(|row| 10.0 + row as f64).collect());
    NameTable::new(K, names.iter().copied(), values, numbers_are, counts).unwrap()
}

fn places(level: Level, codes: &[u64], numbers_are: Numbers, salt: u64) -> PlaceTable {
    let values = numbers(codes.len(), salt);
    let values = match numbers_are {
        Numbers::People => values,
        Numbers::Shares => values.chunks(K).flat_map(normalized).collect(),
        Numbers::KeyGivenClass => given_class(values),
    };
    PlaceTable::by_code(level, K, codes.iter().copied(), values, numbers_are).unwrap()
}

fn normalized(row: &[f64]) -> Vec<f64> {
    let sum: f64 = row.iter().sum();
    row.iter().map(|value| value / sum).collect()
}

/// Returns all models that the tables allow.
fn models() -> Vec<(String, Bisg)> {
    let surnames = [
        (Numbers::People, false, &SURNAMES[..]),
        (Numbers::Shares, true, &SURNAMES[..4]),
        (Numbers::Shares, false, &SURNAMES[..]),
        (Numbers::KeyGivenClass, false, &SURNAMES[..4]),
    ];
    let first_names = [None, Some(Numbers::People), Some(Numbers::KeyGivenClass)];
    let counties = [37_001, 37_003, 37_005];
    let shares = vec![4.0, 3.0, 2.0, 1.0];
    let voters = |as_published| Population::Voters { shares: shares.clone(), as_published };
    let mut models = Vec::new();
    for (index, (numbers_are, has_counts, keys)) in surnames.into_iter().enumerate() {
        for first in first_names {
            for kind in 0..6 {
                let own = |numbers_are| places(Level::County, &counties, numbers_are, 7);
                let places = match kind {
                    0 => vec![own(Numbers::People)],
                    1 => vec![own(Numbers::Shares)],
                    2 => vec![own(Numbers::KeyGivenClass)],
                    3 => vec![own(Numbers::People), places(Level::Zcta, &[27_701], Numbers::KeyGivenClass, 8)],
                    4 => vec![places(Level::Zcta, &[27_701], Numbers::People, 8), own(Numbers::Shares)],
                    _ => Vec::new(),
                };
                for population in [Population::Everybody, voters(false), voters(true)] {
                    for prior in [None, Some(vec![1.0, 2.0, 3.0, 4.0])] {
                        let tables = ModelTables {
                            surnames: names(keys, numbers_are, has_counts, index as u64),
                            first_names: first.map(|first| names(&FIRST, first, false, 5)),
                            places: places.clone(),
                            prior: prior.clone(),
                        };
                        let Ok(bisg) = Bisg::new(tables, &population) else { continue };
                        let name = format!("{numbers_are:?} {has_counts} {first:?} {kind} {population:?} {prior:?}");
                        let middle = || names(&FIRST, Numbers::People, false, 6);
                        models.push((format!("{name} middle"), bisg.clone().with_middle_names(middle()).unwrap()));
                        models.push((name, bisg));
                    }
                }
            }
        }
    }
    models
}

/// Returns the product of the factors, divided by its sum; equal numbers if it is zero.
fn recomputed(factors: &[Factor]) -> Vec<f64> {
    let product = Factor::product(factors, K);
    match product.iter().any(|product| *product > 0.0) {
        true => normalized(&product),
        false => vec![1.0 / K as f64; K],
    }
}

#[test]
fn products_of_factors_are_scores() {
    let models = models();
    let (mut scored, mut uniform) = (0, 0);
    let mut kinds: Vec<FactorKind> = Vec::new();
    for (name, bisg) in &models {
        let mut scratch = Scratch::default();
        for surname in ["Smith", "garcia jr", "Lee-Nguyen", "Unheard", "", "Nguyen"] {
            for first in ["Ann", "Bo", "Nobody", ""] {
                for (code, zcta) in
                    [(Some(37_001), None), (Some(37_005), Some(27_701)), (Some(99_999), None), (None, None)]
                {
                    let place = Place { code: code.map(|code| (Level::County, code)), zcta, ..Place::default() };
                    let person = Person {
                        surname: bisg.find_surname(surname, &mut scratch),
                        first_name: bisg.find_first_name(first, &mut scratch),
                        middle_name: bisg.find_middle_name(first, &mut scratch),
                        place,
                    };
                    let mut scores = [0.0; K];
                    let info = bisg.score_person(&person, &mut scores);
                    let factors = bisg.factors(&person, &info);
                    let again = recomputed(&factors);
                    for (score, again) in scores.iter().zip(&again) {
                        assert!(
                            (score - again).abs() < 1e-13,
                            "{name}: {surname} {first} {code:?}: {scores:?}, {factors:?}"
                        );
                    }
                    scored += 1;
                    uniform += usize::from(scores.iter().all(|score| (score - 0.25).abs() < 1e-12));
                    for factor in factors {
                        assert!(factor.power != 0 && factor.values.len() == K, "{factor:?}");
                        if !kinds.contains(&factor.kind) {
                            kinds.push(factor.kind);
                        }
                    }
                }
            }
        }
    }
    assert!(models.len() > 100 && scored > 9_000 && uniform < scored / 10, "{} {scored} {uniform}", models.len());
    // Each kind of factor of these models has occurred.
    for kind in [
        FactorKind::Shares(NameRole::Surname),
        FactorKind::Likelihoods(NameRole::Surname),
        FactorKind::Margin(NameRole::Surname),
        FactorKind::Shares(NameRole::First),
        FactorKind::Likelihoods(NameRole::First),
        FactorKind::Margin(NameRole::First),
        FactorKind::Shares(NameRole::Middle),
        FactorKind::Place(Numbers::People),
        FactorKind::Place(Numbers::Shares),
        FactorKind::Place(Numbers::KeyGivenClass),
        FactorKind::AllPlaces,
        FactorKind::Voters,
        FactorKind::Prior,
    ] {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
}

/// Surnames with counts, and people in two counties.
fn small(population: &Population) -> Bisg {
    let surnames = NameTable::new(2, ["SMITH", "LEE"], vec![3.0, 1.0, 1.0, 5.0], Numbers::People, None).unwrap();
    let counties =
        PlaceTable::by_code(Level::County, 2, [37_001, 37_003], vec![8.0, 2.0, 2.0, 8.0], Numbers::People).unwrap();
    let tables = ModelTables { surnames, first_names: None, places: vec![counties], prior: None };
    Bisg::new(tables, population).unwrap()
}

/// Factors are the numbers of the tables, and those that cancel are left out.
#[test]
fn factors_are_numbers_of_the_tables() {
    let person = |bisg: &Bisg, surname: &str, code: Option<u64>| {
        let place = Place { code: code.map(|code| (Level::County, code)), ..Place::default() };
        let surname = bisg.find_surname(surname, &mut Scratch::default());
        let person = Person { surname, first_name: NameId::MISSING, middle_name: NameId::MISSING, place };
        let mut scores = [0.0; 2];
        let info = bisg.score_person(&person, &mut scores);
        let factors = bisg.factors(&person, &info);
        factors.into_iter().map(|own| (own.kind, own.power, own.values)).collect::<Vec<_>>()
    };
    let (margin, place) = (FactorKind::Margin(NameRole::Surname), FactorKind::Place(Numbers::People));
    let name = FactorKind::Shares(NameRole::Surname);
    let (all, voters) = (FactorKind::AllPlaces, FactorKind::Voters);
    let everybody = small(&Population::Everybody);
    let expected = [(name, 1, vec![0.75, 0.25]), (margin, -1, vec![0.4, 0.6]), (place, 1, vec![8.0, 2.0])];
    assert_eq!(person(&everybody, "Smith", Some(37_001)), expected);
    let both = [0.75 / 2.0 + 1.0 / 12.0, 0.25 / 2.0 + 5.0 / 12.0];
    let found = person(&everybody, "Smith-Lee", Some(37_001));
    assert!(found[0].2.iter().zip(both).all(|(found, expected)| (found - expected).abs() < 1e-15), "{found:?}");
    assert_eq!(person(&everybody, "", Some(37_001)), [(place, 1, vec![8.0, 2.0])]);
    assert_eq!(person(&everybody, "", None), [(place, 1, vec![10.0, 10.0])]);

    let shares = |as_published| Population::Voters { shares: vec![3.0, 1.0], as_published };
    let found = person(&small(&shares(false)), "Smith", Some(37_003));
    let expected = [
        (name, 1, vec![0.75, 0.25]),
        (margin, -1, vec![0.4, 0.6]),
        (place, 1, vec![2.0, 8.0]),
        (voters, 1, vec![0.75, 0.25]),
        (all, -1, vec![10.0, 10.0]),
    ];
    assert_eq!(found, expected);
    let published = small(&shares(true));
    let found = person(&published, "Smith", Some(37_003));
    let kinds: Vec<(FactorKind, i32)> = found.iter().map(|(kind, power, _)| (*kind, *power)).collect();
    assert_eq!(kinds, [(name, 1), (all, -2), (place, 1), (voters, 1)]);
    let found = person(&published, "", Some(37_003));
    let kinds: Vec<(FactorKind, i32)> = found.iter().map(|(kind, power, _)| (*kind, *power)).collect();
    assert_eq!(kinds, [(place, 1), (voters, 1), (all, -1)]);
}

/// The factors of fBISG are what its sampler multiplies, if no one else lives in the place.
#[test]
fn factors_of_fbisg_start_its_sampler() {
    let bisg = small(&Population::Everybody);
    let place = Place { code: Some((Level::County, 37_001)), ..Place::default() };
    let surname = bisg.find_surname("Smith", &mut Scratch::default());
    let person = Person { surname, first_name: NameId::MISSING, middle_name: NameId::MISSING, place };
    let factors = bisg.sampler_factors(&person).unwrap();
    // 3 of 4 people of the first class are called Smith, and 1 of 6 of the second.
    let likelihoods = [0.75 + NAME_NOISE, 1.0 / 6.0 + NAME_NOISE];
    assert_eq!(factors[0].kind, FactorKind::NoisyLikelihoods(NameRole::Surname));
    assert!(factors[0].values.iter().zip(likelihoods).all(|(own, expected)| (own - expected).abs() < 1e-15));
    assert_eq!((factors[1].kind, &factors[1].values[..]), (FactorKind::PlacePlusOne, &[9.0, 3.0][..]));
    let product = Factor::product(&factors, 2);
    let drawn = Gibbs::default().scores(0, &[8.0, 2.0], &likelihoods);
    let sum: f64 = product.iter().sum();
    assert!(product.iter().zip(drawn).all(|(product, drawn)| (product / sum - drawn).abs() < 1e-12));
}

/// A lookup has the code that was found, or the codes that were not.
#[test]
fn places_are_looked_up_level_by_level() {
    let zctas = PlaceTable::by_code(Level::Zcta, 2, [27_701], vec![1.0, 1.0], Numbers::People).unwrap();
    let counties =
        PlaceTable::by_code(Level::County, 2, [37_001, 37_003], vec![8.0, 2.0, 0.0, 0.0], Numbers::People).unwrap();
    let surnames = NameTable::new(2, ["LEE"], vec![3.0, 1.0], Numbers::People, None).unwrap();
    let tables = ModelTables { surnames, first_names: None, places: vec![zctas, counties], prior: None };
    let bisg = Bisg::new(tables, &Population::Everybody).unwrap();
    assert_eq!(bisg.levels(), [Level::Zcta, Level::County, Level::ZipPrefix, Level::State, Level::All]);
    let state = Some((Level::State, 51));
    let place =
        Place { zcta: Some(27_799), code: Some((Level::County, 37_003)), wider: [state, None, None], own: None };
    let lookups = bisg.look_up_place(&place);
    let of = |codes: &[u64], row, is_in_other_state| PlaceLookup { codes: codes.to_vec(), row, is_in_other_state };
    assert_eq!(
        lookups,
        [
            of(&[27_799], None, false),
            of(&[37_003], None, false),
            of(&[277], Some(0), false),
            of(&[37], Some(0), false),
            of(&[], Some(0), false),
        ]
    );
    let place = Place { code: Some((Level::State, 51)), wider: [None; 3], ..place };
    assert_eq!(bisg.look_up_place(&place)[2], of(&[277], None, true));
    assert_eq!(bisg.look_up_place(&place)[3], of(&[51], None, false));
}

/// Names are shown as they are looked up.
#[test]
fn cleaned_names_are_those_of_the_lookup() {
    for (name, part, cleaned) in [
        ("García", NamePart::Surname, "GARCIA"),
        (" Smith-Jones, Jr. ", NamePart::Surname, "SMITH JONES"),
        ("Mary A", NamePart::Given, "MARY"),
        ("De La O", NamePart::Surname, "DE LA O"),
        ("", NamePart::Surname, ""),
    ] {
        assert_eq!(cleaned_name(name, part), cleaned);
    }
}
