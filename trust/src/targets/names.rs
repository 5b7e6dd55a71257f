//! Names as people write them.
//!
//! Oracle: scores are a distribution, and do not depend on case, surrounding spaces, the Unicode form of accents, or
//! the names looked up earlier.

use std::sync::OnceLock;

use apportion_bisg::{Bisg, ModelTables, NameId, NameMatch, NameTable, Numbers, Place, Population, Scratch};

use crate::Outcome;

const NAMES: [&str; 20] = [
    "VAN",
    "VANBUREN",
    "LE",
    "LEBLANC",
    "SMITH",
    "JONES",
    "SMITHJONES",
    "GARCIA",
    "PENA",
    "MCDONALD",
    "OBRIEN",
    "DELACRUZ",
    "LEE",
    "NULL",
    "NA",
    "JUNIOR",
    "NG",
    "O'NEAL",
    "ALL OTHER NAMES",
    "DE LA TORRE",
];
const CLASSES: usize = 3;

/// Looks up the lines of a text as surnames and as first names.
pub(super) fn run(data: &[u8]) -> Outcome {
    let text = String::from_utf8_lossy(data);
    let Some(model) = model() else { return Outcome::Refused };
    let mut room = Scratch::default();
    let names: Vec<&str> = text.lines().collect();
    let hits: Vec<NameId> = names.iter().map(|name| model.find_surname(name, &mut room)).collect();
    let mut all = Vec::new();
    model.find_surnames(names.iter().copied(), &mut room, &mut all);
    assert_eq!(all, hits, "names found together and one by one");
    for (name, &hit) in names.iter().zip(&hits) {
        check(model, name, hit);
    }
    if hits.iter().any(|hit| hit.kind != NameMatch::None) { Outcome::Accepted } else { Outcome::Refused }
}

fn check(model: &Bisg, name: &str, hit: NameId) {
    let find = |name: &str| model.find_surname(name, &mut Scratch::default());
    assert_eq!(find(name), hit, "{name:?} depends on the names before it");
    assert_eq!(find(&format!(" {name}\t")), hit, "{name:?} with spaces around it");
    if name.is_ascii() {
        assert_eq!(find(&name.to_ascii_uppercase()), hit, "{name:?} in upper case");
        assert_eq!(find(&name.to_ascii_lowercase()), hit, "{name:?} in lower case");
    }
    assert!(hit.is_name || hit.kind == NameMatch::None, "{name:?} was found, and is no name");
    let mut scores = [f64::NAN; CLASSES];
    let how = model.predict(name, name, &Place::default(), &mut Scratch::default(), &mut scores);
    assert_eq!(how.surname, hit.kind);
    let sum: f64 = scores.iter().sum();
    let is_missing = scores.iter().all(|score| score.is_nan());
    let is_distribution = (sum - 1.0).abs() < 1e-9 && scores.iter().all(|score| (0.0..=1.0 + 1e-12).contains(score));
    assert!(is_missing || is_distribution, "{name:?} has the scores {scores:?}");
}

/// Returns a small model with every kind of name.
fn model() -> Option<&'static Bisg> {
    static MODEL: OnceLock<Option<Bisg>> = OnceLock::new();
    let table = || {
        let values = (0..NAMES.len() * CLASSES).map(|place| (1 + place * 7 % 11) as f64).collect();
        NameTable::new(CLASSES, NAMES, values, Numbers::People, None)
    };
    let made = || {
        let tables =
            ModelTables { surnames: table().ok()?, first_names: Some(table().ok()?), places: Vec::new(), prior: None };
        Bisg::new(tables, &Population::Everybody).ok()
    };
    MODEL.get_or_init(made).as_ref()
}
