//! The tables of a model: built-in Census tables, or files of the user.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use apportion::text::{Message, Setting};
use apportion_bisg::census::{CLASSES, CensusTable};
use apportion_bisg::{KnownMargins, Level, NameTable, Numbers, PlaceTable};
use apportion_io::{
    Input, InputOptions, KeyedFile, KeyedOptions, KeyedTable, MemoryTable, Subject, TableKeys, did_you_mean, same_name,
};

use super::columns::PeopleColumns;
use super::{NameLists, Request, Vintage};
use crate::text::counted;
use crate::{Error, Result};

/// The tables of a model, all with the same classes.
pub(super) struct Tables {
    pub(super) classes: Vec<String>,
    pub(super) surnames: NameTable,
    pub(super) first_names: Option<NameTable>,
    pub(super) middle_names: Option<NameTable>,
    pub(super) places: Vec<PlaceTable>,
    /// Margins by surname and place to which people are raked.
    pub(super) margins: Option<KnownMargins>,
    pub(super) used: Vec<UsedTable>,
}

/// A table that was read.
#[derive(Clone, Debug)]
pub(super) struct UsedTable {
    /// The file, or the name of a built-in table.
    pub(super) name: String,
    pub(super) role: TableRole,
    /// The level of its places; [`Level::Own`] for names.
    pub(super) level: Level,
    pub(super) rows: u64,
    /// Its contents, in one line.
    pub(super) description: String,
}

/// The use of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableRole {
    Surnames,
    FirstNames,
    MiddleNames,
    Places,
    /// A margin by surname or place.
    Margin,
}

/// Tables as read, with their own classes.
#[derive(Clone)]
pub(super) struct TableFiles {
    pub(super) surnames: KeyedTable,
    pub(super) first_names: Option<KeyedTable>,
    /// Voter lists, for names that are not in the tables of names.
    voter_surnames: Option<KeyedTable>,
    voter_first_names: Option<KeyedTable>,
    pub(super) middle_names: Option<KeyedTable>,
    pub(super) places: Vec<KeyedTable>,
    pub(super) surname_margin: Option<KeyedTable>,
    pub(super) place_margin: Option<KeyedTable>,
}

impl TableFiles {
    /// Reads all tables of a request.
    pub(super) fn read(request: &Request, columns: &PeopleColumns) -> Result<TableFiles> {
        let classes: Vec<String> = request.classes.iter().chain(request.crosswalk.keys()).cloned().collect();
        let options = KeyedOptions { classes: &classes, numbers: request.numbers.as_deref(), key: None };
        let tables = &request.tables;
        let names = |name: &str, subject, setting| read(name, tables, subject, &options, setting);
        let places = |name: &str, setting| read_places(name, tables, columns.own_place.as_deref(), &options, setting);
        let surnames = names(request.surname_table(), Subject::Surnames, Setting::Surnames)?;
        let first_names = match columns.first_name {
            Some(_) => Some(names(&request.first_names, Subject::FirstNames, Setting::FirstNames)?),
            None => None,
        };
        let voter_list = |table: &KeyedTable| voter_list(request, table);
        Ok(TableFiles {
            voter_surnames: voter_list(&surnames),
            voter_first_names: first_names.as_ref().and_then(voter_list),
            surnames,
            first_names,
            middle_names: match &request.middle_names {
                Some(name) => Some(names(name, Subject::FirstNames, Setting::MiddleNames)?),
                None => None,
            },
            places: if request.is_by_names_alone() {
                Vec::new()
            } else if request.geography.is_empty() {
                census_places(request, columns)?
            } else {
                request.geography.iter().map(|name| places(name, Setting::Geography)).collect::<Result<_>>()?
            },
            surname_margin: match &request.surname_margin {
                Some(name) => Some(names(name, Subject::Surnames, Setting::SurnameMargin)?),
                None => None,
            },
            place_margin: match &request.place_margin {
                Some(name) => Some(places(name, Setting::PlaceMargin)?),
                None => None,
            },
        })
    }

    fn all(&self) -> impl Iterator<Item = (TableRole, &KeyedTable)> {
        let margins = self.surname_margin.iter().chain(&self.place_margin).map(|table| (TableRole::Margin, table));
        let surnames = std::iter::once(&self.surnames).chain(&self.voter_surnames);
        let first_names = self.first_names.iter().chain(&self.voter_first_names);
        let middle_names = self.middle_names.iter().map(|table| (TableRole::MiddleNames, table));
        let places = self.places.iter().map(|table| (TableRole::Places, table));
        let names = surnames.map(|table| (TableRole::Surnames, table));
        let names = names.chain(first_names.map(|table| (TableRole::FirstNames, table))).chain(middle_names);
        names.chain(places).chain(margins)
    }

    /// Converts all tables to the classes of the request, or by default those of the surname table.
    pub(super) fn with_same_classes(mut self, request: &Request, within: Option<u64>) -> Result<Tables> {
        self.check_crosswalk(request)?;
        let used = self.all().map(|(role, table)| UsedTable::new(role, table)).collect();
        let crosswalk: Vec<(String, String)> = request.crosswalk.clone().into_iter().collect();
        self.surnames.rename(&crosswalk)?;
        if !request.classes.is_empty() {
            self.surnames.reorder_classes(&request.classes)?;
        }
        let classes = self.surnames.classes.clone();
        let margins = self.surname_margin.iter_mut().chain(&mut self.place_margin);
        let voters = self.voter_surnames.iter_mut().chain(&mut self.voter_first_names);
        let given_names = self.first_names.iter_mut().chain(&mut self.middle_names);
        for table in given_names.chain(voters).chain(&mut self.places).chain(margins) {
            table.rename(&crosswalk)?;
            table.reorder_classes(&classes)?;
        }
        let has_states = |table: &KeyedTable| table.level().is_nested() || table.level() == Level::Zcta;
        if within.is_some() && !self.places.is_empty() && !self.places.iter().any(has_states) {
            let problem = ": no place table contains states; add one that does, such as counties-2020";
            return Err(Error::settings(Message::from(Setting::Within) + problem));
        }
        let mut places = Vec::new();
        for table in self.places {
            places.push(places_within(table, within)?);
        }
        let margins = match (self.surname_margin, self.place_margin) {
            (None, None) => None,
            (names, places) => Some(KnownMargins::new(
                names.map(KeyedTable::into_names).transpose()?,
                places.map(KeyedTable::into_places).transpose()?,
            )?),
        };
        Ok(Tables {
            classes,
            surnames: names(self.surnames, self.voter_surnames)?,
            first_names: self.first_names.map(|table| names(table, self.voter_first_names)).transpose()?,
            middle_names: self.middle_names.map(KeyedTable::into_names).transpose()?,
            places,
            margins,
            used,
        })
    }

    /// Refuses a crosswalk for a class that is in no table.
    fn check_crosswalk(&self, request: &Request) -> Result<()> {
        let classes = || self.all().flat_map(|(_, table)| &table.classes);
        let Some(unknown) = request.crosswalk.keys().find(|old| !classes().any(|class| class == *old)) else {
            return Ok(());
        };
        let hint = did_you_mean(unknown, classes().map(String::as_str));
        let problem = format!(": no table has a class {unknown:?}{hint}");
        Err(Error::settings(Message::from(Setting::Crosswalk) + problem))
    }
}

impl UsedTable {
    fn new(role: TableRole, table: &KeyedTable) -> UsedTable {
        let (name, rows) = (table.path.display().to_string(), table.rows() as u64);
        UsedTable { name, role, level: table.level(), rows, description: describe(table) }
    }

    /// Returns the built-in table of this name.
    pub(super) fn built_in(&self) -> Option<CensusTable> {
        CensusTable::named(&self.name)
    }
}

/// Returns a table of names, with the voter list if there is one.
fn names(table: KeyedTable, voters: Option<KeyedTable>) -> Result<NameTable> {
    let table = table.into_names()?;
    Ok(match voters {
        Some(voters) => table.with_voter_list(voters.into_names()?)?,
        None => table,
    })
}

/// Returns the voter list for names that are not in a built-in table, with the class shares of that table; `None` if the
/// table is a file, or voter lists are not used.
fn voter_list(request: &Request, table: &KeyedTable) -> Option<KeyedTable> {
    let built_in = CensusTable::named(table.path.to_str()?)?;
    if request.names == NameLists::Census || request.tables.contains_key(built_in.name()) {
        return None;
    }
    let list = match subject_of(built_in) {
        Subject::Surnames => CensusTable::VoterSurnames,
        Subject::FirstNames => CensusTable::VoterFirstNames,
        Subject::Places => return None,
    };
    let mut margin = [0.0; CLASSES.len()];
    for (shares, count) in table.values.chunks_exact(CLASSES.len()).zip(table.counts.iter().flatten()) {
        let sum: f64 = shares.iter().sum();
        margin.iter_mut().zip(shares).for_each(|(all, share)| *all += count * share / sum);
    }
    let rows = list.load();
    Some(KeyedTable {
        path: PathBuf::from(list.name()),
        key: list.key().into(),
        keys: TableKeys::Texts(rows.keys().map(str::to_owned).collect()),
        classes: CLASSES.map(String::from).to_vec(),
        values: rows.voter_shares(&margin),
        counts: None,
        numbers: Numbers::Shares,
    })
}

/// Returns the places of a table, or only those of one state.
fn places_within(table: KeyedTable, within: Option<u64>) -> Result<PlaceTable> {
    let path = table.path.clone();
    let places = table.into_places()?;
    let Some(state) = within else { return Ok(places) };
    let places = places.within(state);
    if places.places() == 0 {
        let problem = Message::from(format!("{}: no place is in the state given by ", path.display()));
        return Err(Error::data(problem + Setting::Within));
    }
    Ok(places)
}

/// Returns the built-in tables for the place columns of the people.
fn census_places(request: &Request, columns: &PeopleColumns) -> Result<Vec<KeyedTable>> {
    match request.vintage {
        Vintage::Census2020 if !columns.codes.is_empty() => Ok(places_of_2020(columns)),
        Vintage::Census2020 | Vintage::Census2010 => places_of_2010(request, columns),
    }
}

/// Returns the tables of the smallest places that the people have. Larger ones are their sums. The counties, which are
/// small, are for people whose places are unknown.
fn places_of_2020(columns: &PeopleColumns) -> Vec<KeyedTable> {
    let has = |level: Level| columns.codes.iter().any(|(own, _)| *own == level);
    let mut tables = vec![CensusTable::Counties2020];
    if has(Level::BlockGroup) {
        tables.push(CensusTable::BlockGroups2020);
    } else if has(Level::Tract) {
        tables.push(CensusTable::Tracts2020);
    }
    if has(Level::Zcta) {
        tables.push(CensusTable::Zctas2020);
    }
    tables.into_iter().map(built_in).collect()
}

fn places_of_2010(request: &Request, columns: &PeopleColumns) -> Result<Vec<KeyedTable>> {
    let mut places = Vec::new();
    let has_zctas = columns.codes.iter().any(|(level, _)| *level == Level::Zcta);
    // The ZCTAs of 2010 have no people by class.
    if has_zctas && !request.needs_people_by_place() && request.within.is_none() {
        places.push(built_in(CensusTable::Zctas2010));
    }
    if columns.codes.iter().any(|(level, _)| level.is_nested()) {
        places.push(built_in(CensusTable::Counties2010));
    }
    if !places.is_empty() {
        return Ok(places);
    }
    Err(Error::data(if !has_zctas {
        Message::from("no built-in table has such places; provide one with ") + Setting::Geography.with("FILE")
    } else if request.needs_people_by_place() {
        let problem =
            ": it needs the number of people by place and class, which the ZIP code table of 2010 does not have; use ";
        Message::from(Setting::Model.with(request.model().name())) + problem + Setting::Vintage.with("2020")
    } else {
        let problem = ": the ZIP code table of 2010 has no people by class; leave it out, or use ";
        Message::from(Setting::Within) + problem + Setting::Vintage.with("2020")
    }))
}

/// Tables in memory, by their names.
type MemoryTables = BTreeMap<String, MemoryTable>;

/// Reads a table in memory, a built-in one by its name, or a file.
fn read(
    name: &str,
    tables: &MemoryTables,
    subject: Subject,
    options: &KeyedOptions<'_>,
    setting: Setting,
) -> Result<KeyedTable> {
    if let Some(table) = tables.get(name) {
        return Ok(KeyedFile::from_memory(name, table, Some(subject), options)?.table);
    }
    if let Some(table) = CensusTable::named(name) {
        if subject_of(table) != subject {
            let problem = format!(": {name} is another kind of table; `apportion tables` lists them");
            return Err(Error::settings(Message::from(setting) + problem));
        }
        if table.is_voter_list() {
            let problem = format!(": {name} has no counts; it is used for names that are not in the other table");
            return Err(Error::settings(Message::from(setting) + problem));
        }
        return Ok(built_in(table));
    }
    if !Path::new(name).exists() && !name.contains(['.', '/', '\\']) {
        let hint = did_you_mean(name, CensusTable::ALL.map(CensusTable::name));
        let problem = format!(
            ": there is no file and no built-in table {name:?}{hint}; `apportion tables` lists the built-in tables"
        );
        return Err(Error::data(Message::from(setting) + problem));
    }
    Ok(KeyedTable::read(name, subject, options)?)
}

/// Reads a table of places: by the column of user-defined places if it has one, otherwise by codes.
fn read_places(
    name: &str,
    tables: &MemoryTables,
    own_place: Option<&str>,
    options: &KeyedOptions<'_>,
    setting: Setting,
) -> Result<KeyedTable> {
    let columns = match (own_place, tables.get(name)) {
        (Some(_), Some(table)) => table.column_names(),
        (Some(_), None) if CensusTable::named(name).is_none() && Path::new(name).exists() => {
            Input::new(&[name.to_owned()], InputOptions::default())?.columns(0)?
        }
        (Some(_) | None, _) => Vec::new(),
    };
    let key = own_place.filter(|own| columns.iter().any(|column| same_name(column, own)));
    read(name, tables, Subject::Places, &KeyedOptions { key, ..*options }, setting)
}

/// Returns the kind of keys of a built-in table.
fn subject_of(table: CensusTable) -> Subject {
    match table {
        CensusTable::Surnames2020 | CensusTable::Surnames2010 | CensusTable::VoterSurnames => Subject::Surnames,
        CensusTable::FirstNames2020 | CensusTable::VoterFirstNames => Subject::FirstNames,
        CensusTable::BlockGroups2020
        | CensusTable::Tracts2020
        | CensusTable::Counties2020
        | CensusTable::States2020
        | CensusTable::Zctas2020
        | CensusTable::Counties2010
        | CensusTable::Zctas2010 => Subject::Places,
    }
}

/// Returns a built-in table in the same form as a table from a file.
pub(crate) fn built_in(table: CensusTable) -> KeyedTable {
    let rows = table.load();
    let keys = match table.level() {
        Some(level) => TableKeys::Codes(level, rows.codes().unwrap_or_default()),
        None => TableKeys::Texts(rows.keys().map(str::to_owned).collect()),
    };
    KeyedTable {
        path: PathBuf::from(table.name()),
        key: table.key().into(),
        keys,
        classes: table.classes().iter().map(|class| (*class).to_owned()).collect(),
        values: rows.values,
        counts: rows.counts.map(|counts| counts.into_iter().map(|count| count as f64).collect()),
        numbers: table.numbers(),
    }
}

/// Describes a table in one line.
pub(crate) fn describe(table: &KeyedTable) -> String {
    let (one, several) = match &table.keys {
        TableKeys::Texts(_) => ("key", "keys"),
        TableKeys::Codes(level, _) => match level {
            Level::BlockGroup => ("block group", "block groups"),
            Level::Tract => ("tract", "tracts"),
            Level::Zcta => ("ZCTA", "ZCTAs"),
            Level::County => ("county", "counties"),
            Level::State => ("state", "states"),
            Level::Own | Level::ZipPrefix | Level::Nation | Level::All => ("place", "places"),
        },
    };
    let numbers = match (table.numbers, table.counts.is_some()) {
        (Numbers::People, _) => "people by class",
        (Numbers::Shares, true) => "shares of the classes, with counts",
        (Numbers::Shares, false) => "shares of the classes",
        (Numbers::KeyGivenClass, _) => "P(key | class)",
    };
    let keys = counted(table.rows() as u64, one, several);
    format!("{}: {keys} ({}), {numbers}", table.path.display(), table.key)
}
