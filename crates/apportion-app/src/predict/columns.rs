//! Finds the columns with the names and places of people: given by the request, or recognized by name.

use std::collections::BTreeMap;

use apportion::text::{Message, Setting};
use apportion_bisg::Level;
use apportion_io::{Input, PlaceCode, did_you_mean, rank_of_column, same_name};

use super::Request;
use super::unused::{self, Unused};
use crate::describe::Content;
use crate::{Error, Result};

/// Names of surname columns.
const SURNAMES: [&str; 11] = [
    "surname",
    "last_name",
    "lastname",
    "family_name",
    "lname",
    "name_last",
    "last",
    "voters_lastname",
    "vb_tsmart_last_name",
    "tsmart_last_name",
    "voter_last_name",
];
/// Names of first name columns.
const FIRST_NAMES: [&str; 11] = [
    "first_name",
    "firstname",
    "given_name",
    "fname",
    "name_first",
    "first",
    "forename",
    "voters_firstname",
    "vb_tsmart_first_name",
    "tsmart_first_name",
    "voter_first_name",
];
/// Names of middle name columns.
const MIDDLE_NAMES: [&str; 9] = [
    "middle_name",
    "middlename",
    "mname",
    "midl_name",
    "name_middle",
    "middle",
    "voters_middlename",
    "vb_tsmart_middle_name",
    "tsmart_middle_name",
];
/// Names of columns with whole names.
const FULL_NAMES: [&str; 6] = ["full_name", "fullname", "name", "voter_name", "name_full", "whole_name"];
/// Names of columns with the names of counties.
const COUNTY_NAMES: [&str; 4] = ["county", "county_name", "county_desc", "countyname"];
/// Parts of the names of place columns.
const PLACE_WORDS: [&str; 8] = ["zip", "zcta", "county", "state", "tract", "block", "fips", "geoid"];

/// The columns that are read.
#[derive(Clone, Debug, Default)]
pub(super) struct PeopleColumns {
    pub(super) surname: String,
    pub(super) first_name: Option<String>,
    pub(super) middle_name: Option<String>,
    /// Whether these columns contain whole names.
    pub(super) is_whole: bool,
    /// Names of user-defined places.
    pub(super) own_place: Option<String>,
    /// Codes of places, the smallest level first.
    pub(super) codes: Vec<(Level, String)>,
    /// The code of the state in which all people live, if given by the request.
    pub(super) within: Option<u64>,
    /// Columns that look like names or places, but are not read.
    pub(super) unused: Vec<Unused>,
}

impl PeopleColumns {
    /// Finds the columns of the first file.
    pub(super) fn find(request: &Request, input: &Input) -> Result<PeopleColumns> {
        let (names, path) = (input.columns(0)?, input.name(0));
        let within = request.within.as_deref().map(state_code).transpose()?;
        let columns = PeopleColumns::among(&names, request, within).map_err(|error| error.in_file(path))?;
        if columns.has_places() || request.is_by_names_alone() {
            return Ok(columns);
        }
        let problem = format!("{}: no place column was recognized among {}", path.display(), names.join(", "));
        Err(Error::data(
            Message::from(problem)
                + "; name it with "
                + Setting::County
                + ", "
                + Setting::Zcta
                + ", "
                + Setting::Tract
                + ", "
                + Setting::BlockGroup
                + ", "
                + Setting::State
                + " or "
                + Setting::Place
                + ", or compute scores from names alone with "
                + Setting::Geography.with("none"),
        ))
    }

    /// Finds the columns among the names of a file.
    fn among(names: &[String], request: &Request, within: Option<u64>) -> Result<PeopleColumns> {
        let full_name = request.full_name.as_ref().map(|name| named(names, name, Setting::FullName)).transpose()?;
        let surname = match (&full_name, &request.surname) {
            (Some(column), _) => column.clone(),
            (None, Some(name)) => named(names, name, Setting::Surname)?,
            (None, None) => recognized(names, &SURNAMES).ok_or_else(|| no_surnames(names))?,
        };
        let first_name = match &request.first_name {
            Some(name) => Some(named(names, name, Setting::FirstName)?),
            None if request.needs_first_names() => Some(
                full_name
                    .clone()
                    .or_else(|| recognized(names, &FIRST_NAMES))
                    .ok_or_else(|| not_recognized("first name", names, Setting::FirstName))?,
            ),
            None => None,
        };
        let middle_name = match (&request.middle_names, &request.middle_name) {
            (None, _) => None,
            (Some(_), Some(name)) => Some(named(names, name, Setting::MiddleName)?),
            (Some(_), None) => Some(
                full_name
                    .clone()
                    .or_else(|| recognized(names, &MIDDLE_NAMES))
                    .ok_or_else(|| not_recognized("middle name", names, Setting::MiddleName))?,
            ),
        };
        let own_place = request.place.as_ref().map(|name| named(names, name, Setting::Place)).transpose()?;
        let code_columns = [
            (Level::BlockGroup, Setting::BlockGroup, &request.block_group),
            (Level::Tract, Setting::Tract, &request.tract),
            (Level::Zcta, Setting::Zcta, &request.zcta),
            (Level::County, Setting::County, &request.county),
            (Level::State, Setting::State, &request.state),
        ];
        let uses_places = !request.is_by_names_alone();
        // Columns are recognized by name if the request gives no place column.
        let recognizes = uses_places && own_place.is_none() && code_columns.iter().all(|(.., column)| column.is_none());
        let mut codes = Vec::new();
        for (level, setting, column) in code_columns {
            match column {
                Some(name) => codes.push((level, named(names, name, setting)?)),
                None if recognizes => codes.extend(best_column(names, level).map(|name| (level, name))),
                None => {}
            }
        }
        let is_whole = full_name.is_some();
        let mut found =
            PeopleColumns { surname, first_name, middle_name, is_whole, own_place, codes, within, unused: Vec::new() };
        if recognizes {
            found.add_county_names(names);
        }
        if found.first_name.is_none() && !is_whole {
            let column = recognized(names, &FIRST_NAMES);
            found.unused.extend(column.map(|column| unused::first_name(request, &column)));
        }
        if uses_places {
            found.add_unused_places(names, recognizes);
        }
        Ok(found)
    }

    fn has_level(&self, level: Level) -> bool {
        self.codes.iter().any(|(own, _)| *own == level)
    }

    /// Adds a column with county names, or with partial codes. Both need a known state.
    fn add_county_names(&mut self, names: &[String]) {
        let knows_state = self.has_level(Level::State) || self.within.is_some();
        if self.has_level(Level::County) || !knows_state {
            return;
        }
        if let Some(name) = recognized(names, &COUNTY_NAMES) {
            let state = self.codes.iter().position(|(level, _)| *level == Level::State);
            self.codes.insert(state.unwrap_or(self.codes.len()), (Level::County, name));
        }
    }

    /// Adds the columns that look like places but are not read.
    fn add_unused_places(&mut self, names: &[String], recognizes: bool) {
        let used = self.all();
        let is_place = |name: &&String| PLACE_WORDS.iter().any(|word| name.to_ascii_lowercase().contains(word));
        let is_county_name = |name: &str| COUNTY_NAMES.iter().any(|own| same_name(own, name));
        // County names are redundant if there are county codes.
        let has_counties = self.has_level(Level::County);
        let needs_state = !self.codes.iter().any(|(level, _)| level.is_nested());
        for name in names.iter().filter(|name| !used.contains(name)).filter(is_place) {
            let reason = match is_county_name(name) {
                true if has_counties => continue,
                true if needs_state => {
                    let reason = Message::from("county names require a state; use ");
                    reason + Setting::State.with("COL") + " or " + Setting::Within.with("NC")
                }
                _ if recognizes => "the places are in other columns".into(),
                _ => "only the columns of places that are named are used".into(),
            };
            self.unused.push(Unused::new(name, reason));
        }
    }

    /// Returns the names of all columns, sorted.
    pub(super) fn all(&self) -> Vec<String> {
        let mut all: Vec<String> = self.labeled().into_iter().map(|(_, name)| name.clone()).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Returns the columns with their contents.
    fn labeled(&self) -> Vec<(&'static str, &String)> {
        let mut all = vec![(if self.is_whole { "full name" } else { "surname" }, &self.surname)];
        if !self.is_whole {
            all.extend(self.first_name.iter().map(|name| ("first name", name)));
            all.extend(self.middle_name.iter().map(|name| ("middle name", name)));
        }
        all.extend(self.own_place.iter().map(|name| (Level::Own.name(), name)));
        all.extend(self.codes.iter().map(|(level, name)| (level.name(), name)));
        all
    }

    /// Returns the columns by their contents.
    pub(super) fn by_content(&self) -> BTreeMap<&'static str, String> {
        self.labeled().into_iter().map(|(content, name)| (content, name.clone())).collect()
    }

    /// Describes the columns in one line.
    pub(super) fn describe(&self) -> String {
        let parts = self.labeled().into_iter().map(|(content, name)| format!("{content} in {name:?}"));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Returns whether any column contains places.
    pub(super) fn has_places(&self) -> bool {
        self.own_place.is_some() || !self.codes.is_empty()
    }

    /// Returns whether any column contains counties, or places inside counties.
    pub(super) fn has_counties(&self) -> bool {
        self.codes.iter().any(|(level, _)| level.is_nested() && *level != Level::State)
    }

    /// Returns whether any column contains places smaller than states.
    pub(super) fn is_closer_than_state(&self) -> bool {
        self.own_place.is_some() || self.codes.iter().any(|(level, _)| *level != Level::State)
    }
}

/// Returns the columns that are recognized as names or places, with their contents. County names are left out if there
/// are county codes.
pub(crate) fn recognized_people(names: &[String]) -> Vec<(Content, String)> {
    let lists: [(Content, &[&str]); 4] = [
        (Content::Surname, &SURNAMES),
        (Content::FirstName, &FIRST_NAMES),
        (Content::MiddleName, &MIDDLE_NAMES),
        (Content::FullName, &FULL_NAMES),
    ];
    let mut found: Vec<(Content, String)> =
        lists.into_iter().filter_map(|(content, known)| Some((content, recognized(names, known)?))).collect();
    for level in [Level::BlockGroup, Level::Tract, Level::Zcta, Level::County, Level::State] {
        found.extend(Content::of_level(level).zip(best_column(names, level)));
    }
    found.extend(recognized(names, &COUNTY_NAMES).map(|column| (Content::CountyName, column)));
    found
}

/// Returns whether any column is recognized as first names.
pub(super) fn has_first_names(names: &[String]) -> bool {
    recognized(names, &FIRST_NAMES).is_some()
}

/// Returns the code of the state of `within`.
fn state_code(state: &str) -> Result<u64> {
    let unknown = || {
        let problem = format!(": {state:?} is not a state; use an abbreviation or FIPS code, such as NC or 37");
        Error::settings(Message::from(Setting::Within) + problem)
    };
    PlaceCode::from_text(state, Level::State).map(|code| code.code).ok_or_else(unknown)
}

/// Returns the first column with a known name.
fn recognized(names: &[String], known: &[&str]) -> Option<String> {
    known.iter().find_map(|known| names.iter().find(|name| same_name(name, known)).cloned())
}

/// Returns the column whose name best fits codes of a level.
fn best_column(names: &[String], level: Level) -> Option<String> {
    let ranked = names.iter().filter_map(|name| Some((rank_of_column(name, level)?, name)));
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, name)| name.clone())
}

fn not_recognized(what: &str, names: &[String], setting: Setting) -> Error {
    let problem = format!("no {what} column was recognized among {}; name it with ", names.join(", "));
    Error::data(Message::from(problem) + setting)
}

/// Returns the error for a file without a known column of surnames.
fn no_surnames(names: &[String]) -> Error {
    let error = not_recognized("surname", names, Setting::Surname);
    match recognized(names, &FULL_NAMES) {
        Some(column) => Error::data(
            error.message() + ", or, if it contains whole names, use " + Setting::FullName.with(column.as_str()),
        ),
        None => error,
    }
}

/// Returns the column that a setting names.
fn named(names: &[String], name: &str, setting: Setting) -> Result<String> {
    let exact = names.iter().find(|own| *own == name);
    if let Some(found) = exact.or_else(|| names.iter().find(|own| same_name(own, name))) {
        return Ok(found.clone());
    }
    let hint = did_you_mean(name, names.iter().map(String::as_str));
    let problem = format!(": there is no column {name:?}{hint}; the columns are {}", names.join(", "));
    let problem = Message::from(setting) + problem;
    let is_state = PlaceCode::from_text(name, Level::State).is_some();
    Err(Error::data(match setting {
        Setting::Surname | Setting::FirstName | Setting::MiddleName | Setting::FullName => problem,
        _ if is_state => problem + ". If all people live in this state, use " + Setting::Within.with(name),
        _ => problem,
    }))
}
