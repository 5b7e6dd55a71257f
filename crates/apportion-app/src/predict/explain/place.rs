//! The places that were looked up for a person, from the smallest to the one that was used.

use apportion_bisg::{Level, PlaceLookup};
use apportion_io::{KeyedTable, TableKeys};
use serde::Serialize;

use super::Explanation;

/// A place that was looked up.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct TriedPlace {
    /// The kind of place, such as `county`.
    pub level: &'static str,
    /// The codes or the name of the place; empty if the row has none.
    pub codes: Vec<String>,
    /// The file or the built-in table.
    pub table: String,
    /// Whether its numbers are sums over the smaller places of the table.
    pub is_sum: bool,
    /// Whether it was used, or why not.
    pub result: PlaceResult,
}

/// Whether a place was used, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PlaceResult {
    /// It was used.
    #[serde(rename = "used")]
    Used,
    /// The row has no valid code for it.
    #[serde(rename = "no code")]
    NoCode,
    /// The table does not have it.
    #[serde(rename = "unknown")]
    Unknown,
    /// The table has it, but without people.
    #[serde(rename = "no people")]
    NoPeople,
    /// It is in another state than the person, or than the one of `within`.
    #[serde(rename = "other state")]
    OtherState,
    /// With its people and the names, no class would be possible.
    #[serde(rename = "no class possible")]
    NoClassPossible,
    /// `fbisg`: the table does not have people by class.
    #[serde(rename = "no people by class")]
    NoPeopleByClass,
}

impl PlaceResult {
    /// Returns the words of the text.
    pub(super) fn describe(self) -> &'static str {
        match self {
            PlaceResult::Used => "used",
            PlaceResult::NoCode => "no valid code in the row",
            PlaceResult::Unknown => "not in the table",
            PlaceResult::NoPeople => "has no people",
            PlaceResult::OtherState => "in another state",
            PlaceResult::NoClassPossible => "with it, no class would be possible",
            PlaceResult::NoPeopleByClass => "the table does not have people by class",
        }
    }
}

impl Explanation<'_> {
    /// Returns the places that were looked up, up to the one that was used.
    pub(super) fn places(&self) -> Vec<TriedPlace> {
        let (bisg, place) = (&self.setup.bisg, &self.scored.person.place);
        let used = self.scored.info.place.map(usize::from);
        let levels = bisg.levels();
        let mut tried = Vec::new();
        for (index, (level, lookup)) in levels.iter().zip(bisg.look_up_place(place)).enumerate() {
            if used.is_some_and(|used| used < index) {
                break;
            }
            let table = self.table_of(&levels, index);
            let own_table = table.filter(|table| table.level() == *level);
            let is_by_class = |row: u32| bisg.people_in(index, row as usize).is_some();
            let result = match lookup.row {
                Some(_) if used == Some(index) => PlaceResult::Used,
                Some(row) if self.is_drawn() && !is_by_class(row) => PlaceResult::NoPeopleByClass,
                Some(_) => PlaceResult::NoClassPossible,
                None if lookup.is_in_other_state => PlaceResult::OtherState,
                None => not_found(*level, &lookup, place.own, own_table),
            };
            let codes = match level {
                Level::Own => place.own.iter().map(|name| name.trim().to_owned()).collect(),
                _ => lookup.codes.iter().map(|code| padded(*level, *code)).collect(),
            };
            tried.push(TriedPlace {
                level: level.name(),
                codes,
                table: table.map(|table| table.path.display().to_string()).unwrap_or_default(),
                is_sum: own_table.is_none(),
                result,
            });
        }
        tried
    }

    /// Returns the table of a level, or the one whose places are added up for it.
    fn table_of(&self, levels: &[Level], index: usize) -> Option<&KeyedTable> {
        let level = levels.get(index)?;
        let tables = &self.tables.places;
        let own = tables.iter().find(|table| table.level() == *level);
        own.or_else(|| match level {
            Level::Nation | Level::All => self.table_of(levels, index.checked_sub(1)?),
            Level::ZipPrefix => tables.iter().find(|table| table.level() == Level::Zcta),
            _ => {
                let smaller = tables.iter().filter(|table| table.level().is_nested() && table.level() < *level);
                smaller.max_by_key(|table| table.level())
            }
        })
    }
}

/// Returns why a place is not in the table that is used: the table as given may have it.
fn not_found(level: Level, lookup: &PlaceLookup, own: Option<&str>, table: Option<&KeyedTable>) -> PlaceResult {
    let own = own.map(|name| name.trim().to_lowercase()).unwrap_or_default();
    let is_missing = if level == Level::Own { own.is_empty() } else { lookup.codes.is_empty() };
    if is_missing {
        return PlaceResult::NoCode;
    }
    let row = table.and_then(|table| match &table.keys {
        TableKeys::Texts(names) => names.iter().position(|name| name.trim().to_lowercase() == own),
        TableKeys::Codes(_, codes) => codes.iter().position(|code| lookup.codes.contains(code)),
    });
    let values = table.zip(row).and_then(|(table, row)| table.values.chunks_exact(table.classes.len()).nth(row));
    match values {
        None => PlaceResult::Unknown,
        Some(values) if values.iter().any(|value| *value > 0.0) => PlaceResult::OtherState,
        Some(_) => PlaceResult::NoPeople,
    }
}

/// Returns a code with leading zeros.
fn padded(level: Level, code: u64) -> String {
    format!("{code:0width$}", width = level.digits().unwrap_or(0) as usize)
}
