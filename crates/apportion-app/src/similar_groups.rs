//! Groups that may be the same: their names differ only in case, in spaces, or by a word such as County.

use std::collections::BTreeMap;

use apportion::text::{Message, Setting, quoted};

use crate::text;

/// Words after the name of a county that are often left out.
const KINDS: [&str; 3] = [" county", " parish", " borough"];

/// The number of examples, and of names in an example, that are shown.
const SHOWN: usize = 3;

/// Returns a warning if some groups may be the same; `setting` names their columns.
pub(crate) fn warning(names: &[String], setting: Setting) -> Option<Message> {
    let mut similar: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in names {
        similar.entry(normalized(name)).or_default().push(name);
    }
    similar.retain(|_, names| names.len() > 1);
    if similar.is_empty() {
        return None;
    }
    let mut examples: Vec<String> = similar.values().take(SHOWN).map(|names| example(names)).collect();
    if similar.len() > SHOWN {
        examples.push(format!("and {} more", text::count((similar.len() - SHOWN) as u64)));
    }
    let problem = format!("groups that may be the same are treated separately: {}. ", examples.join("; "));
    Some(
        Message::from(problem)
            + "Make their names equal, or name a column of codes, such as county_fips, with "
            + setting,
    )
}

/// Returns a name without case, spaces at the ends, repeated spaces, and words such as County.
fn normalized(name: &str) -> String {
    let mut values = Vec::new();
    for value in name.split('/') {
        let words: Vec<&str> = value.split_whitespace().collect();
        let value = words.join(" ").to_lowercase();
        let bare = KINDS.iter().find_map(|kind| value.strip_suffix(kind)).map(str::to_owned);
        values.push(bare.unwrap_or(value));
    }
    values.join("/")
}

/// Returns names as a list: `"WAKE", "Wake" and "Wake County"`.
fn example(names: &[&str]) -> String {
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| quoted(name)).collect();
    let last = match names.len() - shown.len() {
        0 => shown.pop().unwrap_or_default(),
        more => format!("{more} more"),
    };
    format!("{} and {last}", shown.join(", "))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn warned(names: &[&str]) -> Option<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        warning(&names, Setting::By).map(|warning| warning.to_string())
    }

    #[test]
    fn names_that_differ_in_case_spaces_or_county_are_pointed_out() {
        let found = warned(&["", "Durham", "WAKE", "Wake", "Wake County"]).unwrap();
        let expected = "groups that may be the same are treated separately: \"WAKE\", \"Wake\" and \"Wake County\". Make their names \
                        equal, or name a column of codes, such as county_fips, with `by`";
        assert_eq!(found, expected);
        for same in [["Wake", " Wake "], ["Orleans", "ORLEANS PARISH"], ["NC / Wake", "nc / wake county"]] {
            assert!(warned(&same).is_some(), "{same:?}");
        }
        for other in [["Wake", "Wayne"], ["Baltimore", "Baltimore City"], ["NC / Wake", "SC / Wake"], ["", "County"]] {
            assert_eq!(warned(&other), None, "{other:?}");
        }
    }

    #[test]
    fn a_few_examples_are_shown() {
        let names = ["A", "a", "A county", "a ", "B", "b", "C", "c", "D", "d", "E", "e"];
        let found = warned(&names).unwrap();
        assert!(
            found.contains("\"A\", \"a\", \"A county\" and 1 more; \"B\" and \"b\"; \"C\" and \"c\"; and 2 more. "),
            "{found}"
        );
    }
}
