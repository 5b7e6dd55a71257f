//! Looks up counties by name within a state, as voter files write them.

use std::collections::HashMap;
use std::sync::OnceLock;

use apportion_bisg::Level;
use apportion_bisg::census::CensusTable;
use apportion_io::PlaceCode;

/// Codes by state and name.
type Names = HashMap<u64, HashMap<String, u64>>;

/// Words after the name of a county that are not part of it.
const KINDS: [&str; 5] = ["COUNTY", "PARISH", "BOROUGH", "MUNICIPIO", "CENSUSAREA"];

/// Returns the code of a county by its state and name; `None` if the name is unknown, or shared by a county and a city.
pub(super) fn code_of_county(state: u64, name: &str) -> Option<u64> {
    static NAMES: OnceLock<Names> = OnceLock::new();
    let names = NAMES.get_or_init(read).get(&state)?;
    let name = normalized(name);
    let bare = || KINDS.iter().find_map(|kind| name.strip_suffix(kind));
    names.get(&name).or_else(|| names.get(bare()?)).copied()
}

/// Reads the names of all counties in 2020, and of those in 2010 whose names no longer exist.
fn read() -> Names {
    let mut names = names_in(CensusTable::Counties2020);
    for (state, older) in names_in(CensusTable::Counties2010) {
        let names = names.entry(state).or_default();
        older.into_iter().for_each(|(name, code)| _ = names.entry(name).or_insert(code));
    }
    names
}

fn names_in(table: CensusTable) -> Names {
    let table = table.load();
    let mut names: HashMap<u64, HashMap<String, Vec<u64>>> = HashMap::new();
    for key in table.keys() {
        let mut parts = key.split('\t');
        let code = parts.next().and_then(|code| PlaceCode::from_text(code, Level::County));
        let (Some(code), Some(name)) = (code, parts.nth(1)) else { continue };
        names.entry(code.code / 1000).or_default().entry(normalized(name)).or_default().push(code.code);
    }
    let of_state =
        |names: HashMap<String, Vec<u64>>| names.into_iter().flat_map(|(name, codes)| unambiguous(&name, &codes));
    names.into_iter().map(|(state, names)| (state, of_state(names).collect())).collect()
}

/// Returns the names under which counties are found. If a county and a city share a name, the name must include the
/// word county or city; the city has the higher code.
fn unambiguous(name: &str, codes: &[u64]) -> Vec<(String, u64)> {
    match codes {
        [county, city] => vec![(format!("{name}COUNTY"), *county), (format!("{name}CITY"), *city)],
        codes => codes.iter().map(|code| (name.to_owned(), *code)).collect(),
    }
}

/// Returns the letters of a name in upper case and without accents; SAINT becomes ST.
fn normalized(name: &str) -> String {
    let plain = |letter| match letter {
        'á' | 'Á' => 'A',
        'é' | 'É' => 'E',
        'í' | 'Í' => 'I',
        'ó' | 'Ó' => 'O',
        'ú' | 'Ú' | 'ü' | 'Ü' => 'U',
        'ñ' | 'Ñ' => 'N',
        other => other,
    };
    let letters: String = name.chars().map(plain).filter(char::is_ascii_alphabetic).collect();
    let letters = letters.to_ascii_uppercase();
    letters.strip_prefix("SAINT").map(|rest| format!("ST{rest}")).unwrap_or(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counties_are_found_as_voter_files_write_them() {
        for (state, name, code) in [
            (37, "DURHAM", Some(37063)),
            (37, "Durham County", Some(37063)),
            (29, "Saint Louis County", Some(29189)),
            (29, "St. Louis City", Some(29510)),
            (29, "ST. LOUIS", None),
            (24, "Prince George's", Some(24033)),
            (22, "Orleans Parish", Some(22071)),
            (32, "Carson City", Some(32510)),
            (46, "Oglala Lakota", Some(46102)),
            (46, "Shannon", Some(46113)),
            (51, "BEDFORD", Some(51019)),
            (35, "Doña Ana", Some(35013)),
            (35, "DONA ANA", Some(35013)),
            (72, "Bayamon", Some(72021)),
            (45, "DURHAM", None),
            (99, "DURHAM", None),
            (37, "", None),
        ] {
            assert_eq!(code_of_county(state, name), code, "{name}");
        }
    }
}
