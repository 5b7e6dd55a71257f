//! Codes of places as files have them: zeros lost in front, a point and a zero behind, ZIP codes of nine digits, states by
//! their letters.

use apportion::model::Level;

/// A code, and whether zeros had to be put in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The code as a number.
    pub code: u64,
    /// Whether it was shorter than such codes are.
    pub repaired: bool,
}

/// The letters of states, and their codes.
#[rustfmt::skip] // as a table
const STATES: [(&str, u64); 52] = [
    ("AL", 1), ("AK", 2), ("AZ", 4), ("AR", 5), ("CA", 6), ("CO", 8), ("CT", 9), ("DE", 10), ("DC", 11), ("FL", 12),
    ("GA", 13), ("HI", 15), ("ID", 16), ("IL", 17), ("IN", 18), ("IA", 19), ("KS", 20), ("KY", 21), ("LA", 22), ("ME", 23),
    ("MD", 24), ("MA", 25), ("MI", 26), ("MN", 27), ("MS", 28), ("MO", 29), ("MT", 30), ("NE", 31), ("NV", 32), ("NH", 33),
    ("NJ", 34), ("NM", 35), ("NY", 36), ("NC", 37), ("ND", 38), ("OH", 39), ("OK", 40), ("OR", 41), ("PA", 42), ("RI", 44),
    ("SC", 45), ("SD", 46), ("TN", 47), ("TX", 48), ("UT", 49), ("VT", 50), ("VA", 51), ("WA", 53), ("WV", 54), ("WI", 55),
    ("WY", 56), ("PR", 72),
];

/// A code as text has it; none where it is no code of such places.
#[inline]
pub fn code_of_text(text: &str, level: Level) -> Option<Code> {
    let digits = level.digits()? as usize;
    let mut text = text.trim();
    if level == Level::State
        && let Some((_, code)) = STATES.iter().find(|(letters, _)| letters.eq_ignore_ascii_case(text))
    {
        return Some(Code { code: *code, repaired: false });
    }
    text = text.strip_suffix(".0").unwrap_or(text);
    if level == Level::Zcta {
        text = text.split('-').next()?;
        if text.len() == 9 {
            text = &text[..5];
        }
    }
    // Blocks have three digits more than block groups.
    if level == Level::BlockGroup && text.len() == 15 {
        text = &text[..12];
    }
    if text.is_empty() || text.len() > digits || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let code = text.bytes().fold(0, |code, digit| code * 10 + u64::from(digit - b'0'));
    Some(Code { code, repaired: text.len() < digits })
}

/// A code as a number has it; whether that had a zero in front cannot be seen, but where it must have.
pub fn code_of_number(number: f64, level: Level) -> Option<Code> {
    let digits = level.digits()?;
    if number.fract() != 0.0 || !(0.0..1e15).contains(&number) {
        return None;
    }
    let mut code = number as u64;
    if level == Level::Zcta && code >= 100_000_000 {
        code /= 10_000;
    }
    if level == Level::BlockGroup && code >= 10u64.pow(12) {
        code /= 1000;
    }
    (code < 10u64.pow(digits)).then(|| Code { code, repaired: code < 10u64.pow(digits - 1) })
}

/// What a column of codes may be called, by level.
const CALLED: [(Level, &[&str]); 5] = [
    (Level::BlockGroup, &["block_group", "blockgroup", "block_group_fips", "bg", "bg_fips", "block_group_geoid"]),
    (Level::Tract, &["tract", "tract_fips", "census_tract", "tract_geoid", "tract_code"]),
    (Level::Zcta, &["zcta5", "zcta", "zip", "zip5", "zip_code", "zipcode", "zip_cd", "postal_code", "residential_zip"]),
    (
        Level::County,
        &["county_fips", "fips", "county_fips_code", "fips_code", "countyfips", "county_geoid", "county_code"],
    ),
    (Level::State, &["state_fips", "state_code", "state_abbr", "state", "st", "statefp"]),
];

/// How good a column's name is for a level; 0 is best.
pub fn rank_of_column(name: &str, level: Level) -> Option<usize> {
    let name = crate::columns::normal(name);
    let (_, names) = CALLED.iter().find(|(own, _)| *own == level)?;
    names.iter().position(|own| *own == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_files_have_them() {
        let plain = |code| Some(Code { code, repaired: false });
        let repaired = |code| Some(Code { code, repaired: true });
        for (text, level, code) in [
            ("27601", Level::Zcta, plain(27601)),
            ("02127", Level::Zcta, plain(2127)),
            ("2127", Level::Zcta, repaired(2127)),
            ("601", Level::Zcta, repaired(601)),
            ("2127.0", Level::Zcta, repaired(2127)),
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
        ] {
            assert_eq!(code_of_text(text, level), code, "{text}");
        }
        assert_eq!(code_of_number(601.0, Level::Zcta), repaired(601));
        assert_eq!(code_of_number(276_011_234.0, Level::Zcta), plain(27601));
        assert_eq!(code_of_number(37063.5, Level::County), None);
        assert_eq!(code_of_number(f64::NAN, Level::County), None);
    }
}
