//! The names of a person: what was looked up, the rows that were found, and their numbers.

use apportion_bisg::census::{CensusTable, VOTER_CLASSES, VOTER_SHARES, VOTER_SMOOTHING};
use apportion_bisg::{MarginRows, NameChanges, NameMatch, NamePart, NameRole, NameRow, cleaned_name};
use apportion_io::KeyedTable;
use serde::Serialize;

use super::Explanation;

/// A name, and the rows of the tables that give its numbers.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ExplainedName {
    /// The name as in the input, or this part of a whole name.
    pub name: String,
    /// The name as it is looked up: in the letters A to Z, and without what was dropped.
    pub cleaned: String,
    /// What was dropped: `suffix dropped`, `title dropped`, `former name dropped`, `nickname dropped`, `initial dropped`
    /// or `text after comma dropped`.
    pub dropped: Vec<&'static str>,
    /// How it was found: `exact`, `cleaned`, `part`, `both parts`, `voter list` or `none`.
    #[serde(rename = "match")]
    pub how: &'static str,
    /// Whether the scores use it.
    pub is_used: bool,
    /// The reason if the scores do not use it, or use the row for all other names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The rows that give its numbers: one, or one for each part; their mean is used.
    pub rows: Vec<ExplainedRow>,
}

/// A row of a table.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct ExplainedRow {
    /// The file, or the name of a built-in table.
    pub table: String,
    /// The key of the row, such as a name.
    pub key: String,
    /// The number of people of the row, if the table has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<f64>,
    /// The numbers by class: P(class | key), or P(key | class) if the table has that.
    pub values: Vec<f64>,
    /// Rows of a voter list: how its shares become the numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smoothing: Option<Smoothing>,
}

/// How the shares of a voter list become P(class | name): smoothed = (n · shares + kappa · voters) / (n + kappa), and the
/// ratios smoothed / voters times the class shares of the Census list, divided by their sum.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Smoothing {
    /// The smallest number of people that is consistent with the shares.
    pub n: u16,
    /// The weight of the shares of all voters, in people.
    pub kappa: f64,
    /// The classes of the voter list. The class aian has the ratio of other.
    pub classes: Vec<&'static str>,
    /// The shares of the classes among voters with this name.
    pub shares: Vec<f64>,
    /// The shares of the classes among all voters of the list.
    pub voters: Vec<f64>,
    /// The smoothed shares.
    pub smoothed: Vec<f64>,
    /// The smoothed shares divided by those of all voters.
    pub ratios: Vec<f64>,
}

impl Explanation<'_> {
    /// Explains a name; `None` if the model does not use it.
    pub(super) fn name(&self, role: NameRole) -> Option<ExplainedName> {
        let (person, info) = (&self.scored.person, &self.scored.info);
        let (index, id, is_dropped, part) = match role {
            NameRole::Surname => (0, person.surname, info.without_surname, NamePart::Surname),
            NameRole::First => (1, person.first_name, info.without_first_name, NamePart::Given),
            NameRole::Middle => (2, person.middle_name, info.without_middle_name, NamePart::Given),
        };
        let name = self.scored.names[index].clone()?;
        let rows = self.setup.bisg.name_rows(role, id);
        // fBISG uses all names that are known.
        let is_used = !rows.is_empty() && (!is_dropped || self.is_drawn());
        let reason = match (id.kind, is_used) {
            (NameMatch::None, true) => Some("it is on no list, so the row for all other names is used"),
            (_, true) => None,
            (_, false) if !id.is_name => Some("it is missing or not a name"),
            (_, false) if rows.is_empty() => Some("it is on no list"),
            (_, false) => Some("with it, no class would be possible"),
        };
        let changes = NameChanges::ALL.iter().filter(|(change, _)| id.changes.contains(*change));
        Some(ExplainedName {
            cleaned: match id.kind {
                NameMatch::Exact => name.trim().to_ascii_uppercase(),
                _ => cleaned_name(&name, part),
            },
            name,
            dropped: changes.map(|(_, words)| *words).collect(),
            how: id.kind.name(),
            is_used,
            reason,
            rows: rows.into_iter().filter_map(|row| self.row(role, row)).collect(),
        })
    }

    /// Returns a row of a table of names with its key.
    fn row(&self, role: NameRole, row: NameRow) -> Option<ExplainedRow> {
        let NameRow { is_on_voter_list, row, values } = row;
        let (table, list) = match role {
            NameRole::Surname => (Some(&self.tables.surnames), CensusTable::VoterSurnames),
            NameRole::First => (self.tables.first_names.as_ref(), CensusTable::VoterFirstNames),
            NameRole::Middle => (self.tables.middle_names.as_ref(), CensusTable::VoterFirstNames),
        };
        if !is_on_voter_list {
            return Some(keyed_row(table?, row, values));
        }
        let name = list.load().voter_name(row)?;
        let ratios = name.smoothed.iter().zip(VOTER_SHARES).map(|(share, voters)| share / voters);
        let smoothing = Smoothing {
            n: name.sample,
            kappa: VOTER_SMOOTHING,
            classes: VOTER_CLASSES.to_vec(),
            ratios: ratios.collect(),
            shares: name.shares,
            voters: VOTER_SHARES.to_vec(),
            smoothed: name.smoothed,
        };
        Some(ExplainedRow {
            table: list.name().into(),
            key: name.key,
            people: None,
            values,
            smoothing: Some(smoothing),
        })
    }

    /// Returns the rows of margins by surname and place that count the person.
    pub(super) fn margin_rows(&self) -> Vec<ExplainedRow> {
        let (Some(margins), Some(MarginRows { name, place })) = (&self.setup.margins, self.scored.margin_rows) else {
            return Vec::new();
        };
        let row = |table: &Option<KeyedTable>, row: Option<u32>, shares: Option<&[f64]>| {
            Some(keyed_row(table.as_ref()?, row? as usize, shares?.to_vec()))
        };
        let by_name = row(&self.tables.surname_margin, name, name.and_then(|row| margins.name_shares(row)));
        let by_place = row(&self.tables.place_margin, place, place.and_then(|row| margins.place_shares(row)));
        by_name.into_iter().chain(by_place).collect()
    }
}

fn keyed_row(table: &KeyedTable, row: usize, values: Vec<f64>) -> ExplainedRow {
    let people = table.people().and_then(|people| people.get(row).copied());
    ExplainedRow { table: table.path.display().to_string(), key: table.key_of(row), people, values, smoothing: None }
}
