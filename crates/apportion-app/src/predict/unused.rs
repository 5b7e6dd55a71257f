//! Columns of names and places that the scores do not use, or use less precisely than given, and the reasons.

use apportion::text::{Message, Setting};
use apportion_bisg::Level;
use serde::Serialize;

use super::columns::PeopleColumns;
use super::sources::{TableRole, UsedTable};
use super::{Model, Request};
use crate::Context;

/// A column that the scores do not use, or not as precisely as given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct UnusedColumn {
    /// The name of the column.
    pub column: String,
    /// The larger places as which its places are looked up, such as `county`; null if the column is not used.
    pub used_as: Option<&'static str>,
    /// The reason, and how to use the column.
    pub reason: String,
}

/// An unused column, with the reason as a message.
#[derive(Clone, Debug)]
pub(super) struct Unused {
    pub(super) column: String,
    used_as: Option<Level>,
    reason: Message,
}

impl Unused {
    pub(super) fn new(column: &str, reason: impl Into<Message>) -> Unused {
        Unused { column: column.into(), used_as: None, reason: reason.into() }
    }

    /// Returns the note for users.
    pub(super) fn note(&self) -> Message {
        let how = if self.used_as.is_some() { "is not used as given" } else { "is not used" };
        Message::from(format!("{:?} {how}: ", self.column)) + self.reason.clone()
    }

    /// Returns the serialized form.
    pub(super) fn contract(&self, context: &Context) -> UnusedColumn {
        UnusedColumn {
            column: self.column.clone(),
            used_as: self.used_as.map(Level::name),
            reason: context.render(&self.reason),
        }
    }
}

/// Returns the reason why a column of first names is not used.
pub(super) fn first_name(request: &Request, column: &str) -> Unused {
    let setting = match request.model() {
        Model::Bisg => Setting::Model.with(Model::Bifsg.name()),
        Model::Bifsg | Model::Voter | Model::Rake | Model::Fbisg => Setting::FirstName.with(column),
    };
    Unused::new(column, Message::from(setting) + " uses first names")
}

/// Removes the columns of places that no table has, and returns them with those that are looked up as larger places.
pub(super) fn take_places(columns: &mut PeopleColumns, request: &Request, used: &[UsedTable]) -> Vec<Unused> {
    let is_place = |table: &&UsedTable| matches!(table.role, TableRole::Places | TableRole::Margin);
    let levels: Vec<Level> = used.iter().filter(is_place).map(|table| table.level).collect();
    let finest = levels.iter().copied().filter(|level| level.is_nested()).min();
    let mut unused = Vec::new();
    columns.codes.retain(|(level, column)| {
        let problem = match (level.is_nested(), finest) {
            (true, Some(finest)) if *level < finest => Some(looked_up(column, *level, finest)),
            (true, None) => Some(Unused::new(column, no_table(*level))),
            (false, _) if !levels.contains(level) => Some(Unused::new(column, no_zip_codes(request))),
            (true, Some(_)) | (false, _) => None,
        };
        let is_used = problem.as_ref().is_none_or(|problem| problem.used_as.is_some());
        unused.extend(problem);
        is_used
    });
    unused
}

/// Returns the reason why places are looked up as larger ones.
fn looked_up(column: &str, level: Level, table: Level) -> Unused {
    let reason = format!("it is looked up as {}; to use {}, give a table of them with ", plural(table), plural(level));
    let reason = Message::from(reason) + Setting::Geography.with("FILE");
    Unused { column: column.into(), used_as: Some(table), reason }
}

fn no_table(level: Level) -> Message {
    let reason = format!("no table has {}; give one with ", plural(level));
    Message::from(reason) + Setting::Geography.with("FILE")
}

/// Returns the reason why ZIP codes are not used.
fn no_zip_codes(request: &Request) -> Message {
    if !request.geography.is_empty() {
        return no_table(Level::Zcta);
    }
    let setting = match request.needs_people_by_place() {
        true => Setting::Model.with(request.model().name()),
        false => Setting::Within.into(),
    };
    let reason = " needs people by class, which the table of ZIP codes of 2010 does not have; use ";
    Message::from(setting) + reason + Setting::Vintage.with("2020")
}

/// Returns the places of a level.
fn plural(level: Level) -> &'static str {
    match level {
        Level::BlockGroup => "block groups",
        Level::Tract => "tracts",
        Level::Zcta => "ZIP codes",
        Level::County => "counties",
        Level::State => "states",
        Level::Own | Level::ZipPrefix | Level::Nation | Level::All => "places",
    }
}
