//! Which columns of a table are its keys: names, codes of places, or the parts of such codes.

use apportion_bisg::Level;
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;

use super::file::File;
use super::{KeyedOptions, Subject, TableKeys};
use crate::code::{code_of_text, is_whole, level_of_code, part_of_code, rank_of_column};
use crate::columns::{normal, position};
use crate::error::{Error, Result};

const SURNAMES: [&str; 4] = ["surname", "last_name", "lastname", "family_name"];
const FIRST_NAMES: [&str; 3] = ["first_name", "firstname", "given_name"];
const PLACES: [&str; 4] = ["place", "geoid", "geo_id", "id"];
/// What is one name or another, and says so by the other columns.
const NAME: &str = "name";

/// Columns of codes whose level is seen from the codes.
const IDENTIFIERS: [&str; 5] = ["geoid", "geo_id", "geoid10", "geoid20", "fips"];

/// The parts of a code, from the state on: what their columns are called, and how many digits they have.
#[rustfmt::skip] // as a table
const PARTS: [(Level, u32, &[&str]); 4] = [
    (Level::State, 2, &["state", "statefp", "state_fp", "state_fips", "statefp10", "statefp20"]),
    (Level::County, 3, &["county", "countyfp", "county_fp", "county_fips", "countyfp10", "countyfp20"]),
    (Level::Tract, 6, &["tract", "tractce", "tract_ce", "tractce10", "tractce20"]),
    (Level::BlockGroup, 1, &["block_group", "blkgrpce", "blkgrp_ce", "blkgrpce10", "blkgrpce20"]),
];

/// Codes of a level, none where there is none, and the columns that hold them.
struct Codes {
    level: Level,
    places: Vec<usize>,
    codes: Vec<Option<u64>>,
}

impl File {
    /// What the table is of, as its columns say: the one that a user names as the key, or those that are known.
    pub(super) fn subject(&self, key: Option<&str>) -> Subject {
        let is_there = |called: &[&str]| match key {
            Some(key) => called.contains(&normal(key).as_str()),
            None => called.iter().any(|name| self.column(name).is_some()),
        };
        if is_there(&SURNAMES) {
            Subject::Surnames
        } else if is_there(&FIRST_NAMES) {
            Subject::FirstNames
        } else if is_there(&[NAME]) && (key.is_some() || !is_there(&PLACES) && matches!(self.codes(), Ok(None))) {
            Subject::Surnames
        } else {
            Subject::Places
        }
    }

    /// The columns of the keys, and what they hold.
    pub(super) fn keys(
        &self,
        subject: Subject,
        options: &KeyedOptions<'_>,
        found: &[(usize, String)],
    ) -> Result<(Vec<usize>, TableKeys)> {
        let texts = |place: usize| Ok((vec![place], TableKeys::Texts(self.texts(place)?)));
        if let Some(key) = options.key {
            return texts(position(&self.names, key, &self.path.display().to_string())?);
        }
        if subject == Subject::Places
            && let Some(codes) = self.codes()?
        {
            let (level, places) = (codes.level, codes.places.clone());
            self.refuse_smaller(level, &places)?;
            return Ok((places, TableKeys::Codes(level, self.all_codes(codes)?)));
        }
        let called: &[&str] = match subject {
            Subject::Surnames => &SURNAMES,
            Subject::FirstNames => &FIRST_NAMES,
            Subject::Places => &PLACES,
        };
        let by_name = called.iter().chain([&NAME]).find_map(|name| self.column(name));
        let is_text =
            |place: &usize| self.columns[*place].data_type().is_string() || is_dictionary(&self.columns[*place]);
        let others: Vec<usize> =
            (0..self.names.len()).filter(|place| is_text(place) && found.iter().all(|(own, _)| own != place)).collect();
        let only = if let [one] = others[..] { Some(one) } else { None };
        match by_name.or(only) {
            Some(place) => texts(place),
            None => {
                let columns = self.names.join(", ");
                let what = if subject == Subject::Places { "place" } else { "name" };
                let problem = format!("which of its columns {columns} is the {what}? Call it {}", called[0]);
                Err(Error::file(&self.path, problem))
            }
        }
    }

    /// Codes of the smallest places that are there, in one column or in those of state, county, tract and block group. A column
    /// that is called so and holds no such code at all is another's.
    fn codes(&self) -> Result<Option<Codes>> {
        let mut found: Vec<(Level, usize)> = Vec::new();
        for level in [Level::BlockGroup, Level::Tract, Level::Zcta, Level::County, Level::State] {
            let ranked =
                (0..self.names.len()).filter_map(|place| Some((rank_of_column(&self.names[place], level)?, place)));
            found.extend(ranked.min().map(|(_, place)| (level, place)));
        }
        found.extend(self.identifier()?);
        found.sort_by_key(|(level, _)| *level);
        let all = found.into_iter().map(|(level, place)| self.codes_in(place, level)).collect::<Result<Vec<_>>>()?;
        let (some, none): (Vec<Codes>, Vec<Codes>) =
            all.into_iter().partition(|codes| codes.codes.iter().any(Option::is_some));
        let whole = some.into_iter().next();
        let parts = self.parts()?.filter(|parts| whole.as_ref().is_none_or(|whole| parts.level < whole.level));
        Ok(parts.or(whole).or_else(|| none.into_iter().next()))
    }

    /// Refuses a table whose rows are of smaller places than their codes say: counties by name, say, which look like states.
    fn refuse_smaller(&self, level: Level, places: &[usize]) -> Result<()> {
        let smaller: &[&str] = match level {
            Level::State => &["county", "county_name", "countyname", "tract", "block_group"],
            Level::County => &["tract", "block_group"],
            _ => return Ok(()),
        };
        let Some(place) = smaller.iter().find_map(|name| self.column(name)).filter(|place| !places.contains(place))
        else {
            return Ok(());
        };
        // Names beside the whole codes of the same places are but names.
        let mut keys: Vec<String> = self.texts(places[0])?;
        keys.sort_unstable();
        keys.dedup();
        if level == Level::County && keys.len() == self.rows {
            return Ok(());
        }
        let problem = format!(
            "its rows are by {:?}, which holds no codes; give their codes, such as county_fips, in a column of their own",
            self.names[place]
        );
        Err(Error::file(&self.path, problem))
    }

    /// The column of an identifier, and the level of its codes.
    fn identifier(&self) -> Result<Option<(Level, usize)>> {
        let Some(place) = IDENTIFIERS.iter().find_map(|name| self.column(name)) else { return Ok(None) };
        let texts = self.texts(place)?;
        let longest = texts.iter().map(|text| text.trim()).max_by_key(|text| text.len()).unwrap_or_default();
        Ok(level_of_code(longest).map(|level| (level, place)))
    }

    fn codes_in(&self, place: usize, level: Level) -> Result<Codes> {
        let code = |text: &String| Some(code_of_text(text, level)?.code).filter(|code| is_whole(*code, level));
        Ok(Codes { level, places: vec![place], codes: self.texts(place)?.iter().map(code).collect() })
    }

    /// Codes in parts, as far as there are columns that hold nothing else; none where they do not lead to a county.
    fn parts(&self) -> Result<Option<Codes>> {
        let mut found: Option<Codes> = None;
        for (level, digits, called) in PARTS {
            let Some(place) = called.iter().find_map(|name| self.column(name)) else { break };
            let part = |text: &String| match level {
                Level::State => code_of_text(text, level).map(|code| code.code),
                _ => part_of_code(text, digits),
            };
            let parts: Option<Vec<u64>> = self.texts(place)?.iter().map(part).collect();
            let Some(parts) = parts else { break };
            let (mut places, before) =
                found.map_or((Vec::new(), vec![Some(0); self.rows]), |own| (own.places, own.codes));
            places.push(place);
            let joined = before.iter().zip(parts).map(|(code, part)| Some((*code)? * 10u64.pow(digits) + part));
            found = Some(Codes { level, places, codes: joined.collect() });
        }
        Ok(found.filter(|codes| codes.places.len() > 1))
    }

    /// All codes; refuses the first row that has none.
    fn all_codes(&self, codes: Codes) -> Result<Vec<u64>> {
        let (place, what) = (codes.places[0], codes.level.name());
        let code = |(row, code): (usize, Option<u64>)| {
            let problem = || format!("it is no code of a {what}; mend it, or leave the row out");
            code.ok_or_else(|| self.value_error(place, row, problem()))
        };
        codes.codes.into_iter().enumerate().map(code).collect()
    }
}

fn is_dictionary(column: &ArrayRef) -> bool {
    matches!(column.data_type(), DataType::Dictionary(_, _))
}
