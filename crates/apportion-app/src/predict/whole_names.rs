//! Names in one column: the part of a whole name that is looked up.

use apportion_bisg::{FullName, NameId};

/// A part of a whole name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WholeNamePart {
    Surname,
    First,
    Middle,
}

impl WholeNamePart {
    /// All parts.
    pub(super) const ALL: [WholeNamePart; 3] = [WholeNamePart::Surname, WholeNamePart::First, WholeNamePart::Middle];

    /// Returns the part of a whole name, as written.
    pub(super) fn of(self, name: &str) -> String {
        let FullName { surname, first_name, middle_name, .. } = FullName::split(name);
        match self {
            WholeNamePart::Surname => surname,
            WholeNamePart::First => first_name,
            WholeNamePart::Middle => middle_name,
        }
    }

    /// Returns the part if a column contains whole names.
    pub(super) fn if_whole(self, is_whole: bool) -> Option<WholeNamePart> {
        is_whole.then_some(self)
    }
}

/// Looks up a name, or a part of a whole name.
pub(super) trait FindPart {
    /// Finds the part of a text. The parts that were dropped to split a whole name are reported with its surname.
    fn find(self, text: &str, find: impl FnOnce(&str) -> NameId) -> NameId;
}

impl FindPart for Option<WholeNamePart> {
    fn find(self, text: &str, find: impl FnOnce(&str) -> NameId) -> NameId {
        let Some(part) = self else { return find(text) };
        let name = FullName::split(text);
        match part {
            WholeNamePart::Surname => find(&name.surname).with_changes(name.changes),
            WholeNamePart::First => find(&name.first_name),
            WholeNamePart::Middle => find(&name.middle_name),
        }
    }
}
