//! Cleans a name as people write it: drops suffixes, titles, former names, nicknames and initials, and reports what was
//! dropped. The result depends on the text alone, not on a table or on other rows.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The parts that were dropped from a name before the lookup. A set; the empty set means that nothing was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NameChanges(u8);

impl NameChanges {
    /// Nothing.
    pub const NONE: NameChanges = NameChanges(0);
    /// A suffix: Jr, Sr, II, VI, 3rd.
    pub const SUFFIX: NameChanges = NameChanges(1);
    /// A title or degree: Dr, MD, Esq, PhD.
    pub const TITLE: NameChanges = NameChanges(2);
    /// A former or other name: née, AKA, FKA.
    pub const FORMER: NameChanges = NameChanges(4);
    /// Text in quotes or parentheses.
    pub const NICKNAME: NameChanges = NameChanges(8);
    /// A single letter.
    pub const INITIAL: NameChanges = NameChanges(16);
    /// Text after a comma that is neither a suffix nor a title.
    pub const AFTER_COMMA: NameChanges = NameChanges(32);

    /// The number of different sets.
    pub const SETS: usize = 64;

    /// The single changes and their names.
    pub const ALL: [(NameChanges, &'static str); 6] = [
        (NameChanges::SUFFIX, "suffix dropped"),
        (NameChanges::TITLE, "title dropped"),
        (NameChanges::FORMER, "former name dropped"),
        (NameChanges::NICKNAME, "nickname dropped"),
        (NameChanges::INITIAL, "initial dropped"),
        (NameChanges::AFTER_COMMA, "text after comma dropped"),
    ];

    /// Returns the set with a number below [`NameChanges::SETS`].
    pub fn from_bits(bits: u8) -> NameChanges {
        NameChanges(bits % NameChanges::SETS as u8)
    }

    /// Returns the number of the set.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Returns whether the set contains all changes of another.
    pub fn contains(self, other: NameChanges) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the changes of both sets.
    #[must_use]
    pub fn union(self, other: NameChanges) -> NameChanges {
        NameChanges(self.0 | other.0)
    }

    pub(super) fn add(&mut self, other: NameChanges) {
        *self = self.union(other);
    }

    /// Returns the names of the changes, separated by `+`.
    pub fn describe(self) -> String {
        let names = NameChanges::ALL.iter().filter(|(change, _)| self.contains(*change)).map(|(_, name)| *name);
        names.collect::<Vec<_>>().join("+")
    }
}

/// The part of a person's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamePart {
    /// A surname.
    Surname,
    /// A first or middle name.
    Given,
}

/// Suffixes, which are not part of a name.
const SUFFIXES: [&str; 13] =
    ["JR", "SR", "II", "III", "IV", "VII", "VIII", "IX", "JNR", "SNR", "JUNIOR", "SENIOR", "THIRD"];

/// Titles and degrees after a name. Degrees that are common surnames, such as MA, are not included.
const TITLES: [&str; 22] = [
    "MD", "DDS", "DMD", "DVM", "PHD", "PH", "EDD", "JD", "ESQ", "ESQUIRE", "RN", "LPN", "CPA", "MBA", "MPH", "PHARMD",
    "LCSW", "LLD", "RET", "USN", "USMC", "USAF",
];

/// A suffix and a degree that are also surnames. They are dropped only after a space and another surname.
const AMBIGUOUS: [(&str, NameChanges); 2] = [("VI", NameChanges::SUFFIX), ("DO", NameChanges::TITLE)];

/// Titles before a name.
pub(super) const LEADING_TITLES: [&str; 4] = ["MR", "MRS", "MS", "DR"];

/// Words between a current name and a former or other one.
pub(super) const MARKERS: [&str; 4] = ["NEE", "AKA", "FKA", "FORMERLY"];
/// The word between a former name and the current one: now known as.
pub(super) const NEW_MARKER: &str = "NKA";

/// Prefixes, which are joined to the next word.
pub(super) const PREFIXES: [&str; 3] = ["MC", "MAC", "O"];

/// Articles, which are joined to the next word or dropped. Some are also surnames, but De Oliva is not the surname De.
pub(super) const ARTICLES: [&str; 17] =
    ["DE", "DEL", "LA", "LAS", "LOS", "VAN", "VON", "DER", "DEN", "TER", "DI", "DA", "DOS", "DAS", "EL", "AL", "ST"];

/// Words that can be an article or a name. They are joined to the next word if the table has the result.
pub(super) const ARTICLES_OR_NAMES: [&str; 4] = ["LE", "DO", "SAN", "SANTA"];

/// Writes a name as words of the letters A to Z, separated by a space, or by a hyphen if it was written with one.
/// Returns whether the text has a letter of any script, and what was dropped. Cleaning the result again does not change
/// it.
pub(super) fn clean(text: &str, part: NamePart, buffer: &mut String, words: &mut String) -> (bool, NameChanges) {
    let mut changes = NameChanges::NONE;
    let mut text = without_asides(text, buffer, &mut changes);
    if let Some((head, rest)) = split_at_comma(text) {
        text = head;
        changes.add(change_after_comma(rest));
    }
    text = without_ordinal(text, &mut changes);
    let is_name = fold(text, words);
    drop_former_names(words, part, &mut changes);
    drop_last_words(words, part, &mut changes);
    drop_leading_titles(words, &mut changes);
    (is_name, changes)
}

/// Writes a text as words of the letters A to Z. Returns whether it has any letter of any script.
pub(super) fn fold(text: &str, words: &mut String) -> bool {
    let (mut is_name, mut separator) = (false, None);
    words.clear();
    for letter in text.nfkd().filter(|letter| !is_combining_mark(*letter)) {
        let latin = latin(letter);
        is_name |= letter.is_alphabetic();
        if latin.is_empty() {
            separator = match separates(letter) {
                Some('-') => separator.or(Some('-')),
                Some(other) => Some(other),
                None => separator,
            };
            continue;
        }
        if let Some(separator) = separator.take()
            && !words.is_empty()
        {
            words.push(separator);
        }
        words.push_str(latin);
    }
    words.make_ascii_uppercase();
    is_name
}

/// Returns the hyphen or space that a character stands for. Other non-letters, such as apostrophes and digits, do not
/// separate words.
fn separates(letter: char) -> Option<char> {
    match letter {
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '/' | ',' | ';' | '_' | '+' | '&' => Some(' '),
        other => other.is_whitespace().then_some(' '),
    }
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

fn has_latin(text: &str) -> bool {
    text.nfkd().any(|letter| !latin(letter).is_empty())
}

/// Returns the text without parts in quotes or parentheses, unless nothing else is left.
pub(super) fn without_asides<'t>(text: &'t str, buffer: &'t mut String, changes: &mut NameChanges) -> &'t str {
    buffer.clear();
    let (mut copied, mut found, mut at) = (0, NameChanges::NONE, 0);
    while let Some(letter) = text[at..].chars().next() {
        let after = at + letter.len_utf8();
        let Some((inside, end)) = aside(text, at, after, letter) else {
            at = after;
            continue;
        };
        buffer.push_str(&text[copied..at]);
        buffer.push(' ');
        found.add(if starts_with_marker(inside) { NameChanges::FORMER } else { NameChanges::NICKNAME });
        (copied, at) = (end, end);
    }
    if found == NameChanges::NONE {
        return text;
    }
    buffer.push_str(&text[copied..]);
    if !has_latin(buffer) {
        return text;
    }
    changes.add(found);
    buffer
}

/// Returns the text inside a quote or parenthesis that opens at `at`, and the index after its end.
fn aside(text: &str, at: usize, after: usize, opening: char) -> Option<(&str, usize)> {
    let closing: &[char] = match opening {
        '(' => &[')'],
        '[' => &[']'],
        '{' => &['}'],
        '"' | '“' | '”' | '„' => &['"', '“', '”'],
        '«' => &['»'],
        '\'' | '‘' | '’' | '`' => &['\'', '’', '‘'],
        _ => return None,
    };
    let is_bracket = matches!(opening, '(' | '[' | '{');
    let is_boundary = |letter: Option<char>| letter.is_none_or(|letter| letter.is_whitespace() || letter == ',');
    // An apostrophe within a word is part of the name.
    if !is_bracket && !is_boundary(text[..at].chars().next_back()) {
        return None;
    }
    let ends = text[after..].match_indices(closing);
    let mut ends = ends.map(|(index, mark)| (after + index, after + index + mark.len()));
    let (inside, end) = ends.find(|(_, end)| is_bracket || is_boundary(text[*end..].chars().next()))?;
    Some((&text[after..inside], end))
}

fn starts_with_marker(text: &str) -> bool {
    let mut words = String::new();
    fold(text, &mut words);
    words.split([' ', '-']).next().is_some_and(|word| MARKERS.contains(&word) || word == NEW_MARKER)
}

/// Splits a text at the first comma after a letter.
fn split_at_comma(text: &str) -> Option<(&str, &str)> {
    let mut commas = text.match_indices([',', '，']);
    let (at, comma) = commas.find(|(at, _)| has_latin(&text[..*at]))?;
    Some((&text[..at], &text[at + comma.len()..]))
}

/// Returns what is dropped with the text after a comma.
fn change_after_comma(rest: &str) -> NameChanges {
    let mut changes = NameChanges::NONE;
    let rest = without_ordinal(rest, &mut changes);
    let mut words = String::new();
    fold(rest, &mut words);
    for word in words.split([' ', '-']).filter(|word| !word.is_empty()) {
        changes.add(extra_word(word).unwrap_or(NameChanges::AFTER_COMMA));
    }
    changes
}

/// Returns the change if a word in upper case is always a suffix or a title after a comma.
pub(super) fn extra_word(word: &str) -> Option<NameChanges> {
    let ambiguous = AMBIGUOUS.iter().find(|(own, _)| *own == word).map(|(_, change)| *change);
    certain_extra(word).or(ambiguous).or((word == "V").then_some(NameChanges::SUFFIX))
}

/// Returns the change if a word in upper case is a suffix or a title, and not a surname.
pub(super) fn certain_extra(word: &str) -> Option<NameChanges> {
    if SUFFIXES.contains(&word) {
        return Some(NameChanges::SUFFIX);
    }
    TITLES.contains(&word).then_some(NameChanges::TITLE)
}

/// Returns the text without a last word such as 3rd. Its digit is lost in words of letters.
pub(super) fn without_ordinal<'t>(text: &'t str, changes: &mut NameChanges) -> &'t str {
    let trimmed = text.trim_end_matches(|letter: char| letter.is_whitespace() || letter == '.');
    let start = trimmed.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let start = (start..trimmed.len()).find(|&at| trimmed.is_char_boundary(at)).unwrap_or(trimmed.len());
    let is_ordinal = ["1st", "2nd", "3rd", "4th", "5th"].iter().any(|own| own.eq_ignore_ascii_case(&trimmed[start..]));
    if !is_ordinal {
        return text;
    }
    changes.add(NameChanges::SUFFIX);
    &trimmed[..start]
}

/// Drops a former or other name: the text after née, AKA or FKA, or before NKA.
fn drop_former_names(words: &mut String, part: NamePart, changes: &mut NameChanges) {
    while let Some(marker) = find_marker(words, part) {
        if marker.is_new || marker.start == 0 {
            words.drain(..marker.end + 1);
        } else {
            words.truncate(marker.start - 1);
        }
        changes.add(NameChanges::FORMER);
    }
}

struct Marker {
    start: usize,
    end: usize,
    /// Whether the current name follows.
    is_new: bool,
}

/// Returns the first marker with a word after it.
fn find_marker(words: &str, part: NamePart) -> Option<Marker> {
    let mut start = 0;
    for word in words.split([' ', '-']) {
        let spelled = matches!(word, "A" | "F" | "N") && words[start..].get(1..5) == Some(" K A");
        let end = start + if spelled { 5 } else { word.len() };
        let is_marker = spelled || word == NEW_MARKER || MARKERS.contains(&word) && is_marker_of(word, part);
        let is_whole = words.as_bytes().get(end).is_some_and(|&next| next == b' ' || next == b'-');
        if is_marker && is_whole {
            return Some(Marker { start, end, is_new: word == NEW_MARKER || spelled && word == "N" });
        }
        start += word.len() + 1;
    }
    None
}

/// Returns whether a word is a marker in this part of a name. Nee is also a syllable of first names.
fn is_marker_of(word: &str, part: NamePart) -> bool {
    part == NamePart::Surname || word != "NEE"
}

/// Drops suffixes, titles and initials at the end; at least one word remains.
fn drop_last_words(words: &mut String, part: NamePart, changes: &mut NameChanges) {
    while let Some(at) = words.rfind([' ', '-']) {
        let (before, last) = (&words[..at], &words[at + 1..]);
        let is_spaced = words[at..].starts_with(' ');
        let change = match certain_extra(last) {
            Some(change) => change,
            None if !has_full_word(before, part) => break,
            None if last.len() > 1 && (part == NamePart::Given || !is_spaced) => break,
            None if last.len() == 1 && (part == NamePart::Given || last != "V") => NameChanges::INITIAL,
            None => match extra_word(last) {
                Some(change) => change,
                None => break,
            },
        };
        words.truncate(at);
        changes.add(change);
    }
}

/// Returns whether words contain a name rather than only initials, articles and prefixes: De La O is a surname.
fn has_full_word(words: &str, part: NamePart) -> bool {
    let is_article = |word: &str| ARTICLES.contains(&word) || PREFIXES.contains(&word);
    let is_full = |word: &str| {
        word.len() > 1 && (part == NamePart::Given || !is_article(word) && !ARTICLES_OR_NAMES.contains(&word))
    };
    words.split([' ', '-']).any(is_full)
}

/// Drops titles before a name.
fn drop_leading_titles(words: &mut String, changes: &mut NameChanges) {
    while let Some(at) = words.find(' ') {
        if !LEADING_TITLES.contains(&&words[..at]) {
            return;
        }
        words.drain(..at + 1);
        changes.add(NameChanges::TITLE);
    }
}
