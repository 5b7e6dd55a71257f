//! Parses codes of places: lost leading zeros, a trailing `.0`, nine-digit ZIP codes, long Census
//! identifiers, and states by abbreviation or name.

use apportion_bisg::Level;

/// A place code, and whether leading zeros were restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceCode {
    /// The code as a number.
    pub code: u64,
    /// Whether it had fewer digits than codes of its level.
    pub repaired: bool,
}

/// Abbreviations, names and FIPS codes of the states.
#[rustfmt::skip] // as a table
const STATES: [(&str, &str, u64); 52] = [
    ("AL", "Alabama", 1), ("AK", "Alaska", 2), ("AZ", "Arizona", 4), ("AR", "Arkansas", 5), ("CA", "California", 6),
    ("CO", "Colorado", 8), ("CT", "Connecticut", 9), ("DE", "Delaware", 10), ("DC", "District of Columbia", 11),
    ("FL", "Florida", 12), ("GA", "Georgia", 13), ("HI", "Hawaii", 15), ("ID", "Idaho", 16), ("IL", "Illinois", 17),
    ("IN", "Indiana", 18), ("IA", "Iowa", 19), ("KS", "Kansas", 20), ("KY", "Kentucky", 21), ("LA", "Louisiana", 22),
    ("ME", "Maine", 23), ("MD", "Maryland", 24), ("MA", "Massachusetts", 25), ("MI", "Michigan", 26), ("MN", "Minnesota", 27),
    ("MS", "Mississippi", 28), ("MO", "Missouri", 29), ("MT", "Montana", 30), ("NE", "Nebraska", 31), ("NV", "Nevada", 32),
    ("NH", "New Hampshire", 33), ("NJ", "New Jersey", 34), ("NM", "New Mexico", 35), ("NY", "New York", 36),
    ("NC", "North Carolina", 37), ("ND", "North Dakota", 38), ("OH", "Ohio", 39), ("OK", "Oklahoma", 40), ("OR", "Oregon", 41),
    ("PA", "Pennsylvania", 42), ("RI", "Rhode Island", 44), ("SC", "South Carolina", 45), ("SD", "South Dakota", 46),
    ("TN", "Tennessee", 47), ("TX", "Texas", 48), ("UT", "Utah", 49), ("VT", "Vermont", 50), ("VA", "Virginia", 51),
    ("WA", "Washington", 53), ("WV", "West Virginia", 54), ("WI", "Wisconsin", 55), ("WY", "Wyoming", 56),
    ("PR", "Puerto Rico", 72),
];

/// Summary levels at the start of long Census identifiers: `0500000US37063` is a county.
const SUMMARY_LEVELS: [(Level, &[&str]); 5] = [
    (Level::BlockGroup, &["150", "100", "101"]),
    (Level::Tract, &["140"]),
    (Level::Zcta, &["860", "871"]),
    (Level::County, &["050"]),
    (Level::State, &["040"]),
];

/// Returns the minimum number of digits. ZIP codes have at most two leading zeros, and block groups
/// at most one, so shorter codes have lost more than zeros. Counties and tracts may be given
/// without their state or county.
fn min_digits(level: Level) -> u32 {
    match level {
        Level::Zcta => 3,
        Level::BlockGroup => 11,
        _ => 1,
    }
}

/// Returns whether a code is complete, rather than relative to a larger place. States have at most
/// one leading zero.
pub(crate) fn is_complete(code: u64, level: Level) -> bool {
    level == Level::Zcta || level.digits().is_some_and(|digits| code >= 10u64.pow(digits - 2))
}

impl PlaceCode {
    /// Parses a code given as text; `None` if it is not valid for the level.
    #[inline]
    pub fn from_text(text: &str, level: Level) -> Option<PlaceCode> {
        let digits = level.digits()? as usize;
        let mut text = text.trim();
        if level == Level::State && text.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            return state_code(text).map(|code| PlaceCode { code, repaired: false });
        }
        if text.len() > digits || !is_digits(text) {
            text = strip_to_code(text, level)?;
        }
        if text.len() > digits || text.len() < min_digits(level) as usize {
            return None;
        }
        Some(PlaceCode { code: number(text), repaired: text.len() < digits })
    }
}

/// Returns the code of a state by its abbreviation or name.
fn state_code(text: &str) -> Option<u64> {
    let matches =
        |(letters, name, _): &&(&str, &str, u64)| letters.eq_ignore_ascii_case(text) || name.eq_ignore_ascii_case(text);
    STATES.iter().find(matches).map(|(.., code)| *code)
}

/// Extracts the code from a longer text: a long identifier, a nine-digit ZIP code, or a block.
fn strip_to_code(text: &str, level: Level) -> Option<&str> {
    let mut text = match parse_geo_id(text) {
        Some((other, code)) => Some(code).filter(|_| other == level)?,
        None => text.strip_suffix(".0").unwrap_or(text),
    };
    if level == Level::Zcta {
        text = text.split(['-', ' ']).next()?;
    }
    let extra_digits = match (level, text.len()) {
        // Seven or eight digits are nine-digit ZIP codes without their leading zeros.
        (Level::Zcta, 7..=9) => 4,
        // Blocks have three more digits than block groups.
        (Level::BlockGroup, 14..=15) => 3,
        _ => 0,
    };
    if is_digits(text) { text.get(..text.len() - extra_digits) } else { None }
}

/// Returns the level and code of a long Census identifier.
fn parse_geo_id(text: &str) -> Option<(Level, &str)> {
    let (before, code) = text.split_once("US")?;
    let summary = before.get(..3)?;
    SUMMARY_LEVELS.iter().find(|(_, summaries)| summaries.contains(&summary)).map(|(level, _)| (*level, code))
}

/// Returns the level of a code by its length, or by the summary level of a long identifier.
pub fn level_of_code(text: &str) -> Option<Level> {
    if let Some((level, _)) = parse_geo_id(text.trim()) {
        return Some(level);
    }
    let text = text.trim();
    let text = text.strip_suffix(".0").unwrap_or(text);
    match text.len() {
        _ if !is_digits(text) => None,
        1 | 2 => Some(Level::State),
        4 | 5 => Some(Level::County),
        10 | 11 => Some(Level::Tract),
        12 | 14 | 15 => Some(Level::BlockGroup),
        _ => None,
    }
}

/// Parses a part of a code, such as the three digits of a county within its state.
pub(crate) fn parse_code_part(text: &str, digits: u32) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_suffix(".0").unwrap_or(text);
    (is_digits(text) && text.len() <= digits as usize).then(|| number(text))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(digits: &str) -> u64 {
    digits.bytes().fold(0, |code, digit| code * 10 + u64::from(digit - b'0'))
}

impl PlaceCode {
    /// Parses a code given as a number. Leading zeros are assumed to be lost if digits are missing.
    pub fn from_number(number: f64, level: Level) -> Option<PlaceCode> {
        let digits = level.digits()?;
        if number.fract() != 0.0 || !(0.0..1e15).contains(&number) {
            return None;
        }
        let mut code = number as u64;
        if level == Level::Zcta && code >= 1_000_000 {
            code /= 10_000;
        }
        if level == Level::BlockGroup && code >= 10u64.pow(12) {
            code /= 1000;
        }
        let least = if min_digits(level) > 1 { 10u64.pow(min_digits(level) - 1) } else { 0 };
        (least..10u64.pow(digits)).contains(&code).then(|| PlaceCode { code, repaired: code < 10u64.pow(digits - 1) })
    }
}

/// Names of code columns by level. Columns of mailing addresses are not included, because people may
/// not live there.
#[rustfmt::skip] // as a table
const COLUMN_NAMES: [(Level, &[&str]); 5] = [
    (Level::BlockGroup, &[
        "block_group", "blockgroup", "block_group_fips", "bg", "bg_fips", "block_group_geoid", "block_fips", "block_geoid",
        "block",
    ]),
    (Level::Tract, &["tract", "tract_fips", "census_tract", "tract_geoid", "tract_code"]),
    (Level::Zcta, &[
        "zcta5", "zcta", "zip", "zip5", "zip_code", "zipcode", "zip_cd", "postal_code", "residential_zip", "residential_zip5",
        "zip_code_5", "zipcode5", "reg_zip", "res_zip", "residence_addresses_zip", "vb_vf_reg_cass_zip",
    ]),
    (Level::County, &[
        "county_fips", "fips", "county_fips_code", "fips_code", "countyfips", "county_geoid", "county_code", "county_fips5",
        "cnty_fips", "stcounty",
    ]),
    (Level::State, &[
        "state_fips", "state_code", "state_abbr", "state", "st", "statefp", "state_cd", "state_abbrev", "res_state",
        "residence_addresses_state", "vb_vf_source_state", "state_name", "statename",
    ]),
];

/// Returns the rank of a column name for a level, with 0 as the best; `None` if it does not match.
pub fn rank_of_column(name: &str, level: Level) -> Option<usize> {
    let name = crate::table::normalize_name(name);
    let (_, names) = COLUMN_NAMES.iter().find(|(other, _)| *other == level)?;
    names.iter().position(|other| *other == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_codes_are_parsed() {
        let plain = |code| Some(PlaceCode { code, repaired: false });
        let repaired = |code| Some(PlaceCode { code, repaired: true });
        for (text, level, code) in [
            ("27601", Level::Zcta, plain(27601)),
            ("02127", Level::Zcta, plain(2127)),
            ("2127", Level::Zcta, repaired(2127)),
            ("601", Level::Zcta, repaired(601)),
            ("2127.0", Level::Zcta, repaired(2127)),
            ("601.0", Level::Zcta, repaired(601)),
            ("02127-1234", Level::Zcta, plain(2127)),
            ("021271234", Level::Zcta, plain(2127)),
            (" 37063 ", Level::County, plain(37063)),
            ("1001", Level::County, repaired(1001)),
            ("NC", Level::State, plain(37)),
            ("nc", Level::State, plain(37)),
            ("1", Level::State, repaired(1)),
            ("370630001011", Level::BlockGroup, plain(370_630_001_011)),
            ("370630001011001", Level::BlockGroup, plain(370_630_001_011)),
            ("", Level::Zcta, None),
            ("ABC", Level::County, None),
            ("370631", Level::County, None),
            ("K1A 0B1", Level::Zcta, None),
            ("éééé5", Level::Zcta, None),
            ("27701 1234", Level::Zcta, plain(27701)),
            ("277011234", Level::Zcta, plain(27701)),
            ("21391234", Level::Zcta, repaired(2139)),
            ("6011234", Level::Zcta, repaired(601)),
            ("277011", Level::Zcta, None),
            ("12", Level::Zcta, None),
            ("8600000US27701", Level::Zcta, plain(27701)),
            ("860Z200US27701", Level::Zcta, plain(27701)),
            ("8600000US27701", Level::County, None),
            ("0500000US37063", Level::County, plain(37063)),
            ("0500000US37063", Level::Zcta, None),
            ("1400000US37063000101", Level::Tract, plain(37_063_000_101)),
            ("1500000US370630001011", Level::BlockGroup, plain(370_630_001_011)),
            ("0400000US37", Level::State, plain(37)),
            ("North Carolina", Level::State, plain(37)),
            ("NORTH CAROLINA", Level::State, plain(37)),
            ("District of columbia", Level::State, plain(11)),
            ("Carolina", Level::State, None),
            ("1.0012e9", Level::Tract, None),
            ("3.70630001011e11", Level::BlockGroup, None),
            // A tract has six digits within its county; a block there has four, which do not
            // include its block group.
            ("000101", Level::Tract, repaired(101)),
            ("1001", Level::BlockGroup, None),
        ] {
            assert_eq!(PlaceCode::from_text(text, level), code, "{text}");
        }
        assert_eq!(PlaceCode::from_number(601.0, Level::Zcta), repaired(601));
        assert_eq!(PlaceCode::from_number(276_011_234.0, Level::Zcta), plain(27601));
        assert_eq!(PlaceCode::from_number(21_391_234.0, Level::Zcta), repaired(2139));
        assert_eq!(PlaceCode::from_number(1001.0, Level::BlockGroup), None);
        assert!(is_complete(1001, Level::County) && !is_complete(63, Level::County) && is_complete(1, Level::State));
        assert!(
            is_complete(1_001_020_100, Level::Tract)
                && !is_complete(20_100, Level::Tract)
                && is_complete(601, Level::Zcta)
        );
        assert_eq!(PlaceCode::from_number(37063.5, Level::County), None);
        assert_eq!(PlaceCode::from_number(f64::NAN, Level::County), None);
    }

    #[test]
    fn voter_file_column_names_are_known() {
        for (name, level) in [
            ("Residence_Addresses_Zip", Level::Zcta),
            ("vb.vf_reg_cass_zip", Level::Zcta),
            ("ZIP Code 5", Level::Zcta),
            ("cnty_fips", Level::County),
            ("stcounty", Level::County),
            ("State Abbrev", Level::State),
            ("block_fips", Level::BlockGroup),
        ] {
            assert!(rank_of_column(name, level).is_some(), "{name}");
        }
        for name in ["mail_zip", "mailing_zip", "zip4"] {
            assert_eq!(rank_of_column(name, Level::Zcta), None, "{name}");
        }
    }

    #[test]
    fn the_level_is_detected_from_the_code() {
        for (text, level) in [
            ("37", Some(Level::State)),
            ("37063", Some(Level::County)),
            ("37063000101", Some(Level::Tract)),
            ("370630001011", Some(Level::BlockGroup)),
            ("370630001011001", Some(Level::BlockGroup)),
            ("8600000US27701", Some(Level::Zcta)),
            ("Durham", None),
            ("3706300", None),
        ] {
            assert_eq!(level_of_code(text), level, "{text}");
        }
    }
}
