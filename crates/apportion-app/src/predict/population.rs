//! The people that the scores describe: those of the tables, or people with the class shares of a margin.

use apportion::text::{Message, Setting};
use apportion_io::Input;

use super::sources::{TableRole, UsedTable};
use super::{Model, Request};
use crate::Result;

/// Parts of the names of columns that voter files have.
const VOTER_WORDS: [&str; 4] = ["party", "voter", "registr", "ncid"];

/// Describes the people whose class shares the scores have, by the tables that were used.
pub(super) fn describe(request: &Request, used: &[UsedTable]) -> String {
    let places = populations(used, &[TableRole::Places]);
    let names = populations(used, &[TableRole::Surnames, TableRole::FirstNames, TableRole::MiddleNames]);
    let tables = match (&places[..], &names[..]) {
        ([], names) => names.join("; "),
        (places, []) => places.join("; "),
        (places, names) => format!("{} (name lists: {})", places.join("; "), names.join("; ")),
    };
    match &request.margin_names()[..] {
        [] => tables,
        margins => format!("people with the class shares of {}; tables: {tables}", margins.join(" and ")),
    }
}

/// Returns the people that the tables of some roles count, each once.
fn populations(used: &[UsedTable], roles: &[TableRole]) -> Vec<String> {
    let mut populations: Vec<String> = Vec::new();
    for role in roles {
        for population in used.iter().filter(|table| table.role == *role).map(UsedTable::population) {
            if !populations.contains(&population) {
                populations.push(population);
            }
        }
    }
    populations
}

/// Returns a note on these people and, without a margin, on how to score others.
pub(super) fn note(request: &Request, population: &str) -> Message {
    let note = Message::from(format!("the scores describe {population}"));
    if !request.margin_names().is_empty() {
        return note;
    }
    note + ". Voters, borrowers and patients usually have other class shares; if you know theirs, give them with "
        + margin()
}

/// Returns the columns that a voter file has.
pub(super) fn voter_columns(input: &Input) -> Result<Vec<String>> {
    let is_of_voters = |name: &String| VOTER_WORDS.iter().any(|word| name.to_ascii_lowercase().contains(word));
    Ok(input.columns(0)?.into_iter().filter(is_of_voters).collect())
}

/// Returns a warning if the file looks like one of voters, but the scores are those of all adults or residents.
pub(super) fn voter_remark(request: &Request, columns: &[String]) -> Option<Message> {
    if columns.is_empty() || !request.margin_names().is_empty() {
        return None;
    }
    let problem = format!(
        "the people look like voters (column {:?}), but the scores describe all adults or residents of their places; among \
         voters, some classes have other shares, and labels that match the scores would be off. Give the shares of the voters \
         with ",
        columns[0]
    );
    Some(Message::from(problem) + margin())
}

/// Returns the settings that score people with other class shares.
fn margin() -> Message {
    Message::from(Setting::Margin.with("FILE"))
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
