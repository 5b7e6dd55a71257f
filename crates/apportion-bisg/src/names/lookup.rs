//! Lookup of a name as people write it: a list of steps, from the exact text to parts of the name, until a table has
//! it.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::index::packed;

/// How a name was found in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameMatch {
    /// As written, ignoring case.
    Exact,
    /// Without accents, punctuation, spaces or a suffix.
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
}

impl NameId {
    /// Not a name.
    pub const MISSING: NameId = NameId { kind: NameMatch::None, rows: [0; 2], is_name: false };
    const UNSEEN: NameId = NameId { is_name: true, ..NameId::MISSING };

    pub(super) fn at(kind: NameMatch, row: u32) -> NameId {
        NameId { kind, rows: [row; 2], is_name: true }
    }
}

/// Buffers for the lookup, reused between names to avoid allocations.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) upper: String,
    words: String,
    joined: String,
}

/// Suffixes, which are not part of a name.
const SUFFIXES: [&str; 8] = ["JR", "SR", "II", "III", "IV", "JUNIOR", "SENIOR", "THIRD"];

/// Prefixes, which are joined to the next word.
const PREFIXES: [&str; 3] = ["MC", "MAC", "O"];

/// Articles, which are joined to the next word or dropped. Some are also surnames, but De Oliva is not the surname De.
const ARTICLES: [&str; 17] =
    ["DE", "DEL", "LA", "LAS", "LOS", "VAN", "VON", "DER", "DEN", "TER", "DI", "DA", "DOS", "DAS", "EL", "AL", "ST"];

/// Words that can be an article or a name. They are joined to the next word if the table has the result.
const ARTICLES_OR_NAMES: [&str; 4] = ["LE", "DO", "SAN", "SANTA"];

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

/// Finds a name: as written; cleaned; without spaces; without suffixes; by its first two parts.
pub(crate) fn find(name: &str, scratch: &mut Scratch, lookup: impl Fn(&str) -> Option<u32>) -> NameId {
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
    let is_name = clean(name, &mut scratch.words);
    if !is_name || is_refusal(&scratch.words) {
        return if is_name && scratch.words.is_empty() { NameId::UNSEEN } else { NameId::MISSING };
    }
    let Scratch { upper, words, joined } = scratch;
    if words != upper
        && let Some(row) = lookup(words)
    {
        return NameId::at(NameMatch::Cleaned, row);
    }
    let spaced = words.as_str();
    let bare = without_suffixes(spaced);
    for words in [Some(spaced), (bare.len() < spaced.len()).then_some(bare)].into_iter().flatten() {
        joined.clear();
        joined.extend(words.split(' '));
        if let Some(row) = lookup(joined) {
            return NameId::at(NameMatch::Cleaned, row);
        }
    }
    by_parts(bare, joined, lookup)
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
        [Some(first), Some(second)] => NameId { kind: NameMatch::BothParts, rows: [first, second], is_name: true },
        [Some(row), None] | [None, Some(row)] => NameId::at(NameMatch::Part, row),
        [None, None] => NameId::UNSEEN,
    }
}

/// Returns the words without trailing suffixes; at least one word remains.
fn without_suffixes(words: &str) -> &str {
    let mut left = words;
    while let Some((before, last)) = left.rsplit_once(' ')
        && SUFFIXES.contains(&last)
    {
        left = before;
    }
    left
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

/// Writes a name as words of the letters A to Z, separated by single spaces. Returns whether it has any letter of any
/// script.
fn clean(name: &str, words: &mut String) -> bool {
    let (mut is_name, mut apart) = (false, false);
    words.clear();
    for letter in name.nfkd().filter(|letter| !is_combining_mark(*letter)) {
        // "Smith, John" and "Smith, Jr.": the text after the comma is not part of the surname.
        if letter == ',' && !words.is_empty() {
            break;
        }
        let latin = latin(letter);
        is_name |= letter.is_alphabetic();
        if latin.is_empty() {
            apart |= separates(letter);
            continue;
        }
        if apart && !words.is_empty() {
            words.push(' ');
        }
        apart = false;
        words.push_str(latin);
    }
    words.make_ascii_uppercase();
    is_name
}

/// Returns whether a character separates two words. Other non-letters, such as apostrophes and digits, are dropped.
fn separates(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '-' | '/' | ',' | ';' | '_' | '+' | '&' | '\u{2010}'..='\u{2015}')
}

/// Returns the Latin letters A to Z of a character, or an empty string.
fn latin(letter: char) -> &'static str {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let upper = letter.to_ascii_uppercase();
    if upper.is_ascii_uppercase() {
        let index = usize::from(upper as u8 - b'A');
        return &LETTERS[index..=index];
    }
    match letter {
        'Ø' | 'ø' => "O",
        'Ł' | 'ł' => "L",
        'Đ' | 'đ' | 'Ð' | 'ð' => "D",
        'Ħ' | 'ħ' => "H",
        'ı' => "I",
        'ß' | 'ẞ' => "SS",
        'Æ' | 'æ' => "AE",
        'Œ' | 'œ' => "OE",
        'Þ' | 'þ' => "TH",
        _ => "",
    }
}

/// Returns the keys of a table's name: in upper case and, if different, cleaned.
pub(crate) fn of_table(name: &str, scratch: &mut Scratch) -> (String, Option<String>) {
    let upper = name.trim().to_ascii_uppercase();
    clean(name, &mut scratch.words);
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
        let id =
            find(name, &mut Scratch::default(), |name| TABLE.iter().position(|own| *own == name).map(|row| row as u32));
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
            [("Łukaszewicz", "LUKASZEWICZ"), ("Weiß", "WEISS"), ("Ærø", "AERO"), ("Ibáñez–Núñez", "IBANEZ NUNEZ")]
        {
            let mut cleaned = String::new();
            assert!(clean(name, &mut cleaned));
            assert_eq!(cleaned, words);
        }
    }
}
