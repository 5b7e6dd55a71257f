//! The people that the scores describe: those of the tables, or people with the class shares of a margin.

use apportion::text::{Message, Setting};

use super::sources::{TableRole, UsedTable};
use super::{Model, Request};

/// Describes the people whose class shares the scores have, by the tables that were used.
pub(super) fn describe(request: &Request, used: &[UsedTable]) -> String {
    let mut parts = Vec::new();
    for role in [TableRole::Places, TableRole::Surnames, TableRole::FirstNames, TableRole::MiddleNames] {
        parts.extend(used.iter().filter(|table| table.role == role).map(UsedTable::population));
    }
    let tables = parts.join("; ");
    match &request.margin_names()[..] {
        [] => tables,
        margins => format!("people with the class shares of {}; tables: {tables}", margins.join(" and ")),
    }
}

/// Returns a note on these people and, without a margin, on how to score others.
pub(super) fn note(request: &Request, population: &str) -> Message {
    let note = Message::from(format!("the scores describe {population}"));
    if !request.margin_names().is_empty() {
        return note;
    }
    note + ". Voters, borrowers and patients usually have other class shares; if you know theirs, give them with "
        + Setting::Margin.with("FILE")
        + " and "
        + Setting::Model.with(Model::Voter.name())
        + " or "
        + Model::Rake.name()
}

impl UsedTable {
    /// Returns the people or names that the table counts. Nothing is known about a table of the user.
    fn population(&self) -> String {
        match (self.built_in(), self.role) {
            (Some(table), _) => table.population().into(),
            (None, TableRole::Places) => format!("the people of {}", self.name),
            (None, TableRole::Surnames) => format!("surnames of {}", self.name),
            (None, TableRole::FirstNames) => format!("first names of {}", self.name),
            (None, TableRole::MiddleNames) => format!("middle names of {}", self.name),
            (None, TableRole::Margin) => self.name.clone(),
        }
    }
}
