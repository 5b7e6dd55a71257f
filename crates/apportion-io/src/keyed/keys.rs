//! Finds the key columns of a table: names, codes of places, or parts of codes.

use apportion_bisg::Level;

use super::file::LoadedFile;
use super::place_code::{PlaceCode, is_complete, level_of_code, parse_code_part, rank_of_column};
use super::{KeyedOptions, Subject, TableKeys};
use crate::error::{Error, Result};
use crate::table::{column_index, normalize_name};

const SURNAMES: [&str; 4] = ["surname", "last_name", "lastname", "family_name"];
const FIRST_NAMES: [&str; 4] = ["first_name", "firstname", "given_name", "middle_name"];
const PLACES: [&str; 4] = ["place", "geoid", "geo_id", "id"];
/// A column of surnames or places, depending on the other columns.
const NAME: &str = "name";

/// Columns of codes whose level is detected from the codes.
const IDENTIFIERS: [&str; 5] = ["geoid", "geo_id", "geoid10", "geoid20", "fips"];

/// The parts of a code, starting with the state: level, number of digits and column names.
#[rustfmt::skip] // as a table
const PARTS: [(Level, u32, &[&str]); 4] = [
    (Level::State, 2, &["state", "statefp", "state_fp", "state_fips", "statefp10", "statefp20"]),
    (Level::County, 3, &["county", "countyfp", "county_fp", "county_fips", "countyfp10", "countyfp20"]),
    (Level::Tract, 6, &["tract", "tractce", "tract_ce", "tractce10", "tractce20"]),
    (Level::BlockGroup, 1, &["block_group", "blkgrpce", "blkgrp_ce", "blkgrpce10", "blkgrpce20"]),
];

/// Codes of one level, with the indices of their columns; `None` for an invalid code.
struct Codes {
    level: Level,
    indices: Vec<usize>,
    codes: Vec<Option<u64>>,
}

impl LoadedFile<'_> {
    /// Returns the kind of keys, from the key column given by the user or from known column
    /// names.
    pub(super) fn subject(&self, key: Option<&str>) -> Subject {
        let has_column = |names: &[&str]| match key {
            Some(key) => names.contains(&normalize_name(key).as_str()),
            None => names.iter().any(|name| self.column(name).is_some()),
        };
        if has_column(&SURNAMES) {
            Subject::Surnames
        } else if has_column(&FIRST_NAMES) {
            Subject::FirstNames
        } else if has_column(&[NAME]) && (key.is_some() || !has_column(&PLACES) && matches!(self.codes(), Ok(None))) {
            Subject::Surnames
        } else {
            Subject::Places
        }
    }

    /// Returns the indices of the key columns, and the keys.
    pub(super) fn keys(
        &self,
        subject: Subject,
        options: &KeyedOptions<'_>,
        class_columns: &[(usize, String)],
    ) -> Result<(Vec<usize>, TableKeys)> {
        let texts = |index: usize| Ok((vec![index], TableKeys::Texts(self.texts(index)?)));
        if let Some(key) = options.key {
            let index = column_index(&self.names, key);
            return texts(index.map_err(|problem| Error::file(&self.path, problem))?);
        }
        if subject == Subject::Places
            && let Some(codes) = self.codes()?
        {
            let (level, indices) = (codes.level, codes.indices.clone());
            self.refuse_smaller(level, &indices)?;
            return Ok((indices, TableKeys::Codes(level, self.all_codes(codes)?)));
        }
        let names: &[&str] = match subject {
            Subject::Surnames => &SURNAMES,
            Subject::FirstNames => &FIRST_NAMES,
            Subject::Places => &PLACES,
        };
        let by_name = names.iter().chain([&NAME]).find_map(|name| self.column(name));
        let is_text = |index: &usize| self.columns[*index].is_text();
        let others: Vec<usize> = (0..self.names.len())
            .filter(|index| is_text(index) && class_columns.iter().all(|(column, _)| column != index))
            .collect();
        let only = if let [one] = others[..] { Some(one) } else { None };
        match by_name.or(only) {
            Some(index) => texts(index),
            None => {
                let columns = self.names.join(", ");
                let what = if subject == Subject::Places { "place" } else { "name" };
                let problem = format!("the {what} column is not recognized among {columns}; rename it to {}", names[0]);
                Err(Error::file(&self.path, problem))
            }
        }
    }

    /// Returns the codes of the smallest places in the table, from one column or from the columns of
    /// state, county, tract and block group. A column with a matching name but without any valid code
    /// is ignored.
    fn codes(&self) -> Result<Option<Codes>> {
        let mut candidates: Vec<(Level, usize)> = Vec::new();
        for level in [Level::BlockGroup, Level::Tract, Level::Zcta, Level::County, Level::State] {
            let ranked =
                (0..self.names.len()).filter_map(|index| Some((rank_of_column(&self.names[index], level)?, index)));
            candidates.extend(ranked.min().map(|(_, index)| (level, index)));
        }
        candidates.extend(self.identifier()?);
        candidates.sort_by_key(|(level, _)| *level);
        let (mut complete, mut invalid) = (None, None);
        for (level, index) in candidates {
            let codes = self.codes_in(index, level)?;
            let has_codes = codes.codes.iter().any(Option::is_some);
            let first = if has_codes { &mut complete } else { &mut invalid };
            first.get_or_insert(codes);
        }
        let parts = self.parts()?;
        let parts = parts.filter(|parts| complete.as_ref().is_none_or(|complete| parts.level < complete.level));
        Ok(parts.or(complete).or(invalid))
    }

    /// Refuses a table whose rows are smaller places than their codes, such as counties identified by
    /// name and state.
    fn refuse_smaller(&self, level: Level, indices: &[usize]) -> Result<()> {
        let smaller: &[&str] = match level {
            Level::State => &["county", "county_name", "countyname", "tract", "block_group"],
            Level::County => &["tract", "block_group"],
            _ => return Ok(()),
        };
        let Some(index) = smaller.iter().find_map(|name| self.column(name)).filter(|index| !indices.contains(index))
        else {
            return Ok(());
        };
        // If the codes of the places are complete, a column of names is redundant.
        let mut keys: Vec<String> = self.texts(indices[0])?;
        keys.sort_unstable();
        keys.dedup();
        if level == Level::County && keys.len() == self.rows {
            return Ok(());
        }
        let problem = format!(
            "its rows are keyed by {:?}, which does not contain codes; add a column of codes, such as county_fips",
            self.names[index]
        );
        Err(Error::file(&self.path, problem))
    }

    /// Returns the identifier column and the level of its codes.
    fn identifier(&self) -> Result<Option<(Level, usize)>> {
        let Some(index) = IDENTIFIERS.iter().find_map(|name| self.column(name)) else { return Ok(None) };
        let texts = self.texts(index)?;
        let longest = texts.iter().map(|text| text.trim()).max_by_key(|text| text.len()).unwrap_or_default();
        Ok(level_of_code(longest).map(|level| (level, index)))
    }

    fn codes_in(&self, index: usize, level: Level) -> Result<Codes> {
        let code =
            |text: &String| Some(PlaceCode::from_text(text, level)?.code).filter(|code| is_complete(*code, level));
        Ok(Codes { level, indices: vec![index], codes: self.texts(index)?.iter().map(code).collect() })
    }

    /// Returns codes that are split over several columns; `None` if they do not reach the county
    /// level.
    fn parts(&self) -> Result<Option<Codes>> {
        let mut found: Option<Codes> = None;
        for (level, digits, names) in PARTS {
            let Some(index) = names.iter().find_map(|name| self.column(name)) else { break };
            let part = |text: &String| match level {
                Level::State => PlaceCode::from_text(text, level).map(|code| code.code),
                _ => parse_code_part(text, digits),
            };
            let parts: Option<Vec<u64>> = self.texts(index)?.iter().map(part).collect();
            let Some(parts) = parts else { break };
            let (mut indices, before) =
                found.map_or((Vec::new(), vec![Some(0); self.rows]), |found| (found.indices, found.codes));
            indices.push(index);
            let joined = before.iter().zip(parts).map(|(code, part)| Some((*code)? * 10u64.pow(digits) + part));
            found = Some(Codes { level, indices, codes: joined.collect() });
        }
        Ok(found.filter(|codes| codes.indices.len() > 1))
    }

    /// Returns all codes; refuses the first row without a valid code.
    fn all_codes(&self, codes: Codes) -> Result<Vec<u64>> {
        let (index, what) = (codes.indices[0], codes.level.name());
        let code = |(row, code): (usize, Option<u64>)| {
            let problem = || format!("it is not a {what} code; correct it, or leave out the row");
            code.ok_or_else(|| self.value_error(index, row, problem()))
        };
        codes.codes.into_iter().enumerate().map(code).collect()
    }
}
