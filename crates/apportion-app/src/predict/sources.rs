//! The tables that a model is made of: those inside the program, unless the user gives others.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use apportion_bisg::census::{CLASSES, CensusTable};
use apportion_bisg::{KnownMargins, Level, NameTable, Numbers, PlaceTable};
use apportion_io::{
    Input, InputOptions, KeyedOptions, KeyedTable, PlaceCode, Subject, TableKeys, did_you_mean, same_name,
};

use crate::usage::usage;

/// A table by its name, where it is inside the program, or by its file.
pub(crate) fn read(name: &str, subject: Subject, options: &KeyedOptions<'_>, option: &str) -> Result<KeyedTable> {
    if let Some(table) = CensusTable::named(name) {
        let own = match table {
            CensusTable::Surnames2020 | CensusTable::Surnames2010 => Subject::Surnames,
            CensusTable::FirstNames2020 => Subject::FirstNames,
            CensusTable::Counties2010 | CensusTable::Zctas2010 => Subject::Places,
        };
        if own != subject {
            return Err(usage(format!("{option}: {name} is another kind of table; `apportion tables` lists them")));
        }
        return Ok(inside(table));
    }
    if !Path::new(name).exists() && !name.contains(['.', '/', '\\']) {
        let near = did_you_mean(name, CensusTable::ALL.map(CensusTable::name));
        bail!("{option}: there is neither a file {name:?} nor a table of this name inside the program{near}");
    }
    Ok(KeyedTable::read(name, subject, options)?)
}

/// A table of places: by the column that the people's own places are in, where it has that one, and else by codes.
pub(super) fn read_places(
    name: &str,
    own: Option<&str>,
    options: &KeyedOptions<'_>,
    option: &str,
) -> Result<KeyedTable> {
    let has = |own: &&str| -> Result<bool> {
        let names = Input::new(&[name.to_owned()], InputOptions::default())?.columns(0)?;
        Ok(names.iter().any(|name| same_name(name, own)))
    };
    let key = match own.filter(|_| CensusTable::named(name).is_none() && Path::new(name).exists()) {
        Some(own) if has(&own)? => Some(own),
        _ => None,
    };
    read(name, Subject::Places, &KeyedOptions { key, ..*options }, option)
}

/// A table inside the program, as if it had been read.
pub(crate) fn inside(table: CensusTable) -> KeyedTable {
    let keyed = table.load();
    let code = |level: Level, key: &str| {
        PlaceCode::from_text(key.split('\t').next().unwrap_or_default(), level).map(|code| code.code)
    };
    let keys = match table {
        CensusTable::Counties2010 => {
            TableKeys::Codes(Level::County, keyed.keys().filter_map(|key| code(Level::County, key)).collect())
        }
        CensusTable::Zctas2010 => {
            TableKeys::Codes(Level::Zcta, keyed.keys().filter_map(|key| code(Level::Zcta, key)).collect())
        }
        _ => TableKeys::Texts(keyed.keys().map(str::to_owned).collect()),
    };
    KeyedTable {
        path: PathBuf::from(table.name()),
        key: table.key().into(),
        keys,
        classes: CLASSES.map(String::from).to_vec(),
        values: keyed.values,
        counts: keyed.counts.map(|counts| counts.into_iter().map(|count| count as f64).collect()),
        numbers: table.numbers(),
    }
}

/// The tables of a model, in one list of classes.
pub(super) struct Tables {
    pub(super) classes: Vec<String>,
    pub(super) surnames: NameTable,
    pub(super) first_names: Option<NameTable>,
    pub(super) places: Vec<PlaceTable>,
    /// What people are raked to, by surname and place.
    pub(super) margins: Option<KnownMargins>,
    /// What they are, for a user to know.
    pub(super) told: Vec<String>,
    /// The name of each, and its rows.
    pub(super) used: Vec<(String, u64)>,
}

/// What was read, before its classes are brought into one list.
pub(super) struct Read {
    pub(super) surnames: KeyedTable,
    pub(super) first_names: Option<KeyedTable>,
    pub(super) places: Vec<KeyedTable>,
    pub(super) surname_margin: Option<KeyedTable>,
    pub(super) place_margin: Option<KeyedTable>,
}

impl Read {
    /// Brings the classes into one list: the user's, or that of the surnames.
    pub(super) fn in_one_list(
        mut self,
        classes: &[String],
        crosswalk: &[(String, String)],
        within: Option<u64>,
    ) -> Result<Tables> {
        let classes_of_all = || self.all().flat_map(|table| &table.classes);
        if let Some((old, _)) = crosswalk.iter().find(|(old, _)| !classes_of_all().any(|class| class == old)) {
            let near = did_you_mean(old, classes_of_all().map(String::as_str));
            return Err(usage(format!("--crosswalk: no table has a class {old:?}{near}")));
        }
        let told = self.all().map(table_told).collect();
        let used = self.all().map(|table| (table.path.display().to_string(), table.rows() as u64)).collect();
        let renamed = |table: &mut KeyedTable, classes: &[String]| -> Result<()> {
            table.rename(crosswalk)?;
            if !classes.is_empty() {
                table.reorder_classes(classes)?;
            }
            Ok(())
        };
        renamed(&mut self.surnames, classes)?;
        let classes = self.surnames.classes.clone();
        let margins = self.surname_margin.iter_mut().chain(&mut self.place_margin);
        for table in self.first_names.iter_mut().chain(&mut self.places).chain(margins) {
            renamed(table, &classes)?;
        }
        if within.is_some() && !self.places.is_empty() && !self.places.iter().any(|table| table.level().is_nested()) {
            return Err(usage(
                "--within: no table of places says their states; add one that does, such as counties-2010",
            ));
        }
        let places = self.places.into_iter().map(|table| {
            let path = table.path.clone();
            let places = table.into_places()?;
            let Some(state) = within else { return Ok(places) };
            let places = places.within(state);
            if places.places() == 0 {
                bail!("{}: it has no place in the state of --within", path.display());
            }
            Ok(places)
        });
        let margins = match (self.surname_margin, self.place_margin) {
            (None, None) => None,
            (names, places) => Some(KnownMargins::new(
                names.map(KeyedTable::into_names).transpose()?,
                places.map(KeyedTable::into_places).transpose()?,
            )?),
        };
        Ok(Tables {
            margins,
            classes,
            places: places.collect::<Result<_>>()?,
            surnames: self.surnames.into_names()?,
            first_names: self.first_names.map(KeyedTable::into_names).transpose()?,
            told,
            used,
        })
    }

    fn all(&self) -> impl Iterator<Item = &KeyedTable> {
        let margins = self.surname_margin.iter().chain(&self.place_margin);
        std::iter::once(&self.surnames).chain(&self.first_names).chain(&self.places).chain(margins)
    }
}

/// A table in one line.
pub(crate) fn table_told(table: &KeyedTable) -> String {
    let what = match &table.keys {
        TableKeys::Texts(_) => "keys",
        TableKeys::Codes(Level::County, _) => "counties",
        TableKeys::Codes(Level::State, _) => "states",
        TableKeys::Codes(Level::Zcta, _) => "ZCTAs",
        TableKeys::Codes(Level::Tract, _) => "tracts",
        TableKeys::Codes(..) => "block groups",
    };
    let numbers = match (table.numbers, table.counts.is_some()) {
        (Numbers::People, _) => "people by class",
        (Numbers::Shares, true) => "shares of the classes, and people",
        (Numbers::Shares, false) => "shares of the classes",
        (Numbers::KeyGivenClass, _) => "P(key | class)",
    };
    format!("{}: {} {what} ({}), {numbers}", table.path.display(), crate::text::count(table.rows() as u64), table.key)
}
