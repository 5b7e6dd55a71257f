//! The tables that a model is made of: those inside the program, unless the user gives others.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use apportion::model::{Level, NameTable, Numbers, PlaceTable};
use apportion_census::{CLASSES, Inside};
use apportion_table::{KeyedOptions, KeyedTable, Subject, TableKeys, code_of_text, did_you_mean};

use crate::usage::usage;

/// A table by its name, where it is inside the program, or by its file.
pub(crate) fn read(name: &str, subject: Subject, options: &KeyedOptions<'_>, option: &str) -> Result<KeyedTable> {
    if let Some(table) = Inside::named(name) {
        let own = match table {
            Inside::Surnames2020 | Inside::Surnames2010 => Subject::Surnames,
            Inside::FirstNames2020 => Subject::FirstNames,
            Inside::Counties2010 | Inside::Zctas2010 => Subject::Places,
        };
        if own != subject {
            return Err(usage(format!("{option}: {name} is another kind of table; `apportion tables` lists them")));
        }
        return Ok(inside(table));
    }
    if !Path::new(name).exists() && !name.contains(['.', '/', '\\', '-']) {
        let near = did_you_mean(name, Inside::ALL.map(Inside::name));
        bail!("{option}: there is neither a file {name:?} nor a table of this name inside the program{near}");
    }
    Ok(KeyedTable::read(name, subject, options)?)
}

/// A table inside the program, as if it had been read.
pub(crate) fn inside(table: Inside) -> KeyedTable {
    let keyed = table.load();
    let code =
        |level: Level, key: &str| code_of_text(key.split('\t').next().unwrap_or_default(), level).map(|code| code.code);
    let keys = match table {
        Inside::Counties2010 => {
            TableKeys::Codes(Level::County, keyed.keys().filter_map(|key| code(Level::County, key)).collect())
        }
        Inside::Zctas2010 => {
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
        numbers: match table.numbers() {
            apportion_census::Numbers::Shares => Numbers::Shares,
            apportion_census::Numbers::People => Numbers::People,
            apportion_census::Numbers::Spread => Numbers::Spread,
        },
    }
}

/// The tables of a model, in one list of classes.
pub(super) struct Tables {
    pub(super) classes: Vec<String>,
    pub(super) surnames: NameTable,
    pub(super) first_names: Option<NameTable>,
    pub(super) places: Vec<PlaceTable>,
    /// What they are, for a user to know.
    pub(super) told: Vec<String>,
}

/// What was read, before its classes are brought into one list.
pub(super) struct Read {
    pub(super) surnames: KeyedTable,
    pub(super) first_names: Option<KeyedTable>,
    pub(super) places: Vec<KeyedTable>,
}

impl Read {
    /// Brings the classes into one list: the user's, or that of the surnames.
    pub(super) fn in_one_list(
        mut self,
        classes: &[String],
        crosswalk: &[(String, String)],
        within: Option<u64>,
    ) -> Result<Tables> {
        let all = || self.surnames.classes.iter().chain(self.places.iter().flat_map(|table| &table.classes));
        if let Some((old, _)) = crosswalk.iter().find(|(old, _)| !all().any(|class| class == old)) {
            let near = did_you_mean(old, all().map(String::as_str));
            return Err(usage(format!("--crosswalk: no table has a class {old:?}{near}")));
        }
        let told = self.all().map(table_told).collect();
        let renamed = |table: &mut KeyedTable, classes: &[String]| -> Result<()> {
            table.rename(crosswalk)?;
            if !classes.is_empty() {
                table.in_order(classes)?;
            }
            Ok(())
        };
        renamed(&mut self.surnames, classes)?;
        let classes = self.surnames.classes.clone();
        for table in self.first_names.iter_mut().chain(&mut self.places) {
            renamed(table, &classes)?;
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
        Ok(Tables {
            classes,
            places: places.collect::<Result<_>>()?,
            surnames: self.surnames.into_names()?,
            first_names: self.first_names.map(KeyedTable::into_names).transpose()?,
            told,
        })
    }

    fn all(&self) -> impl Iterator<Item = &KeyedTable> {
        std::iter::once(&self.surnames).chain(&self.first_names).chain(&self.places)
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
        (Numbers::Spread, _) => "P(key | class)",
    };
    format!("{}: {} {what} ({}), {numbers}", table.path.display(), crate::text::count(table.rows() as u64), table.key)
}
